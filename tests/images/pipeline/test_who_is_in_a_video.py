"""What a video's guarantee says of one person: every track may be the same person, and every hidden pixel is read once."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from picture_support import drawing

from noisewright.images import HiddenVideo, OwnFrames, PixelMethod, Video, hide_video, in_frames
from noisewright.images.base import PictureMechanism
from noisewright.images.blocks import BlockMechanism
from noisewright.images.pictures import Picture
from noisewright.images.pipeline.video import new_video

WIDTH, HEIGHT, FRAMES = 96, 64, 8
BROKEN = {"1-3": [[10, 10, 20, 20]], "4": [], "5-8": [[14, 10, 20, 20]]}
"""One person, whose track breaks: two boxes that are in no frame together."""
NESTED = {"1-8": [[10, 10, 30, 30], [14, 14, 12, 12], [60, 20, 10, 10]]}
"""One head that was found twice, and another."""
MEETING = {"1-8": [[10, 10, 20, 20]], "6-8": [[25, 10, 20, 20]]}
"""Two boxes that meet in the last three frames."""


def hide(tmp_path: Path, listed: dict[str, Any], draw: Any = "once") -> HiddenVideo:
    source = tmp_path / "film.avi"
    if not source.exists():
        with new_video(source, Video(source, WIDTH, HEIGHT, 10)) as write:
            for number in range(FRAMES):
                write(np.roll(drawing(WIDTH, HEIGHT), number, axis=1))
    method = in_frames(PixelMethod("laplace", Fraction(100), {"block": 64}), OwnFrames.of(listed, "boxes.json"))
    return hide_video(method, source, tmp_path / f"{draw}-{len(list(tmp_path.iterdir()))}.avi", draw=draw)


def test_a_person_whose_track_breaks_costs_all_draws(tmp_path: Path) -> None:
    done = hide(tmp_path, BROKEN)
    assert (done.tracks, done.draws, done.longest) == (2, 2, 1)
    assert done.certificate is not None
    claim = done.certificate.verify()
    assert done.certificate.document["claim"]["secret"] == {
        "kind": "picture",
        "inside": "track",
        "count": 2,
        "draws": 2,
        "touching": 2,
    }
    assert "epsilon = 200 for a person who is in all 2 draws" in claim
    every = hide(tmp_path, BROKEN, "every")
    assert (every.draws, every.longest) == (7, 4)
    assert every.certificate is not None
    assert "epsilon = 700 for a person who is in all 7 draws" in every.certificate.verify()


@pytest.mark.parametrize(("draw", "draws"), [("once", 2), ("every", 2 * FRAMES)])
def test_a_head_that_was_found_twice_is_drawn_once(tmp_path: Path, draw: str, draws: int) -> None:
    assert hide(tmp_path, NESTED, draw).draws == draws


def test_tracks_that_meet_where_one_is_drawn_share_the_draw(tmp_path: Path) -> None:
    done = hide(tmp_path, MEETING)
    assert (done.draws, done.longest) == (2, 2)  # the second is drawn where the first is beside it, which is read again
    together = hide(tmp_path, {"1-8": [[10, 10, 20, 20]], "3-8": [[25, 10, 20, 20]]})
    assert (together.draws, together.longest) == (1, 1)


@pytest.mark.parametrize("draw", ["once", "every"])
@pytest.mark.parametrize("listed", [BROKEN, NESTED, MEETING])
def test_every_hidden_pixel_is_read_by_one_draw_at_most(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, listed: dict[str, Any], draw: str
) -> None:
    """Change what one box shows in one frame: one draw at most reads something else, and the rest is equal."""
    seen: list[bytes] = []

    def drawn(self: PictureMechanism, picture: Picture, bits: Any) -> Picture:
        seen.append(picture.tobytes())
        return np.full(self.shape, 90, np.uint8)

    monkeypatch.setattr(BlockMechanism, "drawn", drawn)
    monkeypatch.setattr("noisewright.images.pipeline.video._check_written", lambda *_: None)
    frames = [np.roll(drawing(WIDTH, HEIGHT), number, axis=1) for number in range(FRAMES)]
    hide(tmp_path, listed, draw)  # makes the source, which is not read below
    boxes = OwnFrames.of(listed, "boxes.json").in_each(FRAMES)
    for number in range(FRAMES):
        for _, place in boxes[number]:
            rows, columns = place.bounds(HEIGHT, WIDTH)
            changed = [frame.copy() for frame in frames]
            changed[number][rows, columns] = 255 - changed[number][rows, columns]
            reads = []
            for film in (frames, changed):
                seen.clear()
                monkeypatch.setattr(Video, "frames", lambda self, film=film: iter(film))
                done = hide(tmp_path, listed, draw)
                assert len(seen) == done.draws
                reads.append((list(seen), done.target.read_bytes(), done.certificate.to_json()))  # type: ignore[union-attr]
            (one, shown, stated), (other, shown_other, stated_other) = reads
            assert sum(a != b for a, b in zip(one, other, strict=True)) <= 1
            assert (shown, stated) == (shown_other, stated_other)
