"""Findings of a conformance suite: the checks that were passed, those that do not apply, and the error of one that failed.

>>> import noisewright as nw
>>> from noisewright.testing import check_mechanism
>>> report = check_mechanism(nw.geometric(epsilon=1, within=(0, 9)), secrets=range(10), unknown=[10, 0.5])
>>> report.passed[:3]
['protocol', 'guarantee', 'certificate']

A failed check raises :class:`ConformanceError`, which names the check and says what was found. Statistical checks use a fixed
seed; a correct mechanism fails one of them with probability below 1e-6.
"""

from __future__ import annotations

import copy
import itertools
import math
import multiprocessing
import pickle
import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.stats import chi2

from noisewright.base import Mechanism
from noisewright.certificates.certificate import Certificate
from noisewright.channels.channel import Channel
from noisewright.claims.figures import upward
from noisewright.exceptions import (
    DataError,
    GuaranteeError,
    NoChannelError,
    NoisewrightError,
    NoLossError,
    ParameterError,
)
from noisewright.mechanisms.audit import audit
from noisewright.metrics.base import Metric

__all__ = ["Check", "ConformanceError", "Report", "check_mechanism", "require", "run"]


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


# Mechanisms ---------------------------------------------------------------------------------------------------------------
#
# Conformance suite of mechanisms: requirements for every one, ours and anyone's.


ERROR_RATE = 1e-8
CHILD_SECONDS = 60
HALVINGS = 48


def check_mechanism(
    mechanism: Mechanism,
    *,
    secrets: Iterable[Hashable],
    unknown: Sequence[Any] = (),
    refused: Sequence[Callable[[], Any]] = (),
    draws: int = 20_000,
    seed: int = 1,
) -> Report:
    """Run every check and return the report.

    ``secrets`` are values the mechanism takes (a few, or all); ``unknown`` are values it must refuse without showing them;
    ``refused`` are calls with bad parameters that must raise :class:`~noisewright.exceptions.ParameterError`, or
    :class:`~noisewright.exceptions.GuaranteeError` where a channel does not have the guarantee that is requested.
    """
    chosen = list(secrets)
    checks: list[Check] = [
        ("protocol", lambda: _protocol(mechanism)),
        ("guarantee", lambda: _guarantee(mechanism, chosen)),
        ("rounding", lambda: _rounding(mechanism, chosen)),
        ("certificate", lambda: _certificate(mechanism, chosen)),
        ("law", lambda: _law(mechanism, chosen, draws, seed)),
        ("shapes", lambda: _shapes(mechanism, chosen, seed)),
        ("error", lambda: _error(mechanism, chosen, draws, seed)),
        ("unknown values", lambda: _unknown(mechanism, unknown)),
        ("bad parameters", lambda: _refused(refused)),
        ("pickling", lambda: _pickling(mechanism, chosen, seed)),
        ("forking", lambda: _forking(mechanism, chosen)),
    ]
    return run(checks)


def _channel(mechanism: Mechanism) -> Channel | None:
    try:
        return mechanism.channel()
    except NoChannelError:
        return None


def _protocol(mechanism: Mechanism) -> str | None:
    require(isinstance(mechanism, Mechanism), "protocol: a member of the Mechanism protocol is missing.")
    require(mechanism.map(0.0) == 0.0, "protocol: map(0) must be 0; equal secrets look alike.")
    losses = [mechanism.map(d) for d in (0.0, 0.5, 1.0, 2.0)]
    require(losses == sorted(losses), "protocol: map must not fall as the distance grows.")
    return None


