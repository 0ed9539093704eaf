from __future__ import annotations

import copy
import multiprocessing
import os
import pickle
import shutil
import subprocess
import sys
import threading

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from noise_support import Scripted, some_noise, some_words

from noisewright.exceptions import ParameterError
from noisewright.sampling import Bits, TableSampler, bits_from
from noisewright.sampling import random_bits as bits


def test_sources_say_what_they_are() -> None:
    system, simulated = bits_from(None), bits_from(np.random.default_rng(1))
    assert (system.for_release, system.label) == (True, "system seed, AES-256-CTR")
    assert (simulated.for_release, simulated.label) == (False, "numpy generator: simulation, not for release")
    own = Scripted([1, 2])
    assert bits_from(own) is own
    assert isinstance(own, Bits)


@pytest.mark.parametrize("bad", [7, "seed", np.random.RandomState(1), np.random, bits.SystemBits, object()])
def test_other_sources_are_refused(bad: object) -> None:
    with pytest.raises(ParameterError, match=r"rng is a .*must be None, a numpy.random.Generator or a Bits source"):
        bits_from(bad)


def test_a_seed_repeats_and_full_words_come_from_every_bit_generator() -> None:
    first, again = (bits_from(np.random.default_rng(3)).words(50) for _ in range(2))
    assert (first == again).all()
    # MT19937 makes 32 bits at a time: a source that took its raw output would never set the upper half.
    words = bits_from(np.random.Generator(np.random.MT19937(1))).words(1000)
    assert np.bitwise_or.reduce(words) == np.uint64(2**64 - 1)


def test_the_stream_is_aes_256_in_counter_mode_from_a_fresh_nonce_for_every_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    key, nonces = bytes(range(32)), [bytes(range(n, n + 16)) for n in range(100, 104)]
    seeds = iter([key, bytes(16), *nonces])
    monkeypatch.setattr(bits.os, "urandom", lambda n: next(seeds))
    stream = bits._Stream()
    got = [stream.words(n).tobytes() for n in (1, 4, 0, 5)]
    block = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
    for nonce, request in zip(nonces, got, strict=True):
        start = int.from_bytes(nonce, "big")
        expected = b"".join(block.update((start + i).to_bytes(16, "big")) for i in range(3))
        assert request == expected[: len(request)]
    assert [len(request) for request in got] == [8, 32, 0, 40]


def test_large_requests_are_complete_and_never_repeat() -> None:
    words = bits_from(None).words(300_000)
    assert words.dtype == np.uint64
    assert np.unique(words).size == 300_000  # a collision has probability 2.5e-9
    assert bits_from(None).words(0).size == 0
    # Ones among 19.2 million fair bits: eight standard deviations.
    ones = int(np.unpackbits(words.view(np.uint8)).sum())
    assert abs(ones - 32 * 300_000) < 8 * (16 * 300_000) ** 0.5


def test_a_new_key_is_taken_after_the_stated_volume(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    real = os.urandom
    monkeypatch.setattr(bits.os, "urandom", lambda n: (asked.append(n), real(n))[1])
    monkeypatch.setattr(bits, "REKEY_WORDS", 1000)
    stream = bits._Stream()
    drawn = np.concatenate([stream.words(400) for _ in range(5)])
    assert asked == [32, 16, 16, 16] * 2 + [32, 16, 16]  # two requests fit in each key, each with a nonce of its own
    assert np.unique(drawn).size == drawn.size


def test_copies_and_pickles_never_repeat_a_stream() -> None:
    source = bits_from(None)
    source.words(1)
    others = [copy.copy(source), copy.deepcopy(source), pickle.loads(pickle.dumps(source))]
    blocks = [source.words(100), *(other.words(100) for other in others), source.words(100)]
    assert np.unique(np.concatenate(blocks)).size == 500
    stream = bits._streams.stream
    for duplicate in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="cannot be copied or pickled"):
            duplicate(stream)


