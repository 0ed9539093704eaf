"""Answers to questions that have a proof or a witness: the answer, how it is known, and its evidence.

>>> print(Verdict(EXACT, "the columns are proportional"))
holds (exact): the columns are proportional
>>> bool(Verdict(UNDECIDED, "the gap is within the solver's accuracy"))
False

:func:`card` shows an answer in a notebook:

>>> "epsilon &lt; 1" in card("Guarantee", [("promise", "epsilon < 1")])
True

``Guarantee(epsilon, metric)`` guarantees that for two secrets at distance ``d`` no output is more than
``e^(epsilon d)`` times as likely under one as under the other (plus ``delta``). An epsilon says nothing without its
metric, so the two travel together.

>>> promise = Guarantee.geo(epsilon=math.log(4), radius=200)
>>> round(promise.epsilon * 200, 4), promise.metric.name
(1.3863, 'euclidean')
>>> promise.bound(200) >= math.log(4)
True
>>> from noisewright.metrics.base import Discrete
>>> for sentence in Guarantee(1.0, Discrete()).in_words().split(". "):
...     print(sentence)
Whatever the output, the odds between any two secrets that differ change by a factor of at most 2.72
A belief of 50 % in one of two such secrets can become at most 73.2 %.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from html import escape
from typing import Any, ClassVar, Literal, NoReturn

from noisewright._utils.validation import is_number
from noisewright.claims import phrases
from noisewright.claims.figures import exp_bounds, factor_above, factor_in_words, float_up, rounded_up, upward
from noisewright.claims.readings import Condition, all_of, context_line, context_meaning, reading
from noisewright.exceptions import ParameterError
from noisewright.metrics.base import Euclidean, Metric
from noisewright.numerics.exact import Exact, as_fraction, in_words, positive_fraction

__all__ = [
    "CELL",
    "EXACT",
    "FAILS",
    "SAID",
    "UNDECIDED",
    "WITHIN",
    "ContextAware",
    "Guarantee",
    "Scope",
    "Verdict",
    "card",
    "factor_in_words",
    "split",
]


EXACT, WITHIN, FAILS, UNDECIDED = "holds (exact)", "holds within tol", "fails (witness)", "undecided"
SAID = {
    EXACT: "yes, proved",
    WITHIN: "yes, within tol",
    FAILS: "no, and shown",
    UNDECIDED: "undecided",
}
"""The status of an answer to a yes-or-no question, for a person."""
CELL = "text-align:left;vertical-align:top;padding:1px 10px 1px 0"
"""Notebooks set tables to the right, and browsers their heads in the middle; a page may style nothing."""


@dataclass(frozen=True)
class Verdict:
    """An answer with its reason and its evidence; true where it holds.

    ``status`` is ``holds (exact)``, ``holds within tol``, ``fails (witness)`` or ``undecided``.
    """

    status: str
    reason: str
    evidence: Any = None

    def __bool__(self) -> bool:
        return self.status in (EXACT, WITHIN)

    def __str__(self) -> str:
        return f"{self.status}: {self.reason}"


def card(
    title: str, facts: Iterable[tuple[str, str]], head: Sequence[str] = (), rows: Iterable[Sequence[str]] = ()
) -> str:
    """A small piece of HTML for notebooks: a title, named facts, and a table below them. All of it is text, and escaped."""

    def cells(row: Sequence[str], tag: str) -> str:
        return "".join(f'<{tag} style="{CELL}">{escape(str(cell))}</{tag}>' for cell in row)

    named = "".join(
        f'<tr><th style="{CELL};white-space:nowrap">{escape(name)}</th><td style="{CELL}">{escape(value)}</td></tr>'
        for name, value in facts
    )
    listed = "".join(f"<tr>{cells(row, 'td')}</tr>" for row in rows)
    below = f"<table><thead><tr>{cells(head, 'th')}</tr></thead><tbody>{listed}</tbody></table>" if head else ""
    return f"<div><b>{escape(title)}</b><table>{named}</table>{below}</div>"


# Guarantee ----------------------------------------------------------------------------------------------------------------
#
# Guarantees: the claim, its metric, and its meaning for a person.


Scope = Literal["metric", "adjacent"]

LARGEST_EXPONENT = 800
"""No float delta greater than 0 is below e^-800: multiplied by more than e^800 each is more than 1."""

LARGEST_FLOAT = Fraction(sys.float_info.max)

NO_BUDGET = (
    "a context-aware guarantee is about one population and has no epsilon, so it adds to no differential privacy budget; put a "
    "mechanism with an epsilon behind it, and add that."
)


@dataclass(frozen=True)
class ContextAware:
    """Guarantee about one population on average, and to no one in particular: how well a private value is guessed.

    ``accuracy``: how often the best of the adversaries that are meant (``adversary``) is right, where blind guessing has
    ``prior``; ``distortion``: the expected distance of a release from the truth; ``data``: the population; ``information``:
    nats. No differential privacy follows from it, and it adds to no budget of one.

    What was not computed from a law but measured has ``rows``, the number of records that ``accuracy`` (the upper end
    of an interval of 95 %) was measured on, and says so: ``adversaries`` that were tried, ``most_distortion`` (the
    upper end of such an interval), and whether the training ``converged``. ``private`` names the hidden values, the
    most revealed one first.

    >>> promise = ContextAware(0.7, 0.625, 0.1, "everybody who knows the law", "records drawn from it")
    >>> print(promise)
    context-aware: a private value is guessed right at most 70 % of the time (62.5 % without a release), at a distortion of 0.1
    """

    accuracy: float
    prior: float
    distortion: float
    adversary: str
    data: str
    information: float | None = None
    private: tuple[str, ...] = ()
    rows: int | None = None
    adversaries: tuple[str, ...] = ()
    most_distortion: float | None = None
    converged: bool = True
    kind: ClassVar[str] = "context-aware"

    def __post_init__(self) -> None:
        for name in ("accuracy", "prior"):
            value = getattr(self, name)
            if not is_number(value) or not 0 <= value <= 1:
                raise ParameterError(f"{name} must be a number between 0 and 1.")
        for name in ("distortion", "information", "most_distortion"):
            value = getattr(self, name)
            if value is not None and (not is_number(value) or not 0 <= value < math.inf):
                raise ParameterError(f"{name} must be a finite number that is 0 or more.")
        if not (isinstance(self.adversary, str) and isinstance(self.data, str) and self.adversary and self.data):
            raise ParameterError("a context-aware guarantee says in words who the adversary is and what the data are.")

    def compose(self, other: object) -> NoReturn:
        """Refused: the joint information of two releases depends on how they go together, and no sum of numbers bounds
        it.
        """
        del other
        raise ParameterError(NO_BUDGET)

    def in_words(self) -> str:
        """Return the claim and its limits in plain words; numbers are rounded up."""
        return context_meaning(self.to_json())

    def __str__(self) -> str:
        return context_line(self.to_json())

    def to_json(self) -> dict[str, Any]:
        """The guarantee as plain data."""
        return {"kind": self.kind, **{field.name: getattr(self, field.name) for field in fields(self)}}


@dataclass(frozen=True)
class Guarantee:
    """``(epsilon, delta)`` privacy for a metric.

    ``scope="metric"``: every pair of secrets, with loss at most ``epsilon d``, and one ``delta`` for all of them.
    ``scope="adjacent"``: pairs at distance at most 1, with loss at most ``epsilon`` and ``delta``; farther pairs by
    chains of such steps, if there is a secret wherever a chain steps. A delta grows faster than the number of steps:
    :meth:`delta_at`. ``radius``: the guarantee is made only for pairs at most that far apart; 1 where secrets leave
    gaps that chains would have to step into. ``seed_failure``: the probability, over public random seeds drawn once,
    that the guarantee does not hold at all. ``conditions``: under which it holds, such as
    ``Condition("not-a-training-record")``; they stay when guarantees compose.
    """

    epsilon: float
    metric: Metric
    delta: float = 0.0
    scope: Scope = "metric"
    radius: float | None = None
    seed_failure: float = 0.0
    conditions: tuple[Condition, ...] = ()
    exact: tuple[Fraction, Fraction] | None = field(default=None, compare=False, repr=False, kw_only=True)
    """Epsilon and delta as they are, if ``epsilon`` and ``delta`` are these rounded up; see :meth:`exactly`."""

    def __post_init__(self) -> None:
        for name in ("epsilon", "delta", "seed_failure", "radius"):
            value = getattr(self, name)
            if name == "radius" and value is None:
                continue
            if not is_number(value):
                raise ParameterError(f"{name} must be a number, not {type(value).__name__}.")
        if not isinstance(self.metric, Metric):
            raise ParameterError(
                f"a guarantee needs a metric such as Line() or Discrete(), not {type(self.metric).__name__}."
            )
        if not self.epsilon >= 0 or math.isinf(self.epsilon):
            raise ParameterError(f"epsilon must be a finite number that is 0 or more, not {self.epsilon}.")
        for name, value in (("delta", self.delta), ("seed_failure", self.seed_failure)):
            if not 0 <= value <= 1:
                raise ParameterError(f"{name} must be between 0 and 1, not {value}.")
        if self.scope not in ("metric", "adjacent"):
            raise ParameterError(f"scope must be 'metric' or 'adjacent', not {self.scope!r}.")
        if self.radius is not None and not self.radius > 0:
            raise ParameterError(f"radius must be above 0, not {self.radius}; leave it out for every pair.")
        if self.exact is not None and (self.epsilon, self.delta) != tuple(map(float_up, self.exact)):
            object.__setattr__(self, "exact", None)  # of the guarantee that this one was made of by a replacement

    @classmethod
    def exactly(
        cls,
        epsilon: Fraction | int,
        metric: Metric,
        delta: Fraction | int = 0,
        *,
        scope: Scope = "metric",
        radius: float | None = None,
        seed_failure: float = 0.0,
        conditions: tuple[Condition, ...] = (),
    ) -> Guarantee:
        """Return the guarantee of an exact epsilon and delta, which is stated in these numbers; floats are rounded up.

        >>> from noisewright.metrics.base import Discrete
        >>> tenth = Guarantee.exactly(Fraction(1, 10), Discrete())
        >>> tenth.reading(), tenth.epsilon >= Fraction(1, 10)
        ('epsilon 0.1 between any two answers', True)
        >>> Guarantee(0.1, Discrete()).reading()
        'epsilon 0.1 between any two answers'
        """
        exact = Fraction(epsilon), Fraction(delta)
        return cls(
            *(float_up(exact[0]), metric, float_up(exact[1]), scope, radius, seed_failure, conditions), exact=exact
        )

    def stated(self, name: Literal["epsilon", "delta"]) -> Fraction:
        """Return epsilon or delta exactly where that is known, and otherwise the value of the float."""
        return Fraction(getattr(self, name)) if self.exact is None else self.exact[name == "delta"]

    def _named(self, name: Literal["epsilon", "delta"]) -> Fraction:
        """Return epsilon or delta as a record states it: a float in 12 digits, because its last digits are rounding."""
        return Fraction(f"{getattr(self, name):.12g}") if self.exact is None else self.stated(name)

    @classmethod
    def geo(cls, *, epsilon: Exact, radius: Exact) -> Guarantee:
        """Geo-indistinguishability: any two places within ``radius`` are indistinguishable up to ``epsilon``."""
        ratio = positive_fraction(epsilon, "epsilon") / positive_fraction(radius, "radius")
        return cls(float_up(ratio), Euclidean())

    def bound(self, distance: float | Fraction) -> float:
        """The largest log-ratio for two secrets at this distance, rounded up; ``inf`` where nothing is guaranteed.

        With a delta it holds up to an extra probability of :meth:`delta_at` this distance.
        """
        apart = _as_distance(distance)
        if apart is None or (self.radius is not None and apart > self.radius) or self._delta_at(apart) >= 1:
            return math.inf
        return float_up(Fraction(self.epsilon) * (math.ceil(apart) if self.scope == "adjacent" else apart))

    def delta_at(self, distance: float | Fraction) -> float:
        r"""Return the delta that holds together with :meth:`bound` for two secrets at this distance; rounded up, and at
        most 1.

        Between neighbours it is ``delta``. A chain of ``k`` steps multiplies what came before by ``e^epsilon`` each time:

        .. math:: \delta_k = \delta \sum_{i<k} e^{i\epsilon} = \delta\, \frac{e^{k\epsilon} - 1}{e^{\epsilon} - 1}.

        >>> from noisewright.metrics.base import Line
        >>> Guarantee(0.0, Line(), delta=0.25, scope="adjacent").delta_at(3)
        0.75

        Reference: Dwork and Roth, *The algorithmic foundations of differential privacy* (2014), on group privacy.
        """
        apart = _as_distance(distance)
        if apart is None or (self.radius is not None and apart > self.radius):
            return 1.0
        return float_up(self._delta_at(apart))

    def posterior(self, prior: float, distance: float | Fraction = 1.0) -> float:
        """The largest belief, after any output, in one of two secrets at this distance, believed ``prior`` before.

        A delta greater than 0 bounds no single belief: some output may give everything away; see :meth:`guess`.
        """
        if not is_number(prior):
            raise ParameterError(f"a prior belief is a number between 0 and 1, not {type(prior).__name__}.")
        if not 0 <= prior <= 1:
            raise ParameterError(f"a prior belief is between 0 and 1, not {prior}.")
        if self.delta:
            raise ParameterError("with a delta above 0 no belief after one output is bounded; ask guess() instead.")
        factor, belief = self._factor(distance), Fraction(prior)
        if factor is None:
            return 1.0 if prior > 0 else 0.0
        return float_up(factor * belief / (factor * belief + 1 - belief))

    def guess(self, distance: float | Fraction = 1.0) -> float:
        """The largest probability of guessing right between two equally likely secrets at this distance, on average."""
        factor, apart = self._factor(distance), _as_distance(distance)
        return 1.0 if factor is None or apart is None else float_up(_guess(factor, self._delta_at(apart)))

    def in_words(self, distance: float | Fraction = 1.0) -> str:
        """The guarantee in plain words, for two secrets at most the given distance apart.

        All numbers are rounded up.
        """
        bound, apart, stated = self.bound(distance), _as_distance(distance), self.record()
        metric, secret = stated["metric"], stated.get("secret")
        things = phrases.noun(phrases.kind_of(metric, secret), secret)
        who = f"{things} that are infinitely far apart" if apart is None else phrases.pairs(metric, secret, apart)
        such = f"two such {things.partition(' that ')[0].removesuffix(' of one size')}"
        if math.isinf(bound):
            return phrases.nothing(who)
        factor = factor_above(min(bound, LARGEST_EXPONENT))
        if self.delta and apart is not None:
            extra = self._delta_at(apart, self._named("delta"))
            plus = upward(extra, 3)
            guess = f"{rounded_up(100 * _guess(factor, extra), 3)} %"
            text = phrases.events(who, factor_in_words(bound), plus, such, guess)
        else:
            belief = f"{rounded_up(100 * factor / (factor + 1), 3)} %"
            text = phrases.odds(who, factor_in_words(bound), such, belief)
        return " ".join(filter(None, [text, phrases.holds(stated["conditions"])]))

    def reading(self, unit: str = "") -> str:
        """Return the claim in half a line for a person: the unit of its epsilon, and the conditions under which it
        holds.

        ``unit`` is the unit of the values, such as "year", if the metric has none. ``str`` and certificates have the
        exact terms.

        >>> from noisewright.metrics.composite import line_in
        >>> from noisewright.metrics.base import Discrete
        >>> Guarantee(0.5, line_in(5)).reading("year"), Guarantee(1.0, Discrete()).reading()
        ('epsilon 0.5 for each 5 years of difference', 'epsilon 1 between any two answers')
        """
        return reading(self.record(), unit)

    def record(self) -> dict[str, Any]:
        """Return the claim as a record: codes and exact numbers, as the table of phrases and certificates have them.

        >>> from noisewright.metrics.base import Discrete
        >>> Guarantee(1.0, Discrete()).record()["metric"], Guarantee(1.0, Discrete()).record()["scope"]
        ({'base': 'discrete'}, 'metric')
        """
        inner, factor = self.metric.unscaled()
        metric, secret, failure = self.metric.record(), self.metric.secret, self.seed_failure
        if "called" in metric and factor != 1:
            metric = {**inner.record(), "factor": str(factor)}
        conditions = [Condition("seed-failure", probability=str(Fraction(failure)))] if failure else []
        return {
            "epsilon": str(self._named("epsilon")),
            "delta": str(self._named("delta")),
            "scope": self.scope,
            "metric": metric,
            **({} if secret is None else {"secret": dict(secret)}),
            **({} if self.radius is None else {"radius": str(Fraction(self.radius))}),
            "conditions": [one.record() for one in (*conditions, *self.conditions)],
        }

    def factor(self, distance: float | Fraction = 1.0) -> str:
        """The factor by which odds may change between two secrets at this distance, rounded up."""
        return factor_in_words(self.bound(distance))

    def _factor(self, distance: float | Fraction) -> Fraction | None:
        """Return at least the allowed factor between probabilities; None if it is more than all floats."""
        bound = self.bound(distance)
        return None if bound > 700 else factor_above(bound)

    def _delta_at(self, apart: Fraction, delta: Fraction | None = None) -> Fraction:
        """The delta at a finite distance, rounded up except for the last time."""
        delta, epsilon = Fraction(self.delta) if delta is None else delta, Fraction(self.epsilon)
        if self.scope == "metric" or apart <= 1 or not delta:
            return delta
        steps = math.ceil(apart)
        if steps * delta >= 1 or (steps - 1) * epsilon > LARGEST_EXPONENT:
            return Fraction(1)
        if not epsilon:
            return steps * delta
        one, bits = Fraction(1), 96 + max(0, -math.frexp(self.epsilon)[1])  # enough for e^epsilon - 1 of a tiny epsilon
        whole, each = (Fraction(exp_bounds(n * epsilon, bits)[end], 1 << bits) for n, end in ((steps, 1), (1, 0)))
        return min(one, delta * (whole - 1) / (each - 1))

    def compose(self, other: Guarantee) -> Guarantee:
        """Both released about the same secret. Losses add, each in its own metric, and so do deltas at every distance.

        A metric is left out only where nothing depends on it: a guarantee of epsilon 0 for every pair of secrets.
        """
        if isinstance(other, ContextAware):
            raise ParameterError(NO_BUDGET)
        if not isinstance(other, Guarantee):
            raise ParameterError(f"a guarantee composes with another Guarantee, not {type(other).__name__}.")
        if self.scope != other.scope or self.radius != other.radius:
            raise ParameterError("only guarantees of one scope and radius compose; restate one of them first.")
        delta = min(Fraction(1), self.stated("delta") + other.stated("delta"))
        failure = min(1.0, float_up(Fraction(self.seed_failure) + Fraction(other.seed_failure)))
        conditions = all_of(self.conditions, other.conditions)
        if (self.exact is None) != (other.exact is None):
            return replace(self, exact=None).compose(replace(other, exact=None))
        if self.metric == other.metric:
            return self._with(self.stated("epsilon") + other.stated("epsilon"), delta, failure, conditions)
        for even, rest in ((self, other), (other, self)):
            if even._even():
                return rest._with(rest.stated("epsilon"), delta, failure, conditions)
        if self.scope == "adjacent":
            raise ParameterError("adjacent guarantees compose only when they mean the same neighbours (metric).")
        if self.radius is not None:
            raise ParameterError(
                "guarantees with a radius compose only in one metric, in which the radius is measured."
            )
        if not self.epsilon or not other.epsilon:
            raise ParameterError(
                "a guarantee of epsilon 0 composes only in a metric without infinite distances; state it in one of those."
            )
        metric = self.epsilon * self.metric + other.epsilon * other.metric
        return replace(self, metric=metric)._with(Fraction(1), delta, failure, conditions)

    def _with(self, epsilon: Fraction, delta: Fraction, failure: float, conditions: tuple[Condition, ...]) -> Guarantee:
        """Return the same guarantee with other numbers, which are exact if those of this guarantee are."""
        exact = None if self.exact is None else (epsilon, delta)
        floats = replace(self, epsilon=float_up(epsilon), delta=float_up(delta), exact=exact)
        return replace(floats, seed_failure=failure, conditions=conditions)

    def _even(self) -> bool:
        """Return whether every pair of secrets is guaranteed the same, wherever they are: no loss, and one delta."""
        same = self.scope == "metric" or self.metric.uniform or not self.delta
        return not self.epsilon and self.metric.finite and self.radius is None and same

    def __str__(self) -> str:
        return phrases.line(self.record())

    def __repr__(self) -> str:
        return f"<Guarantee: {self.reading()}>"

    def _repr_html_(self) -> str:
        return card("Guarantee", [("promise", self.reading()), ("in words", self.in_words())])

    def to_json(self) -> dict[str, Any]:
        """The guarantee as plain data."""
        return {
            "epsilon": self.epsilon,
            "metric": str(self.metric),
            "delta": self.delta,
            "scope": self.scope,
            "radius": self.radius,
            "seed_failure": self.seed_failure,
            **({"conditions": [one.record() for one in self.conditions]} if self.conditions else {}),
        }


def split(epsilon: Exact, parts: int | list[Exact]) -> list[Fraction]:
    """A budget in equal parts, or in proportion to weights; the parts add up to it exactly."""
    budget = positive_fraction(epsilon, "epsilon")
    if isinstance(parts, (bool, str)) or not isinstance(parts, (int, Iterable)):
        raise ParameterError(f"a budget is split into a number of parts or by weights, not {type(parts).__name__}.")
    weights: list[Exact] = [1] * parts if isinstance(parts, int) else list(parts)
    shares = [as_fraction(w, "a weight") for w in weights]
    if not shares or any(w <= 0 for w in shares):
        raise ParameterError("a budget is split into one or more parts with weights above 0.")
    total = sum(shares, Fraction(0))
    return [budget * w / total for w in shares]


def _as_distance(value: float | Fraction) -> Fraction | None:
    """A distance as the exact number that it is; None for an infinite one."""
    if not is_number(value):
        raise ParameterError(f"a distance is a number that is 0 or more, not {type(value).__name__}.")
    if not value >= 0:
        shown = value if isinstance(value, float) else in_words(as_fraction(value))
        raise ParameterError(f"a distance is 0 or more, not {shown}.")
    if value == math.inf:
        return None
    if value > LARGEST_FLOAT:
        raise ParameterError("a distance is at most the largest float, about 1.8e308; rescale the metric.")
    return as_fraction(value, "a distance")


def _guess(factor: Fraction, delta: Fraction) -> Fraction:
    """The probability of guessing right: it grows with both, so bounds from above give one."""
    return min(Fraction(1), (factor + delta) / (factor + 1))
