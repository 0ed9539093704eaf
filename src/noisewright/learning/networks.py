"""Networks for many points of a curve at once: every tensor has a leading axis of points, and points never mix.

A layer is one batched product (``torch.baddbmm``), so a whole curve trains in about the time of one point.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright._typing import Floats
from noisewright.exceptions import MissingPartError
from noisewright.learning.objectives import Play, Records, Tensor

__all__ = [
    "SLOPE",
    "Adam",
    "BestResponse",
    "Family",
    "LineSearch",
    "NetworkAdversary",
    "NetworkFamily",
    "ShiftFamily",
    "TableAdversary",
    "TableFamily",
    "layers",
    "slopes",
    "through",
    "torch",
]

try:
    torch: Any = import_module("torch")
except ImportError:
    raise MissingPartError(
        "training a privatiser needs PyTorch; install it with pip install 'noisewright[learned]'. Releases need none."
    ) from None


SLOPE = 0.2
"""Slope of the leaky part of a rectifier."""
NEARLY_NOTHING = 1e-12
"""Mass that an output without any is given, so that beliefs are defined."""

Named = dict[str, Tensor]


def layers(points: int, sizes: Sequence[int], generator: Any, prefix: str = "", last: float | None = None) -> Named:
    """Weights and offsets of a network from the first size to the last: uniform in the usual range, or, for the last layer,
    normal with a standard deviation of ``last``. Every point starts alike, so that a curve is smooth."""
    found: Named = {}
    for place, (before, after) in enumerate(pairwise(sizes)):
        bound = 1 / math.sqrt(before)
        if last is not None and place == len(sizes) - 2:
            weight = torch.randn(before, after, generator=generator) * last
            offset = torch.zeros(after)
        else:
            weight = (torch.rand(before, after, generator=generator) * 2 - 1) * bound
            offset = (torch.rand(after, generator=generator) * 2 - 1) * bound
        found[f"{prefix}w{place}"] = weight.expand(points, before, after).contiguous()
        found[f"{prefix}b{place}"] = offset.expand(points, 1, after).contiguous()
    return found


def through(parameters: Named, rows: Tensor, prefix: str = "") -> Tensor:
    """Rows (points, rows, numbers) through the layers, with leaky rectifiers between them."""
    place = 0
    while f"{prefix}w{place}" in parameters:
        if place:
            rows = torch.nn.functional.leaky_relu(rows, SLOPE)
        rows = torch.baddbmm(parameters[f"{prefix}b{place}"], rows, parameters[f"{prefix}w{place}"])
        place += 1
    return rows


class NetworkAdversary:
    """Two hidden layers, and a belief about every private variable: ``classes`` has the number of classes of each."""

    def __init__(self, points: int, inputs: int, classes: Sequence[int], hidden: int, generator: Any) -> None:
        self.classes = tuple(classes)
        self.parameters = layers(points, (inputs, hidden, hidden, sum(self.classes)), generator)

    def log_beliefs(self, play: Play) -> list[Tensor]:
        """A tensor (points, rows, classes) for each variable."""
        parts = through(self.parameters, play.shown).split(self.classes, dim=2)
        return [torch.log_softmax(part, dim=2) for part in parts]


class TableAdversary:
    """One belief after each of a few outputs; with two outputs and two classes it has two parameters."""

    def __init__(self, points: int, outputs: int, classes: Sequence[int], dtype: Any) -> None:
        self.parameters = {
            str(place): torch.zeros(points, outputs, many - 1, dtype=dtype) for place, many in enumerate(classes)
        }

    def log_beliefs(self, play: Play) -> list[Tensor]:
        del play
        found = []
        for free in self.parameters.values():
            fixed = torch.zeros(*free.shape[:2], 1, dtype=free.dtype)
            found.append(torch.log_softmax(torch.cat([fixed, free], dim=2), dim=2))
        return found


class BestResponse:
    """The adversary who knows the law: the posterior of every output, tilted to the order of the loss. It has nothing to learn.

    By the envelope theorem the slope of the loss at fixed best beliefs is the slope of the best loss.
    """

    def __init__(self, order: float) -> None:
        self.order = order
        self.parameters: Named = {}

    def log_beliefs(self, play: Play) -> list[Tensor]:
        assert play.mass is not None
        logs = [torch.log(mass.detach() + NEARLY_NOTHING) for mass in play.mass]
        return [torch.log_softmax(self.order * log, dim=2) for log in logs]


# Families -----------------------------------------------------------------------------------------------------------------
#
# Families of privatisers that are trained, each for many points of a curve at once.
#
# ==========  ===============================================================================================================
# ``shifts``  :math:`x' = x + \beta_0 + \gamma_0 N` for class 0, :math:`x - \beta_1 + \gamma_1 N` for class 1: one number, two
#             classes, four parameters; two (one shift, one noise) where the class is not given
# ``table``   a probability of every output for every category (and class): one categorical column, exact expectations
# ``network`` :math:`x' = x + A u + f(u)`, ``u`` the record with normal numbers (and the classes) and ``f`` a network;
# categories by
#             logits of the network with a leaning to the present one, drawn with straight-through Gumbel noise in training
# ==========  ===============================================================================================================
#
# The distortion of shifts and tables belongs to the mechanism, not of the draws; that of categories is the probability
# to change. A category is never a number between two others.


FIRST_SHIFT = 0.5
FIRST_LEANING = 2.0
"""Tables start by keeping a value with probability 0.88."""
STRONG, FAMILY_HALVINGS = 16.0, 16
"""Logit above which categories do not change, and number of halvings of the interval of the needed shift."""


class Family(ABC):
    """Privatisers of one form; ``parameters`` have a leading axis of points."""

    parameters: Named
    shown: int
    """Number of values that an adversary sees of a record."""

    @abstractmethod
    def play(self, records: Records, generator: Any) -> Play:
        """Return the adversaries' view of these records, with fresh noise."""

    @abstractmethod
    def arrays(self, point: int) -> dict[str, NDArray[Any]]:
        """Return the arrays of the privatiser of one point, for its file."""

    @abstractmethod
    def keep_budget(self, budgets: Tensor, spent: Callable[[], Tensor]) -> None:
        """After training: change less where more is spent than allowed; ``spent`` measures it on all records."""


