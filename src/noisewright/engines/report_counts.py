"""Counting reports where they are: a stream of batches on this machine, or a GROUP BY in Spark. Only counts come back."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from noisewright.engines.base import Engine
    from noisewright.estimation.counts import Outputs
    from noisewright.estimation.mixture import Mixture, Part
    from noisewright.queries.sql import Dialect
    from noisewright.tables.source import Source

__all__ = ["columns_of", "count_into"]


HASHED, PAIR = "local-hashing", ("hash", "bucket")
MOST_LISTED = 8
PLAIN_NUMBER = r"^\s*[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?\s*$"


def count_into(
    mixture: Mixture,
    files: Sequence[str],
    column: str | None,
    by: str | None,
    *,
    engine: str,
    master: str | None = None,
    progress: Callable[[int, int | None], None] | None = None,
) -> None:
    """Count the reports of every file, each for the mechanism that made it.

    ``by`` is the column that names the mechanism of a row. Without it there is one mechanism for each file, in their order.
    ``column`` is that of the reports, or several for the parts of a report, separated by commas.
    """
    from noisewright.engines.base import engine_for
    from noisewright.estimation.counts import Model
    from noisewright.exceptions import ParameterError
    from noisewright.tables.reading import source_of

    for part in mixture.parts:
        if not isinstance(part.maker, Model) and engine == "spark":
            raise ParameterError(f"reports of {part.maker.name} are counted by the engine local; leave --engine out.")
    sources = [source_of(file) for file in files]
    with ExitStack() as stack:
        workers = [
            stack.enter_context(engine_for(cast(Any, engine), source, master=master)) for source in sources
        ]  # one session: the first starts it, and the others find it
        plans = []
        for place, source in enumerate(sources):
            types = workers[place].types(source)
            parts = mixture.parts if by is not None else (mixture.parts[place],)
            names = columns_of(source, column, types, by, _makers(parts))
            held = [_held(part, len(names)) for part in parts]
            plans.append((_as_text(source, files[place], names, by, held, types), names, parts))
        counting = _Counting(mixture, by, [source for source, _, _ in plans], progress)
        for worker, (source, names, parts) in zip(workers, plans, strict=True):
            counting.count(worker, source, names, parts)


def _makers(parts: Sequence[Part]) -> set[str]:
    return {part.maker.name for part in parts}


def columns_of(
    source: Source, column: str | None, types: dict[str, Any], by: str | None = None, makers: Collection[str] = ()
) -> list[str]:
    """The columns that hold the reports: those named, separated by commas, or the only one next to the column of the
    mechanisms.

    Reports of local hashing are pairs, which have the columns ``hash`` and ``bucket`` where none are named.
    """
    from noisewright._utils.validation import nearest_name
    from noisewright.exceptions import ParameterError

    def unknown(name: str) -> ParameterError:
        near = nearest_name(name, list(types))
        return ParameterError(f"{source.name} has no column {name!r}" + (f"; did you mean {near!r}?" if near else "."))

    if by is not None and by not in types:
        raise unknown(by)
    if column is None:
        left = [name for name in types if name != by]
        if set(makers) == {HASHED} and set(PAIR) <= set(left):
            return list(PAIR)
        if len(left) != 1:
            beside = "" if by is None else f" beside {by!r}"
            listed = ", ".join(map(repr, left[:MOST_LISTED])) + (", ..." if len(left) > MOST_LISTED else "")
            pair = f", for {HASHED} first the hash, then the bucket: --column hash,bucket" if HASHED in makers else ""
            raise ParameterError(
                f"{source.name} has {len(left)} columns{beside} ({listed}); say which one holds the reports with --column{pair}."
            )
        return left
    names = [column] if column in types else [name.strip() for name in column.split(",")]
    for name in names:
        if name not in types:
            raise unknown(name)
    if len(set(names)) < len(names) or by in names:
        raise ParameterError("--column and --by name different columns, each of them once.")
    return names


class _Counting:
    """One pass over each table; every row is counted for its own mechanism."""

    def __init__(
        self,
        mixture: Mixture,
        by: str | None,
        sources: Sequence[Source],
        progress: Callable[[int, int | None], None] | None,
    ) -> None:
        self.mixture, self.by, self.progress = mixture, by, progress
        known = [source.rows for source in sources]
        self.rows = None if None in known else sum(cast("list[int]", known))
        self.done = 0

    def count(self, worker: Engine, source: Source, names: list[str], parts: Sequence[Part]) -> None:
        listed = [*names, *([] if self.by is None else [self.by])]
        if worker.name == "spark":
            columns, times = _grouped(worker, source, listed)
            self.add(_as_reported(columns, source), parts, times)
        else:
            for batch in source.batches(listed):
                self.add(_as_reported(batch.columns, source), parts)
                self._tell(batch.num_rows)

    def add(self, columns: list[pa.Array], parts: Sequence[Part], times: NDArray[np.int64] | None = None) -> None:
        import pyarrow as pa

        if self.by is None:
            parts[0].add(_joined(columns, _held(parts[0], len(columns))), times)
            return
        *values, names = columns
        for part, rows in self.mixture.split(names, times):
            mask = pa.array(rows)
            own = [column.filter(mask) for column in values]
            part.add(_joined(own, _held(part, len(own))), None if times is None else times[rows])

    def _tell(self, rows: int) -> None:
        self.done += rows
        if self.progress is not None:
            self.progress(self.done, self.rows)


def _as_reported(columns: list[pa.Array], source: Source) -> list[pa.Array]:
    """Reports as they were drawn: a CSV file has an apostrophe before what a spreadsheet would run."""
    from noisewright.tables.source import original

    return [original(column) for column in columns] if source.format == "csv" else columns


def _held(part: Part, named: int) -> Sequence[Outputs]:
    """The outputs that each column holds; nothing for an oracle, which reads its reports itself."""
    from noisewright.estimation.counts import Model, PartOutputs
    from noisewright.exceptions import ParameterError

    if not isinstance(part.maker, Model):
        return ()
    outputs = part.maker.outputs
    held = outputs.parts if isinstance(outputs, PartOutputs) else (outputs,)
    if len(held) != named:
        raise ParameterError(
            f"a report of {part.maker.name} has {len(held)} part{'s' if len(held) > 1 else ''}, and --column names {named}; name "
            "one column for each part, separated by commas."
        )
    return held


def _as_text(
    source: Source,
    path: str,
    names: list[str],
    by: str | None,
    held: Sequence[Sequence[Outputs]],
    types: dict[str, Any],
) -> Source:
    """Types of a text file are a guess: labels that are text stay text, also where they look like numbers or dates."""
    import pyarrow as pa

    from noisewright.tables.reading import source_of

    labels = {name for one in held for name, part in zip(names, one, strict=False) if not part.numbers}
    labels |= set() if by is None else {by}
    if source.format == "csv":
        text = {name for name in labels if not pa.types.is_string(types[name])}
    else:  # JSON says what is text and what a number, but dates are text that was read as something else
        text = {name for name in labels if source.format == "json" and pa.types.is_temporal(types[name])}
    return source_of(path, dict.fromkeys(text, pa.string())) if text else source


def _truth_values(part: Outputs) -> bool:
    """Return whether the outputs are true and false, which a text file has as words."""
    from noisewright.estimation.counts import LabelOutputs

    return isinstance(part, LabelOutputs) and all(isinstance(label, bool) for label in part.labels)


def _grouped(worker: Engine, source: Source, listed: Sequence[str]) -> tuple[list[pa.Array], NDArray[np.int64]]:
    """Count each combination of values in some columns, as one GROUP BY of Spark.

    In a text file of a single column an empty line is a missing value, and Spark skips it; such rows are put back.
    """
    import numpy as np
    import pyarrow as pa

    from noisewright.exceptions import DataError
    from noisewright.policy.policy import UnitPolicy

    found = worker.aggregate(source, cast(Any, _ByValue(tuple(listed))), UnitPolicy())
    source.check_unchanged()
    columns = [found.column(place).combine_chunks() for place in range(len(listed))]
    times = np.asarray(found.column(len(listed)).to_numpy(), dtype=np.int64)
    skipped = (source.rows or 0) - int(times.sum()) if source.format == "csv" else 0
    if skipped < 0 or (skipped and len(source.schema.names) > 1):
        raise DataError(f"Spark reads other rows in {source.name} than there are; use the engine local.")
    if skipped:
        columns = [pa.concat_arrays([columns[0], pa.nulls(1, columns[0].type)])]
        times = np.append(times, skipped)
    return columns, times


class _ByValue:
    """A GROUP BY over the columns of the reports, in the form in which engines take statistics."""

    query = "counts of reports"

    def __init__(self, columns: tuple[str, ...]) -> None:
        self.columns = columns

    def select(self, relation: str, dialect: Dialect) -> str:
        listed = ", ".join(dialect.quote(name) for name in self.columns)
        return f"SELECT {listed}, COUNT(*) AS nw_count FROM {relation} GROUP BY {listed}"


def _joined(columns: list[pa.Array], held: Sequence[Outputs]) -> pa.Array:
    """One column of reports; text where numbers are meant (a cell of a CSV file that is none) counts as missing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for place, (found, part) in enumerate(zip(columns, held, strict=False)):
        if part.numbers and (pa.types.is_string(found.type) or pa.types.is_large_string(found.type)):
            known = pc.match_substring_regex(found, PLAIN_NUMBER)
            columns[place] = pc.utf8_trim_whitespace(pc.if_else(known, found, None)).cast(pa.float64())
        elif _truth_values(part) and (pa.types.is_string(found.type) or pa.types.is_large_string(found.type)):
            word = pc.utf8_lower(pc.utf8_trim_whitespace(found))
            known = pc.is_in(word, value_set=pa.array(["true", "false"], word.type))
            columns[place] = pc.if_else(known, pc.equal(word, "true"), None)
    if len(columns) == 1:
        return columns[0]
    return pa.StructArray.from_arrays(columns, names=[str(place) for place in range(len(columns))])
