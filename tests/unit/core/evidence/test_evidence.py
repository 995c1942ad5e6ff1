from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from edgewise.base.arrays import Array, Indices
from edgewise.core.evidence.evidence import Evidence, gather, gather_phases, watch
from edgewise.core.evidence.noise import estimate_noise
from edgewise.core.evidence.observed import in_range
from edgewise.core.evidence.statistics import CellStatistics, observe
from edgewise.core.gate.lack_of_fit import lack_of_fit
from edgewise.core.model.cells import Cells
from edgewise.core.model.problem import Problem
from edgewise.network.graph import Graph

Round = tuple[Indices, Array]


def simulate(problem: Problem, rng: np.random.Generator, n_rounds: int) -> list[Round]:
    """Joint arms and rewards without any model: least squares must not care."""
    graph = problem.graph
    return [
        (
            rng.integers(problem.n_arms, size=graph.n_nodes).astype(np.int32),
            rng.normal(size=graph.n_arcs) + 1.0,
        )
        for _ in range(n_rounds)
    ]


def total(problem: Problem, cells: Cells, rounds: list[Round]) -> CellStatistics:
    statistics = CellStatistics.zero(cells)
    for arms, rewards in rounds:
        told = observe(problem.graph, cells, arms, rewards)
        statistics = statistics.followed_by(told[None])[0]
    return statistics


def evidence_of(
    problem: Problem, cells: Cells, rounds: list[Round], ridge: float = 0.0
) -> Evidence:
    statistics = total(problem, cells, rounds)
    return gather(problem, cells, np.array([len(rounds)]), statistics[None], ridge=ridge)


def arc_rows(problem: Problem, rounds: list[Round], kind: int = 0) -> tuple[Array, Array]:
    """The explicit design matrix: one row w vec(x_i x_j'), (w x_i) per observed arc."""
    graph, X = problem.graph, problem.arms
    rows, values = [], []
    for arms, rewards in rounds:
        for a, (i, j) in enumerate(graph.arcs.tolist()):
            e = a if graph.directed else a // 2
            if graph.kinds is not None and graph.kinds[e] != kind:
                continue
            w = 1.0 if graph.weights is None else graph.weights[e]
            row = np.outer(X[arms[i]], X[arms[j]]).ravel()
            if problem.node_term:
                row = np.concatenate([row, X[arms[i]]])
            rows.append(w * row)
            values.append(rewards[a])
    return np.array(rows), np.array(values)


def symmetric_basis(d: int, node_term: bool) -> Array:
    """Columns span {vec S + beta}: least squares restricted to symmetric matrices."""
    columns = []
    for i in range(d):
        for j in range(i, d):
            E = np.zeros((d, d))
            E[i, j] = E[j, i] = 1.0
            columns.append(E.ravel())
    basis = np.array(columns).T
    if not node_term:
        return basis
    p = basis.shape[1]
    return np.block([[basis, np.zeros((d * d, d))], [np.zeros((d, p)), np.eye(d)]])


def check(evidence: Evidence, cells: Cells, kind: int, estimate: Array, cov: Array) -> None:
    """Leader, gaps and deviations against estimates and covariance of all cell means."""
    shown = np.flatnonzero(cells.showable[kind])
    leader = shown[estimate[shown].argmax()]
    assert evidence.leaders[0, kind] == leader
    for c in range(len(estimate)):
        if c == leader or not cells.showable[kind, c]:
            assert evidence.gaps[0, kind, c] == np.inf
            continue
        assert_allclose(evidence.gaps[0, kind, c], estimate[leader] - estimate[c], atol=1e-9)
        variance = cov[leader, leader] + cov[c, c] - 2 * cov[leader, c]
        assert_allclose(evidence.deviations[0, kind, c], np.sqrt(variance), rtol=1e-7)


def model_basis(problem: Problem) -> Array:
    """Columns span the parameters (vec M, beta) that the model can tell apart."""
    d = problem.dimension
    if problem.graph.directed:
        return np.eye(d * d + d * problem.node_term)
    return symmetric_basis(d, problem.node_term)


