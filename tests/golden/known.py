"""What is hashed: the knowledge of learners, allocations, designs, theory and a study."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import edgewise as ew
from edgewise.core.evidence.equations import Equations, Gathering
from edgewise.core.evidence.statistics import CellStatistics
from edgewise.core.strategies.limits.safe import Safe

Known = Iterator[tuple[str, tuple[Any, ...]]]

_LOOKS = (1, 5, 30)
_METHODS: dict[str, tuple[Any, str | None, str | None]] = {
    "adaptive, anytime, pair": ("adaptive", "anytime", "pair"),
    "adaptive, anytime, allocation": ("adaptive", "anytime", "allocation"),
    "adaptive, mixture, pair": ("adaptive", "mixture", "pair"),
    "adaptive, mixture, allocation": ("adaptive", "mixture", "allocation"),
    "contrast, anytime, pair": ("contrast", "anytime", "pair"),
    "contrast, anytime, allocation": ("contrast", "anytime", "allocation"),
    "contrast, mixture, pair": ("contrast", "mixture", "pair"),
    "g-optimal, mixture, pair": ("g-optimal", "mixture", "pair"),
    "g-optimal, mixture, allocation": ("g-optimal", "mixture", "allocation"),
    "g-optimal, union, pair": ("g-optimal", "union", "pair"),
    "g-optimal, union, allocation": ("g-optimal", "union", "allocation"),
    "paper": ("paper", None, None),
    "safe, pair": ("safe", None, "pair"),
    "safe, allocation": ("safe", None, "allocation"),
}


def _rng(*key: int) -> np.random.Generator:
    return np.random.Generator(np.random.Philox(list(key)))


def _edges(rng: np.random.Generator, n_nodes: int, n_edges: int) -> Any:
    first, second = np.triu_indices(n_nodes, 1)
    chosen = rng.choice(len(first), n_edges, replace=False)
    return np.column_stack([first[chosen], second[chosen]])


def _problems() -> dict[str, tuple[ew.Problem, Any, Any]]:
    """Name -> problem, true matrix, true beta."""
    rng = _rng(1)
    ring = [(i, (i + 1) % 9) for i in range(9)]
    edges = _edges(rng, 10, 16)
    arms = np.round(rng.standard_normal((5, 2)), 3)
    matrix = np.round(rng.standard_normal((2, 2)), 3)
    matrices = np.round(rng.standard_normal((2, 2, 2)), 3)
    mask = np.ones((10, 5), bool)
    mask[3:6, 1] = mask[6:, 4] = False
    signs = np.where(np.arange(16) % 3 == 0, -0.5, 1.25)
    kinds = np.arange(16) % 2
    plain = ew.Graph.from_edges(ring)
    graph = ew.Graph.from_edges(edges)
    directed = ew.Graph.from_edges(edges, directed=True, kinds=kinds)
    signed = ew.Graph.from_edges(edges, weights=signs)
    return {
        "undirected": (ew.Problem(plain, arms, noise=2.0), matrix, None),
        "directed kinds": (ew.Problem(directed, arms, noise=2.0), matrices, None),
        "signed weights": (ew.Problem(signed, arms, noise=2.0), matrix, None),
        "masks": (ew.Problem(graph, arms, noise=2.0, candidates=mask), matrix, None),
        "node term": (ew.Problem(graph, arms, noise=2.0, node_term=True), matrix, matrix[0]),
        "missing": (ew.Problem(graph, arms, noise=2.0), matrix, None),
        "noise estimated": (ew.Problem(graph, arms, noise="estimate"), matrix, None),
    }


def learners() -> Known:
    """Every strategy, rule and target on every sort of problem."""
    for where, (problem, matrix, beta) in _problems().items():
        for name, (strategy, stopping, target) in _METHODS.items():
            if strategy == "paper" and not problem.has_paper_setting:
                continue
            if strategy in ("paper", "safe") and problem.noise == "estimate":
                continue
            chosen = strategy
            if strategy == "safe":
                chosen = Safe([0] * problem.graph.n_nodes, largest_loss=3.0, worst_loss=0.5)
            learner = ew.Learner(
                problem, delta=1e-3, strategy=chosen, stopping=stopping, target=target, rng=7
            )
            world = ew.BilinearEnvironment(problem, matrix, beta=beta, noise=2.0, rng=_rng(2))
            yield from _run(f"{where}: {name}", learner, world, where == "missing")


def _run(name: str, learner: ew.Learner, world: Any, gaps: bool) -> Known:
    while learner.rounds < _LOOKS[-1] and not learner.verdict.stop:
        ticket = learner.ask()
        rewards = world(ticket.arms)
        if gaps:
            rewards[(ticket.round * 5) % len(rewards) :: 4] = np.nan
        learner.tell(ticket, rewards)
        if learner.rounds in _LOOKS or learner.verdict.stop:
            yield f"{name}, round {learner.rounds}", (learner_knows(learner),)


def learner_knows(learner: ew.Learner) -> tuple[Any, ...]:
    """Statistics, verdict, next joint arm, and the numbers of the report."""
    state = learner._state
    return (
        state.rounds,
        state.phase_rounds,
        _statistics(state.closed),
        _statistics(state.statistics),
        (state.aim.length, state.aim.kinds, state.aim.leaders, state.aim.rivals, state.aim.needs),
        _verdict(state.verdict),
        (state.best_arms, state.best_total),
        None if state.answer is None else (state.answer.arms, _regret(state.answer.regret)),
        None if state.verdict.stop else learner.ask().arms,
        report_says(learner.report()),
    )


def _statistics(one: CellStatistics | Equations | Gathering) -> tuple[Any, ...]:
    assert isinstance(one, CellStatistics)  # of plain problems
    return one.observations, one.information, one.rewards, one.squares


def _verdict(one: ew.Verdict) -> tuple[Any, ...]:
    return one.stop, one.round, one.pairs, one.rival, one.progress, one.stalled


def _regret(one: Any) -> Any:
    return None if one is None else (one.bound, one.optimisation)


def report_says(report: ew.Report) -> tuple[Any, ...]:
    """The numbers of a report, and its guarantee."""
    noise, fit = report.noise_estimate, report.lack_of_fit
    return (
        report.rounds,
        report.ending.name,
        report.delta,
        report.epsilon,
        [design.weights for design in report.designs],
        report.matrices,
        report.node_terms,
        report.tables,
        _allocation(report.allocation),
        _regret(report.regret),
        [(one.name, one.arms, one.value) for one in report.baselines],
        None if noise is None else (noise.deviation, noise.low, noise.high),
        None if fit is None else (fit.statistic, fit.p_value, fit.degrees_of_freedom),
        report.guarantee,
    )


def _allocation(one: ew.Allocation | None) -> Any:
    if one is None:
        return None
    return one.arms, one.value, one.upper_bound, one.proved_optimal, one.method, one.bound


def allocations() -> Known:
    """Sixty seeded instances, each by all methods that apply to it."""
    for number in range(60):
        rng = _rng(3, number)
        sort = number % 6
        n_nodes, n_arms = int(rng.integers(6, 30)), int(rng.integers(2, 7))
        most = n_nodes * (n_nodes - 1) // 2
        n_edges = min(most, int(rng.integers(n_nodes, 2 * n_nodes)))
        edges = _edges(rng, n_nodes, n_edges)
        edges = np.vstack([edges, [(0, n_nodes - 1)]]) if not _joins(edges, n_nodes) else edges
        kinds = np.arange(len(edges)) % 2 if sort in (1, 4) else None
        weights = rng.standard_normal(len(edges)).round(2) + 3.01 if sort == 2 else None
        if sort == 3:
            weights = rng.standard_normal(len(edges)).round(2) + 0.005
        graph = ew.Graph(n_nodes, edges, directed=sort == 1, kinds=kinds, weights=weights)
        q = graph.n_kinds
        arms = rng.standard_normal((n_arms, 3))
        matrix = rng.standard_normal((q, 3, 3)) if q > 1 else rng.standard_normal((3, 3))
        options: dict[str, Any] = {}
        if sort == 4:
            options["candidates"] = rng.random((n_nodes, n_arms)) < 0.7
            options["candidates"][:, 0] = True
        if sort == 5:
            options["unary"] = rng.standard_normal((n_nodes, n_arms))
        yield from _allocate(f"allocate {number}", graph, arms, matrix, options)


def _joins(edges: Any, n_nodes: int) -> bool:
    return bool(((edges == (0, n_nodes - 1)).all(axis=1)).any())


def _allocate(name: str, graph: ew.Graph, arms: Any, matrix: Any, options: Any) -> Known:
    for method in ("auto", "bipartite", "two-arm", "greedy", "local-search", "anneal", "exact"):
        for bound in ("fast", "tight") if method == "auto" else ("fast",):
            try:
                found = ew.allocate(
                    graph, arms, matrix, method=method, bound=bound, rng=_generator(4), **options
                )
            except ew.EdgewiseError as refusal:
                yield f"{name}, {method}, {bound}", (type(refusal).__name__,)
            else:
                yield f"{name}, {method}, {bound}", _allocation(found)


def _generator(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def designs() -> Known:
    """G-optimal designs by both methods, and the laws of the contrast strategy."""
    for number, (count, dimension) in enumerate([(6, 2), (20, 3), (60, 5), (200, 8)]):
        arms = _rng(5, number).standard_normal((count, dimension))
        for method in ("newton", "frank-wolfe"):
            made = ew.g_optimal(arms, tolerance=1e-4, method=method)
            yield (
                f"g_optimal {count} x {dimension}, {method}",
                (made.weights, made.worst_variance, made.iterations),
            )


def theory() -> Known:
    """The calculators on the paper's instances."""
    for dimension in (2, 3, 5):
        arms, matrix = ew.simulation.paper_instance(dimension=dimension, omega=0.1)
        weights = ew.g_optimal(arms).weights
        alone = ew.theory.rho_independent(arms, matrix)
        yield f"rho independent {dimension}", (alone.value, alone.lower, alone.design)
        for family in ("star", "complete", "circle", "matching"):
            graph = getattr(ew.Graph, family)(n_edges=20 if family == "complete" else 12)
            spread = ew.theory.variance(graph, arms, weights)
            printed = ew.theory.paper_decomposition(graph, arms, weights)
            lower = ew.theory.lower_bound(graph, arms, matrix, delta=0.05)
            yield (
                f"theory {family} {dimension}",
                (
                    spread.matrix,
                    spread.norm,
                    printed.norm,
                    ew.theory.degree_excess(graph),
                    ew.theory.burn_in(arms, delta=0.05),
                    (lower.rounds, lower.rho, lower.rho_lower, lower.design),
                ),
            )


