"""The one doorway to randomness: every sampler of the library takes its bits from here.

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

import math
import operator
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, SupportsIndex, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from noisewright.exceptions import ParameterError

__all__ = [
    "BLOCK",
    "RELEASE_RANDOMNESS",
    "SIMULATION_RANDOMNESS",
    "Bits",
    "GeneratorBits",
    "Rng",
    "Size",
    "SystemBits",
    "bits_from",
    "draw_blocks",
    "half_words",
    "quarter_words",
    "random_order",
    "shape_from",
    "uniform_below",
]


RELEASE_RANDOMNESS = "system seed, AES-256-CTR"


SIMULATION_RANDOMNESS = "numpy generator: simulation, not for release"


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


# Blocks -------------------------------------------------------------------------------------------------------------------
#
# Reading of ``size`` by every sampler, and sampling in blocks.
#
# A block of 2**15 draws keeps all temporaries inside the processor's cache. This is the fastest size, and it keeps memory
# constant beyond the output. Seeded draws are the same for the same call, but not for the same total split into other
# calls.


BLOCK = 1 << 15
"""Draws per block; an even number, so that blocks of half words leave none behind."""

Size = SupportsIndex | tuple[SupportsIndex, ...]
"""Number of draws: an int, or a shape."""


def draw_blocks(size: Size | None, dtype: type[np.generic], block: Callable[[int], NDArray[Any]]) -> Any:
    """``block(n)`` called for at most ``BLOCK`` draws at a time; a Python scalar when ``size`` is None."""
    if size is None:
        return block(1).tolist()[0]
    shape = shape_from(size)
    total = math.prod(shape)
    flat = np.empty(total, dtype=dtype)
    for start in range(0, total, BLOCK):
        stop = min(start + BLOCK, total)
        flat[start:stop] = block(stop - start)
    return flat.reshape(shape)


def shape_from(size: Size) -> tuple[int, ...]:
    """The shape that ``size`` asks for."""
    try:
        shape = tuple(operator.index(n) for n in size) if isinstance(size, tuple) else (operator.index(size),)
    except TypeError:
        raise ParameterError(
            f"size = {size!r} is not a count; give a whole number, a tuple of them, or None for one draw."
        ) from None
    if any(n < 0 for n in shape):
        raise ParameterError(f"size = {size!r} is negative; give 0 or more draws.")
    return shape


# Integers -----------------------------------------------------------------------------------------------------------------
#
# Unbiased uniform integers below any bound, however large.
#
# ``uniform_below(n)`` has the law :math:`P(k) = 1/n` on ``k = 0, ..., n - 1``, exactly. A remainder of a random word is
# biased whenever ``n`` is not a power of two; here words that would cause the bias are thrown away and drawn again. How
# often that happens depends on the bound alone.
#
# Small bounds use the multiply-shift of D. Lemire, "Fast random integer generation in an interval", ACM Transactions on
# Modeling and Computer Simulation 29 (2019); larger ones the classic mask and reject.


def uniform_below(bound: Any, size: Size | None = None, rng: Rng = None) -> Any:
    """Independent integers, each uniform on ``0, ..., bound - 1``, with no bias at all.

    ``bound`` is a positive int of any size, or an array of them (one bound for each draw; ``size`` is then its shape,
    or one that it broadcasts to). The result is ``int64`` while every bound is at most 2**63, ``uint64`` up to 2**64,
    and an object array of Python ints above. One bound without ``size`` gives a Python int.

    >>> rolls = uniform_below(6, size=1000, rng=np.random.default_rng(1))
    >>> int(rolls.min()), int(rolls.max()), rolls.dtype.name
    (0, 5, 'int64')
    >>> uniform_below(10**40) < 10**40
    True
    >>> bool((uniform_below([1, 2, 3]) < [1, 2, 3]).all())
    True
    """
    bits = bits_from(rng)
    if isinstance(bound, (np.ndarray, list, tuple)):
        return _below_each(bound, size, bits)
    try:
        top = operator.index(bound) - 1
    except TypeError:
        raise ParameterError(
            f"bound must be a whole number, not {type(bound).__name__}; give a positive int."
        ) from None
    if top < 0:
        raise ParameterError(f"bound = {bound} leaves nothing to draw; give a whole number greater than 0.")
    if top < 1 << 32:
        return draw_blocks(size, np.int64, lambda count: _below_small(top + 1, count, bits))
    if top < 1 << 64:
        tops = np.broadcast_to(np.uint64(top), BLOCK)
        return draw_blocks(size, _dtype(top), lambda count: _below_masked(tops[:count], bits))
    return draw_blocks(size, np.object_, lambda count: _below_big([top] * count, bits))


def random_order(count: int, rng: Rng = None) -> list[int]:
    """The numbers ``0, ..., count - 1`` in an order that is uniform among all.

    >>> sorted(random_order(5))
    [0, 1, 2, 3, 4]

    Reference: Fisher and Yates (1938).
    """
    order, bits = list(range(count)), bits_from(rng)
    for last in range(count - 1, 0, -1):
        other = uniform_below(last + 1, rng=bits)
        order[last], order[other] = order[other], order[last]
    return order


def _dtype(top: int) -> type[np.generic]:
    if top < 1 << 63:
        return np.int64
    return np.uint64 if top < 1 << 64 else np.object_


def _below_small(bound: int, count: int, bits: Bits) -> NDArray[np.uint64]:
    """Multiply-shift: the upper half of ``word * bound`` is uniform once the lower half is at least 2**32 mod bound."""
    reject_below = np.uint32((1 << 32) % bound)
    product = half_words(bits, count).astype(np.uint64) * np.uint64(bound)
    result = product >> np.uint64(32)
    if reject_below:
        again = np.flatnonzero(product.astype(np.uint32) < reject_below)
        while again.size:
            product = half_words(bits, again.size).astype(np.uint64) * np.uint64(bound)
            result[again] = product >> np.uint64(32)
            again = again[product.astype(np.uint32) < reject_below]
    return result


def _below_masked(tops: NDArray[np.uint64], bits: Bits) -> NDArray[np.uint64]:
    """A word cut to the length of ``top``, drawn again while it is above: at most two tries on average."""
    mask = tops.copy()
    for shift in (1, 2, 4, 8, 16, 32):
        mask |= mask >> np.uint64(shift)
    result = bits.words(tops.size) & mask
    again = np.flatnonzero(result > tops)
    while again.size:
        result[again] = bits.words(again.size) & mask[again]
        again = again[result[again] > tops[again]]
    return result


def _below_big(tops: list[int], bits: Bits) -> NDArray[np.object_]:
    result = np.empty(len(tops), dtype=object)
    for position, top in enumerate(tops):
        length = top.bit_length()
        count = (length + 63) // 64
        while True:
            draw = int.from_bytes(bits.words(count).tobytes(), "little") >> (64 * count - length)
            if draw <= top:
                break
        result[position] = draw
    return result


def _below_each(bounds: Any, size: Size | None, bits: Bits) -> NDArray[Any]:
    tops = _tops(bounds)
    shape = tops.shape if size is None else shape_from(size)
    largest = int(tops.max()) if tops.size else 0
    try:
        flat = np.broadcast_to(tops, shape).reshape(-1)
    except ValueError:
        raise ParameterError(
            f"bound has shape {tops.shape}, which does not fit size {shape}; leave size out to draw one for each."
        ) from None
    result = np.empty(flat.size, dtype=_dtype(largest))
    for start in range(0, flat.size, BLOCK):
        part = flat[start : start + BLOCK]
        result[start : start + BLOCK] = (
            _below_masked(part, bits) if largest < 1 << 64 else _below_big(part.tolist(), bits)
        )
    return result.reshape(shape)


def _tops(bounds: Any) -> NDArray[Any]:
    """Each bound less one: as uint64 where all fit, else as Python ints."""
    # Numpy would turn a list of ints around 2**63 into floats; as objects they stay unchanged.
    given = bounds if isinstance(bounds, np.ndarray) else np.array(bounds, dtype=object)
    if given.dtype.kind in "iu":
        if given.size and given.min() < 1:
            raise ParameterError("bound holds a number below 1, which leaves nothing to draw; give positive ints.")
        return given.astype(np.uint64) - np.uint64(1)
    try:
        tops = [operator.index(bound) - 1 for bound in given.flat]
    except TypeError:
        raise ParameterError("bound must hold whole numbers only; give positive ints.") from None
    if min(tops, default=0) < 0:
        raise ParameterError("bound holds a number below 1, which leaves nothing to draw; give positive ints.")
    return np.array(tops, dtype=np.uint64 if max(tops, default=0) < 1 << 64 else object).reshape(given.shape)
