"""Every claim that a command, a report or a page shows is a rendering of the record in the certificate next to it.

Fifty varied policies are planned, released (as simulations, with a seed), verified and opened by a recipient, and every kept
certificate of a mechanism is verified and audited. From all that is printed, from the report and from the JSON the renderings
of the records are taken away, longest first; nothing that remains may have the words of a claim.
"""

from __future__ import annotations

import contextlib
import datetime
import html
import io
import json
import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.attack.reading_prices import prices_of, read_prices, read_screen, read_whole
from tests.claims.test_one_place import CLAIMS

import noisewright as nw
from noisewright import render
from noisewright.certificates.certificate import claimed, guarantee_of, prove
from noisewright.certificates.checker import checker, checker_release
from noisewright.claims import phrases, readings, totals
from noisewright.cli import run
from noisewright.guarantees import Guarantee
from noisewright.metrics.composite import Neighbours

KEPT = sorted((Path(__file__).parents[1] / "fixtures" / "kept" / "certificates").glob("*.json"))
ROWS = 40
TABLE = pa.table(
    {
        "patient": [f"p{row // 2}" for row in range(ROWS)],
        "age": [18 + row * 37 % 70 for row in range(ROWS)],
        "weight": [50 + row * 11 % 40 + 0.5 for row in range(ROWS)],
        "smoker": [row % 3 == 0 for row in range(ROWS)],
        "ward": [["north", "south", "east"][row % 3] for row in range(ROWS)],
        "day": [datetime.date(2025, 1, 7) + datetime.timedelta(days=row * 5) for row in range(ROWS)],
        "seen": [datetime.datetime(2025, 1, 7, 8) + datetime.timedelta(hours=row) for row in range(ROWS)],
        "latitude": [53.45 + row / 10_000 for row in range(ROWS)],
        "longitude": [-2.2 - row / 10_000 for row in range(ROWS)],
        "note": [None if row % 7 == 0 else "x" for row in range(ROWS)],
    }
)
COLUMNS: list[dict[str, Any]] = [
    {"name": "age", "mechanism": "geometric", "within": [0, 110], "protect": 5, "epsilon": "1/2"},
    {"name": "age", "mechanism": "geometric", "within": [0, 110], "protect": "any", "epsilon": 4},
    {"name": "age", "mechanism": "laplace", "within": [0, 110], "protect": "5/2", "epsilon": "1/3"},
    {"name": "age", "mechanism": "gaussian", "within": [0, 110], "protect": 3, "epsilon": 1, "delta": "1e-6"},
    {"name": "age", "mechanism": "staircase", "protect": 2, "epsilon": 1},
    {"name": "weight", "mechanism": "laplace", "within": [30, 120], "protect": 10, "epsilon": 1},
    {"name": "weight", "mechanism": "truncated-laplace", "within": [30, 120], "protect": 10, "epsilon": 1},
    {"name": "smoker", "mechanism": "randomised-response", "categories": [True, False], "epsilon": 1},
    {
        "name": "ward",
        "mechanism": "randomised-response",
        "categories": ["north", "south"],
        "other": "south",
        "epsilon": 2,
    },
    {"name": "age", "mechanism": "explicit-fair", "within": [0, 110], "protect": 5, "epsilon": 1},
    {"name": "ward", "keep": True},
    {"name": "day", "mechanism": "laplace", "within": ["2025-01-01", "2025-12-31"], "protect": "7 days", "epsilon": 1},
    {"name": "seen", "mechanism": "laplace", "protect": "1 hour", "epsilon": 1},
    {
        "name": ["latitude", "longitude"],
        "mechanism": "geo-laplace",
        "reference": [53.45, -2.2],
        "protect": 500,
        "epsilon": "1.4",
    },
    {"name": "note", "mechanism": "randomised-response", "categories": ["x", "y"], "missing": "keep", "epsilon": 1},
]
QUERIES: list[dict[str, Any]] = [
    {"name": "visits", "aggregate": "count", "epsilon": "1/2"},
    {"name": "smokers", "aggregate": "histogram", "column": "smoker", "values": [True, False], "epsilon": "1/2"},
    {"name": "mean age", "aggregate": "mean", "column": "age", "within": [0, 110], "epsilon": "1/4"},
    {"name": "old", "aggregate": "count", "where": "age >= 60", "epsilon": "1/3"},
    {
        "name": "sums",
        "aggregate": "sum",
        "column": "age",
        "within": [0, 110],
        "by": {"ward": ["north", "south"]},
        "epsilon": 1,
    },
]


