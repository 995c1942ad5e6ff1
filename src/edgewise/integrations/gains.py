"""How much better than today a method made the system, and what its rounds cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from edgewise.base.arrays import Array, Indices, frozen
from edgewise.integrations.running import Exploration, System, Trail, gain_of
from edgewise.plots.curves import Curve, CurvesData


@dataclass(frozen=True, eq=False)
class Course:
    """Gains over today, as shares of today's worth, without noise."""

    name: str
    marks: Indices
    """(M,) rounds."""
    gains: Array
    """(M,) of what was recommended after so many rounds."""
    exploring: Array
    """(R,) worth of every round that was deployed, as a share of today's."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "marks", frozen(self.marks, np.int64))
        object.__setattr__(self, "gains", frozen(self.gains, float))
        object.__setattr__(self, "exploring", frozen(self.exploring, float))

    @property
    def gain(self) -> float:
        """Of the last answer."""
        return float(self.gains[-1])


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a run of edgewise on a simulated system came to, beside what others make of it."""

    today: float
    """Worth of today's joint arm."""
    courses: tuple[Course, ...]
    """The first is edgewise's."""
    expected: float
    """Gain over today that the model expects, as a share of today's worth."""
    interval: tuple[float, float]
    """The middle 90 % of its posterior: what the rounds leave open if effects add up, as the model
    takes for granted."""
    gained: Callable[[float], float]
    """What a change of the measured total is, as a share of today's worth."""
    optimiser: tuple[str, float] | None = None
    """Name and gain of an optimiser that knows the simulator."""

    @property
    def edgewise(self) -> Course:
        """The course of edgewise."""
        return self.courses[0]

    @property
    def share(self) -> float | None:
        """Gain as a share of the optimiser's; None without one, or if it gains nothing."""
        if self.optimiser is None or self.optimiser[1] <= 0.0:
            return None
        return self.edgewise.gain / self.optimiser[1]

    @property
    def facts(self) -> dict[str, Any]:
        """By name: gains and worth while exploring, as shares of today's."""
        return {
            "gain": self.edgewise.gain,
            "optimiser_gain": None if self.optimiser is None else self.optimiser[1],
            "share": self.share,
            "exploring_mean": float(self.edgewise.exploring.mean()),
            "exploring_lowest": float(self.edgewise.exploring.min()),
            "expected_gain": self.expected,
            "expected_gain_interval": list(self.interval),
        }

    def rows(self, today: str) -> list[tuple[str, float, float, float | None]]:
        """Name, worth, gain and share of the optimiser's gain; ``today`` is called so."""
        named = [(today, 0.0), *((course.name, course.gain) for course in self.courses)]
        best = self.optimiser
        if best is not None:
            named.append(best)
        scale = best[1] if best is not None and best[1] > 0 else None
        return [
            (name, self.today * (1.0 + gain), gain, None if scale is None else gain / scale)
            for name, gain in named
        ]


def outcome_of(
    system: System,
    run: Exploration,
    *,
    rivals: Sequence[Trail] = (),
    optimiser: tuple[str, float] | None = None,
) -> Outcome:
    """Grade a run by the simulator, without noise."""
    today = system.worths(system.means(system.today[None]).sum(axis=1))
    gained = partial(gain_of, system)
    low, high = (gained(end) for end in run.estimate.interval(system.today))
    return Outcome(
        float(today[0]),
        graded(system, [run.trail, *rivals]),
        gained(run.estimate.gain(system.today)[0]),
        (low, high),
        gained,
        optimiser,
    )


def graded(system: System, trails: Sequence[Trail]) -> tuple[Course, ...]:
    """What the system really gives for what methods recommended, in one call of the simulator."""
    answers = np.vstack([system.today[None], *(trail.recommended for trail in trails)])
    today, *worths = system.worths(system.means(answers).sum(axis=1))
    parts = np.split(np.array(worths), np.cumsum([len(trail.marks) for trail in trails])[:-1])
    return tuple(
        Course(trail.name, trail.marks, part / today - 1.0, trail.worths / today)
        for trail, part in zip(trails, parts, strict=True)
    )


def gains_data(
    courses: Sequence[Course], reference: tuple[str, float] | None = None, *, today: str = "today"
) -> CurvesData:
    """Gain over ``today`` against rounds, in percent, one curve per method.

    ``reference`` is a line across.
    """
    curves = tuple(
        Curve.exact(
            course.name,
            np.concatenate([[0], course.marks]),
            100 * np.concatenate([[0.0], course.gains]),
        )
        for course in courses
    )
    ends = np.array([0, max(course.marks[-1] for course in courses)])
    lines = () if reference is None else (_level(reference, ends),)
    return CurvesData(
        "rounds", f"gain over {today} (%)", curves, references=lines, log_x=False, log_y=False
    )


def _level(reference: tuple[str, float], ends: Indices) -> Curve:
    name, gain = reference
    return Curve.exact(name, ends, np.full(2, 100 * gain))


def explain(outcome: Outcome, system: str, today: str) -> str:
    """What exploring cost, what is expected, and what it rests on; the system is called so."""
    course, (low, high) = outcome.edgewise, outcome.interval
    return "\n".join(
        [
            f"While exploring, {len(course.exploring)} rounds, {system} gave "
            f"{course.exploring.mean():.1%} of its worth at {today} on average and "
            f"{course.exploring.min():.1%} at the lowest.",
            f"The model expects a gain of {outcome.expected:.1%} over {today} (90 % if effects add "
            f"up: {low:.1%} to {high:.1%}), estimated, not proved; the simulator, without noise, "
            f"says {course.gain:.1%}.",
        ]
    )
