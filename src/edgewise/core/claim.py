"""What is claimed about an answer: the one home of these words."""

from __future__ import annotations

from enum import StrEnum


class Claim(StrEnum):
    """How far an answer can be relied on."""

    CERTIFIED = "certified"
    """Right with the confidence asked for, if the model holds: a proof."""
    ESTIMATED = "estimated"
    """Expected to be good by a model that is fitted to the data: no proof."""
    CONTRADICTED = "contradicted"
    """The data contradict the model it rests on: see what they say."""
    OPEN = "open"
    """The best so far; the confidence asked for is not reached."""


def claim_of(certified: bool, estimated: bool, contradicted: bool = False) -> Claim:
    """What is claimed of an answer that is certified, rests on the local model, or neither.

    Nothing is, if the data have ``contradicted`` the model.
    """
    if contradicted:
        return Claim.CONTRADICTED
    if certified:
        return Claim.CERTIFIED
    return Claim.ESTIMATED if estimated else Claim.OPEN


class Confirmation(StrEnum):
    """Whether a trial, which assumes no model, has borne an answer out."""

    CONFIRMED = "confirmed"
    """Measured to be better than the baseline, or no worse by more than the margin."""
    UNCONFIRMED = "unconfirmed"
    """Not measured against a baseline, or not decided."""
    CONTRADICTED = "contradicted"
    """Measured to be worse than the baseline, or than another candidate."""
