"""The three measurements of the paper's experiments: rounds, variance, loss of the design."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from edgewise.base.arrays import Array
from edgewise.core.design.g_optimal import g_optimal
from edgewise.core.design.node_laws import NodeLaws
from edgewise.core.evidence.statistics import count_rounds
from edgewise.core.model.cells import Cells
from edgewise.core.model.problem import Problem
from edgewise.core.strategies import STRATEGIES
from edgewise.network.families import graph_of
from edgewise.network.graph import Graph
from edgewise.reproduction.sweep.cell import Row, as_plain, generator_from, point_key
from edgewise.simulation import Replications, paper_instance, replicate
from edgewise.theory import alpha, paper_decomposition, variance

_MAX_ROUNDS = 10**6
_EARN = {"optimistic", "thompson"}
"""Strategies that earn rather than certify: rounds to a certificate say nothing of them."""
_BLOCK = 512


def methods() -> dict[str, tuple[str, str | None]]:
    """Name of every method: its strategy and stopping rule (None: the strategy's own).

    ``paper``, ``union`` and ``mixture`` as in the paper and its tightening, ``rivalwise`` the
    adaptive strategy with a union over rivals; every further strategy of the library that seeks a
    certificate joins with its own rule, under its own name.
    """
    known: dict[str, tuple[str, str | None]] = {
        "paper": ("paper", "paper"),
        "union": ("g-optimal", "union"),
        "mixture": ("g-optimal", "mixture"),
        "rivalwise": ("adaptive", "rivalwise"),
    }
    others = [name for name in STRATEGIES if name not in {"paper", "g-optimal", *_EARN}]
    return known | {name: (name, None) for name in others}


def rows_of(runs: Replications, counter: str, first: int = 0) -> list[Row]:
    """One row per run, numbered from ``first`` in the column ``counter``."""
    table = zip(runs.rounds, runs.certified, runs.correct, strict=True)
    return [
        {
            counter: first + i,
            "rounds": int(rounds),
            "certified": bool(certified),
            "correct": bool(correct),
        }
        for i, (rounds, certified, correct) in enumerate(table)
    ]


@dataclass(frozen=True)
class RoundsPoint:
    """Figure 1: rounds until the rule stops, on the paper's instance with noise N(0, 1)."""

    omega: float
    graph: str
    n_edges: int
    dimension: int
    method: str
    delta: float

    @property
    def cost(self) -> float:
        """Rounds grow as d^2 / (m gap^2), and paper's constants are some 20 times the others'."""
        gap = max(2.0 - 2.0 * math.cos(self.omega), 1e-6)
        rounds = self.dimension**2 / (self.n_edges * gap**2)
        return (20.0 if self.method == "paper" else 1.0) * rounds + 1.0

    def run(self, seed: int, first: int, count: int) -> list[Row]:
        """One row per repetition, by :func:`edgewise.simulation.replicate`."""
        arms, matrix = paper_instance(self.dimension, self.omega)
        strategy, stopping = methods()[self.method]
        runs = replicate(
            Problem(graph_of(self.graph, self.n_edges), arms, noise=1.0),
            matrix,
            repetitions=count,
            strategy=strategy,
            stopping=stopping,
            delta=self.delta,
            max_rounds=_MAX_ROUNDS,
            rng=generator_from(seed, point_key(self), first=first),
            progress=False,
        )
        return rows_of(runs, "repetition", first)


@dataclass(frozen=True)
class VariancePoint:
    """Figure 2 and Table 1: ||Var(A_1)|| for random unit arms, at several m.

    Repetition i has the same arms whatever the graph and the edges.
    """

    graph: str
    edges: tuple[int, ...]
    dimension: int
    n_arms: int
    draws: int
    """Simulated rounds per m of the Monte Carlo check; 0 for none."""

    @property
    def cost(self) -> float:
        """A design, and the draws."""
        return 20.0 + 0.002 * self.draws * len(self.edges)

    def run(self, seed: int, first: int, count: int) -> list[Row]:
        """One row per repetition and m."""
        shared = f"arms {self.n_arms} x {self.dimension}"
        arm_streams = generator_from(seed, shared, first=first).spawn(count)
        noise_streams = generator_from(seed, point_key(self), first=first).spawn(count)
        rows: list[Row] = []
        for i in range(count):
            arms = arm_streams[i].standard_normal((self.n_arms, self.dimension))
            arms /= np.linalg.norm(arms, axis=1, keepdims=True)
            law = g_optimal(arms).weights
            rows += [
                {"repetition": first + i, **self._at(n_edges, arms, law, noise_streams[i])}
                for n_edges in self.edges
            ]
        return rows

    def _at(self, n_edges: int, arms: Array, law: Array, rng: np.random.Generator) -> Row:
        graph = graph_of(self.graph, n_edges)
        exact = variance(graph, arms, law)
        row: Row = {
            "n_edges": n_edges,
            "exact": exact.norm,
            "paper": paper_decomposition(graph, arms, law).norm,
        }
        if self.draws:
            worst = np.linalg.eigh(exact.matrix)[1][:, -1]
            sizes = deviations_along(worst, graph, arms, law, self.draws, rng)
            row["monte_carlo"] = as_plain(sizes.mean())
            row["standard_error"] = as_plain(sizes.std(ddof=1) / math.sqrt(self.draws))
        return row


def deviations_along(
    direction: Array, graph: Graph, arms: Array, law: Array, draws: int, rng: np.random.Generator
) -> Array:
    r"""(draws,) of :math:`\|(A_1 - \mathbb{E}A_1)u\|^2`, by drawing the nodes' arms.

    Its mean is :math:`u^\top \mathrm{Var}(A_1) u`, without bias whatever u is fixed beforehand;
    for the leading eigenvector it is :math:`\|\mathrm{Var}(A_1)\|`. Only the definition of
    :math:`A_1` enters, no formula for its variance.
    """
    d = arms.shape[1]
    S = (arms.T * law) @ arms
    expected = graph.n_arcs * np.kron(S, S) @ direction
    joint = rng.choice(len(arms), size=(draws, graph.n_nodes), p=law / law.sum())
    table = arms @ direction.reshape(d, d) @ arms.T
    total = np.zeros((draws, d, d))
    for i, j in ((0, 1), (1, 0)):  # both directions of every edge
        k, l = joint[:, graph.edges[:, i]], joint[:, graph.edges[:, j]]
        total += np.einsum("te,tea,teb->tab", table[k, l], arms[k], arms[l], optimize=True)
    sizes: Array = ((total.reshape(draws, d * d) - expected) ** 2).sum(axis=1)
    return sizes


@dataclass(frozen=True)
class LossPoint:
    """Theorem 4.2: how far the drawn design is from the optimum after t rounds, and the bound."""

    omega: float
    graph: str
    n_edges: int
    dimension: int
    delta: float
    rounds: int

    @property
    def cost(self) -> float:
        """Edges drawn."""
        return 1.0 + 2e-6 * self.rounds * self.n_edges

    def run(self, seed: int, first: int, count: int) -> list[Row]:
        """One row per repetition: realised loss alpha, and its bounds."""
        arms, _ = paper_instance(self.dimension, self.omega)
        problem = Problem(graph_of(self.graph, self.n_edges), arms)
        bounds = {
            form: alpha(problem.graph, arms, self.rounds, delta=self.delta, form=form)
            for form in ("leading", "whitened")
        }
        cells = Cells.as_printed(problem)
        everyone = np.zeros(problem.graph.n_nodes, np.int64)
        laws = NodeLaws.of(g_optimal(arms).weights, everyone)
        streams = generator_from(seed, point_key(self), first=first).spawn(count)
        return [
            {
                "repetition": first + i,
                "loss": self._loss(problem.graph, cells, laws, int(rng.integers(2**63))),
                "bound": bounds["leading"],
                "whitened_bound": bounds["whitened"],
            }
            for i, rng in enumerate(streams)
        ]

    def _loss(self, graph: Graph, cells: Cells, laws: NodeLaws, seed: int) -> float:
        r""":math:`(mt/d^2) \max_z z^\top A_t^{-1} z - 1`; zero at the optimum."""
        shown = np.zeros(len(cells.pairs))
        for start in range(0, self.rounds, _BLOCK):
            size = min(_BLOCK, self.rounds - start)
            _, information = count_rounds(
                graph, cells, laws, seed=seed, first_round=start + 1, n_rounds=size
            )
            shown += information.sum(axis=(0, 1))
        features = cells.features[0]
        gram = (features.T * shown) @ features
        worst = (features * np.linalg.solve(gram, features.T).T).sum(axis=1).max()
        return float(worst * graph.n_arcs * self.rounds / self.dimension**2 - 1.0)
