"""A whole folder of a release: consistent with itself, and with what the ledger recorded. Forgers rewrite one file, then more."""

from __future__ import annotations

import hashlib
import json
import shutil
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import noisewright as nw
from noisewright.certificates.checker import checker
from noisewright.ledger.ledger import Ledger
from noisewright.policy.policy import Policy
from noisewright.releases.certificate import ReleaseCertificate
from noisewright.releases.folder import verify_folder
from noisewright.releases.lock import file_digest

POLICY = {
    "dataset": "clinic",
    "budget": {"epsilon": 5},
    "columns": [
        {"name": "smoker", "mechanism": "randomised-response", "categories": ["yes", "no"], "epsilon": 1},
        {
            "name": "age",
            "mechanism": "geometric",
            "within": [0, 110],
            "protect": 5,
            "epsilon": "1/2",
            "rename": "years",
        },
        {"name": "ward", "keep": True},
    ],
    "queries": [{"name": "mean age", "aggregate": "mean", "column": "age", "within": [0, 110], "epsilon": "1/4"}],
}


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(5)
    table = pa.table(
        {
            "smoker": np.array(["yes", "no"])[rng.integers(2, size=200)],
            "age": rng.integers(0, 100, 200),
            "ward": np.array(["a", "b"])[rng.integers(2, size=200)],
            "note": ["nothing"] * 200,
        }
    )
    pq.write_table(table, tmp_path / "visits.parquet")
    nw.release(POLICY, tmp_path / "visits.parquet", output=tmp_path / "out", ledger=tmp_path / "ledger")
    return tmp_path / "out"


def book(folder: Path) -> Ledger:
    return Ledger(folder.parent / "ledger", create_missing=False)


def rewrite(path: Path, change) -> None:
    """As a forger does: the lock gets the digest of its new content."""
    document = json.loads(path.read_text())
    change(document)
    if path.name == "policy.lock" and isinstance(document, dict) and "digest" in document:
        content = {key: value for key, value in document.items() if key != "digest"}
        text = json.dumps(content, sort_keys=True, separators=(",", ":"))
        document["digest"] = f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
    path.write_text(json.dumps(document))


def rehash(folder: Path) -> None:
    def change(lock):
        lock["outputs"] = {name: file_digest(folder / name) for name in lock["outputs"]}

    rewrite(folder / "policy.lock", change)


def test_an_honest_folder_agrees_in_everything(folder):
    alone = verify_folder(folder)
    assert alone.problems == ()
    assert alone.agreed == (
        "every file is as it was written, and there is no other",
        "the certificate has the parts and prices that follow from the policy in the lock",
        "the released columns and answers are those of the policy",
    )
    found = verify_folder(folder, book(folder))
    assert found.problems == ()
    assert found.agreed[-1] == f"{book(folder).path} sealed the lock and recorded this release"


@pytest.mark.parametrize("format", ["csv", "arrow"])
def test_every_format_of_the_table(folder, format):
    out = folder.parent / format
    nw.release(POLICY, folder.parent / "visits.parquet", output=out, ledger=folder.parent / "ledger", format=format)
    assert verify_folder(out, book(folder)).problems == ()


def test_only_answers(folder):
    out = folder.parent / "answers only"
    policy = {**POLICY, "dataset": "answers", "columns": []}
    nw.release(
        policy,
        folder.parent / "visits.parquet",
        output=out,
        ledger=folder.parent / "ledger",
        separate_people="a test",
    )
    assert verify_folder(out, book(folder)).problems == ()


def test_changed_missing_and_foreign_files_are_named(folder):
    (folder / "report.html").write_text("all is well")
    (folder / "answers/01-mean-age.csv").unlink()
    (folder / "notes.txt").write_text("x")
    assert set(verify_folder(folder).problems) == {
        "report.html is missing or was changed after the release.",
        "answers/01-mean-age.csv is missing or was changed after the release.",
        "notes.txt is no part of the release.",
    }


