"""All kinds of columns pass the public conformance suite, and broken ones do not; a policy may name any kind."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import noisewright as nw
from noisewright.columns import (
    BLOCK,
    BYTES,
    IMAGE,
    INTEGER,
    KINDS,
    TEXT,
    VECTOR,
    Integer,
    Kind,
    Text,
    kind_named,
    kind_names,
    kind_of,
    recast,
)
from noisewright.exceptions import DataError, ParameterError, PolicyError
from noisewright.planning.columns import known_types
from noisewright.policy import as_policy
from noisewright.testing import ConformanceError, check_kind

DAYS = [datetime.date(1970, 1, 1), datetime.date(2024, 2, 29), datetime.date(1899, 12, 31)]
CLOCK = [
    datetime.datetime(1970, 1, 1),
    datetime.datetime(2024, 2, 29, 12, 30, 5),
    datetime.datetime(1901, 5, 6, 7, 8, 9),
]
TEXTS = [pa.string(), pa.large_string(), pa.string_view()]
NUMBERS = [pa.int8(), pa.int64(), pa.uint16(), pa.decimal128(7, 0), pa.float16(), pa.float32(), pa.float64()]
TIMES = [pa.date32(), pa.date64(), pa.timestamp("s"), pa.timestamp("ns", "UTC")]
BINARY = [pa.binary(), pa.large_binary(), pa.binary(2)]
LISTS = [pa.list_(pa.float32()), pa.large_list(pa.int16()), pa.list_(pa.float64(), 2)]
ODD = [pa.time32("s"), pa.decimal128(7, 2), pa.list_(pa.string()), pa.list_(pa.list_(pa.int8()))]
CASES: dict[str, tuple[list[pa.DataType], list[Any], dict[str, Any]]] = {
    "integer": ([t for t in NUMBERS if not pa.types.is_floating(t)], [5, 0, 100], {}),
    "number": (NUMBERS[4:], [0.5, -3.25, 100.0], {}),
    "date": (TIMES[:2], DAYS, {}),
    "time": (TIMES[2:], CLOCK, {}),
    "text": (TEXTS, ["yes", "", "naïve"], {}),
    "boolean": ([pa.bool_()], [True, False, True], {}),
    "vector": (LISTS, [[1, 2], [3, 4], [5, 6]], {"size": 2, "refused": [pa.array([[71, 75], [77, 78, 79]])]}),
    "bytes": (BINARY, [b"ab", b"\0\xff", b"cd"], {}),
    "image": (BINARY[:2], [b"ab", b"\0\xff", b"cd"], {"refused": [pa.array(["secret.png"])]}),
    "document": (TEXTS, ["one page", "", "another"], {}),
}
MANY = {
    "integer": {"refused": [pa.array([Decimal(10**30 + 7)], pa.decimal128(35, 0))]},
}
SHARED = {"image": BINARY + TEXTS, "document": TEXTS}


@pytest.mark.parametrize(
    ("name", "type_"), [(name, type_) for name, (types, *_) in CASES.items() for type_ in types], ids=str
)
def test_every_kind_conforms(name: str, type_: pa.DataType) -> None:
    types, values, more = CASES[name]
    own = SHARED.get(name, types if name != "bytes" else BINARY)
    others = [t for t in (*NUMBERS, *TIMES, *TEXTS, *BINARY, *LISTS, *ODD, pa.bool_()) if t not in own]
    report = check_kind(kind_named(name), type_, values, others=others, **(more | MANY.get(name, {})))
    assert {"types", "reading and writing", "missing values", "chunks", "blocks", "pickling"} <= set(report.passed)
    assert ("spelling" in report.passed) == (name not in ("vector", "bytes", "image"))


def test_every_kind_of_the_table_is_checked_here() -> None:
    assert set(CASES) == set(kind_names())


# What the suite finds -----------------------------------------------------------------------------------------------------


class Forgetful(Integer):
    """Reads a number less."""

    def read(self, array: pa.Array, form: Any = "numpy", size: int | None = None) -> Any:
        return super().read(array.slice(1), form, size)


class Greedy(Integer):
    def holds(self, type_: pa.DataType) -> bool:
        return True


class Shouting(Text):
    def write(self, values: Any, type_: pa.DataType) -> pa.Array:
        return pa.array([v.upper() for v in (values.to_pylist() if isinstance(values, pa.Array) else values)], type_)


class Telling(Text):
    def read(self, array: pa.Array, form: Any = "numpy", size: int | None = None) -> Any:
        if "secret" in array.to_pylist():
            raise DataError("the value secret is not wanted.")
        return super().read(array, form, size)


class Blind(Integer):
    def present(self, array: pa.Array) -> Any:
        return None


def made(kind: type, like: Any) -> Any:
    return kind(**{name: getattr(like, name) for name in like.__dataclass_fields__})


@pytest.mark.parametrize(
    ("kind", "type_", "values", "words"),
    [
        (made(Forgetful, INTEGER), pa.int8(), [1, 2], "not one value for each row"),
        (made(Greedy, INTEGER), pa.int8(), [1, 2], "types: the kind holds null"),
        (made(Shouting, TEXT), pa.string(), ["a", "b"], "values do not come back"),
        (made(Telling, TEXT), pa.string(), ["a", "b"], "the message shows a value"),
        (made(Blind, INTEGER), pa.int8(), [1, 2], "missing values"),
        (replace(INTEGER, name="Whole Number"), pa.int8(), [1], "one word in lower case"),
        (INTEGER, pa.string(), ["a"], "does not hold string"),
    ],
)
def test_broken_kinds_do_not_conform(kind: Any, type_: pa.DataType, values: list[Any], words: str) -> None:
    with pytest.raises(ConformanceError, match=words):
        check_kind(kind, type_, values, refused=[pa.array(["secret"])] if "Telling" in type(kind).__name__ else [])


# Which kind a column is of --------------------------------------------------------------------------------------------------


def test_the_plainer_kind_comes_first() -> None:
    assert [kind_of(t).name for t in (pa.string(), pa.binary(), pa.list_(pa.int8()))] == ["text", "bytes", "vector"]  # type: ignore[union-attr]


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(ParameterError, match="no kind of column called 'whole'; choose one of integer, number"):
        kind_named("whole")
    with pytest.raises(PolicyError, match="must be the type of a column; write one of integer, number, date, time"):
        as_policy({"dataset": "d", "budget": {"epsilon": 1}, "types": {"x": "whole"}, "columns": [COUNTED]})


COUNTED = {"name": "x", "mechanism": "geometric", "within": [0, 9], "epsilon": 1}


@dataclass(frozen=True)
class Even(Integer):
    """Even numbers, for the tests."""

    def holds(self, type_: pa.DataType) -> bool:
        return bool(pa.types.is_uint8(type_))


def test_a_kind_of_this_program_is_used_and_recorded(tmp_path: Path) -> None:
    KINDS.add("even", made(Even, replace(INTEGER, name="even", words="even numbers")))
    try:
        policy = {"dataset": "d", "budget": {"epsilon": 1}, "types": {"x": "even"}, "columns": [COUNTED]}
        table = pa.table({"x": pa.array([2, 4], pa.uint8())})
        done = nw.release(policy, table, output=tmp_path / "out", seed=1)
        assert done.plan.columns[0].kinds[0].name == "even"
        assert (
            '"providers": {\n  "kinds": {\n   "even": "this program"\n  }\n }'
            in (tmp_path / "out/policy.lock").read_text()
        )
        with pytest.raises(DataError, match='the column is of type int64, which is not "even"'):
            nw.release(policy, pa.table({"x": [2]}), seed=1)
        assert kind_of(pa.uint8()) is INTEGER
    finally:
        KINDS.remove("even")
    plain = nw.release({**policy, "types": {}}, table, output=tmp_path / "plain", seed=1)
    assert plain.plan.columns[0].kinds == (INTEGER,)
    assert "providers" not in (tmp_path / "plain/policy.lock").read_text()


def test_what_the_type_alone_does_not_tell_is_stated() -> None:
    policy = as_policy({"dataset": "d", "budget": {"epsilon": 1}, "types": {"face": "image", "note": "document"},
                        "queries": [{"name": "n", "aggregate": "count", "epsilon": 1}]})  # fmt: skip
    assert known_types(policy) == {"face": pa.string(), "note": pa.string()}


def test_a_vector_with_a_missing_number_is_missing() -> None:
    column = pa.array([[1.0, 2.0], [1.0, None], None, [float("nan"), 0.0], [3.0, 4.0]])
    assert VECTOR.present(column).tolist() == [True, False, False, False, True]
    whole = pa.array([[1, 2], [1, None], None], pa.list_(pa.int8(), 2))
    assert VECTOR.present(whole).tolist() == [True, False, False]
    assert VECTOR.present(whole.slice(0, 1)) is None


def test_whole_numbers_of_a_vector_that_no_float_holds_are_refused() -> None:
    with pytest.raises(DataError, match=r"beyond 2\^53") as caught:
        VECTOR.read(pa.array([[2**53 + 1]]), size=1)
    assert str(2**53 + 1) not in str(caught.value)


def test_vectors_of_another_length_do_not_go_into_a_fixed_size() -> None:
    with pytest.raises(DataError, match="vectors of another length"):
        VECTOR.write(pa.array([[1.0, 2.0]]), pa.list_(pa.float64(), 3))


def test_blocks_follow_from_what_is_declared() -> None:
    assert VECTOR.block_rows(pa.list_(pa.float64()), 16) == BLOCK
    assert VECTOR.block_rows(pa.list_(pa.float64()), 100_000) == 10
    assert VECTOR.block_rows(pa.list_(pa.float64(), 7)) == VECTOR.block_rows(pa.list_(pa.float64()))
    assert BYTES.block_rows(pa.binary(1 << 20)) == 8
    assert {kind_named(name).block_rows(kind_named(name).plain) for name in list(CASES)[:6]} == {BLOCK}


def test_nothing_becomes_a_vector_that_is_none() -> None:
    with pytest.raises(ValueError, match="not of this type"):
        recast(pa.array(["1,2"]), VECTOR.plain)


# Paths of pictures ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def album(tmp_path: Path) -> Path:
    (tmp_path / "album" / "inner").mkdir(parents=True)
    (tmp_path / "album" / "a.png").write_bytes(b"first")
    (tmp_path / "album" / "inner" / "b.png").write_bytes(b"second")
    (tmp_path / "other.png").write_bytes(b"outside")
    (tmp_path / "album" / "link.png").symlink_to(tmp_path / "other.png")
    (tmp_path / "album" / "away").symlink_to(tmp_path)
    (tmp_path / "album" / "near.png").symlink_to(tmp_path / "album" / "a.png")
    return tmp_path / "album"


def test_pictures_are_files_below_the_folder(album: Path) -> None:
    kind = IMAGE.under(str(album))
    assert kind.read(pa.array(["a.png", "inner/b.png", "near.png"])).tolist() == [b"first", b"second", b"first"]
    assert kind.read(pa.array([b"bytes"])).tolist() == [b"bytes"]
    assert kind.read(pa.array(["a.png"]).dictionary_encode(), "arrow").to_pylist() == [b"first"]


@pytest.mark.parametrize(
    "path",
    ["../other.png", "inner/../../other.png", "{album}/a.png", "C:\\other.png", "\\\\host\\x", "link.png", "away/other.png",
     "inner", "none.png", "a.png/x", "nul\0l", ""],
)  # fmt: skip
def test_paths_that_leave_the_folder_are_refused_without_their_names(album: Path, path: str) -> None:
    path = path.format(album=album)
    with pytest.raises(DataError) as caught:
        IMAGE.under(str(album)).read(pa.array(["a.png", path]))
    assert not path or path not in str(caught.value)
    assert "other" not in str(caught.value)


def test_a_link_that_leaves_the_folder_is_called_one(album: Path) -> None:
    with pytest.raises(DataError, match="leaves its folder by a link"):
        IMAGE.under(str(album)).read(pa.array(["link.png"]))
    with pytest.raises(DataError, match="is no file"):
        IMAGE.under(str(album)).read(pa.array(["inner"]))


def test_a_folder_must_be_there_and_is_for_pictures_alone(album: Path) -> None:
    with pytest.raises(ParameterError, match="folder of the pictures is not there"):
        IMAGE.under(str(album / "none"))
    with pytest.raises(ParameterError, match="for columns of files, such as pictures, not for whole numbers"):
        nw.release(
            {"dataset": "d", "budget": {"epsilon": 1}, "columns": [{**COUNTED, "folder": str(album)}]},
            pa.table({"x": [1]}), seed=1,
        )  # fmt: skip


def test_what_arrow_cannot_compare_is_left_as_it_is() -> None:
    pairs = pa.array([{"r": 1}, {"r": 1}])
    assert Kind("pair", "pairs", "a pair", pairs.type).distinct(pairs).equals(pairs)
    assert Kind("one", "ones", "a one", pa.int8()).distinct(pa.array([1, 1])).to_pylist() == [1]
