"""Is the recommended joint arm really better than today's? Measured in pairs, without a model."""

from __future__ import annotations

from numpy.typing import ArrayLike

from edgewise.base.randomness import Rng, draw_seed, generator
from edgewise.integrations.running import System, measured
from edgewise.trial import Trial, TrialEnding, TrialReport


def confirm(system: System, arms: ArrayLike, *, pairs: int = 10, rng: Rng = None) -> TrialReport:
    """Measure a joint arm against today's in randomised pairs, until that is decided."""
    random = generator(rng)
    trial = Trial(
        system.problem,
        baseline=system.today,
        candidate=arms,
        max_pairs=pairs,
        rng=draw_seed(random),
    )
    while not trial.stopped:
        ticket = trial.ask()
        numbers, _ = measured(system, ticket.arms[None], random)
        trial.tell(ticket, float(numbers.sum()))
    return trial.report()


def advice(trial: TrialReport, expected: float, today: float) -> str:
    """What to do, in words; ``expected`` is the model's gain, ``today`` the worth it is a share of.

    Nothing is changed unless the measurement says that it helps.
    """
    if trial.ending is TrialEnding.SAME:
        return "The recommended setting is today's: keep today's setting."
    (low, high), gain = trial.interval, trial.difference / today
    found = (
        f"{trial.pairs} randomised pairs measured a gain of {gain:+.1%} (95 %: {low / today:+.1%} "
        f"to {high / today:+.1%}), expected {expected:+.1%}: "
    )
    if trial.ending is TrialEnding.BETTER:
        return f"{found}confirmed, use the recommended setting."
    if trial.ending is TrialEnding.WORSE:
        return f"{found}contradicted, keep today's setting."
    return f"{found}not decided, keep today's setting or measure more pairs."