def model_rows(problem: Problem, rounds: list[Round], kind: int = 0) -> tuple[Array, Array]:
    """The explicit design matrix in terms of ``model_basis``, noise of one deviation per row."""
    Z, r = arc_rows(problem, rounds, kind)
    if problem.node_term and not problem.graph.directed:
        # The difference of the two directions also depends on beta; the symmetric form leaves
        # it unused, because its mean has the antisymmetric part of M in it as well.
        Z, r = (Z[::2] + Z[1::2]) * np.sqrt(0.5), (r[::2] + r[1::2]) * np.sqrt(0.5)
    return Z @ model_basis(problem), r


def model_cells(problem: Problem, cells: Cells) -> Array:
    """(P, p) the mean of each cell in terms of ``model_basis``, from the definition."""
    X = problem.arms
    rows = []
    for k, l in cells.pairs.tolist():
        ends = [(k, l)] if problem.graph.directed else [(k, l), (l, k)]
        row = np.mean([np.outer(X[a], X[b]).ravel() for a, b in ends], axis=0)
        if problem.node_term:
            row = np.concatenate([row, np.mean([X[a] for a, _ in ends], axis=0)])
        rows.append(row)
    return np.array(rows) @ model_basis(problem)


OPTIONS: list[dict[str, Any]] = [
    {},
    {"weights": [1.0, -2.0, 0.5, 3.0, 1.0]},
    {"kinds": [0, 1, 0, 1, 0]},
    {"kinds": [0, 1, 0, 1, 0], "weights": [1.0, 2.0, 0.5, 3.0, 1.0]},
]


@pytest.mark.parametrize("node_term", [False, True])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("options", OPTIONS)
def test_evidence_is_ordinary_least_squares(
    options: dict[str, Any], directed: bool, node_term: bool
) -> None:
    rng = np.random.default_rng(4)
    pairs = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)]
    graph = Graph.from_edges(pairs, directed=directed, **options)
    problem = Problem(graph, rng.normal(size=(4, 2)), noise=0.7, node_term=node_term)
    cells = Cells.of(problem)
    rounds = simulate(problem, rng, 30)
    evidence = evidence_of(problem, cells, rounds)
    basis = model_basis(problem)
    for kind in range(graph.n_kinds):
        Z, r = model_rows(problem, rounds, kind)
        theta, *_ = np.linalg.lstsq(Z, r, rcond=None)
        F = model_cells(problem, cells)
        check(evidence, cells, kind, F @ theta, 0.49 * F @ np.linalg.inv(Z.T @ Z) @ F.T)
        raw = basis @ theta
        assert_allclose(cells.matrices(evidence.theta[0])[kind].ravel(), raw[:4], atol=1e-9)
        if node_term:
            betas = cells.node_terms(evidence.theta[0])
            assert betas is not None
            assert_allclose(betas[kind], raw[4:], atol=1e-9)


def test_ridge_is_the_papers_regularised_estimate() -> None:
    rng = np.random.default_rng(5)
    problem = Problem(Graph.star(n_nodes=4), rng.normal(size=(3, 2)), noise=2.0)
    cells = Cells.as_printed(problem)
    rounds = simulate(problem, rng, 2)
    Z, r = arc_rows(problem, rounds)
    A = np.eye(4) + Z.T @ Z
    F = np.array([np.outer(problem.arms[k], problem.arms[l]).ravel() for k, l in cells.pairs])
    evidence = evidence_of(problem, cells, rounds, ridge=1.0)
    check(evidence, cells, 0, F @ np.linalg.solve(A, Z.T @ r), 4.0 * F @ np.linalg.inv(A) @ F.T)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_symmetric_form_equals_least_squares_on_ordered_arcs(d: int) -> None:
    """Both directions of every edge are observed, so the design is invariant under transposition:
    the ordered estimate splits into a symmetric part, which is our estimate to the last digit, and
    an antisymmetric part that no cell depends on. Variances of symmetric contrasts agree too."""
    rng = np.random.default_rng(d)
    problem = Problem(Graph.complete(n_nodes=5), rng.normal(size=(d + 2, d)))
    cells = Cells.of(problem)
    rounds = simulate(problem, rng, 20)
    Z, r = arc_rows(problem, rounds)
    M = np.linalg.lstsq(Z, r, rcond=None)[0].reshape(d, d)
    evidence = evidence_of(problem, cells, rounds)
    assert_allclose(cells.matrices(evidence.theta[0])[0], (M + M.T) / 2, atol=1e-10)
    if d > 1:
        assert np.abs(M - M.T).max() > 1e-3  # there was something to lose
    X = problem.arms
    phi = [(np.outer(X[k], X[l]) + np.outer(X[l], X[k])).ravel() / 2 for k, l in cells.pairs]
    F = np.array(phi)
    check(evidence, cells, 0, F @ M.ravel(), F @ np.linalg.inv(Z.T @ Z) @ F.T)


