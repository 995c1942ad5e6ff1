"""Many independent runs of the method, simulated cell by cell or round by round."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from edgewise.base.arrays import Array, Mask
from edgewise.base.randomness import Rng, draw_seed, generator
from edgewise.core.ending import Ending, ending_of
from edgewise.core.evidence.statistics import ByRound, CellStatistics
from edgewise.core.learner import advance, initial_state, tell_round
from edgewise.core.model.problem import Problem
from edgewise.core.setting import Setting
from edgewise.core.state import LearnerState
from edgewise.core.stopping import StoppingRule
from edgewise.core.strategies import Strategy
from edgewise.core.strategies.plan import upcoming
from edgewise.core.targets import Target
from edgewise.core.targets.truth import Truth
from edgewise.errors import InvalidArgument, MissingExtra
from edgewise.simulation.environment import BilinearEnvironment, Law
from edgewise.simulation.hierarchical import HierarchicalWorld

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
    """Whether the rule stopped, rather than the round limit or for lack of use of more rounds."""
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
    target: str | Target | None = None,
    beta: ArrayLike | None = None,
    own: ArrayLike | None = None,
    levels: ArrayLike | None = None,
    round_levels: float = 0.0,
    spread: float = 0.0,
    noise: float | None = None,
    law: str | Law = "gaussian",
    max_rounds: int = 10**6,
    rng: Rng = None,
    jobs: int = 1,
) -> Replications:
    """Run the method ``repetitions`` times on simulated rewards.

    A plain problem (a reward per arc, one matrix per kind) is simulated cell by cell: all edges
    that show the same cell in a round get one normal draw for the sum of their rewards, which has
    exactly the law of the sum of individual ones. The engine is the learner's own
    :func:`~edgewise.core.learner.advance`. Repetition i uses the i-th generator spawned from
    ``rng``, so results do not depend on ``jobs`` (-1: all cores; needs ``edgewise[parallel]``).
    Any other problem or world is simulated round by round by a
    :class:`~edgewise.BilinearEnvironment`, whose ``own``, ``levels``, ``round_levels``, ``noise``
    and ``law`` these are. With a ``spread`` every repetition has a world of its own, drawn as a
    :class:`~edgewise.simulation.HierarchicalWorld`. The other options are those of
    :class:`~edgewise.Learner`.

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
    truth = Truth.of(problem, matrix, beta, own)
    usual = levels is None and round_levels == 0 and spread == 0 and law == "gaussian"
    world: _Simulated
    if usual and problem.is_plain and truth.has_kinds_of(problem):
        world = _World.of(setting, truth, problem.stated_noise if noise is None else noise)
    else:
        options = {"levels": levels, "round_levels": round_levels, "noise": noise, "law": law}
        drawn = {"matrix": matrix, "spread": spread, "beta": beta, "own": own} if spread else None
        world = _Rounds(truth, options, drawn)
    generators = generator(rng).spawn(repetitions)
    if jobs == 1:
        finals = [world.run(setting, max_rounds, stream) for stream in generators]
    else:
        finals = _run_parallel(setting, world, max_rounds, generators, jobs)
    return Replications(
        rounds=np.array([final.rounds for final, _ in finals]),
        certified=np.array([final.verdict.stop for final, _ in finals]),
        correct=np.array([setting.target.is_correct(setting, *final) for final in finals]),
    )


class _Simulated(Protocol):
    """What a simulation knows and the learner does not."""

    def run(
        self, setting: Setting, max_rounds: int, rng: np.random.Generator
    ) -> tuple[LearnerState, Truth]:
        """The end of one repetition, and what was true in it."""


@dataclass(frozen=True, eq=False)
class _Rounds:
    """Round by round, every reward on its own."""

    truth: Truth
    options: dict[str, Any]
    """Of the environment."""
    drawn: dict[str, Any] | None
    """Of the worlds, if each repetition has its own."""

    def run(
        self, setting: Setting, max_rounds: int, rng: np.random.Generator
    ) -> tuple[LearnerState, Truth]:
        problem, truth = setting.problem, self.truth
        state = initial_state(setting, draw_seed(rng))
        if self.drawn is not None:
            truth = HierarchicalWorld.draw(problem, rng=rng, **self.drawn).truth
        environment = BilinearEnvironment(problem, truth, rng=rng, **self.options)
        while ending_of(state.verdict, state.rounds, max_rounds=max_rounds) is Ending.RUNNING:
            arms = setting.plan.joint_arm(problem, state)
            state = tell_round(setting, state, arms, environment(arms))
        return state, truth


@dataclass(frozen=True, eq=False)
class _World:
    """Cell by cell: the paper's model."""

    truth: Truth
    means: Array
    """(q, P) true reward of every cell."""
    noise: float

    @classmethod
    def of(cls, setting: Setting, truth: Truth, noise: float) -> _World:
        return cls(truth, setting.plan.cells.averages(truth.tables), noise)

    def run(
        self, setting: Setting, max_rounds: int, rng: np.random.Generator
    ) -> tuple[LearnerState, Truth]:
        return _run(setting, self, max_rounds, rng), self.truth


def _run(
    setting: Setting, world: _World, max_rounds: int, rng: np.random.Generator
) -> LearnerState:
    """One repetition, in blocks of rounds that grow with the run."""
    state = initial_state(setting, draw_seed(rng))
    largest = min(_LARGEST_BLOCK, max(1, _BLOCK_CELLS // world.means.size))
    while ending_of(state.verdict, state.rounds, max_rounds=max_rounds) is Ending.RUNNING:
        size = min(max(1, state.rounds // 4), largest, max_rounds - state.rounds)
        state = advance(setting, state, _simulate(setting, state, world, size, rng))
    return state


def _simulate(
    setting: Setting, state: LearnerState, world: _World, n_rounds: int, rng: np.random.Generator
) -> ByRound:
    r"""Cell statistics of the next rounds.

    :math:`Y_c` has mean :math:`N_c \mu_c` and variance :math:`N_c \sigma^2`; if the noise is to
    be estimated, squares within a cell add up to :math:`\sigma^2 \chi^2`, independently.
    """
    observations, information = upcoming(setting.plan, setting.problem, state, n_rounds)
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


def _run_parallel(
    setting: Setting,
    world: _Simulated,
    max_rounds: int,
    generators: list[np.random.Generator],
    jobs: int,
) -> list[tuple[LearnerState, Truth]]:
    try:
        from joblib import Parallel, delayed
    except ImportError as error:
        raise MissingExtra(
            "jobs other than 1 need joblib; install it with: pip install 'edgewise[parallel]'"
        ) from error
    tasks = (delayed(world.run)(setting, max_rounds, stream) for stream in generators)
    return list(Parallel(n_jobs=jobs)(tasks))
