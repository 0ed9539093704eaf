"""Outputs appear whole or not at all: errors, signals, full disks, kills at random moments."""

from __future__ import annotations

import errno
import os
import re
import signal
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from noisewright.exceptions import FileFormatError, ParameterError
from noisewright.io import atomic as renames
from noisewright.io.atomic import exchange, rename_new, write_atomically
from noisewright.policy.policy import Policy
from noisewright.releases import staging
from noisewright.releases.lock import LOCK, Given, Lock, Making
from noisewright.releases.staging import Staging

POLICY = Policy.from_dict(
    {"dataset": "d", "budget": {"epsilon": 1}, "queries": [{"name": "n", "aggregate": "count", "epsilon": 1}]}
)


def fill(folder: Path, text: str) -> None:
    """An output like that of a release: some files, and the lock that lists them."""
    (folder / "rows").mkdir()
    write_atomically(folder / "certificate.json", text.encode())
    (folder / "rows" / "part.csv").write_text(text)
    outputs = {name: folder / name for name in ("certificate.json", "rows")}
    lock = Lock.build(POLICY, Making("r", "local", simulated=True), Given("", bytes(32)), outputs)
    (folder / LOCK).write_text(lock.to_json())


def made(target: Path, text: str, **options: object) -> None:
    with Staging(target, **options) as work:  # type: ignore[arg-type]
        fill(work.folder, text)
        work.publish()


def seen(target: Path) -> dict[str, str]:
    return {str(p.relative_to(target)): p.read_text() for p in target.rglob("*") if p.is_file() and p.name != LOCK}


def names(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir())


def whole(text: str) -> dict[str, str]:
    return {"certificate.json": text, "rows/part.csv": text}


def test_an_output_appears_when_it_is_published_and_not_before(tmp_path):
    with Staging(tmp_path / "out") as work:
        fill(work.folder, "new")
        assert work.folder.parent == tmp_path
        assert re.fullmatch(rf"\.out\.{os.getpid()}-\d+-\w+-\w+\.staging", work.folder.name)
        assert not (tmp_path / "out").exists()
        work.publish()
        assert seen(tmp_path / "out") == whole("new")
    assert names(tmp_path) == ["out"]


def test_without_publish_nothing_is_left(tmp_path):
    with Staging(tmp_path / "out") as work:
        fill(work.folder, "new")
    assert names(tmp_path) == []


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, MemoryError])
def test_after_an_error_the_old_output_is_untouched(tmp_path, error):
    made(tmp_path / "out", "old")

    def fail() -> None:
        with Staging(tmp_path / "out", replace=True) as work:
            fill(work.folder, "new")
            raise error

    with pytest.raises(error):
        fail()
    assert names(tmp_path) == ["out"]
    assert seen(tmp_path / "out") == whole("old")


def test_a_target_that_is_there_is_replaced_only_when_asked(tmp_path):
    made(tmp_path / "out", "old")
    with pytest.raises(
        ParameterError, match=r"^.*out is there already; choose another name, or replace it: replace=True, --replace\.$"
    ):
        made(tmp_path / "out", "new")
    assert seen(tmp_path / "out") == whole("old")
    made(tmp_path / "out", "new", replace=True)
    assert seen(tmp_path / "out") == whole("new")
    assert names(tmp_path) == ["out"]


def test_a_target_that_appears_meanwhile_is_not_overwritten(tmp_path):
    with Staging(tmp_path / "out") as work:
        fill(work.folder, "mine")
        (tmp_path / "out").mkdir()
        fill(tmp_path / "out", "theirs")
        with pytest.raises(ParameterError, match="is there already"):
            work.publish()
    assert seen(tmp_path / "out") == whole("theirs")
    assert names(tmp_path) == ["out"]


def test_a_folder_that_is_no_output_is_never_replaced(tmp_path):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.txt").write_text("years of work")
    with pytest.raises(ParameterError, match=r"is not replaced, because it holds 'chapter\.txt', which is no part"):
        made(tmp_path / "thesis", "new", replace=True)
    (tmp_path / "note").write_text("mine")
    with pytest.raises(ParameterError, match="is a file, and the output is a folder"):
        made(tmp_path / "note", "new", replace=True)
    assert seen(tmp_path / "thesis") == {"chapter.txt": "years of work"}
    assert names(tmp_path) == ["note", "thesis"]
    (tmp_path / "empty").mkdir()
    made(tmp_path / "empty", "new", replace=True)
    assert seen(tmp_path / "empty") == whole("new")
    with pytest.raises(ParameterError, match="name a folder in it"):
        made(Path("/"), "new", replace=True)