def test_symmetric_form_differs_once_directions_are_missing() -> None:
    """Negative control: without one direction of some edges the identity does not hold."""
    rng = np.random.default_rng(3)
    problem = Problem(Graph.complete(n_nodes=5), rng.normal(size=(4, 2)))
    cells = Cells.of(problem)
    rounds = simulate(problem, rng, 20)
    for _, rewards in rounds:
        rewards[::6] = np.nan
    Z, r = arc_rows(problem, rounds)
    seen = np.isfinite(r)
    M = np.linalg.lstsq(Z[seen], r[seen], rcond=None)[0].reshape(2, 2)
    S = cells.matrices(evidence_of(problem, cells, rounds).theta[0])[0]
    assert np.abs(S - (M + M.T) / 2).max() > 1e-4


def test_unobserved_directions_are_said() -> None:
    problem = Problem(Graph.circle(n_nodes=4), np.eye(2))
    cells = Cells.of(problem)
    constant: list[Round] = [(np.zeros(4, np.int32), np.ones(8))] * 3
    evidence = evidence_of(problem, cells, constant)
    assert evidence.leaders.tolist() == [[-1]]
    assert np.isnan(evidence.theta).all()
    assert (evidence.gaps == -np.inf).all()
    regularised = evidence_of(problem, cells, constant, ridge=1.0)
    assert regularised.leaders.tolist() == [[int(cells.pair_index[0, 0])]]


def test_one_kind_may_be_estimable_before_another() -> None:
    graph = Graph.from_edges([(0, 1), (1, 2), (2, 0), (3, 4)], kinds=[0, 0, 0, 1])
    problem = Problem(graph, np.eye(2))
    cells = Cells.of(problem)
    rounds: list[Round] = [
        (np.array([0, 0, 1, 0, 0], np.int32), np.ones(8)),
        (np.array([1, 1, 1, 0, 0], np.int32), np.ones(8)),
    ]
    evidence = evidence_of(problem, cells, rounds)
    assert evidence.leaders[0, 0] >= 0
    assert evidence.leaders[0, 1] == -1


@pytest.mark.parametrize("twin", [1.0, -1.0, 1.0 + 1e-14])
def test_duplicate_arms_are_one_answer(twin: float) -> None:
    rng = np.random.default_rng(6)
    arms = np.array([[1.0, 0.2], [0.1, 1.0], [twin, 0.2 * twin]])
    problem = Problem(Graph.complete(n_nodes=5), arms)
    cells = Cells.of(problem)
    rounds = simulate(problem, rng, 40)
    for joint, rewards in rounds:
        x = arms[joint]
        for a, (i, j) in enumerate(problem.graph.arcs.tolist()):
            rewards[a] = x[i, 0] * x[j, 0] + 0.01 * rewards[a]
    evidence = evidence_of(problem, cells, rounds)
    assert tuple(cells.pairs[evidence.leaders[0, 0]]) in {(0, 0), (2, 2), (0, 2)}
    same = {(0, 0), (2, 2)} | ({(0, 2)} if twin > 0 else set())
    tied = {tuple(cells.pairs[c].tolist()) for c in np.flatnonzero(evidence.gaps[0, 0] == np.inf)}
    assert tied == same


