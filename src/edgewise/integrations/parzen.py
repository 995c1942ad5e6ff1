"""Tree-structured Parzen estimator (optuna), a rival that needs the extra ``bench``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from edgewise.base.arrays import Indices
from edgewise.base.extras import required
from edgewise.base.randomness import Rng, generator
from edgewise.integrations.running import System, Trail, checked_marks, measured_totals


def tpe(system: System, *, marks: Sequence[int], rng: Rng = None) -> Trail:
    """Tree-structured Parzen estimator on the measured total; answers the best seen."""
    optuna = required("optuna", "comparing with TPE needs optuna", "bench")
    random, rounds = generator(rng), checked_marks(marks)
    masks, groups = system.problem.candidate_sets
    choices = [np.flatnonzero(masks[group]) for group in groups]
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    sampler = optuna.samplers.TPESampler(seed=int(random.integers(2**31)), multivariate=True)
    search = optuna.create_study(direction="maximize", sampler=sampler)
    search.enqueue_trial(_as_steps(choices, system.today))
    worths, answers = [], []
    for number in range(1, int(rounds[-1]) + 1):
        trial = search.ask()
        arms = system.today.copy()
        for node, choice in enumerate(choices):
            if len(choice) > 1:
                arms[node] = choice[trial.suggest_int(str(node), 0, len(choice) - 1)]
        totals, true = measured_totals(system, arms[None], random)
        search.tell(trial, float(totals[0]))
        worths.append(float(true[0]))
        if number in rounds:
            answers.append(_best(search, choices, system.today))
    return Trail("TPE", np.array(worths), rounds, np.array(answers))


def _best(search: Any, choices: Sequence[Indices], today: Indices) -> Indices:
    arms = today.copy()
    for name, step in search.best_trial.params.items():
        arms[int(name)] = choices[int(name)][step]
    return arms


def _as_steps(choices: Sequence[Indices], arms: Indices) -> dict[str, int]:
    return {
        str(node): int(np.flatnonzero(choice == arms[node])[0])
        for node, choice in enumerate(choices)
        if len(choice) > 1
    }
