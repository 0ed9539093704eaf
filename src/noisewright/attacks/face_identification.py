"""The best attacker on blocks of pixels: who has a picture of everyone, knows the mechanism, and names the likeliest.

For levels that are drawn from a table (:mod:`noisewright.images.pixel_noise`), the likelihood of a candidate is the
product of the entries of the table, one for each block and channel.

>>> from noisewright.images import pixel_exponential
>>> people = np.random.default_rng(1).integers(0, 256, (4, 6, 6, 1), dtype=np.uint8)
>>> attacker = LevelAttacker(pixel_exponential(epsilon=20, width=6, height=6, block=2, colours="grey"), people)
>>> 0.25 < attacker.success(200, np.random.default_rng(1)) <= attacker.bound
True

Its 1/k holds for one release and an attacker who knows nothing. Two organisations that release overlapping galleries without
asking each other put a person into two clusters, and the person is in both: the *intersection* is often the person alone.

>>> shared = intersections([[1, 2, 3], [4, 5, 6]], [[1, 4, 7], [2, 3, 8]], [1])
>>> shared, without([1, 2, 3, 4], [3, 4])
([[1]], [1, 2])

A window y is drawn from a true window x with probability :math:`w(x, y) / Z(x)`
(:mod:`noisewright.images.windows`), and cells next to the windows have Laplace noise. Therefore the
likelihood of each candidate is known except for the sums Z, which are added up over all windows where these can be
listed and epsilon' is large, and estimated from random ones otherwise: there, someone may do a little better than this
attacker.

>>> from noisewright.images import pixel_windows
>>> people = np.random.default_rng(1).integers(0, 256, (4, 12, 12, 1), dtype=np.uint8)
>>> made = pixel_windows(epsilon=40, width=12, height=12, block=2, colours="grey")
>>> attacker = WindowAttacker(made, people)
>>> 0.25 < attacker.success(200, np.random.default_rng(1)) <= attacker.bound
True
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright._typing import Floats
from noisewright._utils.validation import is_whole
from noisewright.exceptions import DataError, ParameterError
from noisewright.images.blocks import TOP, BlockMechanism, ssim_of
from noisewright.images.faces.reidentification import Recogniser, gallery_risk
from noisewright.images.pictures import Picture
from noisewright.images.pixel_noise import PixelExponential, colours_of, noisy_sums
from noisewright.images.windows import PixelWindows, every_window, level_values
from noisewright.sampling.random_bits import Bits, bits_from

__all__ = [
    "TOGETHER",
    "BlockAttacker",
    "LabelledFaces",
    "LevelAttacker",
    "PictureAttackers",
    "WindowAttacker",
    "composed_guesses",
    "intersections",
    "picture_risks",
    "without",
]


TOGETHER = 2048
"""Approximate number of pictures drawn at once."""


class BlockAttacker(ABC):
    """Knows the mechanism, one picture of each person of a gallery, and that all of them are equally likely."""

    def __init__(self, mechanism: BlockMechanism, gallery: Picture) -> None:
        if len(gallery) < 2 or gallery.shape[1:] != mechanism.shape:
            raise DataError("a gallery has two people or more, with one picture of the declared size for each.")
        self.people = len(gallery)
        self._allowed = gallery_risk(1 - np.eye(self.people), mechanism.epsilon)

    @property
    def bound(self) -> float:
        """Largest success probability that the guarantee allows any attacker on one release."""
        return self._allowed

    def success(self, copies: int, rng: np.random.Generator | None = None, *, releases: int = 1) -> float:
        """The share of right guesses when every person of the gallery is released ``releases`` times, ``copies`` times over."""
        if not all(is_whole(number) and number >= 1 for number in (copies, releases)):
            raise ParameterError("copies and releases are whole numbers from 1 on.")
        bits, right = bits_from(rng), 0
        together = max(1, TOGETHER // self.people)
        for start in range(0, copies, together):
            who = np.tile(np.arange(self.people), min(together, copies - start))
            logs = sum((self.likelihoods(who, bits) for _ in range(releases)), np.zeros(1))
            right += int((logs.argmax(1) == who).sum())
        return right / (copies * self.people)

    @abstractmethod
    def likelihoods(self, who: NDArray[Any], bits: Bits) -> Floats:
        """These people drawn once, a row for each: the logarithm of the likelihood of each candidate, up to a common term."""


class LevelAttacker(BlockAttacker):
    """On levels that are drawn from a table."""

    def __init__(self, mechanism: PixelExponential, gallery: Picture) -> None:
        super().__init__(mechanism, gallery)
        self._made, self._gallery = replace(mechanism, blur=0.0), gallery
        self._levels = mechanism.nearest(mechanism.blocks.sums(gallery)).reshape(self.people, -1)
        self._logs = np.log(mechanism.table.table.astype(np.float64))

    def likelihoods(self, who: NDArray[Any], bits: Bits) -> Floats:
        """Blocks come out in the colours of their levels."""
        side, colours = self._made.block, colours_of(self._made.levels)
        logs = np.zeros((len(who), self.people))
        drawn = np.stack([self._made.drawn(self._gallery[person], bits)[::side, ::side] for person in who])
        seen = np.searchsorted(colours, drawn.reshape(len(who), -1))
        for place, true in enumerate(self._levels.T):
            logs += self._logs[true][:, seen[:, place]].T
        return logs


# On clusters --------------------------------------------------------------------------------------------------------------
#
# Attack on k-same: two releases whose clusters overlap, and someone who knows who is not in the picture.


def intersections(
    one: Sequence[Collection[Any]], other: Sequence[Collection[Any]], people: Sequence[Any] | NDArray[Any]
) -> list[list[Any]]:
    """Return for each of the people who is in the same cluster in both releases: at best for privacy everyone of a cluster."""
    first, second = _cluster_of(one), _cluster_of(other)
    if not all(person in first and person in second for person in people):
        raise DataError("people who are in both releases are asked for; somebody is not.")
    return [sorted(first[person] & second[person]) for person in people]


def without(cluster: Collection[Any], impossible: Collection[Any]) -> list[Any]:
    """Return the members of a cluster who remain if some are known not to be in the picture; a guess is then right
    once in the size of the rest."""
    left = sorted(set(cluster) - set(impossible))
    if not left:
        raise DataError("nobody of the cluster is left; somebody who is in the picture was excluded.")
    return left


def composed_guesses(
    recogniser: Recogniser, first: Picture, second: Picture, candidates: Sequence[Collection[Any]]
) -> NDArray[Any]:
    """The most likely of the candidates by both releases of each person: scores are added up."""
    if not len(first) == len(second) == len(candidates):
        raise DataError("both releases have one face for each person, with the candidates for it.")
    scores = recogniser.scores(first) + recogniser.scores(second)
    allowed = np.array([np.isin(recogniser.people, list(those)) for those in candidates])
    if not allowed.any(1).all():
        raise DataError("the recogniser knows none of the candidates for somebody; let it learn all people.")
    return np.asarray(recogniser.people[np.where(allowed, scores, -1).argmax(1)])


def _cluster_of(clusters: Sequence[Collection[Any]]) -> dict[Any, set[Any]]:
    return {person: set(cluster) for cluster in clusters for person in cluster}


# On pictures --------------------------------------------------------------------------------------------------------------
#
# Success rates of attackers who see obfuscated pictures and name the right person.
#
# =============  ===============================================  =====================================================
# attack         learns from                                      is asked about
# =============  ===============================================  =====================================================
# ``clean``      clean pictures                                   clean pictures: how well people are told apart at all
# ``naive``      clean pictures                                   obfuscated ones
# ``parrot``     pictures that it obfuscated itself               obfuscated ones, with noise that it never saw
# ``reverse``    pictures that it obfuscated itself               clean ones
# ``composed``   clean pictures                                   two obfuscated ones of each: scores are added up
# =============  ===============================================  =====================================================
#
# The strongest of them is the number to report, and never the naive one alone; next to it belongs the best possible
# attacker on codes (:mod:`noisewright.images.faces.reidentification`). Nothing of this is private: the numbers are computed
# from the faces themselves.


Obfuscate = Callable[[Picture], Picture]
"""A mechanism on faces: new faces for old ones, with new noise every time."""


@dataclass(frozen=True, eq=False)
class LabelledFaces:
    """Faces, and whose they are."""

    pictures: Picture
    people: NDArray[Any] | Sequence[Any]

    def __post_init__(self) -> None:
        if self.pictures.ndim != 4 or not len(self.pictures) or len(self.pictures) != len(self.people):
            raise DataError("faces have one size, and every face has the label of its person.")

    def repeated(self, obfuscate: Obfuscate, copies: int) -> LabelledFaces:
        """Return the given number of obfuscated copies of each."""
        noisy = np.concatenate([obfuscate(self.pictures) for _ in range(copies)])
        return LabelledFaces(noisy, np.tile(np.asarray(self.people), copies))


class PictureAttackers:
    """Attackers who know some faces of people, and are asked about others of the same people."""

    def __init__(
        self, known: LabelledFaces, asked: LabelledFaces, recogniser: Callable[[], Recogniser] = Recogniser
    ) -> None:
        self.known, self.asked, self._recogniser = known, asked, recogniser
        self.naive = recogniser().fit(known.pictures, known.people)

    def risks(self, learned: LabelledFaces, first: LabelledFaces, second: LabelledFaces) -> dict[str, float]:
        """The share of right answers of each attack, by obfuscated faces to learn from, and two releases of those asked about."""
        parrot = self._recogniser().fit(learned.pictures, learned.people)
        both = self.naive.scores(first.pictures) + self.naive.scores(second.pictures)
        return {
            "clean": _share(self.naive.predict(self.asked.pictures), self.asked),
            "naive": _share(self.naive.predict(first.pictures), first),
            "parrot": _share(parrot.predict(first.pictures), first),
            "reverse": _share(parrot.predict(self.asked.pictures), self.asked),
            "composed": _share(self.naive.people[both.argmax(1)], first),
        }


def picture_risks(
    known: LabelledFaces,
    asked: LabelledFaces,
    obfuscate: Obfuscate,
    *,
    copies: int = 3,
    recogniser: Callable[[], Recogniser] = Recogniser,
) -> dict[str, float]:
    """The share of right answers of each attack, over ``copies`` obfuscations of the known and of the attacked pictures."""
    if not is_whole(copies) or copies < 1:
        raise ParameterError("copies is a whole number from 1 on.")
    learned = known.repeated(obfuscate, copies)
    first, second = asked.repeated(obfuscate, copies), asked.repeated(obfuscate, copies)
    return PictureAttackers(known, asked, recogniser).risks(learned, first, second)


def _share(found: NDArray[Any], truth: LabelledFaces) -> float:
    return float((found == np.asarray(truth.people)).mean())


# On windows ---------------------------------------------------------------------------------------------------------------
#
# The best attacker on windows that were drawn by their likeness: who has a picture of everyone and knows the
# mechanism.


SAMPLED, LARGE = 1 << 14, 6
"""Number of random windows from which sums are estimated, unless epsilon' is larger than this."""


