"""Documents: the distance between two, what the mechanism on them promises, and files of text."""

from __future__ import annotations

import math
import pickle
from collections import Counter
from itertools import combinations_with_replacement, permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from noisewright.exceptions import CertificateError, DataError, FileFormatError, MetricError, ParameterError
from noisewright.io import load, save
from noisewright.text import Embedding, earth_movers, write_embedding
from noisewright.text.document_mechanism import CERTIFICATE, PrivateDocuments, obfuscate_files, private_documents
from noisewright.text.earth_mover import AlignedWords, MatchedWords, diameter_of

WORDS = ["tea", "coffee", "ship", "train", "nurse"]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Embedding:
    vectors = np.array([[1, 0], [1, 0.5], [-3, 4], [-2.5, 3.5], [0, -2]])
    return write_embedding(tmp_path_factory.mktemp("embedding") / "tiny.nwe", WORDS, vectors, licence="CC0-1.0")


# Distances ------------------------------------------------------------------------------------------------------------


@given(st.data())
def test_the_matched_distance_is_the_size_times_the_earth_movers(tiny: Embedding, data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 5))
    one, two = (data.draw(st.lists(st.sampled_from(WORDS), min_size=size, max_size=size)) for _ in range(2))
    found = MatchedWords(tiny).distance(tuple(one), tuple(two))
    assert found == pytest.approx(earth_movers(one, two, embedding=tiny).total, abs=1e-9)
    assert found <= AlignedWords(tiny).distance(tuple(one), tuple(two)) + 1e-9


@given(st.data())
def test_both_distances_are_metrics_also_between_different_lengths(tiny: Embedding, data: st.DataObject) -> None:
    bags = [tuple(data.draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4))) for _ in range(3)]
    for metric in (MatchedWords(tiny), AlignedWords(tiny)):
        d = metric.matrix(bags)
        assert (d == d.T).all()
        assert d[0, 2] <= d[0, 1] + d[1, 2] + 1e-9


def test_where_the_number_of_words_is_seen_documents_of_other_lengths_are_not_promised_anything(
    tiny: Embedding,
) -> None:
    for keep_order in (False, True):
        seen = private_documents(tiny, epsilon=1, keep_order=keep_order).guarantee
        assert seen.bound(seen.metric.distance(("tea",), ("tea", "tea"))) == math.inf
        assert "documents of the same length" in seen.in_words()
        fixed = private_documents(tiny, epsilon=1, size=2, keep_order=keep_order).guarantee
        assert fixed.bound(fixed.metric.distance(("tea",), ("tea", "tea"))) == diameter_of(tiny)
        assert "same length" not in fixed.in_words()


def test_no_two_words_are_farther_apart_than_the_diameter(tiny: Embedding) -> None:
    rows = np.arange(tiny.size)
    assert tiny.distances(rows, rows).max() <= diameter_of(tiny)


@pytest.mark.parametrize("bad", ["text", ("unheard",), 3, (1, 2)])
def test_what_is_no_document_has_no_distance(tiny: Embedding, bad: Any) -> None:
    with pytest.raises(MetricError):
        MatchedWords(tiny).distance(bad, ("tea",))


# The promise, by enumeration --------------------------------------------------------------------------------------------


def law(mechanism: PrivateDocuments, document: tuple[str, ...]) -> dict[tuple[str, ...], float]:
    """The exact chance of every output, from the channel of a word and the definition of subsets and of filling."""
    channel = mechanism.words.channel()  # type: ignore[union-attr]
    place = {word: number for number, word in enumerate(channel.inputs)}
    size = mechanism.size or len(document)
    inputs: Counter[tuple[str, ...]] = Counter()
    if mechanism.keep_order:
        document = document[:size]
    if len(document) >= size:
        for order in permutations(range(len(document)), size):
            inputs[tuple(document[i] for i in sorted(order))] += 1
    else:
        for more in product(channel.inputs, repeat=size - len(document)):
            inputs[document + tuple(str(word) for word in more)] += 1
    total = sum(inputs.values())
    chances: dict[tuple[str, ...], float] = {}
    for given_words, times in inputs.items():
        for drawn in product(range(len(channel.outputs)), repeat=size):
            words = tuple(str(channel.outputs[y]) for y in drawn)
            key = words if mechanism.keep_order else tuple(sorted(words))
            chance = math.prod(channel.matrix[place[w], y] for w, y in zip(given_words, drawn, strict=True))
            chances[key] = chances.get(key, 0.0) + chance * times / total
    return chances


