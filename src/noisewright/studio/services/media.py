"""A text that is being hidden: the words that come out, and what someone who sees one word can still guess."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from noisewright.attacks.face_risk import Trial
from noisewright.channels.channel import Channel
from noisewright.claims.figures import percent
from noisewright.claims.phrases import measured_parts
from noisewright.cli.arguments import check_number
from noisewright.exceptions import DataError, ParameterError
from noisewright.images.blocks import ssim
from noisewright.images.faces.mechanism import private_faces
from noisewright.images.faces.public_faces import sprite_faces
from noisewright.images.pictures import Picture, png_of, read_picture
from noisewright.images.pipeline.methods import PIXELS, FaceMethod, Method, PixelMethod
from noisewright.numerics.exact import positive_fraction
from noisewright.qif.vulnerability import posterior_vulnerability
from noisewright.text.document_mechanism import PrivateDocuments, private_documents
from noisewright.text.embedding import shipped
from noisewright.text.exponential_words import WordChoice

__all__ = [
    "EXAMPLE",
    "METHODS",
    "HiddenPicture",
    "HiddenText",
    "example_picture",
    "given_picture",
    "hidden_picture",
    "hidden_text",
    "marked",
    "measured_risk",
    "picture_code",
    "text_code",
]


EXAMPLE = (
    "The patient came back after a long journey with a strong cough and fever. She had lost weight, slept badly and could not "
    "eat. We gave her medicine against the infection and asked her to return next week."
)
LONGEST = 20_000
SHORT = 400
"""A longer text is not written into lines of Python."""
FREQUENT = 300
"""Number of frequent words; the attacker that is measured knows that a word is one of them."""


@dataclass(frozen=True)
class HiddenText:
    """A text before and after, and the guarantee."""

    before: tuple[str, ...]
    after: tuple[str, ...]
    kept: int
    """Number of output words that had been in the text."""
    promise: str
    proved: str
    guess: float
    """Probability that the best attacker guesses a word from its output."""
    blind: float
    word: str
    becomes: tuple[tuple[str, float], ...]
    """Outputs of one word of the text, most likely first."""


def hidden_text(text: str, given: Mapping[str, str]) -> HiddenText:
    """Draw a text once, and say what that guarantees."""
    if not text.strip():
        raise DataError("write or paste a text first.")
    if len(text) > LONGEST:
        raise DataError(
            f"a text of up to {LONGEST:,} characters is shown here; use noisewright text obfuscate for more."
        )
    made = _made(given.get("epsilon", "").strip(), given.get("size", "").strip(), "keep_order" in given)
    before = made.read(text)
    after = tuple(made.release_words([text])[0])
    word, becomes = _becomes(made, before)
    return HiddenText(
        before,
        after,
        sum((Counter(before) & Counter(after)).values()),
        made.in_words(),
        made.certificate().verify(),
        _guess(made),
        1 / FREQUENT,
        word,
        becomes,
    )


def marked(words: tuple[str, ...], others: tuple[str, ...]) -> list[tuple[str, bool]]:
    """Words, and whether the other side has them, as often as it has them."""
    left, found = Counter(others), []
    for word in words:
        found.append((word, left[word] > 0))
        left[word] -= 1
    return found


def text_code(text: str, given: Mapping[str, str]) -> str:
    """Lines of Python that do the same to a text; a long one is read from a file."""
    asked = f"epsilon={given.get('epsilon', '')!r}"
    asked += f", size={given['size']}" if given.get("size") else ""
    asked += ", keep_order=True" if "keep_order" in given else ""
    short = len(text) <= SHORT
    read, held = ("", repr(text)) if short else ("from pathlib import Path\n\n", 'Path("note.txt").read_text("utf-8")')
    return (
        f"{read}import noisewright as nw\n\n"
        f"notes = nw.text.private_documents(nw.text.shipped(), {asked})\n"
        f"print(notes.release({held}))\nprint(notes.in_words())"
    )


@lru_cache(maxsize=16)
def _made(epsilon: str, size: str, keep_order: bool) -> PrivateDocuments:
    if size and not size.isdecimal():
        raise ParameterError("the number of words that come out is a whole number, or empty for as many as there are.")
    return private_documents(
        shipped(), epsilon=check_number(epsilon, "epsilon"), size=int(size) if size else None, keep_order=keep_order
    )


def _law(
    made: PrivateDocuments, rows: np.ndarray[tuple[int], np.dtype[np.int64]]
) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    assert isinstance(made.words, WordChoice)
    weights = made.words.integers(rows).astype(np.float64)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _becomes(made: PrivateDocuments, before: tuple[str, ...]) -> tuple[str, tuple[tuple[str, float], ...]]:
    """Return the row for the longest word of the text, which discloses most."""
    if not before:
        return "", ()
    word = max(before, key=len)
    row = np.array([made.embedding.rows([word])[0]])
    law = _law(made, row)[0]
    first = np.argsort(-law, kind="stable")[:8]
    return word, tuple(zip(made.embedding.words(first), law[first].tolist(), strict=True))


@lru_cache(maxsize=64)
def _guess(made: PrivateDocuments) -> float:
    law = _law(made, np.arange(min(FREQUENT, made.embedding.size)))
    uniform = np.full(len(law), 1 / len(law))
    return float(posterior_vulnerability(uniform, Channel(law, normalise=True), "identity"))


# Pictures -----------------------------------------------------------------------------------------------------------------
#
# Picture that is being hidden: before and after, its similarity, and the remaining risk.


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
