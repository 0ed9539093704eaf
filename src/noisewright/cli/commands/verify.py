"""``noisewright verify``: prove certificates again, or hand out the program that does."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noisewright._utils.validation import printable
from noisewright.cli.app import Command
from noisewright.render.claims import meaning, part_pair, short
from noisewright.render.text import AsJson, emit, facts, heading, plural, working

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["COMMAND", "verify"]


def verify(
    files: Annotated[
        list[str] | None, typer.Argument(metavar="FILE", help="Certificates (.json), or folders of releases.")
    ] = None,
    export_checker: Annotated[
        str | None,
        typer.Option(
            metavar="PATH",
            help="Write the stand-alone checker there, and its five other files next to it; any Python 3.9 or later runs them.",
        ),
    ] = None,
    ledger: Annotated[
        str | None,
        typer.Option(
            metavar="LEDGER",
            help="For folders: the ledger that recorded the release. Default: this user's, if it did.",
        ),
    ] = None,
    recompute: Annotated[
        bool,
        typer.Option(
            "--recompute",
            help="Compute again what is stated about public files that are here, also where it takes longer than seconds.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Prove certificates again, with integers alone.

    Ends with code 0 only when every file is proved. Nothing in a file is believed but its claim and its integers. The files of a
    folder must also be those of one release: as its lock lists them, with the parts and prices of its policy.
    """
    from noisewright.exceptions import ParameterError
    from noisewright.releases.certificate import certificate_bytes

    if not files and export_checker is None:
        raise ParameterError("name at least one certificate to verify, or a file for --export-checker.")
    contents = [(path, certificate_bytes(path)) for path in files or []]
    if ledger is not None and not any(Path(path).is_dir() for path in files or []):
        raise ParameterError("--ledger is for folders of releases; name one.")
    written = [] if export_checker is None else _export(export_checker)
    with working("proving"):
        results = [_result(path, content, ledger, recompute) for path, content in contents]
    proved = all(result["proved"] for result in results)
    emit(
        {"proved": proved, "files": results, "checker": export_checker, "written": written},
        lambda: _page(results, written),
        as_json,
    )
    if not proved:
        raise typer.Exit(1)


def _result(path: str, content: bytes, ledger: str | None, recompute: bool) -> dict[str, Any]:
    from noisewright.ledger.database import shown
    from noisewright.releases.certificate import examined

    folder = Path(path).is_dir()
    ledger = _own_ledger(path) if folder and ledger is None else ledger
    found = examined(content, path, ledger if folder else None, recompute=recompute)
    return {
        "file": path,
        **found.to_json(),
        **({"ledger": None if ledger is None else shown(ledger)} if folder else {}),
    }


def _own_ledger(folder: str) -> str | None:
    """The ledger of this user, if it is there and sealed the lock in the folder."""
    from noisewright.exceptions import NoisewrightError
    from noisewright.ledger.ledger import Ledger
    from noisewright.releases.folder import sealed_lock

    try:
        book = Ledger(create_missing=False)
        return None if sealed_lock(Path(folder), book) is None else str(book.path)
    except (NoisewrightError, OSError):
        return None


def _export(path: str) -> list[str]:
    """Write all files of the checker, or none; the others have fixed names, by which the first finds them."""
    from noisewright.certificates.checker import (
        checker,
        checker_noise,
        checker_release,
        checker_version1,
        checker_words,
    )
    from noisewright.claims import phrases
    from noisewright.exceptions import ParameterError
    from noisewright.io.atomic import write_atomically

    main = Path(path)
    if main.suffix != ".py":
        raise ParameterError(f"{path}: the checker is a Python program, so give it a name that ends in .py.")
    others = {
        checker.SECOND_FILE: checker_noise,
        checker.RELEASE_FILE: checker_release,
        checker.WORDS_FILE: checker_words,
        checker.EARLIER_FILE: checker_version1,
        checker.PHRASES_FILE: phrases,
    }
    if main.name in others:
        raise ParameterError(f"{path}: a file beside the checker has this name; give the checker another one.")
    modules = {**others, main.name: checker}
    contents = {main.with_name(name): Path(str(module.__file__)).read_bytes() for name, module in modules.items()}
    missing = [target for target, content in contents.items() if not _is_there(target, content)]
    try:
        for target in missing:
            write_atomically(target, contents[target])
    except BaseException:  # all or none; the last one may be there although it was interrupted
        from noisewright._utils.inputs import read_input

        for target in missing:
            with contextlib.suppress(OSError):
                if read_input(target) == contents[target]:
                    target.unlink()
        raise
    *beside, first = map(str, contents)
    return [first, *beside]


