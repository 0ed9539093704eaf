"""Nothing gets in, and nothing gets lost: releases stay, uploads do not, and links restore what they say or ask for it."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from picture_support import small_picture
from playwright.sync_api import Browser, Page, expect
from tools.serving import running

import noisewright as nw
from noisewright.exceptions import FileFormatError, ParameterError
from noisewright.ledger.ledger import Ledger
from noisewright.studio.services import releases as tries
from noisewright.studio.services.policies import Column, Form, policy_text
from noisewright.studio.services.releases import (
    Released,
    find_kept,
    given_table,
    home_of,
    kept_of,
    make_release,
    shown_again,
)
from noisewright.studio.sessions import digest_of

pytestmark = pytest.mark.xdist_group("studio")
SOON = "from noisewright.studio import server; server.PATIENCE = 1.0"
LARGE = "from noisewright.studio.pages import release as tables; tables.LARGE = 1000"
SLOW = (
    "import os, time\n"
    "from noisewright.studio.services import releases as release\n"
    "def slow(path, name, told):\n"
    "    open(os.environ['NOISEWRIGHT_LEDGER'] + '.job', 'w').write(str(os.getpid()))\n"
    "    time.sleep(600)\n"
)


@pytest.fixture
def poll(tmp_path: Path) -> Path:
    path = tmp_path / "poll.csv"
    path.write_text("age,smoker\n" + "31,yes\n48,no\n" * 40)
    return path


@pytest.fixture
def at(chromium: Browser) -> Iterator[Callable[[str], Page]]:
    """A page of a studio of its own."""
    opened: list[Page] = []

    def go(address: str) -> Page:
        page = chromium.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce").new_page()
        page.set_default_timeout(180_000)
        opened.append(page)
        page.goto(address)
        return page

    yield go
    for page in opened:
        page.context.close()


def until(met: Callable[[], object]) -> None:
    for _ in range(1200):
        if met():
            return
        time.sleep(0.1)
    raise AssertionError("it did not come so far")


def fill_smoker(page: Page, name: str = "poll") -> None:
    """Fill in the fields of one column, and leave the other one out."""
    page.get_by_label("column age").get_by_label("what happens to it").click()
    page.get_by_role("option", name="left out").click()
    page.get_by_label("all possible values").fill("yes,no")
    page.get_by_label("name in the ledger").fill(name)
    page.get_by_role("textbox", name="epsilon of smoker").fill("1")


# A released table is kept ---------------------------------------------------------------------------------------------------


def test_a_release_outlives_its_page_and_is_found_by_its_id(
    at: Callable[[str], Page], poll: Path, tmp_path: Path
) -> None:
    with running(tmp_path, before=SOON) as (address, _):
        page = at(address + "/release")
        page.set_input_files("input[type=file]", poll)
        fill_smoker(page)
        page.get_by_role("button", name="Release, for epsilon 1").click()
        result = page.get_by_label("What was released")
        expect(result).to_contain_text("80 rows were released; epsilon 2 of 3 is left.")
        (folder,) = (tmp_path / "data" / "noisewright" / "releases" / "poll").glob("2*Z-????????")
        expect(result).to_contain_text(str(folder))
        assert nw.verify(folder).proved
        assert {entry.release_id for entry in Ledger(tmp_path / "ledger.sqlite").entries("poll")} == {folder.name}
        for one in (folder, folder.parent, folder.parent.parent):
            assert stat.S_IMODE(one.stat().st_mode) == 0o700
        page.reload()
        expect(result).to_contain_text("80 rows, released on")
        expect(result).to_contain_text("Verified: proved again just now")
        expect(page.get_by_label("The table")).to_contain_text("poll.csv")
        page.context.set_offline(True)
        time.sleep(4)  # longer than a page is kept
        page.context.set_offline(False)
        page.goto(address + "/release")
        earlier = page.get_by_label("Earlier releases")
        expect(earlier).to_contain_text(folder.name)
        page.goto(address + "/ledger")
        with page.expect_download() as saved:
            earlier.get_by_role("button", name=f"Download {folder.name}").click()
        with zipfile.ZipFile(saved.value.path()) as archive:
            assert {"policy.toml", "release/data.parquet", "release/certificate.json"} <= set(archive.namelist())
        earlier.get_by_role("link", name=folder.name).click()
        expect(result).to_contain_text("80 rows, released on")
        page.goto(address + "/release?released=20200101T000000Z-00000000")
        expect(result.get_by_role("alert")).to_contain_text("There is no release 20200101T000000Z-00000000")


def test_a_release_goes_on_when_its_page_is_closed(at: Callable[[str], Page], poll: Path, tmp_path: Path) -> None:
    with running(tmp_path, before=SOON) as (address, _):
        page = at(address + "/release")
        page.set_input_files("input[type=file]", poll)
        fill_smoker(page)
        page.get_by_role("button", name="Release, for epsilon 1").click()
        begun = page.get_by_role("status").filter(has_text="Releasing")
        expect(
            begun.or_(page.get_by_label("What was released")).first
        ).to_be_visible()  # a fast one may be done already
        page.close()
        until(lambda: list((tmp_path / "data" / "noisewright" / "releases").glob("poll/2*/policy.lock")))
        until(lambda: not list((tmp_path / "tmp").rglob("given-*")))  # and then its table goes


def test_leaving_with_work_warns_and_the_theme_does_not_leave(
    visit: Callable[..., Page], poll: Path, tmp_path: Path
) -> None:
    page = visit("/release")
    asked: list[str] = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.dismiss()))
    page.set_input_files("input[type=file]", poll)
    fill_smoker(page, "leaving")
    expect(page.get_by_role("button", name="Release, for epsilon 1")).to_be_enabled()
    page.evaluate("window.here = true")
    page.get_by_label("Use the dark theme").click()
    expect(page.locator("body.body--dark")).to_be_visible()
    expect(page.get_by_label("Use the light theme")).to_be_visible()
    assert page.evaluate("window.here")
    expect(page.get_by_label("all possible values")).to_have_value("yes,no")
    page.close(run_before_unload=True)
    page.wait_for_function("document.body.dataset.unsaved")
    for _ in range(100):
        page.wait_for_timeout(100)  # in which the dialog is heard of
        if asked:
            break
    assert asked == ["beforeunload"]
    page.get_by_role("button", name="Release, for epsilon 1").click()
    expect(page.get_by_label("What was released")).to_contain_text("80 rows were released")
    expect(page.locator("body[data-unsaved='']")).to_be_attached()


def test_a_figure_changes_with_the_theme(visit: Callable[..., Page]) -> None:
    page = visit("/design/number?mechanism=geometric&epsilon=1&within=0:9")
    tick = page.get_by_label("What comes out").locator(".xtick text").first
    expect(tick).to_be_visible()
    before = tick.evaluate("e => getComputedStyle(e).fill")
    page.get_by_label("Use the dark theme").click()
    page.wait_for_function(
        "before => getComputedStyle(document.querySelector('[aria-label=\"What comes out\"] .xtick text')).fill != before",
        arg=before,
    )


def smoker(epsilon: str = "1") -> Form:
    given = {"categories": "yes,no", "epsilon": epsilon}
    return Form("poll", "3", (Column(("smoker",), "text", "", "randomised-response", given),))


def release(poll: Path, root: Path, form: str = "parquet") -> Released:
    ledger = str(root.parent / "ledger.sqlite")
    return make_release(
        policy_text(smoker()), str(poll), str(root), str(root.parent), ledger, form, False, lambda done, of=0: None
    )


def test_the_same_release_of_pictures_is_read_until_they_are_replaced(tmp_path: Path) -> None:
    (tmp_path / "faces").mkdir()
    (tmp_path / "faces" / "0.png").write_bytes(small_picture(0))
    (tmp_path / "badges.csv").write_text("badge\n0.png\n")
    text = (
        'dataset = "badges"\n[budget]\nepsilon = 9\n[[columns]]\nname = "badge"\nmechanism = "pixel-laplace"\n'
        f'folder = "{tmp_path}/faces"\nwidth = 8\nheight = 6\nblock = 2\nepsilon = 1\n'
    )
    (tmp_path / "scratch").mkdir()
    path, root, scratch, ledger = (str(tmp_path / one) for one in ("badges.csv", "kept", "scratch", "ledger.sqlite"))

    def made() -> Released:
        return make_release(text, path, root, scratch, ledger, "parquet", False, lambda done, of=0: None)

    first, second = made(), made()
    assert (first.reread, second.reread, second.folder) == (False, True, first.folder)
    (tmp_path / "faces" / "0.png").write_bytes(small_picture(1))
    assert not made().reread


def test_the_same_release_is_read_and_another_format_is_a_copy(
    poll: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, ledger = tmp_path / "kept", str(tmp_path / "ledger.sqlite")
    first, second, copy = release(poll, root), release(poll, root), release(poll, root, "csv")
    assert (first.reread, second.reread, copy.reread) == (False, True, True)
    assert first.folder == second.folder
    assert copy.folder == f"{first.folder}-csv"
    assert Ledger(ledger).remaining("poll").releases == 1
    monkeypatch.setattr("noisewright.studio.sessions._folder", root)
    assert [one.name for one in kept_of(ledger)] == [Path(copy.folder).name, Path(first.folder).name]
    found = find_kept(Path(first.folder).name)
    assert found is not None
    assert shown_again(found, ledger).proved
    for name in ("../poll", "20200101T000000Z-0000000g", f"{Path(first.folder).name}/../..", "*"):
        assert find_kept(name) is None
    os.rename(first.folder, tmp_path / "moved")
    os.rename(copy.folder, tmp_path / "moved-csv")
    with pytest.raises(ParameterError, match="were released under this policy already"):
        release(poll, root)
    assert not [path for path in root.rglob("*") if path.is_dir() and path.name.startswith("2")]


@pytest.mark.parametrize("phase", ["sealed", "published"])
def test_a_release_whose_process_was_killed_when_it_was_whole_is_kept(poll: Path, tmp_path: Path, phase: str) -> None:
    words = [policy_text(smoker()), str(poll), str(tmp_path / "kept"), str(tmp_path), str(tmp_path / "ledger.sqlite")]
    call = f"""
