"""``noisewright survey``: plan a survey on a sensitive question, with a device that people can use."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noisewright.cli.shared.commands import Command
from noisewright.cli.shared.output import AsJson, block, emit, facts, heading, printable, working
from noisewright.cli.shared.targets import draw_to, json_file, picture_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.console import RenderableType

    from noisewright.estimation.survey.plan import Survey

__all__ = ["COMMAND", "survey"]

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
    from noisewright.cli.shared.metrics import check_number
    from noisewright.core.errors import ParameterError
    from noisewright.estimation.survey import plan as home
    from noisewright.files.channels import save

    if harmless is not None:
        no_use = (epsilon, prevalence, target_margin, device, plot_file)
        if any(given is not None for given in no_use) or delta != "0" or allow_certain_disclosure or whole_population:
            raise ParameterError(
                "--harmless promises no epsilon, and goes with --categories, --respondents, --counts, --confidence and -o alone."
            )
        from noisewright.cli.commands.survey._harmless import harmless_page

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
    from noisewright.cli.shared.parameters import read_labels

    if text is None:
        return 2
    if text.strip().isdecimal() and text.isascii() and len(text.strip()) < 10:
        return int(text)
    return read_labels(text, "categories")


def _drawn(plan: Survey) -> Figure:
    from noisewright.plots.survey import draw_survey

    return draw_survey(plan)


def _page(plan: Survey, data: dict[str, Any], target: Path | None, picture: Path | None) -> list[RenderableType]:
    from rich.padding import Padding

    from noisewright.core.exact import numeral

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