def _is_there(target: Path, content: bytes) -> bool:
    """Return whether a file of this content is there already; another file is never overwritten."""
    from noisewright._utils.inputs import read_input
    from noisewright.exceptions import ParameterError

    try:
        if read_input(target, len(content)) == content:
            return True
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return False  # writing it reports the problem with the place
    except OSError:
        pass
    raise ParameterError(f"{target} is there already and is another file; move it away, or choose another place.")


def _page(results: list[dict[str, Any]], written: list[str]) -> list[RenderableType]:
    from rich.text import Text

    from noisewright.mechanisms.registry import PROOFS

    parts: list[RenderableType] = []
    for result in results:
        if "parts" in result:
            parts += _release_page(result)
            continue
        if result["proved"]:
            parts.append(heading(result["file"], "proved", "bold green"))
            rows = [
                ("Claim", short(result["claim"])),
                ("Distances", result["distances"]),
                ("In words", meaning(result["claim"], result["reading"])),
                (
                    "Mechanism",
                    f"{_stated(result['mechanism'])}; the proof covers {PROOFS[result['proof']].covers}",
                ),
                ("Random bits", f"{_stated(result['randomness'])} (as stated)"),
            ]
        else:
            parts.append(heading(result["file"], "NOT PROVED", "bold red"))
            rows = [("Reason", result["reason"])]
        parts.append(facts((what, printable(value)) for what, value in rows + _folder_rows(result)))
    if len(results) > 1:
        parts.append(Text(f"{sum(r['proved'] for r in results)} of {plural(len(results), 'certificate')} proved."))
    if written:
        main, *beside = map(printable, written)
        places = f"{', '.join([main, *beside[:-1]])} and {beside[-1]}"
        parts.append(Text(f"The checker was written to {places}; run it as: python {main} FILE..."))
    return parts


def _release_page(result: dict[str, Any]) -> list[RenderableType]:
    """Print the findings for the certificate of a release: the whole first, then part by part."""
    from fractions import Fraction

    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    from noisewright.claims.phrases import up

    if result.get("problems"):
        verdict = heading(result["file"], "NOT the files of one release", "bold red")
    elif result["proved"]:
        verdict = heading(result["file"], f"release, proved in {_all_parts(len(result['parts']))}", "bold green")
    elif not result["parts"]:
        verdict = heading(result["file"], "release, nothing is claimed, so nothing is proved", "bold red")
    else:
        verdict = heading(result["file"], "release, NOT PROVED in every part", "bold red")
    rows = [] if result["claim"] is None else [("Claim", result["claim"])]
    rows += result["limits"]
    if result["reason"]:
        rows.append(("Reason", result["reason"]))
    rows.append(("Random bits", f"{_stated(result['randomness'])} (as stated)"))
    rows += _folder_rows(result)
    page = [verdict, facts((what, printable(value)) for what, value in rows)]
    if not result["parts"]:
        return page
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="bold")
    for name in ("Part", "Epsilon", "Between", "Verdict"):
        table.add_column(name, overflow="fold", justify="right" if name == "Epsilon" else "left")
    stated = result["record"]
    for part, record in zip(result["parts"], stated["parts"], strict=True):
        price = up(part["price"]) + (f", delta {up(part['delta'])}" if Fraction(part["delta"]) else "")
        said = Text("proved", "green") if part["proved"] else Text("NOT proved: floating", "red")
        between = part_pair(record, stated["neighbours"])
        table.add_row(Text(printable(part["title"])), Text(price), Text(printable(between)), said)
    return [*page, Padding(table, (1, 0, 0, 2))]


def _all_parts(count: int) -> str:
    return "its only part" if count == 1 else f"all {count:,} parts"


def _stated(words: str) -> str:
    """Words of a file as they are where the program writes them so; any others in quotation marks, as they prove nothing."""
    from noisewright.certificates.checker.checker import RELEASED, SIMULATED
    from noisewright.claims.phrases import quoted
    from noisewright.mechanisms.registry import registry

    return words if words in (RELEASED, SIMULATED) or words in registry else quoted(words)


def _folder_rows(result: dict[str, Any]) -> list[tuple[str, str]]:
    public = [("Agrees", what) for what in result.get("here", [])]
    public += [("Not checked", what) for what in result.get("unchecked", [])]
    if "agreed" not in result:
        return public
    rows = [("Wrong", problem) for problem in result["problems"]] + [("Agrees", what) for what in result["agreed"]]
    rows += public
    if result["ledger"] is None:
        rows.append(("Not checked", "that a ledger recorded this release; --ledger FILE does that"))
    return rows


COMMAND = Command(verify)
