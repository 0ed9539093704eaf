r"""A mechanism whose numbered outputs are answered with labels: the subject of an optimal mechanism's certificate.

Behind it is a mechanism over 0, 1, 2 and so on, a geometric or a response. The secret in place ``i`` is given to it as
``i``, and its output ``y`` is answered with ``answers[y]``. Answering is post-processing, so the guarantee is the
source's, and the certificate states the answers next to the source's integers.

>>> import noisewright as nw
>>> best = nw.optimal(6, epsilon="1/2", loss="absolute").certificate()
>>> again = AnsweredMechanism.of(best)
>>> again.answers, again.certificate() == best
((1, 1, 2, 3, 4, 4), True)
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from noisewright.core.certificates.certificate import RELEASE_RANDOMNESS, SIMULATION_RANDOMNESS, Certificate
from noisewright.core.certificates.checker import checker
from noisewright.core.certificates.claims import claimed, metric_called
from noisewright.core.channels.channel import Channel
from noisewright.core.guarantee import Guarantee
from noisewright.core.labels import decode_label
from noisewright.core.mechanism import BaseMechanism, Mechanism, fields_alone
from noisewright.core.metrics.distances import LineDistances
from noisewright.mechanisms.categories.response import response_of
from noisewright.mechanisms.foreign_columns import in_kind
from noisewright.mechanisms.label_columns import LARGEST_COUNT, Form, Labels
from noisewright.mechanisms.losses import expected_loss

__all__ = ["AnsweredMechanism", "draw_answers"]


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
            from noisewright.mechanisms.numbers.geometric import geometric

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
