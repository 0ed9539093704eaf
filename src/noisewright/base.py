"""The mechanism protocol: what every mechanism offers, whatever its domain.

A mechanism is a channel that has a guarantee and can be sampled. A third party's mechanism is one as soon as it has
these members; :func:`noisewright.testing.check_mechanism` tests whether it keeps their guarantee.

Its optional members are in :class:`Described`, and are read with :func:`described`.

>>> from noisewright.mechanisms.categorical.randomised_response import randomised_response
>>> list(parameters_of(randomised_response)), sorted(map(str, plain_types(hints_of(randomised_response)["epsilon"])))[0]
(['categories', 'epsilon'], "<class 'float'>")

A constructor annotates a parameter with ``Annotated[type, Parameter(...)]``. Command line, policies, their JSON schema, the
studio and the documentation read the description from there, for built-in mechanisms and for those of other packages.

>>> from typing import Annotated
>>> POINTS = Parameter("Number of points.", "points = 5")
>>> def stars(*, epsilon: Annotated[float, EPSILON], points: Annotated[int, POINTS]) -> None: ...
>>> described_parameters(stars)["points"].example, described_parameters(stars)["epsilon"].policy_key
('points = 5', 'epsilon')
"""

from __future__ import annotations

import inspect
import types
import typing
import weakref
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from noisewright._typing import Floats
from noisewright.certificates.certificate import Certificate
from noisewright.channels.audit import Audit
from noisewright.channels.channel import Channel
from noisewright.claims.figures import figure, percent
from noisewright.exceptions import NoChannelError, NoLossError, ParameterError
from noisewright.guarantees import Guarantee, Scope
from noisewright.resources import Resource, Seed

__all__ = [
    "CATEGORIES",
    "DELTA",
    "DIMENSION",
    "EPSILON",
    "LATTICE",
    "LOSSES",
    "METRIC",
    "OUTSIDE",
    "POINTS",
    "RADIUS",
    "REMAP",
    "SCOPE",
    "SEED",
    "SENSITIVITY",
    "WITHIN",
    "BaseMechanism",
    "Described",
    "Entry",
    "Mechanism",
    "MechanismAudit",
    "Parameter",
    "Stated",
    "Takes",
    "as_mechanism",
    "certificate_once",
    "check_loss",
    "described",
    "described_parameters",
    "errors_in_words",
    "expected_loss",
    "hints_of",
    "is_choice",
    "named_errors",
    "parameters_of",
    "plain_types",
    "public_parts",
]


@dataclass(frozen=True)
class Stated:
    """A number about public files that a certificate states, and how to compute it again from them."""

    what: str
    """Description in words."""
    seconds: float
    """About how long that takes on this machine."""
    again: Callable[[], str]
    """Computes it and says in words that it agrees; refused with a ``CertificateError`` where it does not."""


@dataclass(frozen=True)
class Entry:
    """A mechanism in the registry."""

    name: str
    """Name at the command line and in policies."""
    make: Callable[..., Mechanism]
    """Its constructor."""
    takes: Takes
    """Inputs and outputs."""
    summary: str
    """Purpose, in half a line."""
    words: str
    """Secrets, in words."""
    rebuild: Callable[[Certificate], Mechanism] | None = None
    """The mechanism behind a certificate of this name, which was proved; None: built by its kind of proof. See
    :func:`~noisewright.mechanisms.from_certificate.mechanism_of`."""
    stated: Callable[[Certificate], Stated | None] | None = None
    """Function that describes the public files of a proved certificate of this name; None if it has none."""


