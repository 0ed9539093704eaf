"""Certificates are written out and hashed once for each part of a release, however often a plan looks at them."""

from __future__ import annotations

import gc
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import noisewright as nw
from noisewright.base import certificate_once
from noisewright.certificates.certificate import Certificate

POLICY: dict[str, Any] = {
    "dataset": "clinic",
    "budget": {"epsilon": 9},
    "columns": [
        {"name": "sex", "mechanism": "randomised-response", "categories": ["f", "m"], "epsilon": 1},
        {"name": "visits", "mechanism": "geometric", "within": [0, 20], "protect": 1, "epsilon": 1},
        {"name": "ward", "mechanism": "exponential", "points": [1, 2, 3], "metric": "line", "epsilon": 2},
    ],
    "queries": [{"name": "people", "aggregate": "count", "epsilon": 1}],
}


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> Counter[tuple[str, bool]]:
    """How often a certificate was built, by mechanism and by whether its draws are a simulation."""
    counted: Counter[tuple[str, bool]] = Counter()
    build = Certificate.build.__func__  # type: ignore[attr-defined]

    def counting(cls: type[Certificate], **given: Any) -> Certificate:
        counted[given["mechanism"], given.get("simulated", False)] += 1
        made: Certificate = build(cls, **given)
        return made

    monkeypatch.setattr(Certificate, "build", classmethod(counting))
    return counted


@pytest.mark.parametrize("seed", [None, 7])
def test_one_certificate_for_each_part(built: Counter[tuple[str, bool]], seed: int | None, tmp_path: Path) -> None:
    table = pa.table({"sex": ["f", "m"] * 50, "visits": list(range(20)) * 5, "ward": [1, 2, 3, 1] * 25})
    done = nw.release(POLICY, table, output=tmp_path / "out", ledger=tmp_path / "book.sqlite", seed=seed)
    assert done.certificate.verify()
    names = {"randomised-response", "geometric", "exponential"}
    kinds = {simulated for _, simulated in built}
    assert {name for name, _ in built} >= names
    assert kinds == ({False, True} if seed is not None else {False})
    for name in names - {"geometric"}:
        assert {built[name, kind] for kind in kinds} == {1}
    assert {built["geometric", kind] for kind in kinds} <= {1, 2}  # the column, and perhaps the count


def test_the_same_object_for_the_same_mechanism_only() -> None:
    first, second = nw.geometric(epsilon=1), nw.geometric(epsilon=1)
    assert certificate_once(first) is certificate_once(first)
    assert certificate_once(first) is not certificate_once(second)
    assert certificate_once(first) == certificate_once(second)
    assert certificate_once(first, simulated=True).simulated
    assert not certificate_once(first).simulated


def test_nothing_is_kept_of_what_is_gone() -> None:
    from noisewright import base as home

    gone = nw.geometric(epsilon="1/7")
    place = id(gone)
    certificate_once(gone)
    assert place in home._kept
    del gone
    gc.collect()
    assert place not in home._kept


class Slotted:
    """A mechanism that nothing can refer to weakly."""

    __slots__ = ()

    def certificate(self, rng: Any = None) -> Certificate:
        return nw.geometric(epsilon=1).certificate(rng)


def test_a_mechanism_with_slots_is_asked_each_time() -> None:
    assert certificate_once(Slotted()) == nw.geometric(epsilon=1).certificate()  # type: ignore[arg-type]
