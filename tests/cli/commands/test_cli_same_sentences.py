"""One release, looked at from every side: everywhere the same sentence for its neighbours and for what each part protects."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import noisewright as nw
from noisewright.claims import phrases

VISITS = {
    "patient": pa.array([str(k // 2) for k in range(40)]),
    "age": pa.array([20 + k for k in range(40)]),
    "stay": pa.array([1_700_000_000 + 3600 * k for k in range(40)], pa.timestamp("s")),
    "smoker": pa.array([k % 3 == 0 for k in range(40)]),
    "x": pa.array([float(k) for k in range(40)]),
    "y": pa.array([float(-k) for k in range(40)]),
}
AGE = '[[columns]]\nname = "age"\nmechanism = "geometric"\nwithin = [0, 110]\nprotect = 5\nepsilon = 1\nmissing = "keep"\n'
OTHERS = (
    '[[columns]]\nname = "smoker"\nmechanism = "randomised-response"\ncategories = [true, false]\nepsilon = "1/3"\n'
    '[[columns]]\nname = "stay"\nmechanism = "geometric"\nprotect = "120 minutes"\nepsilon = 1\n'
    '[[columns]]\nname = ["x", "y"]\nmechanism = "planar-laplace"\nprotect = 2.5\nepsilon = 1\n'
)
MEAN = '[[queries]]\nname = "mean age"\naggregate = "mean"\ncolumn = "age"\nwithin = [0, 110]\nepsilon = 1\n'
UNIT = '[unit]\ncolumn = "patient"\nrows = 2\n'
HEAD = 'dataset = "clinic"\n[budget]\nepsilon = 20\n'
SAME_ROWS = "two tables with the same number of rows that differ in the values of one row"
OF_PATIENTS = (
    "two tables with the same rows of every patient, in which the rows of one patient (at most 2) have other values"
)
TOLD = (
    "by at most 5 (whether one is missing is shown) in age, by any two values in smoker, by at most 2 hours in stay, by at most "
    "2.5 (euclidean) in x with y"
)
COLUMNS = [
    "values at most 5 apart (whether one is missing is shown)",
    "any two values",
    "values at most 2 hours apart",
    "values at most 2.5 (euclidean) apart",
]
POLICIES: dict[str, tuple[str, str, list[str]]] = {
    "rows": (HEAD + AGE + OTHERS + MEAN, f"{SAME_ROWS}: {TOLD}", [*COLUMNS, "one row, with any other values"]),
    "patients": (
        HEAD + UNIT + AGE + OTHERS + MEAN,
        f"{OF_PATIENTS}: {TOLD}",
        [*COLUMNS, "the rows of one patient (at most 2), with any other values"],
    ),
    "answers": (
        HEAD + UNIT + MEAN,
        "two tables that are alike except for the rows of one patient (at most 2), which only one of them has",
        ["the rows of one patient (at most 2), there or not"],
    ),
    "one column": (HEAD + AGE, f"{SAME_ROWS}: by at most 5 (whether one is missing is shown) in age", COLUMNS[:1]),
}


def text_of(page: str) -> str:
    """What a reader sees of a page."""
    return " ".join(html.unescape(re.sub("<[^>]*>", " ", page)).split())


@pytest.mark.parametrize("name", POLICIES)
def test_one_release_is_described_alike_everywhere(name: str, call: Any, tmp_path: Path, monkeypatch: Any) -> None:
    text, between, protects = POLICIES[name]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "600")  # so that no cell is broken
    Path("policy.toml").write_text(text)
    pq.write_table(pa.table(VISITS), "visits.parquet")
    plan = nw.plan("policy.toml", "visits.parquet", ledger="ledger")
    assert (plan.between, [part.protects for part in plan.parts]) == (between, protects)

    planned = call("plan", "policy.toml", "visits.parquet", "--ledger", "ledger")
    released = call("release", "policy.toml", "visits.parquet", "-o", "out", "--ledger", "ledger")
    detailed = call("release", "policy.toml", "visits.parquet", "-o", "out", "--ledger", "ledger", "--details")
    verified = call("verify", "out", "--ledger", "ledger")
    shown = call("ledger", "show", "ledger")
    page = text_of(Path("out/report.html").read_text())
    done = nw.release("policy.toml", "visits.parquet", output="out", ledger="ledger")
    cards = [text_of(plan._repr_html_()), text_of(done._repr_html_())]
    account = shown.words.replace("at most 5 in age", "at most 5 (whether one is missing is shown) in age")
    everywhere = [planned.words, detailed.words, verified.words, page, account, *cards]
    for said in (*everywhere, released.words, repr(plan), repr(done)):
        assert between in said
    for said in everywhere:
        assert not [part for part in protects if part not in said], said
    assert f"the promise is between {between}." in page  # what is signed
    assert page.count(between) >= 3  # at the top, at the budget, and where somebody signs

    for arguments in (
        ["plan", "policy.toml", "visits.parquet"],
        ["release", "policy.toml", "visits.parquet", "-o", "out"],
    ):
        found = call(*arguments, "--ledger", "ledger", "--json").json
        assert found["between"] == between
        assert [part["protects"] for part in found["columns"] + found["queries"]] == protects
    (proved,) = call("verify", "out", "--ledger", "ledger", "--json").json["files"]
    assert proved["between"] == between
    assert f"between {between}" in proved["claim"]
    assert list(dict.fromkeys(part["protects"] for part in proved["parts"])) == protects

    certificate = json.loads(Path("out/certificate.json").read_text())
    record = proved["record"]
    assert record["neighbours"] == certificate["neighbours"] == plan.policy.relation
    assert phrases.between(record["neighbours"], phrases.ways_of(record)) == between


def test_a_release_says_how_near_values_are_also_without_details(call: Any, tmp_path: Path, monkeypatch: Any) -> None:
    """Epsilon is 1 for ages at most 5 apart; 18 and 77 may be told apart with odds of e^11.8."""
    monkeypatch.chdir(tmp_path)
    Path("policy.toml").write_text(HEAD + AGE.replace('missing = "keep"\n', ""))
    pq.write_table(pa.table({"age": [18, 77, 40]}), "visits.parquet")
    said = call("release", "policy.toml", "visits.parquet", "-o", "out", "--ledger", "ledger").words
    assert f"Total epsilon = 1 Between {SAME_ROWS}: by at most 5 in age In words" in said
