"""Several mechanisms in one data set: whose reports are whose, counted in one pass.

People may choose their own epsilon, and a survey may change its device half-way. Where every report comes with the name of the
mechanism that made it, a :class:`Mixture` sorts a batch by these names and counts each report for its own mechanism:

>>> from noisewright.mechanisms.categorical.randomised_response import randomised_response
>>> cards, dice = (randomised_response(["no", "yes"], epsilon=epsilon) for epsilon in ("1.0986", "0.4055"))
>>> mixture = Mixture({"cards": cards, "dice": dice})
>>> mixture.add(["no", "yes", "no", "yes"] * 500, ["cards", "cards", "dice", "dice"] * 500)
>>> mixture.estimate().probabilities.round(6).tolist()
[0.5, 0.5]
>>> [(part.name, part.reports, part.promise) for part in mixture.parts]
[('cards', 1000, 'epsilon = 1.0986 per unit of discrete'), ('dice', 1000, 'epsilon = 0.4055 per unit of discrete')]

All mechanisms must be about the same secrets, and the estimate takes it that those who used one of them are as the
others are: that the choice of a mechanism does not depend on the secret. The name of the mechanism is released
unchanged, and no mechanism hides it.

**Every report keeps the guarantee of its own mechanism**; the mixture as a whole guarantees no more than the weakest of
them, and several reports of one person add up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from noisewright._utils.validation import one_of
from noisewright.estimation.counts import Counts, Model, Tally, models_of, same_secrets
from noisewright.estimation.estimate import estimate
from noisewright.estimation.frequencies import SupportTally, as_oracles
from noisewright.estimation.result import Estimate
from noisewright.exceptions import DataError, ParameterError
from noisewright.mechanisms.categorical.frequency_oracle import Oracle, Support

__all__ = ["Mixture", "Part"]


@dataclass(eq=False)
class Part:
    """The reports of one mechanism in a :class:`Mixture`."""

    name: str
    maker: Model | Oracle
    """Origin of the reports; frequency oracles are counted by the values that their reports support."""
    rows: int = 0
    """The rows that were counted, whether they are reports of the mechanism or not."""
    counted: Counts | Support | None = None
    """Counts, once the mixture has a result; None for a mechanism without rows."""
    _tally: Tally | SupportTally = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._tally = Tally(self.maker.outputs) if isinstance(self.maker, Model) else SupportTally(self.maker)

    def add(self, values: Any, times: NDArray[np.int64] | None = None) -> None:
        """Count a batch of reports; ``times`` says how often each of them occurred."""
        if isinstance(self._tally, Tally):
            self._tally.add(values, times)
        elif times is not None:
            raise ParameterError(f"reports of {self.maker.name} are counted one by one.")
        else:
            self._tally.add(values)
        self.rows += len(values) if times is None else int(times.sum())

    @property
    def promise(self) -> str | None:
        """Guarantee to the people who gave these reports, where it is known."""
        return self.maker.promise if isinstance(self.maker, Model) else str(self.maker.guarantee)

    @property
    def reports(self) -> int:
        """The reports that count."""
        found = self.counted
        return 0 if found is None else found.total if isinstance(found, Counts) else found.reports

    @property
    def dropped(self) -> int:
        """The reports that were left out because they are none of the mechanism's."""
        found = self.counted
        return 0 if found is None else found.dropped if isinstance(found, Counts) else found.outside

    def finish(self, outside: str) -> None:
        """Take the counts as the result."""
        self.counted = self._tally.result(outside) if self.rows else None


