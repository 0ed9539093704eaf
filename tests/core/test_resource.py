"""Public files are what their digest says, wherever they lie; public seeds give everybody the same stream."""

from __future__ import annotations

import copy
import hashlib
import os
import pickle
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pytest
from resource_support import forget_places

from noisewright import resources as resource
from noisewright.exceptions import ParameterError, ResourceError
from noisewright.resources import FOLDERS, Resource, Seed, in_place, locate, look_in, public_keys

CONTENT = np.arange(12, dtype="<f4").tobytes()
DIGEST = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture(autouse=True)
def _a_new_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(FOLDERS, raising=False)
    forget_places()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "weights.bin"
    path.write_bytes(CONTENT)
    return path


# Files --------------------------------------------------------------------------------------------------------------------


def test_a_file_is_its_name_its_digest_and_its_size(file: Path) -> None:
    found = Resource.at(file)
    assert (found.name, found.sha256, found.size) == ("weights.bin", DIGEST, 48)
    assert repr(found) == f"Resource('weights.bin', sha256 {DIGEST[:12]}..., 48 bytes)"
    assert Resource.from_json(found.to_json()) == found
    with pytest.raises(AttributeError, match="does not change"):
        found.name = "other"


def test_two_files_are_equal_by_content_alone(file: Path, tmp_path: Path) -> None:
    same, other = tmp_path / "copy.bin", tmp_path / "other.bin"
    same.write_bytes(CONTENT)
    other.write_bytes(CONTENT[::-1])
    assert Resource.at(file) == Resource.at(same) != Resource.at(other)
    assert len({Resource.at(file), Resource.at(same), Resource.at(other)}) == 2
    assert Resource.at(file) != DIGEST


def test_a_pickle_has_neither_content_nor_path(file: Path) -> None:
    found = Resource.at(file)
    found.open()
    content = pickle.dumps(found)
    assert len(content) < 250
    assert str(file.parent).encode() not in content
    assert CONTENT[-16:] not in content
    assert pickle.loads(content) == copy.deepcopy(found) == found


def test_the_content_is_mapped_once_and_cannot_be_changed(file: Path) -> None:
    found, again = Resource.at(file), Resource("weights.bin", DIGEST, 48)
    assert np.shares_memory(found.open(), again.open())
    assert np.shares_memory(found.open(), found.array("<f4", (3, 4)))
    assert found.array("<f4", (3, 4))[1].tolist() == [4, 5, 6, 7]
    assert found.array("<f4", 2, offset=40).tolist() == [10, 11]
    assert found.array("<f4").shape == (12,)
    assert found.bytes == CONTENT
    with pytest.raises(ValueError, match="read-only"):
        found.array("<f4")[0] = 1


@pytest.mark.parametrize(
    ("dtype", "shape", "offset"),
    [("<f4", (4, 4), 0), ("<f4", None, 2), ("<f4", None, 49), ("O", None, 0), ("<f4", None, -4), ("<f4", (2, -1), 0)],
)
def test_an_array_that_the_file_does_not_hold_is_refused(file: Path, dtype: str, shape: object, offset: int) -> None:
    with pytest.raises(ParameterError, match=r"public file"):
        Resource.at(file).array(dtype, shape, offset)


def test_an_empty_file_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    assert Resource.at(tmp_path / "empty").bytes == b""