@pytest.mark.parametrize("name", ["my_notes.txt", "rows/_mine.txt", ".hidden", "more/notes.txt"])
def test_an_output_with_somebodys_files_in_it_is_never_replaced(tmp_path, name):
    made(tmp_path / "out", "old")
    note = tmp_path / "out" / name
    note.parent.mkdir(exist_ok=True)
    note.write_text("years of work")
    said = re.escape(repr(name.partition("/")[0] if name.startswith("more") else name))
    with pytest.raises(ParameterError, match=rf"is not replaced, because it holds {said}, .*; move that away"):
        made(tmp_path / "out", "new", replace=True)
    assert seen(tmp_path / "out") == {**whole("old"), name: "years of work"}
    note.unlink()
    if name.startswith("more"):
        note.parent.rmdir()
    with Staging(tmp_path / "out", replace=True) as work:
        fill(work.folder, "new")
        (tmp_path / "out" / "late.txt").write_text("written meanwhile")
        with pytest.raises(ParameterError, match=r"'late\.txt'"):
            work.publish()
    assert seen(tmp_path / "out") == {**whole("old"), "late.txt": "written meanwhile"}


def test_a_link_to_an_output_stays_a_link(tmp_path):
    made(tmp_path / "out", "old")
    (tmp_path / "latest").symlink_to("out")
    made(tmp_path / "latest", "new", replace=True)
    assert (tmp_path / "latest").is_symlink()
    assert seen(tmp_path / "out") == whole("new")


def test_a_missing_or_impossible_place_is_one_sentence(tmp_path):
    with pytest.raises(FileFormatError, match=rf"cannot be written: there is no folder {tmp_path}/no\.$"):
        made(tmp_path / "no" / "out", "new")
    (tmp_path / "file").write_text("")
    with pytest.raises(FileFormatError, match="there is no folder"):
        made(tmp_path / "file" / "out", "new")
    with pytest.raises(FileFormatError, match="cannot be the name of an output"):
        made(tmp_path / "a\0b", "new")
    with pytest.raises(FileFormatError, match=r"cannot be written: File name too long\."):
        made(tmp_path / ("n" * 250), "new")
    assert names(tmp_path) == ["file"]


# Where folders cannot be exchanged in one step ---------------------------------------------------------------------------


def test_names_are_exchanged_and_never_overwritten(tmp_path, monkeypatch):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    (tmp_path / "a" / "x").write_text("")
    if exchange(tmp_path / "a", tmp_path / "b"):
        assert names(tmp_path / "b") == ["x"]
        exchange(tmp_path / "a", tmp_path / "b")
    for offered in (True, False):
        if not offered:
            monkeypatch.setattr(renames, "_system_call", lambda: None)
        with pytest.raises(FileExistsError):  # POSIX would replace the empty folder
            rename_new(tmp_path / "a", tmp_path / "b")
        (tmp_path / "one").write_text("1")
        (tmp_path / "two").write_text("2")
        with pytest.raises(FileExistsError):
            rename_new(tmp_path / "one", tmp_path / "two")
        assert (tmp_path / "one").read_text() + (tmp_path / "two").read_text() == "12"
    rename_new(tmp_path / "one", tmp_path / "three")
    rename_new(tmp_path / "a", tmp_path / "c")
    assert names(tmp_path) == ["b", "c", "three", "two"]
    assert not exchange(tmp_path / "b", tmp_path / "c")


def test_without_an_exchange_the_output_is_replaced_in_two_steps(tmp_path, monkeypatch):
    monkeypatch.setattr(renames, "_system_call", lambda: None)
    made(tmp_path / "out", "old")
    made(tmp_path / "out", "new", replace=True)
    assert seen(tmp_path / "out") == whole("new")
    assert names(tmp_path) == ["out"]


