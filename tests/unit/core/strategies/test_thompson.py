"""The first phase of posterior sampling: even draws, or a design."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import edgewise as ew
from edgewise.core.strategies.thompson import Thompson
from edgewise.errors import InvalidArgument

U = np.linspace(0.0, 1.0, 7)
PROBLEM = ew.Problem(
    ew.Graph.from_edges([(i, i + 1) for i in range(9)], directed=True),
    np.column_stack([U, U**2]),
    noise=0.1,
    measured="node",
    levels=True,
    pooling="partial",
    interaction=False,
)


def first_rounds(even: float, n: int = 20) -> set[int]:
    learner = ew.Learner(PROBLEM, strategy=Thompson(first=n, even=even), rng=0)
    shown: set[int] = set()
    for _ in range(n):
        ticket = learner.ask()
        shown |= set(ticket.arms.tolist())
        learner.tell(ticket, np.zeros(10))
    return shown


def test_a_design_shows_the_ends_and_the_middle_of_a_parabola() -> None:
    assert first_rounds(even=0.0) == {0, 3, 6}
    assert first_rounds(even=1.0) == set(range(7))
    assert len(first_rounds(even=0.3)) > 3


def test_a_restored_plan_has_the_laws_that_were_stored() -> None:
    plan = Thompson(even=0.2)(PROBLEM)
    stored = {name: 1.0 * value for name, value in plan.to_tree().items()}
    again = Thompson(even=0.2)(PROBLEM).from_tree(stored)
    assert_array_equal(again.laws.weights, plan.laws.weights)
    assert Thompson()(PROBLEM).to_tree() == {}


@pytest.mark.parametrize("even", [-0.1, 1.1])
def test_even_is_a_probability(even: float) -> None:
    with pytest.raises(InvalidArgument, match="it is a probability"):
        Thompson(even=even)
