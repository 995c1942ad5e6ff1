"""What requests and responses look like, for OpenAPI. Responses may have further fields."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from edgewise.service.problems import MEDIA_TYPE

Number = float | Literal["inf", "-inf", "nan"]
"""JSON has no infinity: it is written as text."""
Label = str | int | float
"""What the user calls a node or an arm."""


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


class Confirming(BaseModel):
    """What to compare the recommended configuration with."""

    model_config = ConfigDict(extra="forbid")

    baseline: Label | dict[str, Label] = Field(
        description="Today's configuration: one arm for all nodes, or the arm of every node."
    )
    tournament: bool = Field(False, description="Compare the simple alternatives as well.")
    delta: float = Field(0.05, gt=0, lt=1, description="Largest probability of a wrong ending.")
    margin: float = Field(0.0, ge=0, lt=1e300, description="The loss that would not matter.")
    width: float | None = Field(None, gt=0, lt=1e300, description="End when it is this narrow.")
    max_pairs: int = Field(100, ge=1, le=10**6, description="End undecided after so many pairs.")
    seed: int | None = Field(None, ge=0, le=2**63 - 1, description="Of the coins.")


class Extension(BaseModel):
    """How to go on after the stop."""

    model_config = ConfigDict(extra="forbid")

    rounds: int | None = Field(None, ge=1, le=10**9, description="So many more rounds.")
    delta: float | None = Field(None, gt=0, lt=1, description="Judge by this error probability.")
    epsilon: float | None = Field(None, ge=0, lt=1e300, description="Judge by this tolerance.")


class Remodelling(BaseModel):
    """Another model for the same measurements; what is left out stays as it was."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(min_length=1, max_length=255, description="Name of the new study.")
    measured: Literal["arc", "link", "node", "total"] | None = None
    levels: bool | Literal["none", "channel", "round", "both"] | None = None
    pooling: Literal["shared", "partial", "none", "auto"] | None = None
    noise: float | list[float] | Literal["estimate", "bernoulli"] | None = None
    own_term: bool | None = None
    average: bool | None = None
    node_term: bool | None = None
    delta: float | None = None
    epsilon: float | None = None
    target: str | None = None
    strategy: str | None = None
    stopping: str | None = None
    max_rounds: int | None = Field(None, ge=1, le=10**9)


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

_TEXT = {"schema": {"type": "string"}}
_ROWS = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "source": {"type": "string"},
            "target": {"type": "string"},
            "reward": {"type": ["number", "null"]},
        },
    },
}
_REWARDS = {
    "type": "object",
    "properties": {"round": {"type": "string"}, "measurements": _ROWS},
    "required": ["measurements"],
}
MEASUREMENTS: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "Measurements, as edgewise study tell reads them.",
        "content": {"text/csv": _TEXT, "application/json": {"schema": _REWARDS}},
    }
}
DESCRIPTION: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "The keys of a TOML file of edgewise study create; tables instead of files.",
        "content": {
            "application/json": {"schema": {"type": "object"}},
            "application/toml": _TEXT,
        },
    }
}
EXPORT: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "What export wrote.",
        "content": {"application/jsonl": _TEXT},
    }
}
