"""The local model's predictions, phase after phase: what came true of them so far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from edgewise.base.arrays import Array, Indices
from edgewise.core.gate.local import Predicted, log_bets, predicted
from edgewise.core.gate.solving import log_mean
from edgewise.core.gate.sums import SPREADS
from edgewise.core.local.normal_equations import Phase
from edgewise.core.model.problem import Problem


@dataclass(frozen=True, eq=False)
class Predictions:
    """The rounds of the present phase, and the bets on those before."""

    arms: Indices
    """(T, n)"""
    rewards: Array
    """(T, m)"""
    phases: int
    """Phases that were predicted."""
    bets: Mapping[str, Array]
    """(tau,) logs, by form."""

    @classmethod
    def nothing(cls, problem: Problem) -> Predictions:
        """Before the first round."""
        none = {name: np.zeros(len(SPREADS)) for name in ("round", "drift", "calibration")}
        shape = (0, problem.graph.n_nodes), (0, problem.n_rewards)
        return cls(np.zeros(shape[0], np.int32), np.zeros(shape[1]), 0, none)

    def with_round(self, arms: Indices, rewards: Array) -> Predictions:
        """With one more round of the phase."""
        if not len(self.arms):  # a text knows no columns of an empty array
            return replace(self, arms=np.array([arms]), rewards=np.array([rewards]))
        rounds = np.vstack([self.arms, arms]), np.vstack([self.rewards, rewards])
        return replace(self, arms=rounds[0], rewards=rounds[1])

    def judged(
        self, problem: Problem, before: Phase | None
    ) -> tuple[Predicted | None, Predictions]:
        """At the end of the phase: how it went, and the bets with it."""
        empty = replace(self, arms=self.arms[:0], rewards=self.rewards[:0])
        found = None
        if before is not None and len(self.arms):
            found = predicted(problem, before, self.arms, self.rewards)
        if found is None or not len(found.errors):
            return None, empty
        new = log_bets(found)
        bets = {name: logs + new[name] for name, logs in self.bets.items()}
        return found, replace(empty, phases=self.phases + 1, bets=bets)

    def evidence(self) -> dict[str, float]:
        """Log E of every form."""
        return {name: log_mean(logs) for name, logs in self.bets.items()}

    def to_tree(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "arms": self.arms,
            "rewards": self.rewards,
            "phases": self.phases,
            "bets": dict(self.bets),
        }

    @classmethod
    def from_tree(cls, tree: Mapping[str, Any]) -> Predictions:
        """The inverse of :meth:`to_tree`."""
        arms, rewards = np.array(tree["arms"], np.int32), np.array(tree["rewards"], float)
        bets = {name: np.array(logs, float) for name, logs in tree["bets"].items()}
        return cls(arms, rewards, int(tree["phases"]), bets)
