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
            with delta above 0, the extra probability that an event may have, from those in check_delta.
  planar    pairs of integers with P(k) proportional to e^(-rate |k|), |k| the Euclidean length, added to a point that was
            rounded to whole steps. Proved: rate <= epsilon * d for one step; the triangle inequality does the rest.
  ranged    P(j | i) = e^(-rate |i - j|) / Z(i) on the whole numbers of some ranges. Proved: the loss of a few pairs of inputs
            that imply all others; see check_ranged.
  half line noise on 0, 1, 2, ... with one tail away from 0 and a rate towards 0 that depends on the input. Proved: the loss of
            neighbouring inputs at the three outputs that decide it; see check_half_line.
  constant  the output does not depend on the secret; nothing is left to prove.

The file in order: check; what the claim is about (metric, step, ends of ranges, labels); the kinds of proof; bounds of e^x;
reading. To judge one certificate read check, the function of its kind, exp_below, and the readers.
The only analysis used is e^z = 1 + z + z^2/2! + ..., where a cut is below e^z if z >= 0 and misses at most the first term left
out if -1 <= z < 0, and e^z = (e^(z/2))^2. Every bound is a whole number that errs to one known side whatever the precision,
and where a bound has lost its meaning (a probability above 1, a denominator that may be 0) the file is refused.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
import re
import sys
from bisect import bisect_right
from collections.abc import Iterator
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import Any

FORMAT = "noisewright-certificate"
VERSION = 1
NUMBER = re.compile(r"-?[0-9]+/[0-9]+|-?[0-9]+(\.[0-9]+)?(e[+-]?[0-9]{1,3})?")


class NotProved(Exception):
    """The certificate does not prove its claim; the message says where."""


def check(document: Any) -> str:
    """Prove the claim of a certificate (a dict as read from JSON) and return it in words, or raise NotProved."""
    try:
        return prove(document)
    except (
        LookupError,
        TypeError,
        ValueError,
        ArithmeticError,
        AttributeError,
        MemoryError,
        RecursionError,
    ) as problem:
        raise NotProved(f"the file is incomplete or malformed ({type(problem).__name__}: {problem}).") from None


def prove(document: Any) -> str:
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise NotProved("this is not a Noisewright certificate.")
    if type(document.get("version")) is not int or document["version"] != VERSION:
        raise NotProved(f"this checker reads version {VERSION}, the file says {document.get('version')!r:.40}.")
    if document.get("digest") != digest(document):
        raise NotProved("the file was changed or cut after it was written: its digest does not match its content.")
    if document.get("numerics") != "exact":
        raise NotProved(
            "floating: a theorem holds for real numbers, but nothing is proved about the floats that are drawn."
        )
    claim, proof = document["claim"], document["proof"]
    epsilon, delta, distances, metric = (claim[name] for name in ("epsilon", "delta", "distances", "metric"))
    epsilon, delta, shape = number(epsilon), number(delta), distances["shape"]
    if not 0 <= epsilon < 10**308 or not 0 <= delta < 1:
        raise NotProved("this checker proves claims with epsilon >= 0 and delta from 0 to below 1 only.")
    kinds = {"table": check_table, "response": check_response, "law": check_law, "constant": check_constant}
    kinds.update({"planar": check_planar, "ranged": check_ranged, "half line": check_half_line})
    sizes = check_delta(epsilon, delta, distances, proof) if delta else kinds[proof["kind"]](epsilon, distances, proof)
    factor, most, base = unit_of(metric)
    labels = [labels_of(document.get(name), size) for name, size in zip(("inputs", "outputs"), sizes)]
    if shape in ("steps", "adjacent"):
        note = check_step(factor, base, distances, proof) + check_ends(factor, distances, proof, document)
    else:
        note = check_distances(most, base, distances, labels[0])
    per = f"between neighbours ({metric} at most 1)" if shape == "adjacent" else f"per unit of {metric}"
    return f"epsilon = {rounded_up(epsilon)} {per}{f', delta = {rounded_up(delta)}' if delta else ''}{note}"


# What the claim is about ------------------------------------------------------------------------------------------------


