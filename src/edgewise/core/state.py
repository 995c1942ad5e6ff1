"""What rounds change: the statistics gathered so far, and what the present phase aims at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from edgewise.base.arrays import Array, Indices, frozen
from edgewise.core.evidence.statistics import CellStatistics
from edgewise.core.model.cells import Cells
from edgewise.core.stopping import Verdict


@dataclass(frozen=True, eq=False)
class Aim:
    """What a phase of rounds is laid out for: contrasts between leaders and rivals.

    Without contrasts the phase aims at everything alike.
    """

    kinds: Indices
    """(T,) edge kind of each contrast."""
    leaders: Indices
    """(T,) pair of arms that leads."""
    rivals: Indices
    """(T,) pair of arms it is compared with."""
    needs: Array
    """(T,) information still needed on the contrast, in any unit."""
    length: int
    """Rounds the phase lasts at least."""

    @classmethod
    def everything(cls, length: int) -> Aim:
        """The aim of the first phase."""
        none = np.zeros(0, np.int64)
        return cls(none, none, none, np.zeros(0), length)

    def contrasts(self, cells: Cells) -> Array:
        """(T, p) feature differences."""
        difference: Array = (
            cells.features[self.kinds, self.leaders] - cells.features[self.kinds, self.rivals]
        )
        return difference


@dataclass(frozen=True)
class Regret:
    """How much global reward an allocation can miss, in units of the global reward."""

    bound: float
    """With the confidence asked for, no joint arm is better by more; infinity if unknown."""
    optimisation: float
    """The part due to optimisation: what would remain if the estimate were exact."""

    @property
    def estimation(self) -> float:
        """The part due to estimation: what more rounds can remove."""
        return self.bound - self.optimisation


@dataclass(frozen=True, eq=False)
class Answer:
    """A joint arm that was recommended, and how far it may be from the best."""

    arms: Indices
    """(n,)"""
    regret: Regret


@dataclass(frozen=True, eq=False)
class LearnerState:
    """What the rounds have taught so far."""

    seed: int
    rounds: int
    statistics: CellStatistics
    """Of the present phase (q, P); a strategy that never changes its mind has one phase."""
    closed: CellStatistics
    """Of the phases that are over, (J, q, P)."""
    phase_rounds: int
    """Rounds of the present phase so far."""
    aim: Aim
    verdict: Verdict
    best_arms: Indices | None
    """The fully observed joint arm with the largest total reward; None if none yet."""
    best_total: float
    answer: Answer | None = None
    """What was recommended at the last look, if the target is an allocation."""

    @classmethod
    def start(cls, cells: Cells, aim: Aim, seed: int) -> LearnerState:
        """Before the first round."""
        nothing = CellStatistics.zero(cells)
        none = nothing[None][:0]
        return cls(seed, 0, nothing, none, 0, aim, Verdict.none_yet(), None, -np.inf)

    @property
    def total(self) -> CellStatistics:
        """Statistics of all rounds together (q, P)."""
        return self.closed.followed_by_all(self.statistics)

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "seed": self.seed,
            "rounds": self.rounds,
            "statistics": self.statistics.to_dict(),
            "closed": self.closed.to_dict(),
            "phase_rounds": self.phase_rounds,
            "aim": asdict(self.aim),
            "verdict": asdict(self.verdict),
            "best_arms": None if self.best_arms is None else self.best_arms.copy(),
            "best_total": self.best_total,
            "answer": None if self.answer is None else asdict(self.answer),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> LearnerState:
        """The inverse of :meth:`to_dict`; lists instead of arrays and tuples are fine."""
        aim, verdict = values["aim"], dict(values["verdict"])
        verdict["pairs"] = tuple((int(k), int(l)) for k, l in verdict["pairs"])
        verdict["rival"] = None if verdict["rival"] is None else tuple(verdict["rival"])
        best, answer = values["best_arms"], values["answer"]
        statistics = CellStatistics.from_dict(values["statistics"])
        return cls(
            seed=int(values["seed"]),
            rounds=int(values["rounds"]),
            statistics=statistics,
            closed=CellStatistics.from_dict(
                values["closed"], shape=(-1, *statistics.information.shape)
            ),
            phase_rounds=int(values["phase_rounds"]),
            aim=Aim(
                np.array(aim["kinds"], np.int64),
                np.array(aim["leaders"], np.int64),
                np.array(aim["rivals"], np.int64),
                np.array(aim["needs"], float),
                int(aim["length"]),
            ),
            verdict=Verdict(**verdict),
            best_arms=None if best is None else frozen(best, np.int32),
            best_total=float(values["best_total"]),
            answer=None
            if answer is None
            else Answer(frozen(answer["arms"], np.int64), Regret(**answer["regret"])),
        )
