"""Every promise that a page shows is a rendering of the record in the certificate of the same mechanism, picture or release."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

import noisewright as nw
from noisewright import render
from noisewright.certificates.certificate import prove
from noisewright.certificates.checker import checker_release
from noisewright.claims import phrases, readings, totals
from noisewright.images import FaceMethod, PixelMethod, private_faces
from noisewright.matching.guarantees import scheme_promise
from noisewright.matching.service import Client
from noisewright.numerics.exact import as_fraction
from noisewright.studio.services.audit import audited, example_channel, repaired
from noisewright.studio.services.design import designed
from noisewright.studio.services.matching import EXAMPLE, example_profiles
from noisewright.studio.services.media import example_picture
from noisewright.studio.services.policies import EXAMPLES
from noisewright.text import private_documents, shipped
from tests.claims.test_every_claim import TABLE, flat, of_mechanism, of_release, policies, remains

pytestmark = pytest.mark.xdist_group("studio")
READ = "() => [...document.querySelectorAll('main .nw-panel')].map(panel => panel.innerText).join(' | ')"
DESIGNS: dict[str, tuple[str, dict[str, str]]] = {
    "geometric": ("number", {"epsilon": "1/3", "within": "0:20"}),
    "laplace": ("number", {"epsilon": "0.1", "sensitivity": "5"}),
    "gaussian": ("number", {"epsilon": "1", "delta": "3e-6", "sensitivity": "2"}),
    "staircase": ("number", {"epsilon": "2"}),
    "randomised-response": ("category", {"epsilon": "0.7", "categories": "a,b,c"}),
    "exponential": ("category", {"epsilon": "1", "points": "0..9"}),
    "planar-laplace": ("place", {"epsilon": "1.3", "radius": "200"}),
    "spherical-laplace": ("vector", {"epsilon": "1", "dimension": "3"}),
}
HIDDEN: dict[str, dict[str, str]] = {
    "laplace": {"method": "laplace", "epsilon": "100", "block": "16"},
    "windows": {"method": "windows", "epsilon": "121/3", "block": "16"},
    "faces": {"method": "faces", "epsilon": "100"},
}


def shown_on(page: Page, panel: str, ready: str) -> str:
    """The text of a page once a panel of it shows some words."""
    expect(page.get_by_label(panel, exact=True)).to_contain_text(ready)
    return flat(page.evaluate(READ))


def of_document(document: dict[str, Any]) -> set[str]:
    """All renderings of the claim of a certificate, which is proved first."""
    claim, problem = prove(document)
    assert claim is not None, problem
    return of_mechanism(dict(claim.record), document)


@pytest.mark.parametrize("name", DESIGNS)
def test_a_design(visit: Callable[..., Page], name: str) -> None:
    kind, given = DESIGNS[name]
    page = visit(f"/design/{kind}?{urlencode({'mechanism': name, **given})}")
    text = shown_on(page, "The promise", "Proof")
    made = designed(name, given, float(as_fraction(given.get("radius", "1"))))
    promise = made.mechanism.guarantee
    known = {promise.in_words(), promise.in_words(float(as_fraction(given.get("radius", "1")))), promise.reading()}
    if made.certificate.numerics == "exact":
        known |= of_document(dict(made.certificate.document))
    if promise.delta:
        known.add(totals.given_away(promise.stated("delta")))
    assert remains(text, known) == []
    assert promise.reading() in text or made.proved


@pytest.mark.parametrize("name", HIDDEN)
def test_a_picture(visit: Callable[..., Page], name: str) -> None:
    given = HIDDEN[name]
    text = shown_on(visit(f"/pictures?{urlencode(given)}"), "The promise", "odds")
    height, width, channels = example_picture().shape
    epsilon = as_fraction(given["epsilon"])
    method: Any = (
        FaceMethod(private_faces(epsilon=epsilon, fit="resize"))
        if name == "faces"
        else PixelMethod(name, epsilon, {"block": 16})
    )
    document = dict(method.certificate(height, width, channels).document)
    known = of_document(document) | {readings.OF_PICTURES}
    claim, _ = prove(document)
    assert claim is not None
    for one in claim.record["conditions"]:
        known |= set(phrases.measured_parts(one)) if one["code"] == "measured" else set()
    assert remains(text, known) == []
    assert method.promise(height, width, channels, 1).guarantee.in_words() in text.replace("%", " %")


@pytest.mark.parametrize(
    "given", [{"epsilon": "3"}, {"epsilon": "1/3", "size": "6"}, {"epsilon": "2", "keep_order": ""}]
)
def test_a_text(visit: Callable[..., Page], given: dict[str, str]) -> None:
    text = shown_on(visit(f"/text?{urlencode(given)}"), "The promise", "odds")
    size = int(given["size"]) if "size" in given else None
    made = private_documents(shipped(), epsilon=given["epsilon"], size=size, keep_order="keep_order" in given)
    assert remains(text, of_document(dict(made.certificate().document))) == []


def test_an_audit_and_a_repair(visit: Callable[..., Page]) -> None:
    text = shown_on(visit("/audit?epsilon=2"), "Repair", "Proved")
    found = audited(example_channel())
    assert found.found is not None
    assert found.channel is not None
    known = {render.audit_meaning(found.found), render.smallest(found.found), found.reading}
    made = repaired(found.channel, "2", found.found.metric)
    assert remains(text, known | of_document(dict(made.certificate.document))) == []


@pytest.mark.parametrize("path", ["/compare", "/matching", "/learned", "/survey?epsilon=1&respondents=1000"])
def test_pages_with_answers_of_their_own(visit: Callable[..., Page], path: str) -> None:
    page = visit(path)
    expect(page.get_by_label("command line")).to_be_visible()
    text = flat(page.evaluate(READ))
    assert remains(text, KNOWN[path.partition("?")[0]]()) == []


def of_survey() -> set[str]:
    plan = nw.survey(epsilon=1, respondents=1000)
    return of_document(dict(plan.device.certificate().document))


def of_comparison() -> set[str]:
    names = ("randomised-response", "geometric")
    found = {readings.smallest_of_two("line", "1", "1"), readings.FAMILY_UNITS}
    for old, new in (names, names[::-1]):
        found |= {words.replace("the old one", old).replace("the new one", new) for words in list(found)}
    return found


def of_matching() -> set[str]:
    scheme = example_profiles()._scheme(int(EXAMPLE["bits"]), EXAMPLE["epsilon"])
    promise = scheme_promise(scheme, radius=float(EXAMPLE["radius"]), delta=float(EXAMPLE["delta"]))
    return {Client(scheme).promise, promise.in_words()}


KNOWN: dict[str, Callable[[], set[str]]] = {
    "/compare": of_comparison,
    "/matching": of_matching,
    "/learned": lambda: {readings.NO_EPSILON},
    "/survey": of_survey,
}


@pytest.mark.parametrize("place", [3, 12, 16, 45])
def test_a_release_that_is_checked(visit: Callable[..., Page], tmp_path: Path, place: int) -> None:
    policy = list(policies())[place]
    folder = tmp_path / "out"
    nw.release(policy, TABLE, output=folder, ledger=tmp_path / "ledger.sqlite")
    document = json.loads((folder / "certificate.json").read_text())
    record = checker_release.examine(document)
    known = of_release(record, document)
    page = visit("/release/check")
    page.get_by_label("or the path of its folder").fill(str(folder))
    page.get_by_role("button", name="Open the path").click()
    text = shown_on(page, "What is proved", "just now")
    assert remains(text, known) == []
    assert known & {line for line in known if flat(line) in text}
    book = visit("/ledger")
    book.get_by_label("path of a ledger").fill(str(tmp_path / "ledger.sqlite"))
    book.get_by_role("button", name="Open the path").click()
    text = shown_on(book, f"dataset {policy['dataset']}", "spent in 1 release")
    assert remains(text, known) == []
    for part in record["parts"]:
        assert flat(phrases.protected_by(part, record["neighbours"])) in text


@pytest.mark.parametrize("example", EXAMPLES)
def test_a_plan_of_an_example(visit: Callable[..., Page], example: str, tmp_path: Path) -> None:
    page = visit(f"/release?example={example}")
    expect(page.get_by_label("command line")).to_be_visible()
    expect(page.get_by_label("The plan", exact=True)).to_contain_text("two tables")
    rules = page.get_by_label("policy.toml").inner_text()
    text = flat(page.evaluate(READ))
    (tmp_path / "policy.toml").write_text(rules)
    folder = tmp_path / "out"
    nw.release(tmp_path / "policy.toml", EXAMPLES[example].make(), output=folder, ledger=tmp_path / "spent", seed=1)
    document = json.loads((folder / "certificate.json").read_text())
    record = checker_release.examine(document)
    assert remains(text, of_release(record, document)) == []
    assert flat(phrases.tables(record)) in text
