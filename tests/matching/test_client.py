"""The client: the law of what it sends, and that a device needs NumPy alone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from noisewright.exceptions import DataError, ParameterError
from noisewright.matching import Client, DeviceBits, Scheme, hamming, unpacked
from noisewright.resources import Seed

SCHEME = Scheme(dimension=8, bits=37, epsilon="0.8", seed=Seed.from_hex("5a" * 32))

ALONE = """
import importlib.abc, sys

class Blocked(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        first = name.partition(".")[0]
        if first not in sys.stdlib_module_names and first not in ("numpy", "noisewright"):
            raise ImportError(f"a device has no {name}")

sys.meta_path.insert(0, Blocked())
from noisewright.matching.service import Client
client = Client.at(sys.argv[1])
shapes = [client.encode(profile).shape for profile in ([1.0, 2, 3, 4, 5, 6, 7, 8], [[1.0] * 8] * 3, [[1.0] * 8] * 20_000)]
print(*shapes, client.promise)
try:
    import scipy
except ImportError as problem:
    print(problem)
"""


def test_a_device_needs_numpy_alone(tmp_path: Path) -> None:
    SCHEME.save(tmp_path / "public.json")
    done = subprocess.run(
        [sys.executable, "-c", ALONE, tmp_path / "public.json"], capture_output=True, text=True, check=True, timeout=900
    )
    assert done.stdout.startswith("(5,) (3, 5) (20000, 5) Whatever is sent")
    assert done.stdout.endswith("a device has no scipy\n")  # the block blocks


@pytest.mark.parametrize(
    "source", [None, DeviceBits(), np.random.default_rng(1)], ids=["default", "device", "simulation"]
)
def test_every_bit_is_flipped_with_its_exact_probability(source: Any) -> None:
    """Counts of each of 37 bits, and of pairs of neighbours: limits that a true law leaves with probability 1e-10 in all."""
    rows = 20_000
    vectors = np.repeat(np.arange(1.0, 9.0)[None], rows, axis=0)
    sent = Client(SCHEME).encode(vectors, source)
    flips = unpacked(sent ^ SCHEME.hash(vectors[:1]), 37).astype(bool)
    p = float(SCHEME.flip)
    for counts, law in (
        (flips.sum(axis=0), stats.binom(rows, p)),
        ((flips[:, 1:] & flips[:, :-1]).sum(axis=0), stats.binom(rows, p * p)),
    ):
        assert counts.min() >= law.ppf(5e-11 / 74)
        assert counts.max() <= law.isf(5e-11 / 74)
    assert not (sent[:, -1] >> 5).any()


def test_two_devices_never_send_the_same_noise() -> None:
    vectors = [[1.0] * 8] * 50
    assert (Client(SCHEME).encode(vectors) != Client(SCHEME).encode(vectors)).any()


def test_a_large_epsilon_sends_the_hash_itself() -> None:
    plain = Scheme(dimension=8, bits=37, epsilon=200, seed=SCHEME.seed)
    vectors = np.random.default_rng(2).standard_normal((50, 8))
    assert (Client(plain).encode(vectors) == plain.hash(vectors)).all()
    assert hamming(Client(plain).encode(vectors[3]), plain.hash(vectors)[3]) == 0


def test_what_is_no_profile_is_refused_in_a_sentence() -> None:
    for wrong in ([0.0] * 8, [1.0] * 7, [[1.0] * 7], [np.nan] * 8, "profile"):
        with pytest.raises(DataError) as problem:
            Client(SCHEME).encode(wrong)
        assert "\n" not in str(problem.value)
    with pytest.raises(ParameterError, match="needs a public Scheme"):
        Client("public.json")  # type: ignore[arg-type]
