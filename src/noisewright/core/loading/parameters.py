"""Descriptions of the parameters of mechanisms, written once: at the constructor.

A constructor annotates a parameter with ``Annotated[type, Parameter(...)]``. Command line, policies, their JSON schema, the
studio and the documentation read the description from there, for built-in mechanisms and for those of other packages.

>>> from typing import Annotated
>>> POINTS = Parameter("Number of points.", "points = 5")
>>> def stars(*, epsilon: Annotated[float, EPSILON], points: Annotated[int, POINTS]) -> None: ...
>>> described_parameters(stars)["points"].example, described_parameters(stars)["epsilon"].policy_key
('points = 5', 'epsilon')
"""

from __future__ import annotations

import typing
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from noisewright.claims.readings import OF_RADIUS
from noisewright.core.loading.signatures import hints_of, parameters_of

__all__ = [
    "CATEGORIES",
    "DELTA",
    "DIMENSION",
    "EPSILON",
    "LATTICE",
    "METRIC",
    "OUTSIDE",
    "POINTS",
    "RADIUS",
    "REMAP",
    "SCOPE",
    "SEED",
    "SENSITIVITY",
    "WITHIN",
    "Parameter",
    "described_parameters",
]


@dataclass(frozen=True)
class Parameter:
    """Description of a constructor's parameter, for people.

    Parameters
    ----------
    help : str
        Meaning and default, in one or two sentences.
    example : str, optional
        How a policy sets it, such as ``"within = [0, 120]"``.
    policy_key : str, optional
        The key of a column that sets it in a policy, if that is not its own name; :data:`EPSILON` for example.
    """

    help: str
    example: str = ""
    policy_key: str | None = None


def described_parameters(constructor: Callable[..., Any]) -> dict[str, Parameter]:
    """Return the description of each parameter that has one.

    Parameters
    ----------
    constructor : callable
        The constructor of a mechanism: a function or a class.

    Returns
    -------
    dict of str to Parameter
        Parameters without a description are left out.
    """
    hints = hints_of(constructor, described=True)
    found = {
        name: next((note for note in typing.get_args(hints.get(name))[1:] if isinstance(note, Parameter)), None)
        for name in parameters_of(constructor)
    }
    return {name: note for name, note in found.items() if note is not None}


EPSILON = Parameter(
    "Privacy loss for each unit of the metric; smaller is more private. Exact: 0.1 or 1/3.",
    "epsilon = 1",
    policy_key="epsilon",
)
DELTA = Parameter("Probability by which an event may exceed the bound of epsilon.", "delta = 1e-6", policy_key="delta")
SENSITIVITY = Parameter(
    "Distance at which epsilon holds: the most that one person can change the true value.",
    "protect = 5",
    policy_key="protect",
)
RADIUS = Parameter(
    f"{OF_RADIUS} A policy calls it protect.",
    "protect = 500",
    policy_key="protect",
)
WITHIN = Parameter(
    "Public range of the values, or several ranges; inf for an open end where the mechanism allows it.",
    "within = [0, 120]",
)
OUTSIDE = Parameter("Treatment of a value outside the range: refuse or clamp.", 'outside = "clamp"')
SCOPE = Parameter(
    "Secrets that epsilon compares: neighbours (adjacent) or all pairs, by distance (metric).", 'scope = "metric"'
)
LATTICE = Parameter("Step of the public lattice of the outputs: a power of two, or auto.", "lattice = 0.25")
CATEGORIES = Parameter("Possible values, or their number (0, 1, 2 and so on).", 'categories = ["yes", "no"]')
POINTS = Parameter("Possible secrets, which are also the outputs.", "points = [0, 1, 2]")
METRIC = Parameter("Distance between secrets.", 'metric = "line"')
DIMENSION = Parameter("Number of coordinates of one value.", "dimension = 2")
REMAP = Parameter("Public places; each output moves to the nearest one.", "remap = [[48.85, 2.35], [48.86, 2.29]]")
SEED = Parameter(
    "Public seed: 64 hexadecimal digits, which the certificate states.",
    'seed = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"',
)
