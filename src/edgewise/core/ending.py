"""Is it over, and why? The one place that decides."""

from __future__ import annotations

from enum import Enum

from edgewise.core.claim import Claim
from edgewise.core.stopping.verdict import Verdict
from edgewise.core.tie import Tie


class Ending(Enum):
    """Why no further round was taken."""

    CERTIFIED = "the answer has the confidence asked for"
    CONTRADICTED = "the data contradict the model, so what it says of the answer does not count"
    STALLED = "more rounds would not help: what is left of the gap is optimisation"
    SETTLED = "further rounds are expected to gain less than asked for; the answer is estimated"
    TIED = (
        "nothing is left to decide: every rival is within one standard error of the leader, and "
        "telling them apart would take longer than makes sense; the answer is not certified"
    )
    CHOSEN = (
        "stop_when said that it is good enough; the answer is the current leader, not certified"
    )
    BUDGET_SPENT = "the round limit was reached; the answer is the current leader, not certified"
    RUNNING = "still collecting; the answer is the current leader, not certified"


def ending_of(
    verdict: Verdict,
    rounds: int,
    *,
    max_rounds: int | None = None,
    until: int = 0,
    contradicted: bool = False,
    tie: Tie | None = None,
) -> Ending:
    """Whether further rounds are taken after so many, and why not.

    Rounds up to ``until`` are taken whatever the rule says; none beyond ``max_rounds``. Where the
    data have ``contradicted`` the model, rounds end where it would have had its answer; and where a
    ``tie`` is not worth breaking.
    """
    if rounds < until:
        return Ending.RUNNING
    if verdict.contradicted or (contradicted and (verdict.stop or verdict.settled)):
        return Ending.CONTRADICTED
    if verdict.stop:
        return Ending.CERTIFIED
    if verdict.stalled:
        return Ending.STALLED
    if verdict.settled:
        return Ending.SETTLED
    if tie is not None and tie.holds(max_rounds):
        return Ending.TIED
    if max_rounds is not None and rounds >= max_rounds:
        return Ending.BUDGET_SPENT
    return Ending.RUNNING


_ESTIMATED = {
    Ending.CHOSEN: "stop_when called it good enough; the answer is estimated",
    Ending.BUDGET_SPENT: "the round limit was reached; the answer is estimated",
    Ending.RUNNING: "still collecting; the answer so far is estimated",
}


def in_words(ending: Ending, claim: Claim) -> str:
    """Why no further round was taken, or that rounds go on, and what the answer is."""
    if claim is Claim.ESTIMATED and ending in _ESTIMATED:
        return _ESTIMATED[ending]
    return ending.value