def test_if_the_second_step_fails_the_old_output_is_put_back(tmp_path, monkeypatch):
    monkeypatch.setattr(renames, "_system_call", lambda: None)
    made(tmp_path / "out", "old")
    real = staging.rename_new

    def fails(source: Path, target: Path) -> None:
        if source.name.endswith(".staging"):
            raise OSError(errno.EIO, "Input/output error")
        real(source, target)

    monkeypatch.setattr(staging, "rename_new", fails)
    with pytest.raises(FileFormatError, match=r"cannot be written: Input/output error\."):
        made(tmp_path / "out", "new", replace=True)
    assert names(tmp_path) == ["out"]
    assert seen(tmp_path / "out") == whole("old")


# Processes that end ---------------------------------------------------------------------------------------------------


def run(script: str, *arguments: object, **options: object) -> subprocess.Popen[str]:
    """A process of its own that has the names of this file's imports."""
    head = """
        import os, random, resource, signal, sys, time
        from pathlib import Path
        from noisewright.exceptions import NoisewrightError
        from noisewright.io import atomic as renames
        from noisewright.releases import staging
        from noisewright.releases.staging import Staging
        for ending in (signal.SIGTERM, signal.SIGHUP):  # whatever the tests themselves were started with
            signal.signal(ending, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        target = Path(sys.argv[1])
        """
    code = textwrap.dedent(head) + textwrap.dedent(script)
    process = subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,  # type: ignore[call-overload]
    )
    RUNNING.append(process)
    return process


RUNNING: list[subprocess.Popen[str]] = []


@pytest.fixture(autouse=True)
def _no_process_outlives_its_test() -> Iterator[None]:
    yield
    while RUNNING:
        process = RUNNING.pop()
        process.kill()
        process.communicate()


def outcome(process: subprocess.Popen[str]) -> tuple[int, str]:
    out, err = process.communicate(timeout=900)
    assert err == ""
    return process.returncode, out


@pytest.mark.parametrize(("ending", "code"), [("SIGTERM", 143), ("SIGHUP", 129), ("SIGINT", 130)])
def test_a_signal_to_end_leaves_the_old_output_and_nothing_else(tmp_path, ending, code):
    made(tmp_path / "out", "old")
    process = run(
        """
        try:
            with Staging(target, replace=True) as work:
                (work.folder / "certificate.json").write_text("new")
                print("ready", flush=True)
                time.sleep(100)
        except KeyboardInterrupt:
            sys.exit(130)
        """,
        tmp_path / "out",
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    assert len(names(tmp_path)) == 2
    process.send_signal(getattr(signal, ending))
    assert outcome(process) == (code, "")
    assert names(tmp_path) == ["out"]
    assert seen(tmp_path / "out") == whole("old")


@pytest.mark.parametrize("ending", ["SIGTERM", "SIGHUP"])
def test_signals_are_given_back_and_one_that_is_ignored_stays_ignored(tmp_path, ending):
    number = getattr(signal, ending)
    before = signal.signal(number, signal.SIG_DFL)
    try:
        with Staging(tmp_path / "out"):
            assert signal.getsignal(number) is not signal.SIG_DFL
        assert signal.getsignal(number) is signal.SIG_DFL
        for own in (signal.SIG_IGN, lambda *_: None):
            signal.signal(number, own)
            with Staging(tmp_path / "out"):
                assert signal.getsignal(number) is own
                os.kill(os.getpid(), number)
            assert signal.getsignal(number) is own
    finally:
        signal.signal(number, before)


def test_under_nohup_a_hangup_ends_nothing(tmp_path):
    process = run(
        """
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        with Staging(target) as work:
            os.kill(os.getpid(), signal.SIGHUP)
            (work.folder / "certificate.json").write_text("new")
            work.publish()
        """,
        tmp_path / "out",
    )
    assert outcome(process) == (0, "")
    assert seen(tmp_path / "out") == {"certificate.json": "new"}


def test_a_forked_child_does_not_remove_its_parents_folder(tmp_path):
    process = run(
        """
        with Staging(target) as work:
            (work.folder / "certificate.json").write_text("parent")
            child = os.fork()
            if not child:
                work.__exit__(None, None, None)
                os._exit(0)
            os.waitpid(child, 0)
            print(work.folder.exists())
            work.publish()
        """,
        tmp_path / "out",
    )
    assert outcome(process) == (0, "True\n")
    assert seen(tmp_path / "out") == {"certificate.json": "parent"}


@pytest.mark.parametrize("bytes_in_all", [70_000, 300_000])
def test_a_full_disk_is_one_sentence_and_leaves_nothing(tmp_path, bytes_in_all):
    """A limit on the size of files stands for the disk: the system refuses the write in the same way."""
    made(tmp_path / "out", "old")
    process = run(
        """
        resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))
        try:
            with Staging(target, replace=True) as work:
                with open(work.folder / "certificate.json", "wb") as file:
                    file.write(bytes(int(sys.argv[2])))
                work.publish()
        except NoisewrightError as problem:
            print(problem)
        """,
        tmp_path / "out",
        bytes_in_all,
    )
    assert outcome(process) == (0, f"{tmp_path}/out cannot be written: File too large.\n")
    assert names(tmp_path) == ["out"]
    assert seen(tmp_path / "out") == whole("old")


def test_no_space_left_is_said_of_the_target_and_other_errors_are_not(tmp_path):
    said = rf"^{tmp_path}/out cannot be written: No space left on device\.$"
    with (
        open("/dev/full", "wb", buffering=0) as full,
        pytest.raises(FileFormatError, match=said),
        Staging(tmp_path / "out"),
    ):
        full.write(b"x")
    with pytest.raises(FileNotFoundError), Staging(tmp_path / "out"):
        (tmp_path / "missing").read_text()
    assert names(tmp_path) == []


def test_a_folder_that_may_not_be_written_is_one_sentence():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o555)
        process = run(
            """
            work = Staging(target)  # loads what it needs while everything may be read
            if os.geteuid() == 0:  # whom nothing is forbidden
                os.setuid(65534)
            try:
                with work:
                    print("written")
            except NoisewrightError as problem:
                print(problem)
            """,
            folder / "out",
        )
        assert outcome(process) == (0, f"{folder}/out cannot be written: Permission denied.\n")
        assert names(folder) == []
        folder.chmod(0o755)


