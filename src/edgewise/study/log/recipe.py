"""What a study was created from, as a tree: so that loading it needs nothing but its name."""

from __future__ import annotations

import warnings
from dataclasses import fields
from typing import Any

from edgewise import __version__
from edgewise.core import recipe
from edgewise.core.model.problem import Problem
from edgewise.core.setting import Setting
from edgewise.core.stopping import StoppingRule
from edgewise.core.strategies import Strategy
from edgewise.core.targets import Target
from edgewise.errors import EdgewiseError, InvalidArgument, IsolatedNodes
from edgewise.network.graph import Graph
from edgewise.study.log.events import Created
from edgewise.study.log.past import Past, after_past


def record(
    setting: Setting, *, seed: int, max_rounds: int | None, past: Past | None = None
) -> Created:
    """The event that sets up a study."""
    graph = setting.problem.graph
    return Created(
        problem=_fields(setting.problem) | {"graph": _fields(graph)},
        options=recipe.to_tree(setting),
        memory=setting.plan.to_tree(),
        seed=seed,
        max_rounds=max_rounds,
        past=None if past is None else past.to_tree(),
    )


def rebuild(
    created: Created,
    *,
    strategy: Strategy | None = None,
    stopping: StoppingRule | None = None,
    target: Target | None = None,
) -> Setting:
    """The setting that :func:`record` recorded; methods of the user's own must be passed again."""
    try:
        return _rebuilt(created, strategy, stopping, target)
    except EdgewiseError:
        raise
    except Exception as error:  # nothing is known of a table from outside
        raise InvalidArgument(
            f"the study was not created as edgewise {__version__} does it "
            f"({type(error).__name__}: {error}); another version wrote it, or it was edited"
        ) from error


def _rebuilt(
    created: Created,
    strategy: Strategy | None,
    stopping: StoppingRule | None,
    target: Target | None,
) -> Setting:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IsolatedNodes)  # said when the study was created
        graph = Graph(**created.problem["graph"])
    problem = Problem(**{**created.problem, "graph": graph})
    setting = recipe.from_tree(
        problem,
        created.options,
        created.memory,
        strategy=strategy,
        stopping=stopping,
        target=target,
    )
    return setting if created.past is None else after_past(setting, Past.from_tree(created.past))


def _fields(value: Graph | Problem) -> dict[str, Any]:
    return {field.name: getattr(value, field.name) for field in fields(value) if field.init}
