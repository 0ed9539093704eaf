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
>>> from noisewright.images.pictures.writing import png_of
>>> read_picture(png_of(np.full((2, 3, 3), 7, np.uint8))).shape
(2, 3, 3)
"""

from __future__ import annotations

import errno
import io
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from noisewright.core.errors import DataError, ParameterError
from noisewright.files.inputs import read_input

if TYPE_CHECKING:
    from PIL import Image

__all__ = ["CHANNELS", "FORMATS", "MOST_PIXELS", "Colours", "Picture", "opened", "pillow", "quietly", "read_picture"]

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
