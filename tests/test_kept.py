"""What version 0.1.0 wrote is read, proved and made again, and what is said to kept calls is said in the same words.

``fixtures/kept`` holds certificates, releases and saved channels of then, with the calls that made them; they are never made
anew. Certificates are brought to the present format. What is printed beside them, in ``printed`` folders and ``messages.json``,
is that of today: ``python -m tests.test_kept`` writes it again, for a review of what differs.
"""

from __future__ import annotations

import ast
import contextlib
import fractions
import io
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import noisewright as nw
from noisewright.certificates.checker import checker
from noisewright.claims import phrases
from noisewright.cli import run
from noisewright.exceptions import CertificateError
from noisewright.releases.certificate import CERTIFICATE, ReleaseCertificate
from noisewright.releases.lock import Lock
from noisewright.tables.reading import source_of

KEPT = Path(__file__).parent / "fixtures" / "kept"
CERTIFICATES = sorted((KEPT / "certificates").glob("*.json"))
MADE: dict[str, dict[str, Any]] = json.loads((KEPT / "made.json").read_text())
CHANNELS: dict[str, dict[str, Any]] = json.loads((KEPT / "channels" / "made.json").read_text())
MESSAGES: dict[str, Any] = json.loads((KEPT / "messages.json").read_text())
RUNS: dict[str, dict[str, Any]] = json.loads((KEPT / "release.json").read_text())["runs"]

MOVED = {
    "metrics": "Angular Discrete EarthMovers Euclidean Hamming Line Manhattan Product Table",
    "mechanisms": """approximate_laplace curve explicit_fair gaussian geo_laplace Grid hadamard_response local_hashing
        metric_realising OutputPerturbation planar_geometric Polygon product_laplace sanitise selection snapped snapped_laplace
        spherical_laplace staircase subset_selection truncated_laplace unary_encoding uniform""",
    "certificates": "Accountant",
    "design": "compare_utility",
    "qif.refinement": "safe_replacement",
}
"""Names that were at the top: the room that has each of them now."""
ROOM = {name: room for room, names in MOVED.items() for name in names.split()}


ORDERED = {"release_of_columns", "release_floating"}
"""Certificates of released rows, which leave in a random order since; a certificate states it, and is digested with it."""
FLOATING = {"release_floating", "spherical_laplace", "spherical_laplace_simulated"}
SOLVED = "optimal_"
"""Certificates of solved programs begin so: their last bits belong to the solver and the processor."""


def made(expression: str) -> Any:
    """What a kept expression gives now."""
    now = re.sub(
        r"\bnw\.(\w+)", lambda name: f"nw.{ROOM[name[1]]}.{name[1]}" if name[1] in ROOM else name[0], expression
    )
    now = re.sub(r"\blevel=(?=[^,]+, radius=)", "epsilon=", now)  # of places there is one word for what may be spent
    return eval(now, {"nw": nw, "numpy": np, "math": math, "pyarrow": pa, "fractions": fractions})


def stem(path: Path) -> str:
    return path.stem