def test_threads_have_streams_of_their_own() -> None:
    source, drawn = bits_from(None), []

    def work() -> None:
        drawn.append((id(bits._streams.__dict__.get("stream")), source.words(500)))
        drawn.append((id(bits._streams.stream), source.words(500)))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert np.unique(np.concatenate([words for _, words in drawn])).size == 8000


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # newer Pythons warn where threads are about
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_worker_processes_do_not_repeat_the_parent_or_each_other(method: str) -> None:
    source = bits_from(None)
    before = source.words(500).tolist()  # the parent's stream exists when the children are made
    # One task for each worker, so that every child starts from the state it inherited.
    with multiprocessing.get_context(method).Pool(2, maxtasksperchild=1) as pool:
        children = pool.map(some_words, range(4 if method == "fork" else 2), chunksize=1)
    after = source.words(500).tolist()
    everything = before + after + [word for child in children for word in child]
    assert len(set(everything)) == len(everything)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # newer Pythons warn where threads are about
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_samplers_in_other_processes_and_their_copies_draw_different_noise(method: str) -> None:
    sampler = TableSampler([[1] * 256], width=8)
    sampler.draw(0)
    with multiprocessing.get_context(method).Pool(2, maxtasksperchild=1) as pool:
        drawn = pool.map(some_noise, [sampler] * (3 if method == "fork" else 2), chunksize=1)
    copies = [sampler, copy.copy(sampler), copy.deepcopy(sampler), pickle.loads(pickle.dumps(sampler))]
    drawn += map(some_noise, copies)
    for i in range(len(drawn)):
        for j in range(i):
            # 400 draws from 256 values agree in 1.6 places on average; 20 has probability below 1e-15.
            assert sum(a == b for a, b in zip(drawn[i], drawn[j], strict=True)) < 20


COPIES = """
import ctypes, os, signal, sys
from noisewright.sampling import bits_from

if sys.argv[1] == "forged":
    os.getpid = lambda: 1
source = bits_from(None)
source.words(1)
read, write = os.pipe()
libc = ctypes.PyDLL(None)
if sys.argv[1] == "namespace":  # a fork that runs no hooks of Python, into a new namespace
    clone_newpid, sys_clone = 0x20000000, {"x86_64": 56, "aarch64": 220}[os.uname().machine]
    child = libc.syscall(sys_clone, clone_newpid | signal.SIGCHLD, 0, 0, 0, 0)
else:
    child = libc.fork()
if child == 0:
    os.write(write, source.words(100).tobytes() + bytes([os.getpid()]))
    os._exit(0)
assert child > 0
theirs = os.read(read, 801)
assert theirs[800] == os.getpid() == 1, "parent and child have the same process id"
mine = source.words(100).tobytes()
words = {lot[8 * n : 8 * n + 8] for lot in (mine, theirs) for n in range(100)}
sys.exit(0 if len(words) == 200 else 3)
"""


@pytest.mark.parametrize("way", ["forged", "namespace"])
def test_a_copy_of_the_process_with_the_same_process_id_repeats_nothing(way: str) -> None:
    """A fork into a new namespace, made outside Python: neither a hook nor the process id tells."""
    inside = ["unshare", "--user", "--map-root-user", "--pid", "--fork"] if way == "namespace" else []
    if inside and (
        shutil.which("unshare") is None
        or subprocess.run([*inside, "true"], check=False, capture_output=True).returncode
    ):
        pytest.skip("no namespaces may be made here; the other way looks at the same")
    run = subprocess.run(
        [*inside, sys.executable, "-c", COPIES, way], check=False, capture_output=True, text=True, timeout=60
    )
    assert run.returncode == 0, run.stderr or "the copy repeated words"


def test_the_fork_hook_drops_the_streams_of_the_parent() -> None:
    bits_from(None).words(1)
    inherited = bits._streams.stream
    bits._forget_streams()
    bits_from(None).words(1)
    assert bits._streams.stream is not inherited
