"""Queries: prices, answers and errors of plans, and what they reveal about neighbouring tables, by brute force.

Error rates: seeds are fixed, so a run never changes its mind. Had they been drawn at random, a test of a mean below (five
standard deviations) would fail a correct library with probability below 1e-6.
"""

import datetime
import itertools
import math
import pickle
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from query_support import answer_of, exact_of, many_answers, plan_of, result_of

from noisewright.exceptions import DataError, ParameterError
from noisewright.queries.answers import quantile_scores, query_rng
from noisewright.queries.statistics import Noise, calibrate, usable

RNG = np.random.default_rng(7)
AGES = np.clip(RNG.normal(45, 20, 2000).round(), 0, 110).astype(np.int64)
TABLE = pa.table(
    {
        "age": AGES,
        "bmi": RNG.normal(26, 4, 2000),
        "ward": RNG.choice(["north", "south", "west"], 2000, p=[0.6, 0.3, 0.1]),
        "seen": pa.array(np.datetime64("2024-01-01") + RNG.integers(0, 366, 2000), pa.date32()),
        "patient": np.arange(2000) // 2,
    }
)

# Prices and plans -----------------------------------------------------------------------------------------------------

MEAN = {"aggregate": "mean", "column": "age", "within": (0, 110)}
VARIANCE = {**MEAN, "aggregate": "variance"}


@pytest.mark.parametrize(
    ("query", "more", "shares"),
    [
        (MEAN, {}, {"sum": Fraction(1, 2), "count": Fraction(1, 2)}),
        ({**MEAN, "weights": [3, 1]}, {}, {"sum": Fraction(3, 4), "count": Fraction(1, 4)}),
        (MEAN, {"neighbours": "replace"}, {"sum": Fraction(1)}),
        ({**MEAN, "weights": [3, 1]}, {"neighbours": "replace"}, {"sum": Fraction(1)}),
        (
            {**VARIANCE, "weights": [5, 3, 2]},
            {},
            {"sum": Fraction(3, 10), "squares": Fraction(1, 2), "count": Fraction(1, 5)},
        ),
        (
            {**VARIANCE, "weights": [5, 3, 2]},
            {"neighbours": "replace"},
            {"sum": Fraction(3, 8), "squares": Fraction(5, 8)},
        ),
        (VARIANCE, {}, {"sum": Fraction(1, 3), "squares": Fraction(1, 3), "count": Fraction(1, 3)}),
    ],
)
def test_a_budget_is_split_exactly_among_what_has_noise(query, more, shares):
    plan = plan_of(query, TABLE, **more)
    assert {s.name: s.noise.price for s in plan.statistics if s.noise} == shares
    assert plan.price == 1
    assert plan.delta == 0
    assert len(plan.certificates(simulated=False)) == len(shares)


def test_the_number_of_rows_is_free_where_it_is_public():
    free = plan_of({"aggregate": "count"}, TABLE, neighbours="replace")
    assert (free.price, free.error, free.certificates(simulated=False)) == (0, 0.0, [])
    assert answer_of(free, TABLE).to_pydict() == {"answer": [2000], "answer_low": [2000], "answer_high": [2000]}
    of_units = plan_of({"aggregate": "count"}, TABLE, neighbours="replace", unit={"column": "patient", "rows": 2})
    assert (of_units.price, of_units.error_words) == (0, free.error_words)
    for query, more in (
        ({"aggregate": "count"}, {}),
        ({"aggregate": "count", "where": "age > 3"}, {"neighbours": "replace"}),
        ({"aggregate": "count", "by": {"ward": ["north"]}}, {"neighbours": "replace"}),
    ):
        assert plan_of(query, TABLE, **more).price == 1


def test_rows_of_one_unit_are_paid_for_together():
    one = plan_of({"aggregate": "count"}, TABLE)
    five = plan_of({"aggregate": "count"}, TABLE, unit={"column": "patient", "rows": 5})
    assert (one.statistics[0].sensitivity, five.statistics[0].sensitivity) == (1, 5)
    assert one.price == five.price == 1
    assert five.error == pytest.approx(5.0, rel=0.01)
    assert five.protects == "the rows of one patient (at most 5), there or not"


