"""``noisewright match``: from profiles to codes to neighbours, and everything that can be wrong on the way."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.sparse import csr_array, save_npz

from noisewright.matching import Scheme
from noisewright.matching.scheme import read_codes
from noisewright.resources import Seed


@pytest.fixture
def place(tmp_path, monkeypatch):
    """60 people, two of a kind each, and a public scheme."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    first = rng.standard_normal((30, 8))
    np.save("people.npy", np.concatenate([first, first + 0.1 * rng.standard_normal(first.shape)]))
    Scheme(dimension=8, bits=256, epsilon=4, seed=Seed.from_hex("33" * 32)).save("public.json")
    return tmp_path


def test_the_whole_way(place, call):
    made = call(
        "match",
        "seed",
        "-o",
        "own.json",
        "--dimension",
        "8",
        "--bits",
        "200",
        "--loss",
        "60",
        "--radius",
        "0.1",
        "--json",
    )
    assert made.code == 0
    scheme = Scheme.at("own.json")
    assert (scheme.bits, made.json["fingerprint"]) == (200, scheme.fingerprint)
    assert 59.9 < made.json["before_the_seed"]["loss"] <= 60
    assert made.json["before_the_seed"]["seed_scope"] == "two profiles that were fixed before the seed was drawn"
    assert made.json["whatever_is_known"]["largest_loss"] == pytest.approx(200 * float(scheme.epsilon))
    encoded = call("match", "encode", "people.npy", "--public", "own.json", "-o", "codes.nwc", "--json")
    assert encoded.code == 0
    assert encoded.json["profiles"] == 60
    codes = read_codes("codes.nwc")
    assert (codes.fingerprint, codes.bits, list(codes.names)) == (scheme.fingerprint, 200, [str(i) for i in range(60)])
    plain = scheme.hash(np.load("people.npy"))
    flips = np.bitwise_count(codes.codes ^ plain).sum() / (60 * 200)
    # 12,000 flips; five standard errors
    assert flips == pytest.approx(float(scheme.flip), abs=5 * np.sqrt(0.25 / 12_000))
    found = call("match", "search", "codes.nwc", "--public", "own.json", "-k", "1", "--json")
    twins = [one["neighbours"][0]["name"] == str((int(one["name"]) + 30) % 60) for one in found.json["matches"]]
    assert np.mean(twins) > 0.8  # 0.999, with a deviation of 0.005: the seed and the noise are new each time
    assert (
        call("match", "encode", "people.npy", "--public", "own.json", "-o", "again.nwc", "--json").json["sha256"]
        != (encoded.json["sha256"])
    )  # fresh noise


def test_adding_forgetting_and_keeping(place, call):
    people = np.load("people.npy")
    for name, rows in (("old", slice(0, 40)), ("new", slice(40, 60))):
        names = [f"p{i}" for i in range(*rows.indices(60))]
        pq.write_table(pa.table({"who": names, "vector": pa.array(people[rows].tolist())}), f"{name}.parquet")
        assert call("match", "encode", f"{name}.parquet", "--public", "public.json", "-o", f"{name}.nwc").code == 0
    words = ("match", "search", "old.nwc", "new.nwc", "--public", "public.json", "--without", "p30")
    done = call(*words, "--save", "index.nwc", "-o", "found.csv", "-k", "2")
    assert done.code == 0
    assert "among 59 codes" in done.out
    assert "The first 20 of 59 are shown" in done.out
    kept = read_codes("index.nwc")
    assert len(kept.names) == 59
    assert "p30" not in kept.names
    rows = list(csv.DictReader(Path("found.csv").read_text().splitlines()))
    assert len(rows) == 2 * 59
    assert {row["rank"] for row in rows} == {"1", "2"}
    assert all(row["name"] != row["neighbour"] for row in rows)
    assert all(float(row["low"]) <= float(row["distance"]) <= float(row["high"]) for row in rows)
    first = {row["name"]: row["neighbour"] for row in rows if row["rank"] == "1"}
    assert np.mean([first[f"p{i}"] == f"p{i + 30}" for i in range(1, 30)]) > 0.9
    outside = call("match", "search", "index.nwc", "--public", "public.json", "--query", "old.nwc", "-k", "1", "--json")
    assert len(outside.json["matches"]) == 40
    one = call("match", "search", "index.nwc", "--public", "public.json", "--for", "p3", "-k", "1")
    assert "p33" in one.out
    assert "neighbours of 1 code: among 59 codes" in one.out


