"""Draws the pictures of the documentation.  Run:  python docs/make_pictures.py"""

from pathlib import Path

import clarabel
import matplotlib as mpl
import numpy as np
from scipy import sparse

import noisewright as nw

mpl.use("Agg")
import matplotlib.pyplot as plt

PICTURES = Path(__file__).parent / "pictures"
INK, ACCENT, SAFE = "#22303c", "#c8553d", "#2a7f62"


def solver_channel(n: int, epsilon: float) -> np.ndarray:
    """What an interior-point solver returns for the least mean absolute error under epsilon per unit of the line."""
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
    certified = raw.certify(epsilon, nw.Line(), max_change=1e-5)
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
        losses = np.where(np.isnan(steps), 0.0, steps).max(axis=0)  # two impossible entries are no constraint
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


if __name__ == "__main__":
    PICTURES.mkdir(exist_ok=True)
    certified_against_raw()
