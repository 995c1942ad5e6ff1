"""What happens round by round: an observer for ``identify(progress=...)``."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from edgewise.base.arrays import Array, Indices, frozen
from edgewise.core.learner import Learner
from edgewise.errors import InvalidArgument

_ERROR_SPACING = 1.1
"""Ratio of successive rounds at which the error is measured: an estimate costs a whole report."""


@dataclass(frozen=True, eq=False)
class ConvergenceData:
    """How the stopping margin and the estimate moved."""

    rounds: Indices
    """(T,) rounds looked at."""
    progress: Array
    """(T,) strength of the evidence against the closest rival; the rule stops at 1."""
    leaders: tuple[tuple[tuple[int, int], ...], ...]
    """(T,) leading pair of every edge kind; empty while not estimable."""
    stopped: bool
    error_rounds: Indices
    """(E,) rounds at which the estimate was compared with the truth."""
    errors: Array
    """(E,) Frobenius norm of estimate minus truth, relative to the truth's (absolute if 0)."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "rounds", frozen(self.rounds, np.int64))
        object.__setattr__(self, "progress", frozen(self.progress, float))
        object.__setattr__(self, "error_rounds", frozen(self.error_rounds, np.int64))
        object.__setattr__(self, "errors", frozen(self.errors, float))

    @property
    def leader_changes(self) -> Indices:
        """Rounds at which another pair took the lead."""
        pairs = list(zip(self.leaders[:-1], self.leaders[1:], strict=True))
        changed = [i + 1 for i, (before, after) in enumerate(pairs) if before != after and before]
        return self.rounds[changed]


class ConvergenceTrace:
    """Records a run: pass it as ``identify(..., progress=trace)``, then read ``trace.data()``.

    Parameters
    ----------
    matrix
        The true M, (d, d) or (q, d, d), if known: the error of the estimate is then measured
        too, after rounds that grow by a tenth. Of an undirected graph's M only the symmetric part
        can be learnt, so only that is compared.

    Examples
    --------
    >>> import edgewise as ew
    >>> arms, matrix = ew.simulation.paper_instance(dimension=2, omega=1.0)
    >>> problem = ew.Problem(ew.Graph.circle(n_edges=12), arms)
    >>> trace = ConvergenceTrace(matrix)
    >>> environment = ew.BilinearEnvironment(problem, matrix, rng=1)
    >>> report = ew.identify(problem, environment, rng=2, progress=trace)
    >>> trace.data().stopped, len(trace.data().rounds) == report.rounds
    (True, True)
    """

    def __init__(self, matrix: ArrayLike | None = None) -> None:
        self._truth = None if matrix is None else np.asarray(matrix, dtype=float)
        self._rounds: list[int] = []
        self._progress: list[float] = []
        self._leaders: list[tuple[tuple[int, int], ...]] = []
        self._error_rounds: list[int] = []
        self._errors: list[float] = []
        self._next_error = 1
        self._stopped = False

    def __call__(self, learner: Learner) -> None:
        """Record the state after a round."""
        verdict = learner.verdict
        self._rounds.append(learner.rounds)
        self._progress.append(verdict.progress)
        self._leaders.append(verdict.pairs)
        self._stopped = verdict.stop
        due = learner.rounds >= self._next_error or verdict.stop
        if self._truth is not None and due and verdict.pairs:
            self._error_rounds.append(learner.rounds)
            self._errors.append(_relative_error(learner, self._truth))
            self._next_error = math.ceil(_ERROR_SPACING * learner.rounds)

    def data(self) -> ConvergenceData:
        """What was recorded so far."""
        if not self._rounds:
            raise InvalidArgument(
                "the trace is empty; it records rounds as they are told: pass it as "
                "identify(..., progress=trace), or call it with the learner after every tell"
            )
        return ConvergenceData(
            np.array(self._rounds),
            np.array(self._progress),
            tuple(self._leaders),
            self._stopped,
            np.array(self._error_rounds, np.int64),
            np.array(self._errors, float),
        )


def _relative_error(learner: Learner, truth: Array) -> float:
    if not learner.problem.graph.directed:
        truth = 0.5 * (truth + truth.swapaxes(-1, -2))
    estimate = learner.report().matrix
    if estimate.shape != truth.shape:
        raise InvalidArgument(
            f"the true matrix has shape {truth.shape}, the estimate {estimate.shape}; pass M as "
            "the simulated environment has it"
        )
    size = float(np.linalg.norm(truth))
    return float(np.linalg.norm(estimate - truth)) / (size or 1.0)
