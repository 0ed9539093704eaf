"""``nw.estimate`` from reports to an answer: methods, mechanisms, mixtures, warnings, and everything that it refuses."""

from __future__ import annotations

import json
import math

import numpy as np
import pyarrow as pa
import pytest

import noisewright as nw
from noisewright.estimation.comparison import kantorovich
from noisewright.estimation.counts import Counts, independent, model_of, planar_grid
from noisewright.exceptions import CertificateError, DataError, ParameterError

TRAVEL = ["car", "bike", "foot"]


def travel(reports: int = 50_000, epsilon: str = "1", seed: int = 0):
    rng = np.random.default_rng(seed)
    mechanism = nw.randomised_response(TRAVEL, epsilon=epsilon)
    return mechanism, mechanism.release(rng.choice(TRAVEL, reports, p=[0.5, 0.3, 0.2]), rng)


def ages(reports: int = 50_000, seed: int = 1):
    rng = np.random.default_rng(seed)
    mechanism = nw.geometric(epsilon="0.1", within=(0, 100))
    users = rng.binomial(100, 0.3, reports)
    return mechanism, mechanism.release(users, rng), np.bincount(users, minlength=101) / reports


def test_it_is_a_function_of_the_library():
    mechanism, reports = travel()
    found = nw.estimate(reports, mechanism)
    assert found.method == "mle"
    assert dict(zip(found.secrets, found.probabilities.round(1).tolist(), strict=True)) == {
        "car": 0.5, "bike": 0.3, "foot": 0.2,
    }  # fmt: skip
    assert found.gap_units < 1e-6
    assert found.counts.sum() == pytest.approx(50_000)
    assert found.warnings == ()


@pytest.mark.parametrize("method", ["inversion", "ibu", "mle"])
def test_all_methods_agree_where_the_estimate_is_inside(method):
    mechanism, reports = travel()
    found = nw.estimate(reports, mechanism, method=method, gap=1e-6)
    assert found.probabilities == pytest.approx(nw.estimate(reports, mechanism).probabilities, abs=1e-4)
    assert found.method == method
    assert found.gap_units <= 1e-5
    assert found.converged


def test_numbers_get_the_early_stopped_update_which_is_closest():
    mechanism, reports, truth = ages()
    found = {m: nw.estimate(reports, mechanism, method=m) for m in ("auto", "mle", "inversion")}
    assert found["auto"].method == "ibu"
    distance = {m: kantorovich(f.probabilities, truth) for m, f in found.items()}
    assert distance["auto"] < min(distance["mle"], distance["inversion"], 0.6)
    assert found["mle"].gap_units < 1e-3 < found["auto"].gap_units < 10
    assert found["mle"].likelihood >= found["auto"].likelihood
    assert "amplifies the noise" in found["inversion"].warnings[0]
    unbiased = found["inversion"].unbiased
    assert unbiased is not None
    assert unbiased.min() < 0
    assert unbiased.sum() == pytest.approx(1)


def test_the_certificate_of_an_early_stop_is_sharp():
    """Close to what is really left, not only an upper bound: the exact best likelihood is known beside it."""
    mechanism, reports, _ = ages(5000)
    early, best = nw.estimate(reports, mechanism, iterations=50), nw.estimate(reports, mechanism, method="mle")
    left = (best.likelihood - early.likelihood) * 5000
    assert left > 0
    assert left <= early.gap_units <= left + 1e-3


@pytest.mark.parametrize("kind", ["asymptotic", "bootstrap"])
@pytest.mark.parametrize("method", ["inversion", "ibu", "mle"])
def test_intervals_hold_their_estimate(kind, method):
    mechanism, reports = travel(2000)
    found = nw.estimate(reports, mechanism, method=method, intervals=kind, confidence=0.9, replicates=100)
    assert found.low is not None
    assert found.high is not None
    assert ((found.low <= found.probabilities) & (found.probabilities <= found.high)).all()
    assert found.high - found.low == pytest.approx(np.full(3, 0.095), abs=0.03)
    assert f"{100 * 0.9:g} % interval" in str(found)
    again = nw.estimate(reports, mechanism, method=method, intervals=kind, confidence=0.9, replicates=100)
    assert again.low is not None
    assert again.low.tolist() == found.low.tolist()  # the same seed


