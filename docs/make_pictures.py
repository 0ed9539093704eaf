"""Draws the pictures of the documentation.  Run:  python docs/make_pictures.py"""

import sys
import tempfile
from fractions import Fraction
from pathlib import Path
from typing import Any

import clarabel
import matplotlib as mpl
import numpy as np
from scipy import sparse

import noisewright as nw

mpl.use("Agg")
import matplotlib.pyplot as plt

PICTURES = Path(__file__).parent / "pictures"
INK, ACCENT, SAFE = "#22303c", "#c8553d", "#2a7f62"
BLUE = "#3b6ea5"


def solver_channel(n: int, epsilon: float) -> np.ndarray:
    """Return the raw interior-point solution for the least mean absolute error under epsilon per unit of the line."""
    x = np.arange(n)
    cost = np.abs(x[:, None] - x[None, :]).astype(float).ravel() / n
    index = np.arange(n * n).reshape(n, n)
    rows = []
    for first, second in ((index[:-1], index[1:]), (index[1:], index[:-1])):
        count = first.size
        row = np.arange(count)
        rows.append(
            sparse.coo_array(
                (
                    np.r_[np.full(count, np.exp(-epsilon)), np.full(count, -1.0)],
                    (np.r_[row, row], np.r_[first.ravel(), second.ravel()]),
                ),
                shape=(count, n * n),
            )
        )
    equal = sparse.coo_array((np.ones(n * n), (np.repeat(x, n), index.ravel())), shape=(n, n * n))
    matrix = sparse.csc_matrix(sparse.vstack([equal, *rows, -sparse.eye_array(n * n)]))
    right = np.r_[np.ones(n), np.zeros(matrix.shape[0] - n)]
    cones = [clarabel.ZeroConeT(n), clarabel.NonnegativeConeT(matrix.shape[0] - n)]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    answer = clarabel.DefaultSolver(sparse.csc_matrix((n * n, n * n)), cost, matrix, right, cones, settings).solve()
    return np.maximum(np.array(answer.x).reshape(n, n), 0)


def certified_against_raw() -> None:
    """Privacy loss between neighbours at every output: a solver's raw answer, and the table Noisewright certifies."""
    n, epsilon = 60, 0.5
    raw = nw.Channel(solver_channel(n, epsilon), normalise=True)
    certified = raw.certify(epsilon, nw.metrics.Line(), max_change=1e-5)
    exact = certified.channel()
    x = np.arange(n)
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), width_ratios=[1, 1.35], layout="constrained")
    image = left.imshow(np.log10(np.maximum(exact.matrix, 1e-12)), cmap="cividis", aspect="equal")
    left.set(xlabel="output", ylabel="secret", title="The certified mechanism (log10 of probability)")
    figure.colorbar(image, ax=left, shrink=0.85)
    ceiling = 30.0
    for channel, colour, name in ((raw, ACCENT, "the solver's floats"), (exact, SAFE, "the certified integers")):
        with np.errstate(invalid="ignore"):
            steps = np.abs(np.diff(channel.logs, axis=0))
        losses = np.where(np.isnan(steps), 0.0, steps).max(axis=0)  # two impossible entries do not constrain
        infinite = np.isinf(losses)
        right.plot(x[~infinite], losses[~infinite], "o", color=colour, markersize=4, label=name)
        if infinite.any():
            right.plot(x[infinite], np.full(infinite.sum(), ceiling), "^", color=colour, label=f"{name}: infinite loss")
    right.axhline(epsilon, color=INK, linewidth=1)
    right.text(n - 1, epsilon * 0.8, "the promise: epsilon = 0.5", color=INK, ha="right")
    right.set(xlabel="output", ylabel="loss between neighbours", yscale="log", ylim=(0.3, 50))
    right.set_title("What one output can reveal")
    right.legend(frameon=False, loc="center right")
    figure.savefig(PICTURES / "certified.png", dpi=130)
    plt.close(figure)


def places() -> None:
    """Many releases of one place: on the open plane with the radii that matter, and moved into a public polygon."""
    true, level, radius = (0.0, 0.0), 1.4, 200
    free = nw.planar_laplace(epsilon=level, radius=radius)
    shore = [(-620, -560), (640, -600), (700, -90), (330, -40), (250, 210), (520, 420), (180, 640), (-560, 520)]
    kept = nw.planar_laplace(epsilon=level, radius=radius, remap=nw.mechanisms.Polygon(shore))
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 5.4), layout="constrained", sharex=True, sharey=True)
    noisy = free.release(np.tile(true, (4000, 1)), np.random.default_rng(5))
    left.scatter(*noisy.T, s=4, color=SAFE, alpha=0.35, linewidths=0)
    rings = (
        (radius, ACCENT, "-", "alike up to a factor 4.1: 200 m"),
        (free.quantile(0.5), INK, "--", "half of the releases"),
    )
    for size, colour, style, name in (*rings, (free.quantile(0.95), INK, ":", "95 % of the releases")):
        turn = np.linspace(0, 2 * np.pi, 200)
        left.plot(size * np.cos(turn), size * np.sin(turn), style, color=colour, linewidth=1.6, label=name)
    left.plot(*true, "o", color=ACCENT, markersize=6, label="the true place")
    left.set(title="One place, released 4,000 times", xlabel="metres east", ylabel="metres north", aspect="equal")
    left.legend(frameon=False, loc="upper left", ncols=2, fontsize=9)
    moved = kept.remap.nearest(noisy)
    inside = (moved == noisy).all(axis=1)
    right.fill(*np.array(shore).T, color="#e8efe9", zorder=0)
    right.plot(*np.array([*shore, shore[0]]).T, color=INK, linewidth=1.2, label="a public shore line")
    for a, b in list(zip(noisy[~inside], moved[~inside], strict=True))[:400]:
        right.plot(*np.array([a, b]).T, color=ACCENT, linewidth=0.35, alpha=0.35)
    right.scatter(*moved[inside].T, s=4, color=SAFE, alpha=0.35, linewidths=0, label="stays where it fell")
    right.scatter(*moved[~inside].T, s=6, color=ACCENT, alpha=0.5, linewidths=0, label="moved to the nearest land")
    right.plot(*true, "o", color=ACCENT, markersize=6)
    right.set(title="The same, remapped into a public polygon", xlabel="metres east", aspect="equal")
    right.set(xlim=(-1000, 1000), ylim=(-900, 1050), xticks=range(-1000, 1001, 500), yticks=range(-500, 1001, 500))
    right.legend(frameon=True, framealpha=1, edgecolor="none", loc="upper left", fontsize=9, markerscale=3)
    figure.savefig(PICTURES / "places.png", dpi=130)
    plt.close(figure)


