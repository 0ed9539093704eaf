"""Settings of a training, losses of the adversary, limits on the distortion, and records as tensors.

Settings are read without PyTorch, which is loaded when a tensor is first made.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright._utils.lazy import later
from noisewright._utils.validation import is_number, is_whole, one_of
from noisewright.context_aware.distributions import AdversaryLoss, as_adversary_loss
from noisewright.exceptions import ParameterError

__all__ = [
    "AugmentedLagrangian",
    "Constraint",
    "Penalty",
    "Play",
    "Records",
    "Settings",
    "Tensor",
    "accuracies",
    "alpha_loss",
    "constraint_of",
    "expected_losses",
    "prior_losses",
]


torch: Any = later("torch")  # settings can be read without it
Tensor = Any


# Settings -----------------------------------------------------------------------------------------------------------------
#
# Settings of the training of a privatiser: checked numbers with tested defaults.


WHOLE = {
    "epochs": 1,
    "batch": 1,
    "adversary_steps": 1,
    "warm_up": 0,
    "hidden": 1,
    "adversary_hidden": 1,
    "check_every": 1,
    "threads": 1,
    "seed": 0,
}
POSITIVE = ("rate", "adversary_rate", "penalty", "penalty_growth", "most_penalty", "clip", "temperature")
SHARES = ("last_rate", "last_adversary_rate")


@dataclass(frozen=True)
class Settings:
    """Settings of one run of training.

    ``loss``: of the adversary, ``"log"`` or ``"alpha:5"``; ``method``: constraint for the budget (``"augmented"``
    Lagrangian or ``"penalty"``); ``step``: of the privatiser (``"adam"`` or ``"search"``, a line search). Per step of
    the privatiser the adversary has ``adversary_steps``, and ``warm_up`` epochs alone before. Rates fall linearly to a
    share ``last_rate`` of themselves. ``penalty`` grows by ``penalty_growth`` with every epoch up to ``most_penalty``;
    distortion counts in shares of the budget. ``cap``: whether fooling the adversary beyond blind guessing earns
    nothing. ``patience``: stop when an adversary that only watches has done no worse in that number of checks (one in
    ``check_every`` epochs); None: never. ``threads``: of PyTorch; more than one pays only for large networks.
    """

    loss: str = "log"
    method: str = "augmented"
    step: str = "adam"
    epochs: int = 60
    batch: int = 500
    adversary_steps: int = 5
    warm_up: int = 2
    rate: float = 0.003
    adversary_rate: float = 0.003
    momentum: float = 0.5
    last_rate: float = 0.01
    last_adversary_rate: float = 0.1
    penalty: float = 0.1
    penalty_growth: float = 1.05
    most_penalty: float = 5.0
    hidden: int = 64
    adversary_hidden: int = 64
    cap: bool = True
    clip: float = 5.0
    temperature: float = 0.7
    patience: int | None = None
    check_every: int = 5
    threads: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        if self.adversary.is_zero_one:
            raise ParameterError(
                "a privatiser is not trained on the loss 'zero-one', which has no slope; 'alpha:20' is nearly that loss."
            )
        one_of(self.method, "method", ("augmented", "penalty"))
        one_of(self.step, "step", ("adam", "search"))
        for name, least in WHOLE.items():
            value = getattr(self, name)
            if not is_whole(value) or not least <= value <= 1 << 40:
                raise ParameterError(f"{name} is a whole number of {least} or more.")
        if self.patience is not None and (not is_whole(self.patience) or self.patience < 1):
            raise ParameterError("patience is a whole number of checks of 1 or more, or None to go on to the end.")
        for name in POSITIVE:
            value = getattr(self, name)
            if not is_number(value) or not 0 < value < 1e12:
                raise ParameterError(f"{name} is a finite number above 0.")
        for name in SHARES:
            value = getattr(self, name)
            if not is_number(value) or not 0 < value <= 1:
                raise ParameterError(f"{name} is a share above 0 and at most 1.")
        if not is_number(self.momentum) or not 0 <= self.momentum < 1:
            raise ParameterError("momentum is a number from 0 to below 1.")
        if not isinstance(self.cap, bool):
            raise ParameterError("cap is true or false.")

    @property
    def adversary(self) -> AdversaryLoss:
        """The loss."""
        return as_adversary_loss(self.loss)

    def to_json(self) -> dict[str, Any]:
        """All of it, as plain data."""
        return asdict(self)


# Losses -------------------------------------------------------------------------------------------------------------------
#
# Losses of an adversary on a batch, for many points of a curve at once.
#
# A *play* is what an adversary gets to see: rows, with the private values that belong to them. Rows are sampled
# releases with one
# private value each, or, where there are few outputs, the outputs themselves with the *mass* of every private value: then the
# loss is the exact expectation
#
# .. math:: \sum_k P(k, y)\, \ell(h(k), y),
#
# an average of *losses*. The loss of the average belief is another thing: an adversary trained on that undoes the noise, and a
# privatiser gets no signal.


@dataclass
class Play:
    """View of the adversary: ``shown`` (points, rows, numbers), and for every private variable the class of each row
    (``truth``: points or 1, rows, variables) or the mass of every class (``mass``: a tensor for each variable, points,
    rows, classes). ``distortion`` has the mean distortion of every point."""

    shown: Tensor
    distortion: Tensor
    truth: Tensor | None = None
    mass: Sequence[Tensor] | None = None


def alpha_loss(log_belief: Tensor, loss: AdversaryLoss) -> Tensor:
    """``a/(a-1) (1 - b^(1-1/a))`` of beliefs given by their logarithms; ``-log b`` at order 1."""
    if loss.is_log:
        return -log_belief
    share = 1.0 if math.isinf(loss.order) else 1 - 1 / loss.order
    return -torch.expm1(share * log_belief) / share


def expected_losses(play: Play, log_beliefs: Sequence[Tensor], loss: AdversaryLoss) -> Tensor:
    """The mean loss: a row for each private variable, a column for each point."""
    found = []
    for place, beliefs in enumerate(log_beliefs):
        if play.mass is not None:
            found.append((play.mass[place] * alpha_loss(beliefs, loss)).sum(dim=(1, 2)))
        else:
            of_truth = beliefs.gather(2, _truth(play, place, len(beliefs)))
            found.append(alpha_loss(of_truth, loss).mean(dim=(1, 2)))
    return torch.stack(found)


def accuracies(play: Play, log_beliefs: Sequence[Tensor]) -> Tensor:
    """Return how often the most likely class is the true one: a row for each private variable, a column for each point."""
    found = []
    for place, beliefs in enumerate(log_beliefs):
        guess = beliefs.argmax(dim=2, keepdim=True)
        if play.mass is not None:
            found.append(play.mass[place].gather(2, guess).sum(dim=(1, 2)))
        else:
            found.append((guess == _truth(play, place, len(beliefs))).to(beliefs.dtype).mean(dim=(1, 2)))
    return torch.stack(found)


def prior_losses(shares: Sequence[Tensor], loss: AdversaryLoss) -> Tensor:
    """Return the loss of the best adversary without any view: ``H(Y)``, or ``a/(a-1) (1 - |prior|_a)``; from shares of
    classes (points, classes), one tensor for each variable."""
    if loss.is_log:
        return torch.stack([-torch.special.xlogy(share, share).sum(dim=1) for share in shares])
    power = 1.0 if math.isinf(loss.order) else 1 - 1 / loss.order
    return torch.stack([(1 - torch.linalg.vector_norm(share, loss.order, dim=1)) / power for share in shares])


def _truth(play: Play, place: int, points: int) -> Tensor:
    assert play.truth is not None
    return play.truth[:, :, place : place + 1].expand(points, -1, -1)


# Constraints --------------------------------------------------------------------------------------------------------------
#
# Constraints that keep a distortion budget in training: a penalty, or an augmented Lagrangian; each for many points
# at once.
#
# With ``c = (distortion - D) / D`` (a share of the budget, so that one setting does for all of them) a privatiser minimises
#
# * penalty: :math:`-L + \rho \max(0, c)`, exact as soon as ``rho`` is at least the multiplier of the constraint;
# * augmented Lagrangian: :math:`-L + (\max(0, \mu + \rho c)^2 - \mu^2) / 2\rho`, and after an epoch
#   :math:`\mu \leftarrow \max(0, \mu + \rho c)` for the mean ``c`` of the epoch. This is the form with a slack variable
#   :math:`\delta \ge 0`, :math:`-L + \frac{\rho}{2}(c+\delta)^2 + \mu(c+\delta)`, at its best slack.


class Constraint(ABC):
    """A cost on the distortion beyond a budget."""

    def __init__(self, points: int, settings: Settings, dtype: Any = None) -> None:
        self.rho, self.growth, self.most = settings.penalty, settings.penalty_growth, settings.most_penalty
        self.multiplier = torch.zeros(points, dtype=dtype)

    @abstractmethod
    def price(self, excess: Tensor) -> Tensor:
        """Return the addition to the loss of each point for an excess, a share of its budget."""

    def after_epoch(self, excess: Tensor) -> None:
        """Learn from the mean excess of an epoch; the cost grows."""
        self.learn(excess)
        self.rho = min(self.most, self.rho * self.growth)

    @abstractmethod
    def learn(self, excess: Tensor) -> None:
        """Update the multiplier."""


class Penalty(Constraint):
    """A linear penalty."""

    def price(self, excess: Tensor) -> Tensor:
        return self.rho * torch.relu(excess)

    def learn(self, excess: Tensor) -> None:
        """Do nothing: a penalty has no multiplier."""


class AugmentedLagrangian(Constraint):
    """Multiplier and quadratic penalty, without the slack."""

    def price(self, excess: Tensor) -> Tensor:
        return (torch.relu(self.multiplier + self.rho * excess) ** 2 - self.multiplier**2) / (2 * self.rho)

    def learn(self, excess: Tensor) -> None:
        self.multiplier = torch.relu(self.multiplier + self.rho * excess)


def constraint_of(settings: Settings, points: int, dtype: Any = None) -> Constraint:
    """The one that the settings name."""
    return (Penalty if settings.method == "penalty" else AugmentedLagrangian)(points, settings, dtype)


# Records ------------------------------------------------------------------------------------------------------------------
#
# Records for training: numbers, categories and private classes, of one table or of several tables of one length.


@dataclass(frozen=True)
class Records:
    """``numeric`` (tables, rows, columns), ``codes`` of categorical columns and ``truth``, the classes of private variables,
    likewise; ``source`` has the table that each point of the curve learns from."""

    numeric: Tensor
    codes: Tensor
    truth: Tensor
    categories: tuple[int, ...]
    classes: tuple[int, ...]
    source: Tensor

    @classmethod
    def of(
        cls,
        numeric: NDArray[Any],
        codes: NDArray[Any],
        truth: NDArray[Any],
        *,
        categories: tuple[int, ...],
        classes: tuple[int, ...],
        points: int = 1,
        source: NDArray[Any] | None = None,
        dtype: Any = None,
    ) -> Records:
        """Records from arrays (rows, columns), or (tables, rows, columns) with ``source``."""
        three = [array[None] if array.ndim == 2 else array for array in (numeric, codes, truth)]
        which = np.zeros(points, np.int64) if source is None else source
        return cls(
            torch.as_tensor(np.array(three[0]), dtype=dtype or torch.float32),
            torch.as_tensor(np.array(three[1]), dtype=torch.int64),
            torch.as_tensor(np.array(three[2]), dtype=torch.int64),
            categories,
            classes,
            torch.as_tensor(which, dtype=torch.int64),
        )

    def __len__(self) -> int:
        return int(self.truth.shape[1])

    @property
    def points(self) -> int:
        """Return how many points of a curve."""
        return len(self.source)

    def take(self, rows: Tensor) -> Records:
        """These rows of every table."""
        return replace(self, **{name: getattr(self, name)[:, rows] for name in ("numeric", "codes", "truth")})

    def by_point(self, tensor: Tensor) -> Tensor:
        """A tensor with an axis of tables as one with an axis of points."""
        if len(tensor) == 1:
            return tensor.expand(self.points, *tensor.shape[1:])
        return tensor.index_select(0, self.source)

    def hot_truth(self) -> Tensor:
        """The classes of all private variables as zeros and ones (tables, rows, all classes)."""
        return hot(self.truth, self.classes, self.numeric.dtype)

    def hot_codes(self) -> Tensor:
        """The categories likewise."""
        return hot(self.codes, self.categories, self.numeric.dtype)

    def class_shares(self) -> list[Tensor]:
        """Return how often each class is there (points, classes), for each private variable."""
        parts = self.hot_truth().to(torch.float64).mean(dim=1).split(self.classes, dim=1)
        return [self.by_point(part).to(self.numeric.dtype) for part in parts]


def hot(codes: Tensor, sizes: tuple[int, ...], dtype: Any) -> Tensor:
    """Columns of codes as zeros and ones, side by side."""
    parts = [torch.nn.functional.one_hot(codes[..., place], size) for place, size in enumerate(sizes)]
    return torch.cat(parts, dim=-1).to(dtype) if parts else torch.zeros(*codes.shape[:-1], 0, dtype=dtype)