def study() -> Known:
    """A scripted study: partial and late answers, a cancellation, a correction, an extension."""
    problem, matrix, _ = _problems()["directed kinds"]
    for strategy in ("adaptive", "g-optimal"):
        record = ew.Study.create(
            "golden", problem, storage="memory", delta=0.1, strategy=strategy, max_rounds=12, rng=3
        )
        world = ew.BilinearEnvironment(problem, matrix, rng=_rng(6))
        for number in range(1, 13):
            ticket = record.ask()
            rewards = world(ticket.arms)
            if number == 3:
                record.cancel(ticket)
                ticket = record.ask()
            if number == 5:
                record.tell(ticket, np.where(np.arange(len(rewards)) < 9, rewards, np.nan))
                record.close(ticket)
            else:
                record.tell(ticket, rewards)
        yield f"study {strategy}, spent", (_study_knows(record),)
        wrong = record.ticket(4)
        arc = problem.graph.arcs[2]
        labels = problem.graph.labels
        record.correct(wrong, {(labels[arc[0]], labels[arc[1]]): 1.5})
        yield f"study {strategy}, corrected", (_study_knows(record),)
        record.extend(rounds=3, delta=0.2)
        for _ in range(3):
            ticket = record.ask()
            record.tell(ticket, world(ticket.arms))
        yield f"study {strategy}, extended", (_study_knows(record),)


