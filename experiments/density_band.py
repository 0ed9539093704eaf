"""The band of densities: why a density between two curves is neither necessary nor sufficient for privacy with a delta.

Run:  noisewright reproduce density_band [--quick] [--json] [--plot FILE.png]

Published as a figure in a doctoral thesis on differential privacy in metric spaces: around the density f of a noisy answer
lies the band (f - delta)/q <= f' <= q f + delta with q = e^epsilon, here for epsilon 1, delta 0.05 and Laplace noise, and a
neighbouring database is said to need a density f' inside it. A delta bounds probabilities, and a density is none:

* **not necessary.** A narrow spike that carries a probability of 0.05 leaves the band as far as one likes, and costs a delta
  of no more than 0.05, at epsilon 0 even. Laplace noise itself leaves the band or not by the unit of measurement;
* **not sufficient.** A density may exceed q f by 0.05 over any length, which adds up to a delta of far more.

For single outputs of a finite mechanism the band is necessary, and still not sufficient.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from experiments.report import Result, Row, Table, command
from noisewright.channels.channel import Channel
from noisewright.mechanisms.numeric.privacy_loss import LaplaceDensity, laplace_density, pair_delta

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]
EPSILON, DELTA = 1, 0.05
FACTOR = math.exp(EPSILON)
SPIKE, WIDTHS = 1.0, (0.02, 0.0002)
"""Where the spike begins, and how wide it is; the narrower, the taller."""
PLATEAU, KEPT = (4.0, 20.0), 0.4
"""Where the plateau is, and the share of f that is left: above 1/q, so that f' stays in the band."""
SCALES = (1.0, 0.1)
"""The scale of the noise in two units of measurement, as metres and tens of metres."""
SINGLETONS = ((0.5, 0.5, 0.0, 0.0), (0.25, 0.25, 0.25, 0.25))
"""Two rows of a finite mechanism, for epsilon 0."""
SOURCE = "closed forms of the deltas; the published figure has no numbers"
SINGLE_SOURCE = "an exact recomputation"
SECONDS = (1, 1)


@dataclass(frozen=True)
class Mixture:
    """A density that is a mixture of Laplace-like ones; a flat one has rate 0 on an interval."""

    parts: tuple[tuple[float, LaplaceDensity], ...]

    def pdf(self, x: ArrayLike) -> Floats:
        """The density."""
        return np.asarray(sum(weight * law.pdf(x) for weight, law in self.parts))

    def mass(self, low: float, high: float) -> float:
        """The probability of an interval."""
        return sum(weight * law.mass(low, high) for weight, law in self.parts)

    def kinks(self) -> list[float]:
        """Where the density jumps or bends."""
        ends = [end for _, law in self.parts for piece in law.pieces for end in piece if math.isfinite(end)]
        return sorted({*ends, *(law.location for _, law in self.parts)})


def flat(low: float, high: float) -> LaplaceDensity:
    """The uniform density on an interval."""
    return LaplaceDensity(low, 0.0, 0.0, ((low, high),))


def noise(location: float = 0.0, scale: float = 1.0) -> Mixture:
    """Laplace noise."""
    return Mixture(((1.0, laplace_density(location, scale=scale)),))


def with_spike(width: float) -> Mixture:
    """The noise, with a probability of delta moved into the spike."""
    return Mixture(((1 - DELTA, laplace_density(0, scale=1)), (DELTA, flat(SPIKE, SPIKE + width))))


def with_plateau() -> Mixture:
    """The noise, with most of its probability moved to the plateau, where the density stays below delta."""
    return Mixture(((KEPT, laplace_density(0, scale=1)), (1 - KEPT, flat(*PLATEAU))))


def farthest() -> float:
    """How far apart, in units of the scale, two answers with Laplace noise may be for epsilon and delta: by bisection."""
    low, high = 0.0, 10.0
    here = laplace_density(0, scale=1)
    while high - low > 1e-13:
        middle = (low + high) / 2
        fits = pair_delta(here, laplace_density(middle, scale=1), EPSILON).value <= DELTA
        low, high = (middle, high) if fits else (low, middle)
    return low


