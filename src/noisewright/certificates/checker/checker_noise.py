"""The proofs about noise that checker.py leaves out. Standard library only; lay it beside checker.py and run that.

  planar      pairs of integers with P(k) proportional to e^(-rate |k|), |k| the Euclidean length, added to a point that was
              rounded to whole steps. Proved: rate <= epsilon * d for one step; the triangle inequality does the rest.
  ranged      P(j | i) = e^(-rate |i - j|) / Z(i) on the whole numbers of some ranges. Proved: the loss of a few pairs of inputs
              that imply all others; see check_ranged.
  half line   noise on 0, 1, 2, ... with one tail away from 0 and a rate towards 0 that depends on the input. Proved: the loss of
              neighbouring inputs at the three outputs that decide it; see check_half_line.
  law         discrete Laplace noise on several numbers with neighbours of their own, and the staircase; with a delta above 0,
              discrete Laplace and discrete Gaussian noise; and the choice of a candidate by its score. Proved: see
              check_several, check_staircase, check_delta and check_choice.

To judge one certificate read check_noise, the function of its kind, and of checker.py check, exp_below, and the readers. Where a
bound has lost its meaning (a probability above 1, a denominator that may be 0) the file is refused.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or __name__ == "noisewright.certificates.checker.checker_noise":
    from noisewright.certificates.checker.checker import (
        CLAIM,
        NotProved,
        allowance,
        bits_of,
        ends_of,
        exp_below,
        neighbouring_steps,
        number,
        unit_of,
        whole,
    )


MOST_RANGES = 20_000
MOST_RATES = 1 << 24  # times the bits of each


def check_noise(epsilon: Fraction, delta: Fraction, document: Any) -> tuple[list[Any], list[dict[str, Any]]]:
    """Prove the claim for noise in whole steps. The result: the bases of metrics that it may be about, and its conditions."""
    claim, proof = document["claim"], document["proof"]
    kind, distances, line = proof["kind"], claim["distances"], [{"base": "line"}]
    rounding = "lattice" in unit_of(claim["metric"])[1]
    if delta:
        check_delta(epsilon, delta, distances, proof)
    elif kind == "law" and proof["law"] == "staircase":
        check_staircase(epsilon, distances, proof)
    elif kind == "law" and proof["law"] == "discrete laplace":
        return check_several(epsilon, distances, proof), []
    elif kind == "law" and proof["law"] == "exponential choice":
        return check_choice(epsilon, distances, proof), []
    elif kind == "law":
        raise NotProved(f"unknown law {proof['law']!r:.40}.")
    elif kind == "planar":
        check_planar(epsilon, distances, proof)
        plane = {"base": "metres", "around": proof["around"]} if "around" in proof else {"base": "euclidean"}
        return [plane], check_level(epsilon, claim, proof) if set(claim) - CLAIM else []
    elif kind == "ranged":
        check_ranged(epsilon, distances, proof)
        return line, check_ends(document)
    elif kind == "half line" and not rounding:  # its inputs are rounded at random
        check_half_line(epsilon, distances, proof)
        return line, check_ends(document)
    else:
        raise NotProved("a proof of this kind says nothing about the metric.")
    return line + [{"base": "manhattan"}] * (distances["shape"] == "steps"), []


def check_choice(epsilon: Fraction, distances: Any, proof: Any) -> list[Any]:
    """Candidate i of several has probability e^(rate s_i) / sum_j e^(rate s_j), s being whole scores. When no score changes by
    more than one step, the numerator and the denominator change by factors of at most e^rate each; longer ways are chains."""
    steps, allowed = allowance(epsilon, distances)
    rate, count = number(proof["rate"]), whole(proof["candidates"])
    if not 0 < 2 * rate * steps <= allowed or count < 1:
        raise NotProved("the rate of the choice is too large for the claim.")
    return [{"base": "largest", "count": count}]


# Noise in the plane -------------------------------------------------------------------------------------------------------


def check_planar(epsilon: Fraction, distances: Any, proof: Any) -> None:
    step, rate = number(distances["distance"]), number(proof["rate"])
    if distances["shape"] != "steps" or step <= 0 or not 0 < rate <= epsilon * step:
        raise NotProved("the rate of the noise is too large for the claim.")


def check_level(epsilon: Fraction, claim: Any, proof: Any) -> list[dict[str, Any]]:
    """That any two points within `radius` of each other, before they are rounded, look alike up to `level`.

    Rounding to the nearest point of a square lattice moves a point by at most step / sqrt(2), so two points r apart are at most
    r + sqrt(2) step apart after it, and sqrt(2) < 99/70. Places on the globe are put on a map first. How far apart on the map two
    places within the radius can be (`on_map`) is a matter of geography: it is stated in the file, and not proved here.
    """
    stated = {"level", "radius"} | ({"on_map"} if "around" in proof else set())
    if set(claim) - CLAIM != stated:
        raise NotProved(
            "a level is claimed within a radius, and for places on the globe within what the map makes of it."
        )
    level, radius, step = number(claim["level"]), number(claim["radius"]), number(claim["distances"]["distance"])
    apart = number(claim["on_map"]) if "around" in proof else radius
    factor, base = unit_of(claim["metric"])
    if factor != 1 or "lattice" not in base:
        raise NotProved(
            "a level within a radius is proved only for points that are rounded to the lattice of the metric."
        )
    if not 0 < radius <= apart or epsilon * (apart + Fraction(99, 70) * step) > level:
        raise NotProved("the level is too low, or the radius too large, for what is proved between lattice points.")
    return [{"code": "level", **{name: str(number(claim[name])) for name in sorted(stated)}}]


# Noise cut to ranges ------------------------------------------------------------------------------------------------------


def check_ranged(epsilon: Fraction, distances: Any, proof: Any) -> None:
    """Outputs are the whole numbers of `ranges`, inputs those of `inputs` (each inside its range); a = e^-rate.

    For inputs i < j the loss is largest at the outputs i and j: rate (j - i) + |ln Z(i) - ln Z(j)|. Up to a factor that is
    the same for all i, Z(i) = 1 + a - P a^l - Q a^r, with l and r the distances to the ends of the range of i, and
    P, Q >= 0 the mass that is missing beyond them. Z(i) > 0, so an upper bound of it is above 0; a lower bound that is not
    makes the comparison fail.
    """
    adjacent = distances["shape"] == "adjacent"
    step, rate, bits = number(distances["distance"]), number(proof["rate"]), bits_of(proof["precision"], 64, 1024)
    ranges, inputs = ([tuple(pair) for pair in proof[name]] for name in ("ranges", "inputs"))
    check_order(ranges, inputs)
    if len(ranges) > MOST_RANGES:
        raise NotProved(f"more than {MOST_RANGES} ranges would take too long.")
    if distances["shape"] not in ("adjacent", "steps") or step <= 0 or rate <= 0:
        raise NotProved("ranges need distances in steps, and a rate above 0.")
    reach = whole(proof["reach"]) if adjacent else 1
    if adjacent and reach < neighbouring_steps(distances):
        raise NotProved("neighbours may be farther apart than the steps that were looked at.")
    power, one = powers(rate, bits), 1 << bits
    mirrored = [(hi and -hi, lo and -lo) for lo, hi in reversed(ranges)]
    missing = list(zip(missing_below(ranges, power, one), reversed(missing_below(mirrored, power, one))))

    @cache
    def limit(apart: int) -> int:  # a bound of what ln Z may add between inputs so many steps apart, as a factor
        # It is what the rate leaves of the allowance; were that negative, the loss would be too large for any Z.
        left = epsilon - rate * apart if adjacent else (epsilon * step - rate) * apart
        return exp_below(left, bits) if left >= 0 else 0

    def weights(k: int, i: int) -> tuple[int, int]:  # Z(i) of an i in range k, rounded down and up
        low, high = one + power(1)[0], one + power(1)[1]
        for end, share in zip(ranges[k], missing[k]):
            if end is not None:
                below, above = power(abs(i - end))
                low, high = low - above * share[1] // one - 1, high - below * share[0] // one
        return low, high

    for (k, i), (m, j) in near_pairs(inputs, reach) if adjacent else facing_pairs(inputs):
        here, there, most = weights(k, i), weights(m, j), limit(j - i)
        if here[1] << bits > most * there[0] or there[1] << bits > most * here[0]:
            raise NotProved(f"the promise is broken between inputs {i} and {j}.")


def check_order(ranges: Any, inputs: Any) -> None:
    """Ranges go upwards without touching, only the outermost ends may be missing (None), and inputs lie inside them.

    Without any end there is no pair to look at, and such noise has a law without ranges."""
    ends = [end for pair in zip(ranges, inputs) for end in (pair[0][0], pair[1][0], pair[1][1], pair[0][1])]
    open_low, open_high = ranges[0][0] is None, ranges[-1][1] is None
    known = ends[2 if open_low else 0 : -2 if open_high else None]
    fits = len(ranges) == len(inputs) and (inputs[0][0] is None) == open_low and (inputs[-1][1] is None) == open_high
    numbers = all(type(end) is int and abs(end) < 1 << 128 for end in known)
    if (
        not fits
        or not known
        or not numbers
        or known != sorted(known)
        or any(hi >= lo for (_, hi), (lo, _) in zip(ranges, ranges[1:]))
    ):
        raise NotProved("the ranges are not in order, or the inputs are not inside them.")


def facing_pairs(inputs: Any) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """For a promise that grows with distance. Losses add up along a path of inputs, so steps of one inside a range and jumps
    over a gap imply all others. Z is concave on a range, hence so is ln Z, and its steepest steps are the outermost."""
    for k, (lo, hi) in enumerate(inputs):
        if lo != hi and lo is not None:
            yield (k, lo), (k, lo + 1)
        if lo != hi and hi is not None:
            yield (k, hi - 1), (k, hi)
        if k + 1 < len(inputs):
            yield (k, hi), (k + 1, inputs[k + 1][0])


def near_pairs(inputs: Any, reach: int) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """For a promise between inputs at most `reach` steps apart. Z changes by a factor of at most e^rate a step, so the loss
    grows with the distance, and each i needs only its farthest partner. Where i and j = i + reach both move inside their ranges
    let t = a^i: K Z(i) - Z(j) >= 0 with K = e^epsilon a^reach >= 1 says that (K - 1)(1 + a) t + A t^2 + B >= 0 for some A and
    B. On t > 0 the left side is concave (A <= 0) or rising (A > 0), so the ends of the stretch imply the rest."""
    ends = [end for pair in inputs for end in pair if end is not None]
    lows = [-float("inf") if lo is None else lo for lo, _ in inputs]
    for i in sorted(set(ends) | {end - reach for end in ends}):
        k = bisect_right(lows, i) - 1
        m = bisect_right(lows, i + reach) - 1
        if k >= 0 and (inputs[k][1] is None or i <= inputs[k][1]):
            j = i + reach if inputs[m][1] is None else min(i + reach, inputs[m][1])
            if j > i:
                yield (k, i), (m, j)


def missing_below(ranges: Any, power: Any, one: int) -> list[tuple[int, int]]:
    """For each range, (1 - a) times the sum of a^(lo - j) over the j < lo that are not feasible, as bounds over `one`.

    With gap g = lo - (last hi) and M numbers in the last range, P' = a - a^g + a^(g + M - 1) P.
    """
    found = [power(1)]
    for (lo, hi), (after, _) in zip(ranges, ranges[1:]):
        beyond = (0, 0) if lo is None else power(after - lo)
        low, high = (power(1)[end] - power(after - hi)[not end] + beyond[end] * found[-1][end] // one for end in (0, 1))
        found.append((max(low, 0), high + 1))
    return found


def powers(rate: Fraction, bits: int) -> Any:
    """A function of n that gives integers below and above e^(-rate n) * 2^bits, by repeated squaring."""
    work = bits + 64  # squaring doubles the relative error, at most 64 times; more only makes the bounds wider
    squares, known = [(minus_below(rate, work), minus_above(rate, work))], {0: (1 << bits, 1 << bits)}

    def power(n: int) -> tuple[int, int]:
        if n not in known:
            low = high = 1 << work
            for place in range(n.bit_length()):
                if place == len(squares):
                    below, above = squares[-1]
                    squares.append((below * below >> work, (above * above >> work) + 1))
                if n >> place & 1:
                    low, high = low * squares[place][0] >> work, (high * squares[place][1] >> work) + 1
            known[n] = low >> 64, min((high >> 64) + 1, 1 << bits)
        return known[n]

    return power


def check_ends(document: Any) -> list[dict[str, Any]]:
    """That ranges, inputs and reach follow from the real ends of the set (`within`) and of the true answers (`answers`).

    The lattice points of an interval are those inside it. Numbers at most D apart land at most ceil(D / step) steps apart when
    each goes to the nearest point; one more if there are gaps with an end that is no lattice point, where a number has to stay
    on its side. If the set has gaps, or the answers are not all of it, the claim is about the answers only, and says so. A proof
    about a half line is about all of it, from one end on.
    """
    if not {"step", "within", "answers"} <= set(document):
        raise NotProved(
            "the file does not state the step of its lattice, and the ends of its set and of the true answers."
        )
    proof, distances, step = document["proof"], document["claim"]["distances"], number(document["step"])
    if step <= 0 or number(distances["distance"]) != step * unit_of(document["claim"]["metric"])[0]:
        raise NotProved("the step of the lattice is not the one that the distances are about.")
    names = {"within": "ranges", "answers": "inputs"}
    sets = {name: ends_of(document[name]) for name in names}
    if proof["kind"] == "ranged":
        for name, ends in sets.items():
            if [[lo and math.ceil(lo / step), hi and math.floor(hi / step)] for lo, hi in ends] != proof[names[name]]:
                raise NotProved(f"the {names[name]} are not the lattice points between the ends that the file states.")
        every = [end for ends in sets.values() for pair in ends for end in pair if end is not None]
        off = len(sets["within"]) > 1 and any((end / step).denominator > 1 for end in every)
        if distances["shape"] == "adjacent" and whole(proof["reach"]) < neighbouring_steps(distances) + off:
            raise NotProved("neighbours beside a gap may be farther apart than the steps that were looked at.")
    elif sets["within"] != sets["answers"] or [(lo is None) + (hi is None) for lo, hi in sets["within"]] != [1]:
        raise NotProved("the set and the answers are not the half line that the proof is about.")
    if sets["within"] == sets["answers"] and len(sets["within"]) == 1:
        return []
    return [{"code": "intervals", "ends": [list(map(text_of, pair)) for pair in sets["answers"]]}]


def text_of(end: Fraction | None) -> str | None:
    return None if end is None else str(end)


# Noise on a half line -----------------------------------------------------------------------------------------------------


def check_half_line(epsilon: Fraction, distances: Any, proof: Any) -> None:
    """From input i output j has weight a^(j - i) for j >= i and b_i^(i - j) below; a = e^-tail, b_i = e^-near[i - 1].

    Z(i) is the sum of the weights. For inputs i and i + 1 the log-ratio of probabilities is the same at all outputs j > i, and a
    linear function of j from 0 to i: the outputs 0, i and i + 1 decide. From the last rate on b stays the same, Z rises ever
    more slowly, and the ratios 1/b * Z(i+1)/Z(i) and a Z(i+1)/Z(i) fall: the first such pair decides, if 1/a is allowed.

    An input between two steps is rounded to either at random, by how close it is: its probabilities are averages of theirs. If
    those differ by a factor of at most 1 + budget then |d ln P/dx| <= budget in between, and 1 + budget <= e^budget.
    """
    budget, tail = epsilon * number(distances["distance"]), number(proof["tail"])
    bits, rates = bits_of(proof["precision"], 64, 1024), [number(rate) for rate in proof["near"]]
    if distances["shape"] != "steps" or budget <= 0 or tail <= 0 or not rates or min(rates) <= 0:
        raise NotProved("a half line needs distances in steps, and rates above 0.")
    if len(rates) * bits > MOST_RATES:
        raise NotProved("so many rates at such a precision would take too long.")
    one, limit = 1 << bits, int((1 + budget) * (1 << bits))

    def bounds(rate: Fraction) -> tuple[int, int]:  # of e^-rate; never above 1
        return minus_below(rate, bits), minus_above(rate, bits)

    def ratio(b: tuple[int, int], end: int) -> int:  # a bound of 1/(1 - b); b < 1, but its upper bound may be 1
        if b[end] >= one:
            raise NotProved("a rate is too small for this precision.")
        return one * one // (one - b[end]) + end

    a = bounds(tail)
    if one * one > limit * a[0]:
        raise NotProved("the tail is too steep for the claim.")

    def at(i: int) -> Any:  # bounds of Z(i) = 1/(1 - a) + b (1 - b^i) / (1 - b), of b_i, and of the weight of output 0
        if i == 0:
            return (ratio(a, 0), ratio(a, 1)), None, (one, one)
        rate = rates[min(i, len(rates)) - 1]
        b, wall = bounds(rate), bounds(rate * i)
        sums = (ratio(a, end) + (b[end] * (one - wall[1 - end]) * ratio(b, end) >> 2 * bits) + end for end in (0, 1))
        return tuple(sums), b, wall

    here = at(0)
    for i in range(len(rates) + 1):
        after = at(i + 1)
        # The weights of outputs i + 1, i and 0 from i, and from i + 1.
        for mine, other in ((a, (one, one)), ((one, one), after[1]), (here[2], after[2])):
            for (x, z), (y, w) in (((mine, here[0]), (other, after[0])), ((other, after[0]), (mine, here[0]))):
                if x[1] * w[1] << bits > limit * y[0] * z[0]:  # all of them at least 0
                    raise NotProved(f"the promise is broken between inputs {i} and {i + 1}.")
        here = after


# Other laws, and delta ----------------------------------------------------------------------------------------------------


def check_several(epsilon: Fraction, distances: Any, proof: Any) -> list[Any]:
    """Several numbers, each with discrete Laplace noise of its own; losses add up. P(k) ~ e^(-|k|/scale): a step changes the
    exponent by at most 1/scale. Numbers d steps apart before rounding are less than d + 1 steps apart after it."""
    count, norm, scale = whole(proof["coordinates"]), proof["norm"], number(proof["scale"])
    if count < 1 or norm not in ("sup", "l1") or distances["shape"] != "adjacent":
        raise NotProved("several numbers need the norm 'sup' or 'l1' between neighbours.")
    steps = neighbouring_steps(distances)
    if scale <= 0 or epsilon * scale < (steps * count if norm == "sup" else steps + count - 1):
        raise NotProved("the scale of the noise is too small for the claim.")
    return [{"base": "largest" if norm == "sup" else "sum", "count": count}]


def check_staircase(epsilon: Fraction, distances: Any, proof: Any) -> None:
    """P(k) ~ e^(-rate * level(|k|)), level(n) = floor((n + width - first) / width).

    The level never falls as n grows, and rises by exactly one from n to n + width, so by at most one over at most `width` steps,
    in either direction. Several numbers could each rise by one, so they are not for this law.
    """
    steps, allowed = allowance(epsilon, distances)
    width, first, rate = whole(proof["width"]), whole(proof["first"]), number(proof["rate"])
    if not 1 <= first <= width or steps > width or not 0 < rate <= allowed or "norm" in proof:
        raise NotProved("the steps of the staircase are too short or too high for the claim.")


def check_delta(epsilon: Fraction, delta: Fraction, distances: Any, proof: Any) -> None:
    """Both laws have P(k - s)/P(k) rising in k, so delta is reached on outputs k >= start, and it grows with the shift s."""
    if proof["kind"] != "law" or distances["shape"] != "adjacent" or "norm" in proof:
        raise NotProved("a delta above 0 is proved only for the law of noise between neighbours.")
    steps = neighbouring_steps(distances)
    if proof["law"] == "discrete laplace":
        # P(k >= n) = a^n / (1 + a) for n >= 0, with a = e^(-1/scale); P(k - steps) > e^epsilon P(k) from `start` on, and
        # nowhere if start > steps.
        scale = number(proof["scale"])
        start = (steps + epsilon * scale) // 2 + 1
        if scale <= 0:
            raise NotProved("the noise is too small for the claim.")
        needed = Fraction(0)
        if start <= steps:
            outside = minus_below((steps + 1 - start) / scale, 256) + minus_below(start / scale - epsilon, 256)
            needed = 1 - Fraction(outside, (1 << 256) + minus_above(1 / scale, 256))
    elif proof["law"] == "discrete gaussian":
        scale = number(proof["sigma"])
        if scale <= 0:
            raise NotProved("the noise is too small for the claim.")
        needed = gaussian_delta(epsilon, steps, scale**2, whole(proof["stride"]))
    else:
        raise NotProved(f"unknown law {proof['law']!r:.40}.")
    if needed > delta:
        raise NotProved("the noise is too small for the claim.")


def gaussian_delta(epsilon: Fraction, steps: int, square: Fraction, stride: int) -> Fraction:
    """At least the delta of noise with P(k) ~ w(k) = e^(-k^2 / (2 square)), for two numbers `steps` apart.

    It is the sum of w(k - steps) (1 - e^(epsilon - g(k))), g(k) = (2 k steps - steps^2) / (2 square), over all k with
    g(k) > epsilon, divided by the sum of all w(k). Sums go in runs of `stride` numbers, each bounded by its ends.
    """
    bits = 384
    if stride < 1 or not 0 < square <= (stride << 16) ** 2 or steps > stride << 20:  # or this would run for ever
        raise NotProved("the stride must be a whole number, above 0 and not below sigma / 2^16 or steps / 2^20.")
    # The sum of all, from below: w(stride), w(2 stride), ... are the smallest of the runs that end there.
    total, weight = 1 << bits, minus_below(stride**2 / (2 * square), bits)
    factor, change = weight, minus_below(stride**2 / square, bits)
    while weight >> (bits - 64):
        total += 2 * stride * weight
        factor = factor * change >> bits
        weight = weight * factor >> bits
    # The excess, from above: w is largest at the beginning of a run, behind its end, or at k = steps; the bracket at its end.
    k = (2 * square * epsilon + steps**2) // (2 * steps) + 1
    weight = minus_above((k - steps) ** 2 / (2 * square), bits)
    factor = minus_above((2 * (k - steps) * stride + stride**2) / (2 * square), bits)
    change = minus_above(stride**2 / square, bits)
    bracket = minus_below((2 * (k + stride - 1) * steps - steps**2) / (2 * square) - epsilon, bits)
    fall, excess = minus_below(stride * steps / square, bits), 0
    while k <= steps or weight >> (bits - 128):
        following = (weight * factor >> bits) + 1
        largest = weight if stride == 1 or k >= steps else following if k + stride <= steps else 1 << bits
        excess += (stride * largest * ((1 << bits) - bracket) >> bits) + 1
        k, weight, factor = k + stride, following, (factor * change >> bits) + 1
        bracket = bracket * fall >> bits
    # From here on w(k - steps) falls by e^-x or more each time, x = (k - steps) / square, and 1/(1 - e^-x) <= 1 + 1/x.
    return (excess + weight * (1 + square / (k - steps))) / total


# More bounds of e^x -------------------------------------------------------------------------------------------------------


def minus_below(exponent: Fraction, precision: int) -> int:
    """An integer at most e^-exponent * 2^precision."""
    return exp_below(-exponent, precision)


def minus_above(exponent: Fraction, precision: int) -> int:
    """An integer at least e^-exponent * 2^precision, and never above 2^precision where the exponent is not negative."""
    below = exp_below(exponent, precision)
    if below == 0:
        raise NotProved("a number is too large for this precision.")
    above = (1 << 2 * precision) // below + 1
    return above if exponent < 0 else min(above, 1 << precision)
