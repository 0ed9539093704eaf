"""The budget of theory: ``--epsilon``, or ``--factor``, which is e^epsilon as a rational number and makes answers exact."""

from __future__ import annotations

from typing import Annotated, TypedDict

import typer

__all__ = ["Budget", "Epsilon", "Factor", "budget"]

Epsilon = Annotated[
    str | None, typer.Option(metavar="NUMBER", help="The allowed loss for each unit of the metric. Exact: 0.1 or 1/3.")
]
Factor = Annotated[
    str | None,
    typer.Option(metavar="NUMBER", help="In place of --epsilon: e^epsilon as a rational number, such as 2 or 3/2."),
]


class Budget(TypedDict):
    """One of the two, as the library takes it; the other is None."""

    epsilon: str | None
    factor: str | None


def budget(epsilon: str | None, factor: str | None) -> Budget:
    """The one of the two that was given, read and checked."""
    from noisewright.cli.shared.metrics import check_number
    from noisewright.core.errors import ParameterError

    if (epsilon is None) == (factor is None):
        raise ParameterError("give either --epsilon or --factor (which is e^epsilon), not both and not neither.")
    return Budget(
        epsilon=None if epsilon is None else check_number(epsilon, "epsilon"),
        factor=None if factor is None else check_number(factor, "factor"),
    )
