"""What strategies with phases share: what a phase is for, and when it is over.

When a phase ends, the target says which contrasts are open and what they need. That is the aim of
the next phase; how the aim becomes joint arms is the strategy's own business.
"""

from __future__ import annotations

import numpy as np

from edgewise.core.evidence.evidence import in_range
from edgewise.core.model.cells import Cells
from edgewise.core.needs import Needs
from edgewise.core.state import Aim, LearnerState

_MOST_CONTRASTS = 256
"""A phase is laid out for so many contrasts at most, those that need most."""

_PATIENCE = 20
"""A phase that cannot make its contrasts estimable (missing rewards) ends after so many times
its length in overtime, rather than never."""


def aim_at(state: LearnerState, needs: Needs | None, *, growth: float) -> Aim:
    """The open contrasts that need most, each with the information it still lacks.

    The phase lasts ``growth`` times the rounds so far, at least one round.
    """
    length = max(1, int(growth * state.rounds))
    if needs is None:  # rewards were missing: some direction is still unseen
        return Aim.everything(length)
    lacking = needs.lacking
    most = np.sort(np.argsort(-lacking, kind="stable")[:_MOST_CONTRASTS])
    return Aim(
        kinds=needs.kinds[most],
        leaders=needs.leaders[most],
        rivals=needs.rivals[most],
        needs=lacking[most] / lacking.max(initial=0.0),
        length=length,
    )


def is_phase_over(cells: Cells, state: LearnerState) -> bool:
    """After its length, once its contrasts (at first: all directions) can be estimated."""
    if state.phase_rounds < state.aim.length:
        return False
    if state.phase_rounds >= overtime(cells, state) + _PATIENCE * state.aim.length:
        return True
    gram = cells.grams(state.statistics.information)
    if len(state.aim.kinds) == 0:
        ranks = [int(np.linalg.matrix_rank(A, hermitian=True)) for A in gram]
        return bool((np.array(ranks) == cells.dimensions).all())
    contrasts = state.aim.contrasts(cells)
    return all(
        in_range(gram[kind], contrasts[state.aim.kinds == kind]).all()
        for kind in np.unique(state.aim.kinds)
    )


def overtime(cells: Cells, state: LearnerState) -> int:
    """Rounds by which a phase can estimate its contrasts unless rewards are missing.

    Its length, and one for every parameter: an edge shows one cell a round.
    """
    return state.aim.length + int(cells.dimensions.sum())
