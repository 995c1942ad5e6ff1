"""``edgewise allocate --dask``: on a folder of Parquet partitions."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

DATA = Path(__file__).parents[3] / "examples" / "data"


def run(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "edgewise", "allocate", "parts"]
    command += [str(DATA / "arms.csv"), str(DATA / "matrix.csv"), *options]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_partitions_are_prepared_and_allocated(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    i = np.arange(300)
    for step in (1, 2):
        table = pa.table({"source": i, "target": (i + step) % 300})
        pq.write_table(table, tmp_path / "parts" / f"{step}.parquet")
    done = run(tmp_path, "--dask", "local", "--out", "plan.csv", "--format", "json")
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert (facts["n_nodes"], facts["n_arcs"]) == (300, 1200)
    assert facts["value"] <= facts["upper_bound"]
    assert len((tmp_path / "plan.csv").read_text().splitlines()) == 301
    assert "preparing parts" in done.stderr
    assert "sweep 1" in done.stderr


def test_what_needs_the_graph_in_memory_is_refused(tmp_path: Path) -> None:
    done = run(tmp_path, "--dask", "local", "--time-limit", "3")
    assert done.returncode == 2
    assert "--time-limit needs the graph in memory" in done.stderr