# What the band says, and what is true ---------------------------------------------------------------------------------------


def outside(first: Mixture, second: Mixture) -> float:
    """How far the second density leaves the band of the first; below 0 if it stays inside, by the room that is left.

    Between two kinks the distance from either edge of the band is monotone: an exponential and a constant, or a rising and a
    falling exponential of opposite signs. So it is largest on one side of a kink, or far out, where the lower edge is nearer.
    """
    kinks = np.array(sorted({*first.kinks(), *second.kinks()}))
    at = np.concatenate([np.nextafter(kinks, -np.inf), kinks, np.nextafter(kinks, np.inf)])
    f, g = first.pdf(at), second.pdf(at)
    return max(float(np.maximum(g - FACTOR * f - DELTA, (f - DELTA) / FACTOR - g).max()), -DELTA / FACTOR)


def needed(first: Mixture, second: Mixture, epsilon: int) -> float:
    """The delta that two mixtures need: that of the two-row channel of the probabilities between kinks.

    Exact here: between two kinks the ratio of the densities is on one side of e^epsilon and of its inverse throughout.
    """
    cuts = [-math.inf, *sorted({*first.kinks(), *second.kinks()}), math.inf]
    rows = [[law.mass(low, high) for low, high in pairwise(cuts)] for law in (first, second)]
    return Channel(np.array(rows)).delta(epsilon)


def run() -> list[Row]:
    """How far each density leaves the band, and the delta that it needs at epsilon 1 and at epsilon 0."""
    found: dict[str, tuple[float, ...]] = {}
    made = {f"spike of width {width:g}": with_spike(width) for width in WIDTHS} | {"plateau": with_plateau()}
    for name, other in made.items():
        found[name] = outside(noise(), other), needed(noise(), other, EPSILON), needed(noise(), other, 0)
    apart = farthest()
    for scale in SCALES:
        first, second = (laplace_density(place, scale=scale) for place in (0, apart * scale))
        both = (first, second), (second, first)
        deltas = (max(pair_delta(*pair, at).value for pair in both) for at in (EPSILON, 0))
        found[f"Laplace noise of scale {scale:g}"] = outside(noise(0, scale), noise(apart * scale, scale)), *deltas
    told = closed_forms()
    return [Row((*verdicts(*n[:2]), name), n, (None, *told[name]), close=1e-9) for name, n in found.items()]


def closed_forms() -> dict[str, tuple[float, float]]:
    """The same deltas from formulas: of what was moved, less what f had there; for Laplace noise 1 - e^((epsilon - d)/2)."""

    def tail(low: float, high: float) -> float:
        return (math.exp(-low) - math.exp(-high)) / 2

    def moved(share: float, low: float, high: float) -> tuple[float, float]:
        at_one, at_zero = (share + (1 - share - math.exp(epsilon)) * tail(low, high) for epsilon in (EPSILON, 0))
        return at_one, at_zero

    forms = {f"spike of width {width:g}": moved(DELTA, SPIKE, SPIKE + width) for width in WIDTHS}
    forms["plateau"] = moved(1 - KEPT, *PLATEAU)
    apart = EPSILON - 2 * math.log(1 - DELTA)
    for scale in SCALES:
        forms[f"Laplace noise of scale {scale:g}"] = DELTA, 1 - math.exp(-apart / 2)
    return forms


def verdicts(beyond: float, delta: float) -> tuple[str, str]:
    """Whether a density is in the band, and whether it is private."""
    return ("in the band" if beyond <= 0 else "outside"), ("private" if delta <= DELTA + 1e-12 else "not private")


def run_singletons() -> list[Row]:
    """A finite mechanism: the largest gap over single outputs, and over all events."""
    rows = np.array(SINGLETONS)
    single = float(np.abs(rows[0] - rows[1]).max())
    return [
        Row(
            ("halves on 2 outputs, quarters on 4", "epsilon 0"),
            (single, Channel(rows).delta(0)),
            (0.25, 0.5),
            close=1e-12,
        )
    ]