class ShiftFamily(Family):
    """Shifts and noise of two classes on a line."""

    def __init__(self, records: Records, given: str, weight: float = 1.0) -> None:
        self.given, self.shown, self.weight = given, 1, weight
        shape = (records.points, 4 if given == "xy" else 2)
        self.parameters = {"shifts": torch.full(shape, FIRST_SHIFT, dtype=records.numeric.dtype)}
        self.share = records.class_shares()[0][:, 1]

    def _four(self) -> tuple[Tensor, ...]:
        numbers = self.parameters["shifts"].unbind(1)
        return tuple(numbers) if self.given == "xy" else (numbers[0], -numbers[0], numbers[1], numbers[1])

    def play(self, records: Records, generator: Any) -> Play:
        x, truth = records.by_point(records.numeric), records.by_point(records.truth)
        moved0, moved1, noise0, noise1 = (part[:, None, None] for part in self._four())
        drawn = torch.randn(1, len(records), 1, generator=generator, dtype=x.dtype)
        one = truth[:, :, :1].to(x.dtype)
        shown = x + moved0 - one * (moved0 + moved1) + (noise0 + one * (noise1 - noise0)) * drawn
        return Play(shown, self.distortion(), truth=truth)

    def distortion(self) -> Tensor:
        """The expected squared distance, with the share of classes in the records that it learned from."""
        moved0, moved1, noise0, noise1 = self._four()
        costs = self.share * (moved1**2 + noise1**2) + (1 - self.share) * (moved0**2 + noise0**2)
        return self.weight * costs

    def arrays(self, point: int) -> dict[str, NDArray[Any]]:
        four = torch.stack([part[point] for part in self._four()]).detach().to(torch.float64).numpy()
        return {"shifts": np.array([four[0], -four[1]]), "noises": np.abs(four[2:])}

    def keep_budget(self, budgets: Tensor, spent: Callable[[], Tensor]) -> None:
        share = torch.sqrt(torch.clamp(budgets / self.distortion().detach().clamp(min=1e-30), max=1.0))
        self.parameters["shifts"].mul_(share[:, None])