def test_close_arms_remain_rivals() -> None:
    """Negative control of the rule above: a millionth apart is two answers."""
    rng = np.random.default_rng(6)
    arms = np.array([[1.0, 0.2], [0.1, 1.0], [1.0 + 1e-6, 0.2]])
    problem = Problem(Graph.complete(n_nodes=5), arms)
    cells = Cells.of(problem)
    evidence = evidence_of(problem, cells, simulate(problem, rng, 40))
    assert (evidence.gaps == np.inf).sum() == 1


def test_masked_cells_are_neither_leaders_nor_rivals() -> None:
    rng = np.random.default_rng(9)
    mask = np.ones((5, 3), bool)
    mask[:, 2] = False
    problem = Problem(Graph.complete(n_nodes=5), rng.normal(size=(3, 2)), candidates=mask)
    cells = Cells.of(problem)
    rounds = simulate(problem, rng, 20)
    rounds = [(arms % 2, rewards) for arms, rewards in rounds]
    evidence = evidence_of(problem, cells, rounds)
    assert (evidence.gaps[0, 0][~cells.showable[0]] == np.inf).all()
    assert cells.showable[0, evidence.leaders[0, 0]]
    assert np.isfinite(evidence.gaps).sum() == evidence.n_rivals == 2


@pytest.mark.parametrize("ridge", [0.0, 1.0])
@pytest.mark.parametrize("seed", range(5))
def test_watching_one_rival_is_a_row_of_the_whole(seed: int, ridge: float) -> None:
    """Also when the rival, or a twin of it, becomes the leader: then it is no rival."""
    rng = np.random.default_rng(seed)
    arms = rng.normal(size=(3, 2))
    problem = Problem(Graph.circle(n_nodes=8), np.vstack([arms, -arms[:2], arms[2]]))
    cells = Cells.of(problem)
    n = rng.integers(1, 5, size=(20, 1, len(cells.pairs)))
    Y = n * rng.normal(size=n.shape)
    cumulative = CellStatistics.zero(cells).followed_by(CellStatistics(n, n.astype(float), Y, Y**2))
    rounds = np.arange(1, 21)
    whole = gather(problem, cells, rounds, cumulative, ridge=ridge)
    for c, (k, l) in enumerate(cells.pairs.tolist()):
        alone = watch(problem, cells, (0, k, l), rounds, cumulative, ridge=ridge)
        rivals = np.isfinite(whole.gaps[:, 0, c])
        assert np.array_equal(np.isfinite(alone.gaps[:, 0, 0]), rivals)
        assert_allclose(alone.gaps[:, 0, 0], whole.gaps[:, 0, c], atol=1e-12)
        assert_allclose(alone.deviations[rivals, 0, 0], whole.deviations[rivals, 0, c], rtol=1e-9)


def rounds_skipped(needed_times: float, seed: int, ridge: float) -> tuple[int, bool]:
    """Rounds that watching left out, and whether some rival lacked what is needed at each."""
    rng = np.random.default_rng(seed)
    problem = Problem(Graph.circle(n_nodes=8), rng.normal(size=(4, 2)), noise=2.0)
    cells = Cells.of(problem)
    n = rng.integers(0, 3, size=(200, 1, len(cells.pairs)))
    means = cells.features[0] @ (0.1 * rng.normal(size=cells.features.shape[2]))
    Y = n * means + np.sqrt(n) * rng.normal(scale=2.0, size=n.shape)
    cumulative = CellStatistics.zero(cells).followed_by(CellStatistics(n, n.astype(float), Y, Y**2))
    rounds = np.arange(1, 201)
    whole = gather(problem, cells, rounds, cumulative, ridge=ridge)
    weakest = whole.standardised(0.0)[:, 0].min(axis=1)
    needed = rng.uniform(5.0, 40.0, size=200)
    rival = (0, *cells.pairs[rng.integers(len(cells.pairs))].tolist())
    alone = watch(
        problem, cells, rival, rounds, cumulative, ridge=ridge, needed=needed_times * needed
    )
    skipped = np.isneginf(alone.gaps[:, 0, 0]) & (whole.leaders[:, 0] >= 0)
    lacks = np.sign(weakest) * weakest**2 < needed
    return int(skipped.sum()), bool(lacks[skipped].all())


