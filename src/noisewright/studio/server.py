"""``noisewright studio``: the workbench in a browser."""

from __future__ import annotations

import hmac
import logging
import re
import secrets
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import typer

from noisewright._utils.inputs import LARGEST_FILE
from noisewright.cli.app import Command
from noisewright.exceptions import MissingPartError, ParameterError

__all__ = ["COMMAND", "LARGEST_BODY", "Guard", "names_of", "policy_of", "serve", "studio"]


def studio(
    host: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Listen there too, for other machines. Default: this machine alone."),
    ] = None,
    port: Annotated[int, typer.Option(metavar="PORT", help="The port of the address.")] = 8080,
    token: Annotated[
        str | None,
        typer.Option(
            metavar="TOKEN",
            help="Answer only requests with this token: 16 characters or more. Default: a new one, printed with the address.",
        ),
    ] = None,
    no_token: Annotated[
        bool,
        typer.Option(
            "--no-token", help="Answer every user of this machine without a token; only for addresses of this machine."
        ),
    ] = False,
    releases: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Keep released tables in this folder. Default: noisewright/releases in your data folder.",
        ),
    ] = None,
    show: Annotated[bool, typer.Option("--show/--no-show", help="Open a browser.")] = True,
) -> None:
    """Open the workbench in a browser: design, compare and check mechanisms, and protect tables, on this machine."""
    serve(host, port, token, show, no_token=no_token, releases=releases)


COMMAND = Command(studio)


# Security -----------------------------------------------------------------------------------------------------------------
#
# Access to the studio, and limits of a page: an ASGI layer in front of every request and every socket.
#
# - The ``Host`` must be one of this server's names, so a foreign name that was pointed at this machine reaches nothing.
# - An ``Origin``, where a browser sends one, must be this server; so a foreign page can neither post nor open a socket.
#   Nor may it show anything of the studio as a part of itself: a person may only follow a link to it.
# - With a token, nothing is answered without it. It comes once with the address. A cookie that scripts cannot read then holds a
#   value that is derived from it (HMAC): browsers send cookies to every port of a machine, so the token itself is in
#   none. The name of the cookie has the port, so two studios on one machine do not sign each other's people out.
# - Bodies above a limit are refused, also when they do not say how large they are.
# - Pages carry a content security policy: scripts are the server's own, and those in the page only with this answer's nonce.


Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
LARGEST_BODY = LARGEST_FILE + 2**16
"""A request says the name of a file, too, and where it begins and ends."""
_SCRIPT = re.compile(rb"<script(?=[\s>])")


