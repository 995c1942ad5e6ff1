"""Names of nodes, arms and kinds, as the user wrote them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from edgewise.base.arrays import Indices
from edgewise.errors import InvalidFile
from edgewise.formats.table import Table

if TYPE_CHECKING:
    from edgewise.core.model.problem import Problem


_DIGITS = 19
"""Longer numerals are names: no integer of a kernel holds them."""


def readable(names: Sequence[Any]) -> list[Hashable]:
    """Names as they are, or as integers if all are whole numbers in their usual spelling."""
    texts = list(map(str, names))
    if all(text.isdecimal() and len(text) < _DIGITS for text in texts):
        numbers = list(map(int, texts))
        if list(map(str, numbers)) == texts:  # not 007
            return list(numbers)
    return list(texts)


def encode(names: Sequence[Any] | Indices) -> tuple[Indices, tuple[Hashable, ...]]:
    """Codes 0, 1, ... and what they stand for: numbers in order, other names as they appear.

    >>> encode(["10", "9", "10"])
    (array([1, 0, 1]), (9, 10))
    >>> encode(["north", "hub", "north"])
    (array([0, 1, 0]), ('north', 'hub'))
    """
    if isinstance(names, np.ndarray) and np.issubdtype(names.dtype, np.integer):
        return _encode_numbers(names)
    values = readable(list(names))
    order: list[Any] = list(dict.fromkeys(values))
    if isinstance(order[0], int):
        order.sort()
    code = {value: i for i, value in enumerate(order)}
    return np.fromiter((code[value] for value in values), np.int64, len(values)), tuple(order)


def _encode_numbers(names: Indices) -> tuple[Indices, tuple[Hashable, ...]]:
    """Whole numbers by their rank; those that leave few gaps without being sorted."""
    low, high = int(names.min()), int(names.max())
    if low < 0 or high > min(4 * len(names), 2**31 - 1):
        numbers, inverse = np.unique(names, return_inverse=True)
        return inverse, tuple(numbers.tolist())
    present = np.zeros(high + 1, bool)
    present[names] = True
    rank = np.cumsum(present, dtype=np.int32) - np.int32(1)
    return rank[names], tuple(np.flatnonzero(present).tolist())


def require_distinct(table: Table, column: str, names: Sequence[Hashable]) -> None:
    """Raise at the first record whose name another record has."""
    first: dict[Hashable, int] = {}
    for record, name in enumerate(names):
        if name in first:
            raise InvalidFile(
                f"{table.at(record)}, column {column!r}: {name!r} is also the name of "
                f"{table.unit} {table.places[first[name]]}; give every {column} a name of its own"
            )
        first[name] = record


def labelled(problem: Problem, arms: Indices) -> list[dict[str, Hashable]]:
    """A joint arm (n,) as rows with the user's labels of nodes and arms."""
    names = range(problem.n_arms) if problem.arm_labels is None else problem.arm_labels
    nodes = problem.graph.labels
    return [{"node": node, "arm": names[k]} for node, k in zip(nodes, arms.tolist(), strict=True)]
