r"""What a joint arm is expected to bring, and what changes if one node takes another arm.

The global reward of a joint arm is linear in the parameters, :math:`F(a) = c(a)^\top\theta`, so its
estimate has the deviation :math:`\sigma\sqrt{c^\top A^{-1} c}`; under the local model mean and
deviation are the posterior's. Intervals are those of one joint arm, chosen beforehand and looked at
once: they are for planning, and no certificate.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import stdtrit

from edgewise.base.arrays import Array, Indices, stays_frozen
from edgewise.base.html import summary
from edgewise.base.scales import staying_finite
from edgewise.base.wording import listed
from edgewise.core.ending import Ending
from edgewise.core.evidence.measuring import with_present
from edgewise.core.evidence.noise import estimate_noise
from edgewise.core.evidence.observed import are_inside, observed_directions
from edgewise.core.evidence.statistics import CellStatistics
from edgewise.core.model.configuration import node_number
from edgewise.core.reporting import compile_report, expected_objective
from edgewise.core.setting import Setting
from edgewise.core.state import LearnerState
from edgewise.core.targets.target import may_estimate
from edgewise.errors import InvalidArgument

if TYPE_CHECKING:
    from edgewise.allocation.instance.objective import Objective

LEVEL = 0.95


@stays_frozen
@dataclass(frozen=True, eq=False)
class Prediction:
    """The global reward that is expected of a joint arm, or of the difference of two."""

    value: float
    deviation: float
    """Infinite where what it takes has not been observed."""
    arms: Indices
    """(n,)"""
    against: Indices | None = None
    """(n,) what it is compared with; None for the global reward itself."""
    freedom: float = math.inf
    """Degrees of freedom of the deviation; infinite where nothing of it was estimated."""
    level: float = LEVEL

    @property
    def interval(self) -> tuple[float, float]:
        """Holds the truth with probability ``level``, for one joint arm chosen beforehand."""
        width = float(stdtrit(self.freedom, 0.5 + 0.5 * self.level)) * self.deviation
        return self.value - width, self.value + width

    def __str__(self) -> str:
        low, high = self.interval
        what = "global reward" if self.against is None else "difference in global reward"
        if not math.isfinite(self.deviation):
            return f"{what} unknown: not every direction it takes has been observed"
        return f"{what} {self.value:.6g} ({self.level:.0%}: {low:.6g} to {high:.6g})"


class Alternative(NamedTuple):
    """What changes if a node takes another arm."""

    arm: Hashable
    change: float
    """In global reward, all other nodes as they are."""
    low: float
    high: float


class Contribution(NamedTuple):
    """What one link has to say about two arms of a node."""

    neighbour: Hashable
    arm: Hashable
    """The neighbour's."""
    advantage: float
    """By how much this link prefers the node's arm to the runner-up."""


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why a node has its arm."""

    node: Hashable
    arm: Hashable
    alternatives: tuple[Alternative, ...]
    """Every other arm the node may be given, the least loss first."""
    links: tuple[Contribution, ...]
    """What its links bring under the arm more than under the first alternative, the most first."""
    own: float = 0.0
    """The same of the node's own term."""

    @property
    def headline(self) -> str:
        """The node and its arm."""
        return f"Node {self.node}: {self.arm}"

    def rows(self) -> list[tuple[str, str]]:
        """The alternatives, and which links decide, as labels and texts."""
        rows = [
            (
                f"{one.arm}",
                f"changes the total by {one.change:.4g} ({one.low:.4g} to {one.high:.4g})",
            )
            for one in self.alternatives
        ]
        rows += [
            (
                f"link {one.neighbour}",
                f"prefers it by {one.advantage:.4g} (its other end: {one.arm})",
            )
            for one in self.links
        ]
        return rows + ([("own term", f"prefers it by {self.own:.4g}")] if self.own else [])

    def _repr_html_(self) -> str:
        return summary(self.headline, self.rows())

    def __str__(self) -> str:
        return listed(self.headline, self.rows())


@staying_finite("the estimate")
def predict(
    setting: Setting, state: LearnerState, arms: Indices, against: Indices | None = None
) -> Prediction:
    """The global reward of a joint arm (n,), or its difference to another."""
    objective = _known(setting, state)
    base = 0.0 if against is None else objective.value(against)
    value = objective.value(arms) - base
    deviation, freedom = _deviation(setting, state, arms, against)
    return Prediction(value, deviation, arms, against, freedom)


@staying_finite("the estimate")
def explain(setting: Setting, state: LearnerState, arms: Indices, node: int) -> Explanation:
    """What changes if a node takes another arm, and which links decide; others as in ``arms``."""
    problem, objective = setting.problem, _known(setting, state)
    names = range(problem.n_arms) if problem.arm_labels is None else problem.arm_labels
    masks, groups = problem.candidate_sets
    others = [k for k in np.flatnonzero(masks[groups[node]]).tolist() if k != int(arms[node])]
    changes = [predict(setting, state, _with(arms, node, k), arms) for k in others]
    order = sorted(range(len(others)), key=lambda place: -changes[place].value)
    links, own = _contributions(setting, objective, arms, node, others[order[0]] if order else None)
    return Explanation(
        problem.graph.labels[node],
        names[int(arms[node])],
        tuple(Alternative(names[others[i]], changes[i].value, *changes[i].interval) for i in order),
        tuple(Contribution(label, names[arm], gain) for label, arm, gain in links),
        own,
    )