def noise_at_a_wall() -> None:
    """Densities of the three kinds of noise for one true answer near a bound, epsilon = 1, sensitivity 1."""
    truth, epsilon = 0.7, 1
    x = np.linspace(0, 6, 1201)
    adjacent = nw.laplace(epsilon=epsilon, within=(0, None)).law
    asymmetric = nw.laplace(epsilon=epsilon, within=(0, None), scope="metric").law
    plain = nw.laplace(epsilon=epsilon).law
    figure, panels = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained", sharex=True, sharey=True)
    titles = ("Snapped: ordinary noise, clamped", "Range-adherent, adjacent scope", "Range-adherent, metric scope")
    for axes, law, title, colour in zip(
        panels, (plain, adjacent, asymmetric), titles, (ACCENT, SAFE, BLUE), strict=True
    ):
        axes.fill_between(x, law.density(x, truth), color=colour, alpha=0.35, linewidth=0)
        axes.plot(x, law.density(x, truth), color=colour, linewidth=1.5)
        axes.axvline(truth, color=INK, linewidth=1, linestyle=":")
        axes.text(truth + 0.08, 0.62, "true answer", color=INK, fontsize=9)
        axes.set(title=title, xlabel="released", xlim=(-0.3, 6), ylim=(0, 0.68))
    outside = float(plain.cdf(0.0, truth))
    panels[0].annotate("", xy=(0, 0.66), xytext=(0, 0), arrowprops={"arrowstyle": "-", "color": ACCENT, "linewidth": 5})
    panels[0].text(
        1.5, 0.5, f"{100 * outside:.0f} % of the probability\nlands on 0 exactly", color=ACCENT, fontsize=9, va="top"
    )
    panels[0].set_ylabel("density")
    figure.savefig(PICTURES / "noise-at-a-wall.png", dpi=130)
    plt.close(figure)


def losses_with_distance() -> None:
    """Draw the guaranteed and the tight privacy loss of both scopes for answers d apart, at the bound and far from it."""
    d = np.linspace(1e-3, 3, 400)
    adjacent = nw.laplace(epsilon=1, within=(0, None))
    metric = nw.laplace(epsilon=1, within=(0, None), scope="metric", shape="symmetric")
    promise = nw.Guarantee(1.0, nw.metrics.Line(), scope="adjacent")
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained", sharey=True)
    left.plot(d, [promise.bound(float(v)) for v in d], color=INK, linewidth=1.2, label="promised: 1 a step")
    right.plot(d, d, color=INK, linewidth=1.2, label="promised: 1 per unit of distance")
    for axes, mechanism, colour in ((left, adjacent, SAFE), (right, metric, BLUE)):
        for wall, style, where in ((0.0, "-", "one answer on the wall"), (30.0, "--", "both far from the wall")):
            losses = mechanism.law.loss(wall, wall + d)
            axes.plot(d, losses, style, color=colour, linewidth=1.8, label=f"lost: {where}")
        axes.set(xlabel="distance of the two true answers, in sensitivities", xlim=(0, 3), ylim=(0, 3.1))
        axes.legend(frameon=False, loc="upper left")
    for axes, mechanism, scope in ((left, adjacent, "adjacent"), (right, metric, "metric")):
        axes.set_title(f'scope="{scope}": scale {float(mechanism.scale):.2f}')
    left.set_ylabel("privacy loss")
    figure.savefig(PICTURES / "losses-with-distance.png", dpi=130)
    plt.close(figure)


def errors_with_distance() -> None:
    """Draw the expected absolute error against the distance from the bound, in units of sensitivity / epsilon."""
    s = np.linspace(0, 10, 401)
    figure, axes = plt.subplots(figsize=(8.2, 4.8), layout="constrained")

    def curve(law: Any, epsilon: float) -> np.ndarray:
        return law.error(s / epsilon) * epsilon

    metric = nw.laplace(epsilon=1, within=(0, None), scope="metric", shape="symmetric")
    asymmetric = nw.laplace(epsilon=1, within=(0, None), scope="metric")
    axes.plot(s, curve(metric.law, 1), color=BLUE, linestyle="--", label="metric scope, one scale")
    for epsilon, width in ((0.1, 0.8), (1, 1.8), (3, 2.8)):
        law = nw.laplace(epsilon=epsilon, within=(0, None)).law
        axes.plot(s, curve(law, epsilon), color=SAFE, linewidth=width, label=f"adjacent scope, epsilon = {epsilon:g}")
    axes.plot(s, curve(asymmetric.law, 1), color=BLUE, linewidth=2.2, label="metric scope, asymmetric noise")
    plain = nw.laplace(epsilon=1).law
    axes.plot(s, plain.error(s) - 0.5 * np.exp(-s), color=ACCENT, linewidth=2.2, label="snapped")
    axes.set(xlabel="distance of the true answer from the wall, in sensitivity / epsilon", xlim=(0, 10), ylim=(0, 2.65))
    axes.set_ylabel("expected absolute error, in sensitivity / epsilon")
    axes.legend(frameon=False, ncols=2, loc="upper right", fontsize=9)
    figure.savefig(PICTURES / "errors-with-distance.png", dpi=130)
    plt.close(figure)


def unsafe_tails() -> None:
    """The loss of the unsafe variable-scale mechanism against the output, and the low bits of float noise."""
    target = nw.unsafe.variable_scale_laplace(epsilon=1)
    y = np.linspace(0, 30, 601)
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
    left.plot(y, np.abs(target.density(0).log(y) - target.density(1).log(y)), color=ACCENT, linewidth=2)
    left.axhline(1, color=INK, linewidth=1)
    left.text(29.5, 0.93, "the claim: epsilon = 1", ha="right", va="top", color=INK)
    start = target.delta().outputs[0][0]
    left.axvspan(start, 30, color=ACCENT, alpha=0.12, linewidth=0)
    left.text(start + 0.5, 2.9, f"broken beyond {start:.1f},\nwithout any bound", color=ACCENT, va="top")
    left.set(xlabel="output", ylabel="loss between secrets 0 and 1", xlim=(0, 30), ylim=(0, 3.4))
    left.set_title("UNSAFE: a scale that depends on the secret")
    floats = nw.unsafe.float_laplace(epsilon=1)
    rng = np.random.default_rng(1)
    edges = np.linspace(-1, 2, 61)
    for secret, colour in ((0, ACCENT), (1, SAFE)):
        draws = floats.release(np.full(400_000, float(secret)), rng)
        draws = draws[(draws > edges[0]) & (draws < edges[-1])]
        telling = np.isin(floats.identify(draws, [0, 1]), [secret])
        place = np.digitize(draws, edges) - 1
        share = np.bincount(place, telling, len(edges) - 1) / np.bincount(place, minlength=len(edges) - 1)
        right.stairs(100 * share, edges, color=colour, linewidth=2, label=f"outputs of secret {secret}")
    right.set(xlabel="output", ylabel="% that identify the secret", xlim=(-1, 2), ylim=(-4, 104))
    right.set_title("UNSAFE: float noise, one output, certain")
    right.legend(frameon=False)
    figure.savefig(PICTURES / "unsafe.png", dpi=130)
    plt.close(figure)


