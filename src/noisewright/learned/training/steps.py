"""Steps of learning for many points at once: Adam and a line search, with gradients cut to a length for each point alone."""

from __future__ import annotations

from collections.abc import Callable

from noisewright.learned.training._torch import Tensor, torch
from noisewright.learned.training.networks import Named

__all__ = ["Adam", "LineSearch", "slopes"]

EPSILON = 1e-8
ARMIJO = 1e-4
HALVINGS = 12


def slopes(value: Tensor, parameters: Named, clip: float) -> list[Tensor]:
    """The gradient of a sum over points, which separates into the points, no longer than ``clip`` for any of them."""
    found = torch.autograd.grad(value, list(parameters.values()))
    with torch.no_grad():
        squares = sum((slope**2).flatten(1).sum(dim=1) for slope in found)
        share = torch.clamp(clip / torch.sqrt(squares + EPSILON), max=1.0)
        return [slope * share.reshape(-1, *[1] * (slope.dim() - 1)) for slope in found]


class Adam:
    """Adam, elementwise and so for each point by itself. Its memory is two tensors for each parameter."""

    def __init__(self, parameters: Named, first: float, second: float) -> None:
        self.parameters, self.first, self.second, self.count = parameters, first, second, 0
        self.means = {name: torch.zeros_like(tensor) for name, tensor in parameters.items()}
        self.squares = {name: torch.zeros_like(tensor) for name, tensor in parameters.items()}

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def step(self, found: list[Tensor], rate: float) -> None:
        """One step down the slopes."""
        self.count += 1
        own, means, squares = (list(named.values()) for named in (self.parameters, self.means, self.squares))
        torch._foreach_lerp_(means, found, 1 - self.first)
        torch._foreach_mul_(squares, self.second)
        torch._foreach_addcmul_(squares, found, found, 1 - self.second)
        below = torch._foreach_sqrt(squares)
        torch._foreach_div_(below, (1 - self.second**self.count) ** 0.5)
        torch._foreach_add_(below, EPSILON)
        torch._foreach_addcdiv_(own, means, below, -rate / (1 - self.first**self.count))


class LineSearch:
    """Down the slope as far as the loss really falls: each point halves its own step until it does (Armijo's rule), and
    tries twice the last one next time. A point for which no step helps stays where it is."""

    def __init__(self, parameters: Named, points: int, rate: float) -> None:
        self.parameters = parameters
        like = next(iter(parameters.values()))
        self.lengths = torch.full((points,), rate, dtype=like.dtype)

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def step(self, found: list[Tensor], before: Tensor, value: Callable[[], Tensor]) -> None:
        """One step; ``value`` computes the loss of every point again, with the same noise."""
        start = [tensor.clone() for tensor in self.parameters.values()]
        steep = sum((slope**2).flatten(1).sum(dim=1) for slope in found)
        tried = self.lengths * 2
        for halving in range(HALVINGS + 1):
            last = halving == HALVINGS
            length = torch.where(tried < 0, -tried, torch.zeros_like(tried)) if last else tried.abs()
            for tensor, old, slope in zip(self.parameters.values(), start, found, strict=True):
                tensor.copy_(old - length.reshape(-1, *[1] * (old.dim() - 1)) * slope)
            if last:
                break
            good = value() <= before - ARMIJO * length * steep
            tried = torch.where(good, -tried.abs(), torch.where(tried < 0, tried, tried / 2))
            if bool((tried < 0).all()):
                length = tried.abs()
                break
        self.lengths = torch.clamp(tried.abs(), min=1e-8)
