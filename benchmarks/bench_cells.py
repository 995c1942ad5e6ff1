"""Antenna tilts in CRRM: edgewise beside hill climbing, TPE and CMA-ES, on the same networks.

``python benchmarks/bench_cells.py [gains|booking ...]`` prints markdown tables, by default all:
gains on random networks of 27 cells (layout seeds 101 to 103, not used for building) with how users
fare, and what becomes of it when reports are booked otherwise. Gains are of the geometric mean
rate over the best common tilt; shares are of the gain of a coordinate ascent that knows the
simulator.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from edgewise.base.arrays import Indices
from edgewise.base.randomness import Rng
from edgewise.integrations.cells import EXPLORE, RadioEnvironment, RadioNetwork
from edgewise.integrations.climbing import coordinate_ascent, hill_climbing
from edgewise.integrations.gains import Course, graded
from edgewise.integrations.parzen import tpe
from edgewise.integrations.rivals import cma_es
from edgewise.integrations.running import Trail, explore, gain_of

LAYOUTS, SEEDS, MARKS = (101, 102, 103), (21, 22, 23), (20, 50, 100)
Method = Callable[..., Trail]


def edgewise(system: RadioEnvironment, *, marks: Sequence[int], rng: Rng) -> Trail:
    """As the demo explores."""
    return explore(system, EXPLORE, marks=marks, rng=rng).trail


def methods(system: RadioEnvironment) -> dict[str, Method]:
    """By name."""
    climbing = partial(hill_climbing, near=system.task.near)
    return {"edgewise": edgewise, "hill climbing": climbing, "TPE": tpe, "CMA-ES": cma_es}


def known_gain(system: RadioEnvironment) -> tuple[Indices, float]:
    """The model-knowing ascent's tilts and gain."""
    best = coordinate_ascent(system)
    return best, gain_of(system, float(system.means(best[None]).sum()))


def gains_table() -> None:
    """Gains and shares at 20, 50 and 100 rounds, means of seeds; then how users fare."""
    print("| layout | ascent | method | gain at 20 / 50 / 100 | share | exploring (lowest round) |")
    print("|---|---|---|---|---|---|")
    fares = []
    for layout in LAYOUTS:
        system = RadioEnvironment.of(RadioNetwork.random(layout))
        best, ceiling = known_gain(system)
        for name, method in methods(system).items():
            trails = [method(system, marks=MARKS, rng=seed) for seed in SEEDS]
            _print_row(layout, ceiling, name, graded(system, trails))
            if name == "edgewise":
                fares.append((layout, system, [trail.recommended[1] for trail in trails], best))
    print("\n| layout | tilts | rate (Mbit/s) | 5th percentile | below -6 dB |")
    print("|---|---|---|---|---|")
    for layout, system, found, best in fares:
        _print_fares(layout, system, {"best common": [system.today], "ascent": [best]})
        _print_fares(layout, system, {"edgewise, 50 rounds": found})


def _print_row(layout: int, ceiling: float, name: str, courses: tuple[Course, ...]) -> None:
    gains = np.mean([course.gains for course in courses], axis=0)
    exploring = np.array([course.exploring for course in courses]) - 1.0
    print(
        f"| {layout} | {ceiling:+.1%} | {name} | {' / '.join(f'{gain:+.1%}' for gain in gains)} "
        f"| {' / '.join(f'{gain / ceiling:.0%}' for gain in gains)} "
        f"| {exploring.mean():+.1%} ({exploring.min():+.1%}) |",
        flush=True,
    )


def _print_fares(layout: int, system: RadioEnvironment, tilts: dict[str, list[Indices]]) -> None:
    for name, each in tilts.items():
        found = [system.quality(arms) for arms in each]
        rate = np.mean([quality.rate for quality in found])
        low = np.mean([quality.fifth_percentile for quality in found])
        weak = np.mean([quality.weak for quality in found])
        print(f"| {layout} | {name} | {rate:.4f} | {low:.4f} | {weak:.3%} |", flush=True)


def booking_table() -> None:
    """The same run with other ways to book a report, after 50 rounds."""
    print("\n| layout | reports of | booked by | gain at 50 |\n|---|---|---|---|")
    for layout in LAYOUTS[:2]:
        for channels, booking in (
            ("cell", "place"), ("cell", "serving"), ("relation", "place"), ("relation", "serving"),
        ):  # fmt: skip
            system = RadioEnvironment.of(
                RadioNetwork.random(layout), channels=channels, booking=booking
            )
            answer = edgewise(system, marks=(50,), rng=SEEDS[0]).recommended[-1]
            gain = system.quality(answer).rate / system.quality(system.today).rate - 1.0
            print(f"| {layout} | {channels} | {booking} | {gain:+.1%} |", flush=True)


TABLES = {"gains": gains_table, "booking": booking_table}


def main() -> None:
    """Print the tables."""
    for name in sys.argv[1:] or TABLES:
        TABLES[name]()


if __name__ == "__main__":
    main()
