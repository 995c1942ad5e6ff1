"""What rounds change: the statistics gathered so far, and what the present phase aims at."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from edgewise.base.arrays import Indices, Mask, frozen
from edgewise.base.checks import reading
from edgewise.core.aim import Aim
from edgewise.core.evidence import by_edge
from edgewise.core.evidence.by_edge import nothing_by_edge
from edgewise.core.evidence.equations import Equations
from edgewise.core.evidence.measuring import (
    ByPhase,
    Statistics,
    all_of,
    closed_from_tree,
    nothing_measured,
    present_from_tree,
    with_present,
)
from edgewise.core.evidence.statistics import CellStatistics
from edgewise.core.gate.contradiction import Contradiction
from edgewise.core.gate.watch import Watch
from edgewise.core.local.normal_equations import Phase
from edgewise.core.model.cells import Cells
from edgewise.core.model.problem import Problem
from edgewise.core.regret import Answer
from edgewise.core.stopping import Verdict
from edgewise.core.tie import Tie


@dataclass(frozen=True, eq=False)
class LearnerState:
    """What the rounds have taught so far."""

    seed: int
    rounds: int
    statistics: Statistics
    """Of the present phase (q, P); a strategy that never changes its mind has one phase."""
    closed: ByPhase
    """Of the phases that are over, (J, q, P)."""
    phase_rounds: int
    """Rounds of the present phase so far."""
    aim: Aim
    verdict: Verdict
    best_arms: Indices | None
    """The fully observed joint arm with the largest total reward; None if none yet."""
    best_total: float
    answer: Answer | None = None
    """What was recommended at the last look, if the target is an allocation."""

    by_edge: Phase | None = None
    """What the edges showed one by one, over the whole run; None where it is not kept."""
    by_edge_closed: Phase | None = None
    """The same as of the last phase that is over, where edges have parameters of their own."""
    pooling: str | None = None
    """What ``pooling="auto"`` has come to, once it is decided."""
    deployed: Indices | None = None
    """(n,) what the last round deployed, at first the baseline; None if that is not known, or the
    plan counts rounds ahead in a simulation."""
    centre: Indices | None = None
    """(n,) of the plan's trust region, as of the last phase that is over; None if it is where it
    began, or there is none."""
    watch: Watch | None = None
    """What the gate has kept and found; None where it is not kept."""
    refuted: Mask | None = None
    """(q, P) the cells that a rule has refuted for good; None if the rule knows no such thing."""
    extra_looks: int = 0
    """Looks beyond those of the rule's own rounds: at other data, or with another confidence."""
    tie: Tie | None = None
    """What was found when ties were last looked for; None before."""

    @classmethod
    def start(
        cls, problem: Problem, cells: Cells, aim: Aim, seed: int, watch: Watch | None = None
    ) -> LearnerState:
        """Before the first round."""
        nothing, none = nothing_measured(problem, cells)
        return cls(
            seed,
            0,
            nothing,
            none,
            0,
            aim,
            Verdict.none_yet(),
            None,
            -np.inf,
            by_edge=nothing_by_edge(problem),
            deployed=problem.baseline,
            watch=watch,
        )

    @property
    def contradictions(self) -> tuple[Contradiction, ...]:
        """What the data say against the model."""
        return () if self.watch is None else self.watch.spoken

    @property
    def total(self) -> CellStatistics | Equations:
        """Statistics of all rounds together."""
        return all_of(self.closed, self.statistics)

    @property
    def by_phase(self) -> ByPhase:
        """Statistics of every phase, the present one last."""
        return with_present(self.closed, self.statistics)

    def to_tree(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "seed": self.seed,
            "rounds": self.rounds,
            "statistics": self.statistics.to_tree(),
            "closed": self.closed.to_tree(),
            "phase_rounds": self.phase_rounds,
            "aim": asdict(self.aim),
            "verdict": asdict(self.verdict),
            "best_arms": None if self.best_arms is None else self.best_arms.copy(),
            "best_total": self.best_total,
            "answer": None if self.answer is None else self.answer.to_tree(),
            "by_edge": by_edge.to_tree(self.by_edge),
            "by_edge_closed": by_edge.to_tree(self.by_edge_closed),
            "pooling": self.pooling,
            "deployed": None if self.deployed is None else self.deployed.copy(),
            "centre": None if self.centre is None else self.centre.copy(),
            "watch": None if self.watch is None else self.watch.to_tree(),
            "refuted": None if self.refuted is None else self.refuted.copy(),
            "extra_looks": self.extra_looks,
            "tie": None if self.tie is None else asdict(self.tie),
        }

    @classmethod
    def from_tree(cls, tree: Mapping[str, Any]) -> LearnerState:
        """The inverse of :meth:`to_tree`; lists instead of arrays and tuples are fine."""
        with reading("statistics"):
            statistics = present_from_tree(tree["statistics"])
        with reading("closed"):
            closed = closed_from_tree(tree["closed"], statistics)
        others: dict[str, Any] = {}
        for name, read in _READERS.items():
            with reading(name):
                others[name] = read(tree[name])
        for name, read in _NOT_KEPT_BEFORE.items():
            with reading(name):
                others[name] = None if tree.get(name) is None else read(tree[name])
        with reading("extra_looks"):
            looks = int(tree.get("extra_looks", 0))
        return cls(statistics=statistics, closed=closed, extra_looks=looks, **others)


def _aim(tree: Mapping[str, Any]) -> Aim:
    return Aim(
        np.array(tree["kinds"], np.int64),
        np.array(tree["leaders"], np.int64),
        np.array(tree["rivals"], np.int64),
        np.array(tree["needs"], float),
        int(tree["length"]),
    )


def _joint_arm(value: Any) -> Indices:
    return frozen(value, np.int32)


_READERS: dict[str, Callable[[Any], Any]] = {
    "seed": int,
    "rounds": int,
    "phase_rounds": int,
    "aim": _aim,
    "verdict": Verdict.from_tree,
    "best_arms": lambda value: None if value is None else _joint_arm(value),
    "best_total": float,
    "answer": lambda value: None if value is None else Answer.from_tree(value),
}
_NOT_KEPT_BEFORE: dict[str, Callable[[Any], Any]] = {
    "by_edge": by_edge.from_tree,
    "by_edge_closed": by_edge.from_tree,
    "pooling": str,
    "deployed": _joint_arm,
    "centre": _joint_arm,
    "watch": Watch.from_tree,
    "refuted": lambda value: frozen(value, np.bool_),
    "tie": Tie.from_tree,
}
"""Fields that older versions did not store; None where there is none."""
