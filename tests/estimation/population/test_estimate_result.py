"""What an estimate looks like: printed for one secret and for ten thousand, with wide labels, as plain data, and in short."""

from __future__ import annotations

import json

import numpy as np
import pytest

import noisewright as nw
from noisewright.estimation.counts import independent
from noisewright.metrics.base import decode_label


def lines(found):
    return str(found).splitlines()


def test_one_secret():
    only = nw.Channel([[0.5, 0.5]], ["all"], ["x", "y"])
    found = nw.estimate({"x": 1}, only, intervals="asymptotic", joint=True)
    assert lines(found)[:4] == [
        "estimate of 1 secret from 1 report (mle, 1 Newton step)",
        "  secret    share    95 % interval",
        "  all      1.0000   1.0000 to 1.0000",
        "intervals: asymptotic, for all secrets together",
    ]
    assert repr(found) == "<Estimate of 1 secret from 1 report, by mle>"


def test_ten_thousand_secrets():
    line = nw.geometric(epsilon=1, within=(0, 9999))
    found = nw.estimate({5000: 1000, 7: 234}, line, iterations=1, intervals="asymptotic")
    shown = lines(found)
    assert shown[0] == "estimate of 10,000 secrets from 1,234 reports (ibu, 1 step)"
    assert len(shown) < 30
    assert any(text.startswith("  and 9,980 more secrets, with 0.") for text in shown)
    assert repr(found) == "<Estimate of 10,000 secrets from 1,234 reports, by ibu>"
    assert max(map(len, shown)) < 200


def test_one_secret_that_is_not_shown():
    found = nw.estimate(dict.fromkeys(range(21), 5), nw.randomised_response(21, epsilon=1))
    assert "  and 1 more secret, with 0.0476 together" in lines(found)


@pytest.mark.parametrize("confidence", [0.57, 0.95, 0.999, 0.9999999])
def test_a_confidence_is_printed_in_full(confidence):
    found = nw.estimate(
        {0: 5, 1: 5}, nw.randomised_response(2, epsilon=1), intervals="asymptotic", confidence=confidence
    )
    words = {0.57: "57 %", 0.95: "95 %", 0.999: "99.9 %", 0.9999999: "99.99999 %"}[confidence]
    assert found.confidence_in_words == words
    assert f"{words} interval" in lines(found)[1]


def test_wide_and_long_labels_keep_the_columns_straight():
    """East Asian characters take two columns of a terminal, and marks on letters none."""
    names = ["東京", "cafe\u0301", "x" * 200, "tab\tnew\nline", "\u202etfel"]
    found = nw.estimate(dict.fromkeys(names, 10), nw.randomised_response(names, epsilon=1))
    _, head, *rows = lines(found)[:7]
    assert head == f"  secret{' ' * 24}    share"
    assert rows == [
        f"  東京{' ' * 26}   0.2000",
        f"  cafe\u0301{' ' * 26}   0.2000",
        f"  {'x' * 14}...{'x' * 13}   0.2000",
        f"  tab\\tnew\\nline{' ' * 16}   0.2000",
        f"  \\u202etfel{' ' * 20}   0.2000",
    ]


def test_secrets_with_several_parts():
    both = independent(nw.geometric(epsilon=1, within=(0, 1)), nw.randomised_response(["no", "yes"], epsilon=1))
    found = nw.estimate([(0, "no"), (1, "yes"), (1, "yes")], both, intervals="asymptotic", joint=True)
    assert [text.split("  ")[1] for text in lines(found)[2:6]] == [
        "(0, 'no')", "(0, 'yes')", "(1, 'no')", "(1, 'yes')",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "mechanism",
    [
        nw.randomised_response(["a", "b", "c"], epsilon=1),
        nw.randomised_response([None, True, 2.5, "x", ("a", 1)], epsilon=1),
        nw.geometric(epsilon=1, within=(-2, 2)),
        nw.mechanisms.unary_encoding(["a", "b", "c"], epsilon=1),
        nw.mechanisms.planar_geometric(nw.mechanisms.Grid(2, 2, step=50), epsilon="1/50"),
    ],
    ids=lambda m: m.name,
)
@pytest.mark.parametrize("intervals", [None, "asymptotic"])
def test_plain_data_says_all_of_it(mechanism, intervals):
    rng = np.random.default_rng(2)
    names = list(getattr(mechanism, "categories", None) or mechanism.channel().inputs)
    chosen = [names[i] for i in rng.integers(len(names), size=200)]
    reports = mechanism.release(chosen, rng)
    found = nw.estimate(reports if isinstance(reports, np.ndarray) else list(reports), mechanism, intervals=intervals)
    data = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert [decode_label(label) for label in data["secrets"]] == list(found.secrets) == names
    for part in ("probabilities", "low", "high", "unbiased"):
        value = getattr(found, part)
        assert data[part] == (None if value is None else value.tolist())
    for part in ("mechanism", "promise", "method", "reports", "dropped", "intervals", "iterations", "converged"):
        assert data[part] == getattr(found, part)
    assert data["warnings"] == list(found.warnings)
    assert (data["level"], data["joint"]) == ((None, None) if intervals is None else (0.95, False))
    assert data["log_likelihood"] == found.likelihood


def test_long_names_that_differ_at_their_ends_are_told_apart_in_pages_and_pictures():
    from noisewright.plotting.estimates import draw_estimate

    names = [f"a category with a name that is long, number {i}" for i in range(8)] + ["$5$ a week"]
    found = nw.estimate(dict.fromkeys(names, 10), nw.randomised_response(names, epsilon=1))
    shown = [line.split("0.1")[0] for line in lines(found)[2:11]]
    assert len(set(shown)) == 9
    ticks = draw_estimate(found).axes[0].get_yticklabels()
    assert len({tick.get_text() for tick in ticks}) == 9
    assert all(len(tick.get_text()) <= 36 and tick.get_rotation() == 0 for tick in ticks)
    (money,) = [tick for tick in ticks if tick.get_text() == "$5$ a week"]
    assert not money.get_parse_math()
