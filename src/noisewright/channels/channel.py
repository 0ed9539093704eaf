"""Channels: every mechanism on finitely many secrets is one.

A channel is a row-stochastic matrix ``C``: row ``x`` is the distribution of the output when the secret is ``x``.

>>> from noisewright.metrics.base import Line
>>> geometric = Channel([[4, 1, 1], [2, 2, 2], [1, 1, 4]], normalise=True, inputs=[0, 1, 2], outputs=[0, 1, 2])
>>> print(geometric.epsilon(Line()))
epsilon = 0.693148 per unit of line; worst pair 0 and 1, output 0: 0.666667 against 0.333333
>>> round((geometric @ Channel.constant([0, 1, 2])).epsilon().value, 12)
0.0
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisewright._typing import Floats
from noisewright.channels import audit
from noisewright.channels.audit import Audit, Event
from noisewright.channels.hyper import Hyper, prior_weights
from noisewright.exceptions import ChannelError, ParameterError
from noisewright.metrics.base import Discrete, Metric, as_labels, as_metric
from noisewright.numerics.exact import Exact, as_fraction

if TYPE_CHECKING:
    from noisewright.channels.integer_table import CertifiedChannel

__all__ = ["Channel", "product_channel"]


LARGEST_PRODUCT = 20_000_000
"""A product with more entries than this is not listed."""


def product_channel(parents: Channel | Sequence[Channel], rows: int | None = None) -> Channel:
    """The channel on whole databases that applies a channel to every row; secrets and outputs are tuples of rows.

    Give one parent and the number of ``rows``, or one parent for each row. It grows exponentially: for study and tests only.
    """
    if isinstance(parents, Channel):
        if rows is None or rows < 1:
            raise ParameterError("give the number of rows, 1 or more, with a single parent channel.")
        parents = [parents] * rows
    size = np.prod([float(c) for parent in parents for c in parent.shape])
    if not len(parents) or size > LARGEST_PRODUCT:
        raise ParameterError(
            f"a product of {len(parents)} channels has {size:.3g} entries, {LARGEST_PRODUCT:.3g} is the limit; audit the "
            "parent instead: the guarantee is the same."
        )
    matrix: NDArray[Any] = np.ones((1, 1))
    for parent in parents:
        matrix = np.kron(matrix, parent.matrix)
    inputs = list(itertools.product(*(parent.inputs for parent in parents)))
    outputs = list(itertools.product(*(parent.outputs for parent in parents)))
    return Channel(matrix, inputs, outputs, normalise=True)


Label = Hashable

SMALLEST_LOG = -1e9
"""Log-probabilities below this are refused: no integer table could hold such a number."""

ROW_TOLERANCE = 1e-9
"""Rows may miss a sum of one by this much and are then renormalised; beyond it they are refused."""


class Channel:
    """A validated, immutable, row-stochastic matrix with a label for every secret and every output.

    ``inputs`` and ``outputs`` default to ``0, 1, 2, ...``. ``normalise=True`` takes any non-negative weights.
    """

    __slots__ = ("_logs", "inputs", "matrix", "outputs")
    __array_ufunc__ = None  # so that ``array @ channel`` is refused, not taken apart by numpy

    matrix: Floats
    _logs: Floats | None
    inputs: tuple[Label, ...]
    outputs: tuple[Label, ...]

    def __init__(
        self,
        matrix: ArrayLike,
        inputs: Iterable[Label] | None = None,
        outputs: Iterable[Label] | None = None,
        *,
        normalise: bool = False,
    ) -> None:
        values = _as_matrix(matrix)
        names_in = _labels(inputs, values.shape[0], "inputs", "rows")
        names_out = _labels(outputs, values.shape[1], "outputs", "columns")
        _set(self, _stochastic(values, names_in, normalise), None, names_in, names_out)

    @classmethod
    def from_logs(
        cls, logs: ArrayLike, inputs: Iterable[Label] | None = None, outputs: Iterable[Label] | None = None
    ) -> Channel:
        """A channel from log-probabilities, for entries too small for a float (below e^-745)."""
        values = _as_matrix(logs)
        if np.isnan(values).any() or (values == np.inf).any():
            raise ChannelError("log-probabilities must form a matrix of numbers that are finite or -inf.")
        if ((values < SMALLEST_LOG) & np.isfinite(values)).any():
            raise ChannelError(
                f"log-probabilities must be at least {SMALLEST_LOG:g}, or -inf for an impossible output."
            )
        with np.errstate(over="ignore"):
            matrix = np.exp(values)
        channel = cls(matrix, inputs, outputs)
        sums = matrix.sum(axis=1)
        rescaled = (channel.matrix != matrix).any(axis=1)  # the logarithms say the same as the matrix
        values[rescaled] -= np.log(sums[rescaled, None])
        values.flags.writeable = False
        _set(channel, channel.matrix, values, channel.inputs, channel.outputs)
        return channel

    @classmethod
    def deterministic(cls, program: Callable[[Any], Label], inputs: Iterable[Label]) -> Channel:
        """The 0-1 channel of a program: each secret goes to the program's answer, so secrets fall into blocks."""
        secrets = as_labels(inputs, "inputs", ChannelError)
        answers = [program(x) for x in secrets]
        try:
            outputs = list(dict.fromkeys(answers))
        except TypeError:
            raise ChannelError(
                "a program must answer with numbers, strings or tuples; a list cannot be a label."
            ) from None
        position = {label: i for i, label in enumerate(outputs)}
        matrix = np.zeros((len(secrets), len(outputs)))
        matrix[np.arange(len(secrets)), [position[a] for a in answers]] = 1.0
        return cls(matrix, secrets, outputs)

    @classmethod
    def identity(cls, inputs: Iterable[Label]) -> Channel:
        """Return the channel that reveals everything."""
        return cls.deterministic(lambda x: x, inputs)

    @classmethod
    def constant(cls, inputs: Iterable[Label], output: Label = "*") -> Channel:
        """Return the channel that reveals nothing."""
        return cls.deterministic(lambda _: output, inputs)

    # What it is ------------------------------------------------------------------------------------------------

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a Channel does not change; build a new one.")

    @property
    def shape(self) -> tuple[int, int]:
        """Number of secrets, number of outputs."""
        rows, columns = self.matrix.shape
        return rows, columns

    @property
    def logs(self) -> Floats:
        """Log-probabilities, ``-inf`` for an impossible output."""
        if self._logs is not None:
            return self._logs
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.matrix))

    @property
    def has_logs(self) -> bool:
        """Return whether the channel was built from log-probabilities, which are more accurate than floats near
        zero.
        """
        return self._logs is not None

    def row(self, secret: Label) -> Floats:
        """The output distribution of one secret."""
        return np.asarray(self.matrix[self.positions([secret])[0]])

    def positions(self, secrets: Iterable[Label]) -> NDArray[np.intp]:
        """The row numbers of secrets, by label."""
        index = {label: i for i, label in enumerate(self.inputs)}
        try:
            return np.array([index[x] for x in secrets], dtype=np.intp)
        except (KeyError, TypeError):
            raise ChannelError(f"a secret is not among the {len(index)} inputs of this channel; see .inputs.") from None

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Channel)
            and self.inputs == other.inputs
            and self.outputs == other.outputs
            and np.array_equal(self.logs, other.logs)
        )

    def __hash__(self) -> int:
        return hash((self.inputs, self.outputs))

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (np.array(self.matrix), self._logs, self.inputs, self.outputs)

    def __repr__(self) -> str:
        return f"Channel({len(self.inputs)} secrets to {len(self.outputs)} outputs)"

    # What it guarantees ------------------------------------------------------------------------------------------

    def epsilon(self, metric: Metric | None = None) -> Audit:
        """The smallest epsilon with ``C[x,y] <= exp(epsilon d(x,x')) C[x',y]`` everywhere, and the worst case."""
        given, exact_logs = self._given()
        return audit.smallest_epsilon(given, self.inputs, self.outputs, as_metric(metric, Discrete()), exact_logs)

    def delta(self, epsilon: Exact, metric: Metric | None = None, within: float | None = None) -> float:
        """The smallest delta for ``epsilon``: the largest hockey-stick divergence over pairs of secrets.

        Probabilities count as the floats they are: an entry of :meth:`from_logs` that is too small for a float counts as 0.

        A pair at distance ``d`` is allowed the factor ``exp(epsilon d)``; ``within`` restricts to pairs at most that far
        apart (``metric=Hamming(), within=1`` are neighbouring databases).
        """
        return self.worst_event(epsilon, metric, within).delta

    def worst_event(self, epsilon: Exact, metric: Metric | None = None, within: float | None = None) -> Event:
        """The pair of secrets and the set of outputs that need the delta reported by :meth:`delta`."""
        measure = as_metric(metric, Discrete())
        return audit.worst_event(self.matrix, self.inputs, self.outputs, epsilon, measure, within)

    def epsilon_at(self, delta: Exact, metric: Metric | None = None, within: float | None = None) -> Audit:
        """The smallest epsilon for which ``delta`` is enough, with the pair that needs it."""
        if as_fraction(delta, "delta") == 0 and within is None:
            return self.epsilon(metric)
        measure = as_metric(metric, Discrete())
        return audit.epsilon_at(self.matrix, self.inputs, self.outputs, delta, measure, within)

    def distinguishability(self) -> Floats:
        """The channel's own metric: ``d_C(x, x') = max_y |ln C[x,y] / C[x',y]|``."""
        return audit.distinguishability(*self._given())

    def directed(self) -> Floats:
        """Directed losses ``max_y ln C[x,y] / C[x',y]``, which add up exactly under composition."""
        return audit.directed(*self._given())

    def certify(self, epsilon: Exact, metric: Metric | None = None, *, max_change: float = 1e-6) -> CertifiedChannel:
        """An integer table that has the guarantee exactly, with its certificate; see
        :mod:`noisewright.channels.integer_table`."""
        from noisewright.channels.integer_table import certify

        return certify(self, epsilon, as_metric(metric, Discrete()), max_change=max_change)

    # What can be done with it ----------------------------------------------------------------------------------

    def push(self, prior: ArrayLike | None = None) -> Hyper:
        """The posteriors an observer ends up with, and how often; the prior defaults to the uniform one."""
        return Hyper.of(prior_weights(prior, len(self.inputs)), self.matrix, self.inputs, self.outputs)

    def reduce(self, tolerance: float = 1e-10) -> Channel:
        """The canonical form: no impossible outputs, proportional columns merged, columns in a fixed order.

        Two channels are equivalent for every average-case adversary exactly when these agree.
        """
        return Channel(self.push().reduce(tolerance).joint() * len(self.inputs), self.inputs)

    def equivalent(self, other: Channel, tolerance: float = 1e-9) -> bool:
        """Return whether no adversary can distinguish the two channels' leakage."""
        self._same_secrets(other)
        return self.push().equivalent(other.push(), tolerance)

    def __matmul__(self, other: Channel) -> Channel:
        """Post-processing: feed every output of this channel to ``other``."""
        if not isinstance(other, Channel):
            return NotImplemented
        if self.outputs != other.inputs:
            missing = [y for y in self.outputs if y not in set(other.inputs)]
            hint = f"{missing[0]!r} is not an input of it" if missing else "they are in another order"
            raise ChannelError(f"the outputs of the first channel must be the inputs of the second; {hint}.")
        if self._logs is None and other._logs is None:
            return Channel(self.matrix @ other.matrix, self.inputs, other.outputs)
        return Channel.from_logs(_log_product(self, other), self.inputs, other.outputs)

    def compose(self, other: Channel) -> Channel:
        """Both outputs of two independent runs on the same secret; outputs are pairs.

        For the epsilon of a composition use :class:`~noisewright.certificates.composition.Accountant`: it needs no product.
        """
        self._same_secrets(other)
        both = [(i, j) for i in self.outputs for j in other.outputs]
        if self._logs is not None or other._logs is not None:
            sums = self.logs[:, :, None] + other.logs[:, None, :]
            return Channel.from_logs(sums.reshape(len(self.inputs), -1), self.inputs, both)
        product = np.einsum("xi,xj->xij", self.matrix, other.matrix).reshape(len(self.inputs), -1)
        return Channel(product, self.inputs, both)

    def after(self, query: Callable[[Any], Label] | Mapping[Any, Label], secrets: Iterable[Label]) -> Channel:
        """Ask ``query`` of each of ``secrets`` and run this channel on the answer."""
        names = as_labels(secrets, "secrets", ChannelError)
        ask = query.__getitem__ if isinstance(query, Mapping) else query
        try:
            rows = self.positions([ask(x) for x in names])
        except (KeyError, ChannelError):
            raise ChannelError("the query gives an answer that is not an input of this channel; see .inputs.") from None
        if self._logs is not None:
            return Channel.from_logs(self._logs[rows], names, self.outputs)
        return Channel(self.matrix[rows], names, self.outputs)

    def _given(self) -> tuple[Floats, bool]:
        """The numbers that this channel was made of, and whether they are logarithms."""
        return (self.matrix, False) if self._logs is None else (self._logs, True)

    def _same_secrets(self, other: Channel) -> None:
        if not isinstance(other, Channel):
            raise ChannelError(f"a channel is compared or composed with a Channel, not with {type(other).__name__}.")
        if self.inputs != other.inputs:
            odd = set(self.inputs) ^ set(other.inputs)
            which = f"{sorted(odd, key=str)[0]!r} is in one of them only" if odd else "they are in another order"
            raise ChannelError(f"the two channels must have the same secrets in the same order; {which}.")