def test_all_kinds_of_files_and_of_indexes_say_the_same(place, call, monkeypatch):
    people = np.round(np.load("people.npy"), 3)
    np.save("people.npy", people)
    save_npz("people.npz", csr_array(people))
    lines = [",".join(map(str, (i, *row))) for i, row in enumerate(people.tolist())]
    Path("people.csv").write_text("\n".join(["who,a,b,c,d,e,f,g,h", *lines]))
    pq.write_table(
        pa.table({"x": pa.array(people.tolist(), pa.list_(pa.float64(), 8)), "who": range(60)}), "people.parquet"
    )
    monkeypatch.setattr("noisewright.matching.service.flipped", lambda codes, *_: codes)  # hashes alone can be compared
    found = []
    for suffix, more in (("npy", ()), ("npz", ()), ("csv", ("--names", "who")), ("parquet", ("--names", "who"))):
        done = call("match", "encode", f"people.{suffix}", "--public", "public.json", "-o", f"{suffix}.nwc", *more)
        assert done.code == 0, done.err
        found.append(Path(f"{suffix}.nwc").read_bytes())
    assert len(set(found)) == 1
    answers = [
        call("match", "search", "npy.nwc", "--public", "public.json", "-k", "1", "--kind", kind, "--json").json[
            "matches"
        ]
        for kind in ("flat", "hnsw")
    ]
    assert answers[0] == answers[1]


def test_sets_of_items(place, call):
    rng = np.random.default_rng(5)
    items = [[f"item {i}" for i in rng.choice(50, 10, replace=False)] for _ in range(20)]
    pq.write_table(pa.table({"who": [f"p{i}" for i in range(40)], "bought": items + items}), "sets.parquet")
    assert call("match", "seed", "-o", "sets.json", "--family", "minhash", "--bits", "512", "--epsilon", "4").code == 0
    assert call("match", "encode", "sets.parquet", "--public", "sets.json", "-o", "sets.nwc").code == 0
    found = call("match", "search", "sets.nwc", "--public", "sets.json", "-k", "1", "--json").json["matches"]
    assert all(one["neighbours"][0]["name"] == f"p{(i + 20) % 40}" for i, one in enumerate(found))
    tried = call("match", "evaluate", "sets.parquet", "--bits", "512", "--epsilon", "4", "-k", "1", "--json").json
    assert tried["schemes"][0]["recall"] == 1


def test_a_family_without_a_theorem_promises_nothing_by_distance(place, call):
    words = ("match", "seed", "-o", "fast.json", "--dimension", "8", "--family", "fast-projection", "--bits", "256")
    refused = call(*words, "--loss", "5")
    assert refused.code == 2
    assert "no theorem" in refused.err
    assert not Path("fast.json").exists()
    made = call(*words, "--epsilon", "4", "--json")
    assert made.json["before_the_seed"] is None
    Path("fast.json").unlink()
    assert "nothing is promised by distance" in call(*words, "--epsilon", "4").words
    assert call("match", "encode", "people.npy", "--public", "fast.json", "-o", "codes.nwc").code == 0
    found = call("match", "search", "codes.nwc", "--public", "fast.json", "-k", "1", "--json").json["matches"]
    assert {(one["neighbours"][0]["low"], one["neighbours"][0]["high"]) for one in found} == {(0, 1)}
    assert call("match", "evaluate", "people.npy", "--public", "fast.json", "-k", "1").code == 0
    tried = call("match", "evaluate", "people.npy", "--public", "fast.json", "-k", "1", "--json").json["schemes"][0]
    assert tried["loss_at_radius"] is None
    assert tried["recall"] > 0.8