@pytest.mark.parametrize("keep_order", [False, True])
def test_07_txt8_theorem_9_10_documents_of_all_lengths_keep_the_promise(tiny: Embedding, keep_order: bool) -> None:
    """Two words come out of documents of one to three words, which are cut or filled up: every pair, every output."""
    three = tiny.first(3)
    mechanism = private_documents(three, epsilon="1/2", size=2, keep_order=keep_order, language=None)
    texts = [bag for n in (1, 2, 3) for bag in (products_of if keep_order else combinations_of)(WORDS[:3], n)]
    laws = [law(mechanism, tuple(text)) for text in texts]
    metric = mechanism.guarantee.metric
    apart = metric.matrix([tuple(text) for text in texts])
    closest = 0.0
    for i, p in enumerate(laws):
        for j, q in enumerate(laws):
            loss = max(math.log(p[c] / q[c]) for c in p)
            assert loss <= 0.5 * apart[i, j] + 1e-9
            closest = max(closest, loss / (0.5 * apart[i, j])) if apart[i, j] else closest
    assert closest > 0.9  # the promise is nearly reached


def products_of(words: list[str], repeat: int) -> Any:
    return product(words, repeat=repeat)


def combinations_of(words: list[str], repeat: int) -> Any:
    return combinations_with_replacement(words, repeat)


@pytest.mark.parametrize(("text", "size"), [("tea ship train", 2), ("tea", 2), ("tea coffee", 2)])
def test_draws_follow_that_law(tiny: Embedding, text: str, size: int) -> None:
    """4,000 draws, chi-square at 1 in 100,000."""
    mechanism = private_documents(tiny, epsilon=1, size=size, language=None)
    wanted = law(mechanism, tuple(text.split()))
    drawn = mechanism.release(np.array([text] * 4000, dtype=object), np.random.default_rng(11))
    counts = Counter(tuple(sorted(one.split())) for one in drawn)
    assert set(counts) <= set(wanted)
    often = [key for key, chance in wanted.items() if chance * 4000 >= 5]
    rest = 1 - sum(wanted[key] for key in often)
    observed = [counts[key] for key in often] + [4000 - sum(counts[key] for key in often)]
    expected = [wanted[key] * 4000 for key in often] + [max(rest * 4000, 1e-9)]
    cells = [(o, e) for o, e in zip(observed, expected, strict=True) if e >= 1]
    assert sum((o - e) ** 2 / e for o, e in cells) < chi2.isf(1e-5, len(cells) - 1)


def test_the_order_of_a_bag_says_nothing(tiny: Embedding) -> None:
    """Words that are far apart and kept surely: both orders come out alike (4,000 draws, five standard errors)."""
    mechanism = private_documents(tiny, epsilon=40, size=2, language=None)
    drawn = mechanism.release(np.array(["tea ship"] * 4000, dtype=object), np.random.default_rng(3)).tolist()
    assert abs(drawn.count("tea ship") - 2000) < 5 * math.sqrt(1000)
    assert sum(drawn.count(one) for one in ("tea ship", "ship tea")) > 3950
    ordered = private_documents(tiny, epsilon=40, size=2, keep_order=True, language=None)
    in_order = ordered.release(np.array(["tea ship"] * 4000, dtype=object), np.random.default_rng(4)).tolist()
    assert in_order.count("tea ship") > 3950


# Certificates and words ---------------------------------------------------------------------------------------------------


def test_exact_documents_are_proved_and_floating_ones_say_so(tiny: Embedding) -> None:
    exact = private_documents(tiny, epsilon=1, size=5).certificate()
    assert exact.numerics == "exact"
    assert "matched" in exact.verify()
    assert "5 independent parts" in exact.verify()
    floating = private_documents(tiny, epsilon=1, size=5, words="laplace").certificate()
    assert floating.numerics == "floating"


def test_what_is_in_the_clear_is_said_everywhere(tiny: Embedding) -> None:
    assert private_documents(tiny, epsilon=1, size=5).in_the_clear == ()
    open_ = private_documents(tiny, epsilon=1, keep_order=True, unknown="keep")
    assert open_.in_the_clear == ("the number of words", "the order of words", "everything outside of the vocabulary")
    assert all(clear in open_.in_words() for clear in open_.in_the_clear)
    assert all(clear in open_.certificate().verify() for clear in open_.in_the_clear)


@pytest.mark.parametrize("words", ["exact", "laplace"])
def test_the_entry_is_true(tiny: Embedding, words: str) -> None:
    import pyarrow as pa

    from noisewright.mechanisms.registry import registry
    from noisewright.testing import check_entry

    given = {"embedding": str(tiny.resource.place()), "epsilon": 2, "protect": 1, "size": 3, "words": words}
    checked = check_entry(registry["private-documents"], given, [pa.array(["tea ship", "coffee", "", "nurse tea tea"])])
    assert not checked.not_applicable


def test_documents_survive_pickling(tiny: Embedding) -> None:
    mechanism = private_documents(tiny, epsilon=1, size=3)
    again = pickle.loads(pickle.dumps(mechanism))
    texts = np.array(["tea nurse", "ship"], dtype=object)
    drawn = [m.release(texts, np.random.default_rng(5)).tolist() for m in (mechanism, again)]
    assert drawn[0] == drawn[1]
    assert len(pickle.dumps(mechanism)) < 4096


