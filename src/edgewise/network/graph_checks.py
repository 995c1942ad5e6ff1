"""What users give as a graph, checked: edges, kinds, weights, labels, sizes of families."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from edgewise.base.arrays import Array, Indices, as_floats
from edgewise.base.wording import shown
from edgewise.errors import InvalidGraph

_MAX_NODES = np.iinfo(np.int32).max


def edge_array(
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


def kind_codes(
    kinds: ArrayLike | Sequence[Hashable],
) -> tuple[Indices, tuple[Hashable, ...] | None]:
    """(E,) codes 0 .. q - 1, and the labels of the kinds if they were not codes."""
    kinds = _hashable_kinds(kinds)
    labels = kinds.tolist() if isinstance(kinds, np.ndarray) else list(kinds)  # type: ignore[arg-type]
    if not any(isinstance(label, str | tuple) for label in labels):
        values = np.asarray(kinds)
        if np.issubdtype(values.dtype, np.integer):
            return values, None
    order = {label: i for i, label in enumerate(dict.fromkeys(labels))}
    return np.array([order[label] for label in labels], np.int64), tuple(order)


def _hashable_kinds(kinds: Any) -> Any:
    """The kinds, which must be things that can be told apart by name."""
    found = kinds if isinstance(kinds, np.ndarray) else list(kinds)
    if getattr(found, "ndim", 1) != 1 or not all(isinstance(one, Hashable) for one in found):
        raise InvalidGraph(
            f"kinds are {shown(kinds)}; give each edge one kind, a number or a name",
            argument="kinds",
        )
    return found


def given_weights(weights: ArrayLike | None) -> Array | None:
    """Weights as numbers, if there are any."""
    if weights is None:
        return None
    return as_floats("weights", weights, InvalidGraph, "give one number per edge")


def require_integer(name: str, value: Any) -> None:
    """Raise unless the value is a whole number."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise InvalidGraph(f"{name} is {value!r}; it must be a whole number, e.g. int({name})")


def checked_edges(edges: NDArray[Any], n_nodes: int) -> NDArray[Any]:
    """(E, 2) the edges, inside the nodes and without loops."""
    require_integer("n_nodes", n_nodes)
    if not 1 <= n_nodes <= _MAX_NODES:
        raise InvalidGraph(f"n_nodes is {n_nodes}; it must be between 1 and {_MAX_NODES}")
    if edges.ndim != 2 or edges.shape[1] != 2:
        raise InvalidGraph(f"edges have shape {edges.shape}; they must be (E, 2), one row per pair")
    if edges.dtype.kind not in "iu":
        raise InvalidGraph(
            f"edges hold {edges.dtype}; they must be whole numbers, the nodes from 0 on",
            argument="edges",
        )
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


def checked_kinds(kinds: NDArray[Any], n_pairs: int) -> NDArray[Any]:
    """(E,) kinds without gaps."""
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


_SMALLEST, _LARGEST = 1e-50, 1e50


def checked_weights(weights: Array, n_pairs: int) -> Array:
    """(E,) finite and not zero."""
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
    sizes = np.abs(weights)
    if sizes.min() < _SMALLEST or sizes.max() > _LARGEST:
        raise InvalidGraph(
            f"weights go from {sizes.min():g} to {sizes.max():g} in size; beyond {_SMALLEST:g} to "
            f"{_LARGEST:g} their squares cannot be summed: state them in other units"
        )
    return weights


def checked_labels(labels: Sequence[Hashable], n_nodes: int) -> tuple[Hashable, ...]:
    """(n,) distinct labels."""
    names = tuple(labels)
    if len(names) != n_nodes:
        raise InvalidGraph(f"{len(names)} labels for {n_nodes} nodes; give one each")
    if len(set(names)) != n_nodes:
        seen: set[Hashable] = set()
        twice = next(name for name in names if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise InvalidGraph(f"label {twice!r} names two nodes; labels must be distinct")
    return names


def reject_duplicates(edges: Indices, directed: bool, labels: Sequence[Hashable]) -> None:
    """Raise if two edges join the same nodes; ``labels`` names all nodes."""
    first, second = edges[:, 0].astype(np.int64), edges[:, 1].astype(np.int64)
    if not directed:
        first, second = np.minimum(first, second), np.maximum(first, second)
    keys = first * len(labels) + second
    keys.sort()
    same = np.flatnonzero(keys[1:] == keys[:-1])
    if len(same):
        i, j = divmod(int(keys[same[0]]), len(labels))
        hint = (
            "list each arc once"
            if directed
            else "list each undirected pair once, or pass directed=True"
        )
        raise InvalidGraph(
            f"{len(same)} duplicate edge(s), the first between nodes {labels[i]!r} and "
            f"{labels[j]!r}; {hint}"
        )


def family_size(
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
        require_integer("n_edges", n_edges)
        below = max(smallest, nodes_of(n_edges))
        if edges_of(below) == n_edges:
            return below
        above = next(n for n in itertools.count(below + 1) if nodes_of(edges_of(n)) == n)
        raise InvalidGraph(
            f"no {family} graph has n_edges={n_edges} (both directions counted); the nearest "
            f"valid values are {edges_of(below)} and {edges_of(above)}"
        )
    if n_nodes is not None and n_edges is None:
        require_integer("n_nodes", n_nodes)
        if n_nodes < smallest or nodes_of(edges_of(n_nodes)) != n_nodes:
            even = ", and an even number of them" if family == "matching" else ""
            raise InvalidGraph(
                f"a {family} graph cannot have {n_nodes} nodes; it has at least {smallest}{even}"
            )
        return n_nodes
    raise InvalidGraph(f"Graph.{family} takes exactly one of n_edges and n_nodes")
