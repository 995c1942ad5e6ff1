"""``edgewise allocate --dask`` and ``edgewise identify``: on a folder of Parquet partitions."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from typer.testing import CliRunner, Result

from edgewise.cli.app import app

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


def identify(folder: Path, *options: str) -> Result:
    places = [DATA / "partitions", DATA / "arms.csv", "--prepared", folder / "prepared"]
    return CliRunner().invoke(app, ["identify", *map(str, places), *options])


def test_a_live_run_asks_waits_and_goes_on(tmp_path: Path) -> None:
    live = ["--deploy", str(tmp_path / "deploy"), "--measured", str(tmp_path / "measured")]
    live += ["--max-rounds", "2", "--format", "json", "--noise", "3"]
    asked = identify(tmp_path, *live)
    assert asked.exit_code == 0, asked.stderr
    assert json.loads(asked.stdout)["round"] == 1
    for number in (1, 2):
        folder = tmp_path / "measured" / f"round-{number:05d}"
        folder.mkdir(parents=True)
        for part in (1, 2):
            rewards = np.random.default_rng((number, part)).normal(size=120)
            pq.write_table(pa.table({"reward": rewards}), folder / f"part-{part}.parquet")
        assert (tmp_path / "deploy" / f"round-{number:05d}").is_dir()
        done = identify(tmp_path, *live)
    assert done.exit_code == 3  # two rounds of noise certify nothing
    assert "going on after round 1" in done.stderr
    facts = json.loads(done.stdout)
    assert (facts["rounds"], facts["certified"]) == (2, False)
    other = identify(tmp_path, *live, "--seed", "1")
    assert other.exit_code == 2
    assert "begun with another seed" in other.stderr


def test_a_simulated_run_is_certified_and_writes_the_joint_arm(tmp_path: Path) -> None:
    done = identify(
        tmp_path, "--matrix", str(DATA / "matrix.csv"), "--out", str(tmp_path / "plan.csv")
    )
    assert done.exit_code == 0, done.stderr
    assert "certified    yes" in done.stdout
    assert len((tmp_path / "plan.csv").read_text().splitlines()) == 61


def test_any_ids_come_back_in_the_joint_arm(tmp_path: Path) -> None:
    (tmp_path / "edges").mkdir()
    table = pa.table({"source": ["a", "b", "c"], "target": ["b", "c", "d"]})
    pq.write_table(table, tmp_path / "edges" / "0.parquet")
    command = ["identify", str(tmp_path / "edges"), str(DATA / "arms.csv"), "--noise", "0.1"]
    command += ["--matrix", str(DATA / "matrix.csv"), "--out", str(tmp_path / "plan.csv")]
    refused = CliRunner().invoke(app, command)
    assert refused.exit_code == 2
    assert "0.parquet: nodes are of type" in refused.stderr
    done = CliRunner().invoke(app, [*command, "--relabel"])
    assert done.exit_code == 0, done.stderr
    nodes = [line.split(",")[0] for line in (tmp_path / "plan.csv").read_text().splitlines()]
    assert sorted(nodes[1:]) == ["a", "b", "c", "d"]


def test_where_rewards_come_from_must_be_clear(tmp_path: Path) -> None:
    for options in ([], ["--deploy", "out"], ["--measured", "in", "--deploy", "out", "--matrix"]):
        extra = [str(DATA / "matrix.csv")] if "--matrix" in options else []
        done = identify(tmp_path, *options, *extra)
        assert done.exit_code == 2
        assert "where rewards come from is not clear" in done.stderr
