r"""Risk and utility of obfuscated faces, one :class:`Risk` for each method: the numbers of a risk table.

Attackers know several faces of each person; one more face of everyone is obfuscated, and they name the person. Next to
the attackers on pictures stands the *best* possible one, who inverts the decoder and knows the very codes of the
gallery:

* noise on codes: :class:`~noisewright.images.attackers.bayes.BayesAttacker`, after one release and after two;
* Laplace noise on blocks of pixels: the same, since the sums of blocks are a code on a lattice; levels drawn from a table, and
  windows drawn by likeness: :mod:`noisewright.images.attackers.on_blocks` and :mod:`~noisewright.images.attackers.on_windows`;
* what is not drawn at random: who runs the method on all candidates is wrong only among those with the same output, so is right
  about (number of outputs) / (number of people); for k-same, two releases of overlapping galleries leave the intersections of
  clusters (:mod:`noisewright.images.attackers.on_clusters`), and who knows half of the others not to be in a picture
  (*background*) guesses among the rest of a cluster.

The best attacker is cheap to ask, so it is asked about thousands of draws (``draws``), and attackers on pictures about fewer
(``copies`` of each face): where one of them seems to do better than the best, that is within its interval
(:attr:`Risk.intervals`), and is reported all the same.

The risk that is reported is the largest that was measured on one release, :attr:`Risk.strongest`. *Reverse* and *composed* see
several.

Utility: SSIM and the squared error next to the original, and the share of faces whose attributes, such as a gender,
are still recognised correctly by a recogniser of *other* people's faces.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.core.choices import is_whole
from noisewright.core.errors import DataError, ParameterError
from noisewright.images.attackers.bayes import BayesAttacker
from noisewright.images.attackers.on_blocks import BlockAttacker, LevelAttacker
from noisewright.images.attackers.on_clusters import composed_guesses, intersections, without
from noisewright.images.attackers.on_pictures import LabelledFaces, Obfuscate, PictureAttackers
from noisewright.images.attackers.on_windows import WindowAttacker
from noisewright.images.attackers.recogniser import Recogniser
from noisewright.images.baselines.k_same import Clusters
from noisewright.images.faces.code_space import CodeSpace
from noisewright.images.faces.noisy_codes import NoisyCodes
from noisewright.images.faces.obfuscator import LatentObfuscator
from noisewright.images.pictures.reading import Picture
from noisewright.images.pictures.similarity import mse, ssim
from noisewright.images.pixels.exponential import PixelExponential
from noisewright.images.pixels.laplace import PixelLaplace
from noisewright.images.pixels.mechanism import TOP, BlockMechanism
from noisewright.images.pixels.windows import PixelWindows

__all__ = ["ONE_RELEASE", "Attribute", "FaceAttacks", "Risk"]

ONE_RELEASE = ("best", "parrot", "naive")
"""The attacks that see one release of each face that they are asked about."""

OWN = 7
"""Divisor of the number of people in a gallery: that share is in the first of two releases alone, and in the second."""

FEWER = 8
"""Factor by which fewer levels and windows are drawn, since they take longer than codes."""

KSame = Callable[[Picture, np.random.Generator], tuple[Picture, Clusters]]
"""One face for each person of a gallery, and the clusters, which are picked at random."""


@dataclass(frozen=True)
class Risk:
    """Success rate of each attack on a method, and utility of the method."""

    method: str
    attacks: Mapping[str, float]
    kept: Mapping[str, float]
    components: int | None = None
    bound: float | None = None
    """Largest success probability that the guarantee allows any attacker on one release; None without a guarantee."""
    left: float | None = None
    """For clusters: how many people are left on average after two releases."""
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Where draws are random: what each share is between for these people, with a confidence of 95 % (Clopper and Pearson)."""

    @property
    def strongest(self) -> str:
        """The attack on one release that was right most often; of those that were as often right, the best one."""
        return max((name for name in ONE_RELEASE if name in self.attacks), key=lambda name: self.attacks[name])

    @property
    def risk(self) -> float:
        """Return how often that is right."""
        return self.attacks[self.strongest]


