"""The ticket of a round: what to deploy, in the user's words."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from edgewise.base.arrays import Indices, frozen, stays_frozen
from edgewise.core.model.problem import Problem
from edgewise.errors import Call, UnknownTicket
from edgewise.formats.channels import channel_names
from edgewise.formats.names import labelled
from edgewise.study.log.fold import Round
from edgewise.trial.ticket import TrialTicket, is_key


@stays_frozen
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
    unmeasured: Indices
    """(k,) what had not been measured when the ticket was looked up: arcs, or links, or nodes."""
    identity: str
    """Of the study that asked: no other has it, not even one of the same name."""

    @classmethod
    def of(cls, study: str, identity: str, problem: Problem, record: Round) -> StudyTicket:
        """The ticket of a round on record."""
        unmeasured = frozen(np.flatnonzero(np.isnan(record.rewards)), np.int64)
        number, attempt = record.number, record.attempt
        return cls(study, number, attempt, record.arms, problem, unmeasured, identity)

    def require_from(self, identity: str, problem: Problem) -> None:
        """Raise UnknownTicket unless that study, with that problem, handed it out."""
        if (self.identity, self.problem.fingerprint) != (identity, problem.fingerprint):
            raise UnknownTicket(
                f"the ticket of round {self.key} was handed out by another study, called "
                f"{self.study!r}; nothing was recorded: use the ticket that ",
                Call("ask"),
                " returned",
            )

    @property
    def key(self) -> str:
        """``"7"``, or ``"7.2"`` for the second attempt: what ``study.ticket`` finds it by."""
        return str(self.round) if self.attempt == 1 else f"{self.round}.{self.attempt}"

    def table(self) -> list[dict[str, Hashable]]:
        """One row per node: ``{"node": its label, "arm": the label of its arm}``."""
        return labelled(self.problem, self.arms)

    @property
    def missing(self) -> int:
        """How many numbers had not been measured when the ticket was looked up."""
        return len(self.unmeasured)

    def lacking(self) -> list[Hashable]:
        """Those numbers by name: ``(source, target)``, or a node's label, or ``"total"``."""
        return channel_names(self.problem, self.unmeasured)

    def __repr__(self) -> str:
        return f"StudyTicket({self.study!r}, round {self.key}, {len(self.arms)} nodes)"


RoundName: TypeAlias = StudyTicket | str | int
"""What names a round: its ticket, its key ``"7"`` or ``"7.2"``, or its number."""


def identity(ticket: RoundName) -> tuple[int, int | None]:
    """Round and attempt; a bare number means the attempt that stands. UnknownTicket if it is none.

    >>> identity("7"), identity("7.2"), identity(7)
    ((7, 1), (7, 2), (7, None))
    """
    if isinstance(ticket, StudyTicket):
        return ticket.round, ticket.attempt
    if isinstance(ticket, int) and not isinstance(ticket, bool):
        return ticket, None
    if isinstance(ticket, TrialTicket):
        raise _of_trial(ticket.key)
    if not isinstance(ticket, str):
        raise UnknownTicket(
            "a ticket from ",
            Call("ask"),
            f", or its key, is needed, not {ticket!r}; nothing was recorded",
        )
    if is_key(ticket):
        raise _of_trial(ticket)
    number, _, attempt = ticket.partition(".")
    if not number.isdecimal() or not (attempt or "1").isdecimal():
        raise UnknownTicket(f"{ticket!r} is no ticket; write its round, such as '7' or '7.2'")
    return int(number), int(attempt or 1)


def _of_trial(key: str) -> UnknownTicket:
    return UnknownTicket(
        f"{key} is a round of a trial, not of the study; nothing was recorded: ",
        Call("trial.tell"),
        " it",
    )
