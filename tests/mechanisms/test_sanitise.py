"""A sanitised copy and output perturbation: two different things, and the facts that set them apart."""

import math
import pickle
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

import noisewright as nw
from noisewright.channels.channel import product_channel
from noisewright.mechanisms.composite import OutputPerturbation, SanitisedDatabase, neighbour_loss, sanitise


class Near:
    """A mechanism of somebody else's whose promise ends below one unit."""

    guarantee = nw.Guarantee(1.0, nw.metrics.Line(), radius=0.5)

    def release(self, values, rng=None):
        return values

    def map(self, distance):
        return self.guarantee.bound(distance)


def flip(p):
    return nw.Channel([[1 - p, p], [p, 1 - p]])


def test_03_f1_one_use_of_a_flip():
    assert flip(1 / 3).delta(math.log(2)) == pytest.approx(0, abs=1e-15)
    smallest = brentq(lambda p: flip(p).delta(math.log(2)) - 0.2, 0.1, 0.3, xtol=1e-14)
    assert smallest == pytest.approx(4 / 15, abs=1e-9)
    assert smallest == pytest.approx((1 - 0.2) / (1 + 2), abs=1e-9)


def test_03_f2_two_uses_of_a_flip():
    twice = flip(1 / 3).compose(flip(1 / 3))
    both = twice.outputs.index((0, 0))
    assert twice.matrix[0, both] == pytest.approx(4 / 9)
    assert twice.matrix[1, both] == pytest.approx(1 / 9)
    assert 4 / 9 > 2 / 9 + 0.2  # (ln 2, 0.2) fails
    assert twice.delta(math.log(2)) == pytest.approx(2 / 9, abs=1e-12)
    smallest = brentq(lambda p: flip(p).compose(flip(p)).delta(math.log(2)) - 0.2, 0.3, 0.4, xtol=1e-14)
    assert smallest == pytest.approx(0.341641, abs=6e-7)


@pytest.mark.parametrize(("m", "n"), [(2, 2), (2, 3), (3, 2), (4, 2)])
def test_03_f3_a_product_has_the_guarantee_of_its_parent(m, n):
    """Random parents: delta over databases that differ in one row equals that of the parent, to 1e-12."""
    rng = np.random.default_rng(m * 10 + n)
    for epsilon in (0.0, 0.3, 1.0):
        parent = nw.Channel(rng.dirichlet(np.ones(m + 1), m), normalise=True)
        whole = product_channel(parent, n)
        assert whole.shape == (m**n, (m + 1) ** n)
        assert whole.delta(epsilon, nw.metrics.Hamming(), within=1) == pytest.approx(parent.delta(epsilon), abs=1e-12)
    assert whole.epsilon(nw.metrics.Hamming()).value == pytest.approx(parent.epsilon().value, rel=1e-9)


@given(st.lists(st.floats(0.05, 0.45), min_size=2, max_size=3), st.floats(0, 2))
def test_parents_may_differ_per_row(probabilities, epsilon):
    whole = product_channel([flip(p) for p in probabilities])
    largest = max(flip(p).delta(epsilon) for p in probabilities)
    assert whole.delta(epsilon, nw.metrics.Hamming(), within=1) == pytest.approx(largest, abs=1e-12)


def test_product_sanitisation_draws_every_row_independently():
    """2 x 2 frequencies of neighbouring rows against the product law; chi-square with 3 degrees, error rate 1e-6."""
    mechanism = nw.randomised_response(["a", "b"], epsilon=1)
    keep = mechanism.channel().row("a")[0]
    rows = sanitise(["a"] * 200_000, mechanism, np.random.default_rng(2)).records.reshape(-1, 2) == "a"
    seen = np.bincount(rows[:, 0] * 2 + rows[:, 1], minlength=4)
    wanted = len(rows) * np.array([(1 - keep) ** 2, keep * (1 - keep), keep * (1 - keep), keep**2])
    assert ((seen - wanted) ** 2 / wanted).sum() < 30.7


def test_a_sanitised_copy_is_drawn_once_and_is_immutable():
    copy = sanitise(np.arange(50), nw.geometric(epsilon="1/2"))
    first = copy.records.tolist()
    assert [copy.ask(np.sum) for _ in range(20)] == [copy.ask(np.sum)] * 20
    with pytest.raises(ValueError, match="read-only"):
        copy.ask(lambda records: records.sort())
    with pytest.raises(AttributeError):
        copy.records = np.zeros(3)
    assert copy.records.tolist() == first
    again = pickle.loads(pickle.dumps(copy))
    assert again.records.tolist() == first
    with pytest.raises(ValueError, match="read-only"):
        again.records[0] = 1
    assert len(copy) == 50
    assert copy.certificate.verify() == "epsilon = 0.5 per unit of line"
    assert "drawn once" in repr(copy)
    assert not hasattr(copy, "budget")
    # A second copy is a second release, with fresh noise.
    assert sanitise(np.arange(50), nw.geometric(epsilon="1/2")).records.tolist() != first


