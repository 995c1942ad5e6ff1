"""What an allocation is worth, and what no allocation can exceed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from edgewise.allocation.instance.edge_sums import (
    Network,
    free_extremes,
    masked_extremes,
    node_extremes,
    sum_over_arcs,
)
from edgewise.allocation.instance.links import Links, links_of
from edgewise.allocation.instance.result import Allocation, meets
from edgewise.allocation.instance.tables import checked_tables, checked_unary
from edgewise.base.arrays import Array, Indices, Mask, frozen
from edgewise.errors import InvalidArgument
from edgewise.network.candidates import Candidates, checked_candidates, group_candidates
from edgewise.network.graph import Graph


@dataclass(frozen=True, eq=False)
class Objective:
    r"""The function that allocation methods maximise.

    .. math:: F(a) = \sum_{\text{arcs } (i,j)} w_{ij} \, W_{\kappa(ij)}[a_i, a_j]
              + \sum_i u_i[a_i]

    An undirected edge is two arcs, so only :math:`(W + W^\top)/2` matters there: ``tables`` are
    symmetrised for undirected graphs.
    """

    graph: Graph
    tables: Array
    """(q, K, K) reward of an arc of each kind by the arms at its two ends; (K, K): all kinds."""
    candidates: Mask | None = None
    """(n, K) arms each node may take; None when all may take all."""
    unary: Array | None = None
    """(n, K) what a node earns by its own arm, u; None when it earns nothing."""

    def __post_init__(self) -> None:
        tables = checked_tables(self.tables, self.graph.n_kinds)
        if not self.graph.directed:
            tables = 0.5 * tables + 0.5 * tables.transpose(0, 2, 1)
        object.__setattr__(self, "tables", frozen(tables, float))
        allowed = checked_candidates(self.candidates, self.graph.n_nodes, self.n_arms)
        object.__setattr__(self, "candidates", allowed)
        if self.unary is not None:
            unary = checked_unary(self.unary, self.graph.n_nodes, self.n_arms)
            object.__setattr__(self, "unary", frozen(unary, float))

    @classmethod
    def of(
        cls,
        graph: Graph,
        tables: ArrayLike,
        candidates: ArrayLike | None = None,
        unary: ArrayLike | None = None,
    ) -> Objective:
        """From anything that converts to arrays."""
        allowed = None if candidates is None else np.asarray(candidates)
        checked = checked_tables(tables, graph.n_kinds)
        own = None if unary is None else checked_unary(unary, graph.n_nodes, checked.shape[-1])
        return cls(graph, checked, allowed, own)

    @property
    def n_arms(self) -> int:
        """K."""
        return int(self.tables.shape[-1])

    @cached_property
    def network(self) -> Network:
        """The graph's arrays for compiled code."""
        return Network.of(self.graph)

    @property
    def pair_tables(self) -> Array:
        """(q, K, K) all that an edge of each kind and weight 1 earns: both arcs if undirected."""
        return self.graph.n_directions * self.tables

    @property
    def edge_tables(self) -> Array:
        """(E, K, K) all that each edge earns, by the arms of its first and second node."""
        tables: Array = self.pair_tables[self.graph.kind_of_edge]
        tables *= self.graph.weight_of_edge[:, None, None]
        return tables

    @property
    def unary_of_node(self) -> Array:
        """(n, K) what each node earns by its own arm, also when that is nothing."""
        if self.unary is None:  # takes no memory
            return np.broadcast_to(0.0, (self.graph.n_nodes, self.n_arms))
        return self.unary

    @property
    def allowed(self) -> Mask:
        """(n, K) the arms each node may take, also when these are all."""
        if self.candidates is None:  # takes no memory
            return np.broadcast_to(np.True_, (self.graph.n_nodes, self.n_arms))
        return self.candidates

    @property
    def node_tables(self) -> Array:
        """(n, K) what each node earns by its own arm, minus infinity where it may not take it."""
        return np.where(self.allowed, self.unary_of_node, -np.inf)

    @cached_property
    def responses(self) -> Array:
        """(s, q, K, K): ``[side, kind, l]`` is the reward of an edge by one's own arm, given ``l``.

        Both arcs of an undirected edge are counted and s = 1. For a directed edge s = 2: side 0
        when the node is the first of the edge, side 1 when it is the second.
        """
        if not self.graph.directed:
            return frozen(self.pair_tables[None], float)
        return frozen(np.stack([self.tables.transpose(0, 2, 1), self.tables]), float)

    @cached_property
    def rows(self) -> Array:
        """``responses`` by slot, (s * q, K, K): see :class:`Links`."""
        return frozen(self.responses.reshape(-1, self.n_arms, self.n_arms), float)

    @property
    def links(self) -> Links:
        """The graph's neighbour lists for compiled code, shared by all its objectives."""
        return links_of(self.graph)

    @property
    def node_rewards(self) -> Array:
        """``unary`` for compiled code, which reads no rows as: nodes earn nothing themselves."""
        return np.empty((0, self.n_arms)) if self.unary is None else self.unary

    @cached_property
    def grouped_candidates(self) -> Candidates:
        """Nodes by their allowed arms; a single group when all may take all."""
        return group_candidates(self.candidates, self.graph.n_nodes, self.n_arms)

    @cached_property
    def bounds(self) -> tuple[float, float]:
        """(lower, upper): every edge and node at the worst and at the best it could show."""
        if self.candidates is None:
            lower, upper = free_extremes(self.graph, self.tables)
        else:
            lower, upper = masked_extremes(self.graph, self.tables, *self.grouped_candidates)
        if self.unary is not None:
            least, most = node_extremes(self.unary, self.candidates)
            own = float(least.sum()), float(most.sum())
        else:
            own = 0.0, 0.0
        directions = self.graph.n_directions
        return directions * lower + own[0], directions * upper + own[1]

    def value(self, arms: ArrayLike) -> float:
        """F(a)."""
        joint = checked_joint_arm(arms, self.graph.n_nodes, self.n_arms)
        columns = self.graph.columns
        compact = _compact(joint, self.n_arms)
        return sum_over_arcs(*columns, self.graph.directed, self.tables, self.node_rewards, compact)

    def certify(self, arms: ArrayLike, *, method: str) -> Allocation:
        """The allocation with its value and bounds; optimal if it meets the upper bound."""
        value = self.value(arms)
        lower, upper = self.bounds
        proved = meets(value, upper)
        # rounding alone can put the value a unit in the last place outside its bounds
        lower, upper = min(lower, value), max(upper, value)
        return Allocation(np.asarray(arms), value, upper, lower, method, proved)

    def optimum(self, arms: ArrayLike, *, method: str, lower: float | None = None) -> Allocation:
        """The allocation that a method has proved to be optimal; none is worth less than lower."""
        value = self.value(arms)
        least = min(self.bounds[0] if lower is None else lower, value)
        return Allocation(np.asarray(arms), value, value, least, method, True, bound="exact")