@pytest.mark.parametrize("name", usable())
@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
def test_every_mechanism_for_numbers_serves_and_its_certificate_is_proved(name, neighbours):
    delta = {"delta": "1e-6"} if name in ("gaussian", "approximate-laplace") else {}
    for query in (
        {"aggregate": "histogram", "column": "ward", "values": ["north", "south", "west"]},
        {"aggregate": "sum", "column": "age", "within": (0, 110)},
        {"aggregate": "count", "where": "age < 30"},
    ):
        plan = plan_of({**query, "mechanism": name, **delta}, TABLE, neighbours=neighbours)
        assert plan.price <= 1
        assert plan.delta <= Fraction("1e-6")
        (certificate,) = plan.certificates(simulated=True)
        assert "not for release" in certificate.randomness
        assert certificate.numerics == "exact"
        certificate.verify()
        true = np.concatenate([exact_of(s, TABLE).reshape(-1) for s in plan.statistics]).astype(float)
        errors = np.abs(many_answers(plan, TABLE, 300) - true).mean()
        assert 0.8 * plan.error < errors < 1.2 * plan.error or (name == "laplace" and errors < plan.error)


def test_simulations_repeat_and_releases_do_not():
    plan = plan_of({**VARIANCE, "by": {"ward": ["north", "south"]}}, TABLE)
    once, again = (answer_of(pickle.loads(pickle.dumps(plan)), TABLE, seed=3) for _ in range(2))
    assert once == again
    fresh = [answer_of(plan, TABLE).column("answer").to_pylist() for _ in range(2)]
    assert fresh[0] != fresh[1]
    assert query_rng(None, 0, 0) is None
    assert query_rng(5, 1, 0).integers(1 << 60) != query_rng(5, 0, 1).integers(1 << 60)


# Answers --------------------------------------------------------------------------------------------------------------


def close(answers, truth, spread=5.0):
    """The mean of many answers is the truth, up to five standard deviations."""
    error = answers.std(axis=0) / math.sqrt(len(answers))
    return bool((np.abs(answers.mean(axis=0) - truth) < spread * error + 1e-12).all())


def test_counts_sums_and_histograms_are_right_on_average():
    assert close(many_answers(plan_of({"aggregate": "count"}, TABLE), TABLE, 2000), 2000)
    total = plan_of({"aggregate": "sum", "column": "bmi", "within": (10, 50)}, TABLE)
    bmi = np.clip(TABLE["bmi"].to_numpy(), 10, 50)
    # Rounding to steps of 2^-14 moves the sum by far less than the noise.
    assert close(many_answers(total, TABLE, 2000).reshape(-1), bmi.sum())
    bins = plan_of(
        {"aggregate": "histogram", "column": "age", "bins": 11, "within": (0, 110)}, TABLE, neighbours="replace"
    )
    wanted = np.histogram(AGES, 11, (0, 110))[0]
    full = wanted > 50  # where noise never meets the floor of 0
    assert full.sum() >= 8
    assert close(many_answers(bins, TABLE, 2000)[:, full], wanted[full])
    table = answer_of(bins, TABLE, 1)
    assert table.column_names == ["age_from", "age_to", "answer", "answer_low", "answer_high"]
    assert table["age_from"].to_pylist() == [10.0 * i for i in range(11)]


def test_means_and_variances_come_close_and_within_their_figures():
    for query, truth in ((MEAN, AGES.mean()), (VARIANCE, AGES.var())):
        for more in ({}, {"neighbours": "replace"}):
            plan = plan_of(query, TABLE, rows=2000, **more)
            answers = many_answers(plan, TABLE, 400)
            assert np.abs(answers - truth).mean() <= 1.25 * plan.error  # five standard deviations of 400 answers
            assert np.abs(answers - truth).mean() >= plan.error / 8  # the figure is a bound, and not beyond all measure
            assert plan_of(query, TABLE, **more).error is None


def test_an_answer_is_possible_whatever_the_noise():
    tiny = TABLE.slice(0, 1)
    for query, most in ((MEAN, 110), (VARIANCE, 55**2)):
        found = many_answers(plan_of({**query, "epsilon": "0.05"}, tiny), tiny, 200)
        assert (found.min(), found.max()) == (0, most)  # and both ends are met, with so much noise
    counts = many_answers(plan_of({"aggregate": "count", "epsilon": "0.05"}, tiny), tiny, 200)
    assert counts.min() == 0
    assert counts.dtype == np.int64
    adherent = {"aggregate": "sum", "column": "age", "within": (0, 110), "mechanism": "laplace", "epsilon": "0.1"}
    plan = plan_of(adherent, tiny, rows=1, neighbours="replace")
    sums = many_answers(plan, tiny, 300)
    assert sums.min() >= 0
    assert sums.max() <= 110


