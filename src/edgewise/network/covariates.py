"""Covariates: known numbers of each edge on which its matrix depends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from edgewise.base.arrays import Array, Indices
from edgewise.base.wording import counted
from edgewise.errors import InvalidGraph

_COLLINEAR = 1e-6
"""A combination of columns below this, relative to the largest, is what rounding left."""


class Covariates(NamedTuple):
    """Numbers per edge, and what they are called."""

    values: Array
    """(E, k)"""
    names: tuple[str, ...]


def named_columns(
    covariates: ArrayLike | Mapping[str, ArrayLike] | None,
) -> tuple[Any, tuple[str, ...] | None]:
    """Covariates as (E, k) and their names, from an array, a mapping or a data frame."""
    if covariates is None:
        return None, None
    items = getattr(covariates, "items", None)  # of mappings and of data frames
    if callable(items):
        columns = {str(name): np.asarray(column) for name, column in items()}
        table = np.column_stack(list(columns.values())) if columns else np.zeros((0, 0))
        return table, tuple(columns)
    return covariates, None


def checked_covariates(
    covariates: Any, names: tuple[str, ...] | None, kind_of_edge: Indices
) -> Covariates:
    """Finite numbers, one row per edge, whose columns and kinds are independent."""
    values = _as_numbers(covariates)
    n_edges = len(kind_of_edge)
    if values.ndim != 2 or len(values) != n_edges or values.shape[1] == 0:
        raise InvalidGraph(
            f"covariates have shape {values.shape}; give one row per edge and one column per "
            f"number, ({n_edges}, k)"
        )
    called = tuple(f"covariate {i}" for i in range(values.shape[1])) if names is None else names
    if len(called) != values.shape[1] or len(set(called)) != len(called):
        raise InvalidGraph(
            f"{len(called)} names ({len(set(called))} distinct) for {values.shape[1]} covariates; "
            "give one distinct name each"
        )
    for column, name in zip(values.T, called, strict=True):
        _check_column(column, name)
    _check_rank(values, called, kind_of_edge)
    return Covariates(values, called)


def _as_numbers(covariates: Any) -> Array:
    try:
        return np.asarray(covariates, dtype=float)
    except (TypeError, ValueError) as error:
        raise InvalidGraph(
            f"covariates cannot be read as numbers ({error}); give one number per edge and column"
        ) from error


def _check_column(column: Array, name: str) -> None:
    bad = np.flatnonzero(~np.isfinite(column))
    if len(bad):
        raise InvalidGraph(
            f"covariate {name!r} of edge {bad[0]} is {column[bad[0]]} "
            f"({counted(len(bad), 'such edge')}); every edge needs a finite number: "
            "fill it in, or leave the covariate out"
        )
    if np.ptp(column) <= 1e-12 * np.abs(column).max():
        raise InvalidGraph(
            f"covariate {name!r} is {column[0]:g} for every edge, so it says no more than the "
            "edge's kind, whose matrix is there already; leave it out"
        )


def _check_rank(values: Array, names: tuple[str, ...], kind_of_edge: Indices) -> None:
    """Kinds and covariates together must have full column rank, whatever their units."""
    kinds = (kind_of_edge[:, None] == np.arange(int(kind_of_edge.max()) + 1)).astype(float)
    centred = values - values.mean(axis=0)
    table = np.hstack([kinds, centred / np.linalg.norm(centred, axis=0)])
    sizes, width = np.linalg.svd(table, compute_uv=False), table.shape[1]
    rank = int((sizes > _COLLINEAR * sizes[0]).sum())
    if rank < width:
        raise InvalidGraph(
            f"kinds and covariates ({', '.join(map(repr, names))}) have rank {rank} of {width}: "
            "some column is a combination of the others, so its matrix cannot be told from "
            f"theirs; leave out {width - rank} of them"
        )
