from __future__ import annotations

from importlib import metadata

import pytest

from noisewright.cli.commands import doctor


def test_a_healthy_base(call):
    answer = call("doctor", "--json")
    assert answer.code == 0
    data = answer.json
    assert set(data) == {
        "healthy",
        "noisewright",
        "python",
        "executable",
        "platform",
        "dependencies",
        "extras",
        "checks",
    }
    assert data["healthy"] is True
    assert {"numpy", "scipy", "cryptography", "typer"} <= {part["name"] for part in data["dependencies"]}
    assert all(check["problem"] is None for check in data["checks"])
    assert len(data["checks"]) == 5


def test_extras_are_those_of_the_package(call):
    extras = {part["name"]: part for part in call("doctor", "--json").json["extras"]}
    stated = set(metadata.metadata("noisewright").get_all("Provides-Extra") or []) - {"all", "dev"}
    assert set(extras) == stated
    for part in extras.values():
        assert part["adds"] != "more parts"
        assert part["installed"] == (not part["missing"])


def test_the_page(call):
    answer = call("doctor")
    assert "The base is healthy." in answer.out
    assert "a forked process draws other noise" in answer.out
    assert max(map(len, answer.out.splitlines())) <= 100


def test_an_unknown_extra_needs_no_change_here(call, monkeypatch):
    lines = ["numpy>=2.0", 'nothing-such>=1; extra == "new"', 'noisewright[new]; extra == "all"']
    monkeypatch.setattr(metadata, "requires", lambda _: lines)
    data = call("doctor", "--json").json
    assert data["healthy"] is True
    assert [(part["name"], part["installed"], part["missing"]) for part in data["extras"]] == [
        ("new", False, ["nothing-such"])
    ]


@pytest.mark.parametrize("line", ["nothing-such", "numpy>=99", "numpy<1", "numpy==1.0"])
def test_a_base_that_is_not_healthy(call, monkeypatch, line):
    monkeypatch.setattr(metadata, "requires", lambda _: [line])
    assert call("doctor", "--json").code == 1
    answer = call("doctor")
    assert answer.code == 1
    assert "PROBLEM" in answer.out
    assert "NOT healthy" in answer.out


def test_a_package_that_does_not_start(call, monkeypatch):
    def broken(name: str) -> None:
        raise OSError("a library is missing")

    monkeypatch.setattr(doctor.importlib, "import_module", broken)
    answer = call("doctor", "--json")
    assert answer.code == 1
    assert "does not start" in answer.json["dependencies"][0]["problem"]


def test_a_source_tree_without_a_package(call, monkeypatch):
    def missing(name: str) -> None:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "requires", missing)
    assert call("doctor").code == 1
    assert call("doctor", "--json").json["dependencies"] == []


def test_noise_that_repeats_is_found(call, monkeypatch):
    import numpy as np

    monkeypatch.setattr(
        "noisewright.sampling.random_bits.SystemBits.words", lambda _, count: np.zeros(count, dtype=np.uint64)
    )
    answer = call("doctor", "--json")
    assert answer.code == 1
    found = {check["name"]: check["problem"] for check in answer.json["checks"]}
    assert "not tried" in found["a small mechanism draws within its range"]
    assert found["random bits come from the operating system"] == "two draws were the same"
    assert found["a forked process draws other noise"] == "parent and child drew the same noise"


@pytest.mark.parametrize(
    ("version", "wanted", "fits"),
    [
        ("2.0.1", ">=2.0", True),
        ("2", ">=2.0", True),
        ("1.26.4", ">=2.0", False),
        ("10.0", ">=9.5", True),
        ("1.6.1", ">=1.6,<1.9", True),
        ("1.9", ">=1.6,<1.9", False),
        ("2.13.0+cpu", "==2.13.0", True),
        ("3.0rc1", "!=2", True),
        ("1.0", "", True),
    ],
)
def test_versions(version, wanted, fits):
    assert doctor._fits(version, wanted) is fits
