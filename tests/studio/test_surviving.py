"""Releases survive their page and their server: reloads, second tabs, Ctrl-C, a kill, a full disk; they are paid for once."""

from __future__ import annotations

import os
import re
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from tools.serving import running

import noisewright as nw
from noisewright.exceptions import FileFormatError
from noisewright.ledger.ledger import Ledger
from noisewright.studio import sessions as digests
from noisewright.studio.services import releases as releasing
from noisewright.studio.sessions import Job
from tests.studio.test_keeping import SOON, at, fill_smoker, poll, release, until

pytestmark = pytest.mark.xdist_group("studio")
__all__ = ["at", "poll"]
GATE = """
import os, time
from noisewright.releases import release as run
from noisewright.studio.services import releases as release

def held(*arguments, told):
    gate = os.environ["NOISEWRIGHT_LEDGER"] + ".gate"
    def reached(phase):
        if phase == "recorded":
            open(f"{gate}.{os.getpid()}", "w").close()
            while not os.path.exists(gate):
                time.sleep(0.05)
    run.reached = reached
    return release.make_release(*arguments, told=told)
"""
"""A release that waits for a file between its spend and its first draw."""


@pytest.fixture
def gated(tmp_path: Path) -> str:
    """Lines that a server runs first, so that its releases wait at the gate."""
    (tmp_path / "gate.py").write_text(GATE)
    return (
        f"{SOON}\nimport os, sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        f"os.environ['PYTHONPATH'] = {str(tmp_path)!r} + ':' + os.environ.get('PYTHONPATH', '')\n"
        "import gate\nfrom noisewright.studio.pages import release as page; page.make_release = gate.held"
    )


def begun(folder: Path) -> list[Path]:
    """The releases that wait at the gate, or did."""
    return list(folder.glob("ledger.sqlite.gate.*"))


def open_gate(folder: Path) -> None:
    (folder / "ledger.sqlite.gate").touch()


def kept(folder: Path) -> list[Path]:
    return list((folder / "data" / "noisewright" / "releases").glob("poll/2*/policy.lock"))


def start(page: Page, poll: Path) -> None:
    """Begin a release of a column."""
    page.set_input_files("input[type=file]", poll)
    fill_smoker(page)
    page.get_by_role("button", name="Release, for epsilon 1").click()


def test_a_release_outlives_a_server_that_is_killed(
    at: Callable[[str], Page], poll: Path, tmp_path: Path, gated: str
) -> None:
    with running(tmp_path, before=gated) as (address, server):
        page = at(address + "/release")
        start(page, poll)
        until(lambda: begun(tmp_path))
        server.kill()
        server.wait()
    with running(tmp_path) as (address, _):  # which deletes what dead servers left, and not what is at work
        assert list((tmp_path / "tmp").rglob("given-*"))
        open_gate(tmp_path)
        until(lambda: kept(tmp_path))
        until(lambda: not list((tmp_path / "tmp").rglob("given-*")))
        (lock,) = kept(tmp_path)
        assert nw.verify(lock.parent, ledger=tmp_path / "ledger.sqlite").proved
        page = at(address + "/release")
        expect(page.get_by_label("Earlier releases")).to_contain_text(lock.parent.name)
        start(page, poll)
        expect(page.get_by_label("What was released")).to_contain_text("made already: nothing was drawn")
    assert Ledger(tmp_path / "ledger.sqlite").remaining("poll").releases == 1


def test_ctrl_c_waits_for_a_release(at: Callable[[str], Page], poll: Path, tmp_path: Path, gated: str) -> None:
    with running(tmp_path, before=f"import os; os.setsid()\n{gated}") as (address, server):
        page = at(address + "/release")
        start(page, poll)
        until(lambda: begun(tmp_path))
        os.killpg(server.pid, signal.SIGINT)  # as a terminal does: server and job
        until(lambda: "it goes on to its end" in (tmp_path / "log.txt").read_text())
        assert server.poll() is None
        open_gate(tmp_path)
        assert server.wait(60) == 130
        assert nw.verify(kept(tmp_path)[0].parent, ledger=tmp_path / "ledger.sqlite").proved
        assert "Traceback" not in (tmp_path / "log.txt").read_text()
    until(lambda: not list((tmp_path / "tmp").rglob("given-*")))


def test_one_release_that_is_asked_for_twice_is_paid_for_once(
    at: Callable[[str], Page], poll: Path, tmp_path: Path, gated: str
) -> None:
    """After a reload, in a second tab, and at another server of the same user."""
    with running(tmp_path, before=gated) as (address, _), running(tmp_path, before=gated) as (other, _):
        first = at(address + "/release")
        start(first, poll)
        until(lambda: begun(tmp_path))
        first.reload()
        first.get_by_role("button", name="Release, for epsilon 1").click()
        pages = [first, at(address + "/release"), at(other + "/release")]
        for page in pages[1:]:
            start(page, poll)
        for page in pages:
            expect(page.get_by_role("status").filter(has_text="Releasing")).to_be_visible()
        open_gate(tmp_path)
        for page in pages:
            expect(page.get_by_label("What was released")).to_contain_text("made already: nothing was drawn")
        assert len(begun(tmp_path)) == len(kept(tmp_path)) == 1
    assert Ledger(tmp_path / "ledger.sqlite").remaining("poll").releases == 1