@dataclass(frozen=True)
class MechanismAudit(Audit):
    """An audit with a scope, and with the evidence in words where a pair and an output do not say it all.

    ``scope="adjacent"``: ``value`` is the epsilon between secrets at distance at most 1, not per unit of distance.
    For a continuous mechanism ``probabilities`` are densities. What is printed is rounded up, as in every audit.
    """

    scope: Scope = "metric"
    words: str = ""

    def __str__(self) -> str:
        return f"{self._head(self.scope)}; {self.words or self.evidence}"

    __repr__ = Audit.__repr__

    def _needs(self, scope: Scope | None = None) -> str:
        return super()._needs(scope or self.scope)

    def _shown(self) -> str:
        return self.words or self.evidence

    def to_json(self) -> dict[str, Any]:
        """The audit as plain data."""
        return {**super().to_json(), "scope": self.scope, "words": self.words}


@dataclass(frozen=True)
class Takes:
    """Input and output of a mechanism, and the way a budget reaches its constructor. Declared, never guessed."""

    kind: str
    """Type of a secret: the type of a column ("integer", "number", "vector", "image", "document", ...), "category" for
    a value of any listed set, or "place" for the coordinates of a point.
    """
    gives: str | None = None
    """The kind of an output; None: the same."""
    parts: int | None = 1
    """Number of columns that hold one secret; None: one for each coordinate, or for each part of a listed secret."""
    form: Literal["numpy", "arrow"] = "numpy"
    """Input of ``release``: a NumPy array, or an Arrow array (a struct for several columns)."""
    budget: Literal["unit", "sensitivity", "radius", "none"] = "unit"
    """Meaning of epsilon: for each unit of the metric; for a ``sensitivity``; within a ``radius``; not at all."""
    purpose: Literal["column", "report", "choice"] = "column"
    """Purpose of an output: a value for each secret; a report that only a population can be read from; a choice among
    candidates.
    """
    secrets: Literal["categories", "points"] | None = None
    """The parameter that lists the secrets; None: they are not listed."""
    within: bool = False
    """Whether the range of the secrets is declared by ``within``."""
    metric: bool = False
    """Whether the metric is a parameter."""
    lattice: bool = False
    """Whether the step of the lattice is a parameter: integers then stay whole on a step of 1."""
    delta: bool = False
    """Whether a delta is a parameter."""
    scope: bool = False
    """Whether the scope of the guarantee is a parameter: for every distance of the metric, or between neighbours."""
    bounded: bool = False
    """Whether noise stays within ``within`` by its law, also where that has one end only, and not by moving it there."""
    unit: str = ""
    """Unit of distances between secrets, in the singular, where it differs from the unit of the secrets themselves."""
    dimension: bool = False
    """Whether the number of coordinates is a parameter: a policy counts them where it does not say."""
    claims: bool = True
    """Whether there is an epsilon at all. Where not, the guarantee is context-aware: there is no certificate, nothing is
    charged, and the columns count as not protected."""

    @property
    def points(self) -> bool:
        """Return whether a secret is a point of a space, given by its coordinates."""
        return self.kind in ("place", "vector")

    @property
    def priced(self) -> bool:
        """Return whether an epsilon is required; a mechanism that ignores its input has none."""
        return self.budget != "none"