def _study_knows(record: ew.Study) -> tuple[Any, ...]:
    status, history = record.status(), record.history()
    ahead = status.forecast
    return (
        status.rounds,
        status.ending.name,
        status.phase,
        status.progress,
        status.leaders,
        _regret(status.regret),
        None if ahead is None else (ahead.rounds, ahead.low, ahead.high),
        [(one.round, one.delta, one.pairs, one.arms, one.regret) for one in status.certificates],
        history.totals,
        history.progress,
        history.phase_ends,
        report_says(record.report()),
    )


def replications() -> Known:
    """Simulated runs, cell by cell."""
    arms, matrix = ew.simulation.paper_instance(dimension=3, omega=0.3)
    for family in ("star", "circle"):
        problem = ew.Problem(getattr(ew.Graph, family)(n_edges=24), arms)
        for strategy in ("adaptive", "contrast", "g-optimal", "paper"):
            for target in ("pair", "allocation") if strategy != "paper" else ("pair",):
                done = ew.simulation.replicate(
                    problem,
                    matrix,
                    repetitions=4,
                    strategy=strategy,
                    target=target,
                    max_rounds=400,
                    rng=11,
                )
                yield (
                    f"replicate {family}, {strategy}, {target}",
                    (done.rounds, done.certified, done.correct),
                )