def test_bootstrap_of_newton_steps():
    rng = np.random.default_rng(3)
    mechanism = nw.geometric(epsilon=1, within=(0, 5))
    reports = mechanism.release(rng.choice(6, 3000, p=[0.1, 0.2, 0.3, 0.2, 0.1, 0.1]), rng)
    found = nw.estimate(reports, mechanism, method="mle", intervals="bootstrap", replicates=40)
    assert found.low is not None
    assert found.high is not None
    assert 0.01 < float((found.high - found.low).max()) < 0.2


def test_a_bootstrap_runs_the_very_estimator():
    """With smoothing or strides the replicates are smoothed or stridden too: their intervals are about that estimate."""
    mechanism, reports, _ = ages(500)
    plain, smooth, fast = (
        nw.estimate(reports, mechanism, iterations=60, intervals="bootstrap", replicates=30, **options)
        for options in ({}, {"smoothing": 1.0}, {"accelerate": True})
    )
    assert smooth.high.max() < plain.high.max() < fast.high.max()  # type: ignore[union-attr]
    assert fast.likelihood > plain.likelihood > smooth.likelihood  # type: ignore[operator]
    assert fast.gap < plain.gap


def test_averages_are_unbiased_and_far_sharper_than_single_shares():
    mechanism, reports, truth = ages()
    found = nw.estimate(reports, mechanism, intervals="asymptotic")
    mean = found.average(range(101))
    assert mean.low < truth @ np.arange(101) < mean.high
    assert mean.standard_error < 0.1
    adults = found.average([age >= 30 for age in range(101)])
    assert adults.low < truth[30:].sum() < adults.high
    assert found.high is not None
    assert adults.high - adults.low < float((found.high - found.low).max())  # type: ignore[operator]
    with pytest.raises(ParameterError, match="101 finite numbers"):
        found.average([1, 2])


def test_noise_without_bounds_says_as_much_as_noise_that_is_clamped():
    rng = np.random.default_rng(4)
    users = rng.binomial(20, 0.5, 4000)
    free = nw.geometric(epsilon="0.5").release(users, rng)
    assert (free.min(), free.max()) != (0, 20)
    bounded = nw.geometric(epsilon="0.5", within=(0, 20))
    found = nw.estimate(free, nw.geometric(epsilon="0.5"), within=(0, 20))
    assert found.probabilities == pytest.approx(nw.estimate(np.clip(free, 0, 20), bounded).probabilities, abs=1e-15)


def test_mixtures_of_mechanisms_use_all_reports():
    """Half of the people answered with a small epsilon: their reports count, with the little that they say."""
    weak, careful = travel(4000, "0.5", 1)
    strong, open_ = travel(4000, "3", 2)
    both = nw.estimate([careful, open_], [weak, strong], intervals="asymptotic")
    alone = [nw.estimate(r, m, intervals="asymptotic") for r, m in ((careful, weak), (open_, strong))]
    assert both.reports == 8000
    assert both.probabilities == pytest.approx([0.5, 0.3, 0.2], abs=0.04)
    for one in alone:
        assert ((both.high - both.low) < (one.high - one.low)).all()  # type: ignore[operator]
    assert both.promise == "epsilon = 0.5 per unit of discrete; epsilon = 3 per unit of discrete"


def test_mixtures_of_different_mechanisms():
    rng = np.random.default_rng(6)
    line, response = nw.geometric(epsilon=1, within=(0, 9)), nw.randomised_response(10, epsilon=2)
    users = rng.binomial(9, 0.4, 20_000)
    found = nw.estimate([line.release(users[:10_000], rng), response.release(users[10_000:], rng)], [line, response])
    assert kantorovich(found.probabilities, np.bincount(users, minlength=10) / 20_000) < 0.1
    assert found.mechanism == "geometric, randomised-response"


