"""The examples run from start to end in a folder of their own, and say what they should."""

import json
import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[1] / "examples"


def run(name, *arguments):
    return subprocess.run(
        [sys.executable, EXAMPLES / name, *arguments], capture_output=True, text=True, timeout=300, check=False
    )


def test_first_mechanism(tmp_path):
    done = run("first_mechanism.py", str(tmp_path / "demo"))
    assert done.returncode == 0, done.stderr
    assert "proved: epsilon = 1 per unit of line" in done.stdout
    assert "refused: the certificate does not prove its claim" in done.stdout
    document = json.loads((tmp_path / "demo/visits.json").read_text())
    assert document["numerics"] == "exact"
    assert "not for release" not in document["randomness"]
    assert {p.name for p in (tmp_path / "demo").iterdir()} == {"visits.json"}


def test_every_example_is_tested():
    assert {p.name for p in EXAMPLES.glob("*.py")} == {"first_mechanism.py"}
