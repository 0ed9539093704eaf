"""Text: documents as bags of words, public word embeddings, and what protects words and documents."""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.text.embeddings.embedding import Embedding as Embedding
    from noisewright.text.embeddings.importing import import_embedding as import_embedding
    from noisewright.text.embeddings.writing import EmbeddingWriter as EmbeddingWriter
    from noisewright.text.embeddings.writing import write_embedding as write_embedding
else:
    __getattr__, __dir__ = door(__name__)
