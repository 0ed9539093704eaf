"""Risk and utility of obfuscated faces, one :class:`Risk` for each method: the numbers of a risk table.

Attackers know several faces of each person; one more face of everyone is obfuscated, and they name the person. Next to
the attackers on pictures stands the *best* possible one, who inverts the decoder and knows the very codes of the
gallery:

* noise on codes: :class:`~noisewright.images.faces.reidentification.BayesAttacker`, after one release and after two;
* Laplace noise on blocks of pixels: the same, since the sums of blocks are a code on a lattice; levels drawn from a table, and
  windows drawn by likeness: :mod:`noisewright.attacks.face_identification` and
  :mod:`~noisewright.attacks.face_identification`;
* what is not drawn at random: who runs the method on all candidates is wrong only among those with the same output, so is
right
  about (number of outputs) / (number of people); for k-same, two releases of overlapping galleries leave the intersections of
  clusters (:mod:`noisewright.attacks.face_identification`), and who knows half of the others not to be in a picture
  (*background*) guesses among the rest of a cluster.

The best attacker is cheap to ask, so it is asked about thousands of draws (``draws``), and attackers on pictures about fewer
(``copies`` of each face): where one of them seems to do better than the best, that is within its interval
(:attr:`Risk.intervals`), and is reported all the same.

The risk that is reported is the largest that was measured on one release, :attr:`Risk.strongest`. *Reverse* and *composed* see
several.

Utility: SSIM and the squared error next to the original, and the share of faces whose attributes, such as a gender,
are still recognised correctly by a recogniser of *other* people's faces.

Without a model, half of the people count as public: eigenfaces are trained on their faces, and the others are
attacked. The made-up faces are always shared out like that. Recognisers of attributes, such as genders, learned them
from the public half.

>>> trial = Trial.of()
>>> trial.people, trial.model_words
(67, 'eigenfaces of 544 faces of 68 other people')
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright._utils.validation import is_whole, one_of
from noisewright.attacks.face_identification import (
    BlockAttacker,
    LabelledFaces,
    LevelAttacker,
    Obfuscate,
    PictureAttackers,
    WindowAttacker,
    composed_guesses,
    intersections,
    without,
)
from noisewright.exceptions import DataError, FileFormatError, ParameterError
from noisewright.images.blocks import TOP, BlockMechanism, mse, ssim
from noisewright.images.faces.eigenfaces import Eigenfaces, train_eigenfaces
from noisewright.images.faces.latent_noise import LatentObfuscator, NoisyCodes
from noisewright.images.faces.latent_space import CodeSpace
from noisewright.images.faces.model import FaceModel, open_model
from noisewright.images.faces.public_faces import SIDE, PublicFaces, read_faces, sprite_faces
from noisewright.images.faces.reidentification import BayesAttacker, Recogniser
from noisewright.images.pictures import Picture, Region
from noisewright.images.pipeline.baselines import (
    Clusters,
    blurred_picture,
    boxed,
    inpainted,
    k_same_codes,
    noisy_singular_values,
    pixelised,
)
from noisewright.images.pixel_noise import PixelExponential, PixelLaplace, pixel_exponential, pixel_laplace
from noisewright.images.windows import PixelWindows, pixel_windows
from noisewright.io.atomic import Problem, scratch_folder

__all__ = ["ONE_RELEASE", "PIXELS", "Attribute", "FaceAttacks", "Risk", "Trial"]


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
        from noisewright.estimation.result import tail_interval

        asked = copies * len(self._people)
        low, high = tail_interval(np.array(list(shares.values())), (0.0, 1.0), asked, 0.95, either=True)
        return {name: (float(a), float(b)) for name, a, b in zip(shares, low, high, strict=True)}

    def _rng(self) -> np.random.Generator:
        return np.random.default_rng(self.seed)


def _means(several: Sequence[Mapping[str, float]]) -> dict[str, float]:
    return {name: float(np.mean([one[name] for one in several])) for name in several[0]}


# Trials -------------------------------------------------------------------------------------------------------------------
#
# A trial of methods on the faces of a folder, or on made-up ones: who is attacked, by which model, and every row of the table.


ASKED = "neutral"
BLUR, BLOCK, SINGULAR = 2.0, 8, 1.0
PIXELS: dict[str, Any] = {"laplace": pixel_laplace, "exponential": pixel_exponential, "windows": pixel_windows}


@dataclass(frozen=True, eq=False)
class Trial:
    """People, a model, and attacks on them; make one with :meth:`of`."""

    source: str
    model: FaceModel
    model_words: str
    attacks: FaceAttacks
    problems: tuple[Problem, ...] = ()
    """The files that could not be read, and why: they are not in the trial."""

    @classmethod
    def of(
        cls,
        folder: str | os.PathLike[str] | None = None,
        model: str | os.PathLike[str] | None = None,
        *,
        size: int = SIDE,
        copies: int = 10,
        seed: int = 0,
    ) -> Trial:
        """The faces of a folder (:func:`~noisewright.images.read_faces`), or made-up ones; a model's file, or eigenfaces.

        ``size`` is how large the faces of a folder are made where there is no model.
        """
        given = None if model is None else open_model(model)
        faces = _made_up() if folder is None else _folder(Path(folder), given, size)
        people = np.asarray(faces.people)
        names = np.unique(people)
        public = np.isin(people, names[: len(names) // 2 + (folder is None)])
        hidden = np.full(len(people), True) if given is not None and folder is not None else ~public
        asked = np.zeros(len(people), bool)
        asked[np.unique(people, return_index=True)[1]] = True
        asked &= hidden
        attributes = {}
        for name, values in faces.attributes.items() if (public & ~hidden).any() else ():
            told = np.asarray(values)
            if told.dtype.kind != "f" and len(np.unique(told[public])) > 1:
                attributes[name] = Attribute(Recogniser().fit(faces.pictures[public], told[public]), told[asked])
        words = "" if given is None else f"{given.resource.name}, {len(given.low)} elements"
        if given is None:
            given = _eigenfaces(faces.pictures[public])
            words = f"eigenfaces of {public.sum()} faces of {len(np.unique(people[public]))} other people"
        known, one = (LabelledFaces(faces.pictures[some], people[some]) for some in (hidden & ~asked, asked))
        return cls(faces.source, given, words, FaceAttacks(known, one, attributes, copies, seed=seed), faces.problems)

    @property
    def people(self) -> int:
        """Return how many people are attacked."""
        return len(self.attacks.asked.people)

    @property
    def chance(self) -> float:
        """Return how often a blind guess is right."""
        return 1 / self.people

    @property
    def known(self) -> str:
        """Knowledge of attackers, in words."""
        many = len(self.attacks.known.pictures) / self.people
        return f"of whom {many:.3g} faces each are known and one is asked about"

    def noisy(self, epsilon: Fraction, components: int | None = None) -> Risk:
        """Noise on codes."""
        hidden = LatentObfuscator(self.model, epsilon=epsilon, components=components)
        return self.attacks.codes(hidden, f"epsilon {float(epsilon):g}")

    def pixels(self, kind: str, epsilon: Fraction, block: int = BLOCK) -> Risk:
        """A mechanism on blocks of pixels with this side, or as large as faces are."""
        height, width, channels = self.attacks.asked.pictures.shape[1:]
        one_of(kind, "kind", tuple(PIXELS))
        made = PIXELS[kind](
            epsilon=epsilon,
            width=width,
            height=height,
            block=min(block, height, width),
            colours="grey" if channels == 1 else "rgb",
        )
        return self.attacks.pixels(made, f"{kind}, {float(epsilon):g}")

    def k_same(self, k: int) -> Risk:
        """Means of the codes of k people or more."""
        return self.attacks.k_same(lambda faces, rng: k_same_codes(self.model, faces, k, rng=rng), f"k-same, k = {k}")

    def adhoc(self) -> list[Risk]:
        """Ad hoc methods on faces: a blur, blocks, a box, a box that is filled in, noise on singular values."""
        height, width = self.attacks.asked.pictures.shape[1:3]
        middle = Region(round(0.29 * width), round(0.37 * height), round(0.42 * width), round(0.46 * height))
        rng = np.random.default_rng(self.attacks.seed)

        def noisy(faces: Picture) -> Picture:
            return np.stack([noisy_singular_values(face, SINGULAR, rng) for face in faces])

        fixed = self.attacks.fixed
        return [
            fixed(lambda face: blurred_picture(face, BLUR), f"blur of {BLUR:g} pixels"),
            fixed(lambda face: pixelised(face, BLOCK), f"blocks of {BLOCK} pixels"),
            fixed(lambda face: boxed(face, middle), "box"),
            fixed(lambda face: inpainted(face, middle), "box, filled in"),
            fixed(lambda face: inpainted(face, middle, self.model), "box, mean face"),
            self.attacks.drawn(noisy, "singular values"),
        ]


def _made_up() -> PublicFaces:
    """The made-up faces, of everyone the one that is asked about first."""
    found = sprite_faces()
    first = np.lexsort((found.expressions != ASKED, found.people))
    return PublicFaces(
        found.pictures[first], found.people[first], {"gender": found.genders[first]}, source="made-up faces"
    )


def _folder(place: Path, model: FaceModel | None, size: int) -> PublicFaces:
    if model is None:
        faces = read_faces(place, size=size)
    else:
        height, width, channels = model.shape
        if height != width:
            raise DataError("faces of a folder are made square, and the model is of others; give another model.")
        faces = read_faces(place, size=height, colours="grey" if channels == 1 else "rgb")
    if faces.people is None:
        raise FileFormatError("a trial needs to know whose faces are whose: put them into a folder for each person.")
    _, counts = np.unique(np.asarray(faces.people), return_counts=True)
    if len(counts) < 4 or counts.min() < 2:
        unread = "".join(f" {path.name}: {why}" for path, why in faces.problems[:1])
        raise FileFormatError(f"a trial needs four people or more, with two faces or more of each.{unread}")
    return faces


def _eigenfaces(public: Picture) -> Eigenfaces:
    with scratch_folder() as folder:
        model = train_eigenfaces(Path(folder, "public.nwm"), public, source="the public half of a trial")
        _ = model.shape  # read, before the file is gone
    return model
