"""Studies: the method against a live network, over weeks, with every measurement on record.

>>> from edgewise.study import Study
"""

from __future__ import annotations

from pathlib import Path

from edgewise.base.border import border
from edgewise.core.outlook import Explanation as Explanation
from edgewise.core.outlook import Prediction as Prediction
from edgewise.study.confirming import StudyTrial as StudyTrial
from edgewise.study.log.fold import Certificate as Certificate
from edgewise.study.log.past import Past as Past
from edgewise.study.storage.base import Storage as Storage
from edgewise.study.storage.memory import MemoryStorage as MemoryStorage
from edgewise.study.study import Study as Study
from edgewise.study.views.status import History as History
from edgewise.study.views.status import Recommendation as Recommendation
from edgewise.study.views.status import StudyStatus as StudyStatus
from edgewise.study.views.ticket import StudyTicket as StudyTicket


@border
def upgrade(url: str) -> Path | None:
    """Bring a database of an older edgewise up to date.

    SQLite files are upgraded when they are opened, after a copy was made; the copy is returned.
    Back up a PostgreSQL database first (``pg_dump --table='edgewise_*'``), then call this.
    """
    from edgewise.study.storage.database import upgrade_database

    return upgrade_database(url)
