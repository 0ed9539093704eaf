"""The real command in processes of its own: streams, signals, pipes, and the checker on its own."""

from __future__ import annotations

import errno
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli_support import environment, own_signals

import noisewright as nw
from noisewright.render import text as output

COMMAND = [sys.executable, "-m", "noisewright"]


def test_version_and_help(shell):
    assert shell("--version").out == f"noisewright {nw.__version__}\n"
    page = shell("--help").out
    for name in ("design", "audit", "verify", "doctor", "completion"):
        assert name in page
    assert "--install-completion" not in page  # nothing is written into files of a shell


def test_alone_it_shows_the_help(call):
    answer = call()
    assert answer.code == 0
    assert "Usage: noisewright" in answer.out


def test_the_installed_script(shell):
    script = Path(sys.executable).with_name("noisewright")
    if not script.exists():
        pytest.skip("the package is not installed with its script")
    assert shell("--version", command=(str(script),)).out == f"noisewright {nw.__version__}\n"


def test_from_design_to_a_proof_by_a_stranger(shell, files):
    made, checker = files / "made.json", files / "checker.py"
    assert shell("design", "exponential", "--points", "0..5", "--epsilon", "0.7", "-o", made).code == 0
    assert shell("verify", made, "--export-checker", checker, "--json").json["proved"] is True
    assert shell("audit", made, "--json").json["certificate"]["proved"] is True
    alone = [sys.executable, "-I", "-S", str(checker)]
    done = subprocess.run([*alone, str(made)], capture_output=True, text=True, env={}, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "proved: epsilon = 0.7 per unit of line" in done.stdout
    document = json.loads(made.read_text())
    document["claim"]["epsilon"] = "1/2"
    made.write_text(json.dumps(document))
    done = subprocess.run([*alone, str(made)], capture_output=True, text=True, env={}, check=False)
    assert done.returncode == 1
    assert "NOT PROVED" in done.stdout
    assert shell("verify", made).code == 1


EVERY_KIND = {
    "table": ["exponential", "--points", "0..5", "--epsilon", "0.7"],
    "response": ["randomised-response", "--categories", "4", "--epsilon", "1"],
    "law": ["geometric", "--epsilon", "1", "--within", "0:9"],
    "constant": ["uniform", "--points", "0..3"],
    "planar": ["planar-laplace", "--epsilon", "1.4", "--radius", "200"],
    "globe": ["geo-laplace", "--epsilon", "1.4", "--radius", "200", "--reference", "48.8566:2.3522"],
    "product": ["product-laplace", "--epsilon", "1", "--dimension", "3"],
    "ranged": ["laplace", "--epsilon", "1", "--within", "0:3,5:9"],
    "half line": ["laplace", "--epsilon", "1", "--within", "0:inf", "--scope", "metric"],
    "staircase": ["staircase", "--epsilon", "1"],
    "delta": ["gaussian", "--epsilon", "1", "--delta", "0.00001"],
}


def test_a_stranger_proves_certificates_of_every_kind(shell, files):
    folder = files / "stranger"
    folder.mkdir()
    for name, words in EVERY_KIND.items():
        assert shell("design", *words, "-o", folder / f"{name}.json").code == 0, name
    made = sorted(folder.iterdir())
    answer = shell("verify", *made, "--export-checker", folder / "proof.py", "--json").json
    assert [Path(path).name for path in answer["written"]] == [
        "proof.py",
        "checker_noise.py",
        "checker_release.py",
        "checker_words.py",
        "checker_version1.py",
        "phrases.py",
    ]
    alone = [sys.executable, "-I", "-S", str(folder / "proof.py")]
    done = subprocess.run([*alone, *map(str, made)], capture_output=True, text=True, env={}, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [f"{file['file']}: proved: {file['claim']}" for file in answer["files"]]
    (folder / "checker_noise.py").unlink()
    done = subprocess.run([*alone, *map(str, made)], capture_output=True, text=True, env={}, check=False)
    assert (done.returncode, done.stderr) == (1, "")
    proved = {line.partition(":")[0] for line in done.stdout.splitlines() if ": proved: " in line}
    assert {Path(path).stem for path in proved} == {"table", "response", "law", "constant", "product"}
    assert done.stdout.count("in a second file, checker_noise.py, which must lie beside this program") == 6


def test_errors_go_to_stderr_or_into_the_object(shell, files):
    assert shell("audit", files / "missing.csv").code == 2
    assert shell("audit", files / "missing.csv", "--json").code == 2


def test_doctor(shell):
    assert shell("doctor", "--json").json["healthy"] is True


def test_a_terminal_that_knows_only_ascii(shell, files):
    (files / "names.csv").write_text(",é,ü\né,0.75,0.25\nü,0.25,0.75\n", encoding="utf-8")
    page = shell("audit", files / "names.csv", PYTHONIOENCODING="ascii", PYTHONUTF8="0", LC_ALL="C").out
    assert page.isascii()
    assert "1.099" in page


def test_a_reader_that_leaves_is_no_error():
    for words in (["design", "--json"], ["--help"]):
        process = subprocess.Popen(
            [*COMMAND, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
        )
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        process.stderr.close()
        assert process.wait(900) != 0


def test_a_full_disk_is_one_sentence():
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*COMMAND, "design"], stdout=full, stderr=subprocess.PIPE, text=True, env=environment(), check=False
        )
    assert done.returncode == 2
    assert done.stderr == "noisewright: No space left on device.\n"


# Ctrl-C: the command is caught while it waits for a named pipe, so the moment is certain ---------------------------------


def opened(pipe: Path, process: subprocess.Popen[bytes]) -> int:
    """The writing end, as soon as the command has opened the reading end."""
    for _ in range(18_000):
        try:
            return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        except OSError as problem:
            if problem.errno != errno.ENXIO or process.poll() is not None:
                raise
            time.sleep(0.05)
    raise AssertionError("the command never opened the pipe")


PATIENT = """
import os
from noisewright._utils import inputs
inputs._check = lambda found, most: None  # pipes are refused, but here one holds the command
inputs.FLAGS = os.O_RDONLY
from noisewright.__main__ import main
main()
"""


def start(*words: str, stderr: int = subprocess.PIPE, before: str = "") -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", before + PATIENT, *words],
        stdout=subprocess.PIPE,
        stderr=stderr,
        env=environment(),
        preexec_fn=own_signals,  # noqa: PLW1509
    )


