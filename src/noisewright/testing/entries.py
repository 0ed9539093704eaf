r"""Conformance of an entry in the registry: its declaration agrees with its mechanism, from a policy to a released column.

>>> import pyarrow as pa
>>> from noisewright.mechanisms.registry import registry
>>> report = check_entry(registry["geometric"], {"within": [0, 9], "epsilon": 1}, [pa.array([3, 1, 4])])
>>> report.passed
['address', 'signature', 'public parts', 'certificate', 'plan', 'domain', 'pieces']
"""

from __future__ import annotations

import dataclasses
import pickle
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyarrow as pa

from noisewright.core.errors import CertificateError, NoisewrightError
from noisewright.core.loading.signatures import parameters_of, public_parts
from noisewright.core.mechanism import Mechanism, described
from noisewright.core.resource import Resource, public_keys
from noisewright.core.seed import Seed
from noisewright.mechanisms.registry import Entry, forget, register, registry
from noisewright.releases.columns.plan import ColumnPlan, compile_column
from noisewright.releases.policy.policy import Policy
from noisewright.testing.report import Check, ConformanceError, Report, require, run

__all__ = ["LARGEST_PLAN", "check_entry"]

LARGEST_PLAN = 64 * 1024
"""Maximum number of bytes of a plan: it travels to every worker of a cluster, with every task."""

TELLING = 32
"""Fewer bytes of a file could be anywhere by chance."""

BUDGETS = {
    "unit": ({"epsilon"}, {"sensitivity", "radius"}),
    "sensitivity": ({"epsilon", "sensitivity"}, {"radius"}),
    "radius": ({"epsilon", "radius"}, {"sensitivity"}),
    "none": (set[str](), {"epsilon", "sensitivity", "radius"}),
}
"""Parameters of a constructor for each form of a budget: those that it has, and those that it does not have."""


def check_entry(entry: Entry, parameters: Mapping[str, Any], values: Sequence[Any], *, seed: int = 1) -> Report:
    """Run every check and return the report.

    For a mechanism that perturbs columns, ``parameters`` are what a policy's column says next to its name and its
    mechanism, and ``values`` are the columns of Arrow that hold some secrets, one for each part of a secret. For a
    mechanism that gives reports or choices, ``parameters`` are those of its constructor, and ``values`` what its
    ``release`` takes.
    """
    with _registered(entry):
        _signature(entry)  # a plan follows the declaration, so that comes first
        mechanism, plan = _made(entry, parameters, values)
        checks: list[Check] = [
            ("address", lambda: _address(entry, mechanism)),
            ("signature", lambda: _signature(entry)),
            ("public parts", lambda: _public(entry, mechanism)),
            ("certificate", lambda: _certificate(entry, mechanism)),
            ("plan", lambda: _small(mechanism if plan is None else plan, described(mechanism).resources or ())),
            (
                "domain",
                lambda: _reports(mechanism, values, seed) if plan is None else _domain(entry, plan, values, seed),
            ),
            ("pieces", lambda: "it perturbs no column" if plan is None else _pieces(plan, values, seed)),
        ]
        return run(checks)


@contextmanager
def _registered(entry: Entry) -> Iterator[None]:
    """The entry in the registry, if only for this while."""
    if entry.name in registry:
        require(registry[entry.name] is entry, f"address: the registry has another entry called {entry.name!r}.")
        yield
        return
    register(entry)
    try:
        yield
    finally:
        forget(entry.name)


def _made(entry: Entry, parameters: Mapping[str, Any], values: Sequence[Any]) -> tuple[Mechanism, ColumnPlan | None]:
    """The mechanism, and the plan of a policy with one column for it."""
    if entry.takes.purpose != "column":
        return entry.make(**parameters), None
    names = [f"part {place}" for place in range(len(values))]
    column = {"name": names if len(names) > 1 else names[0], "mechanism": entry.name, **parameters}
    whole = {"dataset": "conformance", "budget": {"epsilon": 10**6, "delta": "0.9"}, "floating": True}
    try:
        policy = Policy.from_dict({**whole, "columns": [column]})
        types = {name: array.type for name, array in zip(names, values, strict=True)}
        plan = compile_column(policy.columns[0], 0, types, policy)
    except NoisewrightError as problem:
        raise ConformanceError(f"plan: a policy with one such column is refused: {problem}") from problem
    assert plan.mechanism is not None
    return plan.mechanism, plan


