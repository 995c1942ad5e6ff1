r"""Adaptive phases: every phase is laid out for the contrasts that are still open.

At the start of a phase take the rivals still open and what each of them needs
(:mod:`edgewise.core.aim`); then fill joint arms greedily for the worst-served rival
(:mod:`edgewise.core.strategies.layout`). What a graph can carry is thereby respected: only joint
arms are ever considered.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from edgewise.base.arrays import Array, Indices, frozen
from edgewise.base.border import border
from edgewise.base.checks import whole
from edgewise.base.scales import binary_unit
from edgewise.core.design.g_optimal import Design
from edgewise.core.design.node_laws import NodeLaws
from edgewise.core.model.cells import Cells
from edgewise.core.model.problem import Problem
from edgewise.core.state import LearnerState
from edgewise.core.strategies.layout import breadth_first, lay_out
from edgewise.core.strategies.phases import GrowingPhases, overtime, shortest_phase
from edgewise.core.strategies.spread import SpreadPhases
from edgewise.errors import InvalidArgument

_ORDINARY = 3
"""Weights between 1/8 and 8."""


@border
@dataclass(frozen=True)
class Adaptive:
    """Phases laid out, as joint arms, for the rivals that are still open.

    The first phase sees every direction; each later one lasts ``growth`` times the rounds so far
    (at least one) and serves the contrasts between the leader and its open rivals, the
    worst-served most (``power``). Works on every graph.

    The first phase also takes cells to pay more or less than the features say, by a variance of
    ``doubt`` / p times the noise's (p parameters): it shows more arms than the features need, to
    which some matrix would always fit, so that features that are missing show. That costs next to
    no rounds. With ``even`` above 0, every node draws any of its arms in the first rounds, which
    costs more.

    Nothing else is drawn at random, except when missing rewards keep a phase from ending.
    """

    growth: float = 0.1
    power: float = 4.0
    name: str = "adaptive"
    even: int = 0
    doubt: float = 1.5

    def __post_init__(self) -> None:
        if not (self.growth > 0 and self.power > 0):
            raise InvalidArgument(
                f"growth is {self.growth} and power {self.power}; both must be above 0"
            )
        whole("even", self.even, least=0)
        if not 0 <= self.doubt < np.inf:
            raise InvalidArgument(
                f"doubt is {self.doubt}; it is a variance in units of the noise's, at least 0 "
                "(0: the features are believed)"
            )

    def __call__(self, problem: Problem, /) -> AdaptivePhases | SpreadPhases:
        """Prepare the layout; where edges have parameters of their own, rounds are spread out."""
        plan = AdaptivePhases.of(
            problem, growth=self.growth, power=self.power, even=self.even, doubt=self.doubt
        )
        if problem.pooling in ("partial", "auto"):
            return SpreadPhases.of(problem, plan, self.growth)
        return plan


@dataclass(frozen=True, eq=False)
class AdaptivePhases:
    """The plan of the adaptive strategy."""

    cells: Cells
    layout: Cells
    """The cells that rounds are laid out by: as if every arc were measured."""
    order: Indices
    """(n,) order in which nodes are filled."""
    prior: Array
    """(q, p, p) information of a single arc of typical weight, spread evenly over all cells: makes
    A invertible while a phase begins; it is not counted as evidence."""
    anything: NodeLaws
    """Candidates drawn evenly: what is deployed when the layout gets a phase nowhere."""
    phasing: GrowingPhases
    power: float
    even: int = 0
    """Rounds at the start whose joint arms are drawn so."""
    doubt: float = 0.0
    """Variance of what a cell may pay beyond its features, in units of an arc's noise."""
    designs: tuple[Design, ...] = ()
    stopping: str = "anytime"
    ridge: float = 0.0

    @classmethod
    def of(
        cls, problem: Problem, *, growth: float, power: float, even: int = 0, doubt: float = 0.0
    ) -> AdaptivePhases:
        """Prepare what does not change from phase to phase."""
        layout = Cells.by_kind(problem)
        unit = _typical_weight(problem) ** 2
        masks, groups = problem.candidate_sets
        return cls(
            cells=layout if problem.is_plain else Cells.of(problem),
            layout=layout,
            order=frozen(breadth_first(problem.graph), np.int64),
            prior=frozen(_spread_evenly(layout) * unit, float),
            anything=NodeLaws.of(masks / masks.sum(axis=1, keepdims=True), groups),
            phasing=GrowingPhases(growth, shortest_phase(problem)),
            power=power,
            even=even,
            doubt=doubt / layout.features.shape[2] / unit,
        )

    def joint_arm(self, problem: Problem, state: LearnerState) -> Indices:
        """Laid out for the aim, given the information the phase has already.

        Edges that are never measured would get the same arms for ever: in overtime, nodes draw
        every other round.
        """
        late = state.phase_rounds - overtime(self.cells, state)
        if state.rounds < self.even or (late >= 0 and late % 2 == 0):
            return self.anything.draw(seed=state.seed, round=state.rounds + 1)
        gram = self.prior + self.layout.grams(state.statistics.information)
        inverse = np.linalg.inv(gram).astype(float, copy=False)
        arms = lay_out(
            problem,
            self.layout,
            self.order,
            inverse,
            state.aim,
            power=self.power,
            doubt=self.doubt,
            seen=state.statistics.information,
        )
        arms.setflags(write=False)
        return arms

    def to_tree(self) -> dict[str, Any]:
        """Nothing: the aim of the phase is part of the state."""
        return {}

    def from_tree(self, tree: Mapping[str, Any]) -> AdaptivePhases:  # noqa: ARG002
        """Itself."""
        return self


def _typical_weight(problem: Problem) -> float:
    """A power of two; 1 for ordinary weights, whose layouts would hardly change."""
    weights = problem.graph.weights
    return 1.0 if weights is None else binary_unit(weights, ordinary=_ORDINARY)


def _spread_evenly(cells: Cells) -> Array:
    """(q, p, p) mean of phi phi' over showable cells; 1 on the diagonal of padded dimensions."""
    share = cells.showable / cells.showable.sum(axis=1, keepdims=True)
    return cells.padded(cells.grams(share))
