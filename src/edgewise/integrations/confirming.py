"""Is the recommended joint arm really better than today's? Measured in pairs, without a model."""

from __future__ import annotations

from collections.abc import Callable

from numpy.typing import ArrayLike

from edgewise.base.randomness import Rng, draw_seed, generator
from edgewise.integrations.running import System, measured_totals
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
        totals, _ = measured_totals(system, ticket.arms[None], random)
        trial.tell(ticket, float(totals[0]))
    return trial.report()


def advice(trial: TrialReport, expected: float, gained: Callable[[float], float]) -> str:
    """What to do, in words; ``expected`` is the model's gain, as a share of today's worth.

    ``gained`` makes such a share of a difference of totals
    (:func:`~edgewise.integrations.running.gain_of`). Nothing is changed unless the measurement
    says that it helps.
    """
    if trial.ending is TrialEnding.SAME:
        return "The recommended setting is today's: keep today's setting."
    low, high = (gained(end) for end in trial.interval)
    found = (
        f"{trial.pairs} randomised pairs measured a gain of {gained(trial.difference):+.1%} (95 %: "
        f"{low:+.1%} to {high:+.1%}), expected {expected:+.1%}: "
    )
    if trial.ending is TrialEnding.BETTER:
        return f"{found}confirmed, use the recommended setting."
    if trial.ending is TrialEnding.WORSE:
        return f"{found}contradicted, keep today's setting."
    return f"{found}not decided, keep today's setting or measure more pairs."
