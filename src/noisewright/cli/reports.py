"""Counting reports where they are: a stream of batches on this machine, or a GROUP BY in Spark. Only counts come back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    import pyarrow as pa

    from noisewright.estimate.counts import Counts, Outputs
    from noisewright.estimate.models import Model
    from noisewright.mechanisms.oracle import Oracle, Support
    from noisewright.release.dialects import Dialect
    from noisewright.release.source import Source

__all__ = ["columns_of", "counted"]

PLAIN_NUMBER = r"^\s*[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?\s*$"


def columns_of(source: Source, column: str | None, types: dict[str, Any]) -> list[str]:
    """The columns that hold the reports: those named, separated by commas, or the only one that there is."""
    from noisewright.core.errors import ParameterError

    if column is None:
        if len(types) != 1:
            raise ParameterError(
                f"{source.name} has {len(types)} columns; say which one holds the reports with --column."
            )
        return list(types)
    names = [column] if column in types else [name.strip() for name in column.split(",")]
    for name in names:
        if name not in types:
            raise ParameterError(f"{source.name} has no column {name!r}.")
    return names


def counted(
    path: str,
    column: str | None,
    made_by: Model | Oracle,
    *,
    outside: str,
    engine: str,
    master: str | None = None,
    progress: Callable[[int, int | None], None] | None = None,
) -> Counts | Support:
    """How often each output of a mechanism is in a column (or in several, one for each part of a report).

    Reports of a frequency oracle are counted by the categories that they support instead, on this machine.
    """
    from noisewright.core.errors import ParameterError
    from noisewright.estimate.counts import Tally
    from noisewright.estimate.models import Model
    from noisewright.estimate.oracles import SupportTally
    from noisewright.release.engines import engine_for
    from noisewright.release.sources import source_of

    if not isinstance(made_by, Model) and engine == "spark":
        raise ParameterError(f"reports of {made_by.name} are counted by the engine local; leave --engine out.")
    source = source_of(path)
    with engine_for(cast(Any, engine), source, master=master) as worker:
        names = columns_of(source, column, worker.types(source))
        if not isinstance(made_by, Model):
            supported = SupportTally(made_by)
            _stream(source, names, (), supported.add, progress)
            return supported.result(outside)
        parts = _parts(made_by.outputs, len(names))
        source = _as_text(source, path, names, parts)
        tally = Tally(made_by.outputs)
        if worker.name == "spark":
            from noisewright.release.policy import UnitPolicy

            found = worker.aggregate(source, cast(Any, _ByValue(tuple(names))), UnitPolicy())
            times = found.column(len(names)).to_numpy().astype("int64")
            tally.add(_joined([found.column(i).combine_chunks() for i in range(len(names))], parts), times)
        else:
            _stream(source, names, parts, tally.add, progress)
    return tally.result(outside)


def _stream(
    source: Source,
    names: list[str],
    parts: Sequence[Outputs],
    add: Callable[[Any], None],
    progress: Callable[[int, int | None], None] | None,
) -> None:
    done = 0
    for batch in source.batches(names):
        add(_joined([batch.column(i) for i in range(len(names))], parts))
        done += batch.num_rows
        if progress is not None:
            progress(done, source.rows)


def _parts(outputs: Outputs, named: int) -> Sequence[Outputs]:
    """The outputs that each column holds."""
    from noisewright.core.errors import ParameterError
    from noisewright.estimate.counts import PartOutputs

    parts = outputs.parts if isinstance(outputs, PartOutputs) else (outputs,)
    if len(parts) != named:
        raise ParameterError(
            f"a report of this mechanism has {len(parts)} part{'s' if len(parts) > 1 else ''}, and --column names {named}; name "
            "one column for each part, separated by commas."
        )
    return parts


def _as_text(source: Source, path: str, names: list[str], parts: Sequence[Outputs]) -> Source:
    """Types of a text file are a guess: labels that are text stay text, also where they look like numbers."""
    import pyarrow as pa

    from noisewright.release.sources import source_of

    text = {name: pa.string() for name, part in zip(names, parts, strict=True) if not part.numbers}
    return source_of(path, text) if text and source.format == "csv" else source


def _truth_values(part: Outputs) -> bool:
    """Whether the outputs are true and false, which a text file has as words."""
    from noisewright.estimate.counts import LabelOutputs

    return isinstance(part, LabelOutputs) and all(isinstance(label, bool) for label in part.labels)


class _ByValue:
    """A GROUP BY over the columns of the reports, in the form in which engines take statistics."""

    query = "counts of reports"

    def __init__(self, columns: tuple[str, ...]) -> None:
        self.columns = columns

    def select(self, relation: str, dialect: Dialect) -> str:
        listed = ", ".join(dialect.quote(name) for name in self.columns)
        return f"SELECT {listed}, COUNT(*) AS nw_count FROM {relation} GROUP BY {listed}"


def _joined(columns: list[pa.Array], parts: Sequence[Outputs]) -> pa.Array:
    """One column of reports; text where numbers are meant (a cell of a CSV file that is none) counts as missing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for place, (found, part) in enumerate(
        zip(columns, parts, strict=False)
    ):  # an oracle's columns are left as they are
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
