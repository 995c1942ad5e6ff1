"""Find the yaw angles of a small wind farm from noisy powers, with FLORIS as the farm.

Run: python examples/wind_farm.py (needs edgewise[wind])
"""

from __future__ import annotations

from edgewise.integrations.confirming import advice, confirm
from edgewise.integrations.floris import EXPLORE, FlorisSystem, WindFarm, YawTask
from edgewise.integrations.gains import explain, outcome_of
from edgewise.integrations.rivals import additive_regression
from edgewise.integrations.running import explore


def main() -> None:
    """Eight turbines in random places, 40 rounds."""
    task = YawTask.of(WindFarm.random(8, seed=3))
    print(task.problem)
    system = FlorisSystem(task, noise=0.1)
    run = explore(system, EXPLORE, marks=[20, 40], rng=0)
    rival = additive_regression(system, marks=[20, 40], rng=1)
    outcome = outcome_of(system, run, rivals=[rival])
    for name, power, gain, _ in outcome.rows("zero yaw"):
        print(f"{name:<22} {power:6.3f} MW  {gain:+7.2%}")
    recommended = run.estimate.allocation.arms
    print("yaw angles:", *(f"{yaw:g}" for yaw in task.yaws(recommended)))
    print(explain(outcome, "the farm", "zero yaw"))
    trial = confirm(system, recommended, rng=2)
    print(advice(trial, outcome.expected, outcome.gained))


if __name__ == "__main__":
    main()
