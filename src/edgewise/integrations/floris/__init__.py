"""Wind farms in FLORIS: choose the yaw angles that give the most power.

Turbines are nodes, yaw angles arms, wakes arcs; the power of every turbine is measured. Geometry
(:class:`WindFarm`, :func:`wakes_of`, :class:`YawTask`) needs numpy and scipy only; simulation needs
``pip install 'edgewise[wind]'``, and FLORIS is imported when the first power is computed.
"""

from __future__ import annotations

from edgewise.integrations.floris.farm import WindFarm as WindFarm
from edgewise.integrations.floris.models import WAKES as WAKES
from edgewise.integrations.floris.picture import farm_data as farm_data
from edgewise.integrations.floris.simulator import Flow as Flow
from edgewise.integrations.floris.simulator import Simulator as Simulator
from edgewise.integrations.floris.system import FlorisSystem as FlorisSystem
from edgewise.integrations.floris.wakes import Wakes as Wakes
from edgewise.integrations.floris.wakes import wakes_of as wakes_of
from edgewise.integrations.floris.yaw import EXPLORE as EXPLORE
from edgewise.integrations.floris.yaw import YawTask as YawTask
