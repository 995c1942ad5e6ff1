r"""Posterior sampling: every round deploys the best joint arm of a world that may be the true one.

Thompson (1933): draw the parameters from what is known about them, and do what would be best if
the draw were true. Joint arms that may be the best are tried as often as they may be; rounds are
earned in, not only learnt from. The posterior is renewed when a phase ends, so inside a phase joint
arms depend on earlier phases' rewards only, as the rule ``anytime`` asks for.

Rewards of 0 and 1 have a posterior from the first round on, that of their counts (Beta laws, by
cell): nothing needs to be estimable first, and phases begin with one round each.
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
from edgewise.core.strategies.phases import EvenPhases, Phasing, ShareOfRounds
from edgewise.core.strategies.worlds import best_of, possible_world
from edgewise.errors import InvalidArgument

_TOLERANCE = 1e-6
"""Of the designs, relative to their optimum."""

_SHARE = 0.05
"""Phases last this share of the rounds before: about fourteen of them for every doubling."""


@border
@dataclass(frozen=True)
class Thompson:
    """Explores while earning.

    Parameters
    ----------
    scale
        Posterior deviations are multiplied by it: more than 1 explores more. By default 1.5; 1 for
        rewards of 0 and 1, whose posterior is no approximation.
    first
        Rounds of the first phase, in which nodes draw independently, at least; it lasts until
        every contrast can be estimated. By default 8; for rewards of 0 and 1 there is no such
        phase.
    phase
        Rounds after which the posterior is renewed. By default 8; for rewards of 0 and 1 a
        twentieth of the rounds before.
    even
        Probability with which a node of the first phase draws from all its candidates alike, and
        otherwise from their G-optimal design: fewer arms, farther apart, that show more.
    """

    scale: float | None = None
    first: int | None = None
    phase: int | None = None
    even: float = 1.0
    name: str = "thompson"

    def __post_init__(self) -> None:
        scale, first, phase = self.scale, self.first, self.phase
        fine = (scale is None or scale > 0) and (first is None or first >= 1)
        if not (fine and (phase is None or phase >= 1)):
            raise InvalidArgument(
                f"scale is {scale}, first {first} and phase {phase}; scale must be above 0, the "
                "others at least 1 round; leave them out for what is usual"
            )
        if not 0.0 <= self.even <= 1.0:
            raise InvalidArgument(f"even is {self.even}; it is a probability, between 0 and 1")

    def __call__(self, problem: Problem, /) -> ThompsonPhases:
        """Prepare the draws of the first phase."""
        laws = self._first_laws(problem)
        usual = 1.0 if problem.is_bernoulli else 1.5
        scale = usual if self.scale is None else self.scale
        return ThompsonPhases(Cells.of(problem), laws, self._phasing(problem), scale, self.even)

    def _phasing(self, problem: Problem) -> Phasing:
        if problem.is_bernoulli and self.first is None and self.phase is None:
            return ShareOfRounds(_SHARE)
        first = self.first if self.first is not None else 1 if problem.is_bernoulli else 8
        return EvenPhases(first, 8 if self.phase is None else self.phase)

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
    phasing: Phasing
    scale: float
    even: float
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
        return possible_world(problem, self.cells, state, rng=rng, scale=self.scale)

    def to_tree(self) -> dict[str, Any]:
        """Laws from a design: another machine may solve it to other last digits."""
        return {} if self.even == 1.0 else {"laws": self.laws.weights.copy()}

    def from_tree(self, tree: Mapping[str, Any]) -> ThompsonPhases:
        """With the laws that were stored."""
        return replace(self, laws=self.laws.reweighted(tree["laws"])) if tree else self