def explain_recommended(setting: Setting, state: LearnerState, node: Hashable) -> Explanation:
    """The same for a node by its label, in the joint arm that a report recommends."""
    number = node_number(setting.problem, node)
    _known(setting, state)
    found = compile_report(setting, state, Ending.RUNNING).allocation
    assert found is not None  # what can be estimated can be allocated
    return explain(setting, state, found.arms, number)


def _known(setting: Setting, state: LearnerState) -> Objective:
    objective = expected_objective(setting, state)
    if objective is None:
        raise InvalidArgument(
            f"nothing can be estimated after {state.rounds} rounds; tell more rounds first"
        )
    return objective


def _with(arms: Indices, node: int, arm: int) -> Indices:
    changed = arms.copy()
    changed[node] = arm
    return changed


def _contributions(
    setting: Setting, objective: Objective, arms: Indices, node: int, other: int | None
) -> tuple[list[tuple[Hashable, int, float]], float]:
    """By how much each link of a node, and its own term, prefers its arm to another one."""
    if other is None:
        return [], 0.0
    graph, labels = objective.graph, setting.problem.graph.labels
    tables, weights, kinds = objective.pair_tables, graph.weight_of_edge, graph.kind_of_edge
    found = []
    for edge in np.flatnonzero((graph.edges == node).any(axis=1)).tolist():
        first, second = graph.edges[edge].tolist()
        neighbour = second if first == node else first
        table = weights[edge] * tables[kinds[edge]]
        table = table if first == node else table.T  # by the node's arm, then the neighbour's
        facing = int(arms[neighbour])
        gain = float(table[int(arms[node]), facing] - table[other, facing])
        found.append((labels[neighbour], facing, gain))
    unary = objective.unary_of_node[node]
    own = float(unary[int(arms[node])] - unary[other])
    return sorted(found, key=lambda one: -abs(one[2])), own


def _deviation(
    setting: Setting, state: LearnerState, arms: Indices, against: Indices | None
) -> tuple[float, float]:
    """The deviation of the estimate, and its degrees of freedom."""
    target = setting.target
    local = target.estimate(setting, state) if may_estimate(target) else None
    if local is not None:
        direction = local.network.total(arms)
        if against is not None:
            direction = direction - local.network.total(against)
        found = local.posterior.gains(direction)
        return float(found.deviation[0]), float(found.freedom[0])
    direction = _direction(setting, arms)
    if against is not None:
        direction = direction - _direction(setting, against)
    sigma, freedom = _noise(setting, state)
    return sigma * math.sqrt(_variance(setting, state, direction)), freedom


def _direction(setting: Setting, arms: Indices) -> Array:
    """(q, p) c(a): the global reward is its product with the parameters of every kind."""
    problem, cells = setting.problem, setting.plan.cells
    graph = problem.classes.graph
    pairs = cells.pair_index[arms[graph.edges[:, 0]], arms[graph.edges[:, 1]]]
    kinds, weights = graph.kind_of_edge, graph.n_directions * graph.weight_of_edge
    counts = np.zeros(cells.features.shape[:2])
    np.add.at(counts, (kinds, pairs), weights)
    direction: Array = np.einsum("kc,kcp->kp", counts, cells.features)
    if cells.own is not None:
        direction[0] += cells.own[problem.kind_of_node, arms].sum(axis=0)
    return direction


def _variance(setting: Setting, state: LearnerState, direction: Array) -> float:
    """For sigma = 1; kinds have parameters of their own, or share one vector."""
    cells, total = setting.plan.cells, state.total
    phases = with_present(state.closed, state.statistics)
    by_kind = isinstance(total, CellStatistics)
    parts = direction if by_kind else direction.sum(axis=0, keepdims=True)
    variance = 0.0
    for kind, part in enumerate(parts):
        gram = np.sum([A for A, _ in phases.normal(cells, kind)], axis=0)
        values, basis = observed_directions(gram + setting.plan.ridge * np.eye(len(gram)))
        inside = part @ basis
        if not are_inside(part[None], inside[None]).all():
            return math.inf
        variance += float(inside**2 @ (1.0 / values))
    return variance


def _noise(setting: Setting, state: LearnerState) -> tuple[float, float]:
    """Sigma as stated; as measured, with its degrees of freedom, if it is to be estimated."""
    if setting.problem.noise != "estimate":
        return float(setting.problem.stated_noise), math.inf
    measured = estimate_noise(state.total)
    return (
        (math.inf, 1.0)
        if measured is None
        else (measured.deviation, float(measured.degrees_of_freedom))
    )
