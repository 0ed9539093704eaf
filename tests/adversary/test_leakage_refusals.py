"""What is refused, and that no refusal repeats a value of somebody's table."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

import noisewright as nw
from noisewright.attacks.correlation import Correlation, CrossTable, cross_table, dalenius_vulnerability
from noisewright.attacks.inferential_privacy import check_promise, insensitive, placements, utility_focussed
from noisewright.attacks.local_and_central import Local
from noisewright.attacks.new_row import NewRow
from noisewright.exceptions import NoisewrightError, ParameterError
from noisewright.guarantees import EXACT, FAILS, UNDECIDED
from noisewright.metrics.base import Table
from noisewright.qif.gains import Gain, partition
from noisewright.qif.max_case import d_leakage, max_vulnerability
from noisewright.qif.refinement.compare import Comparison, Directions, compare
from noisewright.qif.vulnerability import uncertainty

VALUE = "leprosy"
TABLE = {"illness": [VALUE, "flu", "flu"], "town": ["A", VALUE, "A"]}
KNOWN = Correlation.from_table(TABLE, "illness", "town")
TEST = nw.Channel([[0.9, 0.1], [0.1, 0.9]], inputs=["well", "ill"])
ON_TOWN = nw.randomised_response(KNOWN.inputs, epsilon=1)

SILENT = [
    (lambda: KNOWN.after(TEST), "2 of the 2 inputs of the correlation are no input"),
    (
        lambda: dalenius_vulnerability(KNOWN, nw.Channel.identity(["A", "B"])),
        "1 of the 2 inputs of the correlation is no",
    ),
    (lambda: placements(KNOWN, TEST, ON_TOWN), "are no input of the channel"),
    (
        lambda: dalenius_vulnerability(KNOWN, ON_TOWN, Gain([[1, 0]], secrets=["flu", "cold"])),
        "no column for 1 of the 2",
    ),
    (lambda: dalenius_vulnerability(KNOWN, ON_TOWN, "metric:line"), "does not measure the secrets"),
    (lambda: partition(KNOWN.secrets, {"flu": 1}), "there is none for 1 of the 2 secrets (the one at place 1"),
    (
        lambda: partition(KNOWN.secrets, {}),
        "there is none for 2 of the 2 secrets (the first of them is the one at place 0",
    ),
    (lambda: partition(KNOWN.secrets, [{"flu"}]), "there is none for 1 of the 2 secrets"),
    (lambda: NewRow.from_table(TABLE, "illness", "town", "B"), "none of the 2 values"),
    (lambda: cross_table(TABLE, "illness", "town", second_order=["A"]), "leaves out"),
]


@pytest.mark.parametrize(("make", "words"), SILENT, ids=[words for _, words in SILENT])
def test_no_refusal_repeats_a_value_of_a_table(make, words):
    with pytest.raises(NoisewrightError) as problem:
        make()
    said = str(problem.value)
    assert words in said
    assert VALUE not in said
    assert said.endswith(".")
    assert problem.value.__suppress_context__ or problem.value.__context__ is None


REFUSED = [
    (lambda: nw.leakage(TEST, gain=lambda p: math.inf), "infinite before or after the output"),
    (lambda: nw.leakage(TEST, prior=[1, 0], gain=lambda p: 1 / min(p) if min(p) else math.inf), "infinite"),
    (lambda: uncertainty(TEST, measure=lambda p: math.inf), "a concave function of beliefs is finite"),
    (lambda: nw.leakage(TEST, prior=[1e308, 1e308]), "must sum to 1, not to inf"),
    (lambda: Correlation([[1e308, 1e308]]), "must sum to 1, not to inf"),
    (lambda: d_leakage(TEST, [0.4, 0.6], Table([[0, 0], [0, 0]], ["well", "ill"])), "secrets at distance 0 the same"),
    (lambda: placements("x", TEST, TEST), "a matrix of probabilities"),
    (lambda: NewRow("x", (1, 2), "a"), "a Correlation, not str"),
    (lambda: NewRow.from_counts([[1, 2]], "a"), "a CrossTable, not list"),
    (lambda: CrossTable([[1], [2, 3]], ("a", "b"), ("c",)), "rows of one length"),
    (lambda: cross_table(TABLE, "illness", "street"), "the table has no column 'street'; name one that it has"),
    (lambda: insensitive(utility_focussed(TEST, "ab"), "useful", "much"), "tol is how far"),
    (lambda: insensitive(utility_focussed(TEST, "ab"), "useful", math.nan), "tol is how far"),
    (lambda: insensitive(utility_focussed(TEST, "ab"), "useful", -1), "tol is how far"),
    (lambda: check_promise(TEST, "much"), "t = 'much' is not a number"),
    (lambda: check_promise(TEST, 2), "t must be a number from 0 to 1"),
    (lambda: check_promise(TEST, math.nan), "t must be a finite number"),
    (lambda: Local(TEST, 10_000).channel(), "would have 2^10000 by 2^10000 entries"),
]


@pytest.mark.parametrize(("make", "words"), REFUSED, ids=[words for _, words in REFUSED])
def test_what_makes_no_sense_is_refused_in_a_sentence(make, words):
    with pytest.raises(NoisewrightError) as problem:
        make()
    said = str(problem.value)
    assert words in said
    assert said.endswith(".")
    assert len(said) < 250


def test_two_columns_of_one_name_are_not_told_apart():
    import pandas as pd

    with pytest.raises(NoisewrightError, match="more than one column 'a'; give its columns different names"):
        cross_table(pd.DataFrame([[1, 2]], columns=["a", "a"]), "a", "b")


def test_a_function_that_is_infinite_at_sure_beliefs_has_a_worst_output():
    rare = nw.Channel([[0.5, 0.5], [0, 1]])
    found = max_vulnerability(None, rare, lambda p: 1 / min(p) if min(p) else math.inf)
    assert (found.value, found.output) == (math.inf, 0)
    with pytest.raises(ParameterError, match="max_case"):
        nw.leakage(rare, gain=lambda p: 1 / min(p) if min(p) else math.inf)


@pytest.mark.parametrize("t", [0.25, "1/4", np.float64(0.25)])
def test_a_promise_takes_every_exact_number(t):
    kept = check_promise(nw.Channel([[0.75, 0.25], [0.25, 0.75]]), t)
    assert kept.status != FAILS
    assert check_promise(nw.Channel([[0.75, 0.25], [0.25, 0.75]]), "24/100").status == FAILS


def test_a_matrix_serves_where_a_correlation_does():
    joint = [[0.6, 0.1], [0.05, 0.25]]
    channel = nw.Channel([[0.9, 0.1], [0.2, 0.8]])
    bare, named = placements(joint, channel, channel), placements(Correlation(joint), channel, channel)
    assert [p.privacy_loss for p in bare] == [p.privacy_loss for p in named]


def _with(found: Comparison, **statuses: str) -> Comparison:
    """A comparison in which the answers for "B may replace A" have other statuses."""
    changed = {
        name: Directions(
            dataclasses.replace(getattr(found, name).forward, status=status), getattr(found, name).backward
        )
        for name, status in statuses.items()
    }
    return dataclasses.replace(found, **changed)


def test_the_reading_does_not_turn_undecided_into_no():
    found = compare([["3/4", "1/4"], ["1/4", "3/4"]], [["5/8", "3/8"], ["3/8", "5/8"]], metric="discrete")
    assert found.in_words()[0] == (
        "B may replace A against every adversary, on average over the outputs, and so under every other order here."
    )
    assert _with(found, average=FAILS).in_words()[0] == (
        "B may replace A against every adversary who waits for the worst output, but not against adversaries who play the "
        "average over the outputs."
    )
    assert _with(found, average=UNDECIDED).in_words()[0] == (
        "B may replace A against every adversary who waits for the worst output; whether also against adversaries who play the "
        "average over the outputs is not decided."
    )
    no = {"average": FAILS, "max": FAILS}
    assert _with(found, **no).in_words()[0] == (
        "B may replace A as far as guarantees go, for every metric, but not against adversaries who wait for the worst output."
    )
    assert _with(found, **no, privacy=FAILS, fixed=EXACT).in_words()[0] == (
        "B may replace A for the discrete metric only, and not behind every query."
    )
    assert _with(found, **no, privacy=UNDECIDED).in_words()[0] == "B may replace A for the discrete metric."
