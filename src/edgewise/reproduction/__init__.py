"""The paper's figures and tables, measured again: ``edgewise reproduce``.

One file per figure or table (:mod:`~edgewise.reproduction.fig1_edges`,
:mod:`~edgewise.reproduction.fig1_dimension`, :mod:`~edgewise.reproduction.table1`,
:mod:`~edgewise.reproduction.fig2`), and one for what goes beyond the paper
(:mod:`~edgewise.reproduction.beyond`). Each lists its cells of work, which run anywhere in any
order, and turns their rows into tidy data, figures, and claims with the tests that confirm them or
not.
"""

from __future__ import annotations

from edgewise.reproduction.finding import Claim as Claim
from edgewise.reproduction.finding import Finding as Finding
from edgewise.reproduction.finding import Status as Status
from edgewise.reproduction.run import EXPERIMENTS as EXPERIMENTS
from edgewise.reproduction.run import Reproduction as Reproduction
from edgewise.reproduction.run import cells_of as cells_of
from edgewise.reproduction.run import reproduce as reproduce
from edgewise.reproduction.settings import Settings as Settings