@pytest.mark.parametrize("ridge", [0.0, 1.0])
def test_rounds_are_left_out_only_where_some_rival_cannot_be_refuted(ridge: float) -> None:
    found = [rounds_skipped(1.0, seed, ridge) for seed in range(40)]
    assert all(fine for _, fine in found)
    assert sum(skipped for skipped, _ in found) > 1000
    too_many = [rounds_skipped(3.0, seed, ridge) for seed in range(40)]
    assert not all(fine for _, fine in too_many)  # the same check would notice a wrong bound


# -- phases ----------------------------------------------------------------------------------


def phase_evidence(problem: Problem, cells: Cells, phases: list[list[Round]]) -> Evidence:
    """Evidence when all but the last phase are closed."""
    closed = CellStatistics.zero(cells)[None][:0]
    for rounds in phases[:-1]:
        closed = closed.with_another(total(problem, cells, rounds))
    number = sum(len(rounds) for rounds in phases)
    present = total(problem, cells, phases[-1])
    return gather_phases(problem, cells, number, closed.with_another(present))


def check_phases(
    problem: Problem, cells: Cells, phases: list[list[Round]], evidence: Evidence
) -> list[Array]:
    """Against rows of all observations and pseudo-inverses; (J, P) information per kind."""
    F = model_cells(problem, cells)
    found = []
    for kind in range(problem.graph.n_kinds):
        Z, r = model_rows(problem, [each for rounds in phases for each in rounds], kind)
        pooled, *_ = np.linalg.lstsq(Z, r, rcond=None)
        leader = int((F @ pooled).argmax())
        assert evidence.leaders[0, kind] == leader
        information, score = np.zeros((len(phases), len(F))), np.zeros((len(phases), len(F)))
        for j, rounds in enumerate(phases):
            Z, r = model_rows(problem, rounds, kind)
            inverse = np.linalg.pinv(Z, rcond=1e-10)
            for c in range(len(F)):
                y = F[leader] - F[c]
                if c != leader and np.allclose(Z.T @ inverse.T @ y, y, atol=1e-8):
                    s = problem.stated_noise * np.linalg.norm(inverse.T @ y)  # of D = y' theta^
                    information[j, c] = s**-2.0
                    score[j, c] = y @ inverse @ r / s**2
        I, W = information.sum(axis=0), score.sum(axis=0)
        for c in range(len(F)):
            gap, deviation = evidence.gaps[0, kind, c], evidence.deviations[0, kind, c]
            if c == leader:
                assert gap == np.inf
            elif I[c] == 0:
                assert gap == -np.inf
            else:
                assert_allclose(gap, W[c] / I[c], rtol=1e-7, atol=1e-9)
                assert_allclose(deviation, I[c] ** -0.5, rtol=1e-7)
        found.append(information)
    return found


@pytest.mark.parametrize("node_term", [False, True])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("lengths", [(25, 12), (30, 2, 15), (20, 1, 1, 1, 8)])
def test_phases_are_pooled_by_their_information(
    options: dict[str, Any], directed: bool, node_term: bool, lengths: tuple[int, ...]
) -> None:
    """Phases of one or two rounds miss directions: they must add nothing where they say nothing."""
    rng = np.random.default_rng(14)
    pairs = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)]
    graph = Graph.from_edges(pairs, directed=directed, **options)
    problem = Problem(graph, rng.normal(size=(4, 2)), noise=0.7, node_term=node_term)
    cells = Cells.of(problem)
    phases = [simulate(problem, rng, length) for length in lengths]
    informations = check_phases(problem, cells, phases, phase_evidence(problem, cells, phases))
    if 1 in lengths and directed and node_term:  # five arcs, six parameters
        assert min(int((each > 0).sum(axis=1).min()) for each in informations) < 15


