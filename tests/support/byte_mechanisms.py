"""Mechanisms for the tests that take bytes, or give them: randomised response on one byte, and on the sign of a vector."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from noisewright.base import Entry, Takes
from noisewright.mechanisms.categorical.randomised_response import randomised_response


@dataclass(frozen=True)
class _Wrapped:
    """Everything but the values is that of a mechanism inside."""

    inner: Any
    name: str

    @property
    def guarantee(self) -> Any:
        return self.inner.guarantee

    def map(self, distance: float) -> float:
        return float(self.inner.map(distance))

    def certificate(self, rng: Any = None) -> Any:
        return self.inner.certificate(rng)

    def error(self, loss: str = "absolute") -> float:
        return float(self.inner.error(loss))

    def channel(self) -> Any:
        return self.inner.channel()


class OneByte(_Wrapped):
    """Cells of one byte."""

    def release(self, values: Any, rng: Any = None) -> Any:
        drawn = self.inner.release(np.frombuffer(b"".join(values), np.uint8).astype(np.int64), rng)
        return [bytes([byte]) for byte in np.asarray(drawn).tolist()]


class Sign(_Wrapped):
    """Whether the first number of a vector is positive, as a byte."""

    def release(self, values: Any, rng: Any = None) -> Any:
        drawn = self.inner.release((np.asarray(values)[:, 0] > 0).astype(np.int64), rng)
        return [bytes([bit]) for bit in np.asarray(drawn).tolist()]


def one_byte(*, epsilon: Any) -> OneByte:
    return OneByte(randomised_response(256, epsilon=epsilon), "one-byte")


def sign(*, epsilon: Any) -> Sign:
    return Sign(randomised_response(2, epsilon=epsilon), "sign")


ONE_BYTE = Entry("one-byte", one_byte, Takes("bytes"), "randomised response on a byte", "single bytes")
SIGN = Entry("sign", sign, Takes("vector", gives="bytes", parts=None), "randomised response on a sign", "vectors")
