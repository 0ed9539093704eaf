from __future__ import annotations

import math
from fractions import Fraction

import pytest

from noisewright._utils.validation import printable
from noisewright.render.text import label, labels, plain, plural, round_up


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (1.0, "1"),
        (math.log(2), "0.693148"),
        (math.nextafter(1.0, 2), "1"),
        (1.00000001, "1.00001"),
        (1e-20, "1e-20"),
        (123456789.0, "1.23457e8"),
        (math.inf, "infinite"),
    ],
)
def test_losses_are_rounded_up(value, text):
    assert round_up(value) == text


@pytest.mark.parametrize("value", [0.1, 1 / 3, 2 / 3, 5e-324, 0.1234561, 99999.95, 1.7e308])
def test_what_is_shown_is_never_below_the_value(value):
    shown = round_up(value).split()[0]
    assert float(shown) >= value * (1 - 1e-12)


def test_plain_values():
    given = {"a": math.inf, "b": (1, Fraction(1, 3)), 3: [None, True, -math.inf], "c": math.nan}
    assert plain(given) == {"a": "inf", "b": [1, "1/3"], "3": [None, True, "-inf"], "c": "nan"}


def test_labels():
    assert label((0, ("a", 1.5))) == "(0, (a, 1.5))"
    assert label(()) == "()"
    assert len(label("x" * 100)) == 40
    assert labels(range(3)) == "0, 1, 2"
    assert labels(range(10)) == "0, 1, 2, 3, 4, 5 and 4 more"
    assert printable("a\nb\x1b[0m\u202eé") == "a\\nb\\x1b[0m\\u202eé"
    assert (plural(1, "secret"), plural(2, "secret")) == ("1 secret", "2 secrets")


def test_many_things_are_counted_with_their_thousands_set_apart():
    assert [plural(n, "row") for n in (0, 1, 2, 68_293)] == ["0 rows", "1 row", "2 rows", "68,293 rows"]
