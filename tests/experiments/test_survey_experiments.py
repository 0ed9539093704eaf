"""Surveys, Hamming utility and the density band: figures, counts and examples, against their reported numbers."""

from __future__ import annotations

import importlib
import math
from collections import Counter
from itertools import chain, combinations, pairwise

import numpy as np
import pytest
from experiments.report import Row
from scipy.integrate import quad

from experiments import density_band, hamming_exponential, survey_designs
from noisewright.surveys.categorical import sufficient_set
from noisewright.surveys.designs import optimal_design

NAMES = ("hamming_exponential", "survey_designs", "density_band")


# Hamming utility ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("epsilon", "categories"), list(hamming_exponential.REPORTED))
def test_03_e2_smallest_deltas(epsilon, categories):
    rows = hamming_exponential.run(epsilon, categories)
    assert len(rows) == 11
    for row in rows:
        assert row.agrees, row
        assert row.found[0] == pytest.approx(row.found[1], abs=1e-12)
        zero = abs(int(row.label[-1])) <= epsilon
        assert (row.found[0] < 1e-12) == zero
    assert rows[-2].found[0] == pytest.approx(1 / (categories - 1))
    assert rows[-1].found[0] == pytest.approx(1)


def test_03_e2_figure_has_the_curves():
    axes = hamming_exponential.figure().axes[0]
    labels = ["epsilon 0, 2 categories", "epsilon 2, 2 categories", "epsilon 0, 5 categories"]
    curves = {line.get_label(): line for line in axes.lines}
    for label, delta in zip(labels, (math.tanh(3), 0.9793, 0.9877), strict=True):
        assert curves[label].get_ydata()[-1] == pytest.approx(delta, abs=5.1e-5)
    between = np.abs(curves[labels[1]].get_xdata()) <= 2
    assert curves[labels[1]].get_ydata()[between].max() < 1e-12


def test_03_e3_checks_saved_by_sufficient_sets():
    rows = hamming_exponential.run_checks()
    assert [row.found[-1] for row in rows[:3]] == [18_360, 924, 1092]
    assert all(row.agrees for row in rows)
    wrong = Row(rows[1].label, rows[1].found, (21, 15, 0, 1092), close=0)
    assert not wrong.agrees


def test_03_e3_the_saved_checks_decide_as_all_of_them_do():
    """For every pair the largest excess over subsets of the sufficient set is that over all 510 events."""
    utilities = hamming_exponential.utilities()
    laws = np.exp(np.array(utilities, dtype=float))
    laws /= laws.sum(axis=1, keepdims=True)
    pairs = list(hamming_exponential.neighbours())
    sizes: Counter[int] = Counter()

    def largest(i, j, outputs):
        events = chain.from_iterable(combinations(outputs, k) for k in range(1, len(outputs) + 1))
        gaps = laws[i] - math.exp(0.5) * laws[j]
        return max(math.fsum(gaps[list(event)]) for event in events)

    for i, j in pairs:
        outputs = sufficient_set(utilities, i, j).outputs
        sizes[len(outputs)] += 1
        assert largest(i, j, outputs) == pytest.approx(largest(i, j, range(9)), abs=1e-12)
    assert sizes == {3: 24, 6: 12}


# Designs ------------------------------------------------------------------------------------------------------------------


def test_03_e5_thresholds_and_zeros():
    rows = survey_designs.thresholds()
    assert len(rows) == 12
    assert all(row.agrees for row in rows)
    assert all(row.agrees for row in survey_designs.zeros())
    x = math.exp(2) - 1
    assert survey_designs.zero("2") == pytest.approx((-3 * x + math.sqrt(9 * x * x + 12 * x)) / 6, abs=1e-10)


@pytest.mark.parametrize(("epsilon", "delta"), [("0.5", "0.3"), ("1", "0.4"), ("2", "0.45")])
def test_03_e5_the_contour_separates_the_designs(epsilon, delta):
    g = survey_designs.asymmetric_threshold(epsilon, delta)
    assert optimal_design(epsilon=epsilon, delta=delta, prevalence=0.99 * g).branch == "asymmetric"
    assert optimal_design(epsilon=epsilon, delta=delta, prevalence=1.01 * g).branch == "symmetric"


@pytest.mark.parametrize(("prevalence", "degree"), list(survey_designs.RATIOS))
def test_03_e6_ratios_published_and_true(prevalence, degree):
    """The true one against the largest variance over a fine grid of prevalences."""
    pi, alpha = float(prevalence), float(degree)
    published, true = survey_designs.ratios(degree, prevalence)
    assert published == pytest.approx((1 + pi * (1 - alpha) / (alpha * (1 - pi))) ** 2)
    pw, pm = alpha * (1 - pi) / (alpha * (1 - pi) + pi * (1 - alpha)), (alpha - pi) / (alpha * (1 - pi))
    grid = np.linspace(0, 1, 20_001)
    worst = [
        (mu * (1 - mu)).max() / d**2 for mu, d in ((1 - pw + grid * (2 * pw - 1), 2 * pw - 1), (1 - pm + grid * pm, pm))
    ]
    assert true == pytest.approx(worst[0] / worst[1], rel=1e-6)
    assert (true > published * (1 + 1e-9)) == (alpha < 2 * pi / (1 + pi))
    assert true >= 1


