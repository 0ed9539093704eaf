r"""The one doorway to randomness: every sampler of the library takes its bits from here.

A source is anything with ``words(count)``, which returns ``count`` independent, uniform 64-bit words. Two kinds come
with the library:

* the **system source** (``rng=None``): the AES-256-CTR keystream under a key from the operating system, with a fresh
  nonce of 128 bits from the operating system for every request. Therefore, no copy of a process repeats a keystream: no
  forked child, also in another process-id namespace, and no process restored from a checkpoint. Each thread has its own
  key, taken again in a child that Python forks and after every 64 MiB, so that a stolen key says nothing about noise
  drawn long before. Predicting the stream is as hard as breaking AES;
* a **numpy generator**, for simulations and tests: repeatable, hence guessable, and marked ``for_release = False``.

>>> bits_from(None).label
'system seed, AES-256-CTR'
>>> bits_from(np.random.default_rng(7)).for_release
False

The construction is the CTR mode of NIST SP 800-38A (2001), with key and nonces from ``os.urandom``. Under one key at
most 2**23 requests are made, of at most 2**16 blocks each: two of them share a block with a probability below 2**-64.
"""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from noisewright.core.certificates.certificate import RELEASE_RANDOMNESS, SIMULATION_RANDOMNESS
from noisewright.core.errors import ParameterError

__all__ = ["Bits", "GeneratorBits", "Rng", "SystemBits", "bits_from", "half_words", "quarter_words"]

REKEY_WORDS = 1 << 23
"""A system stream takes a new key after this many 64-bit words (64 MiB)."""

MOST_WORDS = 1 << 17
"""A request under one nonce has at most this many words (1 MiB)."""

_ZEROS = memoryview(bytes(8 * MOST_WORDS))


@runtime_checkable
class Bits(Protocol):
    """A source of independent uniform bits."""

    @property
    def for_release(self) -> bool:
        """Return whether noise made from these bits may protect real data."""

    @property
    def label(self) -> str:
        """Description of the source in a certificate."""

    def words(self, count: int) -> NDArray[np.uint64]:
        """The next ``count`` words, each uniform on 0, ..., 2**64 - 1; the array may be read-only."""


Rng: TypeAlias = "np.random.Generator | Bits | None"
"""Type of ``rng`` of every sampler; None for a release."""


def bits_from(rng: Rng = None) -> Bits:
    """The source that ``rng`` stands for.

    ``None`` is the system source of this process and thread, the only one to use for a release. A numpy ``Generator``
    is for simulations. A source of one's own (see :class:`Bits`) is used as it is.

    >>> bits_from(None).words(3).shape
    (3,)
    """
    if rng is None:
        return SystemBits()
    if isinstance(rng, SystemBits | GeneratorBits):  # looked at first: to ask for a protocol takes longer than a draw
        return rng
    if isinstance(rng, Bits) and not isinstance(rng, type):
        return rng
    if isinstance(rng, np.random.Generator):  # which is loaded by now: NumPy loads this part when it is first asked for
        return GeneratorBits(rng)
    raise ParameterError(
        f"rng is a {type(rng).__name__}, but must be None, a numpy.random.Generator or a Bits source; leave it out for "
        "a release, or give numpy.random.default_rng(seed) for a simulation."
    )


@dataclass(frozen=True)
class SystemBits:
    """The AES-256-CTR stream of the calling thread.

    The object is a handle and holds no key: the stream belongs to the (process, thread) that asks, and every request
    begins at a place in it that the operating system draws. Therefore, a copy, a pickle sent to a worker, or a child
    forked from this process never repeats words that were already handed out.

    >>> import pickle
    >>> one = SystemBits()
    >>> other = pickle.loads(pickle.dumps(one))
    >>> bool((one.words(4) == other.words(4)).any())
    False
    """

    @property
    def for_release(self) -> bool:
        return True

    @property
    def label(self) -> str:
        return RELEASE_RANDOMNESS

    def words(self, count: int) -> NDArray[np.uint64]:
        try:
            stream: _Stream = _streams.stream
        except AttributeError:
            stream = _streams.stream = _Stream()
        return stream.words(count)


@dataclass(frozen=True)
class GeneratorBits:
    """A numpy generator as a source of bits: for simulations and tests only, because its seed reproduces the noise."""

    generator: np.random.Generator

    @property
    def for_release(self) -> bool:
        return False

    @property
    def label(self) -> str:
        return SIMULATION_RANDOMNESS

    def words(self, count: int) -> NDArray[np.uint64]:
        return self.generator.integers(0, 1 << 64, size=count, dtype=np.uint64)


def half_words(bits: Bits, count: int) -> NDArray[np.uint32]:
    """``count`` uniform 32-bit words: the two halves of each 64-bit word, the lower one first on little-endian
    machines."""
    return np.ascontiguousarray(bits.words((count + 1) // 2)).view(np.uint32)[:count]


def quarter_words(bits: Bits, count: int) -> NDArray[np.uint16]:
    """``count`` uniform 16-bit words: the four quarters of each 64-bit word."""
    return np.ascontiguousarray(bits.words((count + 3) // 4)).view(np.uint16)[:count]


class _Stream:
    """One keyed stream: used by one thread of one process, and harmless where the system copies the whole process."""

    def __init__(self) -> None:
        self._rekey()

    def _rekey(self) -> None:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

        self._left = REKEY_WORDS
        self._cipher = Cipher(algorithms.AES(os.urandom(32)), modes.CTR(os.urandom(16))).encryptor()

    def words(self, count: int) -> NDArray[np.uint64]:
        if count > MOST_WORDS:
            return np.concatenate([self.words(min(count - n, MOST_WORDS)) for n in range(0, count, MOST_WORDS)])
        if count > self._left:
            self._rekey()
        self._left -= count or 1
        self._cipher.reset_nonce(os.urandom(16))
        return np.frombuffer(self._cipher.update(_ZEROS[: 8 * count]), np.uint64)

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("a keyed stream cannot be copied or pickled; ask bits_from(None) for a source instead.")


_streams = threading.local()


def _forget_streams() -> None:
    global _streams  # noqa: PLW0603  (a new empty store is the whole point)
    _streams = threading.local()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_streams)
