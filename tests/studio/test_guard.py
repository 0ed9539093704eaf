"""Who is answered, and what a page may do."""

from __future__ import annotations

import asyncio
import csv
import http.client
import re
import subprocess
import sys
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect
from tools.serving import running

from noisewright.exceptions import DataError, ParameterError
from noisewright.studio import sessions as visits
from noisewright.studio.server import LARGEST_BODY, Guard, names_of, serve
from noisewright.studio.sessions import Visit

pytestmark = pytest.mark.xdist_group("studio")


class Answer(NamedTuple):
    status: int
    headers: http.client.HTTPMessage
    body: str


def ask(address: str, path: str = "/", method: str = "GET", **headers: str) -> Answer:
    where = urlsplit(address)
    with closing(http.client.HTTPConnection(where.hostname or "", where.port, timeout=600)) as connection:
        connection.putrequest(method, path, skip_host="Host" in headers)
        for name, value in headers.items():
            connection.putheader(name.replace("_", "-"), value)
        connection.endheaders()
        with connection.getresponse() as answer:
            return Answer(answer.status, answer.headers, "" if answer.status == 101 else answer.read().decode())


def test_other_names_of_this_machine_reach_nothing(studio: str) -> None:
    port = urlsplit(studio).port
    for name in (
        "evil.example:80",
        f"127.0.0.1.evil.example:{port}",
        f"evil.example:{port}",
        "127.0.0.1",
        f"[::1%lo]:{port}",
    ):
        assert ask(studio, Host=name).status == 421
    for name in ("127.0.0.1", "localhost", "LOCALHOST", "[::1]"):
        assert ask(studio, Host=f"{name}:{port}").status == 200
    assert "[fd00::7]:8080" in names_of("fd00::7", 8080)
    assert {"localhost", "localhost:80"} < set(names_of(None, 80))


def test_pages_of_other_sites_reach_nothing(studio: str) -> None:
    assert ask(studio, Origin="https://evil.example").status == 403
    upgrade = {
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec_WebSocket_Version": "13",
        "Sec_WebSocket_Key": "AAAAAAAAAAAAAAAAAAAAAA==",
    }
    socket = "/_nicegui_ws/socket.io/?EIO=4&transport=websocket"
    assert ask(studio, socket, Origin="https://evil.example", **upgrade).status == 403
    assert ask(studio, socket, Origin="null", **upgrade).status == 403
    assert ask(studio, socket, Host="evil.example", Origin="http://evil.example", **upgrade).status == 403
    assert ask(studio, socket, Origin=studio, **upgrade).status == 101


def test_other_sites_may_lead_to_a_page_and_may_not_use_it(studio: str) -> None:
    assert ask(studio, Sec_Fetch_Site="cross-site", Sec_Fetch_Dest="document").status == 200
    for how in ("image", "script", "iframe", "empty"):
        assert ask(studio, "/design", Sec_Fetch_Site="cross-site", Sec_Fetch_Dest=how).status == 403
        assert ask(studio, "/design", Sec_Fetch_Site="same-site", Sec_Fetch_Dest=how).status == 403
        assert ask(studio, "/studio/studio.css", Sec_Fetch_Site="same-origin", Sec_Fetch_Dest=how).status == 200


@pytest.mark.parametrize(
    "path",
    ["/pictures?method=blur", "/design/best?loss=x&objective=y", "/design/number?mechanism=laplace&scope=x&shape=%00"],
)
def test_a_link_with_a_choice_that_is_none_is_answered(studio: str, path: str) -> None:
    assert ask(studio, path).status == 200


def test_large_bodies_are_refused_before_they_are_read(studio: str) -> None:
    assert ask(studio, "/", "POST", Content_Length=str(LARGEST_BODY + 1)).status == 413


def test_a_body_that_does_not_say_its_size_is_counted() -> None:
    """Chunks, without a Content-Length: refused as soon as they are too many."""
    seen: list[dict[str, object]] = []
    chunks = [{"type": "http.request", "body": b"x" * 60, "more_body": True} for _ in range(3)]

    async def app(scope: object, receive: Callable[[], Awaitable[dict[str, object]]], send: object) -> None:
        while (await receive()).get("more_body"):
            pass

    async def receive() -> dict[str, object]:
        return chunks.pop(0)

    async def send(message: dict[str, object]) -> None:
        seen.append(message)

    guard = Guard(app, hosts=["me:1"], token=None, largest=100, port=1)  # type: ignore[arg-type]
    with ThreadPoolExecutor(1) as elsewhere:  # the browser of other tests has a loop of its own in this thread
        scope = {"type": "http", "headers": [(b"host", b"me:1")]}
        elsewhere.submit(lambda: asyncio.run(guard(scope, receive, send))).result()  # type: ignore[arg-type]
    assert seen[0]["status"] == 413
    assert len(chunks) == 1  # the third was never asked for


