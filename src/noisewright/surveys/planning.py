"""Comparison of the ways to ask a sensitive question: what each costs, and the table that shows it.

>>> shortened("an answer that is long"), shortened("no")
('an answer that…', 'no')

From a variance ``v``, with confidence ``c``:

* ``normal``: ``z sqrt(v)`` with the quantile ``z`` of the normal law (1.96 for 95 %); approximate, good for many respondents;
* ``chebyshev``: ``sqrt(v / (1 - c))`` (4.47 standard deviations for 95 %); true for every law that has this variance.

After the survey :func:`share_interval` turns a count into an interval. ``exact`` (Clopper and Pearson's interval for the
probability of the answer, moved to the scale of the share) contains the true share with probability at least ``c`` whatever
it is, for independent respondents; ``normal`` uses the estimated variance, ``chebyshev`` the largest one there can be. Where
a whole population was asked, both leave out the part that sampling has in it; ``exact`` is then wider than it need be.

>>> from noisewright.surveys.designs import warner
>>> design = warner("3/4")
>>> round(margin_of_error(design.variance("0.1", 1000)), 4), respondents_for(design.variance("0.1"), "0.03")
(0.0568, 3586)
>>> [round(end, 4) for end in share_interval(design, yes=300, respondents=1000)]
[0.0434, 0.1589]

References: Holohan, Leith and Mason (2017); Clopper and Pearson (1934).

``survey(epsilon=1, respondents=1000, prevalence=0.1)`` looks for coins, dice, cards or a spinner that keep the
guarantee. It proves the guarantee in integers, and reports the cost against the best design that exists. It recommends
the handiest device whose variance is within ``tolerance`` (10 % more respondents) of that design, or the most accurate
one if none is. One that gives truths away is recommended only where it was allowed and no other is good enough.

**Guarantee.** ``(epsilon, delta)`` for the discrete metric and every respondent, whatever the others say: respondents
draw lots independently, so the guarantee for all answers together is that for one. Planning and estimating change
nothing about it; the prevalence is a guess that only accuracy depends on.

>>> plan = survey(epsilon=1, respondents=1000, prevalence="0.1")
>>> print(plan.device.instruction())
Take the ace to the jack of one suit, shuffle them, and draw one where nobody else can see it.
Ace to 5: answer truthfully.
6 to 8: say "no", whatever the truth is.
9 to jack: say "yes", whatever the truth is.
>>> round(plan.margin, 4), round(plan.loss, 3)               # half the width of a 95 % interval; 3.9 % more respondents
(0.0635, 0.039)
>>> survey(epsilon=1, target_margin="0.05").respondents      # whatever the prevalence
1860
>>> found = plan.estimate({"yes": 320, "no": 680})
>>> round(found.shares["yes"], 3), [round(end, 3) for end in found.intervals["yes"]]
(0.104, [0.041, 0.17])

References: Warner (1965); Boruch (1971); Holohan, Leith and Mason, *Optimal differentially private mechanisms for
randomised response* (2017).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Literal

from numpy.typing import ArrayLike

from noisewright._utils.validation import is_number
from noisewright.certificates.certificate import Certificate
from noisewright.claims.figures import figure, numeral, upward
from noisewright.columns.label_encoder import counted_labels
from noisewright.estimation.fitting import most_likely
from noisewright.estimation.likelihood import misfit
from noisewright.estimation.operators import DenseOperator
from noisewright.exceptions import DataError, ParameterError
from noisewright.guarantees import Guarantee, card
from noisewright.mechanisms.categorical.probability_table import MOST_ANSWERS, check_promise
from noisewright.metrics.base import encode_label
from noisewright.numerics.exact import Exact, as_confidence, as_fraction, in_words
from noisewright.surveys.categorical import ResponseDesign, as_counts
from noisewright.surveys.designs import (
    ANSWERS,
    MOST_RESPONDENTS,
    Design,
    Region,
    as_prevalence,
    as_respondents,
    direct,
    optimal_design,
    violation,
)
from noisewright.surveys.devices import Device, Family, devices

if TYPE_CHECKING:
    from rich.table import Table

__all__ = [
    "Method",
    "Option",
    "Shares",
    "Survey",
    "TooManyError",
    "deviations",
    "margin_of_error",
    "options_table",
    "respondents_for",
    "share_interval",
    "shortened",
    "survey",
]


@dataclass(frozen=True)
class Option:
    """One way to ask, compared with the others."""

    name: str
    design: Design
    epsilon: float
    """Tight epsilon with the requested delta; infinite for a direct question."""
    variance: float
    """Variance for one respondent."""
    margin: float
    needed: int | None
    """Respondents for the target margin; None without one, and where the number is not feasible."""
    violation: float | None
    """The belief in the sensitive truth after the answer that indicates it, at the guessed prevalence."""


def options_table(plan: Survey) -> Table:
    """The ways to ask of a plan as a table, the chosen one in bold."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    binary = len(plan.device.answers) == 2
    no, yes = (shortened(answer) for answer in (plan.device.answers[0], plan.device.answers[-1]))
    shown = [
        "Way to ask",
        "epsilon",
        *((f"{no} told truly", f"{yes} told truly") if binary else ("said if untrue", "said if true")),
    ]
    shown.append(f"± for {plan.respondents:,}")
    if plan.target_margin is not None:
        shown.append(f"needed for ± {numeral(plan.target_margin)}")
    if plan.prevalence is not None:
        shown.append(f"belief after {yes if binary else 'it'}")
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for place, title in enumerate(shown):
        table.add_column(Text(title), justify="right" if place else "left", no_wrap=not place, overflow="fold")
    for row in plan.options():
        cells = [
            row.name,
            "none" if math.isinf(row.epsilon) else upward(row.epsilon, 4),
            _chance(row.design.p00 if binary else 1 - row.design.p00),
            _chance(row.design.p11),
            f"{row.margin:.4f}",
        ]
        if plan.target_margin is not None:
            cells.append("too many" if row.needed is None else f"{row.needed:,}")
        cells += [] if row.violation is None else [f"{row.violation:.3f}"]
        chosen = row.name == plan.device.instrument.name
        table.add_row(*cells, style="bold" if chosen else None)
    return table


