"""``noisewright estimate``: the population behind private reports, with a certificate of how good the fit is."""

from __future__ import annotations

import re
import shlex
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from noisewright._utils.validation import printable
from noisewright.cli.app import Command
from noisewright.cli.arguments import TABLES, draw_to, picture_file, target_file
from noisewright.render.claims import short
from noisewright.render.text import LABEL_LENGTH, AsJson, counting, emit, facts, heading, label, plural, working

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from matplotlib.figure import Figure
    from numpy.typing import NDArray
    from rich.console import RenderableType
    from rich.table import Table

    from noisewright.estimation.mixture import Mixture
    from noisewright.estimation.result import Estimate
    from noisewright.releases.column_estimates import ColumnEstimate
    from noisewright.releases.received import Received

__all__ = ["COMMAND", "estimate", "estimate_page", "parts_json", "release_page", "shares_table"]


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
    from noisewright._utils.validation import one_of
    from noisewright.estimation.estimate import METHODS
    from noisewright.exceptions import ParameterError

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
    from noisewright.engines.report_counts import count_into

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
    from noisewright.plotting.estimates import draw_estimate

    return draw_estimate(found, diagnostics=diagnostics)


def _of_release(
    reports: Sequence[str], column: str | None, table: Path | None, given: list[str], as_json: bool
) -> None:
    """The columns of a release, from its folder alone."""
    from noisewright.exceptions import ParameterError
    from noisewright.releases.lock import LOCK
    from noisewright.releases.received import receive

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

    from noisewright.io.atomic import write_atomically
    from noisewright.releases.folder import write_cells

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
    from noisewright.exceptions import ParameterError

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
    from noisewright.exceptions import ParameterError

    cuts = [place for place, sign in enumerate(text) if sign == "="]
    if not cuts or text.endswith("="):
        raise ParameterError(f"with --by, --mechanism is NAME=FILE, where NAME is as in the column; not {text!r}.")
    cut = next((place for place in cuts if Path(text[place + 1 :]).is_file()), cuts[0])
    return _Pair(text[:cut], None, text[cut + 1 :])


def _mixture(pairs: Sequence[_Pair], within: Any) -> Mixture:
    from noisewright.estimation.mixture import Mixture
    from noisewright.io.serialization import load_either

    loaded = {pair.mechanism: load_either(pair.mechanism) for pair in pairs}
    return Mixture({pair.name: loaded[pair.mechanism] for pair in pairs}, within)


def _range(text: str | None) -> Any:
    """``0:100``, or two such ranges for places."""
    from noisewright.exceptions import ParameterError

    if text is None:
        return None
    found = [re.fullmatch(r"\s*(-?\d{1,16}):(-?\d{1,16})\s*", part, re.ASCII) for part in text.split(",")]
    ends = [(int(one[1]), int(one[2])) for one in found if one is not None]
    if len(ends) < len(found) or len(ends) > 2:
        raise ParameterError(f"--within is LOW:HIGH, or LOW:HIGH,LOW:HIGH for places, not {text!r}.")
    return ends[0] if len(ends) == 1 else tuple(ends)


COMMAND = Command(estimate)


# Page ---------------------------------------------------------------------------------------------------------------------
#
# Output of ``noisewright estimate``: whose reports were counted, the shares, and how good they are.


MOST_SHOWN = 20
"""Secrets in the table of shares."""
MOST_NAMED = 3
"""Tables that the heading names."""

HOW = {
    "mle": "a most likely population",
    "ibu": "iterative Bayesian update",
    "inversion": "unbiased estimate, projected",
}


def parts_json(mixture: Mixture, files: Sequence[str | None], mechanisms: Sequence[str]) -> list[dict[str, Any]]:
    """Each mechanism's reports and guarantee as plain data; a part is a table, or a name in the column of ``--by``."""
    return [
        {
            "name": None if file is not None else part.name,
            "file": file,
            "mechanism": part.maker.name,
            "mechanism_file": mechanism,
            "promise": part.promise,
            "reports": part.reports,
            "dropped": part.dropped,
        }
        for part, file, mechanism in zip(mixture.parts, files, mechanisms, strict=True)
    ]


def estimate_page(
    files: Sequence[str], found: Estimate, mixture: Mixture, picture: Path | None, output: str | None = None
) -> Iterator[RenderableType]:
    """The page for a person."""
    from rich.text import Text

    name = ", ".join(files) if len(files) <= MOST_NAMED else f"{len(files)} tables"
    yield heading(name, f"{found.reports:,} reports of {found.mechanism}, {plural(len(found.secrets), 'secret')}")
    if len(mixture.parts) > 1:
        yield _whose(mixture)
        yield Text("")
    yield from _shares(found)
    steps = f", {plural(found.iterations, 'step')}" if found.iterations else ""
    rows = [("Method", f"{HOW[found.method]}{steps}"), ("Likelihood", found.certificate())]
    if found.intervals:
        rows.append(("Intervals", f"{found.intervals}, {found.scope}"))
    rows += [("Left out", words) for words in _left_out(found, mixture)]
    if found.promise:
        rows.append(("Privacy", _privacy(found, mixture)))
    if picture is not None:
        rows.append(("Picture", f"drawn to {picture}"))
    if output is not None:
        rows.append(("Table", f"written to {output}"))
    yield facts((what, printable(value)) for what, value in rows)
    for warning in found.warnings:
        yield Text(f"note: {printable(warning)}", style="yellow")


