"""Which arms each node may be given."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike

from edgewise.base.arrays import Indices, Mask, frozen
from edgewise.base.choice import instead
from edgewise.errors import InvalidProblem

NamedMask: TypeAlias = Mask
"""(n, K); what names of nodes and arms say becomes one (:func:`by_label`)."""


class Candidates(NamedTuple):
    """Allowed arms, nodes with the same ones grouped."""

    masks: Mask
    """(C, K) the distinct candidate sets."""
    groups: Indices
    """(n,) which one each node has."""


def checked_candidates(candidates: ArrayLike | None, n_nodes: int, n_arms: int) -> Mask | None:
    """(n, K) read-only mask with an arm for every node; None when every node may have every arm."""
    if candidates is None:
        return None
    try:
        mask = np.asarray(candidates)
    except ValueError as error:
        raise InvalidProblem(
            f"candidates cannot be read as an array ({error}); they must be boolean, "
            f"({n_nodes}, {n_arms})"
        ) from error
    if mask.dtype != np.bool_ or mask.shape != (n_nodes, n_arms):
        raise InvalidProblem(
            f"candidates have shape {mask.shape} and type {mask.dtype}; they must be a boolean "
            f"array (n_nodes, n_arms) = ({n_nodes}, {n_arms}), True where the node may have the arm"
        )
    without = np.flatnonzero(~mask.any(axis=1))
    if len(without):
        raise InvalidProblem(
            f"{len(without)} node(s) have no candidate arm, the first is node {without[0]}; "
            "leave every node at least one"
        )
    return None if mask.all() else frozen(mask, np.bool_)


def by_label(
    candidates: Any, nodes: Sequence[Hashable], arms: Sequence[Hashable]
) -> ArrayLike | None:
    """(n, K) what names of nodes and arms say; anything else as it is.

    ``{node: [arms]}``, where nodes that are not named may be given every arm; or a data frame of
    booleans whose index names nodes and whose columns name arms.
    """
    if hasattr(candidates, "columns") and hasattr(candidates, "index"):
        rows, columns = candidates.index.tolist(), candidates.columns.tolist()
        table = np.asarray(candidates, np.bool_)
        given = {
            node: [columns[k] for k in np.flatnonzero(table[i])] for i, node in enumerate(rows)
        }
    elif isinstance(candidates, Mapping):
        given = dict(candidates)
    else:
        return cast("ArrayLike | None", candidates)
    mask = np.ones((len(nodes), len(arms)), np.bool_)
    for node, allowed in given.items():
        row = _place("node", node, nodes)
        mask[row] = False
        mask[row, [_place("arm", arm, arms) for arm in allowed]] = True
    return mask


def _place(what: str, name: Hashable, names: Sequence[Hashable]) -> int:
    if name not in names:
        raise InvalidProblem(
            f"candidates name the {what} {name!r}; {instead(name, [str(one) for one in names])}",
            argument="candidates",
        )
    return names.index(name)


def group_candidates(mask: Mask | None, n_nodes: int, n_arms: int) -> Candidates:
    """Nodes by their allowed arms; a single group when all may have all."""
    if mask is None:
        everything = frozen(np.ones((1, n_arms)), np.bool_)
        return Candidates(everything, frozen(np.zeros(n_nodes), np.int32))
    packed = np.packbits(mask, axis=1)
    _, first, groups = np.unique(packed, axis=0, return_index=True, return_inverse=True)
    return Candidates(frozen(mask[first], np.bool_), frozen(groups.reshape(-1), np.int32))
