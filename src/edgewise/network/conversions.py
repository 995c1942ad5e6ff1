"""Graphs as networkx and scipy hold them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from edgewise.base.choice import instead
from edgewise.base.wording import shown
from edgewise.errors import InvalidGraph, MissingExtra

if TYPE_CHECKING:
    from edgewise.network.graph import Graph


def networkx_parts(
    graph: Any, kind: str | None, weight: str | None, covariates: Sequence[str] = ()
) -> dict[str, Any]:
    """What ``Graph.from_edges`` needs to know of a networkx graph; the nodes are the labels."""
    if not all(hasattr(graph, name) for name in ("nodes", "edges", "is_directed")):
        raise InvalidGraph(
            f"graph is {shown(graph)}; pass a networkx.Graph or DiGraph", argument="graph"
        )
    if graph.is_multigraph():
        raise InvalidGraph(
            "a networkx multigraph has parallel edges, but a pair of nodes interacts once; "
            "merge them, e.g. networkx.Graph(graph)"
        )
    labels = tuple(graph.nodes)
    index = {label: i for i, label in enumerate(labels)}
    edges = np.array([(index[u], index[v]) for u, v in graph.edges], dtype=np.int64)
    return {
        "pairs": edges.reshape(-1, 2),
        "n_nodes": len(labels),
        "directed": graph.is_directed(),
        "kinds": _edge_attribute(graph, kind),
        "weights": _edge_attribute(graph, weight),
        "labels": labels,
        "covariates": {name: _covariate(graph, name) for name in covariates} or None,
    }


def _covariate(graph: Any, name: str) -> list[Any]:
    """The values of an edge attribute that all edges must have."""
    values = _edge_attribute(graph, name)
    if values is None:
        known = sorted({str(key) for _, _, data in graph.edges(data=True) for key in data})
        raise InvalidGraph(
            f"no edge has the attribute {name!r}, a covariate; {instead(name, known)}"
            if known
            else f"no edge has the attribute {name!r}, a covariate, or any other; add it"
        )
    return values


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


def pandas_parts(
    frame: Any,
    ends: tuple[str, str],
    kind: str | None,
    weight: str | None,
    covariates: Sequence[str],
    nodes: Sequence[Hashable] | None,
) -> dict[str, Any]:
    """What ``Graph.from_edges`` needs to know of a data frame with a row per edge."""
    if not hasattr(frame, "columns"):
        raise InvalidGraph(f"frame is {shown(frame)}; pass a pandas.DataFrame", argument="frame")
    known = [str(name) for name in frame.columns]
    for name in (*ends, *covariates):
        if name not in known:
            raise InvalidGraph(
                f"the frame has no column {name!r}; {instead(name, known)}", argument="frame"
            )
    pairs = list(zip(*(frame[end].tolist() for end in ends), strict=True))
    labels = tuple(
        dict.fromkeys(node for pair in pairs for node in pair) if nodes is None else nodes
    )
    index = {label: position for position, label in enumerate(labels)}
    for row, pair in enumerate(pairs):
        for node in pair:
            if node not in index:
                raise InvalidGraph(
                    f"row {row} of the frame names node {node!r}, which is not among nodes; add it "
                    "there, or leave nodes out",
                    argument="nodes",
                )
    return {
        "pairs": np.array([(index[u], index[v]) for u, v in pairs], np.int64).reshape(-1, 2),
        "n_nodes": len(labels),
        "kinds": frame[kind].tolist() if kind in known else None,
        "weights": frame[weight].to_numpy(float) if weight in known else None,
        "labels": labels,
        "covariates": {name: frame[name].to_numpy(float) for name in covariates} or None,
    }


def scipy_parts(matrix: Any, directed: bool) -> dict[str, Any]:
    """What ``Graph.from_edges`` needs to know of a square sparse adjacency matrix."""
    import scipy.sparse as sparse

    try:
        table = sparse.coo_array(matrix)
        table.data.astype(float)
    except Exception as error:  # scipy raises what it likes
        raise InvalidGraph(
            f"matrix is {shown(matrix)}, not an adjacency matrix ({error}); pass a square sparse "
            "matrix of numbers",
            argument="matrix",
        ) from error
    if table.ndim != 2:
        raise InvalidGraph(
            f"matrix has {table.ndim} axes; an adjacency matrix is square", argument="matrix"
        )
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
    return {
        "pairs": np.column_stack([table.row[keep], table.col[keep]]),
        "n_nodes": rows,
        "weights": None if np.all(values == 1.0) else values,
    }


def networkx_graph(graph: Graph) -> Any:
    """A ``networkx.Graph`` or ``DiGraph`` with labels, kinds, weights and covariates."""
    try:
        import networkx as nx
    except ImportError as error:
        raise MissingExtra(
            "to_networkx needs networkx; install it with: pip install 'edgewise[networkx]'"
        ) from error
    result = nx.DiGraph() if graph.directed else nx.Graph()
    names = graph.labels
    result.add_nodes_from(names)
    for e, (i, j) in enumerate(graph.edges.tolist()):
        attributes: dict[str, Any] = {}
        if graph.kinds is not None:
            code = int(graph.kinds[e])
            attributes["kind"] = code if graph.kind_labels is None else graph.kind_labels[code]
        if graph.weights is not None:
            attributes["weight"] = float(graph.weights[e])
        if graph.covariates is not None and graph.covariate_names is not None:
            numbers = graph.covariates[e].tolist()
            attributes |= dict(zip(graph.covariate_names, numbers, strict=True))
        result.add_edge(names[i], names[j], **attributes)
    return result
