"""``noisewright verify``: prove certificates again, or hand out the program that does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noisewright.cli.certificates import claimed, distances_in_words, prove
from noisewright.cli.output import AsJson, emit, facts, heading, plural, printable, working

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["verify"]

PROOFS = {
    "table": "every entry of its table",
    "response": "both of its probabilities",
    "law": "the law of its noise",
    "planar": "the law of its noise in the plane",
    "ranged": "the law of its outputs within their range",
    "half line": "the law of its outputs on a half line",
    "constant": "an output that never depends on the secret",
}


def verify(
    files: Annotated[list[str] | None, typer.Argument(metavar="FILE", help="Certificates (.json).")] = None,
    export_checker: Annotated[
        str | None,
        typer.Option(
            metavar="PATH", help="Write the stand-alone checker there: one file that runs with any Python 3.9 or later."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Prove certificates again, with integers alone.

    Ends with code 0 only when every file is proved. Nothing in a file is believed but its claim and its integers.
    """
    from noisewright.core.errors import ParameterError

    if not files and export_checker is None:
        raise ParameterError("name at least one certificate to verify, or a file for --export-checker.")
    contents = [(path, _read(path)) for path in files or []]
    if export_checker is not None:
        _export(export_checker)
    with working("proving"):
        results = [_check(path, content) for path, content in contents]
    proved = all(result["proved"] for result in results)
    emit(
        {"proved": proved, "files": results, "checker": export_checker},
        lambda: _page(results, export_checker),
        as_json,
    )
    if not proved:
        raise typer.Exit(1)


def _read(path: str) -> bytes:
    from noisewright.core.errors import FileFormatError

    try:
        return Path(path).read_bytes()
    except FileNotFoundError:
        raise FileFormatError(f"there is no file {path}.") from None
    except (OSError, ValueError) as problem:
        raise FileFormatError(f"{path} cannot be read: {getattr(problem, 'strerror', problem)}.") from None


def _check(path: str, content: bytes) -> dict[str, Any]:
    from noisewright.core import checker

    result: dict[str, Any] = {"file": path, "proved": False, "claim": None, "reason": None}
    try:
        document = checker.read(content.decode())
    except (ValueError, RecursionError):
        return {**result, "reason": "this is not JSON, or it was cut short."}
    claim, reason = prove(document)
    if claim is None:
        return {**result, "reason": reason}
    return {
        **result,
        "proved": True,
        "claim": claim,
        "reading": claimed(document).reading(),
        "mechanism": document.get("mechanism"),
        "epsilon": str(document["claim"]["epsilon"]),
        "delta": str(document["claim"]["delta"]),
        "metric": str(document["claim"]["metric"]),
        "distances": distances_in_words(document),
        "proof": document["proof"]["kind"],
        "randomness": document.get("randomness"),
    }


def _export(path: str) -> None:
    from noisewright.core import checker
    from noisewright.core.errors import ParameterError
    from noisewright.files import write_atomically

    if Path(path).suffix != ".py":
        raise ParameterError(f"{path}: the checker is a Python program, so give it a name that ends in .py.")
    write_atomically(path, Path(checker.__file__).read_bytes())


def _page(results: list[dict[str, Any]], checker: str | None) -> list[RenderableType]:
    from rich.text import Text

    parts: list[RenderableType] = []
    for result in results:
        if result["proved"]:
            parts.append(heading(result["file"], "proved", "bold green"))
            rows = [
                ("Claim", result["claim"]),
                ("Distances", result["distances"]),
                ("In words", result["reading"]),
                (
                    "Mechanism",
                    f"{result['mechanism']}; the proof covers {PROOFS.get(result['proof'], result['proof'])}",
                ),
                ("Random bits", f"{result['randomness']} (as stated)"),
            ]
        else:
            parts.append(heading(result["file"], "NOT PROVED", "bold red"))
            rows = [("Reason", result["reason"])]
        parts.append(facts((what, printable(value)) for what, value in rows))
    if len(results) > 1:
        parts.append(Text(f"{sum(r['proved'] for r in results)} of {plural(len(results), 'certificate')} proved."))
    if checker is not None:
        parts.append(
            Text(f"The checker was written to {printable(checker)}; run it as: python {printable(checker)} FILE...")
        )
    return parts
