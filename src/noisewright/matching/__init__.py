"""Matching: short noisy codes of people's profiles, by which an untrusted server finds similar ones."""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.matching.client import Client as Client
    from noisewright.matching.evaluation import Evaluation as Evaluation
    from noisewright.matching.evaluation import evaluate as evaluate
    from noisewright.matching.hashing.scheme import Scheme as Scheme
    from noisewright.matching.profiles import read_profiles as read_profiles
    from noisewright.matching.promises.about_seeds import scheme_promise as scheme_promise
    from noisewright.matching.promises.calibration import best_bits as best_bits
    from noisewright.matching.promises.calibration import price_of_a_bit as price_of_a_bit
    from noisewright.matching.responses.hashed_vectors import lshrr as lshrr
    from noisewright.matching.responses.noisy_vectors import laplace_hash as laplace_hash
    from noisewright.matching.responses.set_answers import hashed_sets as hashed_sets
    from noisewright.matching.search.index import Index as Index
    from noisewright.matching.search.odds import true_odds as true_odds
    from noisewright.matching.search.quality import search_quality as search_quality
    from noisewright.matching.server import Matches as Matches
    from noisewright.matching.server import Server as Server
else:
    __getattr__, __dir__ = door(__name__)
