"""Trained privatisers in files of arrays and JSON, never a program; a file is one curve or one point of it.

``privatiser`` is a :class:`~noisewright.learning.privatiser.GAPPrivatiser`, which stands above.

``GAPPrivatiser(distortion=D).fit(X, y)`` plays the game between a privatiser that changes records by at most ``D`` on
average and an adversary who guesses ``y`` from them; ``release(X)`` changes records. It is used like a transformer of
scikit-learn.

**What is guaranteed.** A guarantee of the kind ``context-aware``: how often fresh attackers, trained from scratch on
releases, guess right about records of the population that it was trained on, measured on records held out. No epsilon,
nothing about one person, and nothing about stronger adversaries.

**Distortion.** The sum over columns of the squared change of a number in standard deviations (``units="raw"``: as it
is) and the probability that a category changes, times ``weights``. From the point on where a constant fits the budget
nothing can be learned, and ``fit`` says so.

>>> rng = np.random.default_rng(0)
>>> y = rng.integers(0, 2, 2000)
>>> X = np.where(rng.random(2000) < 0.25, 1 - y, y)
>>> made = GAPPrivatiser(distortion=0.1, categorical=["x0"]).fit(X, y)
>>> made.family_, round(made.points_[0].spent, 3)
('table', 0.1)
>>> made.release(X).shape
(2000,)

Reference: Huang, Kairouz, Chen, Sankar and Rajagopal, *Context-aware generative adversarial privacy* (2017).
"""

from __future__ import annotations

import inspect
import math
import os
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from noisewright._utils.validation import is_number, is_whole, one_of
from noisewright.attacks.attribute_inference import Optimum
from noisewright.exceptions import DataError, FileFormatError, NoisewrightError, ParameterError
from noisewright.guarantees import ContextAware
from noisewright.io.model_files import SUFFIX, read_model, write_model
from noisewright.learning.columns import Codes, Columns, as_columns, category_from, like
from noisewright.learning.evaluation import (
    WATCHING,
    Point,
    attackers_of,
    best_beside,
    budgets_of,
    check_free,
    costs_of,
    draws_of,
    family_of,
    guessed,
    measured_rows,
    private_of,
    released,
    settings_of,
    spent_of,
    truth_of,
)
from noisewright.learning.sampling import CertifiedPrivatiser, Drawer, TableDrawer, certified, drawer_of
from noisewright.numerics.exact import Exact
from noisewright.resources import Resource
from noisewright.sampling.random_bits import Rng, bits_from

if TYPE_CHECKING:
    from noisewright.learning.trainer import Course

__all__ = ["KEEP", "KIND", "VERSION", "GAPPrivatiser", "check_suffix", "read_privatiser", "write_privatiser"]


KIND = "privatiser"
VERSION = 3
KEEP = (
    "Keep the file: it tells about the records that it was trained on (labels, means, deviations, weights), and no promise "
    "covers it. Nor does one cover its digest and what was measured, which a certificate states. Hand them out only where all "
    "of these records may be told about."
)
"""Warning about the file of a privatiser, shown wherever one is written or used."""

LARGEST = 1e6
"""No training comes to weights beyond this; with them numbers would come out that are none."""


def write_privatiser(privatiser: Any, path: str | os.PathLike[str]) -> Resource:
    """Write a fitted privatiser; the file appears whole or not at all."""
    about = {
        "version": VERSION,
        "parameters": _plain(privatiser.get_params()),
        "columns": privatiser.columns_.to_json(),
        "private": [{"name": one.name, "labels": list(one.labels)} for one in privatiser.private_],
        "family": privatiser.family_,
        "settings": privatiser.settings_.to_json(),
        "rows": privatiser.rows_,
        "costs": [float(cost) for cost in privatiser.costs_],
        "points": [_plain(asdict(point)) for point in privatiser.points_],
    }
    arrays = {
        f"{place}.{name}": array for place, point in enumerate(privatiser.arrays_) for name, array in point.items()
    }
    return write_model(path, KIND, about, arrays)


