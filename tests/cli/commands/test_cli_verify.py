from __future__ import annotations

import datetime
import errno
import json
import os
from pathlib import Path

import pyarrow as pa
import pytest

import noisewright as nw
from noisewright.certificates.checker import checker, checker_noise, checker_release, checker_version1, checker_words
from noisewright.claims import phrases


def rewrite(path, change):
    """Edit a certificate and give it a digest that fits, as a forger would."""
    document = json.loads(path.read_text())
    change(document)
    document["digest"] = checker.digest(document)
    path.write_text(json.dumps(document))


def test_a_certificate_is_proved_and_read_out_in_words(call, certificate):
    answer = call("verify", certificate)
    assert answer.code == 0
    assert f"{certificate}: proved" in answer.words
    assert "epsilon 0.3334 for each 1 of difference" in answer.words
    assert "along a line of 5 places, from 0 to 4" in answer.words
    assert "Whatever the output" in answer.words
    assert max(map(len, answer.out.splitlines()[1:])) <= 100


def test_the_json_object(call, certificate, files):
    response = files / "response.json"
    call("design", "randomised-response", "--categories", "4", "--epsilon", "1", "-o", response)
    answer = call("verify", certificate, response, "--json")
    assert answer.code == 0
    assert answer.json["proved"] is True
    assert answer.json["checker"] is None
    first, second = answer.json["files"]
    assert first["epsilon"] == "1/3"
    assert first["metric"] == "line"
    assert first["proof"] == "table"
    assert second["distances"] == "1 between any two secrets"
    assert "AES" in second["randomness"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "not JSON"),
        ('{"format": "noisewright-certificate", "ver', "not JSON"),
        ("[1, 2, 3]", "not a Noisewright certificate"),
        ("{}", "not a Noisewright certificate"),
        ('{"format": "noisewright-certificate", "version": 99}', "version"),
        ('{"format": "noisewright-certificate", "version": 1}', "digest"),
        ("[" * 100_000, "not JSON"),
        ("\x00\x01", "not JSON"),
    ],
)
def test_what_is_not_a_certificate_is_not_proved(call, files, content, reason):
    path = files / "odd.json"
    path.write_text(content)
    answer = call("verify", path, "--json")
    assert answer.code == 1
    assert answer.json["proved"] is False
    assert reason in answer.json["files"][0]["reason"]
    assert "NOT PROVED" in call("verify", path).out


def test_bytes_that_are_not_text(call, files):
    (files / "odd.json").write_bytes(b"\xff\xfe{}")
    assert call("verify", files / "odd.json").code == 1


def test_one_bad_file_among_good_ones(call, certificate, files):
    bad = files / "bad.json"
    bad.write_bytes(certificate.read_bytes()[:200])
    answer = call("verify", certificate, bad)
    assert answer.code == 1
    assert "1 of 2 certificates proved" in answer.words


def test_an_edited_claim_is_refused_with_and_without_a_new_digest(call, certificate):
    original = certificate.read_text()
    certificate.write_text(original.replace('"1/3"', '"1/4"'))
    assert "digest" in call("verify", certificate, "--json").json["files"][0]["reason"]
    certificate.write_text(original)
    rewrite(certificate, lambda d: d["claim"].update(epsilon="1/4"))
    assert "broken" in call("verify", certificate, "--json").json["files"][0]["reason"]


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d["proof"].update(width=10**15),
        lambda d: d["proof"].update(precision=-1),
        lambda d: d["proof"].update(table=[]),
        lambda d: d["proof"].update(kind="miracle"),
        lambda d: d["claim"].update(epsilon="1e400"),
        lambda d: d["claim"].update(epsilon="a lot"),
        lambda d: d["claim"].update(distances=None),
        lambda d: d.pop("claim"),
    ],
)
def test_a_forged_file_never_ends_in_a_traceback(call, certificate, change):
    rewrite(certificate, change)
    for words in (("verify", certificate), ("audit", certificate)):
        answer = call(*words, "--json")
        assert answer.code in ((1,) if words[0] == "verify" else (1, 2))  # a file of the wrong shape cannot be audited
        assert call(*words).code == answer.code


@pytest.mark.parametrize("missing", ["inputs", "outputs", "change", "randomness", "mechanism"])
def test_a_proved_claim_with_missing_words(call, certificate, missing):
    rewrite(certificate, lambda d: d.pop(missing))
    assert call("verify", certificate).code == int(missing in ("inputs", "randomness", "mechanism"))
    assert call("audit", certificate).code in ((1,) if missing == "inputs" else (0, 2))


def test_a_proved_response_or_law_with_missing_words(call, files):
    response, law = files / "response.json", files / "law.json"
    call("design", "randomised-response", "--categories", "4", "--epsilon", "1", "-o", response)
    call("design", "geometric", "--within", "0:9", "--epsilon", "1", "-o", law)
    rewrite(response, lambda d: d.pop("inputs"))
    rewrite(law, lambda d: d["proof"].update(clamp="far"))
    for path in (response, law):
        assert call("verify", path).code in (0, 1)
        assert call("audit", path).code in (0, 1)