import os
from noisewright.releases import release as run
from noisewright.studio.services.releases import make_release
run.reached = lambda phase: os._exit(9) if phase == {phase!r} else None
make_release(*{words!r}, "parquet", False, lambda done, of=0: None)
"""
    assert subprocess.run([sys.executable, "-c", call], check=False).returncode == 9
    found = release(poll, tmp_path / "kept")
    assert (found.reread, found.proved) == (True, True)
    ledger = Ledger(tmp_path / "ledger.sqlite")
    assert [(one.release_id, one.state) for one in ledger.entries("poll")] == [(Path(found.folder).name, "finished")]
    assert not list((tmp_path / "kept").rglob("*.staging"))


def test_what_is_refused_leaves_no_policy_behind(poll: Path, tmp_path: Path) -> None:
    poll.write_text("smoker\nperhaps\n")
    with pytest.raises(nw.NoisewrightError):
        release(poll, tmp_path / "kept")
    assert not [path for path in (tmp_path / "kept").rglob("*") if path.is_file()]


def test_a_folder_that_cannot_be_made_is_refused_before_anything_is_spent(poll: Path, tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("a file")
    with pytest.raises(FileFormatError, match="--releases"):
        release(poll, tmp_path / "kept" / "below")
    assert not (tmp_path / "ledger.sqlite").exists()
    assert home_of(tmp_path / "new", "../a dataset").parent == tmp_path / "new"


# Uploads, long readings and the token ---------------------------------------------------------------------------------------


def test_an_upload_has_one_copy_which_goes_when_the_server_is_killed(at: Callable[[str], Page], tmp_path: Path) -> None:
    table = tmp_path / "large.csv"
    table.write_text("smoker\n" + "yes\n" * 600_000)
    with running(tmp_path) as (address, server):
        page = at(address + "/release")
        page.set_input_files("input[type=file]", table)
        expect(page.get_by_label("The table")).to_contain_text("large.csv: 1 column.")
        scratch = tmp_path / "tmp"
        copies = [path for path in scratch.rglob("*") if path.is_file() and path.stat().st_size > 2**20]
        assert len(copies) == 1
        server.kill()
        until(lambda: not [path for path in scratch.rglob("*") if path.is_file()])


def test_a_long_reading_is_cancelled_by_its_person_and_by_closing_the_page(
    at: Callable[[str], Page], poll: Path, tmp_path: Path
) -> None:
    (tmp_path / "slow.py").write_text(SLOW)
    before = (
        f"{SOON}\n{LARGE}\nimport os; os.environ['PYTHONPATH'] = {str(tmp_path)!r} + ':' + os.environ.get('PYTHONPATH', '')\n"
        f"sys = __import__('sys'); sys.path.insert(0, {str(tmp_path)!r})\nimport slow; tables.read_apart = slow.slow"
    )
    poll.write_text(poll.read_text() * 3)
    told = tmp_path / "ledger.sqlite.job"

    def alive() -> bool:
        return Path(f"/proc/{told.read_text()}").exists()

    with running(tmp_path, before=before) as (address, _):
        page = at(address + "/release")
        step = page.get_by_role("region", name="The table")
        page.set_input_files("input[type=file]", {"name": "no.csv", "mimeType": "", "buffer": b""})
        expect(step.get_by_role("alert")).to_be_visible()
        page.set_input_files("input[type=file]", poll)
        expect(step.get_by_role("status").filter(has_text=re.compile("Reading the file: [1-9]"))).to_be_visible()
        expect(step.get_by_role("alert")).to_have_count(0)  # what was said of the file before is gone
        until(lambda: told.exists() and told.read_text())
        assert alive()
        step.get_by_role("button", name="Cancel").click()
        expect(step.get_by_role("alert")).to_have_text("cancelled.")
        until(lambda: not alive())
        told.unlink()
        page.set_input_files("input[type=file]", poll)
        until(lambda: told.exists() and told.read_text())
        page.close()
        until(lambda: not alive())


def test_a_large_table_is_planned_beside_the_page(at: Callable[[str], Page], poll: Path, tmp_path: Path) -> None:
    large = f"{LARGE}\nfrom noisewright.studio.pages import release as page; page.is_large = lambda path: True"
    with running(tmp_path, before=large) as (address, _):
        page = at(address + "/release")
        page.set_input_files("input[type=file]", poll)
        fill_smoker(page)
        expect(page.get_by_role("button", name="Release, for epsilon 1")).to_be_enabled()


def test_a_token_is_the_default_and_no_other_port_gets_it(at: Callable[[str], Page], tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("one", "two")]
    for folder in folders:
        folder.mkdir()
    with running(folders[0], token=True) as (first, _), running(folders[1], token=True) as (second, _):
        links = [re.findall(r"http://\S+", (folder / "log.txt").read_text())[0] for folder in folders]
        tokens = [urlsplit(link).query.removeprefix("token=") for link in links]
        assert all(len(token) >= 32 for token in tokens)
        page = at(links[0])
        expect(page.get_by_role("heading", name="What do you have?")).to_be_visible()
        page.goto(links[1])
        expect(page.get_by_role("heading", name="What do you have?")).to_be_visible()
        for address in (first, second):  # both go on side by side
            page.goto(address + "/ledger")
            expect(page.get_by_role("heading", name="Read a ledger")).to_be_visible()
        cookies = page.context.cookies()
        held = {
            cookie["name"]: cookie["value"] for cookie in cookies if cookie["name"].startswith("noisewright-studio")
        }
        assert set(held) == {f"noisewright-studio-{urlsplit(address).port}" for address in (first, second)}
        assert not [value for value in held.values() for token in tokens if token in value]
        bare = at(first)
        expect(bare.locator("body")).to_contain_text("This studio needs its token")


# Ranges that are found by trying --------------------------------------------------------------------------------------------


def test_trying_ranges_is_said_beside_the_field(visit: Callable[..., Page], poll: Path) -> None:
    page = visit("/release")
    poll.write_text(poll.read_text() + "47,yes\n")  # data that no other test released under another name
    page.set_input_files("input[type=file]", poll)
    page.get_by_label("column smoker").get_by_label("what happens to it").click()
    page.get_by_role("option", name="left out").click()
    age, plan = page.get_by_label("column age"), page.get_by_label("The plan", exact=True)
    age.get_by_label("values this far apart look alike").fill("5")
    age.get_by_label("least possible value").fill("0")
    age.get_by_label("largest possible value").fill("40")
    expect(plan.get_by_role("alert")).to_contain_text("is outside the declared range")
    age.get_by_label("largest possible value").fill("100")
    expect(page.get_by_role("button", name=re.compile("Release, for epsilon"))).to_be_enabled()
    expect(age).not_to_contain_text("were tried")
    age.get_by_label("largest possible value").fill("50")
    expect(age).to_contain_text("3 ranges of age were tried against the data.")
    expect(plan).to_contain_text("3 ranges of age were tried against the data.")
    page.set_input_files("input[type=file]", poll)  # the same table is known again
    age.get_by_label("values this far apart look alike").fill("5")
    expect(age).to_contain_text("3 ranges of age were tried")


def test_only_what_tells_something_is_a_try() -> None:
    column = Column(("age",), "integer", "", "geometric", {"low": "0", "high": "9"})
    for change in ({}, {"epsilon": "2"}, {"high": ""}, {"high": "8", "outside": "clamp"}):
        tries.note_tries("a table", Form("x", "1", (column.having(**change),)))
    assert tries.tries("a table", column) == 1
    assert tries.tries("another", column) == 0


# Links ----------------------------------------------------------------------------------------------------------------------


def test_a_link_asks_for_the_file_that_it_is_about(visit: Callable[..., Page], poll: Path, tmp_path: Path) -> None:
    page = visit("/release")
    page.set_input_files("input[type=file]", poll)
    fill_smoker(page, "linked")
    link = page.get_by_role("link", name="A link to this page as it is")
    expect(link).to_have_attribute("href", re.compile("file=poll.csv&digest=[0-9a-f]{32}&.*linked"))
    there = link.get_attribute("href") or ""
    again = visit(there)  # the page that has the file is open: it is there
    expect(again.get_by_label("name in the ledger")).to_have_value("linked")
    gone = visit(there.replace("digest=", "digest=0"))
    step = gone.get_by_role("region", name="The table")
    expect(step.get_by_role("alert")).to_contain_text("This link is about poll.csv")
    poll.write_text("age,smoker\n9,no\n")
    gone.set_input_files("input[type=file]", poll)
    expect(step.get_by_role("alert")).to_contain_text("poll.csv is not the file that the link is about")
    expect(gone.get_by_label("name in the ledger")).to_have_value("linked")


@pytest.mark.parametrize(
    ("path", "example"),
    [
        ("/audit?file=mine.csv&digest=0", "Smallest epsilon"),
        ("/matching?file=mine.csv&digest=0", "True neighbours"),
        ("/pictures?method=laplace&epsilon=10&file=mine.png&digest=0", "the picture as it was given"),
        ("/learned?distortion=0.1&file=mine.csv&digest=0", "1,500 made-up homes"),
        ("/survey/estimate?reports_file=mine.csv&reports_digest=0", "hours of sport,"),
        ("/ledger?file=mine.sqlite&digest=0", "in records that hold together"),
        ("/text?epsilon=2&own=", "words that were read"),
    ],
)
def test_no_example_stands_in_the_place_of_a_file(visit: Callable[..., Page], path: str, example: str) -> None:
    page = visit(path)
    alert = page.get_by_role("alert").first
    expect(alert).to_contain_text("type or paste it again" if "own" in path else "This link is about mine.")
    expect(page.locator("main")).not_to_contain_text(example)
    assert page.url.endswith(path)


def test_an_audited_file_is_in_its_link(visit: Callable[..., Page], tmp_path: Path) -> None:
    channel = tmp_path / "mine.csv"
    channel.write_text(",x,y\na,0.6,0.4\nb,0.4,0.6\n")
    page = visit("/audit")
    page.set_input_files("input[type=file]", channel)
    link = page.get_by_role("link", name="A link to this page as it is")
    expect(link).to_have_attribute("href", re.compile("file=mine.csv&digest="))
    again = visit(link.get_attribute("href") or "")
    expect(again.get_by_label("What to audit")).to_contain_text("Loaded: mine.csv")
    expect(again.get_by_label("What it promises")).to_contain_text("Smallest epsilon")


def test_a_digest_is_keyed_and_tells_files_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    one, two = tmp_path / "one.csv", tmp_path / "two.csv"
    one.write_text("a\n1\n")
    two.write_text("a\n2\n")
    found = digest_of(one)
    assert (found == digest_of(one), found == digest_of(two), digest_of(tmp_path)) == (True, False, "")
    key = tmp_path / "data" / "noisewright" / "studio" / "link.key"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert stat.S_IMODE(key.parent.stat().st_mode) == 0o700
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "other"))
    assert digest_of(one) != found
    assert given_table(str(one), "one.csv").digest == digest_of(one)
