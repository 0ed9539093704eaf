"""Texts about claims that no record makes, such as the help of a field, say what certificates of every such mechanism have."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import noisewright as nw
from noisewright.certificates.certificate import prove
from noisewright.certificates.checker import checker, checker_release
from noisewright.claims import phrases, readings, totals
from noisewright.images import FaceMethod, PixelMethod, private_faces
from noisewright.images.pictures import Region
from noisewright.images.pipeline.methods import PIXELS, promise_of_each

EPSILON = Fraction(100, 3)


def proved(certificate: Any) -> dict[str, Any]:
    claim, problem = prove(certificate.document)
    assert claim is not None, problem
    return dict(claim.record)


def pairs(record: dict[str, Any], distance: int = 1) -> str:
    return phrases.pairs(record["metric"], record.get("secret"), Fraction(distance))


@pytest.mark.parametrize("kind", PIXELS)
def test_the_help_of_an_epsilon_for_pictures(kind: str) -> None:
    record = proved(PixelMethod(kind, EPSILON, {"block": 8}).certificate(32, 32, 3))
    assert (Fraction(record["epsilon"]), record["metric"]["base"]) == (EPSILON, "discrete")
    told = pairs(record)
    assert readings.OF_PICTURES.startswith(f"{told[:1].upper().replace('A', 'Between a')}{told[1:]}; for faces")
    assert told in readings.OF_REGIONS


@pytest.mark.parametrize("kind", PIXELS)
def test_the_help_of_an_epsilon_for_regions_and_places(kind: str) -> None:
    """All regions together cost epsilon; places cost it each."""
    regions = (Region(0, 0, 8, 8), Region(16, 16, 8, 8))
    record = proved(PixelMethod(kind, EPSILON, {"block": 8}, regions).certificate(32, 32, 3))
    assert Fraction(record["epsilon"]) == EPSILON
    assert record["secret"]["count"] == 2
    assert "all regions together" in readings.OF_REGIONS
    made = PixelMethod(kind, EPSILON, {"block": 8}).mechanisms(8, 8, 3)[0]
    each = promise_of_each(made, 3, "place").each
    assert each is not None
    assert (each.stated("epsilon"), each.record()["secret"]["count"]) == (EPSILON, 1)
    assert "any two contents of one hidden place" in readings.OF_REGIONS


def test_the_help_of_an_epsilon_for_faces() -> None:
    record = proved(FaceMethod(private_faces(epsilon=EPSILON)).certificate(48, 32, 3))
    assert Fraction(record["epsilon"]) == EPSILON
    assert pairs(record) == "any two faces"
    assert readings.OF_PICTURES.endswith("for faces, between any two faces.")


def test_the_units_of_families() -> None:
    response = proved(nw.randomised_response(4, epsilon=1).certificate())
    assert readings.reading(response) == "epsilon 1 between any two answers"
    assert "response is between any two answers" in readings.FAMILY_UNITS
    for made in (nw.geometric(epsilon=1, within=(0, 3)), nw.exponential(range(4), epsilon=1)):
        assert readings.reading(proved(made.certificate())) == "epsilon 1 for each 1 of difference"
    assert "that of geometric and exponential for each 1 of difference" in readings.FAMILY_UNITS


def test_what_documents_lose() -> None:
    """At most epsilon times the cost of matching their words, and no more for more words."""
    from noisewright.text import private_documents, shipped

    some = shipped().first(300)
    for size in (3, 30):
        record = proved(private_documents(some, epsilon=2, size=size).certificate())
        assert (record["metric"]["order"], Fraction(record["epsilon"])) == ("matched", 2)
    assert "the cost of matching them" in readings.OF_DOCUMENTS


def test_what_learned_columns_do_not_have(tmp_path: Path) -> None:
    """No epsilon, nothing of the budget: their record has neither, and the total is that without them."""
    column = {"name": "age", "mechanism": "geometric", "within": [0, 110], "protect": 5, "epsilon": 1}
    policy = {"dataset": "clinic", "budget": {"epsilon": 1}, "columns": [column]}
    nw.release(policy, pa.table({"age": [30, 40, 50]}), output=tmp_path / "out", ledger=tmp_path / "ledger")
    document = json.loads((tmp_path / "out" / "certificate.json").read_text())
    measured = {
        **{"private": ["income"], "accuracy": "0.71", "prior": "0.62", "distortion": "0.1", "most_distortion": "0.12"},
        **{"adversaries": ["forest"], "rows": 500, "converged": True},
    }
    changed = {**document, "context_aware": [{"columns": ["habits"], "measured": measured, "resources": []}]}
    record = checker_release.examine({**changed, "digest": checker.digest(changed)})
    assert record["epsilon"] == checker_release.examine(document)["epsilon"]
    (one,) = record["context_aware"]
    assert not {"epsilon", "delta", "price"} & {*one, *one["measured"]}
    names = phrases.listed(one["columns"])
    assert f'NOT protected (context-aware, which is not proved): "{names}"' in "\n".join(phrases.release_lines(record))
    assert totals.context_aware(names) == (
        "habits: changed by a learned privatiser, which promises no epsilon; what is promised is context-aware, costs nothing "
        "of the budget, and is not differential privacy."
    )
    assert (
        totals.trained(names) == "No epsilon is promised for habits, changed by a learned privatiser, as its file says."
    )
