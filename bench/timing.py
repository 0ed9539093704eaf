"""What the time of a release tells: an adversary with a stopwatch guesses which of two secrets was released.

The adversary knows the mechanism and both secrets, and has timed many releases of each beforehand. Two attacks, one release each:

* *time alone*, for secrets that are far apart: the time of one value, or of a column of a thousand that are all the same;
* *output and time*, for secrets one sensitivity apart: the time of a sampler that works longer for larger noise gives the noise
  away, and with it the secret. The gain is how much more often he is right than somebody who sees the output alone.

He learns from every other release (how likely either secret is for times, or outputs and times, between quantiles) and is tried
on the rest. 50 % is tossing a coin; ranges are 95 % intervals. Mechanisms are timed by the processor time of their thread, which
other processes do not blur: a better clock than an outsider has. A whole release, which waits for the disk, is timed on the wall.

    python -m bench.timing                      # all mechanisms, some minutes
    python -m bench.timing --only geometric --times 2000

Timings differ from machine to machine, so this is a measurement and not a proof, and no test asserts it.
"""

from __future__ import annotations

import gc
import math
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

import noisewright as nw

__all__ = ["CASES", "Guessing", "guessing", "timed"]

SLOTS = 24
"""The adversary tells times apart by so many quantiles."""

TIMES = 6
"""Beside an output he tells times apart by so many."""

DOUBT = 100
COLUMN = 1000
"""Values of the longer column, all the same: what one value hides, so many alike may show."""

MANY = ((0, 200), *((210 + 4 * k, 212 + 4 * k) for k in range(40)))
"""More ranges than are always all crossed: how many draws leave theirs shows in the time of a column."""

GAPS = ((0, 10), (12, 30), (31, 50), (60, 80), (81, 100))

Case = tuple[Callable[[], Any], Any, Any, Any]

CASES: dict[str, Case] = {
    "geometric": (lambda: nw.geometric(epsilon=1), 0, 1, 1_000_000),
    "geometric, within": (lambda: nw.geometric(epsilon=1, within=(0, 100)), 0, 1, 50),
    "laplace": (lambda: nw.laplace(epsilon=1), 0.0, 1.0, 1e6),
    "laplace, within": (lambda: nw.laplace(epsilon=1, within=(0, 100)), 0.0, 1.0, 50.0),
    "laplace, half line": (lambda: nw.laplace(epsilon=1, within=(0, None), scope="metric"), 0.0, 1.0, 1000.0),
    "laplace, gaps": (lambda: nw.laplace(epsilon=1, within=GAPS), 10.0, 9.0, 70.0),
    "laplace, 41 ranges": (lambda: nw.laplace(epsilon=1, within=MANY), 250.0, 251.0, 100.0),
    "gaussian": (lambda: nw.mechanisms.gaussian(epsilon=1, delta="1e-6"), 0.0, 1.0, 1e6),
    "staircase": (lambda: nw.mechanisms.staircase(epsilon=1), 0.0, 1.0, 1e6),
    "randomised-response": (lambda: nw.randomised_response(["a", "b", "c"], epsilon=1), "a", "b", "c"),
    "exponential": (lambda: nw.mechanisms.exponential(range(100), epsilon=1), 0, 1, 50),
    "planar-laplace": (lambda: nw.planar_laplace(epsilon=1), (0.0, 0.0), (1.0, 0.0), (1e6, 1e6)),
}
"""Mechanisms; for each a secret, one that is a sensitivity away, and one that is far away or drawn otherwise."""