def shortened(answer: Hashable, length: int = 16) -> str:
    """An answer shortened to the width of a heading."""
    text = str(answer)
    return text if len(text) <= length else f"{text[: length - 1].rstrip()}…"


def _chance(value: Fraction) -> str:
    """A small fraction as it is, any other number in digits."""
    return str(value) if value.denominator <= 100 else f"{float(value):.4f}"


# Margins ------------------------------------------------------------------------------------------------------------------
#
# Margins of error: how far an estimated share may be off, and how many respondents a margin needs.


Method = Literal["normal", "chebyshev", "exact"]


def deviations(confidence: Exact = "0.95", method: Method = "normal") -> float:
    """The margin of error in standard deviations."""
    confidence = as_confidence(confidence)
    if method == "normal":
        # From the tail, which keeps its digits next to 1; next to 0 the law is flat, and (1 + confidence)/2 would be 1/2.
        return -NormalDist().inv_cdf((1 - confidence) / 2) if confidence > 1e-5 else confidence * math.sqrt(math.pi / 2)
    if method == "chebyshev":
        return 1 / math.sqrt(1 - confidence)
    raise ParameterError(f"a margin from a variance is 'normal' or 'chebyshev', not {method!r}.")


def margin_of_error(variance: float, confidence: Exact = "0.95", method: Method = "normal") -> float:
    """Half the width of the interval around an estimate with this variance."""
    return deviations(confidence, method) * math.sqrt(_as_variance(variance))


class TooManyError(ParameterError):
    """A margin for which no one could ask enough respondents."""


def respondents_for(variance: float, margin: Exact, confidence: Exact = "0.95", method: Method = "normal") -> int:
    """The smallest number of respondents whose margin is at most ``margin``; ``variance`` is that for one respondent."""
    target = as_fraction(margin, "the target margin")
    if not 0 < target < 1:
        raise ParameterError(f"the target margin must be above 0 and below 1, not {in_words(target)}.")
    needed = Fraction(_as_variance(variance)) * (Fraction(deviations(confidence, method)) / target) ** 2
    if needed > MOST_RESPONDENTS:
        raise TooManyError(f"this margin needs more than {MOST_RESPONDENTS:.0e} respondents; choose a larger one.")
    return max(1, math.ceil(needed * (1 - Fraction(1, 10**12))))  # rounding of floats must not cost a respondent


