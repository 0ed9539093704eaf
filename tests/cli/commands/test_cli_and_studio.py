"""The pages of the studio show the same facts as their commands: the same witnesses, words and figures."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import noisewright as nw
from noisewright.policy.policy import as_policy
from noisewright.studio.pages.compare import _verdict
from noisewright.studio.pages.design import _Answer, _facts
from noisewright.studio.services.audit import audited, checked_folder
from noisewright.studio.services.compare import compared
from noisewright.studio.services.design import cost_of, designed

PAIRS = {
    "numbers": (
        "geometric",
        {"epsilon": "1", "within": "0:2"},
        "randomised-response",
        {"epsilon": "1", "categories": "0,1,2"},
    ),
    "one kind": ("geometric", {"epsilon": "1", "within": "0:3"}, "geometric", {"epsilon": "2", "within": "0:3"}),
    "floats": (
        "exponential",
        {"epsilon": "1", "points": "0,1,2", "metric": "line"},
        "geometric",
        {"epsilon": "1/2", "within": "0:2"},
    ),
    "categories": (
        "randomised-response",
        {"epsilon": "1", "categories": "a,b"},
        "randomised-response",
        {"epsilon": "1/3", "categories": "a,b"},
    ),
}
DESIGNS = {
    "laplace": {"epsilon": "0.0031423", "sensitivity": "1"},
    "geometric": {"epsilon": "0.37", "within": "0:50"},
    "randomised-response": {"epsilon": "1", "categories": "a,b,c"},
    "planar-laplace": {"epsilon": "1.3", "radius": "200"},
}
POLICY = (
    'dataset = "clinic"\n[budget]\nepsilon = 20\n'
    '[[columns]]\nname = "day"\nmechanism = "geometric"\nwithin = [2025-01-01, 2025-12-31]\nprotect = "30 days"\nepsilon = 1\n'
    '[[columns]]\nname = "stay"\nmechanism = "geometric"\nprotect = "120 minutes"\nepsilon = "1/3"\n'
    '[[columns]]\nname = "note"\nkeep = true\n'
    '[[queries]]\nname = "mean age"\naggregate = "mean"\ncolumn = "age"\nwithin = [0, 110]\nepsilon = 1\n'
)


def squeezed(text: str) -> str:
    """A text without markup, with single spaces and none before a percent sign."""
    return " ".join(re.sub("<[^>]*>", " ", text).replace("\N{NO-BREAK SPACE}", " ").split()).replace(" %", "%")


def design(call: Any, name: str, given: dict[str, str], *more: str) -> Any:
    return call("design", name, *(part for key, text in given.items() for part in (f"--{key}", text)), *more)


@pytest.mark.parametrize("name", PAIRS)
def test_a_comparison(name: str, call: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "400")
    first, ours, second, theirs = PAIRS[name]
    design(call, first, ours, "-o", "a.json")
    design(call, second, theirs, "-o", "b.json")
    (pair,) = compared((first, second), (ours, theirs)).orders
    told = call("compare", "a.json", "b.json", "--json").json
    assert {**pair.to_json(), "names": ["A", "B"], "reading": told["reading"]} == {k: told[k] for k in pair.to_json()}

    def renamed(text: str) -> str:
        return text.replace(pair.names[0], "A").replace(pair.names[1], "B")

    page = squeezed(call("compare", "a.json", "b.json", "--details").words)
    shown = squeezed(renamed(_verdict(pair)))
    for sentence in told["reading"]:
        assert sentence in page
        assert sentence in shown
    for row in pair.answers():
        assert " ".join(row) in page
        assert " ".join(row) in shown
    for title, status, text in pair.evidence():
        assert squeezed(renamed(f"{title}: {status} {text}")) in page


@pytest.mark.parametrize("name", DESIGNS)
def test_a_design(name: str, call: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    made = designed(name, DESIGNS[name])
    page = squeezed(design(call, name, DESIGNS[name]).words)
    answer = _Answer(made, None, None, "absolute", None, None, None)
    for what, text in (("In words", made.reading), *_facts(answer, False)):
        assert squeezed(f"{what} {text}") in page or (what, text) == ("Proof", "a theorem about real numbers")


def test_an_error_is_never_rounded_down() -> None:
    made = designed("laplace", DESIGNS["laplace"])
    assert made.errors["absolute"] > 318
    rows = dict(_facts(_Answer(made, None, None, "absolute", None, None, None), False))
    shown = float(rows["Expected error"].split()[0])
    assert shown >= made.errors["absolute"]
    small = designed("geometric", {"epsilon": "1/3", "within": "0:20"})
    cost = cost_of(small, "absolute", None)
    assert cost is not None
    rows = dict(_facts(_Answer(small, None, None, "absolute", cost, None, None), False))
    face, best = (float(word) for word in re.findall(r"[\d.]+", rows["On average"]))
    assert face >= cost[0]
    assert best >= cost[1]
    costs = compared(
        ("geometric", "geometric"), ({"epsilon": "1", "within": "0:6"}, {"epsilon": "0.3", "within": "0:6"})
    ).costs
    matrix = nw.geometric(epsilon="0.3", within=(0, 6)).channel().matrix
    exact = sum(row @ [abs(x - y) for y in range(7)] for x, row in enumerate(matrix)) / 7
    assert float(next(row[2] for row in costs if row[:2] == ("geometric B", "absolute"))) >= exact


@pytest.mark.parametrize("metric", ["", "line", "discrete"])
def test_an_audit(metric: str, call: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from noisewright.cli.commands.audit import worst_rows

    monkeypatch.setenv("COLUMNS", "400")
    channel = nw.Channel([[0.71234, 0.28766], [0.4, 0.6], [0.123456, 0.876544]])
    nw.save(channel, tmp_path / "c.csv")
    asked = ["--metric", metric] if metric else []
    told = call("audit", tmp_path / "c.csv", *asked, "--json").json
    found = audited(tmp_path / "c.csv", metric)
    assert found.found is not None
    assert (found.reading, found.found.value) == (told["reading"], told["smallest"]["epsilon"])
    page = squeezed(call("audit", tmp_path / "c.csv", *asked).words)
    for what, text in (*worst_rows(found.found), ("In words", found.reading)):
        assert squeezed(f"{what} {text}") in page


def test_a_plan_and_a_proof_with_dates(call: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "600")
    days = pa.array([20_100 + k for k in range(40)], pa.int32()).cast(pa.date32())
    stay = pa.array([1_700_000_000 + 3600 * k for k in range(40)], pa.timestamp("s"))
    table = pa.table({"day": days, "stay": stay, "age": [20 + k for k in range(40)], "note": ["x"] * 40})
    pq.write_table(table, "visits.parquet")
    Path("policy.toml").write_text(POLICY)
    plan = nw.plan(as_policy("policy.toml"), "visits.parquet", ledger="ledger")
    told = call("plan", "policy.toml", "visits.parquet", "--ledger", "ledger", "--json").json
    _, rows = plan.listed_parts()
    between = [row[3] for row in rows]
    assert between[:2] == ["values at most 30 days apart", "values at most 2 hours apart"]
    assert between == [part["protects"] for part in told["columns"] + told["queries"] if not part.get("kept")]
    page = squeezed(call("plan", "policy.toml", "visits.parquet", "--ledger", "ledger").words)
    for row in rows:
        assert squeezed(" ".join(row)) in page

    call("release", "policy.toml", "visits.parquet", "-o", "out", "--ledger", "ledger")
    sentences = checked_folder("out", "ledger").sentences  # of the studio, and of Python
    page = squeezed(call("verify", "out", "--ledger", "ledger").words)
    for part, words in zip(call("verify", "out", "--json").json["files"][0]["parts"], between, strict=True):
        said = next(one for one in sentences if one.startswith(part["title"]))
        assert words in said
        assert "(line)" not in said or part["kind"] == "query"
    assert 'NOT protected: "note"' in sentences
    assert 'NOT protected "note"' in page
    assert all(squeezed(one.replace(": ", " ", 1)) in page for one in sentences if one.startswith("NOT protected"))