class Mixture:
    """Reports of several mechanisms about the same secrets.

    ``mechanisms`` maps names to mechanisms, channels, certificates or models; one of them may have several names.
    ``within`` is the range of the secrets for mechanisms that do not state it. Either all of them are counted by their
    outputs, or all are frequency oracles (unary encoding, local hashing, subset selection), which are counted by
    support.
    """

    def __init__(self, mechanisms: Mapping[str, Any], within: Any = None) -> None:
        if not mechanisms:
            raise ParameterError("estimation needs at least one mechanism.")
        self.parts = tuple(map(Part, mechanisms, _makers(list(mechanisms.values()), within)))
        self.unnamed = 0
        """Rows that name none of the mechanisms."""
        self._names = pa.array(list(mechanisms), pa.string())

    def add(self, values: Any, by: Any) -> None:
        """Count a batch of reports, each with the name of its mechanism."""
        if isinstance(values, (str, bytes)) or not hasattr(values, "__len__"):
            raise DataError("reports are a column: give a list, an array or a column of Arrow.")
        names = _column(by)
        if len(values) != len(names):
            raise DataError(f"there are {len(values)} reports and {len(names)} names of mechanisms; give one for each.")
        for part, rows in self.split(names):
            if isinstance(values, (pa.Array, pa.ChunkedArray)):
                part.add(values.filter(pa.array(rows)))
            else:
                part.add(values[rows] if isinstance(values, np.ndarray) else list(compress(values, rows)))

    def split(self, by: pa.Array, times: NDArray[np.int64] | None = None) -> Iterator[tuple[Part, NDArray[np.bool_]]]:
        """Whose rows are whose, by a column of names: each mechanism that is named, with a mask of its rows.

        Names are compared as text, as a command line gives them: integers in their plain form, ``true`` and ``false``.
        """
        places = pc.fill_null(pc.index_in(_text(by), value_set=self._names), -1).to_numpy(zero_copy_only=False)
        strange = places < 0
        self.unnamed += int(strange.sum() if times is None else times[strange].sum())
        for place, part in enumerate(self.parts):
            rows = places == place
            if rows.any():
                yield part, rows

    def result(self, outside: str = "refuse") -> tuple[list[Counts | Support], list[Model | Oracle]]:
        """Return the counts of each mechanism that has reports, and those mechanisms.

        Reports that are not outputs of their mechanism, and rows that name none, are rejected; ``outside="drop"``
        leaves them out.
        """
        one_of(outside, "outside", ("refuse", "drop"))
        rows = sum(part.rows for part in self.parts)
        if self.unnamed and (outside == "refuse" or not rows):
            advice = "" if not rows else ", or drop such rows (outside: drop)"
            raise DataError(
                f"{self.unnamed} of {rows + self.unnamed} rows name none of the mechanisms; check the names that were given, in "
                f"upper and lower case{advice}."
            )
        if not rows:
            raise DataError("there are no reports to estimate from.")
        pooled: dict[int, tuple[Any, Model | Oracle]] = {}
        for part in self.parts:
            self._finish(part, outside)
            if part.counted is not None:
                same = pooled.get(id(part.maker))
                pooled[id(part.maker)] = (part.counted if same is None else same[0] + part.counted, part.maker)
        reports, makers = [found for found, _ in pooled.values()], [maker for _, maker in pooled.values()]
        if self.unnamed:
            reports[0] = _with_dropped(reports[0], self.unnamed)
        return reports, makers

    def estimate(self, *, outside: Any = "refuse", **options: Any) -> Estimate:
        """The population behind all reports; ``options`` are those of
        :func:`noisewright.estimation.estimate.estimate`."""
        reports, makers = self.result(outside)
        one = len(makers) == 1  # alone, a mechanism has the closed forms that it has
        found = estimate(reports[0] if one else reports, makers[0] if one else list(makers), outside=outside, **options)
        return replace(found, promise=self.promise, warnings=(*found.warnings, *self._notes()))

    @property
    def promise(self) -> str | None:
        """Guarantee of each report: one sentence where all guarantee the same, otherwise one for each mechanism."""
        used = [part for part in self.parts if part.rows]
        if len({part.promise for part in used}) == 1:
            return used[0].promise
        return "; ".join(f"{part.name}: {part.promise or 'no promise known'}" for part in used)

    def _notes(self) -> list[str]:
        empty = [part.name for part in self.parts if not part.rows]
        return [f"there are no reports of {', '.join(empty)}; the estimate is from the others."] if empty else []

    def _finish(self, part: Part, outside: str) -> None:
        try:
            part.finish(outside)
        except DataError as problem:
            if len(self.parts) == 1:
                raise
            raise DataError(f"{part.name}: {problem}") from None


def _makers(things: Sequence[Any], within: Any) -> list[Model | Oracle]:
    """One for each thing, and the same one for the same thing; all about the same secrets, and counted in the same way."""
    distinct = list({id(thing): thing for thing in things}.values())
    oracles = [as_oracles([thing]) for thing in distinct]
    found = _oracles(oracles, distinct, within) if any(oracles) else models_of(distinct, within)
    by_id = {id(thing): maker for thing, maker in zip(distinct, found, strict=True)}
    return [by_id[id(thing)] for thing in things]


def _oracles(oracles: list[list[Oracle] | None], things: Sequence[Any], within: Any) -> list[Model | Oracle]:
    found = [one[0] for one in oracles if one]
    if len(found) < len(things):
        raise ParameterError(
            f"reports of {found[0].name} are counted by the categories that they support, and those of another mechanism here by "
            "their outputs; estimate from them apart."
        )
    if within is not None:
        raise ParameterError(f"the secrets of {found[0].name} are known; within is for noise without bounds.")
    same_secrets([oracle.categories for oracle in found])
    return list(found)


def _with_dropped(counted: Counts | Support, more: int) -> Counts | Support:
    if isinstance(counted, Counts):
        return replace(counted, dropped=counted.dropped + more)
    return replace(counted, outside=counted.outside + more)


def _text(by: pa.Array) -> pa.Array:
    """A column of names as text."""
    if pa.types.is_dictionary(by.type):
        by = by.dictionary_decode()
    if pa.types.is_string(by.type):
        return by
    kinds = (pa.types.is_integer, pa.types.is_boolean, pa.types.is_null, pa.types.is_large_string)
    if not any(kind(by.type) for kind in kinds):
        raise DataError("the names of mechanisms in a column are text, whole numbers, or true and false; cast it.")
    return by.cast(pa.string())


def _column(by: Any) -> pa.Array:
    """Names of mechanisms as a column of Arrow."""
    if isinstance(by, pa.ChunkedArray):
        return by.combine_chunks()
    if isinstance(by, pa.Array):
        return by
    try:
        return pa.array(by.tolist() if isinstance(by, np.ndarray) else list(by))
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        raise DataError("the names of mechanisms are a column of one kind, such as text.") from None
