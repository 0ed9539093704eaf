"""Folders of photographs: a few at a time, whatever their number; methods for regions; nothing left behind."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from picture_support import drawing, small_picture

from noisewright.core.errors import FileFormatError, ParameterError
from noisewright.images import PixelMethod, obfuscate_pictures, obfuscation
from noisewright.images.pictures import Region

METHOD = PixelMethod("laplace", Fraction(50), {"block": 2})


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    found = [tmp_path / f"{n}.png" for n in range(30)]
    for n, path in enumerate(found):
        path.write_bytes(small_picture(n))
    return found


def test_no_more_pictures_are_taken_than_keep_the_workers_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = 0
    monkeypatch.setattr(obfuscation, "_one", lambda job: job)

    def jobs() -> Iterator[Any]:
        nonlocal taken
        while taken < 1000:
            taken += 1
            yield taken

    ahead = [taken - done for done in obfuscation._ahead(jobs(), workers=3)]
    assert len(ahead) == 1000
    assert max(ahead) <= 2 * 3


def test_an_interrupt_leaves_nothing_behind(files: list[Path], tmp_path: Path) -> None:
    target = tmp_path / "out"

    def stop(done: int, total: int | None) -> None:
        if done == 5:
            raise KeyboardInterrupt

    before = sorted(tmp_path.iterdir())
    with pytest.raises(KeyboardInterrupt):
        obfuscate_pictures(METHOD, files, target, progress=stop)
    assert sorted(tmp_path.iterdir()) == before


def test_results_are_in_the_order_of_the_files_and_nothing_is_overwritten(files: list[Path], tmp_path: Path) -> None:
    done = obfuscate_pictures(METHOD, files, tmp_path / "out", workers=4)
    assert [one.source for one in done] == files
    assert {one.target for one in done} == {tmp_path / "out" / f"picture-{n:02}.png" for n in range(1, 31)}
    with pytest.raises(FileFormatError, match="is there already"):
        obfuscate_pictures(METHOD, files, tmp_path / "out")
    with pytest.raises(FileFormatError, match="cannot be written"):
        obfuscate_pictures(METHOD, files, tmp_path / "none" / "out")
    with pytest.raises(ParameterError, match="workers"):
        obfuscate_pictures(METHOD, files, tmp_path / "more", workers=0)


def test_regions_share_epsilon_by_their_sizes_and_each_is_drawn_from_the_original() -> None:
    regions = (Region(0, 0, 4, 4), Region(8, 4, 4, 12))
    method = PixelMethod("laplace", Fraction(8), {"block": 2}, regions)
    made = method.mechanisms(32, 24, 3)
    assert [one.epsilon for one in made] == [2, 6]
    assert all("everything outside of the regions" in str(one.certificate().verify()) for one in made)
    each = PixelMethod("laplace", Fraction(8), {"block": 2, "between": "pixels"}, regions).mechanisms(32, 24, 3)
    assert [one.epsilon for one in each] == [8, 8]
    weak = PixelMethod("laplace", Fraction(10**9), {"block": 1}, regions)
    photo = drawing(24, 32)
    assert (weak.obfuscated(photo, np.random.default_rng(1)) == photo).all()
    with pytest.raises(ParameterError, match="ends beyond"):
        method.obfuscated(drawing(10, 10))
    with pytest.raises(ParameterError, match="not both"):
        PixelMethod("laplace", Fraction(8), {}, regions, np.ones((2, 2), bool))