def optimal_matrices() -> None:
    """A count from 0 to 5 at epsilon 0.5: the geometric, the best mechanism, and the best one of a given shape."""
    noisy = nw.geometric(epsilon="0.5", within=(0, 5))
    best = nw.optimal(6, epsilon="0.5", loss="absolute")
    shaped = nw.optimal(6, epsilon="0.5", loss="absolute", shape="monotone,symmetric,fair")
    figure, panels = plt.subplots(1, 3, figsize=(12, 4.3), layout="constrained")
    titles = ("truncated geometric", "the best: never answers 0 or 5", "the best that is monotone,\nsymmetric and fair")
    for axes, made, title in zip(panels, (noisy, best, shaped), titles, strict=True):
        matrix = made.channel().matrix
        axes.imshow(np.ma.masked_equal(matrix, 0), cmap="cividis", vmin=0, vmax=0.8)
        for (x, y), value in np.ndenumerate(matrix):
            colour = "black" if value > 0.45 or value == 0 else "white"
            axes.text(y, x, f"{value:.2f}" if value else "0", ha="center", va="center", fontsize=9, color=colour)
        error = nw.design.compare_utility([made], "absolute").rows[0].face["absolute"]
        axes.set(xlabel="output", title=f"{title}\nexpected error {error:.3f}")
    panels[0].set_ylabel("secret")
    figure.savefig(PICTURES / "optimal-matrices.png", dpi=130)
    plt.close(figure)


def optimal_errors() -> None:
    """Expected errors of mechanisms for a count over ten records, at face value and after the best guess, by epsilon."""
    epsilons = np.geomspace(0.05, 2, 14)
    made = {
        "truncated geometric": (ACCENT, lambda e: nw.geometric(epsilon=e, within=(0, 10))),
        "explicit fair": (BLUE, lambda e: nw.mechanisms.explicit_fair(epsilon=e, within=(0, 10))),
        "the best": (SAFE, lambda e: nw.optimal(11, epsilon=e, loss="absolute")),
        "the best that is monotone, symmetric, fair": (
            "#6a4c93",
            lambda e: nw.optimal(11, epsilon=e, loss="absolute", shape="monotone,symmetric,fair"),
        ),
    }
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained", sharey=True)
    for name, (colour, build) in made.items():
        rows = [nw.design.compare_utility([build(float(e))], "absolute").rows[0] for e in epsilons]
        style = "--" if name == "the best" else "-"
        left.plot(epsilons, [r.face["absolute"] for r in rows], style, color=colour, linewidth=2, label=name)
        right.plot(epsilons, [r.bayes["absolute"] for r in rows], style, color=colour, linewidth=2, label=name)
    for axes, title in ((left, "Outputs taken at face value"), (right, "After the best guess from the output")):
        axes.axhline(30 / 11, color=INK, linewidth=1, linestyle=":")
        axes.set(xscale="log", xlabel="epsilon", title=title, ylim=(0, 4.6))
        axes.set_xticks([0.05, 0.1, 0.2, 0.5, 1, 2], ["0.05", "0.1", "0.2", "0.5", "1", "2"])
    left.text(2, 30 / 11 + 0.05, "always answering 5", color=INK, fontsize=9, ha="right", va="bottom")
    left.set_ylabel("expected absolute error of a count from 0 to 10")
    left.legend(frameon=False, fontsize=9, loc="upper right")
    figure.savefig(PICTURES / "optimal-errors.png", dpi=130)
    plt.close(figure)


def optimal_utility() -> None:
    """The table of the page on optimal mechanisms, drawn by the library."""
    from noisewright.plotting.mechanisms import draw_utility, save_figure

    table = nw.design.compare_utility(
        {
            "truncated geometric": nw.geometric(epsilon="0.2", within=(0, 10)),
            "explicit fair": nw.mechanisms.explicit_fair(epsilon="0.2", within=(0, 10)),
            "the best": nw.optimal(11, epsilon="0.2", loss="absolute"),
            "the best of the shape": nw.optimal(11, epsilon="0.2", loss="absolute", shape="monotone,symmetric,fair"),
            "uniform": nw.mechanisms.uniform(11),
        }
    )
    save_figure(draw_utility(table), PICTURES / "optimal-utility.png")


def private_posteriors() -> None:
    """Three secrets: all beliefs that a private output can leave, and the kernels between their corners."""
    from noisewright.design.polytopes.kernel_mechanisms import kernels

    figure, panels = plt.subplots(1, 2, figsize=(11, 4.9), layout="constrained")
    for axes, metric, title in (
        (panels[0], nw.metrics.Line(), "0, 1, 2 on a line: 4 corners, 2 kernels"),
        (panels[1], nw.metrics.Discrete(), "three categories: 6 corners, 5 kernels"),
    ):
        found = kernels(metric, range(3), factor=2)
        simplex(axes)
        corners = ternary(found.space.vertices().T)
        centre = corners.mean(axis=0)
        turn = np.argsort(np.arctan2(*(corners - centre).T[::-1]))
        axes.fill(*corners[turn].T, color="#e8efe9", zorder=0)
        axes.plot(*corners[np.r_[turn, turn[0]]].T, color=INK, linewidth=1.2, label="private beliefs")
        styles = {2: ("o--", ACCENT), 3: ("o-", SAFE)}
        for kernel in found:
            style, colour = styles[len(kernel)]
            shown = ternary(kernel.posteriors.T)
            name = {2: "a kernel of 2 outputs", 3: "a kernel of 3 outputs"}[len(kernel)]
            known = axes.get_legend_handles_labels()[1]
            closed = np.vstack([shown, shown[:1]])
            axes.plot(*closed.T, style, color=colour, linewidth=2, label=name if name not in known else None)
        axes.plot(
            *ternary(np.full((1, 3), 1 / 3)).T, "+", color=INK, markersize=14, markeredgewidth=2, label="the prior"
        )
        axes.set_title(title)
    panels[0].legend(frameon=False, loc="upper left", fontsize=9)
    figure.savefig(PICTURES / "universal-kernels.png", dpi=130)
    plt.close(figure)


def regret_over_all_priors() -> None:
    """Draw the loss of the geometric and the fold above the optimum, at every prior on 0, 1, 2."""
    from noisewright.design.named_losses import absolute, parity
    from noisewright.design.polytopes.kernel_mechanisms import kernels
    from noisewright.design.utility import posterior_losses

    fold, geometric = kernels(nw.metrics.Line(), range(3), factor=2)
    steps = 90
    priors = np.array([(i, j, steps - i - j) for i in range(steps + 1) for j in range(steps + 1 - i)]) / steps
    places = ternary(priors)
    figure, panels = plt.subplots(1, 4, figsize=(12, 3.3), layout="constrained")
    cases = (
        (geometric, absolute(range(3)), "geometric, absolute error"),
        (fold, absolute(range(3)), "fold, absolute error"),
        (geometric, parity(3), "geometric, odd or even"),
        (fold, parity(3), "fold, odd or even"),
    )
    for axes, (kernel, loss, title) in zip(panels, cases, strict=True):
        losses = {k: posterior_losses(priors, k.channel(), loss) for k in (fold, geometric)}
        regret = np.maximum(losses[kernel] - np.minimum(*losses.values()), 0)
        regret[regret < 1e-12] = 0
        simplex(axes, "")
        image = axes.tripcolor(*places.T, regret, cmap="magma_r", vmin=0, vmax=0.2, shading="gouraud", zorder=0)
        worst = regret.max()
        axes.set_title(f"{title}\n" + (f"up to {worst:.3f} too much" if worst else "best at every prior"), fontsize=10)
    figure.colorbar(image, ax=panels, shrink=0.7, label="loss above the best", extend="max")
    figure.savefig(PICTURES / "universal-regret.png", dpi=130)
    plt.close(figure)