@pytest.mark.parametrize("command", ["audit", "design", "verify"])
def test_ctrl_c_leaves_nothing_behind(files, command):
    pipe = files / ("table.csv" if command != "verify" else "table.json")
    os.mkfifo(pipe)
    words = {
        "audit": ["audit", str(pipe), "--json"],
        "design": ["design", "exponential", "--points", "0..3", "--epsilon", "1", "--metric", f"table:{pipe}"],
        "verify": ["verify", str(pipe), "--export-checker", str(files / "checker.py")],
    }[command]
    if command == "design":
        words += ["-o", str(files / "out.json")]
    before = sorted(files.iterdir())
    process = start(*words)
    writer = opened(pipe, process)
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=900)
    os.close(writer)
    said = b"" if "--json" in words else b"noisewright: interrupted.\n"
    assert (process.returncode, out, err) == (130, b"", said)
    assert sorted(files.iterdir()) == before


def test_a_spinner_only_on_a_terminal_and_only_after_a_second(files):
    pipe = files / "slow.csv"
    os.mkfifo(pipe)
    content = (files / "response.csv").read_bytes()
    assert output.SPINNER_AFTER == 1.0
    longer = "from noisewright.render import text as output; output.SPINNER_AFTER = 900\n"  # than any machine is busy
    for before, expected in ((longer, False), ("", True)):
        ours, theirs = os.openpty()
        process = start("audit", str(pipe), stderr=theirs, before=before)
        os.close(theirs)
        writer = opened(pipe, process)
        shown = b""
        while expected and b"auditing" not in shown:
            assert select.select([ours], [], [], 900)[0], "there is no spinner"
            shown += os.read(ours, 4096)
        os.write(writer, content)
        os.close(writer)
        assert process.stdout is not None
        page = process.stdout.read()
        process.stdout.close()
        assert process.wait(900) == 0
        try:
            while chunk := os.read(ours, 4096):
                shown += chunk
        except OSError:  # Linux says so when the other end is closed
            pass
        os.close(ours)
        assert (b"auditing" in shown) is expected
        assert b"auditing" not in page
        assert b"1.099" in page


def test_commands_are_quiet_about_themselves(shell, files):
    """Nothing is left in the working directory, and no home directory is needed."""
    work = files / "work"
    work.mkdir()
    done = subprocess.run(
        [*COMMAND, "design", "--json"],
        cwd=work,
        capture_output=True,
        env={**environment(), "HOME": "/nonexistent"},
        check=False,
    )
    assert done.returncode == 0
    assert list(work.iterdir()) == []
    shutil.rmtree(work)
