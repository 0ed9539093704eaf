"""The server of the studio: its pages behind the guard, on this machine alone unless another address is named."""

from __future__ import annotations

import logging
import re
import secrets
from ipaddress import ip_address
from pathlib import Path

from noisewright.core.errors import MissingPartError, ParameterError
from noisewright.studio.security import LARGEST_BODY, Guard

__all__ = ["names_of", "serve"]

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
    from noisewright.studio.answers.releases.kept import keep_in
    from noisewright.studio.site import PAGES
    from noisewright.studio.visits import begin

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
    from noisewright.studio.visits import clear_all

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