def test_no_number_of_the_table_is_cut_short_on_a_narrow_page(place, call, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    page = call("match", "evaluate", "people.npy", "--bits", "16,256", "--epsilon", "1,8", "-k", "1").out
    assert "\u2026" not in page
    assert "100.0%" in page  # the widest share there is
    assert max(map(len, page.splitlines())) <= 80


def test_evaluate(place, call):
    words = (
        "match",
        "evaluate",
        "people.npy",
        "--bits",
        "16,256",
        "--epsilon",
        "1,4",
        "-k",
        "1",
        "--runs",
        "3",
        "--json",
    )
    found = call(*words).json
    assert [(one["bits"], one["epsilon_for_each_bit"]) for one in found["schemes"]] == [
        (16, "1"), (16, "4"), (256, "1"), (256, "4"),
    ]  # fmt: skip
    recall = [one["recall"] for one in found["schemes"]]
    assert recall[0] < recall[3]
    assert recall[3] > 0.9
    for one in found["schemes"]:
        assert one["recall"] == pytest.approx(one["expected"], abs=0.4)  # eight deviations: drawn anew each time
        assert one["loss_at_radius"] <= one["largest_loss"] == one["bits"] * int(one["epsilon_for_each_bit"])
    page = call("match", "evaluate", "people.npy", "--public", "public.json", "-k", "1")
    assert page.code == 0
    assert "fixed before the seed was drawn" in page.words


def test_profiles_of_zeros_are_counted(place, call):
    people = np.load("people.npy")
    people[[3, 7]] = 0
    np.save("people.npy", people)
    assert call("match", "evaluate", "people.npy", "--bits", "64", "--epsilon", "4", "--json").json["left_out"] == 2
    refused = call("match", "encode", "people.npy", "--public", "public.json", "-o", "codes.nwc")
    assert refused.code == 2
    assert "zeros has no direction" in refused.err
    assert not Path("codes.nwc").exists()


def spoil(name: str) -> None:
    """Files with something wrong."""
    people = np.load("people.npy")
    if name == "nan.npy":
        people[2, 3] = np.nan
        np.save(name, people)
    elif name == "long.npy":
        np.save(name, np.ones((3, 9)))
    elif name == "flat.npy":
        np.save(name, np.ones(3))
    elif name == "objects.npy":
        np.save(name, np.array([{}], dtype=object))
    elif name == "ragged.parquet":
        pq.write_table(pa.table({"who": ["a", "b"], "x": [[1.0], [1.0, 2.0]]}), name)
    elif name == "words.csv":
        Path(name).write_text("who,a\nann,secret-value\n")
    elif name == "twice.csv":
        Path(name).write_text("who,a,b,c,d,e,f,g,h\nann,1,2,3,4,5,6,7,8\nann,1,2,3,4,5,6,7,8\n")
    elif name == "empty.csv":
        Path(name).write_text("")
    elif name == "text.npy":
        Path(name).write_text("no array")


@pytest.mark.parametrize(
    ("file", "sentence"),
    [
        ("nan.npy", "missing or infinite"),
        ("long.npy", "rows of 8 numbers"),
        ("flat.npy", "two dimensions"),
        ("objects.npy", "holds no rows of numbers"),
        ("text.npy", "holds no rows of numbers"),
        ("ragged.parquet", "of one length"),
        ("words.csv", "columns of numbers"),
        ("twice.csv", "a name was given twice"),
        ("empty.csv", "not the table that its name says"),
        ("nobody.npy", "cannot be read"),
        ("people.txt", ".npy, .npz, .parquet, .csv"),
        ("public.json", ".npy, .npz, .parquet, .csv"),
    ],
)
def test_wrong_profiles_get_a_sentence(place, call, file, sentence):
    spoil(file)
    answer = call("match", "encode", file, "--public", "public.json", "-o", "codes.nwc")
    assert answer.code == 2
    assert sentence in answer.err
    assert "secret-value" not in answer.err
    assert not Path("codes.nwc").exists()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("seed -o p.json --dimension 8 --bits 0 --epsilon 1", "bits must be a whole number from 1"),
        ("seed -o p.json --dimension 0 --epsilon 1", "dimension must be a whole number from 1"),
        ("seed -o p.json --dimension 8 --epsilon -1", "epsilon"),
        ("seed -o p.json --dimension 8", "--epsilon, the price of a bit, or --loss"),
        ("seed -o p.json --dimension 8 --epsilon 1 --loss 2", "one of them"),
        ("seed -o p.json --dimension 8 --loss 2 --delta 1", "delta"),
        ("seed -o p.json --dimension 8 --loss 2 --delta 0", "delta"),
        ("seed -o p.json --dimension 8 --loss 2 --radius 2", "radius"),
        ("seed -o p.json --dimension 8 --epsilon 1 --family tree", "family"),
        ("seed -o p.json --epsilon 1", "dimension"),
        ("seed -o p.txt --dimension 8 --epsilon 1", ".json"),
        ("encode people.npy --public public.json -o codes.txt", ".nwc"),
        ("encode people.npy --public people.npy -o new.nwc", "no public scheme"),
        ("encode people.npy --public none.json -o new.nwc", "cannot be read"),
        ("encode people.npy --public public.json --names who -o none/codes.nwc", "cannot be written"),
        ("encode people.npy --public public.json -o codes.nwc", "there already"),
        ("encode people.npy --public public.json --names who -o new.nwc", "named by their numbers"),
        ("encode . --public public.json -o new.nwc", ".: profiles are read from"),
        ("seed -o public.json --dimension 8 --epsilon 1", "there already"),
        ("search codes.nwc --public public.json -k 0", "1 neighbour or more"),
        ("search codes.nwc --public public.json --kind tree", "flat, hnsw or ivf"),
        ("search codes.nwc --public public.json --for nobody", "not in the index"),
        ("search codes.nwc --public public.json --without nobody", "not in the index"),
        ("search codes.nwc codes.nwc --public public.json", "in the index already"),
        ("search codes.nwc --public public.json --for 3 --query codes.nwc", "give one of them"),
        ("search codes.nwc --public public.json --confidence 2", "confidence"),
        ("search codes.nwc --public other.json", "codes of two schemes cannot be compared"),
        ("search tampered.nwc --public public.json", "was changed or cut short"),
        ("search people.npy --public public.json", "holds no codes"),
        ("evaluate people.npy --bits x", "whole numbers between commas"),
        ("evaluate people.npy --epsilon x", "epsilon"),
        ("evaluate people.npy -k 60", "1 to 59 neighbours"),
        ("evaluate people.npy --delta 0", "delta"),
        ("evaluate people.npy --public public.json --bits 8", "--public, or --bits and --epsilon"),
    ],
)
def test_wrong_words_get_a_sentence(place, call, words, sentence):
    call("match", "encode", "people.npy", "--public", "public.json", "-o", "codes.nwc")
    content = bytearray(Path("codes.nwc").read_bytes())
    content[-40] ^= 4
    Path("tampered.nwc").write_bytes(content)
    Scheme(dimension=8, bits=256, epsilon=4, seed=Seed.from_hex("44" * 32)).save("other.json")
    before = sorted(path.name for path in place.iterdir())
    answer = call("match", *words.split())
    assert answer.code == 2
    assert sentence in answer.err
    assert sorted(path.name for path in place.iterdir()) == before
    again = call("match", *words.split(), "--json")
    assert json.loads(again.out)["error"]