def unit_of(metric: Any) -> tuple[Fraction, Fraction, str]:
    """The factor of a name such as "1/5 * line", the most that it may stand for, and the base; other names stand for themselves.

    Long fractions are named by a float next to them, which may be less by 2^-52 of them, but no more.
    """
    if type(metric) is not str or not metric.isascii() or not metric.isprintable() or not 0 < len(metric) <= 1000:
        raise NotProved("the name of the metric is not a short text of printable ASCII.")
    head, star, base = metric.partition(" * ")
    if not star or not NUMBER.fullmatch(head):
        return Fraction(1), Fraction(1), metric
    if (factor := number(head)) <= 0:
        raise NotProved("the factor of a metric must be above 0.")
    return factor, factor * (1 + Fraction("." in head or "e" in head) / 2**52), base


def check_step(factor: Fraction, base: str, distances: Any, proof: Any) -> str:
    """Noise in steps has no labels: the size of a step is part of the claim, and is said unless it is one unit of the base."""
    # Losses of several numbers add up, and so do Manhattan distances; for neighbours the steps are counted in check_law.
    names = ["line", "manhattan"]
    if distances["shape"] == "adjacent":
        names = ["line"]
        if "norm" in proof:
            names = [f"{'largest' if proof['norm'] == 'sup' else 'sum'} of {proof['coordinates']} differences"]
    step = number(distances["distance"]) / factor
    rounded = re.fullmatch(r"line between points of the lattice 2\^(-?[0-9]{1,4})", base)
    if rounded and distances["shape"] == "steps" and proof["kind"] in ("law", "ranged"):
        if abs(step / Fraction(2) ** int(rounded[1]) - 1) > Fraction(1, 1 << 50):  # long factors are named by a float
            raise NotProved("the lattice in the name of the metric is not the one that the noise lives on.")
        return ""
    # A map of the globe is a plane of its own.
    plane = f"metres around {proof['around']}" if "around" in proof else "euclidean"
    fits = {"law": base in names, "planar": base == plane}
    if not fits.get(proof["kind"], base == "line"):
        raise NotProved(f"a proof of this kind says nothing about the metric {base!r}.")
    shown = str(step) if len(str(step)) <= 40 else f"{float(step):.12g}"  # a factor in floats makes long fractions
    return "" if shown == "1" else f", in steps of {shown}"


def check_ends(factor: Fraction, distances: Any, proof: Any, document: Any) -> str:
    """That ranges, inputs and reach follow from the real ends of the set (`within`) and of the true answers (`answers`).

    The lattice points of an interval are those inside it. Numbers at most D apart land at most ceil(D / step) steps apart when
    each goes to the nearest point; one more if there are gaps with an end that is no lattice point, where a number has to stay
    on its side. If the answers are not the whole set, the claim is about them only, and says so.
    """
    if "within" not in document or "answers" not in document:
        return "; for the listed inputs, in whole steps" if proof["kind"] == "ranged" else ""
    step = number(document["step"])
    if step <= 0 or abs(number(distances["distance"]) / factor / step - 1) > Fraction(1, 1 << 50):
        raise NotProved("the step of the lattice is not the one that the distances are about.")
    names = {"within": "ranges", "answers": "inputs"}
    sets = {name: [[None if e is None else number(e) for e in pair] for pair in document[name]] for name in names}
    if proof["kind"] == "ranged":
        for name, ends in sets.items():
            if [[lo and math.ceil(lo / step), hi and math.floor(hi / step)] for lo, hi in ends] != proof[names[name]]:
                raise NotProved(f"the {names[name]} are not the lattice points between the ends that the file states.")
        every = [end for ends in sets.values() for pair in ends for end in pair if end is not None]
        off = len(sets["within"]) > 1 and any((end / step).denominator > 1 for end in every)
        if distances["shape"] == "adjacent" and whole(proof["reach"]) < neighbouring_steps(distances) + off:
            raise NotProved("neighbours beside a gap may be farther apart than the steps that were looked at.")
    low, high = sets["answers"][0][0], sets["answers"][-1][1]
    if sets["within"] == sets["answers"]:
        return ""
    return f", for answers from {'-inf' if low is None else float(low)} to {'inf' if high is None else float(high)}"


