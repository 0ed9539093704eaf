"""``noisewright images video``: the faces in a video hidden, each of them followed from frame to frame."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from noisewright.cli.commands.images._options import (
    Block,
    Blur,
    Components,
    DrawUnlike,
    Levels,
    MethodName,
    Model,
    Quality,
    Window,
    in_options,
    method_of,
    model_of,
    model_rows,
)
from noisewright.cli.commands.images._where import Keep, Margin, NoFaceFound, Smallest, Sure, in_own_frames, in_places
from noisewright.cli.shared.commands import Command
from noisewright.cli.shared.output import AsJson, counting, emit, facts, heading, plural

__all__ = ["COMMAND", "video"]


def video(
    film: Annotated[str, typer.Argument(metavar="VIDEO", help="A video: MP4, MOV, AVI, MKV or WebM.")],
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE.mp4", help="A new file, .mp4 or .avi.")],
    epsilon: Annotated[str, typer.Option(metavar="E", help="For each face that is followed; see --draw.")],
    draw: Annotated[
        str,
        typer.Option(
            metavar="once|every", help="Draw a face once and show that in all its frames, or anew in every frame."
        ),
    ] = "once",
    hold: Annotated[
        int, typer.Option(metavar="FRAMES", help="Hold a face so many frames where the detector loses it.", min=0)
    ] = 12,
    method: MethodName = "windows",
    model: Model = None,
    components: Components = None,
    draw_unlike: DrawUnlike = False,
    block: Block = None,
    blur: Blur = 0.0,
    quality: Quality = None,
    levels: Levels = None,
    window: Window = None,
    boxes: Annotated[
        str | None,
        typer.Option(
            metavar="FILE.json",
            help='Hide these boxes, by frames: {"1-40": \\[\\[x, y, width, height]], "41": \\[]}. No face is looked for then.',
        ),
    ] = None,
    keep: Keep = None,
    no_face: NoFaceFound = "refuse",
    smallest: Smallest = 32.0,
    sure: Sure = 0.5,
    margin: Margin = 1.0,
    as_json: AsJson = False,
) -> None:
    """Find, follow and hide the faces in a video; everything else in it stays as it is, but for sound and metadata.

    A face that is followed through n frames costs epsilon if it is drawn once, and n epsilon if it is drawn in every frame.
    A face that is lost and found again is followed as another one, so the certificate counts all draws for one person.
    """
    from noisewright.claims import phrases
    from noisewright.claims.readings import not_hidden, one_person
    from noisewright.core.certificates.claims import prove
    from noisewright.core.errors import ParameterError
    from noisewright.core.exact import positive_fraction, upward
    from noisewright.images.pipeline.hiding import HiddenPlaces
    from noisewright.images.pipeline.videos import hide_video

    options: dict[str, Any] = {"block": block, "blur": blur, "quality": quality, "levels": levels, "window": window}
    options |= {"model": model, "components": components, "draw_unlike": draw_unlike, "region": None, "mask": None}
    made = method_of(method, epsilon, **options)
    if boxes is not None and (keep or no_face != "refuse"):
        raise ParameterError("--boxes say what is hidden, so no face is looked for; leave out --keep and --no-face.")
    chosen = (
        in_own_frames(made, boxes)
        if boxes is not None
        else in_places(
            made,
            "faces",
            [Path(film)],
            keep=keep,
            no_face=no_face,
            smallest=smallest,
            sure=sure,
            margin=margin,
        )
    )
    assert isinstance(chosen, HiddenPlaces)
    with counting("frames looked at and written", "frames") as progress:
        done = hide_video(chosen, film, output, draw=draw, hold=hold, progress=progress)  # type: ignore[arg-type]
    proved, claim, clear = done.certificate, None, ["everything"]
    model_used = model_of(made)
    if proved is not None:
        claim = prove(proved.document)[0]
        clear = [one["called"] if "called" in one else phrases.clear(one) for one in proved.document["in_the_clear"]]
    track, person = (positive_fraction(epsilon, "--epsilon") * many for many in (done.longest, done.draws))
    data = {
        "output": output,
        "frames": done.frames,
        "faces_followed": done.tracks,
        "draws": done.draws,
        "whole_frames": done.whole,
        "draws_of_one_track": done.longest,
        "epsilon_of_one_track": None if proved is None else upward(track),
        "draws_of_one_person": done.draws,
        "epsilon_of_one_person": None if proved is None else upward(person),
        "claim": None if claim is None else str(claim),
        "model": model_used,
        "in_the_clear": clear,
    }
    promised = [
        ("faces followed", f"{done.tracks}, in {plural(done.draws, 'draw')}"),
        *([("whole frames", f"{done.whole} hidden, each drawn again")] if done.whole else []),
        ("guarantee", "" if claim is None else phrases.line({**claim.record, "conditions": []})),
        ("one person", one_person(done.longest, track, person)),
        *model_rows(model_used),
        ("certificate", "of all draws together, beside the video"),
    ]
    nothing = [("guarantee", not_hidden("the video"))]
    rows = [
        *(nothing if proved is None else promised),
        ("in the clear", "; ".join(clear)),
        ("sound, metadata", "none comes out"),
    ]
    emit(data, lambda: [heading(output, plural(done.frames, "frame")), facts(rows)], as_json)


COMMAND = Command(in_options(video))
