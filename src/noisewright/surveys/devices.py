"""Instruments with which people draw lots: coins, dice, cards and spinners, their outcomes, and the words for them.

An instrument has a few *outcomes*, each with a number of equally likely cases. A rule gives every outcome an action: answer
truthfully, or say a given answer. :func:`ranges` cuts the outcomes into runs of given numbers of cases where that is
possible, and :meth:`Instrument.in_words` names such a run the way one would say it.

>>> die = next(i for i in INSTRUMENTS if i.name == "a die")
>>> [die.in_words(run) for run in ranges(die, (4, 1, 1))]
['1 to 4', '5', '6']
>>> coins = next(i for i in INSTRUMENTS if i.name == "three coins")
>>> [coins.in_words(run) for run in ranges(coins, (2, 3, 3))]
['all heads or all tails', 'two heads', 'one head']
>>> ranges(coins, (5, 2, 1)) is None
True

The respondent draws lots in private. Some outcomes mean: answer truthfully. Every other outcome means: say this answer,
whatever the truth is. If ``a`` of ``N`` equally likely cases mean the truth and ``f_y`` of them mean the answer ``y``,
answer ``y`` has probability ``(f_y + a)/N`` for those with truth ``y`` and ``f_y/N`` for all others: integers of cases,
nothing rounded. Every binary design with ``p00 + p11 >= 1`` is of this form.

**Guarantee.** ``(epsilon, delta)`` for the discrete metric, proved in integers against lower bounds of ``e^epsilon``
when a device is built, and again by anyone from its certificate. It is about the device as described: a fair one, and
respondents who follow it.

:func:`best_device` finds the integers with the least variance for one instrument, :func:`devices` for every instrument.

>>> device = best_device(instrument("a die"), ("no", "yes"), epsilon="1.7", prevalence="0.1")
>>> print(device.instruction())
Roll a die where nobody else can see it.
1 to 4: answer truthfully.
5: say "no", whatever the truth is.
6: say "yes", whatever the truth is.
>>> device.design.p11, device.certificate().verify()
(Fraction(5, 6), 'epsilon = 1.7 per unit of discrete')
>>> device.release(["no", "yes", "yes"]).shape
(3,)

References: Boruch (1971) for forced response; Warner (1965).
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import product
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisewright._utils.validation import fields_alone
from noisewright.base import BaseMechanism, expected_loss
from noisewright.certificates.certificate import Certificate
from noisewright.channels.channel import Channel
from noisewright.columns.label_encoder import Labels
from noisewright.exceptions import GuaranteeError, ParameterError
from noisewright.guarantees import Guarantee
from noisewright.mechanisms.categorical.probability_table import Chances, check_promise
from noisewright.metrics.base import Discrete
from noisewright.numerics.exact import Exact
from noisewright.sampling.random_bits import uniform_below
from noisewright.surveys.categorical import as_counts
from noisewright.surveys.designs import Design, Region, as_prevalence, binary

__all__ = [
    "FAMILIES",
    "INSTRUMENTS",
    "WITH_SLIPS",
    "Device",
    "Family",
    "Instrument",
    "best_device",
    "devices",
    "instrument",
    "ranges",
]


Family = Literal["coins", "dice", "cards", "spinner"]
FAMILIES: tuple[Family, ...] = ("coins", "dice", "cards", "spinner")


@dataclass(frozen=True)
class Instrument:
    """Something to draw lots with."""

    name: str
    family: Family
    act: str
    """Action of the respondent, as the first sentence of the instruction."""
    outcomes: tuple[str, ...]
    effort: int
    """A rank: the smaller, the less there is to bring along or to explain."""
    weights: tuple[int, ...] = ()
    """The equally likely cases of each outcome; one each if left out."""
    second: bool = False
    """Whether it only decides between the truth and a second lot, which picks one of the answers, all equally likely."""

    @property
    def cases(self) -> int:
        """Number of equally likely cases."""
        return sum(self.weights) if self.weights else len(self.outcomes)

    def in_words(self, run: Sequence[int]) -> str:
        """The name of some outcomes: ``5``, ``5 or 6``, ``1 to 4``."""
        names = [self.outcomes[i] for i in run]
        if self.weights or len(names) < 3:
            return " or ".join(names)
        return f"{names[0]} to {names[-1]}"


def ranges(instrument: Instrument, sizes: Sequence[int]) -> tuple[tuple[int, ...], ...] | None:
    """Return the outcomes that get each action, given the number of cases that actions need; None if no choice of
    outcomes gives them.

    Outcomes of one case each are taken in order, so that each action has a run of them.
    """
    if sum(sizes) != instrument.cases:
        return None
    if instrument.weights:
        return _parts(instrument.weights, tuple(sizes))
    runs, start = [], 0
    for size in sizes:
        runs.append(tuple(range(start, start + size)))
        start += size
    return tuple(runs)


@lru_cache(maxsize=4096)
def _parts(weights: tuple[int, ...], sizes: tuple[int, ...]) -> tuple[tuple[int, ...], ...] | None:
    """Return the outcomes that make up each size, if any do; among several ways the one that leaves the first outcomes
    to the first action.
    """
    for actions in product(range(len(sizes)), repeat=len(weights)):
        parts = tuple(tuple(i for i, a in enumerate(actions) if a == action) for action in range(len(sizes)))
        if all(sum(weights[i] for i in part) == size for part, size in zip(parts, sizes, strict=True)):
            return parts
    return None


def _hidden(act: str) -> str:
    return f"{act} where nobody else can see it."


def _numbers(count: int) -> tuple[str, ...]:
    return tuple(str(i) for i in range(1, count + 1))


_RANKS = ("ace", *(str(i) for i in range(2, 11)), "jack", "queen", "king")

INSTRUMENTS: tuple[Instrument, ...] = (
    Instrument("two flips of a coin", "coins", _hidden("Flip a coin"), ("heads", "tails"), 1, second=True),
    Instrument("a die", "dice", _hidden("Roll a die"), _numbers(6), 2),
    Instrument(
        "three coins",
        "coins",
        "Flip three coins where nobody else can see them.",
        ("all heads", "two heads", "one head", "all tails"),
        3,
        weights=(1, 3, 3, 1),
    ),
    Instrument("a die and a coin", "dice", _hidden("Roll a die"), _numbers(6), 3, second=True),
    *(
        Instrument(
            f"{count} cards",
            "cards",
            f"Take the ace to the {_RANKS[count - 1]} of one suit, shuffle them, and draw one where nobody else can see it.",
            _RANKS[:count],
            4,
        )
        for count in range(3, 14)
    ),
    *(
        Instrument(
            f"a spinner with {count} fields",
            "spinner",
            f"Spin a spinner with {count} equal fields, numbered from 1, where nobody else can see it.",
            _numbers(count),
            5,
        )
        for count in range(3, 21)
    ),
    Instrument(
        "two dice",
        "dice",
        "Roll a red and a white die where nobody else can see them, and read them as one number, red first, from 11 to 66.",
        tuple(f"{red}{white}" for red in range(1, 7) for white in range(1, 7)),
        6,
    ),
    Instrument(
        "two ten-sided dice",
        "dice",
        "Roll a red and a white ten-sided die where nobody else can see them, and read them as one number, red first, "
        "from 00 to 99.",
        tuple(f"{i:02d}" for i in range(100)),
        7,
    ),
    Instrument(
        "three ten-sided dice",
        "dice",
        "Roll a red, a white and a blue ten-sided die where nobody else can see them, and read them as one number, in that "
        "order, from 000 to 999.",
        tuple(f"{i:03d}" for i in range(1000)),
        8,
    ),
)

WITH_SLIPS: tuple[Instrument, ...] = tuple(
    replace(one, name=f"{'a coin' if one.family == 'coins' else one.name} and slips", second=True)
    for one in INSTRUMENTS
    if not one.weights and one.name != "a die and a coin"
)
"""The same for more than two answers: the second lot is a slip with one of the answers on it."""


# Device -------------------------------------------------------------------------------------------------------------------
#
# A randomising device that people can use, with its privacy proved: forced response by coins, dice, cards or a spinner.


Split = tuple[int, tuple[int, ...]]
"""Cases for the truth, and for each answer."""


@dataclass(frozen=True)
class Device(BaseMechanism):
    """A device with a proved guarantee; build it with :func:`best_device`, or directly from integers of cases."""

    instrument: Instrument
    answers: tuple[Hashable, ...]
    truth: int
    """Cases in which the respondent answers truthfully, of all cases of the instrument."""
    forced: tuple[int, ...]
    """Cases in which each answer is said whatever the truth; with a second lot, the cases in which that lot decides."""
    epsilon: Fraction
    delta: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        cases, parts = self.instrument.cases, 1 if self.instrument.second else len(self.answers)
        if len(self.answers) < 2 or len(set(self.answers)) < len(self.answers):
            raise ParameterError("a device has two or more answers, all different.")
        aloud = [str(answer).strip() for answer in self.answers]
        if len(set(map(_heard, aloud))) < len(aloud) or not all(t and t.isprintable() and '"' not in t for t in aloud):
            raise ParameterError(
                "answers are said aloud, so each must be one line of text without double quotes, and no two may read alike; "
                "rename them."
            )
        whole = all(isinstance(count, int) for count in (self.truth, *self.forced))
        if not whole or len(self.forced) != parts or min(self.forced) < 0 or self.truth < 1:
            raise ParameterError("a device needs 1 or more cases for the truth, and a number of cases for each answer.")
        if ranges(self.instrument, (self.truth, *self.forced)) is None:
            raise ParameterError(f"{self.instrument.name} cannot be split into these numbers of its {cases} cases.")
        if not self.chances().private(self.epsilon, self.delta):
            raise GuaranteeError(
                f"this device is not private at epsilon = {float(self.epsilon):g} and delta = {float(self.delta):g} (discrete "
                "metric); leave fewer cases to the truth."
            )

    @property
    def name(self) -> str:
        """Name in certificates."""
        return f"survey device: {self.instrument.name}"

    @property
    def guarantee(self) -> Guarantee:
        """``(epsilon, delta)`` for the discrete metric."""
        return Guarantee.exactly(self.epsilon, Discrete(), self.delta)

    @property
    def smallest_epsilon(self) -> float:
        """Tight epsilon with this delta; at most the requested one."""
        return self.chances().smallest_epsilon(self.delta)

    @property
    def design(self) -> Design:
        """Design for the last answer, yes, against all others; more than two answers have it all alike."""
        return self.design_of(self.answers[-1])

    def design_of(self, answer: Hashable) -> Design:
        """Return the design for one answer against all others: the variance of that answer's share."""
        if answer not in self.answers:
            raise ParameterError("name one of the answers of this device.")
        return _design(*self.cases(), place=self.answers.index(answer))

    def chances(self) -> Chances:
        """The integers of cases for each truth and each answer."""
        total, truth, forced = self.cases()
        size = range(len(self.answers))
        rows = tuple(tuple(forced[y] + (truth if x == y else 0) for y in size) for x in size)
        return Chances(rows, total, self.answers, self.answers)

    def rules(self) -> list[tuple[str, str]]:
        """Outcomes, and the action of a respondent who gets one of them."""
        runs = ranges(self.instrument, (self.truth, *self.forced)) or ()
        actions = ["answer truthfully."]
        if self.instrument.second:
            actions.append(_second_lot(self.instrument, self.answers))
        else:
            actions += [f'say "{answer}", whatever the truth is.' for answer in self.answers]
        return [(self.instrument.in_words(run), action) for run, action in zip(runs, actions, strict=True) if run]

    def instruction(self) -> str:
        """Return the text that an interviewer reads out."""
        lines = [f"{outcome[:1].upper()}{outcome[1:]}: {action}" for outcome, action in self.rules()]
        return "\n".join([self.instrument.act, *lines])

    def estimate(self, counts: ArrayLike) -> NDArray[np.float64]:
        """The unbiased estimate of the shares from the numbers of answers, in the order of ``answers``; some may be negative."""
        given = as_counts(counts, len(self.answers))
        total, truth, forced = self.cases()
        return np.asarray((given / given.sum() - np.array(forced) / total) * (total / truth))

    # As a mechanism: the same draws by a computer ------------------------------------------------------------------------

    def release(self, values: Any, rng: np.random.Generator | None = None) -> Any:
        """One exact draw for every truth, as if each respondent used the device."""
        codes, form = self._labels.encode(values)
        total, truth, forced = self.cases()
        drawn = np.asarray(uniform_below(total, codes.shape, rng)).astype(np.int64)
        said = np.searchsorted(np.cumsum(forced), drawn - truth, side="right")
        return self._labels.decode(np.where(drawn < truth, codes, said), form)

    def certificate(self, rng: np.random.Generator | None = None) -> Certificate:
        """The integers of cases, which prove the guarantee."""
        return self.chances().certificate(self.name, epsilon=self.epsilon, delta=self.delta, simulated=rng is not None)

    def certificate_by_hand(self) -> Certificate:
        """The same where respondents draw the lots themselves: it rests on a fair instrument and on their following the rules."""
        lots = {"lots": self.instrument.name}
        return self.chances().certificate(self.name, epsilon=self.epsilon, delta=self.delta, randomness=lots)

    def error(self, loss: str = "zero-one") -> float:
        """The expected loss of an answer taken at face value, for the truth where it is largest."""
        return expected_loss(self.channel(), loss)

    def channel(self) -> Channel:
        """The channel of floats from truths to answers."""
        return self.chances().channel()

    def cases(self) -> tuple[int, int, tuple[int, ...]]:
        """All equally likely cases, those for the truth and those for each answer, a second lot included."""
        return _cases(self.instrument, len(self.answers), (self.truth, self.forced))

    @cached_property
    def _labels(self) -> Labels:
        return Labels(self.answers)

    __getstate__ = fields_alone


