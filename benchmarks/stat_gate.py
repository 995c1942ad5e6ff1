"""The gate in front of certificates: false alarms and power, counted (``make stat``).

``python benchmarks/stat_gate.py [RUNS [FIRST]] [alarms] [power] [wind] [local]`` prints tables, by
default the first two, with seeds from FIRST on (0): how often data from the model trip the gate
(two thirds of RUNS whole runs, default 600, over instances, strategies, laws of the noise and
gaps); after how many rounds which mistakes are noticed (RUNS/20 runs each); how random wind farms
end that are modelled with one matrix per kind (RUNS/6 runs, needs FLORIS); and how often data from
the hierarchical model trip the local model's gate. Ends with code 1 if there are more false alarms
than 1 %, by an exact binomial test with a false-alarm rate of 1e-6, or if that test does not notice
a gate whose level is 30 %.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import binom

import edgewise as ew
from edgewise.base.arrays import Array, Indices
from edgewise.errors import IsolatedNodes, SuspiciousReward
from stat_errors import ALLOCATIONS, ONE_RIVAL, PAIRS

LEVEL = 0.01
FALSE_ALARM = 1e-6
ROUNDS = 30
Deploy = Callable[[Indices], Array]


def uniform(rng: np.random.Generator, size: int) -> Array:
    """With variance 1."""
    return np.asarray(rng.uniform(-np.sqrt(3.0), np.sqrt(3.0), size))


LAWS: dict[str, Any] = {"gaussian": "gaussian", "rademacher": "rademacher", "uniform": uniform}


# -- false alarms ------------------------------------------------------------------------------


@dataclass(frozen=True)
class FromTheModel:
    """Rewards as the model says, a share of them missing."""

    problem: ew.Problem
    matrix: Any
    law: Any
    gaps: float

    def __call__(self, rng: np.random.Generator) -> Deploy:
        """A world, from the generator of a repetition."""
        network = ew.BilinearEnvironment(
            self.problem, self.matrix, law=self.law, noise=1.0, rng=rng
        )

        def deploy(arms: Indices) -> Array:
            rewards = network(arms)
            rewards[rng.random(len(rewards)) < self.gaps] = np.nan
            return rewards

        return deploy


def alarms(runs: int, gate: ew.Gate, first: int = 0) -> Iterator[tuple[str, int, int]]:
    """Strategy and law, whole runs, and how many of them the gate contradicted."""
    instances = {**PAIRS, **ONE_RIVAL, **ALLOCATIONS}
    strategies, noises = ("adaptive", "g-optimal"), (1.0, "estimate")
    each = max(runs // (len(instances) * len(strategies) * len(LAWS) * len(noises)), 1)
    for strategy in strategies:
        for law in LAWS:
            count = total = 0
            for at, (problem, matrix) in enumerate(instances.values()):
                for noise in noises:
                    if noise == "estimate" and law != "gaussian":
                        continue  # the ratio versions are proved for Gaussian noise only
                    shown = replace(problem, noise=noise)  # type: ignore[arg-type]
                    found = ew.simulation.replicate(
                        shown,
                        environment=FromTheModel(problem, matrix, LAWS[law], 0.1 * (at % 2)),
                        repetitions=each,
                        strategy=strategy,
                        gate=gate,
                        max_rounds=ROUNDS,
                        rng=first + at,
                    )
                    count, total = count + int(found.contradicted.sum()), total + each
            yield f"{strategy}, {law}", total, count


def is_too_often(count: int, total: int) -> bool:
    """Whether so many alarms can hardly be if each run has one with probability LEVEL."""
    return bool(binom.sf(count - 1, total, LEVEL) < FALSE_ALARM)


# -- power -------------------------------------------------------------------------------------


def _network() -> ew.Graph:
    rng, pairs = np.random.default_rng(5), set[tuple[int, int]]()
    while len(pairs) < 40:
        i, j = sorted(rng.choice(20, 2, replace=False).tolist())
        pairs.add((i, j))
    return ew.Graph.from_edges(sorted(pairs))


GRAPH = _network()
ARMS = np.random.default_rng(6).standard_normal((5, 2))
MATRIX = np.random.default_rng(7).standard_normal((2, 2))
PROBLEM = ew.Problem(GRAPH, ARMS, noise=0.3)
SIGMA = 0.3
ENDS = GRAPH.arcs.T


Change = Callable[[int, Array, Array, Array, np.random.Generator], Array]
"""What the world makes of the model's rewards: from the round, the arms (m, d) at both ends of
every arc, the rewards, and the chance by which the world was made."""


def bilinear(x: Array, y: Array, matrices: Array) -> Array:
    """(m,) x' M y of every arc, with one matrix or one per arc."""
    kind = "ai,aij,aj->a" if matrices.ndim == 3 else "ai,ij,aj->a"
    return np.asarray(np.einsum(kind, x, matrices, y))


