"""Stand-in for a radio network whose operator exchanges CSV files with edgewise studies.

Run: python examples/live_cells.py prepare FOLDER   (writes study.toml, graph.csv and arms.csv)
     python examples/live_cells.py measure configuration.csv measurements.csv
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import numpy as np

from edgewise.integrations.cells import RadioEnvironment, RadioNetwork

STUDY = """name = "tilts"
graph = "graph.csv"
arms = "arms.csv"
baseline = "{today}"
noise = "estimate"
measured = "node"
levels = "channel"
pooling = "partial"
interaction = false
trust_model = true
seed = 1

[strategy]
name = "limited"
within = 1

[strategy.strategy]
name = "thompson"
scale = 1.0
first = 6
phase = 3
"""


def network() -> RadioEnvironment:
    """Nine cells; yours are on your masts."""
    return RadioEnvironment.of(RadioNetwork.random(5, n_sites=3), n_users=1000, truth_users=1000)


def prepare(folder: Path) -> None:
    """Write what a study of the tilts is made from."""
    system = network()
    problem, labels = system.problem, system.problem.graph.labels
    edges = zip(problem.graph.edges.tolist(), problem.graph.weight_of_edge, strict=True)
    rows = [[labels[i], labels[j], weight, "true"] for (i, j), weight in edges]
    write(folder / "graph.csv", ["source", "target", "weight", "directed"], rows)
    names = [f"{tilt:g} deg" for tilt in system.task.settings.values]
    arms = [[name, *x] for name, x in zip(names, problem.arms.tolist(), strict=True)]
    write(folder / "arms.csv", ["name", "u", "u2"], arms)
    (folder / "study.toml").write_text(STUDY.format(today=names[system.today[0]]), encoding="utf-8")


def measure(configuration: Path, measurements: Path) -> None:
    """Set the tilts, wait, and book the reports of users by place; no row for an empty cell."""
    system = network()
    with configuration.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    tilts = {row["node"]: float(row["arm"].removesuffix(" deg")) for row in rows}
    labels = system.problem.graph.labels
    arms = np.searchsorted(system.task.settings.values, [tilts[str(cell)] for cell in labels])
    rng = np.random.default_rng(int(rows[0]["round"]))
    numbers, _ = system.measured(arms[None], rng)
    told = [
        [rows[0]["round"], cell, number]
        for cell, number in zip(labels, numbers[0], strict=True)
        if not np.isnan(number)
    ]
    write(measurements, ["round", "node", "reward"], told)


def write(path: Path, header: list[str], rows: list[list[object]]) -> None:
    """A CSV file."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([header, *rows])


def main() -> None:
    """One of the two."""
    match sys.argv[1:]:
        case ["prepare", folder]:
            prepare(Path(folder))
        case ["measure", configuration, measurements]:
            measure(Path(configuration), Path(measurements))
        case _:
            print(__doc__)


if __name__ == "__main__":
    main()
