"""Text: documents as bags of words, public word embeddings, and what protects words and documents."""

from typing import TYPE_CHECKING

from noisewright._utils.lazy import attach

if TYPE_CHECKING:
    from noisewright.text.document_mechanism import private_documents as private_documents
    from noisewright.text.documents import LANGUAGES as LANGUAGES
    from noisewright.text.documents import Reader as Reader
    from noisewright.text.documents import folded as folded
    from noisewright.text.documents import sized as sized
    from noisewright.text.documents import stopwords as stopwords
    from noisewright.text.documents import text_files as text_files
    from noisewright.text.documents import text_of as text_of
    from noisewright.text.documents import tokens as tokens
    from noisewright.text.earth_mover import MatchedWords as MatchedWords
    from noisewright.text.earth_mover import audit_lifted as audit_lifted
    from noisewright.text.earth_mover import earth_movers as earth_movers
    from noisewright.text.earth_mover import hit_radius as hit_radius
    from noisewright.text.earth_mover import hit_rate as hit_rate
    from noisewright.text.earth_mover import lift as lift
    from noisewright.text.earth_mover import lower_bound as lower_bound
    from noisewright.text.earth_mover import vector_distances as vector_distances
    from noisewright.text.embedding import Embedding as Embedding
    from noisewright.text.embedding import find_embedding as find_embedding
    from noisewright.text.embedding import shipped as shipped
    from noisewright.text.embedding import summary as summary
    from noisewright.text.embedding_import import import_embedding as import_embedding
    from noisewright.text.embedding_training import PACKAGES as PACKAGES
    from noisewright.text.embedding_training import fetch as fetch
    from noisewright.text.embedding_training import train_embedding as train_embedding
    from noisewright.text.embedding_writer import EmbeddingWriter as EmbeddingWriter
    from noisewright.text.embedding_writer import write_embedding as write_embedding
    from noisewright.text.exponential_words import WordChoice as WordChoice
    from noisewright.text.exponential_words import compare_words as compare_words
    from noisewright.text.exponential_words import epsilon_between as epsilon_between
    from noisewright.text.exponential_words import exact_words as exact_words
    from noisewright.text.exponential_words import measure as measure
    from noisewright.text.exponential_words import neighbour_distances as neighbour_distances
    from noisewright.text.exponential_words import recomputed as recomputed
    from noisewright.text.exponential_words import truncated_exponential_words as truncated_exponential_words
    from noisewright.text.exponential_words import typical_epsilon as typical_epsilon
    from noisewright.text.nearest_words import nearest as nearest
    from noisewright.text.nearest_words import two_nearest as two_nearest
    from noisewright.text.noisy_words import enumerated as enumerated
    from noisewright.text.noisy_words import laplace_words as laplace_words
    from noisewright.text.noisy_words import least_epsilon as least_epsilon
    from noisewright.text.noisy_words import mahalanobis_words as mahalanobis_words
    from noisewright.text.noisy_words import vickrey_words as vickrey_words
    from noisewright.text.partition_sums import true_epsilons as true_epsilons
else:
    __getattr__, __dir__, __all__ = attach(
        __name__,
        {
            "Embedding": "embedding",
            "EmbeddingWriter": "embedding_writer",
            "LANGUAGES": "documents",
            "MatchedWords": "earth_mover",
            "PACKAGES": "embedding_training",
            "Reader": "documents",
            "WordChoice": "exponential_words",
            "audit_lifted": "earth_mover",
            "compare_words": "exponential_words",
            "earth_movers": "earth_mover",
            "enumerated": "noisy_words",
            "epsilon_between": "exponential_words",
            "exact_words": "exponential_words",
            "fetch": "embedding_training",
            "find_embedding": "embedding",
            "folded": "documents",
            "hit_radius": "earth_mover",
            "hit_rate": "earth_mover",
            "import_embedding": "embedding_import",
            "laplace_words": "noisy_words",
            "least_epsilon": "noisy_words",
            "lift": "earth_mover",
            "lower_bound": "earth_mover",
            "mahalanobis_words": "noisy_words",
            "measure": "exponential_words",
            "nearest": "nearest_words",
            "neighbour_distances": "exponential_words",
            "private_documents": "document_mechanism",
            "recomputed": "exponential_words",
            "shipped": "embedding",
            "sized": "documents",
            "stopwords": "documents",
            "summary": "embedding",
            "text_files": "documents",
            "text_of": "documents",
            "tokens": "documents",
            "train_embedding": "embedding_training",
            "true_epsilons": "partition_sums",
            "truncated_exponential_words": "exponential_words",
            "two_nearest": "nearest_words",
            "typical_epsilon": "exponential_words",
            "vector_distances": "earth_mover",
            "vickrey_words": "noisy_words",
            "write_embedding": "embedding_writer",
        },
    )
