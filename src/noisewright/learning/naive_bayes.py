"""Private Gaussian naive Bayes: a classifier whose parameters are released with exact mechanisms.

For each class it releases a count, and for each attribute a mean and a standard deviation. Records are scaled by
public bounds to ``[0, 1]``. The class size is private too, so its noisy value ``m`` (at least 1) is released first
and everything after is calibrated for it: a class with fewer than ``m`` records is filled up with records in the
middle of the range. Then, whatever the data, one record more or less changes

==================  =====================  ==========================================================
count               by at most 1           geometric noise
mean                ``1/(m+1)``            Laplace noise on a lattice
standard deviation  ``sqrt(m)/(m+1)``      noise that stays on the half line, as ``std_mechanism`` says
==================  =====================  ==========================================================

**Guarantee.** ``epsilon`` for the whole classifier, by composition; predictions are post-processing and cost nothing.

* ``split="classes"``: between tables that differ by *one record added or removed*. A record belongs to one class, so
  every class may spend the whole epsilon.
* ``split="all"``: the budget is shared by all released values of all classes, which also covers *one record
  replaced*, its class included. This is the rule of the published experiments.

``std_mechanism`` is the choice that matters: ``"adjacent"`` (range-adherent noise, guarantee between neighbours),
``"metric"`` (guarantee for every pair, twice the scale), ``"asymmetric"`` (the same guarantee, noise that adapts to
the bound) or ``"snapped"`` (ordinary noise, clamped). A deviation may come out as (nearly) zero, and then decides
everything: ``std_floor``, a share of the attribute's range, is the smallest one used.

>>> import numpy as np
>>> rng = np.random.default_rng(0)
>>> X = np.vstack([rng.normal(3, 1, (50_000, 2)), rng.normal(7, 1, (50_000, 2))]).clip(0, 10)
>>> y = np.repeat(["low", "high"], 50_000)
>>> model = PrivateGaussianNB(epsilon=2, bounds=(0, 10), classes=["low", "high"]).fit(X, y, rng)  # rng: a simulation
>>> model.score(X, y) > 0.95
True
>>> print(model.guarantee)
epsilon = 2 between neighbours ('records added or removed' at most 1)

Reference: Vaidya, Shafiq, Basu and Hong, *Differentially private naive Bayes classification* (2013), for the
parameters that are released; the treatment of private class sizes is this library's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright._typing import Floats
from noisewright._utils.validation import one_of
from noisewright.certificates.certificate import Certificate
from noisewright.claims.figures import float_down, float_up, upward
from noisewright.columns.label_encoder import Labels
from noisewright.exceptions import DataError, GuaranteeError, ParameterError
from noisewright.guarantees import Guarantee
from noisewright.mechanisms.composite import neighbour_loss, rounds_at_random
from noisewright.mechanisms.numeric.geometric import geometric
from noisewright.mechanisms.numeric.laplace import laplace
from noisewright.mechanisms.numeric.staircase import snapped_laplace, unsnapped
from noisewright.metrics.base import Discrete, Hamming, Line, Metric
from noisewright.metrics.composite import AddRemove, Scaled
from noisewright.metrics.sensitivity import deviation_sensitivity, mean_sensitivity
from noisewright.numerics.exact import Exact, as_fraction, positive_fraction
from noisewright.sampling.lattice import Lattice

__all__ = ["PrivateGaussianNB"]


STD_MECHANISMS: Mapping[str, Callable[..., Any]] = {
    "adjacent": lambda **given: laplace(**given, within=(0, None), scope="adjacent"),
    "metric": lambda **given: laplace(**given, within=(0, None), scope="metric", shape="symmetric"),
    "asymmetric": lambda **given: laplace(**given, within=(0, None), scope="metric", shape="asymmetric"),
    "snapped": lambda **given: snapped_laplace(**given, within=(0, None)),
}

SLACK = Fraction(1, 1 << 44)
"""Added to sensitivities on the unit interval: more than what float means, deviations and quotients can be off by."""


class PrivateGaussianNB:
    """Gaussian naive Bayes with a privacy guarantee, used like a scikit-learn classifier.

    ``bounds``: the public range of each attribute, ``(low, high)`` for all or one pair each. ``classes``: the public
    labels. ``weights``: division of the budget between single counts, means and deviations, evenly by default.
    ``std_mechanism`` may also be a constructor that takes ``epsilon`` and ``sensitivity``; its mechanisms must
    guarantee that epsilon, without a delta, between all numbers one sensitivity apart, or ``fit`` refuses before
    anything is drawn. One from :mod:`noisewright.unsafe` makes the classifier unsafe, and asking for its guarantee an
    error. ``clamp_means``: move noisy means into the bounds, which is free. ``outside``: whether attribute values
    beyond the bounds are refused or clamped.
    """

    def __init__(
        self,
        *,
        epsilon: Exact,
        bounds: Any,
        classes: Sequence[Hashable],
        std_mechanism: str | Callable[..., Any] = "adjacent",
        std_floor: float = 0.01,
        split: str = "classes",
        weights: Mapping[str, Exact] | None = None,
        clamp_means: bool = True,
        outside: str = "refuse",
    ) -> None:
        self.epsilon, self.bounds, self.classes = epsilon, bounds, classes
        self.std_mechanism, self.std_floor = std_mechanism, std_floor
        self.split, self.weights, self.clamp_means, self.outside = split, weights, clamp_means, outside
        self._check()

    def fit(self, X: Any, y: Any, rng: np.random.Generator | None = None) -> PrivateGaussianNB:
        """Release all parameters, once. With ``rng`` it is a simulation; calling it again on the same data costs again."""
        table, codes = self._table(X), self._codes(y)
        if len(table) != len(codes):
            raise DataError("X and y must have one row for each record.")
        lows, highs = self._ranges(table.shape[1])
        shares, widths = self._shares(table.shape[1]), highs - lows
        unit = (table - lows) / widths
        spreading = self._make_std(shares["std"])
        promise = None if _attack_target(spreading) else self._promise(spreading, shares["std"])
        found = [self._release_class(unit[codes == k], shares, spreading, rng) for k in range(len(self._labels))]
        self.classes_ = self._labels.array
        self.counts_ = np.array([released.size for released in found], dtype=np.int64)
        self.theta_ = lows + widths * np.array([released.means for released in found])
        self.std_ = widths * np.array([released.deviations for released in found])
        self.class_prior_ = self.counts_ / self.counts_.sum()
        self.n_features_in_ = table.shape[1]
        self._simulated, self._fitted_promise = rng is not None, (promise, spreading)
        self._mechanisms = [mechanism for released in found for mechanism in released.mechanisms]
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The likeliest class of each record."""
        scores = self._scores(X)
        return np.asarray(self.classes_[scores.argmax(axis=1)])

    def predict_proba(self, X: Any) -> Floats:
        """The probability of each class, in the order of ``classes_``."""
        scores = self._scores(X)
        likely = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(likely / likely.sum(axis=1, keepdims=True))

    def score(self, X: Any, y: Any) -> float:
        """The share of records whose class is predicted right. Computed on private data, it is private data itself."""
        truth = self._codes(y)
        return float((self._scores(X).argmax(axis=1) == truth).mean())

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee for the whole classifier, as fitted if it is; an error when an unsafe mechanism is used."""
        if hasattr(self, "_fitted_promise"):  # parameters may have been changed since
            promise, spreading = self._fitted_promise
            return spreading.guarantee if promise is None else promise  # an attack target refuses it, and says why
        share = self._shares(len(self._ranges(None)[0]))["std"]
        return self._promise(self._make_std(share), share)

    def certificates(self) -> list[Certificate]:
        """After ``fit``: a certificate for every released count, vector of means and vector of deviations."""
        self._fitted()
        simulation = np.random.default_rng(0) if self._simulated else None
        return [mechanism.certificate(simulation) for mechanism in self._mechanisms]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters as they were given."""
        del deep
        return {name: getattr(self, name) for name in _PARAMETERS}

    def set_params(self, **parameters: Any) -> PrivateGaussianNB:
        """Change parameters; an unknown or bad one is refused."""
        for name, value in parameters.items():
            if name not in _PARAMETERS:
                raise ParameterError(f"there is no parameter {name!r}; choose one of {', '.join(_PARAMETERS)}.")
            setattr(self, name, value)
        self._check()
        return self

    def __repr__(self) -> str:
        given = self.std_mechanism
        name = given if isinstance(given, str) else getattr(given, "__name__", type(given).__name__)
        unsafe = "UNSAFE " if self._unsafe() else ""
        return f"{unsafe}PrivateGaussianNB(epsilon={self.epsilon}, std_mechanism={name!r}, std_floor={self.std_floor})"

    def _check(self) -> None:
        positive_fraction(self.epsilon, "epsilon")
        self._labels = Labels(self.classes)
        if len(self._labels) < 2 or len(set(self._labels.labels)) < len(self._labels):
            raise ParameterError("classes must be two or more different labels.")
        if isinstance(self.std_mechanism, str) and self.std_mechanism not in STD_MECHANISMS:
            raise ParameterError(
                f"there is no std_mechanism {self.std_mechanism!r}; choose one of {', '.join(STD_MECHANISMS)}, or give "
                "a constructor."
            )
        if not 0 < self.std_floor <= 1:
            raise ParameterError(
                f"std_floor is a share of the attribute's range, above 0 and at most 1, not {self.std_floor}."
            )
        one_of(self.split, "split", ("classes", "all"))
        one_of(self.outside, "outside", ("refuse", "clamp"))
        if self.weights is not None and set(self.weights) != {"count", "mean", "std"}:
            raise ParameterError("weights must give a number for each of 'count', 'mean' and 'std'.")
        for name, weight in (self.weights or {}).items():
            positive_fraction(weight, f"the weight of {name}")
        self._ranges(None)

    def _ranges(self, attributes: int | None) -> tuple[Floats, Floats]:
        """The lower and the upper bound of each attribute."""
        try:
            pairs = np.atleast_2d(np.asarray(self.bounds, dtype=np.float64))
        except (TypeError, ValueError):
            pairs = np.empty((0, 0))
        if (
            pairs.ndim != 2
            or pairs.shape[1:] != (2,)
            or not np.isfinite(pairs).all()
            or not (pairs[:, 0] < pairs[:, 1]).all()
        ):
            raise ParameterError(
                "bounds must be public pairs (low, high) of finite numbers, low first: one, or one an attribute."
            )
        if attributes is not None:
            if len(pairs) not in (1, attributes):
                raise ParameterError(
                    f"bounds has {len(pairs)} pairs for {attributes} attributes; give one each, or one for all."
                )
            pairs = np.broadcast_to(pairs, (attributes, 2))
        return pairs[:, 0], pairs[:, 1]

    def _shares(self, attributes: int) -> dict[str, Fraction]:
        """The epsilon of a single count, mean and deviation."""
        weights = {
            name: positive_fraction((self.weights or {}).get(name, 1), name) for name in ("count", "mean", "std")
        }
        whole = weights["count"] + attributes * (weights["mean"] + weights["std"])
        if self.split == "all":
            whole *= len(self._labels)
        return {name: as_fraction(self.epsilon) * weight / whole for name, weight in weights.items()}

    def _release_class(
        self, records: Floats, shares: Mapping[str, Fraction], spreading: Any, rng: np.random.Generator | None
    ) -> _ReleasedClass:
        counting = geometric(epsilon=shares["count"])
        size = max(1, int(counting.release(len(records), rng)))
        means, deviations = _moments(records, size)
        averaging = laplace(epsilon=shares["mean"])
        # Released in units of the sensitivity, which is public by now: one calibration serves every class size.
        by_mean, by_std = float_up(_mean_sensitivity(size)), float_up(_std_sensitivity(size))
        noisy = by_mean * np.asarray(averaging.release(means / by_mean, rng))
        spread = by_std * np.asarray(spreading.release(deviations / by_std, rng))
        return _ReleasedClass(
            size,
            np.clip(noisy, 0, 1) if self.clamp_means else noisy,
            np.maximum(spread, self.std_floor),
            (counting, averaging, spreading),
        )

    def _make_std(self, epsilon: Fraction) -> Any:
        if isinstance(self.std_mechanism, str):
            return _named_std(self.std_mechanism, epsilon)
        # A share that a float holds comes back as it is in the float epsilon of a guarantee, and can be compared exactly.
        return self.std_mechanism(epsilon=Fraction(float_down(epsilon)), sensitivity=1)

    def _promise(self, spreading: Any, share: Fraction) -> Guarantee:
        """The guarantee for the whole, once the mechanism for deviations is known to guarantee its share."""
        spent = neighbour_loss(spreading) if isinstance(self.std_mechanism, str) else _spent(spreading)
        if spent > share:
            raise GuaranteeError(
                f"this std_mechanism promises epsilon = {upward(spent)} between numbers one sensitivity apart, and its share "
                f"of the budget is {float(share):.6g}; build it for the epsilon and the sensitivity that it is given."
            )
        metric: Metric = AddRemove() if self.split == "classes" else Hamming()
        return Guarantee.exactly(as_fraction(self.epsilon), metric, scope="adjacent")

    def _unsafe(self) -> bool:
        if hasattr(self, "_fitted_promise"):
            return self._fitted_promise[0] is None
        return _attack_target(self._make_std(Fraction(1)))

    def _scores(self, X: Any) -> Floats:
        """Log prior plus log normal densities, for every record and class."""
        self._fitted()
        table = self._table(X)
        if table.shape[1] != self.n_features_in_:
            raise DataError(f"the classifier was fitted on {self.n_features_in_} attributes.")
        scores = np.log(self.class_prior_) - np.log(self.std_).sum(axis=1)
        apart = (table[:, None, :] - self.theta_[None, :, :]) / self.std_[None, :, :]
        return np.asarray(scores - 0.5 * (apart**2).sum(axis=2))

    def _fitted(self) -> None:
        if not hasattr(self, "theta_"):
            raise ParameterError("the classifier is not fitted yet; call fit(X, y) first.")

    def _table(self, X: Any) -> Floats:
        table = np.asarray(X)
        if table.ndim != 2 or table.dtype.kind not in "iuf" or not np.isfinite(table).all():
            raise DataError("X must be a table of finite numbers, one row a record.")
        inside = np.clip(table.astype(np.float64), *self._ranges(table.shape[1]))
        if self.outside == "refuse" and not np.array_equal(inside, table):
            raise DataError("a value is outside the declared bounds; clamp with outside='clamp', or widen the bounds.")
        return inside

    def _codes(self, y: Any) -> NDArray[np.intp]:
        codes, form = self._labels.encode(y)
        if form == "one":
            raise DataError("y must be a column of labels, one a record.")
        return codes


