"""Instances that several test files share, so that a number in one is the same in another."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import edgewise as ew
from edgewise.base.arrays import Indices

# -- small graphs with fixed arms --------------------------------------------------------------

SQUARE_AND_DIAGONAL = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)]
"""Two triangles on four nodes: the smallest graph with odd cycles and unequal degrees."""
TAIL = [*SQUARE_AND_DIAGONAL, (3, 4)]
"""The same with a fifth node on one edge."""
TAIL_KINDS, TAIL_WEIGHTS = [0, 1, 0, 1, 0, 1], [1.0, -2.0, 0.5, 3.0, 1.0, 0.7]
TAIL_MASK = np.array(
    [[1, 1, 0, 0], [0, 1, 1, 1], [1, 1, 1, 1], [0, 0, 1, 1], [1, 0, 0, 1]], dtype=bool
)
"""(5, 4) arms that the nodes of TAIL may be given."""

NAMED_SQUARE = ew.Graph.from_edges([("a", "b"), ("b", "c"), ("c", "d"), ("d", "a"), ("a", "c")])
THREE_ARMS = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
"""The third is a mix of the others, of the same length."""
FOUR_ARMS = np.array([[1.0, 0.1], [0.2, 1.0], [0.6, -0.7], [-0.5, 0.4]])
SMALL_PROBLEM = ew.Problem(NAMED_SQUARE, THREE_ARMS, noise=0.5)

# -- random graphs -----------------------------------------------------------------------------


def random_pairs(
    rng: np.random.Generator, n: int, *, directed: bool, densities: tuple[float, ...]
) -> Indices:
    """Edges with one of the densities; possibly disconnected, but no node isolated."""
    present = rng.random((n, n)) < rng.choice(densities)
    for i in range(n):
        present[i, (i + rng.integers(1, n)) % n] = True
    np.fill_diagonal(present, False)
    if not directed:
        present = np.triu(present | present.T)
    return rng.permutation(np.argwhere(present))


# -- the command line --------------------------------------------------------------------------

DATA = Path(__file__).parents[1] / "examples" / "data"
CELLS = [str(DATA / name) for name in ("graph.csv", "arms.csv", "matrix.csv")]
EASY = ("circle:12", "paper:2:1.5", "paper:2:1.5")
"""Graph, arms and matrix of a problem that is solved in a few rounds."""
