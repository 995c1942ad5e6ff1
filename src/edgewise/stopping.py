"""Stopping rules to pass as ``stopping=``, and what one of your own must look like."""

from __future__ import annotations

from edgewise.core.evidence.evidence import Evidence as Evidence
from edgewise.core.stopping import Anytime as Anytime
from edgewise.core.stopping import ConfidenceRule as ConfidenceRule
from edgewise.core.stopping import CountingRule as CountingRule
from edgewise.core.stopping import Mixture as Mixture
from edgewise.core.stopping import PaperRule as PaperRule
from edgewise.core.stopping import Rivalwise as Rivalwise
from edgewise.core.stopping import StoppingRule as StoppingRule
from edgewise.core.stopping import Union as Union
from edgewise.core.stopping import Verdict as Verdict
