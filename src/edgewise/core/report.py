"""The report: the answer, its guarantee in words, and what stands beside it."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from edgewise.allocation.instance.result import Allocation
from edgewise.base.arrays import Array, Indices, stays_frozen
from edgewise.base.html import summary
from edgewise.base.wording import counted, harmless, listed
from edgewise.core.claim import Claim, Confirmation, claim_of
from edgewise.core.design.g_optimal import Design
from edgewise.core.earnings import Earnings
from edgewise.core.ending import Ending
from edgewise.core.evidence.noise import NoiseEstimate
from edgewise.core.gate.contradiction import Contradiction
from edgewise.core.gate.contradiction import in_words as contradicted_in_words
from edgewise.core.gate.lack_of_fit import LackOfFit, untested
from edgewise.core.local.homogeneity import Homogeneity
from edgewise.core.model.problem import Problem
from edgewise.core.regret import Regret
from edgewise.core.stopping import Verdict
from edgewise.core.tie import Tie
from edgewise.errors import InvalidArgument

if TYPE_CHECKING:
    from edgewise.core.targets import Target


_REMEDIES = {
    "arc": "; of an undirected edge both directions must be measured unless both nodes show the "
    "same arm",
    "link": "",
    "node": "; if the arms have a constant feature, a node's own term and its incoming arcs cannot "
    "be told apart where nodes have equally many: pass own_term=False; measuring arcs or links "
    "would tell them apart sooner",
    "total": "; measuring nodes or links instead of the total would tell them apart sooner",
}
"""What would make contrasts estimable, by what is measured."""
_DIFFERENT = 0.01
"""p-values below this are said in words."""


@dataclass(frozen=True, eq=False)
class Baseline:
    """A simple alternative to the recommended allocation."""

    name: str
    arms: Indices
    """(n,)"""
    value: float
    """Its estimated global reward."""


@dataclass(frozen=True)
class Estimated:
    """What the local model expects of the recommended allocation."""

    gain: float
    """Expected gain in global reward over the baseline."""
    deviation: float
    """Its posterior deviation."""
    interval: tuple[float, float]
    """The middle 90 % of its posterior."""
    baseline: str
    """What it is compared with, in words."""
    worth_of_rounds: float | None
    """What further rounds are expected to bring at most; None before the first look."""
    noise: float
    """Noise deviation, as stated or fitted."""
    small_kinds: tuple[int, ...]
    """Kinds with too few measured edges to learn how they differ: they learn it with others."""
    spread: float
    """How unequal edges of a kind are: deviation of an edge's mean reward from its kind's, over
    pairs of arms alike."""
    unmeasured: int = 0
    """Channels that were never measured: what they show is taken from their kind."""

    def __str__(self) -> str:
        low, high = self.interval
        return (
            f"expected gain {self.gain:.4g} over {self.baseline} (90 %: {low:.4g} to {high:.4g}), "
            "not proved"
        )

    @property
    def z(self) -> float:
        """Expected gain in units of its deviation."""
        return self.gain / self.deviation if self.deviation > 0 else math.inf


@stays_frozen
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
    unseen: tuple[tuple[int, int, int], ...] = ()
    """(kind, k, l) of the pairs of arms that cannot be told from the others yet."""
    homogeneity: Homogeneity | None = None
    """The test whether one matrix per kind is enough; None if it cannot be made."""
    estimated: Estimated | None = None
    """What is expected, where the answer rests on the local model."""
    edge_tables: Array | None = None
    """(E, K, K) what both directions of each edge bring, by the arms of its first and second
    node, if edges have parameters of their own."""
    earnings: Earnings | None = None
    """What exploring has earned, if the problem says what runs today."""
    contradictions: tuple[Contradiction, ...] = ()
    """What the data say against the model, the strongest first."""
    unwatched: str = ""
    """Why nobody asked whether the data contradict the model; empty if that was asked."""
    unnoticed: str = ""
    """What may contradict the model and would not have been noticed yet; empty if not certified."""
    confirmation: Confirmation = Confirmation.UNCONFIRMED
    """Whether a trial has borne the answer out."""
    measured: str = ""
    """What a trial found, in words; empty if there was none about this answer."""
    tie: Tie | None = None
    """What was found when ties were last looked for: the tolerance that would have certified."""

    @property
    def claim(self) -> Claim:
        """How far the answer can be relied on."""
        estimated = self.estimated is not None
        contradicted = bool(self.contradictions) or self.verdict.contradicted
        return claim_of(self.certified, estimated, contradicted)

    @property
    def certified(self) -> bool:
        """Whether the answer has the confidence asked for, and no trial contradicts it."""
        contradicted = self.confirmation is Confirmation.CONTRADICTED
        return self.ending is Ending.CERTIFIED and not contradicted

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
        leaders = np.array(self.best_pairs)
        return self.problem.classes.graph.shows(leaders, self.allocation.arms)

    @property
    def total_weight(self) -> float:
        """Sum of the weights of all arcs: m if there are none."""
        return self.problem.classes.graph.total_weight

    @property
    def guarantee(self) -> str:
        """What is proved about the answer, in a few sentences; what was measured of it first."""
        if self.confirmation is Confirmation.CONTRADICTED:
            return self.measured  # what the model claims is about the answer that lost
        return f"{self.measured} {self._proved()}".strip()

    def _proved(self) -> str:
        """What the model says, what speaks against it first."""
        said = [self.contradiction_text] if self.contradictions else []
        if not self.best_pairs and self.estimated is None:
            return " ".join([*said, self._unseen_text()])
        claims = [claim for claim in self.target.claims(self) if claim]
        if self.ending is Ending.CONTRADICTED and self.contradictions:
            claims = []
        rests = (f"Assumes {self.assumes}.", self.unwatched, self.unnoticed)
        closing = [self._tied_text(), *rests]
        return " ".join([*said, *claims, *(text for text in closing if text)])

    def _tied_text(self) -> str:
        if self.ending is not Ending.TIED or self.tie is None:
            return ""
        return (
            f"The leader and its rivals cannot be told apart: after round {self.tie.round} every "
            f"rival was within one standard error; epsilon = {self.tie.epsilon:.3g} would have "
            "certified the leader then."
        )

    @property
    def contradiction_text(self) -> str:
        """What the data say against the model, where, and what to do; empty if nothing."""
        said = "; ".join(self._contradicted)
        return f"The data contradict the model, so nothing is certified: {said}." if said else ""

    @property
    def _contradicted(self) -> tuple[str, ...]:
        return contradicted_in_words(self.contradictions, self.problem)

    def _unseen_text(self) -> str:
        text = f"After {counted(self.rounds, 'round')} not every direction has been observed yet."
        if not self.unseen:
            return text
        some = ", ".join(self._pair_text(k, l) for _, k, l in self.unseen[:3])
        more = f" and {len(self.unseen) - 3} more" if len(self.unseen) > 3 else ""
        text += (
            f" Not estimable so far: what tells {some}{more} from the others. Deploy rounds "
            f"that show them{_REMEDIES[self.problem.measured]}."
        )
        if self.problem.pooling == "none":
            needed = self.problem.dimension**2 + 1
            text += (
                f" Without pooling every edge needs about {needed} rounds of its own; until then "
                "the answer takes from an edge's kind what its own rounds do not show."
            )
        return text

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
        return harmless(f"({self._arm_name(first)}, {self._arm_name(second)})")

    @property
    def headline(self) -> str:
        """How it ended, after how many rounds, and how it was done; first what was measured."""
        ending, contradicted = self.ending.name.replace("_", " "), self._is_contradicted
        return (
            f"{f'By the model {ending.lower()}' if contradicted else ending.capitalize()} after "
            f"{counted(self.rounds, 'round')} ({self.strategy} strategy, {self.stopping} rule, "
            f"delta = {self.delta:g})"
        )

    @property
    def _is_contradicted(self) -> bool:
        """By a trial: then the measurement stands above everything."""
        return self.confirmation is Confirmation.CONTRADICTED

    def rows(self) -> list[tuple[str, str]]:
        """The rest as labels and texts, in the order in which they are read."""
        rows = [("contradicted", said) for said in self._contradicted]
        rows.append(("best pair", self.pairs_text or self._no_pair_text()))
        rows += self._allocation_rows()
        rows += [] if self.earnings is None else self.earnings.rows()
        rows += self._doubts()
        if not self._is_contradicted:
            heading = "estimate" if self.claim is Claim.ESTIMATED else "guarantee"
            rows.append((heading, self.guarantee))
        return rows

    def _allocation_rows(self) -> list[tuple[str, str]]:
        best = self.allocation
        if best is None:
            return []
        quality = "optimal" if best.proved_optimal else f"gap to upper bound {best.gap:.1%}"
        text = (
            f"estimated global reward {best.value:.6g}{self._up_to_text()} "
            f"({quality} for the estimate, method {best.method})"
        )
        return [("allocation", text), *((row.name, f"{row.value:.6g}") for row in self.baselines)]

    def _doubts(self) -> list[tuple[str, str]]:
        """What the data say about noise, features and edges."""
        rows = []
        if self.noise_estimate is not None:
            noise = self.noise_estimate
            text = f"measured {noise.deviation:.4g} (95 %: {noise.low:.4g} to {noise.high:.4g})"
            rows.append(("noise", f"{self._stated_noise()}, {text}"))
        if self.lack_of_fit is not None:
            rows.append(("lack of fit", f"p = {self.lack_of_fit.p_value:.3g}{self._fit_text()}"))
        elif reason := untested(self.problem, certified=self.certified):
            rows.append(("lack of fit", reason))
        if self.homogeneity is not None:
            rows.append(("edges", differs_in_words(self.homogeneity, self.problem)))
        return rows

    def _repr_html_(self) -> str:
        above = summary(self.measured, ()) if self._is_contradicted else ""
        return above + summary(self.headline, self.rows())

    def __str__(self) -> str:
        above = f"{harmless(self.measured)}\n" if self._is_contradicted else ""
        return above + listed(self.headline, self.rows())

    def _no_pair_text(self) -> str:
        return "not estimable yet" if self.estimated is None else "not looked at yet"

    def _up_to_text(self) -> str:
        return "" if self.problem.levels == "none" else ", but for unknown levels,"

    def _stated_noise(self) -> str:
        stated = self.problem.noise
        if isinstance(stated, tuple):
            return "stated per channel (in units of it)"
        return stated if isinstance(stated, str) else f"stated {stated:g}"

    def _fit_text(self) -> str:
        wrong = self.lack_of_fit is not None and self.lack_of_fit.p_value < 1e-3
        return "  the bilinear model does not hold: do not trust the certificate" if wrong else ""


def differs_in_words(found: Homogeneity, problem: Problem) -> str:
    """Whether edges of a kind differ, for readers who do not test hypotheses."""
    shares = (
        f"one matrix per kind explains {found.shared:.0%} of the variation, levels "
        f"{found.levels:.0%} more, a matrix per edge {found.edges:.0%} more"
    )
    levels, score = found.levels_test, found.score
    if score is not None and score.p_value < _DIFFERENT:
        remedy = "use pooling='partial', kinds or covariates"
        if problem.pooling != "shared":
            remedy = "each has a matrix of its own here"
        return f"edges of a kind differ (p = {score.p_value:.2g}): {shares}; {remedy}"
    if levels is not None and levels.p_value < _DIFFERENT and not problem.has_channel_levels:
        return f"rewards have levels (p = {levels.p_value:.2g}): {shares}; use levels=True"
    return f"no sign that edges of a kind differ; {shares}"
