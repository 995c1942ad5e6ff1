r"""How far contrasts between cells may be off, all at once: which part of delta each of them gets.

A regret is bounded by contrasts (c, c') of what a best joint arm shows with what ours shows. All
may get the same part. But most of them never matter, so a rule that can gives them less: once
everything can be estimated, a contrast weighs as much as both its cells look like cells of a good
joint arm. What was learnt from is not bet on with these weights; the proof is in docs/stopping.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from edgewise.allocation.allocate import solve
from edgewise.allocation.instance.two_colouring import two_colouring
from edgewise.allocation.request import Request
from edgewise.base.arrays import Array, Indices
from edgewise.core.evidence.duels import Duels, fight
from edgewise.core.evidence.estimated import estimated_objective
from edgewise.core.evidence.evidence import gather
from edgewise.core.evidence.measuring import ByPhase, all_of, as_rounds
from edgewise.core.model.cells import Cells
from edgewise.core.model.problem import Problem
from edgewise.core.stopping import WeighingRule, knows_widths, weighs

if TYPE_CHECKING:
    from edgewise.core.setting import Setting

_SPREAD = 0.1
"""Part of the weights that all contrasts share alike."""


class Confidence(Protocol):
    """How far estimates of contrasts may be off, all of them at once."""

    @property
    def learnt_from(self) -> int:
        """How many phases it was learnt from."""

    def between_cells(
        self, kind: int, shown: Indices, others: Indices, learning: Duels, since: Duels
    ) -> tuple[Array, Array]:
        """(T,) how far above and below its estimate each contrast may lie.

        Contrasts are those of the cells ``others`` (T,) with the cells ``shown`` (T,) of a kind;
        ``learning`` and ``since`` (T,) are what the phases learnt from, and those after, say.
        """

    def between_arms(self, learning: Duels, since: Duels) -> tuple[Array, Array]:
        """(T,) the same for own terms of nodes."""


@dataclass(frozen=True)
class AllAlike:
    """Every contrast gets the same part of delta."""

    width: Callable[[Array], Array]
    """(T,) widths for (T,) variances."""
    learnt_from: int = 0

    def between_cells(
        self,
        kind: int,  # noqa: ARG002
        shown: Indices,  # noqa: ARG002
        others: Indices,  # noqa: ARG002
        learning: Duels,
        since: Duels,
    ) -> tuple[Array, Array]:
        """By variance."""
        return self.between_arms(learning, since)

    def between_arms(self, learning: Duels, since: Duels) -> tuple[Array, Array]:
        """By variance, the same on both sides."""
        information = learning.followed_by(since).information
        known = np.where(information > 0, information, 1.0)
        width = self.width(np.where(information > 0, 1.0 / known, np.inf))
        return width, width


@dataclass(frozen=True, eq=False)
class ByWeight:
    """Contrasts get parts of delta by weights that were learnt from the first phases."""

    rule: WeighingRule
    learnt_from: int
    above: Array
    """(q, P) the contrast of cell c with cell c' weighs above[c] * below[c'], and a bit more."""
    below: Array
    even: float
    """One over the number of contrasts."""
    noise: float
    nats: float

    def between_cells(
        self, kind: int, shown: Indices, others: Indices, learning: Duels, since: Duels
    ) -> tuple[Array, Array]:
        """By the weights of the contrast and of its opposite."""
        up = self._weights(kind, others, shown)
        down = self._weights(kind, shown, others)
        return self._margins(learning, since, up, down)

    def between_arms(self, learning: Duels, since: Duels) -> tuple[Array, Array]:
        """All alike."""
        even = np.full(len(learning.score), self.even)
        return self._margins(learning, since, even, even)

    def _weights(self, kind: int, cells: Indices, against: Indices) -> Array:
        learnt = self.above[kind, cells] * self.below[kind, against]
        weights: Array = (1.0 - _SPREAD) * learnt + _SPREAD * self.even
        return weights

    def _margins(
        self, learning: Duels, since: Duels, up: Array, down: Array
    ) -> tuple[Array, Array]:
        options = {"even": self.even, "noise": self.noise, "nats": self.nats}
        return (
            self.rule.margins(learning, since, weights=up, **options),
            self.rule.margins(learning.reversed, since.reversed, weights=down, **options),
        )


def confidence(setting: Setting, phases: ByPhase, rounds: int, noise: float) -> Confidence:
    """What the setting's rule says about contrasts after these phases (J, q, P)."""
    problem, cells, rule = setting.problem, setting.plan.cells, setting.rule
    assert knows_widths(rule)  # the target's check has seen to it
    events = n_events(problem, cells)
    if weighs(rule) and len(phases):
        count, plausible = _learn(setting, phases)
        above, below = _factors(problem, cells, plausible, events)
        nats = -math.log(setting.contrast_delta)
        return ByWeight(rule, count, above, below, 1.0 / events, noise, nats)
    log_odds = math.log(events / setting.contrast_delta)
    return AllAlike(
        lambda variances: noise * rule.contrast_width(variances, rounds=rounds, log_odds=log_odds)
    )


