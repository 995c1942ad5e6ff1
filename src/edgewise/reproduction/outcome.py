"""What an experiment comes back with: data, pictures, and claims with their evidence."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Protocol

from edgewise.reproduction.inference import LEVEL, HypothesisTest
from edgewise.reproduction.settings import Settings
from edgewise.reproduction.sweep.cell import Cell, Row

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class ClaimStatus(Enum):
    """What the data say about a claim."""

    CONFIRMED = "confirmed"
    UNDECIDED = "not confirmed (undecided: more repetitions needed)"
    CONTRADICTED = "not confirmed (contradicted)"


@dataclass(frozen=True)
class PaperClaim:
    """A statement, where it comes from, and the tests that all must pass to confirm it.

    Requiring every test to pass needs no correction for their number: the probability to confirm
    a false claim is at most the level of one test (intersection-union test).
    """

    statement: str
    source: str
    evidence: tuple[HypothesisTest, ...]
    remark: str = ""

    @property
    def status(self) -> ClaimStatus:
        """Confirmed if all tests pass; contradicted if one rejects the claim (Bonferroni)."""
        if self.evidence and all(row.passed for row in self.evidence):
            return ClaimStatus.CONFIRMED
        if min(row.p_against for row in self.evidence) <= LEVEL / len(self.evidence):
            return ClaimStatus.CONTRADICTED
        return ClaimStatus.UNDECIDED

    @property
    def weakest(self) -> HypothesisTest:
        """The test closest to failing, or the one that failed most clearly."""
        return max(self.evidence, key=lambda row: (row.p_value, -row.p_against))


@dataclass(frozen=True)
class ReportTable:
    """A small table for the report."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, eq=False)
class Outcome:
    """Everything one experiment measured."""

    name: str
    title: str
    data: dict[str, list[Row]]
    """Tidy tables by file name, one row per run."""
    claims: tuple[PaperClaim, ...]
    figures: dict[str, Figure] = field(default_factory=dict)
    """By file name without suffix."""
    captions: dict[str, str] = field(default_factory=dict)
    tables: tuple[ReportTable, ...] = ()


class Experiment(Protocol):
    """A figure or table of the paper."""

    @property
    def name(self) -> str:
        """As on the command line."""

    def cells(self, settings: Settings) -> list[Cell]:
        """The work to do."""

    def analyse(self, settings: Settings, results: dict[str, list[Row]]) -> Outcome:
        """From the rows of every cell, by key, to data, claims and figures."""
