"""Archives of packages: fetched by the real pip from an index in a folder, and compared with a known digest."""

from __future__ import annotations

import hashlib
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from noisewright.exceptions import ResourceError
from noisewright.io.model_files import Archive

NAME = "tiny-1.0-py3-none-any.whl"
METADATA = "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n"
WHEEL = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Archive:
    """A package in an index of its own; pip asks no other one."""
    index = tmp_path / "simple"
    (index / "tiny").mkdir(parents=True)
    wheel = index / "tiny" / NAME
    with zipfile.ZipFile(wheel, "w") as file:
        file.writestr("tiny.py", "")
        file.writestr("tiny-1.0.dist-info/METADATA", METADATA)
        file.writestr("tiny-1.0.dist-info/WHEEL", WHEEL)
        file.writestr("tiny-1.0.dist-info/RECORD", "")
    (index / "tiny" / "index.html").write_text(f'<a href="{NAME}">{NAME}</a>')
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_INDEX_URL", index.as_uri())
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "")
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    return Archive("pip", "tiny", "1.0", hashlib.sha256(wheel.read_bytes()).hexdigest())


def test_the_known_archive_is_fetched(archive: Archive, tmp_path: Path) -> None:
    folder = tmp_path / "got"
    folder.mkdir()
    assert archive.fetch(folder, "give a file") == folder / NAME


def test_another_archive_is_rejected(archive: Archive, tmp_path: Path) -> None:
    folder = tmp_path / "got"
    folder.mkdir()
    wanted = replace(archive, sha256="0" * 64)
    with pytest.raises(
        ResourceError, match=rf"tiny 1\.0 is not the known package .*{archive.sha256[:12]}.*not 0{{12}}"
    ):
        wanted.fetch(folder, "give a file")


def test_a_missing_package_ends_in_one_sentence(archive: Archive, tmp_path: Path) -> None:
    folder = tmp_path / "got"
    folder.mkdir()
    with pytest.raises(ResourceError, match=r"pip could not fetch tiny 2\.0 .*check the connection, or give a file\."):
        replace(archive, version="2.0").fetch(folder, "give a file")