@pytest.mark.parametrize("directed", [False, True])
def test_a_single_phase_is_plain_least_squares(directed: bool) -> None:
    rng = np.random.default_rng(15)
    graph = Graph.from_edges([(0, 1), (1, 2), (2, 0)], directed=directed, kinds=[0, 1, 0])
    problem = Problem(graph, rng.normal(size=(4, 2)), noise=0.7)
    cells = Cells.of(problem)
    rounds = simulate(problem, rng, 30)
    plain = evidence_of(problem, cells, rounds)
    alone = phase_evidence(problem, cells, [rounds])
    empty = phase_evidence(problem, cells, [rounds, []])  # the present phase has not begun
    for evidence, tolerance in ((alone, 1e-9), (empty, 1e-9)):
        assert np.array_equal(evidence.leaders, plain.leaders)
        assert_allclose(evidence.theta, plain.theta, rtol=tolerance)
        assert_allclose(evidence.gaps, plain.gaps, rtol=tolerance)
        rivals = np.isfinite(plain.gaps)
        assert_allclose(evidence.deviations[rivals], plain.deviations[rivals], rtol=tolerance)


def test_pooling_by_phase_is_not_plain_least_squares() -> None:
    """Negative control: 1/(y'A^-1 y) is superadditive, so phases that differ lose information."""
    rng = np.random.default_rng(16)
    problem = Problem(Graph.circle(n_nodes=6), rng.normal(size=(4, 2)))
    cells = Cells.of(problem)
    phases = [simulate(problem, rng, 4), simulate(problem, rng, 3)]
    pooled = phase_evidence(problem, cells, phases)
    plain = evidence_of(problem, cells, phases[0] + phases[1])
    rivals = np.isfinite(plain.gaps)
    ratio = pooled.deviations[rivals] / plain.deviations[rivals]
    assert ratio.min() >= 1.0 - 1e-9
    assert ratio.max() > 1.01
    assert np.array_equal(pooled.leaders, plain.leaders)
    assert_allclose(pooled.theta, plain.theta, rtol=1e-9)


def test_a_phase_says_nothing_about_directions_it_did_not_see() -> None:
    """Arms 0 and 1 only in the second phase: contrasts with arm 2 rest on the first alone."""
    rng = np.random.default_rng(17)
    problem = Problem(Graph.circle(n_nodes=6), np.eye(3), noise=0.5)
    cells = Cells.of(problem)
    first = simulate(problem, rng, 10)
    second = [(arms % 2, 100.0 + rewards) for arms, rewards in simulate(problem, rng, 10)]
    both = phase_evidence(problem, cells, [first, second])
    (information,) = check_phases(problem, cells, [first, second], both)
    leader = int(both.leaders[0, 0])
    assert cells.pairs[leader].max() < 2  # the second phase made it so
    touches = cells.pairs.max(axis=1) == 2
    rivals = np.arange(len(touches)) != leader
    assert (information[1, touches] == 0).all()
    assert (information[1, rivals & ~touches] > 0).all()
    alone = evidence_of(problem, cells, first).theta[0, 0] @ cells.features[0].T
    assert_allclose(both.gaps[0, 0, touches], (alone[leader] - alone)[touches], rtol=1e-9)


def test_a_contrast_no_phase_saw_stays_open() -> None:
    """Together the phases see everything, so there is a leader; but no phase compares it."""
    problem = Problem(Graph.matching(n_nodes=2), np.eye(2))
    cells = Cells.of(problem)
    phases: list[list[Round]] = [
        [(np.array(arms, np.int32), np.full(2, value))]
        for arms, value in (((0, 0), 3.0), ((0, 1), 2.0), ((1, 1), 1.0))
    ]
    evidence = phase_evidence(problem, cells, phases)
    assert evidence.leaders.tolist() == [[int(cells.pair_index[0, 0])]]
    rivals = np.arange(3) != evidence.leaders[0, 0]
    assert (evidence.gaps[0, 0, rivals] == -np.inf).all()
    early = phase_evidence(problem, cells, phases[:2])
    assert early.leaders.tolist() == [[-1]]
    assert (early.gaps == -np.inf).all()
    with_both = phase_evidence(problem, cells, [phases[0] + phases[1], phases[2]])
    assert_allclose(with_both.gaps[0, 0, cells.pair_index[0, 1]], 1.0)
    assert with_both.gaps[0, 0, cells.pair_index[1, 1]] == -np.inf


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_in_range_does_not_depend_on_scale(scale: float) -> None:
    rng = np.random.default_rng(18)
    Z = rng.normal(size=(3, 6))
    gram = scale * Z.T @ Z
    inside = rng.normal(size=(20, 3)) @ Z * 10.0 ** rng.uniform(-6, 6, size=(20, 1))
    outside = inside + 1e-3 * np.linalg.norm(inside, axis=1, keepdims=True) * rng.normal(size=6)
    assert in_range(gram, inside).all()
    assert not in_range(gram, outside).any()
    assert in_range(gram, np.zeros((1, 6))).all()