def _log_product(first: Channel, second: Channel) -> Floats:
    """The logarithm of the matrix product; where floats underflow, entry by entry in logarithms."""
    product = first.matrix @ second.matrix
    with np.errstate(divide="ignore"):
        logs = np.log(product)
    rows, columns = first.logs, second.logs.T
    for x in range(len(rows)):
        small = np.flatnonzero(product[x] < 1e-290)
        terms = rows[x] + columns[small]
        largest = terms.max(axis=1, initial=-np.inf)
        with np.errstate(divide="ignore", invalid="ignore"):
            found = largest + np.log(np.exp(terms - largest[:, None]).sum(axis=1))
        logs[x, small] = np.where(np.isneginf(largest), -np.inf, found)
    return np.asarray(logs)


def _as_matrix(matrix: ArrayLike) -> Floats:
    try:
        given = np.asarray(matrix)
        words = given.dtype == object and any(isinstance(v, (str, bytes)) for v in given.ravel())
        if given.dtype.kind not in "biufO" or words or np.ma.is_masked(matrix):
            raise TypeError
        values = np.array(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ChannelError("a channel needs a matrix of numbers with rows of one length.") from None
    if values.ndim != 2 or 0 in values.shape:
        raise ChannelError(f"a channel needs at least one row and one column, not an array of shape {values.shape}.")
    return values


def _stochastic(values: Floats, inputs: tuple[Label, ...], normalise: bool) -> Floats:
    if not np.isfinite(values).all():
        row = int(np.argwhere(~np.isfinite(values))[0, 0])
        raise ChannelError(f"row {inputs[row]!r} has an entry that is not a finite number.")
    if (values < 0).any():
        row = int(np.argwhere(values < 0)[0, 0])
        raise ChannelError(f"row {inputs[row]!r} has a negative entry; probabilities are 0 or more.")
    if normalise:  # by a power of two first, which is exact, so that the sum does not overflow
        values = np.where(values.max(axis=1, keepdims=True) > 1e300, np.ldexp(values, -64), values)
    with np.errstate(over="ignore"):
        sums = values.sum(axis=1)
    if normalise and (sums == 0).any():
        raise ChannelError(f"row {inputs[int(np.argmax(sums == 0))]!r} has no weight, so it cannot be normalised.")
    off = np.abs(sums - 1)
    if not normalise and off.max() > ROW_TOLERANCE:
        row = int(off.argmax())
        raise ChannelError(
            f"row {inputs[row]!r} sums to {sums[row]:.12g}, not to 1; correct it, or normalise the weights first."
        )
    # Sums that are one up to rounding are left alone, so that writing and reading a channel changes nothing.
    rounded = off > values.shape[1] * 2.0**-52
    values[rounded] /= sums[rounded, None]
    return values


def _labels(names: Iterable[Label] | None, count: int, what: str, which: str) -> tuple[Label, ...]:
    labels: tuple[Label, ...] = tuple(range(count)) if names is None else as_labels(names, what, ChannelError)
    if len(labels) != count:
        raise ChannelError(f"{len(labels)} {what} were named for {count} {which}; name each once.")
    if len(set(labels)) != count:
        raise ChannelError(f"{what} must be different from each other.")
    return labels


def _set(
    channel: Channel, matrix: Floats, logs: Floats | None, inputs: tuple[Label, ...], outputs: tuple[Label, ...]
) -> None:
    matrix.flags.writeable = False
    for name, value in (("matrix", matrix), ("_logs", logs), ("inputs", inputs), ("outputs", outputs)):
        object.__setattr__(channel, name, value)


def _restore(matrix: Floats, logs: Floats | None, inputs: tuple[Label, ...], outputs: tuple[Label, ...]) -> Channel:
    channel = Channel.__new__(Channel)
    _set(channel, matrix, logs, inputs, outputs)
    return channel
