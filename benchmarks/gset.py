"""Max-Cut instances in the format of the rudy generator: the Gset."""

from __future__ import annotations

import csv
import warnings
from pathlib import Path

import numpy as np

from edgewise.errors import InvalidGraph, IsolatedNodes
from edgewise.network.graph import Graph


def read_rudy(path: Path) -> Graph:
    """The graph of a file: a line ``n m``, then m lines ``i j w`` with nodes from 1.

    Weights that are all 1 are left out. Nodes without an edge are usual in these files.
    """
    with path.open() as lines:
        n_nodes, n_edges = (int(word) for word in next(lines).split())
        rows = np.loadtxt(lines, ndmin=2)
    if len(rows) != n_edges:
        raise InvalidGraph(f"{path} announces {n_edges} edges and lists {len(rows)}; get it anew")
    weights = None if rows.shape[1] == 2 or (rows[:, 2] == 1.0).all() else rows[:, 2]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IsolatedNodes)
        return Graph(n_nodes, rows[:, :2].astype(np.int64) - 1, weights=weights)


def best_known(folder: Path) -> dict[str, float]:
    """Largest published cut of every instance, from ``best_known.csv`` in the folder."""
    with (folder / "best_known.csv").open() as lines:
        return {row["instance"]: float(row["best_known_cut"]) for row in csv.DictReader(lines)}