def labels_of(labels: Any, size: int | None) -> list[Any] | None:
    """The labels as exact numbers, texts and tuples of those: one for each row or column, no two alike."""
    if labels is None:
        return None
    found = [value_of(label) for label in labels] if isinstance(labels, list) else []
    if not found or len(set(found)) < len(found) or size not in (None, len(found)):
        raise NotProved("there must be one label for each row and each column, and no two alike.")
    return found


def value_of(label: Any) -> Any:
    if isinstance(label, dict):
        return tuple(map(value_of, label["tuple"])) if "tuple" in label else number(label["fraction"])
    return label if label is None or isinstance(label, (str, bool)) else Fraction(label)


def check_distances(factor: Fraction, base: str, distances: Any, labels: list[Any] | None) -> str:
    """That no distance is larger than the named metric's between the labels, or a note that the name does not say.

    A smaller distance only makes the promise stronger.
    """
    if base == "discrete" and distances["shape"] == "uniform":
        if length_of(distances) > factor:
            raise NotProved("the distances are larger than those of the discrete metric.")
        return ""
    if base not in ("line", "euclidean", "manhattan", "discrete") or labels is None:
        return "; distances as stated in the file"
    points = [coordinates(label) for label in labels]
    if base == "line" and any(len(point) != 1 for point in points):
        raise NotProved("the line metric is about single numbers.")
    for x, other, distance in pairs(distances, len(points)):
        if base == "discrete":
            square: Any = 1  # no two labels are alike
        elif len(points[x]) != len(points[other]):
            raise NotProved(f"rows {x} and {other} have different numbers of coordinates.")
        else:
            apart = [abs(i - j) for i, j in zip(points[x], points[other])]
            square = sum(apart) ** 2 if base == "manhattan" else sum(a * a for a in apart)
        if distance is None or distance**2 > factor**2 * square:
            raise NotProved(f"rows {x} and {other} are nearer in the {base} metric than the file says.")
    return ""


def coordinates(label: Any) -> list[Any]:
    return [c for part in label for c in coordinates(part)] if isinstance(label, tuple) else [label]


def length_of(distances: Any) -> Fraction:
    """The one distance of a claim, or of one step."""
    if (distance := number(distances["distance"])) < 0:
        raise NotProved("a distance is negative.")
    return distance


