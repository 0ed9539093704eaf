"""A server: finds people by their codes, knows how far away they are, and mixes nothing up."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import noisewright as nw
from noisewright.exceptions import DataError, FileFormatError, ParameterError
from noisewright.matching import Client, Scheme, Server, evaluate
from noisewright.matching.scheme import CodeFile, write_codes
from noisewright.resources import Seed

SCHEME = Scheme(dimension=20, bits=512, epsilon=3, seed=Seed.from_hex("11" * 32))


def people(number: int = 200, seed: int = 0) -> np.ndarray:
    """Pairs who are near each other, and everybody else about at right angles."""
    rng = np.random.default_rng(seed)
    first = rng.standard_normal((number // 2, 20))
    return np.concatenate([first, first + 0.3 * rng.standard_normal(first.shape)])


def filled(scheme: Scheme = SCHEME) -> Server:
    server = Server(scheme)
    server.add([f"p{i}" for i in range(200)], Client(scheme).encode(people(), np.random.default_rng(1)))
    return server


def test_people_find_each_other_and_how_far_apart_they_are() -> None:
    server = filled()
    found = server.neighbours([f"p{i}" for i in range(200)], 3, rng=np.random.default_rng(2))
    twins = np.array([f"p{(i + 100) % 200}" for i in range(200)], dtype=object)
    assert np.mean(found.names[:, 0] == twins) > 0.97
    unit = people() / np.linalg.norm(people(), axis=1, keepdims=True)
    true = np.arccos(np.clip(unit @ unit.T, -1, 1)) / np.pi
    rows = np.array([[int(name[1:]) for name in row] for row in found.names])
    distances = np.take_along_axis(true, rows, axis=1)
    # The intervals of a search hold for all codes at once with 0.95, over the seed and the flips: here nearly all must.
    assert np.mean((found.low <= distances) & (distances <= found.high)) > 0.99
    assert np.abs(found.distance - distances)[:, 0].mean() < 0.03
    one = server.distance("p0", "p100")
    assert one.low < true[0, 100] < one.high
    assert one.high - one.low < found.high[0, 0] - found.low[0, 0]  # nobody was chosen


def test_the_server_goes_on_from_its_file(tmp_path: Path) -> None:
    server = filled()
    server.remove(["p3"])
    SCHEME.save(tmp_path / "public.json")
    server.save(tmp_path / "index.nwc")
    again = Server.at(tmp_path / "public.json", tmp_path / "index.nwc")
    assert len(again) == 199
    assert again.index.names == server.index.names
    code = Client(SCHEME).encode(people()[3:4], np.random.default_rng(5))
    again.add(["p3"], code)
    assert again.search(code, 1).names[0, 0] == "p3"


def test_codes_of_another_scheme_are_refused(tmp_path: Path) -> None:
    """Another seed, another epsilon: the codes look alike, and have nothing to do with each other."""
    for other in (
        Scheme(dimension=20, bits=512, epsilon=3, seed=Seed.from_hex("22" * 32)),
        Scheme(dimension=20, bits=512, epsilon=2, seed=SCHEME.seed),
    ):
        codes = Client(other).encode(people()[:2])
        write_codes(tmp_path / "codes.nwc", CodeFile(other.fingerprint, 512, ["a", "b"], codes))
        with pytest.raises(FileFormatError, match="codes of two schemes cannot be compared"):
            filled().add_file(tmp_path / "codes.nwc")


def test_one_person_has_no_neighbours() -> None:
    server = Server(SCHEME)
    server.add(["ann"], Client(SCHEME).encode(people()[:1]))
    found = server.neighbours(["ann"], 3)
    assert found.names.shape == found.distance.shape == found.low.shape == (1, 0)


def test_what_is_refused() -> None:
    server = filled()
    with pytest.raises(DataError, match="64 bytes, not 32"):
        server.search(np.zeros((1, 32), dtype=np.uint8), 1)
    with pytest.raises(DataError, match="bytes"):
        server.add(["new"], people()[:1])  # a profile is no code
    with pytest.raises(DataError, match="not in the index"):
        server.distance("p0", "nobody")
    with pytest.raises(ParameterError, match="a server needs a public Scheme, not str"):
        Server("public.json")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="confidence"):
        server.neighbours(["p0"], 1, confidence=2)
    empty = Server(Scheme(dimension=20, bits=8, epsilon=0))
    empty.add(["a", "b"], np.zeros((2, 1), dtype=np.uint8))
    with pytest.raises(ParameterError, match="below 1/2"):
        empty.neighbours(["a"], 1)


def test_sets_and_their_distance() -> None:
    """MinHash: a hash of two sets differs with half their Jaccard distance; the server speaks of the whole one."""
    rng = np.random.default_rng(3)
    sets = [set(rng.choice(60, 20, replace=False).tolist()) for _ in range(40)]
    scheme = Scheme(dimension=None, bits=4096, epsilon=3, seed=Seed.from_hex("55" * 32), family="minhash")
    server = Server(scheme)
    server.add([f"p{i}" for i in range(40)], Client(scheme).encode(sets, np.random.default_rng(1)))
    hits = []
    for i in range(1, 40):
        true = 1 - len(sets[0] & sets[i]) / len(sets[0] | sets[i])
        found = server.distance("p0", f"p{i}")
        hits.append(found.low <= true <= found.high)
        assert abs(float(found.distance) - true) < 0.15
    assert np.mean(hits) > 0.85  # of 39 at 0.95; fewer than 0.85 happens once in 500 seeds


@pytest.mark.parametrize("family", ["projection", "fast-projection", "sampling", "minhash"])
def test_every_family_finds_what_is_expected(family: str) -> None:
    """Pairs of people in each family's own distance; recall beside its closed form, with 300 people and one draw."""
    rng = np.random.default_rng(4)
    first = (rng.random((150, 64)) < 0.3) * rng.integers(1, 5, (150, 64))
    first[:, 0] = 1
    change = rng.random(first.shape) < 0.05
    profiles = np.concatenate([first, np.where(change, (first == 0) * 1, first)]).astype(float)
    scheme = Scheme(dimension=64, bits=256, epsilon=2, seed=Seed.from_hex("66" * 32), family=family)
    found = evaluate(scheme, profiles, neighbours=1, rng=rng, runs=2, sampled=100)
    assert found.recall == pytest.approx(found.expected, abs=0.12)
    assert found.recall > 5 * found.random_recall
    assert found.loss < found.random_loss


