"""``noisewright compare A B --join ORDER`` and ``--meet ORDER``."""

from __future__ import annotations

import numpy as np
import pytest

GEOMETRIC = ",0,1,2\n0,2/3,1/6,1/6\n1,1/3,1/3,1/3\n2,1/6,1/6,2/3\n"
RESPONSE = ",0,1,2\n0,3/5,1/5,1/5\n1,1/5,3/5,1/5\n2,1/5,1/5,3/5\n"


@pytest.fixture
def pair(files):
    (files / "geometric.csv").write_text(GEOMETRIC)
    (files / "response.csv").write_text(RESPONSE)
    return files / "geometric.csv", files / "response.csv"


@pytest.mark.parametrize("order", ["max", "privacy"])
def test_bounds_are_above_and_below_both(call, files, pair, order):
    """Found again with the comparison itself, from the file that was written."""
    for kind in ("join", "meet"):
        out = files / f"{kind}.csv"
        answer = call("compare", *pair, f"--{kind}", order, "-o", out)
        assert answer.code == 0
        assert f"{kind}: of two mechanisms in the {order} order" in answer.words
        for one in pair:
            first, second = (one, out) if kind == "join" else (out, one)
            found = call("compare", first, second, "--tol", "1e-7", "--json").json["orders"]
            assert found[order]["forward"]["status"].startswith("holds"), (kind, one)


def test_the_privacy_bounds_are_the_nearest_metrics(call, pair):
    """Losses of the meet are the larger ones of both; those of the join the shortest paths over the smaller ones."""
    geometric, response = np.log([[1, 2, 4], [2, 1, 2], [4, 2, 1]]), np.log([[1, 3, 3], [3, 1, 3], [3, 3, 1]])
    meet = np.array(call("compare", *pair, "--meet", "privacy", "--json").json["losses"])
    assert np.allclose(meet, np.maximum(geometric, response))
    join = np.array(call("compare", *pair, "--join", "privacy", "--json").json["losses"])
    smaller = np.minimum(geometric, response)
    assert np.allclose(join, np.minimum(smaller, (smaller[:, :, None] + smaller[None]).min(axis=1)))


@pytest.mark.parametrize(
    ("words", "arguments"),
    [
        ("the average order has no joins", ["--join", "average"]),
        ("the average order has no meets", ["--meet", "average"]),
        ("--join must be 'max' or 'privacy', not 'most'", ["--join", "most"]),
        ("one of them", ["--join", "max", "--meet", "max"]),
        ("no --metric", ["--join", "max", "--metric", "line"]),
        ("-o goes with --join or --meet", ["-o", "x.csv"]),
        (".csv or .json or .npz", ["--join", "max", "-o", "x.txt"]),
    ],
)
def test_refusals(call, pair, words, arguments):
    answer = call("compare", *pair, *arguments)
    assert answer.code == 2
    assert words in answer.err
