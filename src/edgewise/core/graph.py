"""The graph: who interacts with whom, in which direction, how strongly, and of which kind."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable, Hashable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from edgewise.core.arrays import Array, Indices, frozen
from edgewise.errors import InvalidGraph, IsolatedNodes, MissingExtra

if TYPE_CHECKING:
    from edgewise.core.adjacency import Adjacency

_MAX_NODES = np.iinfo(np.int32).max
_NO_KINDS = frozen([], np.int32)
_NO_WEIGHTS = frozen([], float)


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """Nodes and the interactions between them.

    Build one with :meth:`from_edges`, :meth:`from_networkx`, :meth:`from_scipy` or a named family.

    An undirected interaction is observed in both directions, a directed one only from its first
    node to its second. ``n_edges`` counts *observed directions* (arcs), the paper's ``m``.

    >>> Graph.circle(n_edges=156)
    Graph(n_nodes=78, n_edges=156)
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

    def __post_init__(self) -> None:
        set_field = object.__setattr__
        set_field(self, "edges", frozen(_checked_edges(self.edges, self.n_nodes), np.int32))
        set_field(self, "n_nodes", int(self.n_nodes))
        if self.kinds is not None:
            set_field(self, "kinds", frozen(_checked_kinds(self.kinds, len(self.edges)), np.int32))
        if self.weights is not None:
            set_field(
                self, "weights", frozen(_checked_weights(self.weights, len(self.edges)), float)
            )
        if self.node_labels is not None:
            set_field(self, "node_labels", _checked_labels(self.node_labels, self.n_nodes))
        if self.kind_labels is not None and len(self.kind_labels) != self.n_kinds:
            raise InvalidGraph(
                f"{len(self.kind_labels)} labels for {self.n_kinds} edge kind(s); give one each"
            )
        _reject_duplicates(self)
        if len(self.isolated):
            some = ", ".join(str(self.labels[i]) for i in self.isolated[:5])
            warnings.warn(
                f"{len(self.isolated)} of {self.n_nodes} nodes have no edge ({some}"
                f"{', ...' if len(self.isolated) > 5 else ''}): they get an arm, "
                "but no reward depends on it",
                IsolatedNodes,
                stacklevel=3,
            )

    # -- sizes and derived arrays ------------------------------------------------------------

    @property
    def n_edges(self) -> int:
        """m: the number of observed directions; an undirected interaction counts twice."""
        return len(self.edges) * (1 if self.directed else 2)

    @cached_property
    def n_kinds(self) -> int:
        """How many kinds of edges, each with its own matrix."""
        return 1 if self.kinds is None else int(self.kinds.max()) + 1

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
        from edgewise.core.adjacency import Adjacency

        return Adjacency.of(self.edges, self.degrees)

    def with_kinds(self, kinds: Indices) -> Graph:
        """The same interactions with other kinds (E,); nothing is checked again."""
        other = copy(self)
        other.__dict__.pop("n_kinds", None)
        object.__setattr__(other, "kinds", frozen(kinds, np.int32))
        object.__setattr__(other, "kind_labels", None)
        return other

    def __repr__(self) -> str:
        parts = [f"n_nodes={self.n_nodes}", f"n_edges={self.n_edges}"]
        if self.directed:
            parts.append("directed=True")
        if self.n_kinds > 1:
            parts.append(f"n_kinds={self.n_kinds}")
        if self.weights is not None:
            parts.append("weighted")
        return f"Graph({', '.join(parts)})"

    # -- from the user's data ----------------------------------------------------------------

    @classmethod
    def from_edges(
        cls,
        pairs: ArrayLike | Iterable[tuple[Hashable, Hashable]],
        *,
        n_nodes: int | None = None,
        directed: bool = False,
        kinds: ArrayLike | Sequence[Hashable] | None = None,
        weights: ArrayLike | None = None,
        labels: Sequence[Hashable] | None = None,
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
        """
        edges, inferred = _edge_array(pairs, labels)
        names = inferred if labels is None else tuple(labels)
        if n_nodes is None:
            largest = int(edges.max()) + 1 if edges.size else 0
            n_nodes = len(names) if names is not None else largest
        codes, kind_labels = (None, None) if kinds is None else _kind_codes(kinds)
        return cls(n_nodes, edges, directed, codes, _as_array(weights), names, kind_labels)

    @classmethod
    def from_networkx(
        cls, graph: Any, *, kind: str | None = "kind", weight: str | None = "weight"
    ) -> Graph:
        """A graph from a ``networkx.Graph`` or ``DiGraph``; its nodes become the labels.

        Edge attributes named ``kind`` and ``weight`` are used when every edge has them.
        """
        if graph.is_multigraph():
            raise InvalidGraph(
                "a networkx multigraph has parallel edges, but a pair of nodes interacts once; "
                "merge them, e.g. networkx.Graph(graph)"
            )
        labels = tuple(graph.nodes)
        index = {label: i for i, label in enumerate(labels)}
        edges = np.array([(index[u], index[v]) for u, v in graph.edges], dtype=np.int64)
        kinds = _edge_attribute(graph, kind)
        weights = _edge_attribute(graph, weight)
        return cls.from_edges(
            edges.reshape(-1, 2),
            n_nodes=len(labels),
            directed=graph.is_directed(),
            kinds=kinds,
            weights=None if weights is None else np.array(weights, dtype=float),
            labels=labels,
        )

    @classmethod
    def from_scipy(
        cls, matrix: Any, *, directed: bool = False, labels: Sequence[Hashable] | None = None
    ) -> Graph:
        """A graph from a square sparse adjacency matrix; values other than 1 become weights.

        Undirected (the default) needs a symmetric matrix.
        """
        import scipy.sparse as sparse

        table = sparse.coo_array(matrix)
        rows, columns = table.shape
        if rows != columns:
            raise InvalidGraph(f"adjacency matrix is {rows} x {columns}; it must be square")
        table.sum_duplicates()
        table.eliminate_zeros()
        if not directed:
            difference = abs(table - table.T)
            if difference.nnz and difference.max() > 0:
                raise InvalidGraph(
                    "adjacency matrix is not symmetric, so the graph is not undirected; "
                    "pass directed=True or symmetrise it, e.g. A.maximum(A.T)"
                )
        keep = slice(None) if directed else table.row <= table.col
        values = np.asarray(table.data, dtype=float)[keep]
        return cls.from_edges(
            np.column_stack([table.row[keep], table.col[keep]]),
            n_nodes=rows,
            directed=directed,
            weights=None if np.all(values == 1.0) else values,
            labels=labels,
        )

    def to_networkx(self) -> Any:
        """A ``networkx.Graph`` or ``DiGraph`` with the labels as nodes, kinds and weights kept."""
        try:
            import networkx as nx
        except ImportError as error:
            raise MissingExtra(
                "to_networkx needs networkx; install it with: pip install 'edgewise[networkx]'"
            ) from error
        result = nx.DiGraph() if self.directed else nx.Graph()
        result.add_nodes_from(self.labels)
        names = self.labels
        for e, (i, j) in enumerate(self.edges.tolist()):
            attributes: dict[str, Any] = {}
            if self.kinds is not None:
                code = int(self.kinds[e])
                attributes["kind"] = code if self.kind_labels is None else self.kind_labels[code]
            if self.weights is not None:
                attributes["weight"] = float(self.weights[e])
            result.add_edge(names[i], names[j], **attributes)
        return result

    # -- the paper's families ----------------------------------------------------------------

    @classmethod
    def star(cls, *, n_edges: int | None = None, n_nodes: int | None = None) -> Graph:
        """One centre (node 0) joined to every other node: ``m = 2 (n - 1)``."""
        n = _family_size("star", 2, lambda n: 2 * (n - 1), lambda m: m // 2 + 1, n_edges, n_nodes)
        return cls(n, np.column_stack([np.zeros(n - 1), np.arange(1, n)]).astype(np.int32))

    @classmethod
    def complete(cls, *, n_edges: int | None = None, n_nodes: int | None = None) -> Graph:
        """Every node joined to every other: ``m = n (n - 1)``."""
        n = _family_size(
            "complete",
            2,
            lambda n: n * (n - 1),
            lambda m: (1 + math.isqrt(4 * max(m, 0) + 1)) // 2,
            n_edges,
            n_nodes,
        )
        return cls(n, np.column_stack(np.triu_indices(n, k=1)).astype(np.int32))

    @classmethod
    def circle(cls, *, n_edges: int | None = None, n_nodes: int | None = None) -> Graph:
        """Every node joined to the next, the last to the first: ``m = 2 n``."""
        n = _family_size("circle", 3, lambda n: 2 * n, lambda m: m // 2, n_edges, n_nodes)
        nodes = np.arange(n)
        return cls(n, np.column_stack([nodes, (nodes + 1) % n]).astype(np.int32))

    @classmethod
    def matching(cls, *, n_edges: int | None = None, n_nodes: int | None = None) -> Graph:
        """Disjoint pairs of nodes: ``m = n``, n even."""
        n = _family_size("matching", 2, lambda n: n, lambda m: m - m % 2, n_edges, n_nodes)
        return cls(n, np.arange(n, dtype=np.int32).reshape(-1, 2))


# -- validation ------------------------------------------------------------------------------


def _edge_array(
    pairs: ArrayLike | Iterable[tuple[Hashable, Hashable]], labels: Sequence[Hashable] | None
) -> tuple[Indices, tuple[Hashable, ...] | None]:
    """Pairs as (E, 2) indices, and the labels in order of appearance if pairs were labels."""
    rows = pairs if isinstance(pairs, np.ndarray) else list(pairs)  # type: ignore[arg-type]
    if len(rows) == 0:
        return np.zeros((0, 2), np.int64), None
    if isinstance(rows, np.ndarray) and np.issubdtype(rows.dtype, np.integer):
        return rows, None
    if not all(_is_pair(row) for row in rows):
        raise InvalidGraph("every edge must be a pair (node, node); some entries are not")
    flat = [node for pair in rows for node in pair]  # type: ignore[union-attr]
    if all(isinstance(node, int | np.integer) and not isinstance(node, bool) for node in flat):
        return np.array(flat, dtype=np.int64).reshape(-1, 2), None
    if any(isinstance(node, float | np.floating) for node in flat):
        raise InvalidGraph(
            "edges contain floating-point numbers; nodes are integer indices or labels such as "
            "strings: convert them, e.g. pairs.astype(int)"
        )
    order: dict[Any, None] = dict.fromkeys(flat if labels is None else labels)
    index = {label: i for i, label in enumerate(order)}
    unknown = [node for node in flat if node not in index]
    if unknown:
        raise InvalidGraph(f"edge names node {unknown[0]!r}, which is not among the labels")
    codes = np.array([index[node] for node in flat], dtype=np.int64).reshape(-1, 2)
    return codes, tuple(order)


def _is_pair(row: object) -> bool:
    """Two nodes; labels of any sort, so that numpy is not asked to make an array of them."""
    if isinstance(row, np.ndarray):
        return bool(row.shape == (2,))
    return isinstance(row, Sequence) and not isinstance(row, str | bytes) and len(row) == 2


def _kind_codes(
    kinds: ArrayLike | Sequence[Hashable],
) -> tuple[Indices, tuple[Hashable, ...] | None]:
    labels = kinds.tolist() if isinstance(kinds, np.ndarray) else list(kinds)  # type: ignore[arg-type]
    if not any(isinstance(label, str | tuple) for label in labels):
        values = np.asarray(kinds)
        if np.issubdtype(values.dtype, np.integer):
            return values, None
    order = {label: i for i, label in enumerate(dict.fromkeys(labels))}
    return np.array([order[label] for label in labels], np.int64), tuple(order)


def _as_array(weights: ArrayLike | None) -> Array | None:
    if weights is None:
        return None
    try:
        return np.asarray(weights, dtype=float)
    except (TypeError, ValueError) as error:
        raise InvalidGraph(
            f"weights are not numbers ({error}); give one number per edge"
        ) from error


def _require_integer(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise InvalidGraph(f"{name} is {value!r}; it must be a whole number, e.g. int({name})")


def _checked_edges(edges: NDArray[Any], n_nodes: int) -> NDArray[Any]:
    _require_integer("n_nodes", n_nodes)
    if not 1 <= n_nodes <= _MAX_NODES:
        raise InvalidGraph(f"n_nodes is {n_nodes}; it must be between 1 and {_MAX_NODES}")
    if edges.ndim != 2 or edges.shape[1] != 2:
        raise InvalidGraph(f"edges have shape {edges.shape}; they must be (E, 2), one row per pair")
    if len(edges) == 0:
        raise InvalidGraph("the graph has no edge, so no reward can be observed; add one")
    low, high = int(edges.min()), int(edges.max())
    if low < 0 or high >= n_nodes:
        wrong = low if low < 0 else high
        raise InvalidGraph(
            f"an edge names node {wrong}, outside 0 .. {n_nodes - 1}; "
            "fix the edge or pass a larger n_nodes"
        )
    loops = np.flatnonzero(edges[:, 0] == edges[:, 1])
    if len(loops):
        raise InvalidGraph(
            f"{len(loops)} self loop(s), the first at node {int(edges[loops[0], 0])}; "
            "a node does not interact with itself: remove them "
            "(a node's own effect is Problem(..., node_term=True))"
        )
    return edges


def _checked_kinds(kinds: NDArray[Any], n_pairs: int) -> NDArray[Any]:
    if kinds.shape != (n_pairs,):
        raise InvalidGraph(f"kinds have shape {kinds.shape}; there are {n_pairs} edges: one each")
    if kinds.min() < 0:
        raise InvalidGraph(f"edge kind {int(kinds.min())} is negative; kinds are 0 .. q - 1")
    absent = np.flatnonzero(np.bincount(kinds) == 0)
    if len(absent):
        raise InvalidGraph(
            f"kinds go up to {int(kinds.max())} but no edge has kind {int(absent[0])}, so its "
            "matrix could not be learned; number the kinds 0 .. q - 1 without gaps"
        )
    return kinds


def _checked_weights(weights: Array, n_pairs: int) -> Array:
    if weights.shape != (n_pairs,):
        raise InvalidGraph(
            f"weights have shape {weights.shape}; there are {n_pairs} edges: one each"
        )
    wrong = np.flatnonzero(~np.isfinite(weights) | (weights == 0.0))
    if len(wrong):
        raise InvalidGraph(
            f"weight of edge {int(wrong[0])} is {weights[wrong[0]]}; weights are finite and not "
            "zero (an edge without interaction is no edge: remove it)"
        )
    return weights


def _checked_labels(labels: Sequence[Hashable], n_nodes: int) -> tuple[Hashable, ...]:
    names = tuple(labels)
    if len(names) != n_nodes:
        raise InvalidGraph(f"{len(names)} labels for {n_nodes} nodes; give one each")
    if len(set(names)) != n_nodes:
        seen: set[Hashable] = set()
        twice = next(name for name in names if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise InvalidGraph(f"label {twice!r} names two nodes; labels must be distinct")
    return names


def _reject_duplicates(graph: Graph) -> None:
    first, second = graph.edges[:, 0].astype(np.int64), graph.edges[:, 1].astype(np.int64)
    if not graph.directed:
        first, second = np.minimum(first, second), np.maximum(first, second)
    keys = first * graph.n_nodes + second
    keys.sort()
    same = np.flatnonzero(keys[1:] == keys[:-1])
    if len(same):
        i, j = divmod(int(keys[same[0]]), graph.n_nodes)
        hint = (
            "list each arc once"
            if graph.directed
            else "list each undirected pair once, or pass directed=True"
        )
        raise InvalidGraph(
            f"{len(same)} duplicate edge(s), the first between nodes {graph.labels[i]!r} and "
            f"{graph.labels[j]!r}; {hint}"
        )


def _family_size(
    family: str,
    smallest: int,
    edges_of: Callable[[int], int],
    nodes_of: Callable[[int], int],
    n_edges: int | None,
    n_nodes: int | None,
) -> int:
    """Number of nodes of a family member given by ``n_edges`` or ``n_nodes``.

    ``nodes_of(m)`` is the largest member with at most ``m`` edges.
    """
    if n_edges is not None and n_nodes is None:
        _require_integer("n_edges", n_edges)
        below = max(smallest, nodes_of(n_edges))
        if edges_of(below) == n_edges:
            return below
        above = next(n for n in itertools.count(below + 1) if nodes_of(edges_of(n)) == n)
        raise InvalidGraph(
            f"no {family} graph has n_edges={n_edges} (both directions counted); the nearest "
            f"valid values are {edges_of(below)} and {edges_of(above)}"
        )
    if n_nodes is not None and n_edges is None:
        _require_integer("n_nodes", n_nodes)
        if n_nodes < smallest or nodes_of(edges_of(n_nodes)) != n_nodes:
            even = ", and an even number of them" if family == "matching" else ""
            raise InvalidGraph(
                f"a {family} graph cannot have {n_nodes} nodes; it has at least {smallest}{even}"
            )
        return n_nodes
    raise InvalidGraph(f"Graph.{family} takes exactly one of n_edges and n_nodes")


def _edge_attribute(graph: Any, name: str | None) -> list[Any] | None:
    """The values of one networkx edge attribute, if all edges have it."""
    if name is None:
        return None
    values = [data.get(name) for _, _, data in graph.edges(data=True)]
    present = sum(value is not None for value in values)
    if present == 0:
        return None
    if present < len(values):
        raise InvalidGraph(
            f"{present} of {len(values)} edges have the attribute {name!r}; set it on all edges, "
            f"or ignore it (from_networkx takes the attribute names, None to ignore)"
        )
    return values
