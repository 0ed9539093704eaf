#!/usr/bin/env python3
"""Re-proves a Noisewright certificate. Standard library only; run it alone:  python checker.py FILE...

A certificate claims: whatever the output, its probabilities under two secrets x and x' differ by a factor of at most
e^(epsilon * d(x, x')), where d is the stated distance. This program believes nothing in the file but the claim and the
integers that are drawn from, and proves the one from the other with integers alone. The kinds of proof:

  table     output y has probability table[x][y] / 2^width. Proved: every row sums to 2^width, and for every two secrets and
            every output  table[x][y] <= L * table[x'][y],  L being a fraction below e^(epsilon d).
  response  as a table whose diagonal entries are all `keep` and all others `other`; d is one distance for every pair.
  law       integer noise with the stated law, added to a number that was rounded to whole steps; perhaps clamped. Proved:
            the loss for one step (or for neighbours, which are at distance at most 1), from the formulas in check_law;
            with delta above 0, the probability by which neighbours may miss it, from those in check_delta.
  planar    pairs of integers with P(k) proportional to e^(-rate |k|), |k| the Euclidean length, added to a point that was
            rounded to whole steps. Proved: rate <= epsilon * d for one step; the triangle inequality does the rest.
  ranged    P(j | i) = e^(-rate |i - j|) / Z(i) on the whole numbers of some ranges. Proved: the loss of a few pairs of inputs
            that imply all others; see check_ranged.
  half line noise on 0, 1, 2, ... with one tail away from 0 and a rate towards 0 that depends on the input. Proved: the loss of
            neighbouring inputs at the three outputs that decide it; see check_half_line.
  constant  the output does not depend on the secret; nothing is left to prove.

The only analysis used is e^z >= 1 + z + z^2/2! + ... cut anywhere (z >= 0), e^-z >= 1 - z, and e^z = (e^(z/2))^2.
"""

import functools
import hashlib
import json
import sys
from bisect import bisect_right
from collections.abc import Callable, Iterator
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import Any

FORMAT = "noisewright-certificate"
VERSION = 1


class NotProved(Exception):
    """The certificate does not prove its claim; the message says where."""


def check(document: Any) -> str:
    """Prove the claim of a certificate (a dict as read from JSON) and return it in words, or raise NotProved."""
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise NotProved("this is not a Noisewright certificate.")
    if document.get("version") != VERSION:
        raise NotProved(f"this checker reads version {VERSION}, the file says {document.get('version')!r}.")
    if document.get("digest") != digest(document):
        raise NotProved("the file was changed or cut after it was written: its digest does not match its content.")
    if document.get("numerics") != "exact":
        raise NotProved(
            "floating: a theorem holds for real numbers, but nothing is proved about the floats that are drawn."
        )
    try:
        claim, proof = document["claim"], document["proof"]
        epsilon, delta = Fraction(claim["epsilon"]), Fraction(claim["delta"])
        if not 0 <= epsilon < 10**308 or not 0 <= delta < 1:
            raise NotProved("this checker proves claims with epsilon >= 0 and delta from 0 to below 1 only.")
        kinds = {"table": check_table, "response": check_response, "law": check_law, "constant": check_constant}
        kinds["planar"], kinds["ranged"], kinds["half line"] = check_planar, check_ranged, check_half_line
        if delta:
            check_delta(epsilon, delta, claim["distances"], proof)
        else:
            kinds[proof["kind"]](epsilon, claim["distances"], proof)
        known = check_distances(claim["metric"], claim["distances"], document.get("inputs"))
        with_delta = f", delta = {rounded_up(delta)}" if delta else ""
        as_stated = "" if known else "; distances as stated in the file"
        if claim["distances"]["shape"] == "adjacent":
            return f"epsilon = {rounded_up(epsilon)} between neighbours ({claim['metric']} at most 1){with_delta}{as_stated}"
        return f"epsilon = {rounded_up(epsilon)} per unit of {claim['metric']}{with_delta}{as_stated}"
    except NotProved:
        raise
    except (KeyError, TypeError, ValueError, ArithmeticError, IndexError, AttributeError, MemoryError) as problem:
        raise NotProved(f"the file is incomplete or malformed ({type(problem).__name__}: {problem}).") from None