def test_steps_that_are_not_whole_numbers_of_the_metric_are_not_audited_as_such(call, files):
    path = files / "law.json"
    call("design", "geometric", "--within", "0:9", "--epsilon", "1", "-o", path)
    rewrite(path, lambda d: d["claim"].update(epsilon="4", distances={"shape": "steps", "distance": "1/4"}))
    answer = call("audit", path, "--json")
    assert answer.json["smallest"] is None
    assert "1/4" in answer.json["certificate"]["distances"]


def test_a_simulation_is_said_to_be_one(call, certificate, files):
    assert call("verify", certificate, "--json").json["files"][0]["simulated"] is False
    rewrite(certificate, lambda d: d.update(randomness="numpy generator: simulation, not for release"))
    assert "a simulation with a known seed: NOT FOR RELEASE" in call("verify", certificate).words
    assert call("verify", certificate, "--json").json["files"][0]["simulated"] is True


def test_missing_files_and_directories_are_errors(call, files, certificate):
    assert "there is no file" in call("verify", files / "missing.json").err
    assert "cannot be read" in call("verify", certificate, files).err
    assert "error" in call("verify", files / "missing.json", "--json").json
    assert "at least one" in call("verify").err


def sources():
    modules = (checker, checker_noise, checker_release, checker_words, checker_version1, phrases)
    return {Path(module.__file__).name: Path(module.__file__).read_bytes() for module in modules}


def test_the_checker_is_written_whole(call, files, certificate):
    path = files / "checker.py"
    answer = call("verify", certificate, "--export-checker", path, "--json")
    assert answer.code == 0
    assert answer.json["checker"] == str(path)
    names = ("noise", "release", "words", "version1")
    beside = [*(str(files / f"checker_{name}.py") for name in names), str(files / "phrases.py")]
    assert answer.json["written"] == [str(path), *beside]
    assert {file.name: file.read_bytes() for file in files.glob("*.py")} == sources()
    again = call("verify", "--export-checker", path).words  # the same files once more: nothing is lost
    places = f"{', '.join([str(path), *beside[:-1]])} and {beside[-1]}"
    assert f"was written to {places}; run it as: python {path} FILE..." in again


def test_the_checker_may_have_another_name(call, files):
    assert call("verify", "--export-checker", files / "mine.py").code == 0
    assert (files / "mine.py").read_bytes() == sources()["checker.py"]
    for name in ("checker_noise.py", "checker_release.py", "checker_words.py"):
        assert (files / name).read_bytes() == sources()[name]


@pytest.mark.parametrize("name", ["checker.py", "checker_noise.py", "checker_release.py", "checker_words.py"])
def test_another_file_is_never_overwritten(call, files, name):
    (files / name).write_text("print('my own')")
    before = {path: path.read_bytes() for path in files.iterdir()}
    answer = call("verify", "--export-checker", files / "checker.py")
    assert answer.code == 2
    assert f"{files / name} is there already and is another file" in answer.err
    assert {path: path.read_bytes() for path in files.iterdir()} == before


def test_all_files_or_none(call, files, monkeypatch):
    """The first files are taken back when the last cannot be written."""
    real = os.replace

    def full(source, target):
        if str(target).endswith("checker.py"):
            raise OSError(errno.ENOSPC, "No space left on device")
        real(source, target)

    before = sorted(files.iterdir())
    monkeypatch.setattr(os, "replace", full)
    answer = call("verify", "--export-checker", files / "checker.py")
    assert answer.code == 2
    assert "No space left" in answer.err
    assert sorted(files.iterdir()) == before


def test_the_checker_is_not_written_to_odd_places(call, files):
    (files / "folder.py").mkdir()
    (files / "file").write_text("")
    before = sorted(files.iterdir())
    assert call("verify", "--export-checker", files / "checker.txt").code == 2
    assert call("verify", "--export-checker", files / "none" / "checker.py").code == 2
    assert call("verify", "--export-checker", files / "file" / "checker.py").code == 2
    assert call("verify", "--export-checker", files / "folder.py").code == 2
    assert call("verify", "--export-checker", files / "checker_noise.py").code == 2
    assert call("verify", "--export-checker", files / "checker_release.py").code == 2
    assert call("verify", "--export-checker", files).code == 2
    assert call("verify", "--export-checker", "").code == 2
    assert call("verify", files / "missing.json", "--export-checker", files / "checker.py").code == 2
    assert sorted(files.iterdir()) == before


