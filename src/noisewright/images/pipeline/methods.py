"""Ways to obfuscate a picture that is at hand, whatever its size: methods for a folder of photographs.

A method turns one picture into another and states its guarantee for pictures of that size. The methods on pixels make
a mechanism for each size that comes along, and so the size of every picture is in the clear; so is everything outside
of regions, if regions are given. The method on faces takes a picture, or each region, for one face, which comes out in
the size of its model, or in the size of the region.

>>> import numpy as np
>>> method = PixelMethod("laplace", Fraction(50), {"block": 8})
>>> method.obfuscated(np.zeros((20, 30, 3), np.uint8)).shape
(20, 30, 3)
>>> method.certificate(20, 30, 3).verify().partition(";")[0]
'epsilon = 50 per unit of discrete between two pictures of one size, over 36 independent parts'
"""

from __future__ import annotations

import glob
import os
import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from noisewright._utils.inputs import read_input
from noisewright._utils.validation import is_whole, one_of
from noisewright.certificates.certificate import Certificate
from noisewright.exceptions import FileFormatError, NoisewrightError, ParameterError
from noisewright.guarantees import Guarantee, split
from noisewright.images.base import PictureMechanism, of_all_draws
from noisewright.images.blocks import AnyPicture, BlockMechanism, ChangedPixels, whole_certificate
from noisewright.images.faces.latent_space import LatentMetric
from noisewright.images.faces.mechanism import PrivateFaces, measured_in_words
from noisewright.images.pictures import (
    IN_THE_CLEAR,
    MOST_BYTES,
    Colours,
    Inside,
    Picture,
    Region,
    kept_metadata,
    png_of,
    read_picture,
    recoloured,
    replaced,
    resized,
)
from noisewright.images.pixel_noise import pixel_exponential, pixel_laplace
from noisewright.images.windows import pixel_windows
from noisewright.io.atomic import Found, check_free, look_in, numbered_name, own_names, whole_file, whole_folder
from noisewright.numerics.exact import Exact
from noisewright.sampling.random_bits import Rng, bits_from, random_order

__all__ = [
    "PIXELS",
    "SUFFIXES",
    "FaceMethod",
    "Method",
    "Obfuscated",
    "PixelMethod",
    "Promise",
    "obfuscate_picture",
    "obfuscate_pictures",
    "picture_files",
    "promise_of_each",
]


PIXELS: dict[str, Any] = {"laplace": pixel_laplace, "exponential": pixel_exponential, "windows": pixel_windows}
"""The constructors of mechanisms on pixels, by the name of their method."""

SIZE, OUTSIDE = (
    "the size of pictures, and whether they are grey",
    "everything outside of the regions, and where they are",
)


@dataclass(frozen=True)
class Promise:
    """Guarantee for a whole picture, whatever its parts."""

    guarantee: Guarantee
    alone: str
    """The same in words, for two pictures as far apart as any."""
    clear: str
    """Limits of the guarantee, in a sentence."""
    each: Guarantee | None = None
    """Where faces or places are drawn for epsilon each: the guarantee about one of them."""
    measured: Mapping[str, Any] | None = None
    """The meaning of epsilon on public faces, as a record, if it was measured."""

    @property
    def words(self) -> str:
        """All of it in words."""
        return " ".join([self.unmeasured, *measured_in_words(self.measured)])

    @property
    def unmeasured(self) -> str:
        """The guarantee and its limits, without measurements."""
        return f"{self.alone} {self.clear}"


class Method(Protocol):
    """Method that obfuscates single pictures."""

    def drawn(self, picture: Picture, rng: Rng = None, source: Path | None = None) -> tuple[Picture, int]:
        """The picture that may be shown, and how many faces or regions of it were drawn for epsilon each (1 for the whole).

        A ``NoisewrightError`` for one that cannot be done. ``source`` is its file, for methods that need it.
        """

    def obfuscated(self, picture: Picture, rng: Rng = None, source: Path | None = None) -> Picture:
        """The picture that may be shown."""
        return self.drawn(picture, rng, source)[0]

    def mechanisms(self, height: int, width: int, channels: int) -> tuple[PictureMechanism, ...]:
        """Return the mechanisms for pictures of this size."""

    def certificate(self, height: int, width: int, channels: int, places: int = 1) -> Certificate:
        """Return the certificate of pictures of this size, with at most ``places`` drawn places in each."""
        return self.mechanisms(height, width, channels)[0].certificate()

    def promise(self, height: int, width: int, channels: int, places: int = 1) -> Promise:
        """Return the guarantee for a whole picture of this size, with at most ``places`` sampled places."""


