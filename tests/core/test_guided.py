"""Common guesses of names are answered with the right ones, by constructors that people meet first."""

from __future__ import annotations

import inspect
import pickle

import pytest

import noisewright as nw
from noisewright.base import hints_of
from noisewright.exceptions import ParameterError

GUESSES = {
    "nw.laplace(1)": "laplace takes its parameters by name; write laplace(epsilon=1).",
    "nw.laplace(epsilon=1, lower=0)": "laplace has no parameter 'lower'; write the range as within=(low, high).",
    "nw.geometric(epsilon=1, low=0)": "geometric has no parameter 'low'; write the range as within=(low, high).",
    "nw.laplace(scale=2)": "laplace has no parameter 'scale', which is sensitivity / epsilon; write "
    "laplace(epsilon=1, sensitivity=1).",
    "nw.geometric(eps=1)": "geometric has no parameter 'eps'; did you mean epsilon?",
    "nw.randomised_response(['a'], 1)": "randomised_response takes its parameters by name; write "
    "randomised_response(['yes', 'no'], epsilon=1).",
    "nw.randomised_response(labels=['a'], epsilon=1)": "randomised_response has no parameter 'labels'; did you mean categories?",
    "nw.geometric()": "geometric needs epsilon; write geometric(epsilon=1).",
    "nw.release('p', 'd', out='x')": "release has no parameter 'out'; did you mean output?",
    "nw.release('p', df=1)": "release has no parameter 'df'; did you mean data?",
    "nw.plan('p')": "plan needs data; write plan('policy.toml', 'visits.csv').",
    "nw.verify()": "verify needs thing; write verify('released').",
    "nw.estimate([1])": "estimate needs mechanism; write estimate(reports, mechanism).",
}


@pytest.mark.parametrize("call", GUESSES)
def test_a_guess_is_answered_in_one_sentence(call: str) -> None:
    with pytest.raises(ParameterError) as refused:
        eval(call, {"nw": nw})
    assert str(refused.value) == GUESSES[call]


def test_a_guided_constructor_is_otherwise_the_same() -> None:
    assert list(inspect.signature(nw.geometric).parameters) == ["epsilon", "sensitivity", "within", "outside"]
    assert set(hints_of(nw.geometric)) == {"epsilon", "sensitivity", "within", "outside"}
    assert pickle.loads(pickle.dumps(nw.laplace)) is nw.laplace
    assert nw.randomised_response(categories=["a", "b"], epsilon=1) == nw.randomised_response(["a", "b"], epsilon=1)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("gaussian", "; it is noisewright.mechanisms.gaussian"),
        ("Line", "; it is noisewright.metrics.Line"),
        ("gausian", "; did you mean noisewright.mechanisms.gaussian?"),
        ("randomized_response", "; did you mean randomised_response?"),
        ("relase", "; did you mean release?"),
        ("xyzzy", "'xyzzy'"),
    ],
)
def test_a_name_that_is_in_another_room_is_told(name: str, told: str) -> None:
    with pytest.raises(AttributeError) as refused:
        getattr(nw, name)
    assert str(refused.value).endswith(told)
