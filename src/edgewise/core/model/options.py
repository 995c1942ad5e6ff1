"""How the world may differ from the paper's: what is measured, unknown levels, unequal edges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike

from edgewise.base.arrays import Array, Indices, frozen
from edgewise.base.choice import instead
from edgewise.base.wording import shown
from edgewise.errors import InvalidProblem
from edgewise.network.candidates import Candidates
from edgewise.network.graph import Graph

Measured: TypeAlias = Literal["arc", "link", "node", "total"]
Levels: TypeAlias = Literal["none", "channel", "round", "both"]
PoolingChoice: TypeAlias = Literal["shared", "partial", "none", "auto"]
Noise: TypeAlias = float | Literal["estimate", "bernoulli"] | tuple[float, ...]

_MEASURED = ("arc", "link", "node", "total")
_LEVELS = ("none", "channel", "round", "both")
_NOISES = ("estimate", "bernoulli")
_POOLING = ("shared", "partial", "none", "auto")


def checked_measured(measured: object, graph: Graph) -> Measured:
    """What one reward is about."""
    _require_one_of("measured", measured, _MEASURED)
    if measured == "link" and graph.directed:
        raise InvalidProblem(
            "a directed graph has no links, as each edge shows one direction only; pass "
            "measured='arc', or build the graph with directed=False",
            argument="measured",
        )
    return cast(Measured, measured)


def checked_levels(levels: object) -> Levels:
    """Which unknown constants the rewards have; True stands for one per channel."""
    if isinstance(levels, bool | np.bool_):
        return "channel" if levels else "none"
    _require_one_of("levels", levels, _LEVELS)
    return cast(Levels, levels)


def checked_pooling(pooling: object) -> PoolingChoice:
    """How much edges of a kind share."""
    _require_one_of("pooling", pooling, _POOLING)
    return cast(PoolingChoice, pooling)


def _require_one_of(name: str, value: object, options: Sequence[str]) -> None:
    if not (isinstance(value, str) and value in options):
        raise InvalidProblem(f"{name} is {value!r}; {instead(value, options)}", argument=name)


def checked_own_term(own_term: bool | None, measured: Measured) -> bool:
    """Whether a node's own arm adds to the number measured there; by default it does."""
    if own_term and measured != "node":
        raise InvalidProblem(
            f"own_term=True with measured={measured!r}: only a number measured at a node has a "
            "term of the node's own; pass measured='node', or node_term=True for a term per arc",
            argument="own_term",
        )
    return measured == "node" if own_term is None else bool(own_term)


def checked_average(average: bool, measured: Measured, graph: Graph) -> bool:
    """Whether a node shows the mean of its incoming arcs rather than their sum."""
    if average and measured != "node":
        raise InvalidProblem(
            f"average=True with measured={measured!r}: only a number measured at a node is made "
            "of several arcs that can be averaged; pass measured='node'",
            argument="average",
        )
    if average and not graph.directed:
        raise InvalidProblem(
            "average=True on an undirected graph: the two directions of an edge would count "
            "differently; multiply each node's number by its number of neighbours and tell sums, "
            "or build the graph with directed=True",
            argument="average",
        )
    return bool(average)


def checked_node_kinds(kinds: ArrayLike | None, graph: Graph) -> Indices | None:
    """(n,) kinds of the nodes, 0 .. without gaps; None when there is one."""
    if kinds is None:
        return None
    codes = np.asarray(kinds)
    if codes.shape != (graph.n_nodes,) or not np.issubdtype(codes.dtype, np.integer):
        raise InvalidProblem(
            f"node_kinds have shape {codes.shape} and type {codes.dtype}; give one whole number "
            f"per node, ({graph.n_nodes},)",
            argument="node_kinds",
        )
    if sorted(set(codes.tolist())) != list(range(int(codes.max()) + 1)):
        raise InvalidProblem(
            "node_kinds must be 0, 1, ... without gaps; number them anew", argument="node_kinds"
        )
    return frozen(codes, np.int64)


