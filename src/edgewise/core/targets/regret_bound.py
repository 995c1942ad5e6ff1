r"""How far an allocation can be from the best one, when rewards are only estimated.

For the recommended joint arm :math:`\hat a` and any other joint arm a, edge by edge,

.. math:: F(a) - F(\hat a) = \sum_e w_e (\phi_{c_e(a)} - \phi_{c_e(\hat a)})^\top\theta
          \le \sum_e w_e\, u_e(c_e(a)) ,

where :math:`u_e` is an upper confidence bound of the contrast with the cell that the edge shows
under :math:`\hat a`, and 0 for that cell itself. The right-hand side is an allocation problem, in
which edges that show different cells are of different kinds: an upper bound on its optimum is a
bound on the regret of :math:`\hat a` against *every* joint arm (docs/stopping.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from edgewise.allocation.allocate import solve
from edgewise.allocation.bounds.best import all_bounds, best_upper_bound
from edgewise.allocation.instance.objective import Objective
from edgewise.allocation.instance.result import ROUNDING, Allocation
from edgewise.allocation.request import Request
from edgewise.base.arrays import Array, Indices
from edgewise.core.evidence.duels import Duels, meet
from edgewise.core.evidence.measuring import ByPhase
from edgewise.core.model.cells import Cells
from edgewise.core.model.problem import Problem
from edgewise.core.regret import Regret
from edgewise.core.targets.levels import Confidence, shows_one_cell

_SEARCHED = 20_000
"""Edges up to which the worst case is searched for with all methods."""
_PATIENCE = 1.0
"""Seconds' worth of work for a tight bound."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """All cells against the cells that an allocation shows, with confidence."""

    kinds: Indices
    """(H,) edge kind of each shown cell; the best cell of every kind is always among them."""
    shown: Indices
    """(H,) pair of arms."""
    references: Indices
    """(q,) the row of each kind's best cell."""
    edges: Indices
    """(E,) the row of the cell each edge shows."""
    gaps: Array
    """(H, P) estimated reward of a cell minus that of the shown one."""
    variances: Array
    """(H, P) of the gaps for sigma = 1; 0 where the two cells always pay the same."""
    above: Array
    """(H, P) how far above the gaps the truth may lie, with confidence."""
    below: Array
    """(H, P) how far below."""
    own_gaps: Array
    """(s, K, K) estimated own term of arm k minus that of arm a, at [kind of node, a, k]."""
    own_above: Array
    """(s, K, K)"""

    @property
    def is_known(self) -> bool:
        """Whether every contrast can be estimated."""
        margins = (self.above, self.below, self.own_above)
        return all(bool(np.isfinite(margin).all()) for margin in margins)


def compare(
    problem: Problem,
    cells: Cells,
    phases: ByPhase,
    leaders: Indices,
    arms: Indices,
    confidence: Confidence,
) -> Comparison:
    """All cells against those that the joint arm (n,) shows and the leaders (q,).

    ``phases`` (J, q, P) are the statistics.
    """
    graph, n_pairs = problem.classes.graph, len(cells.pairs)
    pairs = cells.pair_index[arms[graph.edges[:, 0]], arms[graph.edges[:, 1]]].astype(np.int64)
    best = np.arange(len(leaders)) * n_pairs + leaders
    shows = graph.kind_of_edge * n_pairs + pairs
    keys, rows = np.unique(np.concatenate([best, shows]), return_inverse=True)
    shown_kinds, shown = np.divmod(keys, n_pairs)
    between = np.zeros((4, len(keys), n_pairs))
    for kind in range(len(leaders)):
        of_kind = shown_kinds == kind
        between[:, of_kind] = _between_cells(cells, phases, kind, shown[of_kind], confidence)
    gaps, variances, above, below = between
    own_gaps, own_above = _between_arms(cells, phases, confidence)
    return Comparison(
        kinds=shown_kinds,
        shown=shown,
        references=rows.ravel()[: len(leaders)],
        edges=rows.ravel()[len(leaders) :],
        gaps=gaps,
        variances=variances,
        above=above,
        below=below,
        own_gaps=own_gaps,
        own_above=own_above,
    )


def _between_cells(
    cells: Cells, phases: ByPhase, kind: int, shown: Indices, confidence: Confidence
) -> Array:
    """(4, H, P) gaps, variances and margins of every cell minus each shown one, within a kind."""
    features = cells.features[kind]
    contrasts = features[None] - features[shown, None]
    differs = cells.showable[kind] & (contrasts != 0.0).any(axis=2)
    learning, since = _met(contrasts[differs], phases.normal(cells, kind), confidence)
    rows, others = np.nonzero(differs)
    above, below = confidence.between_cells(kind, shown[rows], others, learning, since)
    between = np.zeros((4, *differs.shape))
    between[:, differs] = *_estimates(learning.followed_by(since)), above, below
    return between


