"""``noisewright text`` and ``noisewright attack author``: from a folder of texts to obfuscated documents."""

from __future__ import annotations

import csv
import os
import re
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from noisewright.text import shipped, write_embedding
from noisewright.text.document_mechanism import PrivateDocuments

ROOT = Path(__file__).parents[4]
NOTES = {
    "smith-1.txt": "The patient reports cough and fever. Zylberstein, 0171 555, z@example.org",
    "jones-2.txt": "Back pain after work; advised exercise, heat and rest.",
}


@pytest.fixture
def notes(tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    for name, text in NOTES.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def few(tmp_path):
    """The words of these notes alone, as an embedding: fast to calibrate."""
    small = shipped()
    words = sorted({w.strip(".,;") for text in NOTES.values() for w in text.lower().split()})
    rows = [row for row in small.rows(words) if row >= 0]
    path = tmp_path / "few.nwe"
    write_embedding(path, small.words(np.array(rows)), small.vectors(np.array(rows)), licence="CC0-1.0")
    return path


def test_a_folder_is_obfuscated_and_its_certificate_proved(call, notes, few, tmp_path):
    out, page = tmp_path / "out", tmp_path / "page.html"
    said = call(
        "text",
        "obfuscate",
        notes,
        "-o",
        out,
        "--epsilon",
        "3",
        "--size",
        "6",
        "--embedding",
        few,
        "--preview",
        page,
        "--json",
    ).json
    assert (said["documents"], said["words"], said["in_the_clear"], said["numerics"]) == (2, 12, [], "exact")
    assert sorted(path.name for path in out.iterdir()) == [
        "certificate.json",
        "document-000001.txt",
        "document-000002.txt",
    ]
    published = "".join(path.read_text(encoding="utf-8") for path in out.glob("*.txt"))
    assert len(published.split()) == 12
    for secret in ("Zylberstein", "0171", "example.org", "smith"):
        assert secret.lower() not in published.lower()
    assert call("verify", out / "certificate.json").code == 0
    shown = page.read_text(encoding="utf-8")
    assert "This page shows originals" in shown
    assert "smith-1.txt" in shown


def test_what_is_in_the_clear_is_said(call, notes, few, tmp_path):
    words = ("--epsilon", "3", "--embedding", few, "--keep-order", "--keep-names", "--unknown", "keep")
    page = call("text", "obfuscate", notes, "-o", tmp_path / "out", *words)
    assert page.code == 0
    for clear in (
        "the number of words",
        "the order of words",
        "everything outside of the vocabulary",
        "names of the files",
    ):
        assert clear in page.words
    assert {path.name for path in (tmp_path / "out").glob("*.txt")} == set(NOTES)
    assert "z@example.org" in (tmp_path / "out" / "smith-1.txt").read_text(encoding="utf-8")
    verified = call("verify", tmp_path / "out" / "certificate.json")
    assert "in the clear, as stated" in verified.words
    assert "names of the files" in verified.words


def test_a_file_that_is_found_twice_is_drawn_from_once(call, notes, few, tmp_path):
    (notes / "again.txt").symlink_to(notes / "smith-1.txt")
    words = ("--epsilon", "3", "--size", "4", "--embedding", few, "--json")
    said = call("text", "obfuscate", notes, notes / "jones-2.txt", notes, "-o", tmp_path / "out", *words).json
    assert (said["documents"], said["words"]) == (len(NOTES), 4 * len(NOTES))


@pytest.mark.parametrize("page", ["out.html", "text.html"])
def test_a_preview_takes_nobodys_place(call, few, tmp_path, page):
    (tmp_path / "text.html").write_text("cough and fever", encoding="utf-8")
    words = ("--epsilon", "3", "--size", "4", "--embedding", few, "--preview", tmp_path / "sub" / ".." / page)
    (tmp_path / "sub").mkdir()
    answer = call("text", "obfuscate", tmp_path / "text.html", "-o", tmp_path / "out.html", *words)
    assert answer.code == 2
    assert "name another file" in answer.err
    assert not (tmp_path / "out.html").exists()
    assert (tmp_path / "text.html").read_text(encoding="utf-8") == "cough and fever"


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are bytes on Linux")
def test_a_preview_shows_files_with_names_that_are_no_text(call, notes, few, tmp_path):
    (notes / "smith-1.txt").rename(os.fsdecode(os.fsencode(notes) + b"/\xff.txt"))
    words = ("--epsilon", "3", "--size", "4", "--embedding", few, "--preview", tmp_path / "page.html")
    assert call("text", "obfuscate", notes, "-o", tmp_path / "out", *words).code == 0
    assert "\\udcff.txt" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_a_release_says_which_words_of_a_column_are_in_the_clear(call, few, tmp_path):
    (tmp_path / "notes.csv").write_text("note\ncough Zylberstein\nback pain\n", encoding="utf-8")
    policy = (
        'dataset = "notes"\nbudget.epsilon = 9\n[[columns]]\nname = "note"\nmechanism = "private-documents"\n'
        f'embedding = "{few}"\nprotect = 1\nepsilon = 3\nunknown = "keep"\n'
    )
    (tmp_path / "policy.toml").write_text(policy, encoding="utf-8")
    named = (tmp_path / "policy.toml", tmp_path / "notes.csv")
    clear = "note: in the clear, so NOT protected: the number of words and everything outside of the vocabulary"
    assert clear in call("plan", *named).words
    made = call("release", *named, "-o", tmp_path / "released", "--ledger", tmp_path / "ledger.sqlite")
    assert clear in " ".join(made.err.split())
    page = (tmp_path / "released" / "report.html").read_text(encoding="utf-8")
    assert clear in page
    assert "the number of words and everything outside of the vocabulary: NOT protected" in page


def test_noise_in_floats_says_so(call, notes, few, tmp_path):
    words = ("--epsilon", "3", "--embedding", few, "--words", "laplace", "--size", "4")
    page = call("text", "obfuscate", notes, "-o", tmp_path / "out", *words)
    assert "nothing is proved about the floats drawn" in page.words


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--epsilon", "0"), "epsilon"),
        (("--epsilon", "x"), "epsilon"),
        (("--epsilon", "2", "--words", "magic"), "words must be 'exact' or 'laplace'"),
        (("--epsilon", "2", "--unknown", "burn"), "unknown must be"),
        (("--epsilon", "2", "--language", "xx"), "there are no stop words for 'xx'"),
        (("--epsilon", "2", "--embedding", "gone.nwe"), "noisewright embeddings get"),
        (("--epsilon", "2", "--preview", "page.txt"), ".html"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_written(call, notes, few, tmp_path, more, said):
    first = () if "--embedding" in more else ("--embedding", few)
    answer = call("text", "obfuscate", notes, "-o", tmp_path / "out", "--size", "3", *first, *more)
    assert answer.code == 2
    assert said in answer.err
    assert not (tmp_path / "out").exists()
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_texts_that_are_none_are_refused(call, notes, few, tmp_path):
    (notes / "bytes.txt").write_bytes(b"\x00\x01")
    answer = call(
        "text", "obfuscate", notes, "-o", tmp_path / "out", "--size", "3", "--epsilon", "2", "--embedding", few
    )
    assert answer.code == 2
    assert "is a binary file" in answer.err
    assert not (tmp_path / "out").exists()
    assert call("text", "obfuscate", tmp_path / "gone", "-o", tmp_path / "out", "--epsilon", "2").code == 2


def test_calibration_measures_words_and_answers_for_a_pair(call, notes, few):
    found = call(
        "text", "calibrate", notes, "--embedding", few, "--epsilon", "1,4", "--pair", "cough,fever", "--json"
    ).json
    kept = [line["exact"]["kept"] for line in found["epsilons"]]
    assert 0 < kept[0] < kept[1] <= 1
    apart = float(shipped().distances(shipped().rows(["cough"]), shipped().rows(["fever"]))[0, 0])
    assert found["pair"]["epsilon"] == pytest.approx(1 / apart, rel=0.02)
    assert call("text", "calibrate", notes, "--embedding", few, "--epsilon", "1").code == 0
    assert "vocabulary" in call("text", "calibrate", notes, "--embedding", few, "--pair", "cough,unheard").err
    assert "above 1" in call("text", "calibrate", notes, "--embedding", few, "--factor", "0.5").err


def test_the_embedding_that_comes_along_is_copied_beside_a_policy(call, tmp_path):
    target = tmp_path / "small.nwe"
    assert call("embeddings", "get", "small", "-o", target).code == 0
    assert target.read_bytes() == shipped().resource.place().read_bytes()


def test_a_column_of_documents_is_released_and_verified(call, few, tmp_path):
    (tmp_path / "policy.toml").write_text(
        'dataset = "notes"\nbudget.epsilon = 10\n[[columns]]\nname = "note"\nmechanism = "private-documents"\n'
        'embedding = "few.nwe"\nsize = 5\nprotect = 4\nepsilon = 8\n'
    )
    with (tmp_path / "notes.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["note"], *([text] for text in NOTES.values())])
    words = (tmp_path / "policy.toml", tmp_path / "notes.csv")
    assert call("release", *words, "-o", tmp_path / "out", "--ledger", tmp_path / "ledger").code == 0
    released = pq.read_table(tmp_path / "out" / "data.parquet")["note"].to_pylist()
    assert [len(note.split()) for note in released] == [5, 5]
    proved = call("verify", tmp_path / "out", "--ledger", tmp_path / "ledger")
    assert proved.code == 0
    assert "matched" in proved.words


def make_notes(folder):
    sys.path.insert(0, str(ROOT / "examples" / "clinic"))
    try:
        from make_notes import main
    finally:
        sys.path.pop(0)
    main(folder)


def test_the_attackers_of_the_documentation_get_as_much_right(call, tmp_path):
    """The command as it is printed, with its seed; five points are three documents of 60, for other versions of scikit-learn."""
    page = (ROOT / "docs" / "text.md").read_text(encoding="utf-8")
    printed = re.search(r"^noisewright attack author out/clinic/notes.csv (.+)$", page, re.M)
    told = re.findall(r"^(style|words|nearest|knows the mechanism: \w+) +((?:\d+% *)+)$", page, re.M)
    make_notes(tmp_path)
    found = call("attack", "author", tmp_path / "notes.csv", *printed[1].split(), "--json").json["results"]
    assert len(told) == 2 * 5
    for name, rows in (("doctor", told[:5]), ("complaint", told[5:])):
        for attacker, shares in rows:
            computed = [100 * one[name][attacker]["share"] for one in found if attacker in one[name]]
            assert computed == pytest.approx([float(share.rstrip("%")) for share in shares.split()], abs=5), attacker


def test_attackers_recognise_doctors_until_words_are_noisy(call, tmp_path):
    """The clinic's notes: six doctors, so a guess is right once in six; 60 documents."""
    make_notes(tmp_path)
    words = ("--text", "note", "--author", "doctor", "--topic", "complaint", "--epsilon", "1", "--limit", "2000")
    found = call("attack", "author", tmp_path / "notes.csv", *words, "--size", "15", "--json").json["results"]
    plain, noisy = found
    assert plain["doctor"]["style"]["share"] > 0.5
    assert plain["doctor"]["style"]["chance"] == pytest.approx(1 / 6)
    for attacker in ("style", "words", "knows the mechanism: style"):
        low, high = noisy["doctor"][attacker]["interval"]
        assert low <= noisy["doctor"][attacker]["share"] <= high
        assert noisy["doctor"][attacker]["share"] < 0.4
    page = call("attack", "author", tmp_path / "notes.csv", *words)
    assert "knows the mechanism" in page.out
    assert call("attack", "author", tmp_path / "notes.csv", *words[:4], "--epsilon", "1", "--topic", "gone").code == 2


@pytest.mark.parametrize(
    ("more", "said"),
    [((), "the texts have no word of the vocabulary"), (("--pair", "cough"), "two words with a comma between them")],
)
def test_a_calibration_without_words_is_refused(call, few, tmp_path, more, said):
    (tmp_path / "numbers.txt").write_text("0171 555", encoding="utf-8")
    answer = call("text", "calibrate", tmp_path / "numbers.txt", "--embedding", few, *more)
    assert answer.code == 2
    assert said in answer.err


def test_the_epsilon_of_one_word_is_rounded_up(call, notes, few, tmp_path):
    words = ("--epsilon", "2.7182", "--embedding", few, "--size", "4")
    exact = call("text", "obfuscate", notes, "-o", tmp_path / "json", *words, "--json").json["one_word"]["epsilon"]
    shown = call("text", "obfuscate", notes, "-o", tmp_path / "page", *words).out
    said = float(re.search(r"of\s+the\s+vocabulary\):\s+epsilon\s+([0-9.]+)", shown)[1])
    assert exact * (1 - 1e-12) <= said <= exact * 1.01
    assert f"{exact:.3g}" != f"{said:.3g}"  # it would be rounded down to the nearest


def test_folders_of_neighbouring_documents_differ_in_draws_alone(call, notes, few, tmp_path, monkeypatch):
    """Documents of any other words, lengths and names; every draw is the same word."""
    monkeypatch.setattr(PrivateDocuments, "release_words", lambda self, texts: [["same"] * 4 for _ in texts])
    found = []
    for which, text in enumerate(("a short note", "ÄÖ Zylberstein 0171 " * 900, "?!")):
        given = tmp_path / f"given{which}"
        given.mkdir()
        (given / f"author {which}.txt").write_text(text, encoding="utf-8")
        (given / "other.txt").write_text("another note", encoding="utf-8")
        out = tmp_path / f"out{which}"
        done = call("text", "obfuscate", given, "-o", out, "--epsilon", "3", "--size", "4", "--embedding", few)
        assert done.code == 0
        found.append({path.name: path.read_bytes() for path in sorted(out.iterdir())})
    assert found[0] == found[1] == found[2]
    assert len(found[0]) == 3  # two documents and the certificate
