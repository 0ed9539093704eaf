"""Writes the JSON schema of policies and the table of parameters in ``policy.md``.  Run:  python docs/make_policy.py"""

from __future__ import annotations

import json
from pathlib import Path

from noisewright._utils.lazy import Addresses
from noisewright.mechanisms.registry import without_epsilon
from noisewright.policy.parameters import accepts, offered
from noisewright.policy.policy import Policy

HERE = Path(__file__).parent
PAGE, SCHEMA = HERE / "policy.md", HERE / "policy.schema.json"
HEADING = "| parameter | meaning | mechanisms | example |\n|---|---|---|---|\n"


def schema_text() -> str:
    """Return the JSON schema as the file has it."""
    return json.dumps(Policy.schema(), indent=2, ensure_ascii=False) + "\n"


def parameter_rows() -> list[str]:
    """Return a row for each parameter and description, in alphabetical order."""
    users: dict[tuple[str, str, str], list[str]] = {}
    for mechanism in [*offered(), *without_epsilon()]:
        for name, note in accepts(mechanism).described.items():
            users.setdefault((name, note.help, note.example), []).append(f"`{mechanism}`")
    return [
        f"| `{name}` | {words} | {', '.join(mechanisms)} | `{example}` |\n"
        for (name, words, example), mechanisms in sorted(users.items())
    ]


def page_text(page: str) -> str:
    """Return the page with its table of parameters written again."""
    before, _, rest = page.partition("| parameter | meaning |")
    after = rest.partition("\n\n")[2]
    return f"{before}{HEADING}{''.join(parameter_rows())}\n{after}"


def main() -> None:
    """Write both files; what other packages offer is left out."""
    Addresses._entry_points = {}  # type: ignore[assignment, misc]
    SCHEMA.write_text(schema_text(), encoding="utf-8")
    PAGE.write_text(page_text(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
