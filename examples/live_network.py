"""Stand-in for a real network: reads a configuration, writes what would be measured.

It knows nothing of edgewise, and edgewise nothing of it: they exchange CSV files.

Run: python examples/live_network.py configuration.csv measurements.csv [--lose N] [--late FILE]
"""

from __future__ import annotations

import argparse
import csv
import random
from pathlib import Path

DATA = Path(__file__).parent / "data"
NOISE = 0.1
Rows = list[dict[str, str]]


def read(path: Path) -> Rows:
    """The rows of a CSV file."""
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def write(path: Path, rows: Rows) -> None:
    """A CSV file of measurements."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, ["round", "source", "target", "reward"])
        writer.writeheader()
        writer.writerows(rows)


def measure(configuration: Rows) -> Rows:
    """One noisy reward per link and direction: x' M y, plus noise of deviation 0.1."""
    arms = {row.pop("name"): [float(x) for x in row.values()] for row in read(DATA / "arms.csv")}
    matrix = [[float(entry) for entry in row.values()] for row in read(DATA / "matrix.csv")]
    given = {row["node"]: arms[row["arm"]] for row in configuration}
    key = configuration[0]["round"]
    noise = random.Random(f"night {key}")
    links = [(row["source"], row["target"]) for row in read(DATA / "graph.csv")]
    rows = []
    for source, target in links + [(b, a) for a, b in links]:
        x, y = given[source], given[target]
        reward = sum(x[i] * matrix[i][j] * y[j] for i in range(len(x)) for j in range(len(y)))
        reward += noise.gauss(0.0, NOISE)
        rows.append({"round": key, "source": source, "target": target, "reward": f"{reward:.4f}"})
    return rows


def main() -> None:
    """Deploy, wait a night, collect."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("configuration", type=Path)
    parser.add_argument("measurements", type=Path)
    parser.add_argument("--lose", type=int, default=0, help="so many measurements do not arrive")
    parser.add_argument("--late", type=Path, help="... but are found later, in this file")
    options = parser.parse_args()
    rows = measure(read(options.configuration))
    arrived = len(rows) - options.lose
    write(options.measurements, rows[:arrived])
    if options.late:
        write(options.late, rows[arrived:])


if __name__ == "__main__":
    main()
