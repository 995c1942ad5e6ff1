r"""Posterior sampling: every round deploys the best joint arm of a world that may be the true one.

Thompson (1933): draw the parameters from what is known about them, and do what would be best if
the draw were true. Joint arms that may be the best are tried as often as they may be; rounds are
earned in, not only learnt from. The posterior is renewed when a phase ends, so inside a phase joint
arms depend on earlier phases' rewards only, as the rule ``anytime`` asks for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from edgewise.allocation.instance.objective import Objective
from edgewise.base.arrays import Indices
from edgewise.base.border import border
from edgewise.core.design.g_optimal import Design
from edgewise.core.design.node_laws import NodeLaws
from edgewise.core.model.cells import Cells
from edgewise.core.model.problem import Problem
from edgewise.core.state import LearnerState
from edgewise.core.strategies.independent import g_optimal_laws
from edgewise.core.strategies.phases import EvenPhases
from edgewise.core.strategies.worlds import best_of, possible_world
from edgewise.errors import InvalidArgument

_TOLERANCE = 1e-6
"""Of the designs, relative to their optimum."""


@border
@dataclass(frozen=True)
class Thompson:
    """Explores while earning.

    Parameters
    ----------
    scale
        Posterior deviations are multiplied by it: more than 1 explores more.
    first
        Rounds of the first phase, in which nodes draw independently, at least; it lasts until
        every contrast can be estimated.
    phase
        Rounds after which the posterior is renewed.
    even
        Probability with which a node of the first phase draws from all its candidates alike, and
        otherwise from their G-optimal design: fewer arms, farther apart, that show more.
    """

    scale: float = 1.5
    first: int = 8
    phase: int = 8
    even: float = 1.0
    name: str = "thompson"

    def __post_init__(self) -> None:
        if not (self.scale > 0 and self.first >= 1 and self.phase >= 1):
            raise InvalidArgument(
                f"scale is {self.scale}, first {self.first} and phase {self.phase}; scale must be "
                "above 0, the others at least 1 round"
            )
        if not 0.0 <= self.even <= 1.0:
            raise InvalidArgument(f"even is {self.even}; it is a probability, between 0 and 1")

    def __call__(self, problem: Problem, /) -> ThompsonPhases:
        """Prepare the draws of the first phase."""
        laws = self._first_laws(problem)
        return ThompsonPhases(Cells.of(problem), laws, EvenPhases(self.first, self.phase), self)

    def _first_laws(self, problem: Problem) -> NodeLaws:
        masks, groups = problem.candidate_sets
        if self.even == 1.0:
            return NodeLaws.of(masks / masks.sum(axis=1, keepdims=True), groups)
        return g_optimal_laws(problem, _TOLERANCE, even=self.even)[0]


@dataclass(frozen=True, eq=False)
class ThompsonPhases:
    """The plan of :class:`Thompson`."""

    cells: Cells
    laws: NodeLaws
    phasing: EvenPhases
    options: Thompson
    designs: tuple[Design, ...] = ()
    stopping: str = "anytime"
    ridge: float = 0.0

    def joint_arm(self, problem: Problem, state: LearnerState) -> Indices:
        """Drawn node by node in the first phase; then the best of a world of the posterior.

        A pure function of (seed, round) and of the phases that are over.
        """
        world = self.world(problem, state)
        if world is None:
            return self.laws.draw(seed=state.seed, round=state.rounds + 1)
        return best_of(world)

    def world(self, problem: Problem, state: LearnerState) -> Objective | None:
        """The world that is drawn for the next round; None in the first phase."""
        rng = np.random.default_rng((state.seed, state.rounds))
        return possible_world(problem, self.cells, state, rng=rng, scale=self.options.scale)

    def to_tree(self) -> dict[str, Any]:
        """Laws from a design: another machine may solve it to other last digits."""
        return {} if self.options.even == 1.0 else {"laws": self.laws.weights.copy()}

    def from_tree(self, tree: Mapping[str, Any]) -> ThompsonPhases:
        """With the laws that were stored."""
        return replace(self, laws=self.laws.reweighted(tree["laws"])) if tree else self
