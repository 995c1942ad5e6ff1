"""In which units rewards are stated changes no decision; beyond what can be squared, an error."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import edgewise as ew
from edgewise.base.scales import binary_unit, staying_finite
from edgewise.errors import NotFinite

_WEIGHTS = np.array([0.6, 1.9, 1.1, 0.8, 1.3, 0.7])
_ARMS = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
_MATRIX = np.array([[1.0, 0.2], [0.1, 0.4]])


def decisions(exponent: int, noise: Any, options: dict[str, Any]) -> list[Any]:
    """What is deployed and concluded if rewards and noise are counted in units of 2^-exponent."""
    unit = 2.0**exponent
    graph = ew.Graph.from_edges([(i, (i + 1) % 6) for i in range(6)], weights=_WEIGHTS)
    measured = options.pop("measured", "arc")
    stated: Any = noise if isinstance(noise, str) else noise * unit
    problem = ew.Problem(graph, _ARMS, noise=stated, measured=measured)
    world = ew.BilinearEnvironment(problem, _MATRIX * unit, noise=0.5 * unit, rng=3)
    learner = ew.Learner(problem, rng=1, **options)
    found: list[Any] = []
    while learner.ending(max_rounds=30) is ew.Ending.RUNNING:
        ticket = learner.ask()
        learner.tell(ticket, world(ticket.arms))
        found.append((ticket.arms.tolist(), learner.verdict))
    said = [one.form for one in learner.contradictions]
    return [*found, learner.ending(max_rounds=30), said]


@pytest.mark.parametrize(
    "options",
    [{}, {"strategy": "g-optimal"}, {"strategy": "contrast"}, {"target": "allocation"},
     {"measured": "node"}, {"robust": True}, {"noise": "estimate"}],
)  # fmt: skip
def test_units_of_rewards_change_no_bit(options: dict[str, Any]) -> None:
    """In powers of two nothing is rounded, so equal means equal; 2^-40 is a picounit."""
    noise = options.get("noise", 0.5)
    given = {name: value for name, value in options.items() if name != "noise"}
    usual = decisions(0, noise, dict(given))
    assert usual[-1] == []
    for exponent in (-160, -40, 40, 160):
        assert decisions(exponent, noise, dict(given)) == usual


def rounds_with_weights(exponent: int, **options: Any) -> list[int]:
    """Rounds to a certificate if weights are counted in units of 2^-exponent."""
    weights = np.tile(_WEIGHTS, 3) * 2.0**exponent
    graph = ew.Graph.from_edges([(i, (i + 1) % 18) for i in range(18)], weights=weights)
    problem = ew.Problem(graph, _ARMS, noise=2.0)
    runs = ew.simulation.replicate(
        problem, _MATRIX * 2.0**-exponent, repetitions=6, noise=2.0, rng=3, **options
    )
    assert runs.certified.all()
    found: list[int] = runs.rounds.tolist()
    return found


@pytest.mark.parametrize("target", ["pair", "allocation"])
def test_units_of_weights_cost_no_rounds(target: str) -> None:
    """Ordinary weights keep their layouts; all others have the same, bit for bit."""
    usual = rounds_with_weights(0, target=target)
    far = {exponent: rounds_with_weights(exponent, target=target) for exponent in (-40, -10, 40)}
    assert far[-40] == far[-10]
    for found in far.values():
        assert 0.7 < np.sum(found) / np.sum(usual) < 1.4


@pytest.mark.filterwarnings("ignore::edgewise.errors.SuspiciousReward", "ignore::RuntimeWarning")
@pytest.mark.parametrize("weight", [1e-50, 1e50])
@pytest.mark.parametrize("options", [{}, {"pooling": "partial"}, {"noise": "estimate"}])
def test_the_largest_and_smallest_numbers_give_an_answer_or_an_error_of_their_own(
    weight: float, options: dict[str, Any]
) -> None:
    graph = ew.Graph.from_edges([(0, 1), (1, 2), (2, 3)], weights=[weight] * 3)
    for noise, size in ((1e-50, 1e99), (1e50, 1e-300)):
        problem = ew.Problem(graph, np.eye(2), **{"noise": noise, **options})
        learner = ew.Learner(problem, rng=0)
        rng = np.random.default_rng(1)
        try:
            for _ in range(8):
                learner.tell(learner.ask(), size * rng.standard_normal(6))
            assert not learner.report().certified
        except ew.EdgewiseError:
            continue


def test_a_sensor_that_always_said_the_same_may_say_something_else() -> None:
    learner = ew.Learner(ew.Problem(ew.Graph.circle(n_nodes=6), np.eye(2), noise="estimate"), rng=0)
    for number in range(12):
        learner.tell(learner.ask(), np.full(12, float(number == 8)))
    assert learner.rounds == 12


def test_units_are_powers_of_two_and_ordinary_numbers_keep_theirs() -> None:
    assert binary_unit(np.array([1e-5, 3.0, 1e6])) == 1.0
    assert binary_unit(np.array([0.0])) == 1.0
    assert np.log2(binary_unit(np.array([1e30, 1e31]))) == 102.0


def test_a_study_that_cannot_choose_its_next_round_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks_down(*_: object) -> None:
        np.linalg.solve(np.zeros((2, 2)), np.ones(2))

    problem = ew.Problem(ew.Graph.circle(n_nodes=6), np.eye(2))
    study = ew.Study.create("farm", problem, rng=0)
    monkeypatch.setattr(type(study.seen.cursor.setting.plan), "joint_arm", breaks_down)
    with pytest.raises(NotFinite, match="what the next round is chosen from has overflowed"):
        study.ask()
    assert len(list(study.log())) == 1


def test_arithmetic_that_breaks_down_is_an_error_of_its_own() -> None:
    with pytest.raises(NotFinite, match="the fit has overflowed"), staying_finite("the fit"):
        np.linalg.solve(np.zeros((2, 2)), np.ones(2))
