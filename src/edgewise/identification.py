"""The whole method on one screen: ask, deploy, tell, until certified."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from edgewise.base.arrays import Indices
from edgewise.base.border import border
from edgewise.base.randomness import Rng
from edgewise.core.earnings import Earnings
from edgewise.core.ending import Ending
from edgewise.core.gate.options import Gate
from edgewise.core.learner import Learner
from edgewise.core.model.problem import Problem
from edgewise.core.report import Report
from edgewise.core.stopping import StoppingRule
from edgewise.core.strategies import Strategy
from edgewise.core.targets import Target
from edgewise.core.targets.allocation import on_grid
from edgewise.errors import InvalidArgument
from edgewise.progress import ProgressLine, observer_for


@border
def identify(
    problem: Problem,
    environment: Callable[[Indices], ArrayLike],
    *,
    delta: float = 0.05,
    epsilon: float | None = None,
    target: str | Target | None = None,
    strategy: str | Strategy = "adaptive",
    stopping: str | StoppingRule | None = None,
    max_rounds: int = 10**6,
    gate: Gate | None = None,
    trust_model: bool = False,
    robust: bool = False,
    stop_when: Callable[[Earnings], bool] | None = None,
    rng: Rng = None,
    progress: bool | Callable[[Learner], None] | None = None,
) -> Report:
    """Find the best joint arm of ``problem`` by deploying joint arms in ``environment``.

    Parameters
    ----------
    problem
        The graph, the arms and the noise.
    environment
        Called with a joint arm (n,) of arm indices; returns the rewards (m,) in ``graph.arcs``
        order, NaN where a measurement is missing.
    delta, epsilon, target, strategy, stopping, gate, trust_model, robust, rng
        As in :class:`~edgewise.Learner`.
    max_rounds
        Round budget. Spending it is an ending of the report, not an error; so is a tie that would
        take 100 times the rounds so far to break (``Ending.TIED``, with the tolerance that would
        certify now in ``report.tie``); a :class:`~edgewise.Learner` goes on if you do.
    stop_when
        Asked after rounds that grow by a tenth, with the :class:`~edgewise.Earnings` so far: True
        ends the run, uncertified. For example ``lambda now: now.next_rounds < 0.5``.
    progress
        A live line on standard error: True or False; by default if the call lasts longer than a
        few seconds on a terminal or in a notebook. Or a function called with the learner after
        every round.

    Examples
    --------
    >>> import edgewise as ew
    >>> arms, matrix = ew.simulation.paper_instance(dimension=2, omega=1.0)
    >>> problem = ew.Problem(ew.Graph.circle(n_edges=12), arms)
    >>> report = ew.identify(problem, ew.BilinearEnvironment(problem, matrix, rng=1), rng=2)
    >>> report.certified, report.best_pair
    (True, (0, 0))
    """
    if max_rounds < 1:
        raise InvalidArgument(f"max_rounds is {max_rounds}; it must be at least 1")
    learner = Learner(
        problem,
        delta=delta,
        epsilon=epsilon,
        target=target,
        strategy=strategy,
        stopping=stopping,
        gate=gate,
        trust_model=trust_model,
        robust=robust,
        rng=rng,
    )
    observer = observer_for(progress)
    try:
        while learner.ending(max_rounds=max_rounds) is Ending.RUNNING:
            ticket = learner.ask()
            learner.tell(ticket, environment(ticket.arms))
            if observer:
                observer(learner)
            if stop_when is not None and _is_enough(learner, stop_when):
                return replace(learner.report(), ending=Ending.CHOSEN)
    finally:
        if isinstance(observer, ProgressLine):
            observer.close()
    return learner.report(max_rounds=max_rounds)


def _is_enough(learner: Learner, stop_when: Callable[[Earnings], bool]) -> bool:
    """Whether the user stops here; never where the rule has."""
    if learner.ending() is not Ending.RUNNING or not on_grid(np.array([learner.rounds]))[0]:
        return False
    now = learner.earnings()
    return now is not None and bool(stop_when(now))