def policies() -> Iterator[dict[str, Any]]:
    """Fifty policies: every column and every query, alone and together, for rows and for patients, in both relations."""
    for place in range(50):
        parts: dict[str, list[dict[str, Any]]] = {}
        if place % 5 != 4:
            chosen = {str(one["name"]): one for one in (COLUMNS[place % 15], COLUMNS[(place * 7 + 3) % 15])}
            parts["columns"] = list(chosen.values()) if place % 2 else [COLUMNS[place % 15]]
        if place % 3 == 0 or place % 5 == 4:
            parts["queries"] = [QUERIES[place % 5], QUERIES[(place + 2) % 5]] if place % 4 else [QUERIES[place % 5]]
        unit = {"unit": {"column": "patient", "rows": 3}} if place % 2 else {}
        relation = {"neighbours": "add-remove"} if "columns" not in parts and place % 4 else {}
        yield {"dataset": f"clinic {place}", "budget": {"epsilon": 100, "delta": "0.01"}, **unit, **relation, **parts}


def of_mechanism(record: dict[str, Any], document: dict[str, Any]) -> set[str]:
    """Return all renderings of the claim of one mechanism."""
    guarantee = claimed(document)
    claim, _ = prove(document)
    found = {phrases.line(record), phrases.claim(record), readings.reading(record), readings.needs(record)}
    found |= {guarantee.in_words(), str(guarantee), guarantee.reading(), str(guarantee_of(record))}
    found |= {phrases.distances(checker.current(document)["claim"]["distances"])}
    if claim is not None:
        found |= {render.short(claim), render.meaning(claim, "")}
    return found


def of_release(record: dict[str, Any], document: dict[str, Any]) -> set[str]:
    """Return all renderings of the claims of a release."""
    relation, ways = record["neighbours"], phrases.ways_of(record)
    found = {phrases.tables(record), phrases.neighbours(relation), phrases.public_facts(relation)}
    found |= {phrases.one_unit(relation), phrases.ways(ways), *phrases.release_lines(record)}
    if record["parts"]:
        epsilon, delta = (Fraction(record[name]) for name in ("epsilon", "delta"))
        between = Neighbours(relation, ways, phrases.same_in(record))
        whole = Guarantee.exactly(epsilon, between, delta, scope="adjacent", radius=1.0)
        found.add(
            f"{totals.total(Fraction(record['epsilon']), Fraction(record['delta']))} between {phrases.tables(record)}"
        )
        found |= {phrases.release_claim(record), str(whole), whole.reading(), whole.in_words()}
        read_whole(whole.reading(), record)
        for price in prices_of(record):
            read_prices(*price)
        found |= prices(Fraction(record["epsilon"]), Fraction(record["delta"]))
    found |= {totals.kept(phrases.listed(record["kept"])) for _ in record["kept"]}
    found |= {totals.kept_warning(phrases.listed(record["kept"])) for _ in record["kept"]}
    found |= {totals.exact(phrases.listed(record["exact"])) for _ in record["exact"]}
    found |= {totals.ORDER_SHOWN} if record["order"] == "kept" else set()
    found |= {totals.KEPT} if record["kept"] else set()
    near = {", ".join(names): phrases.apart(one) for one, names in ways if one["kind"] == "near"}
    beyond = "; ".join(f"{' and '.join(names.split(', '))}: {words}" for names, words in near.items())
    found |= {phrases.OPEN, phrases.EXACT, totals.whose(relation["unit"]), totals.farther(beyond)}
    found |= {totals.unprotected(bool(record["kept"]), False, bool(record["exact"]))} if not record["parts"] else set()
    found |= {totals.BELIEF, totals.GUESSES, totals.PROTECTED, *totals.GLOSSARY.values()}
    for part in record["parts"]:
        found |= prices(Fraction(part["price"]), Fraction(part["delta"]))
        found |= prices(Fraction(part["price"]) / part["times"], Fraction(part["delta"]) / part["times"])
        found |= {phrases.part_line(part), phrases.pair(part["pair"]), phrases.protected_by(part, relation)}
        found |= {render.part_pair(part, relation), phrases.cost(part["price"], part["delta"])}
        if part["kind"] == "column":
            found |= {phrases.apart(part["protects"]), phrases.by(part["protects"])}
    for part in document["parts"]:
        proved, _ = prove(part["certificate"])
        found |= of_mechanism(dict(proved.record), part["certificate"]) if proved is not None else set()
    return found


def prices(epsilon: Fraction, delta: Fraction) -> set[str]:
    """Return all renderings of a price."""
    priors = (Fraction(1, 100), Fraction(1, 10), Fraction(1, 2))
    found = {totals.meaning(epsilon, delta), totals.odds(epsilon, delta), totals.beliefs(epsilon, priors)}
    found |= {totals.weak("", epsilon, none).strip() for none in (False, True)} | {totals.together(epsilon)}
    found.add(totals.total(epsilon, delta))
    return found | {totals.price(epsilon, delta), totals.extra(delta), totals.belief(epsilon, delta)}


