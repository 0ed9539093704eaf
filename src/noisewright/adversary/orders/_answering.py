"""Answers about an order between two channels: by a closed form, by inspection, or by the order's own decision
procedure.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from noisewright.adversary.exact.channels import Read
from noisewright.adversary.families.closed_refinement import closed_refined
from noisewright.adversary.families.families import as_member
from noisewright.adversary.families.member import Member
from noisewright.adversary.families.neighbours import through_neighbours
from noisewright.adversary.orders._pair import Pair, prepare
from noisewright.adversary.refinement import Refinement
from noisewright.adversary.witness import PostProcessing
from noisewright.core.arrays import Floats
from noisewright.core.channels.channel import Channel
from noisewright.core.verdict import EXACT, UNDECIDED, WITHIN

__all__ = ["FORWARD", "Decision", "answered", "trivial"]

FORWARD = "B may replace A"

Decision = tuple[str, str, float | None, Any]
"""A status, the reason, the residual and the witness."""


def answered(
    order: str,
    decide: Callable[[Pair], Decision],
    a: Any,
    b: Any,
    tol: float,
    direction: str,
    pair: Callable[[], Pair] | None,
) -> Refinement:
    """The answer of one order: by a closed form where there is one, otherwise as ``decide`` finds for the two channels."""
    closed = _closed(a, b, order, direction)
    if closed is not None:
        return closed
    ready = prepare(a, b, tol) if pair is None else pair()
    found = Refinement(order, direction, *decide(ready))
    return _sharpened(found, ready, lambda near: answered(order, decide, ready.first, near, tol, direction, pair=None))


def _sharpened(found: Refinement, pair: Pair, decide: Callable[[Member], Refinement]) -> Refinement:
    """The answer, made exact where A is exact and B a member that only its floats stood for."""
    member = None if pair.second.rounded_from is None else as_member(pair.second.rounded_from)
    if found.status not in (WITHIN, UNDECIDED) or pair.first.exact is None or member is None:
        return found
    exact = through_neighbours(member, decide)
    if exact is None:
        return found
    return replace(exact, witness=found.witness) if exact.status == EXACT else exact


def _closed(a: Any, b: Any, order: str, direction: str) -> Refinement | None:
    """The answer of a closed form, where ``a`` belongs to a family that has one and its signs are clear."""
    member = as_member(a)
    found = None if member is None else closed_refined(member, b, order)
    return None if found is None or found.status == UNDECIDED else replace(found, direction=direction)


def trivial(pair: Pair) -> tuple[str, PostProcessing] | None:
    """Return why any order holds without computation, with the post-processing: one secret, nothing revealed, or no
    difference.
    """
    first, second = pair.first, pair.second
    if second.rounded_from is not None:
        same_rows = False  # rows that round to the same floats may differ
    elif second.exact is None:
        numbers = _given(second)
        same_rows = bool((numbers == numbers[0]).all())
    else:
        same_rows = all(row == second.exact[0] for row in second.exact)
    if len(first.inputs) == 1 or same_rows:
        reason = "there is only one secret" if len(first.inputs) == 1 else "the new one tells nothing about the secret"
        exact = None if second.exact is None else (second.exact[0],) * len(first.outputs)
        rows = Channel(np.tile(second.floats[0], (len(first.outputs), 1)), first.outputs, second.outputs)
        return reason, PostProcessing(rows, 0.0, exact)
    if _same(first, second):
        unit = np.eye(len(first.outputs))
        exact = tuple(tuple(Fraction(int(v)) for v in row) for row in unit)
        return "the two are equal", PostProcessing(Channel(unit, first.outputs, second.outputs), 0.0, exact)
    return None


def _same(first: Read, second: Read) -> bool:
    """Return whether the two are known to be one channel: by their fractions, by the floats given, or as one
    mechanism.
    """
    if first.exact is not None or second.exact is not None:
        return first.exact == second.exact
    if first.rounded_from is not None or second.rounded_from is not None:
        member = as_member(first.rounded_from)
        return first.rounded_from is second.rounded_from or (
            member is not None and member == as_member(second.rounded_from)
        )
    return np.array_equal(_given(first), _given(second))


def _given(one: Read) -> Floats:
    """The numbers that a channel was made of: logarithms where it has probabilities too small for floats."""
    return np.asarray(one.channel.logs) if one.channel.has_logs else one.floats
