"""The local model: speed of a fit, what each way of pooling loses, what node channels cost.

``python benchmarks/bench_local.py [instances]`` prints four markdown tables. Every row of the first
runs in a process of its own, so that its peak memory is its own. The second compares with
statsmodels, and with mixedlm-rs where that can be imported.
"""

from __future__ import annotations

import importlib
import json
import resource
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np

from edgewise.allocation.allocate import solve
from edgewise.allocation.instance.objective import Objective
from edgewise.allocation.request import Request
from edgewise.base.arrays import Array, Indices
from edgewise.core.local.channels import Channels
from edgewise.core.local.normal_equations import NormalEquations, Phase, normal_equations
from edgewise.core.local.pooling import decide
from edgewise.core.local.posterior import tables
from edgewise.core.local.reml import Fit, fit
from edgewise.network.graph import Graph

_BYTES_PER_UNIT = 1 if sys.platform == "darwin" else 1024
MODES = ("shared", "partial", "none", "auto")


# -- speed -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """One line of the table of times."""

    what: str
    seconds: float
    """Median over the repeats; the first call, which compiles, is not counted."""
    passes: int
    converged: bool
    peak_megabytes: float
    """Of the process, interpreter and libraries included."""


def rounds_of(
    channels: Channels, n_rounds: int, deviation: float, noise: float, *, levels: float = 5.0
) -> tuple[Array, Array]:
    """Gaussian features and rewards with levels, drawn from the hierarchical model."""
    rng = np.random.default_rng(0)
    theta = np.concatenate([rng.standard_normal(p) for p in channels.dimensions[channels.kinds]])
    means = [rng.standard_normal(p) for p in channels.dimensions]
    theta = np.concatenate([means[k] for k in channels.kinds]) + deviation * theta
    z = rng.standard_normal((n_rounds, channels.n_parameters))
    r = np.add.reduceat(z * theta, channels.starts[:-1], axis=1)
    r += noise * rng.standard_normal(r.shape) + levels * rng.standard_normal(channels.n_channels)
    return z, r


def arcs() -> Channels:
    """10^4 arcs of one kind, nine parameters each."""
    return Channels.of_arcs(np.zeros(10_000, np.int64), [9])


def farm() -> Channels:
    """40 nodes with 80 links into them (p = 9) and own terms (p = 2), a channel per node."""
    targets = np.sort(np.random.default_rng(1).integers(0, 40, 80))
    counts = np.bincount(targets, minlength=40)
    kinds = np.concatenate([[0] * count + [1] for count in counts])
    return Channels(kinds, np.array([9, 2]), np.concatenate([[0], np.cumsum(counts + 1)]))


def full_fit(what: str, channels: Channels, n_rounds: int, deviation: float) -> Row:
    """Time a cold fit."""
    phase = Phase.empty(channels).add(*rounds_of(channels, n_rounds, deviation, 0.5))
    equations = normal_equations(phase)
    return _measured(what, lambda: fit(equations))


def warm_fit(what: str, channels: Channels, n_rounds: int, deviation: float) -> Row:
    """Time a refit after twelve further rounds."""
    z, r = rounds_of(channels, n_rounds + 12, deviation, 0.5)
    phase = Phase.empty(channels).add(z[:n_rounds], r[:n_rounds])
    start = fit(normal_equations(phase)).components

    def refit() -> Fit:
        return fit(normal_equations(phase.add(z[n_rounds:], r[n_rounds:])), start=start)

    return _measured(what, refit)


