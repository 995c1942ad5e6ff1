"""One run, round by round."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from edgewise.base.arrays import Array, Indices, frozen
from edgewise.base.border import border
from edgewise.base.extras import required
from edgewise.base.randomness import Rng, draw_seed, generator
from edgewise.core.ending import Ending
from edgewise.core.learner import ending_after, initial_state
from edgewise.core.model.problem import Problem
from edgewise.core.setting import Setting
from edgewise.core.stopping import StoppingRule
from edgewise.core.strategies import Strategy
from edgewise.core.targets import Target
from edgewise.errors import InvalidArgument
from edgewise.simulation.worlds import Deploy, rounds_of

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Trace:
    """What was deployed and seen in each round of a run, and what was thought after it."""

    arms: Indices
    """(T, n) joint arms."""
    rewards: Array
    """(T, m) NaN where missing."""
    progress: Array
    """(T,) how far the closest rival is beaten; the rule stops at 1."""
    leaders: tuple[tuple[tuple[int, int], ...], ...]
    """(T,) the leading pair of every kind after the round; empty while not estimable."""
    phases: NDArray[np.int64]
    """(T,) the phase of each round, 0 for the first."""
    ending: Ending

    def __len__(self) -> int:
        return len(self.arms)

    @property
    def totals(self) -> Array:
        """(T,) sum of the rewards that arrived."""
        return np.asarray(np.nansum(self.rewards, axis=1))

    def to_frame(self) -> pd.DataFrame:
        """One row per round: phase, total, rewards missing, progress, leader."""
        pd = required("pandas", "a frame needs pandas", "pandas")
        columns = {
            "phase": self.phases,
            "total": self.totals,
            "missing": np.isnan(self.rewards).sum(axis=1),
            "progress": self.progress,
            "leader": list(self.leaders),
        }
        return pd.DataFrame(columns, index=pd.RangeIndex(1, len(self) + 1, name="round"))


@border
def trace(
    problem: Problem,
    environment: Deploy,
    *,
    strategy: str | Strategy = "adaptive",
    stopping: str | StoppingRule | None = None,
    delta: float = 0.05,
    epsilon: float | None = None,
    target: str | Target | None = None,
    max_rounds: int = 10**4,
    rng: Rng = None,
) -> Trace:
    """One run of the method in ``environment``, with everything that happened in it.

    The rounds are those of :func:`edgewise.identify` with the same options and ``rng``.

    >>> import edgewise as ew
    >>> problem = ew.Problem(ew.Graph.circle(n_nodes=6), np.eye(2), noise=0.5)
    >>> world = ew.BilinearEnvironment(problem, [[2.0, 0.0], [0.0, 1.0]], rng=1)
    >>> run = trace(problem, world, rng=0)
    >>> run.ending.name, run.leaders[-1]
    ('CERTIFIED', ((0, 0),))
    """
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
    state = initial_state(setting, draw_seed(generator(rng)))
    phases, taken = [], []
    for later, arms, rewards in rounds_of(setting, state, environment, max_rounds):
        phases.append(len(state.closed))
        taken.append((arms, rewards, later.verdict))
        state = later
    return Trace(
        arms=frozen([arms for arms, _, _ in taken], np.int32),
        rewards=frozen([rewards for _, rewards, _ in taken], float),
        progress=frozen([verdict.progress for _, _, verdict in taken], float),
        leaders=tuple(verdict.pairs for _, _, verdict in taken),
        phases=np.array(phases),
        ending=ending_after(state, max_rounds=max_rounds),
    )