def instrument(name: str) -> Instrument:
    """An instrument by its name."""
    found = next((one for one in (*INSTRUMENTS, *WITH_SLIPS) if one.name == name), None)
    if found is None:
        raise ParameterError(f"there is no instrument called {name!r}; the names are in noisewright.surveys.devices.")
    return found


def best_device(
    tool: Instrument,
    answers: Iterable[Hashable] = ("no", "yes"),
    *,
    epsilon: Exact,
    delta: Exact = 0,
    prevalence: Exact | None = None,
    allow_certain_disclosure: bool = False,
    whole_population: bool = False,
) -> Device | None:
    """The device of one instrument with the least variance (the largest over all prevalences if none is given).

    None if it has none: every informative split of its cases breaks the guarantee, or some answer would give the truth
    away and that is not allowed. More than two answers are said equally often whatever the truth.
    """
    if not isinstance(tool, Instrument):
        raise ParameterError("the instrument is one of noisewright.surveys.devices; instrument(name) finds it.")
    budget, extra = check_promise(epsilon, delta)
    names = tuple(answers)
    share = None if prevalence is None else as_prevalence(prevalence)
    region = Region(budget, extra)

    def variance(split: Split) -> float:
        design = _design(*_cases(tool, len(names), split), place=-1)
        return design.planned_variance(share, whole_population=whole_population)

    best = min(_splits(tool, len(names), region, allow_certain_disclosure), key=variance, default=None)
    return None if best is None else Device(tool, names, *best, budget, extra)