def test_who_knows_both_profiles_names_a_code_as_often_as_the_flips_let_him() -> None:
    scheme = Scheme(dimension=2, bits=3, epsilon=1, seed=Seed.from_hex("77" * 32))
    profiles = np.array([[1.0, 0.0], [-1.0, 0.0]])  # opposite, so that all three bits differ
    found = evaluate(scheme, profiles, neighbours=1, rng=np.random.default_rng(8), runs=600)
    flip = float(scheme.flip)
    wanted = (1 - flip) ** 3 + 3 * flip * (1 - flip) ** 2  # at most one of three flipped
    assert abs(found.named - wanted) < 5 * np.sqrt(wanted * (1 - wanted) / 1200)


def test_the_door() -> None:
    assert nw.matching.Server is Server
    assert {"Server", "Client", "Scheme", "CodeFile", "true_odds", "search_quality"} <= set(dir(nw.matching))


@pytest.mark.parametrize("bits", [9, 16])
def test_a_file_that_gives_its_scheme_another_number_of_bits_is_refused(tmp_path: Path, bits: int) -> None:
    scheme = Scheme(dimension=4, bits=12, epsilon=1, seed=Seed(bytes(32)))
    write_codes(tmp_path / "c.nwc", CodeFile(scheme.fingerprint, bits, ["ann"], np.zeros((1, 2), np.uint8)))
    server = Server(scheme)
    with pytest.raises(FileFormatError, match=f"codes have {bits} bits, and those of its scheme have 12"):
        server.add_file(tmp_path / "c.nwc")
    assert len(server) == 0