@dataclass(frozen=True, eq=False)
class Attribute:
    """Attribute of people that may be kept: its recogniser, and the true value for each attacked face."""

    recogniser: Recogniser
    truth: NDArray[Any]


@dataclass(eq=False)
class FaceAttacks:
    """All attacks on the faces of some people.

    ``known`` are faces that attackers have, and ``asked`` one other face of everyone, of which ``copies`` releases are
    attacked; who learns from obfuscated faces makes ``taught`` of each that is known. The best attacker on codes is
    asked about ``draws`` or more. All of it is a simulation.
    """

    known: LabelledFaces
    asked: LabelledFaces
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    copies: int = 10
    taught: int = 3
    draws: int = 20_000
    seed: int = 0
    recogniser: Callable[[], Recogniser] = Recogniser

    def __post_init__(self) -> None:
        if not all(is_whole(number) and number >= 1 for number in (self.copies, self.taught, self.draws)):
            raise ParameterError("copies, taught and draws are whole numbers from 1 on.")
        people, known = np.asarray(self.asked.people), np.asarray(self.known.people)
        if len(set(people.tolist())) < len(people) or set(people.tolist()) != set(known.tolist()):
            raise DataError("one face of each person is asked about, and others of the same people are known.")
        self._people = people
        places = [np.flatnonzero(known == person) for person in people]
        fewest = min(map(len, places))
        self._galleries = np.array([of[:fewest] for of in places]).T
        self._attackers = PictureAttackers(self.known, self.asked, self.recogniser)

    def clean(self) -> Risk:
        """Faces as they are: how well people are distinguished at all."""
        found = {"naive": float((self._attackers.naive.predict(self.asked.pictures) == self._people).mean())}
        return Risk("clean", found, self._kept(self.asked.pictures))

    def codes(self, hidden: LatentObfuscator, method: str) -> Risk:
        """Noise on the codes of a model."""
        rng = self._rng()
        risk = self.drawn(lambda faces: hidden.release(faces, rng), method)
        codes = hidden.model.encode(self.asked.pictures, hidden.components)
        return replace(self._with_best(risk, BayesAttacker(hidden.codes, codes), rng), components=hidden.components)

    def pixels(self, made: BlockMechanism, method: str) -> Risk:
        """A mechanism on pixels, whose guarantee is between any two pictures."""
        rng = self._rng()
        risk = self.drawn(lambda faces: np.asarray(made.release(faces, rng)), method)
        if isinstance(made, PixelLaplace):
            sums = made.blocks.sums(self.asked.pictures).reshape(len(self._people), -1)
            most = tuple((TOP * made.blocks.areas[..., None].repeat(made.channels, -1)).reshape(-1).tolist())
            space = CodeSpace((0.0,) * len(most), tuple(map(float, most)), most)
            return self._with_best(risk, BayesAttacker(NoisyCodes(made.epsilon, space), sums), rng)
        best: BlockAttacker | None = None
        if isinstance(made, PixelWindows):
            best = WindowAttacker(made, self.asked.pictures)
        elif isinstance(made, PixelExponential):
            best = LevelAttacker(made, self.asked.pictures)
        return risk if best is None else self._with_best(risk, best, rng, self.draws // FEWER)

    def _with_best(
        self, risk: Risk, best: BayesAttacker | BlockAttacker, rng: np.random.Generator, draws: int | None = None
    ) -> Risk:
        copies = -(-(draws or self.draws) // len(self._people))
        more = {
            "best": best.success(copies, rng),
            "best of two": best.success(copies, rng, releases=2),
        }
        intervals = {**risk.intervals, **self._intervals(more, copies)}
        attacks = {**risk.attacks, **more}
        return replace(risk, attacks=attacks, bound=best.bound, intervals=intervals)

    def drawn(self, obfuscate: Obfuscate, method: str) -> Risk:
        """A method that draws something new every time; nothing is known of the best attacker on it."""
        learned = self.known.repeated(obfuscate, self.taught)
        first, second = (self.asked.repeated(obfuscate, self.copies) for _ in range(2))
        found = self._on_pictures(learned, first, second)
        counted = {name: share for name, share in found.items() if name != "reverse"}
        return Risk(method, found, self._kept(first.pictures), intervals=self._intervals(counted, self.copies))

    def fixed(self, change: Callable[[Picture], Picture], method: str) -> Risk:
        """A method that makes the same picture of a picture every time; ``change`` takes one picture."""

        def all_of(faces: Picture) -> Picture:
            return np.stack([change(face) for face in faces])

        learned, shown = self.known.repeated(all_of, 1), self.asked.repeated(all_of, 1)
        found = self._on_pictures(learned, shown, shown)
        del found["composed"]  # the second release is the first
        found["best"] = len(np.unique(shown.pictures, axis=0)) / len(self._people)
        return Risk(method, found, self._kept(shown.pictures))

    def k_same(self, make: KSame, method: str) -> Risk:
        """Means of clusters of people, over ``taught`` random orders."""
        risks = [self._one_k_same(make, method, rng) for rng in self._rng().spawn(self.taught)]
        return Risk(
            method,
            _means([risk.attacks for risk in risks]),
            _means([risk.kept for risk in risks]),
            left=float(np.mean([risk.left for risk in risks])),
        )

    def _one_k_same(self, make: KSame, method: str, rng: np.random.Generator) -> Risk:
        people, many = self._people, len(self._people)
        released, clusters = make(self.asked.pictures, rng)
        faces = [make(self.known.pictures[gallery], rng)[0] for gallery in self._galleries]
        learned = LabelledFaces(np.concatenate(faces), np.tile(people, len(faces)))
        shown = LabelledFaces(released, people)
        found = self._on_pictures(learned, shown, shown)
        found["best"] = len(clusters) / many
        absent = [rng.permutation(np.delete(np.arange(many), person))[: (many - 1) // 2] for person in range(many)]
        cluster_of = {int(person): cluster for cluster in clusters for person in cluster}
        found["background"] = float(
            np.mean([1 / len(without(cluster_of[person], set(absent[person].tolist()))) for person in range(many)])
        )
        order, own = rng.permutation(many), many // OWN
        sides = [np.sort(np.delete(order, np.s_[part * own : (part + 1) * own])) for part in range(2)]
        both = np.intersect1d(sides[0], sides[1])
        outputs = [make(self.asked.pictures[side], rng) for side in sides]
        named = [[people[side[of]].tolist() for of in made[1]] for side, made in zip(sides, outputs, strict=True)]
        left = intersections(named[0], named[1], people[both].tolist())
        seen = [made[0][np.isin(side, both)] for side, made in zip(sides, outputs, strict=True)]
        guesses = composed_guesses(self._attackers.naive, seen[0], seen[1], left)
        found["composed"] = float((guesses == people[both]).mean())
        found["best of two"] = float(np.mean([1 / len(those) for those in left]))
        return Risk(method, found, self._kept(released), left=float(np.mean([len(those) for those in left])))

    def _on_pictures(self, learned: LabelledFaces, first: LabelledFaces, second: LabelledFaces) -> dict[str, float]:
        found = self._attackers.risks(learned, first, second)
        del found["clean"]
        return found

    def _kept(self, shown: Picture) -> dict[str, float]:
        times = len(shown) // len(self._people)
        original = np.concatenate([self.asked.pictures] * times)
        kept = {"ssim": ssim(shown, original), "mse": mse(shown, original)}
        for name, attribute in self.attributes.items():
            kept[name] = float((attribute.recogniser.predict(shown) == np.tile(attribute.truth, times)).mean())
        return kept

    def _intervals(self, shares: Mapping[str, float], copies: int) -> dict[str, tuple[float, float]]:
        """Return intervals over draws for these people: each is drawn equally often, so the share varies less than
        under equal draws."""
        from noisewright.estimation.population.intervals import tail_interval

        asked = copies * len(self._people)
        low, high = tail_interval(np.array(list(shares.values())), (0.0, 1.0), asked, 0.95, either=True)
        return {name: (float(a), float(b)) for name, a, b in zip(shares, low, high, strict=True)}

    def _rng(self) -> np.random.Generator:
        return np.random.default_rng(self.seed)


def _means(several: Sequence[Mapping[str, float]]) -> dict[str, float]:
    return {name: float(np.mean([one[name] for one in several])) for name in several[0]}
