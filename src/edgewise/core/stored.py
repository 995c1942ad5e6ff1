"""Stored values, checked against the setting they belong to: nothing else reaches a kernel.

Compiled code indexes arrays without looking; so what comes out of a file or a database must have
the shapes, types and ranges that the setting implies before anything is computed from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgewise.base.checks import number, one_of, reading, whole
from edgewise.base.wording import shown
from edgewise.core.evidence.by_edge import nothing_by_edge
from edgewise.core.evidence.equations import Gathering
from edgewise.core.evidence.measuring import ByPhase, Statistics, nothing_measured
from edgewise.core.evidence.statistics import CellStatistics
from edgewise.core.gate.forms import DATA, FORMS
from edgewise.core.gate.rows import sight_of
from edgewise.core.gate.structure import Seen
from edgewise.core.gate.sums import Sums
from edgewise.core.gate.watch import Watch, nothing_watched
from edgewise.core.local.channels import Channels
from edgewise.core.local.normal_equations import Phase
from edgewise.core.setting import Setting
from edgewise.core.state import LearnerState
from edgewise.errors import InvalidArgument

_PHASE = ("counts", "feature_means", "reward_means", "gram", "moment", "squares")
_MOST_ROUNDS = 2**53
"""Beyond it a float does not know one round from the next."""


def stored_state(setting: Setting, tree: Mapping[str, Any]) -> LearnerState:
    """The state that a tree describes; InvalidArgument unless it is one of this setting."""
    state = LearnerState.from_tree(tree)
    check_state(setting, state)
    if "watch" not in tree:  # stored before there was a gate: it begins here
        return replace(state, watch=nothing_watched(setting.problem, setting.gate))
    return state


def check_state(setting: Setting, state: LearnerState) -> None:
    """Raise unless the state could be one of this setting."""
    whole("seed", state.seed, least=0, most=2**64 - 1)
    whole("rounds", state.rounds, least=0, most=_MOST_ROUNDS)
    whole("extra_looks", state.extra_looks, least=0, most=_MOST_ROUNDS)
    whole("phase_rounds", state.phase_rounds, least=0, most=state.rounds)
    check_statistics(setting, state.statistics)
    _check_closed(setting, state.closed)
    _check_aim(setting, state)
    _check_verdict(setting, state)
    for name in ("best_arms", "deployed", "centre"):
        arms = getattr(state, name)
        if arms is not None:
            check_joint_arm(setting, name, arms)
    if state.answer is not None:
        check_joint_arm(setting, "answer/arms", state.answer.arms)
    check_by_edge(setting, "by_edge", state.by_edge)
    check_by_edge(setting, "by_edge_closed", state.by_edge_closed)
    check_watch(setting, "watch", state.watch)
    if state.refuted is not None and state.refuted.shape != setting.plan.cells.showable.shape:
        raise _wrong("refuted", state.refuted, "it must be a flag per kind and pair of arms")
    if state.pooling is not None:
        one_of("pooling", state.pooling, ("shared", "partial"))


# -- arrays ----------------------------------------------------------------------------------


def check_joint_arm(setting: Setting, name: str, arms: NDArray[Any]) -> None:
    """Raise unless it is an arm for every node, one that the node may be given."""
    problem = setting.problem
    check_indices(name, arms, (problem.graph.n_nodes,), problem.n_arms)
    if problem.candidates is None:
        return
    wrong = np.flatnonzero(~problem.candidates[np.arange(len(arms)), arms])
    if len(wrong):
        node = int(wrong[0])
        raise InvalidArgument(
            f"{name} gives node {problem.graph.labels[node]!r} the arm {int(arms[node])}, which is "
            "none of its candidates",
            argument=name,
        )


def check_indices(
    name: str, values: NDArray[Any], shape: tuple[int, ...] | None, below: int
) -> None:
    """Raise unless these are whole numbers in 0 .. below - 1; of any length if no shape is given.

    An index that a kernel is handed was checked here, or computed.
    """
    if shape is None:
        shape = (values.size,)
    if values.shape != shape or values.dtype.kind not in "iu":
        raise _wrong(name, values, f"it must be {shape} whole numbers")
    if values.size and not 0 <= int(values.min()) <= int(values.max()) < below:
        raise InvalidArgument(
            f"{name} has the entries {values.min()} to {values.max()}; they must lie between 0 "
            f"and {below - 1}",
            argument=name,
        )


def check_numbers(
    name: str, values: NDArray[Any], shape: tuple[int, ...], *, gaps: bool = False
) -> None:
    """Raise unless these are finite numbers of that shape; ``gaps`` allows NaN."""
    if values.shape != shape or values.dtype.kind not in "iuf":
        raise _wrong(name, values, f"it must be {shape} numbers")
    if not (np.isfinite(values) | (gaps & np.isnan(values))).all():
        raise InvalidArgument(
            f"{name} has infinite entries, or NaN where a number belongs", argument=name
        )


def _wrong(name: str, values: NDArray[Any], rule: str) -> InvalidArgument:
    return InvalidArgument(f"{name} has shape {values.shape} and type {values.dtype}; {rule}")


# -- statistics ------------------------------------------------------------------------------


def check_statistics(setting: Setting, found: Statistics) -> None:
    """Raise unless these are statistics of a phase of this setting."""
    nothing, _ = nothing_measured(setting.problem, setting.plan.cells)
    if type(found) is not type(nothing):
        raise InvalidArgument(
            f"statistics are {type(found).__name__}; this problem needs {type(nothing).__name__}"
        )
    if isinstance(nothing, CellStatistics) and isinstance(found, CellStatistics):
        _check_cells("statistics", found, nothing.information.shape)
    if isinstance(nothing, Gathering) and isinstance(found, Gathering):
        if found.levels != nothing.levels:
            raise InvalidArgument(
                f"levels are {shown(found.levels)}; those of the problem are {nothing.levels!r}"
            )
        check_numbers("noise", found.noise, nothing.noise.shape)
        check_numbers("information", found.information, nothing.information.shape)
        _check_phase("statistics", found.phase, nothing.phase)


def _check_cells(name: str, found: CellStatistics, shape: tuple[int, ...]) -> None:
    check_numbers(f"{name}/observations", found.observations, shape)
    check_numbers(f"{name}/information", found.information, shape)
    check_numbers(f"{name}/rewards", found.rewards, shape)
    check_numbers(f"{name}/squares", found.squares, shape, gaps=True)
    if (found.observations < 0).any() or (found.information < 0).any():
        raise InvalidArgument(f"{name} counts fewer than no observations", argument=name)


def _check_closed(setting: Setting, found: ByPhase) -> None:
    _, none = nothing_measured(setting.problem, setting.plan.cells)
    if type(found) is not type(none):
        raise InvalidArgument(f"closed is {type(found).__name__}, not {type(none).__name__}")
    if isinstance(found, CellStatistics):
        _check_cells("closed", found, (len(found), *none.information.shape[1:]))
        return
    for field in fields(none):
        stored, like = getattr(found, field.name), getattr(none, field.name)
        check_numbers(f"closed/{field.name}", stored, (len(found), *like.shape[1:]))


def check_by_edge(setting: Setting, name: str, found: Phase | None) -> None:
    """Raise unless these are sums over the edges of this setting; None is what was not kept."""
    if found is None:
        return
    like = nothing_by_edge(setting.problem)
    if like is None:
        raise InvalidArgument(f"{name} is there, which this problem does not keep", argument=name)
    _check_phase(name, found, like)


def check_watch(setting: Setting, name: str, found: Watch | None) -> None:
    """Raise unless this is what the gate keeps of this setting; None is what was not kept."""
    if found is None:
        return
    sight = sight_of(setting.problem)
    like = Watch.nothing(sight)
    for field in fields(Sums):
        stored, empty = getattr(found.sums, field.name), getattr(like.sums, field.name)
        check_numbers(f"{name}/sums/{field.name}", np.asarray(stored), np.shape(empty))
    check_numbers(f"{name}/growth", found.growth, like.growth.shape)
    block, p = found.block, sight.n_parameters
    size = (block.numbers.size,)
    check_numbers(f"{name}/block/features", block.features, (len(block.features), p))
    check_indices(f"{name}/block/which", block.which, size, max(len(block.features), 1))
    check_indices(f"{name}/block/positions", block.positions, size, sight.n_numbers)
    for part in ("weights", "numbers", "lost", "rounds"):
        check_numbers(f"{name}/block/{part}", getattr(block, part), size)
    for part in ("rounds", "looked", "blocks"):
        whole(f"{name}/{part}", getattr(found, part), least=0, most=_MOST_ROUNDS)
    for part, value in (("prior", found.prior), ("residual", found.residual[0])):
        number(f"{name}/{part}", value, least=0.0)
    for data, starts in found.starts.items():
        one_of(f"{name}/starts", data, tuple(DATA))
        for one in starts:
            _check_start(f"{name}/starts/{data}", one, starts[0])
    local = found.predictions
    if local is not None and local.arms.size + local.rewards.size:  # empty, text has no columns
        graph, T = setting.problem.graph, len(local.arms)
        check_indices(f"{name}/arms", local.arms, (T, graph.n_nodes), setting.problem.n_arms)
        shape = (T, setting.problem.n_rewards)
        check_numbers(f"{name}/rewards", local.rewards, shape, gaps=True)
    for said in found.spoken:
        one_of(f"{name}/spoken", said.form, tuple(FORMS))
        whole(f"{name}/spoken/round", said.round, least=0, most=_MOST_ROUNDS)
        _as_float(f"{name}/spoken/odds", said.odds)
        for part in ("at", "value", "expected"):
            if getattr(said, part) is not None:
                _as_float(f"{name}/spoken/{part}", getattr(said, part))
        if said.position is not None:
            whole(f"{name}/spoken/position", said.position, least=0, most=sight.n_numbers - 1)


def _check_start(name: str, found: Seen, first: Seen) -> None:
    """Raise unless this is what the gate saw at one moment, of the same things as at the first."""
    width, best = first.best.moment.size, found.best
    check_numbers(f"{name}/moment", best.moment, (width,))
    check_numbers(f"{name}/gram", best.gram, (width, width))
    number(f"{name}/squares", best.squares, least=0.0)
    whole(f"{name}/freedom", best.freedom, least=0)
    if not found.marginals or found.marginals.keys() != first.marginals.keys():
        raise InvalidArgument(f"{name}/marginals lack forms that others have", argument=name)
    spreads = max(1, *(one.size for one in first.marginals.values()))
    for form, marginal in found.marginals.items():
        one_of(f"{name}/marginals", form, tuple(FORMS))
        check_numbers(f"{name}/marginals/{form}", marginal, (spreads,))


def _check_phase(name: str, found: Phase, like: Phase) -> None:
    for field in fields(Channels):
        mine, its = getattr(found.channels, field.name), getattr(like.channels, field.name)
        if not np.array_equal(mine, its):
            raise InvalidArgument(f"{name}/{field.name} is not that of the problem", argument=name)
    for part in _PHASE:
        check_numbers(f"{name}/{part}", getattr(found, part), getattr(like, part).shape)
    if (found.counts < 0).any():
        raise InvalidArgument(f"{name}/counts has entries below 0", argument=name)
    if (found.rounds is None) != (like.rounds is None):
        raise InvalidArgument(f"{name} keeps its rounds, or does not, unlike the problem")
    for stored, empty in zip(found.rounds or (), like.rounds or (), strict=True):
        check_numbers(f"{name}/rounds", stored, (len(stored), *empty.shape[1:]), gaps=True)


# -- decisions -------------------------------------------------------------------------------


def _check_aim(setting: Setting, state: LearnerState) -> None:
    aim, (n_kinds, n_pairs) = state.aim, setting.plan.cells.showable.shape
    shape = (aim.kinds.size,)
    check_indices("aim/kinds", aim.kinds, shape, n_kinds)
    check_indices("aim/leaders", aim.leaders, shape, n_pairs)
    check_indices("aim/rivals", aim.rivals, shape, n_pairs)
    check_numbers("aim/needs", aim.needs, shape)
    whole("aim/length", aim.length, least=0, most=_MOST_ROUNDS)


def _check_verdict(setting: Setting, state: LearnerState) -> None:
    verdict, cells = state.verdict, setting.plan.cells
    for name in ("stop", "stalled", "settled", "contradicted"):
        if not isinstance(getattr(verdict, name), bool):
            raise InvalidArgument(f"verdict/{name} is {shown(getattr(verdict, name))}, not a flag")
    whole("verdict/round", verdict.round, least=0, most=state.rounds)
    if np.isnan(_as_float("verdict/progress", verdict.progress)):
        raise InvalidArgument("verdict/progress is NaN; it must be a number")
    n_kinds, n_arms = len(cells.features), setting.problem.n_arms
    if verdict.pairs:
        check_indices("verdict/pairs", np.array(verdict.pairs), (len(verdict.pairs), 2), n_arms)
    if verdict.rival is not None:
        with reading("verdict/rival"):
            rival = np.array(verdict.rival)
        check_indices("verdict/rival", rival, (3,), max(n_kinds, n_arms))


def _as_float(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidArgument(f"{name} is {shown(value)}; it must be a number", argument=name)
    return float(value)
