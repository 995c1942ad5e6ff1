"""A running study under another model, or another question: what may change, and its rounds told
again.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, TypeAlias, TypedDict

import numpy as np
from numpy.typing import ArrayLike

from edgewise.base.arrays import Array, Indices
from edgewise.base.choice import instead
from edgewise.base.randomness import Rng, draw_seed
from edgewise.core.gate.options import Gate
from edgewise.core.model.options import (
    Levels,
    Measured,
    Noise,
    PoolingChoice,
    checked_measured,
)
from edgewise.core.model.problem import Problem
from edgewise.core.setting import Setting
from edgewise.core.stopping import StoppingRule
from edgewise.core.strategies import Strategy
from edgewise.core.targets import Target
from edgewise.errors import InvalidArgument
from edgewise.network.covariates import named_columns
from edgewise.network.graph import Graph
from edgewise.study.log.cursor import Cursor, begin_log
from edgewise.study.log.events import Asked, Closed, Told
from edgewise.study.log.history import Dated, read_dated, read_trials
from edgewise.study.log.outside import in_words
from edgewise.study.log.past import Past, after_past
from edgewise.study.log.recipe import record
from edgewise.study.storage.base import Entry, Journal, Storage

Place: TypeAlias = str | Storage | None
"""Where to keep the new study; None for where the old one is."""


class Question(TypedDict, total=False):
    """What is asked of measurements, and how; the rest stays as it is."""

    delta: float
    epsilon: float | None
    target: str | Target
    strategy: str | Strategy
    stopping: str | StoppingRule
    gate: Gate | None
    trust_model: bool
    robust: bool
    max_rounds: int | None


class Changes(Question, total=False):
    """What another model may change as well."""

    measured: Measured
    levels: bool | Levels
    pooling: PoolingChoice
    own_term: bool
    average: bool
    node_kinds: ArrayLike
    noise: Noise | ArrayLike
    node_term: bool
    interaction: bool
    covariates: ArrayLike | Mapping[str, ArrayLike] | None


_MODEL = (
    "measured",
    "levels",
    "pooling",
    "own_term",
    "average",
    "node_kinds",
    "noise",
    "node_term",
    "interaction",
)

_NOT_COMPUTABLE = {
    ("link", "arc"): "the two directions of a link were measured together",
    ("link", "node"): "a link's number does not say what each of its two nodes got",
    ("node", "arc"): "a node's number does not say which arc brought how much",
    ("node", "link"): "a node's number does not say which link brought how much",
    ("total", "arc"): "the total does not say which arc brought how much",
    ("total", "link"): "the total does not say which link brought how much",
    ("total", "node"): "the total does not say which node got how much",
}


@dataclass(frozen=True, eq=False)
class Regrouping:
    """What was measured, as sums of what is on record."""

    channel: Indices
    """(m,) the new number that each old one is part of."""
    scale: Array
    """(m,)"""
    size: int
    """How many new numbers there are."""

    @classmethod
    def of(cls, old: Problem, measured: Measured, *, average: bool) -> Regrouping:
        """From what a problem measures to ``measured``; InvalidArgument if it does not follow."""
        _refuse_not_computable(old, measured)
        graph, m = old.graph, old.n_rewards
        channel, size = np.arange(m), m
        if measured == "total" and old.measured != "total":
            channel, size = np.zeros(m, np.int64), 1
        elif (old.measured, measured) == ("arc", "link"):
            channel, size = np.arange(m) // 2, m // 2
        elif (old.measured, measured) == ("arc", "node"):
            channel, size = graph.arcs[:, 1].astype(np.int64), graph.n_nodes
        scale = np.ones(m)
        if average and old.measured != "node":
            scale = 1.0 / np.bincount(channel, minlength=size)[channel]
        return cls(channel, scale, size)

    def rewards(self, old: Array) -> Array:
        """(size,) from (m,); NaN where a part is missing."""
        return np.bincount(self.channel, self.scale * old, minlength=self.size).astype(float)

    def noise(self, old: Problem) -> Noise:
        """Of the new numbers, if the old ones are independent."""
        if isinstance(old.noise, str):
            return old.noise
        each = np.array(old.noise)
        if each.ndim and len(each) != old.n_rewards:  # one per kind
            kinds = old.graph.kind_of_edge
            each = each[np.repeat(kinds, old.graph.n_directions if old.measured == "arc" else 1)]
        variance = self.rewards(self.scale * np.broadcast_to(each**2, len(self.channel)))
        variance[variance == 0.0] = each.min() ** 2  # a node that nothing is brought to
        deviations = np.sqrt(variance).tolist()
        return deviations[0] if len(set(deviations)) == 1 else tuple(deviations)


def _refuse_not_computable(old: Problem, measured: Measured) -> None:
    reason = _NOT_COMPUTABLE.get((old.measured, measured))
    if (old.measured, measured) == ("node", "total"):
        if old.average:
            reason = "the nodes showed means of their arcs, whose sum is no total"
        elif old.own_term:
            reason = "the nodes' own terms are part of their numbers, and a total has none"
    if reason is not None:
        raise InvalidArgument(
            f"measured={measured!r} does not follow from what was measured per {old.measured}: "
            f"{reason}; keep measured={old.measured!r}, or begin a new study",
            argument="measured",
        )


def remodelled(old: Problem, changes: Changes) -> tuple[Problem, Regrouping]:
    """The problem with another model, and how its numbers follow from those on record."""
    measured = checked_measured(changes.get("measured", old.measured), old.graph)
    options = {one.name: getattr(old, one.name) for one in fields(old) if one.init}
    regrouping = Regrouping.of(old, measured, average=changes.get("average", False))
    if measured != old.measured:  # arcs have no own terms, so neither have their sums
        noise = regrouping.noise(old)
        options |= {"own_term": False, "average": False, "noise": noise}
    options |= {name: value for name, value in changes.items() if name in _MODEL}
    if "covariates" in changes:
        options["graph"] = _with_covariates(old.graph, changes["covariates"])
    return Problem(**options), regrouping


def _with_covariates(graph: Graph, covariates: Any) -> Graph:
    parts = {one.name: getattr(graph, one.name) for one in fields(graph)}
    values, names = named_columns(covariates)
    return Graph(**parts | {"covariates": values, "covariate_names": names})


def _setting(old: Cursor, problem: Problem, changes: Changes) -> Setting:
    """The options of a study with what is changed; what depends on that is chosen anew."""
    now = old.setting
    rule = None if "strategy" in changes else now.rule
    same_claim = problem.pooling == now.problem.pooling
    target = changes.get("target", now.target if same_claim else None)
    same_unit = target is now.target or target == now.target.name
    return Setting.of(
        problem,
        delta=changes.get("delta", old.state.delta),
        epsilon=changes.get("epsilon", old.state.epsilon if same_unit else None),
        strategy=changes.get("strategy", now.strategy),
        stopping=changes.get("stopping", rule),
        target=target,
        gate=changes.get("gate", None if "trust_model" in changes else now.gate),
        trust_model=changes.get("trust_model", now.gate is None and "gate" not in changes),
        robust=changes.get("robust", now.robust),
    )


@dataclass(frozen=True, eq=False)
class Anew:
    """A study about to be modelled anew."""

    entry: Entry
    """The first of the new study's log."""
    first: Cursor
    """Of the new study, right after its creation."""
    regrouping: Regrouping
    rounds: int
    """Closed rounds of the old study."""
    old: Setting
    """Of the old study, as created."""

    @classmethod
    def of(cls, name: str, old: Cursor, changes: Changes, rng: Rng) -> Anew:
        """From a study as it stands."""
        _check(changes)
        problem, regrouping = remodelled(old.base.problem, changes)
        rounds = old.state.learner.rounds
        past = replace(
            Past.of(name, problem, rounds, old.state.phase_ends),
            chosen=_chosen(changes),
            outside=_outside(old),
        )
        setting = after_past(_setting(old, problem, changes), past)
        created = record(
            setting,
            seed=old.created.seed if rng is None else draw_seed(rng),
            max_rounds=changes.get("max_rounds", old.state.max_rounds),
            past=past,
        )
        entry, first = begin_log(setting, created, time.time())
        return cls(entry, first, regrouping, rounds, old.base)

    def replay(self, old: Journal, new: Journal) -> Cursor:
        """Write the log of the new study: its creation, every round as it stands now, and trials.

        The round that is out is handed out here as well. Trials know of no model, so they are
        carried over as they are.
        """
        cursor = self.first
        new.append(self.entry)
        for dated in read_dated(old, self.old, 1, self.rounds + 1):
            cursor = self._told_again(cursor, dated, new)
        for at, event in read_trials(old, self.old):
            cursor = cursor.record(new, event, at=at)
        return cursor

    def _told_again(self, cursor: Cursor, dated: Dated, new: Journal) -> Cursor:
        """A round with its arms as deployed, and what was measured, corrections included."""
        told, number = dated.round, dated.round.number
        phase = len(cursor.state.phase_ends)
        asked = Asked(number, told.attempt, phase, told.arms)
        cursor = cursor.record(new, asked, at=dated.asked)
        rewards = self.regrouping.rewards(told.rewards)
        there = np.flatnonzero(~np.isnan(rewards))
        everything = len(there) == len(rewards)
        if len(there):
            event = Told(number, None if everything else there, rewards[there])
            cursor = cursor.record(new, event, at=dated.told)
        is_out = number > self.rounds
        return cursor if everything or is_out else cursor.record(new, Closed(number), at=dated.told)


def _chosen(changes: Changes) -> str:
    """What was chosen after the rounds were seen, in words."""
    asked = sorted(set(changes) & set(Question.__annotations__))
    if set(changes) - set(asked):
        return "this model was"
    return f"{' and '.join(asked)} {'was' if len(asked) == 1 else 'were'}"


def _outside(old: Cursor) -> str:
    """What the old study says about rounds from outside, its own and those it began with."""
    before = "" if old.created.past is None else Past.from_tree(old.created.past).outside
    own = in_words(old.state.outside, phases=old.setting.rule.allows_phases)
    return f"{before} {own}".strip()


def _check(changes: Changes) -> None:
    refuse_unknown(changes, Changes)
    if not changes:
        raise InvalidArgument("nothing is to change; give an option, such as levels='channel'")


def refuse_unknown(changes: Mapping[str, Any], allowed: Any) -> None:
    """Raise unless all that is to change may."""
    known = list(allowed.__annotations__)
    for name in changes:
        if name not in known:
            raise InvalidArgument(f"there is no option {name!r}; {instead(name, known)}")
