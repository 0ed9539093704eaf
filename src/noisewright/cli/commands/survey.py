"""``noisewright survey``: plan a survey on a sensitive question, with a device that people can use."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noisewright._utils.validation import printable
from noisewright.cli.app import Command
from noisewright.cli.arguments import draw_to, json_file, picture_file, target_file
from noisewright.render.text import AsJson, block, emit, facts, heading, label, working

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.console import RenderableType

    from noisewright.surveys.categorical import SuperMangat
    from noisewright.surveys.planning import Survey

__all__ = ["COMMAND", "harmless_page", "survey"]


FORMAT = "noisewright-survey"


def survey(
    epsilon: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER",
            help="The allowed loss of privacy of an answer. Exact: 0.1 or 1/3.",
            show_default=False,
        ),
    ] = None,
    delta: Annotated[
        str, typer.Option(metavar="NUMBER", help="The extra probability beside epsilon, from 0 to below 1.")
    ] = "0",
    respondents: Annotated[
        int | None, typer.Option(metavar="COUNT", help="How many people are asked.", show_default=False)
    ] = None,
    prevalence: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE",
            help="A guess at the share of the sensitive answer; only accuracy depends on it. Default: the worst.",
        ),
    ] = None,
    target_margin: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE", help="The margin of error wanted, such as 0.03; says how many respondents it needs."
        ),
    ] = None,
    categories: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,...|COUNT",
            help="The possible answers, or how many; the last of two is the sensitive one. Default: no,yes.",
        ),
    ] = None,
    confidence: Annotated[str, typer.Option(metavar="SHARE", help="How sure the margin of error must be.")] = "0.95",
    device: Annotated[
        str | None,
        typer.Option(metavar="coins|dice|cards|spinner", help="Use only these. Default: the handiest good enough."),
    ] = None,
    allow_certain_disclosure: Annotated[
        bool,
        typer.Option(
            "--allow-certain-disclosure",
            metavar="",
            help="Let an answer give the truth away for certain to a share of people of at most delta.",
        ),
    ] = False,
    whole_population: Annotated[
        bool,
        typer.Option("--whole-population", metavar="", help="Everybody is asked, so no error comes from sampling."),
    ] = False,
    harmless: Annotated[
        str | None,
        typer.Option(
            metavar="ANSWER",
            help="In place of --epsilon: who has this answer draws one at random, all others tell the truth. NOT private.",
        ),
    ] = None,
    counts: Annotated[
        str | None,
        typer.Option(
            metavar="N,N,...", help="With --harmless: how often each of the categories was answered; estimates."
        ),
    ] = None,
    output_file: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE.json",
            help="Write the device's certificate there; with --harmless its channel.",
        ),
    ] = None,
    plot_file: Annotated[
        str | None, typer.Option("--plot", metavar="FILE.png", help="Draw the device, its place and its margins there.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Plan a survey on a sensitive question: coins, dice, cards or a spinner, with the promise proved and the error known."""
    from noisewright.cli.arguments import check_number
    from noisewright.exceptions import ParameterError
    from noisewright.io.serialization import save
    from noisewright.surveys import planning as home

    if harmless is not None:
        no_use = (epsilon, prevalence, target_margin, device, plot_file)
        if any(given is not None for given in no_use) or delta != "0" or allow_certain_disclosure or whole_population:
            raise ParameterError(
                "--harmless promises no epsilon, and goes with --categories, --respondents, --counts, --confidence and -o alone."
            )
        answers = _answers(categories)
        if isinstance(answers, int):
            raise ParameterError("--harmless needs the answers by name, such as --categories none,cannabis,opioids.")
        harmless_page(
            harmless=harmless,
            categories=list(answers),
            respondents=respondents,
            counts=counts,
            confidence=check_number(confidence, "confidence"),
            output=output_file,
            as_json=as_json,
        )
        return
    if epsilon is None:
        raise ParameterError("missing option '--epsilon'; noisewright survey --help says what to give.")
    if counts is not None:
        raise ParameterError(
            "--counts goes with --harmless; for other devices noisewright estimate counts the answers."
        )
    target = json_file(output_file)
    picture = picture_file(plot_file)
    with working("planning"):
        plan = home.survey(
            epsilon=check_number(epsilon, "epsilon"),
            delta=check_number(delta, "delta"),
            respondents=respondents,
            prevalence=None if prevalence is None else check_number(prevalence, "prevalence"),
            target_margin=None if target_margin is None else check_number(target_margin, "the target margin"),
            categories=_answers(categories),
            confidence=check_number(confidence, "confidence"),
            device=device,  # type: ignore[arg-type]
            allow_certain_disclosure=allow_certain_disclosure,
            whole_population=whole_population,
        )
        data: dict[str, Any] = {"format": FORMAT, "version": 1, **plan.to_json()}
        data["proved"] = plan.certificate().verify()
        if target is not None:
            save(plan.certificate(), target)
        draw_to(picture, lambda: _drawn(plan), target)
    data |= {"file": None if target is None else str(target), "plot": None if picture is None else str(picture)}
    emit(data, lambda: _page(plan, data, target, picture), as_json)


