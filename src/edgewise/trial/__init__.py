"""Confirming without a model: is the recommended configuration really better than today's?

A trial deploys a candidate and a baseline in randomised pairs and ends when their difference is
decided. It shares the log of a study, not its learner. Its statistics can be used alone:
:func:`t_interval`, :func:`t_evidence`, :func:`sign_interval`, :func:`sign_evidence`.
"""

from __future__ import annotations

from edgewise.trial.comparison import Comparison as Comparison
from edgewise.trial.planning import PairsNeeded as PairsNeeded
from edgewise.trial.planning import pairs_needed as pairs_needed
from edgewise.trial.report import TrialReport as TrialReport
from edgewise.trial.rule import TrialEnding as TrialEnding
from edgewise.trial.sequence import t_evidence as t_evidence
from edgewise.trial.sequence import t_interval as t_interval
from edgewise.trial.sequence import t_quantile as t_quantile
from edgewise.trial.signs import sign_evidence as sign_evidence
from edgewise.trial.signs import sign_interval as sign_interval
from edgewise.trial.ticket import TrialTicket as TrialTicket
from edgewise.trial.trial import Trial as Trial
