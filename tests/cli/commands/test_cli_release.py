"""``noisewright release``, ``plan`` and ``verify`` as a user meets them: in processes of their own, killed, raced and misled."""

from __future__ import annotations

import json
import random
import signal
import sqlite3
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from cli_support import environment, own_signals

from noisewright.ledger.ledger import Ledger
from noisewright.releases.lock import Lock

COMMAND = [sys.executable, "-m", "noisewright"]
POLICY = """
dataset = "clinic"
[budget]
epsilon = 4

[[columns]]
name = "smoker"
mechanism = "randomised-response"
categories = ["yes", "no"]
epsilon = 1

[[columns]]
name = "age"
mechanism = "geometric"
within = [0, 110]
protect = 5
epsilon = 0.5

[[queries]]
name = "visits by smoking"
aggregate = "histogram"
column = "smoker"
values = ["yes", "no"]
epsilon = 0.25
"""


def visits(rows: int) -> pa.Table:
    rng = np.random.default_rng(11)
    return pa.table(
        {
            "smoker": np.array(["yes", "no"])[rng.integers(2, size=rows)],
            "age": rng.integers(0, 100, rows),
            "note": ["nothing to tell"] * rows,
        }
    )


@pytest.fixture
def clinic(tmp_path: Path) -> Path:
    (tmp_path / "policy.toml").write_text(POLICY)
    pq.write_table(visits(2000), tmp_path / "visits.parquet")
    return tmp_path


def words(folder: Path, *more: str | Path) -> tuple[str | Path, ...]:
    return ("release", folder / "policy.toml", folder / "visits.parquet", "-o", folder / "out", *more)


def ledger(folder: Path) -> tuple[str, Path]:
    return ("--ledger", folder / "ledger.sqlite")


def test_a_plan_says_what_the_ledger_will_say(shell, call, clinic):
    """It fits by its price, but protects less than the budget is about: the plan knows, and so does the release."""
    shell(*words(clinic, *ledger(clinic)))
    (clinic / "policy.toml").write_text(POLICY.replace("protect = 5", "protect = 4"))
    asked = ("plan", clinic / "policy.toml", clinic / "visits.parquet", *ledger(clinic))
    assert "this release does NOT fit: the budget of 'clinic'" in shell(*asked).words
    budget = shell(*asked, "--json").json["budget"]
    assert (budget["fits"], budget["left_epsilon"], budget["releases"]) == (False, 2.25, 1)
    done = call("release", *asked[1:3], "-o", clinic / "second", *ledger(clinic))
    assert done.code != 0
    assert budget["refusal"] in done.err
    assert not (clinic / "second").exists()
    line = POLICY.replace("protect = 5", "protect = 0.5").splitlines().index("protect = 0.5") + 1
    (clinic / "policy.toml").write_text(POLICY.replace("protect = 5", "protect = 0.5"))
    told = call(*asked)
    assert told.code != 0
    assert f"policy.toml, line {line}: column 'age': protect = 1/2 protects nothing" in told.err


@pytest.mark.parametrize("width", ["60", "80", "100"])
def test_the_table_of_a_plan_breaks_no_mechanism_and_loses_no_error(width, call, clinic, monkeypatch):
    monkeypatch.setenv("COLUMNS", width)
    long = POLICY.replace('name = "visits by smoking"', 'name = "visits by smoking, one of several long names"')
    (clinic / "policy.toml").write_text(long)
    shown = call("plan", clinic / "policy.toml", clinic / "visits.parquet", "--ledger", clinic / "ledger.sqlite").out
    table = shown[: shown.index("Total")]
    assert "randomised-response" in table
    assert "histogram, geometric" in table
    assert "26.9%" in table
    assert "expected error at most" not in table
    assert max(map(len, table.splitlines()[1:])) <= int(width)  # a path is in one piece


