"""How good the answer is, what exploring cost, and how far the model is from FLORIS."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from edgewise.allocation.instance.objective import global_reward
from edgewise.base.arrays import Array, Indices
from edgewise.base.choice import pick
from edgewise.core.report import Report
from edgewise.errors import InvalidArgument
from edgewise.integrations.floris.environment import FlorisEnvironment
from edgewise.integrations.floris.simulator import Simulator
from edgewise.integrations.floris.yaw import YawTask


@dataclass(frozen=True, eq=False)
class YawSetting:
    """Yaw angles and the power they give in FLORIS, without noise."""

    name: str
    yaws: Array
    """(n,) degrees."""
    power: float
    """Megawatts of the farm."""


@dataclass(frozen=True)
class Exploration:
    """Farm power during the rounds, relative to zero yaw."""

    mean: float
    lowest: float
    rounds: int


@dataclass(frozen=True)
class ModelFit:
    """Share of the variation of the true power that the fitted model explains, in fresh settings.

    Variation of a turbine's power is counted around the mean of its kind of edge, that of the farm
    around its mean.
    """

    per_turbine: float
    farm: float
    settings: int


@dataclass(frozen=True, eq=False)
class YawComparison:
    """The answer beside simple rules, and beside an optimiser that knows the wake model."""

    settings: tuple[YawSetting, ...]
    """The first is zero yaw."""
    exploration: Exploration
    fit: ModelFit

    def __getitem__(self, name: str) -> YawSetting:
        """The setting of that name."""
        return pick("setting", name, {setting.name: setting for setting in self.settings})

    def gain(self, name: str) -> float:
        """Relative gain over zero yaw."""
        return self[name].power / self.settings[0].power - 1.0


def compare(
    environment: FlorisEnvironment,
    report: Report,
    *,
    optimiser: bool = True,
    fresh: int = 100,
    rng: np.random.Generator | int | None = None,
) -> YawComparison:
    """Grade a report by FLORIS itself.

    Parameters
    ----------
    environment
        The farm that was measured, with its record.
    report
        What was found.
    optimiser
        Also run FLORIS' own optimiser within the same range of angles (seconds to minutes).
    fresh
        Settings, drawn evenly from the candidates, on which the model is tested.
    rng
        Draws them.
    """
    if report.allocation is None or not environment.record:
        raise InvalidArgument(
            "the report has no allocation, so there is nothing to compare; run more rounds"
        )
    task, simulator = environment.task, environment.simulator
    n = task.farm.n_turbines
    choices = [("zero yaw", np.zeros(n)), *_common(task, simulator)]
    measured = [deployment.measured.sum() for deployment in environment.record]
    choices.append(("best seen", environment.record[int(np.argmax(measured))].yaws))
    choices.append(("edgewise", task.yaws(report.allocation.arms)))
    if optimiser:
        reach = float(np.abs(task.angles).max())
        choices.append(("FLORIS optimiser", simulator.optimised(-reach, reach)))
    powers = simulator.farm_power(np.array([yaws for _, yaws in choices]))
    settings = tuple(
        YawSetting(name, yaws, float(power))
        for (name, yaws), power in zip(choices, powers, strict=True)
    )
    during = np.array([deployment.powers.sum() for deployment in environment.record]) / powers[0]
    return YawComparison(
        settings,
        Exploration(float(during.mean()), float(during.min()), len(during)),
        model_fit(task, report, simulator, n_settings=fresh, rng=rng),
    )


def model_fit(
    task: YawTask,
    report: Report,
    simulator: Simulator,
    *,
    n_settings: int = 100,
    rng: np.random.Generator | int | None = None,
) -> ModelFit:
    """Compare the report's estimates with FLORIS on settings drawn evenly from the candidates."""
    problem, random = task.problem, np.random.default_rng(rng)
    masks, groups = problem.candidate_sets
    arms = np.column_stack(
        [random.choice(np.flatnonzero(masks[group]), size=n_settings) for group in groups]
    )
    powers = simulator.powers(task.yaws(arms))
    edges, kinds = problem.graph.edges, task.kinds
    predicted = report.tables[kinds, arms[:, edges[:, 0]], arms[:, edges[:, 1]]]
    own = np.arange(task.farm.n_turbines)  # the edges whose reward is a single turbine's power
    residual = task.rewards(powers)[:, own] - predicted[:, own]
    totals = np.array([global_reward(problem.graph, report.tables, joint) for joint in arms])
    farm = powers.sum(axis=1)
    error = (farm - farm.mean()) - (totals - totals.mean())
    return ModelFit(
        per_turbine=1.0 - float((residual**2).sum() / _variation(task, powers, own, kinds)),
        farm=1.0 - float((error**2).sum() / ((farm - farm.mean()) ** 2).sum()),
        settings=n_settings,
    )


def _variation(task: YawTask, powers: Array, own: Indices, kinds: Indices) -> float:
    """Sum of squares of the rewards of single turbines around the mean of their kind."""
    rewards = task.rewards(powers)[:, own]
    return float(
        sum(
            ((rewards[:, kinds[own] == kind] - rewards[:, kinds[own] == kind].mean()) ** 2).sum()
            for kind in np.unique(kinds[own])
        )
    )


def _common(task: YawTask, simulator: Simulator) -> list[tuple[str, Array]]:
    """The best common yaw by FLORIS, to a degree, on all turbines and on all that wake another."""
    reach = int(np.abs(task.angles).max())
    common = np.repeat(np.arange(-reach, reach + 1.0)[:, None], task.farm.n_turbines, axis=1)
    steering = np.where(task.wakes.sides != 0, common, 0.0)
    found = []
    for name, yaws in (("best common yaw", common), ("common yaw, last row zero", steering)):
        found.append((name, yaws[int(simulator.farm_power(yaws).argmax())]))
    return found