# What dead processes left behind -----------------------------------------------------------------------------------------


def test_leftovers_of_the_dead_are_removed_and_those_of_the_living_are_not(tmp_path):
    dead = run(
        """
        work = Staging(target).__enter__()
        (work.folder / "certificate.json").write_text("half")
        os.kill(os.getpid(), signal.SIGKILL)
        """,
        tmp_path / "out",
    )
    assert outcome(dead)[0] == -signal.SIGKILL
    left = names(tmp_path)
    assert len(left) == 1
    elsewhere = re.sub(
        r"-[0-9a-f]{12}-", "-000000000000-", left[0]
    )  # another machine or container: nobody here can know
    reused = left[0].replace(f".{dead.pid}-", f".{os.getpid()}-")  # our number, but not our start time
    strange = [elsewhere, ".out.notes.staging", ".outer.1-2-abc-d.staging"]
    for name in [reused, *strange]:
        (tmp_path / name).mkdir()
    with Staging(tmp_path / "out") as alive:
        with pytest.raises(ParameterError, match="is being written by another process; wait for its end"):
            Staging(tmp_path / "out").__enter__()
        with Staging(tmp_path / "other"):
            assert len(names(tmp_path)) == len([*strange, "out", "other"])
        assert names(tmp_path) == sorted([*strange, alive.folder.name])
        alive.publish()
    assert names(tmp_path) == sorted([*strange, "out"])


def test_an_output_moved_aside_by_a_process_that_died_is_put_back(tmp_path):
    made(tmp_path / "out", "old")
    dead = run(
        """
        renames._system_call = lambda: None
        staging.rename_new = lambda source, target: os.kill(os.getpid(), signal.SIGKILL)
        with Staging(target, replace=True) as work:
            (work.folder / "certificate.json").write_text("new")
            work.publish()
        """,
        tmp_path / "out",
    )
    assert outcome(dead)[0] == -signal.SIGKILL
    assert [name.rpartition(".")[2] for name in names(tmp_path)] == ["backup", "staging"]
    with pytest.raises(ParameterError, match="is there already"):
        made(tmp_path / "out", "newer", sealed_at=lambda folder: True)
    assert names(tmp_path) == ["out"]
    assert seen(tmp_path / "out") == whole("old")