def said(*arguments: str, code: int = 0) -> str:
    """What a command prints that succeeds."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        assert run(list(arguments)) == code, err.getvalue()
    assert err.getvalue() == ""
    return out.getvalue()


# Certificates -------------------------------------------------------------------------------------------------------------


def test_every_certificate_has_its_expression() -> None:
    assert {path.stem for path in CERTIFICATES} == set(MADE)
    assert {path.name for path in (KEPT / "channels").iterdir()} == {*CHANNELS, "made.json"}


@pytest.mark.parametrize("path", CERTIFICATES, ids=stem)
def test_a_kept_certificate_is_read_and_proved(path: Path) -> None:
    text = path.read_text()
    certificate = (ReleaseCertificate if checker.RELEASE in text else nw.Certificate).from_json(text)
    release = isinstance(certificate, ReleaseCertificate)  # which keeps its digest, by which locks and ledgers know it
    assert certificate.document == (json.loads(text) if release else checker.current(json.loads(text)))
    if path.stem in FLOATING:
        with pytest.raises(CertificateError, match="nothing is proved about the floats"):
            certificate.verify()
    else:
        assert "".join(certificate.verify()).startswith(f"epsilon = {rounded(json.loads(text))}")


def rounded(document: dict[str, Any]) -> str:
    """The epsilon of a certificate, as it is said."""
    return phrases.up(document.get("claim", document.get("total"))["epsilon"])


def test_kept_certificates_are_proved_by_the_exported_files_alone(tmp_path: Path) -> None:
    said("verify", "--export-checker", str(tmp_path / "checker.py"))
    command = [sys.executable, "-I", "checker.py", *map(str, CERTIFICATES)]
    answer = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (answer.returncode, answer.stderr) == (1, "")
    verdicts = [line.partition(".json: ")[2] for line in answer.stdout.splitlines() if not line.startswith("  ")]
    assert len(verdicts) == len(CERTIFICATES)
    for path, verdict in zip(CERTIFICATES, verdicts, strict=True):
        if path.stem in FLOATING:
            assert verdict.startswith("NOT PROVED: floating: ")
        else:
            assert verdict.startswith(f"proved: epsilon = {rounded(json.loads(path.read_text()))}")


@pytest.mark.parametrize("name", MADE)
def test_a_certificate_is_made_again(name: str) -> None:
    """To the last bit, but for the format: what an older one says in words is a record now."""
    kept = checker.current(json.loads((KEPT / "certificates" / f"{name}.json").read_text()))
    made_now = made(MADE[name]["make"])
    now = json.loads(made_now.to_json())
    if name.startswith(SOLVED) and now != kept:
        assert made_now.verify()
        assert now["claim"] == kept["claim"]
    elif name in ORDERED:
        assert unordered(now) == unordered(kept)
    else:
        assert now == kept


def unordered(certificate: dict[str, Any]) -> dict[str, Any]:
    """A certificate without what it says about the order of rows, and without its digest."""
    return {key: value for key, value in certificate.items() if key not in ("order", "digest")}


# Channels -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CHANNELS)
def test_a_channel_is_loaded_and_saved_byte_for_byte(name: str, tmp_path: Path) -> None:
    kept = KEPT / "channels" / name
    for channel in (nw.load(kept), made(CHANNELS[name]["make"])):
        nw.save(channel, tmp_path / name)
        assert (tmp_path / name).read_bytes() == kept.read_bytes()
        (tmp_path / name).unlink()


# Releases -----------------------------------------------------------------------------------------------------------------

CHANGING = "|".join(
    [
        r"[0-9a-f]{64}",  # digests of certificates that are made anew
        r"Made on [0-9]+ [A-Z][a-z]+ [0-9]{4} at [0-9]{2}:[0-9]{2} UTC",
        r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z?",
        r"(?<=no witness has seen)\s(?s:.+?)noisewright\s+ledger\s+show\.",  # where the ledger lies decides where lines end
    ]
)


def screen(name: str) -> str:
    """Run a kept command line in the working directory and return what it prints, without digests and times."""
    call = RUNS[name]
    for file in ("policy.toml", "policy_recorded.toml", "visits.csv", "visits.parquet"):
        shutil.copy(KEPT / "release" / file, file)
    for needed in call.get("needs", []):
        source = KEPT / needed
        (shutil.copytree if source.is_dir() else shutil.copy)(source, source.name)
    page = call.get("printed", "").endswith(".txt")
    more = ["--details"] * (page and call["arguments"][0] == "release")
    return re.sub(CHANGING, "...", said(*call["arguments"], *more, code=call["code"]))


@pytest.mark.parametrize("name", [name for name in RUNS if name != "reread_recorded"])
def test_a_release_is_read_verified_and_made_again(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    call = RUNS[name]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    printed = screen(name)
    if "printed" in call:
        assert printed == (KEPT / call["printed"]).read_text()
    assert printed.startswith(call.get("begins", ""))
    for new, kept in call.get("writes", {}).items():
        assert Path(new).read_bytes() == (KEPT / kept).read_bytes()
    if "folder" in call:
        compare_folders(tmp_path / call["folder"], KEPT / call["kept"], call)


def columns_of(certificate: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the parts of a release that are columns; answers cost less now where numbers of rows are public."""
    return [part for part in certificate["parts"] if part["kind"] == "column"]


def compare_folders(new: Path, kept: Path, call: dict[str, Any]) -> None:
    drawn = KEPT / "drawn" / kept.name
    for file in call.get("only", call["identical"]):
        now, then = ((folder / file).read_bytes() for folder in (new, kept))
        if file == CERTIFICATE:
            assert columns_of(json.loads(now)) == columns_of(checker.current(json.loads(then)))
        elif file.startswith("data."):  # what is kept from a file without types is text, as each cell is spelled
            assert sorted(rows_of(new / file)) == sorted(rows_of(drawn / file)), file
        elif file.startswith("answers/"):  # with an interval beside each answer
            fresh, old, same = (pa.csv.read_csv(folder / file) for folder in (new, kept, drawn))
            assert fresh.equals(same), file
            assert {name.rpartition("_")[2] for name in fresh.column_names[old.num_columns :]} <= {
                "low",
                "high",
                "count",
                "off",
            }
        else:
            assert now == then, file
    if (kept / "policy.lock").exists():
        fresh, old = (json.loads((folder / "policy.lock").read_text()) for folder in (new, kept))
        assert list(fresh) == list(old)
        # The versions of numpy and others may move on; locks of version 4 list every file of a table and the ledger's head.
        # Of the table they have the columns that the policy uses, which are a part of what was there.
        same = set(call["differ"]["policy.lock"]["same_keys"]) - {"versions", "version", "schema"}
        assert Lock(fresh).types.keys() < Lock(old).types.keys()
        assert {key: fresh[key] for key in same} == {key: old[key] for key in same}


