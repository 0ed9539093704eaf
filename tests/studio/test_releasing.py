"""From a table to a release that is proved, in the browser alone; and what the fields of its policy say."""

from __future__ import annotations

import re
import sqlite3
import time
import zipfile
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from axe_playwright_python.sync_playwright import Axe
from hypothesis import given, settings
from hypothesis import strategies as st
from playwright.sync_api import Page, expect
from tools.serving import running

import noisewright as nw
from noisewright.claims.figures import upward
from noisewright.exceptions import FileFormatError, NoisewrightError, ParameterError
from noisewright.images.faces.public_faces import sprite_faces
from noisewright.studio.services import audit as checking
from noisewright.studio.services.audit import checked_folder, unpacked
from noisewright.studio.services.policies import EXAMPLES, Form, mechanisms_for, policy_text, rebalanced, starting_form
from noisewright.studio.services.releases import gauge_of, given_example, given_table, make_release, planned, zipped

pytestmark = pytest.mark.xdist_group("studio")
VISITS = "patient_id,age,sex\n" + "".join(f"P{i},{20 + i % 60},{'fm'[i % 2]}\n" for i in range(400))


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    path = tmp_path / "visits.csv"
    path.write_text(VISITS)
    return path


def open_file(page: Page, path: Path) -> None:
    with page.expect_file_chooser() as chosen:
        page.get_by_role("button", name="Open a table").click()
    chosen.value.set_files(str(path))


def test_from_a_csv_to_a_verified_release(visit: Callable[..., Page], visits: Path, tmp_path: Path) -> None:
    page = visit("/release")
    open_file(page, visits)
    plan = page.get_by_label("The plan", exact=True)
    expect(plan.get_by_role("alert")).to_contain_text("still to be filled in: the range of 'age'")
    go = page.get_by_role("button", name="Release", exact=True)
    expect(go).to_be_disabled()
    assert page.get_by_label("column patient_id").get_by_text("left out").count() == 1
    age, sex = page.get_by_label("column age"), page.get_by_label("column sex")
    assert age.get_by_label("least possible value").input_value() == ""  # asked for, never read off the data
    age.get_by_label("least possible value").fill("0")
    age.get_by_label("largest possible value").fill("110")
    age.get_by_label("values this far apart look alike").fill("5")
    sex.get_by_label("all possible values").fill("f, m")
    page.get_by_label("budget: epsilon of all releases").fill("4")
    page.get_by_role("textbox", name="epsilon of age").fill("1")
    page.get_by_role("textbox", name="epsilon of sex").fill("2")
    page.get_by_role("button", name="Release, for epsilon 3").click()
    result = page.get_by_label("What was released")
    expect(result).to_contain_text("400 rows were released; epsilon 1 of 4 is left.")
    expect(result).to_contain_text("Verified: proved again just now")
    expect(result).to_contain_text('column "sex": epsilon = 2 for any two values')
    expect(page.frame_locator("iframe").locator("h1")).to_have_text("Release of visits")
    expect(plan).to_contain_text("This is released; see below.")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Download everything").click()
    assert saved.value.suggested_filename == "visits-release.zip"
    with zipfile.ZipFile(saved.value.path()) as archive:
        archive.extractall(tmp_path / "got")
    proved = nw.verify(tmp_path / "got" / "release")
    assert proved.proved
    released = pq.read_table(tmp_path / "got" / "release" / "data.parquet")
    assert (released.num_rows, released.schema.names) == (400, ["age", "sex"])
    text = page.get_by_label("policy.toml").inner_text()
    assert (tmp_path / "got" / "policy.toml").read_text().strip() == text.strip()
    assert nw.plan(tmp_path / "got" / "policy.toml", visits, ledger=tmp_path / "none").epsilon == 3
    again = visit("/release/check")
    proof = again.get_by_label("What is proved")
    again.locator("input[type=file]").nth(0).set_input_files(
        {"name": "visits-release.zip", "mimeType": "", "buffer": Path(saved.value.path()).read_bytes()}
    )
    expect(proof).to_contain_text("Proved, in whole numbers, just now.")
    expect(proof).to_contain_text('column "sex": epsilon = 2 for any two values')
    lock = tmp_path / "got" / "release" / "certificate.json"
    lock.write_text(lock.read_text().replace('"2"', '"1"'))
    again.get_by_label("or the path of its folder").fill(str(lock.parent))
    again.get_by_role("button", name="Open the path").click()
    expect(proof.get_by_role("alert")).to_have_text("NOT proved.")
    for line in (
        "plan policy.toml visits.csv",
        "release policy.toml visits.csv --output out --format parquet",
        "verify out",
    ):
        expect(page.get_by_label("command line")).to_contain_text(f"noisewright {line}")


