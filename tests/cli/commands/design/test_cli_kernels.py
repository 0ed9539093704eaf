"""``noisewright design kernels``."""

from __future__ import annotations

import json

from noisewright.design.polytopes.kernel_mechanisms import kernels
from noisewright.metrics.base import Discrete, Line


def test_the_five_point_line_is_counted_shown_and_written(call, files):
    path = files / "kernels.json"
    answer = call("design", "kernels", "--metric", "line:0..4", "--epsilon", "1/2", "-o", path)
    assert answer.code == 0
    for words in (
        "218: 1 with 2 outputs",
        "16 extreme private posteriors",
        "epsilon 0.5 for each 1 of difference",
        "and 206 more",
    ):
        assert words in answer.words
    document = json.loads(path.read_text())
    assert document["format"] == "noisewright-kernels"
    assert document["count"] == len(document["kernels"]) == 218
    assert document["verified"]
    assert all(abs(sum(row) - 1) < 1e-12 for kernel in document["kernels"] for row in kernel["matrix"])


def test_a_rational_factor_gives_fractions(call):
    data = call("design", "kernels", "--metric", "line:0..2", "--factor", "2", "--json").json
    assert [kernel["exact"] for kernel in data["kernels"]] == [
        [[str(v) for v in row] for row in kernel.rows] for kernel in kernels(Line(), range(3), factor=2)
    ]
    assert data["file"] is None
    assert "2/3 1/6 1/6" in call("design", "kernels", "--metric", "line:0..2", "--factor", "2").words


def test_categories_by_name(call):
    data = call("design", "--json", "kernels", "--metric", "discrete:red,green,blue", "--epsilon", "1").json
    assert data["points"] == ["red", "green", "blue"]
    assert data["count"] == len(kernels(Discrete(), range(3), epsilon=1)) == 5
    shown = call("design", "kernels", "--metric", "discrete:red,green,blue", "--epsilon", "1").words
    assert "green" in shown


def test_a_plane_is_counted_in_floats_and_says_so(call):
    answer = call("design", "kernels", "--metric", "euclidean:0:0,0:1,1:0.5", "--epsilon", "1")
    assert "unverified" in answer.words
    assert not call("design", "kernels", "--metric", "euclidean:0:0,0:1,1:0.5", "--epsilon", "1", "--json").json[
        "verified"
    ]


def test_refusals_say_what_to_do_and_leave_nothing(call, files):
    before = sorted(files.iterdir())
    out = files / "kernels.json"
    for words, arguments in (
        ("either --epsilon or --factor", ["--metric", "line:0..2"]),
        ("either --epsilon or --factor", ["--metric", "line:0..2", "--epsilon", "1", "--factor", "2"]),
        ("nw.optimal", ["--metric", "line:0..4", "--epsilon", "1", "--most", "50", "-o", str(out)]),
        ("nw.optimal", ["--metric", "line:0..11", "--epsilon", "1", "-o", str(out)]),
        ("behind a colon", ["--metric", "line", "--epsilon", "1"]),
        ("1 or more", ["--metric", "line:0..2", "--factor", "1/2"]),
        ("ends in .json", ["--metric", "line:0..2", "--factor", "2", "-o", str(files / "kernels.txt")]),
    ):
        answer = call("design", "kernels", *arguments)
        assert answer.code == 2
        assert words in answer.err
    assert sorted(files.iterdir()) == before


def test_it_is_listed_and_explained(call):
    assert "kernels" in call("design").words
    assert "--factor" in call("design", "kernels", "--help").words
