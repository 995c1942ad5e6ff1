"""Many independent runs of the method, simulated cell by cell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from edgewise.allocation.allocate import solve
from edgewise.allocation.instance.objective import Objective, global_reward
from edgewise.allocation.request import Request
from edgewise.base.arrays import Array, Mask
from edgewise.base.randomness import Rng, generator
from edgewise.core.evidence.statistics import CellStatistics
from edgewise.core.learner import advance
from edgewise.core.model.problem import Problem
from edgewise.core.setting import Setting
from edgewise.core.state import LearnerState
from edgewise.core.stopping import StoppingRule
from edgewise.core.strategies.strategy import Strategy
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
    """Whether the answer is truly as good as certified: the leading pair of every kind within
    epsilon of the best, or the joint arm within its regret bound of the best."""

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
    strategy: str | Strategy = "adaptive",
    stopping: str | StoppingRule | None = None,
    delta: float = 0.05,
    epsilon: float | None = None,
    target: str | None = None,
    beta: ArrayLike | None = None,
    noise: float | None = None,
    max_rounds: int = 10**6,
    rng: Rng = None,
    jobs: int = 1,
) -> Replications:
    """Run the method ``repetitions`` times on simulated Gaussian rewards.

    All edges that show the same cell in a round get one normal draw for the sum of their rewards,
    which has exactly the law of the sum of individual ones. The engine is the learner's own
    :func:`~edgewise.core.learner.advance`. Repetition i uses the i-th generator spawned from
    ``rng``, so results do not depend on ``jobs`` (-1: all cores; needs ``edgewise[parallel]``).
    ``noise`` is the true sigma, by default what the problem states; the other options are those
    of :class:`~edgewise.Learner`.

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
        problem,
        delta=delta,
        epsilon=epsilon,
        strategy=strategy,
        stopping=stopping,
        target=target,
    )
    truth = Truth.of(problem, matrix, beta)
    world = _World.of(setting, truth, problem.stated_noise if noise is None else noise)
    generators = generator(rng).spawn(repetitions)
    if jobs == 1:
        finals = [_run(setting, world, max_rounds, stream) for stream in generators]
    else:
        finals = _run_parallel(setting, world, max_rounds, generators, jobs)
    is_correct = _CORRECT[setting.target]
    return Replications(
        rounds=np.array([final.rounds for final in finals]),
        certified=np.array([final.verdict.stop for final in finals]),
        correct=np.array([is_correct(setting, world, final) for final in finals]),
    )


@dataclass(frozen=True, eq=False)
class _World:
    """What a simulation knows and the learner does not."""

    truth: Truth
    means: Array
    """(q, P) true reward of every cell."""
    noise: float

    @classmethod
    def of(cls, setting: Setting, truth: Truth, noise: float) -> _World:
        cells = setting.plan.cells
        return cls(truth, truth.cell_means(cells.pairs, ordered=cells.ordered), noise)

    def best_known(self, problem: Problem) -> float:
        """Global reward of the best joint arm that can be found knowing the truth."""
        objective = Objective.of(problem.graph, self.truth.tables, problem.candidates)
        return solve(objective, Request(bound=None)).value


def _run(
    setting: Setting, world: _World, max_rounds: int, rng: np.random.Generator
) -> LearnerState:
    """One repetition, in blocks of rounds that grow with the run."""
    seed = int(rng.integers(2**64, dtype=np.uint64))
    state = LearnerState.start(setting.plan.cells, setting.plan.first_aim(), seed)
    largest = min(_LARGEST_BLOCK, max(1, _BLOCK_CELLS // world.means.size))
    while not state.verdict.stop and state.rounds < max_rounds:
        size = min(max(1, state.rounds // 4), largest, max_rounds - state.rounds)
        state = advance(setting, state, _simulate(setting, state, world, size, rng))
    return state


def _simulate(
    setting: Setting, state: LearnerState, world: _World, n_rounds: int, rng: np.random.Generator
) -> CellStatistics:
    r"""Cell statistics of the next rounds.

    :math:`Y_c` has mean :math:`N_c \mu_c` and variance :math:`N_c \sigma^2`; if the noise is to
    be estimated, squares within a cell add up to :math:`\sigma^2 \chi^2`, independently.
    """
    observations, information = setting.plan.upcoming(setting.problem, state, n_rounds)
    rewards = rng.standard_normal(information.shape)
    rewards *= world.noise * np.sqrt(information)
    rewards += information * world.means
    if setting.problem.noise != "estimate":
        unrecorded = np.broadcast_to(np.nan, information.shape)
        return CellStatistics(observations, information, rewards, unrecorded)
    seen = observations > 0
    squares = np.zeros(information.shape)
    within = 2.0 * rng.standard_gamma(0.5 * (observations[seen] - 1))
    squares[seen] = rewards[seen] ** 2 / information[seen] + world.noise**2 * within
    return CellStatistics(observations, information, rewards, squares)


def _has_best_pair(setting: Setting, world: _World, final: LearnerState) -> bool:
    if not final.verdict.pairs:
        return False
    cells, means = setting.plan.cells, world.means
    leaders = [cells.pair_index[k, l] for k, l in final.verdict.pairs]
    allowed = np.where(cells.showable, means, -np.inf)
    best = allowed.max(axis=1)
    reached = allowed[np.arange(len(leaders)), leaders]
    rounding = 1e-9 * np.abs(means).max(axis=1)
    return bool((reached >= best - setting.tolerance - rounding).all())


def _has_best_allocation(setting: Setting, world: _World, final: LearnerState) -> bool:
    """Whether the regret is within its bound, as far as the best joint arm is known."""
    if final.answer is None:
        return False
    problem = setting.problem
    reached = global_reward(problem.graph, world.truth.tables, final.answer.arms)
    best = world.best_known(problem)
    return reached >= best - final.answer.regret.bound - 1e-9 * abs(best)


_CORRECT = {"pair": _has_best_pair, "allocation": _has_best_allocation}


def _run_parallel(
    setting: Setting,
    world: _World,
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
    tasks = (delayed(_run)(setting, world, max_rounds, generator) for generator in generators)
    return list(Parallel(n_jobs=jobs)(tasks))
