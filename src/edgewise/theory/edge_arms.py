"""Edge-arms: what one edge shows, as features of a linear model."""

from __future__ import annotations

import math
from typing import Literal, get_args

import numpy as np

from edgewise.base.arrays import Array, Indices
from edgewise.errors import InvalidArgument

Model = Literal["symmetric", "ordered"]


def require_model(model: str) -> None:
    """Raise unless the model is one of the two."""
    if model not in get_args(Model):
        names = ", ".join(f'"{name}"' for name in get_args(Model))
        raise InvalidArgument(f"model is {model!r}, which is not a model; pass one of {names}")


def edge_arm_model(arms: Array, matrix: Array, model: Model) -> tuple[Array, Array]:
    """Features of the edge-arms and the parameter they multiply."""
    n_arms, d = arms.shape
    if model == "ordered":
        outer = arms[:, None, :, None] * arms[None, :, None, :]
        return outer.reshape(n_arms**2, d * d), matrix.ravel()
    first, second = np.triu_indices(n_arms)
    outer = arms[first][:, :, None] * arms[second][:, None, :]
    return _svec((outer + outer.transpose(0, 2, 1)) / 2.0), _svec((matrix + matrix.T) / 2.0)


def edge_arm_index(n_arms: int, model: Model) -> Indices:
    """(K, K) the edge-arm that arms k and l show, in the order of the features."""
    if model == "ordered":
        return np.arange(n_arms**2).reshape(n_arms, n_arms)
    index = np.empty((n_arms, n_arms), np.int64)
    first, second = np.triu_indices(n_arms)
    index[first, second] = index[second, first] = np.arange(len(first))
    return index


def _svec(symmetric: Array) -> Array:
    """Upper triangles, off-diagonals times sqrt(2): inner products are those of the matrices."""
    rows, columns = np.triu_indices(symmetric.shape[-1])
    scaled: Array = symmetric[..., rows, columns] * np.where(rows == columns, 1.0, math.sqrt(2.0))
    return scaled
