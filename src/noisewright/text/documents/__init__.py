"""Documents: text into words, which words count, and bags of a public size."""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.text.documents.bags import sized as sized
    from noisewright.text.documents.files import text_files as text_files
    from noisewright.text.documents.files import text_of as text_of
    from noisewright.text.documents.languages import LANGUAGES as LANGUAGES
    from noisewright.text.documents.languages import stopwords as stopwords
    from noisewright.text.documents.reading import UNKNOWN as UNKNOWN
    from noisewright.text.documents.reading import Reader as Reader
    from noisewright.text.documents.reading import Reading as Reading
    from noisewright.text.documents.reading import Vocabulary as Vocabulary
    from noisewright.text.documents.tokenising import Token as Token
    from noisewright.text.documents.tokenising import folded as folded
    from noisewright.text.documents.tokenising import tokens as tokens
else:
    __getattr__, __dir__ = door(__name__)