def devices(
    answers: Iterable[Hashable] = ("no", "yes"), *, family: Family | None = None, epsilon: Exact, **options: Any
) -> list[Device]:
    """The best device of every kind of instrument (of one family), the handiest first; options as for :func:`best_device`.

    Cards and spinners are of one kind however many there are, and the number with the least variance is taken.
    """
    if family is not None and family not in FAMILIES:
        raise ParameterError(f"a device is made of {', '.join(FAMILIES)}, not of {family!r}.")
    names, prevalence = tuple(answers), options.get("prevalence")
    best: dict[tuple[str, int], tuple[float, Device]] = {}
    for tool in INSTRUMENTS if len(names) == 2 else WITH_SLIPS:
        if family is not None and tool.family != family:
            continue
        device = best_device(tool, names, epsilon=epsilon, **options)
        if device is None:
            continue
        kind = tool.family, tool.effort
        spread = device.design.planned_variance(prevalence, whole_population=options.get("whole_population", False))
        if kind not in best or spread < best[kind][0]:
            best[kind] = spread, device
    return sorted((device for _, device in best.values()), key=lambda device: device.instrument.effort)


def _cases(tool: Instrument, size: int, split: Split) -> tuple[int, int, tuple[int, ...]]:
    """All cases, those for the truth and those for each answer; a second lot multiplies them by the number of answers."""
    truth, forced = split
    return (tool.cases * size, truth * size, forced * size) if tool.second else (tool.cases, truth, forced)


