"""What is compared, before and after the rebuild: read through public names only."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import edgewise as ew


def plain(value: Any) -> Any:
    """What JSON can say of numbers, labels and arrays; NaN is null."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return None if isinstance(value, float) and math.isnan(value) else value


def of_learner(learner: ew.Learner) -> dict[str, Any]:
    """Where a learner stands."""
    allocation = learner.report().allocation
    assert allocation is not None
    return {
        "rounds": learner.rounds,
        "progress": learner.verdict.progress,
        "pairs": plain(learner.verdict.pairs),
        "arms": plain(allocation.arms),
    }


def of_study(study: ew.Study) -> dict[str, Any]:
    """Where a study stands."""
    status, history, allocation = study.status(), study.history(), study.report().allocation
    assert allocation is not None
    return {
        "rounds": status.rounds,
        "max_rounds": status.max_rounds,
        "ending": status.ending.name,
        "target": status.target,
        "delta": status.delta,
        "epsilon": status.epsilon,
        "phase": status.phase,
        "leaders": plain(status.leaders),
        "progress": status.progress,
        "pending": None if status.pending is None else status.pending.key,
        "missing": status.missing,
        "regret": None if status.regret is None else status.regret.bound,
        "certificates": [
            plain((one.round, one.delta, one.epsilon, one.pairs, one.arms, one.regret))
            for one in status.certificates
        ],
        "totals": plain(history.totals),
        "progress_by_round": plain(history.progress),
        "phase_ends": plain(history.phase_ends),
        "arms": plain(allocation.arms),
    }


def of_log(study: ew.Study) -> dict[str, Any]:
    """What is on record: how many events, when the first and the last, and single rounds."""
    times = [at for at, _ in study.log()]
    return {
        "entries": len(times),
        "times": [times[0], times[-1]],
        "rewards": [plain(study.rewards(number)) for number in range(1, 5)],
    }
