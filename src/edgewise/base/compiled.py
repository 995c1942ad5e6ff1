"""The one door to numba, so that importing edgewise does not import it."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

import numba

_P = ParamSpec("_P")
_R = TypeVar("_R")


def compiled(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Compile ``function`` at its first call and keep the machine code on disk.

    No ``fastmath``: results must not depend on how a compiler reorders sums.
    """
    return cast(
        Callable[_P, _R],
        numba.njit(cache=True, nogil=True, error_model="numpy")(function),
    )