def _address(entry: Entry, mechanism: Mechanism) -> str | None:
    spelled = re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", entry.name)
    require(spelled is not None, "address: a name has small letters and digits, with single hyphens between words.")
    require(mechanism.name == entry.name, f"address: {entry.name!r} makes a mechanism called {mechanism.name!r}.")
    for what in (entry.summary, entry.words):
        require(what == what.strip() != "" and not what.endswith("."), "address: summary and words are half sentences.")
    return None


def _signature(entry: Entry) -> str | None:
    """Check that the declared parameters agree with the constructor's."""
    takes, known = entry.takes, set(parameters_of(entry.make))
    needed, foreign = BUDGETS[takes.budget]
    require(needed <= known, f"signature: a budget told as {takes.budget!r} needs {', '.join(sorted(needed - known))}.")
    require(
        not foreign & known,
        f"signature: a budget told as {takes.budget!r} goes without {', '.join(sorted(foreign & known))}.",
    )
    listed = {"categories", "points"} & known
    require(
        listed == ({takes.secrets} if takes.secrets else set()),
        f"signature: secrets is {takes.secrets!r}, the constructor has {', '.join(sorted(listed)) or 'none of these'}.",
    )
    for flag in ("within", "metric", "lattice", "delta", "scope", "dimension"):
        declared, there = getattr(takes, flag), flag in known
        require(
            declared == there,
            f"signature: {flag} is declared {declared}, but {'is' if there else 'is no'} parameter of the constructor.",
        )
    return None


def _public(entry: Entry, mechanism: Mechanism) -> str | None:
    """Public files and the public seed are given, and stated in the certificate, as they are."""
    files, seed = described(mechanism).resources or (), described(mechanism).seed
    require(
        isinstance(files, tuple) and all(isinstance(file, Resource) for file in files),
        "public parts: resources must be a tuple of Resource.",
    )
    require(seed is None or isinstance(seed, Seed), "public parts: seed must be a Seed.")
    for kind, told in ((Resource, files), (Seed, seed)):
        needed = [
            name
            for name in public_parts(entry.make, kind)
            if parameters_of(entry.make)[name].default is parameters_of(entry.make)[name].empty
        ]
        require(
            not needed or bool(told), f"public parts: {', '.join(needed)} is needed, but the mechanism tells of none."
        )
    stated = {key: value for key, value in mechanism.certificate().document.items() if key in ("resources", "seed")}
    require(
        stated == public_keys(files, seed),
        "public parts: the certificate states other files, or another seed, than the mechanism has; use public_keys.",
    )
    return None


def _certificate(entry: Entry, mechanism: Mechanism) -> str | None:
    """It proves its claim, or says that nothing is proved about floats."""
    found = mechanism.certificate()
    named = str(found.document["mechanism"])
    require(named == entry.name, f"certificate: it is about a mechanism called {named!r}.")
    try:
        found.verify()
    except CertificateError as problem:
        honest = found.numerics == "floating" and "floating" in str(problem)
        require(honest, f"certificate: it is labelled {found.numerics!r}, and {problem}")
        return None
    require(found.numerics == "exact", "certificate: it proves its claim, but is not labelled exact.")
    return None


def _small(thing: ColumnPlan | Mechanism, resources: tuple[Resource, ...]) -> str | None:
    """It travels in few bytes, without a file's content and without a file's place; and it states how accurate it is."""
    if isinstance(thing, ColumnPlan):
        try:
            require(bool(thing.error_words), "plan: it has no words for its expected error.")
        except NoisewrightError as problem:
            raise ConformanceError(
                f"plan: error() refuses with {type(problem).__name__}; where there is no such loss, raise NoLossError."
            ) from problem
    content = pickle.dumps(thing)
    require(
        len(content) < LARGEST_PLAN,
        f"plan: pickled, it has {len(content)} bytes, {LARGEST_PLAN} or more; hand large public parts on as a Resource.",
    )
    for file in resources:
        place, inside = file.place(), file.bytes[:TELLING]
        require(
            len(inside) < TELLING or inside not in content,
            f"plan: pickled, it holds the content of {file.name!r}, which is to go by its digest.",
        )
        require(
            place is None or str(place.parent).encode() not in content or place.parent == place.parent.parent,
            f"plan: pickled, it holds the folder of {file.name!r}, which is nobody's business.",
        )
    copied = pickle.loads(content)
    found = described(copied.mechanism if isinstance(thing, ColumnPlan) else copied).resources or ()
    require(found == resources, "plan: a pickled copy has other public files.")
    return None


