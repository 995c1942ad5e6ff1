from typing import Any

import numpy as np
import pytest
from tests.instances import THREE_ARMS as ARMS

from edgewise.core.model.problem import Problem
from edgewise.errors import InvalidProblem
from edgewise.network.graph import Graph

CIRCLE = Graph.circle(n_nodes=4)
MASK = np.array([[1, 1, 0], [1, 0, 1], [1, 1, 1], [0, 1, 1]], bool)

BAD: list[tuple[Any, dict[str, Any], str, str]] = [
    ([[1.0, np.nan], [0.0, 1.0]], {}, "NaN or infinity, the first is arm 0", "repair"),
    ([[1.0, 0.0], [0.0, np.inf]], {}, "the first is arm 1", "repair"),
    ([1.0, 2.0], {}, r"shape \(2,\)", r"\(K, d\)"),
    (np.zeros((0, 2)), {}, r"shape \(0, 2\)", "non-empty"),
    (np.zeros((2, 0)), {}, r"shape \(2, 0\)", "non-empty"),
    ([[1.0], [1.0, 2.0]], {}, "cannot be read as numbers", r"\(K, d\)"),
    ([["a", "b"]], {}, "cannot be read as numbers", r"\(K, d\)"),
    ([[1.0, 1.0, 2.0], [1.0, 0.0, 1.0]], {}, "span 2 of 3", "add 1 independent"),
    ([[1.0, 1.0, 0.0]] * 4, {}, "span 1 of 3", "project=True"),
    (np.zeros((3, 2)), {}, "every arm is zero", "non-zero arm"),
    (np.zeros((3, 2)), {"project": True}, "every arm is zero", "non-zero arm"),
    ([[1.0, 2.0], [1.0, 3.0], [1.0, 5.0]], {"node_term": True}, "span 2 of 3", "node_term=False"),
    (np.eye(2), {"node_term": True}, "span 2 of 3", "add an arm"),
    (ARMS, {"noise": 0.0}, "noise is 0.0", "above 0"),
    (ARMS, {"noise": -1}, "noise is -1", "above 0"),
    (ARMS, {"noise": np.nan}, "noise is nan", "finite"),
    (ARMS, {"noise": np.inf}, "noise is inf", "finite"),
    (ARMS, {"noise": "1"}, "noise is '1'", "must be a number"),
    (ARMS, {"noise": None}, "noise is None", "must be a number"),
    (ARMS, {"noise": True}, "noise is True", "must be a number"),
    (ARMS, {"candidates": MASK[:3]}, r"shape \(3, 3\)", r"\(4, 3\)"),
    (ARMS, {"candidates": MASK[:, :2]}, r"shape \(4, 2\)", r"\(4, 3\)"),
    (ARMS, {"candidates": MASK.astype(int)}, "type int", "boolean array"),
    (
        ARMS,
        {"candidates": MASK & [[True], [False], [True], [False]]},
        "2 node.* first is node 1",
        "at least one",
    ),
    (ARMS, {"arm_labels": ["a", "b"]}, "2 arm labels", "one distinct label each"),
    (ARMS, {"arm_labels": ["a", "b", "a"]}, "2 distinct", "one distinct label each"),
]


@pytest.mark.parametrize(("arms", "options", "fact", "remedy"), BAD)
def test_bad_problems_are_refused_with_fact_and_remedy(
    arms: Any, options: dict[str, Any], fact: str, remedy: str
) -> None:
    with pytest.raises(InvalidProblem, match=fact) as caught:
        Problem(CIRCLE, arms, **options)
    assert caught.match(remedy)


def test_a_graph_of_another_library_is_refused() -> None:
    with pytest.raises(InvalidProblem, match=r"graph is a list; build an edgewise.Graph"):
        Problem([(0, 1)], ARMS)  # type: ignore[arg-type]


