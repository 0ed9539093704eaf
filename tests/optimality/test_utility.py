"""The table of errors, its picture, and the order of concentration."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noisewright as nw
from noisewright.channels.channel import Channel
from noisewright.design import named_losses as losses
from noisewright.design.optimal import optimal
from noisewright.design.utility import compare_concentration, compare_utility
from noisewright.exceptions import ParameterError
from noisewright.metrics.base import Discrete, Line
from noisewright.plotting.mechanisms import draw_matrix, draw_utility, save_figure


@pytest.fixture(scope="module")
def three():
    return [
        nw.geometric(epsilon="0.5", within=(0, 5)),
        nw.mechanisms.explicit_fair(epsilon="0.5", within=(0, 5)),
        optimal(6, epsilon="0.5", loss="absolute"),
    ]


def channels(n: int, m: int) -> st.SearchStrategy[Channel]:
    cells = st.lists(st.integers(0, 4), min_size=n * m, max_size=n * m)
    return cells.map(lambda v: Channel(np.array(v).reshape(n, m) + (np.arange(m) == 0), normalise=True))


def test_01_ut1_and_ut2_numbers(three):
    """Sums 6.879815, 8.076638 and 6.363223 over the six counts; remapping helps the first two."""
    table = compare_utility(three)
    names = [row.name for row in table.rows]
    assert names == ["geometric", "explicit-fair", "optimal"]
    face = [6 * row.face["absolute"] for row in table.rows]
    assert face == pytest.approx([6.879815, 8.076638, 6.363223], abs=1e-6)
    assert 6 * table.rows[0].bayes["absolute"] == pytest.approx(6.363223, abs=1e-6)
    assert table.rows[0].bayes["squared"] == pytest.approx(1.979521, abs=1e-6)
    assert table.best("absolute", remapped=False).name == "optimal"
    assert table.best("squared").name == "geometric"
    for row in table.rows:
        assert row.epsilon.value == pytest.approx(0.5, abs=1e-6)
        assert str(row.epsilon.metric) == "line"


@given(channels(3, 3), st.lists(st.integers(1, 5), min_size=3, max_size=3))
def test_the_bayes_error_is_the_best_of_all_ways_to_read_the_outputs(channel, weights):
    """Against all 27 remaps; and never above face value, where outputs are secrets."""
    prior = np.array(weights) / sum(weights)
    row = compare_utility({"it": channel}, ["absolute"], prior).rows[0]
    errors = np.abs(np.subtract.outer(range(3), range(3)))
    every = [
        sum(prior[x] * channel.matrix[x, y] * errors[x, guess[y]] for x in range(3) for y in range(3))
        for guess in itertools.product(range(3), repeat=3)
    ]
    assert row.bayes["absolute"] == pytest.approx(min(every), abs=1e-12)
    assert row.bayes["absolute"] <= row.face["absolute"] + 1e-12
    best = sum(prior[x] * channel.matrix[x, y] * abs(x - row.remaps["absolute"][y]) for x in range(3) for y in range(3))
    assert best == pytest.approx(min(every), abs=1e-12)


def test_priors_losses_and_metrics_by_name(three):
    skewed = [0.4, 0.3, 0.1, 0.1, 0.05, 0.05]
    table = compare_utility(
        {"noise": three[0], "fair": three[1].channel()},
        {"late": losses.last_train(range(6), 4), "missed": "zero-one"},
        {"flat": None, "low": skewed, "named": {0: 0.5, 1: 0.5}},
        metric=Discrete(),
    )
    assert (table.losses, table.priors) == (("late", "missed"), ("flat", "low", "named"))
    assert [(row.prior, row.name) for row in table.rows[:3]] == [("flat", "noise"), ("flat", "fair"), ("low", "noise")]
    assert {str(row.epsilon.metric) for row in table.rows} == {"discrete"}
    flat = table.best("missed", prior="flat", remapped=False)
    assert flat.face["missed"] == pytest.approx(
        1 - nw.geometric(epsilon="0.5", within=(0, 5)).channel().matrix.trace() / 6
    )
    document = json.loads(json.dumps(table.to_json()))
    assert document["rows"][0]["face"]["missed"] == pytest.approx(flat.face["missed"])
    assert document["rows"][0]["epsilon"]["metric"] == "discrete"
    single = compare_utility([three[0]], "absolute", dict(enumerate(skewed)))
    assert single.priors == ("given",)
    assert single.rows[0].face["absolute"] == pytest.approx(
        compare_utility([three[0]], "absolute", skewed).rows[0].face["absolute"]
    )


def test_outputs_that_are_no_guesses_have_no_face_value():
    survey = Channel([[0.7, 0.3], [0.3, 0.7]], ["yes", "no"], ["heads", "tails"])
    loss = losses.zero_one(["yes", "no"])
    table = compare_utility({"coin": survey}, {"wrong": loss})
    assert table.rows[0].face["wrong"] is None
    assert table.rows[0].bayes["wrong"] == pytest.approx(0.3)
    assert str(table).splitlines()[-1].split()[:2] == ["coin", "0.3000"]
    with pytest.raises(ParameterError, match="taken at face value"):
        table.best("wrong", remapped=False)
    draw_utility(table)


def test_the_table_prints(three):
    lines = str(compare_utility([*three, nw.mechanisms.uniform(range(6))])).splitlines()
    assert lines[1].split()[0] == "mechanism"
    apart = np.subtract.outer(range(6), range(6)) ** 2
    squared = f"{np.ceil((three[0].channel().matrix * apart).sum() / 6 * 1e4) / 1e4:.4f}"
    assert lines[3].split() == [
        "geometric",
        "1.1467",
        "1.0606",
        squared,
        "1.9796",
        "0.5",
        *["for", "each", "1", "of", "difference"],
    ]
    assert lines[-1].endswith("0   between any two answers")
    adjacent = nw.mechanisms.staircase(epsilon=1, sensitivity=1, within=(0, 4), lattice=1)
    assert "between two answers at most 1 apart" in " ".join(
        str(compare_utility([adjacent])).replace("\n", " ").split()
    )


def test_mechanisms_of_one_name_are_told_apart():
    table = compare_utility([nw.geometric(epsilon=e, within=(0, 3)) for e in (1, 2, 3)])
    assert [row.name for row in table.rows] == ["geometric", "geometric (2)", "geometric (3)"]


def test_01_ut3_the_order_of_concentration_is_partial():
    """Counting 0..5, epsilon 0.5: variants 1 and 2 are incomparable in every row, and variant 1 is ahead of the
    truncated geometric for the true counts 1 to 4 only."""
    first = optimal(6, epsilon="0.5", loss="absolute").channel()
    second = optimal(6, epsilon="0.5", loss="absolute", shape=("monotone", "symmetric", "fair")).channel()
    noisy = nw.geometric(epsilon="0.5", within=(0, 5)).channel()
    assert set(compare_concentration(first, second).by_secret.values()) == {"neither"}
    found = compare_concentration(first, noisy)
    assert found.by_secret == {0: "neither", 1: "first", 2: "first", 3: "first", 4: "first", 5: "neither"}
    assert found.overall == "neither"


def closer(first: Channel, second: Channel, apart: np.ndarray) -> list[bool]:
    """The definition: at least as much probability within every distance of the truth."""
    return [
        all(first.matrix[x] @ (apart[x] <= t) >= second.matrix[x] @ (apart[x] <= t) - 1e-12 for t in range(5))
        for x in range(len(apart))
    ]


@given(channels(3, 4), channels(3, 4))
def test_concentration_agrees_with_the_direct_check_and_with_every_growing_loss(first, second):
    apart = np.abs(np.subtract.outer(range(3), range(4)))
    found = compare_concentration(first, second)
    ahead, behind = closer(first, second, apart), closer(second, first, apart)
    for x, verdict in found.by_secret.items():
        assert verdict == {(True, True): "equal", (True, False): "first", (False, True): "second"}.get(
            (bool(ahead[x]), bool(behind[x])), "neither"
        )
        for power in (0.5, 1, 2, 5):
            costs = [float(c.matrix[x] @ apart[x] ** power) for c in (first, second)]
            if verdict == "first":
                assert costs[0] <= costs[1] + 1e-9
    sided = compare_concentration(first, second, one_sided=True)
    for x, verdict in sided.by_secret.items():  # the one-sided order is finer
        if verdict != "neither":
            assert found.by_secret[x] in (verdict, "equal")


def test_concentration_of_channels_with_other_outputs():
    sharp = Channel([[1.0, 0.0], [0.0, 1.0]], [0, 1], [0, 1])
    wide = Channel([[0.5, 0.5], [0.5, 0.5]], [0, 1], [-1, 2])
    assert compare_concentration(sharp, wide).overall == "first"
    assert compare_concentration(wide, sharp, one_sided=True).overall == "second"
    assert compare_concentration(sharp, sharp).overall == "equal"


def test_the_pictures_show_every_mechanism_and_every_cell(three, tmp_path):
    table = compare_utility(three, priors={"flat": None, "low": [0.5, 0.1, 0.1, 0.1, 0.1, 0.1]})
    figure = draw_utility(table)
    assert len(figure.axes) == 4
    names = [label.get_text().split("\n")[0] for label in figure.axes[0].get_yticklabels()]
    assert names == ["geometric", "explicit-fair", "optimal"]
    marks = [line.get_xdata()[0] for line in figure.axes[0].lines if line.get_marker() == "o"]
    assert sorted(marks) == pytest.approx(
        sorted(v for row in table.rows[:3] for v in (row.face["absolute"], row.bayes["absolute"]))
    )
    heat = draw_matrix(three[2])
    assert len(heat.axes[0].texts) == 36
    assert heat.axes[0].texts[0].get_text() == "0"
    assert heat.axes[0].texts[1].get_text() == "0.771"
    assert "epsilon 0.5 for each 1 of difference" in heat.axes[0].get_title()
    target = save_figure(heat, tmp_path / "heat.png")
    assert target.read_bytes().startswith(b"\x89PNG")
    with pytest.raises(ParameterError, match=r"a picture is written to a \.png"):
        save_figure(heat, tmp_path / "heat.txt")


@pytest.mark.parametrize(
    ("attempt", "words"),
    [
        (lambda g: compare_utility([]), "nothing to compare"),
        (compare_utility, "a list of mechanisms or channels"),
        (lambda g: compare_utility(g.channel()), "a list of mechanisms or channels"),
        (lambda g: compare_utility([3]), "mechanisms or channels are compared; channel is of type int"),
        (lambda g: compare_utility([g, nw.mechanisms.uniform(4)]), "over the same secrets; those of uniform"),
        (lambda g: compare_utility([g], []), "one loss or more"),
        (lambda g: compare_utility([g], ["cubed"]), "there is no loss called 'cubed'"),
        (lambda g: compare_utility([g], [np.eye(3)]), "needs a name in this table"),
        (lambda g: compare_utility([g], "absolute", [0.5, 0.5]), "a prior needs 3 probabilities"),
        (lambda g: compare_utility([g], "absolute", [0.5, 0.2, 0.2]), "a prior must sum to 1, not to 0.9"),
        (lambda g: compare_utility([nw.geometric(epsilon=1)]), "infinitely many outputs"),
        (lambda g: compare_utility([g]).best("zero-one"), "this table has the losses absolute, squared"),
        (lambda g: compare_concentration(g, g), "compares Channels"),
        (lambda g: compare_concentration(g.channel(), nw.mechanisms.uniform(4).channel()), "the same secrets"),
        (lambda g: compare_concentration(*[nw.mechanisms.uniform(["a", "b"]).channel()] * 2), "that are numbers"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(attempt, words):
    with pytest.raises(ParameterError, match=words) as caught:
        attempt(nw.geometric(epsilon=1, within=(0, 2)))
    assert str(caught.value).endswith(".")


def test_the_public_name():
    assert nw.design.compare_utility is compare_utility
    assert str(nw.design.compare_utility([nw.mechanisms.uniform(3)], metric=Line()).rows[0].epsilon.metric) == "line"
