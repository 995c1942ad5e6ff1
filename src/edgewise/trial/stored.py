"""Stored trials, checked before they are believed: nothing else reaches the statistics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from edgewise.allocation.instance.objective import checked_joint_arm
from edgewise.base.checks import flag, probability, table, text, whole
from edgewise.core.model.problem import Problem
from edgewise.errors import InvalidArgument
from edgewise.trial.pairs import TrialDesign, TrialRecord, TrialState

_DESIGN = {"names", "arms", "delta", "goal", "max_pairs", "seed"}
_STATE = {"totals", "current", "attempt", "abandoned"}


def stored_design(problem: Problem, tree: Any) -> TrialDesign:
    """The design that a tree describes; InvalidArgument unless it is one of this problem."""
    _require_names("design", tree, _DESIGN)
    arms = np.asarray(tree["arms"])
    if arms.ndim != 2 or len(arms) != len(tree["names"]) or not len(arms):
        raise InvalidArgument(f"arms of a trial have shape {arms.shape}; one row per candidate")
    for row in arms:
        checked_joint_arm(row, problem.graph.n_nodes, problem.n_arms)
    for name in tree["names"]:
        text("names", name)
    probability("delta", tree["delta"], "the probability of a wrong ending")
    _require_names("goal", tree["goal"], {"margin", "width"})
    whole("max_pairs", tree["max_pairs"], least=1)
    whole("seed", tree["seed"], least=0, most=2**64 - 1)
    return TrialDesign.from_tree(tree)


def stored_record(problem: Problem, tree: Any) -> TrialRecord:
    """The trial that a tree describes; InvalidArgument unless it is one of this problem."""
    _require_names("trial", tree, {"design", "state"})
    design, state = stored_design(problem, tree["design"]), tree["state"]
    _require_names("state", state, _STATE)
    totals, current = np.asarray(state["totals"]), np.asarray(state["current"])
    if totals.shape[1:] != (design.n_candidates,) or current.shape != (design.n_candidates,):
        raise InvalidArgument(
            f"totals of a trial have shapes {totals.shape} and {current.shape}; there are "
            f"{design.n_candidates} candidates"
        )
    if np.isinf(totals).any() or np.isinf(current).any():
        raise InvalidArgument("totals of a trial are infinite; they must be finite, or missing")
    whole("attempt", state["attempt"], least=1)
    flag("abandoned", state["abandoned"])
    return TrialRecord(design, TrialState.from_tree(state))


def _require_names(what: str, tree: Any, names: set[str]) -> None:
    found: Mapping[str, Any] = table(what, tree)
    if set(found) != names:
        raise InvalidArgument(
            f"the {what} of a trial has the fields {', '.join(sorted(found))}; it should have "
            f"{', '.join(sorted(names))}"
        )