@runtime_checkable
class Mechanism(Protocol):
    """Randomised map from secrets to outputs with a guarantee.

    A class that has these members is a mechanism; :class:`BaseMechanism` has some of them by default.
    """

    @property
    def name(self) -> str:
        """The name in the registry."""

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee."""

    def release(self, values: Any, rng: np.random.Generator | None = None) -> Any:
        """Sample an output for each value; a scalar gives a scalar, an array an array of the same shape.

        Without ``rng`` the bits are cryptographic. A numpy generator makes a simulation that can be repeated, and must
        not be used for a real release.
        """

    def map(self, distance: float) -> float:
        """Return the largest log-ratio of output probabilities for two secrets at this distance, rounded up.

        With a delta it holds up to the extra probability that ``guarantee.delta_at`` has for that distance. The distance is
        between the secrets themselves, in the unit of the guarantee's metric. Where that metric is about points that secrets
        are rounded to, this counts rounding in, and ``guarantee.bound`` takes the distance after it.
        """

    def certificate(self, rng: np.random.Generator | None = None) -> Certificate:
        """Return the claim and its proof; with an ``rng`` it states that such draws are not for release."""

    def error(self, loss: str = "absolute") -> float:
        """Return the expected loss of an output taken at face value, for the secret where it is largest.

        :class:`~noisewright.exceptions.NoLossError` where the mechanism has no such loss.
        """

    def channel(self) -> Channel:
        """Return the channel, where secrets and outputs are finite.

        Otherwise :class:`~noisewright.exceptions.NoChannelError`.
        """


class BaseMechanism:
    """Base class of mechanisms, with defaults for what most of them share.

    A subclass defines ``name``, ``guarantee``, ``release``, ``certificate`` and ``error``; ``channel`` too, if its secrets and
    outputs are finite.
    """

    no_channel = "secrets or outputs are not finitely many; there is no channel."
    """Message of the error that :meth:`channel` raises."""

    if TYPE_CHECKING:  # a dataclass would take a property of its base for the default of a field

        @property
        def guarantee(self) -> Guarantee:
            """The guarantee."""

    def map(self, distance: float) -> float:
        """Return the largest log-ratio of output probabilities for two secrets at this distance, rounded up.

        With a delta it holds up to the extra probability that ``guarantee.delta_at`` has for that distance.
        """
        return self.guarantee.bound(distance)

    def channel(self) -> Channel:
        """Raise an error that gives the reason why there is no channel, unless a subclass has one."""
        raise NoChannelError(self.no_channel)


class Described(Protocol):
    """Optional members of a mechanism that describe it; :func:`described` gives None for members that it lacks."""

    @property
    def check(self) -> Callable[[Any], None] | None:
        """``check(values)`` draws nothing and refuses what ``release`` would refuse.

        Without it, a table is checked by draws that are thrown away.
        """

    @property
    def audit(self) -> Callable[[], Audit] | None:
        """``audit()``: the smallest epsilon that the mechanism really has.

        ``noisewright.audit`` uses it where there is no channel, or one too large to compare all pairs of rows.
        """

    @property
    def below(self) -> Callable[[Any, Any], Floats] | None:
        """``below(values, places)``: the chance that the output for a value (a row) is below a place (a column).

        It is about the numbers that ``release`` draws, rounding and clamping included, for a mechanism of single numbers.
        """

    @property
    def in_words(self) -> Callable[[], str] | None:
        """``in_words()``: the guarantee in plain words, where the words of the guarantee are not enough."""

    @property
    def reading(self) -> Callable[[], str] | None:
        """``reading()``: how far outputs are from the secret, where that is more informative than their mean distance;
        else empty.
        """

    @property
    def scale(self) -> Any:
        """The scale of the noise, a number."""

    @property
    def noise_error(self) -> float | None:
        """The mean size of noise that does not depend on the secret it is added to, in steps of the lattice.

        Sums and counts of any size can be protected by a mechanism that has one; None where ends bound the output.
        """

    @property
    def dimension(self) -> int | None:
        """Number of coordinates of one secret, for a mechanism that takes vectors, or images of one size."""

    @property
    def reason(self) -> str | None:
        """Reason for the scale, in half a sentence."""

    @property
    def resources(self) -> tuple[Resource, ...] | None:
        """The public files that it needs; its certificate states them, and engines carry them to where it draws."""

    @property
    def seed(self) -> Seed | None:
        """The public seed that its public choices are drawn from; its certificate states it."""


OPTIONAL = tuple(name for name, member in vars(Described).items() if isinstance(member, property))


class _Description:
    """A mechanism's optional members, looked up on access."""

    def __init__(self, mechanism: object) -> None:
        self._mechanism = mechanism

    def __getattr__(self, name: str) -> Any:
        if name not in OPTIONAL:
            raise AttributeError(f"{name!r} is no optional member of a mechanism")
        return getattr(self._mechanism, name, None)


