"""Who is answered, and what a page may do."""

from __future__ import annotations

import asyncio
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

from noisewright.core.errors import DataError, ParameterError
from noisewright.studio.security import Guard
from noisewright.studio.server import LARGEST_FILE, serve
from noisewright.studio.visits import Visit

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
    assert ask(studio, Host="evil.example:80").status == 421
    assert ask(studio).status == 200


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
    assert ask(studio, socket, Origin=studio, **upgrade).status == 101


def test_large_bodies_are_refused_before_they_are_read(studio: str) -> None:
    assert ask(studio, "/", "POST", Content_Length=str(LARGEST_FILE + 1)).status == 413


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

    guard = Guard(app, hosts=["me:1"], token=None, largest=100)  # type: ignore[arg-type]
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
    page.wait_for_timeout(500)
    seen = page.evaluate("performance.getEntriesByType('resource').map(e => e.name)")
    assert len(seen) > 5
    assert all(name.startswith((studio, "data:", "blob:")) for name in seen)


def test_a_script_in_the_address_is_text(visit: Callable[..., Page]) -> None:
    page = visit(
        "/design/category?mechanism=randomised-response&epsilon=1&categories=<img src=x onerror=alert(1)>,<script>b</script>"
    )
    page.on("dialog", lambda dialog: pytest.fail(dialog.message))
    page.wait_for_timeout(800)
    assert page.locator("main img").count() == 0
    expect(page.get_by_label("What comes out").locator(".xtick").first).to_have_text("<img src=x onerror=alert(1)>")
    assert "onerror=alert" in page.get_by_label("command line").inner_text()


def test_a_token_is_wanted_once(tmp_path: Path) -> None:
    token = "a-token-of-enough-letters"
    with running(tmp_path, "--token", token) as (address, _):
        assert ask(address).status == 401
        assert ask(address, "/?token=wrong").status == 401
        let_in = ask(address, f"/design?token={token}&epsilon=1")
        assert (let_in.status, let_in.headers["location"]) == (303, "/design?epsilon=1")
        cookie = let_in.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=Strict" in cookie
        assert ask(address, "/design", Cookie=cookie.split(";")[0]).status == 200
        away = ask(address, f"//evil.example/?token={token}")
        assert not away.headers["location"].startswith("//")


def test_other_machines_are_answered_with_a_token_alone() -> None:
    with pytest.raises(ParameterError, match="--token new"):
        serve(host="0.0.0.0", show=False)
    with pytest.raises(ParameterError, match="by which others reach this machine"):
        serve(host="0.0.0.0", token="a-token-of-enough-letters", show=False)
    with pytest.raises(ParameterError, match="16 characters"):
        serve(token="short", show=False)
    done = subprocess.run(
        [sys.executable, "-m", "noisewright", "studio", "--host", "0.0.0.0", "--no-show"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1


def test_a_file_keeps_its_ending_and_no_path(tmp_path: Path) -> None:
    visit = Visit(tmp_path / "visit")
    where = visit.keep("../../etc/passwd.csv", b"a\n1\n")
    assert where.parent == tmp_path / "visit"
    assert where.name == "given-0.csv"
    again = visit.keep("passwd.csv", b"b\n2\n")
    other = visit.keep("other.csv", b"c\n3\n")
    assert [path.read_bytes() for path in (where, again, other)] == [b"a\n1\n", b"b\n2\n", b"c\n3\n"]
    assert visit.said(f"{again} has no column, {other.name} has") == "passwd.csv has no column, other.csv has"
    with pytest.raises(DataError, match="is wanted here"):
        visit.keep("model.pkl", b"")
    visit.end()
    assert not (tmp_path / "visit").exists()
