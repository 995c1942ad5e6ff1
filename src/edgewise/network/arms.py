"""Arms in the coordinates where they are easiest to compute with."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from edgewise.base.arrays import Array, as_floats, frozen
from edgewise.errors import InvalidProblem


@dataclass(frozen=True, eq=False)
class Whitening:
    """Arms seen in a basis of their span where they have the identity as second moment."""

    coordinates: Array
    r"""(K, r) :math:`Y = X T`, with :math:`Y^\top Y = K I`."""
    transform: Array
    """(d, r) the linear map ``T``."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "coordinates", frozen(self.coordinates, float))
        object.__setattr__(self, "transform", frozen(self.transform, float))

    @property
    def rank(self) -> int:
        """Dimension ``r`` of the span of the arms."""
        return int(self.transform.shape[1])


NamedArms: TypeAlias = Array
"""(K, d); a data frame, whose index and columns are the names, becomes one."""


class ArmNames(NamedTuple):
    """What a table of arms calls them."""

    arms: tuple[Hashable, ...] | None
    features: tuple[str, ...] | None


def names_of(arms: Any) -> ArmNames:
    """Index and columns of a data frame; nothing where they are mere numbers, or no frame."""
    if not (hasattr(arms, "index") and hasattr(arms, "columns")):
        return ArmNames(None, None)
    index, columns = (tuple(axis.tolist()) for axis in (arms.index, arms.columns))
    numbered, unnamed = (axis == tuple(range(len(axis))) for axis in (index, columns))
    return ArmNames(None if numbered else index, None if unnamed else tuple(map(str, columns)))


def checked_arms(arms: ArrayLike) -> Array:
    """The arms as a finite, non-empty (K, d) array of floats, or an error.

    >>> checked_arms([[1, 0], [0, 2]]).dtype
    dtype('float64')
    """
    array = as_floats(
        "arms",
        arms,
        InvalidProblem,
        "every arm must list the same number of real features; pass an array of shape (K, d)",
    )
    if array.ndim != 2:
        raise InvalidProblem(
            f"arms have shape {array.shape}; they must be a table with one row per arm and one "
            f"column per feature; pass an array of shape (K, d)"
        )
    if array.size == 0:
        raise InvalidProblem(
            f"arms have shape {array.shape}; at least one arm and one feature are needed; "
            f"pass a non-empty array of shape (K, d)"
        )
    bad = np.flatnonzero(~np.isfinite(array).all(axis=1))
    if len(bad):
        raise InvalidProblem(
            f"{len(bad)} arm(s) hold NaN or infinity, the first is arm {bad[0]}; every feature "
            f"must be a finite number; remove or repair them"
        )
    return array


def require_span(rank: int, dimension: int) -> None:
    """Raise unless the arms span all ``dimension`` dimensions."""
    if rank < dimension:
        raise InvalidProblem(
            f"arms span {rank} of {dimension} dimensions, so M is not identifiable; "
            f"add {dimension - rank} independent arm(s) or pass project=True",
            argument="arms",
        )


def whiten(arms: ArrayLike) -> Whitening:
    r"""Linear change of coordinates that gives the arms the identity as second moment.

    .. math:: Y = X T, \qquad \frac1K \sum_k y_k y_k^\top = I_r

    Optimal designs, variances and confidence widths do not change under such a map, while
    factorisations in the new coordinates lose no digits to features of different scales.

    Columns are first scaled to unit norm, so that the rank does not depend on the units of the
    features; singular values at most ``max(K, d) * eps`` times the largest count as zero.

    >>> metres_and_nanometres = np.array([[1.0, 0.0], [1.0, 1e-9], [1.0, 2e-9]])
    >>> white = whiten(metres_and_nanometres)
    >>> white.rank
    2
    >>> np.allclose(white.coordinates.T @ white.coordinates, 3 * np.eye(2))
    True
    """
    array = checked_arms(arms)
    n_arms = len(array)
    scales = _column_norms(array)
    left, singular, right = np.linalg.svd(array / scales, full_matrices=False)
    cutoff = max(array.shape) * np.finfo(float).eps * singular[0]
    rank = int((singular > cutoff).sum())
    root = np.sqrt(n_arms)
    return Whitening(
        # From the singular vectors, not as arms @ transform: orthogonal to the last digit.
        coordinates=left[:, :rank] * root,
        transform=right[:rank].T / singular[:rank] * root / scales[:, None],
    )


def _column_norms(arms: Array) -> Array:
    """Norm of each column, without overflow; 1 for a column that is zero."""
    peaks = np.abs(arms).max(axis=0)
    # The inverse of a subnormal number overflows: such a column is zero for every purpose.
    peaks[peaks < np.finfo(float).tiny] = 1.0
    norms = peaks * np.linalg.norm(arms / peaks, axis=0)
    return np.where(norms < np.finfo(float).tiny, 1.0, norms)