def findings(rows: list[Row]) -> dict[str, bool]:
    """What the figure claims, refuted."""
    said = {row.label[-1]: row.label[:-1] for row in rows}
    laplace = [said[f"Laplace noise of scale {scale:g}"] for scale in SCALES]
    spikes = [said[f"spike of width {width:g}"] for width in WIDTHS]
    return {
        "Not necessary: private densities lie outside the band": set(spikes) == {("outside", "private")},
        "Not sufficient: a density in the band is not private": said["plateau"] == ("in the band", "not private"),
        "Laplace noise is in the band in one unit and not in another, and private in both": laplace
        == [("in the band", "private"), ("outside", "private")],
    }


# The figure ---------------------------------------------------------------------------------------------------------------


def figure(quick: bool = False) -> Figure:
    """The band with the spike, and with the plateau."""
    from noisewright.plotting.mechanisms import blank_figure

    drawn = blank_figure(13, 4.6)
    left, right = drawn.subplots(1, 2)
    spike, plateau = with_spike(WIDTHS[0]), with_plateau()
    _panel(left, spike, (-5, 5), 3)
    delta = needed(noise(), spike, EPSILON)
    left.set_title(f"Outside the band, and private: delta {delta:.4f} at epsilon {EPSILON}", fontsize=10)
    left.annotate(
        f"spike of width {WIDTHS[0]:g}:\nprobability {DELTA:g}",
        (SPIKE + WIDTHS[0], 2.4),
        xytext=(1.6, 2.2),
        fontsize=9,
        arrowprops={"arrowstyle": "-", "color": "#5f6a72"},
    )
    _panel(right, plateau, (-6, 22), 0.3)
    delta = needed(noise(), plateau, EPSILON)
    right.set_title(f"Inside the band, and not private: delta {delta:.4f} at epsilon {EPSILON}", fontsize=10)
    right.text(12, 0.075, f"plateau: probability {1 - KEPT:g}", fontsize=9, ha="center")
    return drawn


def _panel(axes: Any, other: Mixture, span: tuple[float, float], top: float) -> None:
    from noisewright.plotting.mechanisms import COLOURS

    kinks = np.array(other.kinks())
    edges = np.concatenate([np.nextafter(kinks, -np.inf), kinks, np.nextafter(kinks, np.inf)])
    x = np.sort(np.concatenate([np.linspace(*span, 1201), edges]))
    f, g = noise().pdf(x), other.pdf(x)
    low, high = np.maximum((f - DELTA) / FACTOR, 0), FACTOR * f + DELTA
    axes.fill_between(x, low, high, color=COLOURS[0], alpha=0.15, linewidth=0, label="band")
    for edge in (low, high):
        axes.plot(x, edge, color=COLOURS[0], linewidth=0.5, alpha=0.6)
    axes.plot(x, f, color=COLOURS[0], linewidth=1.4, label="f: Laplace noise of scale 1")
    axes.plot(x, g, color=COLOURS[1], linewidth=1.6, label="f'")
    axes.set(xlim=span, ylim=(0, top), xlabel="output", ylabel="density")
    axes.legend(frameon=False, fontsize=9, loc="upper left" if top > 1 else "upper right")


def result(quick: bool = False) -> Result:
    """Densities beside the band, and a finite mechanism; all of it is quick."""
    del quick
    rows = run()
    title = f"Densities beside Laplace noise, for epsilon {EPSILON} and delta {DELTA}"
    names = ("leaves the band by", f"delta at epsilon {EPSILON}", "delta at epsilon 0")
    gaps = ("over single outputs", "over all events")
    tables = [
        Table(title, ("band", "truth", "density"), names, rows, SOURCE),
        Table("Largest gap of a finite mechanism", ("rows", ""), gaps, run_singletons(), SINGLE_SOURCE),
    ]
    return Result(tables, findings(rows))


def main(given: list[str] | None = None) -> int:
    """Run it as a command."""
    return command("density_band", given)


if __name__ == "__main__":
    raise SystemExit(main())
