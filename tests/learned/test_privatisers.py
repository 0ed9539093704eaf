"""Privatisers learned from examples: what they reach, what they are given and give, files, and what is refused."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import noisewright as nw
from noisewright.certificates import Accountant
from noisewright.cli import run
from noisewright.context_aware import FiniteGame, Joint
from noisewright.context_aware.closed_forms import least_accuracy
from noisewright.exceptions import CertificateError, DataError, FileFormatError, NoisewrightError, ParameterError
from noisewright.guarantees import Guarantee
from noisewright.io import read_model, write_model
from noisewright.learning import GAPPrivatiser
from noisewright.learning.columns import Columns
from noisewright.learning.evaluation import guessed
from noisewright.resources import Resource

QUICK = {"epochs": 6, "adversary_steps": 2, "hidden": 8, "adversary_hidden": 8}
FEW = ["nearest neighbours"]


def xor(rows: int = 4000, px1: float = 0.5, flip: float = 0.25, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    x = (rng.random(rows) < px1).astype(int)
    return x, np.where(rng.random(rows) < flip, 1 - x, x)


def people(rows: int = 1200, seed: int = 1) -> tuple[pd.DataFrame, np.ndarray[Any, Any]]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, rows)
    towns = np.array(["Bonn", "Kiel", "Ulm"])[np.where(rng.random(rows) < 0.3, rng.integers(0, 3, rows), y)]
    age = (30 + 6 * y + 5 * rng.normal(size=rows)).astype(np.int16)
    return pd.DataFrame({"height": 1.7 + 0.05 * y + 0.1 * rng.normal(size=rows), "town": towns, "age": age}), y


@pytest.fixture(scope="module")
def mixed() -> GAPPrivatiser:
    frame, y = people()
    return GAPPrivatiser([0.5, 1.0], settings=QUICK, attackers=FEW).fit(frame, y)


@pytest.fixture(scope="module")
def table() -> GAPPrivatiser:
    x, y = xor()
    return GAPPrivatiser([0.05, 0.1, 0.2], categorical=["x0"], settings={"epochs": 60}).fit(x, y)


# What is reached ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", ["x", "xy"])
def test_a_table_is_nearly_the_best_mechanism_for_the_counted_law(given: str) -> None:
    x, y = xor(px1=0.75)
    budgets = [0.05, 0.1]
    made = GAPPrivatiser(budgets, categorical=["x0"], given=given, settings={"epochs": 100}).fit(x, y)
    kept = ~made._apart(y[:, None])
    game = FiniteGame(Joint.of(x[kept].tolist(), y[kept].tolist()), given=given)
    for budget in budgets:
        best = game.optimum(budget, "log")
        point = made.at(budget)
        learned = game.mechanism(point.arrays_[0]["table"].reshape(-1, 2))
        assert float(learned.spent) <= budget + 1e-9
        assert learned.information == pytest.approx(best.information, abs=0.002)
        assert point.points_[0].converged


def test_numbers_that_tell_are_changed_and_others_are_not(mixed: GAPPrivatiser) -> None:
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 2000)
    X = np.column_stack([2 * y + rng.normal(size=2000), rng.normal(size=2000)])
    made = GAPPrivatiser(0.6, settings={"epochs": 25}, attackers=FEW).fit(X, y)
    draws = [made.release(X, rng=np.random.default_rng(seed)) for seed in range(5)]
    told = [made.distortion_of(X, one) for one in draws]
    costs = {name: np.mean([one[name] for one in told]) for name in ("x0", "x1")}
    assert sum(costs.values()) == pytest.approx(0.6, rel=0.06)
    assert costs["x1"] < 0.15 * costs["x0"]
    raw, attacked = (LogisticRegression().fit(A, y).score(A, y) for A in (X, draws[0]))
    assert raw > 0.83
    assert attacked < 0.72


# What goes in and out -----------------------------------------------------------------------------------------------------


def test_records_come_back_in_the_form_they_were_given_in(mixed: GAPPrivatiser) -> None:
    frame, _ = people()
    one = mixed.at(0.5)
    frame.index = frame.index + 7
    out = one.release(frame, rng=np.random.default_rng(1))
    assert list(out.columns) == ["height", "town", "age"]
    assert out.index.equals(frame.index)
    assert out["age"].dtype == np.int16
    assert set(out["town"]) <= {"Bonn", "Kiel", "Ulm"}
    columns = {name: frame[name].to_numpy() for name in frame}
    for other in (pa.table(columns), pl.DataFrame({k: v.tolist() for k, v in columns.items()}), columns):
        released = one.release(other, rng=np.random.default_rng(1))
        assert type(released) is type(other)
        assert np.asarray(released["height"]) == pytest.approx(out["height"].to_numpy())
        assert [str(town) for town in released["town"]] == out["town"].tolist()
    shuffled = one.release(frame[["age", "height", "town"]], rng=np.random.default_rng(1))
    assert list(shuffled.columns) == ["age", "height", "town"]
    assert shuffled["height"].to_numpy() == pytest.approx(out["height"].to_numpy())


def test_releases_are_drawn_from_the_system_unless_simulated(mixed: GAPPrivatiser) -> None:
    frame, _ = people()
    one = mixed.at(1.0)
    first, second = (one.release(frame)["height"].to_numpy() for _ in range(2))
    assert (first != second).mean() > 0.9  # on one step now and then
    again = [one.release(frame, rng=np.random.default_rng(3))["height"].to_numpy() for _ in range(2)]
    assert (again[0] == again[1]).all()
    with pytest.raises(ParameterError, match="rng"):
        one.release(frame, rng=7)  # type: ignore[arg-type]


def test_fact_31_one_that_is_given_x_alone_never_looks_at_y(mixed: GAPPrivatiser, table: GAPPrivatiser) -> None:
    frame, y = people()
    x, _ = xor()
    for one, X in ((mixed.at(1.0), frame), (table.at(0.1), x)):
        rng = np.random.default_rng(2)
        outputs = [
            one.release(X, given, rng=np.random.default_rng(9)) for given in (None, y[: len(X)], rng.permutation(y))
        ]
        for other in outputs[1:]:
            assert np.array_equal(np.asarray(outputs[0]), np.asarray(other))


def test_one_that_is_given_both_needs_both_and_may_hide_several_private_values() -> None:
    frame, y = people()
    second = (frame["age"].to_numpy() > 36).astype(str)
    hidden = pd.DataFrame({"class": y, "old": second})
    made = GAPPrivatiser(0.8, given="xy", settings=QUICK, attackers=FEW).fit(frame[["height", "town"]], hidden)
    assert [one.name for one in made.private_] == ["class", "old"]
    assert len(made.points_[0].accuracy) == 2
    with pytest.raises(DataError, match="second argument"):
        made.release(frame[["height", "town"]])
    outputs = [made.release(frame[["height", "town"]], h, rng=np.random.default_rng(1)) for h in (hidden, hidden[::-1])]
    assert (outputs[0]["height"].to_numpy() != outputs[1]["height"].to_numpy()).mean() > 0.5


def test_bounds_are_kept() -> None:
    frame, y = people()
    bounds = {"height": (1.2, 2.3), "age": (0, 120)}
    made = GAPPrivatiser(1.5, bounds=bounds, settings=QUICK, attackers=FEW).fit(frame, y)
    wild = frame.assign(height=np.linspace(1.2, 2.3, len(frame)))
    out = made.release(wild)
    assert out["height"].between(1.2, 2.3).all()
    assert out["age"].between(0, 120).all()
    made.columns_ = replace(made.columns_, columns=tuple(_within_half(one) for one in made.columns_.columns))
    assert made.release(frame)["age"].between(30, 40).all()  # whole numbers between 29.5 and 40.5


def _within_half(column: Any) -> Any:
    return replace(column, low=29.5, high=40.5) if column.name == "age" else column


def test_it_works_like_an_estimator_of_scikit_learn() -> None:
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 600)
    X = rng.normal(size=(600, 2)) + y[:, None]
    other = (X[:, 1] > 0).astype(int)
    made = GAPPrivatiser(0.4, settings=QUICK, attackers=FEW)
    copy = clone(made).set_params(distortion=0.5)
    assert copy.get_params() == {**made.get_params(), "distortion": 0.5}
    line = make_pipeline(StandardScaler(), made).fit(X, y)
    assert line.transform(X).shape == X.shape
    whole = make_pipeline(StandardScaler(), clone(made), LogisticRegression()).fit(X, y)
    assert 0 <= whole.score(X, other) <= 1
    with pytest.raises(ParameterError, match="not a parameter"):
        made.set_params(epsilonn=1)


# What is promised ---------------------------------------------------------------------------------------------------------


def test_the_guarantee_is_context_aware_and_adds_to_no_budget(table: GAPPrivatiser) -> None:
    promise = table.at(0.1).guarantee
    assert promise.kind == "context-aware"
    assert promise.distortion == pytest.approx(table.at(0.1).points_[0].spent)
    assert promise.accuracy > table.at(0.1).points_[0].accuracy[0]
    assert (promise.rows, promise.private, promise.adversaries) == (800, ("y",), ("the adversary of the training",))
    for words in (str(promise), promise.in_words()):
        assert "y is guessed right at most" in words
        assert "as measured on 800 records held out (with confidence 95 %), and perhaps more by others" in words
    with pytest.raises(ParameterError, match="no differential privacy budget"):
        Accountant(["a", "b"]).add(promise)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match=r"pick one with \.at"):
        _ = table.guarantee


def test_certified_noise_behind_it_states_both_promises(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frame, y = people()
    bounds = {"height": (1.2, 2.3), "age": (0, 120)}
    made = GAPPrivatiser(1.0, bounds=bounds, settings=QUICK, attackers=FEW).fit(frame, y)
    noisy = made.with_epsilon("7/2", frame)
    context, proved = noisy.guarantees
    assert (context.kind, context.accuracy) == ("context-aware", made.guarantee.accuracy)
    assert context.distortion > made.guarantee.distortion + 0.5
    untrained = "for records that the privatiser was not trained on"
    assert str(proved) == f"epsilon = 3.5 per unit of discrete, {untrained}"
    assert noisy.certificate().epsilon == Fraction(7, 2)
    said = noisy.certificate().verify()
    assert said == f"epsilon = 3.5 per unit of discrete, over 3 independent parts, {untrained}"
    assert f"This holds {untrained}." in noisy.in_words()
    out = noisy.release(frame)
    assert out["height"].between(1.2, 2.3).all()
    assert out["age"].dtype == np.int64
    assert set(out["town"]) <= {"Bonn", "Kiel", "Ulm"}
    spent = Accountant(["a", "b"]).add(proved).guarantee()
    assert spent.epsilon == pytest.approx(3.5)
    assert [one.code for one in spent.conditions] == ["not-a-training-record"]
    assert str(spent).endswith(untrained)
    assert str(Accountant(["a", "b"]).add(proved).add(Guarantee(1.0, nw.metrics.Discrete())).guarantee()).endswith(
        untrained
    )
    path = nw.save(noisy.certificate(), tmp_path / "noise.json")
    assert all(untrained in one for one in nw.verify(path).sentences)
    for command in ("verify", "audit"):
        assert run([command, str(path)]) == 0
        assert " ".join(capsys.readouterr().out.split()).count(untrained) == 2  # the claim, and the words
    with pytest.raises(CertificateError, match="the privatiser is not in the file"):
        nw.mechanisms.mechanism_of(noisy.certificate())
    with pytest.raises(ParameterError, match="public range of every column of numbers, and 'height' has none"):
        GAPPrivatiser(1.0, settings=QUICK, attackers=FEW).fit(frame, y).with_epsilon(1, frame)
    with pytest.raises(ParameterError, match="epsilon"):
        made.with_epsilon(0, frame)


def test_certified_noise_loses_no_more_than_it_promises_between_any_two_records() -> None:
    """The channel of both together, from the table that is drawn from: randomised response behind a learned table."""
    x, y = xor()
    made = GAPPrivatiser(0.1, categorical=["x0"], settings={"epochs": 30}).fit(x, y)
    noisy = made.with_epsilon(1, x)
    whole = made.arrays_[0]["table"][:, 0] @ noisy.noise.parts[0][0].channel().matrix
    assert np.abs(np.log(whole[0] / whole[1])).max() < 1
    drawn = noisy.release(np.tile([0, 1], 50_000), rng=np.random.default_rng(1)).reshape(-1, 2)
    shares = [np.bincount(drawn[:, place], minlength=2) / 50_000 for place in range(2)]
    assert np.abs(np.array(shares) - whole).max() < 5 * 0.5 / 50_000**0.5  # five standard errors


def test_the_optimum_and_what_is_told_stand_beside(table: GAPPrivatiser, mixed: GAPPrivatiser) -> None:
    """At the distortion that is spent, on the counted law; labels are no numbers to attackers and optima."""
    x, y = xor()
    game = FiniteGame(Joint.of(x.tolist(), y.tolist()))
    for point in table.points_:
        (best,) = point.optimum
        assert best is not None
        assert best.accuracy == pytest.approx(float(game.optimum(point.spent).accuracy), abs=1e-9)
        assert (
            f"{100 * best.accuracy:.1f} % with the best mechanism of this distortion on the counted" in point.in_words()
        )
        ((low, high),) = point.told_between
        assert low - 0.01 < game.optimum(point.spent, "log").information < high
        assert point.by_column == (("x0", pytest.approx(point.spent)),)
    for point in mixed.points_:
        assert point.optimum == (None,)  # three classes, many different records
        assert [name for name, _ in point.by_column] == ["height", "age", "town"]
        assert sum(part for _, part in point.by_column) == pytest.approx(point.spent)
    with_both = GAPPrivatiser(0.1, categorical=["x0"], given="xy", settings={"epochs": 30}).fit(x, y).points_[0]
    assert with_both.optimum[0] is not None
    assert with_both.optimum[0].accuracy == pytest.approx(least_accuracy(game.joint, with_both.spent, "xy"), abs=1e-9)


def test_attackers_take_labels_that_look_like_numbers_as_labels() -> None:
    """Places 0 and 2 of three go with one class, place 1 with the other: no line tells them apart, three columns do."""
    rng = np.random.default_rng(11)
    y = rng.integers(0, 2, 600)
    label = np.where(y, 1, 2 * rng.integers(0, 2, 600))
    X = {"label": label, "noise": rng.normal(size=600)}
    draws = [{"label": label, "noise": X["noise"]}]
    columns = Columns.of(X, ["label"])
    apart = np.arange(600) % 4 == 0
    (found,) = guessed(columns, draws, y[:, None], apart, [0.5], ["quadratic logistic"], 0)
    assert (found.best, found.accuracy.value) == ("quadratic logistic", 1.0)


def test_failures_to_converge_are_said(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    y = rng.integers(0, 2, 800)
    made = GAPPrivatiser(0.9, attackers=FEW, settings={**QUICK, "epochs": 1, "warm_up": 0, "rate": 1e-6}).fit(
        rng.normal(size=(800, 1)) + 2 * y[:, None], y
    )
    assert not made.points_[0].converged
    assert made.points_[0].in_words().endswith(f"it did NOT converge: {made.points_[0].advice}")
    assert "epochs" in made.points_[0].advice
    assert "did NOT come to rest with its budget spent" in made.guarantee.in_words()
    assert str(made.guarantee).endswith("did NOT converge")
    made.save(path := tmp_path / "p.nwm")
    assert not GAPPrivatiser.load(path).guarantee.converged


# Files --------------------------------------------------------------------------------------------------------------------


def test_a_saved_privatiser_is_the_same_one_and_needs_no_torch(mixed: GAPPrivatiser, tmp_path: Path) -> None:
    frame, _ = people()
    path = tmp_path / "p.nwm"
    mixed.at(0.5).save(path)
    again = GAPPrivatiser.load(path)
    assert again.get_params() == mixed.at(0.5).get_params()
    assert again.points_ == mixed.at(0.5).points_
    ours, theirs = (one.release(frame, rng=np.random.default_rng(1)) for one in (again, mixed.at(0.5)))
    assert ours.equals(theirs)
    mixed.save(tmp_path / "curve.nwm")
    assert GAPPrivatiser.load(tmp_path / "curve.nwm").at(1.0).points_ == mixed.at(1.0).points_
    code = (
        "import sys; sys.modules['torch'] = None; import numpy as np; from noisewright.learning import GAPPrivatiser;"
        f"made = GAPPrivatiser.load({str(path)!r});"
        "print(made.release({'height': np.array([1.7]), 'town': np.array(['Ulm']), 'age': np.array([40])})['age'].dtype)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "int64"), done.stderr


IMPOSSIBLE: list[dict[str, Any]] = [
    {"accuracy": [1.5]},
    {"accuracy_between": [[0.5]]},
    {"judged": [0]},
    {"spent": "little"},
    {"spent_between": [0.1, -1.0]},
    {"rested": "yes"},
    {"best": ["x" * 2000]},
    {"tried": []},
    {"prior": [0.5, 0.5]},
    {"by_column": [["other", 0.1]]},
    {"by_column": [["x0", -0.1]]},
    {"told": ["much"]},
    {"told_between": [[1.0, 2.0]]},
    {"optimum": []},
    {"optimum": [{"accuracy": 2, "of": "all", "distortion": 0.1}]},
    {"optimum": [{"accuracy": 0.6}]},
]


def test_files_of_other_versions_and_damaged_ones_are_refused(table: GAPPrivatiser, tmp_path: Path) -> None:
    table.at(0.1).save(path := tmp_path / "p.nwm")
    about, arrays = read_model(Resource.at(path), "privatiser")
    write_model(tmp_path / "old.nwm", "privatiser", {**about, "version": 1}, arrays)
    with pytest.raises(FileFormatError, match=r"old\.nwm is a privatiser of another version"):
        GAPPrivatiser.load(tmp_path / "old.nwm")
    write_model(tmp_path / "face.nwm", "eigenfaces", about, arrays)
    with pytest.raises(FileFormatError, match="another kind"):
        GAPPrivatiser.load(tmp_path / "face.nwm")
    (tmp_path / "cut.nwm").write_bytes(path.read_bytes()[:-9])
    with pytest.raises(FileFormatError, match="cut short"):
        GAPPrivatiser.load(tmp_path / "cut.nwm")
    wrong: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({**about, **{key: value}}, dict(arrays))
        for key, value in (
            ("family", "magic"),
            ("columns", []),
            ("points", []),
            ("private", [{}]),
            ("costs", []),
            ("costs", [-1.0]),
            ("settings", {"x": 1}),
            ("rows", -5),
            ("rows", "many"),
            ("private", [{"name": "y", "labels": [[0], [1]]}]),
            ("columns", [{"kind": "category", "name": "x0", "labels": [["a"], "b"]}]),
            ("columns", [{"kind": "colour", "name": "x0", "labels": [0, 1]}]),
            *(("points", [{**about["points"][0], **worse}]) for worse in IMPOSSIBLE),
        )
    ]
    wrong += [(about, {}), (about, {"0.table": arrays["0.table"] * 0.5}), (about, {"0.table": arrays["0.table"][:1]})]
    for number, (told, named) in enumerate(wrong):
        write_model(tmp_path / f"{number}.nwm", "privatiser", told, named)
        with pytest.raises(FileFormatError, match=f"{number}.nwm is no privatiser"):
            GAPPrivatiser.load(tmp_path / f"{number}.nwm")
    with pytest.raises(FileFormatError, match=r"\.nwm"):
        table.save(tmp_path / "p.pickle")


@pytest.mark.parametrize(
    "worse",
    [
        *({"low": "a"}, {"low": 3, "high": 1}, {"low": 1}, {"low": 1, "high": 1.01}),
        *({"scale": 1e308}, {"scale": 0}, {"centre": [1]}, {"whole": 1}),
    ],
)
def test_files_with_numbers_that_cannot_be_are_refused(
    mixed: GAPPrivatiser, tmp_path: Path, worse: dict[str, Any]
) -> None:
    mixed.at(0.5).save(path := tmp_path / "p.nwm")
    about, arrays = read_model(Resource.at(path), "privatiser")
    height, *others = about["columns"]
    write_model(path, "privatiser", {**about, "columns": [{**height, **worse}, *others]}, arrays)
    with pytest.raises(FileFormatError, match=r"p\.nwm is no privatiser"):
        GAPPrivatiser.load(path)


@pytest.mark.parametrize("layer", ["w2", "skip", "b0", "leaning"])
def test_files_whose_weights_would_release_no_numbers_are_refused(
    mixed: GAPPrivatiser, tmp_path: Path, layer: str
) -> None:
    mixed.at(0.5).save(path := tmp_path / "p.nwm")
    about, arrays = read_model(Resource.at(path), "privatiser")
    for weight in (3e38, np.nan):
        write_model(path, "privatiser", about, {**arrays, f"0.{layer}": np.full_like(arrays[f"0.{layer}"], weight)})
        with pytest.raises(FileFormatError, match=r"p\.nwm is no privatiser"):
            GAPPrivatiser.load(path)


# What is refused ----------------------------------------------------------------------------------------------------------

X, Y = np.arange(200.0)[:, None], np.tile([0, 1], 100)
NAN = np.where(np.arange(200) == 3, np.nan, X[:, 0])[:, None]


@pytest.mark.parametrize(
    ("options", "data", "said"),
    [
        ({}, (X, np.zeros(200, int)), "one class only"),
        ({}, (X, np.r_[np.zeros(195, int), np.ones(5, int)]), "fewer than 20 rows"),
        ({}, (X, np.linspace(0, 1, 200)), "too many different values"),
        ({}, (X, Y[:-1]), "one row for each record"),
        ({}, (X, None), "second argument"),
        ({}, (X * 0 + 4, Y), "'x0' is constant"),
        ({"categorical": ["x0"]}, (X * 0 + 4, Y), "'x0' is constant"),
        ({}, (NAN, Y), "'x0' has missing or infinite"),
        ({}, ({"a": [None, "b"] * 100}, Y), "'a' has missing or infinite"),
        ({}, (X[:0], Y[:0]), "no rows"),
        ({}, (X * 1e160, Y), "'x0' has numbers beyond 1e"),
        ({}, (X * 1e-160, Y), "differ by too little"),
        ({}, (np.arange(200)[:, None] + 2**62, Y), "differ by too little for their size, or at all; subtract"),
        ({}, ({"a": [*map(str, range(199)), "odd"]}, Y), "'a' holds numbers, and cells that are none"),
        ({}, ({"a": [f"name {n}" for n in range(200)]}, Y), "most of them are of one row each"),
        ({}, ({"a": [b"a", b"b"] * 100}, Y), "convert it to text"),
        ({}, ({"a": np.array(["\ud800", "b"] * 100, object)}, Y), "convert it to text"),
        ({}, ({"a": np.array([1, "b"] * 100, object)}, Y), "convert it to text"),
        ({"categorical": ["x0"]}, (X, Y), "most of them are of one row each"),
        ({"attackers": ["oracle"]}, (X, Y), "no attacker 'oracle'"),
        ({"attackers": []}, (X, Y), "name one attacker or more"),
        ({}, (X[:50], Y[:50]), "60 records or more"),
        ({"categorical": ["age"]}, (X, Y), "no column 'age'"),
        ({"weights": {"age": 1}}, (X, Y), "no column 'age'"),
        ({"weights": {"x0": 0}}, (X, Y), "weight of 'x0'"),
        ({"bounds": {"x0": (5, 1)}}, (X, Y), "range of 'x0'"),
        ({"bounds": {"x0": (0, 100)}}, (X, Y), "outside its public range"),
        ({"distortion": -1}, (X, Y), "above 0"),
        ({"distortion": 0}, (X, Y), "leaves every record as it is"),
        ({"distortion": [0.1, 0.0]}, (X, Y), "leaves every record as it is"),
        ({"distortion": float("nan")}, (X, Y), "above 0"),
        ({"distortion": "much"}, (X, Y), "type str"),
        ({"distortion": [0.1, 0.1]}, (X, Y), "different numbers"),
        ({"distortion": []}, (X, Y), "one or more"),
        ({"distortion": 1.0}, (X, Y), "constant for every record costs 1 and tells nothing"),
        ({"given": "y"}, (X, Y), "given"),
        ({"units": "metres"}, (X, Y), "units"),
        ({"family": "forest"}, (X, Y), "family"),
        ({"family": "table"}, (X, Y), "one column of labels"),
        ({"family": "shifts"}, (np.c_[X, X**2], Y), "one column of numbers"),
        ({"held_out": 1}, (X, Y), "held_out"),
        ({"attackers": "forest"}, (X, Y), "no attacker 'forest'"),
        ({"settings": {"epocs": 3}}, (X, Y), "epocs is not a setting"),
        ({"loss": "zero-one"}, (X, Y), "alpha:20"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(options: dict[str, Any], data: tuple[Any, Any], said: str) -> None:
    with pytest.raises(NoisewrightError, match=said) as caught:
        GAPPrivatiser(**{"distortion": 0.5, **options}).fit(*data)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("budget", ["0.5", None, [0.5], True])
def test_a_point_of_a_curve_is_picked_by_its_number(mixed: GAPPrivatiser, budget: Any) -> None:
    with pytest.raises(ParameterError, match="picked by its number"):
        mixed.at(budget)


def test_other_columns_at_release_time_are_refused(mixed: GAPPrivatiser, table: GAPPrivatiser) -> None:
    frame, _ = people()
    one = mixed.at(0.5)
    for other in (frame[["height", "age"]], frame.assign(more=1), frame.rename(columns={"age": "years"})):
        with pytest.raises(DataError, match="the columns height, town, age"):
            one.release(other)
    with pytest.raises(DataError, match="'town' has a value that was not there"):
        one.release(frame.assign(town="Rome"))
    with pytest.raises(DataError, match="'age' must hold numbers"):
        one.release(frame.assign(age="old"))
    with pytest.raises(DataError, match="'height' has missing"):
        one.release(frame.assign(height=np.nan))
    with pytest.raises(DataError, match="masked cells"):
        one.release({**frame, "height": np.ma.masked_greater(frame["height"].to_numpy(), 1.8)})
    with pytest.raises(DataError, match="'height' has numbers far beyond all that"):
        one.release(frame.assign(height=1e20))
    with pytest.raises(DataError, match="not there when"):
        table.at(0.1).release(np.array([0, 1, 2]))
    with pytest.raises(ParameterError, match=r"budgets 0\.05, 0\.1, 0\.2"):
        table.at(0.3)
    with pytest.raises(ParameterError, match="call fit"):
        GAPPrivatiser(1.0).release(frame)


# What was found by attacking it -------------------------------------------------------------------------------------------


def test_last_digits_do_not_tell_the_old_number() -> None:
    """Candidates with two decimals are tried one by one: none may be told from the others by the digits of what came out."""
    rng = np.random.default_rng(7)
    y = rng.integers(0, 2, 600)
    x = np.round(np.where(y, 3.0, -3.0) + rng.normal(size=600), 2)
    made = GAPPrivatiser(0.3, settings=QUICK, attackers=FEW).fit(x, y)
    (column,) = made.columns_.numbers
    released = np.asarray(made.release(x, rng=np.random.default_rng(1))).reshape(-1)
    assert np.array_equal(released, np.round(released / column.step) * column.step)
    assert 0.004 < column.step / column.scale < 0.02
    again = np.asarray(made.release(x[::-1], rng=np.random.default_rng(2))).reshape(-1)
    assert len(set(released) & set(again)) > 100  # many records share a step


def test_the_promise_is_about_the_variable_that_is_told_most_of() -> None:
    rng = np.random.default_rng(3)
    flag, rich = rng.integers(0, 2, 900), rng.integers(0, 2, 900)
    table = {"x": rng.normal(size=900), "z": 6.0 * rich + rng.normal(size=900)}
    made = GAPPrivatiser(0.02, settings=QUICK, attackers=FEW).fit(table, {"flag": flag, "rich": rich})
    (point,) = made.points_
    assert point.accuracy[1] > 0.9
    assert made.guarantee.accuracy >= point.accuracy[1]
    assert made.guarantee.private == ("rich", "flag")
    assert "rich (told most of among 2 private columns) is guessed right" in made.guarantee.in_words()
    assert all(f"{100 * right:.1f} % (" in point.in_words() for right in point.accuracy)


def test_the_promise_is_about_fresh_attackers_on_what_is_released() -> None:
    """A comb: even or odd is in the number, and too fine for the adversary of the training to see."""
    rng = np.random.default_rng(8)
    y = rng.integers(0, 2, 1500)
    comb = 2.0 * rng.integers(0, 40, 1500) + y
    made = GAPPrivatiser(1e-5, settings=QUICK, attackers=FEW).fit(comb, y)
    (point,) = made.points_
    assert point.best == ("nearest neighbours",)
    assert point.accuracy[0] > 0.9
    assert made.guarantee.accuracy >= point.accuracy_between[0][1]
    assert made.guarantee.rows == point.judged[0] == 200
    assert made.course_.watched is not None
    assert made.course_.watched.accuracy[0, 0] < 0.65  # all that was stated of it before
    blind = replace(point, rested=True, spent=1e-6, spent_between=(1e-6, 2e-6))
    assert (blind.missed, blind.converged) == (True, False)
    assert "much of it is left although something is found; it did NOT converge: " in blind.in_words()
    assert "adversary_steps" in blind.advice


def test_distortion_is_that_of_whole_numbers_as_they_are_released() -> None:
    rng = np.random.default_rng(9)
    y = rng.integers(0, 2, 1000)
    x = rng.integers(0, 3, 1000) + y
    made = GAPPrivatiser(0.3, settings={**QUICK, "epochs": 15, "rate": 0.01}, attackers=FEW).fit(x, y)
    (point,) = made.points_
    spent = np.mean([sum(made.distortion_of(x, made.release(x, rng=rng)).values()) for _ in range(20)])
    low, high = point.spent_between
    assert low < spent < high
    assert spent < 0.33  # without rounding in the training it would be 0.47
    assert made.guarantee.most_distortion == high
    worse = replace(point, spent=0.4, spent_between=(0.35, 0.45))
    assert (worse.over_budget, worse.converged) == (True, False)
    assert "MORE than allowed is spent; it did NOT converge: raise the settings penalty" in worse.in_words()
