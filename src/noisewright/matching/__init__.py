"""Matching: short noisy codes of people's profiles, by which an untrusted server finds similar ones."""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.matching.client import Client as Client
    from noisewright.matching.evaluation import Evaluation as Evaluation
    from noisewright.matching.evaluation import evaluate as evaluate
    from noisewright.matching.hashing.scheme import Scheme as Scheme
    from noisewright.matching.profiles import read_profiles as read_profiles
    from noisewright.matching.search.index import Index as Index
    from noisewright.matching.search.odds import true_odds as true_odds
    from noisewright.matching.search.quality import search_quality as search_quality
    from noisewright.matching.server import Matches as Matches
    from noisewright.matching.server import Server as Server
else:
    __getattr__, __dir__ = door(__name__)