def check_distances(metric: str, distances: Any, labels: Any) -> bool:
    """Whether no distance is larger than the named metric's between the labels; False if the name does not say.

    A smaller distance only makes the promise stronger. Noise in steps has no labels: the size of a step is part of the claim.
    """
    factor, _, name = metric.rpartition("*")
    scale, name, shape = Fraction(factor.strip() or 1), name.strip(), distances["shape"]
    if shape in ("steps", "adjacent"):
        return True
    if name == "discrete" and shape == "uniform":
        if Fraction(distances["distance"]) > scale:
            raise NotProved("the distances are larger than those of the discrete metric.")
        return True
    lengths: dict[str, Callable[[Any, Any], Any]] = {
        "line": lambda a, b: abs(a[0] - b[0]) ** 2,
        "euclidean": lambda a, b: sum((i - j) ** 2 for i, j in zip(a, b)),
        "manhattan": lambda a, b: sum(abs(i - j) for i, j in zip(a, b)) ** 2,
        "discrete": lambda a, b: int(a != b),
    }
    if name not in lengths or not isinstance(labels, list):
        return False
    points = [point(label) for label in labels]
    for x, other, distance in pairs(distances, len(points)):
        if distance**2 > scale**2 * lengths[name](points[x], points[other]):
            raise NotProved(f"rows {x} and {other} are nearer in the {name} metric than the file says.")
    return True


def point(label: Any) -> list[Any]:
    """A label as a list of exact coordinates; anything that is not a number stands for itself."""
    if isinstance(label, dict):
        return (
            [c for part in label["tuple"] for c in point(part)] if "tuple" in label else [Fraction(label["fraction"])]
        )
    return [label if isinstance(label, (str, bool)) or label is None else Fraction(label)]


def check_table(epsilon: Fraction, distances: Any, proof: Any) -> None:
    width, precision = size_of(proof["width"]), size_of(proof["precision"])
    rows = [[int(entry, 16) for entry in row] for row in proof["table"]]
    if not rows or any(len(row) != len(rows[0]) for row in rows):
        raise NotProved("the table has rows of different lengths, or none.")
    for x, row in enumerate(rows):
        if min(row) < 0 or sum(row) != 1 << width:
            raise NotProved(f"row {x} of the table does not sum to 2^{width}, or has a negative entry.")
    if distances["shape"] == "uniform":  # the largest entry of a column against the smallest covers every pair
        limit = exp_below(epsilon * Fraction(distances["distance"]), precision)
        for y, column in enumerate(zip(*rows)):
            compare(max(column), min(column), limit, precision, "two rows", y)
        return
    shifted = [[entry << precision for entry in row] for row in rows]
    for x, other, distance in pairs(distances, len(rows)):
        limit = exp_below(epsilon * distance, precision)
        for y, (here, there) in enumerate(zip(rows[x], rows[other])):
            if shifted[x][y] > limit * there or shifted[other][y] > limit * here:
                raise NotProved(f"the promise is broken between rows {x} and {other} at output {y}.")


def check_response(epsilon: Fraction, distances: Any, proof: Any) -> None:
    width, precision, size = size_of(proof["width"]), size_of(proof["precision"]), int(proof["size"])
    keep, other = int(proof["keep"], 16), int(proof["other"], 16)
    if size < 2 or min(keep, other) < 0 or keep + (size - 1) * other != 1 << width:
        raise NotProved(f"keep + (size - 1) * other is not 2^{width}.")
    if distances["shape"] != "uniform":
        raise NotProved("a response needs one distance for every pair.")
    limit = exp_below(epsilon * Fraction(distances["distance"]), precision)
    compare(keep, other, limit, precision, "two rows", "of the truth")
    compare(other, keep, limit, precision, "two rows", "of the truth")


def check_constant(epsilon: Fraction, distances: Any, proof: Any) -> None:
    """Two equal distributions: any epsilon from 0 on."""


def check_planar(epsilon: Fraction, distances: Any, proof: Any) -> None:
    step, rate = Fraction(distances["distance"]), Fraction(proof["rate"])
    if distances["shape"] != "steps" or step <= 0 or not 0 < rate <= epsilon * step:
        raise NotProved("the rate of the noise is too large for the claim.")


