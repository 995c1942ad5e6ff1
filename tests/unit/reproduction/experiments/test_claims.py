"""Claims on synthetic results: true worlds are confirmed, false ones are not."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from edgewise.errors import InvalidArgument
from edgewise.network.families import FAMILIES
from edgewise.reproduction import EXPERIMENTS, ClaimStatus, Outcome, PaperClaim, Settings
from edgewise.reproduction.experiments.variance_data import ORDERS
from edgewise.reproduction.settings import HARD
from edgewise.reproduction.sweep.cell import Cell, Row
from edgewise.reproduction.sweep.points import LossPoint, RoundsPoint, VariancePoint
from edgewise.reproduction.sweep.random_points import RandomDesignPoint, RandomPoint

SETTINGS = Settings(quick=True, repetitions=60, methods=("paper",))

METHODS = ("paper", "union", "mixture", "contrast", "adaptive")
SPEED = {"paper": 0.01, "union": 0.7, "mixture": 1.0, "contrast": 1.3, "adaptive": 1.6}
EVERYTHING = Settings(quick=True, repetitions=60, methods=METHODS)

Scale = Callable[[str, float, int], float]


def rounds_of(
    point: RoundsPoint, cell: Cell, scale: Scale, wrong: float, speed: dict[str, float]
) -> list[Row]:
    size = max(point.n_edges, point.dimension * 25)
    rng = np.random.default_rng([cell.first, size, list(FAMILIES).index(point.graph)])
    mean = (8e5 if point.omega == HARD else 4e4) / point.n_edges
    mean *= scale(point.graph, point.omega, size) / speed.get(point.method, 1.0)
    return [
        {
            "repetition": cell.first + i,
            "rounds": max(1, round(float(mean * rng.gamma(100, 1 / 100)))),
            "certified": True,
            "correct": bool(rng.random() >= wrong),
        }
        for i in range(cell.count)
    ]


def variances_of(point: VariancePoint, cell: Cell, world: dict[str, Any]) -> list[Row]:
    rng = np.random.default_rng([cell.first, list(FAMILIES).index(point.graph)])
    orders = world.get("orders", ORDERS)
    rows: list[Row] = []
    for i in range(cell.count):
        for m in point.edges:
            exact = (1 + 0.1 * rng.random()) * m ** orders[point.graph]
            missing = 1.0 if point.graph == "matching" else world.get("omitted", 0.7)
            simulated = exact * world.get("bias", 1.0) * rng.normal(1, 0.05)
            rows.append(
                {
                    "repetition": cell.first + i,
                    "n_edges": m,
                    "exact": exact,
                    "paper": missing * exact,
                    "monte_carlo": simulated,
                    "standard_error": 0.05 * exact,
                }
            )
    return rows


def losses_of(point: LossPoint, cell: Cell, world: dict[str, Any]) -> list[Row]:
    rng = np.random.default_rng([cell.first, point.n_edges])
    order = world.get("loss_orders", ORDERS)[point.graph] / 2 - 1
    return [
        {
            "repetition": cell.first + i,
            "loss": float(rng.gamma(25, 1 / 25)) * point.n_edges**order,
            "bound": world.get("bound", 100.0),
            "whitened_bound": 50.0,
        }
        for i in range(cell.count)
    ]


def random_rounds_of(
    point: RandomPoint, cell: Cell, world: dict[str, Any], wrong: float
) -> list[Row]:
    rows: list[Row] = []
    for i in range(cell.first, cell.first + cell.count):
        hardness = np.random.default_rng(i).gamma(4, 10)  # of the instance, whatever the method
        rng = np.random.default_rng([i, [*METHODS, "rivalwise"].index(point.method)])
        mean = hardness / world.get("random_speed", SPEED)[point.method]
        rows += [
            {
                "repetition": i,
                "run": run,
                "rounds": max(1, round(float(mean * rng.gamma(50, 1 / 50)))),
                "certified": True,
                "correct": bool(rng.random() >= wrong),
            }
            for run in range(point.runs)
        ]
    return rows


def designs_of(cell: Cell) -> list[Row]:
    numbers = range(cell.first, cell.first + cell.count)
    return [{"repetition": i, "g_optimal": 2.0 + i % 2, "independent": 1.5} for i in numbers]


def found(
    name: str,
    scale: Scale = lambda *_: 1.0,
    *,
    wrong: float = 0.0,
    settings: Settings = SETTINGS,
    **world: Any,
) -> Outcome:
    """What an experiment finds in an imagined world."""
    experiment, results = EXPERIMENTS[name], {}
    for cell in experiment.cells(settings):
        if isinstance(cell.point, RoundsPoint):
            results[cell.key] = rounds_of(cell.point, cell, scale, wrong, world.get("speed", {}))
        elif isinstance(cell.point, VariancePoint):
            results[cell.key] = variances_of(cell.point, cell, world)
        elif isinstance(cell.point, LossPoint):
            results[cell.key] = losses_of(cell.point, cell, world)
        elif isinstance(cell.point, RandomPoint):
            results[cell.key] = random_rounds_of(cell.point, cell, world, wrong)
        elif isinstance(cell.point, RandomDesignPoint):
            results[cell.key] = designs_of(cell)
    return experiment.analyse(settings, results)


def claim(outcome: Outcome, start: str) -> PaperClaim:
    (one,) = [claim for claim in outcome.claims if claim.statement.startswith(start)]
    return one


def as_the_paper_says(graph: str, omega: float, size: int) -> float:
    return 1.3 if graph == "star" and omega != HARD else 1.0


@pytest.mark.parametrize("name", ["fig1-edges", "fig1-dimension"])
def test_in_the_papers_world_every_claim_of_figure_1_is_confirmed(name: str) -> None:
    outcome = found(name, as_the_paper_says)
    assert len(outcome.claims) == 5
    assert {claim.status for claim in outcome.claims} == {ClaimStatus.CONFIRMED}


def test_a_graph_that_matters_is_noticed() -> None:
    outcome = found("fig1-edges", lambda graph, *_: 1.4 if graph == "complete" else 1.0)
    assert claim(outcome, "At omega = 0.1").status is ClaimStatus.CONTRADICTED


def test_an_effect_at_the_largest_size_only_is_noticed() -> None:
    def scale(graph: str, omega: float, size: int) -> float:
        return 1.3 if graph == "star" and size >= 156 else 1.0

    outcome = found("fig1-edges", scale)
    assert claim(outcome, "At omega = 0.1").status is ClaimStatus.CONTRADICTED


def test_a_star_that_is_no_slower_is_not_confirmed_to_be() -> None:
    level = found("fig1-edges")
    assert claim(level, "At omega = pi/2 and many").status is not ClaimStatus.CONFIRMED
    faster = found("fig1-edges", lambda graph, *_: 0.7 if graph == "star" else 1.0)
    assert claim(faster, "At omega = pi/2 and many").status is ClaimStatus.CONTRADICTED


def test_circle_and_matching_that_differ_are_noticed() -> None:
    outcome = found("fig1-edges", lambda graph, *_: 1.4 if graph == "circle" else 1.0)
    assert claim(outcome, "At omega = pi/2, circle").status is ClaimStatus.CONTRADICTED


def test_few_repetitions_are_undecided_not_contradicted() -> None:
    few = Settings(quick=True, repetitions=3, methods=("paper",))
    outcome = found("fig1-edges", as_the_paper_says, settings=few)
    assert claim(outcome, "At omega = 0.1").status is ClaimStatus.UNDECIDED


def test_too_many_errors_are_noticed() -> None:
    outcome = found("fig1-edges", as_the_paper_says, wrong=0.2)
    assert claim(outcome, "A certified answer").status is ClaimStatus.CONTRADICTED


def test_fewer_rounds_than_the_lower_bound_are_noticed() -> None:
    outcome = found("fig1-edges", lambda *_: 1e-4)
    assert claim(outcome, "No method needs fewer").status is ClaimStatus.CONTRADICTED


def test_claims_about_what_was_not_measured_are_not_made() -> None:
    narrow = Settings(
        quick=True, repetitions=5, methods=("paper",), graphs=("star", "complete"), omegas=(0.3,)
    )
    outcome = found("fig1-edges", settings=narrow)
    assert [one.statement[:6] for one in outcome.claims] == ["A cert", "No met"]


def test_in_the_papers_world_every_claim_about_the_variance_is_confirmed() -> None:
    for name in ("table1", "fig2"):
        assert {one.status for one in found(name).claims} == {ClaimStatus.CONFIRMED}, name


def test_another_order_is_noticed() -> None:
    flat = dict.fromkeys(FAMILIES, 1.2)
    outcome = found("table1", orders=flat)
    assert claim(outcome, "||Var(A_1)||").status is ClaimStatus.CONTRADICTED
    assert claim(outcome, "alpha").status is ClaimStatus.CONTRADICTED
    assert claim(found("fig2", orders=flat), "The simulated").status is ClaimStatus.CONTRADICTED


def test_a_loss_that_falls_too_slowly_is_noticed() -> None:
    outcome = found("table1", loss_orders=dict.fromkeys(FAMILIES, 2.5))
    assert claim(outcome, "The loss of").status is ClaimStatus.CONTRADICTED


def test_a_violated_bound_is_noticed() -> None:
    outcome = found("table1", bound=0.01)
    assert claim(outcome, "After t0").status is ClaimStatus.CONTRADICTED


def test_a_complete_decomposition_would_be_noticed() -> None:
    outcome = found("fig2", omitted=1.0)
    assert claim(outcome, "The paper's decomposition").status is ClaimStatus.CONTRADICTED


def test_a_wrong_exact_formula_is_noticed() -> None:
    outcome = found("fig2", bias=1.2)
    assert claim(outcome, "The exact closed form").status is ClaimStatus.CONTRADICTED


@pytest.mark.parametrize(
    "wrong",
    [
        {"repetitions": 1},
        {"delta": 1.5},
        {"seed": -1},
        {"omegas": (2.0,)},
        {"graphs": ("torus",)},
        {"graphs": ()},
        {"graphs": ("star", "star")},
        {"methods": ("magic",)},
    ],
)
def test_wrong_settings_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument):
        Settings(**wrong)


# -- beyond the paper --------------------------------------------------------------------------

LADDER = {"paper": 1.0, "union": 20.0, "mixture": 40.0, "contrast": 120.0, "adaptive": 300.0}


def test_where_every_step_helps_all_is_confirmed() -> None:
    outcome = found("beyond", settings=EVERYTHING, speed=LADDER)
    assert len(outcome.claims) == 4
    assert {claim.status for claim in outcome.claims} == {ClaimStatus.CONFIRMED}
    assert set(outcome.data) == {"beyond", "beyond-random", "beyond-designs"}
    assert set(outcome.figures) == {"beyond", "beyond-random"}


def test_a_step_that_does_not_help_is_noticed() -> None:
    speed = {**LADDER, "contrast": 30.0}
    outcome = found("beyond", settings=EVERYTHING, speed=speed)
    assert claim(outcome, "At omega = 0.1").status is ClaimStatus.CONTRADICTED
    assert claim(outcome, "On random instances").status is ClaimStatus.CONFIRMED


def test_a_strategy_that_is_slower_on_random_instances_is_noticed() -> None:
    outcome = found(
        "beyond", settings=EVERYTHING, speed=LADDER, random_speed={**SPEED, "contrast": 0.8}
    )
    assert claim(outcome, "On random instances").status is ClaimStatus.CONTRADICTED
    assert claim(outcome, "At omega = 0.1").status is ClaimStatus.CONFIRMED


def test_errors_and_bounds_are_checked_beyond_the_paper() -> None:
    wrong = found("beyond", settings=EVERYTHING, speed=LADDER, wrong=0.2)
    assert claim(wrong, "A certified answer").status is ClaimStatus.CONTRADICTED
    too_fast = found(
        "beyond", settings=EVERYTHING, speed=LADDER, random_speed={**SPEED, "adaptive": 50.0}
    )
    assert claim(too_fast, "No method needs fewer").status is ClaimStatus.CONTRADICTED


@pytest.mark.parametrize(
    ("before", "status"), [(200.0, ClaimStatus.CONFIRMED), (450.0, ClaimStatus.CONTRADICTED)]
)
def test_the_price_of_a_union_over_rivals_is_tested(before: float, status: ClaimStatus) -> None:
    both = Settings(quick=True, repetitions=60, methods=("rivalwise", "adaptive"))
    outcome = found(
        "beyond",
        settings=both,
        speed={"rivalwise": before, "adaptive": 300.0},
        random_speed={**SPEED, "rivalwise": 1.5},
    )
    assert claim(outcome, "Refuting pairs for good").status is status
    table = outcome.tables[0]
    assert table.header[-2:] == ("lower bound as printed", "lower bound for the graph")
    assert all(float(row[-2]) <= float(row[-1]) for row in table.rows)


def test_only_what_was_measured_is_claimed_beyond_the_paper() -> None:
    few = Settings(quick=True, repetitions=20, methods=("mixture",), omegas=(1.5,))
    outcome = found("beyond", settings=few)
    assert [claim.statement.split()[0] for claim in outcome.claims] == ["A", "No"]