def sign_patterns() -> None:
    """Questions with two answers about 0, 1, 2, 3: which mechanism is best for all priors, decided exactly."""
    from noisewright.design.polytopes.kernel_mechanisms import kernels
    from noisewright.design.polytopes.restriction import layered_geometric
    from noisewright.design.polytopes.universal import optimal_kernels

    found = kernels(nw.metrics.Line(), range(4), factor=2)
    folds = {
        "the geometric": [0, 1, 2, 3],
        "the fold 0, 1, 2, 1": [0, 1, 2, 1],
        "the fold 1, 0, 1, 2": [1, 0, 1, 2],
        "the fold 0, 1, 0, 1": [0, 1, 0, 1],
    }
    known = {name: layered_geometric(nw.metrics.Line(), range(4), layers, factor=2) for name, layers in folds.items()}
    rows = ["AAAB", "AABB", "ABBB", "AABA", "ABAA", "ABAB", "ABBA"]
    figure, axes = plt.subplots(figsize=(8.6, 4.2), layout="constrained")
    for y, row in enumerate(rows):
        loss = [[float(c == "B") for c in row], [float(c == "A") for c in row]]
        best = optimal_kernels(loss, found).optimal
        names = [name for name, channel in known.items() for k in best if k.channel().equivalent(channel)]
        for x, c in enumerate(row):
            axes.add_patch(plt.Rectangle((x, -y), 0.92, 0.8, color=BLUE if c == "A" else "#e3a72f"))
            axes.text(x + 0.46, 0.4 - y, c, ha="center", va="center", color="white", fontweight="bold")
        text = f"only {names[0]}" if len(best) == 1 else "no mechanism is best for all priors"
        axes.text(4.4, 0.4 - y, text, va="center", fontsize=11, color=SAFE if best else ACCENT)
    for x in range(4):
        axes.text(x + 0.46, 1.05, f"secret {x}", ha="center", fontsize=9, color=INK)
    axes.text(4.4, 1.05, "best for every prior", fontsize=9, color=INK)
    axes.set(xlim=(-0.2, 8.3), ylim=(-len(rows) + 0.6, 1.5))
    axes.axis("off")
    figure.savefig(PICTURES / "universal-patterns.png", dpi=130)
    plt.close(figure)


def replacement_shapes() -> None:
    """Compare geometric noise with randomised response on the numbers 0 to 100."""
    from noisewright.qif.refinement.families import geometric_family, response_family

    figure, axes = plt.subplots(figsize=(8, 4.2), layout="constrained")
    cases = ((geometric_family, "25/27", SAFE, "geometric"), (response_family, "1/2", ACCENT, "randomised response"))
    for family, decay, colour, name in cases:
        law = family.member(decay=decay, size=101).channel().matrix[50]
        axes.plot(range(101), law, drawstyle="steps-mid", color=colour, linewidth=1.8, label=f"{name}, a = {decay}")
    axes.set(xlabel="output, for the true answer 50", ylabel="probability", xlim=(0, 100), ylim=(0, None))
    axes.legend(frameon=False)
    figure.savefig(PICTURES / "replacement-shapes.png", dpi=130)
    plt.close(figure)


def replacement_thresholds() -> None:
    """The largest safe epsilon of one family in place of another, five secrets."""
    from noisewright.plotting.leakage import draw_replacements
    from noisewright.plotting.mechanisms import save_figure
    from noisewright.qif.refinement.replacement import replacement_table

    epsilons = [k / 4 for k in range(1, 25)]
    save_figure(
        draw_replacements(replacement_table(epsilons=epsilons, size=5, accuracy=1e-5)),
        PICTURES / "replacement-thresholds.png",
    )


def replacement_families() -> None:
    """Draw the gains of adversaries from the families, and the refinement order of nine members."""
    from noisewright.plotting.leakage import draw_hasse, draw_leakage
    from noisewright.plotting.mechanisms import save_figure
    from noisewright.qif.refinement.families import FAMILIES
    from noisewright.qif.refinement.lattice import hasse

    gains = {"guess the secret": "identity", "come close to it": "metric:line", "is it 2?": "property:2"}
    curves = draw_leakage(list(FAMILIES), size=5, epsilons=np.linspace(0.02, 5, 120), gains=gains)
    save_figure(curves, PICTURES / "replacement-leakage.png")
    members = {f"{f.name} {e}": f.member(epsilon=e, size=4) for f in FAMILIES.values() for e in ("0.5", "1", "2")}
    diagrams = [hasse(members, order=order) for order in ("average", "privacy")]
    save_figure(draw_hasse(diagrams), PICTURES / "replacement-hasse.png")


def replacement_lattices() -> None:
    """The join of a geometric and a response on three secrets, and the hexagon without a join on average."""
    from noisewright.plotting.leakage import draw_posteriors
    from noisewright.plotting.mechanisms import save_figure
    from noisewright.qif.refinement.families import geometric_family, response_family
    from noisewright.qif.refinement.lattice import hexagon, max_join

    a, b = geometric_family.member(decay="1/2", size=3), response_family.member(decay="1/3", size=3)
    shown = {"geometric, a = 1/2": a, "response, a = 1/3": b, "their join": max_join(a, b).channel}
    save_figure(draw_posteriors(shown, title="What may replace both"), PICTURES / "replacement-join.png")
    demo = hexagon()
    shown = {"X": demo.x, "Y": demo.y, "first upper bound": demo.first, "second upper bound": demo.second}
    figure = draw_posteriors(shown, title="Two upper bounds, neither above the other on average")
    save_figure(figure, PICTURES / "replacement-hexagon.png")


def survey_plan() -> None:
    """A plan for a survey: the device, its place among the private designs, and the margin of error."""
    from noisewright.plotting.estimates import draw_survey
    from noisewright.plotting.mechanisms import save_figure

    save_figure(draw_survey(nw.survey(epsilon=1, respondents=1000, prevalence="0.1")), PICTURES / "survey.png")


def estimates() -> None:
    """One population of 50,000 people behind geometric noise, as three estimators see it."""
    from noisewright.plotting.estimates import draw_estimates
    from noisewright.plotting.mechanisms import save_figure

    rng = np.random.default_rng(0)
    mechanism = nw.geometric(epsilon="0.07", within=(0, 100))
    users = rng.binomial(100, 0.5, 50_000)
    reports = mechanism.release(users, rng)
    found = {
        "iterative Bayesian update": nw.estimate(reports, mechanism),
        "most likely population": nw.estimate(reports, mechanism, method="mle"),
        "matrix inversion, projected": nw.estimate(reports, mechanism, method="inversion"),
    }
    figure = draw_estimates(found, np.bincount(users, minlength=101) / len(users))
    save_figure(figure, PICTURES / "estimation.png")


def ternary(points: np.ndarray) -> np.ndarray:
    """Probabilities of three secrets as places in a triangle."""
    return points @ np.array([[0, 0], [0.5, np.sqrt(3) / 2], [1, 0]])