def test_a_file_that_lies_elsewhere_is_not_the_one_that_was_written(folder):
    """Behind a link its content can change, and a copy of the folder has none; of a folder as of a file."""
    (folder / "report.html").rename(folder.parent / "report.html")
    (folder / "report.html").symlink_to(folder.parent / "report.html")
    (folder / "answers").rename(folder.parent / "elsewhere")
    (folder / "answers").symlink_to(folder.parent / "elsewhere")
    problems = verify_folder(folder).problems
    assert "report.html is missing or was changed after the release." in problems
    assert "answers/01-mean-age.csv is missing or was changed after the release." in problems


def test_a_digit_changed_anywhere_is_found_without_the_ledger(folder):
    """Every seventh digit of every text, and every hundredth byte of the table: nothing in a folder is left unchecked."""
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        content = path.read_bytes()
        digits = [place for place, byte in enumerate(content) if chr(byte).isdigit() and byte < 128]
        for place in range(0, len(content), 100) if path.suffix == ".parquet" else digits[:: max(7, len(digits) // 60)]:
            byte = content[place]
            other = 48 + (byte - 47) % 10 if 48 <= byte < 58 else byte ^ 1
            path.write_bytes(content[:place] + bytes([other]) + content[place + 1 :])
            assert verify_folder(folder).problems, (path.name, place)
        path.write_bytes(content)
    assert not verify_folder(folder).problems


def without_smoker(document):
    """What somebody can do to a certificate alone: leave a part out, and count the rest anew."""
    document["parts"] = [part for part in document["parts"] if part["name"] != "smoker"]
    document["total"]["epsilon"] = str(sum(Fraction(part["price"]) for part in document["parts"]))
    document["digest"] = checker.digest(document)


def test_a_part_left_out_of_the_certificate_is_found_though_the_rest_is_proved(folder):
    rewrite(folder / "certificate.json", without_smoker)
    proved = ReleaseCertificate.from_json((folder / "certificate.json").read_text()).verify()
    assert "epsilon = 0.75" in proved[0]  # the file alone cannot tell
    assert verify_folder(folder).problems == (
        "certificate.json is missing or was changed after the release.",
        "the certificate says another total than the policy in the lock gives.",
        "the parts of the certificate are not those that the policy in the lock gives (look at 'smoker').",
    )
    rehash(folder)
    assert len(verify_folder(folder).problems) == 2


def test_a_kept_column_left_out_of_the_certificate_is_found(folder):
    def change(document):
        document["kept"] = []
        document["digest"] = checker.digest(document)

    rewrite(folder / "certificate.json", change)
    rehash(folder)
    assert verify_folder(folder).problems == ("the certificate says another kept than the policy in the lock gives.",)


@pytest.mark.parametrize("neighbours", [{"unit": "ward"}, {"rows": 1, "unit": "age"}, {"relation": "add-remove"}])
def test_other_neighbours_than_those_of_the_policy_are_found(folder, neighbours):
    """Proved or not: the promise of the folder is about the unit that its policy names."""

    def change(document):
        document["neighbours"].update(neighbours)
        document["digest"] = checker.digest(document)

    rewrite(folder / "certificate.json", change)
    rehash(folder)
    (problem,) = verify_folder(folder).problems
    assert problem == "the certificate says another neighbours than the policy in the lock gives."


def test_a_part_that_protects_less_than_its_policy_is_found(folder):
    def change(document):
        (part,) = (part for part in document["parts"] if part["name"] == "years")
        part["protects"]["distance"] = "4"
        document["digest"] = checker.digest(document)

    rewrite(folder / "certificate.json", change)
    rehash(folder)
    (problem,) = verify_folder(folder).problems
    assert problem.endswith("are not those that the policy in the lock gives (look at 'years').")


def test_a_policy_that_does_not_give_the_released_columns_is_found(folder):
    """Certificate, policy and hashes forged together: the table still has the column."""
    rewrite(folder / "certificate.json", without_smoker)
    policy = Policy.from_dict({**POLICY, "columns": POLICY["columns"][1:]})
    rewrite(folder / "policy.lock", lambda lock: lock.update(policy=policy.to_json(), policy_digest=policy.digest()))
    rehash(folder)
    assert verify_folder(folder).problems == (
        "the released table has other columns than the policy in the lock gives.",
    )


def test_all_files_forged_together_fool_everybody_but_the_ledger(folder):
    rewrite(folder / "certificate.json", without_smoker)
    policy = Policy.from_dict({**POLICY, "columns": POLICY["columns"][1:]})
    rewrite(folder / "policy.lock", lambda lock: lock.update(policy=policy.to_json(), policy_digest=policy.digest()))
    pq.write_table(pq.read_table(folder / "data.parquet").drop_columns(["smoker"]), folder / "data.parquet")
    rehash(folder)
    assert verify_folder(folder).problems == ()
    assert verify_folder(folder, book(folder)).problems == (
        f"{book(folder).path} did not seal this lock: it is of another ledger, or it was changed.",
    )


def test_the_digest_of_the_policy_binds_it(folder):
    rewrite(folder / "policy.lock", lambda lock: lock["policy"]["budget"].update(epsilon="50"))
    assert verify_folder(folder).problems == ("the policy in the lock was changed: its digest does not match.",)


def test_another_ledger_and_a_release_that_broke_off(folder):
    stranger = Ledger(folder.parent / "stranger")
    assert verify_folder(folder, stranger).problems == (
        f"{stranger.path} did not seal this lock: it is of another ledger, or it was changed.",
    )
    shutil.copy(folder.parent / "ledger", folder.parent / "backup")  # from before the second release
    nw.release(
        POLICY,
        folder.parent / "visits.parquet",
        output=folder.parent / "b",
        ledger=folder.parent / "ledger",
        again=True,
    )
    backup = Ledger(folder.parent / "backup")
    assert verify_folder(folder, backup).problems == ()
    (problem,) = verify_folder(folder.parent / "b", backup).problems
    assert problem.startswith(
        f"{backup.path} has lost records: it is an older copy, and what was spent later is missing"
    )


def test_a_simulation_agrees_with_itself_but_no_ledger_knows_it(folder):
    out = folder.parent / "simulated"
    nw.release(POLICY, folder.parent / "visits.parquet", output=out, seed=3)
    assert verify_folder(out).problems == ()
    assert "did not seal" in verify_folder(out, book(folder)).problems[0]


@pytest.mark.parametrize("name", ["policy.lock", "certificate.json"])
@pytest.mark.parametrize("content", [None, b"", b"{}", b"\xff", b'{"format": "noisewright-lock", "version": 2}'])
def test_what_is_no_release_is_said_in_a_sentence(folder, name, content):
    (folder / name).unlink()
    if content is not None:
        (folder / name).write_bytes(content)
    found = verify_folder(folder)
    assert (found.agreed, len(found.problems)) == ((), 1)


@pytest.mark.parametrize(
    "change",
    [{"schema": "x"}, {"schema": ""}, {"policy": {}}, {"outputs": {}}, {"outputs": {"../x": "y"}}, {"table_rows": -7}],
)
def test_locks_with_nonsense_in_them_are_refused(folder, change):
    rewrite(folder / "policy.lock", lambda lock: lock.update(change))
    assert verify_folder(folder, book(folder)).problems


@pytest.mark.parametrize(
    "change", [{"parts": 7}, {"parts": [7, {"certificate": 3}]}, {"total": None}, {"kept": "ward"}]
)
def test_certificates_with_nonsense_in_them_are_refused(folder, change):
    rewrite(folder / "certificate.json", lambda document: document.update(change))
    rehash(folder)
    assert verify_folder(folder).problems
