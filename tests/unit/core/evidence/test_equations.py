"""Normal equations with levels projected out, against least squares with dummy variables."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests.instances import FOUR_ARMS, TAIL, TAIL_KINDS, TAIL_WEIGHTS
from tests.saved import as_json, same

import edgewise as ew
from edgewise.base.arrays import Array, Indices
from edgewise.core.evidence.coverage import sees_everything
from edgewise.core.evidence.equations import Equations, Gathering
from edgewise.core.evidence.evidence import gather, gather_phases
from edgewise.core.evidence.measuring import after, all_of, measure, nothing_measured, with_present
from edgewise.core.evidence.noise import estimate_noise, pure_error
from edgewise.core.evidence.observed import in_range
from edgewise.core.model.cells import Cells, _build_joint
from edgewise.core.model.channels import Measurement
from edgewise.errors import InvalidRewards

LEVELS = ("none", "channel", "round", "both")
MEASURED: dict[str, dict[str, Any]] = {
    "arc": {"measured": "arc", "noise": [0.5, 0.5]},
    "link": {"measured": "link"},
    "node": {"measured": "node", "node_kinds": [0, 1, 1, 0, 1]},
    "total": {"measured": "total"},
    "noise by kind": {"measured": "link", "noise": [0.5, 2.0]},
    "noise by node": {"measured": "node", "noise": [0.5, 2.0, 1.0, 0.25, 3.0]},
    "alone": {"measured": "arc", "pooling": "none"},
}

Told = list[tuple[Indices, Array]]


def problem_of(name: str, levels: Any) -> ew.Problem:
    graph = ew.Graph.from_edges(TAIL, kinds=TAIL_KINDS, weights=TAIL_WEIGHTS)
    options = {"noise": 0.5, **MEASURED[name]}
    return ew.Problem(graph, FOUR_ARMS, levels=levels, **options)


def rounds_of(problem: ew.Problem, n_rounds: int, missing: float, seed: int = 0) -> Told:
    rng = np.random.default_rng(seed)
    told: Told = []
    for _ in range(n_rounds):
        arms = rng.integers(0, 4, problem.graph.n_nodes)
        rewards = rng.standard_normal(problem.n_rewards) + 20.0
        rewards[rng.random(len(rewards)) < missing] = np.nan
        told.append((arms, rewards))
    return told


def gathered(problem: ew.Problem, told: Told) -> Gathering:
    cells = Cells.of(problem)
    present, _ = nothing_measured(problem, cells)
    for arms, rewards in told:
        present = after(present, measure(problem, cells, arms, rewards))[-1]
    assert isinstance(present, Gathering)
    return present


def dummy_variables(problem: ew.Problem, told: Told) -> tuple[Array, Array, Array]:
    """(N, p) rows, (N, L) levels and (N,) numbers of all that was measured, in units of noise."""
    measurement = Measurement.of(problem)
    C, T = measurement.n_channels, len(told)
    rows, dummies, numbers = [], [], []
    for t, (arms, rewards) in enumerate(told):
        Z, r = measurement.shared_rows(arms), measurement.numbers(rewards)
        for c in np.flatnonzero(~np.isnan(r)):
            constant = np.zeros(C + T)
            constant[c] = problem.levels in ("channel", "both")
            constant[C + t] = problem.levels in ("round", "both")
            rows.append(Z[c] / measurement.noise[c])
            dummies.append(constant / measurement.noise[c])
            numbers.append(r[c] / measurement.noise[c])
    return np.array(rows), np.array(dummies), np.array(numbers)


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("levels", LEVELS)
@pytest.mark.parametrize("name", MEASURED)
def test_projecting_levels_out_is_least_squares_with_dummies(
    name: str, levels: str, missing: float
) -> None:
    problem = problem_of(name, levels)
    told = rounds_of(problem, 30, missing)
    found = gathered(problem, told).equations
    Z, D, r = dummy_variables(problem, told)
    away = np.eye(len(r)) - D @ np.linalg.pinv(D)
    rank = np.linalg.matrix_rank(D)
    scale = max(float(np.abs(Z.T @ away @ Z).max()), 1.0)
    assert_allclose(found.gram, Z.T @ away @ Z, atol=1e-9 * scale)
    assert_allclose(found.moment, Z.T @ away @ r, atol=1e-7 * scale)
    assert_allclose(found.squares, r @ away @ r, rtol=1e-6, atol=1e-6)
    assert int(found.freedom) == len(r) - rank
    squares, freedom = found[None].residual()
    full = np.hstack([Z, D])
    best = r - full @ np.linalg.pinv(full, rcond=1e-9) @ r
    assert int(freedom[0]) == max(len(r) - np.linalg.matrix_rank(full, tol=1e-6), 0)
    if freedom[0]:
        assert_allclose(squares[0], best @ best, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("levels", LEVELS)
def test_constants_of_the_levels_do_not_matter(levels: str) -> None:
    problem = problem_of("node", levels)
    told, rng = rounds_of(problem, 12, 0.1), np.random.default_rng(1)
    by_channel = 1e3 * rng.standard_normal(5) * (levels in ("channel", "both"))
    shifted = [
        (arms, r + by_channel + 1e3 * rng.standard_normal() * (levels in ("round", "both")))
        for arms, r in told
    ]
    first, second = (gathered(problem, each).equations for each in (told, shifted))
    assert_allclose(first.moment, second.moment, atol=1e-7)
    assert_allclose(first.squares, second.squares, atol=1e-6)
    other = [(arms, r + np.arange(5.0) * t) for t, (arms, r) in enumerate(told)]
    moved = gathered(problem, other).equations  # levels that change are no levels
    assert np.abs(first.moment - moved.moment).max() > 1.0


@pytest.mark.parametrize("levels", ["channel", "both"])
def test_one_round_carries_nothing_when_channels_have_levels(levels: str) -> None:
    problem = problem_of("link", levels)
    found = gathered(problem, rounds_of(problem, 1, 0.0)).equations
    assert_allclose(found.gram, 0.0, atol=1e-12)
    assert int(found.freedom) == 0


@pytest.mark.parametrize("levels", LEVELS)
def test_phases_keep_their_own_levels(levels: str) -> None:
    """Pooling adds what was projected in each, as dummies of their own for every phase."""
    problem = problem_of("arc", levels)
    told = rounds_of(problem, 20, 0.1)
    first, second = gathered(problem, told[:8]), gathered(problem, told[8:])
    closed = with_present(first.none_closed, first)
    assert isinstance(closed, Equations)
    assert len(closed) == 1
    total = all_of(closed, second)
    assert isinstance(total, Equations)
    assert_allclose(total.gram, first.equations.gram + second.equations.gram)
    assert_allclose(total.moment, first.equations.moment + second.equations.moment)
    assert int(total.freedom) == int(first.equations.freedom) + int(second.equations.freedom)


@pytest.mark.parametrize(("name", "noise"), [("noise by kind", 2), ("noise by node", 5)])
def test_noise_by_kind_or_channel_is_whitening(name: str, noise: int) -> None:
    """The same equations as from numbers divided by their noise, whose noise is then 1."""
    problem = problem_of(name, "channel")
    assert isinstance(problem.noise, tuple)
    assert len(problem.noise) == noise
    assert problem.stated_noise == 1.0
    told = rounds_of(problem, 15, 0.1)
    found = gathered(problem, told).equations
    each = np.array(problem.noise)
    if name == "noise by kind":
        each = each[TAIL_KINDS]
    plain = ew.Problem(problem.graph, FOUR_ARMS, noise=1.0, levels=True, measured=problem.measured)
    gram, moment = np.zeros_like(found.gram), np.zeros_like(found.moment)
    for c, sigma in enumerate(each):
        alone = [(arms, np.where(np.arange(len(r)) == c, r, np.nan)) for arms, r in told]
        one = gathered(plain, alone).equations
        gram += one.gram / sigma**2
        moment += one.moment / sigma**2
    assert_allclose(found.gram, gram, atol=1e-9)
    assert_allclose(found.moment, moment, atol=1e-7)


# -- the general path gives what cells give ----------------------------------------------------


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("node_term", [False, True])
@pytest.mark.parametrize("kinds", [None, TAIL_KINDS])
def test_evidence_from_equations_is_that_from_cells(
    directed: bool, node_term: bool, kinds: Any
) -> None:
    graph = ew.Graph.from_edges(TAIL, directed=directed, kinds=kinds, weights=TAIL_WEIGHTS)
    problem = ew.Problem(graph, FOUR_ARMS, node_term=node_term, noise=0.7)
    told = rounds_of(problem, 40, 0.0)
    if directed:  # an arc more or less; of an undirected edge equations need both
        told = [
            (arms, np.where(np.arange(6) == t % 17, np.nan, r)) for t, (arms, r) in enumerate(told)
        ]
    plain, joint = Cells.of(problem), _build_joint(problem)
    assert not plain.joint
    stacks, totals = [], []
    for cells in (plain, joint):
        present, closed = nothing_measured(problem, cells)
        for t, (arms, rewards) in enumerate(told):
            present = after(present, measure(problem, cells, arms, rewards))[-1]
            if t == 24:
                closed = with_present(closed, present)
                present, _ = nothing_measured(problem, cells)
        stacks.append(with_present(closed, present))
        totals.append(all_of(closed, present))
    number = np.array([40])
    for first, second in (
        [
            gather(problem, cells, number, total[None])
            for cells, total in zip((plain, joint), totals, strict=True)
        ],
        [
            gather_phases(problem, cells, 40, stack)
            for cells, stack in zip((plain, joint), stacks, strict=True)
        ],
    ):
        assert np.array_equal(first.leaders, second.leaders)
        assert first.leaders.min() >= 0
        assert_allclose(second.gaps, first.gaps, rtol=1e-7, atol=1e-8)
        finite = np.isfinite(first.gaps)
        assert_allclose(second.variances[finite], first.variances[finite], rtol=1e-7)
        assert_allclose(second.deviations[finite], first.deviations[finite], rtol=1e-7)


def test_nothing_is_led_by_before_it_can_be_estimated() -> None:
    problem = problem_of("node", "channel")
    cells = Cells.of(problem)
    present = gathered(problem, rounds_of(problem, 2, 0.0))
    evidence = gather(problem, cells, np.array([2]), present.equations[None])
    assert (evidence.leaders == -1).any()
    assert (evidence.gaps[0][evidence.leaders[0] < 0] == -np.inf).all()


@pytest.mark.parametrize("levels", LEVELS)
@pytest.mark.parametrize("name", ["arc", "link", "node"])
def test_everything_is_seen_when_all_contrasts_are_estimable(name: str, levels: str) -> None:
    problem = problem_of(name, levels)
    cells = Cells.of(problem)
    told, seen = rounds_of(problem, 60, 0.0), []
    for n_rounds in (1, 2, 4, 8, 60):
        present = gathered(problem, told[:n_rounds])
        Z, D, _ = dummy_variables(problem, told[:n_rounds])
        rows = Z - D @ np.linalg.pinv(D) @ Z
        contrasts = np.vstack([one - one[:1] for one in cells.features])
        if cells.own is not None:
            contrasts = np.vstack([contrasts, *(one - one[:1] for one in cells.own)])
        rank = np.linalg.matrix_rank(rows, tol=1e-6)
        inside = np.linalg.matrix_rank(np.vstack([rows, contrasts]), tol=1e-6) == rank
        assert sees_everything(cells, present) == inside
        assert in_range(present.equations.gram, contrasts).all() == inside
        seen.append(inside)
    assert not seen[0]
    assert seen[-1]


# -- noise -------------------------------------------------------------------------------------


@pytest.mark.parametrize("levels", LEVELS)
def test_the_noise_of_one_number_is_recovered(levels: str) -> None:
    """Whatever the levels; 4.9 standard errors are a false-alarm rate of 1e-6."""
    graph = ew.Graph.circle(n_nodes=12)
    options: dict[str, Any] = {"noise": "estimate", "levels": levels, "measured": "link"}
    problem = ew.Problem(graph, FOUR_ARMS, **options)
    environment = ew.BilinearEnvironment(
        problem,
        [[1.0, 0.3], [0.0, -0.5]],
        noise=0.4,
        levels=5.0 if levels in ("channel", "both") else 0.0,
        round_levels=5.0 if levels in ("round", "both") else 0.0,
        rng=1,
    )
    rng = np.random.default_rng(3)
    told: Told = []
    for _ in range(60):
        arms = rng.integers(0, 4, 12)
        told.append((arms, environment(arms)))
    found = gathered(problem, told).equations
    _, freedom = pure_error(found[None])
    estimate = estimate_noise(found)
    assert estimate is not None
    assert abs(estimate.deviation / 0.4 - 1.0) < 4.9 / np.sqrt(2.0 * freedom[0])


# -- telling and storing -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "where"),
    [
        ("arc", r"arc 1 \(b -> a\)"),
        ("link", r"link 1 \(b - c\)"),
        ("node", "node b"),
        ("total", ""),
    ],
)
def test_absurd_rewards_are_named(name: Any, where: str) -> None:
    graph = ew.Graph.from_edges([("a", "b"), ("b", "c"), ("c", "a")])
    problem = ew.Problem(graph, FOUR_ARMS, measured=name, levels=True)
    rewards = np.zeros(problem.n_rewards)
    rewards[min(1, len(rewards) - 1)] = np.inf
    with pytest.raises(InvalidRewards, match=f"{where}.*nothing was recorded"):
        measure(problem, Cells.of(problem), np.zeros(3, np.int32), rewards)


@pytest.mark.parametrize("given", [6, 3, 1, 2])
@pytest.mark.parametrize("name", ["arc", "link", "total"])
def test_shapes_that_do_not_fit_show_both(name: Any, given: int) -> None:
    graph = ew.Graph.from_edges([("a", "b"), ("b", "c"), ("c", "a")])
    problem = ew.Problem(graph, FOUR_ARMS, measured=name, levels=True)
    learner = ew.Learner(problem, rng=0)
    if given == problem.n_rewards:
        learner.tell(learner.ask(), np.zeros(given))
        return
    match = rf"shape \({given},\).*\({problem.n_rewards},\)"
    with pytest.raises(InvalidRewards, match=match):
        learner.tell(learner.ask(), np.zeros(given))
    assert learner.rounds == 0


def test_a_total_may_be_one_number() -> None:
    problem = ew.Problem(ew.Graph.circle(n_nodes=5), FOUR_ARMS, measured="total")
    learner = ew.Learner(problem, rng=0)
    learner.tell(learner.ask(), 3.5)
    assert learner.rounds == 1


@pytest.mark.parametrize("strategy", ["adaptive", "contrast", "g-optimal"])
@pytest.mark.parametrize("levels", LEVELS)
@pytest.mark.parametrize("name", ["link", "node", "noise by kind", "alone"])
def test_a_saved_learner_goes_on_bit_for_bit(name: str, levels: str, strategy: str) -> None:
    problem = problem_of(name, levels)
    environment = ew.BilinearEnvironment(problem, [[1.0, 0.3], [0.0, -0.5]], rng=1)
    learner = ew.Learner(problem, rng=0, strategy=strategy, delta=1e-9)
    for n_rounds in (0, 3, 9):
        while learner.rounds < n_rounds:
            ticket = learner.ask()
            rewards = environment(ticket.arms)
            rewards[ticket.round % len(rewards)] = np.nan
            learner.tell(ticket, rewards)
        saved = learner.save()
        again = ew.Learner.restore(problem, as_json(saved))
        assert same(again.save(), saved)
        assert again.verdict == learner.verdict
        others = [ew.Learner.restore(problem, as_json(saved)), ew.Learner.restore(problem, saved)]
        for seed, other in enumerate(others):
            twin = ew.BilinearEnvironment(problem, np.eye(2), rng=seed % 1)
            for _ in range(5):
                if other.verdict.stop:
                    break
                ticket = other.ask()
                other.tell(ticket, twin(ticket.arms))
        assert same(others[0].save(), others[1].save())