def test_a_release_can_be_cancelled_and_made_again_and_another_table_is_another_release(
    visit: Callable[..., Page], tmp_path: Path
) -> None:
    ledger = tmp_path / "spent.sqlite"
    other = {"name": "smoker", "mechanism": "randomised-response", "categories": ["yes", "no"], "epsilon": 1}
    policy = {"dataset": "other", "budget": {"epsilon": 1}, "columns": [other]}
    nw.release(policy, pa.table({"smoker": ["yes"]}), ledger=ledger)
    page = visit("/release")
    result = page.get_by_label("What was released")
    for rows, total in ((40, "2"), (41, "4")):
        path = tmp_path / f"poll-{rows}.csv"
        path.write_text("smoker\n" + "yes\n" * rows)
        open_file(page, path)
        expect(page.get_by_label("The table")).to_contain_text(f"{path.name}: 1 column.")
        page.get_by_label("all possible values").fill("yes,no")
        page.get_by_label("name in the ledger").fill("cancelled")
        page.get_by_label("budget: epsilon of all releases").fill("4")
        page.get_by_role("textbox", name="epsilon of smoker").fill("2")
        page.get_by_label("ledger", exact=True).fill(str(ledger))
        go = page.get_by_role("button", name="Release, for epsilon 2")
        expect(go).to_be_enabled()
        if rows == 40:
            with closing(sqlite3.connect(ledger)) as busy:
                busy.execute("BEGIN IMMEDIATE")  # who wants to write waits until then
                go.click()
                page.get_by_role("button", name="Cancel").click()
                expect(page.get_by_label("Release", exact=True).get_by_role("alert")).to_have_text("Cancelled.")
            expect(page.get_by_label("The plan", exact=True)).to_contain_text("nothing spent yet, 2 for this one")
        go.click()
        expect(result).to_contain_text(f"{rows} rows were released; epsilon {4 - int(total)} of 4 is left.")


def test_one_column_gets_more_and_the_others_less(visit: Callable[..., Page]) -> None:
    page = visit("/release?example=commuters")
    go = page.get_by_role("button", name="Release, for epsilon 3")
    expect(go).to_be_enabled()
    page.get_by_role("textbox", name="epsilon of means").press("Tab")
    slider = page.get_by_role("slider", name="epsilon of means")
    for reached in ("1.01", "1.02", "1.03", "1.04"):
        page.keyboard.press("ArrowRight")
        expect(slider).to_have_attribute("aria-valuenow", reached)
    expect(page.get_by_role("textbox", name="epsilon of means")).to_have_value("1.04")
    expect(page.get_by_role("textbox", name="epsilon of minutes")).to_have_value("0.98")
    expect(page.get_by_label("What if")).to_contain_text("All columns together: epsilon 3.")
    policy = page.get_by_label("policy.toml")
    expect(policy).to_contain_text("epsilon = 1.04")
    plan = page.get_by_label("The plan", exact=True)
    wanted = nw.randomised_response(categories=["car", "train", "bicycle", "on foot"], epsilon="1.04").error("zero-one")
    expect(plan).to_contain_text(f"wrong at most {upward(100 * wanted, 3)} %")


def test_the_link_brings_an_example_back_as_it_was_left(visit: Callable[..., Page]) -> None:
    page = visit("/release?example=commuters")
    field = page.get_by_label("column minutes").get_by_label("largest possible value")
    field.fill("240")
    expect(page.get_by_label("policy.toml")).to_contain_text("[0, 240]")
    link = page.get_by_role("link", name="A link to this page as it is")
    expect(link).to_have_attribute("href", re.compile("240"))
    again = visit(link.get_attribute("href") or "")
    expect(again.get_by_label("policy.toml")).to_contain_text("within = [0, 240]")
    found = Axe().run(again)
    assert not [v["id"] for v in found.response["violations"] if v["impact"] in ("serious", "critical")]


def test_a_path_that_is_not_there_is_said_in_a_sentence(visit: Callable[..., Page], visits: Path) -> None:
    page = visit("/release?data=/nowhere/visits.csv")
    expect(page.get_by_label("The plan", exact=True)).to_be_hidden()  # a link alone opens no file
    page.get_by_role("button", name="Open the path").click()
    expect(page.get_by_role("alert")).to_have_text("there is no file /nowhere/visits.csv.")
    page.get_by_label("or the path of a file").fill(str(visits))
    page.get_by_label("or the path of a file").press("Enter")
    expect(page.get_by_label("column age")).to_be_visible()
    visits.write_text("patient_id,age,sex\nP1,secret-cell,f\n")
    for label, text in (("least possible value", "0"), ("largest possible value", "9"), ("values this far", "any")):
        page.get_by_label("column age").get_by_label(label).fill(text)
    page.get_by_label("all possible values").fill("f,m")
    expect(page.get_by_label("The plan", exact=True).get_by_role("alert")).to_contain_text("age")
    assert "secret-cell" not in page.content()