def test_arms_in_a_plane_work_in_their_span() -> None:
    arms = np.array([[1.0, 1.0, 2.0], [1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
    problem = Problem(CIRCLE, arms, project=True)
    assert (problem.dimension, problem.whitening.rank) == (3, 2)


def test_arms_and_mask_are_copied_and_read_only() -> None:
    arms, mask = ARMS.copy(), MASK.copy()
    problem = Problem(CIRCLE, arms, candidates=mask)
    arms[:], mask[:] = 7.0, True
    assert problem.candidates is not None
    assert np.array_equal(problem.arms, ARMS)
    assert np.array_equal(problem.candidates, MASK)
    with pytest.raises(ValueError, match="read-only"):
        problem.arms[0, 0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        problem.candidates[0, 0] = True


def test_a_mask_that_allows_everything_is_no_mask() -> None:
    problem = Problem(CIRCLE, ARMS, candidates=np.ones((4, 3), bool))
    assert problem.candidates is None
    assert problem.has_paper_setting


def test_candidate_sets_rebuild_the_mask() -> None:
    rng = np.random.default_rng(0)
    mask = rng.random((50, 11)) < 0.3
    mask[:, 0] = True
    mask[25:] = mask[:25]
    problem = Problem(Graph.circle(n_nodes=50), rng.normal(size=(11, 2)), candidates=mask)
    sets, set_of = problem.candidate_sets
    assert np.array_equal(sets[set_of], mask)
    assert len(np.unique(sets, axis=0)) == len(sets) == len(np.unique(mask, axis=0))


@pytest.mark.parametrize(
    ("graph", "options", "holds"),
    [
        (CIRCLE, {}, True),
        (Graph.from_edges([(0, 1), (1, 2)], weights=[1, 2]), {}, True),
        (Graph.from_edges([(0, 1), (1, 2)], weights=[1, -2]), {}, False),
        (Graph.from_edges([(0, 1), (1, 2)], directed=True), {}, False),
        (Graph.from_edges([(0, 1), (1, 2)], kinds=[0, 1]), {}, False),
        (CIRCLE, {"candidates": MASK}, False),
    ],
)
def test_the_papers_setting_is_recognised(
    graph: Graph, options: dict[str, Any], holds: bool
) -> None:
    assert Problem(graph, ARMS, **options).has_paper_setting is holds


def variants() -> dict[str, Problem]:
    base = [(0, 1), (1, 2), (2, 0)]
    mask = np.array([[1, 1, 1, 0], [1, 1, 1, 1], [1, 1, 1, 1]], bool)
    arms = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.25], [2.0, 1.0]])
    graph = Graph.from_edges(base)
    return {
        "plain": Problem(graph, arms),
        "other edges": Problem(Graph.from_edges([(0, 1), (1, 2), (0, 2)]), arms),
        "directed": Problem(Graph.from_edges(base, directed=True), arms),
        "kinds": Problem(Graph.from_edges(base, kinds=[0, 1, 0]), arms),
        "other kinds": Problem(Graph.from_edges(base, kinds=[0, 1, 1]), arms),
        "weights": Problem(Graph.from_edges(base, weights=[1.0, 2.0, 1.0]), arms),
        "other weights": Problem(Graph.from_edges(base, weights=[2.0, 1.0, 1.0]), arms),
        "other arms": Problem(graph, np.nextafter(arms, 9.0)),
        "same numbers, other shape": Problem(graph, arms.reshape(8, 1)),
        "noise": Problem(graph, arms, noise=2.0),
        "node term": Problem(graph, arms, node_term=True),
        "candidates": Problem(graph, arms, candidates=mask),
        "other candidates": Problem(graph, arms, candidates=mask[::-1]),
        "project": Problem(graph, arms, project=True),
    }


@pytest.mark.filterwarnings("ignore::edgewise.errors.IsolatedNodes")
def test_every_ingredient_changes_the_fingerprint() -> None:
    problems = variants()
    problems["one more node"] = Problem(
        Graph.from_edges([(0, 1), (1, 2), (2, 0)], n_nodes=4), problems["plain"].arms
    )
    prints = {name: problem.fingerprint for name, problem in problems.items()}
    assert len(set(prints.values())) == len(prints), prints
    assert {name: problem.fingerprint for name, problem in variants().items()}.items() <= (
        prints.items()
    )


def test_repr_names_the_sizes() -> None:
    text = repr(Problem(CIRCLE, ARMS, noise=0.5, node_term=True, candidates=MASK))
    assert text == (
        "Problem(Graph(n_nodes=4, n_arcs=8), 3 arms in R^2, noise=0.5, node_term=True, "
        "with candidates)"
    )
