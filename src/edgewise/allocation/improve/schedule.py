"""How hot annealing starts, how cold it ends and how many sweeps it is given."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from edgewise.allocation.instance.objective import Objective
from edgewise.base.arrays import Array, Indices

_WORK = 1.2e9
"""Additions of a default run: about two seconds where that limits it."""
_FEWEST, _MOST = 30, 10_000
"""Sweeps of a default run on the largest and on the smallest graphs."""
_LAP = 60
"""Sweeps of the shortest lap; small problems gain more from many laps than from long ones."""
_LIMITED = 1 << 22
"""Sweeps of a run that only a time limit ends."""
_CHUNK = 2e7
"""Additions between two looks at the clock: some 20 ms."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """Temperatures in units of F, lengths in sweeps over all nodes."""

    hot: float
    """Where a fresh run begins: most moves are accepted."""
    cold: float
    """Where every run ends: the last moves are worth a fraction of one edge."""
    first: int
    """Sweeps of the fresh run."""
    total: int
    """Sweeps of all runs."""
    chunk: int
    """Sweeps between two looks at the clock."""

    @classmethod
    def of(cls, objective: Objective, arms: Indices, *, limited: bool) -> Schedule:
        r"""From the spread of what one link and what all links of a node can change.

        With :math:`s_e` the standard deviation of the reward of link e, its two arms drawn as
        often as ``arms`` has them, an edge weighs :math:`s = \mathrm{rms}_e(s_e)` and a field
        varies by :math:`S = (\tfrac1n\sum_e s_e^2)^{1/2} \approx s \sqrt{\deg}`, the scale of
        the glass temperature of random graphs; with more arms in use (bits of entropy) the best
        two of a field are closer.
        """
        links, n, K = len(objective.links.neighbours), len(arms), objective.n_arms
        law = 0.9 * np.bincount(arms, minlength=K) / n + 0.1 / K
        square = _squares(objective, law)
        hot = heat(square, n, law)
        cold = min(0.25 * math.sqrt(square / links) / _choices(law), hot)
        work = (4.0 * n + links) * K
        total = int(min(_MOST, max(_FEWEST, _WORK / work)))
        first = max(_FEWEST, total // 4)
        chunk = max(1, int(_CHUNK / work))
        return cls(hot, cold, first, _LIMITED if limited else total, chunk)

    def lap(self, number: int) -> int:
        """Sweeps of the ``number``-th reheat, from 1.

        Lengths follow the sequence of Luby, Sinclair and Zuckerman (1993), within a factor of
        the best fixed length whatever that is.
        """
        return max(_FEWEST // 2, min(_LAP, self.first // 4)) * luby(number)


@dataclass(slots=True)
class Reheating:
    """How hot to reheat: a guess for each lap, drawn nearer to those that paid.

    The temperature at which an allocation is shaken but not forgotten differs between tables by
    a factor of ten, and no formula for it is known.
    """

    hot: float
    _centre: float = math.log(0.3)
    _width: float = 0.3

    def propose(self, number: int, rng: np.random.Generator) -> float:
        """A temperature for the ``number``-th lap; every eighth lap forgets."""
        if number % 8 == 0:
            return self.hot
        guess = rng.normal(self._centre, self._width)
        return self.hot * math.exp(min(max(guess, math.log(0.02)), 0.0))

    def learn(self, temperature: float, *, gained: bool) -> None:
        """Move towards a temperature that paid."""
        if gained:
            self._centre += 0.3 * (math.log(temperature / self.hot) - self._centre)


def luby(number: int) -> int:
    """1 1 2 1 1 2 4 1 1 2 1 1 2 4 8 ...: the ``number``-th term, from 1.

    >>> [luby(i) for i in range(1, 16)]
    [1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1, 2, 4, 8]
    """
    bits = number.bit_length()
    if number == (1 << bits) - 1:
        return 1 << (bits - 1)
    return luby(number - (1 << (bits - 1)) + 1)


def heat(square: float, n_nodes: int, law: Array) -> float:
    """Where most moves are accepted; ``square`` is the sum of :math:`s_e^2` over the links."""
    return 1.2 * math.sqrt(square / n_nodes) / _choices(law)


def _choices(law: Array) -> float:
    """Bits of entropy of a law (K,), at least one."""
    return max(1.0, float(-(law * np.log2(law)).sum()))


def variances(rows: Array, law: Array) -> Array:
    """(slots,) variance of what a link brings, its two arms drawn from a law (K,)."""
    mean = np.einsum("slk,l,k->s", rows, law, law)
    return np.asarray(np.einsum("slk,l,k->s", (rows - mean[:, None, None]) ** 2, law, law))


def _squares(objective: Objective, law: Array) -> float:
    """Sum over links of the squared weight times the variance of its reward."""
    links, rows = objective.links, objective.rows
    variance = variances(rows, law)
    each: Array = variance[links.slots] if len(links.slots) else variance
    if len(links.weights):
        return float((links.weights**2 * each).sum())
    return float(each.sum() if len(links.slots) else each[0] * len(links.neighbours))
