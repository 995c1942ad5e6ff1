"""A wind farm in FLORIS: what edgewise finds, beside simple rules and FLORIS' own optimiser.

``python benchmarks/bench_wind.py [SEEDS]`` prints markdown tables: four farms of 5 x 5 turbines, 50
rounds, noise 0.1 MW (default 5 seeds each); then safe exploration, and a second stage near the
first one's answer.
"""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np

import edgewise as ew
from edgewise.base.arrays import Array
from edgewise.core.strategies import Strategy
from edgewise.integrations.floris import (
    EXPLORE,
    FlorisEnvironment,
    Simulator,
    WindFarm,
    YawComparison,
    YawTask,
    compare,
    safe_exploration,
)

ROUNDS = 50
CASES = {
    "273 degrees, 8 m/s, 7D x 5D": ((7.0, 5.0), 273.0, 8.0),
    "266 degrees, 8 m/s, 7D x 5D": ((7.0, 5.0), 266.0, 8.0),
    "273 degrees, 10 m/s, 7D x 5D": ((7.0, 5.0), 273.0, 10.0),
    "270 degrees, 8 m/s, 5D x 4D, aligned": ((5.0, 4.0), 270.0, 8.0),
}
RULES = ("best common yaw", "common yaw, last row zero", "best seen", "edgewise")


def farm_of(name: str) -> WindFarm:
    spacing, direction, speed = CASES[name]
    return WindFarm.grid(5, 5, spacing=spacing, wind_direction=direction, wind_speed=speed)


def run(task: YawTask, seed: int, strategy: Strategy = EXPLORE) -> YawComparison:
    """One identification, graded without the optimiser."""
    environment = FlorisEnvironment(task, rng=seed)
    report = ew.identify(
        task.problem,
        environment,
        epsilon=0.0,  # use all rounds
        strategy=strategy,
        max_rounds=ROUNDS,
        rng=1000 + seed,
    )
    return compare(environment, report, optimiser=False, rng=seed)


def optimum(task: YawTask) -> float:
    """Gain of FLORIS' own optimiser."""
    simulator = Simulator(task.farm)
    yaws = np.stack([np.zeros(task.farm.n_turbines), simulator.optimised(-30.0, 30.0)])
    zero, best = simulator.farm_power(yaws)
    return float(best / zero - 1.0)


def table(n_seeds: int) -> None:
    """Gains over zero yaw, in percent of farm power."""
    print(f"| farm | {' | '.join(RULES)} | FLORIS optimiser | edgewise / optimiser ", end="")
    print("| power while exploring (lowest) | explained, turbine / farm |")
    print("|---" * (len(RULES) + 5) + "|")
    for name in CASES:
        task = YawTask.of(farm_of(name))
        runs = [run(task, seed) for seed in range(n_seeds)]
        gains = {rule: np.array([result.gain(rule) for result in runs]) for rule in RULES}
        best = optimum(task)
        cells = [_percent(gains[rule]) for rule in RULES]
        share = gains["edgewise"].mean() / best
        mean = np.mean([result.exploration.mean for result in runs])
        lowest = min(result.exploration.lowest for result in runs)
        turbine = np.mean([result.fit.per_turbine for result in runs])
        farm = np.mean([result.fit.farm for result in runs])
        print(
            f"| {name} | {' | '.join(cells)} | {best:.2%} | {share:.1%} "
            f"| {mean:.1%} ({lowest:.1%}) | {turbine:.1%} / {farm:.1%} |",
            flush=True,
        )


def safe_table(n_seeds: int) -> None:
    """Angles to both sides cost power: with and without a floor at 95 % of zero yaw."""
    print("\n| exploration | edgewise gain | power while exploring | lowest |")
    print("|---|---|---|---|")
    task = YawTask.of(farm_of(next(iter(CASES))), angles=range(-30, 31, 5), degree=4)
    present = float(Simulator(task.farm).farm_power(np.zeros(25))[0])
    floor = safe_exploration(task, present_power=present, fraction=0.95)
    for name, strategy in (("free", EXPLORE), ("safe, 95 %", floor)):
        runs = [run(task, seed, strategy) for seed in range(n_seeds)]
        gain = np.array([result.gain("edgewise") for result in runs])
        mean = np.mean([result.exploration.mean for result in runs])
        lowest = min(result.exploration.lowest for result in runs)
        print(
            f"| -30 to 30 degrees, quartic, {name} "
            f"| {_percent(gain)} | {mean:.1%} | {lowest:.1%} |",
            flush=True,
        )


def staged_table(n_seeds: int) -> None:
    """20 rounds, then 30 with every turbine within 7.5 degrees of the answer so far."""
    print("\n| farm | 50 rounds at once | 20, then 30 near the answer |")
    print("|---|---|---|")
    for name in CASES:
        task = YawTask.of(farm_of(name))
        once = np.array([run(task, seed).gain("edgewise") for seed in range(n_seeds)])
        twice = np.array([_in_two_stages(task, seed) for seed in range(n_seeds)])
        print(f"| {name} | {_percent(once)} | {_percent(twice)} |", flush=True)


def _in_two_stages(task: YawTask, seed: int) -> float:
    environment = FlorisEnvironment(task, rng=seed)
    first = ew.identify(
        task.problem, environment, epsilon=0.0, strategy=EXPLORE, max_rounds=20, rng=1000 + seed
    )
    assert first.allocation is not None
    centre = task.angles[first.allocation.arms]
    near = np.abs(task.angles[None, :] - centre[:, None]) <= 7.5
    allowed = near if task.problem.candidates is None else near & task.problem.candidates
    narrowed = replace(task.problem, candidates=allowed)
    second = ew.identify(
        narrowed, environment, epsilon=0.0, strategy=EXPLORE, max_rounds=30, rng=2000 + seed
    )
    return compare(environment, second, optimiser=False, rng=seed).gain("edgewise")


def _percent(gains: Array) -> str:
    """Mean, and the range over seeds if there is any."""
    low, high = gains.min(), gains.max()
    spread = f" ({low:.2%} to {high:.2%})" if high > low else ""
    return f"{gains.mean():.2%}{spread}"


def main() -> None:
    """Print the tables."""
    n_seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    table(n_seeds)
    safe_table(n_seeds)
    staged_table(n_seeds)


if __name__ == "__main__":
    main()
