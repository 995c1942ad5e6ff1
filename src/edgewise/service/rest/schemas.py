"""What responses look like, for OpenAPI. They may have further fields."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from edgewise.service.problems import MEDIA_TYPE

Number = float | Literal["inf", "-inf", "nan"]
"""JSON has no infinity: it is written as text."""
Label = str | int | float
"""What the user calls a node or an arm."""
Deployed = Label | dict[str, Label]
"""A configuration: one arm for all nodes, or the arm of every node."""


class _Answer(BaseModel):
    model_config = ConfigDict(extra="allow")


class ProblemBody(_Answer):
    """An error: RFC 9457."""

    type: str
    title: str
    status: int
    detail: str = Field(description="The fact, the rule and the remedy.")


class Listed(_Answer):
    """A study in the list."""

    study: str
    id: str = Field(description="What addresses call it.")
    rounds: int
    state: str = Field(description="waiting, ready, certified, estimated, ...")
    pending: str | None
    missing: int
    since: Number | None = Field(description="When the pending round was handed out: Unix time.")
    progress: Number
    events: int


class StudyList(_Answer):
    """The studies of the server."""

    studies: int
    list: list[Listed]


class Status(_Answer):
    """Where a study stands."""

    study: str
    rounds: int
    max_rounds: int | None
    ending: str
    pending: str | None = Field(description="The key of the round that is out.")
    missing: int
    progress: Number
    rounds_left: int | None
    rounds_left_low: int | None
    rounds_left_high: int | None
    claim: str = Field(description="certified, estimated, ..., or open.")
    lacking: list[dict[str, Any]] = Field(description="The measurements the round lacks.")


class NodeArm(_Answer):
    """The arm of a node."""

    node: Label
    arm: Label


class Ticket(_Answer):
    """A round to deploy."""

    study: str
    round: str
    nodes: list[NodeArm]


class Recommended(_Answer):
    """The best configuration by what is known."""

    certified: bool
    value: Number | None
    upper_bound: Number | None
    guarantee: str
    nodes: list[NodeArm]


class ReportBody(_Answer):
    """The answer so far, and what it rests on."""

    study: str
    rounds: int
    ending: str
    certified: bool
    guarantee: str
    claim: str
    configurations: list[dict[str, Any]]


class Measured(_Answer):
    """What is on record of a round."""

    study: str
    round: str
    rewards: list[dict[str, Any]]


class HistoryBody(_Answer):
    """Totals and progress by round."""

    study: str
    rounds: list[dict[str, Any]]


class LogBody(_Answer):
    """What happened."""

    study: str
    events: int
    log: list[dict[str, Any]]


class TrialBody(_Answer):
    """Where a trial stands."""

    trial: str = Field(description="running, better, worse, ...")
    trial_pairs: int
    trial_max_pairs: int
    trial_difference: Number
    trial_low: Number
    trial_high: Number
    trial_winner: str | None
    comparisons: list[dict[str, Any]]


class Deleted(_Answer):
    """What is gone."""

    deleted: str
    rounds: int


class Predicted(_Answer):
    """What is expected; no certificate."""

    value: Number
    deviation: Number
    low: Number
    high: Number


class Explained(_Answer):
    """Why a node is given its arm."""

    node: Label
    arm: Label
    links: list[list[Any]]
    alternatives: list[dict[str, Any]]


class PairsBody(_Answer):
    """How many pairs a trial may be expected to take."""

    expected: int | None
    likely: int | None
    difference: Number
    deviation: Number


_PROBLEM = {"model": ProblemBody, "content": {MEDIA_TYPE: {}}}
PROBLEMS: dict[int | str, dict[str, Any]] = {
    code: {**_PROBLEM, "description": said}
    for code, said in {
        401: "No token, or a wrong one.",
        403: "The token is for reading, or the request comes from another site.",
        404: "There is no such study.",
        409: "The study is in another state: nothing was changed.",
        413: "The request is too large.",
        421: "The server is not called that.",
        422: "What was sent is wrong: nothing was changed.",
        429: "Too many requests.",
        503: "The storage cannot be used at the moment.",
    }.items()
}
