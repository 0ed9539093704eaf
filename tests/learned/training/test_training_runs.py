"""Whole runs of training: what they reach, checkpoints, early stopping, both kinds of steps, and alpha losses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from noisewright.context_aware import FiniteGame, Joint, Mixture
from noisewright.context_aware import closed_forms as binary
from noisewright.context_aware import gaussian as shifts
from noisewright.exceptions import DataError, FileFormatError
from noisewright.learning import (
    Course,
    Curve,
    GAPPrivatiser,
    NetworkAdversary,
    Records,
    Settings,
    ShiftFamily,
    TableAdversary,
    Trainer,
    train_curve,
)
from noisewright.learning.trainer import Watched

FEW = ["nearest neighbours"]
THREE = np.array([[0.30, 0.05, 0.05], [0.05, 0.20, 0.05], [0.05, 0.05, 0.20]])
SHIFTS: dict[str, Any] = {
    "rate": 0.02, "adversary_rate": 0.01, "momentum": 0.9, "penalty": 0.2, "adversary_hidden": 10, "warm_up": 0, "cap": False,
}  # fmt: skip


def normal_classes(law: Mixture, rows: int = 8000, seed: int = 1) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = (rng.random(rows) < law.py1).astype(np.int64)
    x = np.where(y == 1, law.mean1, law.mean0) + np.where(y == 1, law.sd1, law.sd0) * rng.normal(size=rows)
    return x, y


def line(
    law: Mixture, budgets: list[float], given: str = "xy", **more: Any
) -> tuple[list[shifts.AffineMechanism], Course]:
    x, y = normal_classes(law)
    settings = Settings(**{**SHIFTS, "epochs": 30, "batch": 200, "adversary_steps": 2, **more})
    empty = np.zeros((len(x), 0), np.int64)
    curve = train_curve("shifts", x[:, None], empty, y[:, None], budgets, settings, given=given)
    made = []
    for arrays in curve.arrays:
        moved, noise = (tuple(map(float, arrays[name])) for name in ("shifts", "noises"))
        made.append(shifts.AffineMechanism(law, (1.0, 1.0), moved, noise))  # type: ignore[arg-type]
    return made, curve.course


def labels(joint: Any, rows: int = 6000, seed: int = 2) -> tuple[Any, Any]:
    cells = np.random.default_rng(seed).choice(joint.size, rows, p=joint.ravel())
    return cells // joint.shape[1], cells % joint.shape[1]


# What is reached ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["augmented", "penalty"])
def test_gm_7_learned_shifts_are_those_of_theorem_4(method: str) -> None:
    law = Mixture(0.5, -3, 3)
    made, course = line(law, [2.0, 5.0, 8.0], method=method, **({"penalty": 1.0} if method == "penalty" else {}))
    for one, budget in zip(made, (2.0, 5.0, 8.0), strict=True):
        best = shifts.class_noise(law, budget, "log")
        assert one.accuracy == pytest.approx(best.accuracy, abs=0.01)
        assert one.spent == pytest.approx(budget, rel=0.03)
    assert course.converged().all()


def test_gm_3_one_that_is_not_given_the_class_learns_noise_alone() -> None:
    law = Mixture(0.5, -3, 3)
    (one,), _ = line(law, [5.0], given="x", epochs=20)
    assert one.offsets[0] == one.offsets[1] == pytest.approx(0, abs=0.25)
    assert one.noises[0] == one.noises[1] == pytest.approx(5**0.5, rel=0.03)
    assert one.accuracy == pytest.approx(0.8897, abs=0.006)


def test_x_6_larger_orders_come_nearer_to_the_optimum_against_guesses() -> None:
    """Table 3 at a budget of 4: 0.8183 is best for the log loss, 0.8022 against guesses."""
    law = Mixture(0.75, -3, 3)
    log, order = (line(law, [4.0], loss=loss)[0][0] for loss in ("log", "alpha:5"))
    assert log.accuracy == pytest.approx(0.8183, abs=0.006)
    assert order.accuracy == pytest.approx(0.8032, abs=0.006)
    assert order.information > log.information + 0.005


def test_x_6_a_high_order_spends_the_budget_where_one_class_is_likelier() -> None:
    """P(Y = 1) = 0.75 at a budget of 5: 0.7502 is reachable. Taught with her own loss, she stays blind, and 3.5 is spent."""
    law = Mixture(0.75, -3, 3)
    (one,), course = line(law, [5.0], loss="alpha:20")
    best = shifts.class_noise(law, 5.0, "zero-one")
    assert best.accuracy == pytest.approx(0.7502, abs=1e-4)
    assert one.accuracy == pytest.approx(best.accuracy, abs=0.006)
    assert one.spent == pytest.approx(5, rel=0.03)
    assert course.converged().all()


@pytest.mark.parametrize(
    ("share", "watched", "converged"),
    [(0.7, 0.1, False), (0.7, 0.6, True), (0.7, None, False), (1.0, 0.1, True), (1.2, 0.6, False), (0.99, None, True)],
)
def test_a_budget_is_left_only_where_the_watching_adversary_is_blind_too(
    share: float, watched: float | None, converged: bool
) -> None:
    """The adversary of the game loses as much as a blind one throughout: perhaps because she learned nothing."""
    still = np.full((20, 1), 0.6)
    seen = None if watched is None else Watched(np.array([[0.85]]), np.array([[watched]]), np.array([share]), 100)
    course = Course(still * 0 + 5 * share, still, still, np.array([0.6]), np.array([5.0]), False, seen)
    assert course.converged().tolist() == [converged]


def test_a_line_search_reaches_the_same() -> None:
    law = Mixture(0.5, -3, 3)
    (one,), _ = line(law, [5.0], step="search", rate=0.1, epochs=25)
    assert one.accuracy == pytest.approx(0.7602, abs=0.02)


def test_gap_10_players_take_turns_and_stand_still_in_those_of_the_other() -> None:
    """In an epoch the adversary has so many steps for one of the privatiser, and in the first ones, alone, all of them."""
    x, y = normal_classes(Mixture(0.5, -3, 3), 600)
    settings = Settings(**{**SHIFTS, "warm_up": 1, "batch": 50, "adversary_steps": 3, "epochs": 2})
    records = Records.of(x[:, None], np.zeros((600, 0), np.int64), y[:, None], categories=(), classes=(2,), points=2)
    family = ShiftFamily(records, "xy")
    adversary = NetworkAdversary(2, 1, (2,), 10, torch.Generator().manual_seed(0))
    trainer = Trainer(family, adversary, records, np.array([2.0, 5.0]), settings)

    def state() -> tuple[list[Any], ...]:
        return tuple([t.detach().clone() for t in player.parameters.values()] for player in (family, adversary))

    def moved(before: list[Any], after: list[Any]) -> bool:
        return any(bool((one != other).any()) for one, other in zip(before, after, strict=True))

    generator, start = torch.Generator().manual_seed(1), state()
    trainer._teach(adversary, trainer.learning, records, generator, 0.01)
    taught = state()
    assert (moved(start[0], taught[0]), moved(start[1], taught[1])) == (False, True)
    trainer._move(records, generator, 0.01, warming=False)
    after = state()
    assert (moved(taught[0], after[0]), moved(taught[1], after[1])) == (True, False)
    trainer.epoch(0)
    assert not moved(after[0], state()[0])  # the adversary warms up
    steps = trainer.learning.count, trainer.moving.count
    trainer.epoch(1)
    assert (trainer.learning.count - steps[0], trainer.moving.count - steps[1]) == (3 * 12, 12)
    assert (trainer.learning.count, trainer.moving.count) == (1 + 2 * 3 * 12, 1 + 12)


@pytest.mark.parametrize(("given", "free"), [("x", 2), ("xy", 4)])
def test_bin_5_two_bits_are_learned_in_turns(given: str, free: int) -> None:
    """P(X = 1) = 0.75 and flips of 0.25 at a budget of 0.1, under the true law: 0.70 given X alone, 0.65 given both."""
    law = Joint.xor(px1=0.75, flip=0.25)
    x, y = labels(law.probabilities, 10_000)
    settings = Settings(
        method="penalty", epochs=25, batch=1000, rate=0.03, adversary_rate=0.03, momentum=0.9, penalty=0.2, cap=False
    )
    curve = train_curve(
        "table", np.zeros((len(x), 0)), x[:, None], y[:, None], [0.1], settings, categories=(2,), given=given
    )
    table = curve.arrays[0]["table"].reshape(-1, 2)
    assert len(table) == free  # how often a bit is kept, for each bit or pair of bits
    adversary = TableAdversary(1, 2, (2,), torch.float64)
    assert sum(tensor.numel() for tensor in adversary.parameters.values()) == 2
    made = FiniteGame(law, given=given).mechanism(table)
    assert float(made.accuracy) == pytest.approx(binary.least_accuracy(law, 0.1, given=given), abs=0.02)
    assert float(made.spent) == pytest.approx(0.1, abs=0.006)


@pytest.mark.parametrize("given", ["x", "xy"])
@pytest.mark.parametrize("knows", ["law", "learns"])
def test_x_10_a_column_of_three_labels_comes_near_to_the_optimum(given: str, knows: str) -> None:
    x, y = labels(THREE)
    counted: dict[str, Any] = {"batch": 10**6, "rate": 0.05, "epochs": 80}
    more: dict[str, Any] = counted if knows == "law" else {"batch": 500, "rate": 0.05, "epochs": 50}
    settings = Settings(momentum=0.9, penalty=0.2, cap=False, warm_up=0, adversary_rate=0.03, **more)
    curve = train_curve(
        "table", np.zeros((len(x), 0)), x[:, None], y[:, None], [0.1, 0.2], settings,
        categories=(3,), classes=(3,), given=given, knows=knows,
    )  # fmt: skip
    game = FiniteGame(Joint.of(x.tolist(), y.tolist()), given=given)
    for arrays, budget in zip(curve.arrays, (0.1, 0.2), strict=True):
        made = game.mechanism(arrays["table"].reshape(-1, 3))
        assert made.spent <= budget + 1e-9
        assert made.information == pytest.approx(
            game.optimum(budget, "log").information, abs=0.003 if knows == "law" else 0.01
        )


def test_x_10_a_network_changes_labels_nearly_as_well_as_the_optimum() -> None:
    """Straight-through draws in place of exact expectations: three classes, one column of labels, left to a network."""
    x, y = labels(THREE)
    made = GAPPrivatiser(
        0.2,
        family="network",
        categorical=["x0"],
        settings={"epochs": 40, "hidden": 16, "adversary_hidden": 16, "rate": 0.01},
        attackers=FEW,
    ).fit(x, y)
    rng = np.random.default_rng(3)
    many = np.tile(x, 30)
    out = made.release(many, rng=rng)
    table = np.array([[np.mean(out[many == a] == b) for b in range(3)] for a in range(3)])
    game = FiniteGame(Joint.of(x.tolist(), y.tolist()))
    found = game.mechanism(table)
    assert float(found.spent) <= 0.2 + 0.01
    assert found.information <= game.optimum(0.2, "log").information + 0.02


def test_several_private_variables_are_hidden_together() -> None:
    """One label of four values tells two bits; each is guessed less well, and together as the counts of pairs allow."""
    rng = np.random.default_rng(4)
    bits = rng.integers(0, 2, (6000, 2))
    x = np.where(rng.random(6000) < 0.2, rng.integers(0, 4, 6000), 2 * bits[:, 0] + bits[:, 1])
    made = GAPPrivatiser(0.3, categorical=["x0"], settings={"epochs": 80}).fit(x, bits)
    assert made.family_ == "table"
    raw = [np.mean((x >> place & 1) == bits[:, 1 - place]) for place in (1, 0)]
    assert min(raw) > 0.85
    assert max(made.points_[0].accuracy) < 0.75
    assert made.points_[0].spent == pytest.approx(0.3, abs=0.01)


def test_x_5_three_classes_in_five_dimensions_are_hidden_better_than_by_even_noise() -> None:
    """Section 5.5 at a budget of 2: fresh attackers reach 0.88 on isotropic noise, 0.61 on what is learned in full."""
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(5)
    y = rng.choice(3, 3000, p=[0.5, 0.3, 0.2])
    centres = np.zeros((3, 5))
    centres[:, :2] = [(2, 0), (-1, 1.7), (-1, -1.7)]
    X = centres[y] + rng.normal(size=(3000, 5))
    settings = {"epochs": 20, "batch": 250, "adversary_steps": 3, "hidden": 32}
    made = GAPPrivatiser(2.0, units="raw", settings=settings, attackers=FEW).fit(X, y)
    released = made.release(X, rng=np.random.default_rng(1))
    costs = made.distortion_of(X, released)
    assert sum(costs.values()) == pytest.approx(2, rel=0.08)
    assert sum(costs[name] for name in ("x2", "x3", "x4")) < 0.3 * sum(costs.values())
    noisy = X + np.sqrt(2 / 5) * rng.normal(size=X.shape)
    learned, plain = (LogisticRegression().fit(A, y).score(A, y) for A in (released, noisy))
    assert plain > 0.84
    assert learned < plain - 0.06


# How it goes --------------------------------------------------------------------------------------------------------------


def small(checkpoint: Path | None = None, seed: int = 0, stop: int | None = None, **more: Any) -> Curve:
    """A run with all kinds of columns; ``stop``: ends with an error after so many epochs."""
    rng = np.random.default_rng(6)
    y = rng.integers(0, 2, 400)
    numeric, codes = rng.normal(size=(400, 2)) + y[:, None], np.where(rng.random(400) < 0.3, 1 - y, y)[:, None]
    settings = Settings(
        epochs=6,
        batch=50,
        hidden=8,
        adversary_hidden=8,
        adversary_steps=2,
        warm_up=1,
        seed=seed,
        patience=9,
        check_every=2,
        **more,
    )

    def live(done: int, course: Course) -> None:
        assert course.epochs == done
        if done == stop:
            raise KeyboardInterrupt

    return train_curve(
        "network", numeric, codes, y[:, None], [0.3, 0.6], settings,
        categories=(2,), held_out=np.arange(400) % 5 == 0, checkpoint=checkpoint, live=live,
    )  # fmt: skip


@pytest.mark.parametrize("step", ["adam", "search"])
def test_a_run_that_was_stopped_and_resumed_ends_bit_by_bit_alike(tmp_path: Path, step: str) -> None:
    whole = small(step=step)
    for stop in (1, 4):
        with pytest.raises(KeyboardInterrupt):
            small(tmp_path / "c.part", stop=stop, step=step)
    resumed = small(tmp_path / "c.part", step=step)
    for one, other in zip(whole.arrays, resumed.arrays, strict=True):
        assert all((one[name] == other[name]).all() for name in one)
    assert (whole.course.loss == resumed.course.loss).all()
    assert whole.course.watched is not None
    assert resumed.course.watched is not None
    assert (whole.course.watched.accuracy == resumed.course.watched.accuracy).all()
    other = small(seed=1, step=step)
    assert any(
        (one[name] != two[name]).any() for one, two in zip(whole.arrays, other.arrays, strict=True) for name in one
    )


def test_checkpoints_of_other_trainings_and_damaged_ones_are_refused(tmp_path: Path) -> None:
    place = tmp_path / "c.part"
    with pytest.raises(KeyboardInterrupt):
        small(place, stop=2)
    with pytest.raises(FileFormatError, match="checkpoint of another training"):
        small(place, seed=1)
    place.write_bytes(place.read_bytes()[:-5])
    with pytest.raises(FileFormatError, match="cut short"):
        small(place)


def test_points_of_a_curve_do_not_touch_each_other() -> None:
    """The same budget alone and in a curve: alike except for the order of sums in floats."""
    law = Mixture(0.5, -3, 3)
    together, _ = line(law, [2.0, 5.0], epochs=4)
    alone, _ = line(law, [5.0], epochs=4)
    assert together[1].offsets == pytest.approx(alone[0].offsets, abs=1e-3)
    assert together[1].noises == pytest.approx(alone[0].noises, abs=1e-3)


def test_early_stopping_watches_an_adversary_on_held_out_records_and_keeps_the_best() -> None:
    rng = np.random.default_rng(7)
    y = rng.integers(0, 2, 1500)
    X = rng.normal(size=(1500, 1)) + 2 * y[:, None]
    settings = {
        "epochs": 400,
        "patience": 3,
        "check_every": 2,
        "hidden": 8,
        "adversary_hidden": 16,
        "adversary_steps": 2,
    }
    made = GAPPrivatiser(0.5, settings=settings, attackers=FEW).fit(X, y)
    assert made.course_.stopped
    assert 8 <= made.course_.epochs < 400
    assert made.points_[0].spent <= 0.5 * 1.1
    assert made.points_[0].accuracy[0] < 0.8


def test_numbers_that_are_not_finite_end_a_run_in_a_sentence() -> None:
    x, y = np.repeat([1e38, -1e38], 100)[:, None] * 5, np.repeat([0, 1], 100)[:, None]
    with pytest.raises(DataError, match="training went astray"):
        train_curve("shifts", x, np.zeros((200, 0), np.int64), y, [1.0], Settings(epochs=2), given="xy")
