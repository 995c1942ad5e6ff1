"""Edge-arms: the pairs of arms that the theorems speak of, in the order of their designs."""

from __future__ import annotations

from typing import Literal

from edgewise.base.arrays import Array
from edgewise.base.choice import pick
from edgewise.core.model.pairs import Pairs, ordered_pairs, unordered_pairs_by_row

Model = Literal["symmetric", "ordered"]

_PAIRS = {"symmetric": unordered_pairs_by_row, "ordered": ordered_pairs}


def edge_arms(n_arms: int, model: Model) -> Pairs:
    """The edge-arms of K arms, unordered or ordered, or an error for any other model."""
    return pick("model", model, _PAIRS)(n_arms)


def edge_arm_model(arms: Array, matrix: Array, model: Model) -> tuple[Array, Array]:
    """Features of the edge-arms, and the parameter they multiply."""
    pairs = edge_arms(len(arms), model)
    return pairs.features(arms), pairs.parameter(matrix)
