"""Every claim that a command about a mechanism shows is a rendering of the record in a certificate that it writes.

What is said without a certificate (an audit, a comparison) is a rendering of the record that the numbers of its JSON make.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from tests.claims.test_every_claim import flat, of_mechanism, printed, remains, strings

import noisewright as nw
from noisewright import render
from noisewright.certificates.certificate import prove
from noisewright.claims import phrases, readings
from noisewright.claims.figures import upward
from noisewright.guarantees import Guarantee
from noisewright.matching.guarantees import scheme_promise
from noisewright.matching.scheme import Scheme
from noisewright.matching.service import Client
from noisewright.numerics.exact import as_fraction

LOG_2 = "0.6932"
"""The logarithm of a factor of 2, as it is shown: rounded up."""
ODDS = [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]]
POINTS = ("--points", "a,b,c", "--metric", "discrete")
COMMANDS: dict[str, tuple[str, ...]] = {
    "geometric": ("design", "geometric", "--epsilon", "1/3", "--within", "0:20", "-o", "out.json"),
    "open": ("design", "geometric", "--epsilon", "1", "--sensitivity", "5", "-o", "out.json"),
    "laplace": ("design", "laplace", "--epsilon", "1", "--within", "0:10", "-o", "out.json"),
    "gaussian": ("design", "gaussian", "--epsilon", "1", "--delta", "1e-6", "--sensitivity", "2", "-o", "out.json"),
    "staircase": ("design", "staircase", "--epsilon", "2", "-o", "out.json"),
    "places": (
        "design",
        "geo-laplace",
        "--epsilon",
        "1",
        "--radius",
        "500",
        "--reference",
        "48.85:2.35",
        "-o",
        "out.json",
    ),
    "response": ("design", "randomised-response", "--epsilon", "1", "--categories", "a,b,c", "-o", "out.json"),
    "exponential": ("design", "exponential", "--epsilon", "1", "--points", "0..9", "-o", "out.json"),
    "realising": ("design", "metric-realising", "--epsilon", "1", *POINTS, "-o", "out.json"),
    "hashing": ("design", "local-hashing", "--epsilon", "1", "--categories", "9", "-o", "out.json"),
    "survey": ("survey", "--epsilon", "1", "--respondents", "900", "--prevalence", "0.1", "-o", "out.json"),
    "survey with a delta": ("survey", "--epsilon", "1", "--delta", "0.05", "--respondents", "90", "-o", "out.json"),
    "survey of names": ("survey", "--epsilon", "1", "--respondents", "90", "--categories", "a,b,c,d", "-o", "out.json"),
    "profiles": ("match", "seed", "-o", "scheme.json", "--dimension", "8", "--epsilon", "1/3", "--bits", "8"),
    "sets": ("match", "seed", "-o", "scheme.json", "--family", "minhash", "--bits", "16", "--epsilon", "4"),
    "pictures": ("images", "obfuscate", "in", "-o", "out", "--epsilon", "100", "--block", "8"),
    "optimum": ("learn", "optimum", "shares.csv", "--distortion", "0.1"),
    "audit": ("audit", "odds.csv", "--metric", "line"),
    "audit of answers": ("audit", "odds.csv"),
    "audit with a delta": ("audit", "odds.csv", "--metric", "line", "--epsilon", "1/2"),
    "comparison": ("compare", "odds.csv", "flat.csv", "--metric", "line", "--details"),
    "optimal": ("design", "optimal", "--metric", "line:0..4", "--epsilon", "1/3", "-o", "out.json"),
    "optimal of answers": ("design", "optimal", "--metric", "discrete:a,b,c", "--epsilon", "1", "-o", "out.json"),
    "universal": ("design", "universal", "--metric", "line:0..2", "--factor", "2", "--loss", "parity"),
    "extreme": ("design", "extreme", "--metric", "discrete:a,b,c", "--factor", "2"),
    "kernels": ("design", "kernels", "--metric", "line:0..2", "--factor", "2"),
    "harmless answer": (
        "survey",
        "--harmless",
        "none",
        "--categories",
        "cannabis,none,opioids",
        "--respondents",
        "900",
    ),
    "families": ("compare", "--families", "geometric,response", "--epsilon", "1", "--size", "4"),
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "4000")
    for name, rows in (("odds.csv", ODDS), ("flat.csv", [[0.4, 0.3, 0.3], [0.3, 0.4, 0.3], [0.3, 0.3, 0.4]])):
        lines = [",0,1,2", *(f"{place},{','.join(map(str, row))}" for place, row in enumerate(rows))]
        Path(name).write_text("\n".join(lines) + "\n")
    Path("shares.csv").write_text(",0,1\n0,0.1875,0.0625\n1,0.1875,0.5625\n")
    Path("in").mkdir()
    Image.fromarray(np.random.default_rng(1).integers(0, 255, (16, 16, 3), np.uint8)).save("in/one.png")
    return tmp_path


def known_of(name: str) -> set[str]:
    """What may be said after a command: of the certificates and the scheme that it wrote, or of the channels that it read."""
    found: set[str] = set()
    for path in [*Path().glob("out.json"), *Path().glob("out/*.json")]:
        document = json.loads(path.read_text())
        claim, _ = prove(document)
        assert claim is not None, path
        found |= of_mechanism(dict(claim.record), document)
    if Path("scheme.json").exists():
        scheme = Scheme.from_json(Path("scheme.json").read_text())
        promise = scheme_promise(scheme, radius=0.05, delta=0.01)
        found |= {Client(scheme).promise, promise.in_words(), readings.of_each_bit(upward(scheme.epsilon, 4))}
        found.add(readings.hashes_in_short(scheme.epsilon, scheme.bits, "0.05", promise.loss))
    if name.startswith("audit"):
        audit = nw.Channel(ODDS, [0, 1, 2]).epsilon(nw.metrics.Line())
        found |= {render.audit_meaning(audit), render.smallest(audit)}
    if name == "comparison":
        one, other = ("0.693148", "0.287683")
        for words in (readings.smallest_of_two("line", one, other), readings.smallest_of_two("line", other, one)):
            found |= {words, *(words.replace("the old one", a).replace("the new one", b) for a, b in ("AB", "BA"))}
    if name == "families":
        found |= {readings.FAMILY_UNITS, f"epsilon={1} {readings.per_unit('line')}"}
    if name in ("universal", "kernels", "extreme"):  # the budget that was given
        metric = nw.metrics.Discrete() if name == "extreme" else nw.metrics.Line()
        found |= {phrases.likelier(2), Guarantee.exactly(as_fraction(LOG_2), metric).reading()}
    if name == "optimum":
        found.add(readings.NO_EPSILON)
    return found


def shown_by(name: str) -> dict[str, str]:
    """What a command prints for people, and the texts of its JSON."""
    page = flat(printed(*COMMANDS[name]))
    known_of(name)
    for left in Path().glob("out*"):
        shutil.rmtree(left) if left.is_dir() else left.unlink()
    if name in ("profiles", "sets"):  # each scheme has a seed of its own
        Path("scheme.json").unlink()
    data = json.loads(printed(*COMMANDS[name], "--json"))
    return {"page": page, "json": " | ".join(strings(data))}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_says_what_its_certificate_has(here: Path, name: str) -> None:
    shown = shown_by(name)
    known = known_of(name)
    assert {kind: found for kind, text in shown.items() if (found := remains(text, known))} == {}


@pytest.mark.parametrize(
    ("name", "said", "planted"),
    [
        ("geometric", "epsilon 0.3334", "epsilon 0.3333"),
        ("response", "between any two answers", "for every person"),
        ("profiles", "any two profiles by at most e^2.667", "any two profiles by at most e^1.667"),
        ("audit", "a factor of at most 2.01", "a factor of at most 1.01"),
    ],
)
def test_a_planted_claim_is_found(here: Path, name: str, said: str, planted: str) -> None:
    page = shown_by(name)["page"]
    assert said in page
    assert remains(page.replace(said, planted), known_of(name))
