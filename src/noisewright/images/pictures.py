"""Pictures from files: their pixels in eight bits, within limits, without the other content of a file.

What is converted, and how:

=====================  =======================================================================================
a file with            becomes
=====================  =======================================================================================
an orientation (EXIF)  the picture as a viewer shows it
transparency           the picture on white; grey stays grey
16 bits                eight bits: divided by 256; floats, 32 bits and numbers with signs are refused
CMYK, YCbCr, LAB       red, green and blue, by the plain conversion of Pillow, without colour profiles
a palette, black/white red, green and blue, or grey
several in one (MPO)   the first of them: cameras put previews and depths behind the photograph
=====================  =======================================================================================

Refused, in one sentence: files that are not pictures, that are cut short, that have no pixels, more than
:data:`MOST_PIXELS` of them, or several frames. Names, times, places and every other metadata are never read.

>>> import numpy as np
>>> from noisewright.images.pictures import png_of
>>> read_picture(png_of(np.full((2, 3, 3), 7, np.uint8))).shape
(2, 3, 3)

>>> import numpy as np
>>> content = png_of(np.zeros((2, 2, 3), np.uint8))
>>> chunks_of(content)
['IHDR', 'IDAT', 'IEND']

Only a list of plain entries of EXIF is kept, each of them a short text or a few numbers. **Nothing that can hold a
picture is**: no thumbnail, which often shows the original, no preview or maker's note, no XMP, colour profile or
comment; nor entries about the layout of pixels or the position of a face. Everything that is kept is in the clear.

>>> kept_metadata(b"no picture")
b''

>>> Region.of("2,1,3,2")
Region(x=2, y=1, width=3, height=2)
>>> import numpy as np
>>> Region.around(np.array([[0, 0, 0], [0, 1, 1]], bool))
Region(x=1, y=1, width=2, height=1)

>>> import numpy as np
>>> resized(np.full((4, 6, 3), 9, np.uint8), 8, 3).shape
(8, 3, 3)
>>> recoloured(np.full((4, 6, 1), 9, np.uint8), 3).shape
(4, 6, 3)

>>> import numpy as np
>>> small = np.zeros((20, 30, 3), np.uint8)
>>> strip([("before", small), ("after", small)]).shape
(64, 144, 3)

The picture is halved again and again, each time with the mean of those pixels that are known, until nothing is
missing; on the way back, missing pixels are taken from the smaller picture. A filled hole reveals its position only.

>>> import numpy as np
>>> picture = np.full((5, 5, 1), 9, np.uint8)
>>> hole = np.zeros((5, 5), bool)
>>> hole[2, 2] = True
>>> picture[2, 2] = 200
>>> int(filled(picture, hole).max())
9
"""

from __future__ import annotations

import errno
import io
import re
import threading
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from noisewright._typing import Floats
from noisewright._utils.inputs import read_input
from noisewright._utils.validation import is_whole
from noisewright.exceptions import DataError, ParameterError

if TYPE_CHECKING:
    from PIL import Image

__all__ = [
    "CHANNELS",
    "FAST",
    "FORMATS",
    "IN_THE_CLEAR",
    "MOST_PIXELS",
    "Colours",
    "Inside",
    "Picture",
    "Region",
    "as_pixels",
    "chunks_of",
    "filled",
    "kept_metadata",
    "opened",
    "pillow",
    "png_of",
    "quietly",
    "read_picture",
    "recoloured",
    "replaced",
    "resized",
    "strip",
]


Picture = NDArray[np.uint8]
"""Rows, columns and channels: one for grey, three for red, green and blue."""

Colours = Literal["rgb", "grey"]
CHANNELS: dict[str, int] = {"rgb": 3, "grey": 1}

FORMATS = ("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP", "PPM")
"""Formats that are read: none of them runs a program, as some do."""

SEVERAL = "MPO"
"""Name of the format of a JPEG with further pictures after the first; it is opened at the first."""

BEGINNINGS = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"BM", b"II*\0", b"MM\0*", b"RIFF", b"P5", b"P6")
"""First bytes of files of these formats."""

MOST_PIXELS = 50_000_000
"""Maximum number of pixels of a picture: reading and writing take up to 16 bytes for each."""
STRIP = 1 << 20
"""Approximate number of pixels that are converted at once."""

