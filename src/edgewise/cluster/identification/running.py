"""Round after round on a partitioned graph, each kept in a file when it is closed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from edgewise.base.border import border
from edgewise.base.checks import reading, table
from edgewise.base.randomness import Rng
from edgewise.cluster.engine import working_on
from edgewise.cluster.identification.learning import PartitionedLearner
from edgewise.cluster.identification.rounds import Environment
from edgewise.core.ending import Ending
from edgewise.core.model.problem import Problem
from edgewise.core.report import Report
from edgewise.core.stopping import StoppingRule
from edgewise.core.strategies import Strategy
from edgewise.errors import InvalidArgument
from edgewise.progress import ProgressLine
from edgewise.writing import write_text


@border
def identify(
    problem: Problem,
    environment: Callable[..., Any],
    *,
    delta: float = 0.05,
    epsilon: float | None = None,
    strategy: str | Strategy = "contrast",
    stopping: str | StoppingRule | None = None,
    target: str = "pair",
    max_rounds: int = 10**6,
    rng: Rng = None,
    dask: Any = None,
    checkpoint: str | Path | None = None,
    progress: bool | Callable[[PartitionedLearner], None] = False,
) -> Report:
    """Find the best pair of arms of a partitioned graph, and allocate it.

    Parameters
    ----------
    problem, delta, epsilon, strategy, stopping, target, rng
        As in :class:`PartitionedLearner`.
    environment
        Called where a partition lies, with a :class:`Share`: its edges, the joint arm, the round;
        returns the rewards of its arcs, NaN where missing. Or :class:`MeasuredRewards`.
    max_rounds
        Round budget. Spending it is an ending of the report, not an error.
    dask
        The address of a scheduler, ``"local"``, a client; None to work in this process.
    checkpoint
        A file that holds the learner after every closed round. If it is there at the start, the
        run goes on from it: after a scheduler was lost, call the same again.
    progress
        True: a live line on standard error. Or a function called with the learner after rounds.
    """
    if max_rounds < 1:
        raise InvalidArgument(f"max_rounds is {max_rounds}; it must be at least 1")
    options: dict[str, Any] = {"delta": delta, "epsilon": epsilon, "rng": rng}
    options |= {"strategy": strategy, "stopping": stopping, "target": target}
    with working_on(dask) as engine:
        learner = begin(problem, checkpoint, dask=engine, **options)
        proceed(learner, environment, max_rounds, checkpoint, progress)
        return learner.report(max_rounds=max_rounds)


def begin(problem: Problem, checkpoint: str | Path | None, **options: Any) -> PartitionedLearner:
    """A learner as its checkpoint has it, or a new one; ``options`` are those of the learner.

    Raises InvalidArgument if the checkpoint was begun with others.
    """
    fresh = PartitionedLearner(problem, **options)
    if checkpoint is None or not Path(checkpoint).exists():
        return fresh
    with reading("checkpoint"):
        saved = table("checkpoint", json.loads(Path(checkpoint).read_text("utf-8")))
    learner = PartitionedLearner.restore(problem, saved, dask=options.get("dask"))
    same_seed = options.get("rng") is None or fresh.state.seed == learner.state.seed
    if not same_seed or _setting_of(fresh) != _setting_of(learner):
        raise InvalidArgument(
            f"{checkpoint}: it was begun with another seed, strategy, rule, delta or epsilon; "
            "pass the same to go on, or name another file",
            argument="checkpoint",
        )
    return learner


def proceed(
    learner: PartitionedLearner,
    environment: Environment,
    max_rounds: int,
    checkpoint: str | Path | None = None,
    progress: bool | Callable[[PartitionedLearner], None] = False,
    *,
    ready: Callable[[int], bool] | None = None,
) -> None:
    """Rounds until it is over; with ``ready`` while it says so of the next round."""
    observer: Any = ProgressLine() if progress is True else progress
    try:
        while learner.ending(max_rounds=max_rounds) is Ending.RUNNING:
            if ready is not None and not ready(learner.rounds + 1):
                break
            learner.run_round(environment)
            if checkpoint is not None:
                write_text(checkpoint, _as_json(learner.save()))
            if observer:
                observer(learner)
    finally:
        if isinstance(observer, ProgressLine):
            observer.close()


def _setting_of(learner: PartitionedLearner) -> str:
    return _as_json(learner.save()["setting"])


def _as_json(tree: Any) -> str:
    """Arrays as lists; floats come back with the same bits."""
    return json.dumps(tree, default=lambda array: array.tolist())
