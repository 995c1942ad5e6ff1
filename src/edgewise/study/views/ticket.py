"""The ticket of a round: what to deploy, in the user's words."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from edgewise.base.arrays import Indices
from edgewise.core.model.problem import Problem
from edgewise.errors import UnknownTicket
from edgewise.study.log.fold import Round


@dataclass(frozen=True, eq=False, repr=False)
class StudyTicket:
    """One round to deploy: give every node its arm, measure, and tell."""

    study: str
    round: int
    attempt: int
    """1, and one more each time the round was cancelled."""
    arms: Indices
    """(n,) index of the arm of every node."""
    problem: Problem

    @classmethod
    def of(cls, study: str, problem: Problem, record: Round) -> StudyTicket:
        """The ticket of a round on record."""
        return cls(study, record.number, record.attempt, record.arms, problem)

    @property
    def key(self) -> str:
        """``"7"``, or ``"7.2"`` for the second attempt: what ``study.ticket`` finds it by."""
        return str(self.round) if self.attempt == 1 else f"{self.round}.{self.attempt}"

    def table(self) -> list[dict[str, Hashable]]:
        """One row per node: ``{"node": its label, "arm": the label of its arm}``."""
        return labelled(self.problem, self.arms)

    def __repr__(self) -> str:
        return f"StudyTicket({self.study!r}, round {self.key}, {len(self.arms)} nodes)"


def identity(ticket: StudyTicket) -> tuple[int, int]:
    """Round and attempt of a ticket; UnknownTicket if it is none."""
    if not isinstance(ticket, StudyTicket):
        raise UnknownTicket(f"a ticket from ask() is needed, not {ticket!r}; nothing was recorded")
    return ticket.round, ticket.attempt


def parsed(key: str | int) -> tuple[int, int | None]:
    """Round and attempt of a ticket's key; a bare number means the attempt that stands."""
    if isinstance(key, int):
        return key, None
    number, _, attempt = key.partition(".")
    if not number.isdecimal() or not (attempt or "1").isdecimal():
        raise UnknownTicket(f"{key!r} is no ticket; write its round, such as '7' or '7.2'")
    return int(number), int(attempt or 1)


def labelled(problem: Problem, arms: Indices) -> list[dict[str, Hashable]]:
    """A joint arm (n,) as rows with the user's labels of nodes and arms."""
    names = range(problem.n_arms) if problem.arm_labels is None else problem.arm_labels
    nodes = problem.graph.labels
    return [{"node": node, "arm": names[k]} for node, k in zip(nodes, arms.tolist(), strict=True)]
