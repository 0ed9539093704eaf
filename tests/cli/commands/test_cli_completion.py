"""``noisewright completion``: real shells complete what commands really take; those that are not installed are passed over."""

from __future__ import annotations

import contextlib
import io
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

from noisewright.cli import run
from noisewright.cli.app import COMMANDS
from noisewright.mechanisms.registry import names

LINES = {
    "noisewright re": {"release", "reproduce"},
    "noisewright release --f": {"--format"},
    "noisewright release policy.toml --format ": {"parquet", "csv", "csv.gz", "csv.zst", "arrow", "xlsx"},
    "noisewright release policy.toml --format csv.": {"csv.gz", "csv.zst"},
    "noisewright release -o design --eng": {"--engine"},
    "noisewright --log-level info ledger ba": {"backup"},
    "noisewright --log-level w": {"warning"},
    "noisewright design gau": {"gaussian"},
    "noisewright design geometric --wi": {"--within"},
    "noisewright release vis": set(),
}
"""What is typed, and what can follow; nothing: then the shell completes the names of files."""


@cache
def script(shell: str) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert run(["completion", shell]) == 0
    return out.getvalue()


def completed(shell: str, line: str, folder: Path) -> set[str]:
    (folder / "script").write_text(script(shell))
    words = line.split() + [""] * line.endswith(" ")
    if shell == "fish":
        ask = f"source ./script; complete -C '{line}'"
    elif shell == "zsh":
        ask = f"compdef() {{ }}; source ./script; COMP_WORDS=({_quoted(words)}); COMP_CWORD={len(words) - 1}; COMPREPLY=(); "
        ask += "emulate ksh -c _noisewright; print -l -- ${(M)COMPREPLY:#" + words[-1] + "*}"
    else:
        ask = f"source ./script; COMP_WORDS=({_quoted(words)}); COMP_CWORD={len(words) - 1}; _noisewright; "
        ask += 'printf "%s\\n" "${COMPREPLY[@]}"'
    how = {"fish": ["--no-config", "-c"], "zsh": ["-fc"], "bash": ["--norc", "-c"]}[shell]
    answer = subprocess.run([shell, *how, ask], cwd=folder, capture_output=True, text=True, check=True, timeout=900)
    assert answer.stderr == ""
    return {found.partition("\t")[0] for found in answer.stdout.splitlines() if found}


def _quoted(words: list[str]) -> str:
    return " ".join(f"'{word}'" for word in words)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_completes_what_the_commands_take(shell: str, tmp_path: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    for line, expected in LINES.items():
        assert completed(shell, line, tmp_path) == expected, line


def test_bash_names_files_where_there_is_no_word(tmp_path: Path) -> None:
    """As a person does: the script is loaded in an interactive shell, and readline completes a word."""
    (tmp_path / "script").write_text(script("bash"))
    (tmp_path / "visits.csv").write_text("age\n31\n")
    typed = 'source ./script\nnoisewright() { echo "given: $*"; }\nnoisewright rel\tpolicy.toml vis\t\nexit\n'
    answer = subprocess.run(
        ["bash", "--norc", "-i"], input=typed, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=900
    )
    assert answer.stdout == "given: release policy.toml visits.csv\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_has_all_commands_and_mechanisms(shell: str) -> None:
    words = set(re.findall(r"[a-z0-9][a-z0-9.-]*", script(shell)))
    assert {*COMMANDS, *names()} <= words


def test_a_shell_that_is_none_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["completion", "csh"]) == 2
    assert capsys.readouterr().err == "noisewright: the shell must be 'bash', 'zsh' or 'fish', not 'csh'.\n"
