"""The examples run from start to end in a folder of their own, and say what they should."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from noisewright.images import read_picture

EXAMPLES = Path(__file__).parents[1] / "examples"


def run(name, *arguments):
    return subprocess.run(
        [sys.executable, EXAMPLES / name, *arguments], capture_output=True, text=True, timeout=900, check=False
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


def test_repeat_query(tmp_path):
    picture = tmp_path / "repeats.png"
    done = run("repeat_query.py", str(picture))
    assert done.returncode == 0, done.stderr
    rows = [line.split("│")[1:-1] for line in done.stdout.splitlines() if line.startswith("│")]
    asked, fresh, spent, copy, once = ([float(row[i].replace(",", "")) for row in rows] for i in range(5))
    assert asked == [1, 10, 100, 1000, 10000]
    assert fresh[-1] < fresh[0] / 10  # the noise averages out: 20 attacks, about a hundredfold
    assert spent == [n / 2 for n in asked]
    assert len(set(copy)) == len(set(once)) == 1  # the copy neither moves nor costs more
    assert "the exact count in 20 of 20 attacks" in done.stdout
    assert picture.stat().st_size > 5000


def test_clinic(tmp_path):
    """What `make demo` does, on the same 100,000 visits."""
    noisewright = [sys.executable, "-m", "noisewright"]
    made = run("clinic/make_visits.py", str(tmp_path / "visits.parquet"))
    assert made.returncode == 0, made.stderr
    where = [EXAMPLES / "clinic/policy.toml", tmp_path / "visits.parquet"]
    ledger = ["--ledger", tmp_path / "ledger.sqlite"]
    call = [*noisewright, "release", *where, "-o", tmp_path / "released", *ledger, "--json"]
    done = subprocess.run(call, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert (found["rows"], found["epsilon"], found["dropped"]) == (100_000, 5.9, [])
    call = [*noisewright, "verify", tmp_path / "released", *ledger, "--json"]
    verified = subprocess.run(call, capture_output=True, text=True, timeout=900, check=False)
    assert verified.returncode == 0
    assert json.loads(verified.stdout)["proved"] is True
    assert "what epsilon means on the public faces of drawn-faces.nwm was measured again" in verified.stdout
    table = pq.read_table(tmp_path / "released/data.parquet")
    truth = pq.read_table(tmp_path / "visits.parquet")
    days = {day.isoformat() for day in table["visit_date"].to_pylist()}
    assert not any("2025-08" in day for day in days)  # the clinic is closed in August
    assert min(days) >= "2025-01-02"
    assert max(days) <= "2025-12-23"
    answers = {row["diagnosis"]: row["visits by diagnosis"] for row in found["answers"]["visits by diagnosis"]}
    counted = dict(zip(*np.unique(truth["diagnosis"].to_pylist(), return_counts=True), strict=True))
    assert all(abs(answers[name] - counted[name]) < 250 for name in answers)  # e^-25 for each of nine
    assert "<svg" in (tmp_path / "released/report.html").read_text()
    shown, photographs = ({face for face in each["badge"].to_pylist() if face is not None} for each in (table, truth))
    assert table["badge"].null_count == truth["badge"].null_count
    many = 100_000 - table["badge"].null_count
    assert 1700 < many < 2300
    assert many - 20 < len(shown) <= many  # new noise for every photograph: two are hardly ever alike
    assert len(photographs) <= 67 * 8
    assert not shown & photographs
    assert {read_picture(face).shape for face in list(shown)[:50]} == {(48, 48, 3)}


def test_sensitive_question():
    """The seed is fixed, so the intervals below either contain the truth or they do not."""
    done = run("sensitive_question.py")
    assert done.returncode == 0, done.stderr
    assert "proved: epsilon = 1 per unit of discrete" in done.stdout
    low, high = (float(x) for x in re.search(r"interval ([\d.]+) to ([\d.]+)", done.stdout).groups())
    assert low < 307 / 2521 < high
    assert 0.06 < high - low < 0.09  # the plan was for a margin of 4 points
    together = re.search(r"yes +[\d.]+ +([\d.]+) to ([\d.]+)", done.stdout)
    narrower, truth = [float(x) for x in together.groups()], float(re.search(r"truth ([\d.]+)", done.stdout)[1])
    assert narrower[0] < truth < narrower[1]
    assert narrower[1] - narrower[0] < high - low


def test_telemetry(tmp_path):
    done = run("telemetry.py", str(tmp_path / "pages"))
    assert done.returncode == 0, done.stderr
    rows = [line.split("│")[1:-1] for line in done.stdout.splitlines() if line.startswith("│")]
    shares, truth = ([float(row[i]) for row in rows] for i in (1, 3))
    assert len(rows) == 10
    assert all(abs(a - b) < 0.012 for a, b in zip(shares, truth, strict=True))  # seven standard errors
    covered = int(re.search(r"([\d,]+) of 10,000 intervals contain", done.stdout)[1].replace(",", ""))
    assert 9300 < covered < 9700
    assert pq.read_table(tmp_path / "pages/reports.parquet").num_rows == 1_000_000


def test_friends(tmp_path):
    """Two processes; 10,000 people in groups of ten, whose recall varies by less than 0.01 from seed to seed."""
    done = run("friends.py", str(tmp_path / "friends"))
    assert done.returncode == 0, done.stderr
    found = float(re.search(r"recall of 9 neighbours: ([\d.]+)", done.stdout)[1])
    expected = float(re.search(r"50 of them alone: ([\d.]+)", done.stdout)[1])
    assert 0.85 < found < 0.94
    assert abs(found - expected) < 0.05  # 0.02, with a deviation of 0.002 over seeds
    assert "10,000 codes of 32 bytes" in done.stdout
    sent = sum(path.stat().st_size for path in (tmp_path / "friends").glob("batch-*.nwc"))
    assert sent < 10_000 * (32 + 8 + 12) + 5 * 300  # codes and names, no profile: those have 800 bytes each


def test_every_example_is_tested():
    names = {"first_mechanism.py", "friends.py", "repeat_query.py", "sensitive_question.py", "telemetry.py"}
    assert {p.name for p in EXAMPLES.glob("*.py")} == names
    assert {p.name for p in (EXAMPLES / "clinic").iterdir() if p.is_file()} == {
        "make_notes.py",
        "make_visits.py",
        "policy.toml",
    }
