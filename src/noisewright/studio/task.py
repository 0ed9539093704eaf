"""Content of a page, as a line of the command line, as lines of Python and as a link that brings it back.

A page of the studio holds no state of its own next to a :class:`Task`: the words and options of the command that does the same.

>>> task = Task("/design/number", ("design", "geometric"), {"epsilon": "1/2", "within": "0:100"})
>>> task.command
'noisewright design geometric --epsilon 1/2 --within 0:100'
>>> task.link
'/design/number?epsilon=1%2F2&within=0%3A100'
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlencode

__all__ = ["LONGEST_LINK", "LONGEST_VALUE", "MOST_OPTIONS", "Task", "read_query", "with_option"]

MOST_OPTIONS = 40
LONGEST_VALUE = 50_000
"""A link holds a person's text; more is someone trying things."""
LONGEST_LINK = 60_000
"""The server takes no longer addresses."""


@dataclass(frozen=True)
class Task:
    """A command with its options, on the page that shows it."""

    page: str
    """The path of the page."""
    words: tuple[str, ...]
    """The command and its arguments."""
    options: Mapping[str, str] = field(default_factory=dict)
    """The options by their names in Python, as they are typed; a flag that is set is an empty text."""
    shown: Mapping[str, str] = field(default_factory=dict)
    """State that only the page has: for example, which of several views is open."""

    @property
    def command(self) -> str:
        """Command line that does the same as the page."""
        parts = ["noisewright", *self.words]
        for name, text in self.options.items():
            parts.append("--" + name.replace("_", "-"))
            if text:
                parts.append(text)
        return shlex.join(parts)

    @property
    def link(self) -> str:
        """The address that brings the page back as it is."""
        asked = urlencode({**self.options, **self.shown})
        return f"{self.page}?{asked}" if asked else self.page


def with_option(given: Mapping[str, str], name: str, text: str | None) -> dict[str, str]:
    """The same options with another text for one of them; None takes it away."""
    return {key: value for key, value in {**given, name: text}.items() if value is not None}


def read_query(query: Mapping[str, str]) -> dict[str, str]:
    """The options of a link, without what no one typed: too many, or too long."""
    return {
        name: text
        for name, text in list(query.items())[:MOST_OPTIONS]
        if name.isidentifier() and len(text) <= LONGEST_VALUE
    }
