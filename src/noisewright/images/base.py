"""Base of all mechanisms on pictures: pictures of one public size come in, as files or as pixels, and pictures of that
size come out.

Files are read within limits and written as PNG without any metadata: both depend on the input, or on the sampled
output, alone. The size is public: other pictures are refused, or resized first where ``fit`` says so. Grey and colour
likewise: all are read as the mechanism has them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np

from noisewright._utils.validation import fields_alone
from noisewright.base import BaseMechanism, Parameter
from noisewright.certificates.certificate import Certificate
from noisewright.certificates.composition import Part, parts_of, product_certificate
from noisewright.claims import phrases
from noisewright.exceptions import CertificateError, DataError, NoLossError
from noisewright.guarantees import Guarantee
from noisewright.images.pictures import Inside, Picture, png_of, read_picture, resized
from noisewright.sampling.random_bits import Bits, bits_from

__all__ = ["Fit", "PictureMechanism", "cells", "clear_words", "no_rebuild", "of_all_draws"]


Fit = Literal["refuse", "resize"]


@dataclass(frozen=True)
class PictureMechanism(BaseMechanism):
    """The base of mechanisms on pictures of one size; a subclass states the size, samples, and proves its law."""

    no_channel = "there are too many pictures to list."

    fit: Fit = field(default="refuse", kw_only=True)
    clear: tuple[str, ...] = field(default=(), kw_only=True)
    """Unprotected output, in words: the certificate states it. For a part of a picture, the rest of it."""
    name = ""
    whose_size: ClassVar[str] = "the declared size"
    other_sizes: ClassVar[str] = "declare another"
    """Advice about a picture of another size, in addition to resizing it."""
    together: ClassVar[int] = 1
    """Maximum number of pictures that are in memory, and drawn, at once."""

    # For subclasses -----------------------------------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, int, int]:
        """Rows, columns and channels of every picture."""
        raise TypeError(f"{type(self).__name__} must define shape.")

    @property
    def dimension(self) -> int | None:
        """Number of values of the pixels of a picture, which bounds files; None if any size is accepted."""
        return int(np.prod(self.shape)) if self.fit == "refuse" else None

    @property
    def measured(self) -> Mapping[str, Any] | None:
        """The meaning of epsilon on public pictures, as a record, if it was measured."""
        return None

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee for two pictures."""
        raise TypeError(f"{type(self).__name__} must define guarantee.")

    def certificate(self, rng: np.random.Generator | None = None) -> Certificate:
        """The proofs of all that is drawn."""
        raise TypeError(f"{type(self).__name__} must define certificate(rng).")

    def drawn(self, picture: Picture, bits: Bits) -> Picture:
        """A new picture for one whose size is the declared one."""
        raise TypeError(f"{type(self).__name__} must define drawn(picture, bits).")

    def several(self, pictures: Sequence[Picture], bits: Bits) -> Iterable[Picture]:
        """New pictures for at most ``together`` of them; for a mechanism that does many at once faster than one by one."""
        return (self.drawn(picture, bits) for picture in pictures)

    # The guarantee
    # --------------------------------------------------------------------------------------------------------

    def in_words(self) -> str:
        """Return the guarantee and its limits in words."""
        return f"{self.guarantee.in_words(1)} {self.clear_in_words()}"

    def clear_in_words(self) -> str:
        """Return the limits of the guarantee in words."""
        return f"In the clear: {'; '.join(clear_words(self.clear)) or 'only the declared size of pictures'}."

    def error(self, loss: str = "absolute") -> float:
        """Raise `NoLossError`: quality is measured on pictures."""
        raise NoLossError("pictures have no loss of their own; noisewright images preview shows what an epsilon does.")

    # Pictures -----------------------------------------------------------------------------------------------------------

    def release(self, values: Any, rng: np.random.Generator | None = None) -> Any:
        """One picture for every picture: bytes of PNG for the bytes of a file, pixels for an array of pixels.

        An array of eight bits has rows, columns and channels (or rows and columns, for grey); with one axis more in front it
        holds several pictures. Anything else is a sequence of bytes.
        """
        bits = bits_from(rng)
        if isinstance(values, bytes):
            return png_of(self.drawn(self._read(values), bits))
        pixels = isinstance(values, np.ndarray) and values.dtype == np.uint8
        given: Any = self._shaped(values) if pixels else cells(values)
        result = np.empty_like(given) if pixels else np.empty(len(given), object)
        for start in range(0, len(given), self.together):
            some = given[start : start + self.together]
            drawn = self.several(some if pixels else [self._read(content) for content in some], bits)
            for place, picture in enumerate(drawn, start):
                result[place] = picture if pixels else png_of(picture)
        return result.reshape(values.shape) if isinstance(values, np.ndarray) else result

    def check(self, values: Any) -> None:
        """Refuse what ``release`` would refuse."""
        if isinstance(values, np.ndarray) and values.dtype == np.uint8:
            self._shaped(values)
            return
        for content in [values] if isinstance(values, bytes) else cells(values):
            self._read(content)

    __getstate__ = fields_alone

    # Helpers ------------------------------------------------------------------------------------------------------------

    def _read(self, content: Any) -> Picture:
        if not isinstance(content, bytes):
            raise DataError("a picture is the bytes of a file; leave out what is missing.")
        return self.fitted(read_picture(content, colours="grey" if self.shape[2] == 1 else "rgb"))

    def fitted(self, picture: Picture) -> Picture:
        """A picture in the public size, if it has it or may be resized to it."""
        height, width, _ = self.shape
        if picture.shape[:2] == (height, width):
            return picture
        if self.fit == "refuse":
            raise DataError(
                f"a picture has not {self.whose_size} of {width} x {height} pixels; {self.other_sizes}, or say "
                'fit = "resize".'
            )
        return resized(picture, height, width)

    def _shaped(self, values: Picture) -> Picture:
        """Pixels with an axis for several pictures in front and one for channels at the end."""
        *size, channels = self.shape
        if values.shape[-3:] == self.shape and values.ndim in (3, 4):
            return values.reshape(-1, *self.shape)
        if channels == 1 and values.shape[-2:] == tuple(size) and values.ndim in (2, 3):
            return values.reshape(-1, *self.shape)
        raise DataError(
            f"pixels of a picture have {size[0]} rows, {size[1]} columns and {channels} channel"
            f"{'s' if channels > 1 else ''} here; give such, with one axis more for several pictures."
        )


