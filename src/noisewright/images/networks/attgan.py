r"""An encoder and a decoder after AttGAN, with a code of one by one, attributes and pose next to it, and noise while
it learns.

At 128 pixels and full width: convolutions of 4 x 4 and stride 2 with 64, 128, 256, 512, 1024 and 1024 filters, then
one of 2 x 2 to the 2048 numbers of the code; a decoder of transposed convolutions back to 128 pixels; a critic whose
trunk is shared by the judge, the classifier of attributes and the estimator of the pose. At other sizes (two or three
times a power of two) there are fewer steps, and ``scale`` makes all of it narrower: an eighth of it learns on a
processor in minutes, the whole of it needs a graphics card (``device="cuda"``) and the same lines.

Why it is like this:

- The code is one by one: independent noise on a grid of codes would break the correlation of neighbours.
- There is no shortcut from the encoder to the decoder: it would carry the face past the noise.
- The decoder learns from noisy codes (:mod:`noisewright.images.networks.noise_aware`).
- The background is not part of it: give it heads on white.

Losses, with a face x, its attributes a and pose p, a noisy code N(z), and other attributes b and pose q: the critic's
are those of Wasserstein with a penalty on gradients, cross-entropy of attributes and squared error of the pose; the
generator's are 200 times the absolute error of the face drawn from the *clean* code with a and p, and the critic's
output for the face drawn from N(z), b and q: its judgement, 1 times its cross-entropy with b, 30 times its squared
error from q.

References: He, Zuo, Kan, Shan and Chen, *AttGAN* (2019); Gulrajani and others, *Improved training of Wasserstein GANs*
(2017).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from noisewright.core.errors import ParameterError
from noisewright.images.networks._torch import Module, nn
from noisewright.images.networks.network import EncodedFaces

__all__ = ["AttGan", "critic_of"]

FIRST, MOST, CODE, HEAD = 64, 1024, 2048, 1024
"""Filters of the first step, of the widest one, numbers of a code, and the width of the heads."""


class AttGan(EncodedFaces):
    """An encoder and a decoder with attributes and pose, in a file; make one with :meth:`at` or :func:`train_attgan`."""

    kind = "attgan"
    centred: ClassVar[bool] = True

    @staticmethod
    def built(about: Mapping[str, Any], attributes: int) -> Module:
        """Encoder and decoder."""
        channels, scale = about["channels"], about["scale"]
        last, filters = _steps(about)
        down, before = [], channels
        for wide in filters:
            down += [nn.Conv2d(before, wide, 4, 2, 1), nn.BatchNorm2d(wide), nn.LeakyReLU(0.2)]
            before = wide
        code = about["code"]
        down += [nn.Conv2d(before, code, last), nn.BatchNorm2d(code), nn.LeakyReLU(0.2), nn.Flatten()]
        before = _narrow(MOST, scale)
        up = [nn.Unflatten(1, (code + attributes, 1, 1)), nn.ConvTranspose2d(code + attributes, before, last)]
        up += [nn.BatchNorm2d(before), nn.LeakyReLU(0.2)]
        for wide in (min(2 * filter_, _narrow(MOST, scale)) for filter_ in reversed(filters[:-1])):
            up += [nn.ConvTranspose2d(before, wide, 4, 2, 1), nn.BatchNorm2d(wide), nn.LeakyReLU(0.2)]
            before = wide
        up += [nn.ConvTranspose2d(before, channels, 4, 2, 1), nn.Tanh()]
        return nn.ModuleDict({"encoder": nn.Sequential(*down), "decoder": nn.Sequential(*up)})


def critic_of(about: Mapping[str, Any], categories: int, numbers: int) -> Module:
    """Return the critic: it judges, classifies attributes and estimates the pose; needed for training alone."""
    last, filters = _steps(about)
    trunk, before = [], about["channels"]
    for wide in filters[:-1]:
        trunk += [nn.Conv2d(before, wide, 4, 2, 1), nn.InstanceNorm2d(wide, affine=True), nn.LeakyReLU(0.2)]
        before = wide
    flat, head = before * (2 * last) ** 2, _narrow(HEAD, about["scale"])
    heads = {"judge": 1, "categories": categories, "numbers": numbers}
    built = {
        name: nn.Sequential(nn.Linear(flat, head), nn.LeakyReLU(0.2), nn.Linear(head, wide))
        for name, wide in heads.items()
        if wide
    }
    return nn.ModuleDict({"trunk": nn.Sequential(*trunk, nn.Flatten()), **built})


def code_length(scale: float) -> int:
    """Return how many numbers a code has."""
    return _narrow(CODE, scale)


def _steps(about: Mapping[str, Any]) -> tuple[int, list[int]]:
    """The side that the last convolution takes in one, and the filters of the steps before it."""
    side, count = about["height"], 0
    while side % 2 == 0 and side > 3:
        side, count = side // 2, count + 1
    if about["width"] != about["height"] or side not in (2, 3) or count < 3:
        raise ParameterError(
            "faces for this network are squares of two or three times a power of two, such as 32, 48, 64 or 128 pixels."
        )
    return side, [_narrow(min(FIRST << step, MOST), about["scale"]) for step in range(count)]


def _narrow(wide: int, scale: float) -> int:
    return max(2, round(wide * scale))