def _between_arms(cells: Cells, phases: ByPhase, confidence: Confidence) -> tuple[Array, Array]:
    """(s, K, K) gaps and margins of the own terms: arm k minus arm a at [kind of node, a, k]."""
    if cells.own is None:
        return np.zeros((0, 0, 0)), np.zeros((0, 0, 0))
    contrasts = cells.own[:, None] - cells.own[:, :, None]
    differs = (contrasts != 0.0).any(axis=3)
    learning, since = _met(contrasts[differs], phases.normal(cells, 0), confidence)
    gaps, above = np.zeros((2, *differs.shape))
    gaps[differs], _ = _estimates(learning.followed_by(since))
    above[differs], _ = confidence.between_arms(learning, since)
    return gaps, above


def _met(
    contrasts: Array, phases: list[tuple[Array, Array]], confidence: Confidence
) -> tuple[Duels, Duels]:
    """Contrasts (T, p) in the phases that the confidence was learnt from, and since."""
    count = confidence.learnt_from
    return meet(contrasts, phases[:count]), meet(contrasts, phases[count:])


def _estimates(duels: Duels) -> tuple[Array, Array]:
    """(T,) estimates and their variances for sigma = 1, infinite where nothing is known."""
    known = np.where(duels.information > 0, duels.information, 1.0)
    return duels.estimates, np.where(duels.information > 0, 1.0 / known, np.inf)


def bound_regret(
    problem: Problem, cells: Cells, comparison: Comparison, found: Allocation, *, effort: str
) -> tuple[Regret, Allocation]:
    """The regret of the allocation found for the estimate, and the worst case that was met.

    The smaller of two bounds: contrasts with the cell that each edge shows, and contrasts of all
    cells with the best one of their kind. The first is exact where every edge shows the best; the
    second keeps edges alike, so that bounds for graphs with cycles apply.
    """
    optimisation = 0.0 if found.proved_optimal else found.upper_bound - found.value
    if not comparison.is_known:
        return Regret(math.inf, optimisation), replace(found, value=math.inf)
    objective = _gains(problem, cells, comparison, found.arms)
    method = "auto" if len(problem.graph.edges) <= _SEARCHED else "local-search"
    worst = solve(objective, Request(method, bound=None, start=found.arms))
    bound = worst.value if worst.proved_optimal else upper_bound(objective, effort)
    edges_alone = cells.own is None and not problem.graph.has_negative_weights
    if edges_alone and not shows_one_cell(problem):
        bound = min(bound, _common_reference(problem, cells, comparison, effort))
    total = problem.graph.n_directions * float(np.abs(problem.graph.weight_of_edge).sum())
    margin = ROUNDING * total * float(np.abs(comparison.gaps).max(initial=0.0))
    bound = 0.0 if bound <= margin else bound
    return Regret(bound, min(optimisation, bound)), worst


def _gains(problem: Problem, cells: Cells, comparison: Comparison, arms: Indices) -> Objective:
    """Upper confidence bounds of what other joint arms gain over ours (n,)."""
    graph, rows = problem.classes.graph, comparison.edges
    upper = comparison.gaps + comparison.above
    if graph.has_negative_weights:  # a negative weight turns an upper bound into a lower one
        assert graph.weights is not None
        upper = np.concatenate([upper, comparison.gaps - comparison.below])
        rows = rows + len(comparison.shown) * (graph.weights < 0)
    used, kinds = np.unique(rows, return_inverse=True)
    tables = upper[used][:, cells.pair_index]
    unary = None
    if cells.own is not None:
        own = comparison.own_gaps + comparison.own_above
        unary = own[problem.kind_of_node, arms]
    return Objective.of(graph.with_kinds(kinds.ravel()), tables, problem.candidates, unary)


def upper_bound(objective: Objective, effort: str) -> float:
    """By counted work, not by the clock: a verdict must not depend on the machine's load."""
    if effort == "fast":
        return best_upper_bound(objective).value
    return min(all_bounds(objective, seconds=_PATIENCE)).value


def _common_reference(problem: Problem, cells: Cells, comparison: Comparison, effort: str) -> float:
    """Every cell against the best of its kind, from above for others, from below for ours."""
    graph, references = problem.classes.graph, comparison.references
    upper = (comparison.gaps + comparison.above)[references]
    objective = Objective.of(graph, upper[:, cells.pair_index], problem.candidates)
    kinds = comparison.kinds[comparison.edges]
    ours = comparison.shown[comparison.edges]
    lower = (comparison.gaps - comparison.below)[references[kinds], ours]
    total = graph.n_directions * float((graph.weight_of_edge * lower).sum())
    return upper_bound(objective, effort) - total