def _guarantee(mechanism: Mechanism, secrets: list[Hashable]) -> str | None:
    """The audit of the channel, for every pair, is within the guarantee (up to the rounding of floats)."""
    channel = _channel(mechanism)
    if channel is None:
        return "no finite channel"
    guarantee = mechanism.guarantee
    require(set(secrets) <= set(channel.inputs), "guarantee: the channel does not have all of the secrets.")
    if guarantee.delta == 0 and guarantee.scope == "metric" and guarantee.radius is None:
        found = channel.epsilon(guarantee.metric)
        require(found.value <= guarantee.epsilon * (1 + 1e-9), f"guarantee: the channel has {found}.")
        return None
    if guarantee.scope == "adjacent":  # neighbours are allowed the whole epsilon, however close they are
        near, factor = guarantee.metric.matrix(channel.inputs) <= 1, math.exp(guarantee.epsilon)
        excess = (np.maximum(row - factor * channel.matrix[near[x]], 0).sum(-1) for x, row in enumerate(channel.matrix))
        need = max(float(found.max()) for found in excess)
    else:
        need = channel.delta(guarantee.epsilon, guarantee.metric, guarantee.radius)
    require(
        need <= guarantee.delta + 1e-12,
        f"guarantee: delta = {upward(need)} is needed, {guarantee.delta:g} is promised.",
    )
    return None


def _rounding(mechanism: Mechanism, secrets: list[Hashable]) -> str | None:
    """Two secrets a hair apart that are rounded a step apart: ``map`` of their own distance covers the loss of that step."""
    guarantee = mechanism.guarantee
    if guarantee.scope != "metric" or guarantee.delta:
        return "no promise that grows with distance alone"
    for first, second in itertools.pairwise(secrets):
        found = _parted(guarantee.metric, first, second)
        if found is None:
            continue
        pair, apart, rounded = found
        try:
            mechanism.release(pair)
            loss = audit(mechanism).value * rounded
        except (DataError, NoChannelError):  # between the secrets none exist, or no one knows the loss
            continue
        allowed = mechanism.map(apart)
        require(
            loss <= allowed * (1 + 1e-9),
            f"rounding: two secrets {apart:.3g} apart can be told apart by {upward(loss)}, and map promises {allowed:.6g}.",
        )
        return None
    return "no two secrets were found that are rounded apart"


def _parted(metric: Metric, first: Any, second: Any) -> tuple[list[Any], float, float] | None:
    """Two points a hair apart on the way between two secrets, for which the metric is much larger than that.

    The result: the points, more than their own distance, and their distance in the metric. None if there are no such points.
    """
    try:
        low, high = (np.asarray(secret, dtype=np.float64) for secret in (first, second))
        whole, length = float(metric.distance(first, second)), float(np.abs(high - low).max(initial=0.0))
        pair, rounded = [first, second], whole
        for _ in range(HALVINGS):  # each time the half that is longer in the metric: where it jumps, that stays long
            middle = (low + high) / 2
            halves = [[_label(point[()]) for point in half] for half in ((low, middle), (middle, high))]
            left, right = (float(metric.distance(*half)) for half in halves)
            # Values not distinguished in either half: floats that come out this way or that, as they lie in an array.
            if not left and not right:
                break
            pair, rounded = (halves[0], left) if left > right else (halves[1], right)
            low, high = (low, middle) if left > right else (middle, high)
        rest = float(np.abs(high - low).max(initial=0.0))
    except (TypeError, ValueError):  # no numbers; errors of metrics are among these
        return None
    apart = 16 * whole * rest / max(length, 1e-300)  # the secrets may be farther apart than their rounded values
    return (pair, apart, rounded) if 0 < 64 * apart < rounded < math.inf else None


def _certificate(mechanism: Mechanism, secrets: list[Hashable]) -> str | None:
    del secrets
    certificate = mechanism.certificate()
    require(certificate.numerics in ("exact", "floating"), "certificate: numerics must be exact or floating.")
    again = Certificate.from_json(certificate.to_json())
    require(again.document == certificate.document, "certificate: it changes when written and read.")
    simulated = mechanism.certificate(np.random.default_rng(0))
    require("not for release" in simulated.randomness, "certificate: a simulation must say that it is not for release.")
    require(
        "not for release" not in certificate.randomness, "certificate: a release must not call itself a simulation."
    )
    if certificate.numerics == "floating":
        return None
    again.verify()
    require(
        float(certificate.epsilon) <= mechanism.guarantee.epsilon, "certificate: it claims more than the guarantee."
    )
    return None