def test_the_guarantee_of_a_copy_does_not_depend_on_its_size():
    mechanism = nw.randomised_response(["a", "b"], epsilon=1)
    assert sanitise(["a"], mechanism).guarantee == sanitise(["a"] * 5000, mechanism).guarantee == mechanism.guarantee


def test_the_sanitised_copy_does_not_keep_the_truth():
    truth = np.arange(100, 160)
    copy = sanitise(truth, nw.geometric(epsilon="1/10"))
    assert isinstance(copy, SanitisedDatabase)
    held = [np.asarray(v) for v in vars(copy).values() if isinstance(v, np.ndarray)]
    assert not any(np.array_equal(v, truth) for v in held)
    assert not np.shares_memory(copy.records, truth)


def test_output_perturbation_counts_and_composes():
    desk = OutputPerturbation(np.arange(100), nw.geometric(epsilon="1/4"))
    assert desk.guarantee.epsilon == 0
    answers = [desk.ask(np.size) for _ in range(40)]
    assert len(set(answers)) > 3
    assert desk.releases == 40
    assert desk.guarantee.epsilon == pytest.approx(10, rel=1e-12)
    assert desk.guarantee.epsilon >= 10
    assert desk.guarantee.scope == "adjacent"
    assert "40 answers given" in repr(desk)
    assert "99" not in repr(desk)  # no data in it


def test_a_budget_stops_the_questions_before_a_draw():
    desk = OutputPerturbation([1, 2, 3], nw.geometric(epsilon="1/3"), budget="1")
    asked = []
    for _ in range(3):
        desk.ask(lambda r: asked.append(1) or len(r))
    with pytest.raises(nw.NoisewrightError, match="budget of 1 is spent after 3 answers"):
        desk.ask(lambda r: asked.append(1) or len(r))
    assert len(asked) == desk.releases == 3
    assert desk.guarantee.epsilon == pytest.approx(1, rel=1e-12)


VECTORS = {
    "product": (nw.mechanisms.product_laplace(epsilon=1, dimension=3), 1 + 2 / 1024),
    "planar": (nw.planar_laplace(epsilon=1), 1 + math.sqrt(2) / 1024),
    "geo": (nw.mechanisms.geo_laplace(epsilon=1, radius=200, reference=(48.8, 2.3)), None),
    "planar geometric": (nw.mechanisms.planar_geometric(nw.mechanisms.Grid(3, 3), epsilon=1), 1.0),
    "response": (nw.randomised_response(["a", "b"], epsilon=2), 2.0),
    "unaligned gap": (nw.laplace(epsilon=1, excluding=((4.9, 5.1),), scope="metric", lattice=1), 1.0),
}


@pytest.mark.parametrize("name", VECTORS)
def test_rounding_is_charged_for_every_mechanism(name):
    """Answers one unit apart land farther apart once they are rounded: by n - 1 steps, or the diagonal of a cell."""
    mechanism, expected = VECTORS[name]
    assert float(neighbour_loss(mechanism)) == mechanism.map(1)
    if expected is not None:
        assert float(neighbour_loss(mechanism)) == pytest.approx(expected, rel=1e-6)
        assert neighbour_loss(mechanism) >= Fraction(expected) * (1 - Fraction(1, 10**12))


def test_a_desk_for_places_charges_rounding():
    desk = OutputPerturbation(np.zeros((4, 3)), nw.mechanisms.product_laplace(epsilon=1, dimension=3), budget="2")
    desk.ask(lambda records: records.mean(axis=0))
    assert desk.guarantee.epsilon == pytest.approx(1 + 2 / 1024)
    with pytest.raises(nw.NoisewrightError, match="budget of 2 is spent after 1 answers"):
        desk.ask(lambda records: records.mean(axis=0))


