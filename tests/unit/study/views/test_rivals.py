"""How far rivals are behind, against the evidence that the rules see."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import edgewise as ew
from edgewise.core.evidence.evidence import gather_phases
from edgewise.core.evidence.measuring import with_present

ARMS = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
PROBLEM = ew.Problem(
    ew.Graph.circle(n_nodes=6), ARMS, noise=2.0, arm_labels=["low", "high\x1b", "mid"]
)


def measured(strategy: str, rounds: int) -> ew.Study:
    study = ew.Study.create("farm", PROBLEM, strategy=strategy, delta=1e-9, rng=0)
    world = ew.BilinearEnvironment(PROBLEM, [[1.0, 0.2], [0.1, 0.8]], rng=1)
    for _ in range(rounds):
        ticket = study.ask()
        study.tell(ticket, world(ticket.arms))
    return study


@pytest.mark.parametrize("strategy", ["adaptive", "g-optimal"])
def test_the_last_look_is_what_the_rule_sees(strategy: str) -> None:
    moment = measured(strategy, 30).seen
    found = moment.rivals()
    assert found is not None
    setting, learner = moment.cursor.setting, moment.cursor.state.learner
    phases = with_present(learner.closed, learner.statistics)
    cells = setting.plan.cells
    evidence = gather_phases(PROBLEM, cells, 30, phases, noise=np.array([2.0]))
    assert list(found.rounds) == [*moment.cursor.state.phase_ends, 30]
    leader = cells.pair_index[learner.verdict.pairs[0]]
    if int(evidence.leaders[0, 0]) == leader:
        sure = evidence.standardised(0.0)[0, 0]
        expected = np.sort(np.delete(sure, leader))[: len(found.names)]
        assert_allclose(found.behind[-1], expected, rtol=1e-9)
    assert (np.diff(found.behind[-1]) >= 0).all()  # the closest first


def test_nobody_leads_before_the_first_round() -> None:
    assert measured("adaptive", 0).seen.rivals() is None


def test_names_do_no_harm() -> None:
    found = measured("adaptive", 30).seen.rivals()
    assert found is not None
    assert "\x1b" not in "".join((found.leader, *found.names))
