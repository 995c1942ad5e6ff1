"""What a repetition is simulated in: cell by cell, round by round, or a system of your own."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from edgewise.base.arrays import Array, Indices
from edgewise.base.randomness import draw_seed
from edgewise.core.ending import Ending
from edgewise.core.evidence.rewards import checked_rewards
from edgewise.core.evidence.statistics import ByRound, CellStatistics
from edgewise.core.learner import advance, ending_after, initial_state, tell_round
from edgewise.core.setting import Setting
from edgewise.core.state import LearnerState
from edgewise.core.strategies.plan import Upcoming, upcoming
from edgewise.core.targets.truth import Truth
from edgewise.core.tie_search import look_for_ties
from edgewise.errors import InvalidArgument
from edgewise.simulation.environment import BilinearEnvironment
from edgewise.simulation.hierarchical import HierarchicalWorld

Deploy: TypeAlias = Callable[[Indices], ArrayLike]
"""A joint arm (n,) in, rewards (m,) out."""

Environment: TypeAlias = Callable[..., Any]
"""``(rng)``, a function or class that makes the system of one repetition; or ``(arms, rng)``, what
a system without memory shows."""

_LARGEST_BLOCK = 256
"""Rounds simulated between two looks at the result; beyond the stop they are thrown away."""

_BLOCK_CELLS = 1 << 20
"""Cells times rounds in a block: bounds the memory."""


class Simulated(Protocol):
    """What a simulation knows and the learner does not."""

    def run(
        self, setting: Setting, max_rounds: int, rng: np.random.Generator
    ) -> tuple[LearnerState, Truth | None]:
        """The end of one repetition, and what was true in it, where that is known."""


@dataclass(frozen=True, eq=False)
class YourWorld:
    """A system that edgewise knows nothing about, made anew for every repetition."""

    make: Callable[[np.random.Generator], Deploy]
    truth: Truth | None

    @classmethod
    def of(cls, environment: Environment, truth: Truth | None) -> YourWorld:
        """From a function or class of a generator, or a function of joint arm and generator."""
        if not callable(environment):
            raise InvalidArgument(
                f"environment is a {type(environment).__name__}; pass a function or class that "
                "takes a generator and makes the system of one repetition, or a function of "
                "(arms, rng)",
                argument="environment",
            )
        return cls(_maker(environment), truth)

    def run(
        self, setting: Setting, max_rounds: int, rng: np.random.Generator
    ) -> tuple[LearnerState, Truth | None]:
        """Deploy and tell until it is over."""
        state = initial_state(setting, draw_seed(rng))
        return live(setting, state, self.make(rng), max_rounds), self.truth


def _maker(environment: Environment) -> Callable[[np.random.Generator], Deploy]:
    """The function that makes the system of a repetition from its generator."""
    needed = [
        parameter.name
        for parameter in inspect.signature(environment).parameters.values()
        if parameter.default is parameter.empty
        and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    ]
    if len(needed) == 2:
        return partial(_without_memory, environment)
    if len(needed) == 1:
        return environment
    raise InvalidArgument(
        f"environment needs {len(needed)} arguments ({', '.join(needed) or 'none'}); it must take "
        "one, a generator, and return a function of the joint arm, or two: (arms, rng). A function "
        "f of the joint arm alone is passed as lambda rng: f",
        argument="environment",
    )


def _without_memory(environment: Environment, rng: np.random.Generator) -> Deploy:
    return lambda arms: environment(arms, rng)


@dataclass(frozen=True, eq=False)
class ByReward:
    """The model round by round, every reward on its own."""

    truth: Truth
    options: dict[str, Any]
    """Of the environment."""
    drawn: dict[str, Any] | None
    """Of the worlds, if each repetition has its own."""

    def run(
        self, setting: Setting, max_rounds: int, rng: np.random.Generator
    ) -> tuple[LearnerState, Truth]:
        """Draw a world if there is none, then every reward."""
        problem, truth = setting.problem, self.truth
        state = initial_state(setting, draw_seed(rng))
        if self.drawn is not None:
            truth = HierarchicalWorld.draw(problem, rng=rng, **self.drawn).truth
        environment = BilinearEnvironment(problem, truth, rng=rng, **self.options)
        return live(setting, state, environment, max_rounds), truth


def live(setting: Setting, state: LearnerState, deploy: Deploy, max_rounds: int) -> LearnerState:
    """The state when it is over: deploy, measure and tell, round by round."""
    for later, _, _ in rounds_of(setting, state, deploy, max_rounds):
        state = later
    return state


def rounds_of(
    setting: Setting, state: LearnerState, deploy: Deploy, max_rounds: int
) -> Iterator[tuple[LearnerState, Indices, Array]]:
    """After every round the state, the joint arm (n,) deployed and the rewards (m,)."""
    problem = setting.problem
    while ending_after(state, max_rounds=max_rounds) is Ending.RUNNING:
        arms = setting.plan.joint_arm(problem, state)
        rewards = checked_rewards(deploy(arms), problem)
        state = tell_round(setting, state, arms, rewards)
        yield state, arms, rewards


@dataclass(frozen=True, eq=False)
class ByCell:
    """Cell by cell: the paper's model."""

    truth: Truth
    means: Array
    """(q, P) true reward of every cell."""
    noise: float

    @classmethod
    def of(cls, setting: Setting, truth: Truth, noise: float) -> ByCell:
        """The cells of the plan under the truth."""
        return cls(truth, setting.plan.cells.averages(truth.tables), noise)

    def run(
        self, setting: Setting, max_rounds: int, rng: np.random.Generator
    ) -> tuple[LearnerState, Truth]:
        """In blocks of rounds that grow with the run."""
        state = initial_state(setting, draw_seed(rng))
        largest = min(_LARGEST_BLOCK, max(1, _BLOCK_CELLS // self.means.size))
        while ending_after(state, max_rounds=max_rounds) is Ending.RUNNING:
            size = min(max(1, state.rounds // 4), largest, max_rounds - state.rounds)
            ahead = upcoming(setting.plan, setting.problem, state, size)
            rounds = self._simulate(setting, ahead, rng)
            state = advance(setting, replace(state, deployed=ahead.deployed), rounds)
            state = look_for_ties(setting, state)
        return state, self.truth

    def _simulate(self, setting: Setting, ahead: Upcoming, rng: np.random.Generator) -> ByRound:
        r"""Cell statistics of the next rounds.

        :math:`Y_c` has mean :math:`N_c \mu_c` and variance :math:`N_c \sigma^2`; if the noise is
        to be estimated, squares within a cell add up to :math:`\sigma^2 \chi^2`, independently.
        """
        observations, information, _ = ahead
        rewards = rng.standard_normal(information.shape)
        rewards *= self.noise * np.sqrt(information)
        rewards += information * self.means
        if setting.problem.noise != "estimate":
            unrecorded = np.broadcast_to(np.nan, information.shape)
            return CellStatistics(observations, information, rewards, unrecorded)
        seen = observations > 0
        squares = np.zeros(information.shape)
        within = 2.0 * rng.standard_gamma(0.5 * (observations[seen] - 1))
        squares[seen] = rewards[seen] ** 2 / information[seen] + self.noise**2 * within
        return CellStatistics(observations, information, rewards, squares)