def check_ranged(epsilon: Fraction, distances: Any, proof: Any) -> None:
    """Outputs are the whole numbers of `ranges`, inputs those of `inputs` (each inside its range); a = e^-rate.

    For inputs i < j the loss is largest at the outputs i and j: rate (j - i) + |ln Z(i) - ln Z(j)|. Up to a factor that is
    the same for all i, Z(i) = 1 + a - P a^l - Q a^r, with l and r the distances to the ends of the range of i, and
    P, Q >= 0 the mass that is missing beyond them.
    """
    adjacent = distances["shape"] == "adjacent"
    step, rate, bits = Fraction(distances["distance"]), Fraction(proof["rate"]), size_of(proof["precision"])
    ranges, inputs = ([tuple(pair) for pair in proof[name]] for name in ("ranges", "inputs"))
    check_order(ranges, inputs)
    if distances["shape"] not in ("adjacent", "steps") or step <= 0 or rate <= 0:
        raise NotProved("ranges need distances in steps, and a rate above 0.")
    if adjacent and proof["reach"] < neighbouring_steps(distances):
        raise NotProved("neighbours may be farther apart than the steps that were looked at.")
    power, one = powers(rate, bits), 1 << bits
    mirrored = [(hi and -hi, lo and -lo) for lo, hi in reversed(ranges)]
    missing = list(zip(missing_below(ranges, power, one), reversed(missing_below(mirrored, power, one))))

    def weight(k: int, i: int, high: bool) -> int:  # Z(i) of an i in range k, rounded down or up
        total: int = one + power(1)[high]
        for end, share in zip(ranges[k], missing[k]):
            if end is not None:
                total -= power(abs(i - end))[not high] * share[not high] // one + (not high)
        return total

    for (k, i), (m, j) in near_pairs(inputs, proof["reach"]) if adjacent else facing_pairs(inputs):
        limit = exp_below(epsilon if adjacent else epsilon * step * (j - i), bits) * power(j - i)[0]
        for (p, x), (q, y) in (((k, i), (m, j)), ((m, j), (k, i))):
            if weight(p, x, True) << 2 * bits > limit * weight(q, y, False):
                raise NotProved(f"the promise is broken between inputs {x} and {y}.")


def check_order(ranges: Any, inputs: Any) -> None:
    """Ranges go upwards without touching, only the outermost ends may be missing (None), and inputs lie inside them."""
    ends = [end for pair in zip(ranges, inputs) for end in (pair[0][0], pair[1][0], pair[1][1], pair[0][1])]
    open_low, open_high = ranges[0][0] is None, ranges[-1][1] is None
    known = ends[2 if open_low else 0 : -2 if open_high else None]
    fits = len(ranges) == len(inputs) and (inputs[0][0] is None) == open_low and (inputs[-1][1] is None) == open_high
    whole = all(type(end) is int for end in known)
    if not fits or not whole or known != sorted(known) or any(hi >= lo for (_, hi), (lo, _) in zip(ranges, ranges[1:])):
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
    work = bits + 64  # squaring doubles the relative error, at most 64 times
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
            known[n] = low >> 64, (high >> 64) + 1
        return known[n]

    return power