def simplex(axes: Any, word: str = "surely ") -> None:
    """An empty triangle of beliefs about three secrets."""
    axes.plot(*ternary(np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]])).T, color="#9aa5ad", linewidth=1)
    for corner, name, shift in zip(np.eye(3), "012", ((-0.05, -0.05), (0, 0.04), (0.05, -0.05)), strict=True):
        axes.text(*(ternary(corner) + shift), f"{word}{name}", ha="center", va="center", fontsize=9, color=INK)
    axes.set(xlim=(-0.15, 1.15), ylim=(-0.1, 0.95), aspect="equal")
    axes.axis("off")


def noisy_counts() -> None:
    """Draw the information of a noisy count about a new row of a small clinic's table."""
    from noisewright.attacks.correlation import CrossTable
    from noisewright.attacks.new_row import NewRow
    from noisewright.plotting.leakage import draw_new_row
    from noisewright.plotting.mechanisms import save_figure

    clinic = CrossTable(np.array([[50, 10, 0], [0, 5, 35]]), ("none", "flu"), (0, 1, 2))
    figure = draw_new_row(NewRow.from_counts(clinic, 2), [0.25, 0.5, 1, 2, 4, 8])
    save_figure(figure, PICTURES / "inference-count.png")


def price_of_a_public_seed() -> None:
    """Draw the number of different bits (of 20) of two vectors: a pair fixed before the seed, and the worst pair after it."""
    from noisewright.matching import Scheme, differing_bits, hamming
    from noisewright.resources import Seed

    bits, near, seeds = 20, 0.05, 1500
    turn = np.linspace(0, np.pi, 2000, endpoint=False)
    angles = np.array([0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5])
    circle = {d: np.stack([np.cos(turn + np.pi * d), np.sin(turn + np.pi * d)], axis=1) for d in (0.0, *angles)}
    fixed, worst = np.zeros((len(angles), seeds), int), np.zeros((len(angles), seeds), int)
    for number in range(seeds):
        scheme = Scheme(dimension=2, bits=bits, epsilon=1, seed=Seed(number.to_bytes(32, "big")))
        codes = scheme.hash(circle[0.0])
        for place, d in enumerate(angles):
            apart = hamming(codes, scheme.hash(circle[d]))
            fixed[place, number], worst[place, number] = apart[0], apart.max()
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
    at = int(np.flatnonzero(angles == near)[0])
    steps = np.arange(9)
    for shift, counts, colour, name in (
        (-0.2, fixed[at], SAFE, "a pair fixed before the seed was drawn"),
        (0.2, worst[at], ACCENT, "the worst pair in the plane, found after"),
    ):
        left.bar(steps + shift, np.bincount(counts, minlength=9)[:9] / seeds, 0.4, color=colour, label=name)
    left.axvline(differing_bits("binomial", near, bits=bits, delta=0.01) + 0.5, ymax=0.8, color=INK, linewidth=1)
    left.text(4.6, 0.3, "promised but for\n1 % of seeds", color=INK)
    left.set(
        xlabel=f"bits of {bits} that differ, each of which costs epsilon",
        ylabel="share of seeds",
        xticks=steps,
        ylim=(0, 0.65),
    )
    left.set_title(f"Two vectors at an angle of {near:g} (of a half turn)")
    left.legend(frameon=False)
    right.axhline(bits, color=ACCENT, linestyle="--")
    right.text(0.5, bits + 0.3, "after the seed, for vectors of more numbers than bits", color=ACCENT, ha="right")
    right.plot(angles, worst.mean(axis=1), "o-", color=ACCENT, label="after the seed, in the plane: the worst pair")
    grid = np.linspace(0.001, 0.5, 200)
    promised = [differing_bits("binomial", float(d), bits=bits, delta=0.01) for d in grid]
    right.plot(grid, promised, color=INK, linewidth=1, label="before: all but 1 % of seeds")
    right.plot(angles, fixed.mean(axis=1), "o-", color=SAFE, label="before: a fixed pair, on average")
    right.set(xlabel="angle of two vectors (1 = a half turn)", ylabel="bits that differ", ylim=(0, bits + 2))
    right.set_title("What the public seed costs")
    right.legend(frameon=False, loc="upper left", bbox_to_anchor=(0, 0.9))
    figure.savefig(PICTURES / "public-seed.png", dpi=130)
    plt.close(figure)


def street(width: int = 240, height: int = 160) -> np.ndarray:
    """Generate a photograph: a street with a house, a car with a number plate, and a waiting person."""
    from PIL import Image, ImageDraw, ImageFont

    y, x = np.mgrid[:height, :width]
    sky = np.stack([150 + 60 * y / height, 185 + 45 * y / height, 235 - 10 * x / width], -1)
    image = Image.fromarray(np.clip(sky, 0, 255).astype(np.uint8))
    pen = ImageDraw.Draw(image)
    pen.rectangle((0, 112, width, height), fill="#6b6f75")
    pen.rectangle((12, 30, 92, 112), fill="#b0573f")
    pen.polygon(((4, 32), (52, 6), (100, 32)), fill="#5c3a32")
    for left, top in ((22, 42), (60, 42), (22, 76), (60, 76)):
        pen.rectangle((left, top, left + 20, top + 20), fill="#e8dca0", outline="#3d2a25")
    pen.rounded_rectangle((88, 92, 186, 136), 10, fill="#2f6f8f")
    pen.polygon(((100, 94), (114, 70), (158, 70), (176, 94)), fill="#28566d")
    pen.polygon(((108, 92), (118, 75), (134, 75), (134, 92)), fill="#c6dfe8")
    pen.polygon(((140, 92), (140, 75), (155, 75), (166, 92)), fill="#c6dfe8")
    for middle in (108, 166):
        pen.ellipse((middle - 12, 126, middle + 12, 150), fill="#22262b", outline="#9aa0a6", width=3)
    pen.rectangle((112, 112, 162, 126), fill="#f4f1e4", outline="#22303c")
    pen.text((115, 113), "KX42 PLM", fill="#16202a", font=ImageFont.load_default(9))
    pen.rectangle((202, 84, 226, 138), fill="#7a3b69")
    pen.ellipse((200, 48, 230, 86), fill="#e3b48f")
    pen.pieslice((198, 42, 232, 80), 180, 360, fill="#3b2a20")
    for eye in (209, 220):
        pen.ellipse((eye - 2, 64, eye + 2, 68), fill="#1d2a36")
    pen.arc((208, 68, 222, 80), 20, 160, fill="#8f3d3d", width=2)
    return np.asarray(image)