def test_noise_that_is_made_for_whole_steps_charges_no_more():
    """Answers 1/3 apart land up to 43 steps of 1/128 apart, and the noise is made so that those 43 cost epsilon."""
    for make in (nw.laplace, nw.mechanisms.snapped_laplace):
        for scope in ("metric", "adjacent"):
            mechanism = make(epsilon="1/3", sensitivity="1/3", scope=scope, lattice="1/128")
            assert neighbour_loss(mechanism) == Fraction(1, 3)
            assert neighbour_loss(
                nw.mechanisms.snapped(nw.mechanisms.snapped(mechanism, (0, None)), (0, 9))
            ) == Fraction(1, 3)
            assert mechanism.lattice.steps("1/3") == 43
    law = nw.laplace(epsilon="1/3", sensitivity="1/3", scope="metric", lattice="1/128", within=(0, 1)).channel()
    logs = np.log(law.matrix)
    assert np.abs(logs[43:] - logs[:-43]).max() <= 1 / 3 + 1e-12


def test_a_failed_answer_is_charged_too():
    """A refusal can tell something about the records, so it is not free."""
    desk = OutputPerturbation([1, 2, 3], nw.geometric(epsilon=1, within=(0, 2)))
    with pytest.raises(nw.NoisewrightError, match="outside the declared range"):
        desk.ask(len)
    assert desk.releases == 1


def test_repeats_recover_the_truth_but_a_copy_stays_put():
    """The mean of k repeats has error about 1/sqrt(k); the copy's error does not move. Seed fixed."""
    rng = np.random.default_rng(4)
    truth = np.repeat([1, 0], [300, 700])
    desk = OutputPerturbation(truth, nw.geometric(epsilon="1/10"))
    answers = np.array([desk.ask(np.sum, rng) for _ in range(1500)])
    assert abs(answers.mean() - 300) < 6 * answers.std() / math.sqrt(1500) < 2.5
    copy = sanitise(truth, nw.randomised_response([0, 1], epsilon=1), rng)
    assert len({copy.ask(np.sum) for _ in range(100)}) == 1


def test_unsafe_and_bad_things_are_refused():
    with pytest.raises(nw.NoisewrightError, match="UNSAFE"):
        sanitise([1.0], nw.unsafe.naive_redraw(epsilon=1))
    with pytest.raises(nw.NoisewrightError, match="UNSAFE"):
        OutputPerturbation([1.0], nw.unsafe.float_laplace(epsilon=1))
    with pytest.raises(nw.NoisewrightError, match="column of records"):
        sanitise(3, nw.geometric(epsilon=1))
    with pytest.raises(nw.NoisewrightError, match="budget"):
        OutputPerturbation([1], nw.geometric(epsilon=1), budget=0)
    desk, copy = OutputPerturbation([1], nw.geometric(epsilon=1)), sanitise([1], nw.geometric(epsilon=1))
    for ask in (
        lambda: sanitise([1], 5),
        lambda: sanitise([1], nw.Channel),
        lambda: OutputPerturbation([1], 5),
        lambda: nw.mechanisms.snapped(5, within=(0, 1)),
    ):
        with pytest.raises(nw.NoisewrightError, match="needs a mechanism such as geometric"):
            ask()
    for ask in (lambda: desk.ask(5), lambda: copy.ask(5)):
        with pytest.raises(nw.NoisewrightError, match="a query is a function of the records, not int"):
            ask()
    assert desk.releases == 0
    with pytest.raises(nw.NoisewrightError, match="promise something for answers one sensitivity apart"):
        OutputPerturbation([1], Near())
    with pytest.raises(nw.NoisewrightError, match="number of rows"):
        product_channel(flip(0.3))
    with pytest.raises(nw.NoisewrightError, match="audit the parent instead"):
        product_channel(flip(0.3), 30)


# Charged in full ----------------------------------------------------------------------------------------------------


def test_a_list_of_answers_is_charged_for_each_of_them():
    """Answers 1 unit apart in each of 4 places lose 4 epsilon: the product of the laws, summed up by hand."""
    desk = OutputPerturbation([1, 2, 3], nw.geometric(epsilon="1/2"), budget=3)
    assert desk.ask(lambda r: [len(r), 1, 2, 3]).shape == (4,)
    assert desk.releases == 4
    assert desk.guarantee.epsilon == pytest.approx(2, rel=1e-12)
    with pytest.raises(nw.NoisewrightError, match="spent after 5 answers, and 2 more were asked for at once"):
        desk.ask(lambda r: np.zeros((3, 1), dtype=int))  # nothing of it is shown, and the asking itself is charged
    assert desk.releases == 5
    desk.ask(len)
    with pytest.raises(nw.NoisewrightError, match="budget of 3 is spent after 6 answers; publish"):
        desk.ask(len)
    law = nw.geometric(epsilon="1/2", within=(0, 3)).channel()
    assert product_channel(law, 4).epsilon().value == pytest.approx(4 * law.epsilon().value)


