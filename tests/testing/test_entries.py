"""Every registered mechanism does what its entry declares; an entry that declares otherwise is found out."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from columns_support import CASES
from resource_support import ENTRY, SEED, Coded, forget_places, write_table

from noisewright.base import Entry, Takes
from noisewright.exceptions import ParameterError
from noisewright.mechanisms.numeric.geometric import GeometricMechanism, geometric
from noisewright.mechanisms.registry import registry
from noisewright.resources import FOLDERS, Resource
from noisewright.testing import ConformanceError, check_entry

ALL = ["address", "signature", "public parts", "certificate", "plan", "domain", "pieces"]
OTHERS: dict[str, tuple[dict[str, Any], Any]] = {
    "unary-encoding": ({"categories": ["a", "b", "c"], "epsilon": 1}, ["a", "c"]),
    "local-hashing": ({"categories": ["a", "b", "c"], "epsilon": 1}, ["a", "c"]),
    "subset-selection": ({"categories": ["a", "b", "c"], "epsilon": 1}, ["a", "c"]),
    "hadamard-response": ({"categories": ["a", "b", "c"], "epsilon": 1}, ["a", "c"]),
    "selection": ({"candidates": ["soup", "salad"], "epsilon": 1, "sensitivity": 1}, [[3, 4], [0, 9]]),
}
"""Reports and choices: what their constructors take, and what they are given."""


def told(case: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in case.items() if key not in ("name", "mechanism")}


@pytest.mark.parametrize("case", CASES)
def test_every_mechanism_for_columns_keeps_what_its_entry_declares(case: str) -> None:
    column, _, arrays = CASES[case]
    assert check_entry(registry[column["mechanism"]], told(column), arrays).passed == ALL


@pytest.mark.parametrize("name", OTHERS)
def test_so_does_every_other_mechanism(name: str) -> None:
    report = check_entry(registry[name], *OTHERS[name])
    assert report.passed == ALL[:-1]
    assert report.not_applicable == {"pieces": "it perturbs no column"}


def test_every_registered_mechanism_is_in_the_cases() -> None:
    domains = {
        name
        for name in registry
        if registry[name].make.__module__.startswith(("noisewright.text", "noisewright.matching", "noisewright.images"))
    }  # their own tests have those
    assert {column["mechanism"] for column, _, _ in CASES.values()} | set(OTHERS) == set(registry) - domains


# A mechanism with a public file -------------------------------------------------------------------------------------------

GOOD = {"within": [0, 9], "epsilon": 1}
NUMBERS = [pa.array([3, 1, 4, 1, 5, 9], pa.int16())]


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.delenv(FOLDERS, raising=False)
    forget_places()
    return str(write_table(tmp_path / "code.bin", size=200))


def test_a_mechanism_with_a_file_and_a_seed_conforms(table: str) -> None:
    given = {"within": [0, 199], "epsilon": 1, "table": table}
    assert check_entry(ENTRY, given, NUMBERS).passed == ALL
    assert check_entry(ENTRY, {**given, "seed": SEED}, NUMBERS).passed == ALL
    assert ENTRY.name not in registry


class Silent(Coded):
    """Its certificate says nothing of the file."""

    def certificate(self, rng: Any = None) -> Any:
        return self.inner.certificate(rng)


class Heavy(Coded):
    """It carries the content of its file along."""

    def __reduce__(self) -> Any:
        return _unpickled, (type(self), self.inner, self.table, self.seed, self.table.bytes)


class Homely(Coded):
    """It carries the place of its file along."""

    def __reduce__(self) -> Any:
        return _unpickled, (type(self), self.inner, self.table, self.seed, str(self.table.place()))


class Secretive(Coded):
    """It does not tell of its file."""

    resources = ()


def _unpickled(kind: type[Coded], inner: Any, table: Any, seed: Any, more: object) -> Coded:
    del more
    return kind(inner, table, seed)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (Silent, "public parts: the certificate states other files"),
        (Heavy, "plan: pickled, it holds the content of 'code.bin'"),
        (Homely, "plan: pickled, it holds the folder of 'code.bin'"),
        (Secretive, "public parts: table is needed, but the mechanism tells of none"),
    ],
)
def test_a_mechanism_that_mishandles_its_file_does_not_conform(table: str, kind: type[Coded], words: str) -> None:
    def make(*, epsilon: int | str, table: Resource, within: tuple[int, int], sensitivity: int | str = 1) -> Coded:
        return kind(geometric(epsilon=epsilon, within=within, sensitivity=sensitivity), table, None)

    make.__annotations__ = {
        "epsilon": int | str,
        "table": Resource,
        "within": tuple[int, int],
        "sensitivity": int | str,
    }
    with pytest.raises(ConformanceError, match=words):
        check_entry(dataclasses.replace(ENTRY, make=make), {"within": [0, 199], "epsilon": 1, "table": table}, NUMBERS)


# Entries that declare what is not so --------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Broken(GeometricMechanism):
    """A geometric mechanism with one thing broken, under a name of its own."""

    fault: str = ""
    name = "broken"

    def release(self, values: Any, rng: Any = None) -> Any:
        if self.fault == "columns" and np.ndim(values):
            return np.column_stack([super().release(values, rng)] * 2)
        if self.fault == "list":
            return super().release(values, rng).tolist()
        if self.fault == "order" and not values.flags.owndata:
            return super().release(values, None)
        return super().release(values, None if self.fault == "seedless" else rng)

    def certificate(self, rng: Any = None) -> Any:
        found = super().certificate(rng)
        document = {**found.document, "mechanism": self.name}
        if self.fault == "label":
            document["proof"] = {**document["proof"], "scale": "1/9"}
        from noisewright.certificates.certificate import Certificate
        from noisewright.certificates.checker import checker

        return Certificate({**document, "digest": checker.digest(document)})

    def error(self, loss: str = "absolute") -> float:
        if self.fault == "error":
            raise ParameterError("no such loss.")
        return super().error(loss)

    def __getstate__(self) -> Any:
        return {**self.__dict__, "ballast": b"x" * (70_000 if self.fault == "large" else 0)}

    def __setstate__(self, state: Any) -> None:
        for key, value in state.items():
            object.__setattr__(self, key, value)


def broken(fault: str = "", name: str = "broken", **takes: Any) -> Entry:
    def make(*, epsilon: Any, within: Any = None, sensitivity: Any = 1) -> Broken:
        good = geometric(epsilon=epsilon, within=within, sensitivity=sensitivity)
        return Broken(good.epsilon, good.sensitivity, good.within, good.outside, fault)

    kept = {"budget": "sensitivity", "within": True, **takes}
    return Entry(name, make, Takes("integer", **kept), summary="for this test", words="whole numbers")


def test_the_unbroken_one_conforms() -> None:
    assert check_entry(broken(), GOOD, NUMBERS).passed == ALL


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        (lambda: broken(name="other"), "address: 'other' makes a mechanism called 'broken'"),
        (lambda: dataclasses.replace(broken(), summary="For this test."), "half sentences"),
        (lambda: broken(budget="radius"), "signature: a budget told as 'radius' needs radius"),
        (lambda: broken(budget="unit"), "signature: a budget told as 'unit' goes without sensitivity"),
        (lambda: broken(secrets="points"), "signature: secrets is 'points', the constructor has none of these"),
        (lambda: broken(within=False), "signature: within is declared False, but is parameter"),
        (lambda: broken(lattice=True), "signature: lattice is declared True, but is no parameter"),
        (lambda: broken(delta=True), "signature: delta is declared True"),
        (lambda: broken(metric=True), "signature: metric is declared True"),
        (lambda: broken(parts=2), "2 columns are declared to hold a secret, but 1 do"),
        (lambda: broken("label"), "certificate: it is labelled 'exact', and"),
        (lambda: broken("large"), r"plan: pickled, it has \d+ bytes, 65536 or more"),
        (lambda: broken("columns"), "plan: a policy with one such column is refused|domain: the given values"),
        (lambda: broken("error"), "plan: error.. refuses with ParameterError; where there is no such loss"),
        (lambda: broken("list"), "domain: release must give an array"),
        (lambda: broken("seedless"), "pieces: .* under the same seed"),
    ],
)
def test_an_entry_that_declares_what_is_not_so_does_not_conform(entry: Callable[[], Entry], words: str) -> None:
    rows = [pa.array(np.arange(500) % 10, pa.int16())]
    with pytest.raises(ConformanceError, match=words):
        check_entry(entry(), GOOD, rows)


def test_another_entry_of_a_registered_name_is_refused() -> None:
    other = dataclasses.replace(registry["geometric"], summary="another")
    with pytest.raises(ConformanceError, match="the registry has another entry called 'geometric'"):
        check_entry(other, GOOD, NUMBERS)
