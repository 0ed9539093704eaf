"""A trained privatiser for columns of a policy: rows are changed by it, and **no epsilon** is guaranteed.

``mechanism = "learned"`` in a policy, with the file of a privatiser. It differs from the other mechanisms: its
guarantee is of the kind ``context-aware`` (:class:`~noisewright.guarantees.ContextAware`), so it has no
certificate, costs nothing of a budget, and plan, certificate, report and ledger list its columns among those that are
not protected in that sense, with its measurements. Unlike the files that other mechanisms need, a privatiser's file is
not public: see :data:`~noisewright.learning.privatiser.KEEP`.

The columns of the policy are those that it was trained on, in their order. Only a privatiser with the record alone as
input can be used. One that is given the private values as well (``given="xy"``) reads a column that must not be
released, and a column of a policy is read to be released, kept, or perturbed under its own name: a policy could not
say the use of the private one, and a mistake would hand it out. Such a privatiser is used in Python, where the caller
holds both.
"""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Any, NoReturn

import numpy as np

from noisewright.base import Entry, Parameter, Takes
from noisewright.exceptions import DataError, NoChannelError, NoLossError, ParameterError
from noisewright.guarantees import ContextAware
from noisewright.learning.columns import Number
from noisewright.learning.privatiser import GAPPrivatiser
from noisewright.resources import Resource
from noisewright.sampling.random_bits import Rng

__all__ = ["ChangedColumns", "changed_columns"]


MODEL = Parameter("File of a trained privatiser.", 'model = "privatiser.nwp"')
DISTORTION = Parameter("Distortion budget, for a privatiser that was trained for several.", "distortion = 0.5")

NAME = "learned"
NO_CERTIFICATE = (
    "a learned privatiser promises no epsilon, so it has no certificate; name it in a policy, or use GAPPrivatiser in "
    "Python."
)


def changed_columns(
    model: Annotated[Resource, MODEL], *, distortion: Annotated[float | None, DISTORTION] = None
) -> ChangedColumns:
    """The privatiser in a file; ``distortion`` picks one of a curve."""
    return ChangedColumns(model, None if distortion is None else float(distortion))


class ChangedColumns:
    """Columns changed by a trained privatiser; build it with :func:`changed_columns`."""

    name = NAME

    def __init__(self, model: Resource, distortion: float | None) -> None:
        if not isinstance(model, Resource):
            raise ParameterError("model is the file of a trained privatiser.")
        self.model, self.distortion = model, distortion
        _ = self.privatiser

    def __getstate__(self) -> tuple[Resource, float | None]:
        return self.model, self.distortion

    def __setstate__(self, state: tuple[Resource, float | None]) -> None:
        self.model, self.distortion = state

    @cached_property
    def privatiser(self) -> GAPPrivatiser:
        """The trained privatiser, of one budget."""
        made = GAPPrivatiser.load(self.model)
        if made.given != "x":
            raise ParameterError(
                f"{self.model.name} is given the private values as well, and a policy reads no column that it does not release; "
                'train one with given = "x", or release with this one in Python.'
            )
        if self.distortion is not None:
            return made.at(self.distortion)
        if len(made.points_) > 1:
            known = ", ".join(f"{point.distortion:g}" for point in made.points_)
            raise ParameterError(f"{self.model.name} has several budgets ({known}); say which with distortion = ....")
        return made

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it was trained on."""
        return self.privatiser.columns_.names

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kind of each, as policies call them."""
        found = []
        for column in self.privatiser.columns_.columns:
            if isinstance(column, Number):
                found.append("integer" if column.whole else "number")
            else:
                kinds = {type(label) for label in column.labels}
                found.append("integer" if kinds == {int} else "boolean" if kinds == {bool} else "text")
        return tuple(found)

    @property
    def hidden(self) -> tuple[str, ...]:
        """The private columns that it hides."""
        return tuple(one.name for one in self.privatiser.private_)

    @property
    def resources(self) -> tuple[Resource, ...]:
        """The file."""
        return (self.model,)

    @property
    def guarantee(self) -> ContextAware:
        """Guarantee that was measured, about one population and on average."""
        return self.privatiser.guarantee

    def in_words(self) -> str:
        """Return the guarantee and its limits, in words."""
        return f"No epsilon. {self.guarantee.in_words()}"

    def release(self, values: Any, rng: Rng = None) -> tuple[Any, ...]:
        """Changed columns, one by one, from a struct of Arrow with a field for each (or the only column)."""
        table = self._table(values)
        released = self.privatiser.release(table, rng=rng)
        return tuple(released[name] for name in self.columns)

    def check(self, values: Any) -> None:
        """Refuse what :meth:`release` would refuse, and draw nothing."""
        self.privatiser.columns_.encode(self._table(values))

    def _table(self, values: Any) -> dict[str, Any]:
        parts = list(values.flatten()) if values.type.num_fields else [values]
        if len(parts) != len(self.columns):
            raise DataError(f"the privatiser was trained on {len(self.columns)} columns, and these are {len(parts)}.")
        return {name: _plain(part) for name, part in zip(self.columns, parts, strict=True)}

    def certificate(self, rng: np.random.Generator | None = None) -> NoReturn:
        """Raise an error: it has no certificate."""
        raise ParameterError(NO_CERTIFICATE)

    def map(self, distance: float) -> float:
        """Nothing is guaranteed at any distance."""
        return float("inf") if distance else 0.0

    def error(self, loss: str = "absolute") -> float:
        """Not known without the data; the distortion is in the guarantee."""
        raise NoLossError(
            "a learned privatiser has a distortion, which its guarantee states, and no other expected loss."
        )

    def channel(self) -> NoReturn:
        """Raise an error: it has no channel."""
        raise NoChannelError("a learned privatiser has no channel of finitely many secrets.")

    def __repr__(self) -> str:
        return f"{NAME}({self.model.name!r}, for {', '.join(self.columns)})"


def _plain(part: Any) -> Any:
    """A column of Arrow as an array."""
    plain = part.dictionary_decode() if hasattr(part, "dictionary_decode") else part
    return plain.to_numpy(zero_copy_only=False)


ENTRY = Entry(
    NAME,
    changed_columns,  # type: ignore[arg-type]
    Takes("record", parts=None, form="arrow", budget="none", claims=False),
    summary="columns changed by a privatiser that was trained against an adversary; no epsilon",
    words="the columns that it was trained on",
)