@pytest.mark.parametrize("path", ["/studio/../server.py", "/studio/%2e%2e/server.py", "/studio/..%2fserver.py"])
def test_no_other_file_is_served(studio: str, path: str) -> None:
    assert ask(studio, "/studio/studio.css").status == 200
    assert ask(studio, path).status == 404


def test_who_sits_elsewhere_is_shown_no_field_for_paths(studio: str) -> None:
    for page, label in (
        ("/release", "or the path of a file"),
        ("/release/check", "path of its folder"),
        ("/ledger", "path of a ledger"),
    ):
        assert label in ask(studio, page).body
        assert label not in ask(studio, page, X_Forwarded_For="203.0.113.9").body


def test_a_page_says_what_it_may_do(studio: str) -> None:
    answer = ask(studio, "/design")
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'self'" in policy
    scripts = policy.split("script-src ")[1].split(";")[0]
    assert "unsafe-inline" not in scripts
    nonce = re.findall("'nonce-(.*?)'", scripts)[0]
    body = answer.body
    assert body.count("<script") == body.count(f'<script nonce="{nonce}"') > 3
    assert nonce not in ask(studio, "/design").headers["content-security-policy"]


def test_nothing_is_fetched_from_elsewhere(visit: Callable[..., Page], studio: str) -> None:
    page = visit("/design")
    expect(page.get_by_label("What comes out").locator(".main-svg").first).to_be_visible()
    seen = page.evaluate("performance.getEntriesByType('resource').map(e => e.name)")
    assert len(seen) > 5
    assert all(name.startswith((studio, "data:", "blob:")) for name in seen)


def test_a_script_in_the_address_is_text(visit: Callable[..., Page]) -> None:
    page = visit(
        "/design/category?mechanism=randomised-response&epsilon=1&categories=<img src=x onerror=alert(1)>,<script>b</script>"
    )
    page.on("dialog", lambda dialog: pytest.fail(dialog.message))
    expect(page.get_by_label("What comes out").locator(".xtick").first).to_have_text("<img src=x onerror=alert(1)>")
    assert page.locator("main img").count() == 0
    assert "onerror=alert" in page.get_by_label("command line").inner_text()


def test_a_token_is_wanted_once(tmp_path: Path) -> None:
    token = "a-token-of-enough-letters"
    with running(tmp_path, "--token", token) as (address, _):
        assert ask(address).status == 401
        assert ask(address, "/?token=wrong").status == 401
        assert ask(address, "/", Cookie=f"noisewright-studio-{urlsplit(address).port}={token}").status == 401
        assert ask(address, "/studio/studio.css").status == 401
        assert ask(address, "/_nicegui_ws/socket.io/?EIO=4&transport=polling").status == 401
        let_in = ask(address, f"/design?token={token}&epsilon=1")
        assert (let_in.status, let_in.headers["location"]) == (303, "/design?epsilon=1")
        cookie = let_in.headers["set-cookie"]
        assert cookie.startswith(f"noisewright-studio-{urlsplit(address).port}=")  # other ports have one of their own
        assert token not in cookie  # browsers send cookies to every port of a machine
        assert "HttpOnly" in cookie
        assert "SameSite=Strict" in cookie
        assert ask(address, "/design", Cookie=cookie.split(";")[0]).status == 200
        away = ask(address, f"//evil.example/?token={token}")
        assert not away.headers["location"].startswith("//")
        split = ask(address, f"/design%0d%0aSet-Cookie:%20x=y?token={token}")
        assert (split.headers["location"], len(split.headers.get_all("set-cookie"))) == (
            "/design%0D%0ASet-Cookie%3A%20x%3Dy",
            1,
        )


def test_a_token_stays_in_no_address(tmp_path: Path) -> None:
    """A page that is open to this browser already would put the token into its links, and the browser into its history."""
    token = "a-token-of-enough-letters"
    with running(tmp_path, "--token", token) as (address, _):
        cookie = ask(address, f"/?token={token}").headers["set-cookie"].split(";")[0]
        for given in (token, "wrong"):
            again = ask(address, f"/design?epsilon=1&token={given}", Cookie=cookie)
            assert (again.status, again.headers["location"]) == (303, "/design?epsilon=1")


