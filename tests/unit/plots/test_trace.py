import numpy as np
import pytest

import edgewise as ew
from edgewise.base.arrays import Array
from edgewise.errors import InvalidArgument
from edgewise.plots import ConvergenceTrace


def run(matrix: Array, trace: ConvergenceTrace) -> int:
    arms, _ = ew.simulation.paper_instance(dimension=3, omega=0.5)
    problem = ew.Problem(ew.Graph.circle(n_edges=20), arms)
    environment = ew.BilinearEnvironment(problem, matrix, rng=1)
    return ew.identify(problem, environment, rng=2, progress=trace).rounds


def test_the_trace_follows_the_run() -> None:
    _, matrix = ew.simulation.paper_instance(dimension=3, omega=0.5)
    trace = ConvergenceTrace(matrix)
    rounds = run(matrix, trace)
    data = trace.data()
    assert data.rounds.tolist() == list(range(1, rounds + 1))
    assert data.stopped
    assert data.progress[-1] >= 1.0
    assert (data.progress[:-1] < 1.0).all()
    assert data.leaders[-1] == ((0, 0),)
    assert data.error_rounds[-1] == rounds
    assert (np.diff(data.error_rounds) > 0).all()
    assert data.errors[-1] < data.errors[0]


def test_only_the_symmetric_part_is_compared() -> None:
    symmetric = np.diag([2.0, 0.0, 0.0])
    twist = np.array([[0.0, 5.0, 0.0], [-5.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    one, other = ConvergenceTrace(symmetric), ConvergenceTrace(symmetric + twist)
    run(symmetric, one)
    run(symmetric, other)
    np.testing.assert_allclose(one.data().errors, other.data().errors)


def test_without_the_truth_no_error_is_measured() -> None:
    trace = ConvergenceTrace()
    run(np.diag([2.0, 0.0, 0.0]), trace)
    assert len(trace.data().errors) == 0


def test_changes_of_the_leader_are_reported() -> None:
    trace = ConvergenceTrace()
    run(np.diag([2.0, 0.0, 0.0]), trace)
    data = trace.data()
    expected = [
        after
        for after, old, new in zip(data.rounds[1:], data.leaders, data.leaders[1:], strict=False)
        if old and old != new
    ]
    assert data.leader_changes.tolist() == expected


def test_an_unused_trace_says_how_to_use_it() -> None:
    with pytest.raises(InvalidArgument, match="progress=trace"):
        ConvergenceTrace().data()


def test_a_truth_of_the_wrong_shape_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="pass M"):
        run(np.diag([2.0, 0.0, 0.0]), ConvergenceTrace(np.eye(2)))
