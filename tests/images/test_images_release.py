"""Columns of pictures in a release: bytes or paths in, PNG without metadata out, priced and proved; on both engines."""

from __future__ import annotations

import os
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from face_support import face_files, tiny_model
from picture_support import small_picture

import noisewright as nw
from noisewright.exceptions import DataError, NoisewrightError
from noisewright.images import chunks_of
from noisewright.ledger.ledger import Ledger
from noisewright.mechanisms.registry import registry
from noisewright.releases import release as run
from noisewright.testing import check_entry

COLUMN = {"name": "badge", "width": 8, "height": 6, "block": 2}
PIXELS = ("pixel-laplace", "pixel-exponential", "pixel-windows")
NAMES = (*PIXELS, "faces")


@pytest.fixture(autouse=True)
def own_ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOISEWRIGHT_LEDGER", str(tmp_path / "ledger.sqlite"))


def policy(**column: Any) -> dict[str, Any]:
    own = {"name": "badge", "model": str(tiny_model().resource.place())} if column["mechanism"] == "faces" else COLUMN
    return {"dataset": "badges", "budget": {"epsilon": 100}, "columns": [{**own, "epsilon": 50, **column}]}


def pictures(name: str, many: int) -> list[bytes]:
    return face_files(many) if name == "faces" else [small_picture(seed) for seed in range(many)]


@pytest.mark.parametrize("name", NAMES)
def test_entries_are_what_they_declare(name: str) -> None:
    parameters = {
        key: value for key, value in policy(mechanism=name)["columns"][0].items() if key not in ("name", "mechanism")
    }
    assert "pieces" in check_entry(registry[name], parameters, [pa.array(pictures(name, 4), pa.binary())]).passed


@pytest.mark.parametrize("name", NAMES)
def test_a_column_of_pictures_is_released_priced_and_proved(name: str, tmp_path: Path) -> None:
    table = pa.table({"badge": pa.array(pictures(name, 40), pa.binary())})
    released = nw.release(policy(mechanism=name), table, output=tmp_path / "out")
    assert released.plan.columns[0].price == 50
    drawn = released.data["badge"].to_pylist()
    assert all(chunks_of(content) == ["IHDR", "IDAT", "IEND"] for content in drawn)
    assert len(set(drawn)) > 36  # two of the faces may meet at the bounds of all components, once in many runs
    proved = nw.verify(tmp_path / "out")
    assert proved.proved
    assert proved.claim.startswith("epsilon = 50 between two tables")


def test_protecting_some_pixels_costs_what_they_cost(tmp_path: Path) -> None:
    table = pa.table({"badge": pa.array([small_picture(seed) for seed in range(3)], pa.binary())})
    for name, base in (("pixel-laplace", "manhattan"), ("pixel-windows", "hamming")):
        found = nw.plan(policy(mechanism=name, between="pixels", protect=10, epsilon=5), table).columns[0]
        assert found.price == 5
        assert found.mechanism.epsilon == Fraction(1, 2)
        assert found.protects == "values at most 10 pixels apart"
        assert found.certificate().document["claim"]["metric"]["base"] == base
    with pytest.raises(NoisewrightError, match="the distance in pixels within which two values are"):
        nw.plan(policy(mechanism="pixel-laplace", between="pixels"), table)
    with pytest.raises(NoisewrightError, match="leave protect out"):
        nw.plan(policy(mechanism="pixel-laplace", protect=10), table)


def test_paths_below_a_folder_and_bad_pictures(tmp_path: Path) -> None:
    faces = tmp_path / "faces"
    faces.mkdir()
    for seed in range(3):
        (faces / f"{seed}.png").write_bytes(small_picture(seed))
    given = policy(mechanism="pixel-laplace", folder=str(faces))
    released = nw.release(given, pa.table({"badge": ["0.png", "2.png"]}))
    assert [chunks_of(content) for content in released.data["badge"].to_pylist()] == [["IHDR", "IDAT", "IEND"]] * 2
    (faces / "bad.png").write_bytes(small_picture(1)[:50])
    (faces / "large.png").write_bytes(small_picture(1, 9, 6))
    for name, words in (
        ("bad.png", "damaged or cut short"),
        ("large.png", "declared size"),
        ("none.png", "cannot be read"),
    ):
        target = tmp_path / "out"
        with pytest.raises(DataError, match=words) as refused:
            nw.release(given, pa.table({"badge": ["0.png", name]}), output=target)
        assert name not in str(refused.value)
        assert not target.exists()