@pytest.mark.parametrize("command", ["encode", "evaluate"])
@pytest.mark.parametrize(
    ("suffix", "content", "more", "sentence"),
    [
        ("csv", b"age,a,b\n31,1,2\n47,2,1\n", (), "names are sent in the clear"),
        ("csv", b"age,a,b\n3.5,1,2\n4.7,2,1\n", (), "names are sent in the clear"),
        ("csv", "who,a,b\nJos\u00e9,1,2\n".encode("latin-1"), (), "names are sent in the clear"),
        ("csv", "who,a,b\nJos\u00e9,1,2\n".encode("latin-1"), ("--names", "who"), "holds no names"),
        ("csv", b"who,a,a\nann,1,2\nbob,2,1\n", (), "two columns of one name"),
        ("csv", b"who,who,a\nann,1,2\nbob,2,1\n", ("--names", "who"), "two columns of one name"),
        ("parquet", pa.table({"v": pa.array([[1.0, 2.0]], pa.list_(pa.float64(), 2))}), (), "in the clear"),
        ("parquet", pa.table({"v": [[1.0, 2.0]], "who": [1]}), ("--names", "v"), "holds no names"),
        ("parquet", pa.table({}), (), "names are sent in the clear"),
        ("parquet", pa.table({"age": pa.array([31, 47]).dictionary_encode(), "a": [1, 2], "b": [2, 1]}), (), "clear"),
    ],
)
def test_a_column_of_the_profile_never_becomes_a_name(
    tmp_path, monkeypatch, call, command, suffix, content, more, sentence
):
    monkeypatch.chdir(tmp_path)
    Scheme(dimension=2, bits=8, epsilon=1).save("two.json")
    path = Path(f"people.{suffix}")
    path.write_bytes(content) if isinstance(content, bytes) else pq.write_table(content, path)
    output = ("-o", "codes.nwc") if command == "encode" else ("-k", "1")
    answer = call("match", command, path, "--public", "two.json", *output, *more)
    assert answer.code == 2
    assert sentence in answer.err
    assert "inside Noisewright" not in answer.err
    assert not Path("codes.nwc").exists()


