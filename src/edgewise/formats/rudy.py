"""The format of Max-Cut instances (rudy, Gset): ``n m``, then ``i j w`` with nodes from 1."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from edgewise.base.arrays import Indices
from edgewise.errors import InvalidFile
from edgewise.formats.edge_list import refuse_loops, refuse_repeats, weights_of
from edgewise.formats.files import opened
from edgewise.formats.limits import refuse_nodes
from edgewise.formats.table import Table
from edgewise.network.graph import Graph


def read_rudy(file: Path) -> Graph:
    """A weighted undirected graph; a missing third number means weight 1."""
    with opened(file) as stream:
        lines = [(i, line.split()) for i, line in enumerate(stream, 1) if line.strip()]
    if not lines:
        raise InvalidFile(f"{file}: the file has no lines with text; begin with 'n m'")
    n_nodes, n_edges = _header(file, *lines[0])
    table = _table(file, lines[1:])
    if len(table.places) != n_edges:
        raise InvalidFile(
            f"{file}, line {lines[0][0]}: {n_edges} edges are announced, {len(table.places)} "
            "follow; correct the first line, or check that the file is complete"
        )
    edges = _edges(table, n_nodes)
    refuse_loops(table, edges)
    refuse_repeats(table, edges, directed=False)
    labels = range(1, n_nodes + 1)
    return Graph.from_edges(edges, n_nodes=n_nodes, weights=weights_of(table), labels=labels)


def _header(file: Path, line: int, words: list[str]) -> tuple[int, int]:
    if len(words) != 2 or not all(word.isdecimal() for word in words):
        raise InvalidFile(
            f"{file}, line {line}: {' '.join(words)!r} is not 'n m', the numbers of nodes and "
            "edges, with which the file must begin (an edge list with column names is a .csv file)"
        )
    n_nodes, n_edges = (int(word[:20]) for word in words)
    refuse_nodes(f"{file}, line {line}", n_nodes, n_edges)
    return n_nodes, n_edges


def _table(file: Path, lines: list[tuple[int, list[str]]]) -> Table:
    for line, words in lines:
        if len(words) not in (2, 3):
            raise InvalidFile(
                f"{file}, line {line}: {' '.join(words)!r} is not 'i j w', two nodes and a weight; "
                "write an edge as in '1 2 1'"
            )
    columns = {
        "i": [words[0] for _, words in lines],
        "j": [words[1] for _, words in lines],
        "weight": [words[2] if len(words) == 3 else "1" for _, words in lines],
    }
    return Table(file, columns, [line for line, _ in lines])


def _edges(table: Table, n_nodes: int) -> Indices:
    ends = np.column_stack([table.numbers("i"), table.numbers("j")])
    wrong = np.argwhere((ends != np.rint(ends)) | (ends < 1) | (ends > n_nodes))
    if len(wrong):
        record, end = wrong[0].tolist()
        raise InvalidFile(
            f"{table.at(record)}: the edge names node {ends[record, end]:g}; nodes are numbered "
            f"1 to {n_nodes}: correct the edge or the first line"
        )
    return ends.astype(np.int64) - 1
