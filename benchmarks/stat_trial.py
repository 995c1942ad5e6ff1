"""Errors, coverage and length of trials with a look after every pair: part of ``make stat``.

``python benchmarks/stat_trial.py [TRIALS] [wind]`` (default 10000 per row) prints three markdown
tables:
wrong endings and misses of the interval at equal configurations (both are the same at unequal
ones: a constant added to all differences moves the interval and nothing else); pairs to decide,
beside a t-test of fixed size that knew the difference (and the package ville, where it is
installed); and wrong endings of tournaments. With ``wind``, only how ten pairs judge the answers on
six wind farms in FLORIS (TRIALS/50 repetitions each). Ends with code 1 if a proved rate is exceeded
(exact binomial test, false-alarm rate 1e-6 per row), if a broken method is not caught, or if a
trial needs more than 1.6 times the pairs of the t-test.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
from scipy.stats import binom, nct
from scipy.stats import t as student

from edgewise.base.arrays import Array, Indices, Mask
from edgewise.integrations.running import System
from edgewise.trial import TrialEnding, t_quantile
from edgewise.trial.comparison import Comparison
from edgewise.trial.pairs import FOR_BETTER
from edgewise.trial.signs import log_sign_evidence, past_deviations

DELTA, PAIRS, FALSE_ALARM, LARGEST_RATIO = 0.05, 200, 1e-6, 1.6
WIND_NOISE = 0.1
"""Of a turbine's power, in megawatts."""
EFFECTS = (0.5, 1.0, 2.0)
Noise = Callable[[np.random.Generator, tuple[int, int]], Array]

NOISES: dict[str, Noise] = {
    "Gaussian": lambda rng, size: rng.standard_normal(size),
    "Laplace": lambda rng, size: rng.laplace(size=size),
    "uniform": lambda rng, size: rng.uniform(-1.0, 1.0, size),
    "Student, 3 degrees": lambda rng, size: rng.standard_t(3, size),
    "exponential": lambda rng, size: rng.exponential(size=size),
}
DRIFTS = (0.1, 1.0, 5.0, 20.0)
"""Per round, in deviations of a round's Gaussian noise."""


class Differences:
    """Pair differences (R, N) of many trials, and the coins: +1 if the candidate is second."""

    def __init__(self, rng: np.random.Generator, noise: Noise, runs: int, *, drift: float = 0.0):
        size = (runs, PAIRS)
        self.orders = rng.choice([-1.0, 1.0], size)
        self.values = noise(rng, size) - noise(rng, size) + drift * self.orders