def photographs() -> None:
    """Draw the street with every method on pixels, in regions, and with methods without a guarantee."""
    from noisewright import images as baselines
    from noisewright.images import PixelMethod, Region, png_of, strip

    photo, rng = street(), np.random.default_rng(7)

    def drawn(kind: str, epsilon: int, block: int, *, like: dict[str, Any] | None = None, **more: Any) -> np.ndarray:
        return PixelMethod(kind, Fraction(epsilon), {"block": block, **(like or {})}, **more).obfuscated(photo, rng)

    tried, rows = (100, 1000, 10_000, 100_000), []
    for title, kind, like in (
        ("laplace", "laplace", {}),
        ("exponential, absolute", "exponential", {}),
        ("exponential, squared", "exponential", {"quality": "squared"}),
        ("windows, clipped", "windows", {}),
        ("windows, shifted", "windows", {"quality": "shifted"}),
        ("windows, clipped, blur", "windows", {"blur": 2.0}),
    ):
        first = ("original", photo) if not rows else ("", np.full_like(photo, 255))
        rows.append([first, *((f"{title}, {e:,}", drawn(kind, e, 8, like=like)) for e in tried)])
    (PICTURES / "images-methods.png").write_bytes(png_of(strip([one for row in rows for one in row], columns=5)))
    plate, face = Region(112, 112, 51, 15), Region(196, 40, 38, 48)
    parts = [
        ("the plate, laplace, epsilon 20", drawn("laplace", 20, 5, regions=(plate,))),
        ("the head, windows, epsilon 50", drawn("windows", 50, 4, regions=(face,))),
        ("both share epsilon 50", drawn("exponential", 50, 4, regions=(plate, face))),
    ]
    (PICTURES / "images-regions.png").write_bytes(png_of(strip([("original", photo), *parts])))
    adhoc = [
        ("a blur", baselines.blurred_picture(photo, 3)),
        ("pixelised", baselines.pixelised(photo, 8)),
        ("a box", baselines.boxed(photo, face)),
        ("noisy singular values", baselines.noisy_singular_values(photo, 1.0, rng)),
    ]
    (PICTURES / "images-without-guarantee.png").write_bytes(png_of(strip(adhoc)))


def people() -> None:
    """Made-up faces through noise on their codes at several epsilons, and through k-same."""
    from noisewright import images as baselines
    from noisewright.images import LatentObfuscator, cartoon_faces, png_of, strip, train_eigenfaces

    public, _ = cartoon_faces(200, size=32, seed=1)  # the model of the page
    some, rng = cartoon_faces(6, 1, size=32, seed=5)[0], np.random.default_rng(3)
    with tempfile.TemporaryDirectory() as folder:
        model = train_eigenfaces(Path(folder, "public.nwm"), public, components=100, source="drawn in code")
        rows = [("original", some), ("no noise", LatentObfuscator(model, epsilon=1, components=100).clean(some))]
        for epsilon in (3000, 1000, 300, 100, 30):
            hidden = LatentObfuscator(model, epsilon=epsilon)
            rows.append((f"{epsilon:,} ({hidden.components})", hidden.release(some, rng)))
        rows.append(("k-same, 3", baselines.k_same_codes(model, some, 3)[0]))
    titled = [(title if not place else "", face) for title, row in rows for place, face in enumerate(row)]
    (PICTURES / "faces.png").write_bytes(png_of(strip(titled, columns=6)))


def faces_in_photographs() -> None:
    """The face in a photograph: found, hidden by blocks and by a model, as a rectangle and by its outline; and in a film."""
    import skimage

    from noisewright.images import (
        FaceMethod,
        FoundFaces,
        PixelMethod,
        Video,
        blurred,
        fetch_networks,
        hide_video,
        in_frames,
        marked,
        open_video,
        png_of,
        private_faces,
        read_picture,
        resized,
        strip,
    )
    from noisewright.images.pipeline.video import new_video

    fetch_networks()
    photo, rng = read_picture(Path(skimage.__path__[0], "data", "astronaut.png")), np.random.default_rng(5)
    cells = {"block": 16}
    rows = [("original", photo), ("found", marked(photo, [place for _, place in FoundFaces().found(photo)]))]
    for title, method, look in (
        ("windows, epsilon 100", PixelMethod("windows", Fraction(100), cells), {}),
        ("exponential, epsilon 3,000", PixelMethod("exponential", Fraction(3000), cells), {}),
        ("the same, by its outline", PixelMethod("exponential", Fraction(3000), cells), {"outline": True}),
        ("a model, epsilon 30", FaceMethod(private_faces(epsilon=30, unlike="draw")), {"aligned": True}),
        ("a model, epsilon 100", FaceMethod(private_faces(epsilon=100, unlike="draw")), {"aligned": True}),
        (
            "a model, 100, by its outline",
            FaceMethod(private_faces(epsilon=100, unlike="draw")),
            {"aligned": True, "outline": True},
        ),
    ):
        rows.append((title, in_frames(method, FoundFaces(**look)).obfuscated(photo, rng)))
    small = [(title, resized(picture, 224, 224)) for title, picture in rows]
    (PICTURES / "faces-in-photographs.png").write_bytes(png_of(strip(small, columns=4)))

    def scene(number: int) -> np.ndarray:
        frame = np.full((120, 200, 3), (150, 160, 140), np.uint8)
        face = resized(photo[10:190, 150:310], 90, 80)
        if number in (4, 5):
            face = np.asarray(blurred(face.astype(float), 12), np.uint8)
        frame[20:110, 10 + 8 * number : 90 + 8 * number] = face
        return frame

    with tempfile.TemporaryDirectory() as folder:
        film, out = Path(folder, "film.avi"), Path(folder, "out.avi")
        with new_video(film, Video(film, 200, 120, 10)) as write:
            for number in range(12):
                write(scene(number))
        method = in_frames(FaceMethod(private_faces(epsilon=100, unlike="draw")), FoundFaces(aligned=True))
        hide_video(method, film, out, rng=np.random.default_rng(2))
        before, after = (list(open_video(path).frames()) for path in (film, out))
    shown = (0, 3, 5, 8, 11)
    titled = [(f"frame {number + 1}", before[number]) for number in shown] + [("", after[number]) for number in shown]
    (PICTURES / "faces-in-videos.png").write_bytes(png_of(strip(titled, columns=len(shown))))


def faces_without_guarantee() -> None:
    """Made-up faces as people obfuscate them, with nothing guaranteed."""
    from noisewright.images import (
        ActiveAppearance,
        NoisyCodes,
        Region,
        blurred_picture,
        boxed,
        cluster_means,
        inpainted,
        k_clusters,
        k_same_codes,
        k_same_pixels,
        noisy_singular_values,
        pixelised,
        png_of,
        shipped_model,
        sprite_faces,
        sprite_landmarks,
        strip,
    )

    faces, landmarks = sprite_faces().showing("neutral"), sprite_landmarks()[:, [*range(6, 19), *range(24, 32)]]
    public, rest, some, rng = slice(0, 68), slice(68, 135), slice(0, 8), np.random.default_rng(3)
    hidden, places, middle = faces.pictures[rest], landmarks[rest], Region(14, 18, 20, 22)
    shapes = ActiveAppearance.fit(faces.pictures[public], landmarks[public])
    codes = shapes.encode(hidden, places)
    rows = [
        ("original", hidden),
        ("blur, 2 pixels", [blurred_picture(face, 2) for face in hidden[some]]),
        ("blocks of 8", [pixelised(face, 8) for face in hidden[some]]),
        ("box", [boxed(face, middle) for face in hidden[some]]),
        ("filled in", [inpainted(face, middle) for face in hidden[some]]),
        ("mean face", [inpainted(face, middle, shipped_model()) for face in hidden[some]]),
        ("singular values", [noisy_singular_values(face, 1, rng) for face in hidden[some]]),
        ("AAM, epsilon 5", shapes.painted(NoisyCodes(Fraction(5), shapes.space).release(codes, rng), hidden, places)),
        ("AAM, k-same, 5", shapes.painted(cluster_means(codes, k_clusters(codes, 5)), hidden, places)),
    ]

    def written(rows: Any, name: str) -> None:
        titled = [(title if not place else "", face) for title, row in rows for place, face in enumerate(row[some])]
        (PICTURES / name).write_bytes(png_of(strip(titled, columns=8)))

    written(rows, "faces-without-guarantee.png")
    genders = faces.genders[rest]
    same = [
        ("original", hidden),
        ("pixels, k = 5", k_same_pixels(hidden, 5)[0]),
        ("codes, k = 5", k_same_codes(shipped_model(), hidden, 5)[0]),
        ("codes, by gender", k_same_codes(shipped_model(), hidden, 5, classes=genders)[0]),
        ("codes, furthest", k_same_codes(shipped_model(), hidden, 5, furthest=True)[0]),
        ("codes, k = 20", k_same_codes(shipped_model(), hidden, 20)[0]),
    ]
    written(same, "faces-k-same.png")


