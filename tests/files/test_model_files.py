"""Model files: what was written comes back, nothing else is read, and every damage is found."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from noisewright.exceptions import FileFormatError, ParameterError
from noisewright.io import read_model, write_model
from noisewright.resources import Resource


def test_a_model_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    arrays = {
        "a": np.random.default_rng(1).normal(size=(3, 5)),
        "b": np.arange(7, dtype=np.float32),
        "none": np.empty((0, 4)),
    }
    resource = write_model(tmp_path / "m.nwm", "kind", {"k": [1, "ü"]}, arrays)
    about, found = read_model(resource, "kind")
    assert about == {"k": [1, "ü"]}
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype
        assert (found[name] == array).all()
        assert not found[name].flags.writeable
    assert resource == write_model(tmp_path / "again.nwm", "kind", {"k": [1, "ü"]}, arrays)  # nothing but the content
    with pytest.raises(FileFormatError, match="another kind"):
        read_model(resource, "network")
    with pytest.raises(ParameterError, match="types"):
        write_model(tmp_path / "o.nwm", "kind", {}, {"objects": np.array([{}])})
    assert not (tmp_path / "o.nwm").exists()


def test_any_byte_that_changes_is_found(tmp_path: Path) -> None:
    path = tmp_path / "m.nwm"
    write_model(path, "kind", {"n": 1}, {"a": np.arange(4.0), "b": np.arange(3)})
    content = path.read_bytes()
    assert content[-32:] == hashlib.sha256(content[:-32]).digest()
    numbers = content.index(np.arange(4.0).tobytes())

    @settings(max_examples=100, deadline=None)
    @given(place=st.integers(0, len(content) - 1), change=st.integers(1, 255))
    @example(place=numbers + 8, change=1)
    @example(place=len(content) - 1, change=128)
    def changed(place: int, change: int) -> None:
        bad = tmp_path / "bad.nwm"
        bad.write_bytes(content[:place] + bytes([content[place] ^ change]) + content[place + 1 :])
        with pytest.raises(FileFormatError, match="digest" if place >= numbers else None):
            read_model(Resource.at(bad), "kind")

    changed()


def test_what_is_said_about_a_model_is_under_the_digest(tmp_path: Path) -> None:
    path = tmp_path / "m.nwm"
    write_model(path, "kind", {"source": "public faces"}, {"a": np.arange(4.0)})
    path.write_bytes(path.read_bytes().replace(b"public faces", b"secret faces"))
    with pytest.raises(FileFormatError, match=r"^m\.nwm was changed since it was written: .* copy it once more\.$"):
        read_model(Resource.at(path), "kind")


@pytest.mark.parametrize("cut", [1, 32, 33, 64])
def test_a_file_that_is_cut_short_or_has_no_digest_is_no_model(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "m.nwm"
    write_model(path, "kind", {}, {"a": np.arange(4.0)})
    path.write_bytes(path.read_bytes()[:-cut])
    with pytest.raises(FileFormatError, match=r"^m\.nwm is not a model of Noisewright, or is cut short; "):
        read_model(Resource.at(path), "kind")


def test_a_model_of_another_format_is_named_as_such(tmp_path: Path) -> None:
    path = tmp_path / "m.nwm"
    write_model(path, "kind", {}, {})
    path.write_bytes(path.read_bytes().replace(b'"format": 2', b'"format": 1'))
    with pytest.raises(FileFormatError, match=r"m\.nwm is a model of another format"):
        read_model(Resource.at(path), "kind")


def test_arrays_of_ever_so_many_dimensions_are_no_model(tmp_path: Path) -> None:
    path = tmp_path / "m.nwm"
    write_model(path, "doubling", {}, {"factor": np.ones((1,) * 20)})
    with pytest.raises(FileFormatError, match=r"^m\.nwm is not a model of Noisewright"):
        read_model(Resource.at(path), "doubling")