def policy_of(nonce: str) -> str:
    """The content security policy of a page.

    The toolkit compiles the templates of its parts in the browser, which counts as evaluation; a script that got into a page by
    its data has no nonce and does not run, and nothing is fetched from or sent to anywhere else.
    """
    rules = {
        "default-src": "'none'",
        "script-src": f"'self' 'nonce-{nonce}' 'unsafe-eval'",
        "style-src": "'self' 'unsafe-inline'",
        "img-src": "'self' data: blob:",
        "font-src": "'self'",
        "connect-src": "'self'",
        "media-src": "'self' blob:",
        "worker-src": "'self' blob:",
        "frame-src": "'self'",
        "frame-ancestors": "'self'",
        "base-uri": "'none'",
        "form-action": "'self'",
        "object-src": "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in rules.items())


class Guard:
    """The layer; ``hosts`` are the names with ports under which this server is requested, ``port`` is the one it listens to."""

    def __init__(self, app: App, *, hosts: Iterable[str], token: str | None, largest: int, port: int) -> None:
        self.app, self.hosts, self.token, self.largest = app, frozenset(h.lower() for h in hosts), token, largest
        self.cookie = f"noisewright-studio-{port}"
        self.pass_ = hmac.new((token or "").encode(), self.cookie.encode(), "sha256").hexdigest()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, refuse, or hand on."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        if headers.get("host", "").lower() not in self.hosts:
            await _refuse(scope, send, 421, "This is not the address of a studio.")
            return
        origin = headers.get("origin")
        foreign = origin is not None and urlsplit(origin).netloc.lower() not in self.hosts
        if foreign or (
            headers.get("sec-fetch-site") in ("cross-site", "same-site") and headers.get("sec-fetch-dest") != "document"
        ):
            await _refuse(scope, send, 403, "Pages of other sites may not use this studio.")
            return
        if self.token is not None:
            query = parse_qsl(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True)
            token = dict(query).get("token") if scope["type"] == "http" else None
            knows = self._knows(headers.get("cookie", ""))
            if not knows or token is not None:
                await self._let_in(scope, send, query, knows or self._right(token or ""))
                return
        if scope["type"] == "websocket":
            await self.app(scope, receive, send)
            return
        said = headers.get("content-length", "0")
        if said.isdecimal() and (len(said) > 15 or int(said) > self.largest):
            await _refuse(scope, send, 413, self._too_large())
            return
        await _Answer(self, scope, receive, send).run()

    def _knows(self, cookies: str) -> bool:
        """Return whether one of the cookies is right; other servers of this machine set any cookies, in any form."""
        given = (one.strip().partition("=") for one in cookies.split(";"))
        return any(
            hmac.compare_digest(value.encode(), self.pass_.encode()) for name, _, value in given if name == self.cookie
        )

    def _right(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), (self.token or "").encode())

    async def _let_in(self, scope: Scope, send: Send, query: list[tuple[str, str]], right: bool) -> None:
        """Answer with a cookie and the same address without the token, so that no page, link or history has it."""
        if not right:
            await _refuse(
                scope, send, 401, "This studio needs its token: open the address that was printed when it was started."
            )
            return
        rest = urlencode([pair for pair in query if pair[0] != "token"])
        where = "/" + quote(scope["path"].lstrip("/\\"), safe="/") + (f"?{rest}" if rest else "")  # never another site
        cookie = f"{self.cookie}={self.pass_}; HttpOnly; SameSite=Strict; Path=/"
        headers = [(b"location", where.encode()), (b"set-cookie", cookie.encode()), (b"content-length", b"0")]
        await send({"type": "http.response.start", "status": 303, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    def _too_large(self) -> str:
        return f"A file of more than {LARGEST_FILE // 2**20} MB is not taken; use the command line for it."


class _Answer:
    """One request on its way: its body is counted, and the result gets the headers of Noisewright."""

    def __init__(self, guard: Guard, scope: Scope, receive: Receive, send: Send) -> None:
        self.guard, self.scope, self.receive, self.send = guard, scope, receive, send
        self.nonce = secrets.token_urlsafe(16)
        self.read, self.gone = 0, False
        self.page: list[bytes] | None = None
        self.start: Message = {}

    async def run(self) -> None:
        try:
            await self.guard.app(self.scope, self._counted, self._headed)
        except _TooLargeError:
            if not self.start:
                await _refuse(self.scope, self.send, 413, self.guard._too_large())
        except Exception:
            if self.gone:  # the page was closed, or the upload cancelled; no one reads the answer
                await _refuse(self.scope, self.send, 400, "The request ended before it was complete.")
                return
            logging.getLogger(__name__).exception("a page of the studio failed")
            if not self.start:
                await _refuse(self.scope, self.send, 500, "The studio failed at this; its terminal says where.")

    async def _counted(self) -> Message:
        message = await self.receive()
        self.gone = self.gone or message["type"] == "http.disconnect"
        self.read += len(message.get("body", b""))
        if self.read > self.guard.largest:
            raise _TooLargeError
        return message

    async def _headed(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            await self._begin(message)
        elif self.page is not None and message["type"] == "http.response.body":
            self.page.append(message.get("body", b""))
            if not message.get("more_body"):
                await self._finish(self.page)
        else:
            await self.send(message)

    async def _begin(self, message: Message) -> None:
        self.start = message
        headers = [(n, v) for n, v in message["headers"] if n.lower() != b"content-security-policy"]
        kind = dict(headers).get(b"content-type", b"")
        headers += [
            (b"x-content-type-options", b"nosniff"),
            (b"referrer-policy", b"no-referrer"),
            (b"cross-origin-opener-policy", b"same-origin"),
            (b"cross-origin-resource-policy", b"same-origin"),
        ]
        message["headers"] = headers
        if kind.startswith(b"text/html"):
            headers.append((b"content-security-policy", policy_of(self.nonce).encode()))
            headers.append((b"cache-control", b"no-store"))
            self.page = []
            return
        await self.send(message)

    async def _finish(self, parts: list[bytes]) -> None:
        body = _SCRIPT.sub(b'<script nonce="' + self.nonce.encode() + b'"', b"".join(parts))
        headers = [(n, v) for n, v in self.start["headers"] if n.lower() != b"content-length"]
        self.start["headers"] = [*headers, (b"content-length", str(len(body)).encode())]
        await self.send(self.start)
        await self.send({"type": "http.response.body", "body": body})


class _TooLargeError(Exception):
    """Body that has become larger than the limit."""


async def _refuse(scope: Scope, send: Send, status: int, words: str) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008})
        return
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"x-content-type-options", b"nosniff")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": words.encode()})


