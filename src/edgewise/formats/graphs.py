"""Graphs from files of every format, chosen by extension."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import ParseError

import numpy as np

from edgewise.base.border import border
from edgewise.base.extras import required
from edgewise.errors import InvalidFile, InvalidGraph
from edgewise.formats.edge_list import read_edge_csv, read_edge_parquet
from edgewise.formats.files import FilePath, load_array, read_by_extension
from edgewise.formats.limits import refuse_nodes
from edgewise.formats.matrix_market import load_matrix_market
from edgewise.formats.names import readable
from edgewise.formats.rudy import read_rudy
from edgewise.network.graph import Graph


@border(error=InvalidFile)
def read_graph(path: FilePath, *, covariates: Sequence[str] = ()) -> Graph:
    """A graph from a file; its extension says the format.

    ``covariates`` names columns (GraphML: edge attributes) that are known numbers of each edge, on
    which its matrix depends; other formats have none.

    ``.csv``
        Edge list with a header: columns source and target (or from and to, or u and v), and
        optionally kind, weight, and directed (true or false, the same on every line).
    ``.parquet``
        The same columns (needs ``edgewise[parquet]``).
    ``.graphml``
        Node ids are the labels, or the node attribute ``label`` or ``name`` if all nodes have a
        different one; edge attributes ``kind`` and ``weight`` are used.
    ``.mtx``, ``.npz``
        Sparse adjacency matrix, Matrix Market or ``scipy.sparse.save_npz``. A symmetric matrix is
        an undirected graph, any other a directed one; values other than 1 are weights.
    ``.npy``
        (E, 2) pairs of node indices, or a square adjacency matrix. Integers of shape (2, 2) are
        two pairs.
    ``.txt``
        Max-Cut instance (rudy, Gset): ``n m``, then ``i j w``, nodes numbered from 1.

    Nodes named by whole numbers are ordered by number, others as they first appear; so are kinds.
    """
    try:
        if not covariates:
            return read_by_extension(path, READERS, "a graph file")
        readers = {end: partial(read, covariates=covariates) for end, read in _WITH_MORE.items()}
        return read_by_extension(path, readers, "a graph file with covariates")
    except InvalidGraph as error:
        raise InvalidFile(f"{path}: {error}") from error


def _read_graphml(file: Path, covariates: Sequence[str] = ()) -> Graph:
    nx = required("networkx", "GraphML files need networkx", "networkx")
    try:
        graph = nx.read_graphml(file)
    except ParseError as error:
        raise InvalidFile(
            f"{file}, line {error.position[0]}: not well-formed XML ({error}); export it again"
        ) from error
    except Exception as error:  # of a damaged file the parser raises anything
        raise InvalidFile(f"{file}: not a GraphML graph ({error}); export it again") from error
    named = nx.relabel_nodes(graph, _labels(graph))
    return Graph.from_networkx(named, covariates=covariates)


def _labels(graph: Any) -> dict[Any, Hashable]:
    """A name for every node: its label or name where these are distinct, else its id."""
    for attribute in ("label", "name"):
        names = [name for _, name in graph.nodes(data=attribute)]
        if None not in names and len(set(names)) == len(names):
            return dict(zip(graph.nodes, readable(names), strict=True))
    return dict(zip(graph.nodes, readable(list(graph.nodes)), strict=True))


def _read_matrix_market(file: Path) -> Graph:
    try:
        matrix = load_matrix_market(file)
    except (ValueError, OverflowError) as error:
        if isinstance(error, InvalidFile):
            raise
        raise InvalidFile(
            f"{file}: not a Matrix Market file ({error}); write it with scipy.io.mmwrite"
        ) from error
    return _from_adjacency(file, matrix)


def _read_numpy(file: Path) -> Graph:
    array = load_array(file, "the graph")
    if array.ndim != 2 or not (np.issubdtype(array.dtype, np.number) or array.dtype == np.bool_):
        raise InvalidFile(
            f"{file}: the array has shape {array.shape} and type {array.dtype}; save (E, 2) "
            "integer pairs of nodes, or a square adjacency matrix"
        )
    if array.shape[1] == 2 and np.issubdtype(array.dtype, np.integer):
        refuse_nodes(file, int(array.max(initial=0)) + 1, len(array))
        return Graph.from_edges(array)
    return _from_adjacency(file, array)


def _read_sparse(file: Path) -> Graph:
    from scipy.sparse import load_npz

    try:
        matrix = load_npz(file)
    except Exception as error:  # of a damaged archive scipy raises anything
        raise InvalidFile(
            f"{file}: not a sparse matrix ({error}); write it with scipy.sparse.save_npz"
        ) from error
    return _from_adjacency(file, matrix)


def _check_places(table: Any) -> None:
    """Raise ValueError if an entry lies outside the matrix."""
    for places, size in ((table.row, table.shape[0]), (table.col, table.shape[1])):
        if len(places) and not 0 <= int(places.min()) <= int(places.max()) < size:
            raise ValueError(f"an entry lies in row or column {places.max()} of {size}")


def _from_adjacency(file: Path, matrix: Any) -> Graph:
    from scipy.sparse import coo_array

    try:
        if hasattr(matrix, "check_format"):
            matrix.check_format(full_check=True)
        table = coo_array(matrix)
        rows, columns = table.shape
        _check_places(table)
    except (ValueError, TypeError, IndexError) as error:
        raise InvalidFile(
            f"{file}: the sparse matrix is not well formed ({error}); write it again"
        ) from error
    refuse_nodes(file, max(rows, columns), table.nnz)
    if rows != columns:
        raise InvalidFile(
            f"{file}: the matrix is {rows} x {columns}; an adjacency matrix has one row and one "
            "column per node and so is square (pairs of nodes are (E, 2) integers)"
        )
    if np.iscomplexobj(table.data) or not np.isfinite(table.data).all():
        raise InvalidFile(
            f"{file}: the matrix holds complex numbers, NaN or infinity; weights of edges are "
            "finite real numbers: remove or repair the others"
        )
    return Graph.from_scipy(table, directed=bool((table != table.T).nnz))


READERS: dict[str, Callable[[Path], Graph]] = {
    ".csv": read_edge_csv,
    ".graphml": _read_graphml,
    ".mtx": _read_matrix_market,
    ".npy": _read_numpy,
    ".npz": _read_sparse,
    ".parquet": read_edge_parquet,
    ".txt": read_rudy,
}
"""The reader of every extension."""

_WITH_MORE: dict[str, Callable[..., Graph]] = {
    ".csv": read_edge_csv,
    ".graphml": _read_graphml,
    ".parquet": read_edge_parquet,
}
"""Those whose edges can have further numbers."""
