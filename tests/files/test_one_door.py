"""Every file that a user names is opened in one place (``noisewright._utils.inputs``), or in a place of a short reviewed list."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "noisewright"
DOORS = {"files/inputs.py", "files/arrays.py"}
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
    # Written, or made and read by this program alone, under names that no user gives.
    "cli/app.py": {"open": 1},
    "cli/commands/doctor.py": {"open": 1},
    "cli/shared/output.py": {"os.open": 1},
    "files/atomic.py": {"os.open": 2, "os.fdopen": 1},
    "files/processes.py": {"?.read_text": 2},
    "files/registries.py": {"?.open": 1},
    "files/scratch.py": {"os.open": 1},
    "releases/engines/_shuffling.py": {"os.open": 1, "pa.ipc.open_stream": 1},
    "releases/engines/local.py": {"target.open": 1},
    "releases/ledger/homes/schema.py": {"sqlite3.connect": 1},
    "releases/ledger/homes/witness.py": {"os.open": 1},
    "studio/digests.py": {"os.open": 1, "os.fdopen": 1},
    "releases/output/staging.py": {"os.open": 1},
    "releases/output/written_answers.py": {"open": 1},
    "releases/sources/_cells.py": {"open": 1, "pa.OSFile": 1},
    "releases/sources/sheets.py": {"zipfile.ZipFile": 1, "self._archive.open": 1},
    "studio/answers/releases/kept.py": {"os.open": 1, "zipfile.ZipFile": 1},
    "studio/visits.py": {"os.open": 2},
    "text/embeddings/training.py": {"open": 2},
    # Parts of the program, and archives of registries whose SHA-256 is known.
    "cli/commands/verify.py": {"?.read_bytes": 1},
    "cli/shared/checkout.py": {"?.read_text": 1},
    "images/faces/sprites.py": {"OUTLINES.read_text": 1},
    "images/pipeline/networks.py": {"zipfile.ZipFile": 1, "?.open": 1, "?.dnn.readNetFromTFLite": 1},
    "text/documents/languages.py": {"?.read_bytes": 1, "gzip.decompress": 1},
    "text/embeddings/packages.py": {"tarfile.open": 1, "tar.extractfile": 1, "zipfile.ZipFile": 1, "wheel.open": 1},
    # Members of archives that the door opened, and public files that are mapped (no memory is spent) after a check of their own.
    "core/resource.py": {"path.open": 2, "self.open": 2, "mmap.mmap": 1},
    "cli/commands/embeddings/get.py": {"small.resource.open": 1},
    "files/channels.py": {"archive.open": 1},
    "files/model_file.py": {"resource.open": 3},
    "matching/profiles.py": {"archive.open": 1, "read_csv": 1, "duckdb.connect": 1, "ParquetFile": 2},
    "releases/columns/plan.py": {"resource.open": 1},
    "releases/engines/spark/shipping.py": {"resource.open": 1},
    "releases/sources/workbooks.py": {"archive.open": 3},
    "studio/answers/releases/checking.py": {"held.extract": 1},
    "text/embeddings/embedding.py": {"resource.open": 1},
    # Libraries that open a path themselves, after check_input.
    "images/faces/models/onnx_model.py": {"cv2.dnn.readNetFromONNX": 1},
    "images/pictures/reading.py": {"image.open": 1},
    "images/pipeline/frames.py": {"cv2.VideoCapture": 1},
    "releases/ledger/homes/sqlite.py": {"sqlite3.connect": 2, "os.open": 1, "open": 1},
    "releases/ledger/backup.py": {"sqlite3.connect": 1},
    "releases/output/lock.py": {"pa.ipc.read_schema": 1},
    "releases/sources/delimited.py": {"pa.input_stream": 1},
    "releases/sources/duck.py": {"duckdb.connect": 1},
    "releases/sources/files.py": {"pyarrow.parquet.ParquetFile": 1},
    "releases/sources/source.py": {"pa.OSFile": 1, "pa.ipc.open_file": 2, "pa.memory_map": 1, "ParquetFile": 1},
    "releases/sources/sqlite.py": {"sqlite3.connect": 1},
    # The stand-alone checker, which imports nothing of ours, and copies that its suites make of things in memory.
    "core/certificates/checker/checker.py": {"open": 2},
    "testing/entries.py": {"pickle.loads": 2},
    "testing/kinds.py": {"pickle.loads": 1},
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
