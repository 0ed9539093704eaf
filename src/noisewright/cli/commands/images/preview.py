"""``noisewright images preview``: one photograph at several epsilons, side by side, with numbers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noisewright.cli.commands.images._options import (
    Attributes,
    Block,
    Blur,
    Components,
    DrawUnlike,
    Levels,
    Mask,
    MethodName,
    Model,
    Pixels,
    Quality,
    Regions,
    Resize,
    Sampler,
    Window,
    in_options,
    method_of,
    model_of,
    model_rows,
)
from noisewright.cli.commands.images._where import Margin, Outline, Smallest, Sure, WhereName, in_places
from noisewright.cli.shared.commands import Command
from noisewright.cli.shared.output import AsJson, emit, facts, heading, working
from noisewright.cli.shared.targets import Replace, target_file

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["COMMAND", "preview"]


def preview(
    picture: Annotated[str, typer.Argument(metavar="PICTURE", help="A photograph.")],
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE.png", help="Where the strip is written.")],
    epsilon: Annotated[str, typer.Option(metavar="E,E,...", help="The epsilons to try.")] = "10,100,1000,10000",
    method: MethodName = "windows",
    model: Model = None,
    components: Components = None,
    attribute: Attributes = None,
    resize: Resize = False,
    draw_unlike: DrawUnlike = False,
    block: Block = None,
    blur: Blur = 0.0,
    region: Regions = None,
    mask: Mask = None,
    pixels: Pixels = None,
    quality: Quality = None,
    levels: Levels = None,
    window: Window = None,
    sampler: Sampler = None,
    where: WhereName = "whole",
    smallest: Smallest = 32.0,
    sure: Sure = 0.5,
    margin: Margin = 1.0,
    outline: Outline = False,
    replace: Replace = False,
    as_json: AsJson = False,
) -> None:
    """Draw one photograph at several epsilons: a strip with the original first, and how alike each of the others is to it.

    The strip and the numbers are for the owner of the photograph; each picture in it costs its epsilon to whom it is shown.
    """
    from noisewright.claims.phrases import measured_parts
    from noisewright.files.atomic import write_atomically
    from noisewright.images.pictures.reading import read_picture
    from noisewright.images.pictures.resizing import recoloured, resized
    from noisewright.images.pictures.similarity import mse, ssim
    from noisewright.images.pictures.strips import strip
    from noisewright.images.pictures.writing import png_of

    target = target_file(output, "a strip", (".png",), replace=replace)
    options: dict[str, Any] = {"block": block, "blur": blur, "pixels": pixels, "region": region, "mask": mask}
    options |= {"quality": quality, "levels": levels, "window": window, "sampler": sampler}
    options |= {"model": model, "components": components, "attribute": attribute, "resize": resize}
    options["draw_unlike"] = draw_unlike
    found: dict[str, Any] = {"smallest": smallest, "sure": sure, "margin": margin, "outline": outline}
    made = {word.strip(): method_of(method, word.strip(), **options) for word in epsilon.split(",")}
    methods = {word: in_places(one, where, [Path(picture)], **found) for word, one in made.items()}
    original = read_picture(picture)
    with working("drawing"):
        results = {word: one.drawn(original) for word, one in methods.items()}
    drawn, places = {word: picture for word, (picture, _) in results.items()}, max(many for _, many in results.values())
    height, width, channels = next(iter(drawn.values())).shape
    promised = {word: one.promise(height, width, channels, max(places, 1)) for word, one in methods.items()}
    original = resized(recoloured(original, channels), height, width)  # a face comes out in the size of its model
    large = min(height, width) > 10
    tried: list[dict[str, Any]] = [
        {
            "epsilon": word,
            "guarantee": str(promised[word].guarantee) if places else None,
            "ssim": ssim(original, found) if large else None,
            "mse": mse(original, found),
            "measured": measured_parts(promised[word].measured),
        }
        for word, found in drawn.items()
    ]
    write_atomically(
        target, png_of(strip([("original", original), *((f"epsilon {word}", found) for word, found in drawn.items())]))
    )
    model_used = model_of(next(iter(made.values())))
    data: dict[str, Any] = {"strip": output, "method": method, "model": model_used}
    data |= {"width": original.shape[1], "height": original.shape[0], "tried": tried}

    def shown() -> list[RenderableType]:
        rows = [
            (
                f"epsilon {one['epsilon']}",
                "; ".join([*_alike(one), promised[one["epsilon"]].guarantee.reading(), *one["measured"]]),
            )
            for one in tried
        ]
        note = ("strip", f"{output}, which shows the original: do not pass it on")
        rows += [*model_rows(model_used), note]
        return [heading(picture, f"{original.shape[1]} x {original.shape[0]} pixels, {method}"), facts(rows)]

    emit(data, shown, as_json)


def _alike(tried: dict[str, Any]) -> list[str]:
    structure = [] if tried["ssim"] is None else [f"SSIM {tried['ssim']:.3f}"]
    return [*structure, f"mean squared error {tried['mse']:,.0f}"]


COMMAND = Command(in_options(preview))