def _design(total: int, truth: int, forced: tuple[int, ...], place: int) -> Design:
    said = Fraction(forced[place], total)
    return binary(1 - said, said + Fraction(truth, total))


def _splits(tool: Instrument, size: int, region: Region, disclosing: bool) -> Iterator[Split]:
    """The private splits of an instrument's cases that are worth comparing: for given forced cases the truth has the rest."""
    cases = tool.cases
    if tool.second or size > 2:  # all answers alike: the fewer cases are forced the better
        share = 1 if tool.second else size
        for each in range(cases // share + 1):
            forced, truth = (each,) * share, cases - each * share
            # A total of ``cases * (size if second)`` has ``each`` forced cases for every answer, and the truth has the rest.
            total = cases * size if tool.second else cases
            private = total - (size - 1) * each <= region.factor * each + region.delta * total
            if each and truth and private and ranges(tool, (truth, *forced)) is not None:
                yield truth, forced
                return
        return
    least, most = (0, cases) if disclosing else (1, cases // 2)
    even = not disclosing and region.delta >= Fraction(1, 2)
    for no in range(least, most + 1):
        for yes in _allowed(cases, no, region, least, most):
            truth = cases - no - yes
            if truth <= 0:
                break
            if (not even or no == yes) and ranges(tool, (truth, no, yes)) is not None:
                yield truth, (no, yes)
                break


def _allowed(cases: int, no: int, region: Region, least: int, most: int) -> range:
    """Return the forced yes cases that are private together with the given number of forced no cases: from the fewest
    that are.
    """
    spare = cases * (1 - region.delta)
    fewest = max(spare - region.factor * no, (spare - no) / region.factor)
    return range(max(least, math.ceil(fewest)), most + 1)


def _heard(text: str) -> str:
    """Return an answer as it is heard: capitals, spaces and ways to write an accent cannot be heard."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _second_lot(tool: Instrument, answers: tuple[Hashable, ...]) -> str:
    if len(answers) == 2:
        flip = "flip the coin again" if tool.family == "coins" else "flip a coin"
        return f'{flip} and say "{answers[1]}" for heads and "{answers[0]}" for tails, whatever the truth is.'
    return f"draw one of {len(answers)} slips, one for each answer, and say what is on it, whatever the truth is."
