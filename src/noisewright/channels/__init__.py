"""Channels: the probabilities of outputs for each secret, what an audit of them finds, and tables of integers that prove it."""

from typing import TYPE_CHECKING

from noisewright._utils.lazy import attach

if TYPE_CHECKING:
    from noisewright.channels.hyper import Hyper as Hyper
else:
    __getattr__, __dir__, __all__ = attach(
        __name__,
        {
            "Hyper": "hyper",
        },
    )
