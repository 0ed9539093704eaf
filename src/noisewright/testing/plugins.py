"""Conformance of an entry in the registry: its declaration agrees with its mechanism, from a policy to a released column.

>>> import pyarrow as pa
>>> from noisewright.mechanisms.registry import registry
>>> report = check_entry(registry["geometric"], {"within": [0, 9], "epsilon": 1}, [pa.array([3, 1, 4])])
>>> report.passed
['address', 'signature', 'public parts', 'certificate', 'plan', 'domain', 'pieces']

>>> import pyarrow as pa
>>> from noisewright.columns import INTEGER
>>> from noisewright.testing import check_kind
>>> report = check_kind(INTEGER, pa.int8(), [5, -3, 127], others=[pa.float64(), pa.string()])
>>> report.passed[:4]
['words', 'types', 'reading and writing', 'missing values']
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

from noisewright.base import Entry, Mechanism, described, parameters_of, public_parts
from noisewright.columns.arrow import as_array, restore, take_present
from noisewright.columns.column_type import BLOCK, Form, Kind
from noisewright.exceptions import CertificateError, NoisewrightError
from noisewright.mechanisms.registry import forget, register, registry
from noisewright.planning.column_plan import ColumnPlan, compile_column
from noisewright.policy.policy import Policy
from noisewright.resources import Resource, Seed, public_keys
from noisewright.testing.mechanisms import Check, ConformanceError, Report, require, run

__all__ = ["LARGEST_PLAN", "check_entry", "check_kind"]


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


# Kinds --------------------------------------------------------------------------------------------------------------------
#
# The conformance suite of kinds: what every kind of column must satisfy, ours and anyone's.


FORMS: tuple[Form, ...] = ("numpy", "arrow")


def check_kind(
    kind: Kind,
    type_: pa.DataType,
    values: Sequence[Any],
    *,
    others: Sequence[pa.DataType] = (),
    size: int | None = None,
    refused: Sequence[pa.Array] = (),
) -> Report:
    """Run every check and return the report.

    ``values`` are a few different ones that a column of ``type_`` holds; ``others`` are types that the kind must not hold;
    ``size`` is that of a value with several numbers, where the type does not state it; ``refused`` are columns of the kind
    that must not be read, and of which no value may be shown.
    """
    column = pa.array(list(values), type_)
    checks: list[Check] = [
        ("words", lambda: _words(kind)),
        ("types", lambda: _types(kind, type_, others)),
        ("reading and writing", lambda: _round_trip(kind, column, size)),
        ("missing values", lambda: _missing(kind, column, size)),
        ("chunks", lambda: _chunks(kind, column, size)),
        ("blocks", lambda: _blocks(kind, type_, size)),
        ("spelling", lambda: _spelling(kind, values)),
        ("refused values", lambda: _refused(kind, refused, size)),
        ("pickling", lambda: _pickling(kind, column, size)),
    ]
    return run(checks)


def _words(kind: Kind) -> str | None:
    require(isinstance(kind, Kind), "words: a kind is an instance of a subclass of Kind.")
    plain = kind.name.isidentifier() or kind.name.replace("-", "_").isidentifier()
    require(plain and kind.name == kind.name.lower(), "words: the name is one word in lower case, as a policy has it.")
    require(bool(kind.words and kind.one), "words: a kind says in words what a column and what one value is.")
    require(not kind.whole or kind.numeric, "words: only a number can be whole.")
    return None


def _types(kind: Kind, type_: pa.DataType, others: Sequence[pa.DataType]) -> str | None:
    require(kind.holds(type_), f"types: the kind does not hold {type_}.")
    require(kind.holds(kind.plain), "types: the kind does not hold its own plain type.")
    for other in (pa.null(), pa.struct([pa.field("x", type_)]), *others):
        require(not kind.holds(other), f"types: the kind holds {other}, which is not its own.")
    out = kind.output_type(type_)
    require(kind.holds(out), f"types: what comes out of {type_} is {out}, which the kind does not hold.")
    require(kind.output_type(out) == out, "types: a released column that is released again has another type.")
    return None


def _round_trip(kind: Kind, column: pa.Array, size: int | None) -> str | None:
    out = kind.output_type(column.type)
    for form in FORMS:
        found = kind.read(column, form, size)
        require(len(found) == len(column), f"reading and writing: {form}: not one value for each row.")
        require(
            isinstance(found, np.ndarray if form == "numpy" else pa.Array), f"reading and writing: no {form} array."
        )
        back = kind.write(found, out)
        require(back.type == out, f"reading and writing: written as {back.type}, not as {out}.")
        if _comparable(column, out):
            require(
                back.equals(column.cast(out)), f"reading and writing: {form}: values do not come back as they were."
            )
        require(
            len(kind.read(column.slice(0, 0), form, size)) == 0, f"reading and writing: {form}: no rows are not none."
        )
    return None


def _comparable(column: pa.Array, out: pa.DataType) -> bool:
    """Return whether the output is the input, in another type at most; not for paths, in whose place are files."""
    if column.type == out:
        return True
    try:
        column.cast(out)
    except pa.ArrowException:
        return False
    return not (pa.types.is_binary(out) or pa.types.is_large_binary(out))


def _missing(kind: Kind, column: pa.Array, size: int | None) -> str | None:
    require(
        kind.present(column) is None or bool(np.all(kind.present(column))), "missing values: a value counts as missing."
    )
    holed = as_array(pa.chunked_array([pa.nulls(1, column.type), column, pa.nulls(2, column.type)]))
    mask, wanted = kind.present(holed), np.array([False, *[True] * len(column), False, False])
    require(mask is not None and bool((mask == wanted).all()), "missing values: not the nulls are what is missing.")
    out = kind.output_type(column.type)
    back = restore(kind.write(kind.read(take_present(holed, mask), "numpy", size), out), mask)
    require(back.type == out and back.null_count == 3, "missing values: they do not stay missing.")
    require((~np.asarray(back.is_null()) == wanted).all(), "missing values: they are not in their places.")
    return None


def _chunks(kind: Kind, column: pa.Array, size: int | None) -> str | None:
    out = kind.output_type(column.type)
    whole = kind.write(kind.read(column, "numpy", size), out)
    middle = len(column) // 2
    pieces = [kind.write(kind.read(column.slice(*part), "numpy", size), out) for part in ((0, middle), (middle,))]
    require(pa.concat_arrays(pieces).equals(whole), "chunks: a column in two pieces is not the column in one.")
    chunked = as_array(pa.chunked_array([column.slice(0, middle), column.slice(middle)]))
    require(
        kind.write(kind.read(chunked, "numpy", size), out).equals(whole), "chunks: a chunked column reads otherwise."
    )
    return None


def _blocks(kind: Kind, type_: pa.DataType, size: int | None) -> str | None:
    rows = kind.block_rows(type_, size)
    require(isinstance(rows, int) and 1 <= rows <= BLOCK, f"blocks: a block has from 1 to {BLOCK} rows.")
    return None


def _spelling(kind: Kind, values: Sequence[Any]) -> str | None:
    if not kind.typeless:
        require(not kind.fits(pa.array(["x"]), kind.plain), "spelling: no text spells this kind, yet one fits.")
        return "files without types cannot hold it"
    try:
        cells = pa.array(list(values), kind.plain).cast(pa.string())
    except pa.ArrowException:
        return "the values are not of the plain type"
    require(kind.fits(cells, kind.plain), "spelling: a value in text does not fit.")
    require(kind.fits(pa.array([None], pa.string()), kind.plain), "spelling: a missing cell does not fit.")
    back = cells.cast(kind.plain)
    require(back.cast(pa.string()).equals(cells), "spelling: a value is spelled otherwise the second time.")
    return None


def _refused(kind: Kind, refused: Sequence[pa.Array], size: int | None) -> str | None:
    if not refused:
        return "no such columns were given"
    for column in refused:
        try:
            kind.read(column, "numpy", size)
        except NoisewrightError as problem:
            shown = [value for value in _leaves(column.to_pylist()) if value and value in str(problem)]
            require(not shown, "refused values: the message shows a value.")
            require(problem.__cause__ is None, "refused values: the error carries another one, which may show a value.")
        else:
            require(False, "refused values: a column that must be refused was read.")
    return None


def _leaves(values: Sequence[Any]) -> Iterator[str]:
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from _leaves(value)
        elif value is not None:
            yield value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def _pickling(kind: Kind, column: pa.Array, size: int | None) -> str | None:
    copy = pickle.loads(pickle.dumps(kind))
    out = kind.output_type(column.type)
    same = copy == kind and copy.write(copy.read(column, "numpy", size), out).equals(
        kind.write(kind.read(column, "numpy", size), out)
    )
    require(same, "pickling: a copy in another process is another kind.")
    return None