def folder_of_pictures(tmp_path: Path, seeds: range) -> Path:
    folder = tmp_path / "faces"
    folder.mkdir(exist_ok=True)
    for place, seed in enumerate(seeds):
        (folder / f"{place}.png").write_bytes(small_picture(seed))
    return folder


def table_of_paths(tmp_path: Path, kind: str, many: int = 3) -> Any:
    table = pa.table({"badge": [f"{place}.png" for place in range(many)]})
    if kind == "arrow":
        return table
    path = tmp_path / f"badges.{kind}"
    if kind == "csv":
        pa_csv.write_csv(table, path)
    else:
        pq.write_table(table, path)
    return path


@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize(("kind", "engine"), [("csv", "local"), ("parquet", "spark"), ("arrow", "local")])
def test_replaced_pictures_are_other_data(kind: str, engine: Any, tmp_path: Path, request: Any) -> None:
    """The table of paths is the same, byte by byte."""
    if engine == "spark":
        request.getfixturevalue("spark_session")
    given = policy(mechanism="pixel-laplace", folder=str(folder_of_pictures(tmp_path, range(3))), epsilon=10)
    data, out = table_of_paths(tmp_path, kind), tmp_path / "out"

    def spent() -> Any:
        return nw.release(given, data, output=out, engine=engine).balance.spent_epsilon

    assert [spent(), spent()] == [10, 10]  # read again
    folder_of_pictures(tmp_path, range(10, 13))
    with pytest.raises(NoisewrightError, match="replace"):
        spent()
    assert "released under this policy already" not in str(nw.plan(given, data).warnings)
    assert nw.release(given, data, output=tmp_path / "other", engine=engine).balance.spent_epsilon == 20
    folder_of_pictures(tmp_path, range(3))
    assert spent() == 20  # the first ones again: their release is still there
    (tmp_path / "faces" / "0.png").rename(tmp_path / "faces" / "x")
    (tmp_path / "faces" / "1.png").rename(tmp_path / "faces" / "0.png")
    (tmp_path / "faces" / "x").rename(tmp_path / "faces" / "1.png")
    assert (
        nw.release(given, data, output=tmp_path / "third", engine=engine).balance.spent_epsilon == 30
    )  # in another order


def test_a_plan_knows_pictures_under_another_name_as_a_release_does(tmp_path: Path) -> None:
    given = policy(mechanism="pixel-laplace", folder=str(folder_of_pictures(tmp_path, range(3))), epsilon=10)
    data = table_of_paths(tmp_path, "csv")
    nw.release(given, data, output=tmp_path / "out")
    other = {**given, "dataset": "people"}
    with pytest.raises(NoisewrightError, match="would be a second budget for the same people"):
        nw.release(other, data, output=tmp_path / "more")
    found = nw.plan(other, data).budget
    assert found is not None
    assert "would be a second budget for the same people" in str(found.refusal)
    folder_of_pictures(tmp_path, range(10, 13))
    assert nw.plan(other, data).fits


def test_a_link_stands_for_the_picture_that_it_leads_to(tmp_path: Path) -> None:
    faces = folder_of_pictures(tmp_path, range(3))
    given = policy(mechanism="pixel-laplace", folder=str(faces), epsilon=10)
    data, out = table_of_paths(tmp_path, "csv"), tmp_path / "out"
    assert nw.release(given, data, output=out).balance.spent_epsilon == 10
    (faces / "1.png").rename(faces / "own.png")
    (faces / "1.png").symlink_to("own.png")
    assert nw.release(given, data, output=out).reread
    (faces / "own.png").write_bytes(small_picture(55))
    assert nw.release(given, data, output=tmp_path / "more").balance.spent_epsilon == 20


