"""Every command that reads a file, with files that are none: refused in one sentence, quickly, in little memory, nothing left."""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import pytest
from bombs import MEGA, POLICY

from noisewright.cli import run

READERS = {
    **{
        f"plan of a {ending} table": (f"plan policy.toml FILE.{ending} --inspect --ledger ledger")
        for ending in ("csv", "csv.gz", "csv.zst", "parquet", "arrow", "jsonl", "xlsx")
    },
    "plan of a policy": "plan FILE.toml t.csv --ledger ledger",
    "release": "release policy.toml FILE.csv -o out --ledger ledger",
    "release of a policy": "release FILE.toml t.csv -o out --ledger ledger",
    "init": "init FILE.csv -o new.toml",
    "audit of a csv": "audit FILE.csv",
    "audit of a json": "audit FILE.json",
    "audit of an npz": "audit FILE.npz",
    "compare": "compare FILE.json FILE.json",
    "verify": "verify FILE.json",
    "estimate": "estimate FILE.csv --column a --mechanism m.json",
    "estimate, mechanism": "estimate t.csv --column a --mechanism FILE.json",
    "embeddings info": "embeddings info FILE.nwe",
    "embeddings import": "embeddings import FILE.vec -o out.nwe",
    "embeddings train": "embeddings train FILE.txt -o out.nwe",
    "text obfuscate": "text obfuscate FILE.txt -o out --epsilon 2",
    "text obfuscate, words": "text obfuscate t.txt -o out --epsilon 2 --embedding FILE.nwe",
    "images obfuscate": "images obfuscate FILE.png -o out.png --epsilon 1",
    "images obfuscate, model": "images obfuscate a.png -o out.png --epsilon 1 --method faces --model FILE.nwm",
    "images preview": "images preview FILE.png -o preview.png --epsilon 1",
    "images video": "images video FILE.avi -o out.avi --epsilon 1",
    "match encode": "match encode FILE.csv --public scheme.json -o out.nwc",
    "match encode, arrays": "match encode FILE.npy --public scheme.json -o out.nwc",
    "match encode, scheme": "match encode p.csv --public FILE.json -o out.nwc",
    "match search": "match search FILE.nwc p.csv --public scheme.json",
    "learn optimum": "learn optimum FILE.csv --distortion 1/10 --loss log -o out.json",
    "attack linkage": "attack linkage FILE.csv --on a",
    "ledger show": "ledger show FILE.sqlite",
    "ledger check": "ledger check FILE.sqlite",
}
"""Commands, in which FILE.ending is what they read."""
SECONDS, PATIENCE, MEMORY = 10, 90, 256 * MEGA
"""Maximum processor time; the time after which a command waits for ever, on a machine with much to do; maximum memory."""
NOISE = random.Random(7).randbytes(5000)
ODD = "a\x1b[31m\x9b\u202eb"


def fifo(path: Path) -> None:
    os.mkfifo(path)


def zeros(path: Path) -> None:
    path.symlink_to("/dev/zero")


def loop(path: Path) -> None:
    path.symlink_to(path)


def folder(path: Path) -> None:
    path.mkdir()


def empty(path: Path) -> None:
    path.touch()


def noise(path: Path) -> None:
    path.write_bytes(NOISE)


def cut_short(path: Path) -> None:
    """The beginning of a file of this kind, and nothing else."""
    starts = {
        ".png": b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR",
        ".parquet": b"PAR1",
        ".arrow": b"ARROW1\0\0",
        ".json": b'{"format": ',
    }
    starts |= {
        ".nwe": b"\x89NWE\r\n\x1a\n",
        ".nwm": b"\x89NWM\r\n\x1a\n",
        ".gz": b"\x1f\x8b\x08\0",
        ".npy": b"\x93NUMPY\x01\0v\0{'de",
    }
    starts |= {
        ".zst": b"\x28\xb5\x2f\xfd\0",
        ".sqlite": b"SQLite format 3\0",
        ".avi": b"RIFF\xff\xff\0\0AVI ",
        ".toml": b'dataset = "',
    }
    path.write_bytes(starts.get(path.suffix, b"PK\x03\x04\x14\0"))


def another_kind(path: Path) -> None:
    """A picture; where pictures are read, an archive."""
    path.write_bytes(b"PK\x03\x04" + bytes(100) if path.suffix == ".png" else b"\x89PNG\r\n\x1a\n" + bytes(100))


KINDS = {one.__name__: one for one in (fifo, zeros, loop, folder, empty, noise, cut_short, another_kind)}


def too_long(_: int, __: FrameType | None) -> None:
    raise AssertionError(f"it took more than {PATIENCE} seconds")


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that are right."""
    from PIL import Image

    home = tmp_path_factory.mktemp("prepared")
    (home / "policy.toml").write_text(POLICY)
    (home / "t.csv").write_text("a\n1\n")
    (home / "t.txt").write_text("a word\n")
    (home / "p.csv").write_text("name,a,b,c,d\nann,1,2,3,4\n")
    Image.new("RGB", (8, 8)).save(home / "a.png")
    scheme = ["--dimension", "4", "--bits", "16", "--epsilon", "4", "-o", str(home / "scheme.json")]
    assert run(["match", "seed", *scheme]) == 0
    assert (
        run(["design", "randomised-response", "--categories", "0,1", "--epsilon", "1", "-o", str(home / "m.json")]) == 0
    )
    return home


@pytest.fixture
def place(prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    shutil.copytree(prepared, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NOISEWRIGHT_LEDGER", str(tmp_path / "ledger"))
    before = signal.signal(signal.SIGALRM, too_long)
    yield tmp_path
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.skipif(sys.platform != "linux", reason="the unit of ru_maxrss is that of Linux")
@pytest.mark.parametrize("command", READERS)
def test_what_is_no_such_file_is_refused(command: str, place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = []
    for stem, kinds in (("given", KINDS), (ODD, {"noise": noise, "folder": folder})):
        for kind, make in kinds.items():
            words = [word.replace("FILE", f"{stem}-{kind}") for word in READERS[command].split()]
            path = next(Path(word) for word in words if word.startswith(stem))
            make(path)
            there, peak, begun = set(place.rglob("*")), _peak(), time.process_time()
            capsys.readouterr()
            signal.alarm(PATIENCE)
            code = run(words)
            signal.alarm(0)
            said = capsys.readouterr()
            found = said.out + said.err
            if code not in (1, 2) or (code == 2 and (said.out or said.err.count("\n") != 1)):
                wrong.append((kind, code, found[:300]))
            if any(words in found for words in ("went wrong inside", "--help", "no such option")) or not all(
                sign.isprintable() or sign == "\n" for sign in found
            ):
                wrong.append((kind, "said", found[:300]))
            if left := {one.name for one in set(place.rglob("*")) - there if not one.name.startswith("ledger")}:
                wrong.append((kind, "left", left))
            if _peak() - peak > MEMORY or time.process_time() - begun > SECONDS:
                wrong.append((kind, (_peak() - peak) // MEGA, time.process_time() - begun))
    assert not wrong


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
