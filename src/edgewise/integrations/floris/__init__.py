"""Wind farms in FLORIS: choose the yaw angles that give the most power.

Turbines are nodes, yaw angles arms, wakes edges. Geometry (:class:`WindFarm`, :func:`wakes_of`,
:class:`YawTask`) needs numpy only; simulation needs ``pip install 'edgewise[wind]'``, and FLORIS is
imported when the first power is computed.
"""

from __future__ import annotations

from edgewise.integrations.floris.environment import Deployment as Deployment
from edgewise.integrations.floris.environment import FlorisEnvironment as FlorisEnvironment
from edgewise.integrations.floris.farm import WindFarm as WindFarm
from edgewise.integrations.floris.simulator import Flow as Flow
from edgewise.integrations.floris.simulator import Simulator as Simulator
from edgewise.integrations.floris.wakes import Wakes as Wakes
from edgewise.integrations.floris.wakes import wakes_of as wakes_of
from edgewise.integrations.floris.yaw import YawTask as YawTask
