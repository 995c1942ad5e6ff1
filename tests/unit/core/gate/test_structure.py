"""Formula (a): fast against slow, and what the proof promises."""

import numpy as np
import pytest
from tests.unit.core.gate import dense

import edgewise as ew
from edgewise.base.arrays import Array, Indices
from edgewise.core.evidence.by_edge import by_edge_after, local_network, nothing_by_edge
from edgewise.core.gate import structure
from edgewise.core.gate.edges import EDGE_SPREAD
from edgewise.core.gate.effects import Kept
from edgewise.core.gate.forms import DATA, FORMS, Form
from edgewise.core.gate.rows import Rows, Sight, sight_of
from edgewise.core.gate.structure import Seen
from edgewise.core.gate.sums import Sums

ARMS = np.array([[1.0, 0.2], [0.1, 1.0], [0.7, -0.5]])
PAIRS = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2), (3, 4)]
PLAIN = ew.Graph.from_edges(PAIRS)
KINDS = ew.Graph.from_edges(
    PAIRS, kinds=[0, 1, 0, 1, 0, 1], weights=[1.0, -2.0, 0.5, 3.0, 1.0, 0.7]
)
ARROWS = ew.Graph.from_edges(PAIRS, directed=True)
PROBLEMS: dict[str, ew.Problem] = {
    "plain": ew.Problem(PLAIN, ARMS, noise=0.5),
    "kinds, weights": ew.Problem(KINDS, ARMS, noise=0.5, node_term=True),
    "directed, noise by kind": ew.Problem(
        ew.Graph.from_edges(PAIRS, directed=True, kinds=[0, 1, 0, 1, 0, 1]), ARMS, noise=(0.3, 0.6)
    ),
    "links": ew.Problem(PLAIN, ARMS, measured="link", noise=0.5),
    "nodes": ew.Problem(ARROWS, ARMS, measured="node", noise=0.5),
    "levels": ew.Problem(ARROWS, ARMS, levels="channel", noise=0.5),
    "noise estimated": ew.Problem(PLAIN, ARMS, noise="estimate"),
}
PRIOR = 1e4


def rounds_of(problem: ew.Problem, n: int, seed: int = 0) -> list[tuple[Indices, Array]]:
    """Joint arms and rewards with gaps, from no model at all."""
    rng = np.random.default_rng(seed)
    result: list[tuple[Indices, Array]] = []
    for _ in range(n):
        arms = rng.integers(0, problem.n_arms, problem.graph.n_nodes).astype(np.int32)
        rewards = rng.standard_normal(problem.n_rewards) + 0.5
        rewards[rng.random(len(rewards)) < 0.1] = np.nan
        result.append((arms, rewards))
    return result


def evidence(sight: Sight, rounds: list[Rows], form: Form) -> float:
    """log E of a form after the last of the rounds."""
    data, sums = DATA["numbers"], Sums.nothing(sight)
    starts: tuple[Seen, ...] = ()
    seen = None
    for number, rows in enumerate(rounds, start=1):
        sums = sums.after(rows, number, centred=sight.has_round_levels)
        seen = structure.seen([form], data, Kept(sight, sums, None), PRIOR)
        assert seen is not None
        if number < len(rounds) and number in data.starts:
            starts = (*starts, seen)
    assert seen is not None
    return structure.log_e_values(seen, starts, data, known=sight.knows_noise)[form.name]


@pytest.mark.parametrize("name", PROBLEMS)
def test_fast_and_slow_agree(name: str) -> None:
    problem = PROBLEMS[name]
    sight, checked = sight_of(problem), 0
    rounds = [sight.rows(*told) for told in rounds_of(problem, 7)]
    for form in FORMS.values():
        if form.name not in dense.COLUMNS or not form.applies(sight):
            continue
        fast = evidence(sight, rounds, form)
        slow = dense.log_e_value(rounds, dense.COLUMNS[form.name], sight, PRIOR)
        assert fast == pytest.approx(slow, rel=1e-6, abs=1e-6), form.name
        checked += 1
    assert checked >= 2


