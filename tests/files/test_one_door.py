"""Every file that a user names is opened in one place (``noisewright._utils.inputs``), or in a place of a short reviewed list."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "noisewright"
DOORS = {"_utils/inputs.py"}
NAMES = {
    *(
        "gzip.GzipFile",
        "gzip.decompress",
        "zlib.decompress",
        "bz2.decompress",
        "lzma.decompress",
        "shutil.unpack_archive",
    ),
    *(
        "zipfile.ZipFile",
        "ZipFile",
        "mmap.mmap",
        "os.fdopen",
        "np.memmap",
        "memory_map",
        "OSFile",
        "input_stream",
        "FileIO",
    ),
    *("ParquetFile", "read_table", "read_csv", "read_schema", "open_file", "open_stream", "readNetFromONNX"),
    *("readNetFromTFLite", "VideoCapture", "imread", "Unpickler", "loadtxt", "genfromtxt", "fromfile", "load_npz"),
    *(
        "pickle.load",
        "pickle.loads",
        "marshal.load",
        "marshal.loads",
        "np.load",
        "numpy.load",
        "torch.load",
        "joblib.load",
    ),
    *(
        "json.load",
        "tomllib.load",
        "yaml.load",
        "sqlite3.connect",
        "duckdb.connect",
        "read_text",
        "read_bytes",
        "extract",
    ),
    *("extractall", "extractfile", "ElementTree.parse", "ET.parse", "iterparse", "exec_module", "run_path"),
}
"""Calls that open or unpack, by their whole name or the last part of it; besides everything that is called ``open``."""
REVIEWED = {
    # A file with calls of several groups stands in one of them.
    # Written, or made and read by this program alone, under names that no user gives.
    "cli/app.py": {"open": 1},
    "cli/commands/doctor.py": {"open": 1},
    "render/text.py": {"os.open": 1},
    "io/atomic.py": {"os.open": 4, "os.fdopen": 1, "?.read_text": 2},
    "io/model_files.py": {"?.open": 1, "resource.open": 3},
    "engines/shuffling.py": {"os.open": 1, "pa.ipc.open_stream": 1},
    "engines/local.py": {"target.open": 1},
    "ledger/database.py": {"sqlite3.connect": 1},
    "ledger/witness.py": {"os.open": 1},
    "studio/sessions.py": {"os.open": 3, "os.fdopen": 1},
    "releases/staging.py": {"os.open": 1},
    "releases/folder.py": {"open": 1},
    "tables/excel.py": {"zipfile.ZipFile": 1, "self._archive.open": 1, "archive.open": 3},
    "studio/services/releases.py": {"zipfile.ZipFile": 1},
    "text/embedding_training.py": {
        "open": 2,
        "tarfile.open": 1,
        "tar.extractfile": 1,
        "zipfile.ZipFile": 1,
        "wheel.open": 1,
    },
    # Parts of the program, and archives of registries whose SHA-256 is known.
    "cli/commands/verify.py": {"?.read_bytes": 1},
    "cli/arguments.py": {"?.read_text": 1},
    "images/faces/public_faces.py": {"OUTLINES.read_text": 1},
    "images/pipeline/detection.py": {"zipfile.ZipFile": 1, "?.open": 1, "?.dnn.readNetFromTFLite": 1},
    "text/documents.py": {"?.read_bytes": 1, "gzip.decompress": 1},
    # Members of archives that the door opened, and public files that are mapped (no memory is spent) after a check of their own.
    "resources.py": {"path.open": 2, "self.open": 2, "mmap.mmap": 1},
    "cli/commands/text.py": {"small.resource.open": 1},
    "io/serialization.py": {"np.memmap": 1, "archive.open": 1},
    "matching/service.py": {"archive.open": 1, "read_csv": 1, "duckdb.connect": 1, "ParquetFile": 2},
    "planning/column_plan.py": {"resource.open": 1},
    "engines/spark_session.py": {"resource.open": 1},
    "studio/services/audit.py": {"held.extract": 1},
    "text/embedding.py": {"resource.open": 1},
    # Libraries that open a path themselves, after check_input.
    "images/faces/model.py": {"cv2.dnn.readNetFromONNX": 1},
    "images/pictures.py": {"image.open": 1},
    "images/pipeline/video.py": {"cv2.VideoCapture": 1},
    "ledger/sqlite.py": {"sqlite3.connect": 2, "os.open": 1, "open": 1},
    "ledger/export.py": {"sqlite3.connect": 1},
    "releases/lock.py": {"pa.ipc.read_schema": 1},
    "tables/duckdb.py": {"pa.input_stream": 1, "duckdb.connect": 1},
    "tables/files.py": {"pyarrow.parquet.ParquetFile": 1, "sqlite3.connect": 1},
    "tables/source.py": {"open": 1, "pa.OSFile": 2, "pa.ipc.open_file": 2, "pa.memory_map": 1, "ParquetFile": 1},
    # The stand-alone checker, which imports nothing of ours, and copies that its suites make of things in memory.
    "certificates/checker/checker.py": {"open": 2},
    "testing/plugins.py": {"pickle.loads": 3},
    "testing/mechanisms.py": {"pickle.loads": 1},
}
"""The number of such calls in each file; the comments say why they are in order."""


def called(node: ast.expr) -> str:
    """Return the dotted name of what is called, as far as it has one."""
    if isinstance(node, ast.Attribute):
        return f"{called(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else "?"


def opened(source: str) -> Iterator[str]:
    """Yield what opens or unpacks a file in a program."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            name = called(node.func)
            if name in NAMES or name.rpartition(".")[2] in {*NAMES, "open"}:
                yield name


def test_files_are_opened_in_one_place() -> None:
    found = {
        path.relative_to(SOURCE).as_posix(): Counter(opened(path.read_text("utf-8")))
        for path in sorted(SOURCE.rglob("*.py"))
    }
    assert {name: dict(calls) for name, calls in found.items() if calls and name not in DOORS} == REVIEWED


@pytest.mark.parametrize(
    "program",
    [
        "open('a')", "io.open('a')", "path.open('rb')", "Path('a').read_text()", "Path(a).read_bytes()", "gzip.open('a')",
        "zipfile.ZipFile('a')", "numpy.load('a')", "np.load('a')", "pickle.loads(b'')", "pa.csv.read_csv('a')", "Image.open('a')",
    ],
)  # fmt: skip
def test_what_the_guard_sees(program: str) -> None:
    assert len(list(opened(program))) == 1


def test_no_module_reads_pickles_of_others() -> None:
    """``pickle`` is imported by the suites alone, which copy things in memory with it."""
    readers = {"pickle", "dill", "cloudpickle", "joblib", "marshal", "shelve", "yaml"}
    for path in SOURCE.rglob("*.py"):
        names = {
            name.split(".")[0]
            for node in ast.walk(ast.parse(path.read_text("utf-8")))
            for name in (
                [one.name for one in node.names]
                if isinstance(node, ast.Import)
                else [str(node.module)]
                if isinstance(node, ast.ImportFrom)
                else []
            )
        }
        assert not names & readers or path.parent.name == "testing", path
