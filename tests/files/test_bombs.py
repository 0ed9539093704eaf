"""Small files that unpack to much are refused in a sentence, in little memory: the peak of a process of its own is measured."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from bombs import BOMBS, MEGA, POLICY, command

MEASURE = """
import resource, subprocess, sys
done = subprocess.run([sys.executable, "-m", "noisewright", *sys.argv[1:]], stdout=-1, stderr=-2, timeout=300)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(done.returncode, used.ru_maxrss, done.stdout.decode().replace("\\n", " "))
"""
"""A small process starts the command: what a process begins with counts, and that of the tests is large."""
ACCEPTED = {"one_value_often"}
"""Accepted, because the values are not looked at: nothing of them is held together."""
OUTPUTS = {"o", "o.nwc", "o.nwe", "released"}
USUAL = {
    "match": "p.csv",
    "release": "r.csv",
    "plan": "t.csv",
    "audit": "c.csv",
    "images": "a.png",
    "embeddings": "a.vec",
    "verify": "t.json",
}

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the unit of ru_maxrss is that of Linux")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from PIL import Image

    from noisewright.cli import run

    folder = tmp_path_factory.mktemp("bombs")
    (folder / "policy.toml").write_text(POLICY)
    (folder / "t.csv").write_text("a\n1\n")
    (folder / "r.csv").write_text("a\n1\n")
    (folder / "p.csv").write_text("name,a,b,c,d\nann,1,2,3,4\n")
    (folder / "c.csv").write_text(",a,b\nx,0.5,0.5\ny,0.25,0.75\n")
    (folder / "t.json").write_text("{}")
    (folder / "a.vec").write_text("tea 1 2\ncoffee 2 1\n")
    Image.new("RGB", (40, 40)).save(folder / "a.png")
    scheme = ["match", "seed", "-o", str(folder / "scheme.json"), "--dimension", "4", "--bits", "16", "--epsilon", "4"]
    assert run(scheme) == 0
    return folder


@cache
def usual(word: str, place: Path) -> int:
    """The peak of a command that reads a small file of the usual kind, in bytes."""
    words = (
        command(USUAL[word]) if word != "plan" else [*command("b.csv")[:2], "t.csv", "--inspect", "--ledger", "ledger"]
    )
    peak = measured(words, place)[1]
    for name in OUTPUTS:
        shutil.rmtree(place / name, ignore_errors=True)
        if (place / name).is_file():
            (place / name).unlink()
    return peak


def measured(words: list[str], place: Path) -> tuple[int, int, str]:
    done = subprocess.run(
        [sys.executable, "-S", "-c", MEASURE, *words],
        cwd=place,
        env=os.environ,
        capture_output=True,
        text=True,
        check=True,
    )
    code, peak, said = done.stdout.split(" ", 2)
    return int(code), int(peak) * 1024, said.strip()


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_in_little_memory(name: str, place: Path) -> None:
    file, make = BOMBS[name]
    common = usual(command(file)[0], place)
    (place / file).write_bytes(make())
    size = (place / file).stat().st_size
    words = command(file)
    code, peak, said = measured(words, place)
    (place / file).unlink()
    assert "Traceback" not in said
    assert "went wrong inside" not in said
    taken = peak - common
    assert taken <= min(64 * MEGA + 20 * size, 1024 * MEGA), (
        f"{taken / MEGA:.0f} MB for {size / MEGA:.2f} MB: {said[:200]}"
    )
    if name not in ACCEPTED:
        assert code in (1, 2), said[:200]
        assert not {path.name for path in place.iterdir()} & OUTPUTS