@dataclass(frozen=True, eq=False)
class PixelMethod(Method):
    """A mechanism on pixels for pictures of any size, or for regions of them.

    ``epsilon`` is between any two pictures, and regions, which lie apart, share it in proportion to their sizes: their
    losses add up to it. With ``pixels`` it is between pictures that differ in at most that number of sampled pixels,
    wherever these lie. A ``mask`` marks single pixels; the smallest rectangle around them is drawn, and the rest is
    put back.
    """

    kind: str
    epsilon: Fraction
    options: Mapping[str, Any] = field(default_factory=dict)
    regions: tuple[Region, ...] = ()
    mask: NDArray[np.bool_] | None = None
    pixels: int | None = None

    def __post_init__(self) -> None:
        one_of(self.kind, "method", tuple(PIXELS))
        if self.pixels is not None and (not is_whole(self.pixels) or self.pixels < 1):
            raise ParameterError("pixels is a whole number from 1: in so many of them two pictures may differ.")
        if self.mask is not None and self.regions:
            raise ParameterError("a picture has regions or a mask, not both; draw the regions into the mask.")
        if self.mask is not None:
            object.__setattr__(self, "regions", (Region.around(self.mask),))
        _apart(self.regions)
        side, least = self.options.get("block", 16), {"between": "pixels", "colours": "grey"}
        # For a small picture and epsilon = 1: errors in the options are raised once, before any picture.
        PIXELS[self.kind](epsilon=1, width=side, height=side, **{**self.options, **least})

    def drawn(self, picture: Picture, rng: Rng = None, source: Path | None = None) -> tuple[Picture, int]:
        """The picture, or its regions, through the mechanism."""
        bits, (height, width, channels) = bits_from(rng), picture.shape
        if self.mask is not None and self.mask.shape != (height, width):
            raise ParameterError(
                f"the mask is made for pictures of {self.mask.shape[1]} x {self.mask.shape[0]} pixels."
            )
        made = self.mechanisms(height, width, channels)
        if not self.regions:
            return made[0].drawn(picture, bits), 1
        result = picture
        for region, mechanism in zip(self.regions, made, strict=True):
            result = replaced(result, region, mechanism.drawn(region.of_picture(picture), bits), self.mask)
        return result, 1

    def mechanisms(self, height: int, width: int, channels: int) -> tuple[BlockMechanism, ...]:
        """One for the whole picture, or one for each region."""
        return _made(self, height, width, channels)

    def certificate(self, height: int, width: int, channels: int, places: int = 1) -> Certificate:
        """Return the certificate of everything sampled in a picture of this size, for any number of regions."""
        return whole_certificate(self.mechanisms(height, width, channels), inside=self.inside)

    def promise(self, height: int, width: int, channels: int, places: int = 1) -> Promise:
        """Return the guarantee of all regions together."""
        made = self.mechanisms(height, width, channels)
        found = made[0].guarantee
        if self.regions and isinstance(found.metric, ChangedPixels):
            found = replace(found, metric=replace(found.metric, inside=self.inside))
        elif self.regions and made[0].between == "pictures":
            found = Guarantee.exactly(sum((one.epsilon for one in made), Fraction(0)), AnyPicture(self.inside))
        return Promise(found, found.in_words(self.pixels or 1), made[0].clear_in_words())

    @property
    def inside(self) -> Inside | None:
        """Outside of what two pictures are alike, if only a part of them is drawn; regions share epsilon by their sizes."""
        if not self.regions:
            return None
        return Inside("region" if self.mask is None else "mask", len(self.regions))