@pytest.mark.parametrize("what", ["missing", "folder", "pipe", "loop", "outside"])
def test_a_path_that_leads_to_no_file_is_refused_with_its_row(what: str, tmp_path: Path) -> None:
    faces = folder_of_pictures(tmp_path, range(3))
    (faces / "1.png").unlink()
    if what == "folder":
        (faces / "1.png").mkdir()
    elif what == "pipe":
        os.mkfifo(faces / "1.png")
    elif what == "loop":
        (faces / "1.png").symlink_to("1.png")
    elif what == "outside":
        (tmp_path / "1.png").write_bytes(small_picture(1))
        (faces / "1.png").symlink_to("../1.png")
    given = policy(mechanism="pixel-laplace", folder=str(faces), epsilon=10)
    with pytest.raises(DataError, match="row 2"):
        nw.release(given, table_of_paths(tmp_path, "csv"), output=tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "ledger.sqlite").exists()


@pytest.mark.parametrize(("before", "spent"), [("recorded", 0), ("drawn", 10)])
@pytest.mark.parametrize("folder", [True, False])
def test_a_picture_that_changes_between_its_digest_and_the_draw_is_refused(
    before: str, spent: int, folder: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    faces = folder_of_pictures(tmp_path, range(3))
    given = policy(mechanism="pixel-laplace", folder=str(faces), epsilon=10)
    name = "check_data" if before == "recorded" else "spend"
    real = getattr(run, name)

    def changed(*args: Any, **more: Any) -> Any:
        found = real(*args, **more)
        (faces / "1.png").write_bytes(small_picture(77))
        return found

    monkeypatch.setattr(run, name, changed)
    out = {"output": tmp_path / "out"} if folder else {}
    with pytest.raises(DataError, match="a file that the table points to was changed"):
        nw.release(given, table_of_paths(tmp_path, "csv"), **out)
    assert not (tmp_path / "out").exists()
    book = Ledger(tmp_path / "ledger.sqlite") if (tmp_path / "ledger.sqlite").exists() else None
    assert (0 if book is None else book.remaining("badges").spent_epsilon) == spent


@pytest.mark.parametrize(("bad", "said"), [(b"no picture", "is no picture"), (None, "missing values")])
def test_the_owner_is_told_the_row_of_a_bad_picture(bad: bytes | None, said: str, tmp_path: Path) -> None:
    """The 60th of 80, in a later block than the first; and of two bad ones the first. No file says so."""
    given = policy(mechanism="pixel-laplace", fit="resize")
    cells: list[bytes | None] = [small_picture(1)] * 80
    cells[59] = cells[61] = bad
    table = pa.table({"badge": pa.array(cells, pa.binary())})
    assert nw.plan(given, table).columns[0].block_rows < 60
    with pytest.raises(DataError, match=rf"^column 'badge'.*{said}.*\. The first one is in row 60 of the table\.$"):
        nw.release(given, table, output=tmp_path / "out")
    assert not list(tmp_path.iterdir())
    given["unit"] = {"column": "who", "rows": 1, "excess": "first"}
    people = table.append_column("who", pa.array([0, *range(79)]))
    with pytest.raises(DataError, match=said) as refused:  # rows of the table are not counted where some are left out
        nw.release(given, people)
    assert "in row" not in str(refused.value)


@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize("name", ["pixel-windows", "faces"])
def test_both_engines_draw_the_same_pictures_under_a_seed(tmp_path: Path, spark_session: Any, name: str) -> None:
    cells = pictures(name, 80)
    pq.write_table(pa.table({"badge": pa.array(cells, pa.binary())}), tmp_path / "badges.parquet")
    given = policy(mechanism=name)
    local = nw.release(given, str(tmp_path / "badges.parquet"), seed=7)
    spread = nw.release(given, spark_session.read.parquet(str(tmp_path / "badges.parquet")), seed=7)
    drawn = local.data["badge"].to_pylist()
    assert len(drawn) == 80
    assert sorted(drawn) == sorted(bytes(row.badge) for row in spread.data.collect())
    assert np.mean([content in cells for content in drawn]) == 0