class TableFamily(Family):
    """A row of probabilities for every category, or for every category and combination of private classes."""

    def __init__(self, records: Records, given: str, costs: Floats) -> None:
        (self.outputs,), self.classes = records.categories, records.classes
        self.given, self.shown, dtype = given, self.outputs, records.numeric.dtype
        self.combinations = math.prod(self.classes)
        self.costs = torch.as_tensor(np.array(costs), dtype=dtype)
        rows = (self.outputs, self.combinations if given == "xy" else 1)
        self.other = (1 - torch.eye(self.outputs, dtype=dtype))[:, None, :]
        first = -FIRST_LEANING - math.log(self.outputs - 1)
        self.parameters = {"logits": torch.full((records.points, *rows, self.outputs), first, dtype=dtype)}
        self.heads = [torch.as_tensor(head, dtype=dtype) for head in _heads(self.classes)]
        self.whole = self.shares(records)
        self.learned_from = records

    def shares(self, records: Records) -> Tensor:
        """Return how often each category goes with each combination of classes (points, categories, combinations)."""
        if records is getattr(self, "learned_from", None):
            return self.whole
        combined = torch.zeros_like(records.truth[..., 0])
        for place, many in enumerate(self.classes):
            combined = combined * many + records.truth[..., place]
        cells = records.codes[..., 0] * self.combinations + combined
        counts = torch.stack([torch.bincount(row, minlength=self.outputs * self.combinations) for row in cells])
        tables = counts.reshape(-1, self.outputs, self.combinations).to(self.costs.dtype) / len(records)
        return records.by_point(tables)

    def probabilities(self) -> Tensor:
        """Return probabilities of outputs (points, categories, combinations or 1, outputs); the logit of the present
        category is 0."""
        return torch.softmax(self.parameters["logits"] * self.other, dim=3)

    def play(self, records: Records, generator: Any) -> Play:
        del generator
        drawn = self.probabilities()
        joint = torch.einsum("pxc,pxck->pkc", self.shares(records), drawn.expand(-1, -1, self.combinations, -1))
        spent = torch.einsum("pxc,pxck,xk->p", self.whole, drawn.expand(-1, -1, self.combinations, -1), self.costs)
        shown = torch.eye(self.outputs, dtype=drawn.dtype).expand(len(drawn), -1, -1)
        return Play(shown, spent, mass=[joint @ head for head in self.heads])

    def arrays(self, point: int) -> dict[str, NDArray[Any]]:
        return {"table": self.probabilities()[point].detach().to(torch.float64).numpy()}

    def keep_budget(self, budgets: Tensor, spent: Callable[[], Tensor]) -> None:
        """Keep the value a little more often: the distortion is linear in how often it is changed."""
        drawn = self.probabilities().detach()
        share = torch.clamp(budgets / spent().clamp(min=1e-30), max=1.0)[:, None, None, None]
        changed = drawn * self.other * share
        kept = 1 - changed.sum(dim=3, keepdim=True)
        self.parameters["logits"].copy_(torch.log(changed.clamp(min=1e-30)) - torch.log(kept))


