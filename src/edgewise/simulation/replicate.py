"""Many independent runs of the method, simulated cell by cell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from edgewise.core.arrays import Array, Mask
from edgewise.core.learner import advance
from edgewise.core.problem import Problem
from edgewise.core.setting import Setting
from edgewise.core.state import LearnerState
from edgewise.core.statistics import CellStatistics
from edgewise.core.stopping import StoppingRule
from edgewise.core.strategy import Strategy
from edgewise.errors import InvalidArgument, MissingExtra
from edgewise.simulation.environment import Truth

_LARGEST_BLOCK = 256
"""Rounds simulated between two looks at the result; beyond the stop they are thrown away."""

_BLOCK_CELLS = 1 << 20
"""Cells times rounds in a block: bounds the memory."""


@dataclass(frozen=True, eq=False)
class Replications:
    """What happened in each repetition."""

    rounds: NDArray[np.int64]
    """(repetitions,) rounds used."""
    certified: Mask
    """Whether the rule stopped, rather than the round limit."""
    correct: Mask
    """Whether the leading pair of every kind is truly within epsilon of the best."""

    @property
    def errors(self) -> int:
        """Runs that certified a wrong answer: what delta limits."""
        return int((self.certified & ~self.correct).sum())

    @property
    def mean_rounds(self) -> float:
        """Average number of rounds."""
        return float(self.rounds.mean())

    def __repr__(self) -> str:
        return (
            f"Replications({len(self.rounds)} runs, {self.mean_rounds:.4g} rounds on average, "
            f"{int(self.certified.sum())} certified, {self.errors} wrong)"
        )


def replicate(
    problem: Problem,
    matrix: ArrayLike,
    *,
    repetitions: int,
    strategy: str | Strategy = "g-optimal",
    stopping: str | StoppingRule | None = None,
    delta: float = 0.05,
    epsilon: float = 0.0,
    beta: ArrayLike | None = None,
    max_rounds: int = 10**6,
    rng: np.random.Generator | int | None = None,
    jobs: int = 1,
) -> Replications:
    """Run the method ``repetitions`` times on simulated Gaussian rewards.

    All edges that show the same cell in a round get one normal draw for the sum of their rewards,
    which has exactly the law of the sum of individual ones. The engine is the learner's own
    :func:`~edgewise.core.learner.advance`. Repetition i uses the i-th generator spawned from
    ``rng``, so results do not depend on ``jobs`` (-1: all cores; needs ``edgewise[parallel]``).

    >>> from edgewise import Graph, Problem
    >>> problem = Problem(Graph.circle(n_nodes=6), np.eye(2), noise=0.5)
    >>> replicate(problem, [[2.0, 0.0], [0.0, 1.0]], repetitions=20, rng=0).errors
    0
    """
    if repetitions < 1:
        raise InvalidArgument(f"repetitions is {repetitions}; it must be at least 1")
    if max_rounds < 1:
        raise InvalidArgument(f"max_rounds is {max_rounds}; it must be at least 1")
    setting = Setting.of(
        problem, delta=delta, epsilon=epsilon, strategy=strategy, stopping=stopping
    )
    cells = setting.plan.cells
    means = Truth.of(problem, matrix, beta).cell_means(cells.pairs, ordered=cells.ordered)
    generators = np.random.default_rng(rng).spawn(repetitions)
    if jobs == 1:
        finals = [_run(setting, means, max_rounds, generator) for generator in generators]
    else:
        finals = _run_parallel(setting, means, max_rounds, generators, jobs)
    return Replications(
        rounds=np.array([final.rounds for final in finals]),
        certified=np.array([final.verdict.stop for final in finals]),
        correct=np.array([_is_correct(setting, means, final) for final in finals]),
    )


def _run(setting: Setting, means: Array, max_rounds: int, rng: np.random.Generator) -> LearnerState:
    """One repetition, in blocks of rounds that grow with the run."""
    seed = int(rng.integers(2**64, dtype=np.uint64))
    state = LearnerState.start(setting.plan.cells, setting.plan.first_aim(), seed)
    largest = min(_LARGEST_BLOCK, max(1, _BLOCK_CELLS // means.size))
    while not state.verdict.stop and state.rounds < max_rounds:
        size = min(max(1, state.rounds // 4), largest, max_rounds - state.rounds)
        state = advance(setting, state, _simulate(setting, state, means, size, rng))
    return state


def _simulate(
    setting: Setting, state: LearnerState, means: Array, n_rounds: int, rng: np.random.Generator
) -> CellStatistics:
    """Cell statistics of the next rounds: Y_c has mean N_c mu_c and variance N_c sigma^2."""
    observations, information = setting.plan.upcoming(setting.problem, state, n_rounds)
    rewards = rng.standard_normal(information.shape)
    rewards *= setting.problem.noise * np.sqrt(information)
    rewards += information * means
    unrecorded = np.broadcast_to(np.nan, information.shape)
    return CellStatistics(observations, information, rewards, unrecorded)


def _is_correct(setting: Setting, means: Array, final: LearnerState) -> bool:
    if not final.verdict.pairs:
        return False
    cells = setting.plan.cells
    leaders = [cells.pair_index[k, l] for k, l in final.verdict.pairs]
    allowed = np.where(cells.showable, means, -np.inf)
    best = allowed.max(axis=1)
    reached = allowed[np.arange(len(leaders)), leaders]
    rounding = 1e-9 * np.abs(means).max(axis=1)
    return bool((reached >= best - setting.epsilon - rounding).all())


def _run_parallel(
    setting: Setting,
    means: Array,
    max_rounds: int,
    generators: list[np.random.Generator],
    jobs: int,
) -> list[LearnerState]:
    try:
        from joblib import Parallel, delayed
    except ImportError as error:
        raise MissingExtra(
            "jobs other than 1 need joblib; install it with: pip install 'edgewise[parallel]'"
        ) from error
    tasks = (delayed(_run)(setting, means, max_rounds, generator) for generator in generators)
    return list(Parallel(n_jobs=jobs)(tasks))
