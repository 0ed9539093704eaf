"""The layers that networks of faces are built of: halving convolutions down to a code, and doubling ones up to a picture."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from noisewright.core.errors import ParameterError
from noisewright.images.networks._torch import Module, float_tensor, nn, torch
from noisewright.images.pictures.reading import Picture

__all__ = ["doubling", "from_mean", "halving", "halvings", "normal_start"]

SLOPE = 0.2
"""Of leaky rectifiers below 0."""
SMALLEST, LARGEST = 4, 8
"""The side of the grid that convolutions end in is between these."""


def halvings(height: int, width: int) -> int:
    """Return how often pictures of this size are halved until their larger side is at most eight."""
    count = 0
    while max(height, width) >> count > LARGEST:
        count += 1
    if height % (1 << count) or width % (1 << count) or min(height, width) >> count < SMALLEST:
        raise ParameterError(
            f"faces for this network have sides of 4 to 8 times a power of two, such as 48, 64 or 128 pixels, not "
            f"{width} x {height}."
        )
    return count


def halving(channels: int, first: int, count: int) -> list[Module]:
    """Convolutions of 4 x 4 that halve the sides and double the channels, ``first`` of them at first."""
    layers: list[Any] = []
    for place in range(count):
        wide = first << place
        layers += [nn.Conv2d(channels, wide, 4, stride=2, padding=1), nn.BatchNorm2d(wide), nn.LeakyReLU(SLOPE)]
        channels = wide
    return layers


def doubling(widths: list[int], channels: int, *, normal: bool = False) -> list[Module]:
    """Each step doubles the sides and convolves to the given number of channels; the last convolution gives pixels
    between 0 and 1."""
    layers: list[Any] = []
    for before, after in pairwise(widths):
        layers += [nn.Upsample(scale_factor=2), nn.Conv2d(before, after, 3, padding=1)]
        layers += [nn.BatchNorm2d(after), nn.LeakyReLU(SLOPE)] if normal else [nn.LeakyReLU(SLOPE)]
    return [*layers, nn.Conv2d(widths[-1], channels, 3, padding=1), nn.Sigmoid()]


def from_mean(layers: Module, pictures: Picture) -> None:
    """Let the last convolution begin with the mean colour of faces, which is otherwise the first thing to be learned."""
    mean = float_tensor((pictures.mean((0, 1, 2)) / 255).clip(0.01, 0.99))
    with torch.no_grad():
        layers[-2].bias.copy_(torch.logit(mean))


def normal_start(layers: Module) -> None:
    """Let weights begin with normal numbers that keep the size of the signal, and offsets with 0."""
    for layer in layers.modules():
        if isinstance(layer, (nn.Linear, nn.Conv2d)):
            nn.init.kaiming_normal_(layer.weight, a=SLOPE)
            nn.init.zeros_(layer.bias)
