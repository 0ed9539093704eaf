"""Text: documents as bags of words, public word embeddings, and mechanisms for words and documents."""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.text import attackers as attackers
    from noisewright.text import embeddings as embeddings
    from noisewright.text import transport as transport
    from noisewright.text import words as words
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
    from noisewright.text.matched import AlignedWords as AlignedWords
    from noisewright.text.matched import MatchedWords as MatchedWords
    from noisewright.text.noisy_documents import PrivateDocuments as PrivateDocuments
    from noisewright.text.noisy_documents import private_documents as private_documents
    from noisewright.text.obfuscation import obfuscate_files as obfuscate_files
    from noisewright.text.transport.moving import earth_movers as earth_movers
    from noisewright.text.words.choice import exact_words as exact_words
    from noisewright.text.words.noisy import laplace_words as laplace_words
else:
    __getattr__, __dir__ = door(__name__)
