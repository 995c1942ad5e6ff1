"""The graph: who interacts with whom, in which direction, how strongly, and of which kind."""

from __future__ import annotations

import math
import warnings
from collections.abc import Hashable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from edgewise.base.arrays import Array, Indices, frozen, stays_frozen
from edgewise.base.border import border
from edgewise.base.html import ring, summary
from edgewise.base.wording import harmless, shown
from edgewise.errors import InvalidGraph, IsolatedNodes
from edgewise.network.conversions import (
    networkx_graph,
    networkx_parts,
    pandas_parts,
    scipy_parts,
)
from edgewise.network.covariates import checked_covariates, named_columns
from edgewise.network.graph_checks import (
    checked_edges,
    checked_kinds,
    checked_labels,
    checked_weights,
    edge_array,
    family_size,
    given_weights,
    kind_codes,
    reject_duplicates,
)

if TYPE_CHECKING:
    from edgewise.network.adjacency import Adjacency

_NO_KINDS = frozen([], np.int32)
_NO_WEIGHTS = frozen([], float)


_DRAWN = 60
"""Nodes up to which a notebook shows a drawing."""


@stays_frozen
@border(error=InvalidGraph)
@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """Nodes and the interactions between them.

    Build one with :meth:`from_edges`, :meth:`from_pandas`, :meth:`from_networkx`,
    :meth:`from_scipy` or a named family.

    An undirected interaction is observed in both directions, a directed one only from its first
    node to its second. ``n_arcs`` counts observed directions, the paper's ``m`` (the families
    take it as ``n_edges``, the paper's word).

    >>> Graph.circle(n_edges=156)
    Graph(n_nodes=78, n_arcs=156)
    >>> Graph.from_edges([("north", "hub"), ("south", "hub")]).labels
    ('north', 'hub', 'south')
    """

    n_nodes: int
    edges: Indices
    """(E, 2): each interaction once."""
    directed: bool = False
    kinds: Indices | None = None
    """(E,) kind of each interaction, ``0 .. n_kinds - 1``; None when there is one kind."""
    weights: Array | None = None
    """(E,) known strength of each interaction; None when all are 1."""
    node_labels: tuple[Hashable, ...] | None = None
    kind_labels: tuple[Hashable, ...] | None = None
    covariates: Array | None = None
    """(E, k) known numbers of each edge (distance, angle, load), on which its matrix depends:
    that of its kind plus their sum of one matrix each; None when there are none."""
    covariate_names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        set_field = object.__setattr__
        set_field(self, "edges", frozen(checked_edges(self.edges, self.n_nodes), np.int32))
        set_field(self, "n_nodes", int(self.n_nodes))
        if self.kinds is not None:
            set_field(self, "kinds", frozen(checked_kinds(self.kinds, len(self.edges)), np.int32))
        if self.weights is not None:
            set_field(
                self, "weights", frozen(checked_weights(self.weights, len(self.edges)), float)
            )
        if self.covariates is not None:
            found = checked_covariates(self.covariates, self.covariate_names, self.kind_of_edge)
            set_field(self, "covariates", frozen(found.values, float))
            set_field(self, "covariate_names", found.names)
        if self.node_labels is not None:
            set_field(self, "node_labels", checked_labels(self.node_labels, self.n_nodes))
        if self.kind_labels is not None and len(self.kind_labels) != self.n_kinds:
            raise InvalidGraph(
                f"{len(self.kind_labels)} labels for {self.n_kinds} edge kind(s); give one each"
            )
        reject_duplicates(self.edges, self.directed, self.labels)
        if len(self.isolated):
            some = ", ".join(str(self.labels[i]) for i in self.isolated[:5])
            warnings.warn(
                f"{len(self.isolated)} of {self.n_nodes} nodes have no edge ({some}"
                f"{', ...' if len(self.isolated) > 5 else ''}): they get an arm, "
                "but no reward depends on it",
                IsolatedNodes,
                stacklevel=3,
            )

    @property
    def n_arcs(self) -> int:
        """m: the number of observed directions; an undirected interaction counts twice."""
        return self.n_interactions * self.n_directions

    @property
    def n_interactions(self) -> int:
        """E: the number of edges, whatever their directions."""
        return len(self.edges)

    @property
    def n_directions(self) -> int:
        """How many arcs an edge has: 2 if observed in both directions."""
        return 1 if self.directed else 2

    @cached_property
    def n_kinds(self) -> int:
        """How many kinds of edges, each with its own matrix."""
        return 1 if self.kinds is None else int(self.kinds.max()) + 1

    @cached_property
    def kind_of_edge(self) -> Indices:
        """(E,) kind of each edge, also when there is only one."""
        if self.kinds is None:  # takes no memory
            return np.broadcast_to(np.int64(0), len(self.edges))
        return frozen(self.kinds, np.int64)

    @property
    def weight_of_edge(self) -> Array:
        """(E,) weight of each edge, also when all are 1."""
        return np.broadcast_to(1.0, len(self.edges)) if self.weights is None else self.weights

    @property
    def has_negative_weights(self) -> bool:
        """Whether some edge turns a good pair of arms into a bad one."""
        return self.weights is not None and bool((self.weights < 0).any())

    @property
    def is_at_hand(self) -> bool:
        """Whether the edges are in this process: not where they lie in partitions."""
        return True

    @property
    def total_weight(self) -> float:
        """Sum of the weights of all arcs: m if there are none."""
        return float(self.n_directions * self.weight_of_edge.sum())

    @property
    def content(self) -> tuple[NDArray[Any] | None, ...]:
        """What tells the graph from others of its size: edges, kinds and weights."""
        return self.edges, self.kinds, self.weights

    def meetings(self, groups: Indices, n_groups: int) -> tuple[Any, ...]:
        """Per kind, (S, S) sparse: squared weights of the arcs from each group of nodes to each.

        ``groups`` (n,) is the group of every node.
        """
        from scipy.sparse import coo_array

        weights, kinds, ends = self.weight_of_edge**2, self.kind_of_edge, groups[self.edges]
        found = []
        for kind in range(self.n_kinds):
            here = kinds == kind
            pairs = (ends[here, 0], ends[here, 1])
            table = coo_array((weights[here], pairs), shape=(n_groups, n_groups)).tocsr()
            found.append(table if self.directed else (table + table.T).tocsr())
        return tuple(found)

    def shows(self, pairs: Indices, arms: Indices) -> bool:
        """Whether under the joint arm (n,) every edge shows the pair of arms (q, 2) of its kind."""
        shown, wanted = arms[self.edges], pairs[self.kind_of_edge]
        if not self.directed:
            shown, wanted = np.sort(shown, axis=1), np.sort(wanted, axis=1)
        return bool((shown == wanted).all())

    @property
    def is_uniform(self) -> bool:
        """One kind, both directions, no negative weight: one table serves every edge."""
        return not (self.directed or self.n_kinds > 1 or self.has_negative_weights)

    @property
    def labels(self) -> Sequence[Hashable]:
        """The user's name of every node; its index when no names were given."""
        return range(self.n_nodes) if self.node_labels is None else self.node_labels

    @cached_property
    def degrees(self) -> Indices:
        """(n,) number of interactions of each node."""
        counts = np.bincount(self.edges.ravel(), minlength=self.n_nodes)
        return frozen(counts, np.int64)

    @property
    def isolated(self) -> Indices:
        """Indices of the nodes without any edge."""
        return np.flatnonzero(self.degrees == 0)

    @cached_property
    def arcs(self) -> Indices:
        """(m, 2): every observed direction; rewards come in this order.

        Directed: the edges. Undirected: arcs ``2e`` and ``2e + 1`` are edge ``e`` as given and
        reversed.
        """
        if self.directed:
            return self.edges
        both = np.stack([self.edges, self.edges[:, ::-1]], axis=1)
        return frozen(both.reshape(-1, 2), np.int32)

    @property
    def columns(self) -> tuple[Indices, Indices, Array]:
        """Edges, kinds and weights for compiled code, which reads empty arrays as: all 0, all 1."""
        kinds = _NO_KINDS if self.kinds is None else self.kinds
        weights = _NO_WEIGHTS if self.weights is None else self.weights
        return self.edges, kinds, weights

    @cached_property
    def adjacency(self) -> Adjacency:
        """Neighbours of every node in compressed rows, built once."""
        from edgewise.network.adjacency import Adjacency

        return Adjacency.of(self.edges, self.degrees)

    def with_kinds(self, kinds: Indices) -> Graph:
        """The same interactions with other kinds (E,); nothing is checked again."""
        return self._changed(kinds=frozen(kinds, np.int32), kind_labels=None)

    def with_weights(self, weights: Array) -> Graph:
        """The same interactions with other weights (E,); nothing is checked again."""
        return self._changed(weights=frozen(weights, float))

    def edge_by_edge(self) -> Graph:
        """Every edge once, from its first node to its second, as a kind of its own.

        For tables per edge that hold what both directions bring; nothing is checked again.
        """
        alone = frozen(np.arange(len(self.edges)), np.int32)
        return self._changed(kinds=alone, kind_labels=None, directed=True)

    def _changed(self, **fields: Any) -> Graph:
        """A copy with other fields, and without what was derived from those that may change."""
        other = copy(self)
        for derived in ("n_kinds", "kind_of_edge", "arcs"):
            other.__dict__.pop(derived, None)
        other.__dict__.update(fields)
        return other

    def _repr_html_(self) -> str:
        """For notebooks; small graphs are drawn."""
        if self.n_nodes > _DRAWN:
            return summary(repr(self), ())
        ends = [(int(i), int(j)) for i, j in self.edges]
        return summary(repr(self), ()) + ring(
            self.n_nodes, ends, [str(label) for label in self.labels]
        )

    def __repr__(self) -> str:
        parts = [f"n_nodes={self.n_nodes}", f"n_arcs={self.n_arcs}"]
        if self.directed:
            parts.append("directed=True")
        if self.n_kinds > 1:
            parts.append(f"n_kinds={self.n_kinds}")
        if self.weights is not None:
            parts.append("weighted")
        if self.covariate_names is not None:
            parts.append(f"covariates={harmless(', '.join(self.covariate_names))}")
        return f"Graph({', '.join(parts)})"

    @classmethod
    @border(error=InvalidGraph)
    def from_edges(
        cls,
        pairs: ArrayLike | Iterable[tuple[Hashable, Hashable]],
        *,
        n_nodes: int | None = None,
        directed: bool = False,
        kinds: ArrayLike | Sequence[Hashable] | None = None,
        weights: ArrayLike | None = None,
        labels: Sequence[Hashable] | None = None,
        covariates: ArrayLike | Mapping[str, ArrayLike] | None = None,
    ) -> Graph:
        """A graph from a list of pairs, each interaction once.

        Parameters
        ----------
        pairs
            (E, 2) node indices, or pairs of node labels (any hashables that are not integers).
        n_nodes
            Number of nodes; by default the largest index plus one, or the number of labels.
        directed
            False: every pair is observed in both directions. True: only as given.
        kinds
            (E,) kind of each edge: ``0 .. q - 1``, or labels of any other type.
        weights
            (E,) known strength of each edge, ``r = w x_i' M x_j + noise``; any sign, not zero.
        labels
            Names of the nodes, in index order.
        covariates
            Known numbers of each edge, (E, k), or a column (E,) by name (a data frame will do):
            the matrix of an edge is that of its kind plus the sum of its numbers times a matrix
            each. Constant columns are refused: the kind has them.
        """
        _require_lists(pairs=pairs, kinds=kinds)
        edges, inferred = edge_array(pairs, labels)
        names = inferred if labels is None else tuple(labels)
        if n_nodes is None:
            largest = int(edges.max()) + 1 if edges.size else 0
            n_nodes = len(names) if names is not None else largest
        codes, kind_labels = (None, None) if kinds is None else kind_codes(kinds)
        columns = named_columns(covariates)
        return cls(
            n_nodes, edges, directed, codes, given_weights(weights), names, kind_labels, *columns
        )

    @classmethod
    def from_networkx(
        cls,
        graph: Any,
        *,
        kind: str | None = "kind",
        weight: str | None = "weight",
        covariates: Sequence[str] = (),
    ) -> Graph:
        """A graph from a ``networkx.Graph`` or ``DiGraph``; its nodes become the labels.

        Edge attributes named ``kind`` and ``weight`` are used when every edge has them, those
        named as ``covariates`` must be there.
        """
        return cls.from_edges(**networkx_parts(graph, kind, weight, covariates))

    @classmethod
    def from_pandas(
        cls,
        frame: Any,
        *,
        source: str = "source",
        target: str = "target",
        kind: str | None = "kind",
        weight: str | None = "weight",
        covariates: Sequence[str] = (),
        directed: bool = False,
        nodes: Sequence[Hashable] | None = None,
    ) -> Graph:
        """A graph from a data frame with a row per edge; what its ends are called are the labels.

        The columns ``kind`` and ``weight`` are used if they are there, ``source``, ``target`` and
        ``covariates`` must be. Nodes are in the order of ``nodes``, which may name some that no
        edge has; by default in the order in which they appear, row by row.
        """
        return cls.from_edges(
            **pandas_parts(frame, (source, target), kind, weight, covariates, nodes),
            directed=directed,
        )

    @classmethod
    def from_scipy(
        cls, matrix: Any, *, directed: bool = False, labels: Sequence[Hashable] | None = None
    ) -> Graph:
        """A graph from a square sparse adjacency matrix; values other than 1 become weights.

        Undirected (the default) needs a symmetric matrix.
        """
        return cls.from_edges(**scipy_parts(matrix, directed), directed=directed, labels=labels)

    def to_networkx(self) -> Any:
        """A ``networkx.Graph`` or ``DiGraph`` with the labels as nodes, all numbers kept."""
        return networkx_graph(self)

    @classmethod
    @border(error=InvalidGraph)
    def star(cls, *, n_edges: int | None = None, n_nodes: int | None = None) -> Graph:
        """One centre (node 0) joined to every other node: ``m = 2 (n - 1)``."""
        n = family_size("star", 2, lambda n: 2 * (n - 1), lambda m: m // 2 + 1, n_edges, n_nodes)
        return cls(n, np.column_stack([np.zeros(n - 1), np.arange(1, n)]).astype(np.int32))

    @classmethod
    @border(error=InvalidGraph)
    def complete(cls, *, n_edges: int | None = None, n_nodes: int | None = None) -> Graph:
        """Every node joined to every other: ``m = n (n - 1)``."""
        n = family_size(
            "complete",
            2,
            lambda n: n * (n - 1),
            lambda m: (1 + math.isqrt(4 * max(m, 0) + 1)) // 2,
            n_edges,
            n_nodes,
        )
        return cls(n, np.column_stack(np.triu_indices(n, k=1)).astype(np.int32))

    @classmethod
    @border(error=InvalidGraph)
    def circle(cls, *, n_edges: int | None = None, n_nodes: int | None = None) -> Graph:
        """Every node joined to the next, the last to the first: ``m = 2 n``."""
        n = family_size("circle", 3, lambda n: 2 * n, lambda m: m // 2, n_edges, n_nodes)
        nodes = np.arange(n)
        return cls(n, np.column_stack([nodes, (nodes + 1) % n]).astype(np.int32))

    @classmethod
    @border(error=InvalidGraph)
    def matching(cls, *, n_edges: int | None = None, n_nodes: int | None = None) -> Graph:
        """Disjoint pairs of nodes: ``m = n``, n even."""
        n = family_size("matching", 2, lambda n: n, lambda m: m - m % 2, n_edges, n_nodes)
        return cls(n, np.arange(n, dtype=np.int32).reshape(-1, 2))


def _require_lists(**arguments: Any) -> None:
    """Raise if something that must be a list is a single number, or deeper than a table."""
    for name, value in arguments.items():
        is_list = isinstance(value, Iterable) and getattr(value, "ndim", 1) in (1, 2)
        if value is not None and not is_list:
            raise InvalidGraph(
                f"{name} is {shown(value)}; it must be a list, one entry per edge", argument=name
            )
