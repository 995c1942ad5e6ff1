"""What exploring costs: posterior sampling on published coordination-graph bandits.

``python benchmarks/bench_earning.py [RUNS]`` (default 60) prints two markdown tables: the reward
lost against the best joint arm, after 200 and 2,000 rounds, of ``strategy="thompson"`` with rewards
of 0 and 1 and of multi-agent Thompson sampling (:func:`peer`), and what a round costs.

- **Bernoulli 0101-chain** (Bargiacchi et al., ICML 2018; Verstraeten et al., AAAI 2020): n nodes in
  a row, two arms, edges i -> i+1, by turns of two kinds.
- **Gem mining** (Roijers et al., 2015; Bargiacchi et al., 2018), two mines per village, so that a
  mine is an edge: a village sends all its workers to the mine on its left or on its right; a mine
  with w > 0 workers yields with probability base * 1.03^(w - 1), an empty one never. The first and
  the last mine have one village; their other end is a node with one arm.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass

import numpy as np

import edgewise as ew
from edgewise.base.arrays import Array, Indices, Mask

LOOKS = (200, 2000)


@dataclass(frozen=True, eq=False)
class Chain:
    """Nodes in a row; every edge yields 1 with a probability that depends on both arms."""

    name: str
    means: Array
    """(n - 1, 2, 2)."""
    allowed: Mask
    """(n, 2) arms each node may be given."""

    @property
    def n_nodes(self) -> int:
        """N."""
        return len(self.means) + 1

    def values(self, arms: Indices) -> Array:
        """(..., n - 1) means of the edges under joint arms (..., n)."""
        return self.means[np.arange(len(self.means)), arms[..., :-1], arms[..., 1:]]

    @property
    def best(self) -> float:
        """The value of the best joint arm."""
        return float(self.values(best_arms(self.means[None], self.allowed)[0]).sum())


def chain_0101(n_nodes: int) -> Chain:
    """The Bernoulli 0101-chain."""
    kinds = np.array([[[0.75, 1.0], [0.25, 0.9]], [[0.75, 0.25], [1.0, 0.9]]])
    return Chain("0101-chain", kinds[np.arange(n_nodes - 1) % 2], np.ones((n_nodes, 2), bool))


def gem_mining(n_villages: int, seed: int) -> Chain:
    """Villages between mines; arm 0 is the mine on the left, 1 that on the right."""
    rng = np.random.default_rng([seed, 77])
    workers = np.concatenate([[0], rng.integers(1, 6, n_villages), [0]])
    base = rng.uniform(0.0, 0.5, n_villages + 1)
    right = np.array([0, 1])[None, :, None] * workers[:-1, None, None]
    left = np.array([1, 0])[None, None, :] * workers[1:, None, None]
    there = right + left
    means = np.where(there > 0, base[:, None, None] * 1.03 ** (there - 1), 0.0)
    allowed = np.ones((n_villages + 2, 2), bool)
    allowed[[0, -1], 1] = False
    return Chain("gem mining", means, allowed)


# -- the peer: multi-agent Thompson sampling ----------------------------------------------------


def peer(chain: Chain, n_rounds: int, runs: int, prior: float = 0.5) -> Array:
    """(R, rounds) reward lost in each round, after Verstraeten et al. (2020).

    Before every round each edge draws a mean for each of its four pairs of arms from
    Beta(prior + ones, prior + zeros), by default Jeffreys' prior; the joint arm is the best for the
    draws, by variable elimination.
    """
    rng, E = np.random.default_rng([1, chain.n_nodes]), len(chain.means)
    ones, zeros = (np.full((runs, E, 2, 2), prior) for _ in range(2))
    lost, best = np.empty((runs, n_rounds)), chain.best
    run, edge = np.arange(runs)[:, None], np.arange(E)
    for t in range(n_rounds):
        arms = best_arms(rng.beta(ones, zeros), chain.allowed)
        means = chain.values(arms)
        found = rng.random((runs, E)) < means
        at = run, edge, arms[:, :-1], arms[:, 1:]
        ones[at] += found
        zeros[at] += ~found
        lost[:, t] = best - means.sum(axis=1)
    return lost


def best_arms(tables: Array, allowed: Mask) -> Indices:
    """(R, n) best joint arms of chains with tables (R, n - 1, 2, 2), nodes eliminated in order."""
    runs, E = tables.shape[:2]
    never = np.where(allowed, 0.0, -np.inf)
    before = np.broadcast_to(never[0], (runs, 2))
    choices = np.empty((runs, E, 2), np.int64)
    for e in range(E):
        each = before[:, :, None] + tables[:, e]
        choices[:, e] = each.argmax(axis=1)
        before = each.max(axis=1) + never[e + 1]
    arms = np.empty((runs, E + 1), np.int64)
    arms[:, -1] = before.argmax(axis=1)
    for e in range(E - 1, -1, -1):
        arms[:, e] = choices[np.arange(runs), e, arms[:, e + 1]]
    return arms


# -- edgewise ------------------------------------------------------------------------------------


def problem_of(chain: Chain, *, kinds_known: bool) -> ew.Problem:
    """A coin per edge and pair of arms; pooled by kind where two kinds are known."""
    n = chain.n_nodes
    kinds = np.arange(n - 1) % 2 if kinds_known else np.arange(n - 1)
    graph = ew.Graph.from_edges([(i, i + 1) for i in range(n - 1)], directed=True, kinds=kinds)
    candidates = None if chain.allowed.all() else chain.allowed
    return ew.Problem(graph, np.eye(2), noise="bernoulli", candidates=candidates)


def ours(chain: Chain, problem: ew.Problem, n_rounds: int, run: int) -> tuple[Array, float]:
    """(rounds,) reward lost in each round of one run, and the seconds a round took us."""
    learner = ew.Learner(problem, strategy="thompson", rng=run, trust_model=True)
    rng, lost, best, spent = np.random.default_rng([2, run]), np.empty(n_rounds), chain.best, 0.0
    for t in range(n_rounds):
        start = time.process_time()
        ticket = learner.ask()
        spent += time.process_time() - start
        means = chain.values(np.asarray(ticket.arms))
        rewards = (rng.random(len(means)) < means).astype(float)
        lost[t] = best - means.sum()
        start = time.process_time()
        learner.tell(ticket, rewards)
        spent += time.process_time() - start
    return lost, spent / n_rounds


# -- tables --------------------------------------------------------------------------------------


def row(chain: Chain, runs: int, n_rounds: int, *, kinds_known: bool) -> str:
    """One line: what is lost by both, after each look, and the cost of a round."""
    problem = problem_of(chain, kinds_known=kinds_known)
    each = [ours(chain, problem, n_rounds, run) for run in range(runs)]
    mine = np.array([lost for lost, _ in each]).cumsum(axis=1)
    theirs = peer(chain, n_rounds, runs).cumsum(axis=1)
    cells = []
    for look in LOOKS:
        if look > n_rounds:
            cells.append("|  |")
            continue
        a, b = mine[:, look - 1], theirs[:, look - 1]
        error = np.hypot(a.std() / a.mean(), b.std() / b.mean()) / np.sqrt(runs)
        ratio = a.mean() / b.mean()
        cells.append(f"| {b.mean():.1f}, {a.mean():.1f} | {ratio:.2f} +- {ratio * error:.2f} |")
    known = "two kinds" if kinds_known else "nothing"
    took = 1e3 * np.median([seconds for _, seconds in each[1:] or each])
    name = f"| {chain.name} | {chain.n_nodes} | {known} | {runs} "
    return name + cells[0] + cells[1][1:] + f" {took:.2f} |"


def main() -> None:
    """Print the table."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    long = int(sys.argv[2]) if len(sys.argv) > 2 else runs
    print("| instance | nodes | known | runs | lost by the peer, by us: 200 rounds | ratio", end="")
    print(" | 2,000 rounds | ratio | ms per round |\n|---|---|---|---|---|---|---|---|---|")
    for n_nodes in (10, 40, 100):
        chain = chain_0101(n_nodes)
        for known in (False, True):
            if long < runs:
                print(row(chain, runs, LOOKS[0], kinds_known=known), flush=True)
            print(row(chain, long, LOOKS[1], kinds_known=known), flush=True)
    print(row(gem_mining(10, 0), runs, LOOKS[0], kinds_known=False), flush=True)
    print(row(gem_mining(10, 1), long, LOOKS[1], kinds_known=False), flush=True)


if __name__ == "__main__":
    main()
