"""Press Ctrl-C (SIGINT) at many moments of a long command, then look at what is left.

A command that is interrupted ends with 130 and says that it was interrupted; one that was done by then ends with 0.
Its folder is as it was before, except for a record in the ledger, which is whole; temporary folders are empty.
"""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
from cli_support import environment, own_signals
from picture_support import small_picture

from noisewright.ledger.ledger import Ledger

__all__ = ["COMMANDS", "interrupt"]

PATIENCE = 300
"""Seconds after which a command that was interrupted is said to hang."""
POLICY = """
dataset = "clinic"
budget = { epsilon = 100 }
columns = [
    { name = "age", mechanism = "geometric", within = [0, 110], protect = 5, epsilon = 1 },
    { name = "ward", mechanism = "randomised-response", categories = ["a", "b", "c"], epsilon = 1 },
]
queries = [{ name = "mean age", aggregate = "mean", column = "age", within = [0, 110], epsilon = 1 }]
"""

INTERRUPTED = "noisewright: interrupted."


@dataclass(frozen=True)
class Long:
    """A command, what it needs in its folder, and what may be left of it (beside what is there when it is done)."""

    words: str
    prepare: Callable[[Path], None]
    left: tuple[str, ...] = ()


def visits(folder: Path) -> None:
    rng = np.random.default_rng(1)
    rows = 200_000
    table = {"age": rng.integers(0, 110, rows), "ward": rng.choice(["a", "b", "c"], rows), "note": ["x" * 40] * rows}
    pyarrow.csv.write_csv(pa.table(table), folder / "visits.csv")
    (folder / "policy.toml").write_text(POLICY)


def released(folder: Path) -> None:
    visits(folder)
    _run(folder, "release policy.toml visits.csv -o out --ledger ledger.sqlite")


def notes(folder: Path) -> None:
    (folder / "notes").mkdir()
    for number in range(60):
        (folder / "notes" / f"{number}.txt").write_text("the doctor saw a child with a cough and fever at night " * 20)


def photographs(folder: Path) -> None:
    (folder / "photos").mkdir()
    for number in range(30):
        (folder / "photos" / f"{number}.png").write_bytes(small_picture(number, 96, 96))


def vectors(folder: Path) -> None:
    rng = np.random.default_rng(1)
    lines = (f"w{n} " + " ".join(f"{x:.4f}" for x in row) for n, row in enumerate(rng.normal(size=(20_000, 50))))
    (folder / "words.vec").write_text("20000 50\n" + "\n".join(lines) + "\n")


def certified(folder: Path) -> None:
    _run(folder, "design exponential --points 0..250 --epsilon 1/10 -o certificate.json")


def joint(folder: Path) -> None:
    rows = [f"x{n}," + ",".join(str((n * k) % 17 + 1) for k in range(1, 9)) for n in range(12)]
    (folder / "joint.csv").write_text("," + ",".join(f"y{k}" for k in range(8)) + "\n" + "\n".join(rows) + "\n")


def nothing(folder: Path) -> None:
    pass


COMMANDS = {
    "release": Long("release policy.toml visits.csv -o out --ledger ledger.sqlite", visits, ("ledger.sqlite",)),
    "plan": Long("plan policy.toml visits.csv --inspect --ledger ledger.sqlite", visits),
    "estimate": Long("estimate out --column ward -o shares.csv", released),
    "text obfuscate": Long("text obfuscate notes -o noisy --epsilon 2 --size 15", notes),
    "images obfuscate": Long("images obfuscate photos -o shown --epsilon 300 --block 4", photographs),
    "embeddings import": Long("embeddings import words.vec -o words.nwe", vectors),
    "verify": Long("verify certificate.json --export-checker checker.py", certified),
    "verify a release": Long("verify out --ledger ledger.sqlite", released),
    "reproduce": Long("reproduce naive_bayes --quick", nothing),
    "learn": Long("learn optimum joint.csv --distortion 1/10 --loss log -o best.json", joint),
    "attack": Long("attack linkage visits.csv --on age,ward", visits),
}


def interrupt(name: str, folder: Path, count: int) -> Iterator[str]:
    """Interrupt a command at `count` moments, from its start to its end; yield what was not right."""
    long, temporary = COMMANDS[name], folder / "tmp"
    home = folder / "before"
    home.mkdir()
    long.prepare(home)
    begun = _names(home)
    whole = shutil.copytree(home, folder / "whole")
    temporary.mkdir()
    started = time.monotonic()
    code, usual = _interrupted(whole, long, None, temporary)
    lasting = time.monotonic() - started
    if code:
        yield f"without an interruption it ends with {code}: {usual}"
        return
    done = _names(whole)
    for number in range(count):
        work = shutil.copytree(home, folder / "work")
        moment = lasting * (number + 0.5) / count
        code, said = _interrupted(work, long, moment, temporary)
        left, new = _names(work), [line for line in said.splitlines() if line not in (*usual.splitlines(), INTERRUPTED)]
        at = f"{moment:.2f} of {lasting:.2f} s"
        unready = "Traceback" in said and "noisewright/cli" not in said and "Exception ignored" not in said
        if unready or (code == -signal.SIGINT and not said):
            pass  # Python itself had not begun with the command
        elif code not in (0, 130) or new:
            yield f"{at}: it ended with {code} and said {new}"
        elif code == 0 and left != done:
            yield f"{at}: it was done, and there are {sorted(left ^ done)} more or less"
        elif code == 130 and left != done and left - set(long.left) != begun - set(long.left):
            yield f"{at}: there are {sorted(left ^ begun)} more or less"
        if (work / "ledger.sqlite").exists():
            Ledger(work / "ledger.sqlite").check()
        if found := sorted(path.name for path in temporary.iterdir() if not _is_probe(path)):
            yield f"{at}: temporary {found} are left"
            shutil.rmtree(temporary)
            temporary.mkdir()
        shutil.rmtree(work)


def _interrupted(work: Path, long: Long, moment: float | None, temporary: Path) -> tuple[int, str]:
    """The exit code of a command, and what it said on stderr."""
    process = subprocess.Popen(
        [sys.executable, "-m", "noisewright", *long.words.split()],
        cwd=work,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(TMPDIR=str(temporary), XDG_CACHE_HOME=str(work.parent / "cache"), HOME=str(work.parent)),
        preexec_fn=own_signals,  # noqa: PLW1509
    )
    if moment is not None:
        try:
            process.wait(moment)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
    try:
        _, said = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait(), f"it did not end within {PATIENCE} seconds"
    return process.returncode, said


def _is_probe(path: Path) -> bool:
    """Return whether it is the file with which Python tries a temporary folder."""
    return len(path.name) == 8 and path.is_file() and path.read_bytes() in (b"", b"blat")


def _names(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def _run(folder: Path, words: str) -> None:
    subprocess.run(
        [sys.executable, "-m", "noisewright", *words.split()],
        cwd=folder,
        check=True,
        capture_output=True,
        env=environment(),
    )
