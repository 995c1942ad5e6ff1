"""Wind farms in FLORIS: edgewise beside CMA-ES, TPE and additive regression, on the same farms.

``python benchmarks/bench_wind.py [random|other|zero|time ...]`` prints markdown tables, by default
all: farms of 20 and 40 turbines in random places (layout seeds 101 to 103, not used for building);
other farms; winds in which zero yaw is best; and the time of a round. Shares are of the gain of
FLORIS' own optimiser (serial refine), which knows the wake model.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from edgewise.base.arrays import Array, Indices
from edgewise.base.randomness import Rng
from edgewise.core.learner import Learner
from edgewise.core.model.problem import Problem
from edgewise.integrations.floris import EXPLORE, FlorisSystem, Simulator, WindFarm, YawTask
from edgewise.integrations.gains import Outcome, graded, outcome_of
from edgewise.integrations.parzen import tpe
from edgewise.integrations.rivals import additive_regression, cma_es
from edgewise.integrations.running import Exploration, System, Trail, explore

MARKS = (26, 50, 100)
RIDGES = (0.1, 0.3, 1.0, 3.0, 10.0)
"""Of the additive regression; the best in hindsight is shown, farm by farm and mark by mark."""
Method = Callable[..., Trail]


@dataclass(frozen=True, eq=False)
class Remembering:
    """A system that computes every joint arm once: methods deploy the same ones again."""

    inner: FlorisSystem
    seen: dict[bytes, Array] = field(default_factory=dict)

    @property
    def problem(self) -> Problem:
        """The inner system's."""
        return self.inner.problem

    @property
    def today(self) -> Indices:
        """The inner system's."""
        return self.inner.today

    def means(self, arms: Indices) -> Array:
        """Those that are new, in one call."""
        rows = np.ascontiguousarray(arms, dtype=np.int64)
        new = {row.tobytes(): row for row in rows if row.tobytes() not in self.seen}
        if new:
            powers = self.inner.means(np.array(list(new.values())))
            self.seen.update(zip(new, powers, strict=True))
        return np.array([self.seen[row.tobytes()] for row in rows])

    def measured(self, arms: Indices, rng: np.random.Generator) -> tuple[Array, Array]:
        """The inner system's noise."""
        means = self.means(arms)
        return means + self.inner.noise * rng.standard_normal(means.shape), means

    def worths(self, totals: Array) -> Array:
        """The inner system's."""
        return self.inner.worths(totals)


def explored(system: System, *, marks: Sequence[int], rng: Rng) -> Exploration:
    """As the demo explores; FLORIS computes the rounds of a phase in one call.

    Inside a phase joint arms depend on the phases before only, so they are known ahead.
    """

    def look_ahead(learner: Learner, _: float) -> None:
        setting, state = learner._setting, learner._state
        if state.phase_rounds == 0 and len(state.closed):
            ahead = [replace(state, rounds=state.rounds + k) for k in range(EXPLORE.phase or 1)]
            system.means(np.array([setting.plan.joint_arm(learner.problem, at) for at in ahead]))

    return explore(system, EXPLORE, marks=marks, rng=rng, watch=look_ahead)


RIVALS: dict[str, Method] = {
    "CMA-ES": cma_es,
    "TPE": tpe,
    **{f"ridge {ridge:g}": partial(additive_regression, ridge=ridge) for ridge in RIDGES},
}