def no_rebuild(certificate: Certificate) -> PictureMechanism:
    """A certificate is about the values that are drawn; how they lie in a picture is none of its business."""
    raise CertificateError(
        "a certificate of pictures does not state their width and height; make the mechanism again from its parameters."
    )


def clear_words(clear: Iterable[str]) -> list[str]:
    """Return the unprotected output in words: a code of the phrase table stands for its phrase."""
    return [phrases.CLEAR.get(one, one) for one in clear]


def of_all_draws(certificate: Certificate, inside: Inside) -> Certificate:
    """Return the certificate of all draws for some parts of pictures together.

    Between any two contents the losses of draws add up. For each unit of a distance, the distances do: anyone who is
    shown in n draws is n times as far from someone else as in one. What was measured is about one draw, and left out
    where several draws can show one person.
    """
    document, claim = certificate.document, certificate.document["claim"]
    parts = [Part(part.certificate, (part.count or 1) * inside.draws) for part in parts_of(certificate)]
    alone = inside.touching == 1 and "measured" in document  # about one draw
    return product_certificate(
        document["mechanism"],
        parts,
        metric=claim["metric"]["base"],
        unit=1 / Fraction(claim["metric"].get("factor", 1)),
        simulated=certificate.simulated,
        secret={**claim["secret"], **inside.record()},
        in_the_clear=document["in_the_clear"],
        **{name: document[name] for name in ("resources", *(["measured"] if alone else [])) if name in document},
    )


def cells(values: Any) -> list[Any]:
    """Return the contents of files in a column, a list or an array."""
    if hasattr(values, "to_pylist"):
        return list(values.to_pylist())
    if isinstance(values, np.ndarray):
        return list(values.reshape(-1).tolist())
    if isinstance(values, (str, np.generic)) or not hasattr(values, "__len__"):
        raise DataError("pictures are the bytes of files, or arrays of pixels of eight bits.")
    return list(values)


# Parameters ---------------------------------------------------------------------------------------------------------------
#
# Parameters that several mechanisms for pictures share.


FIT = Parameter("Treatment of a picture of another size: refuse or resize.", 'fit = "resize"')
PICTURE_WIDTH = Parameter("Width of every picture, in pixels.", "width = 640")
PICTURE_HEIGHT = Parameter("Height of every picture, in pixels.", "height = 480")
BLOCK = Parameter("Side, in pixels, of the blocks that come out in one colour.", "block = 16")
COLOURS = Parameter("Reading of pictures: in colour or in grey.", 'colours = "rgb"')
BETWEEN = Parameter(
    "Pictures that epsilon compares: any two, those that differ in some pixels, or in some steps of colour.",
    'between = "pixels"',
)
BLUR = Parameter("Standard deviation, in pixels, of a blur applied to the output; 0 for no blur.", "blur = 1.0")
QUALITY = Parameter(
    "Measure of the similarity between the true colours and a candidate output.", 'quality = "absolute"'
)
LEVELS = Parameter("Number of levels at which a colour can come out, from black to full.", "levels = 4")