def face_risks() -> None:
    """Draw attacks on generated faces by epsilon, and utility by risk; with ``--quick`` for few epsilons and samples."""
    from noisewright.attacks import Trial
    from noisewright.plotting import draw_face_risks, save_figure

    trial, few = Trial.of(copies=1 if QUICK else 10), 1 if QUICK else None

    def row(risk: Any, **more: Any) -> dict[str, Any]:
        return {"method": risk.method, "bound": risk.bound, **risk.attacks, **risk.kept, **more}

    noisy = [row(trial.noisy(Fraction(epsilon)), epsilon=epsilon) for epsilon in (10, 30, 100, 300, 1000)[:few]]
    others = [row(risk) for risk in (*map(trial.k_same, (2, 5, 10)[:few]), *trial.adhoc())]
    pixels = [
        row(trial.pixels(kind, Fraction(epsilon)), kind=kind, epsilon=epsilon)
        for kind in ("laplace", "exponential", "windows")
        for epsilon in (30, 100, 300, 1000)[:few]
    ]
    clean = trial.attacks.clean().attacks["naive"]
    save_figure(draw_face_risks(noisy, others, trial.chance, clean, pixels=pixels), PICTURES / "face-risks.png")


def face_networks() -> None:
    """Made-up people through three networks that were trained on others; training takes some minutes, and is kept in out/.

    With ``--quick`` they are hardly trained, and nothing is kept: to see that the script runs.
    """
    from noisewright.images import LatentObfuscator, PublicFaces, open_model, png_of, sprite_faces, strip, train_model

    sprites, rng = sprite_faces(), np.random.default_rng(1)
    public, hidden = sprites.of(range(12 if QUICK else 68)), sprites.of(range(68, 135))
    labels = {"expression": public.expressions, "gender": public.genders}
    learned = PublicFaces(public.pictures, public.people, labels, source="made-up faces drawn by facesjs")
    some = hidden.pictures[[8 * person + person % 8 for person in (1, 3, 12, 21, 26, 34, 41, 52, 58, 65)]]
    titled = [("original" if not place else "", face) for place, face in enumerate(some)]
    folder = PICTURES.parents[1] / "out" / "face-networks"
    folder.mkdir(parents=True, exist_ok=True)
    for kind, options in (("autoencoder", {}), ("identities", {}), ("attgan", ATTGAN)):
        path = folder / f"{kind}{'-quick' if QUICK else ''}.nwm"
        course = {**options, "epochs": 2} if QUICK else options
        model = (open_model(path) if path.exists() else train_model(kind, path, learned, **course)).keeping(*labels)
        components = len(model.low) if kind == "identities" else None
        clean = LatentObfuscator(model, epsilon=1, components=len(model.low)).clean(some)
        rows = [(f"{kind}, no noise", clean)]
        for epsilon in (1000, 500, 200, 100):
            obfuscator = LatentObfuscator(model, epsilon=epsilon, components=components)
            rows.append((f"{kind}, {epsilon}", obfuscator.release(some, rng)))
        titled += [(title if not place else "", face) for title, row in rows for place, face in enumerate(row)]
    (PICTURES / "face-networks.png").write_bytes(png_of(strip(titled, columns=len(some))))


def learned_on_real_data() -> None:
    """Draw the experiment of that name; with ``--quick`` without its long trainings."""
    from importlib import import_module

    from noisewright.cli.arguments import from_checkout

    from_checkout("experiments")
    experiment = import_module("experiments.learned_on_real_data")
    experiment.result(quick=QUICK)
    experiment.figure().savefig(PICTURES / "learned-on-real-data.png", dpi=110)
    plt.close("all")


def steps_of_a_network() -> None:
    """Generated people who turn aside before coloured backgrounds, at epsilon 200, by five auto-encoders in five steps.

    Training takes some minutes and is kept in out/, except with ``--quick``; see :func:`face_networks`.
    """
    from scipy.ndimage import label

    from noisewright.images import LatentObfuscator, PublicFaces, open_model, png_of, sprite_faces, strip, train_model
    from noisewright.images.pictures import resized

    sprites, rng = sprite_faces(), np.random.default_rng(10)
    which = np.concatenate([np.arange(len(sprites.people)), np.tile(np.flatnonzero(sprites.people < 68), SEEN - 1)])
    white = [
        label(np.pad((face == face[0, 0]).all(-1), ((1, 0), (1, 1)), constant_values=True))[0]
        for face in sprites.pictures
    ]
    heads = np.stack([found != found[0, 0] for found in white])[which, 1:, 1:-1]
    people, faces = sprites.people[which], sprites.pictures[which]
    turns = rng.integers(-6, 7, len(heads))
    walls = np.linspace(*rng.integers(0, 256, (2, len(heads), 1, 3)), num=48, axis=2)  # from left to right
    turned = [np.roll(face, turn, 1) for face, turn in zip(faces, turns, strict=True)]
    masks = np.stack([np.roll(head, turn, 1) for head, turn in zip(heads, turns, strict=True)])[..., None]
    photos = np.where(masks, turned, walls).astype(np.uint8)
    cut = np.where(masks, turned, 128).astype(np.uint8)
    photos, cut = (np.stack([resized(face, 32, 32) for face in seen]) for seen in (photos, cut))
    inside = np.stack([resized(np.repeat(mask * np.uint8(255), 3, -1), 32, 32) for mask in masks]) / 255
    public = people < 68
    pose = {"pose": turns[public] / 6}
    some = [8 * person + person % 8 for person in (69, 71, 80, 89, 94, 102, 109, 120, 126, 133)]
    titled = [("original" if not place else "", face) for place, face in enumerate(photos[some])]
    folder = PICTURES.parents[1] / "out" / "face-steps"
    folder.mkdir(parents=True, exist_ok=True)
    for step, title, pictures, labels, options in (
        ("a", "a long code", photos, {}, {"code": 512, "noisy": False}),
        ("b", "a short code", photos, {}, {"noisy": False}),
        ("c", "learned with noise", photos, {}, {}),
        ("d", "told the pose", photos, pose, {}),
        ("e", "head alone", cut, pose, {}),
    ):
        path = folder / f"{step}{'-quick' if QUICK else ''}.nwm"
        learned = PublicFaces(pictures[public], people[public], labels, source="made-up faces drawn by facesjs")
        course = {**options, "epochs": 1 if QUICK else 40}
        model = open_model(path) if path.exists() else train_model("autoencoder", path, learned, **course)
        known = model.keeping(*labels).rows_of({"pose": turns[some] / 6}) if labels else None
        drawn = LatentObfuscator(model.keeping(*labels), epsilon=200).release(pictures[some], rng, attributes=known)
        if step == "e":
            drawn = np.rint(inside[some] * drawn + (1 - inside[some]) * photos[some]).astype(np.uint8)
        titled += [(f"{step}: {title}" if not place else "", face) for place, face in enumerate(drawn)]
    larger = [(title, np.repeat(np.repeat(face, 2, 0), 2, 1)) for title, face in titled]
    (PICTURES / "face-steps.png").write_bytes(png_of(strip(larger, columns=len(some))))