@dataclass(frozen=True, eq=False)
class Farm:
    """A farm with the gain of the optimiser."""

    system: Remembering
    optimum: float

    @classmethod
    def of(cls, farm: WindFarm, noise: float = 0.1) -> Farm:
        """Run the optimiser."""
        system = Remembering(FlorisSystem(YawTask.of(farm), noise))
        simulator = system.inner.simulator
        best = simulator.optimised(-30.0, 30.0)
        zero, power = simulator.farm_power(np.stack([np.zeros_like(best), best]))
        return cls(system, float(power / zero - 1.0))

    def rival(self, method: Method, seeds: Sequence[int]) -> Array:
        """(M,) shares of the optimiser's gain, mean of one run per seed."""
        trails = [method(self.system, marks=MARKS, rng=seed) for seed in seeds]
        gains = [course.gains for course in graded(self.system, trails)]
        share: Array = np.mean(gains, axis=0) / self.optimum
        return share

    def edgewise(self, seeds: Sequence[int], marks: Sequence[int]) -> list[Outcome]:
        """One run per seed, graded."""
        runs = [explored(self.system, marks=marks, rng=seed) for seed in seeds]
        return [outcome_of(self.system, run) for run in runs]


def exploring(outcomes: Sequence[Outcome]) -> str:
    """Power while exploring."""
    return f"{np.mean([one.edgewise.exploring.mean() for one in outcomes]):.1%}"


def expectation(outcomes: Sequence[Outcome]) -> str:
    """The expected and the true gain, means over runs, and how many intervals hold the true one."""
    expected = np.mean([one.expected for one in outcomes])
    true = np.mean([one.edgewise.gain for one in outcomes])
    held = sum(one.interval[0] <= one.edgewise.gain <= one.interval[1] for one in outcomes)
    return f"{expected:.2%}, {true:.2%} ({held} of {len(outcomes)})"


def random_farms() -> dict[str, WindFarm]:
    cases = (
        (20, 101, "gch"), (20, 102, "cc"), (20, 103, "gch"),
        (40, 101, "cc"), (40, 102, "gch"), (40, 103, "cc"),
    )  # fmt: skip
    return {
        f"{n} turbines, layout {layout}, {wake}": WindFarm.random(n, layout, wake=wake)
        for n, layout, wake in cases
    }


def random_table(seeds: Sequence[int] = (21, 22, 23)) -> None:
    """Shares of the optimiser's gain after 26 / 50 / 100 rounds, means over seeds."""
    print("| farm | optimiser | edgewise | CMA-ES | TPE | additive regression, best ridge ", end="")
    print("| power while exploring | gain expected, true (intervals that hold) |")
    print("|---|---|---|---|---|---|---|---|")
    for name, layout in random_farms().items():
        farm = Farm.of(layout)
        ours = farm.edgewise(seeds, MARKS)
        share = np.mean([one.edgewise.gains for one in ours], axis=0) / farm.optimum
        rivals = {rival: farm.rival(run, seeds) for rival, run in RIVALS.items()}
        ridge = np.max([rivals.pop(f"ridge {ridge:g}") for ridge in RIDGES], axis=0)
        cells = " | ".join(_shares(one) for one in (share, *rivals.values(), ridge))
        row = f"| {name} | {farm.optimum:.2%} | {cells} | {exploring(ours)} "
        print(f"{row}| {expectation(ours)} |", flush=True)


def other_farms() -> dict[str, tuple[WindFarm, float, int, int]]:
    """Farm, noise, rounds and number of seeds."""

    def grid(columns: int, rows: int, direction: float) -> WindFarm:
        return WindFarm.grid(
            columns, rows, spacing=(7, 5), wind_direction=direction, wind_speed=8.0
        )

    return {
        "5 x 5, 273 degrees": (grid(5, 5, 273.0), 0.1, 100, 3),
        "5 x 5, 300 degrees": (grid(5, 5, 300.0), 0.1, 100, 3),
        "line of ten, 270 degrees": (grid(10, 1, 270.0), 0.1, 100, 3),
        "8 x 10, 273 degrees": (grid(8, 10, 273.0), 0.1, 100, 1),
        "5 x 5, 275 degrees, noise 0.3": (grid(5, 5, 275.0), 0.3, 50, 10),
        **{
            f"20 turbines, layout {layout}, noise 0.3": (WindFarm.random(20, layout), 0.3, 100, 5)
            for layout in (101, 102, 103)
        },
        "20 turbines, layout 102, jensen": (WindFarm.random(20, 102, wake="jensen"), 0.1, 100, 3),
        "20 turbines, layout 103, empirical gauss": (
            WindFarm.random(20, 103, wake="empirical gauss"), 0.1, 100, 3,
        ),
    }  # fmt: skip


