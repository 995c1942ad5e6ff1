"""What ``beyond`` claims: who needs fewer rounds, and that guarantees and bounds hold."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from edgewise.base.arrays import Array
from edgewise.reproduction.experiments.beyond_data import instance_means
from edgewise.reproduction.experiments.fig1 import closest_to_bound, n_errors
from edgewise.reproduction.inference import (
    HypothesisTest,
    geometrically_above,
    larger,
    rate_at_most,
)
from edgewise.reproduction.outcome import PaperClaim
from edgewise.reproduction.settings import HARD, Settings
from edgewise.reproduction.sweep.cell import Row
from edgewise.reproduction.sweep.frame import column, select
from edgewise.reproduction.sweep.random_points import LOWER_BOUND

LADDER = ("paper", "union", "mixture", "contrast", "adaptive")
"""From the paper's rule and design to better rules, better laws, and coordination."""


def claims_of(paper: list[Row], random: list[Row], settings: Settings) -> tuple[PaperClaim, ...]:
    """Only what was measured is claimed."""
    steps = [name for name in LADDER if name in settings.chosen_methods]
    claims = []
    hard = [row for row in paper if math.isclose(float(row["omega"]), HARD, rel_tol=1e-3)]
    if hard and len(steps) > 1:
        claims.append(_ladder(hard, steps, settings))
    if hard and {"rivalwise", "adaptive"} <= set(settings.chosen_methods):
        claims.append(_no_union(hard, settings))
    better = [name for name in ("contrast", "adaptive") if name in steps]
    if better and "mixture" in steps:
        claims.append(_on_random_instances(random, better))
    return (*claims, _errors(paper, random, settings), _bounds(paper, random, settings))


def _ladder(rows: list[Row], steps: list[str], settings: Settings) -> PaperClaim:
    d = max(int(row["dimension"]) for row in rows)

    def runs(graph: str, method: str) -> Array:
        return column(select(rows, dimension=d, graph=graph, method=method), "rounds")

    tests = tuple(
        larger(
            f"{slow} / {fast}, d = {d}",
            [(runs(graph, slow), runs(graph, fast)) for graph in settings.graphs],
        )
        for slow, fast in pairwise(steps)
    )
    return PaperClaim(
        f"At omega = 0.1 and d = {d}, each of {', '.join(steps)} needs fewer rounds than the one "
        "before it.",
        "docs/strategies.md (ours)",
        tests,
        "Geometric mean of the ratios over all graphs.",
    )


def _no_union(rows: list[Row], settings: Settings) -> PaperClaim:
    d = max(int(row["dimension"]) for row in rows)

    def runs(graph: str, method: str) -> Array:
        return column(select(rows, dimension=d, graph=graph, method=method), "rounds")

    pairs = [(runs(graph, "rivalwise"), runs(graph, "adaptive")) for graph in settings.graphs]
    return PaperClaim(
        "Refuting pairs for good (rule anytime) needs fewer rounds than a union over rivals "
        f"(rivalwise), at omega = 0.1 and d = {d}.",
        "docs/stopping.md (ours)",
        (larger(f"rivalwise / anytime, d = {d}", pairs),),
        "Geometric mean of the ratios over all graphs, adaptive strategy.",
    )


def _on_random_instances(rows: list[Row], better: Sequence[str]) -> PaperClaim:
    fixed = instance_means(rows, "mixture")
    tests = tuple(
        geometrically_above(f"mixture / {name}", fixed / instance_means(rows, name), 1.0)
        for name in better
    )
    return PaperClaim(
        f"On random instances {' and '.join(better)} need fewer rounds than fixed G-optimal laws "
        "with the mixture rule.",
        "docs/strategies.md (ours)",
        tests,
        "Geometric mean over the instances of the ratio of mean rounds.",
    )


def _errors(paper: list[Row], random: list[Row], settings: Settings) -> PaperClaim:
    tests = []
    for method in settings.chosen_methods:
        rows = select([*paper, *random], method=method)
        tests.append(rate_at_most(method, n_errors(rows), len(rows), settings.delta))
    return PaperClaim(
        f"A certified answer is wrong with probability at most delta = {settings.delta:g}.",
        "docs/stopping.md",
        tuple(tests),
        "Runs on all instances together.",
    )


def _bounds(paper: list[Row], random: list[Row], settings: Settings) -> PaperClaim:
    tests: list[HypothesisTest] = []
    for method in settings.chosen_methods:
        tests.append(closest_to_bound(method, select(paper, method=method)))
        ratio = instance_means(random, method) / LOWER_BOUND
        tests.append(geometrically_above(f"{method}: random instances", ratio, 1.0))
    return PaperClaim(
        "No method needs fewer rounds, on average, than the lower bound.",
        "Section 4.3 (symmetric form)",
        tuple(tests),
        "Mean rounds over the bound: at the point of the paper where it is smallest, and as a "
        "geometric mean over the random instances.",
    )