QUICK = "--quick" in sys.argv
SEEN = 1 if QUICK else 4
"""Number of backgrounds for each public face."""
ATTGAN = {"scale": 1 / 8, "epochs": 100, "rate": 1e-3, "critic_turns": 2}
"""Narrow and fast, for a processor."""


def badges() -> None:
    """Drawn people who are not in the model that comes along, through the mechanism on faces at several epsilons."""
    from noisewright.claims.figures import upward
    from noisewright.images import png_of, private_faces, sprite_faces, strip

    some, rng = (
        sprite_faces().of((70, 75, 88, 97, 101, 120, 128, 133)).showing("neutral").pictures,
        np.random.default_rng(4),
    )
    rows = [("original", some)]
    for epsilon in (300, 100, 50, 20):
        hidden = private_faces(epsilon=epsilon)
        assert hidden.meaning is not None
        rows.append((f"{epsilon} ({upward(100 * hidden.meaning.best, 2)} %)", hidden.release(some, rng)))
    titled = [
        (title if not place else "", np.repeat(np.repeat(face, 2, 0), 2, 1))
        for title, row in rows
        for place, face in enumerate(row)
    ]
    (PICTURES / "faces-badges.png").write_bytes(png_of(strip(titled, columns=len(some))))


def how_many_bits() -> None:
    """Draw the recall of true neighbours by the number of bits, at a fixed total privacy loss."""
    from noisewright.matching import price_of_a_bit, true_odds
    from noisewright.plotting.mechanisms import COLOURS

    choices = [8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512]
    figure, axes = plt.subplots(figsize=(6.4, 4), layout="constrained")
    for loss, colour in zip((40, 20, 10, 5), COLOURS, strict=False):
        prices = [price_of_a_bit(loss, radius=0.05, bits=bits, delta=0.001) for bits in choices]
        recall = [
            true_odds([0.1] * 10, [0.45] * 9990, neighbours=10, bits=bits, flip=1 / (1 + np.exp(price)))
            for bits, price in zip(choices, prices, strict=True)
        ]
        axes.plot(choices, recall, "o-", color=colour, markersize=4, label=f"{loss}")
        best = int(np.argmax(recall))
        axes.plot(choices[best], recall[best], "o", color=colour, markersize=9, fillstyle="none")
    axes.set_xscale("log", base=2)
    axes.set_xticks([8, 16, 32, 64, 128, 256, 512], ["8", "16", "32", "64", "128", "256", "512"])
    axes.set(xlabel="bits of a code", ylabel="share of true ones among 10 returned", ylim=(0, 1.03))
    axes.legend(frameon=False, title="loss within 0.05")
    axes.set_title("More bits, each noisier, are not always better")
    figure.savefig(PICTURES / "matching-bits.png", dpi=130)
    plt.close(figure)


def learned_curve() -> None:
    """Draw the accuracy of guesses of the class from a learned network, from noise and from the optima."""
    from noisewright.context_aware import Mixture, grid_game
    from noisewright.context_aware import gaussian as shifts
    from noisewright.learning import GAPPrivatiser
    from noisewright.plotting.mechanisms import COLOURS

    law, rng, rows = Mixture(0.5, -3, 3), np.random.default_rng(1), 3_000 if QUICK else 20_000
    y, fresh = rng.integers(0, 2, rows), rng.integers(0, 2, 50_000 if QUICK else 1_000_000)
    x, other = (6.0 * one - 3 + rng.normal(size=len(one)) for one in (y, fresh))
    settings = {"epochs": 1 if QUICK else 40, "hidden": 32, "adversary_hidden": 32, "adversary_steps": 3}
    budgets = [1, 2, 3, 5, 7, 9]
    made = GAPPrivatiser(budgets, units="raw", attackers=["nearest neighbours"], settings=settings).fit(x, y)
    found = []
    for point in made.points_:
        one = made.at(point.distortion)
        released = one.release(other, rng=rng)
        counts = [np.histogram(released[fresh == label], np.linspace(-9, 9, 181))[0] for label in (0, 1)]
        found.append((sum(one.distortion_of(other, released).values()), np.max(counts, axis=0).sum() / len(fresh)))
    figure, axes = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
    amounts = np.linspace(0.2, 9.5, 20)
    lines = (("noise alone", shifts.additive_noise), ("shrink and noise", shifts.shrink_and_noise))
    for (name, family), colour in zip(lines, COLOURS, strict=False):
        axes.plot(amounts, [family(law, d).accuracy for d in amounts], color=colour, label=name)
    game, few = grid_game(law, points=41), amounts[::3]
    axes.plot(
        few, [float(game.optimum(float(d)).accuracy) for d in few], color=INK, label="the best there is against guesses"
    )
    axes.plot(few, [_guessed(game, float(d)) for d in few], "--", color=INK, label="the best there is for the log loss")
    axes.plot(*zip(*found, strict=True), "o", color=ACCENT, label="learned by a network with the log loss")
    axes.set(xlabel="distortion (squared)", ylabel="class guessed right", ylim=(0.48, 1.02))
    axes.set_title("Two classes on a line, given the number alone")
    axes.legend(frameon=False)
    figure.savefig(PICTURES / "learned-curve.png", dpi=130)
    plt.close(figure)


def _guessed(game: Any, distortion: float) -> float:
    """Return the accuracy of guesses from the mechanism with the least information."""
    return float(game.optimum(distortion, "log").accuracy)


if __name__ == "__main__":
    PICTURES.mkdir(exist_ok=True)
    photographs()
    people()
    badges()
    face_risks()
    face_networks()
    steps_of_a_network()
    faces_in_photographs()
    faces_without_guarantee()
    learned_on_real_data()
    how_many_bits()
    price_of_a_public_seed()
    certified_against_raw()
    places()
    noise_at_a_wall()
    losses_with_distance()
    errors_with_distance()
    unsafe_tails()
    optimal_matrices()
    optimal_errors()
    optimal_utility()
    private_posteriors()
    regret_over_all_priors()
    sign_patterns()
    survey_plan()
    estimates()
    noisy_counts()
    replacement_shapes()
    replacement_thresholds()
    replacement_families()
    replacement_lattices()
    learned_curve()