def described(mechanism: Mechanism) -> Described:
    """The optional members of a mechanism; None for each that it does not have.

    >>> from noisewright.mechanisms.numeric.geometric import geometric
    >>> float(described(geometric(epsilon=2)).scale), described(geometric(epsilon=2)).resources
    (0.5, None)
    """
    return cast(Described, _Description(mechanism))


def as_mechanism(thing: object, what: str) -> Mechanism:
    """The mechanism itself; anything else is refused in a sentence in which ``what`` says who needs one."""
    if isinstance(thing, type) or not callable(getattr(thing, "release", None)):
        given = f"the class {thing.__name__}" if isinstance(thing, type) else type(thing).__name__
        raise ParameterError(f"{what} needs a mechanism such as geometric(epsilon=1), not {given}.")
    return thing  # type: ignore[return-value]


_kept: dict[int, tuple[weakref.ref[Mechanism], dict[bool, Certificate]]] = {}
"""Cache by the identity of a mechanism, which is unique while the reference leads to it."""


def certificate_once(mechanism: Mechanism, simulated: bool = False) -> Certificate:
    """``mechanism.certificate()``, made at the first call; ``simulated`` asks for the one of draws that are not for release.

    A plan requests a certificate to compute the privacy cost of a part, to state its delta, to see whether it is exact,
    and to bundle it, and a large table takes long to write out and to hash. Mechanisms never change, so the first
    answer is kept while the mechanism lives.
    """
    place = id(mechanism)
    alive, made = _kept.get(place, (None, {}))
    if alive is None or alive() is not mechanism:
        try:
            alive, made = weakref.ref(mechanism, lambda _: _kept.pop(place, None)), {}
        except TypeError:  # a class with slots, and none for references
            return _certificate(mechanism, simulated)
        _kept[place] = alive, made
    if simulated not in made:
        made[simulated] = _certificate(mechanism, simulated)
    return made[simulated]


def _certificate(mechanism: Mechanism, simulated: bool) -> Certificate:
    return mechanism.certificate(np.random.default_rng(0)) if simulated else mechanism.certificate()


# Signatures ---------------------------------------------------------------------------------------------------------------
#
# Parameters of the constructor of a mechanism, read from its signature; policies and the command line are made from
# them.