class NetworkFamily(Family):
    """A network next to the record itself; ``weights`` of columns, numeric first, make the distortion.

    ``steps``: changes of a number are rounded to multiples of this (not where it is 0); slopes are those without rounding.
    """

    def __init__(
        self,
        records: Records,
        given: str,
        weights: Sequence[float],
        hidden: int,
        temperature: float,
        generator: Any,
        steps: Sequence[float] = (),
    ) -> None:
        self.given, self.categories, self.temperature = given, records.categories, temperature
        self.numbers = int(records.numeric.shape[2])
        self.shown = self.numbers + sum(self.categories)
        self.noise = max(1, self.numbers)
        dtype = records.numeric.dtype
        self.weights = torch.as_tensor(list(weights), dtype=dtype)
        self.steps = torch.as_tensor(list(steps), dtype=dtype) if any(steps) else None
        first = [math.log(max(many - 1, 1)) + 3.0 for many in self.categories]
        self.leaning = torch.tensor(first, dtype=dtype).expand(records.points, -1)
        inputs = self.shown + self.noise + (sum(records.classes) if given == "xy" else 0)
        skip = torch.randn(inputs, self.shown, generator=generator) * 0.02
        self.parameters = {
            "skip": skip.expand(records.points, inputs, self.shown).contiguous(),
            **layers(records.points, (inputs, hidden, hidden, self.shown), generator, last=0.05),
        }

    def play(self, records: Records, generator: Any) -> Play:
        x, hot = records.by_point(records.numeric), records.by_point(records.hot_codes())
        drawn = torch.randn(1, len(records), self.noise, generator=generator, dtype=x.dtype).expand(len(x), -1, -1)
        parts = [x, hot, drawn] + ([records.by_point(records.hot_truth())] if self.given == "xy" else [])
        rows = torch.cat(parts, dim=2)
        out = torch.baddbmm(through(self.parameters, rows), rows, self.parameters["skip"])
        change = self._stepped(out[:, :, : self.numbers])
        costs = [(change**2).mean(dim=1) * self.weights[: self.numbers]]
        shown, place = [x + change], self.numbers
        for column, many in enumerate(self.categories):
            present = hot[:, :, place - self.numbers : place - self.numbers + many]
            logits = out[:, :, place : place + many] + self.leaning[:, column, None, None] * present
            moved = 1 - (torch.softmax(logits, dim=2) * present).sum(dim=2).mean(dim=1, keepdim=True)
            costs.append(moved * self.weights[self.numbers + column])
            shown.append(self._drawn(logits, generator))
            place += many
        return Play(torch.cat(shown, dim=2), torch.cat(costs, dim=1).sum(dim=1), truth=records.by_point(records.truth))

    def _stepped(self, change: Tensor) -> Tensor:
        """Changes as they are released: integers change by integers."""
        if self.steps is None:
            return change
        whole = torch.where(self.steps > 0, torch.round(change / self.steps) * self.steps, change)
        return change + (whole - change).detach()

    def _drawn(self, logits: Tensor, generator: Any) -> Tensor:
        """A category as zeros and a one, drawn; its slope is the slope of the softmax of the logits."""
        uniform = torch.rand(1, *logits.shape[1:], generator=generator, dtype=logits.dtype).clamp(1e-9, 1 - 1e-7)
        decided = logits - torch.log(-torch.log(uniform))
        hard = torch.nn.functional.one_hot(decided.argmax(dim=2), logits.shape[2]).to(logits.dtype)
        if not torch.is_grad_enabled():
            return hard
        soft = torch.softmax(decided / self.temperature, dim=2)
        return hard + soft - soft.detach()

    def arrays(self, point: int) -> dict[str, NDArray[Any]]:
        found = {name: tensor[point].detach().numpy().copy() for name, tensor in self.parameters.items()}
        return {**found, "leaning": self.leaning[point].to(torch.float64).numpy()}

    def keep_budget(self, budgets: Tensor, spent: Callable[[], Tensor]) -> None:
        """Numbers alone: smaller changes. With categories: also leaning more to the present one, by as much as is needed."""
        before = {name: tensor.detach().clone() for name, tensor in self.parameters.items()}
        leaning, over = self.leaning, spent() > budgets

        def less(by: Tensor) -> None:
            """Numbers change by a share ``1 - by`` of their former change; categories lean ``STRONG * by`` more to
            themselves."""
            share = (1 - by)[:, None, None]
            for name in ("skip", "w2", "b2"):
                self.parameters[name][:, :, : self.numbers] = before[name][:, :, : self.numbers] * share
            self.leaning = leaning + STRONG * by[:, None]

        low = torch.zeros_like(budgets)
        high = torch.where(over, torch.ones_like(budgets), low)
        for _ in range(FAMILY_HALVINGS if bool(over.any()) else 0):
            middle = (low + high) / 2
            less(middle)
            good = spent() <= budgets
            low, high = torch.where(good, low, middle), torch.where(good, middle, high)
        less(high)


