"""Names of files, columns, categories and datasets that hold control characters: no command sends one to the terminal."""

from __future__ import annotations

import ast
import io
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_support import Answer

from noisewright.cli import run
from noisewright.cli.app import ROOT
from noisewright.cli.commands.doctor import _walk

SOURCE = Path(__file__).parents[2] / "src" / "noisewright" / "cli"
PRINTING = ("__main__.py", "render/text.py", "studio/server.py")
"""Modules of other packages that print for commands."""
EVIL = "a\x1b[31m\x9b2J\u202eb\nnoisewright: all is well\x07"
"""ESC, C1, a bidirectional mark, a line of its own, and a bell."""
TABLE = pa.table({EVIL: ["x", EVIL] * 50, "smoker": ["x", "y"] * 50, "age": list(range(100)), "note": [EVIL, "z"] * 50})
POLICY = """\
dataset = "d"
[budget]
epsilon = 9
[types]
age = "integer"
[[columns]]
name = "smoker"
mechanism = "randomised-response"
categories = ["x", "y"]
epsilon = 1
[[columns]]
name = "age"
mechanism = "geometric"
within = [0, 110]
protect = 5
epsilon = 1
[[queries]]
name = "all"
aggregate = "histogram"
column = "smoker"
values = ["x", "y"]
epsilon = 1
"""
VECTORS = "tea 0.5 1 -2\ncoffee 0.25 1 -2\nship 4 3 2\nboat 4 3 1\n"


def clean(answer: Answer) -> Answer:
    """The same answer, if nothing in it is for a terminal to obey, and no line is anybody else's."""
    for text in (answer.out, answer.err):
        bad = {character for character in text if not character.isprintable()} - {"\n"}
        assert not bad, (bad, text[:500])
        assert not re.search("^ ?noisewright: all is well", text, re.MULTILINE), text[:500]
    return answer


