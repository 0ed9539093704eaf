"""Text: documents as bags of words, public word embeddings, and what protects words and documents."""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.text.documents.bags import sized as sized
    from noisewright.text.documents.languages import stopwords as stopwords
    from noisewright.text.documents.reading import Reader as Reader
    from noisewright.text.documents.tokenising import tokens as tokens
    from noisewright.text.embeddings.embedding import Embedding as Embedding
    from noisewright.text.embeddings.finding import find_embedding as find_embedding
    from noisewright.text.embeddings.finding import shipped as shipped
    from noisewright.text.embeddings.importing import import_embedding as import_embedding
    from noisewright.text.embeddings.training import train_embedding as train_embedding
    from noisewright.text.embeddings.writing import EmbeddingWriter as EmbeddingWriter
    from noisewright.text.embeddings.writing import write_embedding as write_embedding
else:
    __getattr__, __dir__ = door(__name__)
