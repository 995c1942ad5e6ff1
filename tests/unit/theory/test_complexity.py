from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from edgewise.base.arrays import Array
from edgewise.errors import InvalidArgument
from edgewise.network.graph import Graph
from edgewise.theory import lower_bound, sample_complexity

STAR = Graph.star(n_edges=156)


def paper_instance(d: int, omega: float) -> tuple[Array, Array]:
    extra = np.zeros(d)
    extra[:2] = np.cos(omega), np.sin(omega)
    matrix = np.zeros((d, d))
    matrix[0, 0] = 2.0
    return np.vstack([np.eye(d), extra]), matrix


def right_side(t: float, *, d: int, m: int, gap: float, n_arms: int, delta: float) -> float:
    log = math.log(6 * m**2 * t**2 * n_arms**4 / (delta * math.pi**2))
    return 128 * d**2 * log / (m * gap**2)


@pytest.mark.parametrize("omega", [0.1, 0.5, math.pi / 2])
def test_sample_complexity_solves_its_equation(omega: float) -> None:
    arms, matrix = paper_instance(5, omega)
    t = sample_complexity(STAR, arms, matrix)
    gap = 2 - 2 * math.cos(omega)
    setting: dict[str, Any] = {"d": 5, "m": 156, "gap": gap, "n_arms": 6, "delta": 0.05}
    assert t == pytest.approx(right_side(t, **setting), rel=1e-9)
    assert t / 1.01 < right_side(t / 1.01, **setting)
    assert t * 1.01 > right_side(t * 1.01, **setting)


def test_sample_complexity_scales_as_it_should() -> None:
    arms, matrix = paper_instance(3, 0.4)
    base = sample_complexity(STAR, arms, matrix)
    assert sample_complexity(STAR, arms, matrix, alpha=3.0) > 4 * base
    assert sample_complexity(STAR, arms, matrix, noise=2.0) == pytest.approx(
        sample_complexity(STAR, arms, matrix, alpha=3.0)
    )
    assert sample_complexity(STAR, arms, matrix, delta=0.01) > base


def test_best_pair_of_two_arms_is_no_tie_but_a_second_pair_is() -> None:
    swap = np.array([[0.0, 1.0], [1.0, 0.0]])
    # Best: {e1, e2} with reward 1; {e1, e1} and {e2, e2} have 0.
    assert math.isfinite(sample_complexity(STAR, np.eye(2), swap))
    assert sample_complexity(STAR, np.eye(2), np.eye(2)) == math.inf


def test_non_symmetric_matrix_counts_through_its_symmetric_part() -> None:
    arms, matrix = paper_instance(3, 0.4)
    skew = np.triu(np.ones((3, 3)), 1)
    assert sample_complexity(STAR, arms, matrix + skew - skew.T) == pytest.approx(
        sample_complexity(STAR, arms, matrix)
    )


def test_at_least_one_round_even_when_the_bound_says_less() -> None:
    arms, matrix = paper_instance(2, math.pi / 2)
    assert sample_complexity(STAR, arms, matrix, noise=1e-6) == 1.0
    assert sample_complexity(STAR, [[1.0]], [[1.0]]) == 1.0  # nothing to identify


def test_duplicate_best_arm_is_the_same_arm() -> None:
    matrix = np.diag([2.0, 0.0])
    arms = np.eye(2)
    doubled = arms[[0, 1, 0]]
    assert math.isfinite(sample_complexity(STAR, doubled, matrix))
    assert lower_bound(STAR, doubled, matrix).rho == pytest.approx(
        lower_bound(STAR, arms, matrix).rho, rel=1e-5
    )


