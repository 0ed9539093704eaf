"""Attackers on texts: author and topic of a text; by style, by words, in the embedding, and knowing the noise."""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.text.attackers.attacker import Attacker as Attacker
    from noisewright.text.attackers.attacker import Success as Success
    from noisewright.text.attackers.attacker import TrainedOnNoise as TrainedOnNoise
    from noisewright.text.attackers.attacker import success as success
    from noisewright.text.attackers.evaluation import Task as Task
    from noisewright.text.attackers.evaluation import halves as halves
    from noisewright.text.attackers.evaluation import outcomes as outcomes
    from noisewright.text.attackers.linear import LinearWords as LinearWords
    from noisewright.text.attackers.nearest import NearestDocuments as NearestDocuments
    from noisewright.text.attackers.ngrams import character_ngrams as character_ngrams
    from noisewright.text.attackers.subspaces import RandomSubspaces as RandomSubspaces
else:
    __getattr__, __dir__ = door(__name__)