def _heads(classes: tuple[int, ...]) -> list[NDArray[np.float64]]:
    """Return for each private variable the class of each combination of classes (combinations, classes)."""
    combined = np.indices(classes).reshape(len(classes), -1)
    return [np.eye(many)[combined[place]] for place, many in enumerate(classes)]


# Steps --------------------------------------------------------------------------------------------------------------------
#
# Steps of learning for many points at once: Adam and a line search, with gradients cut to a length for each point alone.


EPSILON = 1e-8
ARMIJO = 1e-4
HALVINGS = 12


def slopes(value: Tensor, parameters: Named, clip: float) -> list[Tensor]:
    """The gradient of a sum over points, which separates into the points, no longer than ``clip`` for any of them."""
    found = torch.autograd.grad(value, list(parameters.values()))
    with torch.no_grad():
        squares = sum((slope**2).flatten(1).sum(dim=1) for slope in found)
        share = torch.clamp(clip / torch.sqrt(squares + EPSILON), max=1.0)
        return [slope * share.reshape(-1, *[1] * (slope.dim() - 1)) for slope in found]


class Adam:
    """Adam, elementwise and so for each point by itself. Its memory is two tensors for each parameter."""

    def __init__(self, parameters: Named, first: float, second: float) -> None:
        self.parameters, self.first, self.second, self.count = parameters, first, second, 0
        self.means = {name: torch.zeros_like(tensor) for name, tensor in parameters.items()}
        self.squares = {name: torch.zeros_like(tensor) for name, tensor in parameters.items()}

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def step(self, found: list[Tensor], rate: float) -> None:
        """One step down the slopes."""
        self.count += 1
        own, means, squares = (list(named.values()) for named in (self.parameters, self.means, self.squares))
        torch._foreach_lerp_(means, found, 1 - self.first)
        torch._foreach_mul_(squares, self.second)
        torch._foreach_addcmul_(squares, found, found, 1 - self.second)
        below = torch._foreach_sqrt(squares)
        torch._foreach_div_(below, (1 - self.second**self.count) ** 0.5)
        torch._foreach_add_(below, EPSILON)
        torch._foreach_addcdiv_(own, means, below, -rate / (1 - self.first**self.count))


class LineSearch:
    """Down the slope as far as the loss really falls: each point halves its own step until it does (Armijo's rule), and
    tries twice the last one next time. A point for which no step helps stays where it is."""

    def __init__(self, parameters: Named, points: int, rate: float) -> None:
        self.parameters = parameters
        like = next(iter(parameters.values()))
        self.lengths = torch.full((points,), rate, dtype=like.dtype)

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def step(self, found: list[Tensor], before: Tensor, value: Callable[[], Tensor]) -> None:
        """One step; ``value`` computes the loss of every point again, with the same noise."""
        start = [tensor.clone() for tensor in self.parameters.values()]
        steep = sum((slope**2).flatten(1).sum(dim=1) for slope in found)
        tried = self.lengths * 2
        for halving in range(HALVINGS + 1):
            last = halving == HALVINGS
            length = torch.where(tried < 0, -tried, torch.zeros_like(tried)) if last else tried.abs()
            for tensor, old, slope in zip(self.parameters.values(), start, found, strict=True):
                tensor.copy_(old - length.reshape(-1, *[1] * (old.dim() - 1)) * slope)
            if last:
                break
            good = value() <= before - ARMIJO * length * steep
            tried = torch.where(good, -tried.abs(), torch.where(tried < 0, tried, tried / 2))
            if bool((tried < 0).all()):
                length = tried.abs()
                break
        self.lengths = torch.clamp(tried.abs(), min=1e-8)