# Server -------------------------------------------------------------------------------------------------------------------
#
# The server of the studio: its pages behind the guard, on this machine alone unless another address is named.


PATIENCE = 15.0
"""Number of seconds for which a closed page is kept, for a browser that lost its connection."""
EVERYWHERE = ("0.0.0.0", "::", "[::]")
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
USUAL_PORT = 80
"""Browsers leave it out."""


def serve(
    host: str | None = None,
    port: int = 8080,
    token: str | None = None,
    show: bool = True,
    *,
    no_token: bool = False,
    releases: Path | None = None,
) -> None:
    """Serve the studio until it is stopped.

    ``host``: another address than this machine's own. ``token``: what a browser needs to be answered; by default a new
    one, which is printed with the address. ``no_token``: answer without one, which only an address of this machine may.
    ``releases``: the folder in which released tables are kept.
    """
    try:
        from nicegui import app, ui
    except ImportError:
        raise MissingPartError("the studio needs NiceGUI; install noisewright[studio].") from None
    if not 0 < port < 65536:
        raise ParameterError(f"port must be between 1 and 65535, not {port}.")
    if no_token and token is not None:
        raise ParameterError("a token and no token were asked for; leave out --token or --no-token.")
    if no_token and host is not None and not _is_loopback(host):
        raise ParameterError(
            f"host = {host!r} can be reached by other machines, so the studio needs a token: leave out --no-token, and give the "
            "address that it prints to nobody else."
        )
    if host in EVERYWHERE:
        raise ParameterError(
            f"host = {host!r} is no address; give the one by which others reach this machine, such as 192.168.1.20."
        )
    if token in (None, "new"):
        token = None if no_token else secrets.token_urlsafe(24)
    elif not re.fullmatch(r"[A-Za-z0-9_-]{16,200}", token):
        raise ParameterError(
            "a token has at least 16 characters out of letters, digits, - and _; without --token, one is made."
        )
    from noisewright.studio.components import PAGES
    from noisewright.studio.sessions import begin, keep_in

    keep_in(releases)
    begin()
    app.on_shutdown(_clear)
    app.add_static_files("/studio", Path(__file__).parent / "assets")
    app.add_middleware(Guard, hosts=names_of(host, port), token=token, largest=LARGEST_BODY, port=port)
    for page in PAGES:
        page.register()
    asked = f"?token={token}" if token else ""
    where = f"http://{_in_address(host or '127.0.0.1')}:{port}/{asked}"
    print(f"Noisewright Studio is at {where}\nStop it with Ctrl-C.", flush=True)
    logging.getLogger("nicegui").setLevel(logging.ERROR)
    ui.run(
        host=(host or "127.0.0.1").strip("[]"),
        port=port,
        title="Noisewright Studio",
        language="en-GB",
        reload=False,
        show=f"/{asked}" if show else False,
        tailwind=False,
        show_welcome_message=False,
        favicon=Path(__file__).parent / "assets" / "icon.svg",
        dark=False,
        reconnect_timeout=PATIENCE,
    )


def _clear() -> None:
    """Delete the files of pages; report that a release goes on."""
    from noisewright.studio.sessions import clear_all

    if not clear_all():
        print("A release is being made; it goes on to its end.", flush=True)


def names_of(host: str | None, port: int) -> list[str]:
    """The names with ports under which a server at this address is requested."""
    names = list(dict.fromkeys((*LOOPBACK, *([_in_address(host)] if host else []))))
    return [f"{name}:{port}" for name in names] + (names if port == USUAL_PORT else [])


def _in_address(host: str) -> str:
    """A host as it stands in an address: one with colons in brackets."""
    return f"[{host}]" if ":" in host and not host.startswith("[") else host


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
