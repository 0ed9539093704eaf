"""Test of whether a model can draw a picture, by the part it leaves out. For data owners alone.

A model of drawn faces makes a drawn face of every photograph, and measurements on its public faces then hold less for
such photographs. Therefore the part that the model leaves out of a picture (the root of the mean squared difference
between the picture and its picture by the model without noise) is compared with a limit: how different a public person
in the model's file is from the one who is most like them, the median over these people. A new face of the same kind
stays below it: at most 36 of a limit of 40 for the shipped model and drawn faces that it never saw, and 35 of 45 for
eigenfaces of 60 photographs and 40 others. Photographs in the shipped model are above it: 61 to 145, and 40 for a
small blurred head on a plain ground.

The difference depends on the picture. It is in no output, and a refusal is for the owner of the pictures.

>>> import numpy as np
>>> from noisewright.images import shipped_model, sprite_faces
>>> model, others = shipped_model(), sprite_faces().of(range(68, 135)).pictures
>>> round(float(left_out(model, others).max())), round(most_left_out(model))
(36, 40)
>>> grass = np.random.default_rng(1).integers(0, 90, (1, 48, 48, 3), dtype=np.uint8)
>>> bool(left_out(model, grass)[0] > most_left_out(model))
True

A face becomes a code of a public model, the code gets exact noise, and a new face is drawn from the noisy code
(:mod:`noisewright.images.faces.latent_noise`).

**Guarantee.** ``epsilon`` for each unit of the distance between the codes of two faces, which is 1 between opposite
corners of the public box: so ``epsilon`` between any two faces whatever, and less between faces that are alike. Only
the first ``components`` elements of a code come out; the others equal the mean of public faces. Exact: integers are
drawn, the certificate proves the law of each element, names the model by its SHA-256, and states the meaning of
epsilon on the model's public faces (:mod:`noisewright.images.faces.reidentification`).

**The model must be made of public faces**: nothing here protects the people it was made of. Photographs must be
cropped and aligned as those were; other content of a picture is coded as if it were a face. A picture that lies far
from the model's range is refused, unless ``unlike="draw"`` is given: the small model that comes along was made of
drawn faces, and photographs are far from those.

>>> hidden = private_faces(epsilon=50)
>>> hidden
faces(epsilon = 50 for 8 components of 'drawn-faces.nwm')
>>> from noisewright.images import sprite_faces
>>> hidden.release(sprite_faces().pictures[0]).shape
(48, 48, 3)
>>> hidden.certificate().verify().partition(",")[0]
'epsilon = 50 per unit of 1/32768 * manhattan between two faces'
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any, Literal, get_args

import numpy as np
from scipy.spatial.distance import pdist, squareform

from noisewright._typing import Floats
from noisewright._utils.validation import one_of
from noisewright.base import EPSILON, Entry, Parameter, Stated, Takes
from noisewright.certificates.certificate import Certificate
from noisewright.claims.figures import upward
from noisewright.claims.phrases import measured_parts
from noisewright.exceptions import CertificateError, DataError, ParameterError
from noisewright.guarantees import Guarantee
from noisewright.images.base import FIT, Fit, PictureMechanism, cells
from noisewright.images.faces.latent_noise import TOGETHER, LatentObfuscator
from noisewright.images.faces.latent_space import LatentMetric, least_error_weights
from noisewright.images.faces.model import FaceModel, as_model
from noisewright.images.faces.reidentification import FaceScale, measured_on_public_faces
from noisewright.images.pictures import Colours, Picture, read_picture
from noisewright.io.model_files import source_of
from noisewright.numerics.exact import Exact
from noisewright.resources import Resource
from noisewright.sampling.random_bits import Bits

__all__ = ["FaceDistance", "PrivateFaces", "left_out", "measured_in_words", "most_left_out", "private_faces"]


def left_out(model: FaceModel, pictures: Picture) -> Floats:
    """Return how much of each of several pictures the model cannot draw, in steps of colour."""
    drawn = model.decode(model.encode(pictures), model.attributes_of(pictures))
    away = _flat(drawn) - _flat(pictures)
    return np.asarray(np.sqrt(np.mean(away**2, axis=1)))


def most_left_out(model: FaceModel) -> float | None:
    """Return the limit of a model, from the public people in its file alone; None if it keeps fewer than two."""
    gallery = getattr(model, "gallery", None)
    if gallery is None or len(codes := gallery.one_each) < 2:
        return None
    people = _flat(model.decode(codes))
    apart = squareform(pdist(people)) / np.sqrt(people.shape[1])
    np.fill_diagonal(apart, np.inf)
    return float(np.median(apart.min(axis=1)))


def _flat(pictures: Picture) -> Floats:
    return np.asarray(pictures, np.float64).reshape(len(pictures), -1)


# Hidden faces -------------------------------------------------------------------------------------------------------------
#
# Faces of people who do not exist, for columns and folders of photographs: files in, files out, in the size of a public model.


MODEL = Parameter("Public file of a face model. Default: the small model in the package.", 'model = "faces.nwm"')
COMPONENTS = Parameter(
    "Number of elements of the code of a face that are released. Default: those with little noise.", "components = 20"
)
WEIGHTS = Parameter(
    "Division of epsilon among the elements of a code: even, or for the least squared error.", 'weights = "even"'
)
ATTRIBUTES = Parameter(
    "Attributes of a face that pass around the noise, unprotected, if the model knows them.",
    'attributes = ["expression"]',
)
UNLIKE = Parameter(
    "Treatment of a picture that the face model cannot reproduce: refuse it, or draw the nearest face of the model.",
    'unlike = "draw"',
)

NAME = "faces"
Weights = Literal["even", "least-error"]
Unlike = Literal["refuse", "draw"]


def private_faces(
    model: Annotated[Resource | FaceModel | None, MODEL] = None,
    *,
    epsilon: Annotated[Exact, EPSILON],
    components: Annotated[int | None, COMPONENTS] = None,
    weights: Annotated[Weights, WEIGHTS] = "even",
    attributes: Annotated[Sequence[str], ATTRIBUTES] = (),
    fit: Annotated[Fit, FIT] = "refuse",
    unlike: Annotated[Unlike, UNLIKE] = "refuse",
) -> PrivateFaces:
    """A mechanism on faces of the size of a public model; without one, of the small model that comes along.

    ``components``: number of elements of a code that come out; by default those with noise below 0.9 of their standard
    deviation among public faces. ``weights``: elements share epsilon evenly, or so that the squared error is least.
    ``attributes``: attributes of a face that pass around the noise, **in the clear**, where the model knows such
    attributes. ``unlike``: handling of a picture that lies far from the pictures that the model can draw
    (:mod:`noisewright.images.faces.mechanism`): it is refused, which is for its owner to see, or drawn
    nevertheless.
    """
    found = as_model(model)
    if not isinstance(attributes, (list, tuple)) or not all(isinstance(name, str) for name in attributes):
        raise ParameterError("attributes is a list of the names of attributes that pass in the clear.")
    found = found.keeping(*attributes) if attributes else found
    one_of(weights, "weights", get_args(Weights))
    one_of(fit, "fit", ("refuse", "resize"))
    one_of(unlike, "unlike", get_args(Unlike))
    hidden = LatentObfuscator(found, epsilon=epsilon, components=components)
    if weights == "least-error":
        ranges = (found.high - found.low)[: hidden.components]
        hidden = LatentObfuscator(
            found, epsilon=epsilon, components=hidden.components, weights=least_error_weights(ranges)
        )
    return PrivateFaces(hidden, fit=fit, unlike=unlike, clear=found.clear)


@dataclass(frozen=True)
class PrivateFaces(PictureMechanism):
    """A mechanism on faces; build it with :func:`private_faces`."""

    hidden: LatentObfuscator
    unlike: Unlike = field(default="refuse", kw_only=True)
    name = NAME
    whose_size = "the size of the model,"
    other_sizes = "crop and align faces as those of the model"
    together = TOGETHER

    @property
    def shape(self) -> tuple[int, int, int]:
        """Rows, columns and channels of every face."""
        return self.hidden.model.shape

    @property
    def epsilon(self) -> Fraction:
        """Epsilon between any two faces, exactly."""
        return self.hidden.epsilon

    @property
    def resources(self) -> tuple[Resource, ...]:
        """The model's file."""
        return (self.hidden.model.resource,)

    @property
    def guarantee(self) -> Guarantee:
        """``epsilon`` per unit of the distance of codes."""
        promise = self.hidden.guarantee
        return replace(promise, metric=FaceDistance(self.hidden.space, self.hidden.model))

    @cached_property
    def meaning(self) -> FaceScale | None:
        """Meaning of epsilon on the public faces of the model."""
        return measured_on_public_faces(self.hidden)

    @property
    def source(self) -> str:
        """The file of the model, and whose faces it was made of, as the file states it."""
        return source_of(self.hidden.model.resource)

    @property
    def measured(self) -> dict[str, Any] | None:
        """The same as a record."""
        return None if self.meaning is None else self.meaning.record(self.source)

    def certificate(self, rng: np.random.Generator | None = None) -> Certificate:
        """Return the certificate: proof about the codes, model, attributes around the noise, meaning of epsilon on
        public faces."""
        return self.hidden.codes.certificate(
            rng, name=NAME, resources=self.resources, clear=self.clear, measured=self.measured
        )

    def in_words(self) -> str:
        """Return the guarantee, its limits, and the meaning of epsilon on public faces, in words."""
        return " ".join([super().in_words(), *measured_in_words(self.measured)])

    def drawn(self, picture: Picture, bits: Bits) -> Picture:
        """A new face for one in the size of the model."""
        self._check_like(picture[None])
        return self.hidden.release(picture, bits)

    def several(self, pictures: Sequence[Picture], bits: Bits) -> Iterable[Picture]:
        """All of them at once."""
        given = np.asarray(pictures)
        self._check_like(given)
        return self.hidden.release(given, bits)

    def check(self, values: Any) -> None:
        """Refuse what ``release`` would refuse."""
        if isinstance(values, np.ndarray) and values.dtype == np.uint8:
            self._check_like(self._shaped(values))
            return
        for content in [values] if isinstance(values, bytes) else cells(values):
            self._check_like(self._read(content)[None])

    @cached_property
    def most_left_out(self) -> float | None:
        """Limit of the part of a picture that the model may leave out, by its public people; None if it keeps too few."""
        return most_left_out(self.hidden.model)

    def _check_like(self, pictures: Picture) -> None:
        """Refuse pictures that lie far from the pictures that the model can draw."""
        if self.unlike == "draw" or not len(pictures) or self.most_left_out is None:
            return
        for start in range(0, len(pictures), TOGETHER):
            if (left_out(self.hidden.model, pictures[start : start + TOGETHER]) > self.most_left_out).any():
                raise DataError(
                    f"a picture lies far from what the model {self.source} can draw, so what is measured among its public faces "
                    'says little about it; take a model of public faces of the same kind, or say unlike = "draw".'
                )

    def __repr__(self) -> str:
        about = f"epsilon = {upward(self.epsilon)} for {self.hidden.components} components"
        return f"{NAME}({about} of {self.hidden.model.resource.name!r})"