def _learn(setting: Setting, phases: ByPhase) -> tuple[int, Array]:
    r"""How many phases are learnt from, and how plausible each cell (q, P) is then, from 0 to 1.

    As many as it takes until every contrast can be estimated and the noise has a bound. A cell is
    as plausible as it is behind the nearest cell that the best joint arm for the estimate shows:
    :math:`\exp(-x^2/2)` for x standard errors.
    """
    problem, cells = setting.problem, setting.plan.cells
    for count in range(1, len(phases) + 1):
        seen = phases[:count]
        sigma = setting.noise_after(seen[:-1], as_rounds(seen[-1]))
        everything = all_of(seen[:-1], seen[-1])
        found = gather(problem, cells, np.array([count]), everything[None], noise=sigma)
        if np.isfinite(sigma[0]) and (found.leaders >= 0).all():
            best = solve(estimated_objective(problem, cells, found.theta[0]), Request(bound=None))
            return count, _plausible(problem, cells, seen, best.arms, float(sigma[0]))
    return len(phases), np.where(cells.showable, 1.0, 0.0)


def _plausible(
    problem: Problem, cells: Cells, phases: ByPhase, arms: Indices, noise: float
) -> Array:
    """(q, P) by how far each cell is behind the nearest of those that a joint arm (n,) shows."""
    graph = problem.classes.graph
    pairs = cells.pair_index[arms[graph.edges[:, 0]], arms[graph.edges[:, 1]]]
    plausible = np.zeros(cells.showable.shape)
    for kind, showable in enumerate(cells.showable):
        shown = np.unique(pairs[graph.kind_of_edge == kind])
        duels = fight(
            cells.features[kind], shown, np.flatnonzero(showable), phases.normal(cells, kind)
        )
        known = np.where(duels.information > 0, duels.information, 1.0)
        behind = np.maximum(duels.score, 0.0) / (noise * np.sqrt(known))
        plausible[kind, showable] = np.exp(-0.5 * behind.min(axis=0, initial=np.inf) ** 2)
    return plausible


def _factors(problem: Problem, cells: Cells, plausible: Array, events: int) -> tuple[Array, Array]:
    """(q, P) what weights of contrasts are products of, so that they add up to 1 at most.

    Where a best joint arm shows one cell everywhere, only contrasts with that cell can fail,
    whichever it is: the weights against each cell add up to 1.
    """
    total = plausible.sum(axis=1, keepdims=True)
    if shows_one_cell(problem):
        return 1.0 / np.maximum(total - plausible, 1e-12), plausible
    pairs = float((total[:, 0] ** 2 - (plausible**2).sum(axis=1)).sum())
    of_cells = 1.0 - _own_events(problem, cells) / events
    return of_cells / max(pairs, 1e-12) * plausible, plausible


def n_events(problem: Problem, cells: Cells) -> int:
    """How many one-sided contrasts may fail: the union bound's size.

    The best allocation is fixed, but which cells it shows is not known: every ordered pair of
    cells of a kind, unless it is known to show one cell everywhere.
    """
    if shows_one_cell(problem):
        return max(cells.n_rivals, 1)
    counts = cells.showable.sum(axis=1)
    return max(int((counts * (counts - 1)).sum()) + _own_events(problem, cells), 1)


def _own_events(problem: Problem, cells: Cells) -> int:
    return 0 if cells.own is None else len(cells.own) * problem.n_arms * (problem.n_arms - 1)


def shows_one_cell(problem: Problem) -> bool:
    """Whether some best allocation shows the best pair of arms on every edge, for any M."""
    return problem.has_paper_setting and two_colouring(problem.graph) is not None