class WindowAttacker(BlockAttacker):
    """On windows of cells, and on the cells next to them."""

    def __init__(self, mechanism: PixelWindows, gallery: Picture) -> None:
        super().__init__(mechanism, gallery)
        self.mechanism = mechanism
        self._sums = mechanism.blocks.sums(gallery)
        means = self._sums / mechanism.blocks.areas[:, :, None]
        self._windows = np.stack([mechanism.grid.cut(one) for one in means])
        areas = np.broadcast_to(mechanism.blocks.areas[:, :, None], self._sums.shape[1:])
        beside = ~mechanism.grid.covered
        self._edges = [(area, (areas == area) & beside[:, :, None]) for area in np.unique(areas[beside]).tolist()]

    def likelihoods(self, who: NDArray[Any], bits: Bits) -> Floats:
        """Windows by their weights, cells next to them by their distances."""
        made = self.mechanism
        logs = np.zeros((len(who), self.people))
        for area, where in self._edges:
            true = self._sums[:, where].astype(np.float64)
            drawn = noisy_sums(self._sums[who][:, where], area, TOP * area / made.share, bits)
            rate = float(made.share) / (TOP * area)
            for place in range(true.shape[1]):
                logs -= rate * np.abs(drawn[:, place, None].astype(np.float64) - true[None, :, place])
        if made.grid.count:
            codes = made.choice.draw(self._windows[who].reshape(-1, made.choice.cells), bits)
            values = level_values(made.levels)[codes].reshape(len(who), -1, made.choice.cells)
            for place in range(values.shape[1]):
                logs += np.log(self._weights(self._windows[:, place], values[:, place])).T - self._totals[:, place]
        return logs

    def _weights(self, true: Floats, drawn: Floats) -> Floats:
        """The weight of each drawn window (a column) for each true one."""
        (mean, away), (mean_of, away_of) = _centred(true), _centred(drawn)
        cov = away @ away_of.T / true.shape[1]
        likeness = ssim_of(mean[:, None], mean_of, (away**2).mean(1)[:, None], (away_of**2).mean(1), cov)
        return np.asarray(self.mechanism.choice.weights(likeness), np.float64)

    @cached_property
    def _totals(self) -> Floats:
        """The logarithm of the mean weight of all windows, for each true window."""
        choice = self.mechanism.choice
        if choice.listable and choice.rate > LARGE:
            every: NDArray[Any] = every_window(choice.cells, choice.levels)
        else:
            every = np.random.default_rng(0).integers(0, choice.levels, (SAMPLED, choice.cells))
        true = self._windows.reshape(-1, choice.cells)
        totals = np.zeros(len(true))
        for start in range(0, len(every), TOGETHER):
            totals += self._weights(true, level_values(choice.levels)[every[start : start + TOGETHER]]).sum(1)
        return np.asarray(np.log(totals / len(every)).reshape(self._windows.shape[:2]))


def _centred(windows: Floats) -> tuple[Floats, Floats]:
    mean = windows.mean(1)
    return mean, windows - mean[:, None]
