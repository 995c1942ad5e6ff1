"""A trial set up: candidates and options, checked once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from edgewise.base.arrays import Indices, frozen
from edgewise.base.checks import table, whole
from edgewise.base.randomness import Rng, draw_seed
from edgewise.core.model.configuration import checked_configuration
from edgewise.core.model.problem import Problem
from edgewise.core.setting import check_confidence
from edgewise.errors import InvalidArgument
from edgewise.trial.pairs import TrialDesign
from edgewise.trial.rule import Goal

BASELINE, CANDIDATE = "baseline", "candidate"


def set_up(
    problem: Problem,
    *,
    baseline: ArrayLike,
    candidates: Mapping[str, ArrayLike],
    delta: float = 0.05,
    margin: float = 0.0,
    width: float | None = None,
    max_pairs: int = 100,
    rng: Rng = None,
) -> TrialDesign:
    """The design of a trial; candidates that are equal are one, under both names."""
    check_confidence(delta, None)
    most = whole("max_pairs", max_pairs, least=1)
    if not candidates:
        raise InvalidArgument(
            "there is no candidate to compare with the baseline; pass candidate=, or candidates= "
            "with a name for each",
            argument="candidate",
        )
    joint = {BASELINE: checked_configuration(problem, BASELINE, baseline)}
    for name, arms in candidates.items():
        if str(name) in joint:
            raise InvalidArgument(
                f"a candidate is called {name!r}, and so is the baseline or another candidate; "
                "give every candidate a name of its own",
                argument="candidates",
            )
        joint[str(name)] = checked_configuration(problem, str(name), arms)
    names, distinct = _merged(joint)
    return TrialDesign(names, distinct, float(delta), Goal(margin, width), most, draw_seed(rng))


def named(candidate: Any, candidates: Any) -> Mapping[str, ArrayLike]:
    """The candidates by name, however they were passed."""
    if candidate is None:
        return {} if candidates is None else table("candidates", candidates)
    if candidates is not None:
        raise InvalidArgument(
            "candidate and candidates were both given; pass the one, or all of them by name in "
            "candidates",
            argument="candidates",
        )
    return {CANDIDATE: candidate}


def _merged(joint: Mapping[str, Indices]) -> tuple[tuple[str, ...], Indices]:
    """Names and joint arms (J, n); equal ones once, the baseline first."""
    names: list[str] = []
    distinct: list[Indices] = []
    for name, arms in joint.items():
        twin = next((i for i, other in enumerate(distinct) if np.array_equal(arms, other)), None)
        if twin is None:
            names.append(name)
            distinct.append(arms)
        elif twin > 0:
            names[twin] += f" = {name}"
    return tuple(names), frozen(np.array(distinct), np.int64)