@pytest.mark.parametrize(
    "others",
    ["path=/x; {own}", "{name}=stale; {own}", "{own}; {name}=stale", 'a={{"b": 1, "c": [2]}}; {own}', "é; {own}"],
)
def test_cookies_of_others_sign_nobody_out(others: str) -> None:
    """Every server of this machine sets cookies that the browser sends to all ports."""
    guard = Guard(None, hosts=["me:1"], token="a-token-of-enough-letters", largest=1, port=1)  # type: ignore[arg-type]
    own = f"{guard.cookie}={guard.pass_}"
    assert guard._knows(others.format(own=own, name=guard.cookie))
    assert not guard._knows(others.format(own=f"{guard.cookie}=", name=guard.cookie))
    assert not guard._knows(others.format(own=f"other-{own}", name=guard.cookie))


def test_other_machines_are_answered_with_a_token_alone() -> None:
    with pytest.raises(ParameterError, match="leave out --no-token"):
        serve(host="192.0.2.1", no_token=True, show=False)
    with pytest.raises(ParameterError, match="leave out --token or --no-token"):
        serve(token="a-token-of-enough-letters", no_token=True, show=False)
    with pytest.raises(ParameterError, match="by which others reach this machine"):
        serve(host="0.0.0.0", token="a-token-of-enough-letters", show=False)
    for token in ("short", "sixteen letters; Path=/", "a-token-of-enough-letters\r\nSet-Cookie: x"):
        with pytest.raises(ParameterError, match="16 characters"):
            serve(token=token, show=False)
    done = subprocess.run(
        [sys.executable, "-m", "noisewright", "studio", "--host", "192.0.2.1", "--no-token", "--no-show"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1


def test_names_in_a_table_are_text_and_seen_by_its_person_alone(visit: Callable[..., Page], tmp_path: Path) -> None:
    names = ["<img src=x onerror=alert(1)>", "</script><script>alert(2)</script>", "{{7*7}}", "`${alert(3)}`"]
    with (tmp_path / "evil.csv").open("w", newline="") as file:
        csv.writer(file).writerows([names, [1, 2, 3, 4]])
    page = visit("/release")
    page.on("dialog", lambda dialog: pytest.fail(dialog.message))
    page.set_input_files("input[type=file]", tmp_path / "evil.csv")
    for name in names:
        expect(page.get_by_role("heading", name=name, exact=True)).to_be_visible()
    page.get_by_label("rows of one person", exact=True).click()
    expect(page.get_by_role("option", name=f"those with the same {names[0]}")).to_be_visible()
    assert page.locator("main img").count() == 0
    expect(visit("/release").get_by_role("heading", name=names[0])).to_have_count(0)


def test_a_file_of_another_kind_is_refused_in_a_sentence(visit: Callable[..., Page]) -> None:
    page = visit("/matching")
    page.set_input_files("input[type=file]", {"name": "model.pkl", "mimeType": "", "buffer": b"cos\nsystem\n."})
    expect(page.get_by_role("alert")).to_contain_text(
        "a file that ends with .csv, .parquet, .npy, .npz and has up to 200 MB"
    )
    page.set_input_files(
        "input[type=file]", {"name": "model.npy", "mimeType": "", "buffer": b"\x93NUMPY\x01\x00garbage"}
    )
    expect(page.get_by_role("alert")).to_contain_text("model.npy")


def test_a_file_keeps_its_ending_and_no_path(tmp_path: Path) -> None:
    visit = Visit(tmp_path / "visit")
    where = visit.keep("../../etc/passwd.csv", b"a\n1\n")
    assert where.parent == tmp_path / "visit"
    assert where.name == "given-0.csv"
    again = visit.keep("passwd.csv", b"b\n2\n")
    other = visit.keep("other.csv", b"c\n3\n")
    assert [path.read_bytes() for path in (where, again, other)] == [b"a\n1\n", b"b\n2\n", b"c\n3\n"]
    assert visit.said(f"{again} has no column, {other.name} has") == "passwd.csv has no column, other.csv has"
    visit.names["mine.zip"] = visit.place("unpacked") / "release"
    assert visit.said(f"{visit.names['mine.zip']} is released") == "mine.zip is released"
    with pytest.raises(DataError, match="is wanted here"):
        visit.keep("model.pkl", b"")
    told: list[bool] = []
    visit.before_end.append(lambda: told.append(where.exists()))  # work ends before its files go
    visit.end()
    assert told == [True]
    assert not (tmp_path / "visit").exists()


def test_a_page_keeps_so_much_and_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visits, "MOST_KEPT", 5)
    visit = Visit(tmp_path / "visit")
    visit.keep("a.csv", b"123")
    with pytest.raises(DataError, match="open it anew"):
        visit.keep("b.csv", b"456")
