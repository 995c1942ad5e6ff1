"""The report: the answer, its guarantee in words, and what stands beside it."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from edgewise.allocation.instance.result import Allocation
from edgewise.base.arrays import Array, Indices
from edgewise.core.design.g_optimal import Design
from edgewise.core.ending import Ending
from edgewise.core.evidence.lack_of_fit import LackOfFit
from edgewise.core.evidence.noise import NoiseEstimate
from edgewise.core.model.problem import Problem
from edgewise.core.regret import Regret
from edgewise.core.stopping import Verdict
from edgewise.errors import InvalidArgument

if TYPE_CHECKING:
    from edgewise.core.targets import Target


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
    target: Target
    """What the confidence is about."""
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
        if graph.has_negative_weights:
            return False
        leaders = np.array(self.best_pairs)[self.problem.classes.graph.kind_of_edge]
        shown = self.allocation.arms[graph.edges]
        if not graph.directed:
            shown, leaders = np.sort(shown, axis=1), np.sort(leaders, axis=1)
        return bool((shown == leaders).all())

    @property
    def total_weight(self) -> float:
        """Sum of the weights of all arcs: m if there are none."""
        graph = self.problem.graph
        return float(graph.n_directions * graph.weight_of_edge.sum())

    @property
    def guarantee(self) -> str:
        """What is proved about the answer, in a few sentences."""
        if not self.best_pairs:
            return f"After {self.rounds} round(s) not every direction has been observed yet."
        claims = [claim for claim in self.target.claims(self) if claim]
        return " ".join([*claims, f"Assumes {self.assumes}."])

    # -- in words ------------------------------------------------------------------------------

    @property
    def regret_text(self) -> str:
        """How far the recommended joint arm may be from the best, and why; empty if unknown."""
        regret = self.regret
        if regret is None or not math.isfinite(regret.bound):
            return ""
        if regret.bound == 0.0:
            return f"{self.confidence_text}, no joint arm is better than the allocation."
        parts = f"{regret.estimation / regret.bound:.0%} estimation, which more rounds reduce"
        if regret.optimisation > 0.0:
            parts += f", {regret.optimisation / regret.bound:.0%} optimisation, which a better "
            parts += "allocation or bound reduces"
        return (
            f"{self.confidence_text}, no joint arm beats the allocation by more than "
            f"{regret.bound:.4g} in global reward ({parts})."
        )

    @property
    def confidence_text(self) -> str:
        """How a sentence about something certified begins."""
        return f"With probability at least {1 - self.delta:.10g}"

    @property
    def pairs_text(self) -> str:
        """The best pair of arms of every kind, by label."""
        return " and ".join(self._pair_text(k, l) for k, l in self.best_pairs)

    @property
    def rival_text(self) -> str:
        """The pair of arms closest to the best, by label."""
        if self.verdict.rival is None:
            return "the rivals"
        kind, k, l = self.verdict.rival
        of_kind = "" if len(self.best_pairs) == 1 else f" of kind {kind}"
        return f"the closest rival {self._pair_text(k, l)}{of_kind}"

    def _arm_name(self, arm: int) -> Hashable:
        return arm if self.problem.arm_labels is None else self.problem.arm_labels[arm]

    def _pair_text(self, first: int, second: int) -> str:
        return f"({self._arm_name(first)}, {self._arm_name(second)})"

    def __str__(self) -> str:
        lines = [
            f"{self.ending.name.replace('_', ' ').capitalize()} after {self.rounds} rounds "
            f"({self.strategy} strategy, {self.stopping} rule, delta = {self.delta:g})",
            f"  best pair      {self.pairs_text or 'not estimable yet'}",
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
            said = f"stated {stated:g}" if isinstance(stated, float) else "estimate"
            if isinstance(stated, tuple):
                said = "stated per channel (units of it)"
            lines.append(
                f"  noise          {said}, "
                f"measured {noise.deviation:.4g} (95 %: {noise.low:.4g} to {noise.high:.4g})"
            )
        if self.lack_of_fit is not None:
            lines.append(f"  lack of fit    p = {self.lack_of_fit.p_value:.3g}{self._fit_text()}")
        lines.append(f"  guarantee      {self.guarantee}")
        return "\n".join(lines)

    def _fit_text(self) -> str:
        wrong = self.lack_of_fit is not None and self.lack_of_fit.p_value < 1e-3
        return "  the bilinear model does not hold: do not trust the certificate" if wrong else ""
