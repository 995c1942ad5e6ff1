"""How often 90 % intervals of an estimated gain hold the truth: part of ``make stat``.

``python benchmarks/stat_intervals.py [RUNS]`` (default 500) prints a markdown table: data drawn
from the hierarchical model (three parameters per edge, noise 1, levels 3), the gain of the best of
50 random joint arms over another. Between 85 and 95 % are asked for; ends with code 1 if a count
contradicts that, by an exact binomial test with a false-alarm rate of 1e-3 per row, or if variances
of REML alone, taken for known, pass where edges differ (the negative control).
"""

from __future__ import annotations

import sys

import numpy as np
from scipy.stats import binom

from edgewise.base.arrays import Array
from edgewise.core.local.channels import Channels
from edgewise.core.local.normal_equations import NormalEquations, Phase, normal_equations
from edgewise.core.local.posterior import Posterior
from edgewise.core.local.reml import fit

LOW, HIGH, FALSE_ALARM = 0.85, 0.95, 1e-3
DEVIATIONS = (0.0, 0.1, 0.3, 1.0)
SIZES = (20, 40)
KNOWN = 1.645


def channels_of(measured: str, n_edges: int) -> Channels:
    """Edges by themselves, or one to three into every node, beside its own term."""
    if measured == "arc":
        return Channels.of_arcs(np.zeros(n_edges, np.int64), [3])
    rng, kinds, blocks = np.random.default_rng(0), [], [0]
    while n_edges > 0:
        size = min(int(rng.integers(1, 4)), n_edges)
        kinds += [0] * size + [1]
        blocks.append(len(kinds))
        n_edges -= size
    return Channels(np.array(kinds), np.array([3, 2]), np.array(blocks))


def drawn(
    channels: Channels, n_rounds: int, deviation: float, rng: np.random.Generator
) -> tuple[Array, NormalEquations]:
    """Parameters (P,) of all blocks, and what rounds say about them."""
    means = [rng.standard_normal(p) for p in channels.dimensions]
    theta = np.concatenate([means[k] for k in channels.kinds])
    theta = theta + deviation * rng.standard_normal(len(theta))
    z = rng.standard_normal((n_rounds, channels.n_parameters))
    r = np.add.reduceat(z * theta, channels.starts[:-1], axis=1)
    r += rng.standard_normal(r.shape) + 3.0 * rng.standard_normal(channels.n_channels)
    return theta, normal_equations(Phase.empty(channels).add(z, r))


def counts(measured: str, n_edges: int, deviation: float, runs: int) -> tuple[int, int]:
    """Runs whose interval holds the truth: ours, and that of REML as if its variances were known.

    Every run has numbers of its own, so rows can be run apart.
    """
    channels, held, control = channels_of(measured, n_edges), 0, 0
    for run in range(runs):
        rng = np.random.default_rng([run, n_edges, int(10 * deviation), len(measured)])
        theta, equations = drawn(channels, 8 if measured == "arc" else 16, deviation, rng)
        posterior = Posterior(fit(equations))
        joint = rng.standard_normal((51, channels.n_parameters))
        g = joint[int((joint[:50] @ posterior.mean).argmax())] - joint[50]
        low, high = posterior.gains(g).interval(0.9)
        bare = Posterior(fit(equations, prior=0.0)).gains(g)
        truth = float(g @ theta)
        held += int(low[0] <= truth <= high[0])
        control += int(abs(truth - bare.mean[0]) <= KNOWN * bare.conditional[0])
    return held, control


def main() -> None:
    """Print the table; fail if a row is not what it should be."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    print("| channels | edges | deviation | runs | hold the truth | REML, as if known | fine |")
    print("|---|---|---|---|---|---|---|")
    failed, lowest = False, 1.0
    for measured in ("arc", "node"):
        for n_edges in SIZES:
            for deviation in DEVIATIONS:
                held, control = counts(measured, n_edges, deviation, runs)
                fine = binom.cdf(held, runs, LOW) > FALSE_ALARM
                fine &= binom.sf(held - 1, runs, HIGH) > FALSE_ALARM
                failed |= not fine
                lowest = min(lowest, control / runs)
                print(
                    f"| {measured} | {n_edges} | {deviation:g} | {runs} | {held / runs:.1%} | "
                    f"{control / runs:.1%} | {'yes' if fine else 'NO'} |",
                    flush=True,
                )
    if failed or lowest > LOW:
        sys.exit("not as it should be")


if __name__ == "__main__":
    main()
