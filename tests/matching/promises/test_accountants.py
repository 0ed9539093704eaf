"""The accountants: published numbers, tails by simulation, what grows with the distance and what does not."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal, localcontext
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from noisewright.channels.channel import Channel
from noisewright.exceptions import ParameterError
from noisewright.matching import (
    BY_SEED,
    Client,
    LossLaw,
    Scheme,
    alpha,
    binomial,
    chernoff,
    concentrated_hashes,
    differing_bits,
    exact_pxdp,
    exact_xdp,
    hamming,
    hoeffding,
    needed_deltas,
    per_hash,
    printed_spread,
    seed_promise,
    smallest_spread,
    worst_case,
)
from noisewright.metrics import Angular
from noisewright.resources import Seed

TABLE = {  # printed digits are cut, not rounded
    0.05: (0.31111, 0.2028, 0.15866, 0.11713),
    0.1: (0.3766, 0.25209, 0.19988, 0.14979),
    0.2: (0.44181, 0.30509, 0.24546, 0.18683),
    0.3: (0.46544, 0.32908, 0.26749, 0.20573),
    0.4: (0.46266, 0.33474, 0.27462, 0.21313),
}


@pytest.mark.parametrize("distance", TABLE)
def test_fact_f25_the_table_of_alpha(distance: float) -> None:
    """F-25: Table 10.2."""
    for bits, printed in zip((10, 20, 30, 50), TABLE[distance], strict=True):
        assert 0 <= alpha(distance, bits=bits, delta=0.01) - printed < 1.01e-5


def test_alpha_solves_its_equation_and_has_edges() -> None:
    for d, bits, delta in itertools.product((0.01, 0.3, 0.9), (1, 20, 500), (0.1, 1e-6)):
        a = alpha(d, bits=bits, delta=delta)
        if a < 1 - d:
            tail = math.exp(-bits * float(stats.entropy([d + a, 1 - d - a], [d, 1 - d])))
            assert tail == pytest.approx(delta, rel=1e-9)
        else:
            assert -math.log(d) <= math.log(1 / delta) / bits
    assert alpha(0, bits=5, delta=0.1) == alpha(1, bits=5, delta=0.1) == 0


@pytest.mark.parametrize(
    ("at", "wanted"),
    [
        ((0.05, 20, 0.989), (7.700, 5.000, 2.967, 2.639)),
        ((0.25, 20, 0.5), (5.893, 5.698, 3.0, 2.712)),
        ((0.25, 50, 0.1), (2.323, 2.240, 0.9, 0.579)),
        ((0.5, 20, 0.2), (3.357, 3.302, 1.6, 1.243)),
        ((0.1, 50, 2), (31.46, 24.98, 18.0, 17.75)),
    ],
)
def test_fact_f26b_losses_of_the_accountants(at: tuple[float, int, float], wanted: tuple[float, ...]) -> None:
    """F-26b: at delta = 0.01."""
    for loss, printed in zip((hoeffding, chernoff, exact_pxdp, exact_xdp), wanted, strict=True):
        digits = 2 if printed in (31.46, 24.98, 17.75) else 3
        assert round(loss(at[0], bits=at[1], epsilon=at[2], delta=0.01), digits) == printed


@pytest.mark.parametrize(
    ("d", "more", "bits", "kl", "loose", "exact"),
    [(0.1, 0.2, 20, 0.04627, 0.20190, 0.01125), (0.25, 0.25, 50, 7.525e-4, 1.930e-3, 1.225e-4)],
)
def test_fact_f26d_tails(d: float, more: float, bits: int, kl: float, loose: float, exact: float) -> None:
    """F-26d: the three bounds of one tail, and that each accountant inverts its own."""
    a = d + more
    assert math.exp(-bits * float(stats.entropy([a, 1 - a], [d, 1 - d]))) == pytest.approx(kl, rel=1e-3)
    assert math.exp(-2 * bits * more**2) == pytest.approx(loose, rel=1e-3)
    z = round(bits * a)
    assert float(stats.binom.sf(z - 1, bits, d)) == pytest.approx(exact, rel=1e-3)
    kl = math.exp(-bits * float(stats.entropy([a, 1 - a], [d, 1 - d])))
    for name, delta in (("chernoff", kl), ("hoeffding", math.exp(-2 * bits * more**2))):
        assert differing_bits(name, d, bits=bits, delta=delta) == pytest.approx(bits * a, rel=1e-6)
    assert differing_bits("binomial", d, bits=bits, delta=exact * 1.01) == z - 1
    assert differing_bits("binomial", d, bits=bits, delta=exact * 0.99) == z


def test_fact_f22_the_law_of_the_loss_is_that_of_the_real_mechanism() -> None:
    """F-22: fresh seeds and fresh noise, 6,000 runs; a chi-square test that a true law fails with probability 1e-6."""
    rng, bits, price, runs = np.random.default_rng(22), 12, 0.8, 6_000
    x = rng.standard_normal(6)
    y = x + 0.7 * rng.standard_normal(6)
    d = float(np.arccos(x @ y / np.linalg.norm(x) / np.linalg.norm(y)) / np.pi)
    steps = np.empty(runs, np.int64)
    for block in range(runs // 1500):  # one long code is many short ones: its bits are independent
        long = Scheme(dimension=6, bits=bits * 1500, epsilon=price, seed=Seed.from_hex(f"{block:02x}" * 32))
        mine, other = (np.unpackbits(code, bitorder="little")[: bits * 1500] for code in long.hash([x, y]))
        sent = np.unpackbits(Client(long).encode(x, rng), bitorder="little")[: bits * 1500]
        loss = (mine != other).astype(np.int64) * np.where(sent == mine, 1, -1)
        steps[block * 1500 : (block + 1) * 1500] = loss.reshape(1500, bits).sum(axis=1)
    law = LossLaw.of_hashes(d, bits=bits, epsilon=price)
    wanted = law.weights * runs
    seen = np.bincount(steps + bits, minlength=2 * bits + 1)
    common = wanted >= 5
    seen = np.append(seen[common], seen[~common].sum())
    wanted = np.append(wanted[common], wanted[~common].sum())
    assert float(((seen - wanted) ** 2 / wanted).sum()) < stats.chi2.isf(1e-6, len(seen) - 1)


def test_fact_f23_the_mean_loss() -> None:
    """F-23."""
    assert round(LossLaw.of_hashes(0.3, bits=20, epsilon=0.7).mean, 5) == 1.41278
    assert 0.7 * 20 * 0.3 * math.tanh(0.35) == pytest.approx(1.41278, abs=5e-6)
    assert concentrated_hashes(bits=20, epsilon=0.7).mean * 0.3 == pytest.approx(1.41278, abs=5e-6)


def test_the_law_of_the_loss_is_that_of_all_outputs() -> None:
    """Against all 3^4 paths of four bits, and against a closed form of binomials for many."""
    d, price = 0.3, 0.9
    q = math.exp(price) / (1 + math.exp(price))
    one = {1: d * q, 0: 1 - d, -1: d * (1 - q)}
    wanted = np.zeros(9)
    for path in itertools.product(one, repeat=4):
        wanted[4 + sum(path)] += math.prod(one[step] for step in path)
    assert LossLaw.of_hashes(d, bits=4, epsilon=price).weights == pytest.approx(wanted, rel=1e-12)
    bits, k = 300, 40
    m = np.arange(k, bits + 1, 2)
    closed = (stats.binom.pmf(m, bits, d) * stats.binom.pmf((m + k) // 2, m, q)).sum()
    assert LossLaw.of_hashes(d, bits=bits, epsilon=price).weights[bits + k] == pytest.approx(closed, rel=1e-9)


@pytest.mark.parametrize("answers", [2, 4, 16])
def test_hashes_with_more_answers_lose_by_the_same_formula(answers: int) -> None:
    """Against the channel of two B-ary responses mixed over a hash that differs or not."""
    d, price = 0.4, 1.1
    keep = 1 / (1 + (answers - 1) * math.exp(-price))
    p, q = np.full(answers, keep * math.exp(-price)), np.full(answers, keep * math.exp(-price))
    p[0] = q[1] = keep
    law = LossLaw.of_hashes(d, bits=1, epsilon=price, answers=answers)
    same, lost = 1 - d + d * p[2:].sum(), d * p[1]
    assert law.weights == pytest.approx([lost, same, d * p[0]], rel=1e-12)
    for loss in (0.0, 0.3, 1.0, 1.2):
        hockey = d * np.maximum(p - math.exp(loss) * q, 0).sum() + (1 - d) * max(0.0, 1 - math.exp(loss))
        assert law.delta(loss) == pytest.approx(hockey, rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("name", BY_SEED)
def test_every_accountant_holds_in_a_simulation_of_the_tail(name: str) -> None:
    """Seeds and noise of 200,000 runs at delta = 0.01: more failures than delta allows, by chance, with probability 1e-6.

    For the three about seeds alone, whether the hashes differ in more bits than that; for the others, the loss itself, and for
    the exact XDP loss the excess of its worst event.
    """
    rng, runs, delta = np.random.default_rng(7), 200_000, 0.01
    for d, bits, price in ((0.05, 20, 0.989), (0.25, 50, 0.4), (0.5, 16, 1.5)):
        differ = rng.binomial(bits, d, runs)
        kept = rng.binomial(differ, math.exp(price) / (1 + math.exp(price)))
        loss = price * (2 * kept - differ)
        claimed = BY_SEED[name](d, bits=bits, epsilon=price, delta=delta)
        if name == "exact-xdp":
            excess = np.maximum(0, 1 - np.exp(claimed - loss))  # of mean at most delta; within 0 and 1
            assert excess.mean() <= delta + stats.norm.isf(1e-6) * math.sqrt(delta / runs)
            short = np.maximum(0, 1 - np.exp(claimed * 0.9 - loss))
            assert short.mean() > delta  # and a tenth less would not do
        else:
            above = (price * differ if name != "exact-pxdp" else loss) > claimed + 1e-9
            assert above.sum() <= stats.binom.isf(1e-6, runs, delta)
        assert claimed <= worst_case(bits=bits, epsilon=price)


@given(
    st.floats(0, 1),
    st.floats(0, 1),
    st.integers(1, 60),
    st.sampled_from([0, 1e-9, 0.01, 0.3, 1, 4]),
    st.sampled_from([0.3, 0.05, 1e-3, 1e-9]),
)
@settings(max_examples=60)
def test_losses_grow_with_the_distance_and_are_ordered(
    one: float, other: float, bits: int, price: float, delta: float
) -> None:
    near, far = sorted((one, other))
    at: dict[str, Any] = {"bits": bits, "epsilon": price, "delta": delta}
    for name in ("hoeffding", "chernoff", "binomial", "exact-xdp"):
        assert BY_SEED[name](near, **at) <= BY_SEED[name](far, **at) * (1 + 1e-7) + 1e-12, name
    ordered = [BY_SEED[name](far, **at) for name in ("exact-xdp", "binomial", "chernoff", "hoeffding")]
    worst = worst_case(bits=bits, epsilon=price)
    assert all(a <= b * (1 + 1e-7) + 1e-12 for a, b in itertools.pairwise([*ordered, worst]))
    assert ordered[0] <= exact_pxdp(far, **at) + 1e-9 <= binomial(far, **at) + 2e-9


@given(st.floats(0, 1), st.integers(1, 40), st.floats(0.01, 4), st.sampled_from([0.3, 0.05, 1e-3]))
@settings(max_examples=60)
def test_deltas_are_met_and_hardly_missed(d: float, bits: int, price: float, delta: float) -> None:
    law = LossLaw.of_hashes(d, bits=bits, epsilon=price)
    loss = exact_xdp(d, bits=bits, epsilon=price, delta=delta)
    assert law.delta(loss) <= delta
    assert loss == 0 or law.delta(loss * (1 - 1e-6)) > delta * (1 - 1e-5)
    exact = exact_pxdp(d, bits=bits, epsilon=price, delta=delta)
    assert law.tail(exact + 1e-9) <= delta
    assert exact == 0 or law.tail(exact - price / 2) > delta * (1 - 1e-6)


def test_the_exact_tail_is_not_monotone_and_is_refused_for_a_radius() -> None:
    """Two bits that are kept and flipped about as often: Pr[L > 0] is 0.33 at d = 0.6 and 0.25 at d = 1."""
    at = {"bits": 2, "epsilon": "1e-9"}
    assert LossLaw.of_hashes(0.6, **at).tail(0) == pytest.approx(0.33, abs=1e-6)
    assert LossLaw.of_hashes(1.0, **at).tail(0) == pytest.approx(0.25, abs=1e-6)
    assert exact_pxdp(0.6, **at, delta=0.3) > exact_pxdp(1.0, **at, delta=0.3) == 0
    with pytest.raises(ParameterError, match="may be larger for nearer pairs"):
        seed_promise(radius=1.0, **at, delta=0.3, accountant="exact-pxdp")
    assert seed_promise(distance=0.6, **at, delta=0.3, accountant="exact-pxdp").loss > 0


@pytest.mark.parametrize(
    ("bits", "ratio"), [(1, 2.00), (2, 1.41), (3, 1.15), (4, 1.00), (5, 0.89), (10, 0.63), (20, 0.45)]
)
def test_fact_f24_the_printed_theorem_fails_for_few_bits_and_the_corrected_one_holds(bits: int, ratio: float) -> None:
    """F-24: the smallest valid tau over the printed one, worst over d and epsilon; above 1 it is refuted."""
    found = [
        (smallest_spread(LossLaw.of_hashes(d, bits=bits, epsilon=price)), price)
        for d in (0.2, 0.7, 1.0)
        for price in (1e-3, 0.5, 3.0)
    ]
    assert max(tau / printed_spread(bits=bits, epsilon=price) for tau, price in found) == pytest.approx(
        ratio, abs=0.006
    )
    assert all(tau <= concentrated_hashes(bits=bits, epsilon=price).spread for tau, price in found)


def test_a_concentrated_promise_gives_a_tail() -> None:
    for d, bits, price, delta in itertools.product((0.1, 0.9), (1, 3, 50), (0.1, 2.0), (0.1, 1e-5)):
        loss = concentrated_hashes(bits=bits, epsilon=price).loss(d, delta=delta)
        assert LossLaw.of_hashes(d, bits=bits, epsilon=price).tail(loss) <= delta


def test_fact_f26e_the_yardstick_of_a_low_privacy_regime() -> None:
    """F-26e: a thousand ratings of five stars."""
    assert round(1000 * math.log(5), 1) == 1609.4


def test_deltas_of_a_channel_with_a_public_seed_are_those_of_the_law_of_the_loss() -> None:
    """Two profiles, two bits: the channel that puts out which hashes differ, and two noisy bits; and a random channel."""
    d, price, flip = 0.3, 0.9, 1 / (1 + math.exp(0.9))
    rows = []
    for secret in (0, 1):
        row = []
        for differs in itertools.product((0, 1), repeat=2):
            for sent in itertools.product((0, 1), repeat=2):
                seed = math.prod(d if bit else 1 - d for bit in differs)
                hashes = [bit & secret for bit in differs]
                row.append(seed * math.prod(flip if a != b else 1 - flip for a, b in zip(hashes, sent, strict=True)))
        rows.append(row)
    law = LossLaw.of_hashes(d, bits=2, epsilon=price)
    for loss in (0.0, 0.5, 0.9, 1.5, 2.0):
        found = needed_deltas(Channel(rows), [[0, loss], [loss, 0]])
        assert found[0, 1] == pytest.approx(law.delta(loss), abs=1e-15)
        assert found[1, 0] == pytest.approx(law.delta(loss), abs=1e-15)
    channel = Channel(np.random.default_rng(1).dirichlet([0.5] * 6, 4))
    even = needed_deltas(channel, np.full((4, 4), 0.7))
    assert even.max() == pytest.approx(channel.delta("0.7"), rel=1e-12)
    one = LossLaw.between(channel, channel.inputs[0], channel.inputs[2])
    assert one.delta(0.7) == pytest.approx(even[0, 2], rel=1e-12)
    hole = Channel([[1.0, 0.0], [0.5, 0.5]])
    assert needed_deltas(hole, [[0, 1e4], [1e4, 0]]).tolist() == [[0.0, 0.0], [0.5, 0.0]]
    assert LossLaw.between(hole, hole.inputs[1], hole.inputs[0]).impossible == 0.5
    with pytest.raises(ParameterError, match="every ordered pair of 2 secrets"):
        needed_deltas(hole, [[0, -1], [1, 0]])


def test_unlucky_pairs_are_found_once_the_seed_is_known() -> None:
    """In the plane, 20 bits: the worst pair at d = 0.05 differs in 3.8 bits on average, a fixed one in 1.0.

    The mean over 400 seeds, within six standard errors.
    """
    worst, fixed = [], []
    turn = np.linspace(0, np.pi, 2000, endpoint=False)
    first = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    second = np.stack([np.cos(turn + 0.05 * np.pi), np.sin(turn + 0.05 * np.pi)], axis=1)
    for number in range(400):
        scheme = Scheme(dimension=2, bits=20, epsilon=1, seed=Seed(number.to_bytes(32, "big")))
        apart = hamming(scheme.hash(first), scheme.hash(second))
        worst.append(int(apart.max()))
        fixed.append(int(apart[0]))
    assert np.mean(worst) == pytest.approx(3.8, abs=0.05 + 6 * np.std(worst) / 20)
    assert np.mean(fixed) == pytest.approx(1.0, abs=6 * np.std(fixed) / 20)


def test_a_promise_says_about_whom_it_is() -> None:
    told = seed_promise(radius=0.05, bits=20, epsilon="0.98892", delta=0.01, accountant="chernoff")
    assert "fixed before the seed was drawn" in told.in_words()
    assert "chosen when the seed is known can be told apart" in told.in_words()
    held = told.guarantee(Angular())
    assert (held.seed_failure, held.delta) == (0.01, 0.0)
    assert held.bound(1) == held.bound(0.2) == told.loss
    assert held.bound(1.01) == math.inf
    joint = seed_promise(radius=0.05, bits=20, epsilon="0.98892", delta=0.01)
    assert (joint.accountant, joint.guarantee(Angular()).delta) == ("exact-xdp", 0.01)
    assert (
        joint.loss < seed_promise(radius=0.05, bits=20, epsilon="0.98892", delta=0.01, notion="pxdp").loss < told.loss
    )
    with pytest.raises(ParameterError, match="within a radius"):
        seed_promise(distance=0.05, bits=20, epsilon=1, delta=0.01).guarantee(Angular())


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"bits": 0}, "bits must be"),
        ({"bits": 2.5}, "bits must be"),
        ({"delta": 0}, "delta must be"),
        ({"delta": 1}, "delta must be"),
        ({"delta": math.nan}, "delta must be"),
        ({"delta": "x"}, "delta must be"),
        ({"radius": 1.5}, "radius must be"),
        ({"radius": -0.1}, "radius must be"),
        ({"radius": None}, "say radius"),
        ({"distance": 0.1}, "say radius"),
        ({"epsilon": -1}, "epsilon, the price of a bit"),
        ({"accountant": "best"}, "accountant must be"),
        ({"notion": "rdp"}, "notion must be"),
    ],
)
def test_bad_parameters_are_refused_in_a_sentence(wrong: dict[str, Any], words: str) -> None:
    good: dict[str, Any] = {"radius": 0.1, "bits": 20, "epsilon": 1, "delta": 0.01}
    with pytest.raises(ParameterError, match=words):
        seed_promise(**{**good, **wrong})


def test_what_differs_is_between_none_and_all() -> None:
    assert per_hash(0, bits=8, epsilon=1) == 0
    for wrong in (-1, 9, 1.5):
        with pytest.raises(ParameterError, match="differ in 0 to 8"):
            per_hash(wrong, bits=8, epsilon=1)  # type: ignore[arg-type]


@pytest.mark.parametrize("bits", [1, 3, 257, 1000])
@pytest.mark.parametrize("epsilon", ["1e-9", "0.001", "0.5", "20"])
@pytest.mark.parametrize("delta", [1e-300, 1e-12, 0.01, 0.3])
def test_the_exact_loss_is_enough_in_eighty_digits(bits: int, epsilon: str, delta: float) -> None:
    """All bits differ, so that the loss is (2m - bits) epsilon with binomial weights: a loss for tiny prices is not too small."""
    loss = exact_xdp(1.0, bits=bits, epsilon=epsilon, delta=delta)
    with localcontext(prec=80):
        price, allowed = Decimal(epsilon), Decimal(loss)
        lie = 1 / (1 + price.exp())
        needed = sum(
            math.comb(bits, m) * (1 - lie) ** m * lie ** (bits - m) * (1 - (allowed - (2 * m - bits) * price).exp())
            for m in range(bits + 1)
            if (2 * m - bits) * price > allowed
        )
        assert needed <= Decimal(delta)
        assert allowed <= bits * price * (1 + Decimal("1e-15"))
