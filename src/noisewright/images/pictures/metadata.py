"""Metadata of a file, for owners who want to keep it: who took a picture when, where, and with what.

Only a list of plain entries of EXIF is kept, each of them a short text or a few numbers. **Nothing that can hold a
picture is**: no thumbnail, which often shows the original, no preview or maker's note, no XMP, colour profile or
comment; nor entries about the layout of pixels or the position of a face. Everything that is kept is in the clear.

>>> kept_metadata(b"no picture")
b''
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from noisewright.images.pictures.reading import opened, pillow, quietly

__all__ = ["IN_THE_CLEAR", "kept_metadata"]

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
    for tag, value in _plain(parts[None], MAIN):
        kept[tag] = value
    for part, tags in ((EXIF_PART, EXIF), (GPS_PART, GPS)):
        if entries := dict(_plain(parts[part], tags)):
            kept[part] = entries
    return bytes(kept.tobytes()) if len(kept) else b""


def _plain(entries: dict[int, Any], tags: Iterable[int]) -> Iterable[tuple[int, Any]]:
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
