"""G-optimal designs: time, certificate and memory, against cvxpy in the same run.

``python benchmarks/bench_design.py`` prints a markdown table. Every row runs in a process of its
own, so that its peak memory is its own. Arms are raw Gaussians: unit vectors make it easy.
"""

from __future__ import annotations

import importlib
import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from edgewise.base.arrays import Array
from edgewise.core.design.g_optimal import g_optimal, variances

TOLERANCE = 1e-9
_BYTES_PER_UNIT = 1 if sys.platform == "darwin" else 1024


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    solver: str
    n_arms: int
    dimension: int
    seconds: float
    """Median over the repeats; the first call, which loads and warms up, is not counted."""
    gap: float
    """Certificate of the weights returned, computed by edgewise for every solver."""
    peak_megabytes: float
    """Of the process, interpreter and libraries included."""
    repeats: int


def gaussian_arms(n_arms: int, dimension: int) -> Array:
    """The same arms for every solver."""
    return np.random.default_rng(0).standard_normal((n_arms, dimension))


def edgewise_row(n_arms: int, dimension: int, repeats: int, method: str = "newton") -> Row:
    """Time ``g_optimal`` to a certified gap of 1e-9 (1e-3 for Frank-Wolfe, which stalls)."""
    tolerance = 1e-3 if method == "frank-wolfe" else TOLERANCE

    def solve(arms: Array) -> Array:
        return g_optimal(arms, tolerance=tolerance, method=method).weights

    name = f"edgewise {method} ({tolerance:g})"
    return _measured(name, solve, n_arms, dimension, repeats)


def cvxpy_row(n_arms: int, dimension: int, repeats: int, solver: str) -> Row:
    """Time cvxpy on max log det; SCS at eps 1e-6, Clarabel at its defaults."""
    cvxpy: Any = importlib.import_module("cvxpy")
    options: dict[str, Any] = {"eps": 1e-6, "max_iters": 100_000} if solver == "SCS" else {}

    def solve(arms: Array) -> Array:
        weights = cvxpy.Variable(len(arms), nonneg=True)
        # One linear map of the weights: cvxpy compiles X' diag(w) X, as usually written, into the
        # same cone problem but four times slower, which would flatter us.
        products = np.einsum("ki,kj->ijk", arms, arms).reshape(dimension**2, -1)
        shape = (dimension, dimension)
        moment = cvxpy.reshape(products @ weights, shape, order="C")
        problem = cvxpy.Problem(cvxpy.Maximize(cvxpy.log_det(moment)), [cvxpy.sum(weights) == 1])
        problem.solve(solver=solver, **options)
        found = np.maximum(weights.value, 0.0)
        return np.asarray(found / found.sum())

    return _measured(f"cvxpy {solver}", solve, n_arms, dimension, repeats)


def _measured(
    name: str, solve: Callable[[Array], Array], n_arms: int, dimension: int, repeats: int
) -> Row:
    arms = gaussian_arms(n_arms, dimension)
    solve(gaussian_arms(4 * dimension, dimension))
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        weights = solve(arms)
        times.append(time.perf_counter() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _BYTES_PER_UNIT / 1e6
    gap = float(variances(arms, weights).max()) / dimension - 1.0
    return Row(name, n_arms, dimension, statistics.median(times), max(gap, 0.0), peak, repeats)


ROWS: dict[str, Callable[[], Row]] = {
    "edgewise 100x5": lambda: edgewise_row(100, 5, 21),
    "edgewise 1000x10": lambda: edgewise_row(1_000, 10, 21),
    "scs 1000x10": lambda: cvxpy_row(1_000, 10, 3, "SCS"),
    "clarabel 1000x10": lambda: cvxpy_row(1_000, 10, 3, "CLARABEL"),
    "frank-wolfe 1000x10": lambda: edgewise_row(1_000, 10, 5, "frank-wolfe"),
    "edgewise 10000x20": lambda: edgewise_row(10_000, 20, 7),
    "edgewise 100000x50": lambda: edgewise_row(100_000, 50, 3),
}


def in_subprocess(name: str) -> Row:
    """One of :data:`ROWS`, measured in a fresh interpreter."""
    command = [sys.executable, __file__, name]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return Row(**json.loads(output.splitlines()[-1]))


def speedup(rows: dict[str, Row]) -> float:
    """How many times faster than cvxpy with SCS, at 1000 x 10: ratio of medians."""
    return rows["scs 1000x10"].seconds / rows["edgewise 1000x10"].seconds


def table(rows: list[Row]) -> str:
    """The rows in markdown."""
    lines = [
        "| solver | arms | median s | certified gap | peak MB | repeats |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {row.solver} | {row.n_arms} x {row.dimension} | {row.seconds:.4g} | {row.gap:.1e} "
        f"| {row.peak_megabytes:.0f} | {row.repeats} |"
        for row in rows
    ]
    return "\n".join(lines)


def main() -> None:
    """Measure every row and print the table; with a row's name, print that row as JSON."""
    if len(sys.argv) > 1:
        print(json.dumps(asdict(ROWS[sys.argv[1]]())))
        return
    rows = {name: in_subprocess(name) for name in ROWS}
    print(table(list(rows.values())))
    print(f"\nAt 1000 x 10, {speedup(rows):.0f} times faster than cvxpy with SCS.")


if __name__ == "__main__":
    main()
