"""Checkpoints of training: arrays and JSON like a model, with what both players, their steps and the watcher know."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright._typing import Floats
from noisewright._utils.validation import is_whole
from noisewright.context_aware.distributions import AdversaryLoss
from noisewright.exceptions import DataError, FileFormatError
from noisewright.io.model_files import read_model, write_model
from noisewright.learning.columns import Codes
from noisewright.learning.networks import (
    Adam,
    BestResponse,
    Family,
    LineSearch,
    NetworkAdversary,
    NetworkFamily,
    ShiftFamily,
    TableAdversary,
    TableFamily,
    slopes,
    torch,
)
from noisewright.learning.objectives import (
    Play,
    Records,
    Settings,
    Tensor,
    accuracies,
    constraint_of,
    expected_losses,
    prior_losses,
)
from noisewright.resources import Resource

__all__ = ["Course", "Curve", "Trainer", "Watched", "read_checkpoint", "train_curve", "write_checkpoint"]


KIND = "privatiser-checkpoint"


def write_checkpoint(trainer: Trainer, path: str | os.PathLike[str], setup: dict[str, Any], done: int) -> None:
    """After an epoch; the file is replaced whole."""
    arrays = {name: tensor.detach().numpy() for name, tensor in _tensors(trainer).items()}
    arrays |= {f"best.{name}": tensor.numpy() for name, tensor in trainer.best.items()}
    arrays["history"] = np.stack(trainer.history)
    arrays["best_loss"] = np.nan_to_num(trainer.best_loss, neginf=-1e300)
    counts = [adam.count for adam in _adams(trainer).values()]
    about = {
        "setup": setup,
        "done": done,
        "counts": counts,
        "rho": trainer.constraint.rho,
        "waited": trainer.waited,
        "stopped": trainer.stopped,
    }
    write_model(path, KIND, about, arrays)


def read_checkpoint(trainer: Trainer, path: str | os.PathLike[str], setup: dict[str, Any]) -> int:
    """Load a checkpoint into a trainer; return its number of epochs, 0 without a checkpoint."""
    place = Path(path)
    if not place.exists():
        return 0
    about, arrays = read_model(Resource.at(place), KIND)
    if about.get("setup") != setup or not is_whole(about.get("done")):
        raise FileFormatError(
            f"{place.name} is the checkpoint of another training; finish that one, or remove the file."
        )
    try:
        with torch.no_grad():
            for name, tensor in _tensors(trainer).items():
                tensor.copy_(_tensor(arrays[name]))
        trainer.constraint.multiplier = _tensor(arrays["multiplier"])
        trainer.best = {
            name.removeprefix("best."): _tensor(array) for name, array in arrays.items() if name.startswith("best.")
        }
        trainer.history = list(np.array(arrays["history"]))
        found = np.array(arrays["best_loss"])
        trainer.best_loss = np.where(found <= -1e300, -np.inf, found)
        for adam, count in zip(_adams(trainer).values(), about["counts"], strict=True):
            adam.count = int(count)
        trainer.constraint.rho, trainer.waited = float(about["rho"]), int(about["waited"])
        trainer.stopped = bool(about["stopped"])
    except (LookupError, RuntimeError, TypeError, ValueError):
        raise FileFormatError(f"{place.name} does not fit this training; remove the file and train anew.") from None
    return int(about["done"])


def _tensors(trainer: Trainer) -> dict[str, Any]:
    """All tensors that learn, by name."""
    found = {"multiplier": trainer.constraint.multiplier}
    players = {"family": trainer.family, "adversary": trainer.adversary, "watcher": trainer.watcher}
    for who, player in players.items():
        if player is not None:
            found |= {f"{who}.{name}": tensor for name, tensor in player.parameters.items()}
    for who, adam in _adams(trainer).items():
        for what, named in (("means", adam.means), ("squares", adam.squares)):
            found |= {f"{who}.{what}.{name}": tensor for name, tensor in named.items()}
    if isinstance(trainer.moving, LineSearch):
        found["lengths"] = trainer.moving.lengths
    return found


def _adams(trainer: Trainer) -> dict[str, Adam]:
    named = {"learning": trainer.learning, "moving": trainer.moving, "watching": trainer.watching}
    return {name: adam for name, adam in named.items() if isinstance(adam, Adam)}


def _tensor(array: NDArray[Any]) -> Any:
    return torch.from_numpy(np.array(array))


# Trainer ------------------------------------------------------------------------------------------------------------------
#
# The game played in turns, for all points of a curve at once: adversaries learn for some steps, then privatisers for one.
#
# A privatiser minimises ``-L`` and the cost of exceeding its budget, where ``L`` is the adversary's loss (no more counts
# than what she loses blindly). Everything random in an epoch follows from the seed and the number of the epoch, so a run
# that was stopped and resumed from a checkpoint ends with the same numbers, bit by bit, on the same machine.
#
# An adversary of its own watches: it learns from releases, no privatiser ever sees its slopes, and it is measured on
# records that no one learned from. It decides when to stop early, and supplies the report of a run.


LEAST_ROUNDS = 10
"""Minimum number of steps of the privatiser in an epoch, however few records exist."""
WATCHING_STEPS = 100
LAST_WATCHING_STEPS = 400
MEASURED_DRAWS = 4
"""Releases of each held-out record that distortion is averaged over."""
WITHIN = 1.05
"""A state may be kept as the best one if it spends no more than this share of its budget."""
LEAST_GAIN = 1e-3
LOG = AdversaryLoss(1.0)

Progress = Callable[[int, int | None], None]
Live = Callable[[int, "Course"], None]


@dataclass(frozen=True)
class Watched:
    """Results of the adversary that only watches, for every private variable (a row) and point.

    It is measured on held-out records, or on training records if none were held out.
    """

    accuracy: Floats
    loss: Floats
    spent: Floats
    records: int


@dataclass(frozen=True)
class Course:
    """Course of a run: distortion for every epoch and point, accuracy of the game's adversary for the first private
    variable, and her total loss."""

    spent: Floats
    accuracy: Floats
    loss: Floats
    prior_loss: Floats
    budgets: Floats
    stopped: bool
    watched: Watched | None = None

    @property
    def epochs(self) -> int:
        """Return how many there were."""
        return len(self.spent)

    def converged(self, within: float = 0.03, drift: float = 0.02) -> NDArray[np.bool_]:
        """Return for each point whether the training came to rest with its budget spent.

        At rest, the loss of the adversary moved by at most ``drift`` of the blind loss between the last two tenths of the
        run. The budget counts as spent to a share ``within``. Less may be spent only where the adversary that watches, who
        learned from the final releases, is blind too: an adversary of the game that finds nothing may have failed to learn.
        This does not state that the optimum was reached.
        """
        tenth = max(1, self.epochs // 10)
        last, before = self.loss[-tenth:].mean(axis=0), self.loss[-2 * tenth : -tenth or None]
        still = (
            np.abs(last - before.mean(axis=0)) <= drift * self.prior_loss if len(before) else np.zeros(len(last), bool)
        )
        share = self.spent[-tenth:].mean(axis=0) / self.budgets
        blind = np.zeros(len(last), bool)
        if self.watched is not None:
            blind = np.minimum(last, self.watched.loss.sum(axis=0)) >= (1 - drift) * self.prior_loss
        spent = (share <= 1 + within) & ((share >= 1 - within) | blind)
        return np.asarray(still & spent)


class Trainer:
    """One run. ``adversary`` plays; ``held_out`` records are for the one that watches."""

    def __init__(
        self,
        family: Family,
        adversary: Any,
        records: Records,
        budgets: Floats,
        settings: Settings,
        held_out: Records | None = None,
    ) -> None:
        self.family, self.adversary, self.records, self.settings = family, adversary, records, settings
        self.held_out, self.dtype = held_out, records.numeric.dtype
        self.budgets = torch.as_tensor(np.array(budgets), dtype=self.dtype)
        self.loss, self.points = settings.adversary, records.points
        self.blind = prior_losses(records.class_shares(), self.loss)
        for player in (family, adversary):
            for tensor in player.parameters.values():
                tensor.requires_grad_(True)
        self.constraint = constraint_of(settings, self.points, self.dtype)
        self.learning = Adam(adversary.parameters, 0.9, 0.999)
        self.moving: Any = (
            LineSearch(family.parameters, self.points, settings.rate)
            if settings.step == "search"
            else Adam(family.parameters, settings.momentum, 0.99)
        )
        self.watcher: Any = None if held_out is None else self._watcher()
        self.watching = None if self.watcher is None else Adam(self.watcher.parameters, 0.9, 0.999)
        self.history: list[NDArray[Any]] = []
        self.best: dict[str, Tensor] = {}
        self.best_loss = np.full(self.points, -np.inf)
        self.waited = 0
        self.stopped = False

    def run(
        self,
        progress: Progress | None = None,
        live: Live | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        setup: dict[str, Any] | None = None,
    ) -> Course:
        """Run all epochs except those in a checkpoint; ``live`` is called with the results after each."""
        before = torch.get_num_threads()
        torch.set_num_threads(
            self.settings.threads
        )  # tiny products are slower on several, much slower on a busy machine
        try:
            return self._run(progress, live, checkpoint, setup or {})
        finally:
            torch.set_num_threads(before)

    def _run(
        self,
        progress: Progress | None,
        live: Live | None,
        checkpoint: str | os.PathLike[str] | None,
        setup: dict[str, Any],
    ) -> Course:
        total = self.settings.epochs
        done = 0 if checkpoint is None else read_checkpoint(self, checkpoint, setup)
        for number in range(done, total):
            if progress is not None:
                progress(number, total)
            try:
                self.epoch(number)
            except DataError:
                if checkpoint is not None:  # nothing to go on from
                    Path(checkpoint).unlink(missing_ok=True)
                raise
            self._look(number)
            if checkpoint is not None:
                write_checkpoint(self, checkpoint, setup, total if self.stopped else number + 1)
            if live is not None:
                live(number + 1, self.course())
            if self.stopped:
                break
        if progress is not None:
            progress(total, total)
        self._settle()
        if self.watcher is None:
            self.watcher = self._watcher()
            self.watching = Adam(self.watcher.parameters, 0.9, 0.999)
        return self.course(self._measured(LAST_WATCHING_STEPS, 1 << 30))

    def course(self, watched: Watched | None = None) -> Course:
        """Return how it has gone so far."""
        spent, accuracy, loss = np.stack(self.history).transpose(1, 0, 2)
        blind = self.blind.sum(dim=0).numpy().astype(np.float64)
        return Course(spent, accuracy, loss, blind, self.budgets.numpy().astype(np.float64), self.stopped, watched)

    # One epoch -------------------------------------------------------------------------------------------------------------

    def epoch(self, number: int) -> None:
        """All records once, in random order."""
        settings, generator = self.settings, self._generator(number)
        rounds = max(LEAST_ROUNDS, len(self.records) // settings.batch)
        warming = number < settings.warm_up
        sums = torch.zeros(3, self.points, dtype=self.dtype)
        batches, others = self._batches(generator, rounds), self._batches(generator, rounds * settings.adversary_steps)
        for place in range(rounds):
            done = (number + place / rounds) / settings.epochs
            rate, adversary_rate = (
                full * (1 - (1 - last) * done)
                for full, last in (
                    (settings.rate, settings.last_rate),
                    (settings.adversary_rate, settings.last_adversary_rate),
                )
            )
            if self.adversary.parameters:
                for _ in range(settings.adversary_steps):
                    self._teach(self.adversary, self.learning, next(others), generator, adversary_rate)
            sums += self._move(next(batches), generator, rate, warming)
        means = sums / rounds
        if not warming:
            self.constraint.after_epoch(self._excess(means[0]))
        self.history.append(means.numpy().astype(np.float64))
        if not np.isfinite(self.history[-1]).all():
            raise DataError("training went astray: its numbers are not finite; take a smaller rate or another seed.")

    def _move(self, batch: Records, generator: Any, rate: float, warming: bool) -> Tensor:
        """One step of the privatisers (none while adversaries warm up); return distortion, her accuracy, her loss."""
        state = generator.get_state()

        def played() -> tuple[Play, Tensor, Tensor]:
            generator.set_state(state)
            play = self.family.play(batch, generator)
            beliefs = self._beliefs(self.adversary, play)
            lost = expected_losses(play, beliefs, self.loss)
            reward = torch.minimum(lost, self.blind) if self.settings.cap else lost
            value = -reward.sum(dim=0) + self.constraint.price(self._excess(play.distortion))
            return play, value, torch.stack([play.distortion, accuracies(play, beliefs)[0], lost.sum(dim=0)]).detach()

        _, value, told = played()
        if not warming:
            found = slopes(value.sum(), self.family.parameters, self.settings.clip)
            if isinstance(self.moving, LineSearch):
                self.moving.step(found, value.detach(), lambda: played()[1])
            else:
                self.moving.step(found, rate)
        return told

    def _teach(self, adversary: Any, adam: Adam, batch: Records, generator: Any, rate: float) -> None:
        """One step of an adversary towards the posterior; privatisers stand still.

        She learns with the log loss whatever her own loss is: a loss of high order has no slope where she is sure of a
        wrong class.
        """
        with torch.no_grad():
            play = self.family.play(batch, generator)
        lost = expected_losses(play, adversary.log_beliefs(play), LOG).sum()
        adam.step(slopes(lost, adversary.parameters, self.settings.clip), rate)

    def _beliefs(self, adversary: Any, play: Play) -> list[Tensor]:
        """The beliefs with which an adversary plays: her posterior, tilted to the order of her loss."""
        beliefs: list[Tensor] = adversary.log_beliefs(play)
        if not adversary.parameters or self.loss.is_log:  # the best response is tilted already
            return beliefs
        return [torch.log_softmax(self.loss.order * one, dim=2) for one in beliefs]

    def _excess(self, spent: Tensor) -> Tensor:
        return (spent - self.budgets) / self.budgets

    def _batches(self, generator: Any, many: int) -> Any:
        """Yield the given number of batches: all records in random order, again and again."""
        size = min(self.settings.batch, len(self.records))
        left = torch.zeros(0, dtype=torch.int64)
        for _ in range(many):
            if size == len(self.records):
                yield self.records
                continue
            if len(left) < size:
                left = torch.randperm(len(self.records), generator=generator)
            yield self.records.take(left[:size])
            left = left[size:]

    def _generator(self, number: int) -> Any:
        """Everything random of an epoch."""
        seed = np.random.SeedSequence((self.settings.seed, number)).generate_state(1, np.uint64)[0]
        return torch.Generator().manual_seed(int(seed) & ((1 << 63) - 1))

    # Watching --------------------------------------------------------------------------------------------------------------

    def _watcher(self) -> Any:
        """An adversary that only watches."""
        if isinstance(self.family, TableFamily):
            return BestResponse(self.loss.order)
        seed = self._generator((1 << 31) - 1)
        hidden = self.settings.adversary_hidden
        made = NetworkAdversary(self.points, self.family.shown, self.records.classes, hidden, seed)
        for tensor in made.parameters.values():
            tensor.requires_grad_(True)
        return made

    def _measured(self, steps: int, number: int) -> Watched:
        """Let the watcher learn for some steps, and measure it on held-out records, or on all if none were held out."""
        records = self.records if self.held_out is None else self.held_out
        assert self.watching is not None
        generator = self._generator(number)
        if self.watcher.parameters:
            batches = self._batches(generator, steps)
            for place, batch in enumerate(batches):
                rate = self.settings.adversary_rate * (1 - 0.9 * place / steps)
                self._teach(self.watcher, self.watching, batch, generator, rate)
        with torch.no_grad():
            learned = (
                self._beliefs(self.watcher, self.family.play(self.records, generator))
                if not self.watcher.parameters
                else None
            )
            plays = [self.family.play(records, generator) for _ in range(MEASURED_DRAWS)]
            beliefs = learned if learned is not None else self._beliefs(self.watcher, plays[0])
            found = (accuracies(plays[0], beliefs), expected_losses(plays[0], beliefs, self.loss))
            spent = torch.stack([play.distortion for play in plays]).mean(dim=0)
        accuracy, loss, cost = (tensor.numpy().astype(np.float64) for tensor in (*found, spent))
        return Watched(accuracy, loss, cost, len(records))

    def _look(self, number: int) -> None:
        """Look at the watcher now and then, keep the best state of each point, and stop when none of them gets better."""
        patience, settings = self.settings.patience, self.settings
        due = (number + 1) % settings.check_every == 0 and number >= settings.warm_up
        if patience is None or self.held_out is None or not due:
            return
        seen = self._measured(WATCHING_STEPS, (1 << 20) + number)
        told = np.minimum(seen.loss, self.blind.numpy()).sum(axis=0)
        better = (told > self.best_loss + LEAST_GAIN) & (seen.spent <= WITHIN * self.budgets.numpy())
        with torch.no_grad():
            for name, tensor in self.family.parameters.items():
                kept = self.best.setdefault(name, tensor.detach().clone())
                kept[torch.as_tensor(better)] = tensor.detach()[torch.as_tensor(better)]
        self.best_loss = np.where(better, told, self.best_loss)
        resting = bool((seen.spent <= WITHIN * self.budgets.numpy()).all())  # what spends too much is not the end of it
        self.waited = 0 if better.any() or not resting else self.waited + 1
        self.stopped = self.waited >= patience and bool(np.isfinite(self.best_loss).all())

    def _settle(self) -> None:
        """The best state where it was stopped early, else the last one; no more spent than allowed."""
        with torch.no_grad():
            for name, kept in self.best.items() if self.stopped else ():
                self.family.parameters[name].copy_(kept)
            self.family.keep_budget(self.budgets, self._spent)

    def _spent(self) -> Tensor:
        """The distortion on all records, each drawn several times, always with the same noise."""
        generator = self._generator((1 << 30) - 1)
        plays = [self.family.play(self.records, generator) for _ in range(MEASURED_DRAWS)]
        return torch.stack([play.distortion for play in plays]).mean(dim=0)


# Curves -------------------------------------------------------------------------------------------------------------------
#
# One call for a curve: arrays of records and budgets in, the arrays of a privatiser for each budget and the course out.


@dataclass(frozen=True)
class Curve:
    """The arrays of a privatiser for every point, and how its training went."""

    arrays: tuple[dict[str, NDArray[Any]], ...]
    course: Course


def train_curve(
    family: str,
    numeric: Floats,
    codes: Codes,
    truth: Codes,
    budgets: Sequence[float],
    settings: Settings,
    *,
    categories: tuple[int, ...] = (),
    classes: tuple[int, ...] = (2,),
    given: str = "x",
    weights: Sequence[float] = (),
    steps: Sequence[float] = (),
    held_out: NDArray[np.bool_] | None = None,
    source: Codes | None = None,
    knows: str = "learns",
    progress: Progress | None = None,
    live: Live | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> Curve:
    """Train a privatiser for every budget together.

    Arrays are (rows, columns), or (tables, rows, columns) with ``source``, the table of each budget. ``weights`` of
    columns make the distortion, numeric columns first. ``steps``: numbers of a column are changed by multiples of
    this, where it is not 0 (integers stay whole). ``held_out`` marks rows that only the watching adversary is measured
    on. ``knows="law"``: the adversary of a table is the best one, computed, and has nothing to learn.
    """
    generator = torch.Generator().manual_seed(settings.seed)
    dtype = torch.float64 if family == "table" else torch.float32
    whole = Records.of(
        numeric,
        codes,
        truth,
        categories=categories,
        classes=classes,
        points=len(budgets),
        source=source,
        dtype=dtype,
    )
    apart = None if held_out is None else whole.take(torch.as_tensor(np.flatnonzero(held_out)))
    records = whole if held_out is None else whole.take(torch.as_tensor(np.flatnonzero(~held_out)))
    costs = list(weights) or [1.0] * (numeric.shape[-1] + len(categories))
    made: Family
    adversary: Any
    if family == "shifts":
        made = ShiftFamily(records, given, costs[0])
    elif family == "table":
        made = TableFamily(records, given, costs[0] * (1 - np.eye(categories[0])))
    else:
        made = NetworkFamily(records, given, costs, settings.hidden, settings.temperature, generator, steps)
    if family != "table":
        adversary = NetworkAdversary(len(budgets), made.shown, classes, settings.adversary_hidden, generator)
    elif knows == "law":
        adversary = BestResponse(settings.adversary.order)
    else:
        adversary = TableAdversary(len(budgets), made.shown, classes, dtype)
    setup = {
        "family": family,
        "given": given,
        "knows": knows,
        "budgets": [float(budget) for budget in budgets],
        "weights": [float(cost) for cost in costs],
        "steps": [float(step) for step in steps],
        "settings": settings.to_json(),
        "data": _digest(numeric, codes, truth, held_out),
    }
    if not settings.adversary.is_log:
        setup["taught"] = "log"  # a checkpoint of an adversary who learned with another loss is of another training
    trainer = Trainer(made, adversary, records, np.asarray(budgets, np.float64), settings, apart)
    course = trainer.run(progress, live, checkpoint, setup)
    return Curve(tuple(made.arrays(point) for point in range(len(budgets))), course)


def _digest(*arrays: NDArray[Any] | None) -> str:
    """Return a digest of records, so that a checkpoint continues with the same records."""
    found = hashlib.sha256()
    for array in arrays:
        if array is not None:
            found.update(f"{array.shape} {array.dtype}".encode())
            found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()