def test_groups_come_back_in_their_order_with_all_their_values():
    by = {"ward": ["west", "nowhere", "north"], "patient": [0, 1]}
    plan = plan_of({"aggregate": "count", "by": by, "epsilon": 50}, TABLE)
    found = answer_of(plan, TABLE, 1)
    assert found.column_names == ["ward", "patient", "answer", "answer_low", "answer_high"]
    assert found["ward"].to_pylist() == [w for w in by["ward"] for _ in by["patient"]]
    assert found["patient"].to_pylist() == [0, 1] * 3
    true = [
        sum(
            1
            for w, p in zip(TABLE["ward"].to_pylist(), TABLE["patient"].to_pylist(), strict=True)
            if (w, p) == (ward, i)
        )
        for ward in by["ward"]
        for i in by["patient"]
    ]
    assert found["answer"].to_pylist() == true  # at epsilon 50 noise is 0, except once in e^50
    cells = plan_of(
        {
            "aggregate": "histogram",
            "column": "age",
            "bins": [0, 50, 111],
            "by": {"ward": ["west", "north"]},
            "epsilon": 50,
        },
        TABLE,
    )
    table = answer_of(cells, TABLE, 1)
    assert table.column_names == ["ward", "age_from", "age_to", "answer", "answer_low", "answer_high"]
    west = AGES[TABLE["ward"].to_numpy(zero_copy_only=False) == "west"]
    assert table["answer"].to_pylist()[:2] == [int((west < 50).sum()), int((west >= 50).sum())]


# Quantiles ------------------------------------------------------------------------------------------------------------


def test_quantiles_come_close():
    median = plan_of({"aggregate": "quantile", "column": "age", "within": (0, 110), "quantile": 0.5}, TABLE)
    answers = many_answers(median, TABLE, 200)
    assert answers.dtype == np.int64
    assert np.abs(answers - np.median(AGES)).max() <= 2
    below, upto = (np.searchsorted(np.sort(AGES), answers.reshape(-1), side) for side in ("left", "right"))
    off = np.maximum(np.maximum(below - 1000, 1000 - upto), 0)
    promised = float(median.error_words.split("at most ")[1].split(" ")[0])
    assert (off > promised).mean() <= 0.05
    assert promised < 30
    upper = plan_of(
        {"aggregate": "quantile", "column": "bmi", "within": (10, 60), "quantile": "9/10", "by": {"ward": ["north"]}},
        TABLE,
    )
    north = TABLE["bmi"].to_numpy()[TABLE["ward"].to_numpy(zero_copy_only=False) == "north"]
    assert np.abs(many_answers(upper, TABLE, 100) - np.quantile(north, 0.9)).mean() < 0.5


def test_candidates_of_a_quantile_can_be_chosen():
    query = {"aggregate": "quantile", "column": "age", "within": (0, 110), "quantile": "1/2", "epsilon": 50}
    decades = plan_of({**query, "bins": 11}, TABLE)
    assert answer_of(decades, TABLE, 1)["answer"].to_pylist() == [45.0]  # the middle of 40 to 50
    edges = plan_of({**query, "bins": [0, 18, 65, 110]}, TABLE)
    assert answer_of(edges, TABLE, 1)["answer"].to_pylist() == [41.5]
    assert len(plan_of(query, TABLE).statistics[0].cells) == 111
    assert len(plan_of({**query, "column": "bmi"}, TABLE).statistics[0].cells) == 1024
    with pytest.raises(ParameterError, match="chosen among 2 to 65536 bins, not 1"):
        plan_of({**query, "bins": 1}, TABLE)


def test_the_quantile_of_dates_is_a_date():
    days = {"aggregate": "quantile", "column": "seen", "within": (19723, 20088), "quantile": "1/2"}
    found = answer_of(plan_of(days, TABLE), TABLE, 1)["answer"]
    assert found.type == pa.date32()
    assert abs((found[0].as_py() - datetime.date(2024, 7, 1)).days) < 15


def test_a_cell_that_holds_the_rank_scores_best_however_full_it_is():
    """Sixty of a hundred in the first cell, forty in the last: the median is in the first, not in the empty ones between."""
    scores = quantile_scores(np.array([[60, 0, 0, 40]], dtype=object), Fraction(1, 2))
    assert scores.tolist() == [[0, -20, -20, -20]]
    assert quantile_scores(np.array([[0, 0]], dtype=object), Fraction(1, 3)).tolist() == [[0, 0]]