def test_a_release_for_which_there_is_no_room_is_refused_before_the_spend(
    poll: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(releasing, "free_bytes", lambda folder: 1000)
    with pytest.raises(FileFormatError, match="make room there"):
        release(poll, tmp_path / "kept")
    assert not (tmp_path / "ledger.sqlite").exists()


def test_a_kept_release_that_was_deleted_is_said(at: Callable[[str], Page], poll: Path, tmp_path: Path) -> None:
    with running(tmp_path) as (address, _):
        page = at(address + "/release")
        start(page, poll)
        result = page.get_by_label("What was released")
        expect(result).to_contain_text("80 rows were released")
        shutil.rmtree(kept(tmp_path)[0].parent)
        result.get_by_role("button", name="Download everything").click()
        expect(result.get_by_role("alert")).to_contain_text("does not hold a release any more")
        expect(result.get_by_role("button", name="Download everything")).to_be_hidden()
        page.get_by_label("format of the released table").click()
        page.get_by_role("option", name="csv").click()
        page.get_by_role("button", name="Release, for epsilon 1").click()
        expect(page.get_by_text("a new draw would cost its price again")).to_be_visible()
    assert Ledger(tmp_path / "ledger.sqlite").remaining("poll").releases == 1


def test_a_link_brings_back_the_path_and_the_ledger(at: Callable[[str], Page], poll: Path, tmp_path: Path) -> None:
    """A reload would otherwise ask the ledger of this user, in which nothing is spent."""
    book = tmp_path / "other.sqlite"
    with running(tmp_path) as (address, _):
        page = at(address + "/release")
        page.get_by_label("or the path of a file").fill(str(poll))
        page.get_by_role("button", name="Open the path").click()
        fill_smoker(page)
        page.get_by_label("ledger", exact=True).fill(str(book))
        page.get_by_role("button", name="Release, for epsilon 1").click()
        expect(page.get_by_label("What was released")).to_contain_text("80 rows were released")
        expect(page.get_by_label("Earlier releases")).to_contain_text("poll, 2")
        page.wait_for_url(re.compile("ledger=.*released=|released=.*ledger="))
        page.reload()
        expect(page.get_by_label("What was released")).to_contain_text("80 rows, released on")
        expect(page.get_by_label("name in the ledger")).to_have_value("poll")
        expect(page.get_by_label("ledger", exact=True)).to_have_value(str(book))
        expect(page.get_by_label("The plan", exact=True)).to_contain_text("1 spent in 1 release")
        expect(page.get_by_label("Earlier releases")).to_contain_text("poll, 2")
        link = page.get_by_label("Earlier releases").get_by_role("link")
        expect(link).to_have_attribute("href", re.compile("other.sqlite"))
        poll.write_text("age,smoker\n1,no\n")
        page.reload()
        expect(page.get_by_role("region", name="The table").get_by_role("alert")).to_contain_text(
            "content is another one"
        )
        assert page.get_by_label("name in the ledger").count() == 0
    assert not (tmp_path / "ledger.sqlite").exists()


def test_an_upload_that_fails_is_said(at: Callable[[str], Page], poll: Path, tmp_path: Path) -> None:
    poll.write_text(poll.read_text() * 3)
    with running(
        tmp_path, before="from noisewright.studio import server as security; security.LARGEST_BODY = 1000"
    ) as (
        address,
        _,
    ):
        page = at(address + "/release")
        page.set_input_files("input[type=file]", poll)
        expect(page.get_by_role("region", name="The table").get_by_role("alert")).to_contain_text(
            "did not arrive whole"
        )
        assert not page.get_by_text("Receiving the file").is_visible()


def test_names_cannot_turn_letters_around(visit: Callable[..., Page], poll: Path) -> None:
    page = visit("/release")
    name = "evil\x1b[31m\u202egnp.csv"
    page.set_input_files("input[type=file]", {"name": name, "mimeType": "", "buffer": poll.read_bytes()})
    fill_smoker(page, "names")
    for place in (page.get_by_role("region", name="The table"), page.get_by_label("command line")):
        expect(place).to_contain_text(r"evil\x1b[31m\u202egnp.csv")
    assert not {"\x1b", "\u202e"} & set(page.locator("main").inner_text())


def test_a_form_that_is_too_long_for_a_link_is_said(visit: Callable[..., Page]) -> None:
    names = [f"{'é' * 150}{n}" for n in range(200)]
    page = visit("/release")
    table = (",".join(names) + "\n" + ",".join(["1"] * 200) + "\n").encode()
    page.set_input_files("input[type=file]", {"name": "wide.csv", "mimeType": "", "buffer": table})
    expect(page.get_by_text("too long for a link")).to_be_visible()
    page.wait_for_url(re.compile("/release$"))


def test_jobs_of_a_server_that_cannot_keep_its_key_know_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A data folder that cannot be written: a large table, which a job reads, would not be the file of its own link."""
    monkeypatch.delenv(digests.OWN, raising=False)
    (tmp_path / "data").write_text("a file")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    table = tmp_path / "poll.csv"
    table.write_text("a\n1\n")
    own = digests.digest_of(table)
    assert Job(digest_told, str(table)).wait().result == own
    monkeypatch.delenv(digests.OWN)


def digest_told(path: str, told: Callable[..., None]) -> str:
    return digests.digest_of(path)