def neighbouring_steps(distances: Any) -> int:
    """Numbers at distance at most 1 are at most this many steps apart when both are rounded to steps of that distance."""
    if (step := length_of(distances)) == 0:
        raise NotProved("the distance of one step must be above 0.")
    return -(-1 // step)


def pairs(distances: Any, size: int) -> Iterator[tuple[int, int, Fraction | None]]:
    """Pairs (x, x', distance) whose losses imply all others; the distance None is infinite."""
    if distances["shape"] == "line":  # distances on a line add up, so neighbours suffice
        places = [number(place) for place in distances["places"]]
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
                yield x, other, None if value == "inf" else length_of({"distance": value})
    else:
        raise NotProved(f"unknown shape of distances {distances['shape']!r:.40}, or one that does not fit.")


# The kinds of proof; each returns how many inputs and outputs there are to label ------------------------------------------


def check_table(epsilon: Fraction, distances: Any, proof: Any) -> tuple[Any, Any]:
    width, precision = bits_of(proof["width"], 0, 1 << 20), bits_of(proof["precision"], 64, 1 << 17)
    rows = [[hexadecimal(entry) for entry in row] for row in proof["table"]]
    if not rows or not rows[0] or any(len(row) != len(rows[0]) for row in rows):
        raise NotProved("the table has rows of different lengths, or none.")
    for x, row in enumerate(rows):
        if sum(row) != 1 << width:
            raise NotProved(f"row {x} of the table does not sum to 2^{width}.")
    if distances["shape"] == "uniform":  # the largest entry of a column against the smallest covers every pair
        columns = list(zip(*rows))
        limit = exp_below(epsilon * length_of(distances), precision)
        compare(list(map(max, columns)), list(map(min, columns)), limit, precision, "two rows")
    else:
        every = list(pairs(distances, len(rows)))
        if precision > 1024 and len({d for _, _, d in every}) * precision**2 > 1 << 35:
            raise NotProved("so many distances at such a precision would take too long.")
        for x, other, distance in every:
            if distance is not None:
                limit = exp_below(epsilon * distance, precision)
                compare(rows[x], rows[other], limit, precision, f"rows {x} and {other}")
    return len(rows), len(rows[0])


def check_response(epsilon: Fraction, distances: Any, proof: Any) -> tuple[Any, Any]:
    width, precision = bits_of(proof["width"], 0, 1 << 20), bits_of(proof["precision"], 64, 1 << 17)
    size, keep, other = whole(proof["size"]), hexadecimal(proof["keep"]), hexadecimal(proof["other"])
    if size < 2 or keep + (size - 1) * other != 1 << width:
        raise NotProved(f"keep + (size - 1) * other is not 2^{width}.")
    if distances["shape"] != "uniform":
        raise NotProved("a response needs one distance for every pair.")
    compare([keep], [other], exp_below(epsilon * length_of(distances), precision), precision, "two rows")
    return size, size


def compare(here: list[int], there: list[int], limit: int, precision: int, rows: str) -> None:
    for y, (a, b) in enumerate(zip(here, there)):
        if max(a, b) << precision > limit * min(a, b):
            raise NotProved(f"the promise is broken between {rows} at output {y}.")


def check_constant(epsilon: Fraction, distances: Any, proof: Any) -> tuple[Any, Any]:
    """Two equal distributions: any epsilon from 0 on."""
    if distances["shape"] != "uniform" or whole(proof["outputs"]) < 1:
        raise NotProved("a constant needs one distance for every pair, and outputs.")
    return None, whole(proof["outputs"])


def check_planar(epsilon: Fraction, distances: Any, proof: Any) -> tuple[Any, Any]:
    step, rate = number(distances["distance"]), number(proof["rate"])
    if distances["shape"] != "steps" or step <= 0 or not 0 < rate <= epsilon * step:
        raise NotProved("the rate of the noise is too large for the claim.")
    return 0, 0


def check_ranged(epsilon: Fraction, distances: Any, proof: Any) -> tuple[Any, Any]:
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
    if distances["shape"] not in ("adjacent", "steps") or step <= 0 or rate <= 0:
        raise NotProved("ranges need distances in steps, and a rate above 0.")
    reach = whole(proof["reach"]) if adjacent else 1
    if adjacent and reach < neighbouring_steps(distances):
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

    for (k, i), (m, j) in near_pairs(inputs, reach) if adjacent else facing_pairs(inputs):
        # What the rate leaves of the allowance is there for ln Z; were it negative, the loss would be too large for any Z.
        left = epsilon - rate * (j - i) if adjacent else (epsilon * step - rate) * (j - i)
        limit = exp_below(left, bits) if left >= 0 else 0
        for (p, x), (q, y) in (((k, i), (m, j)), ((m, j), (k, i))):
            if weight(p, x, True) << bits > limit * weight(q, y, False):
                raise NotProved(f"the promise is broken between inputs {x} and {y}.")
    return 0, 0


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


def check_half_line(epsilon: Fraction, distances: Any, proof: Any) -> tuple[Any, Any]:
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
    return 0, 0


def check_law(epsilon: Fraction, distances: Any, proof: Any) -> tuple[Any, Any]:
    if distances["shape"] not in ("adjacent", "steps"):
        raise NotProved(f"a law needs distances in steps, not {distances['shape']!r:.40}.")
    steps = neighbouring_steps(distances)
    if (
        "norm" in proof
    ):  # several numbers with their own noise, losses add up; d apart before rounding is below d + 1 steps after
        count = whole(proof["coordinates"])
        if count < 1 or proof["norm"] not in ("sup", "l1") or distances["shape"] != "adjacent":
            raise NotProved("several numbers need the norm 'sup' or 'l1' between neighbours.")
        steps = steps * count if proof["norm"] == "sup" else steps + count - 1
    allowed = epsilon
    if distances["shape"] == "steps":
        steps, allowed = 1, epsilon * length_of(distances)
    if proof["law"] == "discrete laplace":  # P(k) ~ e^(-|k|/scale): a step changes the exponent by at most 1/scale
        scale = number(proof["scale"])
        if scale <= 0 or allowed * scale < steps:
            raise NotProved("the scale of the noise is too small for the claim.")
    elif proof["law"] == "staircase":
        # P(k) ~ e^(-rate * level(|k|)), level(n) = floor((n + width - first) / width): it never falls as n grows, and rises
        # by exactly one from n to n + width, so by at most one over at most `width` steps, in either direction. Several numbers
        # could each rise by one, so they are not for this law.
        width, first, rate = whole(proof["width"]), whole(proof["first"]), number(proof["rate"])
        if not 1 <= first <= width or steps > width or not 0 < rate <= allowed or "norm" in proof:
            raise NotProved("the steps of the staircase are too short or too high for the claim.")
    else:
        raise NotProved(f"unknown law {proof['law']!r:.40}.")
    return 0, 0


def check_delta(epsilon: Fraction, delta: Fraction, distances: Any, proof: Any) -> tuple[Any, Any]:
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
    return 0, 0


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


# Bounds of e^x --------------------------------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=1 << 14)
def exp_below(exponent: Fraction, precision: int) -> int:
    """An integer at most e^exponent * 2^precision: the series for a small part of the exponent, squared many times."""
    if exponent < -precision:
        return 0
    exponent = min(exponent, Fraction(precision))  # a smaller exponent is still below, and keeps the number short
    halvings = int(abs(exponent)).bit_length() + 4 + math.isqrt(precision)
    work = precision + 2 * halvings + 32
    argument = (exponent.numerator << work) // (exponent.denominator << halvings)
    total, term, order = 0, 1 << work, 0
    while term:
        total, order = total + term, order + 1
        term = (term * argument // order) >> work
    if exponent < 0:  # terms of both signs, each rounded by less than three units; the rest is below three more
        total -= 3 * order + 3
    for _ in range(halvings):
        total = total * total >> work
    return total >> (work - precision)


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


# Reading ------------------------------------------------------------------------------------------------------------------


def number(value: Any) -> Fraction:
    """A whole number, or a text such as "1/3", "0.1" or "1e-9": short, so that no file makes this program run for ever."""
    if type(value) is int and abs(value) < 1 << 1024:
        return Fraction(value)
    if type(value) is str and len(value) <= 4000 and NUMBER.fullmatch(value):
        return Fraction(value)
    raise NotProved(f"the file is incomplete or malformed: {value!r:.40} is not a number like 1, 1/3 or 0.1.")


def whole(value: Any) -> int:
    if type(value) is int and abs(value) < 1 << 128:
        return value
    raise NotProved(f"the file is incomplete or malformed: {value!r:.40} is not a whole number below 2^128.")


def hexadecimal(value: Any) -> int:
    if type(value) is str and re.fullmatch("[0-9a-f]+", value):
        return int(value, 16)
    raise NotProved(f"the file is incomplete or malformed: {value!r:.40} is not a number in hexadecimal digits.")


def bits_of(value: Any, least: int, most: int) -> int:
    if type(value) is int and least <= value <= most:
        return value
    raise NotProved(f"width and precision must be whole numbers of bits, at most {most} and here at least {least}.")


def read(text: str) -> Any:
    """The document of a JSON text. A name that occurs twice is refused, since two readers could see two claims, and so are
    numbers that are not finite or too long. Floats occur in labels only: no field of a claim or proof may be one."""

    def once(members: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(members)) < len(members):
            raise ValueError("a name occurs twice.")
        return dict(members)

    def finite(text: str) -> Any:
        if len(text) > 4000 or not math.isfinite(float(text)):
            raise ValueError("a number is not finite, or too long.")
        return float(text) if "." in text or "e" in text.lower() else int(text)

    return json.loads(text, object_pairs_hook=once, parse_constant=finite, parse_float=finite, parse_int=finite)


def rounded_up(value: Fraction) -> str:
    """A number in six digits, rounded up; but the float nearest to a decimal of six digits is shown as that decimal."""
    short = f"{float(value):.6g}"
    if Fraction(float(short)) == value:
        return f"{Decimal(short).normalize():f}"
    return f"{Context(prec=6, rounding=ROUND_CEILING).divide(*map(Decimal, value.as_integer_ratio())).normalize():f}"


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
