"""Model files: what was written comes back, nothing else is read, and every damage is found."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noisewright.core.errors import FileFormatError, ParameterError
from noisewright.core.resource import Resource
from noisewright.files import read_model, write_model


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


def test_any_byte_of_the_header_that_changes_is_found_or_changes_what_is_read(tmp_path: Path) -> None:
    arrays = {"a": np.arange(4.0), "b": np.arange(3)}
    path = tmp_path / "m.nwm"
    write_model(path, "kind", {"n": 1}, arrays)
    content = path.read_bytes()
    end = 16 + int.from_bytes(content[8:16], "little")
    assert json.loads(content[16:end])["format"] == 1

    @settings(max_examples=60, deadline=None)
    @given(place=st.integers(0, end - 1), byte=st.integers(0, 255))
    def changed(place: int, byte: int) -> None:
        bad = tmp_path / "bad.nwm"
        bad.write_bytes(content[:place] + bytes([byte]) + content[place + 1 :])
        try:
            about, found = read_model(Resource.at(bad), "kind")
        except FileFormatError:
            return
        same = about == {"n": 1} and list(found) == ["a", "b"] and all((found[k] == arrays[k]).all() for k in found)
        assert same == (bad.read_bytes() == content)

    changed()


def test_a_model_of_a_later_format_is_named_as_such(tmp_path: Path) -> None:
    path = tmp_path / "m.nwm"
    write_model(path, "kind", {}, {})
    path.write_bytes(path.read_bytes().replace(b'"format": 1', b'"format": 2'))
    with pytest.raises(FileFormatError, match=r"m\.nwm is a model of a later format; install a newer version"):
        read_model(Resource.at(path), "kind")
