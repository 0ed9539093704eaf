"""A mechanism whose numbered outputs are answered with labels: the subject of an optimal mechanism's certificate.

Behind it is a mechanism over 0, 1, 2 and so on, a geometric or a response. The secret in place ``i`` is given to it as
``i``, and its output ``y`` is answered with ``answers[y]``. Answering is post-processing, so the guarantee is the
source's, and the certificate states the answers next to the source's integers.

>>> import noisewright as nw
>>> best = nw.optimal(6, epsilon="1/2", loss="absolute").certificate()
>>> again = AnsweredMechanism.of(best)
>>> again.answers, again.certificate() == best
((1, 1, 2, 3, 4, 4), True)

A certificate is proved first. Then the mechanism is built from its integers: by the registry's entry of its name where
that states how, otherwise by its kind of proof (:mod:`~noisewright.mechanisms.registry`). Its own certificate must then
be the one that was given, in everything but who made it and where its random bits come from. Therefore no one can put
another mechanism behind a proof.

>>> from noisewright.mechanisms.categorical.frequency_oracle import unary_encoding
>>> page = unary_encoding(["home", "news", "help"], epsilon=1)
>>> mechanism_of(page.certificate()) == page
True

Processing of outputs afterwards (a remapping of places) is post-processing, and not part of a certificate. Some
certificates do not name the inputs of a draw: the candidates of a choice, the places of a planar geometric, the
outputs of a uniform responder, the grid of a curve. They are refused in one sentence.
"""

from __future__ import annotations

import json
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from noisewright._utils.validation import fields_alone
from noisewright.base import BaseMechanism, Mechanism, expected_loss
from noisewright.certificates.certificate import Certificate, claimed, metric_called
from noisewright.certificates.checker import checker
from noisewright.certificates.composition import parts_of
from noisewright.channels.channel import Channel
from noisewright.columns.adapters import in_kind
from noisewright.columns.label_encoder import LARGEST_COUNT, Form, Labels
from noisewright.exceptions import CertificateError, NoChannelError, NoisewrightError
from noisewright.guarantees import Guarantee
from noisewright.mechanisms.categorical.base import FiniteMechanism
from noisewright.mechanisms.categorical.probability_table import ChancesMechanism
from noisewright.mechanisms.categorical.randomised_response import response_of
from noisewright.mechanisms.composite import ProductMechanism
from noisewright.mechanisms.numeric.feasible_sets import Feasible
from noisewright.mechanisms.numeric.staircase import SnappedMechanism
from noisewright.mechanisms.registry import PROOFS, registry
from noisewright.metrics.base import Metric, decode_label
from noisewright.metrics.distances import LineDistances
from noisewright.sampling.random_bits import RELEASE_RANDOMNESS, SIMULATION_RANDOMNESS

__all__ = [
    "AnsweredMechanism",
    "chances_mechanism",
    "channel_of",
    "draw_answers",
    "law_mechanism",
    "mechanism_of",
    "oracle_of",
    "product_mechanism",
    "response_mechanism",
    "source_of",
    "table_mechanism",
]