def test_nothing_outside_of_the_vocabulary_passes_by_default(tiny: Embedding) -> None:
    mechanism = private_documents(tiny, epsilon=20, size=6, language=None)
    text = "Tea for Zylberstein, 0171 555, z@example.org: coffee http://example.org/tea"
    assert set(mechanism.release(text).split()) <= set(WORDS)
    kept = private_documents(tiny, epsilon=20, unknown="keep", language=None).release(text)
    assert "Zylberstein" in kept
    assert "z@example.org" in kept


def test_a_document_of_which_nothing_is_left_is_filled_up(tiny: Embedding) -> None:
    mechanism = private_documents(tiny, epsilon=1, size=4)
    drawn = mechanism.release(np.array(["...", "", "12345"], dtype=object))
    assert [len(one.split()) for one in drawn] == [4, 4, 4]
    with pytest.raises(DataError, match="no word of the vocabulary"):
        private_documents(tiny, epsilon=1).release("12345")


@pytest.mark.parametrize(
    "bad",
    [
        {"size": 0},
        {"size": 1.5},
        {"size": True},
        {"words": "magic"},
        {"unknown": "burn"},
        {"language": "xx"},
        {"epsilon": 0},
    ],
)
def test_parameters_that_make_no_sense_are_refused(tiny: Embedding, bad: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        private_documents(tiny, **{"epsilon": 1, "size": 3, **bad})


@pytest.mark.parametrize("bad", [3, None, [None], [3.5]])
def test_what_is_no_text_is_refused(tiny: Embedding, bad: Any) -> None:
    with pytest.raises(DataError, match="text"):
        private_documents(tiny, epsilon=1, size=2).release(np.array(bad, dtype=object))


# Files --------------------------------------------------------------------------------------------------------------------


def test_files_are_obfuscated_into_a_folder_without_their_names(tiny: Embedding, tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.mkdir()
    for number in range(30):
        (source / f"by-author-{number}.txt").write_text("tea coffee ship", encoding="utf-8")
    files = sorted(source.iterdir())
    done = obfuscate_files(private_documents(tiny, epsilon=3, size=3), files, tmp_path / "out")
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == [CERTIFICATE, *(f"document-{number:06}.txt" for number in range(1, 31))]
    assert [one.source for one in done] == files
    assert [one.target.name for one in done] != sorted(one.target.name for one in done)  # wrong once in 30! runs
    for one in done:
        assert one.target.read_text(encoding="utf-8").split() == list(one.after)
        assert one.kept == (Counter(one.before) & Counter(one.after)).total()


def test_random_words_in_the_place_of_unknown_ones_are_not_shown_as_read(tiny: Embedding, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("tea Zylberstein ship 0171", encoding="utf-8")
    mechanism = private_documents(tiny, epsilon=3, unknown="replace")
    (one,) = obfuscate_files(mechanism, [tmp_path / "a.txt"], tmp_path / "out")
    assert (one.before, len(one.after), one.filled) == (("tea", "ship"), 4, 2)


def test_times_of_files_follow_their_new_names(tiny: Embedding, tmp_path: Path) -> None:
    files = []
    for number in range(40):
        files.append(tmp_path / f"{number:02}.txt")
        files[-1].write_text("tea coffee", encoding="utf-8")
    obfuscate_files(private_documents(tiny, epsilon=3, size=3), files, tmp_path / "out")
    written = sorted((tmp_path / "out").glob("document-*"), key=lambda path: (path.stat().st_mtime_ns, path.name))
    assert written == sorted(written)


def test_a_certificate_of_documents_is_no_mechanism(tiny: Embedding, tmp_path: Path) -> None:
    path = save(private_documents(tiny, epsilon=3, size=3).certificate(), tmp_path / "c.json")
    with pytest.raises(CertificateError, match="does not state how texts are read"):
        load(path)


def test_nothing_is_left_of_a_folder_that_failed(tiny: Embedding, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("tea", encoding="utf-8")
    (tmp_path / "b.txt").write_bytes(b"\xff\xfe\x00")
    mechanism = private_documents(tiny, epsilon=3, size=3)
    with pytest.raises(DataError, match="binary"):
        obfuscate_files(mechanism, [tmp_path / "a.txt", tmp_path / "b.txt"], tmp_path / "out")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.txt", "b.txt"]
    (tmp_path / "out").mkdir()
    with pytest.raises(FileFormatError, match="there already"):
        obfuscate_files(mechanism, [tmp_path / "a.txt"], tmp_path / "out")


@settings(max_examples=30)
@given(st.text(max_size=60))
def test_any_text_is_taken(tiny: Embedding, text: str) -> None:
    mechanism = private_documents(tiny, epsilon=1, size=3)
    assert len(mechanism.release(text).split()) == 3