def measured_in_words(measured: Mapping[str, Any] | None) -> list[str]:
    """Return measurements on public faces as a sentence, if any."""
    told = "; ".join(measured_parts(measured))
    return [f"Measured on public faces of the model: {told}."] if told else []


@dataclass(frozen=True)
class FaceDistance(LatentMetric):
    """The distance between the codes of two faces, which are files or pixels in the size of the model."""

    model: FaceModel

    def matrix(self, points: Sequence[Any]) -> Floats:
        """All distances between faces."""
        colours: Colours = "grey" if self.model.shape[2] == 1 else "rgb"
        faces = [
            read_picture(face, colours=colours) if isinstance(face, bytes) else np.asarray(face) for face in points
        ]
        return super().matrix(list(self.model.encode(np.stack(faces), self.space.size)))


def _rebuilt(certificate: Certificate) -> PrivateFaces:
    """The mechanism behind its certificate, if the file of the model is here."""
    if certificate.document.get("in_the_clear"):
        raise CertificateError("a certificate does not state how attributes are read; make the mechanism again.")
    return _with_these_codes(certificate)


def _with_these_codes(certificate: Certificate) -> PrivateFaces:
    document = certificate.document
    model = Resource.from_json(document["resources"][0])
    draws = document["claim"].get("secret", {}).get("draws", 1)  # each was measured
    parts = [{**part, "count": (part["count"] or 0) // draws} for part in document["proof"]["parts"]]
    components = sum(part["count"] for part in parts)
    for weights in get_args(Weights):
        made = private_faces(model, epsilon=certificate.epsilon, components=components, weights=weights)
        if made.certificate().document["proof"] == {**document["proof"], "parts": parts}:
            return made
    raise CertificateError(f"the proof is not about codes of {model.name} as this version makes them.")


def _stated(certificate: Certificate) -> Stated | None:
    """Return the meaning of epsilon on the public faces of the model, where the certificate states it: measured again
    from the file."""
    told = certificate.document.get("measured")
    if not told:
        return None
    what = f"what epsilon means on the public faces of {certificate.document['resources'][0]['name']}"

    def again() -> str:
        found = _with_these_codes(certificate).meaning
        if found is None or not found.says(told):
            raise CertificateError(f"{what} is not what the certificate states.")
        return f"{what} was measured again, and is as stated"

    return Stated(what, 0.5, again)


ENTRY = Entry(
    NAME,
    private_faces,
    Takes("image"),
    summary="faces of people who do not exist: exact noise on the code of a public model",
    words="pictures of faces",
    rebuild=_rebuilt,
    stated=_stated,
)