@dataclass(frozen=True)
class AnsweredMechanism(BaseMechanism):
    """A mechanism over places, and the labels that its secrets and its outputs have; :meth:`of` reads it from a certificate."""

    source: Mechanism
    secrets: tuple[Hashable, ...]
    answers: tuple[Hashable, ...]
    """The answer for each output of the source."""
    stated: Certificate

    @classmethod
    def of(cls, certificate: Certificate) -> AnsweredMechanism:
        """The mechanism behind a certificate that states a source and its answers."""
        stated, proof = certificate.document, certificate.document["proof"]
        source: Mechanism
        if proof["kind"] == "response":
            source, size = response_of(proof, certificate.epsilon, None), proof["size"]
        else:
            from noisewright.mechanisms.numeric.geometric import geometric

            low, high = proof["clamp"]
            size = high + 1
            if proof["law"] != "discrete laplace" or low != 0 or size > LARGEST_COUNT:
                raise ValueError("no geometric over places")
            source = geometric(epsilon=1 / Fraction(proof["scale"]), within=(low, high))
        labels = stated.get("secrets", stated.get("inputs"))
        secrets = tuple(range(size)) if labels is None else tuple(decode_label(label) for label in labels)
        if "answers" not in stated and proof["kind"] == "response":  # every output is its own answer
            return cls(source, secrets, secrets, certificate)
        starts, names = zip(*((int(start), decode_label(label)) for start, label in stated["answers"]), strict=True)
        runs = np.diff([*starts, size])
        if starts[0] != 0 or runs.min() < 1 or len(secrets) != size or len(set(secrets)) != size:
            raise ValueError("no answers to the outputs, or no names for the secrets")
        if proof["kind"] == "law":
            _check_places(secrets, stated["claim"])
        answers = tuple(name for name, run in zip(names, runs.tolist(), strict=True) for _ in range(run))
        return cls(source, secrets, answers, certificate)

    @property
    def name(self) -> str:
        """The name in its certificate."""
        return str(self.stated.document["mechanism"])

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee that the certificate claims."""
        return claimed(self.stated.document)

    @in_kind
    def release(self, values: Any, rng: np.random.Generator | None = None) -> Any:
        """One answer for every secret."""
        codes, form = self._inputs.encode(values)
        return draw_answers(self.source, codes, self._places, self._outputs, form, rng)

    def certificate(self, rng: np.random.Generator | None = None) -> Certificate:
        """The source's integers and the claim that they prove."""
        randomness = RELEASE_RANDOMNESS if rng is None else SIMULATION_RANDOMNESS
        document = {**self.stated.document, "randomness": randomness}
        return Certificate({**document, "digest": checker.digest(document)})

    def error(self, loss: str = "absolute") -> float:
        """The expected loss of an answer taken at face value, for the secret where that is largest."""
        return expected_loss(self.channel(), loss)

    def channel(self) -> Channel:
        """The channel from secrets to answers."""
        inner = self.source.channel()
        onto = Channel.deterministic(dict(zip(inner.outputs, self.answers, strict=True)).__getitem__, inner.outputs)
        made = inner @ onto
        return Channel.from_logs(made.logs, self.secrets, made.outputs)

    @cached_property
    def _actions(self) -> tuple[Hashable, ...]:
        return tuple(dict.fromkeys(self.answers))

    @cached_property
    def _places(self) -> Any:
        order = {answer: place for place, answer in enumerate(self._actions)}
        return np.array([order[answer] for answer in self.answers], dtype=np.intp)

    @cached_property
    def _inputs(self) -> Labels:
        return Labels(self.secrets)

    @cached_property
    def _outputs(self) -> Labels:
        return Labels(self._actions)

    __getstate__ = fields_alone


def draw_answers(
    source: Mechanism, start: Any, places: Any, answers: Labels, form: Form, rng: np.random.Generator | None
) -> Any:
    """A draw of the source for every input, answered: output ``y`` with the label in place ``places[y]`` of ``answers``."""
    drawn = np.asarray(source.release(start, rng), dtype=np.intp)
    return answers.decode(places[drawn], form)


def _check_places(secrets: tuple[Hashable, ...], claim: Any) -> None:
    """Check that secrets lie along a line in the order of their places, no nearer than the proved step.

    The checker proves a loss for one step of the places; which secret is in which place is stated next to that.
    """
    step, metric = Fraction(claim["distances"]["distance"]), metric_called(claim["metric"])
    distances = metric.exact(secrets)
    if not isinstance(distances, LineDistances):
        raise ValueError("no line")
    places = distances.places if distances.places[0] <= distances.places[-1] else distances.places[::-1]
    if any(after - before < step for before, after in pairwise(places)):
        raise ValueError("secrets are nearer than their places")


# From certificate ---------------------------------------------------------------------------------------------------------
#
# The mechanism behind a certificate: anyone who has the file can draw, audit, compare and estimate with it.


UNTRAINED = "not-a-training-record"
"""The condition of a claim about noise behind a learned privatiser."""
APART = {"made_by", "randomness", "digest"}
"""Fields that may differ between a certificate and its mechanism's certificate: the program that made it, and where
random bits come from."""