@dataclass(frozen=True, eq=False)
class FaceMethod(Method):
    """A model of faces, for pictures of one face each, or for regions that are.

    ``epsilon`` of the mechanism is for each face. Whole pictures come out in the size of the model; a region is resized to it and
    back again.
    """

    faces: PrivateFaces
    regions: tuple[Region, ...] = ()

    def __post_init__(self) -> None:
        _apart(self.regions)

    def drawn(self, picture: Picture, rng: Rng = None, source: Path | None = None) -> tuple[Picture, int]:
        """A new face for the picture, or for each of its regions."""
        bits, (height, width, channels) = bits_from(rng), picture.shape
        if not self.regions:
            return self.faces.drawn(self.faces.fitted(recoloured(picture, self.faces.shape[2])), bits), 1
        result = picture
        for region in self.regions:
            part = recoloured(region.inside(height, width).of_picture(picture), self.faces.shape[2])
            drawn = self.faces.drawn(resized(part, *self.faces.shape[:2]), bits)
            result = replaced(result, region, recoloured(resized(drawn, region.height, region.width), channels))
        return result, len(self.regions)

    def mechanisms(self, height: int, width: int, channels: int) -> tuple[PictureMechanism, ...]:
        """One, whatever comes along: it is the same for every region."""
        return (replace(self.faces, clear=(*self.faces.clear, *([SIZE, OUTSIDE] if self.regions else []))),)

    def certificate(self, height: int, width: int, channels: int, places: int = 1) -> Certificate:
        """Return the certificate of all regions together: per unit of the distance of codes, and their distances add up."""
        found, many = super().certificate(height, width, channels), len(self.regions)
        return found if not many else of_all_draws(found, Inside("region", many, many))

    def promise(self, height: int, width: int, channels: int, places: int = 1) -> Promise:
        """Return the guarantee for all regions together and for each, or for the whole picture if it has none."""
        if not self.regions:
            made = self.mechanisms(height, width, channels)[0]
            found = made.guarantee
            return Promise(found, found.in_words(), made.clear_in_words(), None, made.measured)
        return promise_of_each(self.mechanisms(height, width, channels)[0], places, "region")


def promise_of_each(made: PictureMechanism, many: int, part: Literal["region", "place"]) -> Promise:
    """Return the guarantee if at most ``places`` faces or places of a picture are sampled with epsilon each.

    Losses add up, and no two contents of one are farther apart than 1.
    """
    each, inside = made.guarantee, Inside(part, many, many)
    if isinstance(each.metric, AnyPicture):  # of the frame that a place is seen in
        found, farthest = Guarantee.exactly(many * each.stated("epsilon"), AnyPicture(inside)), 1
        each = replace(each, metric=AnyPicture(Inside(part, 1)))
    else:
        assert isinstance(each.metric, LatentMetric)
        found, farthest = replace(each, metric=replace(each.metric, inside=inside)), many
        each = replace(each, metric=replace(each.metric, inside=Inside(part, 1)))
    return Promise(found, found.in_words(farthest), made.clear_in_words(), each, made.measured)


@lru_cache(maxsize=64)
def _made(method: PixelMethod, height: int, width: int, channels: int) -> tuple[BlockMechanism, ...]:
    """Return the mechanism, cached by the identity of the method: its mask cannot be compared."""
    options = {**method.options, "colours": "grey" if channels == 1 else "rgb"}
    make, epsilon = PIXELS[method.kind], method.epsilon
    regions = [region.inside(height, width) for region in method.regions]
    areas: list[Exact] = [region.width * region.height for region in regions]
    if method.pixels is not None:
        inside = sum(region.width * region.height for region in regions)
        there = height * width if not regions else inside if method.mask is None else int(method.mask.sum())
        if method.pixels > there:
            raise ParameterError(
                f"epsilon cannot be for {method.pixels:,} pixels where {there:,} are drawn; choose fewer, or leave the number "
                "out: then it is between any two pictures."
            )
        options["between"], epsilon = "pixels", epsilon / method.pixels
    if not regions:
        return (replace(make(epsilon=epsilon, width=width, height=height, **options), clear=(SIZE,)),)
    shares = split(epsilon, areas)
    if options.get("between", "pictures") != "pictures":  # a pixel is in one region
        shares = [epsilon] * len(regions)
    return tuple(
        replace(make(epsilon=share, width=region.width, height=region.height, **options), clear=(SIZE, OUTSIDE))
        for region, share in zip(regions, shares, strict=True)
    )