def release_page(
    folder: str, received: Received, found: Sequence[ColumnEstimate], output: Path | None
) -> Iterator[RenderableType]:
    """The columns of a release, one after another."""
    from rich.text import Text

    from noisewright.releases.column_estimates import in_lines

    yield heading(
        folder, f"the table before, estimated from {received.rows or 0:,} released rows; 95 % intervals in brackets"
    )
    for one in found:
        for place, line in enumerate(in_lines(one)):
            yield Text(f"  {printable(line)}", style="" if place else "bold")
    if output is not None:
        count = sum(len(one.shares) for one in found)
        yield Text(f"  {plural(count, 'share')} written to {output}")


def shares_table(found: Estimate) -> pa.Table:
    """All shares as a table, in the order of the page; the parts of a place have columns of their own."""
    import pyarrow as pa

    order = _order(found)
    secrets = [found.secrets[int(i)] for i in order]
    parts = [secret if isinstance(secret, tuple) else (secret,) for secret in secrets]
    names = ["secret"] if len(parts[0]) == 1 else [f"secret {place + 1}" for place in range(len(parts[0]))]
    own: dict[str, Any] = {name: [_cell(part[place]) for part in parts] for place, name in enumerate(names)}
    own |= {"share": found.probabilities[order], "people": found.counts[order]}
    for name, values in (("unbiased", found.unbiased), ("low", found.low), ("high", found.high)):
        if values is not None:
            own[name] = values[order]
    return pa.table(own)


def _cell(value: Hashable) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _order(found: Estimate) -> NDArray[np.int64]:
    """Numbers and places in their own order, so that neighbours are neighbours; everything else by share."""
    import numpy as np

    first = found.secrets[0]
    parts = first if isinstance(first, tuple) else (first,)
    if all(isinstance(part, (int, float)) and not isinstance(part, bool) for part in parts):
        return np.arange(len(found.secrets))
    return np.argsort(-found.probabilities, kind="stable")


def _whose(mixture: Mixture) -> Table:
    """Whose reports are whose, and the guarantee to those who gave them."""
    from rich.text import Text

    table = _table(("Reports of", "Mechanism", "Number", "Promise of each report"), right=("Number",))
    for part in mixture.parts:
        promise = short(part.promise) if part.promise else "none is known"
        cells = (label(part.name), part.maker.name, f"{part.reports:,}", promise)
        table.add_row(*(Text(printable(cell)) for cell in cells))
    return table


def _shares(found: Estimate) -> Iterable[RenderableType]:
    import numpy as np
    from rich.text import Text

    unbiased = ["Unbiased"] if found.unbiased is not None else []
    interval = [f"{found.confidence_in_words} interval"] if found.low is not None else []
    numbers = ("Share", "People", *unbiased, *interval)
    table = _table(("Secret", *numbers), right=numbers)
    largest = set(np.argsort(-found.probabilities, kind="stable")[:MOST_SHOWN].tolist())
    shown = [int(i) for i in _order(found) if int(i) in largest]
    for i in shown:
        cells = [_secret(found.secrets[int(i)]), f"{found.probabilities[i]:.4f}", f"{found.counts[i]:,.0f}"]
        if found.unbiased is not None:
            cells.append(f"{found.unbiased[i]:.4f}")
        if found.low is not None and found.high is not None:
            cells.append(f"{found.low[i]:.4f} to {found.high[i]:.4f}")
        table.add_row(*cells)
    yield table
    rest = len(found.secrets) - len(shown)
    if rest:
        share = max(1 - float(found.probabilities[shown].sum()), 0.0)
        yield Text(f"  and {plural(rest, 'more secret')}, with {share:.4f} together (-o FILE.csv writes all)")


def _secret(value: Hashable) -> str:
    """A name that fits in the table; text is given apart by its end too."""
    from noisewright.estimation.result import short_name

    return short_name(value, LABEL_LENGTH) if isinstance(value, str) else label(value)


def _left_out(found: Estimate, mixture: Mixture) -> Iterator[str]:
    outside = found.dropped - mixture.unnamed
    if outside:
        what = "report that is no output" if outside == 1 else "reports that are no outputs"
        yield f"{outside:,} {what} of {'the' if len(mixture.parts) == 1 else 'their'} mechanism"
    if mixture.unnamed:
        yield f"{mixture.unnamed:,} row{'s that name' if mixture.unnamed > 1 else ' that names'} none of the mechanisms"


def _privacy(found: Estimate, mixture: Mixture) -> str:
    """A mixture guarantees no one the best of its mechanisms: each report has the guarantee of its own."""
    if len({part.promise for part in mixture.parts if part.rows}) == 1:
        promise = f"of each report: {short(found.promise or '')}"
    else:
        promise = "of each report: that of its own mechanism, as listed"
    several = "; several reports of one person add up" if len(mixture.parts) > 1 else ""
    return f"{promise}{several}; estimation does not change it"


def _table(titles: Sequence[str], right: Sequence[str]) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for title in titles:
        table.add_column(title, justify="right" if title in right else "left")
    return table
