"""Names and other text in a policy: of columns and datasets, for people to read and programs to write.

>>> text("age"), _names(["lat", "lon"])
('age', ('lat', 'lon'))
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Any

from noisewright.release.policy_kinds import Kind, each, plain, wrong

__all__ = ["Name", "Names", "Renames", "Text", "text", "writable"]


def text(value: Any) -> str:
    """Text that is not blank and can be written to a file."""
    if not isinstance(value, str):
        raise wrong('must be text; write it in quotes, such as "age"')
    if not value.strip():
        raise wrong("must not be empty; write a name or remove the key")
    if not writable(value):
        raise wrong("holds half of a character (a lone surrogate) and cannot be written; correct the text")
    return value


def _name(value: Any) -> str:
    """A name that people read in a ledger, a report and on a screen."""
    found = text(value)
    if not found.isprintable():
        raise wrong("holds control characters, which a screen would follow; write a name such as clinic")
    return found


def _new_name(value: Any) -> str:
    """A name for a column of the output, which other programs will read."""
    found = text(value)
    if not found.isprintable():
        raise wrong("holds control characters, which a screen would follow; write a name such as age_noisy")
    if found.startswith(".") or re.search(r"\.\.[/\\]", found):
        raise wrong(
            "must not begin with a dot nor lead to a folder above, because programs name files by columns; write a name such "
            "as age_noisy"
        )
    return found


def _renames(value: Any) -> str | tuple[str, ...]:
    return _names(value, _new_name)


def _names(value: Any, read: Callable[[Any], str] = text) -> str | tuple[str, ...]:
    """One name, or several that belong together."""
    value = plain(value)
    if not isinstance(value, (list, tuple)):
        return read(value)
    if not value:
        raise wrong('must not be empty; write a name such as "age", or several such as ["lat", "lon"]')
    found = tuple(each(value, read))
    if len(set(found)) < len(found):
        raise wrong("holds a name twice; write each name once")
    return found


def writable(words: str) -> bool:
    """Whether a text can be written to a file: no half of a character."""
    try:
        words.encode()
    except UnicodeEncodeError:
        return False
    return True


IS_TEXT = {"type": "string", "minLength": 1}

IS_NEW_NAME = {**IS_TEXT, "pattern": r"^[^.\x00-\x1f\x7f][^\x00-\x1f\x7f]*$"}

Text = Annotated[str, Kind(text, IS_TEXT)]
Name = Annotated[str, Kind(_name, {**IS_TEXT, "pattern": r"^[^\x00-\x1f\x7f]*$"})]
Names = Annotated[
    str | tuple[str, ...],
    Kind(_names, {"anyOf": [IS_TEXT, {"type": "array", "items": IS_TEXT, "minItems": 1, "uniqueItems": True}]}),
]
Renames = Annotated[
    str | tuple[str, ...],
    Kind(
        _renames, {"anyOf": [IS_NEW_NAME, {"type": "array", "items": IS_NEW_NAME, "minItems": 1, "uniqueItems": True}]}
    ),
]