def global_reward(
    graph: Graph, tables: ArrayLike, arms: ArrayLike, unary: ArrayLike | None = None
) -> float:
    r"""Sum of the rewards over all arcs, :math:`F(a) = \sum w_{ij} W_{\kappa(ij)}[a_i, a_j]`.

    With ``unary`` (n, K), plus what every node earns by its own arm.

    An undirected edge counts in both directions, so for Max-Cut this is twice the cut:

    >>> global_reward(Graph.circle(n_nodes=4), [[0, 1], [1, 0]], [0, 1, 0, 1])
    8.0
    """
    checked = frozen(checked_tables(tables, graph.n_kinds), float)
    n_arms = checked.shape[-1]
    joint = checked_joint_arm(arms, graph.n_nodes, n_arms)
    own = np.empty((0, n_arms)) if unary is None else checked_unary(unary, graph.n_nodes, n_arms)
    return sum_over_arcs(
        *graph.columns, graph.directed, checked, frozen(own, float), _compact(joint, n_arms)
    )


def reward_bounds(
    graph: Graph,
    tables: ArrayLike,
    candidates: ArrayLike | None = None,
    unary: ArrayLike | None = None,
) -> tuple[float, float]:
    r"""Numbers that no allocation is below or above.

    .. math:: \sum_{ij} \min_{k \in C_i, l \in C_j} w_{ij} W[k,l] \;\le\; F(a) \;\le\;
              \sum_{ij} \max_{k \in C_i, l \in C_j} w_{ij} W[k,l]

    A negative weight exchanges the two; ``unary`` adds the extremes of every node. Costs
    ``O(m)``, with candidates ``O(m K + G K^2)`` for ``G`` different sets of candidates.

    >>> reward_bounds(Graph.complete(n_nodes=3), [[0, 1], [1, 0]])
    (0.0, 6.0)
    """
    return Objective.of(graph, tables, candidates, unary).bounds


def _compact(joint: Indices, n_arms: int) -> Indices:
    """Bytes where they suffice: the arms of edges are read at random, out of the cache."""
    return frozen(joint, np.uint8) if n_arms <= 256 else joint


def checked_joint_arm(arms: ArrayLike, n_nodes: int, n_arms: int) -> Indices:
    """(n,) arm index of every node, read-only, inside ``0 .. K - 1``: safe to index with."""
    try:
        joint = np.asarray(arms)
    except ValueError as error:
        raise InvalidArgument(
            f"the joint arm cannot be read ({error}); give one integer arm index to each of the "
            f"{n_nodes} nodes"
        ) from error
    if joint.shape != (n_nodes,) or not np.issubdtype(joint.dtype, np.integer):
        raise InvalidArgument(
            f"joint arm has shape {joint.shape} and type {joint.dtype}; "
            f"give one integer arm index to each of the {n_nodes} nodes"
        )
    if joint.min() < 0 or joint.max() >= n_arms:
        raise InvalidArgument(
            f"joint arm has indices {joint.min()} .. {joint.max()}; "
            f"arms are numbered 0 .. {n_arms - 1}"
        )
    return frozen(joint, np.int64)
