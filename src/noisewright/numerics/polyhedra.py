"""Solvers of linear programs: clarabel first, HiGHS where it does not finish.

``minimise goal z`` with ``rows z <= 0``, ``sums z = totals`` and ``z >= 0`` for the first ``signed`` variables. What
comes back is raw material: it satisfies the constraints up to the accuracy only.

``A R = B`` with ``R >= 0``: column by column (the cone of A's columns, which is the max-case order), or with rows of R
that sum to one (the average-case order). The result is either a solution or multipliers that prove that no solution
exists; both are exact.

:class:`~noisewright.numerics.linear_algebra.Elimination` brings A to reduced form once. Where its columns are
independent that is all. Otherwise the free unknowns
are a linear program without an objective, decided by the dual simplex method, which can start from any basis: a float
solver's answer is a *hint* where to start, never part of the proof. Bland's rule makes it end.

>>> solved, weights = cone(Elimination([[2, 1, 1], [1, 2, 1]], [[4], [5]]), 0)
>>> solved, [str(v) for v in weights]
(True, ['1', '2', '0'])

Reference: Chvatal, *Linear Programming* (1983), chapters 3 and 10.

It does not use the theory of extreme points and so is the referee of
:mod:`~noisewright.design.polytopes.enumeration`. It is also the only way to the vertices of ``(epsilon, delta)``
privacy, for which no closed form is known.

The last column is eliminated by the row sums. For ``delta = 0`` the inequalities are the ratios ``A[i,j] <= q A[k,j]``;
for ``delta > 0`` they are ``A[i,S] <= q A[k,S] + delta`` for **every** set ``S`` of outputs. Single outputs alone would
not be enough: for three secrets and three outputs 162 of the 357 vertices of that larger polytope break the guarantee
(``events="single"`` shows it).

>>> [len(local_vertices(m, factor=2)) for m in (2, 3)]
[4, 33]
>>> len(local_vertices(2, factor=2, delta="1/10")), len(local_vertices(2, factor=1, delta="1/10"))
(8, 6)

Reference: Motzkin, Raiffa, Thompson and Thrall (1953); Fukuda and Prodon, *Double description method revisited* (1996).

The columns ``u_k`` are weights over ``n`` secrets. A mix of columns that is the same at every secret is a channel; the
extreme rays are the mixes that use linearly independent columns only. Equations are taken one by one: rays on which an
equation holds stay, and each *adjacent* pair with opposite signs gives a new ray between them. Two rays are adjacent iff no
third one uses only columns that they use.

>>> [ray.support for ray in balanced_rays([[1, 0, 1], [0, 1, 1]])]
[(2,), (0, 1)]

Integers are exact. Where they stand for numbers known approximately, ``error`` says how far each entry may be off,
relatively, and a sign that could be wrong is refused rather than guessed. Floats are compared within ``tolerance``.

Reference: Motzkin, Raiffa, Thompson and Thrall, *The double description method* (1953); for 0-1 columns the rays are the
minimal balanced collections of Shapley (1967).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from noisewright._typing import Floats
from noisewright._utils.validation import one_of
from noisewright.exceptions import ParameterError
from noisewright.numerics.exact import Exact, as_fraction, in_words
from noisewright.numerics.linear_algebra import Echelon, Elimination, Rows, Vector, shortened, solve_many, whole_row

__all__ = [
    "MOST_RAYS",
    "Answer",
    "LinearProgram",
    "Ray",
    "TooLargeError",
    "UnsolvedError",
    "balanced_rays",
    "cone",
    "local_inequalities",
    "local_vertices",
    "solved",
    "stochastic",
    "vertices",
]


INFEASIBLE = "infeasible"


class LinearProgram(Protocol):
    """Objective to be minimised, and its constraints."""

    goal: Floats
    rows: Any
    sums: Any
    totals: Floats
    signed: int


@dataclass(frozen=True)
class Answer:
    """A point, and the multipliers of the two kinds of constraints (those of ``rows`` are 0 or more)."""

    point: Floats
    rows: Floats
    sums: Floats
    solver: str


class UnsolvedError(ParameterError):
    """A program that is too large for the solvers, or that none of them could finish."""


def solved(program: LinearProgram, solver: str, accuracy: float) -> Answer | None:
    """The answer of the named solver or, if it does not finish, of the other; None if no point satisfies the
    constraints.
    """
    failed = ""
    for run in (_highs,) if solver == "HiGHS" else (_clarabel, _highs):
        found = run(program, accuracy)
        if isinstance(found, Answer):
            return found
        if found == INFEASIBLE:
            return None
        failed = found
    raise UnsolvedError(f"the linear program could not be solved ({failed}); rescale the loss, or use fewer secrets.")


def _clarabel(program: LinearProgram, accuracy: float) -> Answer | str:
    import clarabel  # type: ignore[import-untyped]

    size, start = len(program.goal), len(program.totals)
    blocks = [program.sums, program.rows]
    if program.signed:
        blocks.append(-sparse.identity(size, format="csr")[: program.signed])
    matrix = sparse.csc_matrix(sparse.vstack(blocks))
    right = np.concatenate([program.totals, np.zeros(matrix.shape[0] - start)])
    cones = [clarabel.ZeroConeT(start), clarabel.NonnegativeConeT(matrix.shape[0] - start)]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = accuracy
    none = sparse.csc_matrix((size, size))
    found = clarabel.DefaultSolver(none, program.goal, matrix, right, cones, settings).solve()
    status = str(found.status)
    if "PrimalInfeasible" in status:
        return INFEASIBLE
    point, dual = np.array(found.x), np.array(found.z)
    if not np.isfinite(point).all() or ("Solved" not in status and found.r_prim > 1e-5):
        return status
    return Answer(point, dual[start : start + program.rows.shape[0]], dual[:start], "clarabel")


def _highs(program: LinearProgram, accuracy: float) -> Answer | str:
    from scipy.optimize import linprog

    limits = [(0, None)] * program.signed + [(None, None)] * (len(program.goal) - program.signed)
    found = linprog(
        program.goal,
        A_ub=program.rows,
        b_ub=np.zeros(program.rows.shape[0]),
        A_eq=program.sums,
        b_eq=program.totals,
        bounds=limits,
        method="highs",
        options={"primal_feasibility_tolerance": accuracy, "dual_feasibility_tolerance": accuracy},
    )
    if found.status == 2:
        return INFEASIBLE
    if found.x is None:
        return str(found.message)
    return Answer(
        np.asarray(found.x), -np.asarray(found.ineqlin.marginals), -np.asarray(found.eqlin.marginals), "HiGHS"
    )


# Program ------------------------------------------------------------------------------------------------------------------
#
# Systems of equations with non-negative unknowns, decided in fractions.


MOST_WORK = 40_000_000
"""Entries that may be updated, counted once for every 512 bits; beyond it :class:`TooLargeError` is raised."""

HINTED = 1e-7
"""Unknowns above this in a float solution are brought into the first basis."""


class TooLargeError(Exception):
    """The exact decision would take too long."""


def cone(found: Elimination, column: int, hints: Sequence[float] | None = None) -> tuple[bool, Vector]:
    """True and weights ``r >= 0`` with ``A r = b`` for one column of B; or False and h with ``h @ A <= 0 < h @ b``."""
    free = [j for j in range(found.unknowns) if j not in set(found.pivots)]
    basic, rows = [], []
    for pivot in found.pivots:
        coefficient, others, values = found.line(pivot)
        basic.append(pivot)
        rows.append([coefficient, *(others[j] for j in free), values[column]])
    answer = _Dictionary(basic, free, rows).decide(None if hints is None else dict(enumerate(hints)))
    if answer.feasible:
        return True, tuple(answer.values.get(j, Fraction(0)) for j in range(found.unknowns))
    against = found.combine({j: answer.values.get(j, Fraction(0)) for j in found.pivots})
    return False, tuple(-v for v in against)


def stochastic(found: Elimination, hints: Floats | None = None) -> tuple[bool, Rows]:
    """True and a channel R with ``A R = B``; or False and a gain ``G[w][x]`` for which B is worth more than A.

    A and B must have the same row sums, so that the rows of R at pivots sum to one by themselves.
    """
    k = found.right
    pivots = found.pivots
    free = [j for j in range(found.unknowns) if j not in set(pivots)]
    start = {j: int(np.argmax(hints[j])) if hints is not None else k - 1 for j in free}
    nonbasic = [j * k + w for j in free for w in range(k) if w != start[j]]
    place = {variable: i + 1 for i, variable in enumerate(nonbasic)}
    width = len(nonbasic) + 2
    basic, rows = [], []
    for j in free:  # the entries of a free row sum to one
        row = [0] * width
        row[0] = row[-1] = 1
        for w in range(k):
            if w != start[j]:
                row[place[j * k + w]] = 1
        basic.append(j * k + start[j])
        rows.append(row)
    for pivot in pivots:
        coefficient, others, values = found.line(pivot)
        for w in range(k):
            row = [0] * width
            row[0], row[-1] = coefficient, values[w]
            for j, v in others.items():
                if w != start[j]:
                    row[place[j * k + w]] = v
                else:  # what the rest of its row leaves
                    row[-1] -= v
                    for z in range(k):
                        if z != w:
                            row[place[j * k + z]] = -v
            basic.append(pivot * k + w)
            rows.append(row)
    guess = None if hints is None else {j * k + w: float(hints[j, w]) for j in range(found.unknowns) for w in range(k)}
    answer = _Dictionary(basic, nonbasic, rows).decide(guess)
    full = [[answer.values.get(j * k + w, Fraction(0)) for w in range(k)] for j in range(found.unknowns)]
    if answer.feasible:
        return True, tuple(tuple(row) for row in full)
    return False, tuple(found.combine({j: full[j][0] - full[j][w] for j in pivots}) for w in range(k))


@dataclass(frozen=True)
class _Answer:
    """Values of a solution; or the coefficients, all 0 or more, of a combination that would have to be negative."""

    feasible: bool
    values: dict[int, Fraction]


class _Dictionary:
    """``row[0] x + sum_j row[j] z_j = row[-1]`` for each basic unknown x, over non-basic ones z; all integers, ``row[0] > 0``."""

    def __init__(self, basic: list[int], nonbasic: list[int], rows: list[list[int]]) -> None:
        self.basic, self.nonbasic = list(basic), list(nonbasic)
        self.rows = [shortened(row) for row in rows]
        self.work = 0

    def decide(self, hints: dict[int, float] | None) -> _Answer:
        if hints is not None:
            self._start_near(hints)
        # The row that is furthest from feasible first; Bland's rule, which cannot cycle, once that has gone on for long.
        patience = 4 * (len(self.basic) + len(self.nonbasic))
        while True:
            short = [i for i, row in enumerate(self.rows) if row[-1] < 0]
            if not short:
                return _Answer(True, {x: Fraction(r[-1], r[0]) for x, r in zip(self.basic, self.rows, strict=True)})
            leaving = min(short, key=self._depth if patience > 0 else self.basic.__getitem__)
            row = self.rows[leaving]
            helpful = [c for c in range(1, len(row) - 1) if row[c] < 0]
            if not helpful:
                values = {z: Fraction(row[c + 1], row[0]) for c, z in enumerate(self.nonbasic)}
                return _Answer(False, {**values, self.basic[leaving]: Fraction(1)})
            entering = min(helpful, key=row.__getitem__ if patience > 0 else self._name)
            patience -= 1
            self._pivot(leaving, entering)

    def _depth(self, i: int) -> Fraction:
        return Fraction(self.rows[i][-1], self.rows[i][0])

    def _name(self, column: int) -> int:
        return self.nonbasic[column - 1]

    def _start_near(self, hints: dict[int, float]) -> None:
        """Bring the unknowns that a float solution has above zero into the basis, for ones that it has at zero."""
        wanted = sorted((z for z in self.nonbasic if hints.get(z, 0.0) > HINTED), key=lambda z: -hints[z])
        for z in wanted:
            column = self.nonbasic.index(z) + 1
            rows = [i for i, row in enumerate(self.rows) if row[column] and hints.get(self.basic[i], 0.0) <= HINTED]
            if rows:
                self._pivot(min(rows, key=lambda i: hints.get(self.basic[i], 0.0)), column)

    def _pivot(self, leaving: int, entering: int) -> None:
        row = self.rows[leaving]
        if row[entering] < 0:
            row = [-v for v in row]
        pivot, old = row[entering], row[0]
        bits = max(v.bit_length() for v in row)
        self.work += len(self.rows) * len(row) * (1 + bits // 512)
        if self.work > MOST_WORK:
            raise TooLargeError
        for i, other in enumerate(self.rows):
            factor = other[entering]
            if i == leaving or not factor:
                continue
            changed = [pivot * x - factor * y for x, y in zip(other, row, strict=True)]
            changed[0] = pivot * other[0]
            changed[entering] = -factor * old
            self.rows[i] = shortened(changed)
        fresh = list(row)
        fresh[0], fresh[entering] = pivot, old
        self.rows[leaving] = shortened(fresh)
        self.basic[leaving], self.nonbasic[entering - 1] = self.nonbasic[entering - 1], self.basic[leaving]


# Double description -------------------------------------------------------------------------------------------------------
#
# Brute force: the vertices of a polytope from its inequalities, by the double description method in exact integers.


LARGEST = 60_000
"""Maximum number of rays that are held while vertices are enumerated."""


def local_vertices(
    inputs: int,
    outputs: int | None = None,
    *,
    factor: Exact,
    delta: Exact = 0,
    support: Sequence[int] | None = None,
    face: Iterable[int] = (),
    events: str = "all",
) -> set[Rows]:
    """Every vertex of the polytope of locally private channels for a rational ``factor`` (which is ``e^epsilon``).

    ``support`` allows some outputs only; the other columns are zero. ``face`` are numbers of rows of
    :func:`local_inequalities` that must hold with equality: only vertices of that face are found.
    """
    m = inputs
    k = inputs if outputs is None else outputs
    if min(m, k) < 1:
        raise ParameterError("vertices need at least one secret and one output.")
    used = list(range(k)) if support is None else sorted(set(support))
    if not used or used[0] < 0 or used[-1] >= k:
        raise ParameterError(f"support must name outputs from 0 to {k - 1}, and at least one.")
    c = len(used)
    rows = local_inequalities(m, c, factor=factor, delta=delta, events=events)
    tight = sorted(set(face))
    if tight and not 0 <= tight[0] <= tight[-1] < len(rows):
        raise ParameterError(f"face must name inequalities from 0 to {len(rows) - 1}.")
    found = set()
    for point in vertices(rows, tight) if c > 1 else [()]:
        matrix = [[Fraction(0)] * k for _ in range(m)]
        for i, row in enumerate(matrix):
            for j in range(c - 1):
                row[used[j]] = point[j * m + i]
            row[used[-1]] = 1 - sum(row, Fraction(0))
        found.add(tuple(map(tuple, matrix)))
    return found


def local_inequalities(
    inputs: int, outputs: int, *, factor: Exact, delta: Exact = 0, events: str = "all"
) -> list[list[Fraction]]:
    """Rows ``(b, a)`` with ``b + a . x >= 0``; ``x`` stacks all columns of the channel but the last, which follows from them."""
    m, c = inputs, outputs
    q, failure = as_fraction(factor, "factor"), as_fraction(delta, "delta")
    one_of(events, "events", ("all", "single"))
    if q < 1:
        raise ParameterError(f"factor is e^epsilon, so it must be 1 or more, not {in_words(q)}.")
    if not 0 <= failure <= 1:
        raise ParameterError(f"delta must be between 0 and 1, not {in_words(failure)}.")
    if events == "all" and failure and c > 8:
        raise ParameterError(f"with a delta every set of outputs is an inequality; at most 8 outputs, not {c}.")
    sets = range(1, (1 << c) - 1) if failure and events == "all" else [1 << j for j in range(c)]
    rows = []
    for event in sets:
        for i, other in permutations(range(m), 2):  # delta + q A[other, S] - A[i, S] >= 0
            row = [Fraction(0)] * (1 + m * (c - 1))
            row[0] = failure
            last = event >> (c - 1) & 1
            if last:
                row[0] += q - 1
            for j in range(c - 1):
                sign = (event >> j & 1) - last
                row[1 + j * m + other] += q * sign
                row[1 + j * m + i] -= sign
            rows.append(row)
    if failure or q == 1:  # otherwise the ratios imply that no entry is negative
        for i in range(m):
            rows.append([Fraction(1), *(Fraction(-(n % m == i)) for n in range(m * (c - 1)))])
            for j in range(c - 1):
                rows.append([Fraction(0), *(Fraction(n == j * m + i) for n in range(m * (c - 1)))])
    return rows


def vertices(inequalities: Sequence[Sequence[Fraction]], equalities: Iterable[int] = ()) -> list[tuple[Fraction, ...]]:
    """The vertices of the bounded polytope ``{x : b + a @ x >= 0}``, given as rows ``(b, a)``.

    ``equalities`` are numbers of rows that must hold with equality. A polytope that is not bounded is refused.
    """
    rows = [whole_row(row) for row in inequalities]
    if not rows:
        raise ParameterError("a polytope needs at least one inequality.")
    rows.insert(0, [1] + [0] * (len(rows[0]) - 1))  # homogeneous: x_0 >= 0
    basis = _subspace([rows[e + 1] for e in equalities], len(rows[0]))
    seen = [[sum(a * b for a, b in zip(row, vector, strict=True)) for vector in basis] for row in rows]
    found = []
    for ray in _rays(seen, len(basis)):
        point = [sum(r * vector[n] for r, vector in zip(ray, basis, strict=True)) for n in range(len(rows[0]))]
        if point[0] == 0:
            raise ParameterError("the polytope is not bounded; add inequalities.")
        found.append(tuple(Fraction(v, point[0]) for v in point[1:]))
    return found


def _subspace(equalities: list[list[int]], width: int) -> list[list[int]]:
    """Return independent integer vectors that span the orthogonal complement of the rows."""
    echelon = Echelon(width)
    for row in equalities:
        echelon.add(row)
    return [whole_row(vector) for vector in echelon.orthogonal()]


def _rays(rows: list[list[int]], width: int) -> list[list[int]]:
    """The extreme rays of the pointed cone ``{x : row . x >= 0 for all rows}``."""
    echelon = Echelon(width)
    first = [n for n, row in enumerate(rows) if echelon.add(row)]
    if len(first) < width:
        raise ParameterError("the polytope is not bounded; add inequalities.")
    inverse = solve_many([rows[n] for n in first], [[int(a == b) for b in range(width)] for a in range(width)])
    assert inverse is not None
    rays = [whole_row([line[n] for line in inverse]) for n in range(width)]
    words = -(-len(rows) // 64)
    done = list(first)
    order = [n for n in range(len(rows)) if n not in set(first)]
    while order:
        # The row that cuts off the fewest rays first: the order decides how many are held in between.
        products = {n: _products(rays, rows[n]) for n in order}
        best = min(order, key=lambda n: sum(p < 0 for p in products[n]))
        order.remove(best)
        tight = _incidence(rays, [rows[n] for n in done], words)
        rays = _cut(rays, products[best], tight, width)
        done.append(best)
        if len(rays) > LARGEST:
            raise ParameterError(
                f"there are more than {LARGEST} vertices on the way; take a smaller polytope or a face."
            )
    return rays


def _products(rays: list[list[int]], row: list[int]) -> list[int]:
    used = [(n, a) for n, a in enumerate(row) if a]
    return [sum(a * ray[n] for n, a in used) for ray in rays]


def _incidence(rays: list[list[int]], rows: list[list[int]], words: int) -> NDArray[np.uint64]:
    """Return for each ray the rows that it lies on, as bits."""
    bits = np.zeros((len(rays), words), dtype=np.uint64)
    for n, row in enumerate(rows):
        on = np.array([p == 0 for p in _products(rays, row)], dtype=np.uint64)
        bits[:, n // 64] |= on << np.uint64(n % 64)
    return bits


def _cut(rays: list[list[int]], products: list[int], tight: NDArray[np.uint64], width: int) -> list[list[int]]:
    """Rays on the right side of a row, and one new ray between each two adjacent rays on different sides."""
    above = [n for n, p in enumerate(products) if p > 0]
    below = [n for n, p in enumerate(products) if p < 0]
    kept = [ray for ray, p in zip(rays, products, strict=True) if p >= 0]
    for low in below:
        common = tight[above] & tight[low]
        shared = np.bitwise_count(common).sum(axis=1)
        for place in np.flatnonzero(shared >= width - 2):
            both = common[place]
            # Adjacent exactly if no third ray lies on all rows that the two share.
            if int((((tight & both) == both).all(axis=1)).sum()) == 2:
                high = above[int(place)]
                p, n = products[high], -products[low]
                kept.append(whole_row([n * a + p * b for a, b in zip(rays[high], rays[low], strict=True)]))
    return kept


# Rays ---------------------------------------------------------------------------------------------------------------------
#
# Balanced weights: the extreme rays of ``{a >= 0 : sum_k a_k u_ik is the same for all i}``, by double description.


MOST_RAYS = 20_000
"""The default limit on rays, also on the way to the result."""

BLOCK = 4_000_000
"""Number of pairs that are examined together."""


@dataclass(frozen=True)
class Ray:
    """Weights of the columns in ``support``, all greater than 0, up to a common factor."""

    support: tuple[int, ...]
    weights: tuple[float, ...]
    error: float = 0.0


def balanced_rays(
    columns: Sequence[Sequence[float]], *, error: float = 0.0, tolerance: float = 0.0, most: int = MOST_RAYS
) -> list[Ray]:
    """The extreme rays, ordered by size and support; ``columns[i][k]`` is the weight of column ``k`` at secret ``i``.

    ``most`` limits the work: a space with more rays than that, at any step, is refused.
    """
    width = len(columns[0])
    rays = [Ray((k,), (1,), error) for k in range(width)]
    for i in range(1, len(columns)):
        rays = _cut_exactly(rays, columns[0], columns[i], i, width, error, tolerance, most)
    return sorted(rays, key=lambda ray: (len(ray.support), ray.support))


def _cut_exactly(
    rays: list[Ray],
    first: Sequence[float],
    row: Sequence[float],
    done: int,
    width: int,
    error: float,
    tolerance: float,
    most: int,
) -> list[Ray]:
    """The rays on which one more equation holds."""
    kept: list[Ray] = []
    sides: dict[bool, list[tuple[Ray, float, float]]] = {True: [], False: []}
    for ray in rays:
        value = sum(a * (row[k] - first[k]) for k, a in zip(ray.support, ray.weights, strict=True))
        size = sum(a * (row[k] + first[k]) for k, a in zip(ray.support, ray.weights, strict=True))
        if value == 0 or (tolerance and abs(value) <= tolerance * size):
            kept.append(ray)
            continue
        off = 0.0 if not error else _quotient(size, abs(value)) * (ray.error + error)
        if off > 0.25:
            raise ParameterError("this budget is too close to one where the kernels change; choose another epsilon.")
        sides[value > 0].append((ray, value, off))
    above, below = sides[True], sides[False]
    if not above or not below:
        return kept
    table = np.zeros((len(rays), width), dtype=np.float32)
    order = [*(r for r, _, _ in above), *(r for r, _, _ in below), *kept]
    for place, ray in enumerate(order):
        table[place, list(ray.support)] = 1
    for p, m in _adjacent(table, len(above), len(below), done + 1):
        kept.append(_between(*above[p], *below[m]))
        if len(kept) > most:
            raise ParameterError(
                f"there are more than {most} kernel mechanisms, or parts of some, in this space; take fewer secrets, allow "
                "more with most=, or let nw.optimal find the best mechanism for one loss without listing them."
            )
    return kept


def _quotient(size: float, value: float) -> float:
    try:
        return float(size / value)
    except OverflowError:
        return math.inf


def _adjacent(table: NDArray[np.float32], above: int, below: int, size: int) -> list[tuple[int, int]]:
    """Adjacent pairs of the first ``above`` rays and the next ``below``; together they use at most ``size`` columns."""
    sizes = table.sum(axis=1)
    up, down = table[:above], table[above : above + below]
    found: list[tuple[int, int]] = []
    step = max(1, BLOCK // max(below, 1))
    for start in range(0, above, step):
        part = up[start : start + step]
        together = sizes[start : start + len(part), None] + sizes[above : above + below] - part @ down.T
        pairs = np.argwhere(together <= size)
        pairs[:, 0] += start
        chunk = max(1, BLOCK // len(table))
        for begin in range(0, len(pairs), chunk):
            some = pairs[begin : begin + chunk]
            union = np.maximum(table[some[:, 0]], down[some[:, 1]])
            inside = (union @ table.T >= sizes).sum(axis=1)
            found += [(int(p), int(m)) for p, m in some[inside == 2]]
    return found


def _between(up: Ray, over: float, off: float, down: Ray, under: float, miss: float) -> Ray:
    """The mix of two rays on which the equation holds."""
    mixed: dict[int, float] = dict.fromkeys(sorted({*up.support, *down.support}), 0)
    for ray, factor in ((up, -under), (down, over)):
        for k, a in zip(ray.support, ray.weights, strict=True):
            mixed[k] += a * factor
    values = list(mixed.values())
    if all(isinstance(v, int) for v in values):
        divisor = math.gcd(*values)  # type: ignore[arg-type]
        values = [v // divisor for v in values]
    else:
        largest = max(values)
        values = [v / largest for v in values]
    error = max(up.error, down.error) + max(off, miss) * 2
    return Ray(tuple(mixed), tuple(values), error)