def _typo(t: int, x: Array, y: Array, r: Array, own: np.random.Generator) -> Array:  # noqa: ARG001
    at = int(own.integers(len(r)))
    return np.where((np.arange(len(r)) == at) & (t == 2), 150000.0, r)


def _ten(t: int, x: Array, y: Array, r: Array, own: np.random.Generator) -> Array:  # noqa: ARG001
    at = int(own.integers(len(r)))
    return np.where((np.arange(len(r)) == at) & (t == 2), 10.0 * r, r)


def _offset(t: int, x: Array, y: Array, r: Array, own: Any) -> Array:  # noqa: ARG001
    return r + SIGMA * (t % 3 == 0)


def _level(t: int, x: Array, y: Array, r: Array, own: np.random.Generator) -> Array:  # noqa: ARG001
    return np.asarray(r + 0.5 * SIGMA * np.repeat(own.standard_normal(len(r) // 2), 2))


def _drift(t: int, x: Array, y: Array, r: Array, own: Any) -> Array:  # noqa: ARG001
    return r + SIGMA * t / 40


def _doubled(t: int, x: Array, y: Array, r: Array, own: Any) -> Array:  # noqa: ARG001
    chance = np.random.default_rng((int(own.integers(2**31)), t))
    return np.asarray(r + np.sqrt(3.0) * SIGMA * chance.standard_normal(len(r)))


def _edges(t: int, x: Array, y: Array, r: Array, own: Any) -> Array:  # noqa: ARG001
    each = 0.3 * own.standard_normal((len(r) // 2, 2, 2))
    return r + bilinear(x, y, np.repeat(each, 2, axis=0))


def _square(t: int, x: Array, y: Array, r: Array, own: Any, *, size: float) -> Array:  # noqa: ARG001
    return np.asarray(r + size * SIGMA * (x[:, 0] ** 2 - x[:, 1] ** 2))


def _moving(t: int, x: Array, y: Array, r: Array, own: Any) -> Array:
    return r + bilinear(x, y, t / 40 * SIGMA * own.standard_normal((2, 2)))


def _stuck(t: int, x: Array, y: Array, r: Array, own: np.random.Generator) -> Array:  # noqa: ARG001
    at = int(own.integers(len(r)))
    return np.where(np.arange(len(r)) == at, 0.7, r)


CHANGES: dict[str, Change] = {
    "one reward typed as 150000": _typo,
    "one reward times ten": _ten,
    "an offset of one sigma every third round": _offset,
    "a level per link of half a sigma": _level,
    "drift by one sigma in 40 rounds": _drift,
    "noise doubled": _doubled,
    "a matrix per link, deviating by 0.3": _edges,
    "a missing square feature, one sigma": partial(_square, size=1.0),
    "a missing square feature, minus one sigma": partial(_square, size=-1.0),
    "a matrix that drifts by one sigma in 40 rounds": _moving,
    "a stuck sensor": _stuck,
}
FAULTS = (_typo, _ten, _offset, _level, _drift, _doubled, _stuck)
"""Those of measurement only; the others change what joint arms are worth."""


@dataclass(frozen=True)
class Changed:
    """The model, and what it does not know of."""

    change: Change

    def __call__(self, rng: np.random.Generator) -> Deploy:
        """A world, from the generator of a repetition."""
        seed = int(rng.integers(2**31))
        network = ew.BilinearEnvironment(PROBLEM, MATRIX, rng=rng)
        rounds = iter(range(1, 10**6))

        def deploy(arms: Indices) -> Array:
            own = np.random.default_rng(seed)  # the same in every round: what the world is like
            return self.change(next(rounds), *_ends(arms), network(arms), own)

        return deploy

    def best_and(self, rng_seed: int, number: int, arms: Indices) -> tuple[float, float]:
        """What the best joint arm and another are worth in the world after some rounds."""
        rng = np.random.default_rng(rng_seed)
        seed = int(rng.integers(2**31))
        tables = np.zeros((GRAPH.n_arcs, len(ARMS), len(ARMS)))
        for k, x in enumerate(ARMS):
            for l, y in enumerate(ARMS):
                ends = np.tile(x, (GRAPH.n_arcs, 1)), np.tile(y, (GRAPH.n_arcs, 1))
                tables[:, k, l] = bilinear(*ends, MATRIX)
                if self.change not in FAULTS:
                    own = np.random.default_rng(seed)
                    tables[:, k, l] = self.change(number, *ends, tables[:, k, l], own)
        each = ew.Graph.from_edges(
            GRAPH.arcs.tolist(), directed=True, kinds=np.arange(GRAPH.n_arcs)
        )
        best = ew.allocate_table(each, tables)
        at = np.arange(GRAPH.n_arcs)
        mine = tables[at, arms[ENDS[0]], arms[ENDS[1]]].sum()
        return float(max(best.value, mine)), float(mine)


def _ends(arms: Indices) -> tuple[Array, Array]:
    """(m, d) the arms at both ends of every arc."""
    return ARMS[arms[ENDS[0]]], ARMS[arms[ENDS[1]]]


def run(world: Changed, seed: int, rounds: int, **options: Any) -> ew.Learner:
    """Until the rule has its answer, or so many rounds."""
    rng = np.random.default_rng(seed)
    deploy, learner = world(rng), ew.Learner(PROBLEM, rng=rng, **options)
    while learner.ending(max_rounds=rounds) is ew.Ending.RUNNING:
        ticket = learner.ask()
        learner.tell(ticket, deploy(ticket.arms))
    return learner


def power(name: str, runs: int, **options: Any) -> str:
    """One row: noticed by round, before an answer, and where it would have been wrong."""
    world, notices, rounds, withheld, wrong, caught = Changed(CHANGES[name]), [], [], 0, 0, 0
    for seed in range(runs):
        endless = run(world, seed, 40, delta=1e-300, **options)
        notices.append(min((one.round for one in endless.contradictions), default=99))
        learner = run(world, seed, 100, target="allocation", **options)
        rounds.append(learner.rounds)
        if not learner.verdict.stop:
            continue
        report, spoke = learner.report(), bool(learner.contradictions)
        assert report.allocation is not None
        best, mine = world.best_and(seed, learner.rounds, report.allocation.arms)
        withheld += spoke
        wrong += best - mine > report.epsilon
        caught += spoke and best - mine > report.epsilon
    by = " / ".join(f"{(np.array(notices) <= limit).mean():.0%}" for limit in (4, 8, 16, 40))
    shown = f"{name}, features believed" if options else name
    return (
        f"| {shown} | {by} | {np.median(notices):.0f} | {np.mean(rounds):.1f} | "
        f"{withheld / runs:.0%} | {caught} of {wrong} |"
    )


# -- wind farms --------------------------------------------------------------------------------

TURBINES, WIND_ROUNDS, WIND_NOISE = 20, 60, 0.1


def farm_problem(seed: int, *, levels: Any) -> tuple[Any, ew.Problem]:
    """A farm in random places, and its wakes as kinds by reach, each with one matrix."""
    from edgewise.integrations.floris import FlorisSystem, WindFarm, YawTask

    task = YawTask.of(WindFarm.random(TURBINES, seed))
    shared = replace(
        task.problem,
        graph=replace(task.problem.graph, covariates=None, covariate_names=None),
        noise=WIND_NOISE,
        pooling="shared",
        levels=levels,
    )
    return FlorisSystem(task, WIND_NOISE), shared


def wind(runs: int, first: int = 0) -> Iterator[str]:
    """How runs ended, with and without a level per turbine; ten layouts, seeds from 11 on."""
    for levels in ("channel", "none"):
        endings: dict[str, int] = {}
        rounds, forms = [], dict[str, int]()
        for at in range(runs):
            system, problem = farm_problem(11 + (first + at) % 10, levels=levels)
            learner = ew.Learner(problem, rng=first + at)
            noise = np.random.default_rng((first + at, 1))
            while learner.ending(max_rounds=WIND_ROUNDS) is ew.Ending.RUNNING:
                ticket = learner.ask()
                means = system.means(ticket.arms[None])[0]
                learner.tell(ticket, means + WIND_NOISE * noise.standard_normal(len(means)))
            ending = learner.ending(max_rounds=WIND_ROUNDS).name
            endings[ending] = endings.get(ending, 0) + 1
            rounds.append(learner.rounds)
            for one in learner.contradictions[:1]:
                forms[one.form] = forms.get(one.form, 0) + 1
            if at in (4, 9, 24, 49, runs - 1):
                mean = np.mean(rounds)
                yield f"| levels={levels!r} | {at + 1} | {endings} | {mean:.1f} | {forms} |"


# -- the local model ---------------------------------------------------------------------------


def local_alarms(runs: int, gate: ew.Gate, first: int = 0) -> Iterator[tuple[str, int, int]]:
    """Data from the hierarchical model: whole runs, and how many the gate contradicted.

    With "auto" edges are alike, or differ so much that it is found: otherwise a model that is not
    true may be chosen, and a contradiction is no false alarm.
    """
    graph = ew.Graph.from_edges([(i, (i + s) % 8) for s in (1, 2) for i in range(8)], directed=True)
    arms, matrix = np.array([[1.0, 0.0], [0.0, 1.0], [0.7, 0.7]]), [[0.5, 0.2], [0.1, 0.3]]
    measurements: tuple[tuple[Any, Any], ...] = (("node", "channel"), ("arc", "none"))
    spreads: dict[Any, tuple[float, ...]] = {
        "partial": (0.0, 0.1, 0.3, 1.0),
        "auto": (0.0, 1.0),
    }  # clearly alike or not
    for pooling in spreads:
        for measured, levels in measurements:
            for spread in spreads[pooling]:
                problem = ew.Problem(
                    graph, arms, noise=0.3, measured=measured, levels=levels, pooling=pooling
                )
                found = ew.simulation.replicate(
                    problem,
                    matrix,
                    repetitions=max(runs // 12, 1),
                    strategy="thompson",
                    epsilon=1e-9,
                    gate=gate,
                    spread=spread,
                    levels=1.0 if levels == "channel" else None,
                    max_rounds=40,
                    rng=first + int(1000 * spread),
                )
                name = f"{pooling}, {measured}, spread {spread}"
                yield name, len(found.rounds), int(found.contradicted.sum())


def main() -> None:
    """Print the tables; fail if data from the model are contradicted too often."""
    numbers = [int(one) for one in sys.argv[1:] if one.isdigit()]
    asked = [one for one in sys.argv[1:] if not one.isdigit()] or ["alarms", "power"]
    runs, first = (*numbers, *(600, 0)[len(numbers) :])
    warnings.simplefilter("ignore", SuspiciousReward)
    warnings.simplefilter("ignore", IsolatedNodes)  # turbines alone in the wind
    if "power" in asked:
        print_power(max(runs // 20, 5))
    if "wind" in asked:
        print("| model | runs | endings | mean rounds | what spoke first |\n|---|---|---|---|---|")
        for line in wind(max(runs // 6, 1), first):
            print(line, flush=True)
    for name, counted in (("alarms", alarms), ("local", local_alarms)):
        if name in asked:
            print_alarms(counted(runs, ew.Gate(level=LEVEL), first))


def print_power(runs: int) -> None:
    """What is noticed, and when."""
    print(
        "| what the model does not know | noticed by round 4 / 8 / 16 / 40 | median | rounds to "
        "the answer | answers withheld | wrong ones withheld |\n|---|---|---|---|---|---|"
    )
    for name in CHANGES:
        print(power(name, runs), flush=True)
    sure = ew.strategies.Adaptive(doubt=0.0)
    for size in ("one", "minus one"):
        print(power(f"a missing square feature, {size} sigma", runs, strategy=sure), flush=True)


def print_alarms(rows: Iterator[tuple[str, int, int]]) -> None:
    """Counted; ends the process if there are too many, or too few runs to say."""
    print("| data from the model | whole runs | contradicted |\n|---|---|---|")
    total = count = 0
    for name, some, spoke in rows:
        print(f"| {name} | {some} | {spoke} |", flush=True)
        total, count = total + some, count + spoke
    print(f"| all | {total} | {count} |\n", flush=True)
    if is_too_often(count, total):
        sys.exit(f"{count} false alarms in {total} runs: more than {LEVEL:.0%}")
    if not is_too_often(int(0.3 * total), total):
        sys.exit("too few runs to notice a gate whose level is 30 %; ask for more")


if __name__ == "__main__":
    main()