def test_from_policy_to_a_verified_release(shell, clinic):
    plan = shell("plan", clinic / "policy.toml", clinic / "visits.parquet", *ledger(clinic))
    assert "nothing drawn" in plan.out
    assert "epsilon = 1.75" in plan.words
    assert "this release fits" in plan.words
    assert "Dropped every column that the policy does not name" in plan.words
    assert "note" not in plan.words
    assert not (clinic / "ledger.sqlite").exists()
    done = shell(*words(clinic, *ledger(clinic)))
    assert "2,000 rows and 1 answer released" in done.out
    assert len(done.out.splitlines()) <= 16
    assert "expected error" not in done.words
    simulated = shell(*words(clinic)[:3], "-o", clinic / "details", "--seed", "1", "--details")
    assert "Dropped every column that the policy does not name" in simulated.words
    assert "column or answer mechanism epsilon between expected error" in simulated.words
    assert "<p>Not released at all: every column that the policy does not name.</p>" in (
        (clinic / "out/report.html").read_text()
    )
    assert "epsilon 2.25 of 4 left" in done.words
    verified = shell("verify", clinic / "out", *ledger(clinic), "--json").json
    assert verified["proved"] is True
    released = pq.read_table(clinic / "out/data.parquet")
    assert released.schema.names == ["smoker", "age"]
    assert released.num_rows == 2000
    shown = shell("ledger", "export", clinic / "ledger.sqlite", "-o", clinic / "ledger.csv")
    assert shown.code == 0
    assert "visits by smoking" in (clinic / "ledger.csv").read_text()
    again = shell(*words(clinic, *ledger(clinic), "--json")).json
    assert again["drawn"] is False
    assert again["left_epsilon"] == 2.25


def test_a_folder_is_verified_as_a_whole(call, clinic):
    assert call(*words(clinic, *ledger(clinic))).code == 0
    alone = call("verify", clinic / "out")
    assert alone.code == 0
    assert "release, proved in all 3 parts" in alone.words
    assert "Agrees every file is as it was written, and there is no other" in alone.words
    assert "Not checked that a ledger recorded this release" in alone.words
    found = call("verify", clinic / "out", *ledger(clinic), "--json").json
    assert (found["proved"], found["files"][0]["problems"]) == (True, [])
    assert "recorded this release" in found["files"][0]["agreed"][-1]
    (clinic / "out/report.html").write_text("all is well")
    wrong = call("verify", clinic / "out", *ledger(clinic))
    assert wrong.code == 1
    assert "NOT the files of one release" in wrong.words
    assert "Wrong report.html is missing or was changed after the release." in wrong.words
    assert call("verify", clinic / "out", *ledger(clinic), "--json").json["proved"] is False
    assert call("verify", clinic / "out/certificate.json").code == 0


def test_what_cannot_be_verified_as_a_folder_is_one_sentence(call, clinic):
    call(*words(clinic, *ledger(clinic)))
    for given, said in (
        ((clinic / "out/certificate.json", *ledger(clinic)), "--ledger is for folders"),
        ((clinic / "out", "--ledger", clinic / "nothing"), "there is no ledger"),
        ((clinic,), "there is no certificate.json in it"),
    ):
        answer = call("verify", *given)
        assert answer.code == 2
        assert said in answer.err
    assert not (clinic / "nothing").exists()


def test_a_smaller_protected_distance_is_refused_in_one_sentence(call, clinic):
    call(*words(clinic, *ledger(clinic)))
    (clinic / "policy.toml").write_text(POLICY.replace("protect = 5", "protect = 1"))
    answer = call(*words(clinic, *ledger(clinic), "--replace"))
    assert answer.code == 2
    assert "values at most 5 apart in 'age'" in " ".join(answer.err.split())
    assert Ledger(clinic / "ledger.sqlite").remaining("clinic").spent_epsilon == Fraction(7, 4)