def mechanism_of(certificate: Certificate) -> Mechanism:
    """The mechanism behind a certificate, which is proved first; a :class:`CertificateError` states why none can be
    built.

    A floating certificate proves nothing about its draws, and is only held to be unchanged; see ``numerics``.
    """
    if certificate.numerics != "floating":
        certificate.verify()
    elif certificate.document["digest"] != checker.digest(dict(certificate.document)):
        raise CertificateError("the certificate was changed or cut after it was written: its digest does not match.")
    name = str(certificate.document["mechanism"])
    if any(one.get("code") == UNTRAINED for one in certificate.document["claim"].get("conditions", ())):
        raise CertificateError(
            "the certificate is of noise behind a learned privatiser, and the privatiser is not in the file; use "
            "GAPPrivatiser.load(...).with_epsilon(...) in Python."
        )
    try:
        found = _rebuilt(name, certificate)
        own = None if found is None else _snapped(found, certificate)
    except CertificateError:
        raise
    except NoisewrightError as problem:
        raise CertificateError(f"no mechanism is built from this certificate of {name}: {problem}") from None
    except (KeyError, IndexError, TypeError, ValueError, ArithmeticError, AttributeError):
        raise CertificateError("the certificate does not name its categories or its integers properly.") from None
    if own is None:
        raise CertificateError(
            f"the certificate proves its promise, but does not say all that {name} draws from; build the mechanism again "
            "from its parameters."
        )
    if not _alike(own.certificate(np.random.default_rng(0) if certificate.simulated else None), certificate):
        raise CertificateError("the certificate does not describe the mechanism that it proves.")
    return own


def oracle_of(certificate: Certificate) -> Any:
    """The frequency oracle behind a certificate, which is proved first; None for a certificate of another mechanism."""
    name = str(certificate.document["mechanism"])
    return mechanism_of(certificate) if name in registry and registry[name].takes.purpose == "report" else None


def channel_of(certificate: Certificate) -> tuple[Channel, Metric] | str:
    """Return the channel that a proved certificate is about and the metric of its claim, or why it has no channel."""
    found = source_of(certificate)
    if isinstance(found, str):
        return found
    try:
        return found[0] if isinstance(found[0], Channel) else found[0].channel(), found[1]
    except NoChannelError as problem:
        return str(problem)


def source_of(certificate: Certificate) -> tuple[Any, Metric] | str:
    """Return the subject of a proved certificate, in the exact numbers it has where it has them, as something with a
    channel."""
    try:
        found = mechanism_of(certificate)
    except NoisewrightError as problem:
        return str(problem)
    if isinstance(found, FiniteMechanism):
        return found.certified, found.certified.metric
    return found, metric_called(certificate.document["claim"]["metric"])


# The kinds of proof -------------------------------------------------------------------------------------------------------


def table_mechanism(certificate: Certificate) -> Mechanism:
    """An integer table, drawn from as it is."""
    return FiniteMechanism(certificate.table(), str(certificate.document["mechanism"]))


def response_mechanism(certificate: Certificate) -> Mechanism | None:
    """Randomised response; or one whose outputs are answered, or that has a delta."""
    stated = certificate.document
    if "answers" in stated or Fraction(str(stated["claim"]["delta"])):
        return AnsweredMechanism.of(certificate)
    names: tuple[Hashable, ...] = tuple(decode_label(label) for label in stated["inputs"])
    return response_of(stated["proof"], certificate.epsilon, names)


def chances_mechanism(certificate: Certificate) -> Mechanism:
    """A table of chances, drawn by a computer."""
    return ChancesMechanism.of(certificate)


def law_mechanism(certificate: Certificate) -> Mechanism | None:
    """Return a mechanism for a law and its answers; a law alone does not state its input."""
    return AnsweredMechanism.of(certificate) if "answers" in certificate.document else None


def product_mechanism(certificate: Certificate) -> Mechanism:
    """The mechanisms of all parts, side by side."""
    parts = tuple((mechanism_of(part.certificate), part.count) for part in parts_of(certificate))
    base = checker.unit_of(certificate.document["claim"]["metric"])[1].get("base")
    return ProductMechanism(parts, base, str(certificate.document["mechanism"]))  # type: ignore[arg-type]


# Helpers ------------------------------------------------------------------------------------------------------------------


def _rebuilt(name: str, certificate: Certificate) -> Mechanism | None:
    rebuild = registry[name].rebuild if name in registry else None
    if rebuild is not None:
        return rebuild(certificate)
    kind = PROOFS.get(str(certificate.document["proof"]["kind"]))
    return None if kind is None else kind.rebuild(certificate)


def _snapped(found: Mechanism, certificate: Certificate) -> Mechanism:
    """Return it with outputs moved, where the certificate states that and the mechanism does not do it itself."""
    ends = certificate.document.get("snapped_to")
    if ends is None or "snapped_to" in found.certificate().document:
        return found
    return SnappedMechanism(found, Feasible.from_json(ends))


def _alike(own: Certificate, given: Certificate) -> bool:
    """Return whether two certificates say the same, in JSON, in which 2, 2.0 and true are distinguished."""
    first, second = (
        json.dumps({key: value for key, value in one.document.items() if key not in APART}, sort_keys=True)
        for one in (own, given)
    )
    return first == second
