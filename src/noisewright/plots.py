"""Pictures of mechanisms, for the command line, reports and pages. Needs the extra ``plots`` (matplotlib).

A picture shows the law of the outputs for a few secrets: from the channel where there is one, from simulated draws with a fixed
seed otherwise. Either way it shows public parameters only, never data.
"""

from __future__ import annotations

import io
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from noisewright.core.channel import Channel
from noisewright.core.errors import MissingPartError, NoisewrightError, ParameterError
from noisewright.core.mechanism import Mechanism
from noisewright.files import write_atomically

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw", "save_picture"]

SUFFIXES = (".png", ".svg", ".pdf")
DRAWS = 200_000
COLOURS = ("#2a7f62", "#c8553d", "#33658a", "#e3a72f", "#6a4c93")


def save_picture(mechanism: Mechanism, path: str | Path) -> Path:
    """Draw a mechanism to a ``.png``, ``.svg`` or ``.pdf`` file, whole or not at all."""
    target = Path(path)
    if target.suffix.lower() not in SUFFIXES:
        raise ParameterError(f"{target.name}: a picture is written to a {', '.join(SUFFIXES)} file.")
    figure = draw(mechanism)
    buffer = io.BytesIO()
    figure.savefig(buffer, format=target.suffix.lower()[1:], dpi=130)
    write_atomically(target, buffer.getvalue())
    return target


def draw(mechanism: Mechanism) -> Figure:
    """The law of the outputs for a few secrets, as a matplotlib figure."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingPartError("pictures need matplotlib; install noisewright[plots].") from None
    figure = Figure(figsize=(8, 4.2), layout="constrained")
    axes = figure.add_subplot()
    channel = _channel(mechanism)
    if channel is not None and len(channel.inputs) <= 12 and not _numbers(channel.outputs):
        _heat_map(figure, axes, channel)
    elif channel is not None and _numbers(channel.inputs) and _numbers(channel.outputs):
        _rows(axes, channel)
    elif channel is not None:
        _heat_map(figure, axes, channel)
    else:
        _simulated(figure, axes, mechanism)
    axes.set_title(f"{mechanism.name}: {mechanism.guarantee}", fontsize=10)
    return figure


def _channel(mechanism: Mechanism) -> Channel | None:
    try:
        return mechanism.channel()
    except NoisewrightError:
        return None


def _numbers(labels: tuple[Any, ...]) -> bool:
    return all(isinstance(label, (int, float)) and not isinstance(label, bool) for label in labels)


def _rows(axes: Any, channel: Channel) -> None:
    """Probabilities of the outputs for the two ends of the range and three secrets between them."""
    outputs = np.array(channel.outputs, dtype=np.float64)
    chosen = sorted({round(i) for i in np.linspace(0, len(channel.inputs) - 1, 5)})
    for colour, x in zip(COLOURS, chosen, strict=False):
        style = {"marker": "o", "markersize": 3} if len(outputs) <= 60 else {}
        axes.plot(
            outputs, channel.matrix[x], color=colour, linewidth=1.3, label=f"secret {channel.inputs[x]:g}", **style
        )
    axes.set(xlabel="output", ylabel="probability", ylim=(0, None))
    axes.legend(frameon=False, fontsize=9)


def _heat_map(figure: Any, axes: Any, channel: Channel) -> None:
    image = axes.imshow(channel.matrix, cmap="cividis", vmin=0, aspect="auto")
    figure.colorbar(image, ax=axes, label="probability")
    for labels, ticks, names in (
        (channel.outputs, axes.set_xticks, axes.set_xticklabels),
        (channel.inputs, axes.set_yticks, axes.set_yticklabels),
    ):
        if len(labels) <= 16:
            ticks(range(len(labels)))
            names([str(label) for label in labels], fontsize=8)
    axes.set(xlabel="output", ylabel="secret")


def _simulated(figure: Any, axes: Any, mechanism: Mechanism) -> None:
    """Simulated draws about a few secrets: a histogram of numbers, or a cloud of places."""
    rng = np.random.default_rng(0)
    secrets = _some_secrets(mechanism)
    drawn = [np.asarray(mechanism.release(np.array([s] * DRAWS), rng), dtype=np.float64) for s in secrets]
    if drawn[0].ndim == 2 and drawn[0].shape[1] >= 2:
        _cloud(axes, drawn[0][:4000])
        return
    if drawn[0].ndim == 2:
        drawn = [d[:, 0] for d in drawn]
    low, high = np.percentile(np.concatenate(drawn), [0.2, 99.8])
    bins = np.linspace(low, high, 161)
    for colour, secret, values in zip(COLOURS, secrets, drawn, strict=False):
        density, edges = np.histogram(values, bins=bins, density=True)
        density *= ((values >= low) & (values <= high)).mean()
        axes.stairs(density, edges, color=colour, linewidth=1.3, label=f"true value {np.ravel(secret)[0]:g}")
    axes.set(xlabel="output", ylabel=f"density ({DRAWS:,} simulated draws each)", ylim=(0, None))
    axes.legend(frameon=False, fontsize=9)
    del figure


def _cloud(axes: Any, points: NDArray[np.float64]) -> None:
    axes.plot(points[:, 0], points[:, 1], ".", markersize=2, alpha=0.35, color=COLOURS[0])
    axes.plot(*np.median(points[:, :2], axis=0), "+", color=COLOURS[1], markersize=14)
    axes.set(xlabel="first coordinate", ylabel="second coordinate", aspect="equal")


def _some_secrets(mechanism: Mechanism) -> list[Any]:
    """Values that the mechanism takes: near the walls of its range where it has one, else about zero."""
    scale = float(getattr(mechanism, "scale", 1.0))
    feasible = getattr(mechanism, "feasible", None)
    candidates: list[Any] = []
    for low, high in feasible.components[:3] if feasible is not None else ((None, None),):
        if low is not None and high is not None:
            candidates += [float(low), (float(low) + float(high)) / 2]
        elif high is not None:
            candidates += [float(high), float(high) - 2 * scale]
        else:
            candidates += [float(low or 0), float(low or 0) + 2 * scale]
    dimension = getattr(mechanism, "dimension", None)
    for shape in (lambda v: v, lambda v: [v] * int(dimension or 2), math.floor):
        accepted = []
        for value in candidates:
            try:
                mechanism.release(np.array([shape(value)]), np.random.default_rng(0))
            except (NoisewrightError, ValueError, IndexError):
                continue
            accepted.append(shape(value))
        if accepted:
            return accepted
    raise ParameterError(f"there is no picture of {mechanism.name}: it takes no number, pair or vector near zero.")
