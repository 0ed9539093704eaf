"""Public files and seeds at the command line: designing with them, and verifying with and without them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from cli_support import Answer
from resource_support import SEED, column, forget_places, write_table

import noisewright as nw

pytestmark = pytest.mark.usefixtures("coded_afresh")
Call = Callable[..., Answer]
PARTS = ("design", "coded", "--epsilon", "1", "--within", "0:9")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_table(tmp_path / "code.bin")
    (tmp_path / "apart").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_mechanism_is_designed_with_a_file_and_a_seed(call: Call, place: Path) -> None:
    answer = call(*PARTS, "--table", "code.bin", "--seed", SEED, "-o", "made.json")
    assert answer.code == 0
    assert "uses the public file 'code.bin' (sha256" in answer.words
    document = json.loads((place / "made.json").read_text())
    assert (document["resources"][0]["bytes"], document["seed"]) == (10, SEED)
    without = call(*PARTS, "--table", "code.bin", "--json").json
    assert "seed" not in without["proved"]


def test_the_help_says_what_they_are(call: Call) -> None:
    words = " ".join(call("design", "coded", "--help").out.replace("│", " ").split())
    assert "--table FILE A public file that the mechanism needs; the certificate states its SHA-256" in words
    assert "--seed HEX A public seed: 64 hexadecimal digits" in words


@pytest.mark.parametrize(
    ("table", "seed", "said"),
    [
        ("none.bin", SEED, "there is no file none.bin; name a public file that is there."),
        ("apart", SEED, "apart is not a file; name one public file, not a folder or a device."),
        ("code.bin", "5eed", "seed must be 64 hexadecimal digits; Seed.fresh().hex makes some."),
    ],
)
@pytest.mark.usefixtures("place")
def test_bad_ones_are_refused_in_one_sentence(call: Call, table: str, seed: str, said: str) -> None:
    answer = call(*PARTS, "--table", table, "--seed", seed)
    assert answer.code != 0
    assert said in " ".join(answer.err.split())


def test_verify_confirms_a_file_that_is_here_and_misses_one_that_is_not(call: Call, place: Path) -> None:
    call(*PARTS, "--table", "code.bin", "-o", "apart/made.json")
    forget_places()
    here = call("verify", "apart/made.json")
    assert here.code == 0
    assert "Agrees the file code.bin (sha256" in here.words  # found in the working directory
    (place / "code.bin").rename(place / "apart" / "code.bin")
    forget_places()
    assert call("verify", "apart/made.json", "--json").json["files"][0]["unchecked"] == []  # found beside it
    (place / "apart" / "code.bin").unlink()
    forget_places()
    gone = call("verify", "apart/made.json")
    assert gone.code == 0
    assert "Not checked the file code.bin (sha256" in gone.words
    assert "is not here: what depends on its content was not checked" in gone.words


def test_verify_of_a_certificate_without_files_has_no_word_of_them(call: Call, place: Path) -> None:
    call("design", "geometric", "--epsilon", "1", "-o", "plain.json")
    found = call("verify", "plain.json", "--json").json["files"][0]
    assert not {"here", "unchecked"} & set(found)
    assert place.exists()


@pytest.mark.parametrize("eager", [False, True])
def test_verify_of_a_release_says_it_too(call: Call, place: Path, eager: bool) -> None:
    policy = {"dataset": "codes", "budget": {"epsilon": 5}, "columns": [column(table="code.bin", eager=eager)]}
    nw.release(policy, pa.table({"x": [1, 2]}), output=place / "apart" / "out", ledger=place / "ledger")
    forget_places()
    for path in ("apart/out", "apart/out/certificate.json"):
        assert "Agrees the file code.bin (sha256" in call("verify", path).words
    (place / "code.bin").unlink()
    forget_places()
    for path in ("apart/out", "apart/out/certificate.json"):
        gone = call("verify", path)
        assert gone.code == 0
        assert "Not checked the file code.bin (sha256" in gone.words
    assert len(call("verify", "apart/out", "--json").json["files"][0]["unchecked"]) == 1


def test_a_policy_file_is_planned_and_released_from_anywhere(call: Call, place: Path) -> None:
    (place / "apart" / "codes.csv").write_text("x\n1\n2\n")
    (place / "apart" / "codes.toml").write_text(
        'dataset = "codes"\n[budget]\nepsilon = 5\n[[columns]]\nname = "x"\nmechanism = "coded"\nwithin = [0, 9]\n'
        'epsilon = 2\ntable = "../code.bin"\n'
    )
    assert call("plan", "apart/codes.toml", "apart/codes.csv").code == 0
    done = call("release", "apart/codes.toml", "apart/codes.csv", "-o", "out", "--ledger", "ledger")
    assert done.code == 0, done.err
    assert "../code.bin" not in (place / "out" / "policy.lock").read_text()
