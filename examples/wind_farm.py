"""Find the yaw angles of a small wind farm from noisy powers, with FLORIS as the farm.

Run: python examples/wind_farm.py (needs edgewise[wind])
"""

from __future__ import annotations

import edgewise as ew
from edgewise.integrations.floris import (
    EXPLORE,
    FlorisEnvironment,
    WindFarm,
    YawTask,
    compare,
    explain,
)


def main() -> None:
    """Six turbines in two rows, 40 rounds."""
    farm = WindFarm.grid(3, 2, spacing=(7.0, 5.0), wind_direction=273.0, wind_speed=8.0)
    task = YawTask.of(farm, noise=0.1)
    print(task.problem, "edges of kinds", *(task.problem.graph.kind_labels or ()))
    environment = FlorisEnvironment(task, rng=0)
    report = ew.identify(
        task.problem, environment, epsilon=0.0, strategy=EXPLORE, max_rounds=40, rng=1
    )
    comparison = compare(environment, report, rng=2)
    for setting in comparison.settings:
        angles = " ".join(f"{yaw:6.1f}" for yaw in setting.yaws)
        gain = comparison.gain(setting.name)
        print(f"{setting.name:<26} {setting.power:6.3f} MW  {gain:+7.2%}   {angles}")
    print(explain(report, comparison))


if __name__ == "__main__":
    main()
