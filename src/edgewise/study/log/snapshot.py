"""The state of a study as bytes: a cache, so that nobody reads a long log from its beginning."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgewise.base.checks import table
from edgewise.base.wording import shown
from edgewise.core.setting import Setting
from edgewise.errors import InvalidArgument
from edgewise.study.log.codec import pack, unpack
from edgewise.study.log.fields import read_fields
from edgewise.study.log.fold import StudyState

FORMAT = 1

_EQUAL = 1e-9
"""Numbers of another machine may differ by so much of them; decisions not at all."""


def snapshot_of(state: StudyState) -> bytes:
    """A state as bytes."""
    return pack(snapshot_tree(state))


def snapshot_tree(state: StudyState) -> dict[str, Any]:
    """A state as a tree, with the number of the format."""
    return {"format": FORMAT, "state": state.to_tree()}


def state_of(base: Setting, snapshot: bytes) -> StudyState | None:
    """The inverse of :func:`snapshot_of`; None if it was written by another edgewise."""
    return state_from_tree(base, unpack(snapshot))


def state_from_tree(base: Setting, tree: Mapping[str, Any]) -> StudyState | None:
    """The inverse of :func:`snapshot_tree`; EdgewiseError if it is no state of the study."""
    if tree.get("format") != FORMAT:
        return None
    state = StudyState(**read_fields(StudyState, table("state", tree.get("state")), base))
    _check_agreement(state)
    return state


def _check_agreement(state: StudyState) -> None:
    """Raise unless the parts of a state fit each other."""
    rounds = state.learner.rounds
    for name, found in (("totals", state.totals), ("progress", state.progress)):
        if len(found) != rounds:
            raise InvalidArgument(f"{name} has {len(found)} numbers for {rounds} rounds")
    ends = (0, *state.phase_ends)
    if list(ends) != sorted(set(ends)) or ends[-1] > rounds:
        raise InvalidArgument(f"phase_ends is {shown(state.phase_ends)}, after {rounds} rounds")
    if len(state.learner.closed) != len(state.phase_ends):
        raise InvalidArgument(
            f"{len(state.learner.closed)} phases are closed, and {len(state.phase_ends)} have ended"
        )
    if state.pending is not None and state.pending.number != rounds + 1:
        raise InvalidArgument(f"round {state.pending.number} is out, after {rounds} rounds")


# -- comparing -------------------------------------------------------------------------------


def first_difference(stored: Mapping[str, Any], state: StudyState) -> str | None:
    """Where a stored snapshot differs from a state, in words; None but for rounding.

    What an older edgewise did not store, or computed by another rule, is not compared.
    """
    return next(_differences("", stored["state"], unpack(snapshot_of(state))["state"]), None)


def _differences(path: str, found: Any, expected: Any) -> Iterator[str]:
    if isinstance(found, Mapping) and isinstance(expected, Mapping):
        if found.get("rule") != expected.get("rule"):
            return
        for name, value in found.items():
            yield from _differences(f"{path}/{name}".lstrip("/"), value, expected.get(name))
    elif isinstance(found, list | tuple) and isinstance(expected, list | tuple):
        if len(found) != len(expected):
            yield f"{path} has {len(found)} entries, not {len(expected)}"
        for position, pair in enumerate(zip(found, expected, strict=False)):
            yield from _differences(f"{path}/{position}", *pair)
    elif isinstance(found, np.ndarray) and isinstance(expected, np.ndarray):
        if not _same_array(found, expected):
            yield f"{path} has other entries"
    elif not _same_value(found, expected):
        yield f"{path} is {shown(found)}, not {shown(expected)}"


def _same_array(found: NDArray[Any], expected: NDArray[Any]) -> bool:
    """Floats to a part of the largest: what cancels out in sums is only rounding."""
    if found.shape != expected.shape:
        return False
    if found.dtype.kind != "f" and expected.dtype.kind != "f":
        return np.array_equal(found, expected)
    largest = np.nanmax(np.abs(expected), initial=0.0)
    return bool(np.allclose(found, expected, rtol=_EQUAL, atol=_EQUAL * largest, equal_nan=True))


def _same_value(found: Any, expected: Any) -> bool:
    if isinstance(found, float) and isinstance(expected, float):
        both_missing = math.isnan(found) and math.isnan(expected)
        return both_missing or math.isclose(found, expected, rel_tol=_EQUAL)
    return type(found) is type(expected) and bool(found == expected)