MOST_BYTES = 256 << 20
_one_at_a_time = threading.RLock()


def read_picture(source: bytes | str | Path, *, colours: Colours | None = None) -> Picture:
    """The pixels of a picture, given by its bytes or its path; ``colours`` None keeps grey pictures grey."""
    content = source if isinstance(source, bytes) else _content(Path(source))
    image = pillow("Image")
    try:
        with opened(content) as found:
            _check(found)
            pillow("ImageOps").exif_transpose(found, in_place=True)
            pixels = _pixels(found, colours)
    except DataError:
        raise
    except image.UnidentifiedImageError:
        if content.startswith(BEGINNINGS):
            raise DataError("a picture is damaged, or has no pixels; repair the file, or leave it out.") from None
        raise DataError("a file is no picture of a known format; give PNG, JPEG, GIF, BMP, TIFF or WebP.") from None
    except image.DecompressionBombError:
        raise _too_large() from None
    except MemoryError:
        raise DataError("a picture does not fit into memory; make it smaller.") from None
    except (
        Exception
    ):  # decoders of damaged files fail in every way there is, and their messages show the content of the file
        raise DataError("a picture is damaged or cut short; repair the file, or leave it out.") from None
    return pixels


def _pixels(found: Image.Image, colours: Colours | None) -> Picture:
    """Convert a picture strip by strip, so that no second copy of it is in memory."""
    width, height = found.size
    grey = colours == "grey" or (colours is None and _plain(found.crop((0, 0, 1, 1))).mode == "L")
    pixels = np.empty((height, width, 1 if grey else 3), np.uint8)
    rows = max(1, STRIP // width)
    for top in range(0, height, rows):
        strip = _plain(found.crop((0, top, width, min(top + rows, height)))).convert("L" if grey else "RGB")
        pixels[top : top + rows] = np.asarray(strip).reshape(-1, *pixels.shape[1:])
    return pixels


def pillow(module: str) -> Any:
    """A module of Pillow, which comes with the extra ``images``."""
    from importlib import import_module

    try:
        return import_module(f"PIL.{module}")
    except ImportError:
        raise ParameterError("pictures need Pillow; install it with pip install 'noisewright[images]'.") from None


def _content(path: Path) -> bytes:
    try:
        return read_input(path, MOST_BYTES)
    except OSError as problem:
        if problem.errno == errno.EFBIG:
            raise DataError(
                f"a file is larger than {MOST_BYTES >> 20} MB, which no picture is; leave it out."
            ) from None
        raise DataError(f"a picture cannot be read: {problem.strerror or 'no such file'}.") from None


def opened(content: bytes) -> Image.Image:
    """The header alone is read here; how many pixels it claims is for :func:`_check` to refuse, not for a warning."""
    image = pillow("Image")
    with quietly():
        return image.open(io.BytesIO(content), formats=FORMATS)  # type: ignore[no-any-return]


@contextmanager
def quietly() -> Iterator[None]:
    """Suppress warnings of decoders: a problem with a file is reported in one sentence, or not at all."""
    with _one_at_a_time, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _check(found: Image.Image) -> None:
    width, height = found.size
    if not width or not height:
        raise DataError("a picture has no pixels; leave it out.")
    if width * height > MOST_PIXELS:
        raise _too_large()
    if found.format != SEVERAL and getattr(found, "n_frames", 1) > 1:
        raise DataError("a picture has several frames; give each frame as a picture of its own.")
    if found.mode == "F":
        raise DataError("a picture holds floats, whose range is not known; save it with 8 or 16 bits.")
    if found.mode == "I" and found.format == "TIFF":  # other formats call their 16 bits so
        raise DataError(
            "a picture holds numbers of 32 bits or with signs, whose range is not known; save it with 8 or 16 bits."
        )


def _too_large() -> DataError:
    return DataError(f"a picture has more than {MOST_PIXELS:,} pixels; make it smaller.")


def _plain(found: Image.Image) -> Image.Image:
    """Return a picture without transparency, in eight bits."""
    if found.mode.startswith("I"):  # 16 bits of grey, in one spelling or another
        values = np.asarray(found).astype(np.int64)
        return pillow("Image").fromarray(np.clip(values >> 8, 0, 255).astype(np.uint8))  # type: ignore[no-any-return]
    if "A" in found.mode or "a" in found.mode or "transparency" in found.info:
        over = found.convert("RGBA")
        paper = pillow("Image").new("RGBA", over.size, "white")
        opaque = pillow("Image").alpha_composite(paper, over)
        return opaque.convert("L") if found.mode in ("1", "L", "LA", "La") else opaque  # type: ignore[no-any-return]
    return found.convert("L") if found.mode == "1" else found


# Writing ------------------------------------------------------------------------------------------------------------------
#
# Pictures into files that hold pixels and nothing else: no EXIF, no comment, no profile, no time.


FAST = 1
"""Compression level of PNG: noise does not become smaller by trying harder."""


def as_pixels(values: NDArray[np.floating]) -> Picture:
    """Numbers as pixels: rounded, and within 0 and 255."""
    return np.asarray(np.clip(np.rint(values), 0, 255), np.uint8)


def png_of(picture: Picture, exif: bytes = b"") -> bytes:
    """The bytes of a PNG file with these pixels: a function of them alone, and of a block of EXIF where one is given."""
    if picture.dtype != np.uint8 or picture.ndim != 3 or picture.shape[2] not in (1, 3):
        raise ParameterError("a picture to write has rows, columns and one or three channels of eight bits.")
    image = pillow("Image").fromarray(picture[:, :, 0] if picture.shape[2] == 1 else picture)
    held = io.BytesIO()
    image.save(held, format="PNG", compress_level=FAST, **({"exif": exif} if exif else {}))
    return held.getvalue()


def chunks_of(content: bytes) -> list[str]:
    """The names of the chunks of a PNG file, repeated ones once: it shows content other than pixels."""
    if content[:8] != b"\x89PNG\r\n\x1a\n":
        raise DataError("these bytes are no PNG file.")
    names: list[str] = []
    place = 8
    while place < len(content):
        length, name = int.from_bytes(content[place : place + 4], "big"), content[place + 4 : place + 8].decode("ascii")
        if not names or names[-1] != name:
            names.append(name)
        place += length + 12
    return names


# Metadata -----------------------------------------------------------------------------------------------------------------
#
# Metadata of a file, for owners who want to keep it: who took a picture when, where, and with what.


IN_THE_CLEAR = "who took each picture, when, where and with what, as their files say (EXIF)"
EXIF_PART, GPS_PART = 0x8769, 0x8825
MAIN = (0x010E, 0x010F, 0x0110, 0x011A, 0x011B, 0x0128, 0x0131, 0x0132, 0x013B, 0x8298)
"""Description, make, model, resolution, program, time, artist, copyright."""
EXIF = (
    *(0x829A, 0x829D, 0x8822, 0x8827, 0x9003, 0x9004, 0x9010, 0x9011, 0x9012, 0x9201, 0x9202, 0x9203, 0x9204),
    *(0x9206, 0x9207, 0x9208, 0x9209, 0x920A, 0x9290, 0x9291, 0x9292, 0xA402, 0xA403, 0xA405, 0xA433, 0xA434),
)
"""Exposure, times, distance, light, flash, focal length, lens."""
GPS = (*range(0x00, 0x08), 0x0B, 0x0C, 0x0D, 0x10, 0x11, 0x12, 0x1D, 0x1F)
"""Where and when, and in which direction."""
LONGEST_TEXT, MOST_NUMBERS = 500, 8


def kept_metadata(content: bytes) -> bytes:
    """The entries of a file that may be kept, as the EXIF block of another file; empty if no entry is kept."""
    try:
        with quietly(), opened(content) as found:
            exif = found.getexif()
            parts = {None: dict(exif), EXIF_PART: exif.get_ifd(EXIF_PART), GPS_PART: exif.get_ifd(GPS_PART)}
    except Exception:  # readers of damaged files fail in every way there is
        return b""
    kept = pillow("Image").Exif()
    for tag, value in _plain_entries(parts[None], MAIN):
        kept[tag] = value
    for part, tags in ((EXIF_PART, EXIF), (GPS_PART, GPS)):
        if entries := dict(_plain_entries(parts[part], tags)):
            kept[part] = entries
    return bytes(kept.tobytes()) if len(kept) else b""


def _plain_entries(entries: dict[int, Any], tags: Iterable[int]) -> Iterable[tuple[int, Any]]:
    """Return the entries whose values are valid."""
    for tag in tags:
        value = entries.get(tag)
        if _is_text(value) or _is_numbers(value):
            yield tag, value


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= LONGEST_TEXT and value.isprintable()


def _is_numbers(value: Any) -> bool:
    """Few numbers, whole or rational, and no bytes."""
    rational, values = pillow("TiffImagePlugin").IFDRational, value if isinstance(value, tuple) else (value,)
    return 0 < len(values) <= MOST_NUMBERS and all(
        isinstance(value, (int, float, rational)) and not isinstance(value, bool) for value in values
    )


# Regions ------------------------------------------------------------------------------------------------------------------
#
# Parts of pictures: rectangles and masks. What lies outside stays as it was, in the clear, and so does where they lie.


@dataclass(frozen=True)
class Inside:
    """Parts of a picture: two secrets are alike outside of them, and have the same ones.

    Parameters
    ----------
    part : {"region", "mask", "place", "track"}
        What the parts are.
    count : int
        How many there are.
    draws : int, default 1
        How many times something was drawn for them, in all; each draw has the same loss.
    touching : int, default 1
        How many of these draws the claim for one person is about. Every hidden pixel is read by one draw: so 1 holds for a
        person in one part. Where one person may be in any of the parts, as in a video, it is the number of draws.
    """

    part: Literal["region", "mask", "place", "track"]
    count: int
    draws: int = 1
    touching: int = 1

    def record(self) -> dict[str, Any]:
        """Return the parts as a claim states them."""
        drawn = {"draws": self.draws, "touching": self.touching} if self.draws > 1 else {}
        return {"inside": self.part, "count": self.count, **drawn}


@dataclass(frozen=True)
class Region:
    """A rectangle: its left and upper corner, and how many pixels it is wide and high."""

    x: int
    y: int
    width: int
    height: int

    def __post_init__(self) -> None:
        sides = (self.x, self.y, self.width, self.height)
        if not all(map(is_whole, sides)) or min(self.x, self.y) < 0 or min(self.width, self.height) < 1:
            raise ParameterError(
                "a region is x, y, width and height in whole pixels: its left upper corner, and at least one pixel."
            )

    @classmethod
    def of(cls, given: Any) -> Region:
        """A region as people write it: ``"x,y,width,height"``, or four numbers."""
        if isinstance(given, Region):
            return given
        if isinstance(given, str):
            if not re.fullmatch(r"\s*\d{1,9}(\s*,\s*\d{1,9}){3}\s*", given):
                raise ParameterError(
                    f"a region is written x,y,width,height in pixels, such as 40,30,64,64, not {given!r:.40}."
                )
            given = [int(part) for part in given.split(",")]
        if not isinstance(given, (list, tuple)) or len(given) != 4:
            raise ParameterError("a region is four whole numbers: x, y, width and height.")
        return cls(*given)

    @classmethod
    def around(cls, mask: NDArray[np.bool_]) -> Region:
        """The smallest rectangle that holds all of a mask."""
        rows, columns = (np.flatnonzero(mask.any(axis)) for axis in (1, 0))
        if not len(rows):
            raise ParameterError("a mask marks no pixel; mark what is to be obfuscated.")
        return cls(int(columns[0]), int(rows[0]), int(np.ptp(columns)) + 1, int(np.ptp(rows)) + 1)

    def inside(self, height: int, width: int) -> Region:
        """The region, if a picture of this size has it."""
        if self.x + self.width > width or self.y + self.height > height:
            raise ParameterError(f"a region ends beyond a picture of {width} x {height} pixels; make it smaller.")
        return self

    def of_picture(self, pictures: NDArray[Any]) -> NDArray[Any]:
        """This part of pictures (..., rows, columns, channels), as a view."""
        return pictures[..., self.y : self.y + self.height, self.x : self.x + self.width, :]


def replaced(picture: Picture, region: Region, drawn: Picture, mask: NDArray[np.bool_] | None = None) -> Picture:
    """The picture with a region put in its place, or with the pixels of it that a mask (of the whole picture) marks."""
    result = picture.copy()
    place = region.of_picture(result)
    if mask is None:
        place[...] = drawn
    else:
        marked = region.of_picture(mask[:, :, None])[:, :, 0]
        place[marked] = drawn[marked]
    return result


# Resizing -----------------------------------------------------------------------------------------------------------------
#
# Pictures in another size, and in colour or grey.


def resized(picture: Picture, height: int, width: int) -> Picture:
    """The same picture with the given numbers of rows and columns: every new pixel is a mean of the old ones around
    its place."""
    channels = picture.shape[2]
    image = pillow("Image").fromarray(np.ascontiguousarray(picture[:, :, 0] if channels == 1 else picture))
    ways, smaller = pillow("Image").Resampling, height <= picture.shape[0] and width <= picture.shape[1]
    changed = image.resize((width, height), resample=ways.BOX if smaller else ways.BILINEAR)
    return np.asarray(changed).reshape(height, width, channels).copy()


def recoloured(picture: Picture, channels: int) -> Picture:
    """The same picture with one channel (grey) or three."""
    if picture.shape[2] == channels:
        return picture
    if channels == 3:
        return np.repeat(picture, 3, axis=2)
    return np.asarray(pillow("Image").fromarray(np.ascontiguousarray(picture)).convert("L"))[:, :, None].copy()


# Strips -------------------------------------------------------------------------------------------------------------------
#
# Several pictures side by side, each with a line of text above it.


LINE, GAP, NARROWEST = 16, 8, 56


def strip(pictures: Sequence[tuple[str, Picture]], columns: int = 6) -> Picture:
    """Pictures of one size under their titles, with a maximum number in a row; small ones are made larger, so that
    titles fit."""
    height, width = pictures[0][1].shape[:2]
    times = max(1, -(-NARROWEST // width))
    wide, high = width * times, height * times
    across = min(columns, len(pictures))
    down = -(-len(pictures) // across)
    image = pillow("Image").new("RGB", (across * (wide + GAP) + GAP, down * (high + LINE + GAP)), "white")
    pen = pillow("ImageDraw").Draw(image)
    for place, (title, picture) in enumerate(pictures):
        left, top = place % across * (wide + GAP) + GAP, place // across * (high + LINE + GAP)
        pen.text((left, top + 2), title, fill="#22303c")
        large = np.repeat(np.repeat(np.broadcast_to(picture, (height, width, 3)), times, 0), times, 1)
        image.paste(pillow("Image").fromarray(np.ascontiguousarray(large)), (left, top + LINE))
    return np.asarray(image).copy()


# Filling ------------------------------------------------------------------------------------------------------------------
#
# Holes in pictures, filled smoothly from the surrounding pixels alone.


NOTHING_KNOWN = 127


def filled(picture: Picture, hole: NDArray[np.bool_]) -> Picture:
    """The picture with the pixels of the hole made up from the others; grey where there are no others."""
    known = ~hole
    if not known.any():
        return np.full_like(picture, NOTHING_KNOWN)
    smooth = as_pixels(_smooth(np.where(hole[..., None], 0.0, picture), known.astype(np.float64)[..., None]))
    return np.where(hole[..., None], smooth, picture)


def _smooth(values: Floats, known: Floats) -> Floats:
    """Values of which some are known, with the others made up; ``values`` are zero where ``known`` is."""
    if known.all() or max(values.shape[:2]) == 1:
        return values
    weight = _halved(known)
    small = np.divide(
        _halved(values * known), weight, out=np.zeros((*weight.shape[:2], values.shape[2])), where=weight > 0
    )
    made = _doubled(_smooth(small, (weight > 0).astype(np.float64)), values.shape[:2])
    return np.asarray(np.where(known > 0, values, made))


def _halved(values: Floats) -> Floats:
    """The sums of squares of 2 x 2."""
    high, wide = values.shape[:2]
    even = np.pad(values, ((0, high % 2), (0, wide % 2), (0, 0)))
    return np.asarray(even[::2, ::2] + even[1::2, ::2] + even[::2, 1::2] + even[1::2, 1::2])


def _doubled(values: Floats, size: tuple[int, int]) -> Floats:
    """Twice as large, by linear interpolation."""
    for axis, length in enumerate(size):
        place = np.clip((np.arange(length) + 0.5) / 2 - 0.5, 0, values.shape[axis] - 1)
        low = place.astype(np.int64)
        high = np.minimum(low + 1, values.shape[axis] - 1)
        part = (place - low).reshape([-1 if axis == other else 1 for other in range(3)])
        values = (1 - part) * values.take(low, axis) + part * values.take(high, axis)
    return values