def other_table() -> None:
    """Shares after all rounds."""
    print("\n| farm | rounds | seeds | optimiser | share, mean (lowest) | exploring ", end="")
    print("| gain expected, true (intervals that hold) |\n|---|---|---|---|---|---|---|")
    for name, (layout, noise, rounds, n_seeds) in other_farms().items():
        farm = Farm.of(layout, noise)
        ours = farm.edgewise(range(21, 21 + n_seeds), (rounds,))
        share = np.array([one.edgewise.gain for one in ours]) / farm.optimum
        print(
            f"| {name} | {rounds} | {n_seeds} | {farm.optimum:.2%} | {share.mean():.1%} "
            f"({share.min():.1%}) | {exploring(ours)} | {expectation(ours)} |",
            flush=True,
        )


def zero_table(n_seeds: int = 20) -> None:
    """Where zero yaw is best: what the answer loses."""
    print("\n| farm | optimiser | edgewise, mean of seeds (range) |\n|---|---|---|")
    for direction in (280.0, 285.0):
        layout = WindFarm.grid(5, 5, spacing=(7, 5), wind_direction=direction, wind_speed=8.0)
        farm = Farm.of(layout)
        ours = farm.edgewise(range(21, 21 + n_seeds), (100,))
        gains = np.array([one.edgewise.gain for one in ours])
        print(
            f"| 5 x 5, {direction:g} degrees | {farm.optimum:+.3%} "
            f"| {gains.mean():+.3%} ({gains.min():+.3%} to {gains.max():+.3%}) |",
            flush=True,
        )


def time_table() -> None:
    """CPU seconds of a round without the farm: fit, draw and allocation, mean over two phases."""
    assert EXPLORE.first is not None
    assert EXPLORE.phase is not None
    print("\n| turbines | links | first phase | later phases |\n|---|---|---|---|")
    for n in (40, 200):
        task = YawTask.of(WindFarm.random(n, 101))
        level = Simulator(task.farm).powers(np.zeros(n))[0] if n <= 40 else np.ones(n)
        _round_times(task, level, 18)  # compiles
        seconds = _round_times(task, level, EXPLORE.first + 2 * EXPLORE.phase)
        print(
            f"| {n} | {len(task.wakes.links)} | {seconds[: EXPLORE.first].mean():.3f} "
            f"| {seconds[EXPLORE.first :].mean():.3f} |",
            flush=True,
        )


def _round_times(task: YawTask, level: Array, rounds: int) -> Array:
    """With powers that fall by one's own yaw and rise by that of those upstream."""
    rng = np.random.default_rng(0)
    learner = Learner(task.problem, strategy=EXPLORE, rng=0)
    first, last = task.wakes.links.T
    seconds = []
    for _ in range(rounds):
        start = time.process_time()
        ticket = learner.ask()
        seconds.append(time.process_time() - start)
        u = task.settings.values[ticket.arms] / 30.0
        powers = level - 0.3 * u**2 + 0.05 * rng.standard_normal(len(level))
        np.add.at(powers, last, 0.2 * task.wakes.reach * u[first])
        start = time.process_time()
        learner.tell(ticket, powers)
        seconds[-1] += time.process_time() - start
    return np.array(seconds)


def _shares(shares: Array) -> str:
    return " / ".join(f"{100 * share:.0f}" for share in shares)


TABLES = {"random": random_table, "other": other_table, "zero": zero_table, "time": time_table}


def main() -> None:
    """Print the tables."""
    for name in sys.argv[1:] or TABLES:
        TABLES[name]()


if __name__ == "__main__":
    main()