class _Witness:
    """Mechanism that records its inputs and outputs."""

    def __init__(self, mechanism: Mechanism) -> None:
        self._mechanism = mechanism
        self.given: Any = None
        self.gave: Any = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._mechanism, name)

    def release(self, values: Any, rng: np.random.Generator | None = None) -> Any:
        self.given = values
        self.gave = self._mechanism.release(values, rng)
        return self.gave


def _domain(entry: Entry, plan: ColumnPlan, values: Sequence[Any], seed: int) -> str | None:
    """A column reaches the mechanism in the declared form, with the declared parts, and comes back as the declared kind."""
    assert plan.mechanism is not None
    witness, takes = _Witness(plan.mechanism), entry.takes
    watched = dataclasses.replace(plan, mechanism=witness)
    try:
        released = watched.perturb(values, np.random.default_rng(seed))
    except NoisewrightError as problem:
        raise ConformanceError(f"domain: the given values are refused: {problem}") from problem
    rows = len(values[0])
    require(rows > 0, "domain: give some values to perturb.")
    require(
        takes.parts in (None, len(values)),
        f"domain: {takes.parts} columns are declared to hold a secret, but {len(values)} do.",
    )
    form = "arrow" if isinstance(witness.given, pa.Array) else "numpy"
    require(form == takes.form, f"domain: the form {takes.form!r} is declared, but release is given {form}.")
    require(
        isinstance(witness.gave, (pa.Array, np.ndarray)) and len(witness.gave) == rows,
        "domain: release must give an array with one output for each secret.",
    )
    if takes.gives is None:
        require(
            getattr(witness.gave, "shape", None) == getattr(witness.given, "shape", None),
            "domain: the outputs must have as many parts as the secrets.",
        )
    types = tuple(array.type for array in released)
    require(types == plan.output_types, "domain: the released columns have other types than the plan says.")
    for array, type_ in zip(values, types, strict=takes.gives is None):
        if takes.gives is None:
            require(
                _alike(array.type, type_), f"domain: {array.type} came in, {type_} came out, and gives is not declared."
            )
    return None


def _alike(first: pa.DataType, second: pa.DataType) -> bool:
    """Return whether two types are the same; text is text however it is stored."""
    if pa.types.is_dictionary(first):
        return _alike(first.value_type, second)
    texts = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    return first == second or all(any(is_text(type_) for is_text in texts) for type_ in (first, second))


def _reports(mechanism: Mechanism, values: Sequence[Any], seed: int) -> str | None:
    """Reports and choices: the same under one seed, and different without."""
    first, second = (mechanism.release(values, np.random.default_rng(seed)) for _ in range(2))
    require(_same(first, second), "domain: two draws under one seed differ.")
    return None


def _same(first: Any, second: Any) -> bool:
    if isinstance(first, (list, tuple)):
        return len(first) == len(second) and all(map(_same, first, second))
    if dataclasses.is_dataclass(first):
        fields = [field.name for field in dataclasses.fields(first)]
        return all(_same(getattr(first, name), getattr(second, name)) for name in fields)
    return bool(np.all(first == second))


def _pieces(plan: ColumnPlan, values: Sequence[Any], seed: int) -> str | None:
    """Under one seed a column in pieces, or cut out of a longer one, gives the same draws as in one piece; so does a copy."""
    whole = plan.perturb(values, np.random.default_rng(seed))
    middle = len(values[0]) // 2
    chunks = [pa.chunked_array([array[:middle], array[middle:]], type=array.type) for array in values]
    longer = [pa.concat_arrays([array[-1:], array, array[:1]])[1 : len(array) + 1] for array in values]
    for what, given in (("in pieces", chunks), ("that is cut out of a longer one", longer)):
        again = plan.perturb(given, np.random.default_rng(seed))
        require(_equal(whole, again), f"pieces: a column {what} is drawn otherwise under the same seed.")
    copied = pickle.loads(pickle.dumps(plan)).perturb(values, np.random.default_rng(seed))
    require(_equal(whole, copied), "pieces: a pickled copy draws otherwise under the same seed.")
    return None


def _equal(first: list[pa.Array], second: list[pa.Array]) -> bool:
    return all(one.equals(other) for one, other in zip(first, second, strict=True))
