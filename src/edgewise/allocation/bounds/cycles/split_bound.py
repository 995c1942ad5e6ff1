"""Rewards of edges split freely among the cycles through them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from edgewise.allocation.bounds.bound import Bound
from edgewise.allocation.bounds.cycles.cycles import Cycles, Packing, edge_weights
from edgewise.allocation.bounds.cycles.quasi_newton import descend
from edgewise.allocation.bounds.cycles.smooth_split import smooth_bound
from edgewise.allocation.bounds.cycles.step_tables import Split, Whole, maxima
from edgewise.allocation.bounds.rounding import PAIRWISE, careful_sum, gamma
from edgewise.allocation.instance.deadline import Deadline
from edgewise.allocation.instance.objective import Objective
from edgewise.base.arrays import Array
from edgewise.base.threads import single_threaded

MOST_NUMBERS = 10**6
"""Entries of all parts up to which a split is tried; a few hundred megabytes with the method's."""
_SECONDS_PER_NUMBER = 6e-9
"""Per entry of a part and arm, for one gradient, measured."""
_SECONDS_PER_ROUND = 5e-4
_HEATS = (1e-3, 3e-4)
"""Smoothing, relative to the spread of the tables, from coarse to fine."""


def split_bound(
    objective: Objective, packing: Packing, *, seconds: float, deadline: Deadline | None = None
) -> Bound | None:
    r"""The odd-cycle bound with a table of its own for every step of every cycle.

    Let closed walk c hold a part :math:`\theta_{cs}` (K x K) of the table of the edge of its step
    s, and the nodes of e hold parts :math:`\mu_{ei}` (K) of it. Whatever the parts,

    .. math:: F_{\max} \le \sum_i \max_k \Bigl(u_i + \sum_{e \ni i} \mu_{ei}\Bigr)[k]
              + \sum_e \max_{kl} \Bigl(G_e - \mu_{ei} - \mu_{ej} - \sum_{s \to e} \theta_{cs}\Bigr)
              + \sum_c \max_a \sum_{s \in c} \theta_{cs}[a_s, a_{s+1}],

    since the parts add up to F for every allocation. A packing is the choice
    :math:`\theta = y_c (G_e - \max G_e) / w_e`; from there a quasi-Newton method descends on the
    smoothed bound, for ``seconds`` of counted work or until the deadline. Kinds, directions,
    signs, masks and node terms only change the tables.
    """
    n_arms, numbers = objective.n_arms, split_size(objective, packing.cycles)
    rounds = int(seconds / (_SECONDS_PER_NUMBER * numbers * (n_arms + 10) + _SECONDS_PER_ROUND))
    if numbers > MOST_NUMBERS or rounds < len(_HEATS):
        return None
    held = held_by_packing(objective, packing)
    best = held.bound
    for heat in _HEATS:
        held = held.descended(heat, rounds // len(_HEATS), deadline)
        best = min(best, held.bound)
    return best


def split_size(objective: Objective, cycles: Cycles) -> int:
    """Entries of all parts of a split over these walks."""
    return (len(cycles.edges) + 2 * len(objective.graph.edges)) * objective.n_arms**2


class Held(NamedTuple):
    """An objective, and who holds which part of it."""

    whole: Whole
    split: Split

    @property
    def bound(self) -> Bound:
        """The bound of the split, rounded up."""
        return _evaluated(self.whole, self.split)

    def descended(self, heat: float, rounds: int, deadline: Deadline | None) -> Held:
        """After steps down the bound smoothed by ``heat``, in units of the spread of a table."""
        spread = float(np.ptp(self.whole.tables, axis=(1, 2)).max())
        if spread == 0.0:
            return self
        return self._replace(
            split=_descend(self.whole, self.split, heat * spread, rounds, deadline)
        )


def held_by_packing(objective: Objective, packing: Packing) -> Held:
    """The split that proves the bound of a packing."""
    whole = Whole(
        objective.edge_tables,
        objective.unary_of_node.copy(),
        objective.allowed.copy(),
        objective.graph.edges,
        packing.cycles,
    )
    return Held(whole, _from_packing(whole, packing, edge_weights(objective.graph)))


def _from_packing(whole: Whole, packing: Packing, weights: Array) -> Split:
    """Every step holds the share of its edge's table that the packing gives it."""
    cycles, tables = packing.cycles, whole.tables
    shares = np.repeat(packing.amounts, cycles.lengths) / weights[cycles.edges]
    slack = tables - tables.max(axis=(1, 2), keepdims=True)
    steps = slack[cycles.edges] * shares[:, None, None]
    backwards = whole.edges[cycles.edges, 0] != cycles.nodes
    steps[backwards] = steps[backwards].transpose(0, 2, 1)
    return Split(steps, np.zeros((len(tables), 2, tables.shape[1])))


def _evaluated(whole: Whole, split: Split) -> Bound:
    value, error = careful_sum(maxima(whole, split))
    # terms that one number is the sum of: parts of an edge, edges of a node, steps of a walk
    parts = np.bincount(whole.cycles.edges, minlength=1).max()
    degree = np.bincount(whole.edges.ravel()).max()
    longest = whole.cycles.lengths.max(initial=0)
    margin = gamma(float(parts + degree + longest) + PAIRWISE) * 4.0 * absolute_size(whole, split)
    return Bound(value + error + margin, "cycle-split")


def absolute_size(whole: Whole, split: Split) -> float:
    """At least what all parts sum to in absolute value, whatever the allocation."""
    sizes = [np.abs(array).max(axis=-1, initial=0.0).sum() for array in (whole.unary, split.ends)]
    sizes += [np.abs(array).max(axis=(1, 2)).sum() for array in (whole.tables, split.steps)]
    return float(sum(sizes))


def _descend(
    whole: Whole, split: Split, heat: float, rounds: int, deadline: Deadline | None
) -> Split:
    def as_split(flat: Array) -> Split:
        middle = split.steps.size
        return Split(
            flat[:middle].reshape(split.steps.shape), flat[middle:].reshape(split.ends.shape)
        )

    def value_and_slope(flat: Array) -> tuple[float, Array]:
        slope = np.empty_like(flat)
        return smooth_bound(whole, as_split(flat), heat, as_split(slope)), slope

    def out_of_time() -> bool:
        return deadline is not None and deadline.passed

    start = np.concatenate([split.steps.ravel(), split.ends.ravel()])
    with single_threaded():
        return as_split(descend(value_and_slope, start, rounds, out_of_time))
