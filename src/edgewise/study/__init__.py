"""Studies: the method against a live network, over weeks, with every measurement on record.

>>> from edgewise.study import Study
"""

from __future__ import annotations

from edgewise.study.fold import Certificate as Certificate
from edgewise.study.memory import MemoryStorage as MemoryStorage
from edgewise.study.status import Recommendation as Recommendation
from edgewise.study.status import Status as Status
from edgewise.study.storage import Storage as Storage
from edgewise.study.study import Study as Study
from edgewise.study.ticket import StudyTicket as StudyTicket
