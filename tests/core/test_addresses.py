"""What other packages offer, found by real entry points: what is wrong with one of them breaks nothing of the others."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"
POLICY = """
dataset = "d"
budget = { epsilon = 5 }
columns = [{ name = "n", mechanism = "geometric", epsilon = 1, protect = 1 }]
"""
GROUPS = ("mechanisms", "commands", "kinds")
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def installed(tmp_path: Path) -> Callable[..., Run]:
    """Packages, by what they offer in every group: a folder each, with modules and what pip would have written."""

    def install(**packages: tuple[str, str]) -> Run:
        for package, (name, value) in packages.items():
            folder = tmp_path / package
            about = folder / f"{package}-1.5.dist-info"
            about.mkdir(parents=True)
            (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.5\n")
            (about / "entry_points.txt").write_text(
                "".join(f"[noisewright.{group}]\n{name} = {value}\n" for group in GROUPS)
            )
            (folder / "other.py").write_text("THING = 42\n")
            (folder / "leaves.py").write_text("raise SystemExit(3)\n")
        (tmp_path / "policy.toml").write_text(POLICY)
        (tmp_path / "n.csv").write_text("n\n1\n2\n")
        path = os.pathsep.join(map(str, [SOURCE, *(tmp_path / package for package in packages)]))

        def run(*words: str) -> subprocess.CompletedProcess[str]:
            return subprocess.run(
                [sys.executable, "-m", "noisewright", *words],
                cwd=tmp_path,
                env={**os.environ, "PYTHONPATH": path, "COLUMNS": "200"},
                capture_output=True,
                text=True,
                check=False,
                timeout=900,
            )

        return run

    return install


BROKEN = {
    "no such module": {"guest": ("odd", "not_there:THING")},
    "something else": {"guest": ("odd", "other:THING")},
    "leaves": {"guest": ("odd", "leaves:THING")},
    "two of one name": {"guest": ("odd", "other:THING"), "visitor": ("odd", "other:ANOTHER")},
    "an escape": {"guest": ("odd \x1b[31mname", "other:THING")},
}


@pytest.mark.parametrize("packages", BROKEN.values(), ids=BROKEN)
def test_what_has_nothing_to_do_with_it_works(
    installed: Callable[..., Run], packages: dict[str, tuple[str, str]]
) -> None:
    run = installed(**packages)
    page = run("--help")
    assert page.returncode == 0
    assert "verify" in page.stdout
    assert "guest" in page.stdout  # what is wrong is said
    assert "\x1b[31m" not in page.stdout
    listed = run("design")
    assert listed.returncode == 0
    assert "geometric" in listed.stdout
    planned = run("plan", "policy.toml", "n.csv", "--ledger", "ledger", "--json")
    assert planned.returncode == 0, planned.stderr + planned.stdout


@pytest.mark.parametrize("case", ["no such module", "something else", "leaves", "two of one name"])
def test_who_asks_for_it_is_told_in_one_sentence(installed: Callable[..., Run], case: str) -> None:
    run = installed(**BROKEN[case])
    for words in (["odd"], ["design", "odd"]):
        asked = run(*words)
        assert asked.returncode == 2, words
        assert asked.stdout == ""
        assert asked.stderr.count("\n") == 1
        assert "'odd'" in asked.stderr
        assert "remove" in asked.stderr or "that is no" in asked.stderr


def test_the_house_keeps_its_own_names(installed: Callable[..., Run]) -> None:
    run = installed(guest=("geometric", "other:THING"))
    assert run("design", "geometric", "--epsilon", "1").returncode == 0
    unknown = run("design", "nothing-of-that-name")
    assert unknown.stderr.startswith("noisewright: there is no mechanism called 'nothing-of-that-name'; choose one of ")