@dataclass(frozen=True)
class _ReleasedClass:
    size: int
    means: Floats
    deviations: Floats
    mechanisms: tuple[Any, ...]


_PARAMETERS = (
    "epsilon", "bounds", "classes", "std_mechanism", "std_floor", "split", "weights", "clamp_means", "outside",
)  # fmt: skip


def _moments(records: Floats, size: int) -> tuple[Floats, Floats]:
    """Means and deviations on the unit interval, of the records and enough middles to fill them up to ``size``."""
    missing = max(0, size - len(records))
    whole = len(records) + missing
    # numpy adds in pairs only along the axis that is contiguous, and SLACK counts on the accuracy of that.
    columns = np.ascontiguousarray(records.T)
    means = (columns.sum(axis=1) + missing / 2) / whole
    squares = ((columns - means[:, None]) ** 2).sum(axis=1) + missing * (0.5 - means) ** 2
    return np.clip(means, 0.0, 1.0), np.sqrt(squares / whole)


def _mean_sensitivity(size: int) -> Fraction:
    """``1 / (m + 1)``."""
    return mean_sensitivity(0, 1, size=size, neighbours="add") + SLACK


def _std_sensitivity(size: int) -> Fraction:
    """``sqrt(m) / (m + 1)``, rounded up."""
    return deviation_sensitivity(0, 1, size=size, neighbours="add") + SLACK