@settings(max_examples=300)
@given(
    st.lists(st.integers(0, 4), min_size=2, max_size=5), st.fractions(Fraction(1, 9), Fraction(8, 9), max_denominator=9)
)
def test_scores_of_neighbours_are_as_close_as_promised(counts, quantile):
    num, den = quantile.numerator, quantile.denominator
    here = np.array([counts], dtype=object)
    base = quantile_scores(here, quantile)
    assert base.max() == 0  # some cell always holds the rank
    for cell in range(len(counts)):
        more = here.copy()
        more[0, cell] += 1
        grown = quantile_scores(more, quantile)
        assert np.abs(grown - base).max() <= max(num, den - num)
        for other in range(len(counts)):
            moved = here.copy()
            moved[0, other] += 1
            assert np.abs(quantile_scores(moved, quantile) - grown).max() <= den


# What neighbours reveal, by brute force ---------------------------------------------------------------------------------


def losses(logs):
    return np.abs(logs[:, None] - logs[None, :])


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
@pytest.mark.parametrize("quantile", ["1/2", "1/4"])
def test_quantiles_of_all_tiny_neighbouring_tables_keep_epsilon(neighbours, quantile):
    values = [0, 1, 2]
    query = {"aggregate": "quantile", "column": "x", "within": (0, 2), "quantile": quantile, "epsilon": 2}
    plan = plan_of(query, {"x": pa.int64()}, neighbours=neighbours)
    sizes = (0, 1, 2, 3) if neighbours == "add-remove" else (3,)
    tables = [t for size in sizes for t in itertools.combinations_with_replacement(values, size)]
    counts = np.array([[t.count(v) for v in values] for t in tables], dtype=object)
    scores = quantile_scores(counts, Fraction(quantile))
    distinct = sorted({tuple(s) for s in scores.tolist()})
    channel = plan.statistics[0].noise.mechanism.channel(distinct)
    logs = np.log(channel.matrix[[distinct.index(tuple(s)) for s in scores.tolist()]])
    near = np.abs(counts[:, None] - counts[None, :]).astype(int).sum(-1) == (1 if neighbours == "add-remove" else 2)
    worst = losses(logs).max(-1)[near].max()
    assert 0.8 < worst <= 2 + 1e-12


def grouped_pmf(noise: Noise, truth, outputs):
    """The log-probability of noisy vectors, entry by entry, from the law of the noise."""
    law = getattr(noise.mechanism, "law", None)
    if law is None:  # geometric
        a = math.exp(-1 / float(noise.mechanism.scale))
        return sum(math.log((1 - a) / (1 + a)) + abs(o - t) * math.log(a) for o, t in zip(outputs, truth, strict=True))
    return sum(math.log(float(law.mass(np.array(float(o - t))))) for o, t in zip(outputs, truth, strict=True))


@pytest.mark.parametrize("name", ["geometric", "snapped-laplace", "staircase"])
@pytest.mark.parametrize(
    ("neighbours", "rows", "pairs"),
    [
        ("add-remove", 1, [((3, 1), (2, 1))]),
        ("add-remove", 2, [((3, 1), (2, 0)), ((3, 1), (1, 1))]),
        ("replace", 1, [((3, 1), (2, 2))]),
        ("replace", 2, [((3, 1), (1, 3)), ((3, 1), (2, 2))]),
    ],
)
def test_noisy_counts_of_neighbours_keep_epsilon(name, neighbours, rows, pairs):
    """Two cells, all outputs of a square around the truth: the loss is within epsilon, and reaches it for some pair."""
    query = {"aggregate": "histogram", "column": "g", "values": ["a", "b"], "mechanism": name, "epsilon": "3/2"}
    unit = {"unit": {"column": "u", "rows": rows}}
    plan = plan_of(query, {"g": pa.string(), "u": pa.int64()}, neighbours=neighbours, **unit)
    noise = plan.statistics[0].noise
    found = []
    for here, there in pairs:
        outputs = itertools.product(range(-8, 13), repeat=2)
        found.append(max(abs(grouped_pmf(noise, here, o) - grouped_pmf(noise, there, o)) for o in outputs))
    assert max(found) <= 1.5 + 1e-9
    assert max(found) >= 0.74


def test_noise_for_neighbours_alone_is_not_calibrated_by_the_sum_of_changes():
    """A staircase made for a change of 2 may lose all of epsilon for a change of 1: two changed cells would lose twice that."""
    naive = Noise(calibrate("staircase", epsilon=Fraction(1), l1=2, largest=2, changed=1).mechanism)
    sound = calibrate("staircase", epsilon=Fraction(1), l1=2, largest=1, changed=2)
    outputs = list(itertools.product(range(-8, 13), repeat=2))

    def loss(noise):
        return max(abs(grouped_pmf(noise, (3, 1), o) - grouped_pmf(noise, (2, 2), o)) for o in outputs)

    assert loss(naive) == pytest.approx(2)
    assert loss(sound) <= 1 + 1e-9
    assert (sound.times, sound.price) == (2, 1)


