import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import distributed
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.unit.cluster.networks import TABLES, network, rewards, weighted

import edgewise
from edgewise.base.arrays import Array
from edgewise.cluster import (
    ClusterLost,
    PartitionedGraph,
    PartitionedLearner,
    Share,
    SimulatedRewards,
    identify,
)
from edgewise.cluster.identification.rounds import Draw
from edgewise.core.evidence.statistics import CellStatistics
from edgewise.core.learner import Learner
from edgewise.core.model.problem import Problem
from edgewise.core.state import LearnerState
from edgewise.errors import (
    InvalidArgument,
    InvalidFile,
    InvalidProblem,
    InvalidRewards,
    UnknownTicket,
)
from edgewise.network.graph import Graph

ARMS = np.eye(3)
SOURCE = Path(edgewise.__file__).parents[1]
pytestmark = pytest.mark.filterwarnings("ignore::edgewise.errors.IsolatedNodes")


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> PartitionedGraph:
    """Of 10^6 arcs."""
    return network(tmp_path_factory.mktemp("graph"), size=64_000)


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with (
        distributed.LocalCluster(  # type: ignore[no-untyped-call]
            n_workers=2, processes=True, threads_per_worker=1, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,  # type: ignore[no-untyped-call]
    ):
        yield client


def shared(graph: PartitionedGraph, seed: int, number: int, law: Array) -> Array:
    """The rewards of all partitions in one list, as one machine would get them."""
    draw = Draw(graph.n_nodes, tuple(law.tolist()), seed, number)
    found = []
    for one in graph.partitions:
        source = np.random.SeedSequence((seed, number, one.number))
        rng = np.random.Generator(np.random.SFC64(source))
        found.append(
            rewards(Share(one.name, one.number, number, one.edges(), draw.joint_arm(), rng))
        )
    return np.concatenate(found)


def everything(state: LearnerState) -> list[Array]:
    return [*state.statistics.to_tree().values(), *state.closed.to_tree().values()]


def assert_same(one: LearnerState, other: LearnerState) -> None:
    assert one.rounds == other.rounds
    assert one.verdict == other.verdict
    for mine, its in zip(everything(one), everything(other), strict=True):
        assert np.array_equal(mine, its)


def law_of(learner: PartitionedLearner) -> Array:
    return np.array(learner._draw().law)


@pytest.mark.parametrize("strategy", ["g-optimal", "contrast"])
def test_partitions_change_no_bit(graph: PartitionedGraph, strategy: str) -> None:
    """Against the learner of one machine, whose graph has the same edges in the same order."""
    assert graph.n_arcs >= 10**6
    options: dict[str, Any] = {"strategy": strategy, "delta": 1e-9, "rng": 5}
    learner = PartitionedLearner(Problem(graph, ARMS, noise=30.0), **options)
    problem = Problem(graph.load(), ARMS, noise=30.0)
    alone = Learner(problem, **options, trust_model=True, target="pair")
    for number in range(1, 4):
        told = shared(graph, learner.state.seed, number, law_of(learner))
        learner.run_round(rewards)
        ticket = alone.ask()
        alone.tell(ticket, told)
        assert_same(learner.state, alone._state)


def test_another_order_of_the_edges_would_change_bits(graph: PartitionedGraph) -> None:
    """The negative control of the test above."""
    options: dict[str, Any] = {"strategy": "g-optimal", "rng": 5, "target": "pair"}
    whole = graph.load()
    order = np.random.default_rng(0).permutation(len(whole.edges))
    shuffled = Graph(graph.n_nodes, whole.edges[order])
    one, other = (
        Learner(Problem(some, ARMS), **options, trust_model=True) for some in (whole, shuffled)
    )
    pairs = shared(graph, 5, 1, np.ones(3) / 3).reshape(-1, 2)
    one.tell(one.ask(), pairs.ravel())
    other.tell(other.ask(), pairs[order].ravel())
    mine, its = one._state.statistics, other._state.statistics
    assert isinstance(mine, CellStatistics)
    assert isinstance(its, CellStatistics)
    assert np.array_equal(mine.observations, its.observations)
    assert not np.array_equal(mine.rewards, its.rewards)


@pytest.mark.parametrize("directed", [False, True])
def test_kinds_weights_and_directions_change_no_bit(tmp_path: Path, directed: bool) -> None:
    graph = PartitionedGraph.from_function(weighted, tmp_path, n_partitions=16, directed=directed)
    options: dict[str, Any] = {"strategy": "g-optimal", "rng": 1}
    tables = np.concatenate([TABLES, TABLES.transpose(0, 2, 1) + 0.3])
    collected: list[Array] = []

    def environment(share: Share) -> Array:
        collected.append(SimulatedRewards(tables, 5.0)(share))
        return collected[-1]

    learner = PartitionedLearner(Problem(graph, ARMS, noise=5.0), **options)
    problem = Problem(graph.load(), ARMS, noise=5.0)
    alone = Learner(problem, **options, trust_model=True, target="pair")
    learner.run_round(environment)
    alone.tell(alone.ask(), np.concatenate(collected))
    assert_same(learner.state, alone._state)


def test_workers_change_no_bit_even_if_one_is_killed(graph: PartitionedGraph, client: Any) -> None:
    problem = Problem(graph, ARMS, noise=30.0)
    here = PartitionedLearner(problem, delta=1e-9, rng=5)
    there = PartitionedLearner(problem, delta=1e-9, rng=5, dask=client)
    victim = next(iter(client.run(os.getpid).values()))

    def fatal(share: Share) -> Array:
        if share.round == 2 and share.number == 9 and os.getpid() == victim:
            os.kill(victim, signal.SIGKILL)
        return rewards(share)

    for environment in (rewards, fatal, rewards):
        here.run_round(rewards)
        there.run_round(environment)
        assert_same(here.state, there.state)
    one = sorted(client.scheduler_info()["workers"])[:1]
    client.retire_workers(one)
    here.run_round(rewards)
    there.run_round(rewards)  # with a worker less
    assert_same(here.state, there.state)


@contextmanager
def a_cluster(folder: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """The address of a scheduler with one worker, processes of their own, and the scheduler."""
    file, paths = folder / "scheduler.json", [str(SOURCE), str(SOURCE.parent)]
    options: dict[str, Any] = {"env": {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}}
    options |= {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    common = ["--scheduler-file", str(file), "--no-dashboard"]
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", "0", *common]
    scheduler = subprocess.Popen(command, **options)
    command = [sys.executable, "-m", "distributed.cli.dask_worker", "--no-nanny", *common]
    worker = subprocess.Popen(command, **options)
    try:
        while not file.exists():
            assert scheduler.poll() is None
            time.sleep(0.05)
        yield json.loads(file.read_text())["address"], scheduler
    finally:
        for process in (worker, scheduler):
            process.kill()
            process.wait()


def test_a_killed_scheduler_is_named_and_the_run_goes_on_from_its_file(
    graph: PartitionedGraph, tmp_path: Path
) -> None:
    problem, path = Problem(graph, ARMS, noise=30.0), tmp_path / "run.json"
    options: dict[str, Any] = {"delta": 1e-9, "rng": 5, "checkpoint": path, "max_rounds": 4}
    expected = identify(problem, rewards, delta=1e-9, rng=5, max_rounds=4)
    with a_cluster(tmp_path) as (address, scheduler):

        def fatal(learner: PartitionedLearner) -> None:
            if learner.rounds == 2:
                scheduler.kill()

        with pytest.raises(ClusterLost, match="go on from what was saved"):
            identify(problem, rewards, **options, dask=address, progress=fatal)
    report = identify(problem, rewards, **options)
    assert report.rounds == 4
    assert np.array_equal(report.tables, expected.tables)
    assert np.array_equal(report.allocation.arms, expected.allocation.arms)  # type: ignore[union-attr]
    assert report.verdict == expected.verdict


def test_a_checkpoint_belongs_to_its_options(graph: PartitionedGraph, tmp_path: Path) -> None:
    problem, path = Problem(graph, ARMS, noise=30.0), tmp_path / "run.json"
    options: dict[str, Any] = {"delta": 1e-9, "rng": 5, "checkpoint": path, "max_rounds": 1}
    identify(problem, rewards, **options)
    for other in ({"delta": 0.1}, {"rng": 6}, {"strategy": "g-optimal"}):
        with pytest.raises(InvalidArgument, match="begun with another seed, strategy"):
            identify(problem, rewards, **{**options, **other})
    path.write_text("{")
    with pytest.raises(InvalidArgument, match="stored checkpoint cannot be read"):
        identify(problem, rewards, **options)


def test_a_live_network_gets_and_gives_parquet(graph: PartitionedGraph, tmp_path: Path) -> None:
    problem = Problem(graph, ARMS, noise=30.0)
    learner = PartitionedLearner(problem, delta=1e-9, rng=5)
    other = PartitionedLearner(problem, delta=1e-9, rng=5)
    law = law_of(learner)
    ticket = learner.ask(tmp_path / "out")
    files = sorted(Path(ticket.folder).iterdir())
    arms = np.concatenate([pq.read_table(one)["arm"].to_numpy() for one in files])
    assert np.array_equal(arms, Draw(graph.n_nodes, tuple(law), learner.state.seed, 1).joint_arm())
    with pytest.raises(InvalidFile, match="measurements of partition 0 in round 1 are not there"):
        learner.tell(ticket, tmp_path / "in")
    told = shared(graph, learner.state.seed, 1, law)
    (tmp_path / "in" / "round-00001").mkdir(parents=True)
    for one in graph.partitions:
        some = told[2 * one.first : 2 * (one.first + one.size)]
        path = tmp_path / "in" / "round-00001" / f"{one.name}.parquet"
        pq.write_table(pa.table({"reward": some}), path)
    learner.tell(ticket, tmp_path / "in")
    other.run_round(rewards)
    assert_same(learner.state, other.state)
    with pytest.raises(UnknownTicket, match="round 2 is waiting"):
        learner.tell(ticket, tmp_path / "in")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda _: np.zeros(3), r"partition 0: rewards have shape \(3,\)"),
        (lambda _: "no", "partition 0: rewards are not numbers"),
        (lambda share: np.full(2 * len(share.edges.ends), np.inf), "partition 0: .* arc 0 is inf"),
    ],
)
def test_wrong_rewards_change_nothing(graph: PartitionedGraph, wrong: Any, message: str) -> None:
    learner = PartitionedLearner(Problem(graph, ARMS), rng=0)
    with pytest.raises(InvalidRewards, match=message):
        learner.run_round(wrong)
    assert learner.rounds == 0


def test_what_partitions_cannot_do_is_refused(graph: PartitionedGraph) -> None:
    with pytest.raises(InvalidArgument, match="'adaptive' coordinates the nodes"):
        PartitionedLearner(Problem(graph, ARMS), strategy="adaptive")
    with pytest.raises(InvalidArgument, match="target 'allocation' searches the whole graph"):
        PartitionedLearner(Problem(graph, ARMS), target="allocation")
    with pytest.raises(InvalidProblem, match="every arc has a reward"):
        PartitionedLearner(Problem(graph, ARMS, measured="total"))
    with pytest.raises(InvalidProblem, match="graph is in memory"):
        PartitionedLearner(Problem(Graph.circle(n_nodes=4), ARMS))
    with pytest.raises(InvalidArgument, match="dask is a int"):
        identify(Problem(graph, ARMS), rewards, dask=3)
    with pytest.raises(InvalidArgument, match="dask is a str"):
        PartitionedLearner(Problem(graph, ARMS), dask="tcp://nowhere:1")
