"""What a look at the data found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from edgewise.base.arrays import Indices, Mask
from edgewise.core.evidence.statistics import CellStatistics
from edgewise.core.needs import Needs
from edgewise.core.state import Answer, LearnerState
from edgewise.core.stopping import Verdict

if TYPE_CHECKING:
    from edgewise.core.setting import Setting


@dataclass(frozen=True, eq=False)
class Finding:
    """The outcome of looking after several successive rounds."""

    position: int
    """Which of the rounds it is about: the first at which the target is reached, else the last."""
    verdict: Verdict
    needs: Callable[[], Needs | None]
    """What is still open then, asked for when a phase ends; None if not everything can be
    estimated yet, or nothing is open."""
    answer: Answer | None = None
    """The joint arm that is recommended, if the target is about one."""


def nothing_open() -> None:
    """The needs of what is settled, or cannot be estimated."""
    return


class Target(Protocol):
    """What is to be found with confidence 1 - delta."""

    def is_due(self, setting: Setting, rounds: Indices) -> Mask:
        """(R,) after which rounds to look, besides ends of phases."""

    def look(
        self, setting: Setting, state: LearnerState, rounds: Indices, cumulative: CellStatistics
    ) -> Finding:
        """Judge the present phase's statistics (R, q, P) after the given rounds (R,)."""
