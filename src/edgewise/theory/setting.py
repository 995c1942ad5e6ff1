"""The setting in which the paper's theorems hold, checked once for every calculator."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from edgewise.base.arrays import Array, as_floats
from edgewise.errors import InvalidArgument
from edgewise.network.arms import checked_arms, whiten
from edgewise.network.graph import Graph

_SUM_TOLERANCE = 1e-8


def require_paper_graph(graph: Graph) -> None:
    """Raise unless every interaction is seen both ways, unweighted and of one kind."""
    if graph.directed:
        raise InvalidArgument(
            "the graph is directed; the paper's theorems are stated for edges observed in both "
            "directions; pass an undirected graph"
        )
    if graph.n_kinds > 1:
        raise InvalidArgument(
            f"the graph has {graph.n_kinds} kinds of edges; the paper's theorems are stated for "
            "one matrix shared by all edges; pass a graph of one kind, e.g. one kind at a time"
        )
    if not np.all(graph.weight_of_edge == 1.0):
        raise InvalidArgument(
            "the graph's edges are weighted; the paper's theorems are stated for edges of equal "
            "strength; pass the graph without weights"
        )


def spanning_arms(arms: ArrayLike) -> Array:
    """The arms as a (K, d) table that spans all its dimensions."""
    table = checked_arms(arms)
    rank = whiten(table).rank
    if rank < table.shape[1]:
        raise InvalidArgument(
            f"arms span {rank} of {table.shape[1]} dimensions; the paper's theorems need arms that "
            f"span the space; add {table.shape[1] - rank} independent arm(s) or express the arms "
            "in a basis of their span"
        )
    return table


def node_law(weights: ArrayLike, n_arms: int) -> Array:
    """The weights as a probability distribution over the arms."""
    law = as_floats("weights", weights, InvalidArgument, "pass an array of numbers")
    if law.shape != (n_arms,):
        raise InvalidArgument(
            f"weights have shape {law.shape} for {n_arms} arm(s); a node draws its arm from one "
            f"probability per arm; pass an array of shape ({n_arms},)"
        )
    if not np.all(law >= 0.0):  # also catches NaN
        raise InvalidArgument(
            f"the smallest weight is {law.min()}; probabilities are not negative; "
            "pass for instance g_optimal(arms).weights"
        )
    total = float(law.sum())
    if not abs(total - 1.0) <= _SUM_TOLERANCE:
        raise InvalidArgument(
            f"weights sum to {total}; probabilities sum to 1; divide them by their sum"
        )
    return law


def square_matrix(matrix: ArrayLike, dimension: int) -> Array:
    """The parameter as a finite (d, d) matrix."""
    table = as_floats("matrix", matrix, InvalidArgument, "pass an array of numbers")
    if table.shape != (dimension, dimension) or not np.isfinite(table).all():
        raise InvalidArgument(
            f"matrix has shape {table.shape} and arms live in R^{dimension}; the reward x_i' M x_j "
            f"needs finite entries; pass a finite array of shape ({dimension}, {dimension})"
        )
    return table


def require_confidence(delta: float) -> None:
    """Raise unless ``delta`` is a probability of error strictly between 0 and 1."""
    if not 0.0 < delta < 1.0:
        raise InvalidArgument(
            f"delta is {delta}; the probability of error lies strictly between 0 and 1; "
            "pass for instance delta=0.05"
        )


def require_noise(noise: float) -> None:
    """Raise unless ``noise`` is a positive, finite standard deviation."""
    if not (noise > 0.0 and math.isfinite(noise)):
        raise InvalidArgument(
            f"noise is {noise}; the noise parameter of a reward is positive and finite; "
            "pass its standard deviation, e.g. noise=1.0"
        )
