"""The frame of every page: the project's name, the way to the other pages, the theme, and what the page is about."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from html import escape

from nicegui import ui

__all__ = ["frame", "is_dark", "leaving", "on_theme"]

THEME = "noisewright-theme"
PRIMARY = {False: "#1f6f54", True: "#6fcfa9"}
"""The colour of buttons in the light and in the dark theme."""


def is_dark() -> bool:
    """Return whether this page is shown in the dark theme."""
    return bool(getattr(ui.context.client, "_noisewright_dark", False))


def on_theme(change: Callable[[bool], None]) -> None:
    """Call this whenever the theme of the page changes, with whether it is dark then."""
    client = ui.context.client
    client._noisewright_themed = [*getattr(client, "_noisewright_themed", []), change]  # type: ignore[attr-defined]


def leaving(warn: str) -> None:
    """Let the browser warn before the page is left, because of this; nothing: let it go."""
    ui.run_javascript(f"document.body.dataset.unsaved = {json.dumps(warn)}")


@contextmanager
def frame(path: str, heading: str, lead: str, pages: Sequence[tuple[str, str]]) -> Iterator[None]:
    """A page: everything inside is its content; ``pages`` are the paths and titles of all."""
    client = ui.context.client
    dark = ui.dark_mode(value=client.request.cookies.get(THEME) == "dark")
    client._noisewright_dark = dark.value  # type: ignore[attr-defined]
    ui.add_head_html('<link rel="stylesheet" href="/studio/studio.css"><script src="/studio/studio.js" defer></script>')
    ui.colors(primary=PRIMARY[bool(dark.value)])
    with ui.header(elevated=False).classes("nw-header"):
        ui.html('<a class="nw-skip" href="#content">Skip to the page</a>', sanitize=False)
        menu = ui.button(icon="menu").props('flat round dense color=inherit aria-label="Pages"')
        ui.html('<a class="nw-brand" href="/">noise<span>wright</span></a>', sanitize=False)
        ui.element("div").classes("nw-grow")
        switch = ui.button(icon="contrast").props("flat round dense color=inherit")
        switch.on_click(lambda: _switch(dark, switch))
        switch.props["aria-label"] = _offer(bool(dark.value))
    drawer = ui.left_drawer(value=None, bordered=True).classes("nw-nav").props("width=220 breakpoint=1023")
    with drawer, ui.element("nav").props('aria-label="Pages"'):
        for where, title in pages:
            link = ui.link(title, where)
            if where == path:
                link.props('aria-current="page"')
    menu.on_click(drawer.toggle)
    with ui.element("div").classes("nw-main").props('id="content" tabindex="-1"'):
        ui.html(f"<h1>{escape(heading)}</h1><p class='nw-lead'>{escape(lead)}</p>", sanitize=False)
        yield


def _offer(dark: bool) -> str:
    return f"Use the {'light' if dark else 'dark'} theme"


def _switch(mode: ui.dark_mode, switch: ui.button) -> None:
    """Show the page in the other theme, with everything that is on it, and remember the choice in this browser."""
    client, dark = ui.context.client, not mode.value
    mode.value = client._noisewright_dark = dark  # type: ignore[attr-defined]
    switch.props["aria-label"] = _offer(dark)
    theme = "dark" if dark else "light"
    ui.run_javascript(
        f'document.cookie = "{THEME}={theme}; Path=/; SameSite=Strict; Max-Age=31536000";'
        f'document.body.style.setProperty("--q-primary", "{PRIMARY[dark]}");'
    )
    for change in getattr(client, "_noisewright_themed", []):
        change(dark)
