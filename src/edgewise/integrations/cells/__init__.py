"""Radio networks in CRRM: choose the antenna tilts that give users the highest rates.

Cells are nodes, tilts arms, neighbours arcs; users report their rates, and reports are booked by
the cell that a *place* had before. Geometry (:class:`RadioNetwork`, :class:`TiltPattern`) needs
numpy and scipy only; simulation needs ``pip install 'edgewise[cells]'``, and CRRM is imported when
the first users are placed.
"""

from __future__ import annotations

from edgewise.integrations.cells.booking import Coverage as Coverage
from edgewise.integrations.cells.booking import booked as booked
from edgewise.integrations.cells.environment import Quality as Quality
from edgewise.integrations.cells.environment import RadioEnvironment as RadioEnvironment
from edgewise.integrations.cells.network import HotSpots as HotSpots
from edgewise.integrations.cells.network import RadioNetwork as RadioNetwork
from edgewise.integrations.cells.pattern import TiltPattern as TiltPattern
from edgewise.integrations.cells.picture import radio_data as radio_data
from edgewise.integrations.cells.simulator import Drop as Drop
from edgewise.integrations.cells.simulator import Reception as Reception
from edgewise.integrations.cells.tilts import EXPLORE as EXPLORE
from edgewise.integrations.cells.tilts import TiltTask as TiltTask