def test_the_exported_checker_proves_a_release_alone(shell, clinic):
    shell(*words(clinic, *ledger(clinic)))
    folder = clinic / "stranger"
    folder.mkdir()
    shell("verify", clinic / "out/certificate.json", "--export-checker", folder / "checker.py")
    alone = [sys.executable, "-I", "-S", str(folder / "checker.py"), str(clinic / "out/certificate.json")]
    done = subprocess.run(alone, capture_output=True, text=True, env={}, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "epsilon = 1.75 between two tables" in done.stdout
    forged = json.loads((clinic / "out/certificate.json").read_text())
    forged["total"]["epsilon"] = "1"
    (clinic / "out/certificate.json").write_text(json.dumps(forged))
    assert subprocess.run(alone, capture_output=True, text=True, env={}, check=False).returncode == 1


def test_plan_in_json_and_the_schema(call, clinic):
    plan = call("plan", clinic / "policy.toml", clinic / "visits.parquet", *ledger(clinic), "--json").json
    assert plan["epsilon"] == 1.75
    assert plan["dropped"] == []  # what a policy does not name is nobody's business
    unit = '[unit]\ncolumn = "note"\nrows = 2\n'
    (clinic / "named.toml").write_text(POLICY.replace("[budget]", f"{unit}[budget]"))
    assert call("plan", clinic / "named.toml", clinic / "visits.parquet", "--json").json["dropped"] == ["note"]
    assert [c["epsilon"] for c in plan["columns"]] == [1.0, 0.5]
    assert plan["budget"] == {
        "epsilon": 4.0,
        "delta": 0.0,
        "left_epsilon": 4.0,
        "left_delta": 0.0,
        "releases": 0,
        "fits": True,
        "refusal": None,
    }
    assert call("plan", "--schema", "--json").json["title"]


def test_plan_solves_for_a_wanted_error(call, clinic):
    path = clinic / "policy.toml"
    plan = call("plan", path, clinic / "visits.parquet", "--target-error", "age=20", *ledger(clinic), "--json").json
    age = plan["columns"][1]
    assert age["error"] <= 20
    assert age["epsilon"] < 0.5
    path.write_text(POLICY.replace("epsilon = 0.5", f"epsilon = {age['epsilon'] * 0.98:.6f}"))
    worse = call("plan", path, clinic / "visits.parquet", *ledger(clinic), "--json").json["columns"][1]
    assert worse["error"] > 20  # two per cent less would not do
    for wrong in ("age=0", "age", "nobody=3", "age=1e-9"):
        assert call("plan", path, clinic / "visits.parquet", "--target-error", wrong).code == 2


def test_warnings(call, clinic):
    path = clinic / "policy.toml"
    path.write_text(POLICY.replace("epsilon = 4", "epsilon = 40").replace("epsilon = 1\n", "epsilon = 11\n"))
    table = visits(2000).append_column("smokes", visits(2000)["smoker"])
    pq.write_table(table.set_column(1, "age", pa.array([0, 110] * 1000)), clinic / "visits.parquet")
    with path.open("a") as file:
        file.write('\n[[columns]]\nname = "smokes"\nkeep = true\n')
    found = call("plan", path, clinic / "visits.parquet", *ledger(clinic), "--json").json["warnings"]
    text = " ".join(found)
    assert "close to no protection" in text
    assert "age: its declared range is just that of the data" in text
    assert "smokes: kept as it is, so not protected" in text
    assert "smoker follows from smokes" in text
    assert "perturbed one by one" in text


def test_cautions_come_before_the_price_is_paid(call, clinic):
    """They are on stderr, once; also where the ledger then refuses, so that nothing can have been spent."""
    done = call(*words(clinic, *ledger(clinic)))
    assert done.err.startswith("Warning: smoker and age are perturbed one by one")
    assert "Warning" not in done.out
    again = call(*words(clinic, *ledger(clinic)))
    assert "nothing is spent" in again.words
    assert "Warning" not in again.words
    assert again.err == ""
    assert (
        "Warning: smoker and age are perturbed one by one" in call(*words(clinic, *ledger(clinic)), "--details").words
    )
    asked = ("release", clinic / "policy.toml", clinic / "visits.parquet", *ledger(clinic))
    assert call(*asked, "-o", clinic / "second", "--again").code == 0
    refused = call(*asked, "-o", clinic / "third", "--again")
    *cautions, last = refused.err.splitlines()
    assert refused.code == 2
    assert len(cautions) == 2
    assert all(line.startswith("Warning: ") for line in cautions)
    assert last.startswith("noisewright: this release asks for epsilon 1.75, but only 0.5")
    assert last.endswith("write a larger one into the policy, and say raise_budget=True, --raise-budget.")
    assert len(Ledger(clinic / "ledger.sqlite").entries("clinic")) == 2 * 3


def test_another_format_is_a_copy_and_another_draw_is_asked_for(call, clinic):
    """Beside the release of these data under this policy, nobody pays twice by mistake."""
    call(*words(clinic, *ledger(clinic)))
    asked = ("release", clinic / "policy.toml", clinic / "visits.parquet", *ledger(clinic))
    copied = call(*asked, "-o", clinic / "copy", "--format", "csv", "--json").json
    assert (copied["drawn"], copied["copy_of"], copied["left_epsilon"]) == (False, str(clinic / "out"), 2.25)
    same, other = pq.read_table(clinic / "out/data.parquet"), pyarrow.csv.read_csv(clinic / "copy/data.csv")
    assert same.to_pylist() == other.to_pylist()
    assert (clinic / "copy/certificate.json").read_bytes() == (clinic / "out/certificate.json").read_bytes()
    assert "data.parquet" not in (clinic / "copy/report.html").read_text()
    assert call("verify", clinic / "copy", *ledger(clinic)).code == 0
    refused = call(*asked, "-o", clinic / "out", "--format", "csv")
    assert refused.code == 2
    assert "holds this release already, as data.parquet: another folder gets a copy as csv for nothing" in refused.err
    assert call(*asked, "-o", clinic / "copy", "--format", "csv.gz", "--replace").code == 0
    assert sorted(path.name for path in (clinic / "copy").glob("data.*")) == ["data.csv.gz"]
    assert call("verify", clinic / "copy", *ledger(clinic)).code == 0
    refused = call(*asked, "-o", clinic / "third")
    assert refused.code == 2
    assert "is the release of these data under this policy already" in refused.err
    assert refused.err.endswith("or draw anew with again=True, --again.\n")
    assert not (clinic / "third").exists()
    assert len(Ledger(clinic / "ledger.sqlite").entries("clinic")) == 3
    pq.write_table(visits(1999), clinic / "visits.parquet")  # other data are another release
    assert call(*asked, "-o", clinic / "third", "--json").json["drawn"]


def test_an_epsilon_beyond_all_sense(call, clinic):
    path = clinic / "policy.toml"
    for epsilon, told in (("60", "which promises nothing"), ("800", "beyond the 700 up to which odds can be computed")):
        path.write_text(
            POLICY.replace("epsilon = 4", "epsilon = 4000").replace("epsilon = 1\n", f"epsilon = {epsilon}\n")
        )
        assert told in call("plan", path, clinic / "visits.parquet", *ledger(clinic)).words
    refused = call(*words(clinic, *ledger(clinic)))
    assert refused.code == 2
    line = path.read_text().splitlines().index("epsilon = 800") + 1
    assert f"policy.toml, line {line}: smoker would cost epsilon 800" in refused.err
    assert not (clinic / "ledger.sqlite").exists()
    assert call(*words(clinic, "--seed", "1")).code == 0  # a simulation promises nothing to anybody


def test_csv_in_csv_out(call, clinic):
    pyarrow.csv.write_csv(visits(500), clinic / "visits.csv")
    out = clinic / "out"
    call("release", clinic / "policy.toml", clinic / "visits.csv", "-o", out, "--format", "csv", *ledger(clinic))
    released = pyarrow.csv.read_csv(out / "data.csv")
    assert released.schema.names == ["smoker", "age"]
    assert set(released["smoker"].to_pylist()) == {"yes", "no"}
    assert released.num_rows == 500


def test_the_policy_can_name_its_data_and_its_ledger(shell, clinic):
    text = POLICY.replace("[budget]", 'data = "visits.parquet"\n[ledger]\npath = "own.sqlite"\n[budget]')
    (clinic / "policy.toml").write_text(text)
    done = shell("release", clinic / "policy.toml", "-o", clinic / "out", "--json").json
    assert done["rows"] == 2000
    assert Ledger(clinic / "own.sqlite", create_missing=False).datasets() == ["clinic"]


BAD = {
    "no such data": (lambda f: (f / "visits.parquet").unlink(), "there is no file"),
    "corrupt Parquet": (lambda f: (f / "visits.parquet").write_bytes(b"PAR1" + b"x" * 500), "visits.parquet"),
    "cut Parquet": (lambda f: _cut(f / "visits.parquet"), "visits.parquet"),
    "missing column": (lambda f: pq.write_table(visits(9).drop_columns(["age"]), f / "visits.parquet"), "'age'"),
    "wrong type": (
        lambda f: pq.write_table(visits(9).set_column(1, "age", visits(9)["note"]), f / "visits.parquet"),
        "age",
    ),
    "unknown category": (
        lambda f: pq.write_table(
            visits(2).set_column(0, "smoker", pa.array(["yes", "sentinel"])), f / "visits.parquet"
        ),
        "smoker",
    ),
    "missing value": (
        lambda f: pq.write_table(visits(2).set_column(1, "age", pa.array([1, None])), f / "visits.parquet"),
        "missing values",
    ),
    "policy with a typing error": (
        lambda f: (f / "policy.toml").write_text(POLICY.replace("epsilon = 0.5", "epsilonn = 0.5")),
        "line 17: columns[1].epsilonn",
    ),
    "policy over its budget": (
        lambda f: (f / "policy.toml").write_text(POLICY.replace("epsilon = 4", "epsilon = 1")),
        "1.75",
    ),
    "not TOML": (lambda f: (f / "policy.toml").write_text("dataset = "), "line 1"),
    "a newer ledger": (lambda f: _newer(f / "ledger.sqlite"), "newer"),
    "not a ledger": (lambda f: (f / "ledger.sqlite").write_bytes(b"hello" * 1000), "ledger"),
    "output taken": (lambda f: (f / "out").mkdir() or (f / "out/mine.txt").write_text("x"), "there already"),
    "output in no folder": (lambda f: None, "there is no folder"),
}


def _cut(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2] + b"\0" * (len(content) // 2 - 8) + content[-8:])


def _newer(path: Path) -> None:
    Ledger(path)
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 999")


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_sentence_and_costs_nothing(case, call, clinic):
    spoil, expected = BAD[case]
    spoil(clinic)
    out = clinic / "nowhere/out" if case == "output in no folder" else clinic / "out"
    before = sorted(p.name for p in clinic.iterdir())
    answer = call(
        "release", clinic / "policy.toml", clinic / "visits.parquet", "-o", out, "--ledger", clinic / "ledger.sqlite"
    )
    assert answer.code == 2
    assert expected in answer.err
    assert "sentinel" not in answer.err
    assert {p.name for p in clinic.iterdir()} - set(before) <= {
        "ledger.sqlite",
        "ledger.sqlite-wal",
        "ledger.sqlite-shm",
    }
    if case not in ("a newer ledger", "not a ledger") and (clinic / "ledger.sqlite").exists():
        assert Ledger(clinic / "ledger.sqlite").datasets() == []


@pytest.mark.parametrize(
    "more",
    [
        ("--engine", "flink"),
        ("--format", "xls"),
        ("--master", "local[2]"),
        ("--seed", "-1"),
    ],
)
def test_bad_options(more, call, clinic):
    assert call(*words(clinic, *ledger(clinic), *more)).code == 2
    assert not (clinic / "out").exists()


def test_a_full_disk_leaves_nothing_but_the_spend(clinic):
    """A file size limit stands in for a full disk: the same error from the same calls."""
    pq.write_table(visits(300_000), clinic / "visits.parquet")
    limit = "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000)); "
    limit += "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
    limit += "from noisewright.cli import run; sys.exit(run(sys.argv[1:]))"
    call = [sys.executable, "-c", limit, *map(str, words(clinic, *ledger(clinic)))]
    done = subprocess.run(call, capture_output=True, text=True, env=environment(), timeout=900, check=False)
    assert done.returncode == 2
    last = done.stderr.splitlines(keepends=True)[-1]
    assert last == f"noisewright: {clinic}/out/data.parquet cannot be written: File too large.\n"
    assert {p.name for p in clinic.iterdir()} <= {
        "policy.toml",
        "visits.parquet",
        "ledger.sqlite",
        "ledger.sqlite-wal",
        "ledger.sqlite-shm",
    }
    assert Ledger(clinic / "ledger.sqlite").remaining("clinic").spent_epsilon == Fraction(7, 4)


def test_two_processes_race_for_the_last_of_the_budget(clinic):
    (clinic / "policy.toml").write_text(POLICY.replace("epsilon = 4", "epsilon = 2"))
    racing = []
    for place in range(4):
        call = [*COMMAND, "release", clinic / "policy.toml", clinic / "visits.parquet", "-o", clinic / f"out{place}"]
        call += [*ledger(clinic), "--again"]  # or who comes late finds the release of who was first
        racing.append(subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()))
    ended = [(*process.communicate(timeout=900), process.returncode) for process in racing]
    assert sorted(code for *_, code in ended) == [0, 2, 2, 2]
    assert all(b"only 0.25 of the budget" in err for _, err, code in ended if code)
    assert sum((clinic / f"out{place}").exists() for place in range(4)) == 1
    assert Ledger(clinic / "ledger.sqlite").remaining("clinic").spent_epsilon == Fraction(7, 4)


def test_killed_at_random_points_there_is_the_old_output_or_the_new_one(clinic):
    """Many kill -9, spread over the time that a release takes: whole outputs, and never less in the ledger than was drawn."""
    (clinic / "policy.toml").write_text(POLICY.replace("epsilon = 4", "epsilon = 4000"))
    pq.write_table(visits(50_000), clinic / "visits.parquet")
    call = [*COMMAND, *map(str, words(clinic, *ledger(clinic), "--again"))]
    start = time.monotonic()
    subprocess.run(call, check=True, capture_output=True, env=environment())
    whole = time.monotonic() - start
    chance = random.Random(17)
    for _ in range(6):
        before = Ledger(clinic / "ledger.sqlite").remaining("clinic").spent_epsilon
        old = (clinic / "out/certificate.json").read_bytes(), (clinic / "out/policy.lock").read_bytes()
        process = subprocess.Popen(call, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment())
        time.sleep(whole * (0.3 + 0.8 * chance.random()))  # the first third is Python starting
        process.send_signal(signal.SIGKILL)
        code = process.wait()
        lock = Lock.from_json((clinic / "out/policy.lock").read_text())
        assert lock.changed(clinic / "out") == []
        assert pq.read_table(clinic / "out/data.parquet").num_rows == 50_000
        new = (clinic / "out/policy.lock").read_bytes() != old[1]
        spent = Ledger(clinic / "ledger.sqlite").remaining("clinic").spent_epsilon
        assert spent in (before, before + Fraction(7, 4))
        if new or code == 0 or any(clinic.glob(f".out.{process.pid}-*.staging/data.parquet")):
            assert spent == before + Fraction(7, 4)  # something was drawn, so it is in the ledger
    done = subprocess.run(call, check=True, capture_output=True, env=environment())
    assert done.returncode == 0
    assert [p.name for p in clinic.iterdir() if p.name.startswith(".out")] == []  # what the dead left is gone


INTERRUPTED = """
import os, signal
from noisewright.sampling import random_bits as bits
draw, drawn = bits._Stream.words, []
def words(stream, count):
    drawn.append(count)
    if len(drawn) == 8:
        os.kill(os.getpid(), signal.SIGINT)
    return draw(stream, count)
bits._Stream.words = words
from noisewright.__main__ import main
main()
"""


def test_ctrl_c_leaves_nothing(clinic):
    """In the midst of drawing, while all cores are at it."""
    pq.write_table(visits(300_000), clinic / "visits.parquet")
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, *map(str, words(clinic, *ledger(clinic)))],
        capture_output=True,
        env=environment(),
        preexec_fn=own_signals,
        timeout=900,
        check=False,
    )
    assert (done.returncode, done.stdout) == (130, b"")
    assert done.stderr.endswith(b"noisewright: interrupted.\n")
    assert b"Traceback" not in done.stderr
    assert Ledger(clinic / "ledger.sqlite").remaining("clinic").spent_epsilon == Fraction(7, 4)
    assert not [p for p in clinic.iterdir() if "out" in p.name]