def _attack_target(mechanism: Any) -> bool:
    """Return whether it comes from :mod:`noisewright.unsafe`: it then has no guarantee."""
    try:
        _ = mechanism.guarantee
    except GuaranteeError:
        return True
    return False


def _spent(mechanism: Any) -> Fraction:
    """Return the privacy loss of a mechanism of the user's own between any two numbers at most 1 apart, by its own
    guarantee."""
    mechanism = unsnapped(mechanism)
    promise = mechanism.guarantee
    if promise.delta or promise.seed_failure:
        raise GuaranteeError(
            "this std_mechanism promises its epsilon only up to a probability (delta or unlucky seeds), which a classifier "
            "does not add up; use a mechanism without one."
        )
    unit = _unit_length(promise.metric)
    if unit is None:
        raise GuaranteeError(
            f"this std_mechanism makes a promise for the metric {promise.metric}, and a deviation needs one for differences "
            "of numbers (line)."
        )
    apart, lattice = Fraction(1), getattr(mechanism, "lattice", None)
    if promise.scope == "metric" and isinstance(lattice, Lattice) and not rounds_at_random(mechanism):
        apart = lattice.steps(1) * lattice.step  # the guarantee is about numbers that were rounded
    loss = promise.bound(float_up(unit * apart))
    if math.isinf(loss):
        raise GuaranteeError("this std_mechanism promises nothing between numbers one sensitivity apart.")
    return Fraction(loss)


def _unit_length(metric: Metric) -> Fraction | None:
    """The distance of two numbers that are 1 apart, for a multiple of the line or the discrete metric."""
    if isinstance(metric, (Line, Discrete)):
        return Fraction(1)
    if isinstance(metric, Scaled):
        inner = _unit_length(metric.inner)
        return None if inner is None else metric.factor * inner
    return None


@lru_cache(maxsize=256)
def _named_std(kind: str, epsilon: Fraction) -> Any:
    made = STD_MECHANISMS[kind](epsilon=epsilon)
    # A guarantee of the metric scope is about rounded numbers, unless they are rounded at random: no lattice may then
    # be coarser than the sensitivity, which is 1.
    return made if neighbour_loss(made) == epsilon else STD_MECHANISMS[kind](epsilon=epsilon, lattice=1)