def test_draws_of_neighbours_show_no_more_than_epsilon():
    """The whole way, SQL and rounding to possible answers included: 40,000 answers each, seed fixed, events of 1 % or more."""
    here, there = TABLE.slice(0, 5), TABLE.slice(0, 4)
    plan = plan_of({"aggregate": "count", "epsilon": "1/2"}, TABLE)
    draws = []
    for table in (here, there):
        exact = exact_of(plan.statistics[0], table)
        noisy = plan.statistics[0].noise.add(np.repeat(exact, 40_000, axis=0), np.random.default_rng(11))
        draws.append(np.maximum(noisy.astype(np.int64).reshape(-1), 0))
    shares = np.array([np.bincount(np.minimum(d, 12), minlength=13) / 40_000 for d in draws])
    common = shares.min(axis=0) >= 0.01
    ratios = np.abs(np.log(shares[0, common] / shares[1, common]))
    assert ratios.max() <= 0.5 + 5 * math.sqrt(2 / 400)
    assert ratios.max() >= 0.4


# Against other libraries ------------------------------------------------------------------------------------------------


def test_counts_have_the_error_of_opendp():
    import opendp.prelude as dp

    dp.enable_features("contrib")
    plan = plan_of({"aggregate": "count", "epsilon": "0.3"}, TABLE)
    space = dp.atom_domain(T=int), dp.absolute_distance(T=int)
    measure = dp.m.make_laplace(*space, scale=1 / 0.3)
    theirs = np.array([abs(measure(0)) for _ in range(4000)])
    # The standard error of their mean is about 3.3 / sqrt(4000) = 0.05.
    assert plan.error == pytest.approx(theirs.mean(), abs=0.3)
    assert plan.statistics[0].noise.mechanism.scale == Fraction(10, 3)


def test_means_are_at_least_as_good_as_those_of_diffprivlib():
    from diffprivlib import tools

    plan = plan_of({**MEAN, "epsilon": "0.1"}, TABLE, neighbours="replace")
    ours = np.abs(many_answers(plan, TABLE, 400) - AGES.mean()).mean()
    theirs = np.array(
        [abs(tools.mean(AGES, epsilon=0.1, bounds=(0, 110), random_state=i) - AGES.mean()) for i in range(400)]
    )
    assert ours <= 1.15 * theirs.mean()


# Refusals ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ({**MEAN, "column": "ward"}, "query 'answer': the column 'ward' holds string, and this query needs numbers"),
        ({**MEAN, "column": "height"}, "query 'answer': there is no column 'height' in the data"),
        ({**MEAN, "mechanism": "gaussian"}, "gaussian needs a delta above 0"),
        ({**MEAN, "delta": "1e-6"}, "geometric has no delta"),
        ({**MEAN, "mechanism": "randomised-response"}, "an answer cannot be protected by 'randomised-response'"),
        ({**MEAN, "by": {"answer": [1]}}, "there is no column 'answer'"),
        ({"aggregate": "count", "name": "ward", "by": {"ward": ["north"]}}, "the query has a name of its own"),
        ({"aggregate": "histogram", "column": "age", "values": [1, 2], "by": {"age": [1]}}, "grouped by once"),
        ({"aggregate": "quantile", "column": "age", "within": (0, 110), "quantile": "0.1234567"}, "at most six digits"),
        (
            {"aggregate": "quantile", "column": "age", "within": (0, 9), "quantile": 0.5, "mechanism": "laplace"},
            "is chosen by 'selection'",
        ),
        ({"aggregate": "count", "where": "height > 3"}, "the filter uses height"),
    ],
)
def test_queries_that_cannot_be_answered_are_refused(query, problem):
    with pytest.raises((ParameterError, DataError), match=problem):
        plan_of(query, TABLE)


def test_an_answer_is_refused_as_a_whole():
    plan = plan_of({"aggregate": "sum", "column": "x", "within": (0, 9)}, {"x": pa.float64()})
    hollow = pa.table({"x": [1.0, 12345.678, None]})
    with pytest.raises(DataError, match="missing values") as refused:
        answer_of(plan, hollow)
    assert "12345" not in str(refused.value)
    with pytest.raises(DataError, match="one result for each of the 1 statistics"):
        plan.answer([result_of(plan.statistics[0], hollow)] * 2, None)
