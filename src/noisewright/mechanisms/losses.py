"""Named losses of an output taken at face value, as a matrix over secrets and outputs."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.core.channels.channel import Channel
from noisewright.core.errors import NoLossError, ParameterError
from noisewright.core.exact import figure, percent
from noisewright.core.mechanism import Mechanism, described

__all__ = ["LOSSES", "check_loss", "errors_in_words", "expected_loss", "named_errors"]

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
    noisewright.core.errors.ParameterError: there is no loss called 'logarithmic'; choose one of absolute, squared, zero-one.
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
