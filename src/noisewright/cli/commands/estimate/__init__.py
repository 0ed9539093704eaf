"""``noisewright estimate``: the population behind private reports, with a certificate of how good the fit is."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from noisewright.cli.shared.arguments import TABLES
from noisewright.cli.shared.commands import Command
from noisewright.cli.shared.output import AsJson, counting, emit, working
from noisewright.cli.shared.targets import draw_to, picture_file, target_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from noisewright.estimation.population.mixture import Mixture
    from noisewright.estimation.population.result import Estimate
    from noisewright.releases.recipient.estimating import ColumnEstimate
    from noisewright.releases.recipient.received import Received

__all__ = ["COMMAND", "estimate"]


def estimate(
    reports: Annotated[
        list[str],
        typer.Argument(
            metavar="REPORTS",
            help=f"The folder of a release; or tables: {TABLES}.",
        ),
    ],
    mechanism: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            help="The mechanism that made the reports: its certificate (.json), or a channel file. Can be repeated: one for each "
            "table, in their order, or with --by one for each name, as NAME=FILE. A release needs none.",
        ),
    ] = None,
    column: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The column of the reports; for places x,y, for local hashing hash,bucket. Default: the only column. Of a "
            "release one or several, such as age,sex; default: all.",
        ),
    ] = None,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE.csv", help="Write the shares there, as a table.")
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The column that names the mechanism which made the report of a row."),
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            metavar="auto|inversion|ibu|mle", help="The estimator; auto: mle for categories, ibu for numbers."
        ),
    ] = "auto",
    intervals: Annotated[
        str | None, typer.Option(metavar="asymptotic|bootstrap", help="Add confidence intervals of this kind.")
    ] = None,
    confidence: Annotated[float, typer.Option(metavar="SHARE", help="How sure the intervals must be.")] = 0.95,
    joint: Annotated[bool, typer.Option("--joint", help="Intervals hold for all secrets together.")] = False,
    within: Annotated[
        str | None,
        typer.Option(
            metavar="LOW:HIGH",
            help="The range of the secrets, for noise without bounds; for places LOW:HIGH,LOW:HIGH.",
        ),
    ] = None,
    outside: Annotated[
        str, typer.Option(metavar="refuse|drop", help="What to do with reports that are no outputs of their mechanism.")
    ] = "refuse",
    iterations: Annotated[int | None, typer.Option(metavar="N", help="The most steps of the ibu.")] = None,
    gap: Annotated[
        float, typer.Option(metavar="G", help="Stop the ibu at this certified gap of log-likelihood.")
    ] = 0.1,
    engine: Annotated[str, typer.Option(metavar="local|spark", help="Who counts the reports.")] = "local",
    master: Annotated[
        str | None, typer.Option(metavar="URL", help="Where Spark runs, such as local[2] or spark://host:7077.")
    ] = None,
    plot: Annotated[str | None, typer.Option("--plot", metavar="FILE.png", help="Draw the estimate there.")] = None,
    diagnostics: Annotated[
        bool, typer.Option("--diagnostics", metavar="", help="With --plot: draw how the fit went, too.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Estimate the population behind private reports, or the table behind a release.

    Reports are counted where they are, and only counts are used. The answer carries a certificate of how much likelihood any
    other population could gain. Reports of several mechanisms about the same secrets are put together, each counted by its own.
    Nothing here changes what was promised to those who reported. Of a release its folder is enough.
    """
    from noisewright.core.choices import one_of
    from noisewright.core.errors import ParameterError
    from noisewright.estimation.population.estimate import METHODS

    table = None if output is None else target_file(output, "a table of shares", (".csv",))
    if mechanism is None:
        given = {"--by": by, "--intervals": intervals, "--within": within, "--plot": plot, "--iterations": iterations}
        given |= {"--master": master, "--joint": joint or None, "--diagnostics": diagnostics or None}
        changed = {"--method": method != "auto", "--confidence": confidence != 0.95, "--outside": outside != "refuse"}
        changed |= {"--gap": gap != 0.1, "--engine": engine != "local"}
        named = [name for name, value in given.items() if value is not None]
        _of_release(reports, column, table, [*named, *(name for name, so in changed.items() if so)], as_json)
        return
    one_of(method, "--method", METHODS)
    one_of(outside, "--outside", ("refuse", "drop"))
    one_of(engine, "--engine", ("local", "spark"))
    if intervals is not None:
        one_of(intervals, "--intervals", ("asymptotic", "bootstrap"))
    elif joint:
        raise ParameterError("--joint is about intervals; add --intervals asymptotic or bootstrap.")
    if master is not None and engine != "spark":
        raise ParameterError("--master is for Spark; add --engine spark.")
    pairs = _pairs(reports, mechanism, by)
    picture = picture_file(plot)
    with working("reading the mechanism"):
        mixture = _mixture(pairs, _range(within))
    from noisewright.releases.engines.count_reports import count_into

    with counting("counting reports") as progress:
        count_into(mixture, reports, column, by, engine=engine, master=master, progress=progress)
    with counting("estimating", "steps") as progress:
        found = mixture.estimate(
            method=cast(Any, method),
            outside=cast(Any, outside),
            intervals=cast(Any, intervals),
            confidence=confidence,
            joint=joint,
            iterations=iterations,
            gap=gap,
            progress=progress,
        )
    from noisewright.cli.commands.estimate._page import estimate_page, parts_json, shares_table

    if table is not None:
        _written(shares_table(found), table)
    draw_to(picture, lambda: _drawn(found, diagnostics), table)
    document = {
        "files": reports,
        "by": by,
        **found.to_json(),
        "unnamed": mixture.unnamed,
        "parts": parts_json(mixture, [pair.file for pair in pairs], [pair.mechanism for pair in pairs]),
        "picture": None if picture is None else str(picture),
        "output": output,
    }
    emit(document, lambda: estimate_page(reports, found, mixture, picture, output), as_json)