def test_the_digest_is_computed_once(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = []
    real = hashlib.file_digest
    monkeypatch.setattr(hashlib, "file_digest", lambda f, kind: read.append(f.name) or real(f, kind))
    for _ in range(3):
        Resource.at(file).open()
    threads = [threading.Thread(target=Resource.at(file).open) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(read) == 1


def test_a_changed_file_is_refused_before_and_after_it_was_opened(file: Path) -> None:
    found = Resource.at(file)
    for content in (CONTENT[::-1], CONTENT + b"more"):
        file.write_bytes(content)
        os.utime(file, ns=(len(content), len(content)))
        with pytest.raises(ResourceError, match=rf"'weights.bin' was changed.*{DIGEST[:12]}\.\.\.\); put that one"):
            found.open()
        file.write_bytes(CONTENT)
        assert found.bytes == CONTENT


def test_a_file_that_was_rewritten_in_place_with_its_old_times_is_refused(file: Path) -> None:
    named, before = Resource.at(file), file.stat()
    assert named.bytes == CONTENT
    file.write_bytes(CONTENT[::-1])
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert named.place() is None
    with pytest.raises(ResourceError, match="was changed"):
        named.open()


def test_a_file_that_changes_while_it_is_read_is_refused(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(content: BinaryIO, name: str) -> Any:
        found = hashlib.new(name, content.read())
        with file.open("ab") as more:
            more.write(b"more")
        return found

    monkeypatch.setattr(resource.hashlib, "file_digest", slow)
    with pytest.raises(ResourceError, match="it changes while it is read"):
        Resource.at(file)


@pytest.mark.skipif(not Path("/proc/cpuinfo").exists(), reason="files without a size are Linux's")
def test_a_file_that_holds_more_than_its_size_says_is_refused() -> None:
    with pytest.raises(ResourceError, match="cannot be read"):
        Resource.at("/proc/cpuinfo")


@pytest.mark.parametrize("path", [3, None, b"weights.bin"])
def test_a_path_is_text(path: Any) -> None:
    with pytest.raises(ParameterError, match="a path, which is text"):
        Resource.at(path)


def test_folders_of_nobody_are_passed_over(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FOLDERS, os.pathsep.join(["~nobody-of-this-name/files", str(tmp_path / "none"), str(tmp_path)]))
    assert locate(DIGEST, len(CONTENT)) == file


def test_a_missing_file_is_refused_in_one_sentence_with_its_name_and_digest(file: Path) -> None:
    found = Resource.at(file)
    found.open()
    file.unlink()
    with pytest.raises(ResourceError) as caught:
        found.open()
    assert str(caught.value) == (
        f"the public file 'weights.bin' (sha256 {DIGEST[:12]}...) is not here; put it into a folder that the environment "
        "variable NOISEWRIGHT_RESOURCES names."
    )


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda p: p / "none.bin", "there is no file"),
        (lambda p: p, "is not a file; name one public file, not a folder"),
        (lambda p: "/dev/null", "is not a file"),
        (lambda p: p / "*.bin", "there is no file"),
        (lambda p: "a\0b", "cannot be read"),
    ],
)
def test_what_is_no_file_is_refused(file: Path, make: object, words: str) -> None:
    with pytest.raises(ResourceError, match=words):
        Resource.at(make(file.parent))


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ResourceError, match="is not a file"):
        Resource.at(tmp_path / "pipe")


@pytest.mark.parametrize(
    "parts",
    [
        ("a/b", DIGEST, 1),
        ("..", DIGEST, 1),
        ("", DIGEST, 1),
        ("a\nb", DIGEST, 1),
        ("a", DIGEST.upper(), 1),
        ("a", 7, 1),
        ("a", DIGEST, -1),
        ("a", DIGEST, True),
    ],
)
def test_a_resource_that_is_stated_badly_is_refused(parts: tuple[object, ...]) -> None:
    with pytest.raises(ParameterError):
        Resource(*parts)


