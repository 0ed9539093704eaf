"""Findings of a conformance suite: the checks that were passed, those that do not apply, and the error of one that failed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

__all__ = ["Check", "ConformanceError", "Report", "require", "run"]

Check = tuple[str, Callable[[], str | None]]
"""A check by its name; it gives None, or the reason why it does not apply, and raises where it fails."""


class ConformanceError(AssertionError):
    """A mechanism, or a kind of column, does not keep the guarantees of its protocol."""


@dataclass
class Report:
    """The checks that were passed, and those that do not apply with the reason."""

    passed: list[str] = field(default_factory=list)
    not_applicable: dict[str, str] = field(default_factory=dict)


def run(checks: Sequence[Check]) -> Report:
    """Make all checks, in order."""
    report = Report()
    for name, check in checks:
        reason = check()
        if reason is None:
            report.passed.append(name)
        else:
            report.not_applicable[name] = reason
    return report


def require(condition: bool, message: str) -> None:
    """Fail a check unless the condition holds."""
    if not condition:
        raise ConformanceError(message)