def remains(text: str, known: set[str]) -> list[str]:
    """The words of claims in a text that are not part of a known rendering."""
    text = plain(text)
    for words in sorted(map(plain, filter(None, known)), key=len, reverse=True):
        text = text.replace(words, "·")
        text = text.replace(words[0].upper() + words[1:], "·")
    numbers = r"[0-9][0-9./e^-]*"  # where a text of the source has the place of a number
    patterns = "|".join(pattern.replace(r"\{\}", numbers) for pattern in CLAIMS.values())
    return [f"{text[max(0, one.start() - 60) : one.end() + 60]!r}" for one in re.finditer(patterns, text)]


def strings(value: Any) -> Iterator[str]:
    """All texts of a JSON document."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)


def flat(text: str) -> str:
    """A page without markup and line breaks."""
    text = re.sub(r"<(style|script|svg).*?</\1>", " ", text, flags=re.S)
    return plain(html.unescape(re.sub(r"<[^>]+>", " ", text)))


def plain(text: str) -> str:
    """A text as all pages have it: with single spaces, and none before a sign of per cent."""
    return re.sub(r"\s+", " ", text).replace(" %", "%").replace("\u202f", "")


def toml(value: Any) -> str:
    """Return a value of a policy as a line of TOML has it."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name} = {toml(inner)}" for name, inner in value.items()) + "}"
    return f"[{', '.join(map(toml, value))}]" if isinstance(value, list) else json.dumps(value)


def printed(*command: object) -> str:
    """Return the text that a command line prints on a wide terminal."""
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        code = run([str(word) for word in command])
    assert code != 2 or command[0] == "estimate", err.getvalue()  # there may be nothing left to estimate
    return out.getvalue()


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "4000")


@pytest.mark.parametrize("policy", list(policies()), ids=lambda policy: policy["dataset"])
def test_a_release_says_what_its_certificate_has(policy: dict[str, Any], tmp_path: Path) -> None:
    data, folder = tmp_path / "visits.parquet", tmp_path / "released"
    rules = tmp_path / "policy.toml"
    pq.write_table(TABLE, data)
    rules.write_text("".join(f"{name} = {toml(value)}\n" for name, value in policy.items()))
    released = nw.release(policy, TABLE, output=folder, ledger=tmp_path / "ledger.sqlite", seed=7)
    document = json.loads((folder / "certificate.json").read_text())
    record = checker_release.examine(document)
    known = of_release(record, document)
    plan = nw.plan(policy, TABLE, ledger=tmp_path / "ledger.sqlite")
    shown = {
        "report": flat((folder / "report.html").read_text()),
        "repr": f"{released!r} {plan!r} {released.certificate!r}",
        "cards": flat(f"{released._repr_html_()} {plan._repr_html_()}"),
        "plan": flat(printed("plan", rules, data)),
        "release": flat(printed("release", rules, data, "-o", tmp_path / "again", "--seed", 7)),
        "verify": flat(printed("verify", folder)),
        "estimate": flat(printed("estimate", folder)),
    }
    for name, command in {
        "plan": ("plan", rules, data),
        "verify": ("verify", folder),
        "estimate": ("estimate", folder),
    }.items():
        output = printed(*command, "--json")
        if output.startswith(("{", "[")):
            shown[f"{name} --json"] = " | ".join(strings(json.loads(output)))
    assert [name for name, text in shown.items() if not text] in ([], ["estimate"])
    assert {name: found for name, text in shown.items() if (found := remains(text, known))} == {}
    assert phrases.tables(record) in shown["report"] or not record["parts"]
    if record["parts"]:
        total, *parts = prices_of(record)
        read = {name: read_screen(re.sub(" ?%", " %", text), total, parts) for name, text in shown.items()}
        assert read["report"] >= 2 - bool(total[1])
        assert read["plan"] >= 1


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem)
def test_a_mechanism_says_what_its_certificate_has(path: Path) -> None:
    document = json.loads(path.read_text())
    if document["format"] == checker.RELEASE:
        document = checker.current(document)
        known = of_release(checker_release.examine(document), document)
        known.add(phrases.corrected(json.loads(path.read_text()).get("between", "")))
    else:
        claim, _ = prove(document)
        known = set() if claim is None else of_mechanism(dict(claim.record), document)
    shown = {
        "verify": flat(printed("verify", path)),
        "verify --json": " | ".join(strings(json.loads(printed("verify", path, "--json")))),
    }
    assert {name: found for name, text in shown.items() if (found := remains(text, known))} == {}
