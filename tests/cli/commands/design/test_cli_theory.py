"""``noisewright design extreme`` and ``noisewright design universal``."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest

ROWS = {
    "response.csv": ",0,1,2\n0,1/2,1/4,1/4\n1,1/4,1/2,1/4\n2,1/4,1/4,1/2\n",
    "middle.csv": ",0,1,2\n0,4/7,1/7,2/7\n1,3/7,2/7,2/7\n2,2/7,1/7,4/7\n",
    "geometric.csv": ",0,1,2\n0,2/3,1/6,1/6\n1,1/3,1/3,1/3\n2,1/6,1/6,2/3\n",
}


@pytest.fixture
def channels(files):
    for name, text in ROWS.items():
        (files / name).write_text(text)
    return files


# Extreme points -----------------------------------------------------------------------------------------------------------


def test_extreme_points_are_counted_listed_and_written(call, channels):
    path = channels / "corners.json"
    answer = call("design", "extreme", "--metric", "discrete:a,b,c", "--factor", "2", "-o", path)
    assert "33: 3 with 1 output in use, 18 with 2 outputs in use, 12 with 3 outputs in use" in answer.words
    assert "a 1/2 1/4 1/4" in answer.words
    document = json.loads(path.read_text())
    assert document["format"] == "noisewright-extreme-points"
    assert document["count"] == len(document["points"]) == 33
    points = [[[Fraction(v) for v in row] for row in point["exact"]] for point in document["points"]]
    assert len({str(point) for point in points}) == 33
    for point in points:
        assert all(sum(row) == 1 for row in point)
        assert all(a <= 2 * b for column in zip(*point, strict=True) for a in column for b in column)
    assert "164,825" in call("design", "extreme", "--metric", "discrete:0..4", "--epsilon", "1").words


def test_whether_a_channel_is_extreme(call, channels):
    yes = call("design", "extreme", "--channel", channels / "response.csv", "--factor", "2", "--json").json
    assert (yes["extreme"], yes["private"], yes["status"]) == (True, True, "holds (exact)")
    no = call("design", "extreme", "--channel", channels / "middle.csv", "--factor", "2", "--json").json
    assert (no["extreme"], no["private"]) == (False, True)
    first, second = ([[Fraction(v) for v in row] for row in end] for end in no["middle_of"])
    whole = [[(a + b) / 2 for a, b in zip(x, y, strict=True)] for x, y in zip(first, second, strict=True)]
    assert [[str(v) for v in row] for row in whole] == [row.split(",")[1:] for row in ROWS["middle.csv"].split()[1:]]
    assert (
        "middle of two other private channels"
        in call("design", "extreme", "--channel", channels / "middle.csv", "--factor", "2").words
    )
    assert (
        "not private at this budget"
        in call("design", "extreme", "--channel", channels / "response.csv", "--factor", "3/2").words
    )


def test_a_certificate_counts_within_a_tolerance(call, channels):
    path = channels / "certificate.json"
    call("design", "randomised-response", "--categories", "a,b,c", "--epsilon", "1", "-o", path)
    assert call("design", "extreme", "--channel", path, "--epsilon", "1", "--json").json["status"] == "holds within tol"


# Universality -------------------------------------------------------------------------------------------------------------


def universal(call, loss, *more):
    return call("design", "universal", "--metric", "line:0..2", "--factor", "2", "--loss", loss, *more)


def test_the_geometric_is_best_for_one_loss_and_not_for_another(call, channels):
    path = channels / "answer.json"
    some = universal(call, "absolute", "-o", path)
    assert "some mechanism is best at every prior" in some.words
    assert "yes, proved: 1 of 2 kernels is best" in some.words
    assert np.allclose(json.loads(path.read_text())["exists"]["mechanisms"][0][0], [2 / 3, 1 / 6, 1 / 6])
    assert "geometric.csv is best" in universal(call, "absolute", "--channel", channels / "geometric.csv").words
    data = universal(call, "parity", "--channel", channels / "geometric.csv", "--json").json
    assert (data["holds"], data["status"]) == (False, "fails (witness)")
    # The witness, computed again: the expected loss of the best guess of the parity at this prior.
    prior = [Fraction(p) for p in data["witness"]["prior"].values()]
    assert sum(prior) == 1
    rows = [[Fraction(v) for v in line.split(",")[1:]] for line in ROWS["geometric.csv"].split()[1:]]
    own = sum(min(sum(prior[x] * rows[x][y] for x in odd) for odd in ((0, 2), (1,))) for y in range(3))
    assert own == Fraction(data["witness"]["loss"]) > Fraction(data["witness"]["less"])
    better = np.array(data["witness"]["better"])
    joint = np.array([float(p) for p in prior])[:, None] * better
    assert np.minimum(joint[[0, 2]].sum(axis=0), joint[1]).sum() == pytest.approx(
        float(Fraction(data["witness"]["less"]))
    )


def test_no_mechanism_is_best_for_parity_on_four_secrets(call):
    answer = call("design", "universal", "--metric", "line:0..3", "--factor", "2", "--loss", "parity")
    assert "no mechanism is best at every prior" in answer.words
    assert answer.code == 0


@pytest.mark.parametrize(
    ("words", "arguments"),
    [
        ("either --epsilon or --factor", ["extreme", "--metric", "discrete:a,b"]),
        ("either --metric", ["extreme", "--factor", "2"]),
        ("noisewright design kernels", ["extreme", "--metric", "line:0..2", "--factor", "2"]),
        ("more than --most 20", ["extreme", "--metric", "discrete:0..2", "--factor", "2", "--most", "20", "-o", "OUT"]),
        ("--outputs goes with --metric", ["extreme", "--channel", "FILE", "--factor", "2", "--outputs", "3"]),
        ("1 or more", ["extreme", "--metric", "discrete:a,b", "--factor", "1/2"]),
        (
            "secrets no, yes",
            ["universal", "--metric", "line:0..1", "--factor", "2", "--loss", "absolute", "--channel", "FILE"],
        ),
        ("loss", ["universal", "--metric", "line:0..1", "--factor", "2", "--loss", "nonsense"]),
    ],
)
def test_refusals(call, files, words, arguments):
    out = files / "out.json"
    given = [
        str(out) if word == "OUT" else str(files / "response.csv") if word == "FILE" else word for word in arguments
    ]
    answer = call("design", *given)
    assert answer.code == 2
    assert words in answer.err
    assert not out.exists()
