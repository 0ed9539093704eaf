"""An interior point method for games given both values, which uses their sparsity, unlike a general solver.

A mechanism has a row for every pair of a public and a private value, ``W[y, x, k]``, and the adversary's gain depends
on the joint law ``J[y, k]`` alone. Its second derivative is, for every output, a diagonal less a product ``u u'``.
Therefore a Newton step comes apart into one small system for each private value, tied together by one number for each
output and one cost: it costs about as much as looking at the mechanism a few dozen times.

Distortion is counted beyond the least possible, in units of the remaining budget, so that its multiplier is at most an
adversary's total gain. The result is not certified, as for every solver here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from noisewright._typing import Floats
from noisewright.context_aware.distributions import AdversaryLoss
from noisewright.context_aware.programs import GameRows, Raw

__all__ = ["interior"]


STEPS = 300
NEAR = 1e-8
"""Distance to the bound at which the method stops."""

ROUNDED, PATIENCE = 1e-6, (6, 80)
"""Distance below which rounding may dominate, and number of steps without gain after which the method stops."""

BACK = 0.99
"""Largest share of the way to the border for a step."""

RARE = 100.0
"""Pairs that are rarer than this times the average weigh as much as that: where tiny weights meet large ones, steps are short."""

CORRECTIONS, HALVINGS = 2, 10
"""Maximum number of corrections and of shortenings of a step."""

ASTRAY = 10.0
"""Multipliers may be wrong by as much as this times the mean complementary product."""

HEAVY = 1e7
"""Weights from which on rounding matters."""


@dataclass(frozen=True)
class _Move:
    """State or step of the method: the mechanism, the remaining budget, their multipliers, a level each row."""

    w: Floats
    z: Floats
    left: float
    price: float
    level: Floats

    def moved(self, step: _Move, primal: float, dual: float) -> _Move:
        return _Move(
            self.w + primal * step.w,
            self.z + dual * step.z,
            self.left + primal * step.left,
            self.price + dual * step.price,
            self.level + dual * step.level,
        )

    def lengths(self, step: _Move) -> tuple[float, float]:
        """Return how much of the step the mechanism and the multipliers go while staying positive."""
        primal = max(float((-step.w / self.w).max()), -step.left / self.left)
        dual = max(float((-step.z / self.z).max()), -step.price / self.price)
        return min(1.0, BACK / max(primal, BACK)), min(1.0, BACK / max(dual, BACK))


def interior(rows: GameRows, budget: float, loss: AdversaryLoss) -> Raw:
    """The mechanism with which an adversary of the log or an alpha loss gains least; the budget is above the least distortion."""
    game = _Pairs(rows, budget, loss)
    here = best = game.start()
    least, idle = np.inf, 0
    with np.errstate(all="ignore"):  # where rounding is all that is left, numbers may run away; the best is kept
        for _ in range(STEPS):
            distance = game.distance(here)
            idle = 0 if distance < least else idle + 1
            if distance < least:
                best, least = here, distance
            if least < NEAR or idle > PATIENCE[least > ROUNDED] or not np.isfinite(distance):
                break
            try:
                here = game.step(here)
            except np.linalg.LinAlgError:
                break
    return game.raw(best, least < ROUNDED)


class _Pairs:
    """The rows by private value, all groups filled up to one length with rows of no mass, which never move."""

    def __init__(self, rows: GameRows, budget: float, loss: AdversaryLoss) -> None:
        assert rows.private is not None
        self.loss, self.privates = loss, rows.privates
        self.seen, private = np.unique(rows.private, return_inverse=True)  # those that have rows at all
        counts = np.bincount(private)
        order = np.argsort(private, kind="stable")
        position = np.empty(len(order), dtype=np.intp)
        position[order] = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
        self.places = (private, position)
        shape = (len(self.seen), int(counts.max()))
        self.mass = np.zeros(shape)
        self.mass[self.places] = rows.mass
        self.real = (self.mass > 0)[:, :, None]
        self.unit = budget - rows.least
        self.cost = np.ones((*shape, rows.outputs))
        self.cost[self.places] = (rows.cost - rows.cost.min(axis=1, keepdims=True)) / self.unit
        # How much the complementary products of a row weigh, for a unit of its mass.
        weights = np.maximum(rows.mass, RARE / len(rows.mass))
        self.share = np.ones((*shape, 1))
        self.share[self.places] = (weights / weights.sum() / rows.mass)[:, None]

    def joint(self, w: Floats) -> Floats:
        return np.asarray(np.einsum("yx,yxk->yk", self.mass, w))

    def spent(self, w: Floats) -> float:
        return float(np.einsum("yx,yxk,yxk->", self.mass, w, self.cost))

    def gains(self, joint: Floats) -> Floats:
        """Return the best adversary's gain in each cell: the first derivative."""
        if self.loss.is_log:
            return np.asarray(np.log(joint / joint.sum(axis=0)))
        return np.asarray((joint / self._norm(joint)) ** (self.loss.order - 1))

    def curvature(self, joint: Floats) -> tuple[Floats, Floats, Floats]:
        """``d``, ``u`` and ``u^2 / d``, which adds up to one, of the second derivative ``diag(d) - u u'`` for each output."""
        if self.loss.is_log:
            whole = joint.sum(axis=0)
            return 1 / joint, np.broadcast_to(whole**-0.5, joint.shape), joint / whole
        order, norm = self.loss.order, self._norm(joint)
        p = joint / norm
        return (order - 1) / norm * p ** (order - 2), np.sqrt((order - 1) / norm) * p ** (order - 1), p**order

    def _norm(self, joint: Floats) -> Floats:
        top = joint.max(axis=0)
        return np.asarray(top * ((joint / top) ** self.loss.order).sum(axis=0) ** (1 / self.loss.order))

    def raw(self, here: _Move, finished: bool) -> Raw:
        w = here.w / here.w.sum(axis=2, keepdims=True)
        joint = self.joint(w)
        beliefs = np.zeros((self.privates, joint.shape[1]))
        beliefs[self.seen] = self.loss.best_response(joint / joint.sum())
        return Raw(w[self.places], beliefs, max(0.0, here.price / self.unit), finished)

    def distance(self, here: _Move) -> float:
        """Return how far this mechanism, with rows that add up to one, is from the bound of its own adversary at this cost."""
        w = here.w / here.w.sum(axis=2, keepdims=True)
        terms = self.gains(self.joint(w))[:, None, :] + here.price * self.cost
        above = terms - terms.min(axis=2, keepdims=True)
        return float(np.einsum("yx,yxk,yxk->", self.mass, above, w)) + here.price * abs(1 - self.spent(w))

    def products(self, here: _Move) -> float:
        """The mean complementary product."""
        whole = float(np.einsum("yx,yxk,yxk->", self.mass, here.w, here.z)) + here.left * here.price
        return whole / (self.cost.shape[2] + 1)

    def start(self) -> _Move:
        """The centre of all mechanisms within the budget, with multipliers as large as what an adversary could gain."""

        def centre(price: float) -> tuple[Floats, Floats, float]:
            """The mechanism ``1 / (price cost + level)``; its levels by Newton's method, which comes from below."""
            costs = price * self.cost / self.share
            level = np.ones((*self.mass.shape, 1))
            for _ in range(60):
                w = 1 / (costs + level)
                step = (w.sum(axis=2, keepdims=True) - 1) / (w**2).sum(axis=2, keepdims=True)
                level = level + step
                if float(step.max()) < 1e-9:
                    break
            w = 1 / (costs + level)
            w /= w.sum(axis=2, keepdims=True)
            return w, level, 1 - self.spent(w)

        price = 1.0
        w, level, left = centre(price)
        while left * price < 1:
            price *= 2
            w, level, left = centre(price)
        gains = self.gains(self.joint(w))
        mean = max(1e-3, float(np.abs(gains - gains.mean(axis=1, keepdims=True)).max())) / self.cost.shape[2]
        return _Move(w, mean * self.share / w, left, mean / left, (mean * self.share * level)[:, :, 0])

    def step(self, here: _Move) -> _Move:
        """A Newton step to a smaller mean product, with corrections where single products would be far from it."""
        joint = self.joint(here.w)
        newton = _Newton(self, here, joint)
        dual = self.residual(here)
        mean, products, product = self.products(here), here.w * here.z, here.left * here.price
        ahead = min(here.lengths(newton.solve(dual, -products, -product)))
        # As far ahead as a step goes, but not while multipliers are more wrong than products are large.
        wrong = self.wrong(here)
        aim = mean * max((1 - ahead) ** 2 / 2, 0.2 if wrong > mean else 1e-4)
        goal, last = aim * self.share, aim
        right, end = goal - products, last - product
        step = newton.solve(dual, right, end)
        length = min(here.lengths(step))
        for _ in range(CORRECTIONS):
            tried = here.moved(step, *[min(1.0, 1.5 * length + 0.1)] * 2)
            made, ended = tried.w * tried.z, tried.left * tried.price
            right = right + np.maximum(np.clip(made, goal / 10, 10 * goal) - made, -10 * goal)
            end += max(min(max(ended, last / 10), 10 * last) - ended, -10 * last)
            other = newton.solve(dual, right, end)
            if min(here.lengths(other)) < 1.01 * length:
                break
            step, length = other, min(here.lengths(other))
        lengths = here.lengths(step)
        for _ in range(HALVINGS):  # a gain is not linear: where a step would lead astray, it is shorter
            there = here.moved(step, *lengths)
            if self.wrong(there) <= max(wrong * (1 - min(lengths) / 10), ASTRAY * self.products(there)):
                break
            lengths = (min(lengths) / 2, min(lengths) / 2)
        return there

    def residual(self, here: _Move) -> Floats:
        """Return how far the multipliers are from this mechanism's multipliers."""
        gains = self.gains(self.joint(here.w))
        return np.asarray(gains[:, None, :] + here.price * self.cost + here.level[:, :, None] - here.z)

    def wrong(self, here: _Move) -> float:
        """Return the mean of that over outputs."""
        return float(np.einsum("yx,yxk,yxk->", self.mass, here.w, np.abs(self.residual(here))))


