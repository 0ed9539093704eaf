r"""Documents of a public size: whatever the length of a text, ``size`` words go into the mechanism.

A guarantee for bags of words holds between bags of the same size, and the size is seen. Therefore it is public, and
longer and shorter documents are brought to it *before* the mechanism, in a way that keeps the guarantee for the whole
documents:

- a longer one is cut down to a **uniformly random subset** of its words. Match the words of two documents of M words
  as the Earth Mover does, and choose the same matched pairs in both: the chosen bags are no further apart in total
  than the documents were, so ``epsilon * M * EMD`` of the whole documents bounds the loss. Taking the first words
  would not do: two documents with the same words in another order are one bag, and their first words are two.
- a shorter one is filled up with words drawn **uniformly from the vocabulary**, whatever it states. Documents of the
  same length can be filled with the same words, so filling adds nothing to the distance of two of them; one word more
  or less in a document counts as the distance between that word and a drawn one, which is at most the diameter of the
  vocabulary. A document without any word becomes one of drawn words alone.

Documents of different lengths, both too long: match them, and draw the subset of the longer one; the partners of its
words, and for each word without one another word of the shorter document, drawn from the rest, are a uniformly random
subset of that. Therefore here, too, a word without a partner costs the diameter at most.

>>> import numpy as np
>>> sized(np.array([5, 5, 7]), 3, vocabulary=10).tolist()
[5, 5, 7]
>>> len(sized(np.arange(100), 20, vocabulary=100)), len(sized(np.array([5]), 20, vocabulary=100))
(20, 20)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from noisewright.core.errors import ParameterError
from noisewright.noise.bits import Bits, Rng, bits_from
from noisewright.noise.integers import uniform_below

__all__ = ["sized"]

MOST_WORDS = 1 << 20


def sized(rows: NDArray[np.int64], size: int, *, vocabulary: int, rng: Rng = None) -> NDArray[np.int64]:
    """Rows of a document, brought to a public size: a random subset in its order, or all of them and then random words.

    What comes out is still secret: it goes into a mechanism. ``vocabulary`` is the number of its words.
    """
    if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size <= MOST_WORDS:
        raise ParameterError(f"the public size of documents is a whole number between 1 and {MOST_WORDS}.")
    bits = bits_from(rng)
    if len(rows) < size:
        return np.concatenate([rows, uniform_below(vocabulary, size - len(rows), bits)])
    return rows[_subset(len(rows), size, bits)]


def _subset(count: int, size: int, bits: Bits) -> NDArray[np.int64]:
    """A uniformly random subset of ``0, ..., count - 1``, in order: those with the smallest of as many different random keys."""
    keys = bits.words(count)
    while len(np.unique(keys)) < count:  # given that all differ, every order of them is as likely as any other
        keys = bits.words(count)
    return np.sort(np.argsort(keys)[:size])