def checked_baseline(baseline: ArrayLike | None, candidates: Candidates) -> Indices | None:
    """(n,) the arm every node has today, among its candidates; one arm stands for all nodes."""
    if baseline is None:
        return None
    masks, groups = candidates
    n_nodes, n_arms = len(groups), masks.shape[1]
    arms = np.asarray(baseline)
    whole = np.issubdtype(arms.dtype, np.integer)
    if arms.shape not in ((), (n_nodes,)) or not whole or not ((arms >= 0) & (arms < n_arms)).all():
        raise InvalidProblem(
            f"the baseline has shape {arms.shape} and type {arms.dtype}; give every one of the "
            f"{n_nodes} nodes an arm, a whole number from 0 to {n_arms - 1}",
            argument="baseline",
        )
    joint = np.broadcast_to(arms, (n_nodes,))
    forbidden = np.flatnonzero(~masks[groups, joint])
    if len(forbidden):
        raise InvalidProblem(
            f"{len(forbidden)} node(s) may not have their baseline arm, the first is node "
            f"{forbidden[0]}; choose a baseline among the candidates",
            argument="baseline",
        )
    return frozen(joint, np.int32)


def checked_noise(noise: Any, n_kinds: int, n_rewards: int, measured: Measured) -> Noise:
    """One deviation, a name, or one deviation per kind (of arcs and links) or channel."""
    named = isinstance(noise, str) and noise in _NOISES
    if named:
        return cast(Noise, noise)
    if isinstance(noise, str | bool | np.bool_) or noise is None:
        raise InvalidProblem(
            f"noise is {noise!r}; it must be a number, the noise's deviation, or 'estimate', or "
            "'bernoulli' for rewards of 0 and 1",
            argument="noise",
        )
    if isinstance(noise, int | float | np.number):
        _check_deviation(noise, "")
        return float(noise)
    try:
        values = np.asarray(noise, dtype=float)
    except (TypeError, ValueError):
        values = np.full(0, np.nan)
    lengths = {n_rewards} | ({n_kinds} if measured in ("arc", "link") else set())
    if values.ndim != 1 or len(values) not in lengths:
        raise InvalidProblem(
            f"noise is {_described(noise, values)}; it must be one number, the deviation of every "
            "reward; or 'estimate' or 'bernoulli'; or a list of deviations, one per "
            f"{measured} ({n_rewards})"
            + (f", or one per kind of edge ({n_kinds})" if measured in ("arc", "link") else ""),
            argument="noise",
        )
    for position, value in enumerate(values.tolist()):
        _check_deviation(value, f"[{position}]")
    return tuple(values.tolist())


def _described(noise: Any, values: Array) -> str:
    """What was passed as noise, in a few words."""
    return shown(noise) if np.isnan(values).any() or not values.size else f"of shape {values.shape}"


_SMALLEST, _LARGEST = 1e-50, 1e50
"""Deviations whose squares can be summed and divided; beyond, choose other units."""


def _check_deviation(value: float | np.number, place: str) -> None:
    if not _SMALLEST <= value <= _LARGEST:
        raise InvalidProblem(
            f"noise{place} is {value}; it must be a finite number above 0 (1e-50 to 1e50), an "
            "upper bound on the standard deviation of one reward",
            argument="noise",
        )


def check_bernoulli(graph: Graph, measured: Measured, levels: Levels, pooling: str) -> None:
    """Raise unless every reward can be a coin of its arc's own, thrown once."""
    said = f"measured={measured!r}, levels={levels!r}, pooling={pooling!r}"
    if (measured, levels) != ("arc", "none") or graph.covariates is not None:
        raise InvalidProblem(
            f"noise='bernoulli' with {said}, or covariates: rewards of 0 and 1 are those of single "
            "arcs, without levels or covariates; state the noise as a number, at least 0.5",
            argument="noise",
        )
    if pooling != "shared":
        raise InvalidProblem(
            f"noise='bernoulli' with {said}: rewards of 0 and 1 are counted by kind of edge; leave "
            "pooling out, and give every edge a kind of its own if nothing is known: "
            "Graph.from_edges(..., kinds=range(len(edges)))",
            argument="pooling",
        )
    if graph.weights is not None and not (graph.weights == 1.0).all():
        raise InvalidProblem(
            "noise='bernoulli' on a graph with weights: a reward of 0 or 1 cannot be a multiple "
            "of another; leave the weights out, or state the noise as a number",
            argument="noise",
        )