def share_interval(
    design: Design,
    yes: int,
    respondents: int,
    *,
    confidence: Exact = "0.95",
    method: Method = "exact",
    clip: bool = True,
    whole_population: bool = False,
) -> tuple[float, float]:
    """An interval for the share of the attribute, from the number of yes answers; within ``[0, 1]`` unless ``clip=False``."""
    confidence = as_confidence(confidence)
    middle = design.estimate(yes, respondents)
    if method == "exact":
        chances = _clopper_pearson(yes, respondents, confidence)
        base, slope = float(1 - design.p00), float(design.separation)
        ends = sorted((chance - base) / slope for chance in chances)
    elif method in ("normal", "chebyshev"):
        if method == "chebyshev":
            variance = design.worst_variance(respondents, whole_population=whole_population).variance
        elif whole_population:
            variance = design.variance(min(max(middle, 0.0), 1.0), respondents, whole_population=True)
        else:
            variance = design.plug_in_variance(yes, respondents)
        half = margin_of_error(variance, confidence, method)
        ends = [middle - half, middle + half]
    else:
        raise ParameterError(f"an interval is 'exact', 'normal' or 'chebyshev', not {method!r}.")
    return (min(max(ends[0], 0.0), 1.0), min(max(ends[1], 0.0), 1.0)) if clip else (ends[0], ends[1])


def _as_variance(value: object) -> float:
    number = float(value) if is_number(value) else math.nan
    if not 0 <= number < math.inf:
        raise ParameterError("a variance is a finite number that is 0 or more.")
    return number


def _clopper_pearson(successes: int, trials: int, confidence: float) -> tuple[float, float]:
    """All probabilities under which this count, or one farther out on its side, has at least ``(1 - confidence)/2``."""
    from scipy.special import betaincinv

    tail = (1 - confidence) / 2
    low = 0.0 if successes == 0 else float(betaincinv(successes, trials - successes + 1, tail))
    high = 1.0 if successes == trials else float(betaincinv(successes + 1, trials - successes, 1 - tail))
    return low, high


# Plan ---------------------------------------------------------------------------------------------------------------------
#
# Planning a survey on a sensitive question: a device that people can use, its guarantee, and how exact the answer
# will be.


def survey(
    *,
    epsilon: Exact,
    delta: Exact = 0,
    respondents: int | None = None,
    prevalence: Exact | None = None,
    target_margin: Exact | None = None,
    categories: Iterable[Hashable] | int = ANSWERS,
    confidence: Exact = "0.95",
    device: Family | None = None,
    allow_certain_disclosure: bool = False,
    whole_population: bool = False,
    tolerance: Exact = "0.1",
) -> Survey:
    """Plan a survey of the given number of ``respondents``, or of the number that a ``target_margin`` needs.

    ``categories``: the possible answers, or how many; the last one of two is the sensitive one. ``prevalence``: a guess
    at its share (of any one of more than two); without it everything holds for the worst one. ``device``: only
    ``coins``, ``dice``, ``cards`` or a ``spinner``. ``whole_population``: everyone is asked, so no part of the error
    comes from sampling. With ``allow_certain_disclosure`` answers may give the truth away to a share of at most
    ``delta``.
    """
    budget, extra = check_promise(epsilon, delta)
    names = _answers(categories)
    if respondents is None and target_margin is None:
        raise ParameterError("say how many respondents there are, or which target margin of error is wanted.")
    share = None if prevalence is None else as_prevalence(prevalence)
    options: dict[str, Any] = {"prevalence": share, "whole_population": whole_population}
    best, why = _ideal(len(names), budget, extra, allow_certain_disclosure, options)
    found = devices(
        names,
        family=device,
        epsilon=budget,
        delta=extra,
        allow_certain_disclosure=allow_certain_disclosure,
        **options,
    )
    if not found:
        raise ParameterError(
            f"no {device or 'coins, dice, cards or spinner'} with up to 1000 cases keeps epsilon = {in_words(budget)} and still "
            "tells anything; raise epsilon, allow another device, or let a computer draw: nw.randomised_response."
        )
    spreads = [one.design.planned_variance(**options) for one in found]
    limit = best.planned_variance(**options) * float(1 + _tolerance(tolerance))
    chosen, spread = _recommended(found, spreads, limit)
    target = None if target_margin is None else as_fraction(target_margin, "the target margin")
    needed = None if target is None else respondents_for(spread, target, confidence)
    return Survey(
        device=chosen,
        ideal=best,
        why=why,
        devices=tuple(found),
        prevalence=share,
        respondents=as_respondents(respondents if respondents is not None else needed),
        needed=needed,
        target_margin=target,
        confidence=as_confidence(confidence),
        whole_population=whole_population,
    )