def test_words_of_a_file_are_not_taken_for_the_programs_own(call, certificate):
    said = "channel; PROVED besides: epsilon = 0 between any two people"
    rewrite(certificate, lambda document: document.update(mechanism=said, randomness={"lots": f"audited, {said}"}))
    answer = call("verify", certificate)
    assert answer.code == 0
    assert f'Mechanism "{said}"; the proof covers' in answer.words
    assert f'Random bits "drawn by each respondent with audited, {said}" (as stated)' in answer.words
    rewrite(certificate, lambda document: document.update(randomness=said))
    assert "where the random bits come from is not stated" in call("verify", certificate).words


def test_kept_columns_are_named_in_quotation_marks(call, files):
    table, policy = files / "table.csv", files / "policy.toml"
    table.write_text("nothing,smoker\na,yes\nb,no\n")
    policy.write_text(
        'dataset = "clinic"\nbudget.epsilon = 1\n[[columns]]\nname = "nothing"\nkeep = true\n'
        '[[columns]]\nname = "smoker"\nmechanism = "randomised-response"\ncategories = ["yes", "no"]\nepsilon = 1\n'
    )
    call("release", policy, table, "-o", files / "out", "--seed", "1")
    assert 'NOT protected "nothing"' in call("verify", files / "out").words


def test_the_ledger_of_this_user_is_asked_if_it_made_the_release(call, tmp_path, monkeypatch):
    policy = {
        "dataset": "clinic",
        "budget": {"epsilon": 3},
        "columns": [{"name": "sex", "mechanism": "randomised-response", "categories": ["f", "m"], "epsilon": 1}],
        "queries": [{"name": "people", "aggregate": "count", "epsilon": "1/2"}],
    }
    own, other = tmp_path / "own", tmp_path / "other"
    table = pa.table({"sex": ["f", "m"]})
    monkeypatch.setenv("NOISEWRIGHT_LEDGER", str(own))
    nw.release(policy, table, output=tmp_path / "mine")
    nw.release(policy, table, output=tmp_path / "theirs", ledger=other)
    assert call("verify", tmp_path / "mine", "--json").json["files"][0]["ledger"] == str(own)
    assert call("verify", tmp_path / "theirs", "--json").json["files"][0]["ledger"] is None
    assert call("verify", tmp_path / "theirs", "--ledger", other).code == 0
    assert call("verify", tmp_path / "theirs", "--ledger", own).code == 1
    rows = nw.Ledger().entries("clinic")
    assert [(row.name, row.kind, row.epsilon, row.state) for row in rows] == [
        ("sex", "column", 1, "finished"),
        ("people", "query", 0, "finished"),  # the number of rows is public here
    ]


def test_distances_are_said_in_the_unit_of_the_column(call, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")  # so that no sentence is broken by the column beside it
    moments = [datetime.datetime(2024, 3, day, 12) for day in range(1, 5)]
    table = pa.table(
        {
            "day": [moment.date() for moment in moments],
            "seen": moments,
            "lat": [48.2] * 4,
            "lon": [16.4] * 4,
            "smoker": ["yes", "no", None, "no"],
        }
    )
    policy = {
        "dataset": "clinic",
        "budget": {"epsilon": 9},
        "columns": [
            {"name": "day", "mechanism": "laplace", "within": [datetime.date(2024, 1, 1), datetime.date(2024, 12, 31)]}
            | {"protect": 7, "epsilon": 1},
            {"name": "seen", "mechanism": "laplace", "within": [datetime.date(2024, 1, 1), datetime.date(2024, 12, 31)]}
            | {"protect": "1 hour", "epsilon": 1},
            {"name": ["lat", "lon"], "mechanism": "geo-laplace", "reference": [48, 16], "protect": 500, "epsilon": 1},
            {"name": "smoker", "mechanism": "randomised-response", "categories": ["yes", "no"], "missing": "keep"}
            | {"epsilon": 1},
        ],
    }
    folder = tmp_path / "released"
    nw.release(policy, table, output=folder, ledger=tmp_path / "ledger")
    known = call("verify", folder).words
    for words in ("at most 7 days apart", "at most 1 hour apart", "at most 500 metres apart", "one is missing is"):
        assert words in known
    assert "3600" not in known
    alone = call("verify", folder / "certificate.json")
    assert alone.code == 0
    assert "at most 1 hour apart" in alone.words


def test_the_sentence_of_an_older_folder_is_corrected(call):
    """Version 1 said "that differ in the rows of one patient", though released rows show how many rows a patient has."""
    kept = Path(__file__).parents[2] / "fixtures" / "kept"
    said = call("verify", kept / "release" / "recorded").words
    assert 'In the file between "two tables that differ in the rows of one patient (at most 2)' in said
    assert "is too wide; the claim above is what holds" in said
    for name in ("release_of_queries", "release_exact_count"):  # of answers alone, and of rows: these held
        assert "too wide" not in call("verify", kept / "certificates" / f"{name}.json").words
