"""Policies of a size that nobody writes: refused by a sentence that names the bound, before anything is planned."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from noisewright.exceptions import PolicyError
from noisewright.policy.policy import Policy

HEAD = 'dataset = "clinic"\n[budget]\nepsilon = 1e9\n'
COLUMN = '[[columns]]\nname = "a"\nmechanism = "randomised-response"\ncategories = ["x", "y"]\nepsilon = 1\n'
HISTOGRAM = '[[queries]]\nname = "h"\naggregate = "histogram"\ncolumn = "n"\nepsilon = 1\n'
MEAN = '[[queries]]\nname = "m"\naggregate = "mean"\ncolumn = "n"\nwithin = [0, 9]\nepsilon = 1\n'
QUERY = '[[queries]]\nname = "q{0}"\naggregate = "count"\nepsilon = 1\n'
LARGE = [
    (COLUMN + ".".join(["a"] * 50_000) + " = 1", "line 9: a key has more than 64 dots"),
    (f"[{'.'.join(['a'] * 50_000)}]", "line 4: a key has more than 64 dots"),
    (COLUMN + "x = { " + " . ".join(['"a"'] * 9_000) + " = 1 }", "a key has more than 64 dots"),
    (COLUMN + "x = " + "[" * 50_000 + "]" * 50_000, "nested too deeply"),
    (COLUMN + "x = " + "{a = " * 20_000 + "1" + "}" * 20_000, "nested too deeply"),
    ("".join(QUERY.format(n) for n in range(5_000)), "queries has 5,000 entries, and 1,000 are the most"),
    (
        "".join(COLUMN.replace('"a"', f'"a{n}"') for n in range(10_001)),
        "columns has 10,001 entries, and 10,000 are the most",
    ),
    (COLUMN + "".join(f"k{n} = 1\n" for n in range(1_001)), r"columns\[0\] has 1,005 keys, and 1,000 are the most"),
    (HISTOGRAM + f"bins = {list(range(20_000))}", "has 20,000 edges, and 4,097 are the most"),
    (MEAN + f"weights = {[1] * 20_000}", "must have two or three numbers"),
    (
        '[[columns]]\nname = "n"\nmechanism = "laplace"\nepsilon = 1\n'
        + f"within = {[[3 * n, 3 * n + 1] for n in range(2_000)]}",
        "has 2,000 intervals, and 1,000 are the most",
    ),
    (COLUMN.replace("epsilon = 1", "epsilon = 1" + "0" * 1_000_000), "thousands of digits"),
    (COLUMN.replace("epsilon = 1", "epsilon = 1." + "3" * 1_000_000), "must be a number"),
    (COLUMN.replace("epsilon = 1", "epsilon = 1e999999999"), "too long or too large a number"),
]


@pytest.mark.parametrize("place", range(len(LARGE)))
def test_what_is_too_large_is_refused_with_the_bound(place: int) -> None:
    text, words = LARGE[place]
    with pytest.raises(PolicyError, match=words) as problem:
        Policy.from_toml(HEAD + text)
    assert all(len(told) < 400 for told in problem.value.problems)


def test_what_is_just_within_the_bounds_is_read() -> None:
    read = Policy.from_toml(HEAD + "".join(QUERY.format(n) for n in range(1_000)))
    assert len(read.queries) == 1_000


def test_a_pipe_or_a_device_is_no_policy(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.toml")
    for path in (tmp_path / "pipe.toml", Path("/dev/zero"), Path("/dev/stdin")):
        if path.exists() and not path.is_file():
            with pytest.raises(PolicyError, match="a pipe, a device or a socket, and no file"):
                Policy.load(path)
