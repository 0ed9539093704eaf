"""The pages about surveys and ledgers show what the library says."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

import noisewright as nw
from noisewright.exceptions import NoLedgerError, ParameterError
from noisewright.studio.services.audit import HEAD, accounts
from noisewright.studio.services.surveys import (
    EXAMPLE,
    counted,
    estimate_code,
    estimated,
    example_reports,
    plan_code,
    planned_survey,
)

pytestmark = pytest.mark.xdist_group("studio")


def violations(page: Page) -> list[tuple[str, list[str]]]:
    found = Axe().run(page).response["violations"]
    return [(v["id"], [n["html"][:160] for n in v["nodes"]]) for v in found if v["impact"] in ("serious", "critical")]


# Surveys ------------------------------------------------------------------------------------------------------------------


def test_a_person_plans_a_survey_and_prints_its_card(visit: Callable[..., Page]) -> None:
    page = visit("/survey?epsilon=1&respondents=1000&prevalence=0.1&question=<i>Ever?</i>")
    card = page.get_by_role("group", name="card")
    plan = nw.survey(epsilon=1, respondents=1000, prevalence="0.1")
    for line in plan.device.instruction().split("\n"):
        expect(card).to_contain_text(line)
    expect(card).to_contain_text("<i>Ever?</i>")  # text, no markup
    page.get_by_label("how many people are asked").fill("4000")
    larger = nw.survey(epsilon=1, respondents=4000, prevalence="0.1")
    promise = page.get_by_label("The promise")
    expect(promise).to_contain_text(f"± {larger.margin:.4f} with 4,000 respondents")
    page.get_by_label("how many said yes").fill("320")
    page.get_by_label("how many said no").fill("680")
    found = larger.estimate({"yes": 320, "no": 680})
    expect(page.get_by_label("The answers")).to_contain_text(f"{found.shares['yes']:.4f}")
    expect(page.get_by_label("The answers")).to_contain_text(f"{found.intervals['yes'][0]:.4f} to")
    command = page.get_by_label("command line").inner_text()
    words = [*shlex.split(command)[1:], "--json"]
    done = subprocess.run([sys.executable, "-m", "noisewright", *words], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["respondents"] == 4000
    page.evaluate("window.print = () => { document.title = 'printed' }")
    page.get_by_role("button", name="Print the card").click()
    expect(page).to_have_title("printed")
    page.emulate_media(media="print")
    expect(card).to_be_visible()
    assert page.get_by_label("The survey", exact=True).evaluate("e => getComputedStyle(e).visibility") == "hidden"
    with page.expect_download() as taken:
        page.emulate_media(media="screen")
        page.get_by_role("button", name="Download the certificate").click()
    assert nw.Certificate.from_json(Path(taken.value.path()).read_text()).verify()


def test_what_no_survey_can_do_is_said_in_a_sentence(visit: Callable[..., Page]) -> None:
    page = visit("/survey?epsilon=1&respondents=many")
    expect(page.get_by_role("alert")).to_have_text("respondents = 'many' must be a whole number, such as 1000.")
    page.get_by_label("how many people are asked").fill("")
    expect(page.get_by_role("alert")).to_contain_text("say how many respondents there are, or which target margin")


def test_a_person_brings_reports_and_sees_the_population(visit: Callable[..., Page], tmp_path: Path) -> None:
    device = nw.survey(epsilon=2, respondents=3000).device
    nw.save(device.certificate(), tmp_path / "device.json")
    said = device.release(["yes"] * 900 + ["no"] * 2100, np.random.default_rng(4))
    (tmp_path / "answers.csv").write_text("answer\n" + "\n".join(said) + "\n")
    page = visit("/survey/estimate")
    files = page.locator("input[type=file]")
    files.nth(0).set_input_files(tmp_path / "answers.csv")
    expect(page.get_by_role("region", name="The reports")).to_contain_text("Open: answers.csv")
    files.nth(1).set_input_files(tmp_path / "device.json")
    found = nw.estimate(list(said), nw.load(tmp_path / "device.json"), intervals="asymptotic")
    place = list(found.secrets).index("yes")
    assert found.low is not None
    population = page.get_by_label("The population")
    expect(population).to_contain_text(f"{found.probabilities[place]:.4f}")
    expect(population).to_contain_text(f"{found.low[place]:.4f} to")
    assert abs(found.probabilities[place] - 0.3) < 0.06  # five standard errors
    expect(population.locator(".js-plotly-plot")).to_be_visible()
    (tmp_path / "wrong.csv").write_text("answer\nyes\nsecret-cell\n")
    files.nth(0).set_input_files(tmp_path / "wrong.csv")
    expect(page.get_by_role("alert")).to_be_visible()
    assert "secret-cell" not in page.content()


@pytest.mark.parametrize("width", [1280, 390])
def test_the_example_of_an_estimate_fits_and_is_accessible(visit: Callable[..., Page], width: int) -> None:
    page = visit("/survey/estimate?example=sport", width=width, dark=width == 390)
    expect(page.get_by_label("The population")).to_contain_text("log-likelihood units of the best population")
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_code_of_surveys_does_what_the_page_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: dict[str, object] = {}
    monkeypatch.chdir(tmp_path)
    exec(plan_code({**EXAMPLE, "categories": "never,once,often", "device": "dice"}), told)
    plan = planned_survey({**EXAMPLE, "categories": "never,once,often", "device": "dice"})
    assert told["plan"] == plan
    assert (tmp_path / "device.json").exists()
    reports, mechanism = example_reports(tmp_path)
    exec(estimate_code(reports.name, mechanism.name, {}), told)
    found = estimated(str(reports), str(mechanism), {})
    assert np.array_equal(told["found"].probabilities, found.probabilities)  # type: ignore[attr-defined]
    assert np.array_equal(told["found"].low, found.low)  # type: ignore[attr-defined]
    with pytest.raises(ParameterError, match="whole number"):
        counted(plan, {"once": "a few"})
    with pytest.raises(ParameterError, match="two whole numbers"):
        estimated(str(reports), str(mechanism), {"within": "0 to 9"})


# Ledgers ------------------------------------------------------------------------------------------------------------------


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    age = {"name": "age", "mechanism": "geometric", "within": [0, 110], "protect": 5, "epsilon": "1/3"}
    policy = {"dataset": "clinic", "budget": {"epsilon": 2}, "columns": [age, {"name": "town", "keep": True}]}
    table = pa.table({"age": [44, 31], "town": ["a", "b"]})
    for _ in range(2):
        nw.release(policy, table, ledger=tmp_path / "spent.sqlite", again=True)
    return tmp_path / "spent.sqlite"


def test_a_ledger_is_read_as_it_is(ledger: Path) -> None:
    (found,) = accounts(str(ledger))
    balance = nw.Ledger(ledger).remaining("clinic")
    assert (balance.spent_epsilon, found.share) == (Fraction(2, 3), float(Fraction(1, 3)))
    assert found.words == "Of epsilon 2: epsilon 0.666667 spent in 2 releases, epsilon 1.33333 left."
    assert [dict(zip(HEAD, row, strict=True))["epsilon"] for row in found.rows] == ["0.333334", "no bound"] * 2
    assert dict(found.facts)["NOT protected"] == "town: released as it is"
    with pytest.raises(NoLedgerError):
        accounts(str(ledger.with_name("other.sqlite")))
    assert not ledger.with_name("other.sqlite").exists()


def test_a_person_reads_a_ledger(visit: Callable[..., Page], ledger: Path) -> None:
    page = visit("/ledger")
    page.get_by_label("path of a ledger").fill("/nowhere/ledger.sqlite")
    page.get_by_role("button", name="Open the path").click()
    expect(page.get_by_role("alert")).to_have_text("there is no ledger /nowhere/ledger.sqlite; a release creates one.")
    page.set_input_files("input[type=file]", ledger)
    account = page.get_by_label("dataset clinic")
    expect(account).to_contain_text("epsilon 0.666667 spent in 2 releases, epsilon 1.33333 left.")
    expect(account.get_by_role("row")).to_have_count(5)
    expect(account).to_contain_text(re.compile("by at most 5 in age"))
    assert violations(page) == []
    page.set_input_files("input[type=file]", {"name": "x.sqlite", "mimeType": "", "buffer": b"nothing of the kind"})
    expect(page.get_by_role("alert")).to_contain_text("x.sqlite")
    expect(account).to_have_count(0)
