"""Ctrl-C right after the system made a file or a folder, before its name is known to anybody: nothing stays."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from noisewright.io.atomic import whole_folder, write_atomically


def test_a_file_that_was_just_made_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.open

    def interrupted(*given: Any, **named: Any) -> int:
        os.close(real(*given, **named))
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "open", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(tmp_path / "whole.json", b"{}")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_was_just_made_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.mkdir

    def interrupted(*given: Any, **named: Any) -> None:
        real(*given, **named)
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "mkdir", interrupted)
    with pytest.raises(KeyboardInterrupt), whole_folder(tmp_path / "shown"):
        pass
    assert list(tmp_path.iterdir()) == []
