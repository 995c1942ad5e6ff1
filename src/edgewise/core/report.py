"""The report: the answer, its guarantee in words, and what stands beside it."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from enum import Enum

import numpy as np

from edgewise.allocation.instance.result import Allocation
from edgewise.base.arrays import Array, Indices
from edgewise.core.design.g_optimal import Design
from edgewise.core.evidence.lack_of_fit import LackOfFit
from edgewise.core.evidence.noise import NoiseEstimate
from edgewise.core.model.problem import Problem
from edgewise.core.state import Regret
from edgewise.core.stopping import Verdict
from edgewise.errors import InvalidArgument


class Ending(Enum):
    """Why no further round was taken."""

    CERTIFIED = "the answer has the confidence asked for"
    STALLED = "more rounds would not help: what is left of the gap is optimisation"
    BUDGET_SPENT = "the round limit was reached; the answer is the current leader, not certified"
    RUNNING = "still collecting; the answer is the current leader, not certified"


@dataclass(frozen=True, eq=False)
class Baseline:
    """A simple alternative to the recommended allocation."""

    name: str
    arms: Indices
    """(n,)"""
    value: float
    """Its estimated global reward."""


@dataclass(frozen=True, eq=False)
class Report:
    """What was found and how sure it is. ``print(report)`` gives the summary."""

    problem: Problem
    rounds: int
    ending: Ending
    verdict: Verdict
    delta: float
    epsilon: float
    """The tolerance: per arc if the target is a pair, of the global reward if an allocation."""
    target: str
    """``"pair"`` or ``"allocation"``: what the confidence is about."""
    strategy: str
    stopping: str
    assumes: str
    """What the certificate rests on."""
    designs: tuple[Design, ...]
    """One per distinct candidate set; empty if nodes do not draw from designs."""
    matrices: Array
    """(q, d, d) estimated S per kind (M if directed); NaN while not estimable."""
    node_terms: Array | None
    """(q, d) estimated beta per kind, if the problem has a node term."""
    tables: Array
    """(q, K, K) estimated reward of an arc by the arms at its ends."""
    allocation: Allocation | None
    """The recommended joint arm; None while not estimable."""
    regret: Regret | None
    """How far its global reward may be from the best; None if the rule cannot tell."""
    baselines: tuple[Baseline, ...]
    noise_estimate: NoiseEstimate | None
    lack_of_fit: LackOfFit | None

    @property
    def certified(self) -> bool:
        """Whether the answer has the confidence asked for."""
        return self.ending is Ending.CERTIFIED

    @property
    def best_pairs(self) -> tuple[tuple[int, int], ...]:
        """The best pair of arms of each edge kind; empty while not estimable."""
        return self.verdict.pairs

    @property
    def best_pair(self) -> tuple[int, int]:
        """The best pair of arms, when edges are of one kind."""
        if len(self.best_pairs) != 1:
            raise InvalidArgument(
                "nothing can be estimated from so few rounds; tell more rounds first"
                if not self.best_pairs
                else f"this problem has {len(self.best_pairs)} edge kinds, each with a best pair "
                "of its own; read report.best_pairs"
            )
        return self.best_pairs[0]

    @property
    def matrix(self) -> Array:
        """(d, d) estimate of S = (M + M')/2, of M if directed; (q, d, d) for several kinds."""
        return self.matrices[0] if len(self.matrices) == 1 else self.matrices

    @property
    def design(self) -> Design:
        """The design the nodes drew from (of the first candidate set, if masks differ)."""
        if not self.designs:
            raise InvalidArgument(
                f"strategy {self.strategy!r} changes its mind as it learns, so there is no one "
                "design to show (report.designs is empty); strategy='g-optimal' has one"
            )
        return self.designs[0]

    @property
    def shows_best_everywhere(self) -> bool:
        """Whether every edge of the allocation shows the leading pair of its kind."""
        graph = self.problem.graph
        if self.allocation is None or not self.best_pairs:
            return False
        if graph.weights is not None and (graph.weights < 0).any():
            return False
        leaders = np.array(self.best_pairs)
        if graph.kinds is not None:
            leaders = leaders[graph.kinds]
        shown = self.allocation.arms[graph.edges]
        if not graph.directed:
            shown, leaders = np.sort(shown, axis=1), np.sort(leaders, axis=1)
        return bool((shown == leaders).all())

    @property
    def shows_best_certainly(self) -> bool:
        """Whether, moreover, that pair is certified: no joint arm can be better then."""
        return self.certified and self.target == "pair" and self.shows_best_everywhere

    @property
    def total_weight(self) -> float:
        """Sum of the weights of all arcs: m if there are none."""
        weights = self.problem.graph.weights
        per_edge = self.problem.graph.n_arcs / len(self.problem.graph.edges)
        return float(self.problem.graph.n_arcs if weights is None else per_edge * weights.sum())

    @property
    def guarantee(self) -> str:
        """What is proved about the answer, in a few sentences."""
        if not self.best_pairs:
            return f"After {self.rounds} round(s) not every direction has been observed yet."
        parts = [self._claim()]
        if self.certified and self.target == "pair":
            parts.append(self._allocation_claim())
        if self.regret is not None and math.isfinite(self.regret.bound):
            parts.append(self._regret_claim(self.regret))
        return " ".join([*(part for part in parts if part), f"Assumes {self.assumes}."])

    def _claim(self) -> str:
        """Whether the target is reached."""
        if self.target == "allocation":
            if self.certified:
                return ""  # what is certified is the regret
            return f"Not certified: a regret of {self.epsilon:.4g} was asked for."
        if not self.certified:
            return (
                f"Not certified: after round {self.verdict.round} the evidence against "
                f"{self._rival_text()} was at {self.verdict.progress:.0%} of what is needed."
            )
        slack = f" by more than {self.epsilon:g}" if self.epsilon else ""
        each = "" if len(self.best_pairs) == 1 else " of its kind"
        return (
            f"{self._confidence_text()}, no pair of arms beats {self._pairs_text()} on an "
            f"edge{each}{slack}."
        )

    def _allocation_claim(self) -> str:
        """What a certified pair says about the recommended joint arm."""
        if self.shows_best_everywhere:
            total = self.epsilon * self.total_weight
            return "Every edge of the allocation shows the best pair, so no joint arm is better" + (
                f" by more than {total:g} in total." if self.epsilon else "."
            )
        if self.problem.has_paper_setting:
            return (
                "Algorithm 1 (method='bipartite') with this pair gets at least half-way from the "
                "worst to the best global reward."
            )
        return ""

    def _regret_claim(self, regret: Regret) -> str:
        """How far the recommended joint arm may be from the best, and why."""
        if self.shows_best_certainly:
            return ""  # said already
        if regret.bound == 0.0:
            return f"{self._confidence_text()}, no joint arm is better than the allocation."
        parts = f"{regret.estimation / regret.bound:.0%} estimation, which more rounds reduce"
        if regret.optimisation > 0.0:
            parts += f", {regret.optimisation / regret.bound:.0%} optimisation, which a better "
            parts += "allocation or bound reduces"
        return (
            f"{self._confidence_text()}, no joint arm beats the allocation by more than "
            f"{regret.bound:.4g} in global reward ({parts})."
        )

    def _confidence_text(self) -> str:
        return f"With probability at least {1 - self.delta:.10g}"

    def _arm_name(self, arm: int) -> Hashable:
        return arm if self.problem.arm_labels is None else self.problem.arm_labels[arm]

    def _pair_text(self, first: int, second: int) -> str:
        return f"({self._arm_name(first)}, {self._arm_name(second)})"

    def _pairs_text(self) -> str:
        return " and ".join(self._pair_text(k, l) for k, l in self.best_pairs)

    def _rival_text(self) -> str:
        if self.verdict.rival is None:
            return "the rivals"
        kind, k, l = self.verdict.rival
        of_kind = "" if len(self.best_pairs) == 1 else f" of kind {kind}"
        return f"the closest rival {self._pair_text(k, l)}{of_kind}"

    def __str__(self) -> str:
        lines = [
            f"{self.ending.name.replace('_', ' ').capitalize()} after {self.rounds} rounds "
            f"({self.strategy} strategy, {self.stopping} rule, delta = {self.delta:g})",
            f"  best pair      {self._pairs_text() or 'not estimable yet'}",
        ]
        if self.allocation is not None:
            best = self.allocation
            quality = "optimal" if best.proved_optimal else f"gap to upper bound {best.gap:.1%}"
            lines.append(
                f"  allocation     estimated global reward {best.value:.6g} "
                f"({quality} for the estimate, method {best.method})"
            )
            lines += [f"  {row.name:<14} {row.value:.6g}" for row in self.baselines]
        if self.noise_estimate is not None:
            noise = self.noise_estimate
            stated = self.problem.noise
            lines.append(
                f"  noise          {stated if isinstance(stated, str) else f'stated {stated:g}'}, "
                f"measured {noise.deviation:.4g} (95 %: {noise.low:.4g} to {noise.high:.4g})"
            )
        if self.lack_of_fit is not None:
            lines.append(f"  lack of fit    p = {self.lack_of_fit.p_value:.3g}{self._fit_text()}")
        lines.append(f"  guarantee      {self.guarantee}")
        return "\n".join(lines)

    def _fit_text(self) -> str:
        wrong = self.lack_of_fit is not None and self.lack_of_fit.p_value < 1e-3
        return "  the bilinear model does not hold: do not trust the certificate" if wrong else ""
