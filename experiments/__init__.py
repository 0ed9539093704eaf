"""Published tables and figures that can be run again, one module each, with the numbers they are compared with.

``noisewright reproduce`` lists and runs them; ``experiments.report`` says what an experiment is made of.
"""

from __future__ import annotations

from experiments.report import load

__all__ = ["NAMES", "load"]

NAMES = (
    "naive_bayes",
    "database_size",
    "discretisation",
    "epsilon_sweep",
    "extended_range",
    "survey_microdata",
    "example_matrices",
    "hamming_exponential",
    "density_band",
    "survey_designs",
    "survey_tallies",
    "noise_shapes",
    "d_vulnerability_shape",
    "replacement_thresholds",
    "family_tables",
    "attribute_inference",
    "recovering_a_distribution",
    "author_and_topic",
    "vanilla_hashing",
    "private_hashing",
    "recall_and_attributes",
    "noisy_photographs",
    "noisy_pixels",
    "faces_by_eigenfaces",
    "faces_by_identities",
    "learned_binary",
    "learned_gaussian",
    "learned_histograms",
    "learned_on_real_data",
)
"""All experiments, those of one publication together."""
