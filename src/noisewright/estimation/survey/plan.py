r"""Planning a survey on a sensitive question: a device that people can use, its guarantee, and how exact the answer
will be.

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
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from noisewright.core.certificates.certificate import Certificate
from noisewright.core.errors import DataError, ParameterError
from noisewright.core.exact import Exact, as_fraction, figure, in_words, numeral
from noisewright.core.guarantee import Guarantee
from noisewright.core.labels import encode_label
from noisewright.core.verdict import card
from noisewright.estimation.fitting.misfit import misfit
from noisewright.estimation.fitting.newton import most_likely
from noisewright.estimation.operators.operator import DenseOperator
from noisewright.estimation.survey._instruments import Family
from noisewright.estimation.survey.categorical import ResponseDesign
from noisewright.estimation.survey.designs import ANSWERS, Design, as_prevalence, as_respondents, direct
from noisewright.estimation.survey.device import Device, devices
from noisewright.estimation.survey.mangat import as_counts
from noisewright.estimation.survey.margins import (
    Method,
    TooManyError,
    as_confidence,
    margin_of_error,
    respondents_for,
    share_interval,
)
from noisewright.estimation.survey.optimum import optimal_design
from noisewright.estimation.survey.options import Option, options_table
from noisewright.estimation.survey.region import Region
from noisewright.estimation.survey.violation import violation
from noisewright.mechanisms.categories.chances import MOST_ANSWERS, check_promise
from noisewright.mechanisms.label_columns import counted_labels

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["Shares", "Survey", "survey"]


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
