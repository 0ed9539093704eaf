"""Word embeddings: one memory-mapped file of public vectors, how it is made from others' files, trained, and fetched."""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.text.embeddings.embedding import Embedding as Embedding
    from noisewright.text.embeddings.finding import find_embedding as find_embedding
    from noisewright.text.embeddings.finding import shipped as shipped
    from noisewright.text.embeddings.importing import FORMATS as FORMATS
    from noisewright.text.embeddings.importing import Imported as Imported
    from noisewright.text.embeddings.importing import import_embedding as import_embedding
    from noisewright.text.embeddings.measuring import Summary as Summary
    from noisewright.text.embeddings.measuring import summary as summary
    from noisewright.text.embeddings.packages import PACKAGES as PACKAGES
    from noisewright.text.embeddings.packages import Package as Package
    from noisewright.text.embeddings.packages import fetch as fetch
    from noisewright.text.embeddings.places import data_folder as data_folder
    from noisewright.text.embeddings.training import train_embedding as train_embedding
    from noisewright.text.embeddings.writing import EmbeddingWriter as EmbeddingWriter
    from noisewright.text.embeddings.writing import Rounding as Rounding
    from noisewright.text.embeddings.writing import write_embedding as write_embedding
else:
    __getattr__, __dir__ = door(__name__)
