"""Reading within limits, writing without metadata, blocks, windows, regions, and how alike pictures are."""

from __future__ import annotations

import io
import zlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from picture_support import drawing, small_picture
from PIL import Image, PngImagePlugin
from skimage.metrics import structural_similarity

from noisewright.exceptions import DataError, ParameterError
from noisewright.images import (
    Blocks,
    Region,
    Windows,
    blurred,
    chunks_of,
    mse,
    png_of,
    read_picture,
    replaced,
    ssim,
    window_ssim,
)
from noisewright.images import pictures as reading


def saved(image: Image.Image, form: str = "PNG", **more: Any) -> bytes:
    held = io.BytesIO()
    image.save(held, format=form, **more)
    return held.getvalue()


# Reading ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["PNG", "BMP", "TIFF", "PPM"])
def test_lossless_formats_are_read_as_they_are(form: str) -> None:
    pixels = drawing(20, 13)
    assert (read_picture(saved(Image.fromarray(pixels), form)) == pixels).all()


@pytest.mark.parametrize("colours", [None, "rgb", "grey"])
def test_strips_are_converted_as_the_whole_is(colours: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Image.fromarray(drawing(20, 13))
    clear = whole.convert("RGBA")
    clear.putalpha(Image.linear_gradient("L").resize(whole.size))
    kinds = [whole.convert(mode) for mode in ("1", "L", "P", "RGB", "LA")] + [clear, clear.quantize(9)]
    turned = Image.Exif()
    turned[0x0112] = 6
    files = [saved(one) for one in kinds] + [saved(whole.convert("CMYK"), "TIFF"), saved(whole, exif=turned)]
    for content in files:
        with monkeypatch.context() as patched:
            expected = read_picture(content, colours=colours)
            patched.setattr(reading, "STRIP", 40)
            assert (read_picture(content, colours=colours) == expected).all()


def test_documented_conversions() -> None:
    grey = np.arange(24, dtype=np.uint8).reshape(4, 6)
    assert read_picture(saved(Image.fromarray(grey))).shape == (4, 6, 1)
    assert (read_picture(saved(Image.fromarray(grey)), colours="rgb") == grey[..., None]).all()
    deep = (grey.astype(np.uint16) << 8) + 77
    for form in ("TIFF", "PPM"):
        assert (read_picture(saved(Image.fromarray(deep), form))[..., 0] == grey).all()
    assert (read_picture(saved(Image.fromarray(deep)))[..., 0] == grey).all()
    half = np.zeros((2, 2, 4), np.uint8)
    half[..., 3] = [[0, 255], [51, 255]]
    assert read_picture(saved(Image.fromarray(half)))[..., 0].tolist() == [[255, 0], [204, 0]]
    assert read_picture(saved(Image.fromarray(half[..., 2:]))).tolist() == [[[255], [0]], [[204], [0]]]
    assert read_picture(saved(Image.fromarray(grey), transparency=5))[0].tolist() == [[0], [1], [2], [3], [4], [255]]
    inks = Image.new("CMYK", (3, 2), (0, 255, 255, 0))
    assert read_picture(saved(inks, "TIFF"))[0, 0].tolist() == [255, 0, 0]
    palette = Image.fromarray(drawing(8, 8)).quantize(4)
    assert read_picture(saved(palette, "GIF")).shape == (8, 8, 3)
    assert set(np.unique(read_picture(saved(Image.fromarray(grey > 7), "TIFF")))) == {0, 255}


def test_a_photograph_with_more_pictures_behind_it_is_read_as_viewers_show_it() -> None:
    first, preview = (Image.fromarray(np.full((6, 8, 3), shade, np.uint8)) for shade in (40, 200))
    content = saved(first, "MPO", save_all=True, append_images=[preview])
    assert content.startswith(b"\xff\xd8")  # cameras call it .jpg
    assert np.abs(read_picture(content).astype(int) - 40).max() <= 2


def test_an_orientation_is_applied_and_everything_else_is_dropped() -> None:
    image = Image.fromarray(drawing(10, 6))
    exif = Image.Exif()
    exif[0x0112], exif[0x010E] = 6, "taken at home"
    text = PngImagePlugin.PngInfo()
    text.add_text("Author", "somebody")
    content = saved(image, exif=exif, pnginfo=text, icc_profile=b"\0" * 200, dpi=(72, 72))
    assert {"eXIf", "tEXt", "iCCP", "pHYs"} <= set(chunks_of(content))
    pixels = read_picture(content)
    assert pixels.shape == (10, 6, 3)
    assert chunks_of(png_of(pixels)) == ["IHDR", "IDAT", "IEND"]
    assert png_of(pixels) == png_of(pixels.copy())


def test_bad_files_are_refused_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    good = small_picture(1, 40, 30)
    frames = [Image.fromarray(drawing(8, 8)), Image.fromarray(255 - drawing(8, 8))]
    cases = {
        b"": "no picture of a known format",
        b"%!PS-Adobe-3.0 EPSF-3.0": "no picture of a known format",
        good[:60]: "damaged or cut short",
        good[:-30]: "damaged or cut short",
        good[:200] + bytes(100) + good[300:]: "damaged or cut short",
        saved(frames[0], "GIF", save_all=True, append_images=frames[1:]): "several frames",
        saved(Image.fromarray(np.ones((2, 2), np.float32)), "TIFF"): "holds floats",
        saved(Image.fromarray(np.full((2, 2), 70_000, np.int32)), "TIFF"): "numbers of 32 bits or with signs",
    }
    for content, words in cases.items():
        with pytest.raises(DataError, match=words) as refused:
            read_picture(content)
        assert str(refused.value).endswith(".")
    empty = saved(Image.new("L", (1, 1)), "PPM").replace(b"1 1", b"0 1")
    flat = bytearray(saved(Image.new("L", (1, 1))))
    flat[16:24] = bytes(8)
    flat[29:33] = zlib.crc32(flat[12:29]).to_bytes(4, "big")
    for content in (empty, bytes(flat)):
        with pytest.raises(DataError, match="no pixels"):
            read_picture(content)
    monkeypatch.setattr(reading, "MOST_PIXELS", 1000)
    with pytest.raises(DataError, match="more than 1,000 pixels"):
        read_picture(good)


@pytest.mark.parametrize("side", [8_000, 60_000])
def test_a_decompression_bomb_is_refused_before_it_is_unpacked(side: int) -> None:
    """A few bytes that claim 64 million pixels, and 3.6 thousand million."""
    content = bytearray(saved(Image.new("1", (1, 1))))
    content[16:24] = side.to_bytes(4, "big") * 2
    content[29:33] = zlib.crc32(content[12:29]).to_bytes(4, "big")
    with pytest.raises(DataError, match="more than 50,000,000 pixels"):
        read_picture(bytes(content))


def test_what_is_missing_or_not_installed_is_said(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        read_picture(tmp_path / "none.png")
    monkeypatch.setitem(__import__("sys").modules, "PIL.Image", None)
    with pytest.raises(ParameterError, match=r"pip install 'noisewright\[images\]'"):
        read_picture(b"")


# Blocks and windows -------------------------------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 17), st.integers(1, 17), st.integers(1, 6), st.integers(0, 9))
def test_sums_of_blocks_and_painting_with_ragged_edges(height: int, width: int, size: int, seed: int) -> None:
    picture = np.random.default_rng(seed).integers(0, 256, (1, height, width, 3), dtype=np.uint8)
    blocks = Blocks(height, width, size)
    sums, areas = blocks.sums(picture), blocks.areas
    painted = blocks.painted(sums)[0]
    for y in range(0, height, size):
        for x in range(0, width, size):
            inside = picture[0, y : y + size, x : x + size]
            assert (sums[0, y // size, x // size] == inside.reshape(-1, 3).sum(0, dtype=int)).all()
            assert areas[y // size, x // size] == inside.shape[0] * inside.shape[1]
            assert (painted[y : y + size, x : x + size] == sums[0, y // size, x // size]).all()
    assert areas.sum() == height * width
    assert sums.sum() == picture.sum(dtype=int)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 12), st.integers(1, 12), st.integers(2, 4))
def test_windows_are_put_back_where_they_were(rows: int, columns: int, size: int) -> None:
    cells = np.arange(rows * columns * 2).reshape(rows, columns, 2)
    grid = Windows(rows, columns, size)
    back = grid.put(np.full_like(cells, -1), grid.cut(cells))
    assert (back[grid.covered] == cells[grid.covered]).all()
    assert (back[~grid.covered] == -1).all()
    assert grid.count * size**2 + grid.left_over == rows * columns == grid.covered.size
    if grid.count:
        assert grid.cut(cells)[0].tolist() == cells[:size, :size, 0].reshape(-1).tolist()


# Regions ------------------------------------------------------------------------------------------------------------------


def test_regions_and_masks_change_nothing_else() -> None:
    picture, region = drawing(20, 10), Region.of("3,2,5,4")
    done = replaced(picture, region, np.zeros((4, 5, 3), np.uint8))
    assert (done[2:6, 3:8] == 0).all()
    done[2:6, 3:8] = picture[2:6, 3:8]
    assert (done == picture).all()
    mask = np.zeros((10, 20), bool)
    mask[2, 3], mask[5, 7] = True, True
    assert Region.around(mask) == region
    masked = replaced(picture, region, np.zeros((4, 5, 3), np.uint8), mask)
    assert (masked[mask] == 0).all()
    assert (masked[~mask] == picture[~mask]).all()


@pytest.mark.parametrize("bad", ["1,2,3", "a,b,c,d", "1,2,0,4", "-1,2,3,4", (1, 2, 3), (1.5, 2, 3, 4), None])
def test_what_is_no_region_is_refused(bad: Any) -> None:
    with pytest.raises(ParameterError, match="a region is"):
        Region.of(bad)
    with pytest.raises(ParameterError, match="ends beyond"):
        Region.of("3,2,5,9").inside(10, 20)
    with pytest.raises(ParameterError, match="marks no pixel"):
        Region.around(np.zeros((2, 2), bool))


# Likeness -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("grey", [False, True])
def test_ssim_of_pictures_is_that_of_an_independent_library(grey: bool) -> None:
    rng = np.random.default_rng(3)
    first = drawing(60, 40)[..., : 1 if grey else 3]
    for second in (first, 255 - first, rng.integers(0, 256, first.shape, dtype=np.uint8), first // 2):
        wanted = structural_similarity(
            first,
            second,
            channel_axis=-1,
            data_range=255,
            gaussian_weights=True,
            sigma=1.5,
            use_sample_covariance=False,
        )
        assert ssim(first, second) == pytest.approx(wanted, abs=1e-9)
    assert ssim(first, first) == 1
    assert mse(first, 255 - first) == pytest.approx(np.mean((2.0 * first - 255) ** 2))
    several, others = np.stack([first, second]), np.stack([second, second])
    for measure in (ssim, mse):
        assert measure(several, others) == pytest.approx((measure(first, second) + measure(second, second)) / 2)


def test_im_fact_21_golden_values_of_ssim_on_windows() -> None:
    board = np.array([0, 255, 0, 255, 0, 255, 0, 255, 0.0])
    ramp = np.arange(0, 180, 20.0)
    values = [
        (board, 255 - board, -0.972065),
        (board, np.full(9, 127.5), 0.003607),
        (np.zeros(9), np.full(9, 255.0), 9.999e-5),
        (ramp, ramp + 20, 0.975619),
        (ramp, ramp[::-1], -0.978292),
    ]
    for first, second, wanted in values:
        assert float(window_ssim(first, second)) == pytest.approx(wanted, abs=6e-7)


def test_a_blur_keeps_means_and_channels_apart() -> None:
    picture = np.zeros((21, 21, 3))
    picture[10, 10, 1] = 255
    soft = blurred(picture)
    assert soft[..., 1].sum() == pytest.approx(255)
    assert soft[10, 10, 1] == pytest.approx(255 / (2 * np.pi), rel=1e-3)
    assert not soft[..., [0, 2]].any()
    with pytest.raises(ParameterError, match="sigma"):
        blurred(picture, 0)
