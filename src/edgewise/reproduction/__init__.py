"""The paper's figures and tables, measured again: ``edgewise reproduce``.

One file per figure or table in :mod:`~edgewise.reproduction.experiments`, and one for what goes
beyond the paper (``beyond``). Each lists its cells of work, which run anywhere in any order
(:mod:`~edgewise.reproduction.sweep`), and turns their rows into tidy data, figures, and claims with
the tests that confirm them or not.
"""

from __future__ import annotations

from edgewise.reproduction.outcome import ClaimStatus as ClaimStatus
from edgewise.reproduction.outcome import Outcome as Outcome
from edgewise.reproduction.outcome import PaperClaim as PaperClaim
from edgewise.reproduction.run import EXPERIMENTS as EXPERIMENTS
from edgewise.reproduction.run import Reproduction as Reproduction
from edgewise.reproduction.run import cells_of as cells_of
from edgewise.reproduction.run import reproduce as reproduce
from edgewise.reproduction.settings import Settings as Settings
