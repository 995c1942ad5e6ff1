"""Wind farms in FLORIS: choose the yaw angles that give the most power.

Turbines are nodes, yaw angles arms, wakes edges. Geometry (:class:`WindFarm`, :func:`wakes_of`,
:class:`YawTask`) needs numpy only; simulation needs ``pip install 'edgewise[wind]'``, and FLORIS is
imported when the first power is computed.
"""

from __future__ import annotations

from edgewise.integrations.floris.comparison import Exploration as Exploration
from edgewise.integrations.floris.comparison import ModelFit as ModelFit
from edgewise.integrations.floris.comparison import YawComparison as YawComparison
from edgewise.integrations.floris.comparison import YawSetting as YawSetting
from edgewise.integrations.floris.comparison import compare as compare
from edgewise.integrations.floris.comparison import model_fit as model_fit
from edgewise.integrations.floris.environment import Deployment as Deployment
from edgewise.integrations.floris.environment import FlorisEnvironment as FlorisEnvironment
from edgewise.integrations.floris.farm import WindFarm as WindFarm
from edgewise.integrations.floris.picture import farm_data as farm_data
from edgewise.integrations.floris.safety import EXPLORE as EXPLORE
from edgewise.integrations.floris.safety import safe_exploration as safe_exploration
from edgewise.integrations.floris.simulator import Flow as Flow
from edgewise.integrations.floris.simulator import Simulator as Simulator
from edgewise.integrations.floris.wakes import Wakes as Wakes
from edgewise.integrations.floris.wakes import wakes_of as wakes_of
from edgewise.integrations.floris.words import explain as explain
from edgewise.integrations.floris.yaw import YawTask as YawTask