def check_half_line(epsilon: Fraction, distances: Any, proof: Any) -> None:
    """From input i output j has weight a^(j - i) for j >= i and b_i^(i - j) below; a = e^-tail, b_i = e^-near[i - 1].

    Z(i) is the sum of the weights. For inputs i and i + 1 the log-ratio of probabilities is the same at all outputs j > i, and a
    linear function of j from 0 to i: the outputs 0, i and i + 1 decide. From the last rate on b stays the same, Z rises ever
    more slowly, and the ratios 1/b * Z(i+1)/Z(i) and a Z(i+1)/Z(i) fall: the first such pair decides, if 1/a is allowed.

    An input between two steps is rounded to either at random, by how close it is: its probabilities are averages of theirs. If
    those differ by a factor of at most 1 + budget then |d ln P/dx| <= budget in between, and 1 + budget <= e^budget.
    """
    budget, tail, bits = epsilon * Fraction(distances["distance"]), Fraction(proof["tail"]), size_of(proof["precision"])
    rates = [Fraction(rate) for rate in proof["near"]]
    if distances["shape"] != "steps" or budget <= 0 or tail <= 0 or not rates or min(rates) <= 0:
        raise NotProved("a half line needs distances in steps, and rates above 0.")
    one, limit = 1 << bits, int((1 + budget) * (1 << bits))
    a = minus_below(tail, bits), minus_above(tail, bits)
    if one * one > limit * a[0]:
        raise NotProved("the tail is too steep for the claim.")

    def at(i: int) -> Any:  # bounds of Z(i), of b_i, and of the weight of output 0
        total = [one * one // (one - a[0]), one * one // (one - a[1]) + 1]
        if i == 0:
            return total, None, (one, one)
        rate = rates[min(i, len(rates)) - 1]
        b = minus_below(rate, bits), minus_above(rate, bits)
        wall = minus_below(rate * i, bits), minus_above(rate * i, bits)
        total[0] += b[0] * (one - wall[1]) // (one - b[0])
        total[1] += b[1] * (one - wall[0]) // (one - b[1]) + 1
        return total, b, wall

    here = at(0)
    for i in range(len(rates) + 1):
        after = at(i + 1)
        # The weights of outputs i + 1, i and 0 from i, and from i + 1.
        for mine, other in ((a, (one, one)), ((one, one), after[1]), (here[2], after[2])):
            for (x, z), (y, w) in (((mine, here[0]), (other, after[0])), ((other, after[0]), (mine, here[0]))):
                if x[1] * w[1] << bits > limit * y[0] * z[0]:
                    raise NotProved(f"the promise is broken between inputs {i} and {i + 1}.")
        here = after


def check_law(epsilon: Fraction, distances: Any, proof: Any) -> None:
    steps = neighbouring_steps(distances) if distances["shape"] == "adjacent" else 1
    allowed = epsilon if distances["shape"] == "adjacent" else epsilon * Fraction(distances["distance"])
    if distances["shape"] not in ("adjacent", "steps") or allowed < 0:
        raise NotProved(f"a law needs distances in steps, not {distances['shape']!r}.")
    if proof["law"] == "discrete laplace":  # P(k) ~ e^(-|k|/scale): a step changes the exponent by at most 1/scale
        scale = Fraction(proof["scale"])
        if scale <= 0 or allowed * scale < steps:
            raise NotProved("the scale of the noise is too small for the claim.")
    elif proof["law"] == "staircase":
        # P(k) ~ e^(-rate * level(|k|)), level(n) = floor((n + width - first) / width): it never falls as n grows, and rises
        # by exactly one from n to n + width, so by at most one over at most `width` steps, in either direction.
        width, first, rate = int(proof["width"]), int(proof["first"]), Fraction(proof["rate"])
        if not 1 <= first <= width or steps > width or not 0 < rate <= allowed:
            raise NotProved("the steps of the staircase are too short or too high for the claim.")
    else:
        raise NotProved(f"unknown law {proof['law']!r}.")


def check_delta(epsilon: Fraction, delta: Fraction, distances: Any, proof: Any) -> None:
    """Both laws have P(k - s)/P(k) rising in k, so delta is reached on outputs k >= start, and it grows with the shift s."""
    if proof["kind"] != "law" or distances["shape"] != "adjacent":
        raise NotProved("a delta above 0 is proved only for the law of noise between neighbours.")
    steps = neighbouring_steps(distances)
    if proof["law"] == "discrete laplace":
        # P(k >= n) = a^n / (1 + a) for n >= 0, with a = e^(-1/scale); P(k - steps) > e^epsilon P(k) from `start` on.
        scale = Fraction(proof["scale"])
        start = (steps + epsilon * scale) // 2 + 1
        outside = minus_below((steps + 1 - start) / scale, 256) + minus_below(start / scale - epsilon, 256)
        proved = scale > 0 and (
            start > steps or 1 - Fraction(outside, (1 << 256) + minus_above(1 / scale, 256)) <= delta
        )
    elif proof["law"] == "discrete gaussian":
        proved = gaussian_delta(epsilon, steps, Fraction(proof["sigma"]) ** 2, int(proof["stride"])) <= delta
    else:
        raise NotProved(f"unknown law {proof['law']!r}.")
    if not proved:
        raise NotProved("the noise is too small for the claim.")


def gaussian_delta(epsilon: Fraction, steps: int, square: Fraction, stride: int) -> Fraction:
    """At least the delta of noise with P(k) ~ w(k) = e^(-k^2 / (2 square)), for two numbers `steps` apart.

    It is the sum of w(k - steps) (1 - e^(epsilon - g(k))), g(k) = (2 k steps - steps^2) / (2 square), over all k with
    g(k) > epsilon, divided by the sum of all w(k). Sums go in runs of `stride` numbers, each bounded by its ends.
    """
    bits = 384
    if stride < 1 or not 0 < square <= (stride << 20) ** 2 or steps > stride << 20:  # or this would run for ever
        raise NotProved("the stride must be a whole number, above 0 and not below sigma / 2^20 or steps / 2^20.")
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


def neighbouring_steps(distances: Any) -> int:
    """Numbers at distance at most 1 are at most this many steps apart when both are rounded to steps of that distance."""
    step = Fraction(distances["distance"])
    if step <= 0:
        raise NotProved("the distance of one step must be above 0.")
    return -(-1 // step)


def pairs(distances: Any, size: int) -> Iterator[tuple[int, int, Fraction]]:
    """Pairs (x, x', distance) whose losses imply all others."""
    if distances["shape"] == "line":  # distances on a line add up, so neighbours suffice
        places = [Fraction(place) for place in distances["places"]]
        if len(places) != size:
            raise NotProved("there must be one place for each row.")
        order = sorted(range(size), key=places.__getitem__)
        for x, other in zip(order, order[1:]):
            yield x, other, places[other] - places[x]
    elif distances["shape"] == "table":  # the part above the diagonal, row by row
        values = distances["distances"]
        if len(values) != size * (size - 1) // 2:
            raise NotProved("there must be one distance for each pair of rows.")
        every = iter(values)
        for x in range(size):
            for other in range(x + 1, size):
                value = next(every)
                if value != "inf":
                    if Fraction(value) < 0:
                        raise NotProved("a distance is negative.")
                    yield x, other, Fraction(value)
    else:
        raise NotProved(f"unknown shape of distances {distances['shape']!r}.")


def size_of(bits: Any) -> int:
    """A number of bits, within reason: a file must not make this program run for ever."""
    if not isinstance(bits, int) or not 0 <= bits <= 1 << 20:
        raise NotProved("width and precision must be whole numbers of bits, at most 2^20.")
    return bits


def compare(larger: int, smaller: int, limit: int, precision: int, rows: str, output: object) -> None:
    if larger << precision > limit * smaller:
        raise NotProved(f"the promise is broken between {rows} at output {output}.")


@functools.cache
def exp_below(exponent: Fraction, precision: int) -> int:
    """An integer at most e^exponent * 2^precision, for exponent >= 0; every step is rounded down."""
    exponent = min(exponent, Fraction(precision))  # a smaller exponent is still below, and keeps the number short
    halvings = int(exponent).bit_length() + 8
    work = precision + 2 * halvings + 32
    argument = (exponent.numerator << work) // (exponent.denominator << halvings)
    total, term, order = 0, 1 << work, 0
    while term:
        total, order = total + term, order + 1
        term = (term * argument // order) >> work
    for _ in range(halvings):
        total = total * total >> work
    return total >> (work - precision)


def minus_above(exponent: Fraction, precision: int) -> int:
    """An integer at least e^-exponent * 2^precision."""
    below = exp_below(exponent, precision) if exponent >= 0 else minus_below(-exponent, precision)
    return (1 << 2 * precision) // below + 1


def minus_below(exponent: Fraction, precision: int) -> int:
    """An integer at most e^-exponent * 2^precision, for exponent >= 0: e^-z >= 1 - z for a tiny z, squared many times."""
    halvings = precision + 2 * int(exponent + 1).bit_length()
    work = precision + halvings + 32
    total = (1 << work) + (-exponent.numerator << work) // (exponent.denominator << halvings)
    for _ in range(halvings):
        total = total * total >> work
    return total >> (work - precision)


def read(text: str) -> Any:
    """The document of a JSON text; a name that occurs twice is refused, since two readers could see two claims."""

    def once(members: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(members)) < len(members):
            raise ValueError("a name occurs twice.")
        return dict(members)

    return json.loads(text, object_pairs_hook=once)


def rounded_up(number: Fraction) -> str:
    """A number in six digits, rounded up, save for an excess of a billionth (such as that of the float 0.1)."""
    ratio = (number * Fraction(10**9 - 1, 10**9)).as_integer_ratio()
    return f"{Context(prec=6, rounding=ROUND_CEILING).divide(*map(Decimal, ratio)).normalize():f}"


def digest(document: dict[str, Any]) -> str:
    """SHA-256 of everything but the digest itself, in a fixed spelling."""
    content = {key: value for key, value in document.items() if key != "digest"}
    spelled = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(spelled.encode()).hexdigest()


def main(paths: list[str]) -> int:
    failed = 0
    for path in paths:
        try:
            with open(path, encoding="utf-8") as file:
                print(f"{path}: proved: {check(read(file.read()))}")
        except NotProved as problem:
            failed += 1
            print(f"{path}: NOT PROVED: {problem}")
        except (OSError, ValueError, RecursionError) as problem:
            failed += 1
            print(f"{path}: NOT PROVED: it cannot be read as JSON ({type(problem).__name__}).")
    return 1 if failed or not paths else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
