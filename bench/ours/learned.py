"""Our optima of finite games, curves of privatisers trained together, and releases by one beside a bare forward pass."""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.work import Work
from noisewright.context_aware.distributions import Joint
from noisewright.context_aware.games import FiniteGame

__all__ = ["binary_points", "forward", "game", "gaussian_points", "one_gaussian_point", "release"]


def game(public: int, private: int, loss: str, given: str, distortion: str, budget: str) -> Work:
    """The optimum of a random game; the answer is what the best adversary loses, and the gap to its bound must be small."""
    table = np.random.default_rng(0).dirichlet(np.full(public * private, 0.3)).reshape(public, private)
    law = Joint(table)

    def run() -> float:
        made = FiniteGame(law, distortion, given=given).optimum(budget, loss)
        if not made.gap < 1e-6:
            raise ValueError(f"the bound is {made.gap:.3g} away from the optimum")
        return made.loss_value

    return Work(run, 1, float)


def gaussian_points(budgets: int = 9) -> Work:
    """All points of the published Gaussian tables in one run; the answer is the largest gap to the optimum of the loss."""
    from experiments import learned_gaussian

    points = tuple((law, budget) for law in range(4) for budget in learned_gaussian.BUDGETS[:budgets])
    least = {point: learned_gaussian.best(*point, "log").accuracy for point in points}

    def run() -> float:
        learned_gaussian.trained.cache_clear()
        made, _ = learned_gaussian.trained(points)
        return _close(max(abs(one.accuracy - least[point]) for point, one in made.items()))

    return Work(run, len(points), float)


def one_gaussian_point() -> Work:
    """One of these points alone, as a loop over points would train each."""
    from experiments import learned_gaussian

    least = learned_gaussian.best(0, 5, "log").accuracy

    def run() -> float:
        learned_gaussian.trained.cache_clear()
        return _close(abs(learned_gaussian.trained(((0, 5),))[0][0, 5].accuracy - least))

    return Work(run, 1, float)


def binary_points(how: str, budgets: int = 7) -> Work:
    """The curves of the binary model, given X alone and given both; the answer is the largest gap under the true law."""
    from experiments import learned_binary

    some = learned_binary.BUDGETS[:budgets]

    def run() -> float:
        learned_binary.trained.cache_clear()
        rows = learned_binary.run(how, some)
        return _close(max(abs(row.found[0] - (row.told[0] or 0)) for row in rows))

    many = sum(b < free for free in learned_binary.FREE.values() for b in some)
    return Work(run, many, float)


def release(rows: int, columns: int, hidden: int) -> Work:
    """Records through a privatiser, with the random bits of a release; the answer is the mean change."""
    made, table = _network(rows, columns, hidden)
    return Work(lambda: made.release(table), rows, lambda out: float(abs(out - table).mean()))


def forward(rows: int, columns: int, hidden: int) -> Work:
    """Nothing but the layers of the same privatiser on rows and noise that are there already, in PyTorch."""
    import torch

    made, table = _network(rows, columns, hidden)
    own = {name: torch.tensor(array) for name, array in made.arrays_[0].items() if name != "leaning"}
    generator = torch.Generator().manual_seed(1)
    inputs = torch.cat(
        [torch.tensor(made.columns_.encode(table)[0]), torch.randn(rows, columns, generator=generator)], 1
    ).float()

    def run() -> Any:
        changes = []
        with torch.inference_mode():
            for some in inputs.split(8192):
                within = torch.nn.functional.leaky_relu(torch.addmm(own["b0"], some, own["w0"]), 0.2)
                within = torch.nn.functional.leaky_relu(torch.addmm(own["b1"], within, own["w1"]), 0.2)
                changes.append(torch.addmm(own["b2"], within, own["w2"]) + some @ own["skip"])
        return torch.cat(changes)

    scales = np.array([number.scale for number in made.columns_.numbers])
    return Work(run, rows, lambda out: float(np.abs(out.numpy() * scales).mean()))


def _network(rows: int, columns: int, hidden: int) -> tuple[Any, Any]:
    """A privatiser that was hardly trained, and records."""
    from noisewright.learning import GAPPrivatiser

    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 500)
    settings = {"epochs": 3, "adversary_steps": 1, "hidden": hidden, "adversary_hidden": 8}
    records = rng.normal(size=(500, columns)) + y[:, None]
    made = GAPPrivatiser(0.5, attackers=["nearest neighbours"], settings=settings).fit(records, y)
    return made, rng.normal(size=(rows, columns))


def _close(gap: float) -> float:
    if not gap <= 0.01:
        raise ValueError(f"a point is {gap:.4f} away from the optimum")
    return gap
