"""The gate at work in a learner: silent for data from the model, and not for other data."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.instances import THREE_ARMS

import edgewise as ew
from edgewise.base.arrays import Array
from edgewise.core.gate.watch import Told, Watch, look, nothing_watched, watch_round, watch_rounds
from edgewise.errors import InvalidArgument, LearnerStopped, SuspiciousReward

GRAPH = ew.Graph.circle(n_nodes=20)
PROBLEM = ew.Problem(GRAPH, THREE_ARMS, noise=0.3)
MATRIX = [[0.3, 0.2], [0.1, 0.9]]

Change = Callable[[int, Array, np.random.Generator], Array]
"""What the world adds: from the round, the rewards as modelled, and chance."""


def typed(number: int, rewards: Array, _: np.random.Generator) -> Array:
    rewards[7] = 150000.0 if number == 3 else rewards[7]
    return rewards


def offset(number: int, rewards: Array, _: np.random.Generator) -> Array:
    return rewards + (0.6 if number % 3 == 0 else 0.0)


def levels(number: int, rewards: Array, _: np.random.Generator) -> Array:
    return rewards + np.repeat(np.linspace(-0.6, 0.6, 20), 2)


def doubled(number: int, rewards: Array, rng: np.random.Generator) -> Array:
    return np.asarray(rewards + 0.3 * np.sqrt(3.0) * rng.standard_normal(len(rewards)))


def directions(number: int, rewards: Array, _: np.random.Generator) -> Array:
    return np.asarray(rewards * np.tile([1.0, 1.6], 20))


class World:
    """The model, and what it does not know of."""

    def __init__(self, problem: ew.Problem, change: Change | None, seed: int) -> None:
        self.model = ew.BilinearEnvironment(problem, MATRIX, rng=seed, noise=0.3)
        self.change, self.number = change, 0
        self.rng = np.random.default_rng(seed)

    def __call__(self, arms: Any) -> Array:
        self.number += 1
        rewards = self.model(arms)
        return rewards if self.change is None else self.change(self.number, rewards, self.rng)


def run(change: Change | None, seed: int = 0, *, rounds: int = 30, **options: Any) -> ew.Learner:
    problem = options.pop("problem", PROBLEM)
    world, learner = World(problem, change, seed), ew.Learner(problem, rng=seed, **options)
    while learner.ending(max_rounds=rounds) is ew.Ending.RUNNING:
        ticket = learner.ask()
        learner.tell(ticket, world(ticket.arms))
    return learner


def test_data_from_the_model_are_certified() -> None:
    """Six runs with fixed seeds: an alarm in one of them has a probability of at most 6 %."""
    for seed in range(6):
        learner = run(None, seed, rounds=60)
        assert learner.contradictions == ()


@pytest.mark.filterwarnings("ignore::edgewise.errors.SuspiciousReward")
@pytest.mark.parametrize(
    ("change", "form"),
    [
        (typed, "outlier"),
        (offset, "round"),
        (levels, "level"),
        (doubled, "noise"),
        (directions, "direction"),
    ],
)
def test_other_data_are_not(change: Change, form: str) -> None:
    # a rule that hardly ever stops: the gate has its 30 rounds
    learner = run(change, 1, delta=1e-300)
    assert form in [one.form for one in learner.contradictions]
    expected = ew.Ending.CONTRADICTED if change is typed else ew.Ending.BUDGET_SPENT
    assert learner.ending(max_rounds=30) is expected
    report = learner.report(max_rounds=30)
    assert not report.certified
    assert str(report.claim) == "contradicted"
    assert report.guarantee.startswith("The data contradict the model")
    assert str(report).splitlines()[1].startswith("  contradicted")


def test_the_typo_is_named_with_edge_round_and_value() -> None:
    with pytest.warns(SuspiciousReward, match="round 3.*150000"):
        learner = run(typed, 1)
    assert learner.ending() is ew.Ending.CONTRADICTED
    first = learner.contradictions[0]
    assert (first.form, first.position, first.at, first.value) == ("outlier", 7, 3, 150000.0)
    said = learner.report().guarantee
    assert "arc 7 (4 -> 3), round 3, value 150000" in said
    assert "correct the value" in said
    with pytest.raises(LearnerStopped, match="150000"):
        learner.ask()


@pytest.mark.filterwarnings("ignore::edgewise.errors.SuspiciousReward")
def test_trusting_the_model_keeps_the_certificate_and_says_so() -> None:
    assert run(doubled, 1, rounds=80).ending() is ew.Ending.CONTRADICTED
    report = run(doubled, 1, rounds=80, trust_model=True).report()
    assert report.ending is ew.Ending.CERTIFIED
    assert "The model was trusted" in report.guarantee
    assert "trusted" not in run(None, 1).report().guarantee


def test_only_the_forms_asked_for_speak() -> None:
    learner = run(doubled, 1, delta=1e-300, gate=ew.Gate(forms=("round",)))
    assert [one.form for one in learner.contradictions] in ([], ["round"])


@pytest.mark.filterwarnings("ignore::edgewise.errors.SuspiciousReward")
def test_noise_that_is_estimated_cannot_be_contradicted_but_structure_can() -> None:
    problem = ew.Problem(GRAPH, THREE_ARMS, noise="estimate")
    forms = {one.form for one in run(levels, 1, problem=problem, delta=1e-300).contradictions}
    assert "level" in forms
    assert "noise" not in forms
    assert run(doubled, 1, problem=problem, delta=1e-300).contradictions == ()
    typo = run(typed, 1, problem=problem, delta=1e-300).contradictions
    assert "outlier" in {one.form for one in typo}


def rounds_of(change: Change | None, n: int) -> list[Told]:
    world, rng = World(PROBLEM, change, 5), np.random.default_rng(5)
    told = []
    for number in range(1, n + 1):
        arms = rng.integers(0, 3, 20).astype(np.int32)
        rewards = world(arms)
        rewards[rng.random(len(rewards)) < 0.05] = np.nan
        told.append(Told(number, 0, arms, rewards, None))
    return told


def same(first: Any, second: Any) -> bool:
    if isinstance(first, dict):
        return set(first) == set(second) and all(same(first[key], second[key]) for key in first)
    if isinstance(first, list | tuple):
        return len(first) == len(second) and all(map(same, first, second))
    return (
        np.array_equal(first, second, equal_nan=True)
        if isinstance(first, np.ndarray)
        else (first == second)
    )


@pytest.mark.parametrize("change", [None, levels])
def test_a_watch_goes_on_from_plain_values(change: Change | None) -> None:
    gate, told = ew.Gate(), rounds_of(change, 9)
    watch = nothing_watched(PROBLEM, gate)
    for one in told:
        assert watch is not None
        watch = Watch.from_tree(watch.to_tree())
        watch = look(PROBLEM, gate, watch_round(PROBLEM, gate, watch, one), one)
    watch = look(PROBLEM, gate, watch, told[-1], now=True)
    whole = watch_rounds(PROBLEM, gate, told)
    assert watch is not None
    assert whole is not None
    assert same(watch.to_tree(), whole.to_tree())
    assert bool(watch.spoken) == (change is not None)


def test_large_graphs_are_not_watched_unless_asked() -> None:
    large = ew.Problem(ew.Graph.circle(n_nodes=200_000), THREE_ARMS)
    learner = ew.Learner(large, rng=0)
    ticket = learner.ask()
    learner.tell(ticket, np.zeros(large.n_rewards))
    assert "Nobody asked whether the data contradict" in learner.report().guarantee
    small = ew.Learner(PROBLEM, rng=0)
    ticket = small.ask()
    small.tell(ticket, np.zeros(PROBLEM.n_rewards))
    assert "Nobody asked" not in small.report().guarantee
    assert nothing_watched(large, ew.Gate(always=True)) is not None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"level": 0.0}, "between 0 and 1"),
        ({"level": True}, "level is True"),
        ({"forms": ("nois",)}, "did you mean 'noise'"),
        ({"forms": ()}, "trust_model=True"),
    ],
)
def test_wrong_options(options: Any, message: str) -> None:
    with pytest.raises(InvalidArgument, match=message):
        ew.Gate(**options)


def test_a_gate_and_no_gate_at_once() -> None:
    with pytest.raises(InvalidArgument, match="contradict each other"):
        ew.Learner(PROBLEM, gate=ew.Gate(), trust_model=True)
    with pytest.raises(InvalidArgument, match=r"pass an edgewise\.Gate"):
        ew.Learner(PROBLEM, gate="strict")  # type: ignore[arg-type]


def test_the_gate_is_saved() -> None:
    gate = ew.Gate(level=0.2, forms=("noise", "round"))
    learner = ew.Learner(PROBLEM, gate=gate, rng=0)
    world = World(PROBLEM, None, 0)
    for _ in range(5):
        ticket = learner.ask()
        learner.tell(ticket, world(ticket.arms))
    again = ew.Learner.restore(PROBLEM, learner.save())
    assert again._setting.gate == gate
    assert same(again.save()["state"]["watch"], learner.save()["state"]["watch"])
    trusting = ew.Learner(PROBLEM, trust_model=True, rng=0)
    assert ew.Learner.restore(PROBLEM, trusting.save())._setting.gate is None