def test_03_e7_the_gap_is_none_up_to_a_half_and_then_grows():
    gaps = []
    for truth in np.linspace(0.1, 1, 19):
        published, sample, everybody = survey_designs.largest_variances(round(float(truth), 2))
        gaps.append(sample - everybody)
        assert published >= sample - 1e-12
        assert (published > sample + 1e-12) == (round(float(truth), 2) < 0.5)
    assert gaps[:9] == pytest.approx([0] * 9, abs=1e-12)
    assert gaps == sorted(gaps)
    assert gaps[-1] == pytest.approx(1 / 4)


def test_03_e8_worked_examples():
    parts = survey_designs.tables()
    rows = [row for part in parts for row in part.rows]
    assert len(rows) == 12 + 5 + 13 + 7 + 14 + 5
    assert all(row.agrees for row in rows), [row for row in rows if not row.agrees]
    assert survey_designs.branches() == ("symmetric", "asymmetric", "asymmetric")
    second = survey_designs.example(*survey_designs.SECOND)
    assert second["threshold g"] == pytest.approx(0.12988, abs=5.1e-6)
    order = ("four answers", "disclosing", "asymmetric", "symmetric")
    variances = [second[f"variance, {name}"] for name in order]
    assert variances == sorted(variances)


def test_03_e567_figure_shows_both_curves():
    contours, ratios, mangats = survey_designs.figure().axes
    assert contours.get_title() == "Contour lines of the threshold g"
    curves = {line.get_label(): line.get_ydata() for line in (*ratios.lines, *mangats.lines)}
    for prevalence in ("0.01", "0.1"):
        true, published = curves[f"pi = {prevalence}"], curves[f"pi = {prevalence}, as published"]
        assert true[0] > published[0] + 1
        assert published[0] < math.log(4)
        assert true[-1] == pytest.approx(0, abs=1e-9) == published[-1]
    assert curves["sample, as published"][0] == pytest.approx(25)
    assert (curves["sample"][0], curves["whole population"][-1]) == (pytest.approx(9), pytest.approx(0))


# The density band ---------------------------------------------------------------------------------------------------------


def integrated(first, second, epsilon):
    """The delta by numerical integration, both ways."""
    cuts = sorted({-40.0, 40.0, *first.kinks(), *second.kinks()})
    found = []
    for a, b in ((first, second), (second, first)):
        gap = lambda x, a=a, b=b: max(float(a.pdf(x)) - math.exp(epsilon) * float(b.pdf(x)), 0.0)  # noqa: E731
        found.append(math.fsum(quad(gap, low, high, limit=200)[0] for low, high in pairwise(cuts)))
    return max(found)


@pytest.mark.parametrize("epsilon", [0, 1])
def test_03_e1_deltas_by_integration(epsilon):
    noise = density_band.noise()
    for other in (density_band.with_spike(0.02), density_band.with_plateau()):
        assert quad(other.pdf, -40, 40, points=other.kinks(), limit=200)[0] == pytest.approx(1, abs=1e-7)
        assert density_band.needed(noise, other, epsilon) == pytest.approx(integrated(noise, other, epsilon), abs=1e-7)


def test_03_e1_erratum11_the_band_is_neither_necessary_nor_sufficient():
    rows = density_band.run()
    assert all(row.agrees for row in rows)
    assert all(density_band.findings(rows).values())
    found = {row.label[-1]: row.found for row in rows}
    assert found["spike of width 0.0002"][0] > 200  # as far as one likes
    assert found["spike of width 0.0002"][1] <= 0.05
    assert found["spike of width 0.0002"][2] <= 0.05  # at epsilon 0 even
    assert found["plateau"][1] > 0.5
    one, tenth = (found[f"Laplace noise of scale {scale}"] for scale in ("1", "0.1"))
    assert one[1:] == pytest.approx(tenth[1:], abs=1e-12)
    assert one[0] < 0 < tenth[0]
    swapped = [Row((*row.label[1::-1], row.label[-1]), row.found) for row in rows]
    assert not any(density_band.findings(swapped).values())


def test_03_e1_how_far_outside_on_a_fine_grid():
    """The largest distance from the band is where the kinks say; a grid finds none larger, and nearly the same."""
    first = density_band.noise()
    x = np.linspace(-30, 30, 400_001)
    for other in (density_band.with_spike(0.02), density_band.with_plateau(), density_band.noise(1.1)):
        f, g = first.pdf(x), other.pdf(x)
        gap = np.maximum(g - math.e * f - 0.05, (f - 0.05) / math.e - g).max()
        assert gap <= density_band.outside(first, other) + 1e-12
        assert gap == pytest.approx(density_band.outside(first, other), abs=2e-4)


def test_03_f22_single_outputs_are_not_enough():
    assert density_band.run_singletons()[0].found == (0.25, 0.5)


# The commands -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_whole_runs_agree(name, capsys):
    assert importlib.import_module(f"experiments.{name}").main([]) == 0
    said = capsys.readouterr().out
    assert f"{name}: NOT" not in said
    assert "compared numbers agree" in said.split(f"\n{name}: ")[-1]
    assert "NO:" not in said


def test_a_number_that_differs_is_an_error(monkeypatch, capsys):
    monkeypatch.setitem(hamming_exponential.CHECKS_REPORTED, "sufficient sets, exact", (21, 15, 0, 1092))
    monkeypatch.setitem(survey_designs.MANGAT, "0.25", "4 4 3")
    monkeypatch.setattr(density_band, "PLATEAU", (4.0, 12.0))  # higher than the band
    for name in NAMES:
        assert importlib.import_module(f"experiments.{name}").main([]) == 1
    assert "NO: Not sufficient" in capsys.readouterr().out