def _law(mechanism: Mechanism, secrets: list[Hashable], draws: int, seed: int) -> str | None:
    """A chi-square test of the draws of a few secrets against the channel's rows."""
    channel = _channel(mechanism)
    if channel is None:
        return "no finite channel"
    rng = np.random.default_rng(seed)
    position = {label: i for i, label in enumerate(channel.outputs)}
    some = [secrets[i] for i in sorted({0, len(secrets) // 2, len(secrets) - 1})]
    for secret in some:
        released = mechanism.release(_column(secret, draws), rng)
        counts = np.bincount([position[_label(v)] for v in released], minlength=len(position))
        expected = channel.row(secret) * draws
        require(not counts[expected == 0].any(), f"law: secret {secret!r} gave an output of probability 0.")
        order = np.argsort(-expected)
        # Outcomes that are too rare to count go into one class, so that the chi-square law holds.
        common = order[expected[order] >= 10]
        seen = np.append(counts[common], draws - counts[common].sum())
        wanted = np.append(expected[common], max(draws - expected[common].sum(), 0.0))
        use = wanted > 1e-9
        statistic = float((((seen - wanted) ** 2)[use] / wanted[use]).sum())
        limit = float(chi2.isf(ERROR_RATE, max(int(use.sum()) - 1, 1)))
        require(statistic <= limit, f"law: the draws of secret {secret!r} do not follow the channel.")
    return None


def _shapes(mechanism: Mechanism, secrets: list[Hashable], seed: int) -> str | None:
    """A scalar gives a scalar, a column a column, and the two agree under one seed."""
    first = secrets[0]
    alone = mechanism.release(first, np.random.default_rng(seed))
    column = mechanism.release(_column(first, 1), np.random.default_rng(seed))
    require(len(column) == 1, "shapes: a column of one value must give a column of one output.")
    require(_label(column[0]) == _label(alone), "shapes: one value and a column of one value differ under one seed.")
    many = mechanism.release(_column(first, 7), np.random.default_rng(seed))
    require(len(many) == 7, "shapes: a column must give as many outputs as it has values.")
    require(len(mechanism.release(_column(first, 0))) == 0, "shapes: an empty column must give an empty column.")
    return None


def _error(mechanism: Mechanism, secrets: list[Hashable], draws: int, seed: int) -> str | None:
    """Check that ``error()`` is not below the error of draws for the given secrets."""
    try:
        promised = mechanism.error("absolute")
    except NoLossError:
        return "no numbers to compare"
    require(math.isfinite(promised) and promised >= 0, "error: it must be a finite number that is 0 or more.")
    rng = np.random.default_rng(seed)
    for secret in [secrets[0], secrets[len(secrets) // 2]]:
        released = [_label(v) for v in mechanism.release(_column(secret, draws), rng)]
        apart = np.array([np.linalg.norm(np.subtract(v, secret)) for v in released])  # type: ignore[call-overload]
        slack = 6 * float(apart.std()) / math.sqrt(draws) + 1e-9
        require(float(apart.mean()) <= promised + slack, f"error: secret {secret!r} is off by more than error() says.")
    return None


def _unknown(mechanism: Mechanism, unknown: Sequence[Any]) -> str | None:
    if not len(unknown):
        return "no unknown values were given"
    for value in unknown:
        try:
            mechanism.release(_column(value, 3))
        except DataError as problem:
            require(not _shows(str(problem), value), "unknown values: the message shows the value.")
        else:
            raise ConformanceError("unknown values: a value outside the secrets was released.")
    return None


def _refused(refused: Sequence[Callable[[], Any]]) -> str | None:
    if not len(refused):
        return "no bad parameters were given"
    for number, call in enumerate(refused):
        try:
            call()
        except (ParameterError, GuaranteeError) as problem:
            require(len(str(problem)) > 10, f"bad parameters: call {number} is refused without a sentence.")
        except NoisewrightError as problem:
            raise ConformanceError(
                f"bad parameters: call {number} raises {type(problem).__name__}, not ParameterError or GuaranteeError."
            ) from None
        else:
            raise ConformanceError(f"bad parameters: call {number} was accepted.")
    return None


def _pickling(mechanism: Mechanism, secrets: list[Hashable], seed: int) -> str | None:
    column = _column(secrets[0], 50)
    mechanism.release(column)  # what it may have kept of its randomness would be copied, too
    pickled = pickle.loads(pickle.dumps(mechanism))
    mine, theirs = (list(map(_label, m.release(column, np.random.default_rng(seed)))) for m in (mechanism, pickled))
    require(mine == theirs, "pickling: a copy draws differently under one seed.")
    require(
        pickled.guarantee == mechanism.guarantee or str(pickled.guarantee) == str(mechanism.guarantee),
        "pickling: guarantee.",
    )
    copies = [mechanism, pickled, copy.copy(mechanism), copy.deepcopy(mechanism)]
    fresh = {tuple(repr(_label(one)) for one in m.release(_column(secrets[0], 500))) for m in copies}
    require(len(fresh) == len(copies), "pickling: a copy repeats the randomness of the original.")
    return None


def _forking(mechanism: Mechanism, secrets: list[Hashable]) -> str | None:
    """Children of a fork draw differently from each other and from the parent."""
    if "fork" not in multiprocessing.get_all_start_methods():
        return "this system does not fork"
    column = _column(secrets[len(secrets) // 2], 500)
    mechanism.release(column)  # a stream exists before the fork
    context = multiprocessing.get_context("fork")
    pipes: list[tuple[Any, Any]] = []
    try:
        for _ in range(2):
            ours, theirs = context.Pipe(duplex=False)
            child = context.Process(target=_draw_into, args=(mechanism, column, theirs), daemon=True)
            child.start()
            theirs.close()  # the child has its own: when it ends without an answer, the pipe says so at once
            pipes.append((ours, child))
        results = [_answer(ours) for ours, _ in pipes]
    finally:
        for ours, child in pipes:
            ours.close()
            child.join(1)
            if child.is_alive():
                child.kill()
            child.join()
    results.append(list(map(_label, mechanism.release(column))))
    distinct = {tuple(map(repr, result)) for result in results}
    require(len(distinct) == 3, "forking: two processes drew the same noise.")
    return None


def _answer(pipe: Any) -> Any:
    """Return the sample of a child; a child that crashes or hangs fails the check."""
    if not pipe.poll(CHILD_SECONDS):
        raise ConformanceError(f"forking: a child process did not draw within {CHILD_SECONDS} seconds.")
    try:
        return pipe.recv()
    except EOFError:
        raise ConformanceError("forking: a child process ended without drawing.") from None


def _shows(message: str, value: Any) -> bool:
    """Return whether a message shows a value, or a coordinate of it: as a word of its own, whatever punctuation is around it.

    A single letter is an ordinary word ("a value"), so it counts in quotes only.
    """
    parts = [value, *(part for part in value if len(str(part)) > 1)] if isinstance(value, tuple) else [value]
    words = {word for part in parts for word in (str(part), repr(part)) if word}
    bare = {word for word in words if not (len(word) == 1 and word.isalpha())}
    return any(re.search(rf"(?<![\w.^+-]){re.escape(word)}(?!\w|\.\d)", message) for word in bare)


def _draw_into(mechanism: Mechanism, column: Any, pipe: Any) -> None:
    pipe.send(list(map(_label, mechanism.release(column))))


def _column(value: Any, count: int) -> Any:
    if isinstance(value, tuple):
        return [value] * count
    if isinstance(value, str) and value.endswith("\0"):  # which numpy's strings lose
        return np.array([value] * count, dtype=object)
    return np.array([value] * count, dtype=None if count else type(value))


def _label(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return tuple(value.tolist())
    return value.item() if isinstance(value, np.generic) else value