def _apart(regions: tuple[Region, ...]) -> None:
    for place, one in enumerate(regions):
        if any(_overlap(one, other) for other in regions[:place]):
            raise ParameterError("two regions overlap, and what they share would be drawn twice; join them.")


def _overlap(one: Region, other: Region) -> bool:
    apart = (
        one.x + one.width <= other.x
        or other.x + other.width <= one.x
        or one.y + one.height <= other.y
        or other.y + other.height <= one.y
    )
    return not apart


# Obfuscation --------------------------------------------------------------------------------------------------------------
#
# Folders of photographs, obfuscated into a folder that appears whole or not at all.
#
# The output consists of pictures as PNG without metadata (unless plain entries of EXIF are requested, see
# :mod:`noisewright.images.pictures`), in random order and under numbers (names of files often reveal the
# people), and the certificates for the sizes of pictures in which something was sampled. All files have the same time. A
# problem with a single file is reported to the data owner in one sentence, and the rest is done. Pictures stream
# through: a few at a time are in memory.


SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".tif", ".tiff", ".webp", ".ppm", ".pgm")
"""Files of a folder that are taken for pictures."""


@dataclass(frozen=True)
class Obfuscated:
    """Result for one file; ``source`` is secret."""

    source: Path
    target: Path | None
    """New file; None if it was not written."""
    problem: str | None = None
    """Problem with the file, in one sentence."""
    size: tuple[int, int, int] | None = None
    """Rows, columns and channels of what came out."""
    thumbnails: tuple[bytes, bytes] | None = None
    """Small pictures before (secret) and after, if requested."""
    places: int = 1
    """Number of its faces or regions sampled for epsilon each; 0 where it came out as it was, without a guarantee."""


Before = Callable[[Sequence[Obfuscated]], None]


def picture_files(given: Sequence[str | os.PathLike[str]]) -> Found:
    """The files that are named, and all pictures in the folders that are named; see :mod:`noisewright.io.atomic`."""
    return look_in(given, SUFFIXES, "pictures")


def obfuscate_picture(
    method: Method,
    file: Path,
    target: str | os.PathLike[str],
    *,
    colours: Colours | None = None,
    keep_metadata: bool = False,
    replace: bool = False,
    before: Before | None = None,
) -> Obfuscated:
    """One file through the method, into a PNG file with its certificate next to it: new ones, unless they may
    ``replace`` others.

    Where nothing was drawn, nothing is guaranteed, and no certificate is written. ``before`` is called with the
    result, before it is.
    """
    path = Path(target).absolute()
    for taken in (path, *_certificates_of(path)):  # before the work, not after it
        check_free(taken, replace)
    problem, content, size, small, places = _one((file, colours, method, True, keep_metadata))
    if content is None:
        raise FileFormatError(f"{file.name}: {problem}")
    name, certificate = _certificate(method, size, places, [IN_THE_CLEAR] if keep_metadata else [])
    beside = path.with_name(f"{path.stem}.{name}")
    others = _certificates_of(path)
    for taken in (beside, *others):
        check_free(taken, replace)
    done = Obfuscated(file, path, None, size, small, places)
    if before is not None:
        before([done])
    with ExitStack() as staged:
        for target_of, what in [*([(beside, certificate)] if places else []), (path, content)]:
            file_of = staged.enter_context(whole_file(target_of))
            file_of.write(what)
            file_of.flush()
            os.fsync(file_of.fileno())
        # All is on the disk. The old certificates go, the picture appears, and then its certificate: whenever this
        # ends, none stands next to a picture that it is not about.
        for taken in others:
            taken.unlink(missing_ok=True)
    return done


