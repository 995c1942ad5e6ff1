"""The ticket of a round of a trial: what to deploy, and how to name it."""

from __future__ import annotations

import re
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import TypeAlias

from edgewise.base.arrays import Indices
from edgewise.base.wording import harmless
from edgewise.core.model.problem import Problem
from edgewise.errors import Call, UnknownTicket
from edgewise.formats.names import labelled

_KEY = re.compile(r"T(\d+)-(\d+)\.(\d+)(?:-(\d+))?")


@dataclass(frozen=True, eq=False, repr=False)
class TrialTicket:
    """One round of a trial to deploy: give node i the arm ``arms[i]``, measure, and tell."""

    trial: int
    """1, 2, ... within a study; 1 for a trial of its own."""
    block: int
    """1, 2, ...: which pair."""
    place: int
    """1 for the round that comes first in its pair, 2 for the second."""
    attempt: int
    """1, and one more each time the pair is repeated."""
    candidate: str
    """Whose configuration it is."""
    arms: Indices
    """(n,) index of the arm of every node."""
    problem: Problem = field(repr=False)

    @property
    def key(self) -> str:
        """``"T1-3.2"``: trial 1, pair 3, second round; ``"T1-3.2-2"`` when it is repeated."""
        again = "" if self.attempt == 1 else f"-{self.attempt}"
        return f"T{self.trial}-{self.block}.{self.place}{again}"

    def table(self) -> list[dict[str, Hashable]]:
        """One row per node: ``{"node": its label, "arm": the label of its arm}``."""
        return labelled(self.problem, self.arms)

    def __repr__(self) -> str:
        return f"TrialTicket({self.key}, {harmless(self.candidate)}, {len(self.arms)} nodes)"


RoundOfTrial: TypeAlias = TrialTicket | str
"""What names a round of a trial: its ticket, or its key."""


def is_key(text: str) -> bool:
    """Whether a text is the key of a round of a trial."""
    return _KEY.fullmatch(text) is not None


def identity(ticket: object) -> tuple[int, int, int, int]:
    """Trial, block, place and attempt. UnknownTicket if it names no round of a trial.

    >>> identity("T1-3.2"), identity("T1-3.2-4")
    ((1, 3, 2, 1), (1, 3, 2, 4))
    """
    if isinstance(ticket, TrialTicket):
        return ticket.trial, ticket.block, ticket.place, ticket.attempt
    found = _KEY.fullmatch(ticket) if isinstance(ticket, str) else None
    if found is None:
        raise UnknownTicket(
            f"{ticket!r} names no round of the trial, whose rounds are called like T1-3.2; nothing "
            "was recorded: use the ticket that ",
            Call("ask"),
            " returned",
        )
    trial, block, place, attempt = found.groups(default="1")
    return int(trial), int(block), int(place), int(attempt)
