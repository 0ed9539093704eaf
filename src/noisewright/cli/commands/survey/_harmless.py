"""``noisewright survey --harmless NAME``: who has the harmless answer draws one at random, all others tell the truth.

It is not private, and every page of it states so.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

from noisewright.cli.shared.output import block, emit, facts, heading, label, printable, working
from noisewright.cli.shared.targets import target_file

if TYPE_CHECKING:
    from rich.console import RenderableType

    from noisewright.estimation.survey.mangat import SuperMangat

__all__ = ["harmless_page"]

NOT_PRIVATE = (
    "no epsilon holds: a sensitive answer comes from somebody it is true of or from somebody harmless, from nobody else"
)
FORMAT = "noisewright-harmless-survey"


def harmless_page(
    *,
    harmless: str,
    categories: list[Hashable],
    respondents: int | None,
    counts: str | None,
    confidence: str,
    output: str | None,
    as_json: bool,
) -> None:
    """Plan such a survey, or estimate from the counted answers; ``categories`` and ``counts`` have the user's order."""
    from noisewright.core.errors import ParameterError
    from noisewright.estimation.survey.mangat import SuperMangat
    from noisewright.estimation.survey.margins import as_confidence
    from noisewright.files.channels import save

    spelled = {str(name): name for name in categories}
    if harmless not in spelled:
        raise ParameterError(
            f"--harmless {harmless!r} is none of the --categories; name the answer that nobody need hide."
        )
    if (respondents is None) == (counts is None):
        raise ParameterError("give --respondents to plan the survey, or --counts to estimate from it, one of them.")
    first = spelled[harmless]
    design = SuperMangat((first, *(name for name in categories if name != first)))
    sure = as_confidence(confidence)
    target = None if output is None else target_file(output, "a channel", (".csv", ".json", ".npz"))
    with working("estimating"):
        data: dict[str, Any] = {
            "format": FORMAT,
            "version": 1,
            "harmless": harmless,
            "categories": [str(name) for name in design.categories],
            "private": False,
            "smallest_delta": design.smallest_delta,
            "confidence": sure,
        }
        data |= _planned(design, respondents, sure) if counts is None else _estimated(design, categories, counts, sure)
    if target is not None:
        save(design.channel(), target)
    data["file"] = None if target is None else str(target)
    emit(data, lambda: _page(design, data), as_json)


def _planned(design: SuperMangat, respondents: int | None, confidence: float) -> dict[str, Any]:
    from noisewright.estimation.survey.margins import margin_of_error

    assert respondents is not None
    harmless, sensitive = (margin_of_error(v, confidence) for v in design.worst_variances(respondents))
    return {"respondents": respondents, "margins": {"harmless": harmless, "sensitive": sensitive}, "estimates": None}


def _estimated(design: SuperMangat, order: list[Hashable], counts: str, confidence: float) -> dict[str, Any]:
    """Shares from counts, which are in the order in which the user named the answers."""
    from noisewright.core.errors import ParameterError
    from noisewright.estimation.survey.margins import margin_of_error

    words = counts.split(",")
    if len(words) != len(order) or not all(word.strip().isdecimal() and len(word) < 16 for word in words):
        raise ParameterError(
            f"--counts must be {len(order)} whole numbers, one for each answer in --categories, such as 300,380,320."
        )
    by_name = {name: int(word) for name, word in zip(order, words, strict=True)}
    given = [by_name[name] for name in design.categories]
    shares, likeliest = design.estimate(given), design.likeliest(given)
    # One answer more of each kind, or counts of 0 would make the estimate look certain.
    spread = design.covariance(_to_one(design.likeliest([n + 1 for n in given])), sum(given)).diagonal()
    rows = []
    for name, share, likely, variance in zip(design.categories, shares, likeliest, spread, strict=True):
        off = margin_of_error(float(variance), confidence)
        sensitive = name != design.categories[0] and float(likely) + float(likeliest[0]) > 0
        rows.append(
            {
                "answer": str(name),
                "share": float(share),
                "low": min(1.0, max(0.0, float(share) - off)),
                "high": max(0.0, min(1.0, float(share) + off)),
                "likeliest": float(likely),
                "true_of_those_who_say_it": design.violation(_to_one(likeliest), name) if sensitive else None,
            }
        )
    strange = any(row["low"] == 1 or row["high"] == 0 for row in rows)  # no share is within its interval
    return {"respondents": sum(given), "margins": None, "estimates": rows, "strange": strange}


def _to_one(shares: Any) -> Any:
    return shares / shares.sum()


def _page(design: SuperMangat, data: dict[str, Any]) -> list[RenderableType]:
    from rich.padding import Padding

    from noisewright.core.exact import figure

    names = [label(name) for name in design.categories]
    script = (
        f'If "{names[0]}" is true of you: draw one of {len(names)} slips, one for each answer, and say what is on it.\n'
        "Otherwise: answer truthfully."
    )
    sure = f"{figure(100 * data['confidence'], 4, 'nearest')} %"
    rows = [("NOT private", NOT_PRIVATE)]
    if data.get("strange"):
        rows.append(
            ("Beware", "such counts hardly ever come from this survey; see that they are in the order of the answers")
        )
    if data["margins"] is not None:
        margins, asked = (
            data["margins"],
            f"with {data['respondents']:,} respondents, whatever the shares are ({sure}, normal)",
        )
        rows.append(("Margin", f"± {_points(margins['sensitive'])} of a sensitive answer, {asked}"))
        rows.append(("Harmless", f'± {_points(margins["harmless"])} of "{names[0]}"'))
    rows.append(
        ("Channel", f"written to {data['file']}" if data["file"] else "not written; -o FILE.csv writes it for estimate")
    )
    page: list[RenderableType] = [
        heading("survey", f'"{names[0]}" is harmless, and hides the other answers'),
        Padding(block(script), (1, 0, 1, 4)),
    ]
    if data["estimates"] is not None:
        page.append(Padding(_shares(data["estimates"], sure), (0, 0, 1, 2)))
    return [*page, facts((what, printable(text)) for what, text in rows)]


def _shares(rows: list[dict[str, Any]], sure: str) -> RenderableType:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    for title in ("answer", "share", f"{sure} interval", "likeliest", "true of those who say it"):
        table.add_column(title, justify="left" if title == "answer" else "right")
    for row in rows:
        known = row["true_of_those_who_say_it"]
        interval = f"{_points(row['low'])} to {_points(row['high'])}"
        told = "" if known is None else _points(known)
        table.add_row(label(row["answer"]), _points(row["share"]), interval, _points(row["likeliest"]), told)
    return table


def _points(share: float) -> str:
    """A share in per cent, to one decimal."""
    return f"{100 * share:.1f} %"
