"""What a learner is restored from is checked, as nobody knows what happened to it in between."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tests.instances import SMALL_PROBLEM as PROBLEM
from tests.saved import as_json

import edgewise as ew
from edgewise.errors import EdgewiseError, InvalidArgument

_WRONG: tuple[Any, ...] = ("x", {}, [[[[1]]]], float("nan"), -1, None)


def saved_learner() -> dict[str, Any]:
    """After seven rounds, as it comes back from a JSON file."""
    learner = ew.Learner(PROBLEM, rng=5, delta=1e-300)
    environment = ew.BilinearEnvironment(PROBLEM, [[1.0, 0.3], [-0.1, 0.2]], rng=7)
    for _ in range(7):
        ticket = learner.ask()
        learner.tell(ticket, environment(ticket.arms))
    return as_json(learner.save())


def changed(saved: Any, path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    """With another value at one place."""
    result = copy.deepcopy(saved)
    inner = result
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return result  # type: ignore[no-any-return]


def places(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every name, and the first entry of every list."""
    inside = tree if isinstance(tree, dict) else range(min(len(tree), 1))
    for key in inside:
        yield (*path, key)
        if isinstance(tree[key], dict | list):
            yield from places(tree[key], (*path, key))


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("best_arms", 0), PROBLEM.n_arms, "best_arms has the entries"),
        (("deployed", 0), -1, "deployed has the entries -1"),
        (("aim", "kinds"), 0, "aim/kinds has shape"),
        (("aim", "leaders"), [10**6], "aim/"),
        (("statistics", "rewards"), [[1.0]], "statistics/rewards has shape"),
        (("verdict", "stop"), "yes", "verdict/stop is 'yes'"),
        (("rounds",), "seven", "the stored rounds cannot be read"),
        (("rounds",), 10**30, "rounds is 1000"),
        (("aim",), None, "the stored aim cannot be read"),
        (("watch", "sums", "matrices"), [[1.0]], "watch/sums/matrices"),
        (("watch", "block", "numbers"), 1.0, "watch/block/"),
        (("watch", "starts", "numbers", 0, "moment"), 1.0, "watch/starts/numbers/moment"),
        (("watch", "starts", "numbers", 0, "marginals"), {}, "watch/starts/numbers/marginals"),
        (("watch", "starts", "numbers", 0, "marginals", "level"), [], "marginals/level"),
        (("watch", "looked"), -1, "watch/looked is -1"),
        (("watch", "prior"), float("nan"), "watch/prior"),
    ],
)
def test_a_damaged_state_is_refused_by_name(path: tuple[Any, ...], value: Any, said: str) -> None:
    saved = saved_learner()
    with pytest.raises(InvalidArgument, match=said):
        ew.Learner.restore(PROBLEM, changed(saved, ("state", *path), value))
    assert ew.Learner.restore(PROBLEM, saved).rounds == 7


@pytest.mark.parametrize(
    ("method", "name", "value"),
    [("stopping", "assumes", 1e300), ("stopping", "assumes", None), ("strategy", "name", [])],
)
def test_settings_of_a_stored_method_are_of_their_sort(method: str, name: str, value: Any) -> None:
    saved = saved_learner()
    damaged = changed(saved, ("setting", method, "settings", name), value)
    with pytest.raises(InvalidArgument, match=f"stored {method} has {name} = "):
        ew.Learner.restore(PROBLEM, damaged)


@pytest.mark.parametrize("decades", [(4, -4), (0,), (0, 10**30), ("a", "b"), (0, 0.5)])
def test_a_mixture_has_a_range_of_precisions(decades: Any) -> None:
    with pytest.raises(InvalidArgument, match="decades"):
        ew.stopping.Mixture(decades=decades)


@pytest.mark.parametrize(("name", "index"), [("positions", 10**6), ("which", -7)])
def test_a_block_points_to_rows_and_numbers_that_there_are(name: str, index: int) -> None:
    saved = saved_learner()
    row = [0.0] * len(saved["state"]["watch"]["sums"]["vectors"][0])
    one = {key: [0] for key in ("which", "weights", "numbers", "lost", "positions", "rounds")}
    block = {"phase": 0, "features": [row], **one}
    assert ew.Learner.restore(PROBLEM, changed(saved, ("state", "watch", "block"), block)).rounds
    damaged = {**block, name: [index]}
    with pytest.raises(InvalidArgument, match=f"watch/block/{name} has the entries"):
        ew.Learner.restore(PROBLEM, changed(saved, ("state", "watch", "block"), damaged))


@pytest.mark.parametrize("name", ["problem", "setting", "plan", "state"])
def test_what_is_missing_is_refused(name: str) -> None:
    saved = saved_learner()
    del saved[name]
    with pytest.raises(InvalidArgument, match=name):
        ew.Learner.restore(PROBLEM, saved)


def test_no_damaged_state_ends_in_a_bare_error() -> None:
    saved, refused = saved_learner(), 0
    for path in places(saved["state"], ("state",)):
        for value in _WRONG:
            try:
                ew.Learner.restore(PROBLEM, changed(saved, path, value)).ask()
            except EdgewiseError:
                refused += 1
    assert refused > len(list(places(saved["state"])))


def test_arrays_are_as_good_as_lists() -> None:
    saved = saved_learner()
    as_array = changed(saved, ("state", "best_arms"), np.array(saved["state"]["best_arms"]))
    assert ew.Learner.restore(PROBLEM, as_array).rounds == 7


@pytest.mark.parametrize("name", ["moment", "squares", "feature_means", "gram"])
def test_equations_of_a_wrong_size_reach_no_kernel(name: str) -> None:
    """They ended the interpreter: how many phases are over was found by adding them up."""
    problem = ew.Problem(ew.Graph.circle(n_nodes=5), np.eye(2), noise=0.5, pooling="partial")
    learner = ew.Learner(problem, rng=0)
    learner.tell(learner.ask(), np.zeros(10))
    damaged = changed(as_json(learner.save()), ("state", "statistics", name), [1.0])
    with pytest.raises(InvalidArgument, match=r"statistics|closed"):
        ew.Learner.restore(problem, damaged)