class _Newton:
    """The system of one Newton step, taken apart: pairs first, then cells, then the levels of the pairs, outputs and
    cost.

    Near the end a cell is made by few pairs, whose weights are huge. Differences between a pair and all of its cell are
    then sums over the other pairs, which lose nothing.
    """

    def __init__(self, game: _Pairs, s: _Move, joint: Floats) -> None:
        self.game, self.s = game, s
        self.d, self.u, shares = game.curvature(joint)
        self.root = np.sqrt(game.mass)
        self.theta = np.where(game.real, s.w / s.z, 0.0)
        self.weights = game.mass[:, :, None] * self.theta
        self.heavy = float(self.theta.max()) > HEAVY
        cells = self.weights.sum(axis=1)
        self.other = _others(self.weights) if self.heavy else cells[:, None, :] - self.weights
        self.damped = 1 / (1 + cells * self.d)
        self.half = self.root[:, :, None] * self.theta
        self.costs = self.apart(game.cost)
        y, x, k = self.theta.shape
        # The levels: for every private value a system whose rows are dominated by their diagonal.
        system = -(self.half * (self.d * self.damped)[:, None, :]) @ self.half.transpose(0, 2, 1)
        own = (1 + self.other * self.d[:, None, :]) * self.damped[:, None, :]
        place = np.arange(x)
        system[:, place, place] = np.where(game.real[:, :, 0], (self.theta * own).sum(axis=2), 1.0)
        self.scale = 1 / np.sqrt(system[:, place, place])
        system *= self.scale[:, :, None] * self.scale[:, None, :]
        # Its border: a number for each output, and the cost.
        self.border = np.empty((y, x, k + 1))
        self.border[:, :, :k] = -self.half * (self.u * self.damped)[:, None, :]
        self.border[:, :, k] = (self.half * self.costs).sum(axis=2)
        self.border *= self.scale[:, :, None]
        self.inverse = np.linalg.inv(system)
        self.answers = self.inverse @ self.border
        spent = (self.weights * game.cost).sum(axis=1)
        corner = np.diag(np.append(-(shares * self.damped).sum(axis=0), s.left / s.price))
        corner[k, :k] = corner[:k, k] = -(spent * self.u * self.damped).sum(axis=0)
        corner[k, k] += float((self.weights * game.cost * self.costs).sum())
        self.ties = corner - (self.border.transpose(0, 2, 1) @ self.answers).sum(axis=0)

    def apart(self, values: Floats) -> Floats:
        """Each pair's value less its cell's answer to all of them."""
        weighted = self.weights * values
        if not self.heavy:
            return np.asarray(values - (self.d * self.damped * weighted.sum(axis=1))[:, None, :])
        more = self.other * values - _others(weighted)
        return np.asarray((values + self.d[:, None, :] * more) * self.damped[:, None, :])

    def solve(self, dual: Floats, products: Floats, product: float) -> _Move:
        """The step for these residuals: of the multipliers, and of the complementary products."""
        s = self.s
        short, room = 1 - s.w.sum(axis=2), 1 - self.game.spent(s.w) - s.left - product / s.price
        w, price, level = self.back(products / s.w - dual, short, room)
        if self.heavy:
            # Rounding is multiplied by the weights, and shows in the sums at once: their residual is a system of its
            # own.
            over = room - self.game.spent(w) + s.left / s.price * price
            more = self.back(None, short - w.sum(axis=2), over)
            w, price, level = w + more[0], price + more[1], level + more[2]
        z = np.where(self.game.real, (products - s.z * w) / s.w, 0.0)
        return _Move(w, z, (product - s.left * price) / s.price, price, level)

    def back(self, pull: Floats | None, short: Floats, room: float) -> tuple[Floats, float, Floats]:
        """Moves of the mechanism, of the cost and of the levels that answer to a pull, and fill up sums and budget."""
        k = self.theta.shape[2]
        right, ends = -self.root * short, np.zeros(k + 1)
        ends[k] = -room
        if pull is not None:
            right += (self.half * self.apart(pull)).sum(axis=2)
            ends[:k] -= (self.u * self.damped * (self.weights * pull).sum(axis=1)).sum(axis=0)
            ends[k] += float((self.weights * pull * self.costs).sum())
        own = (self.inverse @ (right * self.scale)[:, :, None])[:, :, 0]
        tied = np.linalg.solve(self.ties, ends - np.einsum("yxk,yx->k", self.border, own))
        level = (own - self.answers @ tied) * self.scale / np.where(self.root > 0, self.root, np.inf)
        answer = -tied[k] * self.game.cost - level[:, :, None]
        moved = self.apart(answer if pull is None else pull + answer)
        return self.theta * (moved + (self.u * self.damped * tied[:k])[:, None, :]), float(tied[k]), level


def _others(values: Floats) -> Floats:
    """Return for each pair the sum over the other pairs of its private value."""
    found = np.zeros_like(values)
    np.cumsum(values[:, :-1], axis=1, out=found[:, 1:])
    found[:, :-1] += np.cumsum(values[:, :0:-1], axis=1)[:, ::-1]
    return found
