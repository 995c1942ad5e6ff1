"""One round on partitions: draw, measure, sum where the edges lie; tables travel, edges do not.

Sums are formed in the blocks of :mod:`edgewise.core.evidence.cell_sums`, which run through the
partitions in their order as if these were one list. A block that a border of partitions cuts is
summed up to the border by one task and from there on by the next: the bits are those of one pass.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from edgewise.base.arrays import Array, Indices
from edgewise.cluster.engine import Engine
from edgewise.cluster.partitions.columns import Partition
from edgewise.core.design.node_laws import NodeLaws, draw_nodes
from edgewise.core.evidence.cell_sums import BLOCK, CellSums, Edges, sum_blocks
from edgewise.core.evidence.rewards import LARGEST_REWARD
from edgewise.core.evidence.statistics import CellStatistics, statistics_of
from edgewise.core.model.cells import Cells
from edgewise.errors import InvalidRewards

_FIRST_SET = np.zeros(1, np.int32)
_TOGETHER = 32
"""Partitions whose sums one task adds: a table per block each, at most some megabytes in all."""


@dataclass(frozen=True, eq=False)
class Draw:
    """The joint arm of one round, as a recipe: any worker makes any part of it."""

    n_nodes: int
    law: tuple[float, ...]
    """(K,) of all nodes."""
    seed: int
    round: int

    def arms(self, first: int, last: int) -> Indices:
        """The arms of nodes first .. last - 1, a byte each if there are at most 256 arms."""
        laws = NodeLaws.of(np.array([self.law]), _FIRST_SET)
        size, narrow = last - first, len(self.law) <= 256
        arms: Indices = np.empty(size, np.uint8) if narrow else np.empty(size, np.int32)
        draw_nodes(
            np.uint64(self.seed),
            np.uint64(self.round),
            first,
            _FIRST_SET,
            laws.support,
            laws.thresholds,
            arms,
        )
        return arms

    def joint_arm(self) -> Indices:
        """All of them; the last one is kept, so that partitions of a worker share it."""
        return _drawn(self.n_nodes, self.law, self.seed, self.round)


@lru_cache(maxsize=1)
def _drawn(n_nodes: int, law: tuple[float, ...], seed: int, number: int) -> Indices:
    arms = Draw(n_nodes, law, seed, number).arms(0, n_nodes)
    arms.setflags(write=False)
    return arms


class Share(NamedTuple):
    """What an environment gets to know of a round: one partition, and the joint arm."""

    partition: str
    """Its name."""
    number: int
    """0, 1, ... in the order of the partitions."""
    round: int
    edges: Edges
    arms: Indices
    """(n,) the joint arm: of all nodes, as edges may end anywhere."""
    rng: np.random.Generator
    """For simulations: the same whenever this partition meets this round."""


Environment: TypeAlias = Callable[[Share], ArrayLike]
"""The rewards of a partition's arcs, NaN where missing: arc by arc, an undirected edge as given
and then reversed."""


class Cut(NamedTuple):
    """The edges at the start of a partition that belong to a block begun before it."""

    edges: Edges
    arms: Indices
    """(2E,) of their ends: edge e has the ends 2e and 2e + 1."""
    rewards: Array


class Piece(NamedTuple):
    """What one partition adds to a round."""

    head: Cut | None
    head_ends: bool
    """Whether the block that was begun before ends with the head."""
    blocks: CellSums
    """(B, C, 3) those that lie inside."""
    tail: CellSums | None
    """The block that goes on in the next partition, so far."""


class Carry(NamedTuple):
    """The sums over the partitions so far."""

    total: CellSums
    begun: CellSums | None
    """A block that is not complete."""


def run_round(
    engine: Engine,
    partitions: list[Partition],
    cells: Cells,
    draw: Draw,
    environment: Environment,
) -> CellStatistics:
    """The statistics (q, P) of one round; what comes here does not depend on the edges."""
    shared = engine.share((cells, draw, environment))
    pieces = [engine.submit(piece_of, partition, shared) for partition in partitions]
    carry = engine.submit(_nothing, shared)
    for first in range(0, len(pieces), _TOGETHER):  # in order, for the bits
        carry = engine.submit(_carried_all, shared, carry, *pieces[first : first + _TOGETHER])
    found: CellSums = engine.result(engine.submit(_closed, carry))
    return statistics_of(found, cells)


def piece_of(partition: Partition, shared: tuple[Cells, Draw, Environment]) -> Piece:
    """Draw, measure and sum one partition."""
    cells, draw, environment = shared
    edges, arms = partition.edges(), draw.joint_arm()
    rng = np.random.Generator(
        np.random.SFC64(np.random.SeedSequence((draw.seed, draw.round, partition.number)))
    )
    share = Share(partition.name, partition.number, draw.round, edges, arms, rng)
    rewards = _checked(environment(share), share)
    piece = summed(edges, cells, arms, rewards, partition.first)
    if not piece.blocks.within or (piece.tail is not None and not piece.tail.within):
        _refuse_absurd(rewards, share)
    return piece


def summed(edges: Edges, cells: Cells, arms: Indices, rewards: Array, first: int) -> Piece:
    """The sums of edges of which ``first`` others come before."""
    arcs, size = 1 if edges.directed else 2, len(edges.ends)
    lead = min(-first % BLOCK, size)
    inside = _some(edges, lead, size)
    told = rewards[arcs * lead :]
    n_blocks = (size - lead) // BLOCK
    blocks = sum_blocks(inside, cells, arms, told, 0, n_blocks, limit=LARGEST_REWARD)
    tail, rest = None, n_blocks * BLOCK
    if lead + rest < size:
        left = _some(inside, rest, size - lead)
        tail = CellSums.zero(cells).with_edges(
            left, cells, arms, told[arcs * rest :], limit=LARGEST_REWARD
        )
    head = _cut(_some(edges, 0, lead), arms, rewards[: arcs * lead]) if lead else None
    return Piece(head, lead == -first % BLOCK, blocks, tail)


def _some(edges: Edges, first: int, last: int) -> Edges:
    some = slice(first, last)
    return Edges(edges.ends[some], edges.kinds[some], edges.weights[some], edges.directed)


def _cut(edges: Edges, arms: Indices, rewards: Array) -> Cut:
    """Copies, with the arms of these edges alone: it may travel."""
    places = np.arange(2 * len(edges.ends), dtype=np.int32).reshape(-1, 2)
    kinds, weights = np.array(edges.kinds), np.array(edges.weights)
    alone = Edges(places, kinds, weights, edges.directed)
    return Cut(alone, arms[edges.ends.ravel()], rewards.copy())


def _nothing(shared: tuple[Cells, Draw, Environment]) -> Carry:
    return Carry(CellSums.zero(shared[0]), None)


def _carried_all(shared: tuple[Cells, Draw, Environment], carry: Carry, *pieces: Piece) -> Carry:
    """With some more partitions."""
    for piece in pieces:
        carry = _carried(shared[0], carry, piece)
    return carry


def _carried(cells: Cells, carry: Carry, piece: Piece) -> Carry:
    """With one more partition."""
    total, begun = carry
    if piece.head is not None:
        begun = CellSums.zero(cells) if begun is None else begun
        edges, arms, rewards = piece.head
        begun = begun.with_edges(edges, cells, arms, rewards, limit=np.inf)
        if not piece.head_ends:
            return Carry(total, begun)
        total, begun = _closed(Carry(total, begun)), None
    return Carry(total.with_blocks(piece.blocks), piece.tail)


def _closed(carry: Carry) -> CellSums:
    """The block that was begun counts as one, as at the end of all edges."""
    total, begun = carry
    return total if begun is None else total.with_blocks(begun._replace(sums=begun.sums[None]))


def _checked(rewards: ArrayLike, share: Share) -> Array:
    """(m,) as numbers, or InvalidRewards with the partition's name."""
    n_arcs = len(share.edges.ends) * (1 if share.edges.directed else 2)
    try:
        values: NDArray[np.float64] = np.ascontiguousarray(rewards, float)
    except (TypeError, ValueError) as error:
        raise InvalidRewards(
            f"{share.partition}: rewards are not numbers ({error}); give {n_arcs} numbers, NaN "
            "where missing; nothing was recorded"
        ) from error
    if values.shape != (n_arcs,):
        raise InvalidRewards(
            f"{share.partition}: rewards have shape {values.shape}; one per arc is needed, "
            f"({n_arcs},), NaN where missing; nothing was recorded"
        )
    return values


def _refuse_absurd(rewards: Array, share: Share) -> None:
    bad = int(np.flatnonzero(np.abs(rewards) > LARGEST_REWARD)[0])
    raise InvalidRewards(
        f"{share.partition}: the reward of arc {bad} is {rewards[bad]}; rewards must be finite and "
        f"at most {LARGEST_REWARD:g} in size, or NaN if missing; nothing was recorded"
    )
