"""Word embeddings: one memory-mapped file of public vectors, how it is made from others' files, trained, and fetched."""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.text.embeddings.embedding import Embedding as Embedding
    from noisewright.text.embeddings.places import data_folder as data_folder
    from noisewright.text.embeddings.writing import EmbeddingWriter as EmbeddingWriter
    from noisewright.text.embeddings.writing import write_embedding as write_embedding
else:
    __getattr__, __dir__ = door(__name__)