def test_a_planted_backup_is_never_put_back_and_is_said(tmp_path):
    """Anybody who may write here can make a folder with the name of a backup, of a process that has surely ended."""
    ended = run("print(staging.started(os.getpid()), staging.place())", tmp_path / "out")
    begun, where = outcome(ended)[1].split()
    planted = tmp_path / f".out.{ended.pid}-{begun}-{where}-abcd.backup"
    planted.mkdir()
    fill(planted, "planted")
    for sealed_at in (None, lambda folder: False):
        with pytest.raises(
            ParameterError, match=r"backup may be the earlier output 'out'.*nothing proves it; look at it"
        ):
            made(tmp_path / "out", "new", replace=True, sealed_at=sealed_at)
        assert names(tmp_path) == [planted.name]
    asked = []
    with pytest.raises(ParameterError, match="is there already"):
        made(tmp_path / "out", "new", sealed_at=lambda folder: not asked.append(folder))
    assert asked == [planted]
    assert seen(tmp_path / "out") == whole("planted")


def test_a_folder_called_like_a_backup_with_somebodys_files_is_not_removed(tmp_path):
    ended = run("print(staging.started(os.getpid()), staging.place())", tmp_path / "out")
    begun, where = outcome(ended)[1].split()
    theirs = tmp_path / f".out.{ended.pid}-{begun}-{where}-abcd.backup"
    theirs.mkdir()
    (theirs / "chapter.txt").write_text("years of work")
    ours = theirs.with_name(theirs.name.replace("abcd", "ef01"))
    ours.mkdir()
    fill(ours, "older")
    (tmp_path / "out").mkdir()
    made(tmp_path / "out", "new", replace=True)
    assert names(tmp_path) == [theirs.name, "out"]
    assert seen(theirs) == {"chapter.txt": "years of work"}


KILLS = """
    random.seed(7)
    if sys.argv[2] == "two steps":
        renames._system_call = lambda: None
    marks = target.parent / "marks"
    missing, version, wrong = 0, 0, []
    for kill in range(60):
        begun, begin = os.pipe()
        child = os.fork()
        if not child:
            os.write(begin, b"x")
            for number in range(version + 1, version + 100_000):
                with Staging(target, replace=True, foreign=lambda folder: None, sealed_at=lambda folder: True) as work:
                    for name in ("certificate.json", "rows.csv", "report.html"):
                        (work.folder / name).write_text(f"{number} " * 1000)
                    work.publish()
                marks.write_text(str(number))
            os._exit(0)
        os.read(begun, 1)
        os.close(begun), os.close(begin)
        while kill % 2 and not (marks.exists() and int(marks.read_text() or 0) > version):
            time.sleep(0.001)  # every other time, an output has been published
        time.sleep(random.expovariate(1 / 0.03))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        if version and not target.exists():
            missing += 1
            staging.clean(target, lambda folder: True)
        if target.exists():
            found = [path.read_text() for path in target.iterdir()]
            value = int(found[0].split()[0])
            reached = int(marks.read_text() or 0) if marks.exists() else 0
            if found != [f"{value} " * 1000] * 3 or value < max(version, reached):
                wrong.append((value, version, reached, list(map(len, found))))
            version = value
        elif version:
            wrong.append("lost")
    with Staging(target, replace=True, foreign=lambda folder: None, sealed_at=lambda folder: True):
        pass
    print(missing, wrong, version >= 30, *sorted(path.name for path in target.parent.iterdir()))
"""


def test_killed_at_random_moments_there_is_always_a_whole_output(tmp_path):
    """60 kills while outputs replace each other without a pause: never torn, never older than one that was published."""
    code, said = outcome(run(KILLS, tmp_path / "out", "one step"))
    assert (code, said) == (0, "0 [] True marks out\n")


def test_killed_at_random_moments_the_two_steps_lose_nothing_either(tmp_path):
    """The output may be missing for a moment, but the next use finds it again."""
    code, said = outcome(run(KILLS, tmp_path / "out", "two steps"))
    assert code == 0
    assert said.split(maxsplit=1)[1] == "[] True marks out\n"