def _answers(text: str | None) -> Sequence[Hashable] | int:
    from noisewright.cli.parameters import read_labels

    if text is None:
        return 2
    if text.strip().isdecimal() and text.isascii() and len(text.strip()) < 10:
        return int(text)
    return read_labels(text, "categories")


def _drawn(plan: Survey) -> Figure:
    from noisewright.plotting.estimates import draw_survey

    return draw_survey(plan)


def _page(plan: Survey, data: dict[str, Any], target: Path | None, picture: Path | None) -> list[RenderableType]:
    from rich.padding import Padding

    from noisewright.claims.figures import numeral

    at = "at the worst prevalence" if plan.prevalence is None else f"at prevalence {numeral(plan.prevalence)}"
    more = f"{100 * plan.loss:.3g} % more respondents than the {plan.ideal_name}, for the same margin"
    loss = f"{more if math.isfinite(plan.loss) else f'the {plan.ideal_name} would leave no error'}; {plan.why}"
    rows = [
        ("Promise", f"{plan.guarantee.reading()}; proved in whole numbers"),
        ("It means", plan.guarantee.in_words()),
        (
            "Margin",
            f"± {plan.margin:.4f} with {plan.respondents:,} respondents, {at} ({numeral(100 * plan.confidence)} %, normal)",
        ),
        ("At worst", f"± {plan.safe_margin:.4f} whatever the prevalence, without approximation (Chebyshev)"),
        ("Costs", loss),
    ]
    if plan.target_margin is not None:
        needs = f"{plan.needed:,} respondents for a margin of {numeral(plan.target_margin)}"
        rows.insert(4, ("Needs", needs))
    if plan.margin >= 0.5:
        rows.append(("Beware", "so few respondents tell next to nothing; ask more, or allow a larger epsilon"))
    if data["device"]["gives_truths_away"]:
        rows.append(("Beware", "some answers give the truth away for certain, as was allowed"))
    rows.append(("Certificate", f"written to {target}" if target else "not written; -o FILE.json writes it"))
    if picture is not None:
        rows.append(("Picture", f"written to {picture}"))
    script = block(plan.device.instruction())
    return [
        heading("survey", f"use {plan.device.instrument.name}"),
        Padding(script, (1, 0, 1, 4)),
        facts((what, printable(value)) for what, value in rows),
        Padding(plan.__rich__(), (1, 0, 0, 2)),
    ]


COMMAND = Command(survey)


# Harmless -----------------------------------------------------------------------------------------------------------------
#
# ``noisewright survey --harmless NAME``: who has the harmless answer draws one at random, all others tell the truth.
#
# It is not private, and every page of it states so.


NOT_PRIVATE = (
    "no epsilon holds: a sensitive answer comes from somebody it is true of or from somebody harmless, from nobody else"
)
HARMLESS_FORMAT = "noisewright-harmless-survey"


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
    from noisewright.exceptions import ParameterError
    from noisewright.io.serialization import save
    from noisewright.numerics.exact import as_confidence
    from noisewright.surveys.categorical import SuperMangat

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
            "format": HARMLESS_FORMAT,
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
    emit(data, lambda: _harmless_page(design, data), as_json)


def _planned(design: SuperMangat, respondents: int | None, confidence: float) -> dict[str, Any]:
    from noisewright.surveys.planning import margin_of_error

    assert respondents is not None
    harmless, sensitive = (margin_of_error(v, confidence) for v in design.worst_variances(respondents))
    return {"respondents": respondents, "margins": {"harmless": harmless, "sensitive": sensitive}, "estimates": None}


def _estimated(design: SuperMangat, order: list[Hashable], counts: str, confidence: float) -> dict[str, Any]:
    """Shares from counts, which are in the order in which the user named the answers."""
    from noisewright.exceptions import ParameterError
    from noisewright.surveys.planning import margin_of_error

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


def _harmless_page(design: SuperMangat, data: dict[str, Any]) -> list[RenderableType]:
    from rich.padding import Padding

    from noisewright.claims.figures import figure

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
