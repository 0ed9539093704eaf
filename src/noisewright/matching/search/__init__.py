"""Search: indexes of codes with ties at random, distances behind noisy codes, the odds of true neighbours, and their quality."""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.matching.search.code_file import CodeFile as CodeFile
    from noisewright.matching.search.code_file import read_codes as read_codes
    from noisewright.matching.search.code_file import write_codes as write_codes
    from noisewright.matching.search.debiasing import Debiased as Debiased
    from noisewright.matching.search.debiasing import debiased as debiased
    from noisewright.matching.search.debiasing import differing as differing
    from noisewright.matching.search.index import Index as Index
    from noisewright.matching.search.index import Neighbours as Neighbours
    from noisewright.matching.search.nearest import nearest_codes as nearest_codes
    from noisewright.matching.search.odds import returned_odds as returned_odds
    from noisewright.matching.search.odds import true_odds as true_odds
    from noisewright.matching.search.quality import Quality as Quality
    from noisewright.matching.search.quality import search_quality as search_quality
else:
    __getattr__, __dir__ = door(__name__)
