"""What a study was created from, as a tree: so that loading it needs nothing but its name."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np

from edgewise.core.model.problem import Problem
from edgewise.core.setting import Setting
from edgewise.core.stopping import RULES, StoppingRule
from edgewise.core.strategies.registry import BUILT_IN
from edgewise.core.strategies.strategy import Strategy
from edgewise.errors import InvalidArgument, IsolatedNodes
from edgewise.network.graph import Graph
from edgewise.study.log.events import Created

_METHODS = {kind.__name__: kind for kind in (*BUILT_IN.values(), *map(type, RULES.values()))}


def record(setting: Setting, *, seed: int, max_rounds: int | None) -> Created:
    """The event that sets up a study.

    Methods are recorded with all their settings, not by name: a later edgewise may have others.
    """
    graph = setting.problem.graph
    return Created(
        problem=_fields(setting.problem) | {"graph": _fields(graph)},
        options={
            "delta": setting.delta,
            "epsilon": setting.epsilon,
            "target": setting.target,
            "strategy": _method_tree(setting.strategy),
            "stopping": _method_tree(setting.rule),
        },
        memory=setting.plan.memory(),
        seed=seed,
        max_rounds=max_rounds,
    )


def rebuild(
    created: Created, *, strategy: Strategy | None = None, stopping: StoppingRule | None = None
) -> Setting:
    """The setting that :func:`record` recorded; methods of the user's own must be passed again."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IsolatedNodes)  # said when the study was created
        graph = Graph(**created.problem["graph"])
    problem = Problem(**{**created.problem, "graph": graph})
    options = dict(created.options)
    options["strategy"] = _method("strategy", options["strategy"], strategy)
    options["stopping"] = _method("stopping", options["stopping"], stopping)
    setting = Setting.of(problem, **options)
    return replace(setting, plan=setting.plan.recall(created.memory))


def _fields(value: Graph | Problem) -> dict[str, Any]:
    return {field.name: getattr(value, field.name) for field in fields(value) if field.init}


def _method_tree(method: Any) -> dict[str, Any]:
    """A built-in method with its settings; of any other, how to recognise it."""
    if not _is_built_in(method):
        return {"own": repr(method)}
    settings = {field.name: getattr(method, field.name) for field in fields(method) if field.init}
    return {
        "method": type(method).__name__,
        "settings": {
            name: _method_tree(value) if is_dataclass(value) else value
            for name, value in settings.items()
        },
    }


def _is_built_in(method: Any) -> bool:
    """Whether edgewise brings the method, and every method inside it."""
    if type(method) not in _METHODS.values() or not is_dataclass(method):
        return False
    values = (getattr(method, field.name) for field in fields(method))
    return all(_is_built_in(value) for value in values if callable(value))


def _method(argument: str, tree: Mapping[str, Any], given: Any) -> Any:
    if "own" in tree:
        if given is None or repr(given) != tree["own"]:
            raise InvalidArgument(
                f"the study was created with {argument}={tree['own']}, which is not part of "
                f"edgewise, not with {given!r}; pass it to load(..., {argument}=...) as it was"
            )
        return given
    if given is not None:
        raise InvalidArgument(
            f"the study knows its {argument}; load it without {argument}= (a study keeps the "
            "methods it was created with)"
        )
    settings = {
        name: _method(argument, value, None) if isinstance(value, dict) else value
        for name, value in tree["settings"].items()
    }
    return _METHODS[tree["method"]](**settings)


def draw_seed(rng: np.random.Generator | int | None) -> int:
    """The seed of all joint arms: that of a :class:`~edgewise.Learner` with the same ``rng``."""
    return int(np.random.default_rng(rng).integers(2**64, dtype=np.uint64))