def _answers(categories: Iterable[Hashable] | int) -> tuple[Hashable, ...]:
    """The possible answers, which are few and different."""
    if isinstance(categories, (str, bytes, Set)):
        raise ParameterError("the categories are a list such as ['no', 'yes'], in an order, or the number of them.")
    names = ANSWERS if isinstance(categories, int) and categories == 2 else counted_labels(categories, "the categories")
    if not 2 <= len(names) <= MOST_ANSWERS or len(set(names)) < len(names):
        raise ParameterError(f"a survey has from 2 to {MOST_ANSWERS} categories, all different.")
    return names


def _recommended(found: Sequence[Device], spreads: Sequence[float], limit: float) -> tuple[Device, float]:
    """The least effort (they are in that order) among the devices whose variance is within the limit, and its variance."""
    pairs = list(zip(found, spreads, strict=True))
    good = [pair for pair in pairs if pair[1] <= limit]
    discreet = [pair for pair in good if not pair[0].chances().discloses()]  # what is allowed is not yet called for
    return next(iter(discreet or good), None) or min(pairs, key=lambda pair: pair[1])


@dataclass(frozen=True)
class Shares:
    """Result of a survey: estimated shares and an interval for each, at the confidence of the plan."""

    shares: Mapping[Hashable, float]
    """Unbiased, so a share near 0 may come out below it."""
    intervals: Mapping[Hashable, tuple[float, float]]
    respondents: int
    confidence: float
    method: str
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Survey:
    """A plan; make it with :func:`survey`."""

    device: Device
    ideal: Design
    """The best design with this guarantee; for more than two answers the response that gives the truth most often."""
    why: str
    """Why no other one is better."""
    devices: tuple[Device, ...]
    """The best device of each kind, the handiest first."""
    prevalence: Fraction | None
    respondents: int
    needed: int | None
    """Respondents that the target margin needs with the recommended device."""
    target_margin: Fraction | None
    confidence: float
    whole_population: bool

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee to every respondent."""
        return self.device.guarantee

    @property
    def variance(self) -> float:
        """The variance of the estimated share; the largest over all prevalences if none was guessed."""
        return self._spread(self.device.design) / self.respondents

    @property
    def margin(self) -> float:
        """Half the width of an interval at the plan's confidence, by the normal approximation."""
        return margin_of_error(self.variance, self.confidence)

    @property
    def safe_margin(self) -> float:
        """The same whatever the prevalence and without any approximation (Chebyshev)."""
        worst = self.device.design.worst_variance(self.respondents, whole_population=self.whole_population).variance
        return margin_of_error(worst, self.confidence, "chebyshev")

    @property
    def loss(self) -> float:
        """Cost of the device against the ideal with the same guarantee: share of more respondents for one margin."""
        least, own = self._spread(self.ideal), self._spread(self.device.design)
        if least == 0:  # everyone is asked, and the answers leave no doubt
            return 0.0 if own == 0 else math.inf
        return own / least - 1

    @property
    def ideal_name(self) -> str:
        """Name of the ideal: for two answers no design has a smaller variance; for more, no *response* that treats them
        alike has.
        """
        return "best design" if len(self.device.answers) == 2 else "best response"

    def options(self) -> list[Option]:
        """A direct question, the ideal, and every device, side by side."""
        made = [
            self._option("direct question", direct(), math.inf),
            self._option(self.ideal_name, self.ideal, float(self.device.guarantee.epsilon)),
        ]
        return made + [self._option(one.instrument.name, one.design, one.smallest_epsilon) for one in self.devices]

    def estimate(self, counts: Mapping[Hashable, int] | ArrayLike, *, method: Method = "exact") -> Shares:
        """The shares from the numbers of answers, by answer or in the order of the answers."""
        answers = self.device.answers
        if isinstance(counts, Mapping):
            if not set(counts) <= set(answers):
                raise DataError("some counted answers are not answers of this survey; drop or map them first.")
            counts = [counts.get(answer, 0) for answer in answers]
        given = as_counts(counts, len(answers))
        size = int(given.sum())
        found = self.device.estimate(given)
        intervals = {
            answer: share_interval(
                self.device.design_of(answer),
                int(count),
                size,
                confidence=self.confidence,
                method=method,
                whole_population=self.whole_population,
            )
            for answer, count in zip(answers, given, strict=True)
        }
        shares, operator = given / size, DenseOperator(self.device.channel().matrix)
        best = most_likely(shares, operator).likelihood
        notes = misfit(shares, size, best.value, best.gap, len(answers) - 1)
        return Shares(dict(zip(answers, found.tolist(), strict=True)), intervals, size, self.confidence, method, notes)

    def certificate(self) -> Certificate:
        """The device's integers and the guarantee that they prove."""
        return self.device.certificate_by_hand()

    def to_json(self) -> dict[str, Any]:
        """The plan as plain data; probabilities of the device are exact fractions."""
        total = self.device.chances().total
        return {
            "epsilon": str(self.device.epsilon),
            "delta": str(self.device.delta),
            "metric": "discrete",
            "answers": [encode_label(answer) for answer in self.device.answers],
            "prevalence": None if self.prevalence is None else float(self.prevalence),
            "confidence": self.confidence,
            "whole_population": self.whole_population,
            "respondents": self.respondents,
            "target_margin": None if self.target_margin is None else float(self.target_margin),
            "respondents_needed": self.needed,
            "device": {
                "name": self.device.instrument.name,
                "instruction": self.device.instruction(),
                "rules": [list(rule) for rule in self.device.rules()],
                "chances": {"total": total, "table": [list(row) for row in self.device.chances().rows]},
                "smallest_epsilon": self.device.smallest_epsilon,
                "gives_truths_away": self.device.chances().discloses(),
            },
            "variance": self.variance,
            "margin": self.margin,
            "safe_margin": self.safe_margin,
            "ideal": {"p00": float(self.ideal.p00), "p11": float(self.ideal.p11), "why": self.why},
            "loss_against_ideal": self.loss,
            "options": [
                {
                    "name": row.name,
                    "p00": float(row.design.p00),
                    "p11": float(row.design.p11),
                    "epsilon": row.epsilon if math.isfinite(row.epsilon) else "inf",
                    "variance_for_one": row.variance,
                    "margin": row.margin,
                    "respondents_needed": row.needed,
                    "violation": row.violation,
                }
                for row in self.options()
            ],
        }

    def __repr__(self) -> str:
        asked = f"± {figure(self.margin, 3, 'nearest')} with {self.respondents:,} respondents"
        return f"<Survey: {self.device.instrument.name}, {self.guarantee.reading()}, {asked}>"

    def _repr_html_(self) -> str:
        facts = [
            ("device", self.device.instruction()),
            ("promise", self.guarantee.reading()),
            ("in words", self.guarantee.in_words()),
            ("respondents", f"{self.respondents:,}"),
            ("margin", f"± {figure(self.margin, 3, 'nearest')} ({numeral(100 * self.confidence)} % confidence)"),
        ]
        return card("Survey", facts)

    def __rich__(self) -> Table:
        return options_table(self)

    def __str__(self) -> str:
        return (
            f"{self.device.instruction()}\n{self.guarantee}; {self.respondents} respondents, margin of error {self.margin:.3g} "
            f"at {numeral(100 * self.confidence)} % confidence."
        )

    def _spread(self, design: Design) -> float:
        return design.planned_variance(self.prevalence, whole_population=self.whole_population)

    def _needed(self, spread: float) -> int | None:
        """Respondents for the target margin; None where there is no target, or the number is not feasible."""
        if self.target_margin is None:
            return None
        try:
            return respondents_for(spread, self.target_margin, self.confidence)
        except TooManyError:
            return None

    def _option(self, name: str, design: Design, epsilon: float) -> Option:
        spread = self._spread(design)
        return Option(
            name,
            design,
            epsilon,
            spread,
            margin_of_error(spread / self.respondents, self.confidence),
            self._needed(spread),
            None if self.prevalence is None else violation(design, self.prevalence),
        )


def _ideal(
    size: int, epsilon: Fraction, delta: Fraction, disclosing: bool, options: dict[str, Any]
) -> tuple[Design, str]:
    """The best design with this guarantee, for the sensitive answer against the others, and why it is."""
    best = optimal_design(epsilon=epsilon, delta=delta, allow_certain_disclosure=disclosing, **options)
    if size == 2:
        return best.design, best.why
    lie = (1 - delta) / (Region(epsilon, delta).factor + size - 1)
    response = ResponseDesign(size, Fraction(math.ceil(lie * 2**64), 2**64))
    why = "it tells the truth as often as any private mechanism over these categories, and treats them all alike"
    return response.collapsed, why


def _tolerance(value: Exact) -> Fraction:
    number = as_fraction(value, "tolerance")
    if not 0 <= number <= 100:
        raise ParameterError(f"tolerance is a share of more respondents, from 0 to 100, not {in_words(number)}.")
    return number
