"""What demos of simulated systems share: the run with its progress, rivals, and the answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from edgewise.cli.terminal.shell import Output, note
from edgewise.errors import MissingExtra

if TYPE_CHECKING:
    from edgewise.core.learner import Learner
    from edgewise.core.strategies import Strategy
    from edgewise.integrations.gains import Outcome
    from edgewise.integrations.running import Exploration, System, Trail
    from edgewise.trial import TrialReport

_MARKS = 12
"""Points of the curves of gain against rounds."""


def explored(
    system: System, strategy: Strategy, *, rounds: int, seed: int, shown: Callable[[float], str]
) -> Exploration:
    """A run of edgewise with a line of progress; ``shown`` says what a worth is."""
    from edgewise.integrations.running import explore
    from edgewise.progress import ProgressLine

    worths: list[float] = []
    progress = ProgressLine(line=lambda learner: _line(learner, rounds, worths, shown))

    def watch(learner: Learner, measured: float) -> None:
        worths.append(measured)
        progress(learner)

    marks = np.unique(np.linspace(2, rounds, _MARKS).astype(int)).tolist()
    run = explore(system, strategy, marks=marks, rng=seed, watch=watch)
    progress.close()
    return run


def _line(learner: Learner, rounds: int, worths: list[float], shown: Callable[[float], str]) -> str:
    filled = round(24 * learner.rounds / rounds)
    return (
        f"[{'#' * filled}{'.' * (24 - filled)}] round {learner.rounds} of {rounds}  "
        f"{shown(worths[-1])}  best so far {shown(max(worths))}"
    )


def tried(
    rivals: Mapping[str, Callable[..., Trail]], system: System, marks: Iterable[int], seed: int
) -> list[Trail]:
    """What other methods make of as many rounds; one whose library is missing is left out."""
    note(f"trying {', '.join(rivals)} for comparison")
    trails, rounds = [], list(marks)
    for name, rival in rivals.items():
        try:
            trails.append(rival(system, marks=rounds, rng=seed))
        except MissingExtra as error:
            note(f"{name} is left out: {error}")
    return trails


def graded_answer(
    outcome: Outcome, trial: TrialReport, *, worth: str, ceiling: str, system: str, today: str
) -> Output:
    """Gains in a table and as facts, and in words what exploring cost and what a trial says.

    ``worth`` and ``ceiling`` name the columns of worths and of shares, ``system`` and ``today``
    what is talked about.
    """
    from edgewise.integrations.confirming import advice
    from edgewise.integrations.gains import explain
    from edgewise.trial import TrialEnding

    columns = ("setting", worth, "gain", ceiling)
    rows = [
        (name, value, f"{gain:+.2%}", "" if share is None else f"{share:.1%}")
        for name, value, gain, share in outcome.rows(today)
    ]
    facts = outcome.facts | {
        "measured_gain": outcome.gained(trial.difference),
        "measured_gain_interval": [outcome.gained(end) for end in trial.interval],
        "confirmed": trial.ending is TrialEnding.BETTER,
    }
    said = explain(outcome, system, today)
    text = f"{said}\n{advice(trial, outcome.expected, outcome.gained)}"
    return Output(facts, "settings", columns, rows, text=text)