def t_statistics(values: Array, centre: float = 0.0) -> Array:
    """(R, N) of the first k differences, for all k."""
    count = np.arange(1, values.shape[1] + 1)
    mean = values.cumsum(axis=1) / count
    squares = np.maximum((values**2).cumsum(axis=1) - count * mean**2, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = (mean - centre) / np.sqrt(squares / (count - 1) / count)
    return np.where(np.isnan(t), 0.0, t)


def quantiles(level: float, pairs: int) -> Array:
    return np.array([t_quantile(n, level) for n in range(1, pairs + 1)])


def refuted(
    values: Array, orders: Array, centre: float, level: float, delta: float, *, guard: bool = True
) -> Mask:
    """(R, N) whether the interval after k pairs lies above ``centre``, as `Comparison` has it."""
    pairs = values.shape[1]
    above: Mask = t_statistics(values, centre) >= quantiles(level, pairs)
    if not guard:
        return above
    matters = order_matters(values, orders, delta)
    rows = np.flatnonzero((above & matters).any(axis=1))
    signs = np.ones_like(above)
    scales = past_deviations(values[rows])
    signs[rows] = log_sign_evidence(values[rows], scales, centre) >= np.log(1.0 / level)
    return above & (signs | ~matters)


def order_matters(values: Array, orders: Array, delta: float) -> Mask:
    """(R, N) whether the interval after k pairs allows for the order: it matters, or is unseen."""
    n = np.arange(1, values.shape[1] + 1)
    coins, sums = orders.cumsum(axis=1), values.cumsum(axis=1)
    spread = n - coins**2 / n
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = ((orders * values).cumsum(axis=1) - coins * sums / n) / spread
        left = (values**2).cumsum(axis=1) - sums**2 / n - slope**2 * spread
        t = np.abs(slope) / np.sqrt(np.maximum(left, 0.0) / np.maximum(n - 2, 1) / spread)
    needed = np.concatenate([[np.inf, np.inf], quantiles(delta, values.shape[1] - 1)[1:]])
    return np.asarray((t >= needed) | (spread < 0.5))


def endings(trials: Differences, centre: float, *, guard: bool = True) -> tuple[Mask, Mask]:
    """(R,) whether the interval ever lies above the centre, and whether it ever lies below."""
    low, high = DELTA * FOR_BETTER, DELTA * (1.0 - FOR_BETTER)
    above = refuted(trials.values, trials.orders, centre, low, DELTA, guard=guard)
    below = refuted(-trials.values, trials.orders, -centre, high, DELTA, guard=guard)
    return np.asarray(above.any(axis=1)), np.asarray(below.any(axis=1))


def check_against_library(trials: Differences) -> None:
    """The vectorised interval is that of the library, pair by pair."""
    for row in range(8):
        values, orders = trials.values[row, :25], trials.orders[row, :25]
        whole = Comparison("a", "b", values, orders, DELTA, FOR_BETTER)
        slow = [whole.after(k).interval[0] > 0 for k in range(1, 26)]
        fast = refuted(values[None], orders[None], 0.0, DELTA * FOR_BETTER, DELTA)[0]
        if slow != fast.tolist():
            raise AssertionError(f"trial {row}: {slow} by the library, {fast.tolist()} here")


def exceeds(count: int, runs: int, rate: float) -> bool:
    return bool(binom.sf(count - 1, runs, rate) < FALSE_ALARM)


def errors(runs: int) -> bool:
    """Wrong endings and misses, with two broken methods that must be caught."""
    print(f"| noise of a round | wrong 'better' | interval misses | ({runs} trials, {PAIRS} looks)")
    print("|---|---|---|---|")
    fine = True
    drift_rows = [(f"Gaussian, drift {drift:g}", NOISES["Gaussian"], drift) for drift in DRIFTS]
    for name, noise, drift in [*((k, v, 0.0) for k, v in NOISES.items()), *drift_rows]:
        trials = Differences(np.random.default_rng(1), noise, runs, drift=drift)
        if name in ("Gaussian", "Gaussian, drift 5"):
            check_against_library(trials)
        better, worse = endings(trials, 0.0)
        wrong, missed = int(better.sum()), int((better | worse).sum())
        ok = not exceeds(wrong, runs, DELTA) and not exceeds(missed, runs, DELTA)
        fine &= ok
        print(f"| {name} | {wrong / runs:.4f} | {missed / runs:.4f} | {'' if ok else 'TOO MANY'} |")
    return controls(runs) and fine


def controls(runs: int) -> bool:
    """Two methods that err too often, and must be seen to."""
    trials = Differences(np.random.default_rng(2), NOISES["Gaussian"], runs)
    count = np.arange(2, PAIRS + 1)
    peeked = t_statistics(trials.values)[:, 1:] >= student.ppf(1 - DELTA, count - 1)
    wrong = int(peeked.any(axis=1).sum())
    trials = Differences(np.random.default_rng(3), NOISES["Gaussian"], runs, drift=20.0)
    alone = int(endings(trials, 0.0, guard=False)[0].sum())
    for name, errors_made in (
        ("control: fixed-sample t-test at every look", wrong),
        ("control: t-test alone, drift 20", alone),
    ):
        print(f"| {name} | {errors_made / runs:.4f} | | must be caught |")
    return exceeds(wrong, runs, DELTA) and exceeds(alone, runs, DELTA)


def fixed_size(effect: float, power: float = 0.8) -> int:
    """Pairs of a one-sided t-test of level delta with that power."""
    n = 2
    while nct.sf(student.ppf(1 - DELTA, n - 1), n - 1, effect * np.sqrt(n)) < power:
        n += 1
    return n


def mean_pairs(decided: Mask) -> float:
    """Mean pairs to a decision; undecided trials count in full."""
    first = np.where(decided.any(axis=1), decided.argmax(axis=1) + 1, decided.shape[1])
    return float(first.mean())


def lengths(runs: int) -> bool:
    """Pairs to decide, beside a test of fixed size."""
    print("\n| difference, deviations | fixed t-test | trial | ratio | signs alone | ville |")
    print("|---|---|---|---|---|---|")
    fine, level = True, DELTA * FOR_BETTER
    for effect in EFFECTS:
        rng = np.random.default_rng(4)
        values = effect + rng.standard_normal((runs, PAIRS))
        orders = rng.choice([-1.0, 1.0], values.shape)
        known, trial = fixed_size(effect), mean_pairs(refuted(values, orders, 0.0, level, DELTA))
        some = values[: max(runs // 5, 1)]
        signs = log_sign_evidence(some, past_deviations(some), 0.0) >= np.log(1.0 / level)
        other = by_ville(values[: max(runs // 10, 1)])
        fine &= trial <= LARGEST_RATIO * known
        print(
            f"| {effect:g} | {known} | {trial:.2f} | {trial / known:.3f} | {mean_pairs(signs):.1f} "
            f"| {other} |"
        )
    return fine


def by_ville(values: Array) -> str:
    """Mean pairs until its asymptotic interval of unknown variance lies above zero."""
    try:
        ville = importlib.import_module("ville")
    except ImportError:
        return "not installed"
    decided = []
    for row in values:
        found = ville.AsymptoticCS(alpha=DELTA, t_opt=30)
        found.update(row)
        decided.append(np.asarray(found.lower_) > 0)
    return f"{mean_pairs(np.array(decided)):.1f}"


def tournaments(runs: int) -> bool:
    """Four equal candidates, six comparisons: how often any of them is called different."""
    rng = np.random.default_rng(5)
    totals = rng.standard_normal((4, runs, PAIRS))
    places = rng.permuted(np.tile(np.arange(4.0), (runs, PAIRS, 1)), axis=2)
    delta = DELTA / 6
    wrong = np.zeros(runs, np.bool_)
    for i, j in combinations(range(4), 2):
        share = FOR_BETTER if i == 0 else 0.5
        values, orders = totals[j] - totals[i], np.sign(places[..., j] - places[..., i])
        wrong |= refuted(values, orders, 0.0, delta * share, delta).any(axis=1)
        wrong |= refuted(-values, orders, 0.0, delta * (1 - share), delta).any(axis=1)
    count = int(wrong.sum())
    print(f"\nFour equal candidates: some difference is claimed in {count / runs:.4f} of {runs}.")
    return not exceeds(count, runs, DELTA)


# -- wind farms --------------------------------------------------------------------------------


class TwoSettings:
    """A system of which only two joint arms are deployed: what they are worth is computed once."""

    def __init__(self, system: System, answer: Indices) -> None:
        self.problem, self.today = system.problem, system.today
        self._answer = answer
        self._worths = system.means(np.array([system.today, answer]))

    @property
    def gain(self) -> float:
        """Of the answer over today's joint arm, without noise."""
        return float(self._worths[1].sum() - self._worths[0].sum())

    def means(self, arms: Indices) -> Array:
        """(R, C) for joint arms (R, n), each one of the two."""
        return np.asarray(self._worths[(np.asarray(arms) == self._answer).all(axis=1).astype(int)])

    def measured(self, arms: Indices, rng: np.random.Generator) -> tuple[Array, Array]:
        """With noise, and without."""
        means = self.means(arms)
        return means + WIND_NOISE * rng.standard_normal(means.shape), means

    def worths(self, totals: Array) -> Array:
        """Megawatts."""
        return totals


def wind_farms() -> dict[str, Any]:
    """Four regular farms, two in random places."""
    from edgewise.integrations.floris import WindFarm

    def grid(columns: int, rows: int, direction: float) -> Any:
        return WindFarm.grid(
            columns, rows, spacing=(7, 5), wind_direction=direction, wind_speed=8.0
        )

    return {
        "3 x 3, 270 degrees": grid(3, 3, 270.0),
        "5 x 5, 270 degrees": grid(5, 5, 270.0),
        "5 x 5, 275 degrees": grid(5, 5, 275.0),
        "line of ten": grid(10, 1, 270.0),
        "20 in random places, layout 101": WindFarm.random(20, 101),
        "20 in random places, layout 102": WindFarm.random(20, 102),
    }


def wind(repetitions: int) -> bool:
    """Does the interval after at most ten pairs hold the gain, and does nobody end worse off?"""
    from edgewise.integrations.confirming import confirm
    from edgewise.integrations.floris import EXPLORE, FlorisSystem, YawTask
    from edgewise.integrations.running import explore

    print("\n| farm | gain of the answer, MW | interval holds it | better | pairs | worse off |")
    print("|---|---|---|---|---|---|")
    fine = True
    for name, farm in wind_farms().items():
        system = FlorisSystem(YawTask.of(farm), noise=WIND_NOISE)
        answer = explore(system, EXPLORE, marks=(50,), rng=1).trail.recommended[-1]
        two = TwoSettings(system, answer)
        found = [confirm(two, answer, pairs=10, rng=seed) for seed in range(repetitions)]
        holds = sum(one.interval[0] <= two.gain <= one.interval[1] for one in found)
        better = sum(one.ending is TrialEnding.BETTER for one in found)
        worse = better if two.gain < 0 else 0
        pairs = np.mean([one.pairs for one in found])
        fine &= not exceeds(repetitions - holds, repetitions, DELTA) and not worse
        print(
            f"| {name} | {two.gain:+.3f} | {holds / repetitions:.1%} | {better / repetitions:.1%} "
            f"| {pairs:.1f} | {worse} |",
            flush=True,
        )
    return fine


def main() -> int:
    given = sys.argv[1:]
    runs = int(given[0]) if given and given[0].isdigit() else 10_000
    if "wind" in given:
        return 0 if wind(max(runs // 50, 1)) else 1
    results = [errors(runs), lengths(runs), tournaments(max(runs // 5, 1))]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
