"""Many independent runs of the method, simulated cell by cell or round by round."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from edgewise.base.arrays import Mask
from edgewise.base.border import border
from edgewise.base.randomness import Rng, generator
from edgewise.core.gate.options import Gate
from edgewise.core.model.problem import Problem
from edgewise.core.setting import Setting
from edgewise.core.state import LearnerState
from edgewise.core.stopping import StoppingRule
from edgewise.core.strategies import Strategy
from edgewise.core.targets import Target
from edgewise.core.targets.truth import Truth
from edgewise.errors import InvalidArgument, MissingExtra
from edgewise.live import counted
from edgewise.simulation.environment import Law
from edgewise.simulation.worlds import ByCell, ByReward, Environment, Simulated, YourWorld


@dataclass(frozen=True, eq=False)
class Replications:
    """What happened in each repetition."""

    rounds: NDArray[np.int64]
    """(repetitions,) rounds used."""
    certified: Mask
    """Whether the rule stopped, rather than the round limit or for lack of use of more rounds."""
    judged: Mask | None
    """:attr:`correct`, or None where nobody knows the truth."""
    contradicted: Mask = field(default_factory=lambda: np.zeros(0, np.bool_))
    """Whether the gate spoke (:class:`~edgewise.Gate`), of every run; empty if none was asked."""

    @classmethod
    def joined(cls, batches: Sequence[Replications]) -> Replications:
        """The repetitions of several calls, one after the other."""
        known = [batch.judged for batch in batches if batch.judged is not None]
        return cls(
            np.concatenate([batch.rounds for batch in batches]),
            np.concatenate([batch.certified for batch in batches]),
            np.concatenate(known) if len(known) == len(batches) else None,
            np.concatenate([batch.contradicted for batch in batches]),
        )

    @property
    def correct(self) -> Mask:
        """(repetitions,) whether the answer is truly as good as certified.

        The leading pair of every kind is within epsilon of the best, or the joint arm within its
        regret bound of the best.
        """
        if self.judged is None:
            raise InvalidArgument(
                "whether an answer is right is not known of an environment of your own; pass its "
                "matrix beside it, if it has one"
            )
        return self.judged

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
            f"{int(self.certified.sum())} certified"
            + (")" if self.judged is None else f", {self.errors} wrong)")
        )


@border
def replicate(
    problem: Problem,
    matrix: ArrayLike | None = None,
    *,
    repetitions: int,
    environment: Environment | None = None,
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
    gate: Gate | None = None,
    stop_at_ties: bool = False,
    max_rounds: int = 10**6,
    rng: Rng = None,
    jobs: int = 1,
    progress: bool | None = None,
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
    :class:`~edgewise.simulation.HierarchicalWorld`. A ``gate`` looks at single rewards: with one,
    rounds are simulated one by one; without, the model is trusted. With ``stop_at_ties`` a run ends
    where :func:`~edgewise.identify` would (``Ending.TIED``); by default runs go on, since how many
    rounds the method takes is what is asked. A line counts the runs on a terminal and in a notebook
    when it takes some seconds (``progress``: at once, or never). The other options are those of
    :class:`~edgewise.Learner`.

    ``environment`` is a system of your own instead: a function or class that takes the generator
    of a repetition and returns a function from joint arms to rewards, or a function of
    ``(arms, rng)``. A ``matrix`` beside it is taken for its truth.

    >>> from edgewise import Graph, Problem
    >>> problem = Problem(Graph.circle(n_nodes=6), np.eye(2), noise=0.5)
    >>> replicate(problem, [[2.0, 0.0], [0.0, 1.0]], repetitions=20, rng=0).errors
    0
    >>> def counted(arms, rng):  # every arc earns 1 if its nodes agree
    ...     return (arms[problem.graph.arcs[:, 0]] == arms[problem.graph.arcs[:, 1]]) * 1.0
    >>> replicate(problem, environment=counted, repetitions=2, max_rounds=3, rng=0)
    Replications(2 runs, 3 rounds on average, 0 certified)
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
        gate=gate,
        trust_model=gate is None,
    )
    setting = replace(setting, ties=bool(stop_at_ties))
    own_options = {"levels": levels, "round_levels": round_levels, "noise": noise, "law": law}
    truth = None if matrix is None else Truth.of(problem, matrix, beta, own)
    world: Simulated
    if environment is not None:
        _refuse_ours(**own_options, spread=spread)
        world = YourWorld.of(environment, truth)
    elif truth is None:
        raise InvalidArgument(
            "nothing to simulate; pass the true matrix, or an environment of your own",
            argument="matrix",
        )
    elif gate is None and _is_usual(levels, round_levels, spread, law, problem, truth):
        world = ByCell.of(setting, truth, problem.stated_noise if noise is None else noise)
    else:
        drawn = {"matrix": matrix, "spread": spread, "beta": beta, "own": own} if spread else None
        world = ByReward(truth, own_options, drawn)
    generators = generator(rng).spawn(repetitions)
    ends: Iterable[tuple[LearnerState, Truth | None]] = (
        (world.run(setting, max_rounds, stream) for stream in generators)
        if jobs == 1
        else _run_parallel(setting, world, max_rounds, generators, jobs)
    )
    finals = list(counted(ends, partial(_so_far, total=repetitions), progress=progress))
    return Replications(
        rounds=np.array([final.rounds for final, _ in finals]),
        certified=np.array(
            [final.verdict.stop and not final.contradictions for final, _ in finals]
        ),
        judged=_correct(setting, finals),
        contradicted=np.array([bool(final.contradictions) for final, _ in finals if gate], bool),
    )


def _so_far(finals: list[tuple[LearnerState, Truth | None]], *, total: int) -> str:
    rounds = sum(final.rounds for final, _ in finals) / len(finals)
    return f"run {len(finals)} of {total}, {rounds:.4g} rounds on average"


def _is_usual(
    levels: ArrayLike | None,
    round_levels: float,
    spread: float,
    law: str | Law,
    problem: Problem,
    truth: Truth,
) -> bool:
    """Whether sums per cell have the law of sums of single rewards."""
    usual = (
        levels is None
        and round_levels == 0
        and spread == 0
        and not problem.is_bernoulli
        and isinstance(law, str)
        and law == "gaussian"
    )
    return usual and problem.is_plain and truth.has_kinds_of(problem)


def _refuse_ours(**options: Any) -> None:
    """Raise if an option of our own environment is given beside one of the user's."""
    usual = {"levels": None, "round_levels": 0.0, "noise": None, "law": "gaussian", "spread": 0.0}
    for name, value in options.items():
        if not (np.ndim(value) == 0 and value == usual[name]):
            raise InvalidArgument(
                f"{name} belongs to the simulated model and would be ignored beside an environment "
                "of your own; leave it out, or build it into the environment",
                argument=name,
            )


def _correct(setting: Setting, finals: list[tuple[LearnerState, Truth | None]]) -> Mask | None:
    known = [(state, truth) for state, truth in finals if truth is not None]
    if len(known) < len(finals):
        return None
    return np.array([setting.target.is_correct(setting, *final) for final in known])


def _run_parallel(
    setting: Setting,
    world: Simulated,
    max_rounds: int,
    generators: list[np.random.Generator],
    jobs: int,
) -> Iterable[tuple[LearnerState, Truth | None]]:
    """As they come, in the order of the generators."""
    try:
        from joblib import Parallel, delayed
    except ImportError as error:
        raise MissingExtra(
            "jobs other than 1 need joblib; install it with: pip install 'edgewise[parallel]'"
        ) from error
    tasks = (delayed(world.run)(setting, max_rounds, stream) for stream in generators)
    ends: Iterable[tuple[LearnerState, Truth | None]] = Parallel(
        n_jobs=jobs, return_as="generator"
    )(tasks)
    return ends