@pytest.mark.parametrize(("model", "rounds"), [("symmetric", 3.2), ("ordered", 6.0)])
def test_lower_bound_of_the_papers_experiment(model: Any, rounds: float) -> None:
    arms, matrix = paper_instance(5, 0.1)
    result = lower_bound(STAR, arms, matrix, model=model, nats="printed")
    assert round(result.rounds, 1) == rounds
    assert result.rho_lower <= result.rho <= result.rho_lower * (1 + 1e-6)
    assert result.rounds == pytest.approx(
        2 * result.rho_lower * math.log(1 / (2.4 * 0.05)) / 156, rel=1e-12
    )
    assert result.design.shape == ((21,) if model == "symmetric" else (36,))
    assert result.design.sum() == pytest.approx(1.0)


def test_the_sharp_bound_has_the_divergence_of_right_and_wrong() -> None:
    """kl between coins of delta and 1 - delta, by its definition; never below the printed form."""
    arms, matrix = paper_instance(5, 0.1)
    for delta in (1e-10, 0.01, 0.05, 0.3):
        sharp = lower_bound(STAR, arms, matrix, delta=delta)
        kl = delta * math.log(delta / (1 - delta)) + (1 - delta) * math.log((1 - delta) / delta)
        assert sharp.rounds == pytest.approx(2 * sharp.rho_lower * kl / 156, rel=1e-12)
        assert sharp.nats == "sharp"
        printed = lower_bound(STAR, arms, matrix, delta=delta, nats="printed")
        assert printed.nats == "printed"
        assert sharp.rounds > printed.rounds
    assert round(lower_bound(STAR, arms, matrix).rounds, 1) == 4.0


def test_lower_bound_is_below_the_upper_one() -> None:
    arms, matrix = paper_instance(3, 0.7)
    assert lower_bound(STAR, arms, matrix).rounds < sample_complexity(STAR, arms, matrix)


def test_swapped_pairs_tie_in_the_ordered_model_only() -> None:
    swap = np.array([[0.0, 1.0], [1.0, 0.0]])
    ordered = lower_bound(STAR, np.eye(2), swap, model="ordered")
    assert (ordered.rounds, ordered.rho, ordered.rho_lower) == (math.inf,) * 3
    assert math.isfinite(lower_bound(STAR, np.eye(2), swap).rounds)


def test_large_delta_needs_no_rounds() -> None:
    arms, matrix = paper_instance(2, 0.5)
    assert lower_bound(STAR, arms, matrix, delta=0.9).rounds == 0.0
    assert lower_bound(STAR, arms, matrix, delta=0.45).rounds > 0.0
    assert lower_bound(STAR, arms, matrix, delta=0.45, nats="printed").rounds == 0.0


@pytest.mark.parametrize("calculator", [sample_complexity, lower_bound])
@pytest.mark.parametrize(
    ("changes", "fact"),
    [
        ({"graph": Graph.from_edges([(0, 1), (1, 2)], kinds=[0, 1])}, "2 kinds"),
        ({"graph": Graph.from_edges([(0, 1)], weights=[0.5])}, "weighted"),
        ({"noise": 0.0}, "noise is 0.0"),
        ({"noise": math.inf}, "noise is inf"),
        ({"delta": 1.5}, "delta is 1.5"),
        ({"matrix": np.eye(3)}, r"matrix has shape \(3, 3\)"),
        ({"matrix": np.full((2, 2), np.nan)}, "finite"),
    ],
)
def test_wrong_calls_are_refused(calculator: Any, changes: dict[str, Any], fact: str) -> None:
    call: dict[str, Any] = {"graph": STAR, "arms": np.eye(2), "matrix": np.eye(2)} | changes
    with pytest.raises(InvalidArgument, match=fact):
        calculator(**call)


def test_own_settings_are_checked() -> None:
    with pytest.raises(InvalidArgument, match="alpha is -1"):
        sample_complexity(STAR, np.eye(2), np.eye(2), alpha=-1)
    wrong: Any = "directed"
    with pytest.raises(InvalidArgument, match="no model is called 'directed'"):
        lower_bound(STAR, np.eye(2), np.eye(2), model=wrong)
