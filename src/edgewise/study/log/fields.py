"""What every field of an event must be: one table, applied once, when an event is read.

A new event needs a class in :mod:`edgewise.study.log.events`, a name in the codec, and its row
here; a new field of an event or of the state, its line. A field that has a default may be missing:
it was added later.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from edgewise import __version__
from edgewise.base.arrays import frozen
from edgewise.base.checks import number, probability, table, whole
from edgewise.base.wording import shown
from edgewise.core.evidence import by_edge
from edgewise.core.evidence.measuring import present_from_tree
from edgewise.core.evidence.rewards import refuse_absurd
from edgewise.core.gate.watch import Watch
from edgewise.core.setting import Setting
from edgewise.core.state import LearnerState
from edgewise.core.stored import (
    check_by_edge,
    check_indices,
    check_joint_arm,
    check_numbers,
    check_statistics,
    check_watch,
    stored_state,
)
from edgewise.errors import EdgewiseError, InvalidArgument
from edgewise.study.log.events import (
    Added,
    Asked,
    Cancelled,
    Closed,
    Corrected,
    Created,
    Event,
    Extended,
    Revision,
    Told,
    TrialBegan,
    TrialCorrected,
    TrialEnded,
    TrialRepeated,
    TrialTold,
)
from edgewise.study.log.fold import Certificate, Round, StudyState
from edgewise.study.log.outside import Outside
from edgewise.trial.pairs import TrialRecord
from edgewise.trial.stored import stored_design, stored_record

Check: TypeAlias = Callable[[str, Any, Any], Any]
"""Name and value of a field, and the setting of the study: the value as the event has it."""


def read_fields(kind: type[Any], tree: Any, base: Setting | None) -> dict[str, Any]:
    """The fields of an event, checked; InvalidArgument names the one that is wrong."""
    checks = FIELDS[kind]
    for name in table("event", tree):
        if name not in checks:
            raise InvalidArgument(
                f"it has the field {name!r}, which edgewise {__version__} does not know; a newer "
                "edgewise wrote it: upgrade this one"
            )
    required = {field.name for field in fields(kind) if _is_required(field)}
    for name in checks:
        if name in required and name not in tree:
            raise InvalidArgument(f"it has no field {name!r}; it was cut or edited")
    return {name: _checked(checks[name], name, tree[name], base) for name in tree}


def _is_required(field: Field[Any]) -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def _checked(check: Check, name: str, value: Any, base: Setting | None) -> Any:
    try:
        return check(name, value, base)
    except EdgewiseError:
        raise
    except Exception as error:  # a tree from outside may hold anything
        raise InvalidArgument(
            f"{name} is {shown(value)}, which cannot be read ({error})"
        ) from error


# -- checks ----------------------------------------------------------------------------------


def optional(check: Check) -> Check:
    """The same, or None."""
    return lambda name, value, base: None if value is None else check(name, value, base)


def counting(least: int, most: int | None = None) -> Check:
    """A whole number."""
    return lambda name, value, base: whole(name, value, least=least, most=most)  # noqa: ARG005


def named_values(name: str, value: Any, base: Setting) -> Mapping[str, Any]:  # noqa: ARG001
    """A table whose content is checked where it is used: by graph, problem and setting."""
    return table(name, value)


def joint_arm(name: str, value: Any, base: Setting) -> NDArray[Any]:
    """(n,) an arm for every node, among its candidates."""
    stored = _array(name, value)
    check_joint_arm(base, name, stored)
    return frozen(stored, np.int32)


def which_rewards(name: str, value: Any, base: Setting) -> NDArray[Any]:
    """(k,) different numbers of what is measured."""
    stored = _array(name, value)
    check_indices(name, stored, None, base.problem.n_rewards)
    if len(np.unique(stored)) < len(stored):
        raise InvalidArgument(f"{name} names something twice", argument=name)
    return frozen(stored, np.int32)


def rewards(name: str, value: Any, base: Setting, *, gaps: bool) -> NDArray[Any]:
    """(k,) numbers that can be rewards."""
    stored = _array(name, value)
    check_numbers(name, stored, (stored.size,), gaps=gaps)
    everything = np.full(base.problem.n_rewards, np.nan)
    if len(stored) > len(everything):
        raise InvalidArgument(f"{name} has {len(stored)} rewards of {len(everything)}")
    everything[: len(stored)] = stored
    refuse_absurd(base.problem, everything)
    return frozen(stored, float)


def text(name: str, value: Any, base: Setting) -> str:  # noqa: ARG001
    """Words."""
    if not isinstance(value, str):
        raise InvalidArgument(f"{name} is {shown(value)}; it must be a text", argument=name)
    return value


def total(name: str, value: Any, base: Setting) -> float:  # noqa: ARG001
    """A number, or NaN."""
    return float("nan") if isinstance(value, float) and np.isnan(value) else number(name, value)


def delta(name: str, value: Any, base: Setting) -> float:  # noqa: ARG001
    """The probability of a wrong answer."""
    return probability(name, value, "the probability of a wrong answer")


def epsilon(name: str, value: Any, base: Setting) -> float:  # noqa: ARG001
    """A tolerance."""
    return number(name, value, least=0.0)


def revision(name: str, value: Any, base: Setting) -> Revision:
    """What a correction of a closed round leads to."""
    return Revision(**read_fields(Revision, table(name, value), base))


def _statistics(name: str, value: Any, base: Setting) -> Any:
    found = present_from_tree(table(name, value))
    check_statistics(base, found)
    return found


def _by_edge(name: str, value: Any, base: Setting) -> Any:
    found = by_edge.from_tree(table(name, value))
    check_by_edge(base, name, found)
    return found


def _watch(name: str, value: Any, base: Setting) -> Watch:
    found = Watch.from_tree(table(name, value))
    check_watch(base, name, found)
    return found


def _array(name: str, value: Any) -> NDArray[Any]:
    if not isinstance(value, np.ndarray) or value.ndim != 1:
        raise InvalidArgument(f"{name} is {shown(value)}; it must be a list of numbers")
    # of an empty list the type is anybody's guess
    return value if value.size else value.astype(np.int64)


def _pending(name: str, value: Any, base: Setting) -> Round:
    found = Round(**read_fields(Round, table(name, value), base))
    check_numbers(f"{name}/rewards", found.rewards, (base.problem.n_rewards,), gaps=True)
    return found


def _certificates(name: str, value: Any, base: Setting) -> tuple[Certificate, ...]:
    return tuple(Certificate(**read_fields(Certificate, table(name, one), base)) for one in value)


def _outside(name: str, value: Any, base: Setting) -> tuple[Outside, ...]:
    return tuple(Outside(**read_fields(Outside, table(name, one), base)) for one in value)


def _pairs(name: str, value: Any, base: Setting) -> tuple[tuple[int, int], ...]:
    pairs = tuple((int(k), int(l)) for k, l in value)
    if pairs:
        check_indices(name, np.array(pairs), (len(pairs), 2), base.problem.n_arms)
    return pairs


def _ends(name: str, value: Any, base: Setting) -> tuple[int, ...]:  # noqa: ARG001
    return tuple(whole(name, end, least=1) for end in value)


def _learner(name: str, value: Any, base: Setting) -> LearnerState:
    return stored_state(base, table(name, value))


def _by_round(name: str, value: Any, base: Setting) -> NDArray[Any]:  # noqa: ARG001
    """(rounds,) numbers; progress may be infinite, totals missing."""
    stored = _array(name, value)
    if stored.dtype.kind not in "iuf":
        raise InvalidArgument(f"{name} holds {stored.dtype}; it must hold numbers")
    return frozen(stored, float)


def _bound(name: str, value: Any, base: Setting) -> float:  # noqa: ARG001
    """A number, or infinity where nothing is known."""
    return value if value == float("inf") else number(name, value)


def _trial_design(name: str, value: Any, base: Setting) -> Mapping[str, Any]:
    """What a trial was begun with."""
    stored_design(base.problem, table(name, value))
    return table(name, value)


def _trials(name: str, value: Any, base: Setting) -> tuple[TrialRecord, ...]:  # noqa: ARG001
    return tuple(stored_record(base.problem, one) for one in value)


# -- the table -------------------------------------------------------------------------------

_ROUND = counting(1, 2**53)

FIELDS: dict[type[Any], dict[str, Check]] = {
    Created: {
        "problem": named_values,
        "options": named_values,
        "memory": named_values,
        "seed": counting(0, 2**64 - 1),
        "max_rounds": optional(_ROUND),
        "past": optional(named_values),
    },
    Asked: {
        "round": _ROUND,
        "attempt": _ROUND,
        "phase": counting(0, 2**53),
        "arms": joint_arm,
    },
    Told: {
        "round": _ROUND,
        "arcs": optional(which_rewards),
        "values": partial(rewards, gaps=False),
    },
    Closed: {"round": _ROUND},
    Cancelled: {"round": _ROUND, "attempt": _ROUND},
    Corrected: {
        "round": _ROUND,
        "arcs": which_rewards,
        "old": partial(rewards, gaps=True),
        "new": partial(rewards, gaps=True),
        "revision": optional(revision),
    },
    Revision: {
        "phase": counting(0, 2**53),
        "statistics": _statistics,
        "total": total,
        "best_arms": optional(joint_arm),
        "by_edge": optional(_by_edge),
        "by_edge_closed": optional(_by_edge),
        "watch": optional(_watch),
    },
    Added: {
        "round": _ROUND,
        "attempt": _ROUND,
        "first": _ROUND,
        "last": _ROUND,
        "source": text,
        "digest": text,
        "arms": joint_arm,
        "rewards": partial(rewards, gaps=True),
    },
    Extended: {
        "delta": delta,
        "epsilon": optional(epsilon),
        "until": counting(0, 2**53),
        "max_rounds": optional(_ROUND),
    },
    TrialBegan: {"trial": _ROUND, "design": _trial_design},
    TrialTold: {
        "trial": _ROUND,
        "block": _ROUND,
        "attempt": _ROUND,
        "candidate": counting(0, 2**53),
        "total": total,
    },
    TrialRepeated: {"trial": _ROUND, "block": _ROUND, "attempt": _ROUND},
    TrialCorrected: {
        "trial": _ROUND,
        "block": _ROUND,
        "candidate": counting(0, 2**53),
        "old": total,
        "new": total,
    },
    TrialEnded: {"trial": _ROUND},
    # what snapshots hold
    StudyState: {
        "learner": _learner,
        "delta": delta,
        "epsilon": optional(epsilon),
        "max_rounds": optional(_ROUND),
        "until": counting(0, 2**53),
        "pending": optional(_pending),
        "attempts": counting(0, 2**53),
        "phase_ends": _ends,
        "totals": _by_round,
        "progress": _by_round,
        "certificates": _certificates,
        "trials": _trials,
        "outside": _outside,
    },
    Outside: {"first": _ROUND, "last": _ROUND, "source": text, "digest": text},
    Round: {
        "number": _ROUND,
        "attempt": _ROUND,
        "arms": joint_arm,
        "rewards": partial(rewards, gaps=True),
    },
    Certificate: {
        "round": _ROUND,
        "delta": delta,
        "epsilon": optional(epsilon),
        "pairs": _pairs,
        "arms": optional(joint_arm),
        "regret": optional(_bound),
        "withdrawn": optional(_ROUND),
    },
}


def check_agreement(event: Event, base: Setting) -> None:
    """Raise unless the fields of an event fit each other."""
    match event:
        case Told(arcs=arcs, values=values):
            size = base.problem.n_rewards if arcs is None else len(arcs)
            _require_length("values", values, size)
        case Corrected(arcs=arcs, old=old, new=new):
            _require_length("old", old, len(arcs))
            _require_length("new", new, len(arcs))
        case Added(rewards=values):
            _require_length("rewards", values, base.problem.n_rewards)
        case _:
            pass


def _require_length(name: str, values: NDArray[Any], size: int) -> None:
    if len(values) != size:
        raise InvalidArgument(f"{name} has {len(values)} numbers where {size} belong")
