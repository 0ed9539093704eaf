"""Our pictures, and the enumeration of windows as it was published: every candidate of every window, in floats.

The picture is made up with a fixed seed: shades, edges and texture. Reading and writing files is a row of its own.
"""

from __future__ import annotations

import tempfile
from fractions import Fraction
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from scipy.ndimage import gaussian_filter

from bench.work import Work
from noisewright.images import (
    FaceMethod,
    LatentObfuscator,
    PublicFaces,
    cartoon_faces,
    obfuscate_pictures,
    pixel_exponential,
    pixel_laplace,
    pixel_windows,
    png_of,
    private_faces,
    read_picture,
    sprite_faces,
    train_eigenfaces,
)
from noisewright.images.blocks import ssim_of

__all__ = ["enumeration", "faces", "files", "folder_of_faces", "network", "pixels", "windows"]


def pixels(kind: str, side: int, share: int) -> Work:
    """Every pixel of every channel drawn by itself, from pixels in memory to pixels in memory."""
    make = {"laplace": pixel_laplace, "exponential": pixel_exponential}[kind]
    picture = _picture(side)
    made: Any = make(epsilon=Fraction(share * 3 * side * side), width=side, height=side)
    made.release(picture)  # tables are made once
    return Work(lambda: made.release(picture), side * side, _mean)


def windows(side: int, block: int, rate: int) -> Work:
    """Windows of 3 x 3 blocks over 4 levels at epsilon' = rate / 1000, exactly."""
    cells = (-(-side // block)) ** 2
    made = pixel_windows(epsilon=Fraction(2 * rate * 3 * cells, 9000), width=side, height=side, block=block)
    picture = _picture(side)
    return Work(lambda: made.release(picture), side * side, _mean)


def enumeration(side: int, block: int, rate: int, few: int) -> Work:
    """So many of these windows as the paper describes it: all 262,144 candidates weighed, and one drawn, in floats."""
    values = np.array([0.0, 85, 170, 255])
    number = np.arange(4**9)
    candidates = values[np.stack([number // 4**place % 4 for place in range(9)], 1)]
    cells = _picture(side)[: 3 * block * few : block, : 3 * block : block, 0].astype(float).reshape(few, 9)
    rng, mean = np.random.default_rng(1), candidates.mean(1)
    away, variance = candidates - mean[:, None], candidates.var(1)  # of candidates, made once

    def run() -> np.ndarray:
        drawn = []
        for window in cells:
            cov = away @ ((window - window.mean()) / 9)
            likeness = ssim_of(window.mean(), mean, window.var(), variance, cov)
            sums = np.cumsum(np.exp(rate / 1000 * (likeness - likeness.max())))
            drawn.append(candidates[np.searchsorted(sums, rng.random() * sums[-1])])
        return np.array(drawn)

    return Work(run, few * 9 * block * block / 3, _mean)  # a pixel has three channels


def files(side: int) -> Work:
    """A noisy picture packed into a PNG file and read again."""
    drawn = np.random.default_rng(1).integers(0, 256, (side, side, 3), dtype=np.uint8)
    return Work(lambda: read_picture(png_of(drawn)), side * side, _mean)


def faces(side: int, together: int) -> Work:
    """Made-up faces through noise on their codes, so many in one call; the model is made of other ones, once."""
    with tempfile.TemporaryDirectory() as folder:
        public, _ = cartoon_faces(40, 2, size=side, seed=1)
        hidden = LatentObfuscator(train_eigenfaces(Path(folder, "public.nwm"), public), epsilon=300, components=32)
        given, _ = cartoon_faces(together, 1, size=side, seed=2)
        hidden.release(given)  # the file is mapped into memory
    return Work(lambda: hidden.release(given), together, _mean)


def network(side: int, together: int) -> Work:
    """The same through a convolutional auto-encoder of the usual width; how long it has learned makes no difference here."""
    from noisewright.images import train_autoencoder

    with tempfile.TemporaryDirectory() as folder:
        public = PublicFaces(cartoon_faces(40, 2, size=side, seed=1)[0])
        hidden = LatentObfuscator(
            train_autoencoder(Path(folder, "p.nwm"), public, epochs=1), epsilon=300, components=32
        )
        given, _ = cartoon_faces(together, 1, size=side, seed=2)
        hidden.release(given)
    return Work(lambda: hidden.release(given), together, _mean)


def folder_of_faces(many: int) -> Work:
    """So many files of drawn faces through the mechanism on faces, from a folder into a new one, with two workers."""
    held = tempfile.TemporaryDirectory()
    place = Path(held.name)
    contents = [png_of(face) for face in sprite_faces().of(range(68, 135)).pictures]
    files = [place / f"{number:05}.png" for number in range(many)]
    for number, path in enumerate(files):
        path.write_bytes(contents[number % len(contents)])
    method, turns = FaceMethod(private_faces(epsilon=50, unlike="draw")), count()

    def run() -> int:
        done = obfuscate_pictures(method, files, place / f"out-{next(turns)}", workers=2)
        return sum(one.problem is None for one in done)

    return Work(run, many, lambda done: float(done) if held else 0.0)  # the folder lives as long as the work


def _picture(side: int) -> np.ndarray:
    noise = np.random.default_rng(1).normal(size=(side, side, 3))
    smooth = gaussian_filter(noise, (side / 24, side / 24, 0)) * side / 6 + gaussian_filter(noise, (1, 1, 0))
    return np.clip(128 + 40 * smooth, 0, 255).astype(np.uint8)


def _mean(drawn: np.ndarray) -> float:
    return float(np.mean(drawn))
