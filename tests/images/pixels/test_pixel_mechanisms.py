"""Laplace noise on blocks, choices of levels and of windows: their laws, what they promise, and that it is proved.

Statistical tests have fixed seeds, and would fail by chance with a probability below 1e-6 for a seed that was not looked at.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from picture_support import drawing, small_picture
from scipy.stats import chisquare

from noisewright.certificates.certificate import Certificate
from noisewright.exceptions import CertificateError, DataError, NoChannelError, NoLossError, ParameterError
from noisewright.images import (
    ChangedPixels,
    WindowChoice,
    Windows,
    chunks_of,
    level_table,
    pixel_exponential,
    pixel_laplace,
    pixel_windows,
    raw_losses,
    raw_ssim_windows,
    read_picture,
    two_valued,
    window_ssim,
)
from noisewright.images.windows import WindowClasses, level_values
from noisewright.mechanisms.numeric.geometric import geometric
from noisewright.sampling.laplace import ClampedLaplace

MAKERS = {"laplace": pixel_laplace, "exponential": pixel_exponential, "windows": pixel_windows}
SIZES = {"width": 23, "height": 17}


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


# What is promised, and proved ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("block", [1, 4, 5])
def test_shares_add_up_to_epsilon_exactly_and_the_certificate_proves_it(name: str, block: int) -> None:
    made = MAKERS[name](epsilon="7/3", block=block, **SIZES)
    found = made.certificate()
    assert found.epsilon == Fraction(7, 3)
    many = sum(part["count"] for part in found.document["proof"]["parts"])
    assert (
        found.verify()
        == f"epsilon = {'2.33334'} per unit of discrete between two pictures of one size, over {many} independent parts"
    )
    assert "any two pictures of one size" in made.in_words()


@pytest.mark.parametrize("name", MAKERS)
def test_a_pixel_is_in_one_value_of_each_channel(name: str) -> None:
    made = MAKERS[name](epsilon="1/10", block=5, between="pixels", **SIZES)
    found = made.certificate()
    base = "1/765 * manhattan" if name == "laplace" else "1/3 * hamming"
    assert found.verify().startswith(f"epsilon = 0.1 per unit of {base} between two pictures of one size, over")
    assert made.guarantee.metric == ChangedPixels(base.partition(" * ")[2], 3)
    assert made.map(40) == pytest.approx(4)
    assert "differ in at most 1 pixel " in made.in_words()


def test_one_noise_has_three_readings() -> None:
    whole = pixel_laplace(epsilon=30, block=4, **SIZES)
    values = 255 * 3 * 23 * 17
    pixels = pixel_laplace(epsilon=Fraction(30, 23 * 17), block=4, between="pixels", **SIZES)
    steps = pixel_laplace(epsilon=Fraction(30, values), block=4, between="steps", **SIZES)
    assert whole.per_step == pixels.per_step == steps.per_step == Fraction(30, values)
    assert (
        steps.certificate()
        .verify()
        .endswith("per unit of manhattan between two pictures of one size, over 90 independent parts")
    )
    assert steps.guarantee.metric.name == "manhattan"
    photo = drawing(23, 17)
    drawn = [made.release(photo, rng()) for made in (whole, pixels, steps)]
    assert (drawn[0] == drawn[1]).all()
    assert (drawn[0] == drawn[2]).all()
    assert steps.guarantee.metric.distance(photo, photo + np.uint8(0)) == 0


def test_a_certificate_with_weights_beyond_its_bounds_is_refused() -> None:
    good = WindowChoice(Fraction(3), cells=9, levels=4).certificate()
    proof = dict(good.document["proof"])
    for change in ({"most": 1 << 41}, {"least": proof["least"] // 2}, {"least": 0}, {"precision": 8}, {"extra": 1}):
        forged = Certificate.build(
            mechanism="window choice",
            epsilon=Fraction(3),
            metric="discrete",
            distances={"shape": "uniform", "distance": "1"},
            proof={**proof, **change},
        )
        with pytest.raises(CertificateError):
            forged.verify()
    for distances in ({"shape": "steps", "distance": "1"}, {"shape": "uniform", "distance": "1/2"}):
        with pytest.raises(CertificateError):
            Certificate.build(
                mechanism="w", epsilon=Fraction(3), metric="discrete", distances=distances, proof=proof
            ).verify()


def test_noise_whose_secrets_may_lie_beyond_the_clamp_is_no_part_of_a_product_of_any_two_values() -> None:
    from noisewright.certificates.composition import Part, product_certificate

    inside = geometric(epsilon="1/5", within=(0, 10)).certificate()
    assert product_certificate("sums", [Part(inside, 3)], metric="discrete").epsilon == 6
    assert product_certificate("sums", [Part(inside, 3)], metric="hamming").verify().startswith("epsilon = 2 per")
    for other in (geometric(epsilon=1), geometric(epsilon=1, within=(0, 10), outside="keep")):
        with pytest.raises(ParameterError, match="not about finitely many values"):
            product_certificate("sums", [Part(other.certificate(), 3)], metric="discrete")


# Laplace ------------------------------------------------------------------------------------------------------------------


def test_im_fact_17_sixteen_pixels_change_block_sums_by_no_more_than_themselves() -> None:
    made = pixel_laplace(epsilon=1, width=16, height=16, block=4, colours="grey")
    black, white = np.zeros((1, 16, 16, 1), np.uint8), np.zeros((1, 16, 16, 1), np.uint8)
    white[0, 4:8, 8:12] = 255  # one aligned block
    sums = [made.blocks.sums(picture) for picture in (black, white)]
    assert np.abs(sums[0] - sums[1]).sum() == 255 * 16  # the most: a mean changes by 255 = 255 * 16 / 4^2
    random = rng()
    for _ in range(200):
        first = random.integers(0, 256, (1, 16, 16, 1), dtype=np.uint8)
        second = first.copy()
        places = random.choice(256, 16, replace=False)
        second.reshape(-1)[places] = random.integers(0, 256, 16)
        apart = np.abs(made.blocks.sums(first) - made.blocks.sums(second)).sum()
        assert apart <= np.abs(first.astype(int) - second).sum() <= 255 * 16


def test_im_fact_18_where_the_scale_of_a_mean_is_255() -> None:
    for block in (1, 2, 4, 8, 16):
        made = pixel_laplace(epsilon=Fraction(49152, block**2), width=128, height=128, block=block)
        assert made.scale / block**2 == 255


@pytest.mark.parametrize("scale", ["1/3", "5", "1000000"])
def test_clamped_noise_has_the_law_of_all_noise(scale: str) -> None:
    """Against the closed form of the discrete Laplace law, tails put on the ends."""
    reach, rate = 6, 1 / float(Fraction(scale))
    noise = ClampedLaplace(Fraction(scale), reach).draw(40_000, rng())
    a = math.exp(-rate)
    law = (1 - a) / (1 + a) * np.exp(-rate * np.abs(np.arange(-reach, reach + 1)))
    law[[0, -1]] = math.exp(-rate * reach) / (1 + a)
    assert law.sum() == pytest.approx(1)
    seen = np.bincount(noise + reach, minlength=2 * reach + 1)
    common = law * len(noise) >= 5
    assert seen[~common].sum() < 20
    assert chisquare(seen[common], law[common] / law[common].sum() * seen[common].sum()).pvalue > 1e-6


def test_clamped_noise_settles_what_64_bits_do_not() -> None:
    """A source whose first word lies on a threshold: the next words decide."""
    noise = ClampedLaplace(Fraction(2), 3)
    low, _ = noise._enclosure(64)

    class Scripted:
        for_release, label = False, "scripted"

        def __init__(self, words: list[int]) -> None:
            self.left = words

        def words(self, count: int) -> Any:
            taken, self.left = self.left[:count], self.left[count:]
            return np.array(taken, np.uint64)

    place = 2
    assert noise.block(1, Scripted([low[place], 0])).tolist() == [place - 3]
    assert noise.block(1, Scripted([low[place], (1 << 64) - 1])).tolist() == [place - 2]


@pytest.mark.parametrize("block", [1, 3, 20])
def test_both_ways_to_draw_the_noise_of_sums_have_its_law(block: int) -> None:
    """The mean of the noisy mean, in closed form for a clamped Laplace law: blocks of 1 and 3 by look-up, of 20 by digits."""
    wide = pixel_laplace(
        epsilon=Fraction(2, 255 * block**2),
        width=block * 40,
        height=block * 40,
        block=block,
        between="steps",
        colours="grey",
    )
    drawn = wide.release(np.full((block * 40,) * 2, 51, np.uint8), rng())[::block, ::block] / 255
    s, x = 0.5, 0.2
    mean = x + s / 2 * (math.exp(-x / s) - math.exp(-(1 - x) / s))
    spread = math.sqrt(sum(s * s - math.exp(-t / s) * (s * s + s * t) for t in (x, 1 - x)))
    assert abs(drawn.mean() - mean) < 5 * spread / 40 + 0.004


def test_im_fact_20_strong_privacy_pushes_clamped_noise_to_black_and_white() -> None:
    x = np.arange(256.0)
    assert np.mean([((x - r) ** 2).mean() for r in x]) == pytest.approx(10922.5, abs=1)
    picture = np.tile(np.arange(256, dtype=np.uint8), (200, 1))
    drawn = pixel_laplace(epsilon="1/1000", width=256, height=200, colours="grey").release(picture, rng())
    assert (drawn.astype(float) - picture).__pow__(2).mean() == pytest.approx(21717.5, rel=0.01)
    assert np.isin(drawn, (0, 255)).mean() > 0.999
    even = pixel_exponential(epsilon="1/1000", width=256, height=200, colours="grey").release(picture, rng())
    assert (even.astype(float) - picture).__pow__(2).mean() == pytest.approx(10922.5, rel=0.01)


# Levels -------------------------------------------------------------------------------------------------------------------


def test_im_fact_19_the_table_of_four_levels() -> None:
    table = level_table(Fraction(1), "squared", 4).channel()
    assert table.matrix[0] == pytest.approx([0.344365, 0.308151, 0.220800, 0.126685], abs=1e-6)
    assert table.matrix[1] == pytest.approx([0.260821, 0.291472, 0.260821, 0.186886], abs=1e-6)
    assert table.epsilon().value == pytest.approx(1, abs=1e-9)
    strong = level_table(Fraction(5), "squared", 4).channel()
    assert strong.matrix[0] == pytest.approx([0.592116, 0.339728, 0.064166, 0.003990], abs=1e-6)
    assert strong.epsilon().value == pytest.approx(5, abs=1e-9)


@settings(max_examples=25, deadline=None)
@given(
    st.fractions(min_value=Fraction(1, 10**9), max_value=200, max_denominator=10**12),
    st.sampled_from(["absolute", "squared"]),
    st.integers(2, 24),
)
def test_every_table_keeps_its_share_and_wastes_none(share: Fraction, quality: Any, levels: int) -> None:
    table = level_table(share, quality, levels)
    rows = table.table
    assert all(sum(row) == 1 << 48 for row in rows)
    assert rows.min() > 0
    worst = max(Fraction(max(column), min(column)) for column in rows.T)
    assert math.log(worst) <= float(share) * (1 + 1e-12)
    if share < 15:
        assert math.log(worst) >= float(share) * (1 - 1e-3) - 1e-11


@pytest.mark.parametrize(
    ("share", "squared", "absolute"), [("0.01", 10901, 10897), ("1", 8923, 8522), ("20", 1381, 289), ("100", 303, 12.5)]
)
def test_squared_errors_of_both_qualities(share: str, squared: float, absolute: float) -> None:
    x = np.arange(256.0)
    for quality, wanted in (("squared", squared), ("absolute", absolute)):
        rows = level_table(Fraction(share), quality, 256).table.astype(np.float64) / 2.0**48  # type: ignore[arg-type]
        assert (rows * (x[:, None] - x) ** 2).sum(1).mean() == pytest.approx(wanted, rel=0.003, abs=0.6)


def test_draws_of_levels_have_the_law_of_the_table() -> None:
    made = pixel_exponential(epsilon=2, width=50, height=80, colours="grey", levels=6, between="pixels")
    drawn = made.release(np.full((80, 50), 100, np.uint8), rng())
    rows = made.table.channel().matrix
    assert sorted(set(np.unique(drawn))) == [0, 51, 102, 153, 204, 255]
    assert chisquare(np.bincount(drawn.reshape(-1) // 51, minlength=6), rows[2] * 4000).pvalue > 1e-6


# Windows ------------------------------------------------------------------------------------------------------------------


def every(levels: int, cells: int) -> np.ndarray[Any, Any]:
    values = np.rint(np.linspace(0, 255, levels))
    return values[np.array(list(itertools.product(range(levels), repeat=cells)))]


def law_of(choice: WindowChoice, window: Any) -> np.ndarray[Any, Any]:
    likeness = window_ssim(np.asarray(window, float), every(choice.levels, choice.cells))
    weights = choice.weights(likeness, likeness.max())
    return weights / weights.sum()


def test_im_fact_22_the_law_of_one_window_and_its_acceptance() -> None:
    window, candidates = np.array([10, 200, 90, 250.0]), every(4, 4)
    likeness = window_ssim(window, candidates)
    # The stated numbers are for raw SSIM: clipping changes the law, and the mode stays what it is.
    weights = np.exp(3 * (likeness - 1))
    law = weights / weights.sum()
    best = int(np.argmax(law))
    assert candidates[best].tolist() == [0, 170, 85, 255]
    assert likeness[best] == pytest.approx(0.988083, abs=1e-6)
    assert law[best] == pytest.approx(0.028059, abs=1e-6)
    assert law @ likeness == pytest.approx(0.581434, abs=1e-6)
    assert weights.mean() == pytest.approx(0.134327, abs=1e-6)
    clipped = WindowChoice(Fraction(6), cells=4, levels=4)
    ours = law_of(clipped, window)
    assert int(np.argmax(ours)) == best
    assert clipped.weights(likeness).mean() / 2**40 > math.exp(-3)


@pytest.mark.parametrize("quality", ["clipped", "shifted"])
@pytest.mark.parametrize("sampler", ["rejection", "enumeration"])
@pytest.mark.parametrize(("levels", "loss"), [(3, 6), (4, 6), (3, 14), (4, 14), (4, 40)])
def test_both_samplers_have_the_law_of_the_weights(quality: Any, sampler: Any, levels: int, loss: int) -> None:
    choice = WindowChoice(Fraction(loss), cells=4, levels=levels, quality=quality, sampler=sampler)
    assert choice.by_class == (loss > 10)  # beyond, proposals are not uniform
    windows = np.array([[10, 200, 90, 250.0], [128, 128, 128, 128.0]])
    many = 3000
    drawn = choice.draw(np.repeat(windows, many, axis=0), rng()).reshape(2, many, 4)
    for window, codes in zip(windows, drawn, strict=True):
        law = law_of(choice, window)
        number = codes.astype(int) @ levels ** np.arange(3, -1, -1)
        seen = np.bincount(number, minlength=levels**4)
        likely = law * many >= 5
        grouped = np.append(seen[likely], seen[~likely].sum())
        wanted = np.append(law[likely], law[~likely].sum()) * many
        grouped, wanted = (
            (grouped, wanted)
            if wanted[-1] >= 5
            else (grouped[:-1], wanted[:-1] * grouped[:-1].sum() / wanted[:-1].sum())
        )
        assert chisquare(grouped, wanted).pvalue > 1e-6


@pytest.mark.parametrize(("cells", "levels"), [(4, 4), (9, 2), (9, 3)])
def test_the_bound_of_a_class_is_that_of_its_best_window(cells: int, levels: int) -> None:
    classes = WindowClasses.of(cells, levels)
    assert len(np.unique(classes.codes, axis=0)) == len(classes.codes) == classes.counts.sum() == levels**cells
    of_class = np.repeat(np.arange(len(classes.counts)), classes.counts)
    values = level_values(levels)[classes.codes]
    assert (np.sort(values, 1) == classes.sorted[of_class]).all()
    windows = np.vstack([np.random.default_rng(5).integers(0, 256, (30, cells)), np.full((1, cells), 7)]).astype(float)
    for quality in ("clipped", "shifted"):
        choice = WindowChoice(Fraction(24), cells, levels, quality)  # type: ignore[arg-type]
        similarity = window_ssim(windows[:, None, :], values[None])
        bounds, most = choice.class_bounds(windows)
        assert np.allclose(most[:, 0], similarity.max(1), rtol=0, atol=1e-12)
        best = np.maximum.reduceat(choice.weights(similarity, most), classes.starts, axis=1)
        assert (bounds >= best).all()
        assert (bounds <= best * (1 + 2**-19) + 2).all()


def test_the_most_alike_window_of_nine_cells_comes_as_often_as_its_weight_says() -> None:
    """Proposals by class against the whole law of 262,144 windows; a chance below 1e-6 to fail."""
    choice, many = WindowChoice(Fraction(16), cells=9, levels=4), 4000
    window = np.array([0, 85, 170, 0, 85, 170, 0, 85, 170.0])
    drawn = choice.draw(np.repeat(window[None], many, 0), rng())
    likeness = window_ssim(window, every(4, 9))
    law = choice.weights(likeness) / choice.weights(likeness).sum()
    cuts = np.quantile(likeness, [0.9, 0.99, 0.999, 0.9999])
    seen = np.bincount(np.searchsorted(cuts, window_ssim(window, level_values(4)[drawn])), minlength=5)
    wanted = np.bincount(np.searchsorted(cuts, likeness), weights=law, minlength=5) * many
    assert wanted.min() > 5
    assert chisquare(seen, wanted).pvalue > 1e-6


def test_weights_are_within_their_bounds_whatever_the_quality_is() -> None:
    for loss in ("1/1000000000000000", "1/7", "5", "16", "200"):
        choice = WindowChoice(Fraction(loss), cells=4, levels=4)
        least, most = choice.bounds
        weird = choice.weights(np.array([-5.0, -1, 0, 0.3, 1, 7, math.nan, math.inf, -math.inf]))
        assert least <= weird.min() <= weird.max() <= most
        assert choice.certificate().verify().startswith("epsilon = ")
        assert 2 * math.log(most / least) <= float(choice.loss) * (1 + 1e-12) + 1e-15


def test_im_fact_23_windows_and_left_over_cells_share_epsilon() -> None:
    for block, windows, cells in ((16, 12, 84), (8, 75, 93), (4, 300, 372), (1, 5292, 1524)):
        made = pixel_windows(epsilon=100, width=128, height=128, block=block)
        assert 3 * made.grid.count == windows
        assert 3 * made.grid.left_over == cells
        assert windows * made.choice.loss + cells * made.share == 100
        parts = made.certificate().document["proof"]["parts"]
        assert [part["count"] for part in parts] == [windows, cells]
        assert made.choice.rate == Fraction(100 * 9 * block**2, 2 * 128 * 128 * 3)  # epsilon' of the published theorem


def test_the_published_configuration_loses_less_than_its_claim_on_the_levels_and_a_little_more_elsewhere() -> None:
    """Two ways to count: by classes of cells, and over all outputs one by one."""
    parts = raw_losses()
    assert parts == pytest.approx(
        [0.99664, 0.99665, 0.99666, 0.99667, 0.99669, 0.99673, 0.99766, 0.99904, 0.99784, 0.9975, 0.99696], abs=1e-5
    )
    assert max(parts) < 0.9991
    small = every(3, 4)
    logs = np.log(law := np.exp(2.5 * window_ssim(small[:, None, :], small[None]))) - np.log(law.sum(1, keepdims=True))
    brute = (logs.max(0) - logs.min(0)).max() / 5
    assert raw_losses([5], levels=(0, 128, 255), cells=4)[0] == pytest.approx(brute, abs=1e-12)
    pair = [(193.0,) * 6 + (255.0,) * 3, (217.0,) * 6 + (101.0,) * 3]
    output = np.array([170.0] * 6 + [255.0] * 3)
    outputs = every(4, 9)
    scores = [15 * window_ssim(np.array(one), outputs) for one in pair]
    own = [
        15 * float(window_ssim(np.array(one), output)) - float(np.logaddexp.reduce(score))
        for one, score in zip(pair, scores, strict=True)
    ]
    assert own[0] - own[1] == pytest.approx(30 * 1.0405, abs=0.003)  # 30 is claimed
    assert raw_losses([30], pair)[0] >= (own[0] - own[1]) / 30 - 1e-9
    beside = raw_losses([5, 10, 30, 100], two_valued(17))
    assert beside == pytest.approx([0.997, 1.00216, 1.03821, 1.00137], abs=1e-4)


def test_im_fact_24_raw_ssim_breaks_the_proof_and_clipped_or_shifted_does_not() -> None:
    grid = every(4, 4)
    similar = window_ssim(grid[:, None, :], grid[None, :, :])
    assert similar.max() - similar.min() == pytest.approx(1.9964, abs=1e-4)
    board = every(2, 9)
    assert np.ptp(window_ssim(board[:, None, :], board[None, :, :])) == pytest.approx(1.9721, abs=1e-4)
    rate = Fraction(5)
    target = raw_ssim_windows(epsilon=2 * rate, window=2, levels=4)
    assert target.audit() > 10.12  # twice the rate is claimed
    assert "UNSAFE" in repr(target)
    for quality in ("clipped", "shifted"):
        weights = WindowChoice(2 * rate, cells=4, levels=4, quality=quality).weights(similar)  # type: ignore[arg-type]
        logs = np.log(weights / weights.sum(1, keepdims=True))
        assert (logs.max(0) - logs.min(0)).max() <= 2 * float(rate)


def test_im_fact_25_how_many_windows_and_colours() -> None:
    choice = WindowChoice(Fraction(20), cells=9, levels=4)
    assert len(choice._every) == 4**9 == 262_144
    assert 4**3 == 64


def test_large_windows_with_all_levels_by_rejection() -> None:
    made = pixel_windows(epsilon=1000, width=128, height=128, block=1, window=11, levels=256)
    drawn = made.release(drawing(128, 128), rng())
    assert made.choice.rejects
    assert len(np.unique(drawn)) == 256
    with pytest.raises(ParameterError, match="to enumerate"):
        pixel_windows(epsilon=1000, width=128, height=128, block=1, window=11, levels=256, sampler="enumeration")
    with pytest.raises(ParameterError, match="proposals"):
        pixel_windows(epsilon=10**6, width=128, height=128, block=1, window=11, levels=256)


def test_parameters_and_no_secret_choose_the_sampler() -> None:
    weak, strong = (pixel_windows(epsilon=e, width=128, height=128) for e in (10**4, 10))
    assert (weak.choice.by_class, strong.choice.by_class) == (True, False)
    assert weak.choice.rejects
    assert strong.choice.rejects
    many = pixel_windows(epsilon=10**4, width=128, height=128, window=2, levels=32)  # classes: 52,360
    assert not many.choice.rejects
    assert pixel_windows(epsilon=10, width=128, height=128, sampler="enumeration").choice.rejects is False


# Pictures in and out ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MAKERS)
def test_weak_privacy_gives_the_pixelised_picture_and_strong_privacy_nothing_of_it(name: str) -> None:
    photo, block = drawing(48, 32), 4
    clear = MAKERS[name](epsilon=10**7, width=48, height=32, block=block).release(photo, rng())
    assert (clear.reshape(8, 4, 12, 4, 3) == clear[::4, ::4][:, None, :, None]).all()  # each block in one colour
    means = photo.reshape(8, 4, 12, 4, 3).mean((1, 3))
    if name != "windows":
        assert np.abs(clear[::4, ::4] - means).max() <= 1
    else:
        assert np.abs(clear[::4, ::4] - means).mean() < 30  # four levels
    one, two = (
        MAKERS[name](epsilon="1/1000", width=48, height=32, block=block).release(p, rng()) for p in (photo, 255 - photo)
    )
    assert (one == two).mean() > 0.99  # the same bits give the same picture, whatever the secret


@pytest.mark.parametrize("name", MAKERS)
def test_files_in_files_out(name: str) -> None:
    made = MAKERS[name](epsilon=50, width=8, height=6, block=2)
    cells = [small_picture(seed) for seed in range(4)]
    drawn = made.release(cells, rng())
    assert drawn.shape == (4,)
    assert all(chunks_of(content) == ["IHDR", "IDAT", "IEND"] for content in drawn)
    stacked = np.stack([read_picture(content) for content in cells])
    assert (np.stack([read_picture(content) for content in drawn]) == made.release(stacked, rng())).all()
    assert read_picture(made.release(cells[0])).shape == (6, 8, 3)
    grey = MAKERS[name](epsilon=50, width=8, height=6, block=2, colours="grey")
    assert read_picture(grey.release(cells[0])).shape == (6, 8, 1)
    assert grey.release(np.zeros((6, 8), np.uint8)).shape == (6, 8)


def test_pictures_of_another_size_are_refused_or_resized() -> None:
    made = pixel_laplace(epsilon=50, width=8, height=6)
    for look in (made.release, made.check):
        with pytest.raises(DataError, match="not the declared size of 8 x 6"):
            look([small_picture(1, 9, 6)])
        with pytest.raises(DataError, match="6 rows, 8 columns and 3 channels"):
            look(np.zeros((6, 9, 3), np.uint8))
    fitting = pixel_laplace(epsilon=10**6, width=8, height=6, fit="resize")
    big = small_picture(1, 16, 12)
    means = read_picture(big).reshape(6, 2, 8, 2, 3).mean((1, 3))
    assert np.abs(read_picture(fitting.release(big)) - means).max() <= 1
    with pytest.raises(ParameterError, match="counted in pictures of the declared size"):
        pixel_laplace(epsilon=50, width=8, height=6, fit="resize", between="pixels")
    with pytest.raises(DataError, match="bytes of a file"):
        made.release([None])
    with pytest.raises(DataError, match="bytes of files"):
        made.release("a path")


def test_a_blur_is_made_of_what_was_drawn() -> None:
    photo = drawing(48, 32)
    plain, soft = (
        pixel_laplace(epsilon=10**5, width=48, height=32, block=4, blur=b).release(photo, rng()) for b in (0, 1)
    )
    from noisewright.images import blurred

    # Before rounding to eight bits: within one of the blur of the rounded picture.
    assert np.abs(soft - blurred(plain)).max() <= 1.01
    assert (plain != soft).mean() > 0.2


def test_there_is_no_channel_no_loss_and_no_mechanism_in_a_certificate() -> None:
    from noisewright.mechanisms.from_certificate import mechanism_of

    made = pixel_laplace(epsilon=50, width=8, height=6)
    with pytest.raises(NoChannelError):
        made.channel()
    with pytest.raises(NoLossError):
        made.error()
    with pytest.raises(CertificateError, match="width and height"):
        mechanism_of(made.certificate())


def test_windows_that_do_not_fit_leave_everything_to_laplace_noise() -> None:
    made = pixel_windows(epsilon=10, width=20, height=20, block=16)
    assert made.grid == Windows(2, 2, 3)
    assert made.grid.count == 0
    assert (
        made.certificate()
        .verify()
        .startswith("epsilon = 10 per unit of discrete between two pictures of one size, over 12")
    )
    assert made.release(drawing(20, 20)).shape == (20, 20, 3)