@pytest.mark.parametrize("name", ["plain", "links", "nodes", "levels"])
def test_edges_of_their_own_fast_and_slow(name: str) -> None:
    problem = PROBLEMS[name]
    network = local_network(problem)
    data, sight, noise = DATA["edges"], sight_of(problem), network.measurement.noise * 0.5
    told, by_edge = rounds_of(problem, 7, seed=3), nothing_by_edge(problem)
    starts: tuple[Seen, ...] = ()
    seen = None
    for number, (arms, rewards) in enumerate(told, start=1):
        by_edge = by_edge_after(problem, by_edge, arms, rewards)
        assert by_edge is not None
        kept = Kept(sight, Sums.nothing(sight), by_edge)
        seen = structure.seen([FORMS["edge"]], data, kept, PRIOR)
        assert seen is not None
        starts = (*starts, seen) if number in data.starts else starts
    assert seen is not None
    fast = structure.log_e_values(seen, starts, data, known=True)["edge"]
    rounds = [_edge_rows(problem, noise, *one) for one in told]

    def columns(some: list[Rows], _: Sight) -> Array:
        sizes = [len(one.numbers) for one in some]
        tall = [_edge_columns(problem, noise, *one) for one in told[: len(some)]]
        assert [len(one) for one in tall] == sizes
        return np.vstack(tall)

    spreads = np.array([EDGE_SPREAD])
    slow = dense.log_e_value(rounds, columns, sight, PRIOR, data="edges", spreads=spreads)
    assert fast == pytest.approx(slow, rel=1e-6, abs=1e-6)


def _edge_rows(problem: ew.Problem, noise: Array, arms: Indices, rewards: Array) -> Rows:
    """One row per channel of the local model, parameters in its order."""
    network = local_network(problem)
    channels, numbers = network.channels, network.measurement.numbers(rewards)
    each, shared = network.features(arms), np.zeros((channels.n_channels, channels.n_means))
    for c in range(channels.n_channels):
        for block in range(*channels.blocks[c : c + 2]):
            own = slice(*channels.block_starts[block : block + 2])
            kind = channels.kinds[block]
            shared[c, slice(*channels.mean_starts[kind : kind + 2])] += each[own]
    if problem.has_channel_levels:
        shared = np.hstack([shared, np.eye(len(shared))])
    seen = np.flatnonzero(~np.isnan(numbers))
    rows, ones = (shared / noise[:, None])[seen], np.ones(len(seen))
    each_one = np.arange(len(seen))
    return Rows(rows, each_one, ones, (numbers / noise)[seen], seen, False, np.zeros(0))


def _edge_columns(problem: ew.Problem, noise: Array, arms: Indices, rewards: Array) -> Array:
    network = local_network(problem)
    channels, numbers = network.channels, network.measurement.numbers(rewards)
    each = network.features(arms)
    D = np.zeros((channels.n_channels, channels.n_parameters))
    for c in range(channels.n_channels):
        own = slice(*channels.starts[c : c + 2])
        D[c, own] = each[own] / noise[c]
    return D[~np.isnan(numbers)]


@pytest.mark.parametrize("law", ["gaussian", "rademacher", "uniform"])
def test_a_bet_against_a_true_model_is_fair(law: str) -> None:
    """E[E_t] <= 1 at a fixed round, for joint arms that chase the rewards.

    The mean of 400 values of min(E, 20) is above 1.6 with a probability below 1e-3 if the bet is
    fair (Chebyshev with variance at most 20); data with a larger noise must be above.
    """
    problem = PROBLEMS["plain"]
    sight, form = sight_of(problem), FORMS["noise"]

    def mean(scale: float) -> float:
        values = []
        for seed in range(400):
            rows = [sight.rows(*told) for told in _chasing(problem, 5, seed, law, scale)]
            values.append(min(evidence(sight, rows, form), np.log(20.0)))
        return float(np.exp(values).mean())

    assert mean(1.0) <= 1.6
    assert mean(2.0) > 1.6


def _chasing(
    problem: ew.Problem, n: int, seed: int, law: str, scale: float
) -> list[tuple[Indices, Array]]:
    """Rounds from the model; each repeats the arms of the node that was paid best so far."""
    rng = np.random.default_rng(seed)
    noise = {"uniform": lambda r, k: r.uniform(-np.sqrt(3.0), np.sqrt(3.0), k)}.get(law, law)
    environment = ew.BilinearEnvironment(
        problem, [[1.0, 0.3], [-0.2, 0.5]], rng=rng, law=noise, noise=0.5 * scale
    )
    arms = rng.integers(0, problem.n_arms, problem.graph.n_nodes).astype(np.int32)
    told: list[tuple[Indices, Array]] = []
    for _ in range(n):
        rewards = environment(arms)
        told.append((arms, rewards))
        best = problem.graph.arcs[int(rewards.argmax()), 0]
        arms = np.where(rng.random(len(arms)) < 0.5, arms[best], rng.integers(0, 3, len(arms)))
        arms = arms.astype(np.int32)
    return told
