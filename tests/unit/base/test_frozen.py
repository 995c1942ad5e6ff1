"""Values that say they are frozen stay so, wherever they have been."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from copy import copy, deepcopy
from typing import Any

import numpy as np
import pytest

import edgewise as ew

PROBLEM = ew.Problem(
    ew.Graph.from_edges([(0, 1), (1, 2)], weights=[1.0, 2.0]), np.eye(2), noise=0.5
)


def values() -> dict[str, Any]:
    study = ew.Study.create("farm", PROBLEM, rng=0)
    return {
        "graph": PROBLEM.graph,
        "problem": PROBLEM,
        "allocation": ew.allocate(PROBLEM.graph, PROBLEM.arms, np.eye(2)),
        "design": ew.g_optimal(np.eye(2)),
        "ticket": ew.Learner(PROBLEM, rng=0).ask(),
        "study ticket": study.ask(),
    }


def pickled(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))


@pytest.mark.parametrize("way", [pickled, deepcopy, copy])
@pytest.mark.parametrize("name", values())
def test_arrays_stay_read_only(name: str, way: Callable[[Any], Any]) -> None:
    value = values()[name]
    again = way(value)
    arrays = {key: one for key, one in vars(again).items() if isinstance(one, np.ndarray)}
    assert [key for key, one in arrays.items() if one.flags.writeable] == []
    for key, one in arrays.items():
        assert np.array_equal(one, getattr(value, key))