def test_the_epsilon_to_write_is_that_of_one_row(call, tmp_path):
    (tmp_path / "t.csv").write_text("who,age\na,31\na,40\nb,50\n")
    text = 'dataset = "d"\nbudget.epsilon = 9\n[unit]\ncolumn = "who"\nrows = 2\n[[columns]]\nname = "age"\n'
    text += 'mechanism = "geometric"\nwithin = [0, 120]\nprotect = 5\nepsilon = {}\n'
    (tmp_path / "p.toml").write_text(text.format(1))
    words = ("plan", tmp_path / "p.toml", tmp_path / "t.csv", "--ledger", tmp_path / "book")
    solved = call(*words, "--target-error", "age=3", "--json").json["solved"]["age"]
    assert f"write into the policy: epsilon = {solved} for age." in call(*words, "--target-error", "age=3").words
    (tmp_path / "p.toml").write_text(text.format(solved))
    (age,) = call(*words, "--json").json["columns"]
    assert 2.9 < age["error"] <= 3
    assert age["epsilon"] == pytest.approx(2 * float(solved))


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("release t.csv p.toml -o out", "the policy comes first, and then the table: p.toml t.csv."),
        ("plan t.csv p.toml", "the policy comes first, and then the table: p.toml t.csv."),
        ("release p.toml t.csv -o out.csv", "out.csv is the name of a file, and a release is a folder with a table"),
        ("release p.toml t.csv -o out.csv", "write -o out --format csv."),
        ("release p.toml t.csv -o my.out.csv.gz", "write -o my.out --format csv.gz."),
        ("release p.toml t.csv -o out.parquet", "write -o out."),
        ("estimate .", ". is no folder of a release, and reports of a mechanism need --mechanism FILE."),
    ],
)
def test_files_in_the_wrong_places(call, tmp_path, monkeypatch, words, told):
    monkeypatch.chdir(tmp_path)
    answer = call(*words.split())
    assert answer.code == 2
    assert told in answer.err
    assert not list(tmp_path.iterdir())
