"""Parameters that several mechanisms for words share."""

from noisewright.core.loading.parameters import Parameter

EMBEDDING = Parameter("Public file of word vectors.", 'embedding = "glove.nwe"')
LIMIT = Parameter("Number of words in the vocabulary, the most frequent first.", "limit = 50000")
