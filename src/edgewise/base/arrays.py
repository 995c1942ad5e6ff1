"""Array types, the one way to read numbers, and the one way to store them inside a value."""

from __future__ import annotations

from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from edgewise.errors import EdgewiseError

Array: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.integer[Any]]
Mask: TypeAlias = NDArray[np.bool_]


def as_floats(name: str, values: ArrayLike, error: type[EdgewiseError], remedy: str) -> Array:
    """``values`` as numbers in C order, or the error, which says what they are and what to do."""
    try:
        return np.asarray(values, dtype=float, order="C")
    except (TypeError, ValueError, OverflowError) as wrong:
        raise error(f"{name} cannot be read as numbers ({wrong}); {remedy}") from wrong


def frozen(values: ArrayLike, dtype: DTypeLike) -> NDArray[Any]:
    """A read-only, C-ordered copy of ``values``: what a frozen value may hold.

    An array that is read-only and owns its memory is returned as it is: nobody can write to it.
    """
    if (
        isinstance(values, np.ndarray)
        and values.dtype == np.dtype(dtype)
        and not values.flags.writeable
        and values.flags.owndata
        and values.flags.c_contiguous
    ):
        return values
    copy = np.array(values, dtype=dtype, order="C", copy=True)
    copy.setflags(write=False)
    return copy


_C = TypeVar("_C", bound=type)


def stays_frozen(kind: _C) -> _C:
    """A class of frozen values whose arrays stay read-only after ``pickle`` and ``deepcopy``.

    >>> from copy import deepcopy
    >>> @stays_frozen
    ... class Value:
    ...     def __init__(self, numbers):
    ...         self.numbers = frozen(numbers, float)
    >>> deepcopy(Value([1.0])).numbers.flags.writeable
    False
    """

    def restore(self: Any, state: dict[str, Any]) -> None:
        for value in state.values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
        self.__dict__.update(state)

    kind.__setstate__ = restore  # type: ignore[attr-defined]
    kind.__deepcopy__ = lambda self, memo: self  # type: ignore[attr-defined]  # noqa: ARG005
    return kind
