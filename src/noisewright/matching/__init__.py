"""Matching of people by noisy codes: hash functions, schemes, mechanisms, and searches."""

from typing import TYPE_CHECKING

from noisewright._utils.lazy import attach

if TYPE_CHECKING:
    from noisewright.matching.accountants import BY_SEED as BY_SEED
    from noisewright.matching.accountants import LossLaw as LossLaw
    from noisewright.matching.accountants import alpha as alpha
    from noisewright.matching.accountants import binomial as binomial
    from noisewright.matching.accountants import chernoff as chernoff
    from noisewright.matching.accountants import concentrated_hashes as concentrated_hashes
    from noisewright.matching.accountants import differing_bits as differing_bits
    from noisewright.matching.accountants import exact_pxdp as exact_pxdp
    from noisewright.matching.accountants import exact_xdp as exact_xdp
    from noisewright.matching.accountants import hoeffding as hoeffding
    from noisewright.matching.accountants import per_hash as per_hash
    from noisewright.matching.accountants import printed_spread as printed_spread
    from noisewright.matching.accountants import smallest_spread as smallest_spread
    from noisewright.matching.accountants import worst_case as worst_case
    from noisewright.matching.evaluation import evaluate as evaluate
    from noisewright.matching.evaluation import search_quality as search_quality
    from noisewright.matching.evaluation import true_odds as true_odds
    from noisewright.matching.guarantees import angular as angular
    from noisewright.matching.guarantees import angular_distances as angular_distances
    from noisewright.matching.guarantees import best_bits as best_bits
    from noisewright.matching.guarantees import euclidean as euclidean
    from noisewright.matching.guarantees import euclidean_epsilon as euclidean_epsilon
    from noisewright.matching.guarantees import most_bits as most_bits
    from noisewright.matching.guarantees import needed_deltas as needed_deltas
    from noisewright.matching.guarantees import price_of_a_bit as price_of_a_bit
    from noisewright.matching.guarantees import ranked_first as ranked_first
    from noisewright.matching.guarantees import scheme_promise as scheme_promise
    from noisewright.matching.guarantees import seed_promise as seed_promise
    from noisewright.matching.hash_functions import FastProjection as FastProjection
    from noisewright.matching.hash_functions import MinHash as MinHash
    from noisewright.matching.hash_functions import Projection as Projection
    from noisewright.matching.hash_functions import Sampling as Sampling
    from noisewright.matching.hash_functions import as_codes as as_codes
    from noisewright.matching.hash_functions import code_bytes as code_bytes
    from noisewright.matching.hash_functions import hamming as hamming
    from noisewright.matching.hash_functions import hamming_matrix as hamming_matrix
    from noisewright.matching.hash_functions import packed as packed
    from noisewright.matching.hash_functions import unpacked as unpacked
    from noisewright.matching.mechanisms import hashed_sets as hashed_sets
    from noisewright.matching.mechanisms import laplace_hash as laplace_hash
    from noisewright.matching.mechanisms import lshrr as lshrr
    from noisewright.matching.scheme import CodeFile as CodeFile
    from noisewright.matching.scheme import DeviceBits as DeviceBits
    from noisewright.matching.scheme import Scheme as Scheme
    from noisewright.matching.scheme import write_codes as write_codes
    from noisewright.matching.service import Client as Client
    from noisewright.matching.service import Server as Server
    from noisewright.matching.service import read_profiles as read_profiles
else:
    __getattr__, __dir__, __all__ = attach(
        __name__,
        {
            "BY_SEED": "accountants",
            "Client": "service",
            "CodeFile": "scheme",
            "DeviceBits": "scheme",
            "FastProjection": "hash_functions",
            "LossLaw": "accountants",
            "MinHash": "hash_functions",
            "Projection": "hash_functions",
            "Sampling": "hash_functions",
            "Scheme": "scheme",
            "Server": "service",
            "alpha": "accountants",
            "angular": "guarantees",
            "angular_distances": "guarantees",
            "as_codes": "hash_functions",
            "best_bits": "guarantees",
            "binomial": "accountants",
            "chernoff": "accountants",
            "code_bytes": "hash_functions",
            "concentrated_hashes": "accountants",
            "differing_bits": "accountants",
            "euclidean": "guarantees",
            "euclidean_epsilon": "guarantees",
            "evaluate": "evaluation",
            "exact_pxdp": "accountants",
            "exact_xdp": "accountants",
            "hamming": "hash_functions",
            "hamming_matrix": "hash_functions",
            "hashed_sets": "mechanisms",
            "hoeffding": "accountants",
            "laplace_hash": "mechanisms",
            "lshrr": "mechanisms",
            "most_bits": "guarantees",
            "needed_deltas": "guarantees",
            "packed": "hash_functions",
            "per_hash": "accountants",
            "price_of_a_bit": "guarantees",
            "printed_spread": "accountants",
            "ranked_first": "guarantees",
            "read_profiles": "service",
            "scheme_promise": "guarantees",
            "search_quality": "evaluation",
            "seed_promise": "guarantees",
            "smallest_spread": "accountants",
            "true_odds": "evaluation",
            "unpacked": "hash_functions",
            "worst_case": "accountants",
            "write_codes": "scheme",
        },
    )
