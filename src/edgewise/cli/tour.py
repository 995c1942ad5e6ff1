"""The three acts of ``edgewise demo``, as values: what happens, and what is said about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

import edgewise as ew
from edgewise.allocation.instance.objective import global_reward
from edgewise.base.arrays import Array, Indices
from edgewise.cli.grading import Grades, graded
from edgewise.errors import UnlikelyReward
from edgewise.trial.report import in_words

_CELLS = (
    "harbour-station harbour-market station-market station-museum market-museum market-bridge "
    "museum-park bridge-park bridge-stadium park-stadium park-campus stadium-airport "
    "campus-airport campus-clinic clinic-museum"
)
_BANDS = {
    "low": (1.0, 0.0, 0.0),
    "mid": (0.0, 1.0, 0.0),
    "high": (0.0, 0.0, 1.0),
    "low+mid": (0.7, 0.7, 0.0),
    "mid+high": (0.0, 0.7, 0.7),
}
_MATRIX = np.array([[-0.6, 1.0, 0.7], [1.0, -0.8, 0.4], [0.7, 0.4, -0.5]])
_TODAY = 3
"""All cells on low+mid: the best that is the same everywhere."""
_TYPO = 150000.0
_WEATHER = 0.2
"""What all rewards of a round have in common during the trial, which pairs cancel only partly."""
_ROUNDS, _PAIRS = 60, 30

Watch = bool | Callable[[ew.Learner], None]


@dataclass(frozen=True, eq=False)
class Act:
    """What an act shows."""

    title: str
    story: tuple[str, ...]
    figures: tuple[tuple[str, float], ...]
    """Numbers by name."""


@dataclass(frozen=True, eq=False)
class Tour:
    """Three acts, and what their picture is drawn from."""

    acts: tuple[Act, ...]
    rounds: tuple[tuple[str, float], ...]
    """Rounds of the first act, by method."""
    recommended: ew.Report
    trial: ew.trial.TrialReport


def tour(seed: int, watch: Watch) -> Tour:
    """All three acts; ``watch`` is called after every round of the first two."""
    first, rounds = _the_paper(seed, watch)
    second, recommended = _the_network(seed, watch)
    third, trial = _the_world(seed)
    return Tour((first, second, third), rounds, recommended, trial)


# -- act 1 -----------------------------------------------------------------------------------


def _the_paper(seed: int, watch: Watch) -> tuple[Act, tuple[tuple[str, float], ...]]:
    arms, matrix = ew.simulation.paper_instance(5, 0.1)
    problem = ew.Problem(ew.Graph.circle(n_edges=156), arms, noise=1.0)
    environment = ew.BilinearEnvironment(problem, matrix, rng=seed)
    report = ew.identify(problem, environment, rng=seed + 1, progress=watch)
    grades: Grades = graded(report, matrix, seed=seed)
    story = (
        "78 nodes on a circle, six arms each, one hidden matrix, noise of deviation 1.",
        f"{_outcome(report)} The best pair of arms is {report.pairs_text}.",
        "Rounds it took, beside others: "
        + ", ".join(f"{name} {value:.4g}" for name, value in grades.rounds)
        + ".",
    )
    return Act("The paper's own instance", story, grades.rounds), grades.rounds


def _outcome(report: ew.Report) -> str:
    confidence = f" with probability at least {1 - report.delta:g}" if report.certified else ""
    return f"{report.ending.name.capitalize()} after {report.rounds} rounds{confidence}."


# -- act 2 -----------------------------------------------------------------------------------


def _the_network(seed: int, watch: Watch) -> tuple[Act, ew.Report]:
    problem = cells_problem()
    environment = ew.BilinearEnvironment(problem, _MATRIX, rng=seed)
    report = ew.identify(
        problem, environment, target="allocation", max_rounds=1000, rng=seed + 1, progress=watch
    )
    truth = (problem.arms @ _MATRIX @ problem.arms.T)[None]
    figures = [("recommended", _value(problem, truth, report))]
    figures += [
        (row.name, global_reward(problem.graph, truth, row.arms)) for row in report.baselines
    ]
    story = (
        "Ten radio cells choose frequency bands; neighbours on the same band disturb each other, "
        "and stand in triangles, so that no setting is right for all of them.",
        f"{_outcome(report)} True global reward: "
        + ", ".join(f"{name} {value:.4g}" for name, value in figures)
        + ".",
        report.regret_text,
    )
    return Act("A network in which every node matters", story, tuple(figures)), report


def cells_problem() -> ew.Problem:
    """Ten radio cells and five choices of frequency bands."""
    edges = [tuple(pair.split("-")) for pair in _CELLS.split()]
    bands = np.array(list(_BANDS.values()))
    return ew.Problem(ew.Graph.from_edges(edges), bands, noise=0.5, arm_labels=list(_BANDS))


def _value(problem: ew.Problem, truth: Array, report: ew.Report) -> float:
    if report.allocation is None:
        return float("nan")
    return global_reward(problem.graph, truth, report.allocation.arms)


# -- act 3 -----------------------------------------------------------------------------------


def _the_world(seed: int) -> tuple[Act, ew.trial.TrialReport]:
    problem = cells_problem()
    world = ew.simulation.HierarchicalWorld.draw(problem, _MATRIX, spread=0.5, rng=seed + 3)
    deploy = world.environment(rng=seed + 4)
    refused = _typo(problem, deploy, seed)
    contradicted = ew.identify(problem, deploy, target="allocation", max_rounds=200, rng=seed + 1)
    estimated = ew.identify(
        replace(problem, pooling="partial"),
        deploy,
        strategy="thompson",
        max_rounds=_ROUNDS,
        rng=seed + 1,
    )
    assert estimated.allocation is not None  # partial pooling always has an estimate
    weather = world.environment(round_levels=_WEATHER, rng=seed + 5)
    trial = _confirmed(problem, estimated.allocation.arms, weather, seed)
    figures = (
        ("rounds of the local model", float(estimated.rounds)),
        ("pairs of the trial", float(trial.pairs)),
        ("measured gain", trial.difference),
    )
    story = (
        "The same cells, but links are alike and not equal, and somebody mistypes a number.",
        f"At the keyboard: {refused}",
        f"At the gate: {contradicted.ending.value}."
        if not contradicted.contradictions
        else f"At the gate: {contradicted.contradictions[0].in_words(problem)}.",
        f"With a matrix per link (pooling='partial'), after {estimated.rounds} rounds: "
        f"{estimated.estimated}.",
        "Measured against today's setting in randomised pairs, in changing weather and without "
        f"any model: "
        f"{trial.ending.value}; {in_words(trial.comparisons[0])}.",
    )
    return Act("A world that is not the model", story, figures), trial


def _typo(problem: ew.Problem, deploy: Callable[[Indices], Array], seed: int) -> str:
    """What a study answers to a number that somebody mistyped."""
    study = ew.Study.create("cells", problem, storage="memory", rng=seed)
    ticket = study.ask()
    rewards = deploy(ticket.arms)
    rewards[7] = _TYPO
    try:
        study.tell(ticket, rewards)
    except UnlikelyReward as error:
        return str(error)
    return "nothing was noticed"


def _confirmed(
    problem: ew.Problem, arms: Indices, deploy: Callable[[Indices], Array], seed: int
) -> ew.trial.TrialReport:
    trial = ew.Trial(problem, baseline=_TODAY, candidate=arms, max_pairs=_PAIRS, rng=seed + 6)
    while not trial.stopped:
        ticket = trial.ask()
        trial.tell(ticket, float(deploy(ticket.arms).sum()))
    return trial.report()