def test_a_file_is_found_in_the_folders_of_the_environment_by_size_and_digest(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = Resource("whatever.bin", DIGEST, 48)
    assert wanted.place() is None
    (tmp_path / "elsewhere").mkdir()
    (file.parent / "alike.bin").write_bytes(CONTENT[::-1])  # of the same size
    monkeypatch.setenv(FOLDERS, os.pathsep.join([str(tmp_path / "none"), str(tmp_path / "elsewhere"), str(tmp_path)]))
    assert wanted.place() == file
    assert wanted.bytes == CONTENT
    assert locate(DIGEST) is None  # without a size, only a file that is called by its digest
    file.rename(tmp_path / "elsewhere" / DIGEST)
    assert locate(DIGEST) == tmp_path / "elsewhere" / DIGEST


def test_a_file_that_is_only_called_by_the_digest_is_not_taken(tmp_path: Path) -> None:
    look_in(tmp_path)
    (tmp_path / DIGEST).write_bytes(CONTENT[::-1])
    assert Resource("weights.bin", DIGEST, 48).place() is None


def test_in_another_process_it_is_found_by_digest(file: Path) -> None:
    script = (
        "import pickle, sys\nfound = pickle.loads(sys.stdin.buffer.read())\n"
        "try:\n    print(float(found.array('<f4').sum()))\nexcept Exception as problem:\n    print(problem)"
    )
    said = []
    for folders in ({}, {FOLDERS: str(file.parent)}):
        done = subprocess.run(
            [sys.executable, "-c", script],
            input=pickle.dumps(Resource.at(file)),
            env={**os.environ, **folders},
            capture_output=True,
            check=True,
        )
        said.append(done.stdout.decode().strip())
    assert "is not here" in said[0]
    assert said[1] == "66.0"


def test_what_is_here_and_what_is_not_in_words(file: Path) -> None:
    here, missing = in_place([Resource.at(file), Resource("other.bin", "0" * 64, 3)])
    assert here == [f"the file weights.bin (sha256 {DIGEST[:12]}...) is here, with this digest"]
    assert missing == [
        "the file other.bin (sha256 000000000000...) is not here: what depends on its content was not checked"
    ]


def test_the_keys_of_a_certificate_are_there_only_where_there_is_something_to_say(file: Path) -> None:
    assert public_keys() == {}
    twice = public_keys([Resource.at(file), Resource.at(file)], Seed(bytes(32)))
    assert twice == {"resources": [{"name": "weights.bin", "sha256": DIGEST, "bytes": 48}], "seed": "00" * 32}


# Seeds --------------------------------------------------------------------------------------------------------------------


def by_the_book(seed: bytes, words: list[str], count: int) -> bytes:
    """The construction as it is written down, once more."""
    eight = lambda n: n.to_bytes(8, "little")  # noqa: E731
    head = (
        b"noisewright-seed-1" + seed + eight(len(words)) + b"".join(eight(len(w.encode())) + w.encode() for w in words)
    )
    blocks = [hashlib.shake_256(head + eight(i)).digest(4096) for i in range(-(-count // 4096))]
    return b"".join(blocks)[:count]


def test_the_stream_is_the_one_that_is_written_down_however_it_is_read() -> None:
    seed = Seed.from_hex("ab" * 32)
    expected = by_the_book(b"\xab" * 32, ["axis", "é", "3"], 10_000)
    assert seed.generator("axis", "é", 3).bytes(10_000) == expected
    pieces = seed.generator("axis", "é", 3)
    assert b"".join(pieces.bytes(n) for n in (0, 1, 4095, 1, 5000, 903)) == expected
    bits = seed.generator("axis", "é", 3).bits(20)
    assert bits.tolist() == [bool(expected[i // 8] >> (i % 8) & 1) for i in range(20)]


def test_other_words_and_other_seeds_give_other_streams() -> None:
    seed = Seed.fresh()
    streams = [
        seed.generator(*words).bytes(16) for words in ((), ("",), ("ab",), ("a", "b"), ("b", "a"), ("a", "b", ""))
    ]
    assert len({*streams, Seed.fresh().generator().bytes(16)}) == 7


def test_whole_numbers_are_made_of_eight_bytes_each_and_the_excess_is_thrown_away() -> None:
    seed, below = Seed.from_hex("cd" * 32), 3 << 61  # a quarter of all numbers is thrown away
    words = np.frombuffer(by_the_book(b"\xcd" * 32, ["n"], 8000), "<u8").tolist()
    kept = [w % below for w in words if w < (1 << 64) - (1 << 64) % below]
    stream = seed.generator("n")
    assert [*stream.integers(below, 100).tolist(), *stream.integers(below, 400).tolist()] == kept[:500]
    assert seed.generator().integers(7, 0).tolist() == []
    assert set(seed.generator().integers(4, 200).tolist()) == {0, 1, 2, 3}
    for bad in (0, 1 << 63):
        with pytest.raises(ParameterError, match="below must be"):
            seed.generator().integers(bad, 1)


def test_less_than_nothing_is_refused() -> None:
    stream = Seed(bytes(32)).generator()
    for draw in (stream.bytes, stream.bits, lambda count: stream.integers(3, count)):
        with pytest.raises(ParameterError, match=r"0 .* or more"):
            draw(-1)
    assert stream.bytes(5) == Seed(bytes(32)).generator().bytes(5)


def test_a_seed_is_its_32_bytes() -> None:
    seed = Seed.fresh()
    assert Seed.from_hex(seed.hex.upper()) == seed == pickle.loads(pickle.dumps(seed)) != Seed.fresh()
    assert hash(Seed(seed.bytes)) == hash(seed)
    assert repr(seed) == f"Seed({seed.hex[:12]}...)"
    with pytest.raises(AttributeError, match="does not change"):
        seed.bytes = b""


@pytest.mark.parametrize("bad", ["", "0" * 63, "g" * 64, "0x" + "0" * 62, " " + "0" * 64, 7, None, "٠" * 64])
def test_what_is_no_seed_is_refused(bad: object) -> None:
    with pytest.raises(ParameterError, match="key must be 64 hexadecimal digits"):
        Seed.from_hex(bad, "key")
    with pytest.raises(ParameterError, match="32 bytes"):
        Seed(b"short")


def test_this_process_forgets_for_the_tests(file: Path) -> None:
    Resource.at(file)
    assert resource._places
    forget_places()
    assert Resource("weights.bin", DIGEST, 48).place() is None