def test_reports_with_two_parts():
    rng = np.random.default_rng(7)
    mechanisms = nw.geometric(epsilon=1, within=(0, 4)), nw.randomised_response(["no", "yes"], epsilon=1)
    level, smokes = rng.binomial(4, 0.5, 30_000), rng.random(30_000) < 0.3
    table = list(
        zip(
            mechanisms[0].release(level, rng).tolist(),
            mechanisms[1].release(np.where(smokes, "yes", "no"), rng).tolist(),
            strict=True,
        )
    )
    found = nw.estimate(table, independent(*mechanisms))
    assert found.secrets[1] == (0, "yes")
    smoking = found.average([secret[1] == "yes" for secret in found.secrets])
    assert smoking.low < smokes.mean() < smoking.high
    assert found.average([secret[0] for secret in found.secrets]).value == pytest.approx(2, abs=0.1)


def test_places_by_transforms_and_by_a_matrix_agree():
    rng = np.random.default_rng(8)
    grid = nw.mechanisms.Grid(20, 15, step=100)
    mechanism = nw.mechanisms.planar_geometric(grid, epsilon="1/150")
    spots = np.array(mechanism.points)[rng.choice(300, 20_000, p=rng.dirichlet(np.full(300, 0.1)))]
    reports = mechanism.release(spots, rng)
    by_transform = nw.estimate(reports, planar_grid(grid, epsilon="1/150"), iterations=30)
    by_matrix = nw.estimate(reports, mechanism.channel(), iterations=30)
    assert by_transform.probabilities == pytest.approx(by_matrix.probabilities, abs=1e-9)
    assert by_transform.secrets[7] == by_matrix.secrets[7] == (0, 700)
    assert list(model_of(mechanism).secrets) == list(mechanism.points)


@pytest.mark.parametrize(
    "mechanism",
    [
        nw.randomised_response(TRAVEL, epsilon="1.5"),
        nw.randomised_response([(0, "a"), (1, "b"), (2, "c")], epsilon=1),
        nw.geometric(epsilon="0.4", within=(-3, 4)),
        nw.geometric(epsilon="0.4", sensitivity=2, within=(-3, 4)),
        nw.exponential([0, 1, 5], epsilon=1),
        nw.mechanisms.explicit_fair(epsilon=1, within=(0, 4)),
    ],
    ids=lambda m: m.name,
)
def test_a_certificate_stands_for_its_mechanism(mechanism):
    ours, theirs = model_of(mechanism), model_of(mechanism.certificate())
    assert list(ours.secrets) == list(theirs.secrets)
    n = len(ours.secrets)
    assert theirs.operator.rows(np.arange(n)) == pytest.approx(ours.operator.rows(np.arange(n)), abs=1e-12)
    assert ours.operator.rows(np.arange(n)) == pytest.approx(mechanism.channel().matrix, abs=1e-12)
    values = list(mechanism.channel().outputs)
    assert theirs.outputs.positions(values).tolist() == list(range(len(values)))


def test_a_certificate_of_places_needs_the_grid():
    mechanism = nw.mechanisms.planar_geometric(nw.mechanisms.Grid(4, 3, step=50), epsilon="1/50")
    certificate = mechanism.certificate()
    with pytest.raises(ParameterError, match="does not tell the places"):
        model_of(certificate)
    model = model_of(certificate, within=((0, 150), (0, 100)))
    assert list(model.secrets) == list(mechanism.points)
    assert model.operator.rows(np.arange(12)) == pytest.approx(mechanism.channel().matrix, abs=1e-13)
    with pytest.raises(ParameterError, match="multiples of its step"):
        model_of(certificate, within=((0, 120), (0, 100)))
    with pytest.raises(ParameterError, match="two ranges"):
        model_of(certificate, within=(0, 120))


def test_a_forged_certificate_estimates_nothing():
    document = json.loads(nw.randomised_response(TRAVEL, epsilon=1).certificate().to_json())
    document["claim"]["epsilon"] = "1/2"
    with pytest.raises(CertificateError, match="does not prove"):
        nw.estimate(TRAVEL, nw.Certificate.from_document(document))


