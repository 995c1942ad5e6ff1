"""Saved learners, compared and sent through JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np


def same(first: Any, second: Any) -> bool:
    """Whether two values of ``Learner.save`` are equal to the last bit."""
    if isinstance(first, Mapping):
        return first.keys() == second.keys() and all(same(first[k], second[k]) for k in first)
    if isinstance(first, list):
        return len(first) == len(second) and all(map(same, first, second))
    if isinstance(first, np.ndarray):
        return np.array_equal(first, second, equal_nan=first.dtype.kind == "f")
    return bool(first == second)


def as_json(saved: Mapping[str, Any]) -> dict[str, Any]:
    """As it comes back from a JSON file."""
    loaded: dict[str, Any] = json.loads(json.dumps(saved, default=lambda array: array.tolist()))
    return loaded
