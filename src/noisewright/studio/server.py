"""The server of the studio: its pages behind the guard, on this machine alone unless somebody asks for more."""

from __future__ import annotations

import logging
import secrets
from ipaddress import ip_address
from pathlib import Path

from noisewright.core.errors import MissingPartError, ParameterError

__all__ = ["LARGEST_FILE", "serve"]

LARGEST_FILE = 200 * 2**20
PATIENCE = 15.0
"""So many seconds a page that was closed is kept, for a browser that lost its connection."""
EVERYWHERE = ("0.0.0.0", "::", "[::]")
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


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
    elif token is not None and len(token) < 16:
        raise ParameterError("a token has at least 16 characters; --token new makes one.")
    from noisewright.studio.security import Guard
    from noisewright.studio.site import PAGES
    from noisewright.studio.visits import clear_all

    clear_all(dead_alone=True)
    app.on_shutdown(clear_all)
    app.add_static_files("/studio", Path(__file__).parent / "assets")
    names = {*LOOPBACK, *([host] if host else [])}
    app.add_middleware(Guard, hosts=[f"{name}:{port}" for name in names], token=token, largest=LARGEST_FILE)
    for page in PAGES:
        page.register()
    asked = f"?token={token}" if token else ""
    where = f"http://{host or '127.0.0.1'}:{port}/{asked}"
    print(f"Noisewright Studio is at {where}\nStop it with Ctrl-C.", flush=True)
    logging.getLogger("nicegui").setLevel(logging.ERROR)
    ui.run(
        host=host or "127.0.0.1",
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


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