def test_nothing_stays_when_the_page_is_closed(visits: Path, tmp_path: Path, chromium: object) -> None:
    from playwright.sync_api import Browser

    assert isinstance(chromium, Browser)
    impatient = "from noisewright.studio import server; server.PATIENCE = 1.0"
    with running(tmp_path, before=impatient) as (address, server):
        page = chromium.new_page()
        page.goto(f"{address}/release?example=commuters")
        page.get_by_role("button", name="Release, for epsilon 3").click()
        expect(page.get_by_label("What was released")).to_contain_text("2,000 rows were released")
        scratch = tmp_path / "tmp"
        assert list(scratch.rglob("commuters.parquet"))
        assert list(scratch.rglob("data.parquet"))
        page.close()
        for _ in range(300):
            left = [
                path for path in scratch.rglob("*") if path.is_file() and path.name != "held"
            ]  # the server's own lock
            if not left:
                break
            time.sleep(0.2)
        assert not left
        assert not (tmp_path / "ledger.sqlite").exists()  # an example is no release of this user
        page = chromium.new_page()
        page.goto(f"{address}/release?example=commuters")
        expect(page.get_by_role("button", name="Release, for epsilon 3")).to_be_visible()
        assert list(scratch.rglob("commuters.parquet"))
        server.kill()  # and nothing stays of a server that was killed, either
        for _ in range(300):
            left = [path for path in scratch.rglob("*") if path.is_file()]
            if not left:
                break
            time.sleep(0.2)
        assert not left
        page.close()


@pytest.mark.parametrize("key", list(EXAMPLES))
def test_an_example_is_ready_and_what_is_public_about_it_is_true(key: str, tmp_path: Path) -> None:
    given_ = given_example(key, tmp_path)
    plan = planned(given_.form, given_.path, str(tmp_path / "ledger"), tmp_path)
    assert (plan.fits, plan.refusal, plan.epsilon) == (True, None, 3)
    gauge = gauge_of(plan)
    assert gauge.shares == (0.0, 1.0)
    assert gauge.words.endswith("nothing spent yet, 3 for this one, 0 left afterwards.")


def test_a_table_that_nobody_could_fill_in_is_left_to_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "wide.csv").write_text(",".join(f"c{i}" for i in range(201)) + "\n")
    (tmp_path / "long.csv").write_text("x" * 201 + "\n1\n")
    for name in ("wide.csv", "long.csv"):
        with pytest.raises(FileFormatError, match="noisewright init"):
            given_table(str(tmp_path / name), name)


def test_only_files_of_this_machine_are_opened() -> None:
    with pytest.raises(FileFormatError, match="files of this machine alone"):
        given_table("https://example.org/visits.csv", "visits.csv")


def test_documents_pictures_and_a_delta_are_released_and_proved(tmp_path: Path) -> None:
    faces = [nw.images.png_of(face) for face in sprite_faces().pictures[:30]]
    notes = ["a long journey with fever", "the doctor came late", "they went home early"] * 10
    table = pa.table({"note": notes, "face": faces, "weight": [70.5, 81.0, 64.2] * 10})
    pq.write_table(table, tmp_path / "visits.parquet")
    form = given_table(str(tmp_path / "visits.parquet"), "visits.parquet").form
    note, face, weight = form.columns
    for column, mechanism, typed in (
        (note, "private-documents", {"size": "5", "protect": "4", "epsilon": "8"}),
        (face, "faces", {"epsilon": "20"}),
        (weight, "gaussian", {"low": "0", "high": "200", "protect": "1", "epsilon": "1", "delta": "1e-6"}),
    ):
        assert mechanism in mechanisms_for(column.kind)
        form = form.having(replace(column, mechanism=mechanism, given=typed))
    form = replace(form, budget="30", delta="1e-5")
    told: list[float] = []
    ledger, folder = str(tmp_path / "ledger.sqlite"), tmp_path / "visit"
    folder.mkdir()
    path = str(tmp_path / "visits.parquet")
    plan = planned(form, path, ledger, folder)
    assert (plan.fits, plan.epsilon, plan.delta) == (True, 29, Fraction(1, 10**6))
    done = make_release(
        policy_text(form),
        path,
        str(tmp_path / "kept"),
        str(folder),
        ledger,
        "parquet",
        False,
        lambda rows, of=0: told.append(rows),
    )
    archive_of = zipped(Path(done.folder), folder / "all.zip")
    assert (done.proved, done.rows, told[-1]) == (True, 30, 30)
    with zipfile.ZipFile(archive_of) as archive:
        assert {"policy.toml", "small.nwe", "release/certificate.json"} <= set(archive.namelist())
        assert not [n for n in archive.namelist() if str(folder).encode() in archive.read(n)]
    assert checked_folder(str(unpacked(archive_of, tmp_path / "again")), ledger).proved