@dataclass(frozen=True)
class Guessing:
    """How often the adversary guessed right."""

    right: int
    of: int

    @property
    def share(self) -> float:
        """The share of right guesses."""
        return self.right / self.of

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval for the chance to guess right."""
        z, n, p = 1.959964, self.of, self.share
        middle, half = (p + z * z / (2 * n)), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        return (middle - half) / (1 + z * z / n), (middle + half) / (1 + z * z / n)

    def __str__(self) -> str:
        low, high = self.interval
        return f"{100 * self.share:5.1f} % ({100 * low:.1f} to {100 * high:.1f})"


@dataclass(frozen=True)
class Gain:
    """By how much guesses are more often right that know the time as well as the output."""

    without: float
    value: float
    half: float

    def __str__(self) -> str:
        low, high = 100 * (self.value - self.half), 100 * (self.value + self.half)
        return f"{100 * self.without:4.1f} %, {100 * self.value:+.1f} ({low:+.1f} to {high:+.1f})"


def guessing(first: NDArray[Any], second: NDArray[Any]) -> Guessing:
    """What an adversary makes of the times of two secrets: learns from every other one, and is tried on the rest.

    >>> rng = np.random.default_rng(1)
    >>> same = guessing(rng.exponential(1, 4000), rng.exponential(1, 4000))
    >>> leaky = guessing(rng.normal(0, 1, 4000), rng.normal(2, 1, 4000))  # the best guess is right with Phi(1) = 84.1 %
    >>> same.interval[0] < 0.5 < same.interval[1], 0.83 < leaky.share < 0.86
    (True, True)
    """
    which = np.repeat([0, 1], [first.size, second.size])
    right = _tried(_slots(np.concatenate([first, second]), SLOTS), which)
    return Guessing(int(right.sum()), right.size)


def gain(times: NDArray[Any], outputs: NDArray[Any], which: NDArray[Any]) -> Gain:
    """What the time adds to the output: the same adversary with and without it, tried on the same releases.

    >>> rng = np.random.default_rng(1)
    >>> which, noise = np.repeat([0, 1], 20_000), rng.laplace(size=40_000)
    >>> blind = gain(rng.exponential(1, 40_000), which + noise, which)
    >>> seen = gain(np.abs(noise), which + noise, which)  # a sampler that takes as long as its noise is large
    >>> bool(abs(blind.value) < 0.01), bool(seen.value > 0.1)
    (True, True)
    """
    seen = _slots(outputs, SLOTS)
    times = times.astype(np.float64)
    slot = np.zeros(times.size, dtype=np.intp)
    for cell in np.unique(seen):
        slot[seen == cell] = _slots(times[seen == cell], TIMES)
    with_time, without = _tried(seen * TIMES + slot, which, seen), _tried(seen, which)
    more = with_time.astype(float) - without
    return Gain(float(without.mean()), float(more.mean()), 1.959964 * float(more.std()) / math.sqrt(more.size))


def _slots(values: NDArray[Any], count: int) -> NDArray[np.intp]:
    """The place of each value between quantiles of all; its own place, where there are few different ones."""
    different = np.unique(values)
    if different.size <= count:
        return np.searchsorted(different, values)
    return np.searchsorted(np.unique(np.quantile(values, np.linspace(0, 1, count + 1)[1:-1])), values)


def _tried(slots: NDArray[np.intp], which: NDArray[Any], within: NDArray[np.intp] | None = None) -> NDArray[np.bool_]:
    """Whether each guess is right on every other release of either secret, after learning from the rest.

    ``within``: coarser slots, which count as much as :data:`DOUBT` releases do: few times alone change no mind.
    """
    rank = np.empty(which.size, dtype=np.intp)
    for secret in (0, 1):
        rank[which == secret] = np.arange(int((which == secret).sum()))
    known = rank % 2 == 0

    def counted(places: NDArray[np.intp]) -> NDArray[Any]:
        size = int(places.max()) + 1
        return np.array([np.bincount(places[known & (which == secret)], minlength=size) for secret in (0, 1)])

    votes = counted(slots)[:, slots[~known]].astype(float)
    if within is not None:
        around = counted(within)[:, within[~known]]
        votes += DOUBT * around / np.maximum(around.sum(axis=0), 1)
    return np.asarray((votes[1] > votes[0]) == which[~known].astype(bool))


def timed(
    release: Callable[[Any], Any],
    secrets: tuple[Any, Any],
    times: int,
    clock: Callable[[], int] = time.thread_time_ns,
) -> tuple[NDArray[np.int64], list[Any], NDArray[np.int64]]:
    """Times and outputs of releases of two secrets in random order, so many of each, and which of them it was."""
    order = np.random.default_rng(7).permuted(np.repeat([0, 1], times))
    for which in order[: max(10, times // 20)]:  # tables are made and caches filled at the first releases
        release(secrets[which])
    found, outputs = np.empty(order.size, dtype=np.int64), []
    gc.collect()
    gc.disable()
    try:
        for place, which in enumerate(order):
            secret = secrets[which]
            begun = clock()
            output = release(secret)
            found[place] = clock() - begun
            outputs.append(output)
    finally:
        gc.enable()
    return found, outputs, order


def time_alone(release: Callable[[Any], Any], secrets: tuple[Any, Any], times: int, **more: Any) -> Guessing:
    """What the time says where no output is seen."""
    found, _, order = timed(lambda secret: (release(secret), None)[1], secrets, times, **more)
    return guessing(found[order == 0], found[order == 1])


def whole_release(times: int) -> Guessing:
    """A table of one row through ``noisewright.release``, ledger and all."""
    import pyarrow as pa

    policy = nw.Policy.from_dict(
        {
            "dataset": "timed",
            "budget": {"epsilon": 10**6},
            "columns": [{"name": "age", "mechanism": "geometric", "within": [0, 100], "protect": 1, "epsilon": 1}],
        }
    )
    with tempfile.TemporaryDirectory() as folder:
        book = nw.Ledger(f"{folder}/timed.ledger")
        tables = tuple(pa.table({"age": pa.array([age])}) for age in (0, 50))
        return time_alone(
            lambda table: nw.release(policy, table, ledger=book, again=True), tables, times, clock=time.perf_counter_ns
        )


def measured(times: int, only: str | None = None) -> Iterator[tuple[str, Guessing, Guessing | None, Gain | None]]:
    """For each mechanism: what the time of one value tells, of many that are all the same, and beside an output."""
    for name, (make, one, near, far) in CASES.items():
        if only is not None and only not in name:
            continue
        mechanism = make()
        single = time_alone(mechanism.release, (one, far), times)
        column = time_alone(mechanism.release, ([one] * COLUMN, [far] * COLUMN), max(100, times // 5))
        found, outputs, order = timed(mechanism.release, (one, near), times)
        seen = np.array([output[0] for output in outputs] if isinstance(one, tuple) else outputs)
        yield name, single, column, gain(found, np.unique(seen, return_inverse=True)[1], order)
    if only is None or only in "whole release":
        yield "a whole release", whole_release(max(100, times // 40)), None, None


def main(
    times: Annotated[int, typer.Option(min=100, help="Timings of each secret.")] = 20_000,
    only: Annotated[str | None, typer.Option(help="Only mechanisms with this in their name.")] = None,
) -> None:
    """Guess secrets from the time of their release."""
    print(f"{'':22}{'time alone, one value':26}{f'time alone, {COLUMN} alike':26}output alone, gain by the time")
    for name, *found in measured(times, only):
        print(f"{name:22}" + "".join(f"{'' if one is None else one!s:26}" for one in found).rstrip(), flush=True)


if __name__ == "__main__":
    typer.run(main)