def _drawn(found: Estimate, diagnostics: bool) -> Figure:
    from noisewright.plots.population import draw_estimate

    return draw_estimate(found, diagnostics=diagnostics)


def _of_release(
    reports: Sequence[str], column: str | None, table: Path | None, given: list[str], as_json: bool
) -> None:
    """The columns of a release, from its folder alone."""
    from noisewright.cli.commands.estimate._page import release_page
    from noisewright.core.errors import ParameterError
    from noisewright.releases.output.lock import LOCK
    from noisewright.releases.recipient.received import receive

    if len(reports) != 1 or not (Path(reports[0]) / LOCK).is_file():
        if len(reports) == 1 and Path(reports[0]).is_file() and (Path(reports[0]).parent / LOCK).is_file():
            folder = shlex.quote(str(Path(reports[0]).parent))
            raise ParameterError(
                f"{reports[0]} is in the folder of a release, which is enough: noisewright estimate {folder}"
            )
        if len(reports) == 1 and Path(reports[0]).is_dir():
            raise ParameterError(
                f"{reports[0]} is no folder of a release, and reports of a mechanism need --mechanism FILE."
            )
        raise ParameterError("missing option '--mechanism'; noisewright estimate --help says what to give.")
    if given:
        raise ParameterError(f"{given[0]} is for reports of a mechanism, not for a release; leave it out.")
    with working("estimating"):
        received = receive(reports[0])
        found = received.estimates() if column is None else _columns_of(received, column)
    if table is not None:
        import pyarrow as pa

        _written(pa.concat_tables([one.table() for one in found]), table)
    document = {
        "folder": reports[0],
        "dataset": received.policy.dataset,
        "rows": received.rows,
        "columns": [one.to_json() for one in found],
        "output": None if table is None else str(table),
    }
    emit(document, lambda: release_page(reports[0], received, found, table), as_json)


def _columns_of(received: Received, column: str) -> list[ColumnEstimate]:
    """The estimates of one column, or of several with commas between them; of those that form one secret once."""
    known = received.columns
    whole = column in known or column in {",".join(one.outputs) for one in received.policy.columns}
    names = [column] if whole else [name if name in known else name.strip() for name in column.split(",")]
    return list({one.names: one for one in map(received.estimate, names)}.values())


def _written(table: Any, path: Path) -> None:
    """A table of shares as CSV, whole or not at all."""
    import io

    from noisewright.files.atomic import write_atomically
    from noisewright.releases.output.written_answers import write_cells

    text = io.StringIO(newline="")
    write_cells(table, text)
    write_atomically(path, text.getvalue().encode())


@dataclass(frozen=True)
class _Pair:
    """Source of some of the reports: all those of a table, or those that a column calls by a name."""

    name: str
    file: str | None
    mechanism: str


def _pairs(reports: Sequence[str], mechanisms: Sequence[str], by: str | None) -> list[_Pair]:
    from noisewright.core.errors import ParameterError

    for file in reports:
        if reports.count(file) > 1:
            raise ParameterError(
                f"{file} is given more than once; name each table once, so that its reports count once."
            )
    if by is None:
        if len(mechanisms) not in (1, len(reports)):
            raise ParameterError(
                f"--mechanism is given {len(mechanisms)} times for {len(reports)} table{'s' if len(reports) > 1 else ''}; "
                "give it once for all or once for each, in their order; if rows say which mechanism made them, add --by."
            )
        made_by = [*mechanisms] * (len(reports) if len(mechanisms) == 1 else 1)
        return [_Pair(file, file, one) for file, one in zip(reports, made_by, strict=True)]
    named = [_named(one) for one in mechanisms]
    names = [pair.name for pair in named]
    for name in names:
        if names.count(name) > 1:
            raise ParameterError(
                f"--mechanism gives the name {name!r} more than once; every name is that of one mechanism."
            )
    return named


def _named(text: str) -> _Pair:
    """``NAME=FILE``. A name or a file may have this sign itself: what comes after the right one is a file that is there."""
    from noisewright.core.errors import ParameterError

    cuts = [place for place, sign in enumerate(text) if sign == "="]
    if not cuts or text.endswith("="):
        raise ParameterError(f"with --by, --mechanism is NAME=FILE, where NAME is as in the column; not {text!r}.")
    cut = next((place for place in cuts if Path(text[place + 1 :]).is_file()), cuts[0])
    return _Pair(text[:cut], None, text[cut + 1 :])


def _mixture(pairs: Sequence[_Pair], within: Any) -> Mixture:
    from noisewright.estimation.population.mixture import Mixture
    from noisewright.files.channels import load_either

    loaded = {pair.mechanism: load_either(pair.mechanism) for pair in pairs}
    return Mixture({pair.name: loaded[pair.mechanism] for pair in pairs}, within)


def _range(text: str | None) -> Any:
    """``0:100``, or two such ranges for places."""
    from noisewright.core.errors import ParameterError

    if text is None:
        return None
    found = [re.fullmatch(r"\s*(-?\d{1,16}):(-?\d{1,16})\s*", part, re.ASCII) for part in text.split(",")]
    ends = [(int(one[1]), int(one[2])) for one in found if one is not None]
    if len(ends) < len(found) or len(ends) > 2:
        raise ParameterError(f"--within is LOW:HIGH, or LOW:HIGH,LOW:HIGH for places, not {text!r}.")
    return ends[0] if len(ends) == 1 else tuple(ends)


COMMAND = Command(estimate)
