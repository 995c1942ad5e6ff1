"""Drawing joint arms as a pure function of (seed, round, node).

No generator is shared or advanced, so any process can compute any node's arm on its own, and a
graph may be split in any way without changing the result. The random words come from the
counter-based generator Philox4x32-10 [1]_: key = seed, counter = (node pair, 0, round).

.. [1] Salmon, Moraes, Dror, Shaw (2011), Parallel random numbers: as easy as 1, 2, 3.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from edgewise.base.arrays import Array, Indices, as_floats, frozen
from edgewise.base.compiled import compiled
from edgewise.base.threads import share
from edgewise.errors import InvalidArgument

_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_MULTIPLIER_0 = np.uint64(0xD2511F53)
_MULTIPLIER_1 = np.uint64(0xCD9E8D57)
_WEYL_0 = np.uint64(0x9E3779B9)
_WEYL_1 = np.uint64(0xBB67AE85)

_SHORT = 16
"""Up to this many thresholds, comparing with all beats a binary search: no branch to mispredict."""

_PIECE = 1 << 17
"""Nodes that a thread draws in one go."""


@dataclass(frozen=True, eq=False)
class NodeLaws:
    """Independent nodes: each draws its arm from the law of its candidate set, every round."""

    weights: Array
    """(C, K) the law of each candidate set."""
    set_of: Indices
    """(n,) the candidate set of each node."""
    support: Indices
    """(C, s) the arms each law can draw."""
    thresholds: NDArray[np.uint64]
    """(C, s) cumulative laws in units of 2^-64; an arm is drawn if the random word is below."""

    @classmethod
    def of(cls, weights: Array, set_of: Indices) -> NodeLaws:
        """Laws from their weights (C, K), each row summing to 1."""
        table = np.atleast_2d(weights)
        sizes = (table > 0).sum(axis=1)
        support = np.zeros((len(table), int(sizes.max())), np.int32)
        thresholds = np.full(support.shape, np.iinfo(np.uint64).max, np.uint64)
        for row, law in enumerate(table):
            arms = np.flatnonzero(law > 0)
            support[row, : len(arms)] = arms
            support[row, len(arms) :] = arms[-1]
            below = np.cumsum(law[arms])[:-1] / law[arms].sum()
            # a last arm of weight below 2^-53 leaves 1.0 here, and 2^64 does not fit in 64 bits
            below = np.minimum(below, np.nextafter(1.0, 0.0))
            thresholds[row, : len(arms) - 1] = np.ldexp(below, 64).astype(np.uint64)
        return cls(
            frozen(table, float),
            frozen(set_of, np.int32),
            frozen(support, np.int32),
            frozen(thresholds, np.uint64),
        )

    def reweighted(self, weights: ArrayLike) -> NodeLaws:
        """The same nodes with other laws (S, K); InvalidArgument if they are none."""
        laws = as_floats("laws", weights, InvalidArgument, "give a law per set of candidates")
        if laws.shape != self.weights.shape or not (np.isfinite(laws) & (laws >= 0.0)).all():
            raise InvalidArgument(
                f"laws have shape {laws.shape}; they must be {self.weights.shape}, finite and at "
                "least 0"
            )
        if not (laws.sum(axis=1) > 0.0).all():
            raise InvalidArgument("laws give no arm any weight; every law needs one that it draws")
        return NodeLaws.of(laws, self.set_of)

    def draw(self, *, seed: int, round: int, start: int = 0, stop: int | None = None) -> Indices:  # noqa: A002
        """The arms of nodes ``start .. stop - 1`` (default: all) in one round."""
        stop = len(self.set_of) if stop is None else stop
        arms = np.empty(stop - start, np.int32)

        def work(first: int, last: int) -> None:
            draw_nodes(
                np.uint64(seed),
                np.uint64(round),
                start + first,
                self.set_of,
                self.support,
                self.thresholds,
                arms[first:last],
            )

        list(share(work, len(arms), at_once=_PIECE))
        arms.setflags(write=False)
        return arms


@compiled
def philox(
    counter_0: np.uint64,
    counter_1: np.uint64,
    counter_2: np.uint64,
    counter_3: np.uint64,
    key: np.uint64,
) -> tuple[np.uint64, np.uint64, np.uint64, np.uint64]:
    """Philox4x32-10: four random 32-bit words from a 128-bit counter and a 64-bit key."""
    key_0 = key & _LOW
    key_1 = key >> _HALF
    for _ in range(10):
        product_0 = _MULTIPLIER_0 * counter_0
        product_1 = _MULTIPLIER_1 * counter_2
        counter_0 = (product_1 >> _HALF) ^ counter_1 ^ key_0
        counter_1 = product_1 & _LOW
        counter_2 = (product_0 >> _HALF) ^ counter_3 ^ key_1
        counter_3 = product_0 & _LOW
        key_0 = (key_0 + _WEYL_0) & _LOW
        key_1 = (key_1 + _WEYL_1) & _LOW
    return counter_0, counter_1, counter_2, counter_3


@compiled
def draw_nodes(
    seed: np.uint64,
    round_: np.uint64,
    start: int,
    set_of: Indices,
    support: Indices,
    thresholds: NDArray[np.uint64],
    arms: Indices,
) -> None:
    """Fill ``arms`` with the arms of nodes start, start + 1, ...

    One counter gives two 64-bit words: nodes 2b and 2b + 1 share the counter of block b.
    """
    round_low, round_high = round_ & _LOW, round_ >> _HALF
    stop = start + len(arms)
    alike = len(support) == 1
    for block in range(start // 2, (stop + 1) // 2):
        w0, w1, w2, w3 = philox(np.uint64(block), np.uint64(0), round_low, round_high, seed)
        node = 2 * block
        if node >= start:
            law = 0 if alike else set_of[node]
            arms[node - start] = support[law, _position(thresholds[law], w0 | (w1 << _HALF))]
        node += 1
        if node < stop:
            law = 0 if alike else set_of[node]
            arms[node - start] = support[law, _position(thresholds[law], w2 | (w3 << _HALF))]


@compiled
def _position(thresholds: NDArray[np.uint64], word: np.uint64) -> int:
    """How many thresholds the word has passed, the last one excepted."""
    last = len(thresholds) - 1
    if last <= _SHORT:
        passed = 0
        for i in range(last):
            passed += word >= thresholds[i]
        return passed
    low, high = 0, last
    while low < high:
        middle = (low + high) // 2
        if word < thresholds[middle]:
            high = middle
        else:
            low = middle + 1
    return low
