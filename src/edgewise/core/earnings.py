r"""What exploring has earned, and what stopping now would cost.

The mean global reward of what was deployed is linear in the parameters, so the means of the
features shown suffice: no joint arm has to be kept. What the recommendation misses is
:math:`\mathbb{E}\max_a F_\theta(a) - F_\theta(\hat a)` over the posterior. After n further rounds
like the T so far the posterior mean will have moved like a draw of the present posterior, its
deviations times :math:`\sqrt{n/(T + n)}`; what that move is worth is what n rounds are expected to
gain.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from edgewise.allocation.allocate import solve
from edgewise.allocation.instance.objective import Objective
from edgewise.allocation.instance.result import Allocation
from edgewise.allocation.request import Request
from edgewise.base.arrays import Array
from edgewise.core.evidence.by_edge import local_network
from edgewise.core.evidence.drawing import draw_world, expected_coins
from edgewise.core.evidence.estimated import estimated_objective, own_terms
from edgewise.core.evidence.least_squares import estimate
from edgewise.core.evidence.measuring import with_present
from edgewise.core.local.estimate import LocalEstimate, objective_of
from edgewise.core.setting import Setting
from edgewise.core.state import LearnerState
from edgewise.core.targets.allocation import tolerated
from edgewise.core.targets.target import may_estimate

NEXT = 10
"""Further rounds whose gain is asked for."""
_DRAWS = 24
_SHARE = 0.01
"""Of the range of global rewards: good enough, if no epsilon was given."""


@dataclass(frozen=True)
class Earnings:
    """Global rewards by the present estimate; with unknown levels only differences mean anything.

    ``print(earnings)`` gives the summary.
    """

    rounds: int
    per_round: float
    """What was deployed, in the mean of the rounds."""
    recommended: float
    """What is recommended now."""
    baseline: float | None
    """What runs today; None if the problem does not say what that is."""
    shortfall: float
    """What the recommendation is expected to miss against the best joint arm: the expected cost,
    per round from now on, of stopping here."""
    next_rounds: float
    """By how much ten further rounds are expected to improve the recommendation."""
    epsilon: float
    """The tolerance: as given, else 1 % of the range of global rewards."""

    @property
    def won(self) -> float | None:
        """What all rounds together earned more than the baseline would have; negative: lost."""
        return None if self.baseline is None else self.rounds * (self.per_round - self.baseline)

    @property
    def lost(self) -> float:
        """What all rounds together earned less than the present recommendation would have."""
        return self.rounds * (self.recommended - self.per_round)

    @property
    def is_good_enough(self) -> bool:
        """Whether stopping here is expected to cost no more than epsilon."""
        return self.shortfall <= self.epsilon

    def rows(self) -> list[tuple[str, str]]:
        """As labels and texts."""
        return [("earned", self._earned()), ("stopping now", self._stopping())]

    def _earned(self) -> str:
        won, below = self.won, f"{self.lost:.4g} less than the recommendation would have"
        if won is None or self.baseline is None:
            return f"{self.per_round:.4g} a round, in all {below}"
        more = f"{abs(won):.4g} {'more' if won >= 0 else 'less'}"
        return (
            f"{self.per_round:.4g} a round against {self.baseline:.4g} of the baseline: in "
            f"{self.rounds} rounds {more} than the baseline, and {below}"
        )

    def _stopping(self) -> str:
        enough = "good enough" if self.is_good_enough else "not yet good enough"
        return (
            f"expected to cost {_amount(self.shortfall)} a round ({enough} for "
            f"{self.epsilon:.3g}); another {NEXT} rounds are expected to gain "
            f"{_amount(self.next_rounds)}"
        )

    def __str__(self) -> str:
        return "\n".join(f"{name:<14} {text}" for name, text in self.rows())


def _amount(value: float) -> str:
    """A mean over few draws that all show nothing is small, not zero."""
    return f"{value:.3g}" if value > 0 else "next to nothing"


def earnings_of(setting: Setting, state: LearnerState) -> Earnings | None:
    """What exploring has earned; None while nothing can be estimated, and for large graphs.

    A pure function of the state: the draws follow from its seed and round.
    """
    known = _known(setting, state)
    if known is None or state.by_edge is None:
        return None
    theta, objective, best, draw = known
    problem = setting.problem
    network = local_network(problem)
    per_round = float(network.in_total(state.by_edge.feature_means) @ theta)

    def missed(scale: float) -> float:
        """The mean over draws; the same ones for every scale."""
        streams = np.random.default_rng((state.seed, state.rounds)).spawn(_DRAWS)
        return float(np.mean([_missed(draw(stream, scale), best) for stream in streams]))

    tolerance = setting.target.tolerance(setting.epsilon, best)
    return Earnings(
        rounds=state.rounds,
        per_round=per_round,
        recommended=best.value,
        baseline=None if problem.baseline is None else objective.value(problem.baseline),
        shortfall=missed(1.0),
        next_rounds=missed(math.sqrt(NEXT / (state.rounds + NEXT))),
        epsilon=tolerance or tolerated(None, _SHARE, best),
    )


_Draw: TypeAlias = Callable[[np.random.Generator, float], Objective]


def _known(
    setting: Setting, state: LearnerState
) -> tuple[Array, Objective, Allocation, _Draw] | None:
    """Parameters (P,), the allocation problem they pose, its answer, and draws of others."""
    if state.rounds == 0 or state.by_edge is None:
        return None
    target = setting.target
    local = target.estimate(setting, state) if may_estimate(target) else None
    if local is not None:
        return local.theta, local.objective, local.allocation, _local_draw(local)
    problem, cells = setting.problem, setting.plan.cells
    theta = estimate(cells, state.total)
    phases = with_present(state.closed, state.statistics)
    network = local_network(problem)
    if np.isfinite(theta).all():
        flat = network.parameters(cells.tables(theta), own_terms(problem, cells, theta))
        objective = estimated_objective(problem, cells, theta)
    elif (coins := expected_coins(problem, cells, phases)) is not None:
        flat, objective = network.parameters(coins.tables, None), coins
    else:
        return None

    def draw(rng: np.random.Generator, scale: float) -> Objective:
        return draw_world(problem, cells, phases, rng=rng, scale=scale)

    return flat, objective, solve(objective, Request()), draw


def _local_draw(local: LocalEstimate) -> _Draw:
    def draw(rng: np.random.Generator, scale: float) -> Objective:
        return objective_of(local.network, local.posterior.draw(rng, scale=scale))

    return draw


def _missed(world: Objective, answer: Allocation) -> float:
    """What the answer misses if the world is as drawn."""
    best = solve(world, Request(bound=None, start=answer.arms))
    return max(best.value - world.value(answer.arms), 0.0)
