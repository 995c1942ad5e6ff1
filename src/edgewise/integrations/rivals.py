"""Other ways to find a good joint arm in the same rounds, on the same arms and links."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from edgewise.allocation.allocate import solve
from edgewise.allocation.request import Request
from edgewise.base.arrays import Array, Indices
from edgewise.base.randomness import Rng, generator
from edgewise.core.evidence.by_edge import local_network
from edgewise.core.local.estimate import objective_of
from edgewise.core.local.normal_equations import NormalEquations, Phase, normal_equations
from edgewise.core.model.problem import Problem
from edgewise.integrations.running import System, Trail, checked_marks, measured_totals


def additive_regression(
    system: System, *, marks: Sequence[int], rng: Rng = None, ridge: float = 1.0
) -> Trail:
    """Even rounds, and a ridge regression of every number on the arms of its own links.

    The same links and features as edgewise, but numbers learn nothing from each other.
    """
    problem, random, rounds = system.problem, generator(rng), checked_marks(marks)
    network = local_network(problem)
    deployed = _even_rounds(problem, int(rounds[-1]), random)
    numbers, means = system.measured(deployed, random)
    features = np.array([network.features(arms) for arms in deployed])
    answers = []
    for last in rounds:
        seen = Phase.empty(network.channels).add(features[:last], numbers[:last])
        equations = normal_equations(seen, problem.level_names, noise=network.measurement.noise)
        world = objective_of(network, _ridge(equations, ridge))
        answers.append(solve(world, Request(bound=None)).arms)
    worths = system.worths(means.sum(axis=1))
    return Trail("additive regression", worths, rounds, np.array(answers))


def cma_es(system: System, *, marks: Sequence[int], rng: Rng = None) -> Trail:
    """Evolution strategy with covariance matrix adaptation on the measured total (Hansen 2016).

    Nodes with several candidates are coordinates, their candidates, in order, even steps from 0 to
    1. It starts from today's joint arm; the answer is the mean of its law.
    """
    random, rounds = generator(rng), checked_marks(marks)
    space = _Space.of(system)
    worths: list[float] = []
    answers: list[Indices] = []
    law = _Law.start(space.place(system.today), step=0.25)
    while len(worths) < rounds[-1]:
        points = law.draw(random)
        totals, true = measured_totals(system, space.arms(points), random)
        law = law.after(points, totals)
        due = rounds[(rounds > len(worths)) & (rounds <= len(worths) + len(points))]
        worths.extend(true)
        answers.extend([space.arms(law.mean[None])[0]] * len(due))
    return Trail("CMA-ES", np.array(worths[: rounds[-1]]), rounds, np.array(answers))


RIVALS = {"additive regression": additive_regression, "CMA-ES": cma_es}
"""By name."""


def _even_rounds(problem: Problem, n_rounds: int, rng: np.random.Generator) -> Indices:
    masks, groups = problem.candidate_sets
    choices = [np.flatnonzero(masks[group]) for group in groups]
    return np.column_stack([rng.choice(arms, size=n_rounds) for arms in choices])


def _ridge(equations: NormalEquations, ridge: float) -> Array:
    """(P,) ridge estimates, number by number."""
    channels, theta = equations.channels, np.zeros(equations.channels.n_parameters)
    for c in range(channels.n_channels):
        first, last = channels.starts[c : c + 2]
        width = int(last - first)
        gram = equations.gram[slice(*channels.gram_starts[c : c + 2])].reshape(width, width)
        theta[first:last] = np.linalg.solve(
            gram + ridge * np.eye(width), equations.moment[first:last]
        )
    return theta


@dataclass(frozen=True, eq=False)
class _Space:
    """Joint arms as points of a cube: candidates of a node are even steps of its coordinate."""

    today: Indices
    nodes: Indices
    """(m,) those with several candidates."""
    choices: tuple[Indices, ...]

    @classmethod
    def of(cls, system: System) -> _Space:
        masks, groups = system.problem.candidate_sets
        nodes = np.flatnonzero(masks.sum(axis=1)[groups] > 1)
        choices = tuple(np.flatnonzero(masks[groups[node]]) for node in nodes)
        return cls(system.today, nodes, choices)

    def place(self, arms: Indices) -> Array:
        """(m,) the point of a joint arm (n,)."""
        at = [
            np.flatnonzero(choice == arms[node])[0] / (len(choice) - 1)
            for node, choice in zip(self.nodes, self.choices, strict=True)
        ]
        return np.array(at)

    def arms(self, points: Array) -> Indices:
        """(R, n) the joint arms nearest to points (R, m)."""
        found = np.repeat(self.today[None], len(points), axis=0)
        for column, (node, choice) in enumerate(zip(self.nodes, self.choices, strict=True)):
            steps = np.clip(points[:, column], 0.0, 1.0) * (len(choice) - 1)
            found[:, node] = choice[np.rint(steps).astype(int)]
        return found


@dataclass(frozen=True, eq=False)
class _Law:
    """The state of CMA-ES, in the notation of Hansen's tutorial (2016)."""

    mean: Array
    step: float
    covariance: Array
    path: Array
    step_path: Array
    generation: int

    @classmethod
    def start(cls, mean: Array, step: float) -> _Law:
        n = len(mean)
        return cls(mean, step, np.eye(n), np.zeros(n), np.zeros(n), 0)

    def draw(self, rng: np.random.Generator) -> Array:
        """(lambda, m) the next generation; outside the cube at its nearest face."""
        n = len(self.mean)
        values, vectors = np.linalg.eigh(self.covariance)
        normal = rng.standard_normal((4 + int(3 * np.log(n)), n))
        steps = normal * np.sqrt(np.maximum(values, 0.0)) @ vectors.T
        points: Array = np.clip(self.mean + self.step * steps, 0.0, 1.0)
        return points

    def after(self, points: Array, worths: Array) -> _Law:
        """With what a generation was worth, measured."""
        rates, n = _Rates.of(len(self.mean), len(points)), len(self.mean)
        best = points[np.argsort(-worths, kind="stable")[: len(rates.weights)]]
        moves = (best - self.mean) / self.step
        move = rates.weights @ moves
        values, vectors = np.linalg.eigh(self.covariance)
        whitened = vectors @ ((vectors.T @ move) / np.sqrt(np.maximum(values, 1e-20)))
        step_path = _smoothed(self.step_path, whitened, rates.step, rates.effective)
        length, expected = float(np.linalg.norm(step_path)), np.sqrt(n) * (1 - 1 / (4 * n))
        fresh = 1 - (1 - rates.step) ** (2 * (self.generation + 1))
        stalled = length / np.sqrt(fresh) >= (1.4 + 2 / (n + 1)) * expected
        path = _smoothed(self.path, 0.0 * move if stalled else move, rates.path, rates.effective)
        covariance = (1 - rates.one - rates.mu) * self.covariance
        covariance += (
            rates.one * np.outer(path, path) + rates.mu * (moves.T * rates.weights) @ moves
        )
        growth = float(np.exp(rates.step / rates.damping * (length / expected - 1)))
        return _Law(
            self.mean + self.step * move,
            self.step * growth,
            covariance,
            path,
            step_path,
            self.generation + 1,
        )


@dataclass(frozen=True, eq=False)
class _Rates:
    """Weights of the better half, and how fast each part learns: the tutorial's defaults."""

    weights: Array
    effective: float
    step: float
    damping: float
    path: float
    one: float
    mu: float

    @classmethod
    def of(cls, n: int, population: int) -> _Rates:
        half = population // 2
        weights = np.log(population / 2 + 0.5) - np.log(np.arange(1, half + 1))
        weights /= weights.sum()
        m = float(1.0 / (weights**2).sum())
        step, one = (m + 2) / (n + m + 5), 2 / ((n + 1.3) ** 2 + m)
        return cls(
            weights,
            effective=m,
            step=step,
            damping=1 + 2 * max(0.0, float(np.sqrt((m - 1) / (n + 1))) - 1) + step,
            path=(4 + m / n) / (n + 4 + 2 * m / n),
            one=one,
            mu=min(1 - one, 2 * (m - 2 + 1 / m) / ((n + 2) ** 2 + m)),
        )


def _smoothed(path: Array, move: Array, rate: float, effective: float) -> Array:
    """A path of moves with geometric weights, scaled so that its variance is that of a move."""
    found: Array = (1 - rate) * path + np.sqrt(rate * (2 - rate) * effective) * move
    return found
