"""Exploring a farm without losing much power."""

from __future__ import annotations

from edgewise.core.strategies import GOptimal, Strategy
from edgewise.core.strategies.limits.safe import Safe
from edgewise.errors import InvalidArgument
from edgewise.integrations.floris.yaw import YawTask

EXPLORE = GOptimal(even=0.2)
"""How the demo explores: independent turbines, with all angles now and then, so that the polynomial
can be contradicted."""


def safe_exploration(
    task: YawTask,
    *,
    present_power: float,
    fraction: float = 0.95,
    worst_loss: float = 0.1,
    strategy: Strategy = EXPLORE,
) -> Safe:
    """A strategy whose predicted farm power never falls below a fraction of that at zero yaw.

    Parameters
    ----------
    task
        Farm and angles.
    present_power
        Megawatts of the farm at zero yaw: an operator knows it.
    fraction
        Of the present power.
    worst_loss
        Megawatts that an edge is assumed to lose at most, on average over the edges of a round,
        while the effect of its angles cannot be predicted.
    strategy
        Proposes the settings.
    """
    if not (0.0 < fraction <= 1.0 and present_power > 0.0):
        raise InvalidArgument(
            f"fraction is {fraction} and present_power {present_power}; the fraction must be above "
            "0 and at most 1, the power above 0"
        )
    return Safe(
        task.facing_wind.tolist(),
        largest_loss=(1.0 - fraction) * present_power,
        worst_loss=worst_loss,
        strategy=strategy,
    )
