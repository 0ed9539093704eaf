"""The pages that compare and audit show what the library finds."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

import noisewright as nw
from noisewright.certificates.certificate import Certificate
from noisewright.exceptions import ParameterError
from noisewright.studio.services.audit import audited, example_channel, repaired
from noisewright.studio.services.compare import CORNERS, compared, script_of, triangle_of

pytestmark = pytest.mark.xdist_group("studio")

NAMES = ("geometric", "randomised-response")
GIVEN = ({"epsilon": "1", "within": "0:2"}, {"epsilon": "1", "categories": "0,1,2"})


def test_the_comparison_is_that_of_the_library() -> None:
    found = compared(NAMES, GIVEN, "line")
    a = nw.geometric(epsilon=1, within=(0, 2))
    b = nw.randomised_response(epsilon=1, categories=[0, 1, 2])
    assert found.orders[0].table() == nw.compare(a.certificate(), b.certificate(), metric="line").table()
    told: dict[str, object] = {}
    exec(script_of(NAMES, GIVEN, "line").replace("print(", "found = (", 1), told)
    assert [row[0] for row in told["found"].table()] == [row[0] for row in found.orders[0].table()]  # type: ignore[attr-defined]
    assert found.blind == pytest.approx(1 / 3)
    assert found.curves[0][2][6] == pytest.approx(a.channel().matrix.max(axis=0).sum() / 3)
    ((name, epsilon),) = found.safe
    assert name == "randomised-response"
    assert nw.qif.refinement.safe_replacement(a.channel(), "response", accuracy=1e-4).epsilon >= epsilon


def test_three_are_compared_two_by_two() -> None:
    names, given = (*NAMES, "geometric"), (*GIVEN, {"epsilon": "2", "within": "0:2"})
    found = compared(names, given)
    assert [pair.names for pair in found.orders] == [
        ("geometric A", "randomised-response"),
        ("geometric A", "geometric C"),
        ("randomised-response", "geometric C"),
    ]
    assert (bool(found.orders[1].average.forward), bool(found.orders[1].average.backward)) == (False, True)
    assert [name for name, *_ in found.curves] == ["geometric A", "randomised-response", "geometric C"]
    assert [row.name for row in found.utility.rows] == [name for name, *_ in found.curves]
    assert script_of(names, given).count("nw.compare(") == 3


def test_marks_of_a_triangle_average_to_its_middle() -> None:
    triangle = triangle_of("a", nw.geometric(epsilon=1, within=(0, 2)).channel())
    assert triangle is not None
    assert np.allclose(triangle.weights @ triangle.points, CORNERS.mean(axis=0))
    inner = nw.Channel(
        [[0.7, 0.1, 0.1, 0.1], [0.1, 0.7, 0.1, 0.1], [0.1, 0.1, 0.7, 0.1]]
    )  # its last output tells nothing
    found = triangle_of("b", inner)
    assert found is not None
    assert (len(found.points), len(found.corners)) == (4, 3)
    assert triangle_of("a", nw.geometric(epsilon=1, within=(0, 3)).channel()) is None


def test_other_secrets_are_refused_in_a_sentence() -> None:
    with pytest.raises(ParameterError, match="whole numbers"):
        compared(("laplace", "geometric"), ({"epsilon": "1"}, {"epsilon": "1", "within": "0:2"}))


def test_an_audit_finds_what_a_repair_then_has() -> None:
    found = audited(example_channel(), "discrete")
    assert found.found is not None
    assert found.found.value == pytest.approx(np.log(7), abs=1e-9)
    assert found.channel is not None
    made = repaired(found.channel, "1", found.found.metric)
    assert made.channel.epsilon(found.found.metric).value <= 1 + 1e-12
    assert 0 < made.change < 1
    assert Certificate.from_json(made.certificate.to_json()).verify() == made.proved


def test_a_person_compares_two(visit: Callable[..., Page]) -> None:
    page = visit("/compare")
    verdict = page.get_by_label("May one replace the other")
    for sentence in compared(NAMES, GIVEN, "line").orders[0].in_words():
        expect(verdict).to_contain_text(sentence)
    evidence = page.get_by_label("Evidence for each answer")
    for title, _, text in compared(NAMES, GIVEN, "line").orders[0].evidence():
        expect(evidence.get_by_label(title)).to_have_text(text)
    triangle = page.get_by_label("Beliefs after an output")
    expect(triangle.locator(".legendtext")).to_have_text([*NAMES, "surer than before"])
    page.get_by_role("button", name="Add a mechanism").click()
    expect(page.get_by_label("What each costs").get_by_role("cell", name="randomised-response C")).to_have_count(2)
    expect(page.get_by_label("command line")).to_contain_text("noisewright compare b.json c.json --metric line")
    page.get_by_role("button", name="Take the last one away").click()
    expect(page.get_by_label("Mechanism C")).to_have_count(0)
    page.get_by_label("Mechanism B").get_by_label("categories *").fill("0,1,2,3")
    expect(verdict.get_by_role("alert")).to_contain_text("secrets")


def test_a_person_audits_a_file_and_takes_the_proof_along(
    visit: Callable[..., Page], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    channel = nw.geometric(epsilon="1/2", within=(0, 4)).channel()
    nw.save(channel, tmp_path / "mine.csv")
    page = visit("/audit")
    expect(page.get_by_label("What it promises")).to_contain_text("low and high")
    page.set_input_files("input[type=file]", tmp_path / "mine.csv")
    expect(page.get_by_label("What it promises")).to_contain_text("0.5 for each 1 of difference")
    page.get_by_label("epsilon that it must have").fill("1/4")
    page.get_by_role("button", name="Repair it").click()
    with page.expect_download() as taken:
        page.get_by_role("button", name="Download the certificate").click()
    document = json.loads(Path(taken.value.path()).read_text(encoding="utf-8"))
    assert Certificate.from_document(document).epsilon * 4 == 1
    monkeypatch.chdir(tmp_path)
    exec(page.get_by_label("Python").inner_text(), {})  # audits and repairs the same file
    assert Certificate.from_json((tmp_path / "certificate.json").read_text()).epsilon * 4 == 1
    expect(page).to_have_url(re.compile("epsilon=1%2F4"))


def test_a_file_that_is_none_is_refused_in_a_sentence(visit: Callable[..., Page], tmp_path: Path) -> None:
    (tmp_path / "broken.csv").write_text("a,b\n1", encoding="utf-8")
    page = visit("/audit")
    page.set_input_files("input[type=file]", tmp_path / "broken.csv")
    expect(page.get_by_label("What it promises").get_by_role("alert")).not_to_be_empty()