def read_privatiser(made: Any, resource: Resource) -> None:
    """Fill a privatiser from a file; one sentence where the file is of another version or makes no sense."""
    from noisewright.learning.objectives import Settings

    about, arrays = read_model(resource, KIND)
    if about.get("version") != VERSION:
        raise FileFormatError(
            f"{resource.name} is a privatiser of another version of Noisewright; train it again, or use that version."
        )
    try:
        made.set_params(**about["parameters"])
        made.columns_ = Columns.from_json(about["columns"])
        made.private_ = tuple(category_from(one) for one in about["private"])
        made.family_, made.rows_ = str(about["family"]), about["rows"]
        if not is_whole(made.rows_) or made.rows_ < 1 or not made.private_:
            raise ValueError("rows")
        made.settings_ = Settings(**about["settings"])
        made.costs_ = [float(cost) for cost in about["costs"]]
        made.points_ = tuple(_point(entry) for entry in about["points"])
        made.arrays_ = tuple(
            {name.partition(".")[2]: array for name, array in arrays.items() if name.startswith(f"{place}.")}
            for place in range(len(made.points_))
        )
        classes = tuple(len(one.labels) for one in made.private_)
        numbers, categories = len(made.columns_.numbers), made.columns_.categories
        if made.given not in ("x", "xy") or not made.points_ or len(made.costs_) != len(made.columns_.names):
            raise ValueError("parameters")
        if not all(0 < cost < math.inf for cost in made.costs_) or any(
            len(p.prior) != len(classes) for p in made.points_
        ):
            raise ValueError("costs")
        if any(sorted(name for name, _ in p.by_column) != sorted(made.columns_.names) for p in made.points_):
            raise ValueError("columns")
        for own in made.arrays_:
            if any(not np.abs(array).max(initial=0.0) <= LARGEST for array in own.values()):
                raise ValueError("weights")
            drawer_of(made.family_, own, numbers, categories, classes, made.given)
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError, NoisewrightError):
        raise FileFormatError(
            f"{resource.name} is no privatiser that can be used; train it again or copy it once more."
        ) from None
    made.n_features_in_ = len(made.columns_.names)


def check_suffix(path: str | os.PathLike[str]) -> None:
    """Privatisers are in files named ``*.nwm``."""
    if not os.fspath(path).endswith(SUFFIX):
        raise FileFormatError(f"a privatiser is kept in a file whose name ends with {SUFFIX}.")


def _point(entry: dict[str, Any]) -> Point:
    """A point from a file; raise ``ValueError`` if its numbers are invalid."""
    if set(entry) != {field.name for field in fields(Point)}:
        raise ValueError("a point")
    read: dict[str, Any] = {name: _tuples(one) for name, one in entry.items()}
    read["optimum"] = tuple(None if one is None else Optimum(**one) for one in entry["optimum"])
    made = Point(**read)
    known = [one for one in made.optimum if one is not None]
    shares = [*made.accuracy, *made.prior, *(end for pair in made.accuracy_between for end in pair)]
    shares += [one.accuracy for one in known]
    amounts = [made.distortion, made.spent, *made.spent_between, made.loss, made.prior_loss]
    amounts += [*(spent for _, spent in made.by_column), *(one.distortion for one in known)]
    nats = [*made.told, *(end for pair in made.told_between for end in pair)]
    counts = (made.held_out, made.epochs, *made.judged)
    by_variable = (
        *(made.accuracy, made.accuracy_between, made.best, made.judged, made.prior),
        *(made.told, made.told_between, made.optimum),
    )
    lengths = {len(one) for one in by_variable}
    if not all(is_number(one) and 0 <= one <= 1 for one in shares) or len(lengths) != 1:
        raise ValueError("a point")
    if not all(is_number(one) and 0 <= one < math.inf for one in amounts) or made.distortion <= 0:
        raise ValueError("a point")
    if not all(is_number(one) and math.isfinite(one) for one in nats):
        raise ValueError("a point")
    inside = [(made.spent, made.spent_between), *zip(made.accuracy, made.accuracy_between, strict=True)]
    inside += zip(made.told, made.told_between, strict=True)
    if not all(len(ends) == 2 and ends[0] <= value <= ends[1] for value, ends in inside):
        raise ValueError("a point")
    if not all(is_whole(one) and one >= 1 for one in counts) or type(made.rested) is not bool:
        raise ValueError("a point")
    names = (*made.best, *made.tried, *(one.of for one in known))
    if not made.tried or not all(type(name) is str and 0 < len(name) <= 100 for name in names):
        raise ValueError("a point")
    return made


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _plain(value: Any) -> Any:
    """Return plain data for JSON: NumPy's numbers and tuples as Python's numbers and lists; names of columns as text."""
    if isinstance(value, dict):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_plain(one) for one in value]
    return value.item() if isinstance(value, np.generic) else value