def test_numbers_may_be_names_if_that_is_said(tmp_path, monkeypatch, call):
    monkeypatch.chdir(tmp_path)
    Scheme(dimension=2, bits=8, epsilon=1).save("two.json")
    Path("people.csv").write_text("id,a,b\n31,1,2\n47,2,1\n")
    done = call("match", "encode", "people.csv", "--public", "two.json", "-o", "c.nwc", "--names", "id", "--json")
    assert done.json["in_the_clear"] == ["names", "the order of the profiles", "how many there are"]
    assert list(read_codes("c.nwc").names) == ["31", "47"]


def test_a_sparse_file_with_columns_that_are_not_there_is_refused(place, call):
    given = csr_array(np.load("people.npy"))
    outside = given.indices.copy()
    outside[3] = 77
    parts = {"data": given.data, "indptr": given.indptr, "shape": given.shape, "format": b"csr"}
    np.savez("outside.npz", indices=outside, **parts)
    answer = call("match", "encode", "outside.npz", "--public", "public.json", "-o", "codes.nwc")
    assert answer.code == 2
    assert "holds no rows of numbers" in answer.err


def test_profiles_of_zeros_that_a_sparse_file_spells_out_are_left_out(place, call):
    people = csr_array(np.load("people.npy"))
    people.data[people.indptr[5] : people.indptr[6]] = 0
    save_npz("zeros.npz", people)
    tried = call("match", "evaluate", "zeros.npz", "--bits", "64", "--epsilon", "4", "-k", "1", "--json").json
    assert (tried["people"], tried["left_out"]) == (59, 1)
    assert tried["seed_scope"] == "two profiles that were fixed before the seed was drawn"
    np.save("nobody.npy", np.zeros((3, 8)))
    assert "among 2 profiles or more" in call("match", "evaluate", "nobody.npy", "-k", "1").err


def test_a_page_with_distances_or_flips_says_no_more_than_holds(place, call):
    call("match", "encode", "people.npy", "--public", "public.json", "-o", "codes.nwc")
    assert (
        "for profiles that were fixed before the seed"
        in call("match", "search", "codes.nwc", "--public", "public.json", "-k", "1").words
    )
    told = call("match", "seed", "-o", "dear.json", "--dimension", "8", "--epsilon", "2000", "--bits", "8").words
    assert "probability 2.576e-869" in told  # 1 / (1 + e^2000), which is no float, and not 0
    third = call("match", "seed", "-o", "third.json", "--dimension", "8", "--epsilon", "1/3", "--bits", "8").words
    assert "epsilon 0.3334 for every bit" in third  # what is said of a price is not below it


def test_names_that_a_spreadsheet_would_run_are_harmless_in_the_table_of_neighbours(place, call):
    pq.write_table(pa.table({"who": ["=cmd()", "bob"], "a": [1.0, 2.0], "b": [2.0, 1.0]}), "two.parquet")
    Scheme(dimension=2, bits=64, epsilon=4).save("two.json")
    assert call("match", "encode", "two.parquet", "--public", "two.json", "-o", "two.nwc").code == 0
    assert call("match", "search", "two.nwc", "--public", "two.json", "-k", "1", "-o", "found.csv").code == 0
    with open("found.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))[1:]
    assert [(row[0], row[2]) for row in rows] == [("'=cmd()", "bob"), ("bob", "'=cmd()")]