def test_plain_data():
    mechanism, reports = travel(500)
    found = nw.estimate(reports, mechanism, intervals="asymptotic")
    data = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert data["secrets"] == TRAVEL
    assert data["probabilities"] == found.probabilities.tolist()
    assert data["gap_units"] == found.gap * 500
    assert (data["reports"], data["dropped"], data["method"], data["intervals"]) == (500, 0, "mle", "asymptotic")
    assert data["promise"] == "epsilon = 1 per unit of discrete"
    many = nw.estimate({5: 10}, nw.geometric(epsilon=1, within=(0, 99)), iterations=5)
    assert "and 80 more secrets" in many.table()


def test_an_estimate_under_which_a_report_is_impossible_has_no_likelihood():
    certain = nw.Channel([[1, 0, 0], [0, 0.5, 0.5], [0, 0.4, 0.6]], list("abc"), list("xyz"))
    found = nw.estimate({"x": 50, "y": 50}, certain, method="inversion")
    assert found.probabilities.tolist() == [0, 1, 0]  # nobody could have reported x
    assert found.to_json()["gap"] is None
    assert "impossible under this estimate" in str(found)
    assert not found.converged
    assert np.isfinite(nw.estimate({"x": 50, "y": 50}, certain).likelihood)


def test_dropped_reports_are_told():
    mechanism, reports = travel(100)
    column = pa.array([*reports.tolist(), None, "train"])
    found = nw.estimate(column, mechanism, outside="drop")
    assert (found.reports, found.dropped) == (100, 2)
    assert "2 of 102 reports were left out" in found.warnings[0]
    with pytest.raises(DataError, match="2 of 102 reports") as problem:
        nw.estimate(column, mechanism)
    assert "train" not in str(problem.value)


def test_what_cannot_be_told_apart_is_said():
    blind = nw.Channel([[0.7, 0.3], [0.3, 0.7], [0.5, 0.5]], ["a", "b", "c"])
    found = nw.estimate({0: 60, 1: 40}, blind)
    assert "they fix 2 of 3 directions" in found.warnings[0]
    with pytest.raises(ParameterError, match="no confidence intervals"):
        nw.estimate({0: 60, 1: 40}, blind, intervals="asymptotic")
    with pytest.raises(ParameterError, match="cannot be inverted"):
        nw.estimate({0: 60, 1: 40}, blind, method="inversion")
    useless = nw.Channel([[0.5, 0.5], [0.5, 0.5]], ["a", "b"])  # epsilon = 0
    assert "1 of 2 directions" in nw.estimate({0: 60, 1: 40}, useless).warnings[0]
    open_ = nw.Channel([[1, 0], [0, 1]], ["a", "b"])  # delta = 1: everything is told
    assert nw.estimate({0: 60, 1: 40}, open_).probabilities == pytest.approx([0.6, 0.4])


def test_reports_of_another_mechanism_are_refused():
    mechanism, reports = travel(100)
    with pytest.raises(DataError, match="100 of 100 reports are not outputs of this mechanism"):
        nw.estimate(reports, nw.geometric(epsilon=1, within=(0, 9)))
    with pytest.raises(DataError, match="3 of 3"):
        nw.estimate([1, 2, 3], mechanism, outside="drop")
    sure = nw.Channel([[0.5, 0.5, 0], [0.4, 0.6, 0]], ["a", "b"], ["x", "y", "never"])
    for method in ("ibu", "mle"):
        with pytest.raises(DataError, match="cannot come from this mechanism"):
            nw.estimate({"x": 5, "never": 1}, sure, method=method)


