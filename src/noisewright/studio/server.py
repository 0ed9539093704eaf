"""The server of the studio: its pages behind the guard, on this machine alone unless somebody asks for more."""

from __future__ import annotations

import logging
import re
import secrets
from ipaddress import ip_address
from pathlib import Path

from noisewright.core.errors import MissingPartError, ParameterError
from noisewright.studio.security import LARGEST_FILE, Guard

__all__ = ["names_of", "serve"]

PATIENCE = 15.0
"""So many seconds a page that was closed is kept, for a browser that lost its connection."""
EVERYWHERE = ("0.0.0.0", "::", "[::]")
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
USUAL_PORT = 80
"""Browsers leave it out."""


def serve(host: str | None = None, port: int = 8080, token: str | None = None, show: bool = True) -> None:
    """Serve the studio until it is stopped; ``host``: another address than this machine's own, which needs a ``token``.

    ``token="new"`` makes one up and prints it with the address.
    """
    try:
        from nicegui import app, ui
    except ImportError:
        raise MissingPartError("the studio needs NiceGUI; install noisewright[studio].") from None
    if not 0 < port < 65536:
        raise ParameterError(f"port must be between 1 and 65535, not {port}.")
    if host is not None and not _is_loopback(host) and token is None:
        raise ParameterError(
            f"host = {host!r} can be reached by other machines, so the studio wants a token: add --token new, and give the "
            "address that it prints to nobody else."
        )
    if host in EVERYWHERE:
        raise ParameterError(
            f"host = {host!r} is no address; give the one by which others reach this machine, such as 192.168.1.20."
        )
    if token == "new":
        token = secrets.token_urlsafe(24)
    elif token is not None and not re.fullmatch(r"[A-Za-z0-9_-]{16,200}", token):
        raise ParameterError(
            "a token has at least 16 characters out of letters, digits, - and _; --token new makes one."
        )
    from noisewright.studio.site import PAGES
    from noisewright.studio.visits import clear_all

    clear_all(dead_alone=True)
    app.on_shutdown(clear_all)
    app.add_static_files("/studio", Path(__file__).parent / "assets")
    app.add_middleware(Guard, hosts=names_of(host, port), token=token, largest=LARGEST_FILE)
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


def names_of(host: str | None, port: int) -> list[str]:
    """The names with ports under which a server at this address is asked for."""
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
