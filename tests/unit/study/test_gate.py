"""Studies whose data contradict the model: asked, withheld, withdrawn, mended."""

from typing import Any

import numpy as np
import pytest
from tests.instances import THREE_ARMS

import edgewise as ew
from edgewise.errors import LearnerStopped, UnlikelyReward
from edgewise.study.views.outputs import status_output
from edgewise.study.views.page import study_page

GRAPH = ew.Graph.from_edges([(f"antenna {i}", f"antenna {(i + 1) % 20}") for i in range(20)])
PROBLEM = ew.Problem(GRAPH, THREE_ARMS, noise=0.3)
MATRIX = [[0.3, 0.2], [0.1, 0.9]]
TYPED = ("antenna 4", "antenna 3")


def created(**options: Any) -> tuple[ew.Study, ew.BilinearEnvironment]:
    study = ew.Study.create("antennas", PROBLEM, rng=0, **options)
    return study, ew.BilinearEnvironment(PROBLEM, MATRIX, rng=1)


def measure(
    study: ew.Study, network: ew.BilinearEnvironment, *, typo: int = 0, limit: int = 60
) -> float:
    """Until the study stops; what should have been told instead of the typo."""
    right = np.nan
    while not study.stopped and limit:
        limit -= 1
        ticket = study.ask()
        rewards = network(ticket.arms)
        if ticket.round == typo:
            right, rewards[7] = float(rewards[7]), 150000.0
        study.tell(ticket, rewards, accept_outliers=True)
    return right


@pytest.mark.parametrize("number", [1, 4])
def test_an_unlikely_reward_is_asked_about_first(number: int) -> None:
    study, network = created()
    for _ in range(number - 1):
        ticket = study.ask()
        study.tell(ticket, network(ticket.arms))
    ticket, events = study.ask(), len(list(study.log()))
    rewards = network(ticket.arms)
    with pytest.raises(UnlikelyReward, match=r"antenna 4 -> antenna 3\) is 150000.*accept_outl"):
        study.tell(
            ticket,
            {TYPED: 150000.0, ("antenna 3", "antenna 4"): rewards[6]}
            | {(f"antenna {i}", f"antenna {i + 1}"): 1.0 for i in range(8, 15)},
        )
    assert len(list(study.log())) == events
    study.tell(ticket, {TYPED: 150000.0}, accept_outliers=True)
    assert study.rewards(ticket)[7] == 150000.0


def test_a_contradicted_answer_is_not_certified_until_it_is_mended() -> None:
    study, network = created()
    right = measure(study, network, typo=2)
    status, report = study.status(), study.report()
    assert status.ending is report.ending is ew.Ending.CONTRADICTED
    assert not report.certified
    assert report.regret is None
    assert not study.recommend().certified
    assert status.certificates == ()
    for text in (status.headline, str(study.recommend()).splitlines()[0], report.guarantee):
        assert "antenna 4 -> antenna 3), round 2, value 150000" in text
    with pytest.raises(LearnerStopped, match=r"contradict the model.*correct\(\).*remodel\(\)"):
        study.ask()
    study.correct(2, {TYPED: right})
    assert study.status().contradictions == ()
    measure(study, network)
    assert study.status().ending is ew.Ending.CERTIFIED
    assert study.report().contradictions == ()


def test_correcting_finds_what_telling_the_right_rounds_finds() -> None:
    study, network = created()
    right = measure(study, network, typo=2)
    study.extend(rounds=9)
    measure(study, network)
    study.correct(2, {TYPED: right})
    corrected = study._session.cursor.state.learner.watch
    again = study.remodel("again", max_rounds=1000)  # tells all rounds once more
    told = again._session.cursor.state.learner.watch
    assert corrected is not None
    assert told is not None
    assert corrected.rounds == told.rounds >= 9
    mine, its = corrected.sums.to_tree(), told.sums.to_tree()
    assert all(np.array_equal(mine[name], its[name]) for name in mine)
    assert corrected.residual == told.residual
    assert np.array_equal(corrected.growth, told.growth)


def test_a_certificate_is_withdrawn_with_the_round() -> None:
    study, network = created()
    measure(study, network)
    assert study.status().ending is ew.Ending.CERTIFIED
    stopped = study.status().rounds
    study.extend(rounds=2)
    ticket = study.ask()
    rewards = network(ticket.arms)
    rewards[7] = 150000.0
    study.tell(ticket, rewards, accept_outliers=True)
    (certificate,) = study.status().certificates
    assert (certificate.round, certificate.withdrawn) == (stopped, stopped + 1)
    said = f"the certificate of round {stopped}, after round {stopped + 1}"
    assert status_output(study.status(), study.problem).facts["withdrawn"] == [said]
    assert f"Withdrawn: {said}." in study_page(study)
    assert f"certificate of round {stopped}, after round {stopped + 1}" in str(study.status())
    assert "rounds go on" in study.status().headline
    measure(study, network)
    assert study.status().ending is not ew.Ending.CERTIFIED


def test_going_on_and_modelling_anew() -> None:
    study, network = created()
    measure(study, network, typo=2)
    study.extend(rounds=3)
    measure(study, network)
    assert study.status().ending is not ew.Ending.CERTIFIED
    trusting = study.remodel("trusting", trust_model=True)
    assert trusting.status().contradictions == ()
    assert "The model was trusted" in trusting.report().guarantee
    watched = trusting.remodel("watched", trust_model=False)
    assert watched.status().contradictions[0].form == "outlier"


def test_the_page_says_first_what_contradicts() -> None:
    study, network = created()
    measure(study, network, typo=2)
    page = study_page(study)
    first = page.index('class="not">The data contradict the model')
    assert first < page.index("rounds: ")
    assert 'class="confirmed"' not in page
    assert page.count("value 150000") == 1


def test_an_export_keeps_what_was_found(tmp_path: Any) -> None:
    study, network = created()
    measure(study, network, typo=2)
    study.export(tmp_path / "study.jsonl")
    again = ew.Study.from_export(tmp_path / "study.jsonl")
    assert again.status().contradicted == study.status().contradicted
    assert again.status().ending is ew.Ending.CONTRADICTED