def obfuscate_pictures(
    method: Method,
    files: Sequence[Path],
    target: str | os.PathLike[str],
    *,
    colours: Colours | None = None,
    keep_names: bool = False,
    keep_metadata: bool = False,
    workers: int = 2,
    thumbnails: int = 0,
    progress: Callable[[int, int | None], None] | None = None,
    before: Before | None = None,
) -> list[Obfuscated]:
    """Every file through the method, into the new folder ``target``; the results in the order of ``files``.

    ``thumbnails``: number of results with small pictures of both sides, for the owner. ``before`` is called with the
    results when all is done and before the folder is there: if it fails, no folder is written. Where not a single file
    can be done, no folder is made, and the problem of the first is the error.
    """
    folder = Path(target).absolute()
    if not is_whole(workers) or not 1 <= workers <= 256:
        raise ParameterError("workers is a whole number from 1 to 256.")
    names = own_names(files, ".png") if keep_names else None
    order = list(range(len(files))) if keep_names else random_order(len(files))
    shown, results = set(range(min(thumbnails, len(files)))), {}
    most: dict[tuple[int, int, int], int] = {}
    done = 0
    with whole_folder(folder) as staged:
        jobs = ((files[place], colours, method, place in shown, keep_metadata) for place in order)
        for place, (wrong, content, size, small, places) in zip(order, _ahead(jobs, workers), strict=True):
            if content is None:
                results[place] = Obfuscated(files[place], None, wrong, places=0)
            else:
                done += 1
                name = names[place] if names else numbered_name("picture", done, ".png")  # in the random order
                (staged / name).write_bytes(content)
                results[place] = Obfuscated(files[place], folder / name, None, size, small, places)
                most |= {size: max(places, most.get(size, 0))} if places else {}
            if progress is not None:
                progress(len(results), len(files))
        if not done:
            raise FileFormatError(f"not one picture could be done; {results[0].source.name}: {results[0].problem}")
        also = [*(["the names of the files"] if keep_names else []), *([IN_THE_CLEAR] if keep_metadata else [])]
        for size in sorted(most):
            name, certificate = _certificate(method, size, most[size], also)
            (staged / name).write_bytes(certificate)
        for path in sorted(staged.iterdir()):
            os.utime(path, (0, 0))
        told = [results[place] for place in range(len(files))]
        if before is not None:
            before(told)
    return told


_Job = tuple[Path, Colours | None, Method, bool, bool]
_Done = tuple[str | None, bytes | None, tuple[int, int, int], tuple[bytes, bytes] | None, int]


def _one(job: _Job) -> _Done:
    """One picture, read and drawn; or why not."""
    path, colours, method, shown, kept = job
    try:
        picture = read_picture(path, colours=colours)
        drawn, places = method.drawn(picture, source=path)
        small = (thumbnail(picture), thumbnail(drawn)) if shown else None
        content = png_of(drawn, kept_metadata(read_input(path, MOST_BYTES)) if kept else b"")
        return None, content, (drawn.shape[0], drawn.shape[1], drawn.shape[2]), small, places
    except NoisewrightError as problem:
        return str(problem), None, (0, 0, 0), None, 0


def _ahead(jobs: Iterator[_Job], workers: int) -> Iterator[_Done]:
    """The results in order, with no more pictures in memory than keep the workers busy."""
    with ThreadPoolExecutor(workers) as pool:
        waiting: deque[Future[_Done]] = deque()
        for job in jobs:
            waiting.append(pool.submit(_one, job))
            if len(waiting) > 2 * workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def thumbnail(picture: Picture, side: int = 160) -> bytes:
    """The bytes of a small PNG of a picture, with a maximum width and height in pixels."""
    step = max(1, -(-max(picture.shape[:2]) // side))
    return png_of(picture[::step, ::step].copy())


def _certificates_of(picture: Path) -> list[Path]:
    """The certificates that stand next to a picture, whatever its size was."""
    found = picture.parent.glob(f"{glob.escape(picture.stem)}.certificate-*.json")
    return [
        path for path in found if re.fullmatch(r"certificate-\d+x\d+(-grey)?\.json", path.name[len(picture.stem) + 1 :])
    ]


def _certificate(
    method: Method, size: tuple[int, int, int], places: int, also: Sequence[str] = ()
) -> tuple[str, bytes]:
    """Return the certificate of pictures of a size with at most ``places`` each, and visible files in ``also``: name,
    content."""
    (height, width, channels), found = size, method.certificate(*size, places=max(places, 1))
    stated = found.with_clear([*found.document.get("in_the_clear", ()), *also])
    return f"certificate-{width}x{height}{'-grey' if channels == 1 else ''}.json", stated.to_json().encode()
