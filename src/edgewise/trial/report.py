"""What a trial found, in numbers and in words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from edgewise.base.arrays import Array, Indices
from edgewise.base.html import summary
from edgewise.base.wording import harmless
from edgewise.core.model.problem import Problem
from edgewise.errors import InvalidArgument
from edgewise.trial.comparison import Comparison
from edgewise.trial.pairs import FOR_BETTER, TrialRecord
from edgewise.trial.planning import PairsNeeded, deviation_of_pair, pairs_needed
from edgewise.trial.rule import Goal, TrialEnding
from edgewise.trial.sequence import Interval


@dataclass(frozen=True, eq=False)
class TrialReport:
    """What was measured of two candidates or more. ``print(report)`` gives the summary.

    No model is assumed: a difference is that of the figures told, pair by pair.
    """

    problem: Problem
    ending: TrialEnding
    pairs: int
    """Complete pairs (blocks, of more than two candidates)."""
    max_pairs: int
    delta: float
    goal: Goal
    names: tuple[str, ...]
    """Of the candidates; the first is the baseline."""
    arms: Indices
    """(J, n) their joint arms."""
    totals: Array
    """(pairs, J) what was told; NaN where a candidate was not deployed any more."""
    comparisons: tuple[Comparison, ...]
    """Of every two candidates, the later minus the earlier."""
    winner: str | None
    """The candidate to deploy, by the measurement; None while that is open."""

    @classmethod
    def of(cls, problem: Problem, record: TrialRecord) -> TrialReport:
        """The report on a trial as it stands."""
        design, state, standing = record.design, record.state, record.standing
        winner = standing.winner
        return cls(
            problem=problem,
            ending=standing.ending,
            pairs=state.blocks,
            max_pairs=design.max_pairs,
            delta=design.delta,
            goal=design.goal,
            names=design.names,
            arms=design.arms,
            totals=state.totals,
            comparisons=record.comparisons,
            winner=None if winner is None else design.names[winner],
        )

    @property
    def is_undecided(self) -> bool:
        """Whether the trial is over without an answer to its question."""
        return self.ending in {TrialEnding.BUDGET_SPENT, TrialEnding.ABANDONED}

    @property
    def leading(self) -> Comparison | None:
        """The candidate that did best minus the baseline; None if they are the same."""
        against = self.comparisons[: len(self.names) - 1]
        if not against:
            return None
        return max(against, key=lambda one: -np.inf if one.pairs == 0 else one.difference)

    @property
    def difference(self) -> float:
        """Candidate minus baseline, per round: the mean of the pairs; NaN before the first."""
        return 0.0 if self.leading is None else self.leading.difference

    @property
    def interval(self) -> Interval:
        """Covers the difference with probability 1 - delta, whenever one looks."""
        return (0.0, 0.0) if self.leading is None else self.leading.interval

    @property
    def choice(self) -> Indices | None:
        """(n,) the joint arm to deploy, by the measurement; None while that is open."""
        return None if self.winner is None else self.arms[self.names.index(self.winner)]

    def plan(self, difference: float, *, noise: float | None = None) -> PairsNeeded:
        """How many pairs in all to expect: see :meth:`edgewise.Trial.plan`."""
        deviation = deviation_of_pair(self.problem, noise)
        if self.leading is not None and self.leading.pairs > 2:
            deviation = self.leading.deviation
        if deviation is None:
            raise InvalidArgument(
                "the noise of this problem is not stated and no three pairs have been measured; "
                "pass noise=, the deviation of one measured number",
                argument="noise",
            )
        share = FOR_BETTER if difference >= 0 else 1.0 - FOR_BETTER
        level = self.delta * share / max(len(self.comparisons), 1)
        return pairs_needed(difference, deviation, level=level)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to look into."""
        return tuple(
            f"The order matters ({one.first} and {one.second}): the later round of a pair brings "
            f"{one.order_effect:+.4g} more. Drift cancels through the coin, and the interval "
            "allows for it; what one configuration leaves behind for the next does not: wait "
            "longer between rounds."
            for one in self.comparisons
            if one.order_matters
        )

    @property
    def headline(self) -> str:
        """The ending in a line."""
        said = self.ending.value
        if len(self.names) > 2 and self.winner is not None:
            said = f"{self.winner} is best: {said}"
        return f"Trial: {self.length} of at most {self.max_pairs}, {said}"

    @property
    def length(self) -> str:
        """How many pairs, in words."""
        return "1 pair" if self.pairs == 1 else f"{self.pairs} pairs"

    def lines(self) -> list[str]:
        """What was measured, line by line."""
        found = [in_words(one) for one in self.comparisons]
        return [*found, *self.warnings, "No model assumed; the interval holds whenever one looks."]

    def _repr_html_(self) -> str:
        return summary(self.headline, [("", line) for line in self.lines()])

    def __str__(self) -> str:
        return "\n  ".join(map(harmless, [self.headline, *self.lines()]))


def in_words(found: Comparison) -> str:
    """One comparison in a line."""
    what = f"{found.first} minus {found.second}"
    if not found.pairs:
        return f"{what}: not measured yet"
    low, high = found.interval
    return (
        f"{what} = {found.difference:+.4g} ({100 * (1 - found.delta):.4g} %: {low:+.4g} to "
        f"{high:+.4g}) after {found.pairs} pairs"
    )
