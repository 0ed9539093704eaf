"""``noisewright attack private-attribute``: what is printed, and what is refused."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest


@pytest.fixture
def tables(tmp_path):
    """A table with a private column, two releases of it, and one in another order with the numbers of the rows."""
    rng = np.random.default_rng(1)
    n = 400
    ill = rng.integers(0, 2, n)
    original = {
        "row": np.arange(n),
        "age": (50 + 10 * ill + 5 * rng.normal(size=n)).round(1),
        "town": np.where(rng.random(n) < 0.2 + 0.6 * ill, "north", "south"),
        "ill": np.where(ill, "yes", "no"),
    }
    noisy = [{**original, "age": original["age"] + 20 * rng.normal(size=n)} for _ in range(2)]
    order = rng.permutation(n)
    made = {
        "original": original,
        "public": {name: original[name] for name in ("age", "town", "ill")},
        "one": {name: noisy[0][name] for name in ("age", "town")},
        "two": {name: noisy[1][name] for name in ("age", "town")},
        "shuffled": {name: original[name][order] for name in ("row", "age", "town")},
        "short": {name: original[name][:200] for name in ("age", "town")},
        "other": {"age": original["age"], "height": original["age"]},
        "words": {"age": np.array(["old"] * n), "town": original["town"]},
        "steady": {"age": original["age"], "ill": np.full(n, "no")},
    }
    for name, columns in made.items():
        pyarrow.csv.write_csv(pa.table(columns), tmp_path / f"{name}.csv")
    return tmp_path


def run(call, tables, *words, **options):
    paths = [word if str(word).startswith("--") else tables / f"{word}.csv" for word in words]
    return call("attack", "private-attribute", *paths, *(w for k, v in options.items() for w in (f"--{k}", v)))


def test_the_page_says_what_the_best_could_guess_beside_the_prior_and_the_raw_data(call, tables):
    page = run(call, tables, "public", "one", private="ill").words
    for words in (
        "one.csv: ill is guessed right",
        "Best attacker",
        "Blind guess",
        "Original",
        "What is left",
        "nats",
        "Distortion",
        "quadratic logistic",
        "right on the original",
        "nothing was chosen",
        "may find more",
        "NOT private",
    ):
        assert words in page
    assert "north" not in page
    assert "yes" not in page


def test_several_releases_are_draws_and_json_has_everything(call, tables):
    data = run(call, tables, "public", "one", "two", "--json", private="ill").json
    assert data["draws"] == 2
    assert data["columns"] == ["age", "town"]
    assert 0.5 < data["accuracy"]["low"] < data["accuracy"]["value"] < data["raw"]["accuracy"]["value"] < 1
    assert data["attackers"][0]["name"] == "quadratic logistic"
    assert data["distortion"]["columns"]["town"] == 0.0
    assert data["private"] is False
    assert data["optimum"] is None  # a number and a word: no closed form


def test_one_column_of_words_has_the_best_possible_beside(call, tables):
    data = run(call, tables, "public", "one", "--json", private="ill", columns="town").json
    assert data["optimum"] is None  # the original has more to hide than what was released
    small = tables / "small.csv"
    read = pyarrow.csv.read_csv(tables / "public.csv")
    pyarrow.csv.write_csv(read.select(["town", "ill"]), small)
    pyarrow.csv.write_csv(read.select(["town"]), tables / "same.csv")
    page = call("attack", "private-attribute", small, tables / "same.csv", "--private", "ill")
    assert "Best possible" in page.out


def test_rows_in_another_order_are_matched_by_a_key_or_pointed_at(call, tables):
    data = run(call, tables, "original", "shuffled", "--json", private="ill", key="row").json
    assert data["cautions"] == []
    assert data["accuracy"]["value"] == data["raw"]["accuracy"]["value"]
    page = run(call, tables, "public", "shuffled", private="ill", columns="age,town").out
    assert "--key" in page
    assert page.index("Caution") < page.index("Best attacker")


@pytest.mark.parametrize(
    ("words", "options", "said"),
    [
        (("public", "short"), {"private": "ill"}, "short.csv has 200 rows and the original 400; give the table"),
        (("public", "other"), {"private": "ill"}, "columns that the original has not ('height')"),
        (("public", "words"), {"private": "ill"}, "the column 'age' holds numbers in one table and words in the other"),
        (("public", "one"), {"private": "illness"}, "public.csv has no column 'illness'"),
        (("public", "one"), {"private": "age"}, "with --bins 4"),
        (("steady", "one"), {"private": "ill", "columns": "age"}, "all records have one private value"),
        (("public", "one"), {"private": "ill", "columns": "size"}, "one.csv has no column 'size'"),
        (("public", "public"), {"private": "ill", "columns": "age,ill"}, "which is to be guessed and not to be seen"),
        (("original", "one"), {"private": "ill", "key": "row"}, "one.csv has no column 'row'"),
        (("public", "one"), {"private": "ill", "key": "town"}, "has a value twice"),
        (("public", "missing"), {"private": "ill"}, "missing.csv"),
    ],
)
def test_what_cannot_be_attacked_is_refused_in_one_sentence(call, tables, words, options, said):
    answer = run(call, tables, *words, **options)
    assert answer.code != 0
    assert said in answer.err
    assert answer.err.count("\n") == 1


def test_a_private_number_is_cut_into_ranges(call, tables):
    data = run(call, tables, "public", "one", "--json", private="age", bins="3", columns="town").json
    assert data["private_values"] == 3


def test_a_saved_privatiser_releases_the_original_itself(call, tables):
    pytest.importorskip("torch")
    from noisewright.learning import GAPPrivatiser

    read = pyarrow.csv.read_csv(tables / "public.csv").select(["town", "ill"])
    pyarrow.csv.write_csv(read, tables / "towns.csv")
    town, ill = (np.asarray(read.column(name).to_pylist()) for name in ("town", "ill"))
    attack = ("attack", "private-attribute", tables / "towns.csv")
    made = GAPPrivatiser([0.1, 0.2], settings={"epochs": 60}).fit({"town": town}, ill)
    made.save(tables / "curve.nwm")
    made.at(0.2).save(tables / "x.nwm")
    data = call(*attack, tables / "x.nwm", "--private", "ill", "--json").json
    assert data["draws"] == 5
    assert data["distortion"]["columns"]["town"] == pytest.approx(0.2, abs=0.08)
    assert data["accuracy"]["value"] < data["raw"]["accuracy"]["value"]
    page = call(*attack, tables / "curve.nwm", "--private", "ill", "--distortion", "1/5", "--draws", 1)
    assert "rows that it never saw" in page.words
    curve = call(*attack, tables / "curve.nwm", "--private", "ill")
    assert "curve.nwm has several budgets (0.1, 0.2); say which with --distortion." in curve.err
    table = call(*attack, tables / "towns.csv", "--private", "ill", "--distortion", "0.2")
    assert "--distortion picks a budget of a saved privatiser" in table.err
    refused = call("attack", "private-attribute", tables / "other.csv", tables / "x.nwm", "--private", "height")
    assert "the privatiser takes columns that the original has not ('town')" in refused.err
    twice = call(
        "attack", "private-attribute", tables / "towns.csv", tables / "x.nwm", tables / "x.nwm", "--private", "ill"
    )
    assert "attacked alone" in twice.err


def test_a_saved_privatiser_that_is_given_both_takes_all_private_columns(call, tables):
    pytest.importorskip("torch")
    from noisewright.learning import GAPPrivatiser

    read = pyarrow.csv.read_csv(tables / "public.csv").select(["town", "ill"])
    town, ill = (np.asarray(read.column(name).to_pylist()) for name in ("town", "ill"))
    rich = np.arange(len(town)) % 2
    pyarrow.csv.write_csv(read.append_column("rich", [rich]), tables / "towns.csv")
    made = {"one": {"ill": ill}, "array": ill, "two": {"ill": ill, "rich": rich}}
    for name, hidden in made.items():
        quick = GAPPrivatiser(0.2, given="xy", settings={"epochs": 20})
        quick.fit({"town": town}, hidden).save(tables / f"{name}.nwm")
        words = ("attack", "private-attribute", tables / "towns.csv", tables / f"{name}.nwm", "--private", "ill")
        data = call(*words, "--draws", 1, "--json").json
        assert data["distortion"]["columns"]["town"] == pytest.approx(0.2, abs=0.08)
    pyarrow.csv.write_csv(read, tables / "towns.csv")
    assert "the original has not ('rich')" in call(*words).err