@pytest.mark.parametrize(("name", "format"), [("simulated", "parquet"), ("csv", "csv"), ("arrow", "arrow")])
def test_rows_in_their_order_are_drawn_again(name: str, format: Any, tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text('order = "kept"\n' + (KEPT / "release" / "policy.toml").read_text())
    data = KEPT / "release" / RUNS[name]["arguments"][2]
    nw.release(policy, data, output=tmp_path / "out", format=format, seed=7)
    kept, drawn = (folder / f"data.{format}" for folder in (KEPT / RUNS[name]["kept"], KEPT / "drawn" / name))
    then, now = rows_of(kept), rows_of(tmp_path / "out" / kept.name)
    assert now == rows_of(drawn)
    assert len(now) == len(then)
    assert [ast.literal_eval(row)["clinic"] for row in now] == [ast.literal_eval(row)["clinic"] for row in then]


def test_an_output_from_before_is_not_taken_for_one_in_random_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was read again, and nothing drawn; its rows stand in the order of the table, which its policy keeps no longer."""
    call = RUNS["reread_recorded"]
    for kept in ("policy_recorded.toml", "visits.parquet", "ledger.sqlite"):
        shutil.copy(KEPT / "release" / kept, tmp_path / kept)
    shutil.copytree(KEPT / "release" / "recorded", tmp_path / "recorded")
    monkeypatch.chdir(tmp_path)
    err = io.StringIO()
    with contextlib.redirect_stderr(err):
        assert run(call["arguments"]) == 2
    assert "recorded is there already" in err.getvalue()


def rows_of(path: Path) -> list[str]:
    """The rows of a table, each cell as it is spelled."""
    source = source_of(path)
    rows = (row for batch in source.batches(source.schema.names) for row in batch.to_pylist())
    return [repr({name: str(value) for name, value in row.items()}) for row in rows]


# Messages -----------------------------------------------------------------------------------------------------------------


@pytest.fixture
def folder_of_bad_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    bad_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    for key, value in MESSAGES["environment"].items():
        monkeypatch.setenv(key, value)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    yield
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before, "something was left behind"


def bad_files(folder: Path) -> None:
    """Write the files that kept calls are about."""
    for name, text in MESSAGES["files"].items():
        (folder / name).write_text(text)
    for kept, name in MESSAGES["copies"].items():
        shutil.copy(KEPT / kept, folder / name)


def refusal(call: dict[str, Any]) -> dict[str, Any]:
    """Make a kept call, and return it with the class and the words of its refusal."""
    try:
        answer: dict[str, Any] = {"class": "nothing", "message": repr(made(call["call"]))}
    except Exception as problem:
        answer = {"class": type(problem).__name__, "message": str(problem)}
        if getattr(problem, "problems", ()) and "problems" in call:
            answer["problems"] = [str(one) for one in problem.problems]  # type: ignore[attr-defined]
    return {**call, **answer}


def answer(call: dict[str, Any]) -> dict[str, Any]:
    """Run a kept command line, and return it with how it ends and what it prints."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(call["arguments"])
    return {"arguments": call["arguments"], "code": code, "stdout": out.getvalue(), "stderr": err.getvalue()}


@pytest.mark.usefixtures("folder_of_bad_files")
def test_bad_calls_are_refused_in_the_same_words() -> None:
    assert [refusal(call) for call in MESSAGES["calls"]] == MESSAGES["calls"]


@pytest.mark.usefixtures("folder_of_bad_files")
def test_bad_command_lines_are_refused_in_the_same_words() -> None:
    assert [answer(call) for call in MESSAGES["commands"]] == MESSAGES["commands"]


def keep_screens() -> None:
    """Write what is printed to kept calls again."""
    sys.path.insert(0, str(Path(__file__).parent / "support"))
    import tests.conftest  # noqa: F401  # which keeps packages of third parties out of sight

    os.environ.update(MESSAGES["environment"], COLUMNS="120")
    home = Path.cwd()
    for name, call in RUNS.items():
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            printed = screen(name) if {"printed", "writes"} & set(call) else ""
            if "printed" in call:
                (KEPT / call["printed"]).write_text(printed)
            for new, kept in call.get("writes", {}).items():
                shutil.copy(new, KEPT / kept)
            for file in [one for one in call.get("only", call.get("identical", ())) if one.startswith("answers/")]:
                shutil.copy(Path(call["folder"], file), KEPT / "drawn" / Path(call["kept"]).name / file)
            os.chdir(home)
    with tempfile.TemporaryDirectory() as folder:
        bad_files(Path(folder))
        os.chdir(folder)
        calls, commands = map(refusal, MESSAGES["calls"]), map(answer, MESSAGES["commands"])
        kept = {**MESSAGES, "calls": list(calls), "commands": list(commands)}
        os.chdir(home)
    (KEPT / "messages.json").write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    keep_screens()
