r"""Adaptive phases: every phase is laid out for the contrasts that are still open.

At the start of a phase take the rivals still open and what each of them needs
(:mod:`edgewise.core.strategies.phases`); then fill joint arms greedily for the worst-served rival
(:mod:`edgewise.core.strategies.layout`). What a graph can carry is thereby respected: only joint
arms are ever considered.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgewise.base.arrays import Array, Indices, frozen
from edgewise.core.design.g_optimal import Design
from edgewise.core.design.node_laws import NodeLaws
from edgewise.core.evidence.statistics import count_joint_arm
from edgewise.core.model.cells import Cells
from edgewise.core.model.problem import Problem
from edgewise.core.needs import Needs
from edgewise.core.state import Aim, LearnerState
from edgewise.core.strategies.layout import breadth_first, lay_out
from edgewise.core.strategies.phases import aim_at, is_phase_over, overtime


@dataclass(frozen=True, eq=False)
class AdaptivePhases:
    """The plan of the adaptive strategy."""

    cells: Cells
    order: Indices
    """(n,) order in which nodes are filled."""
    prior: Array
    """(q, p, p) information of a single arc spread evenly over all cells: makes A invertible
    while a phase begins; it is not counted as evidence."""
    anything: NodeLaws
    """Candidates drawn evenly: what is deployed when the layout gets a phase nowhere."""
    growth: float
    power: float
    designs: tuple[Design, ...] = ()
    stopping: str = "anytime"
    ridge: float = 0.0
    has_phases: bool = True

    @classmethod
    def of(cls, problem: Problem, *, growth: float, power: float) -> AdaptivePhases:
        """Prepare what does not change from phase to phase."""
        cells = Cells.of(problem)
        masks, groups = problem.candidate_sets
        return cls(
            cells=cells,
            order=frozen(breadth_first(problem.graph), np.int64),
            prior=frozen(_spread_evenly(cells), float),
            anything=NodeLaws.of(masks / masks.sum(axis=1, keepdims=True), groups),
            growth=growth,
            power=power,
        )

    def first_aim(self) -> Aim:
        """One round laid out for log det A, more if it takes more to see every direction."""
        return Aim.everything(1)

    def next_aim(self, state: LearnerState, needs: Needs | None) -> Aim:
        """The open contrasts that need most, each with the information it still needs."""
        return aim_at(state, needs, growth=self.growth)

    def phase_over(self, problem: Problem, state: LearnerState) -> bool:  # noqa: ARG002
        """After its length, once its contrasts (at first: all directions) can be estimated."""
        return is_phase_over(self.cells, state)

    def joint_arm(self, problem: Problem, state: LearnerState) -> Indices:
        """Laid out for the aim, given the information the phase has already.

        Edges that are never measured would get the same arms for ever: in overtime, nodes draw
        every other round.
        """
        late = state.phase_rounds - overtime(self.cells, state)
        if late >= 0 and late % 2 == 0:
            return self.anything.draw(seed=state.seed, round=state.rounds + 1)
        gram = self.prior + self.cells.grams(state.statistics.information)
        inverse = np.linalg.inv(gram).astype(float, copy=False)
        masks, groups = problem.candidate_sets
        arms = lay_out(
            problem.graph,
            self.order,
            masks,
            groups,
            self.cells.features,
            self.cells.pair_index,
            inverse,
            state.aim.contrasts(self.cells),
            state.aim.kinds,
            state.aim.needs,
            power=self.power,
        )
        arms.setflags(write=False)
        return arms

    def upcoming(
        self,
        problem: Problem,
        state: LearnerState,
        n_rounds: int,  # noqa: ARG002
    ) -> tuple[NDArray[np.int64], Array]:
        """One round: the next one depends on whether this one ends the phase."""
        arms = self.joint_arm(problem, state)
        observations, information = count_joint_arm(problem.graph, self.cells, arms)
        return observations[None], information[None]

    def memory(self) -> dict[str, Any]:
        """Nothing: the aim of the phase is part of the state."""
        return {}

    def recall(self, saved: Mapping[str, Any]) -> AdaptivePhases:  # noqa: ARG002
        """Itself."""
        return self


def _spread_evenly(cells: Cells) -> Array:
    """(q, p, p) mean of phi phi' over showable cells; 1 on the diagonal of padded dimensions."""
    share = cells.showable / cells.showable.sum(axis=1, keepdims=True)
    return cells.padded(cells.grams(share))
