"""The pairs of a trial: which round comes next, and what was measured. Pure values.

A *block* deploys every candidate that is still in the trial once, in an order drawn by the seed
before anything is measured. With two candidates it is a pair.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from edgewise.base.arrays import Array, Indices, frozen
from edgewise.trial.comparison import Comparison
from edgewise.trial.rule import Goal, Standing, TrialEnding, judge

FOR_BETTER = 0.8
"""The part of delta spent on "better than the baseline"; the rest guards the interval's other end.

"Better" is what most trials are begun for: at a share of 1/2 it would take 11 to 13 % more pairs.
"""


@dataclass(frozen=True, eq=False)
class TrialDesign:
    """What is fixed before the first pair. Candidate 0 is the baseline."""

    names: tuple[str, ...]
    """(J,)"""
    arms: Indices
    """(J, n) the joint arm of every candidate."""
    delta: float
    goal: Goal
    max_pairs: int
    seed: int

    @property
    def n_candidates(self) -> int:
        """J, the baseline included."""
        return len(self.names)

    def order(self, block: int) -> Indices:
        """(J,) the candidates as block 1, 2, ... deploys them; repeated alike after a gap.

        A fresh order would let gaps that depend on the order choose it.
        """
        return np.random.default_rng((self.seed, block)).permutation(self.n_candidates)

    def to_tree(self) -> dict[str, Any]:
        """As plain values."""
        simple = {one.name: getattr(self, one.name) for one in fields(self)}
        return simple | {"goal": vars(self.goal)}

    @classmethod
    def from_tree(cls, tree: Mapping[str, Any]) -> TrialDesign:
        """The inverse of :meth:`to_tree`."""
        names, arms = tuple(tree["names"]), frozen(tree["arms"], np.int64)
        return cls(**{**tree, "names": names, "arms": arms, "goal": Goal(**tree["goal"])})


@dataclass(frozen=True, eq=False)
class TrialState:
    """What was measured so far."""

    totals: Array
    """(blocks, J) of complete blocks; NaN where a candidate was no longer deployed."""
    current: Array
    """(J,) of the block that is out; NaN where nothing has been told yet."""
    attempt: int = 1
    """How often the block that is out has been begun."""
    abandoned: bool = False

    @classmethod
    def start(cls, n_candidates: int) -> TrialState:
        """Before the first pair."""
        return cls(frozen(np.empty((0, n_candidates)), float), nothing_told(n_candidates))

    @property
    def blocks(self) -> int:
        """Complete blocks."""
        return len(self.totals)

    def to_tree(self) -> dict[str, Any]:
        """As plain values."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @classmethod
    def from_tree(cls, tree: Mapping[str, Any]) -> TrialState:
        """The inverse of :meth:`to_tree`."""
        totals, current = frozen(tree["totals"], float), frozen(tree["current"], float)
        return cls(**{**tree, "totals": totals, "current": current})


@dataclass(frozen=True, eq=False)
class TrialRecord:
    """A trial as it stands: what was fixed, and what was measured."""

    design: TrialDesign
    state: TrialState

    @classmethod
    def start(cls, design: TrialDesign) -> TrialRecord:
        """Before the first pair."""
        return cls(design, TrialState.start(design.n_candidates))

    @cached_property
    def comparisons(self) -> tuple[Comparison, ...]:
        """Every two candidates i < j, "j minus i", at levels that hold for all of them at once."""
        pairs = list(combinations(range(self.design.n_candidates), 2))
        places = _places(self.design, self.state.blocks)
        return tuple(
            _comparison(
                self.design, self.state.totals, places, i, j, self.design.delta / len(pairs)
            )
            for i, j in pairs
        )

    @cached_property
    def standing(self) -> Standing:
        """Where the candidates stand, and whether the trial is over."""
        count = self.design.n_candidates
        if count == 1:
            alone = np.full((1, 1), np.nan)
            return Standing(TrialEnding.SAME, np.ones(1, np.bool_), alone, 0)
        standing = judge(self.design.goal, self.comparisons, count)
        if standing.ending is not TrialEnding.RUNNING:
            return standing
        if self.state.abandoned:
            return replace(standing, ending=TrialEnding.ABANDONED)
        if self.state.blocks >= self.design.max_pairs:
            return replace(standing, ending=TrialEnding.BUDGET_SPENT)
        return standing

    @property
    def turns(self) -> Indices:
        """The candidates that the block which is out deploys, in order."""
        order = self.design.order(self.state.blocks + 1)
        return order[self.standing.alive[order]]

    def told(self, candidate: int, total: float) -> TrialRecord:
        """With the total of a round of the block that is out; NaN, a gap, begins it again."""
        if np.isnan(total):
            return self.repeated()
        current = self.state.current.copy()
        current[candidate] = total
        if np.isnan(current[self.standing.alive]).any():
            return self._with(current=frozen(current, float))
        totals = frozen(np.vstack([self.state.totals, current]), float)
        return replace(self, state=TrialState(totals, nothing_told(len(current))))

    def repeated(self) -> TrialRecord:
        """With the block that is out begun again: what was told of it counts for nothing."""
        nothing = nothing_told(self.design.n_candidates)
        return self._with(current=nothing, attempt=self.state.attempt + 1)

    def corrected(self, block: int, candidate: int, total: float) -> TrialRecord:
        """With another total of a round on record."""
        if block > self.state.blocks:
            current = self.state.current.copy()
            current[candidate] = total
            return self._with(current=frozen(current, float))
        totals = self.state.totals.copy()
        totals[block - 1, candidate] = total
        after = self._with(totals=frozen(totals, float))
        # of several candidates others may be left now: the block that is out was laid out for these
        begun = self.design.n_candidates > 2 and not np.isnan(self.state.current).all()
        return after.repeated() if begun else after

    def ended(self) -> TrialRecord:
        """With no further pair."""
        return self._with(abandoned=True)

    def to_tree(self) -> dict[str, Any]:
        """As plain values."""
        return {"design": self.design.to_tree(), "state": self.state.to_tree()}

    @classmethod
    def from_tree(cls, tree: Mapping[str, Any]) -> TrialRecord:
        """The inverse of :meth:`to_tree`."""
        return cls(TrialDesign.from_tree(tree["design"]), TrialState.from_tree(tree["state"]))

    def _with(self, **changes: Any) -> TrialRecord:
        return replace(self, state=replace(self.state, **changes))


def _comparison(
    design: TrialDesign, totals: Array, places: Indices, i: int, j: int, delta: float
) -> Comparison:
    """From the blocks that deployed both."""
    differences = totals[:, j] - totals[:, i]
    both = ~np.isnan(differences)
    return Comparison(
        first=design.names[j],
        second=design.names[i],
        differences=differences[both],
        orders=np.where(places[both, j] > places[both, i], 1.0, -1.0),
        delta=delta,
        lower_share=FOR_BETTER if i == 0 else 0.5,
    )


def _places(design: TrialDesign, blocks: int) -> Indices:
    """(blocks, J) when each candidate's turn comes."""
    if not blocks:
        return np.empty((0, design.n_candidates), np.int64)
    return np.argsort([design.order(block) for block in range(1, blocks + 1)], axis=1)


def nothing_told(n_candidates: int) -> Array:
    """(J,) the totals of a block that has just begun."""
    return frozen(np.full(n_candidates, np.nan), float)