def parameters_of(constructor: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """The parameters by name, without ``*args`` and ``**kwargs``."""
    return {
        name: parameter
        for name, parameter in inspect.signature(constructor).parameters.items()
        if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    }


def hints_of(constructor: Callable[..., Any], described: bool = False) -> dict[str, Any]:
    """Return the types of the parameters, ``described`` with their annotations.

    The return type may be one that is only imported for type checkers.
    """
    if isinstance(constructor, type):
        return hints_of(constructor.__init__, described)  # type: ignore[misc]
    constructor = inspect.unwrap(constructor)  # its annotations name members of its own module
    named = {key: hint for key, hint in getattr(constructor, "__annotations__", {}).items() if key != "return"}
    try:
        holder = types.SimpleNamespace(__annotations__=named)
        return typing.get_type_hints(holder, globalns=getattr(constructor, "__globals__", {}), include_extras=described)
    except (NameError, TypeError):
        return {}


def is_choice(hint: Any) -> bool:
    """Return whether a type is a list of words."""
    return typing.get_origin(hint) is typing.Literal


def plain_types(hint: Any) -> set[Any]:
    """The plain types that a type is made of."""
    parts = () if is_choice(hint) else typing.get_args(hint)
    return set().union(*map(plain_types, parts)) if parts else {hint if isinstance(hint, type) else None}


def public_parts(constructor: Callable[..., Any], kind: type[Resource] | type[Seed]) -> frozenset[str]:
    """Return the parameters that are public files, or public seeds, by their annotations, perhaps with None.

    >>> def lookup(table: Resource, key: Seed | None = None, size: int = 3) -> None: ...
    >>> public_parts(lookup, Resource), public_parts(lookup, Seed)
    (frozenset({'table'}), frozenset({'key'}))
    """
    return frozenset(name for name, hint in hints_of(constructor).items() if kind in plain_types(hint))


# Losses -------------------------------------------------------------------------------------------------------------------
#
# Named losses of an output taken at face value, as a matrix over secrets and outputs.


LOSSES = ("absolute", "squared", "zero-one")


def expected_loss(channel: Channel, loss: str) -> float:
    """The expected loss for the secret where it is largest."""
    return float((channel.matrix * _matrix(channel.inputs, channel.outputs, loss)).sum(axis=1).max())


def named_errors(mechanism: Mechanism) -> dict[str, float]:
    """The expected loss at the worst secret, for every named loss that makes sense for these secrets."""
    found = {}
    for loss in LOSSES:
        try:
            found[loss] = mechanism.error(loss)
        except NoLossError:
            continue
    return found


def errors_in_words(mechanism: Mechanism, errors: Mapping[str, float]) -> str:
    """Return the expected errors of a mechanism at its worst secret, rounded up.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism, which may have a better way to describe its errors.
    errors : mapping
        The expected loss at the worst secret for each named loss, from :func:`named_errors`.
    """
    far = described(mechanism).reading
    if far is not None and far():
        return far()
    spelled = {
        "absolute": lambda e: f"{figure(e)} absolute",
        "squared": lambda e: f"{figure(e)} squared",
        "zero-one": lambda e: f"another value than the truth {percent(e)} of the time",
    }
    shown = {loss: error for loss, error in errors.items() if loss != "zero-one" or error < 1 or len(errors) == 1}
    found = [spelled[loss](error) if loss in spelled else f"{figure(error)} ({loss})" for loss, error in shown.items()]
    return ", ".join(found) + " (for the secret where it is largest)" if found else "none that applies"


def check_loss(loss: str) -> None:
    """Refuse an unknown name of a loss.

    >>> check_loss("logarithmic")
    Traceback (most recent call last):
    noisewright.exceptions.ParameterError: there is no loss called 'logarithmic'; choose one of absolute, squared, zero-one.
    """
    if loss not in LOSSES:
        raise ParameterError(f"there is no loss called {loss!r}; choose one of {', '.join(LOSSES)}.")


def _matrix(inputs: Sequence[Hashable], outputs: Sequence[Hashable], loss: str) -> NDArray[np.float64]:
    if loss == "zero-one":
        return np.array([[float(x != y) for y in outputs] for x in inputs])
    check_loss(loss)
    try:
        x, y = _vectors(inputs), _vectors(outputs)
    except (TypeError, ValueError, OverflowError):
        raise NoLossError(f"the {loss} loss needs secrets and outputs that are numbers; use 'zero-one'.") from None
    if x.shape[1] != y.shape[1]:
        raise NoLossError(f"the {loss} loss needs secrets and outputs of one dimension; use 'zero-one'.")
    with np.errstate(over="ignore"):
        apart = np.sqrt(((x[:, None, :] - y[None, :, :]) ** 2).sum(-1))
        losses = np.asarray(apart if loss == "absolute" else apart**2)
    if not np.isfinite(losses).all():
        raise NoLossError(
            f"the {loss} loss of such large numbers is beyond all floats; rescale them, or use 'zero-one'."
        )
    return losses


def _vectors(labels: Sequence[Any]) -> NDArray[np.float64]:
    given = [np.atleast_1d(np.asarray(label)) for label in labels]
    if any(v.dtype.kind not in "biufO" for v in given):
        raise TypeError("words are not numbers")
    vectors = np.array([v.astype(np.float64) for v in given], dtype=np.float64)
    if not np.isfinite(vectors).all():
        raise ValueError("not finite")
    return vectors


# Parameters ---------------------------------------------------------------------------------------------------------------
#
# Descriptions of the parameters of mechanisms, written once: at the constructor.


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
    "Distance between two locations at which epsilon holds. A policy calls it protect.",
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
