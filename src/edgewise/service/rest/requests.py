"""What requests look like, for OpenAPI: nothing but these fields."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from edgewise.service.rest.schemas import Label
from edgewise.study.log.outside import SOURCE

Deployed = Label | dict[str, Label]
"""A configuration: one arm for all nodes, or the arm of every node."""


class Confirming(BaseModel):
    """What to compare the recommended configuration with."""

    model_config = ConfigDict(extra="forbid")

    baseline: Deployed = Field(
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


class OutsideRound(BaseModel):
    """A round that was deployed elsewhere."""

    model_config = ConfigDict(extra="forbid")

    arms: Deployed
    rewards: list[dict[str, Any]] = Field(
        min_length=1, description="Measurements as in tell: source, target, reward."
    )


class Adding(BaseModel):
    """Rounds that were deployed before the study, or outside of it."""

    model_config = ConfigDict(extra="forbid")

    rounds: list[OutsideRound] = Field(min_length=1)
    source: str = Field(SOURCE, max_length=255, description="Where from; reports name it.")
    accept_outliers: bool = Field(False, description="Record unlikely values too.")


class Renaming(BaseModel):
    """What a study is to be called."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(min_length=1, max_length=255)


class Copying(Renaming):
    """Another question about the same measurements; what is left out stays as it was."""

    delta: float | None = None
    epsilon: float | None = None
    target: str | None = None
    strategy: str | None = None
    stopping: str | None = None
    trust_model: bool | None = None
    robust: bool | None = None
    max_rounds: int | None = Field(None, ge=1, le=10**9)


class Predicting(BaseModel):
    """A configuration, and another for the difference of the two."""

    model_config = ConfigDict(extra="forbid")

    arms: Deployed
    against: Deployed | None = None


class Planning(BaseModel):
    """A trial that might be begun."""

    model_config = ConfigDict(extra="forbid")

    baseline: Deployed
    difference: float | None = Field(None, description="What the model expects, by default.")
    delta: float = Field(0.05, gt=0, lt=1)


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
