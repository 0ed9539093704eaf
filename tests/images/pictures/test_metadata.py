"""Metadata that is kept on purpose: plain entries alone, and no picture in any of the places that can hold one."""

from __future__ import annotations

import io
import struct
from pathlib import Path

import numpy as np
import pytest
from picture_support import drawing
from PIL import ExifTags, Image, TiffImagePlugin
from PIL.PngImagePlugin import PngInfo

from noisewright.images import chunks_of, kept_metadata, png_of, read_picture

SECRET = b"a small picture of the original"


def jpeg_with_everything() -> bytes:
    """A photograph with a thumbnail, a maker's note, XMP, a profile, a comment, a place, and what follows its end."""
    exif = Image.Exif()
    exif[0x010F] = "Kamera"
    exif[0x0112] = 6  # turned
    exif[0x013B] = "Ada"
    exif[0x0132] = "2026:11:18 10:00:00"
    exif[0x9C9B] = SECRET  # a title of Windows
    exif[0x8769] = {
        0x9003: "2026:11:17 09:00:00",
        0x829A: TiffImagePlugin.IFDRational(1, 250),
        0x927C: SECRET,  # a maker's note
        0x9286: b"ASCII\0\0\0" + SECRET,
        0x9214: (10, 10, 4, 4),  # where the face is
    }
    exif[0x8825] = {1: "N", 2: (52.0, 31.0, 12.0), 3: "E", 4: (13.0, 24.0, 18.0)}
    held = io.BytesIO()
    Image.fromarray(drawing(48, 32)).save(
        held,
        format="JPEG",
        exif=exif,
        xmp=b"<x:xmpmeta>" + SECRET + b"</x:xmpmeta>",
        icc_profile=SECRET * 5,
        comment=SECRET,
    )
    return held.getvalue() + SECRET


def test_plain_entries_are_kept_and_nothing_that_can_hold_a_picture() -> None:
    content = jpeg_with_everything()
    assert content.count(SECRET) >= 6
    shown = png_of(drawing(32, 48), kept_metadata(content))
    assert sorted(chunks_of(shown)) == ["IDAT", "IEND", "IHDR", "eXIf"]
    assert SECRET not in shown
    found = Image.open(io.BytesIO(shown)).getexif()
    assert dict(found) | {0x8769: 0, 0x8825: 0} == {
        0x010F: "Kamera",
        0x0132: "2026:11:18 10:00:00",
        0x013B: "Ada",
        0x8769: 0,
        0x8825: 0,
    }
    assert found.get_ifd(0x8769) == {0x9003: "2026:11:17 09:00:00", 0x829A: 0.004}
    assert found.get_ifd(0x8825) == {1: "N", 2: (52.0, 31.0, 12.0), 3: "E", 4: (13.0, 24.0, 18.0)}
    assert read_picture(shown).shape == (48, 32, 3)  # no turn is left that would be made twice


def test_a_thumbnail_is_never_kept() -> None:
    """A second directory (IFD1) with a thumbnail, as cameras write it."""
    exif, small = Image.Exif(), io.BytesIO()
    exif[0x010F] = "Kamera"
    Image.fromarray(drawing(16, 12)).save(small, format="JPEG")
    body = bytearray(exif.tobytes()[6:])
    assert body[:4] == b"MM\0*"  # integers are big-endian
    first = int.from_bytes(body[4:8], "big")
    link, second = first + 2 + 12 * int.from_bytes(body[first : first + 2], "big"), len(body)
    body[link : link + 4] = struct.pack(">I", second)
    body += struct.pack(">HHHIIHHIII", 2, 0x0201, 4, 1, second + 30, 0x0202, 4, 1, len(small.getvalue()), 0)
    body += small.getvalue()
    held = io.BytesIO()
    Image.fromarray(drawing(48, 32)).save(held, format="JPEG", exif=b"Exif\0\0" + bytes(body))
    found = Image.open(io.BytesIO(held.getvalue())).getexif().get_ifd(ExifTags.IFD.IFD1)
    assert found[0x0202] == len(small.getvalue())
    assert small.getvalue() in held.getvalue()
    kept = kept_metadata(held.getvalue())
    assert b"Kamera" in kept
    assert len(kept) < 60 < len(small.getvalue())
    assert not Image.open(io.BytesIO(png_of(drawing(8, 8), kept))).getexif().get_ifd(ExifTags.IFD.IFD1)


@pytest.mark.parametrize("value", ["x" * 501, "two\nlines", ""])
def test_entries_that_are_not_short_are_left_out(value: str) -> None:
    exif = Image.Exif()
    exif[0x010E] = value
    held = io.BytesIO()
    Image.fromarray(drawing(8, 8)).save(held, format="PNG", exif=exif)
    assert kept_metadata(held.getvalue()) == b""


def test_texts_of_a_png_are_not_kept() -> None:
    info = PngInfo()
    info.add_text("Comment", SECRET.decode())
    info.add_itxt("XML:com.adobe.xmp", SECRET.decode())
    held = io.BytesIO()
    Image.fromarray(drawing(8, 8)).save(held, format="PNG", pnginfo=info)
    assert kept_metadata(held.getvalue()) == b""


def test_files_without_metadata_or_with_damaged_ones_have_none(tmp_path: Path) -> None:
    assert kept_metadata(png_of(np.zeros((4, 4, 3), np.uint8))) == b""
    held = io.BytesIO()
    Image.fromarray(drawing(8, 8)).save(held, format="JPEG", exif=b"Exif\0\0II*\0\xff\xff\xff\xff")
    assert kept_metadata(held.getvalue()) == b""