@pytest.fixture
def evil(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: Callable[..., Answer]) -> Callable[..., Answer]:
    """Run a command in a folder of evil names, and look at what it prints."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NOISEWRIGHT_LEDGER", str(tmp_path / f"{EVIL}.ledger"))

    def evil(*words: str, code: int = 0) -> Answer:
        answer = clean(call(*words))
        assert answer.code == code, answer
        return answer

    return evil


def test_tables_policies_releases_and_ledgers(evil: Callable[..., Answer]) -> None:
    pq.write_table(TABLE, f"{EVIL}.parquet")
    Path(f"{EVIL}.toml").write_text(POLICY)
    evil("init", f"{EVIL}.parquet")
    evil("init", f"{EVIL}.parquet", "-o", f"{EVIL}2.toml", "--dataset", "d", "--from-data")
    evil("plan", f"{EVIL}.toml", f"{EVIL}.parquet", "--inspect")
    evil("plan", f"{EVIL}2.toml", f"{EVIL}.parquet", code=2)
    done = evil("release", f"{EVIL}.toml", f"{EVIL}.parquet", "-o", f"{EVIL}-out", "--details")
    assert "all is well" in done.out
    evil("release", f"{EVIL}.toml", f"{EVIL}.parquet", "-o", f"{EVIL}-out")
    evil("release", f"{EVIL}.toml", f"{EVIL}.parquet", "-o", f"{EVIL}-csv", "--format", "csv")
    evil("verify", f"{EVIL}-out")
    evil("estimate", f"{EVIL}-out")
    evil("estimate", f"{EVIL}-out", "--column", "smoker")
    evil("estimate", f"{EVIL}-out", "--column", EVIL, code=2)
    Path("kept.toml").write_text(f"{POLICY}[[columns]]\nname = {json.dumps(EVIL)}\nkeep = true\n")
    evil("plan", "kept.toml", f"{EVIL}.parquet", code=2)
    Path("no.toml").write_text(POLICY.replace('"d"', json.dumps(EVIL)))
    evil("plan", "no.toml", f"{EVIL}.parquet", code=2)
    evil("ledger", "show")
    evil("ledger", "check", f"{EVIL}.ledger")
    evil("attack", "linkage", f"{EVIL}.parquet", "--on", "age")
    evil("attack", "inference", f"{EVIL}.parquet", "--sensitive", "note", "--useful", "age", code=2)
    (Path(f"{EVIL}-out") / EVIL).write_text("foreign")
    evil("verify", f"{EVIL}-out", code=1)
    evil("release", f"{EVIL}.toml", f"{EVIL}.parquet", "-o", f"{EVIL}-out", "--replace", "--again", code=2)


def test_channels_mechanisms_and_surveys(evil: Callable[..., Answer]) -> None:
    Path(f"{EVIL}.csv").write_text(f',"{EVIL}",b\n"{EVIL}",0.75,0.25\nb,0.25,0.75\n')
    evil("audit", f"{EVIL}.csv")
    evil("compare", f"{EVIL}.csv", f"{EVIL}.csv", "--details")
    evil("design", "randomised-response", "--categories", f'"{EVIL}",b', "--epsilon", "1", "-o", f"{EVIL}.json")
    evil("verify", f"{EVIL}.json", "--export-checker", f"{EVIL}.py")
    evil("survey", "--categories", f'"{EVIL}",b,c', "--epsilon", "1", "--respondents", "500", code=2)
    Path("reports.csv").write_text(f'answer\n"{EVIL}"\nb\nb\n')
    evil("estimate", "reports.csv", "--mechanism", f"{EVIL}.json", "-o", f"{EVIL}3.csv")
    evil("attack", "suppression", f"{EVIL}.csv", code=2)


def test_texts_embeddings_and_profiles(evil: Callable[..., Answer]) -> None:
    Path(f"{EVIL}.vec").write_text(VECTORS)
    evil("embeddings", "import", f"{EVIL}.vec", "-o", "e.nwe")
    evil("embeddings", "import", f"{EVIL}.vec", "-o", f"{EVIL}.nwe", code=2)
    evil("embeddings", "info", "e.nwe")
    Path(f"{EVIL}.txt").write_text("tea and coffee on the ship")
    words = ("--epsilon", "2", "--size", "3", "--embedding", "e.nwe")
    evil("text", "obfuscate", f"{EVIL}.txt", "-o", f"{EVIL}-out", *words, "--preview", f"{EVIL}.html")
    evil("text", "obfuscate", f"{EVIL}.txt", "-o", f"{EVIL}-out", *words, code=2)
    np.save(f"{EVIL}.npy", np.eye(4))
    evil("match", "seed", "-o", f"{EVIL}.json", "--dimension", "4", "--bits", "16", "--epsilon", "4")
    evil("match", "encode", f"{EVIL}.npy", "--public", f"{EVIL}.json", "-o", f"{EVIL}.nwc")
    evil("match", "search", f"{EVIL}.nwc", f"{EVIL}.nwc", "--public", f"{EVIL}.json", code=2)


def test_pictures(evil: Callable[..., Answer]) -> None:
    image = pytest.importorskip("PIL.Image")
    image.fromarray(np.zeros((16, 16, 3), np.uint8)).save(f"{EVIL}.png")
    Path(f"{EVIL}2.png").write_text("no picture")
    words = (
        "images",
        "obfuscate",
        f"{EVIL}.png",
        f"{EVIL}2.png",
        "-o",
        f"{EVIL}-out",
        "--epsilon",
        "1",
        "--keep-names",
    )
    evil(*words, code=1)


WORDS = [words.path.split() for words in _walk(ROOT) if words.path and not words.commands]


@pytest.mark.parametrize("words", WORDS, ids=" ".join)
def test_every_command_names_what_is_not_there(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for given in ([EVIL], [EVIL, EVIL], [EVIL, EVIL, "-o", f"{EVIL}/x"], [f"--{EVIL}"]):
        code = run([*words, *given])
        printed = capsys.readouterr()
        clean(Answer(code, printed.out, printed.err))
        assert code == 2


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_on_a_terminal_colours_are_ours_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    del capsys
    monkeypatch.chdir(tmp_path)
    Path(f"{EVIL}.csv").write_text(f',"{EVIL}",b\n"{EVIL}",0.75,0.25\nb,0.25,0.75\n')
    out, err = Terminal(), Terminal()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    assert run(["compare", f"{EVIL}.csv", f"{EVIL}.csv"]) == 0
    assert "\x1b[" in out.getvalue()  # there are colours
    text = re.sub(r"\x1b\[[0-9;]*m", "", out.getvalue() + err.getvalue())
    clean(Answer(0, text, ""))
    assert "\x1b[31m\\x9b" not in out.getvalue()


def test_no_command_prints_but_through_the_door() -> None:
    found = []
    for path in [*SOURCE.rglob("*.py"), *(SOURCE.parent / more for more in PRINTING)]:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call):
                name = ast.unparse(node.func)
                if name in ("print", "typer.secho", "Console", "click.echo") or re.fullmatch(
                    r"sys\.std(out|err)\.write", name
                ):
                    found.append(f"{path.name}: {name}")
                if name == "typer.echo" and "get_help" not in ast.unparse(node) and path.name != "app.py":
                    found.append(f"{path.name}: {name}")
    assert sorted(found) == [
        "__main__.py: sys.stderr.write",  # of a fixed text, as the next one
        "app.py: sys.stderr.write",
        "app.py: sys.stderr.write",
        "doctor.py: typer.echo",  # a script of completion
        "reproduce.py: Console",
        "server.py: print",  # the address of the studio, and a fixed text
        "server.py: print",
        "text.py: sys.stderr.write",
        "text.py: sys.stdout.write",
    ]