def test_a_budget_is_raised_where_that_is_asked_for(visits: Path, tmp_path: Path) -> None:
    form = given_table(str(visits), "visits.csv").form
    form = replace(form, columns=tuple(replace(c, mechanism="") for c in form.columns), budget="1")
    sex = form.columns[-1]
    form = form.having(replace(sex, mechanism="randomised-response", given={"categories": "f,m", "epsilon": "1"}))
    ledger, path = str(tmp_path / "ledger.sqlite"), str(visits)
    make_release(
        policy_text(form), path, str(tmp_path / "a"), str(tmp_path), ledger, "csv", False, lambda rows, of=0: None
    )
    more = replace(form, budget="3")
    refused = planned(more, path, ledger, tmp_path)
    assert refused.budget is not None
    assert "raise it" in (refused.budget.refusal or "")
    plan = planned(more, path, ledger, tmp_path, True)
    assert plan.fits
    assert gauge_of(plan).words == "Of epsilon 3 for visits: 1 spent in 1 release, 1 for this one, 1 left afterwards."
    assert nw.Ledger(ledger).remaining("visits").epsilon == 1  # a plan records nothing
    make_release(
        policy_text(more), path, str(tmp_path / "b"), str(tmp_path), ledger, "csv", True, lambda rows, of=0: None
    )
    assert nw.Ledger(ledger).remaining("visits").left_epsilon == 1


@pytest.mark.parametrize("name", ["../out.json", "/etc/out.json", "a/../../out.json", "..\\out.json"])
def test_what_would_lie_elsewhere_is_not_unpacked(tmp_path: Path, name: str) -> None:
    with zipfile.ZipFile(tmp_path / "bad.zip", "w") as archive:
        archive.writestr("release/certificate.json", "{}")
        archive.writestr(zipfile.ZipInfo(name), "{}")
    with pytest.raises(FileFormatError, match="outside of its folder"):
        unpacked(tmp_path / "bad.zip", tmp_path / "here")
    assert not (tmp_path / "here").exists()


def test_what_is_no_release_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.zip").write_bytes(b"nothing of the kind")
    with pytest.raises(FileFormatError, match="it is damaged"):
        unpacked(tmp_path / "a.zip", tmp_path / "here")
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as archive:
        archive.writestr("readme.txt", "hello")
    with pytest.raises(FileFormatError, match="holds no release"):
        unpacked(tmp_path / "b.zip", tmp_path / "here")
    monkeypatch.setattr(checking, "MOST_BYTES", 4)
    with pytest.raises(FileFormatError, match="more than is taken here"):
        unpacked(tmp_path / "b.zip", tmp_path / "here")


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(1, 5000), min_size=1, max_size=7),
    st.integers(0, 6),
    st.integers(1, 20000),
)
def test_trading_keeps_the_total_and_the_order_of_the_others(steps: list[int], place: int, wanted: int) -> None:
    shares, moved = [str(Fraction(n, 1000)) for n in steps], place % len(steps)
    found = [Fraction(text) for text in rebalanced(shares, moved, str(Fraction(wanted, 1000)))]
    assert sum(found) == Fraction(sum(steps), 1000)
    assert min(found) >= Fraction(1, 1000)
    if len(steps) > 1:
        assert found[moved] == min(Fraction(wanted, 1000), Fraction(sum(steps) - len(steps) + 1, 1000))
    others = [i for i in range(len(steps)) if i != moved]
    for i in others:
        for j in others:
            assert steps[i] <= steps[j] or found[i] >= found[j]


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=12), st.text(max_size=12), st.text(max_size=20))
def test_whatever_is_typed_the_policy_is_read_or_refused(low: str, categories: str, name: str) -> None:
    start = nw.releases.starting_policy(pa.table({"age": [1, 2], "town": ["a", "b"]}))
    form: Form = starting_form(start, name)
    form = form.having(form.columns[0].having(low=low, high="9", protect="1"))
    form = form.having(form.columns[1].having(categories=categories))
    try:
        policy = nw.Policy.from_toml(policy_text(form))
    except NoisewrightError:
        return
    assert policy.dataset == name
    assert [c.names for c in policy.columns] == [("age",), ("town",)]


def test_a_link_that_holds_something_else_is_refused(tmp_path: Path) -> None:
    form = given_example("commuters", tmp_path).form
    assert form.retyped(form.typed()) == form
    for text in ("[" * 9000, "[]", "{}", '{"columns": 3}', "x", '{"columns": [[["means"], "laplace"]]}'):
        with pytest.raises(ParameterError, match="fill in the fields anew"):
            form.retyped(text)
    assert np.all([c.names for c in form.columns] == [("means",), ("minutes",), ("days_at_home",)])
