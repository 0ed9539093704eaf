"""The public file: what it says, its fingerprint, and files that are none."""

from __future__ import annotations

import json
import pickle
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from noisewright.exceptions import FileFormatError, ParameterError
from noisewright.matching import Scheme
from noisewright.mechanisms.categorical.randomised_response import randomised_response
from noisewright.resources import Seed

SEED = Seed.from_hex("5a" * 32)
GOOD: dict[str, Any] = {"dimension": 10, "bits": 20, "epsilon": "0.3", "seed": SEED}


def test_it_is_the_same_after_a_file_and_a_pickle(tmp_path: Path) -> None:
    scheme = Scheme(**GOOD, zero="fixed")
    scheme.save(tmp_path / "public.json")
    for copy in (Scheme.at(tmp_path / "public.json"), pickle.loads(pickle.dumps(scheme))):
        assert copy == scheme
        assert copy.fingerprint == scheme.fingerprint
    laid_out = json.dumps(dict(reversed(json.loads(scheme.to_json()).items())), indent=7)
    assert Scheme.from_json(laid_out).fingerprint == scheme.fingerprint


def test_every_field_changes_the_fingerprint() -> None:
    others: list[dict[str, Any]] = [
        {"dimension": 11},
        {"bits": 21},
        {"epsilon": "0.31"},
        {"seed": Seed.from_hex("5b" * 32)},
        {"zero": "fixed"},
    ]
    found = {Scheme(**{**GOOD, **other}).fingerprint for other in [{}, *others]}
    assert len(found) == len(others) + 1


@pytest.mark.parametrize("epsilon", ["1/1000", "0.3", 1, 20])
def test_a_flip_is_that_of_exact_randomised_response(epsilon: Any) -> None:
    found = Scheme(**{**GOOD, "epsilon": epsilon})
    assert found.flip == 1 - randomised_response([0, 1], epsilon=epsilon).keep_probability


def test_nothing_is_sent_but_fair_coins_at_epsilon_0() -> None:
    assert Scheme(**{**GOOD, "epsilon": 0}).flip == Fraction(1, 2)


def test_a_seed_is_new_each_time() -> None:
    assert Scheme(dimension=2, bits=8, epsilon=1) != Scheme(dimension=2, bits=8, epsilon=1)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"bits": 0}, "bits must be a whole number from 1 to 65536, not less"),
        ({"bits": 8.0}, "not float"),
        ({"dimension": 0}, "dimension must be a whole number"),
        ({"dimension": True}, "not bool"),
        ({"epsilon": -1}, "epsilon, the price of a bit, must be a number from 0"),
        ({"epsilon": "nan"}, "is not a number"),
        ({"epsilon": 20_000}, "from 0 to 10000"),
        ({"seed": "00"}, "seed must be a Seed"),
        ({"family": "simhash"}, "family must be"),
        ({"zero": "drop"}, "zero must be"),
    ],
)
def test_bad_parameters_are_refused_in_a_sentence(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        Scheme(**{**GOOD, **wrong})


def test_files_that_are_no_schemes_are_refused_in_a_sentence(tmp_path: Path) -> None:
    good = json.loads(Scheme(**GOOD).to_json())
    files = {
        "cut.json": json.dumps(good)[:40],
        "other.json": "[]",
        "newer.json": json.dumps({**good, "version": 2}),
        "more.json": json.dumps({**good, "secret": 1}),
        "less.json": json.dumps({name: good[name] for name in good if name != "zero"}),
        "seed.json": json.dumps({**good, "seed": "00"}),
        "bits.json": json.dumps({**good, "bits": "20"}),
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe")
    for name in [*files, "bytes.json", "missing.json", "."]:
        with pytest.raises(FileFormatError) as problem:
            Scheme.at(tmp_path / name)
        assert str(problem.value).endswith(".")
        assert "\n" not in str(problem.value)
