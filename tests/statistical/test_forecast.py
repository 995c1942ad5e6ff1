"""The forecast of the rounds left, against the rounds that really were."""

import pytest

import edgewise as ew
from edgewise.core.targets import Forecast

RUNS = 40
LEAST = 27
"""If ranges hold the truth in 85 % of runs, fewer than 27 of 40 do with probability 1.4e-3."""


def forecasts(strategy: str) -> list[tuple[Forecast, int]]:
    """Half-way through each run: what was forecast, and the rounds that were left."""
    arms, matrix = ew.simulation.paper_instance(3, 0.4)
    problem = ew.Problem(ew.Graph.circle(n_edges=24), arms)
    found = []
    for seed in range(RUNS):
        environment = ew.BilinearEnvironment(problem, matrix, rng=seed)
        learner = ew.Learner(problem, rng=100 + seed, strategy=strategy)
        said = []
        while not learner.verdict.stop:
            ticket = learner.ask()
            learner.tell(ticket, environment(ticket.arms))
            said.append(learner._setting.forecast(learner._state))
        middle = said[learner.rounds // 2 - 1]
        assert middle is not None
        found.append((middle, learner.rounds - learner.rounds // 2))
    return found


def holds(said: Forecast, left: int) -> bool:
    assert said.low is not None
    return said.low <= left and (said.high is None or left <= said.high)


@pytest.mark.parametrize("strategy", ["g-optimal", "adaptive"])
def test_the_range_holds_the_truth_most_of_the_time(strategy: str) -> None:
    found = forecasts(strategy)
    assert sum(holds(said, left) for said, left in found) >= LEAST
    # negative control: ranges without room fail, and so does "no end in sight": there was one
    narrow = [
        (Forecast(f.rounds, f.rounds, f.rounds), left) for f, left in found if f.rounds is not None
    ]
    assert sum(holds(said, left) for said, left in narrow) < LEAST


def test_nothing_is_forecast_before_or_after() -> None:
    arms, matrix = ew.simulation.paper_instance(2, 1.0)
    problem = ew.Problem(ew.Graph.circle(n_edges=12), arms)
    learner = ew.Learner(problem, rng=2)
    assert learner._setting.forecast(learner._state) is None
    environment = ew.BilinearEnvironment(problem, matrix, rng=1)
    while not learner.verdict.stop:
        ticket = learner.ask()
        learner.tell(ticket, environment(ticket.arms))
    assert learner._setting.forecast(learner._state) is None


def test_a_tie_has_no_end_in_sight() -> None:
    said = Forecast(None, 12, None)
    assert str(said) == "no end in sight"
    assert str(Forecast(20, 12, None)) == "about 20 more (12 to no end in sight)"
    assert str(Forecast(20, 12, 70)) == "about 20 more (12 to 70)"