@pytest.mark.parametrize(
    ("reports", "mechanism", "options", "words"),
    [
        ([], nw.geometric(epsilon=1, within=(0, 3)), {}, "no reports"),
        ([1], nw.geometric(epsilon=1), {}, "range"),
        ([1], nw.geometric(epsilon=1, within=(0, 3)), {"within": (0, 3)}, "known"),
        ([1], nw.randomised_response(3, epsilon=1), {"within": (0, 3)}, "known"),
        ([1], nw.geometric(epsilon=1, within=(3, 3), outside="keep"), {}, "single secret"),
        ([1], nw.mechanisms.gaussian(epsilon=1, delta="1e-6"), {}, "channel|outputs"),
        ([1], "geometric", {}, "not a thing of type str"),
        ([1], nw.geometric, {}, "not a thing of type function"),
        ([1], nw.geometric(epsilon=1, within=(0, 3)), {"method": "em"}, "method"),
        ([1], nw.geometric(epsilon=1, within=(0, 3)), {"intervals": "exact"}, "intervals"),
        ([1], nw.geometric(epsilon=1, within=(0, 3)), {"intervals": "asymptotic", "confidence": 2}, "confidence"),
        ([1], nw.geometric(epsilon=1, within=(0, 3)), {"iterations": -1}, "iterations"),
        ([1], nw.geometric(epsilon=1, within=(0, 3)), {"method": "mle", "start": [1, 1, 1, 1]}, "for method='ibu'"),
        ([1], nw.geometric(epsilon=1, within=(0, 3)), {"method": "mle", "accelerate": True}, "for method='ibu'"),
        ([1], nw.geometric(epsilon=1, within=(0, 3)), {"smoothing": 0.5, "accelerate": True}, "choose one"),
        ([1], nw.geometric(epsilon=1, within=(0, 3)), {"intervals": "bootstrap", "seed": -1}, "seed"),
        ([[1]], [nw.geometric(epsilon=1, within=(0, 3))] * 2, {}, "as many columns"),
        ([[1], [1]], [nw.geometric(epsilon=1, within=(0, k)) for k in (3, 4)], {}, "same secrets"),
        ([], [], {}, "at least one mechanism"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(reports, mechanism, options, words):
    with pytest.raises(nw.NoisewrightError, match=words) as problem:
        nw.estimate(reports, mechanism, **options)
    assert str(problem.value).endswith(".")


def test_counts_can_be_given_instead_of_reports():
    mechanism = nw.geometric(epsilon=1, within=(0, 3))
    by_counts = nw.estimate(Counts(np.array([1, 0, 2, 1])), mechanism)
    assert by_counts.probabilities.tolist() == nw.estimate([0, 2, 2, 3], mechanism).probabilities.tolist()


def test_a_small_data_set_with_unseen_outputs():
    mechanism = nw.geometric(epsilon="0.3", within=(0, 50))
    found = nw.estimate([10, 10, 11, 40], mechanism, method="mle")
    assert found.probabilities.sum() == pytest.approx(1)
    assert (found.probabilities > 0).sum() <= 4
    assert math.isfinite(found.likelihood)


def test_estimates_are_drawn(tmp_path):
    from noisewright.plotting.estimates import draw_estimate, draw_estimates
    from noisewright.plotting.mechanisms import save_figure

    mechanism, reports, truth = ages(500)
    line = nw.estimate(reports, mechanism, iterations=50, intervals="asymptotic")
    assert len(draw_estimate(line, truth).axes) == 1
    assert len(draw_estimate(line, truth, diagnostics=True).axes) == 2
    bars = nw.estimate(*reversed(travel(500)), intervals="asymptotic")
    assert [text.get_text() for text in draw_estimate(bars).axes[0].get_xticklabels()] == TRAVEL
    places = nw.estimate(
        [(0, 1), (2, 2)], nw.mechanisms.planar_geometric(nw.mechanisms.Grid(3, 3), epsilon=1), iterations=20
    )
    assert save_figure(draw_estimate(places), tmp_path / "map.png").stat().st_size > 5000
    assert len(draw_estimates({"a": line, "b": line}, truth).axes) == 2
    sure = nw.geometric(epsilon=5, within=(0, 100))
    spike = np.eye(101, dtype=np.int64)[50] * 500 + 1
    pair = draw_estimates(
        {name: nw.estimate(Counts(n), sure) for name, n in (("flat", spike * 0 + 5), ("spike", spike))}
    )
    assert all(axes.get_ylim()[1] > 0.8 for axes in pair.axes)  # the last panel is not cut off


def test_many_numbers_are_drawn_in_bars_that_add_them_up():
    from noisewright.plotting.estimates import draw_estimate

    mechanism = nw.geometric(epsilon=1, within=(0, 100))
    found = nw.estimate(Counts(np.arange(1, 102)), mechanism, iterations=20)
    (bars,) = draw_estimate(found).axes[0].patches
    heights, edges, _ = bars.get_data()
    assert edges[:3].tolist() == [0, 5, 10]
    assert heights.sum() == pytest.approx(1)
    assert heights[1] == pytest.approx(found.probabilities[5:10].sum())


def test_long_names_are_written_out_before_bars_that_lie():
    from noisewright.plotting.estimates import draw_estimate

    names = [f"town number {k} at the river" for k in range(6)]
    found = nw.estimate(dict.fromkeys(names, 10), nw.randomised_response(names, epsilon=3), intervals="asymptotic")
    drawn = draw_estimate(found).axes[0]
    assert sorted(text.get_text() for text in drawn.get_yticklabels()) == names


def test_intervals_of_bars_are_shares_or_are_left_out_and_that_is_said():
    from noisewright.plotting.estimates import draw_estimate

    mechanism = nw.geometric(epsilon="0.1", within=(0, 100))
    counts = Counts(np.bincount(np.random.default_rng(1).integers(0, 101, 5000), minlength=101))
    for joint, words in ((False, "joint ones do"), (True, "left out")):
        axes = draw_estimate(nw.estimate(counts, mechanism, intervals="asymptotic", joint=joint)).axes[0]
        assert words in axes.get_xlabel()
        assert axes.get_ylim()[1] < 1
    sure = nw.estimate(counts, nw.geometric(epsilon=5, within=(0, 100)), intervals="asymptotic", joint=True)
    axes = draw_estimate(sure).axes[0]
    assert axes.get_xlabel() == "value"
    assert axes.get_ylim()[1] <= 1.05  # no share is above one


def test_categories_that_are_not_drawn_are_counted():
    from noisewright.plotting.estimates import draw_estimate

    names = [f"town {k:02}" for k in range(60)]
    found = nw.estimate({name: k + 1 for k, name in enumerate(names)}, nw.randomised_response(names, epsilon=9))
    hidden = found.probabilities[np.argsort(-found.probabilities, kind="stable")[40:]].sum()
    axes = draw_estimate(found).axes[0]
    title, _, label = axes.get_xlabel().partition("\n")
    assert title == "share of the population"
    assert [text.get_text() for text in axes.get_yticklabels()] == names[20:]  # the largest share is on top
    assert label.startswith("the 40 largest; 20 more, with ")
    assert float(label.partition("with ")[2].partition(" %")[0]) == pytest.approx(100 * hidden, rel=0.01)
    few = draw_estimate(nw.estimate({"a": 3, "b": 2}, nw.randomised_response(["a", "b"], epsilon=1)))
    assert few.axes[0].get_xlabel() == ""


def test_true_and_false_are_not_the_numbers_one_and_zero() -> None:
    smoker = nw.randomised_response([False, True], epsilon=1)
    assert nw.estimate([True, False, True, True], smoker).reports == 4
    assert nw.estimate({True: 3, False: 1}, smoker).secrets == (False, True)


def test_a_range_is_for_those_mechanisms_of_a_mixture_that_need_one() -> None:
    bounded, free = nw.geometric(epsilon=1, within=(0, 3)), nw.geometric(epsilon=1)
    found = nw.estimate([[0, 1, 2, 3], [-5, 1, 2, 9]], [bounded, free], within=(0, 3))
    assert (found.reports, list(found.secrets)) == (8, [0, 1, 2, 3])
    with pytest.raises(ParameterError, match="within is for noise without bounds"):
        nw.estimate([[0], [1]], [bounded, bounded], within=(0, 3))


def test_a_mixture_says_of_which_mechanisms_no_promise_is_known() -> None:
    known = nw.randomised_response(["no", "yes"], epsilon=1)
    bare = nw.Channel([[0.9, 0.1], [0.1, 0.9]], ["no", "yes"], ["no", "yes"])
    found = nw.estimate([{"no": 6, "yes": 4}, {"no": 5, "yes": 5}], [known, bare])
    assert found.promise == "epsilon = 1 per unit of discrete; no promise known"