# -- diagnostics -----------------------------------------------------------------------------


def test_pure_error_is_the_pooled_within_cell_deviation() -> None:
    rng = np.random.default_rng(10)
    graph = Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 0)], weights=[1.0, 2.0, -0.5, 3.0])
    problem = Problem(graph, rng.normal(size=(3, 2)))
    cells = Cells.of(problem)
    rounds = simulate(problem, rng, 25)
    assert graph.weights is not None
    groups: dict[tuple[int, ...], list[tuple[float, float]]] = {}
    for arms, rewards in rounds:
        for e, (i, j) in enumerate(graph.edges.tolist()):
            key = tuple(sorted((int(arms[i]), int(arms[j]))))
            y = np.sqrt(2) * (rewards[2 * e] + rewards[2 * e + 1]) / 2  # deviation sigma again
            groups.setdefault(key, []).append((np.sqrt(2) * graph.weights[e], y))
    total_square, freedom = 0.0, 0
    for rows in groups.values():
        w, y = np.array(rows).T
        residual = y - w * (w @ y) / (w @ w)  # least squares through the origin
        total_square += residual @ residual
        freedom += len(rows) - 1
    found = estimate_noise(total(problem, cells, rounds))
    assert found is not None
    assert found.degrees_of_freedom == freedom
    assert_allclose(found.deviation, np.sqrt(total_square / freedom), rtol=1e-10)
    assert found.low < found.deviation < found.high


def fit_p_value(bend: float, seed: int) -> float:
    """P-value of the lack-of-fit test when rewards are bilinear plus ``bend`` on one pair."""
    rng = np.random.default_rng(seed)
    problem = Problem(Graph.complete(n_nodes=6), rng.normal(size=(4, 2)), noise=0.5)
    cells = Cells.of(problem)
    M = rng.normal(size=(2, 2))
    X = problem.arms
    rounds = []
    for arms, _ in simulate(problem, rng, 15):
        x, (i, j) = X[arms], problem.graph.arcs.T
        mean = np.einsum("ad,de,ae->a", x[i], M, x[j]) + bend * (arms[i] == arms[j])
        rounds.append((arms, mean + 0.5 * rng.normal(size=len(mean))))
    statistics = total(problem, cells, rounds)
    found = lack_of_fit(cells, statistics, evidence_of(problem, cells, rounds).theta[0])
    assert found is not None
    assert found.degrees_of_freedom[0] == 10 - 3
    return found.p_value


def test_lack_of_fit_is_silent_on_bilinear_rewards_and_loud_otherwise() -> None:
    p_values = np.array([fit_p_value(0.0, seed) for seed in range(200)])
    # uniform under the model: Dvoretzky-Kiefer-Wolfowitz at false-alarm rate 1e-6
    grid = np.arange(1, 201) / 200
    assert np.abs(np.sort(p_values) - grid).max() < np.sqrt(np.log(2e6) / 400) + 1 / 200
    assert max(fit_p_value(2.0, seed) for seed in range(10)) < 1e-6


def test_diagnostics_wait_for_repeats() -> None:
    problem = Problem(Graph.matching(n_nodes=2), np.eye(2))
    cells = Cells.of(problem)
    nothing = CellStatistics.zero(cells)
    assert estimate_noise(nothing) is None
    once = total(problem, cells, [(np.array([0, 1], np.int32), np.ones(2))])
    assert estimate_noise(once) is None
    assert lack_of_fit(cells, once, np.zeros((1, 3))) is None