@pytest.mark.parametrize(
    ("mechanism", "answer", "count"),
    [
        (nw.geometric(epsilon=1), 3, 1),
        (nw.geometric(epsilon=1), [[1, 2], [3, 4], [5, 6]], 6),
        (nw.laplace(epsilon=1), np.zeros(7), 7),
        (nw.laplace(epsilon=1), [], 1),
        (nw.mechanisms.snapped(nw.laplace(epsilon=1), (0, 9)), [1.0, 2.0], 2),
        (nw.mechanisms.product_laplace(epsilon=1, dimension=3), [1.0, 2.0, 3.0], 1),
        (nw.mechanisms.product_laplace(epsilon=1, dimension=3), np.zeros((5, 3)), 5),
        (nw.planar_laplace(epsilon=1), (1.0, 2.0), 1),
        (nw.planar_laplace(epsilon=1), [(1.0, 2.0), (3.0, 4.0)], 2),
        (nw.mechanisms.planar_geometric(nw.mechanisms.Grid(3, 3), epsilon=1), (1, 1), 1),
        (nw.mechanisms.planar_geometric(nw.mechanisms.Grid(3, 3), epsilon=1), [(1, 1), (0, 2), (2, 2)], 3),
        (nw.randomised_response(["a", "b"], epsilon=1), "a", 1),
        (nw.randomised_response(["a", "b"], epsilon=1), ["a", "b", "a"], 3),
        (nw.randomised_response(["a", "b"], epsilon=1), pa.array(["a", "b"]), 2),
        (nw.randomised_response([("a", 1), ("b", 2)], epsilon=1), ("a", 1), 1),
        (nw.randomised_response([("a", 1), ("b", 2)], epsilon=1), [("a", 1), ("b", 2)], 2),
        (nw.mechanisms.unary_encoding(["a", "b", "c"], epsilon=1), ["a", "b"], 2),
        (nw.mechanisms.unary_encoding(["a", "b", "c"], epsilon=1), "a", 1),
        (nw.mechanisms.selection(["a", "b"], epsilon=1), [1.0, 2.0], 1),
        (nw.mechanisms.product([(nw.randomised_response([0, 1], epsilon=1), 4)], metric="discrete"), [0, 1, 1, 0], 1),
        (
            nw.mechanisms.product([(nw.randomised_response([0, 1], epsilon=1), 4)], metric="discrete"),
            [[0, 1, 1, 0]] * 3,
            3,
        ),
    ],
)
def test_every_draw_is_an_answer(mechanism, answer, count):
    desk = OutputPerturbation([1], mechanism)
    desk.ask(lambda records: answer)
    assert desk.releases == count
    assert desk.guarantee.epsilon == pytest.approx(count * float(neighbour_loss(mechanism)), rel=1e-9)


def test_a_record_of_several_cells_is_charged_for_all_of_them():
    """Two columns of answers: the channel on whole records loses twice as much as that of a cell, and so says the copy."""
    response = nw.randomised_response(["yes", "no"], epsilon=1)
    copy = sanitise([["yes", "no"], ["no", "no"], ["yes", "yes"]], response)
    truth = product_channel(response.channel(), 2).epsilon().value
    assert truth == pytest.approx(2)
    assert (copy.guarantee.epsilon, str(copy.guarantee.metric), len(copy)) == (2, "discrete", 3)
    assert copy.certificate.verify() == "epsilon = 2 per unit of discrete, over 2 independent parts"
    numbers = sanitise(np.zeros((5, 3), dtype=int), nw.geometric(epsilon="1/2"))
    assert str(numbers.guarantee) == "epsilon = 0.5 per unit of manhattan"
    assert numbers.certificate.verify() == "epsilon = 0.5 per unit of manhattan, over 3 independent parts"
    places = sanitise(np.zeros((5, 2)), nw.planar_laplace(epsilon=1))  # a place is one secret
    assert places.guarantee == nw.planar_laplace(epsilon=1).guarantee
    one = sanitise(np.zeros((5, 1), dtype=int), nw.geometric(epsilon="1/2"))
    assert one.guarantee == nw.geometric(epsilon="1/2").guarantee
    with pytest.raises(nw.NoisewrightError, match="a record has 3 cells here, and this mechanism's promise"):
        sanitise(np.zeros((5, 3)), nw.mechanisms.gaussian(epsilon=1, delta="1e-6"))
    assert sanitise(
        np.zeros((5, 3), dtype=int), nw.geometric(epsilon=1), np.random.default_rng(1)
    ).certificate.simulated