def _measured(what: str, run: Callable[[], Fit], repeats: int = 5) -> Row:
    fitted, times = run(), []
    for _ in range(repeats):
        start = time.perf_counter()
        fitted = run()
        times.append(time.perf_counter() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _BYTES_PER_UNIT / 1e6
    return Row(what, statistics.median(times), fitted.passes, fitted.converged, peak)


ROWS: dict[str, Callable[[], Row]] = {
    "arcs": lambda: full_fit("10^4 arcs, p = 9, 30 rounds", arcs(), 30, 0.3),
    "arcs equal": lambda: full_fit("10^4 equal arcs, p = 9, 30 rounds", arcs(), 30, 0.0),
    "arcs warm": lambda: warm_fit("10^4 arcs, 30 + 12 rounds, warm", arcs(), 30, 0.3),
    "farm": lambda: full_fit("40 nodes, 80 links, 26 rounds", farm(), 26, 0.3),
    "farm equal": lambda: full_fit("40 nodes, 80 equal links, 26 rounds", farm(), 26, 0.0),
    "farm warm": lambda: warm_fit("40 nodes, 80 links, 26 + 12 rounds, warm", farm(), 26, 0.3),
}


def in_subprocess(name: str) -> Row:
    """One of :data:`ROWS`, measured in a fresh interpreter."""
    command = [sys.executable, __file__, name]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return Row(**json.loads(output.splitlines()[-1]))


def table_of_times(rows: list[Row]) -> str:
    """The rows in markdown."""
    lines = ["| fit | median s | passes | converged | peak MB |", "|---|---|---|---|---|"]
    lines += [
        f"| {row.what} | {row.seconds:.3g} | {row.passes} | {'yes' if row.converged else 'no'} "
        f"| {row.peak_megabytes:.0f} |"
        for row in rows
    ]
    return "\n".join(lines)


# -- against other libraries ------------------------------------------------------------------

RIVALS = {
    "statsmodels MixedLM": "statsmodels.regression.mixed_linear_model",
    "mixedlm-rs MixedLM": "mixedlm_rs",
}
SIZES = ((50, 3, 20), (200, 3, 30), (200, 6, 30), (1000, 3, 30))
"""Arcs, parameters of an arc, rounds."""


def table_of_rivals() -> str:
    """The same model, r = z'(b + delta_e) + noise without levels, from rows to estimates."""
    lines = [
        "| arcs, p, rounds | library | median s | against edgewise | largest difference of Omega |",
        "|---|---|---|---|---|",
    ]
    for n_arcs, p, n_rounds in SIZES:
        what = f"| {n_arcs}, {p}, {n_rounds} |"
        channels = Channels.of_arcs(np.zeros(n_arcs, np.int64), [p])
        z, r = rounds_of(channels, n_rounds, 0.5, 0.5, levels=0.0)
        seconds, fitted = _timed(partial(_ours, channels, z, r))
        lines.append(f"{what} edgewise | {seconds:.3g} | 1 | |")
        for name, module in RIVALS.items():
            try:
                library = importlib.import_module(module)
            except ImportError:
                lines.append(f"{what} {name} | not installed | | |")
                continue
            theirs, omega = _timed(partial(_rival, library, z, r, p))
            difference = float(np.abs(omega - fitted.omega(0)).max())
            ratio = theirs / seconds
            lines.append(f"{what} {name} | {theirs:.3g} | {ratio:.2g} | {difference:.1e} |")
    return "\n".join(lines)


def _ours(channels: Channels, z: Array, r: Array) -> Fit:
    equations = normal_equations(Phase.empty(channels).add(z, r), "none")
    return fit(equations, flat=True, prior=0.0, tolerance=1e-6)


def _rival(library: Any, z: Array, r: Array, p: int) -> Array:
    features, groups = z.reshape(-1, p), np.tile(np.arange(r.shape[1]), len(r))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = library.MixedLM(r.ravel(), features, groups=groups, exog_re=features)
        return np.asarray(model.fit(reml=True).cov_re)


def _timed(run: Callable[[], Any], repeats: int = 3) -> tuple[float, Any]:
    """Median time and result; the first call, which compiles, is not counted."""
    result, times = run(), []
    for _ in range(repeats):
        start = time.perf_counter()
        result = run()
        times.append(time.perf_counter() - start)
    return statistics.median(times), result


# -- what pooling loses ----------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """One network of 100 nodes and 200 directed edges; arms x = (1, u, u^2) at five settings."""

    deviation: float
    """Of a parameter of an edge, relative to the root mean square of its kind's."""
    n_rounds: int
    noise: float
    """Relative to the spread of an edge's reward over uniform rounds."""
    seed: int


def shares(case: Case) -> dict[str, float]:
    """Share of the possible gain over random joint arms, by the way of pooling."""
    rng = np.random.default_rng([case.seed, int(100 * case.deviation), case.n_rounds])
    graph, features = _network(rng), _features()
    b = rng.standard_normal(9)
    theta = b + case.deviation * np.sqrt((b**2).mean()) * rng.standard_normal((200, 9))
    truth = tables(theta, features)
    equations = _observed(graph, features, truth, case, rng)
    best = truth[np.arange(200), *_chosen(graph, truth)[graph.edges].T].sum()
    uniform = truth.mean(axis=(1, 2)).sum()
    result = {}
    for mode in MODES[:3]:
        estimated = tables(fit(equations, mode).theta.reshape(200, 9), features)
        arms = _chosen(graph, estimated)
        value = truth[np.arange(200), *arms[graph.edges].T].sum()
        result[mode] = float((value - uniform) / (best - uniform))
    result["auto"] = result[decide(equations).pooling.value]
    return result


def _network(rng: np.random.Generator) -> Graph:
    """A ring, so that no node is left out, and 100 further edges; every edge a kind of its own."""
    pairs = {(i, (i + 1) % 100) for i in range(100)}
    while len(pairs) < 200:
        i, j = (int(node) for node in rng.integers(0, 100, 2))
        if i != j and (j, i) not in pairs:
            pairs.add((i, j))
    return Graph.from_edges(sorted(pairs), n_nodes=100, directed=True, kinds=np.arange(200))


def _features() -> Array:
    """(K, K, 9) vec(x_k x_l')."""
    u = np.linspace(-1, 1, 5)
    x = np.stack([np.ones(5), u, u**2], axis=1)
    return np.asarray(np.einsum("ki,lj->klij", x, x).reshape(5, 5, 9))


def _observed(
    graph: Graph, features: Array, truth: Array, case: Case, rng: np.random.Generator
) -> NormalEquations:
    arms = rng.integers(0, 5, (case.n_rounds, 100))
    k, l = arms[:, graph.edges[:, 0]], arms[:, graph.edges[:, 1]]
    spread = np.sqrt(truth.reshape(200, -1).var(axis=1).mean())
    r = truth[np.arange(200), k, l] + case.noise * spread * rng.standard_normal(k.shape)
    channels = Channels.of_arcs(np.zeros(200, np.int64), [9])
    phase = Phase.empty(channels).add(features[k, l].reshape(case.n_rounds, -1), r)
    return normal_equations(phase)


def _chosen(graph: Graph, values: Array) -> Indices:
    return np.asarray(solve(Objective.of(graph, values, None), Request(bound=None)).arms)


def table_of_losses(n_instances: int) -> str:
    """Mean and worst loss against the best of shared, partial and none, in percent."""
    head = "".join(f" {mode} |" for mode in MODES)
    lines = [
        "Loss in percent of the possible gain, against the best of the three (mean, worst):\n",
        f"| deviation | rounds | noise | best reaches |{head}",
        "|---|---|---|---|" + "---|" * len(MODES),
    ]
    worst = {mode: np.zeros(2) for mode in MODES}
    for deviation in (0.0, 0.1, 0.3, 1.0):
        for n_rounds in (5, 20, 50, 200):
            for noise in (0.3, 1.0):
                found = [shares(Case(deviation, n_rounds, noise, i)) for i in range(n_instances)]
                best = np.array([max(f[mode] for mode in MODES[:3]) for f in found])
                cells = []
                for mode in MODES:
                    loss = 100 * (best - [f[mode] for f in found])
                    cells.append(f"{loss.mean():.1f}, {loss.max():.1f}")
                    worst[mode] = np.maximum(worst[mode], [loss.mean(), loss.max()])
                line = f"| {deviation:.0%} | {n_rounds} | {noise} | {best.mean():.0%} |"
                lines.append(line + "".join(f" {cell} |" for cell in cells))
    totals = "".join(f" {mean:.1f}, {most:.1f} |" for mean, most in worst.values())
    return "\n".join([*lines, f"| largest | | | |{totals}"])


# -- node channels against arc channels -------------------------------------------------------

COUNTS = (2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 65, 80, 100, 130, 160, 200, 250, 320)
"""Rounds at which the answer is looked at."""


def rounds_needed(measured: str, deviation: float, noise: float, n_instances: int) -> str:
    """The fewest rounds after which answers reach 95 % of the optimum, on average."""
    worlds = [_world(deviation, noise, seed) for seed in range(n_instances)]
    pooling = "partial" if deviation else "shared"
    for n_rounds in COUNTS:
        found = [_share(world, measured, pooling, n_rounds) for world in worlds]
        if np.mean(found) >= 0.95:
            return str(n_rounds)
    return f"> {COUNTS[-1]}"


@dataclass(frozen=True, eq=False)
class World:
    """One network, its truth, and all of its rounds."""

    graph: Graph
    truth: Array
    arms: Indices
    """(R, n)."""
    errors: Array
    """(R, 200) noise; nodes use the first 100 columns."""
    best: float
    """Value of the best joint arm found for the truth."""


def _world(deviation: float, noise: float, seed: int) -> World:
    rng = np.random.default_rng([seed, 13])
    graph, b = _network(rng), rng.standard_normal(9)
    theta = b + deviation * np.sqrt((b**2).mean()) * rng.standard_normal((200, 9))
    truth = tables(theta, _features())
    spread = np.sqrt(truth.reshape(200, -1).var(axis=1).mean())
    arms = rng.integers(0, 5, (COUNTS[-1], 100))
    errors = noise * spread * rng.standard_normal((COUNTS[-1], 200))
    best = truth[np.arange(200), *_chosen(graph, truth)[graph.edges].T].sum()
    return World(graph, truth, arms, errors, float(best))


def _share(world: World, measured: str, pooling: str, n_rounds: int) -> float:
    """Share of the possible gain over random joint arms."""
    graph, truth, features = world.graph, world.truth, _features()
    arms, edges = world.arms[:n_rounds], np.arange(200)
    k, l = arms[:, graph.edges[:, 0]], arms[:, graph.edges[:, 1]]
    rewards, order, blocks = truth[edges, k, l], edges, np.arange(201)
    if measured == "node":
        targets = graph.edges[:, 1]
        order = np.argsort(targets, kind="stable")
        blocks = np.concatenate([[0], np.cumsum(np.bincount(targets, minlength=100))])
        rewards = np.add.reduceat(rewards[:, order], blocks[:-1], axis=1)
    rewards = rewards + world.errors[:n_rounds, : rewards.shape[1]]
    channels = Channels(np.zeros(200, np.int64), np.array([9]), blocks)
    z = features[k, l][:, order].reshape(n_rounds, -1)
    equations, theta = normal_equations(Phase.empty(channels).add(z, rewards)), np.empty((200, 9))
    theta[order] = fit(equations, pooling).theta.reshape(200, 9)
    chosen = _chosen(graph, tables(theta, features))[graph.edges].T
    uniform = truth.mean(axis=(1, 2)).sum()
    return float((truth[edges, *chosen].sum() - uniform) / (world.best - uniform))


def table_of_channels(n_instances: int) -> str:
    """Rounds to 95 % of the optimum, by what is measured."""
    lines = [
        "| deviation | pooling | noise | arc channels (200 a round) | node channels (100) |",
        "|---|---|---|---|---|",
    ]
    for deviation in (0.0, 0.3, 1.0):
        for noise in (0.3, 1.0, 3.0):
            needed = [rounds_needed(m, deviation, noise, n_instances) for m in ("arc", "node")]
            pooling = "partial" if deviation else "shared"
            lines.append(f"| {deviation:.0%} | {pooling} | {noise} | {needed[0]} | {needed[1]} |")
    return "\n".join(lines)


def main() -> None:
    """Print the tables; with a row's name, print that row as JSON."""
    if len(sys.argv) > 1 and sys.argv[1] in ROWS:
        print(json.dumps(asdict(ROWS[sys.argv[1]]())))
        return
    print(table_of_times([in_subprocess(name) for name in ROWS]), flush=True)
    n_instances = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    print("\n" + table_of_rivals(), flush=True)
    print("\n" + table_of_channels(min(n_instances, 10)), flush=True)
    print("\n" + table_of_losses(n_instances))


if __name__ == "__main__":
    main()
