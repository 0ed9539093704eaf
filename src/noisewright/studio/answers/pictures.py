"""Picture that is being hidden: before and after, its similarity, and the remaining risk."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from noisewright.claims.phrases import measured_parts
from noisewright.cli.shared.metrics import check_number
from noisewright.core.errors import DataError, ParameterError
from noisewright.core.exact import percent, positive_fraction
from noisewright.images.attackers.trials import Trial
from noisewright.images.faces.sprites import sprite_faces
from noisewright.images.hidden_faces import private_faces
from noisewright.images.methods import PIXELS, FaceMethod, Method, PixelMethod
from noisewright.images.pictures.reading import Picture, read_picture
from noisewright.images.pictures.similarity import ssim
from noisewright.images.pictures.writing import png_of

__all__ = [
    "METHODS",
    "HiddenPicture",
    "example_picture",
    "given_picture",
    "hidden_picture",
    "measured_risk",
    "picture_code",
]

METHODS = (*PIXELS, "faces")
MOST_PIXELS = 1_000_000
COPIES = 2
"""Number of draws of every made-up face for the attackers that are measured."""
ATTACKERS = {
    "best": "who knows the noise and a clear face of everybody",
    "parrot": "who learned from pictures that were drawn like this",
    "naive": "who learned from clear faces",
}


@dataclass(frozen=True)
class HiddenPicture:
    """A picture before and after, as addresses of pages."""

    before: str
    after: str
    alike: float | None
    """The structural similarity, 1 for the same; None where the sizes differ."""
    promise: str
    proved: str
    measured: tuple[str, ...]
    """Meaning of epsilon on public faces, for faces."""
    model: str = ""
    """The model of faces, and whose faces it was made of."""


def example_picture() -> Picture:
    """A drawn face of no one."""
    face: Picture = sprite_faces().pictures[0]
    return face


def given_picture(where: Path) -> Picture:
    """A picture that someone gave."""
    found = read_picture(where)
    if found.shape[0] * found.shape[1] > MOST_PIXELS:
        raise DataError(
            f"pictures of up to {MOST_PIXELS:,} pixels are shown here; noisewright images obfuscate takes larger ones."
        )
    return found


def hidden_picture(picture: Picture, given: Mapping[str, str]) -> HiddenPicture:
    """Draw a picture once, and say what that guarantees."""
    method = _method(
        given.get("method", "laplace"),
        given.get("epsilon", "").strip(),
        given.get("block", "").strip(),
        bool(given.get("draw-unlike")),
    )
    drawn, many = method.drawn(picture)
    height, width, channels = picture.shape
    promised = method.promise(height, width, channels, many)
    measured = method.faces.measured if isinstance(method, FaceMethod) else None
    return HiddenPicture(
        _address(picture),
        _address(drawn),
        ssim(picture, drawn) if drawn.shape == picture.shape else None,
        promised.unmeasured,
        method.certificate(height, width, channels).verify(),
        tuple(measured_parts(measured)),
        method.faces.source if isinstance(method, FaceMethod) else "",
    )


def measured_risk(given: Mapping[str, str], told: Callable[..., None]) -> tuple[tuple[str, str], ...]:
    """Describe how often attackers name the people on made-up faces that were drawn like this; it takes a while."""
    method = _method(given.get("method", "laplace"), given.get("epsilon", "").strip(), given.get("block", "").strip())
    assert isinstance(method, PixelMethod)
    told(1, 3)
    trial = Trial.of(copies=COPIES)
    told(2, 3)
    risk = trial.pixels(method.kind, method.epsilon, method.options["block"])
    low, high = risk.intervals[risk.strongest]
    return (
        (
            "Best attacker",
            f"{ATTACKERS[risk.strongest]} names {percent(risk.risk)} of {trial.people} made-up people right "
            f"(between {percent(low)} and {percent(high)}, with a confidence of 95 %)",
        ),
        (
            "An eye",
            f"that knows clear faces alone names {percent(risk.attacks['naive'])}; blindly {percent(trial.chance)}",
        ),
    )


def picture_code(name: str, given: Mapping[str, str]) -> str:
    """Lines of Python that do the same to a file."""
    method, epsilon = given.get("method", "laplace"), given.get("epsilon", "")
    if method == "faces":
        unlike = ', unlike="draw"' if given.get("draw-unlike") else ""
        made = f'nw.images.FaceMethod(nw.images.private_faces(epsilon={epsilon!r}, fit="resize"{unlike}))'
    else:
        made = f'nw.images.PixelMethod("{method}", Fraction({epsilon!r}), {{"block": {given.get("block") or 16}}})'
    return (
        "from fractions import Fraction\nfrom pathlib import Path\n\nimport noisewright as nw\n\n"
        f"method = {made}\n"
        f"shown = method.obfuscated(nw.images.read_picture({name!r}))\n"
        'Path("shown.png").write_bytes(nw.images.png_of(shown))'
    )


@lru_cache(maxsize=16)
def _method(kind: str, epsilon: str, block: str, unlike: bool = False) -> Method:
    if kind not in METHODS:
        raise ParameterError(f"a method is one of {', '.join(METHODS)}.")
    budget = positive_fraction(check_number(epsilon, "epsilon"), "epsilon")
    if kind == "faces":
        return FaceMethod(private_faces(epsilon=budget, fit="resize", unlike="draw" if unlike else "refuse"))
    if block and not block.isdecimal():
        raise ParameterError("the side of a block is a whole number of pixels.")
    return PixelMethod(kind, budget, {"block": int(block)} if block else {"block": 16})


def _address(picture: Picture) -> str:
    return "data:image/png;base64," + base64.b64encode(png_of(picture)).decode()
