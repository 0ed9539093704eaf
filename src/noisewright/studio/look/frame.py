"""The frame of every page: the name of the house, the way to the other pages, the theme, and what the page is about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from html import escape

from nicegui import ui

__all__ = ["frame", "is_dark"]

THEME = "noisewright-theme"


def is_dark() -> bool:
    """Whether this page is shown in the dark theme."""
    return bool(getattr(ui.context.client, "_noisewright_dark", False))


@contextmanager
def frame(path: str, heading: str, lead: str, pages: Sequence[tuple[str, str]]) -> Iterator[None]:
    """A page: everything inside is its content; ``pages`` are the paths and titles of all."""
    client = ui.context.client
    dark = ui.dark_mode(value=client.request.cookies.get(THEME) == "dark")
    client._noisewright_dark = dark.value  # type: ignore[attr-defined]
    ui.add_head_html('<link rel="stylesheet" href="/studio/studio.css"><script src="/studio/studio.js" defer></script>')
    ui.colors(primary="#6fcfa9" if dark.value else "#1f6f54")
    with ui.header(elevated=False).classes("nw-header"):
        ui.html('<a class="nw-skip" href="#content">Skip to the page</a>', sanitize=False)
        menu = ui.button(icon="menu").props('flat round dense color=inherit aria-label="Pages"')
        ui.html('<a class="nw-brand" href="/">noise<span>wright</span></a>', sanitize=False)
        ui.element("div").classes("nw-grow")
        other = "light" if dark.value else "dark"
        ui.button(icon="contrast", on_click=lambda: _switch(other)).props(
            f'flat round dense color=inherit aria-label="Use the {other} theme"'
        )
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


def _switch(theme: str) -> None:
    """Remember the theme in this browser, and show the page in it."""
    ui.run_javascript(
        f'document.cookie = "{THEME}={theme}; Path=/; SameSite=Strict; Max-Age=31536000"; location.reload();'
    )
