"""Targets to pass as ``target=``, and what one of your own must look like."""

from __future__ import annotations

from edgewise.core.aim import Aim as Aim
from edgewise.core.evidence.evidence import gather_phases as gather_phases
from edgewise.core.regret import Answer as Answer
from edgewise.core.regret import Regret as Regret
from edgewise.core.stopping import Verdict as Verdict
from edgewise.core.targets import BestAllocation as BestAllocation
from edgewise.core.targets import BestPair as BestPair
from edgewise.core.targets import Finding as Finding
from edgewise.core.targets import Forecast as Forecast
from edgewise.core.targets import Target as Target