# Privatiser ---------------------------------------------------------------------------------------------------------------
#
# A privatiser learned from examples: records that hide a private value as well as it could be learned, within a budget.


GIVEN = ("x", "xy")


class GAPPrivatiser:
    """A privatiser learned from examples; see the module.

    ``distortion``: the budget, or a list of budgets that are trained together, a curve; :meth:`at` picks one.
    ``given``: ``"x"``, the record alone; or ``"xy"``, the private values as well. ``family``: ``"table"`` (one column
    of labels), ``"shifts"`` (one number and two classes), ``"network"``, or ``"auto"``: a table where one will do,
    else a network. ``categorical``: columns of labels that look like numbers. ``bounds``: public ranges of columns,
    which releases are clipped to. ``held_out``: the share of rows that no one learns from. ``attackers``: the fresh
    ones that are tried on its releases, by their names in :data:`~noisewright.attacks.ATTACKERS`; all of
    them, if none are named. ``settings``: of the training, see
    :class:`~noisewright.learning.objectives.Settings`.
    """

    def __init__(
        self,
        distortion: float | Sequence[float],
        *,
        given: str = "x",
        loss: str = "log",
        family: str = "auto",
        categorical: Sequence[Hashable] | None = None,
        weights: Mapping[Any, float] | None = None,
        units: str = "sd",
        bounds: Mapping[Any, Any] | None = None,
        held_out: float = 0.2,
        attackers: Sequence[str] | None = None,
        seed: int = 0,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        self.distortion, self.given, self.loss, self.family = distortion, given, loss, family
        self.categorical, self.weights, self.units, self.bounds = categorical, weights, units, bounds
        self.held_out, self.attackers, self.seed, self.settings = held_out, attackers, seed, settings

    # Learning --------------------------------------------------------------------------------------------------------------

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        progress: Callable[[int, int | None], None] | None = None,
        live: Callable[[int, Course], None] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> Self:
        """Learn from records and their private values: one column, or several of them.

        With ``checkpoint`` a training that was stopped goes on where it was. ``live`` is called with the progress
        after every epoch.
        """
        one_of(self.given, "given", GIVEN)
        one_of(self.units, "units", ("sd", "raw"))
        budgets = budgets_of(self.distortion)
        columns = Columns.of(X, self.categorical, self.bounds)
        private = private_of(y)
        numeric, codes = columns.encode(X)
        truth = truth_of(y, private)
        if len(truth) != len(numeric):
            raise DataError("X and y must have one row for each record.")
        family = family_of(self.family, columns, private)
        attackers = attackers_of(self.attackers, family, len(truth))
        costs = columns.costs(self.weights, self.units)
        check_free(budgets, costs, numeric, codes)
        settings = settings_of(family, self.loss, self.seed, len(numeric), self.settings)
        apart = self._apart(truth)
        from noisewright.learning.trainer import train_curve

        classes = tuple(len(one.labels) for one in private)
        curve = train_curve(
            family,
            numeric,
            codes,
            truth,
            budgets,
            settings,
            categories=columns.categories,
            classes=classes,
            given=self.given,
            weights=costs,
            steps=[1 / number.scale if number.whole else 0.0 for number in columns.numbers],
            held_out=apart,
            knows="law",
            progress=progress,
            live=live,
            checkpoint=checkpoint,
        )
        self.columns_, self.private_, self.family_, self.settings_ = columns, private, family, settings
        self.rows_, self.course_, self.costs_ = len(numeric), curve.course, costs
        self.arrays_ = curve.arrays
        self.n_features_in_ = len(columns.names)
        rows = measured_rows(apart, self.seed)
        some = {name: values[rows] for name, values in as_columns(X).items()}
        self.points_ = tuple(
            self._measured(place, budget, some, truth[rows], apart[rows], attackers)
            for place, budget in enumerate(budgets)
        )
        return self

    def _measured(
        self,
        place: int,
        budget: float,
        table: dict[str, NDArray[Any]],
        truth: Codes,
        apart: NDArray[np.bool_],
        attackers: Sequence[str],
    ) -> Point:
        """Return the measurement of one point of the curve on released records."""
        course, watched = self.course_, self.course_.watched
        assert watched is not None
        bits = bits_from(np.random.default_rng((self.seed, 3, place)))  # a simulation, thrown away
        given, drawer = truth if self.given == "xy" else None, self._drawer(place)
        draws = [released(self.columns_, drawer, table, given, bits) for _ in range(draws_of(len(truth)))]
        if isinstance(drawer, TableDrawer):  # what a draw costs is known
            each = self.costs_[0] * drawer.moved(self.columns_.encode(table)[1], given)[:, None]
        else:
            each = np.mean([costs_of(self.columns_, self.costs_, table, one) for one in draws], axis=0)
        spent = spent_of(each[apart].sum(axis=1))
        reached = [float(value) for value in watched.accuracy[:, place]]
        found = guessed(self.columns_, draws, truth, apart, reached, attackers, self.seed)
        return Point(
            distortion=budget,
            spent=spent.value,
            spent_between=(spent.low, spent.high),
            by_column=tuple(zip(self._by_cost(), map(float, each[apart].mean(axis=0)), strict=True)),
            accuracy=tuple(one.accuracy.value for one in found),
            accuracy_between=tuple((one.accuracy.low, one.accuracy.high) for one in found),
            best=tuple(one.best for one in found),
            judged=tuple(one.judged for one in found),
            tried=(*attackers, WATCHING),
            told=tuple(one.told.value for one in found),
            told_between=tuple((one.told.low, one.told.high) for one in found),
            optimum=best_beside(self.columns_, self.costs_, table, truth, self.given, spent.value),
            prior=tuple(float(np.bincount(codes).max() / len(codes)) for codes in truth.T),
            loss=float(watched.loss[:, place].sum()),
            prior_loss=float(course.prior_loss[place]),
            held_out=int(apart.sum()),
            rested=bool(course.converged()[place]),
            epochs=course.epochs,
        )

    def _apart(self, truth: Codes) -> NDArray[np.bool_]:
        """Return the held-out rows: the same share of every class of the first private variable, two of any class."""
        share = self.held_out
        if not is_number(share) or not 0 < share < 1:
            raise ParameterError("held_out is the share of rows that nobody learns from, above 0 and below 1.")
        rng = np.random.default_rng((self.seed, 1))
        found = np.zeros(len(truth), bool)
        for code in np.unique(truth[:, 0]):
            rows = np.flatnonzero(truth[:, 0] == code)
            found[rng.permutation(rows)[: max(2, round(share * len(rows)))]] = True
        for codes in truth.T[1:]:
            for code in np.unique(codes):
                rows = np.flatnonzero(codes == code)
                found[rng.permutation(rows[~found[rows]])[: max(0, 2 - int(found[rows].sum()))]] = True
        return found

    # Releasing -------------------------------------------------------------------------------------------------------------

    def release(self, X: Any, y: Any = None, rng: Rng = None) -> Any:
        """Changed records, in the form and order of the given ones, with the index of a pandas frame, which is not changed.

        ``y`` is needed (and looked at) only by one that is given both.
        """
        self._check_fitted()
        if len(self.points_) != 1:
            raise ParameterError("this is a curve of several budgets; pick one with .at(distortion).")
        bits = bits_from(rng)
        given = as_columns(X)
        numeric, codes = self.columns_.encode(given)
        truth = None
        if self.given == "xy":
            if y is None:
                raise DataError(
                    "this privatiser is given the private values as well; pass them as the second argument."
                )
            truth = truth_of(y, self.private_)
            if len(truth) != len(numeric):
                raise DataError("X and y must have one row for each record.")
        return like(X, self.columns_.decode(given, *self._drawer(0).draw(numeric, codes, truth, bits)))

    def transform(self, X: Any) -> Any:
        """The same as :meth:`release`, for pipelines."""
        return self.release(X)

    def fit_transform(self, X: Any, y: Any = None, **fit: Any) -> Any:
        """Fit, and release the same records."""
        return self.fit(X, y, **fit).release(X, y if self.given == "xy" else None)

    def at(self, distortion: float) -> GAPPrivatiser:
        """The privatiser of one budget of a curve."""
        self._check_fitted()
        if not is_number(distortion):
            raise ParameterError(
                f"a budget of a curve is picked by its number, not by a thing of type {type(distortion).__name__}."
            )
        places = [place for place, point in enumerate(self.points_) if math.isclose(point.distortion, distortion)]
        if not places:
            known = ", ".join(f"{point.distortion:g}" for point in self.points_)
            raise ParameterError(f"this curve has the budgets {known}; train it for others, or pick one of these.")
        (place, *_) = places
        made = type(self)(**{**self.get_params(), "distortion": self.points_[place].distortion})
        made.__dict__.update({name: value for name, value in vars(self).items() if name.endswith("_")})
        made.points_ = (self.points_[place],)
        made.arrays_ = (self.arrays_[place],)
        return made

    def distortion_of(self, X: Any, released: Any) -> dict[str, float]:
        """The mean distortion of each column between records and their releases; the budget limits the sum."""
        self._check_fitted()
        columns = self.columns_
        means = costs_of(columns, self.costs_, X, released).mean(axis=0)
        return {name: float(mean) for name, mean in zip(self._by_cost(), means, strict=True)}

    def _by_cost(self) -> list[str]:
        """The names of columns in the order of their costs: numbers first."""
        return [*(one.name for one in self.columns_.numbers), *(one.name for one in self.columns_.labels)]

    def _drawer(self, place: int) -> Drawer:
        classes = tuple(len(one.labels) for one in self.private_)
        numbers, categories = len(self.columns_.numbers), self.columns_.categories
        return drawer_of(self.family_, self.arrays_[place], numbers, categories, classes, self.given)

    def with_epsilon(self, epsilon: Exact, X: Any, y: Any = None) -> CertifiedPrivatiser:
        """Return it with certified noise: ``epsilon`` between any two records, proved, in addition to the learned
        guarantee.

        That is for a privatiser that is fixed: for records that it was not trained on. Every column of numbers needs public
        ``bounds``, and lists of labels must be public. The distortion of both together is measured on ``X``.
        """
        self._check_fitted()
        if len(self.points_) != 1:
            raise ParameterError("this is a curve of several budgets; pick one with .at(distortion).")
        return certified(self, epsilon, X, y)

    def save(self, path: str | os.PathLike[str]) -> Resource:
        """Write it to a file (``.nwm``: arrays and JSON). Keep it: it reveals information about its training records."""
        self._check_fitted()
        check_suffix(path)
        return write_privatiser(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str] | Resource) -> Self:
        """A saved privatiser; releasing needs no PyTorch."""
        made = cls(1.0)
        read_privatiser(made, path if isinstance(path, Resource) else Resource.at(path))
        return made

    # What is guaranteed
    # ------------------------------------------------------------------------------------------------------

    @property
    def guarantee(self) -> ContextAware:
        """Measured guarantee: against the attackers that were tried, not against stronger ones."""
        self._check_fitted()
        if len(self.points_) != 1:
            raise ParameterError("this is a curve of several budgets; pick one with .at(distortion).")
        (point,) = self.points_
        most = [high for _, high in point.accuracy_between]
        order = sorted(range(len(most)), key=lambda place: point.prior[place] - most[place])  # the most frequent first
        worst, many = order[0], len(point.tried)
        who = (
            "somebody who knows how often outputs and private values go together among these records"
            if self.family_ == "table"
            else f"the best of {many} adversaries that were tried, {point.best[worst]}"
        )
        return ContextAware(
            accuracy=max(most[worst], point.prior[worst]),
            prior=point.prior[worst],
            distortion=point.spent,
            adversary=who,
            data=f"records like the {self.rows_} that it was trained on",
            private=tuple(self.private_[place].name for place in order),
            rows=point.judged[worst],
            adversaries=point.tried,
            most_distortion=point.spent_between[1],
            converged=point.converged,
        )

    # Like an estimator of scikit-learn -------------------------------------------------------------------------------------

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters of the constructor."""
        del deep
        return {name: getattr(self, name) for name in _parameters()}

    def set_params(self, **params: Any) -> Self:
        """Set parameters of the constructor."""
        for name, value in params.items():
            if name not in _parameters():
                raise ParameterError(
                    f"{name} is not a parameter of GAPPrivatiser; there are {', '.join(_parameters())}."
                )
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        many = len(getattr(self, "points_", ()))
        fitted = f", {self.family_}, {many} budget{'s' if many > 1 else ''} fitted" if many else ""
        return f"GAPPrivatiser(distortion={self.distortion!r}{fitted})"

    def __sklearn_tags__(self) -> Any:
        """Return the tags for pipelines of scikit-learn; only scikit-learn calls it."""
        from sklearn.utils import Tags, TargetTags, TransformerTags

        target = TargetTags(required=True)
        return Tags(estimator_type=None, target_tags=target, transformer_tags=TransformerTags())

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "points_")

    def _check_fitted(self) -> None:
        if not hasattr(self, "points_"):
            raise ParameterError("this privatiser has learned nothing yet; call fit(X, y) first, or load a saved one.")


def _parameters() -> list[str]:
    return [name for name in inspect.signature(GAPPrivatiser.__init__).parameters if name != "self"]
