"""``noisewright attack linkage`` and ``noisewright attack suppression``."""

from __future__ import annotations

import pytest


@pytest.fixture
def tables(files):
    (files / "released.csv").write_text("post,born,illness\nA1,1970,flu\nA1,1970,none\nB2,1980,cancer\n")
    (files / "known.csv").write_text("name,post,born\nAnn,B2,1980\nBob,A1,1970\n")
    (files / "cells.csv").write_text(",young,old,total\nflu,20,*,25\ncancer,,x,30\nnone,-,7,15\ntotal,40,30,70\n")
    return files


def test_who_stands_out_and_who_is_found(call, tables):
    alone = call("attack", "linkage", tables / "released.csv", "--on", "post,born")
    assert "k 1: some rows share their combination with nobody" in alone.words
    assert "Alone 1 row (33.3%), with a combination of their own" in alone.words
    out = tables / "linked.csv"
    data = call(
        "attack", "linkage", tables / "released.csv", tables / "known.csv", "--on", "post,born", "-o", out, "--json"
    ).json
    assert (data["k"], data["linkage"]["linked"], data["linkage"]["possible"], data["private"]) == (1, 1, 3, False)
    assert out.read_text() == "row,known_row\n3,1\n"
    page = call("attack", "linkage", tables / "released.csv", tables / "known.csv", "--on", "post,born").words
    assert "Linked 1 row (33.3%), to one row of" in page
    assert "cancer" not in page


def test_what_totals_tell(call, tables):
    """One gap in a row or column fills the next; four in a square leave one number open, up to where some cell is 0."""
    out = tables / "bounds.csv"
    data = call("attack", "suppression", tables / "cells.csv", "-o", out, "--json").json
    found = {(cell["row"], cell["column"]): (cell["low"], cell["high"]) for cell in data["cells"]}
    assert found == {
        ("flu", "old"): ("5", "5"),
        ("cancer", "young"): ("12", "12"),
        ("cancer", "old"): ("18", "18"),
        ("none", "young"): ("8", "8"),
    }
    assert data["disclosed"] == 4
    assert out.read_text().splitlines()[1] == "flu,old,5,5"
    assert "4 of 4 suppressed cells can be worked out" in call("attack", "suppression", tables / "cells.csv").words
    (tables / "open.csv").write_text(",young,old,total\nflu,*,*,25\ncancer,*,*,30\ntotal,40,15,55\n")
    words = call("attack", "suppression", tables / "open.csv").words
    assert "0 of 4 suppressed cells can be worked out" in words
    assert "flu young 10 25" in words


@pytest.mark.parametrize(
    ("words", "arguments"),
    [
        ("--on postcode,born,sex", ["linkage", "released.csv"]),
        ("did you mean born?", ["linkage", "released.csv", "--on", "bron"]),
        ("known.csv has no column 'illness'", ["linkage", "released.csv", "known.csv", "--on", "illness"]),
        ("needs a second table", ["linkage", "released.csv", "--on", "post", "-o", "x.csv"]),
        ("no suppressed cell", ["suppression", "line.csv"]),
        ("a cell is no number", ["suppression", "released.csv"]),
        ("ends in .csv", ["suppression", "cells.csv", "-o", "x.json"]),
    ],
)
def test_refusals(call, tables, words, arguments):
    answer = call("attack", *(str(tables / word) if "." in word else word for word in arguments))
    assert answer.code == 2
    assert words in answer.err
