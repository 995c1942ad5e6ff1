"""The reward of an arc by the arms at its two ends: the tables that allocation works on."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from edgewise.base.arrays import Array, as_floats
from edgewise.errors import InvalidArgument, InvalidProblem


def tables_of(
    arms: Array, matrix: ArrayLike, beta: ArrayLike | None = None, *, n_kinds: int = 1
) -> Array:
    r"""Reward of an arc by the arms at its ends, one table per edge kind.

    .. math:: W_q[k, l] = x_k^\top M_q x_l + x_k^\top \beta_q

    Parameters
    ----------
    arms
        (K, d), one row per arm.
    matrix
        (d, d), shared by all kinds, or (q, d, d).
    beta
        Node term: (d,), shared by all kinds, or (q, d); None when there is none.
    n_kinds
        q.

    Examples
    --------
    >>> tables_of(np.eye(2), [[0, 1], [2, 0]], beta=[10, 20])
    array([[[10., 11.], [22., 20.]]])
    """
    d = arms.shape[1]
    M = _per_kind("matrix", matrix, (d, d), n_kinds)
    b = np.zeros((n_kinds, d)) if beta is None else _per_kind("beta", beta, (d,), n_kinds)
    with np.errstate(over="ignore", invalid="ignore"):
        tables: Array = arms @ M @ arms.T + (b @ arms.T)[:, :, None]
    if not np.isfinite(tables).all():
        raise InvalidProblem("rewards x'Mx overflow double precision; rescale the arms or M")
    return tables


def _per_kind(name: str, values: ArrayLike, shape: tuple[int, ...], n_kinds: int) -> Array:
    """``values`` of the given shape, once or once per kind, as one per kind."""
    array = _numbers(name, values)
    if array.shape not in (shape, (n_kinds, *shape)):
        raise InvalidArgument(
            f"{name} has shape {array.shape}; with these arms and {n_kinds} edge kind(s) "
            f"it must be {shape} or {(n_kinds, *shape)}"
        )
    if not np.isfinite(array).all():
        raise InvalidArgument(f"{name} has entries that are not finite; remove NaN and infinity")
    return np.broadcast_to(array, (n_kinds, *shape))


def checked_tables(tables: ArrayLike, n_kinds: int) -> Array:
    """``tables`` as finite (q, K, K); a single (K, K) table serves all kinds."""
    array = _numbers("tables", tables)
    shape = array.shape
    if len(shape) not in (2, 3) or shape[-1] != shape[-2] or shape[-1] == 0:
        raise InvalidArgument(
            f"tables have shape {shape}; they must be ({n_kinds}, K, K), one per edge kind, "
            "or (K, K) for all kinds"
        )
    return _per_kind("table", array, shape[-2:], n_kinds)


def require_symmetric(tables: ArrayLike, n_kinds: int) -> None:
    """Refuse tables that tell the ends of an undirected edge apart."""
    array = checked_tables(tables, n_kinds)
    difference = np.abs(array - array.transpose(0, 2, 1))
    if difference.max() <= 1e-12 * np.abs(array).max():
        return
    q, k, l = np.unravel_index(int(difference.argmax()), array.shape)
    raise InvalidArgument(
        f"table of kind {q} is not symmetric: {array[q, k, l]} at ({k}, {l}) but {array[q, l, k]} "
        f"at ({l}, {k}); an undirected edge has no first end: pass symmetrise=True to use "
        "(W + W')/2, which gives the same F, or a directed graph"
    )


def checked_unary(unary: ArrayLike, n_nodes: int, n_arms: int) -> Array:
    """``unary`` as finite (n, K)."""
    array = _numbers("unary", unary)
    if array.shape != (n_nodes, n_arms):
        raise InvalidArgument(
            f"unary has shape {array.shape}; it must be (n_nodes, n_arms) = ({n_nodes}, {n_arms}), "
            "what each node earns by each arm"
        )
    if not np.isfinite(array).all():
        raise InvalidArgument(
            "unary has entries that are not finite; remove NaN and infinity "
            "(to forbid an arm to a node, pass candidates)"
        )
    return array


def _numbers(name: str, values: ArrayLike) -> Array:
    return as_floats(name, values, InvalidArgument, "pass a rectangular array")
