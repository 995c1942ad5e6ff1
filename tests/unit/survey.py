"""Calls of everything public with right arguments, and values that are wrong for most of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

import edgewise as ew
from edgewise import (
    cluster,
    formats,
    plots,
    simulation,
    stopping,
    strategies,
    study,
    targets,
    theory,
    trial,
)


class Call(NamedTuple):
    """A public function and arguments with which it works."""

    function: Callable[..., Any]
    arguments: dict[str, Any]


class Another:
    """A class that edgewise has never heard of."""


WRONG: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "text": lambda: "nonsense",
    "bytes": lambda: b"5",
    "NaN": lambda: math.nan,
    "infinity": lambda: math.inf,
    "negative": lambda: -1,
    "zero": lambda: 0,
    "fraction": lambda: 2.5,
    "True": lambda: True,
    "huge": lambda: 10**400,
    "complex": lambda: 1j,
    "empty list": list,
    "list of text": lambda: ["a", "b"],
    "ragged list": lambda: [[1.0], [1.0, 2.0]],
    "dict": lambda: {"a": 1},
    "set": lambda: {1, 2},
    "empty array": lambda: np.zeros((0, 0)),
    "array of NaN": lambda: np.full((2, 2), np.nan),
    "array of three axes": lambda: np.zeros((2, 2, 2)),
    "array of objects": lambda: np.array([object(), None]),
    "array of text": lambda: np.array([["1", "2"], ["3", "4"]]),
    "array of complex": lambda: np.eye(2) * 1j,
    "large integers": lambda: np.array([[2**62, 1], [0, 1]]),
    "sparse": lambda: sp.eye_array(3).tocsr(),
    "class": lambda: Another,
    "object": Another,
    "function": lambda: len,
    "generator": lambda: (one for one in (1, 2)),
    "graph": lambda: ew.Graph.circle(n_nodes=5),
}
"""Made anew for every call: some are used up."""

_EYE = np.eye(2)
_MATRIX = [[1.0, 0.2], [0.1, 0.5]]


def _arms(problem: ew.Problem) -> Any:
    return np.zeros(problem.graph.n_nodes, int)


def calls(folder: Path) -> dict[str, Call]:
    """By name, everything that users call."""
    return {
        name: Call(function, arguments)
        for name, function, arguments in (*_core(), *_methods(), *_theory(), *_rest(folder))
    }


_Rows = Iterator[tuple[str, Callable[..., Any], dict[str, Any]]]


def _entered(threads: Any) -> None:
    with ew.using_threads(threads):
        pass


def _graph() -> ew.Graph:
    return ew.Graph.circle(n_nodes=4)


def _problem() -> ew.Problem:
    return ew.Problem(_graph(), _EYE, noise=0.5)


def _environment() -> ew.BilinearEnvironment:
    return ew.BilinearEnvironment(_problem(), _MATRIX, rng=0)


def _learner() -> ew.Learner:
    learner = ew.Learner(_problem(), delta=1e-9, rng=0)
    learner.tell(learner.ask(), np.zeros(8))
    return learner


@cache
def _report() -> ew.Report:
    return ew.identify(_problem(), _environment(), max_rounds=3, rng=0)


def _core() -> _Rows:
    edges = [(0, 1), (1, 2), (2, 0)]
    triangle = {"n_nodes": 3, "edges": np.array(edges), "directed": False, "kinds": None}
    yield "Graph", ew.Graph, {**triangle, "weights": None, "node_labels": None}
    for family in ("star", "complete", "circle"):
        yield f"Graph.{family}", getattr(ew.Graph, family), {"n_nodes": 5}
        yield (
            f"Graph.{family} by edges",
            getattr(ew.Graph, family),
            {"n_edges": getattr(ew.Graph, family)(n_nodes=5).n_arcs},
        )
    yield "Graph.matching", ew.Graph.matching, {"n_nodes": 4}
    yield "Graph.from_edges", ew.Graph.from_edges, {
        "pairs": edges, "n_nodes": 3, "directed": False, "kinds": None, "weights": [1.0, 2.0, 3.0],
        "labels": None,
    }  # fmt: skip
    yield "Graph.from_networkx", ew.Graph.from_networkx, {"graph": _graph().to_networkx()}
    yield "Graph.from_scipy", ew.Graph.from_scipy, {
        "matrix": sp.csr_array(np.ones((3, 3)) - np.eye(3))
    }  # fmt: skip
    yield "Problem", ew.Problem, {
        "graph": _graph(), "arms": _EYE, "noise": 1.0, "node_term": False, "candidates": None,
        "project": False, "arm_labels": None, "measured": "arc", "levels": "none",
        "pooling": "shared", "own_term": None, "average": False, "node_kinds": None,
        "baseline": None,
    }  # fmt: skip
    yield "allocate", ew.allocate, {
        "graph": _graph(), "arms": _EYE, "matrix": _MATRIX, "method": "auto", "beta": None,
        "candidates": None, "unary": None, "bound": "fast", "start": None, "rng": 0,
        "time_limit": None, "progress": False,
    }  # fmt: skip
    yield "allocate_table", ew.allocate_table, {
        "graph": _graph(), "tables": _MATRIX, "unary": None, "candidates": None, "method": "auto",
        "bound": "fast", "start": None, "symmetrise": True, "rng": 0, "time_limit": None,
        "progress": False,
    }  # fmt: skip
    yield "using_threads", _entered, {"threads": 2}
    yield "g_optimal", ew.g_optimal, {
        "arms": _EYE, "tolerance": 1e-6, "method": "auto", "project": False, "max_iterations": None
    }  # fmt: skip
    options = {"delta": 0.05, "epsilon": None, "target": None, "strategy": "adaptive"}
    options |= {"stopping": None, "rng": 0}
    yield "identify", ew.identify, {
        "problem": _problem(), "environment": _environment(), **options, "max_rounds": 2,
        "gate": None, "trust_model": False, "progress": False,
    }  # fmt: skip
    yield "Learner", ew.Learner, {
        "problem": _problem(), **options, "gate": None, "trust_model": False
    }  # fmt: skip
    yield "Gate", ew.Gate, {"level": 0.01, "forms": ("level",), "always": False}
    yield "BilinearEnvironment", ew.BilinearEnvironment, {
        "problem": _problem(), "matrix": _MATRIX, "beta": None, "own": None, "levels": None,
        "round_levels": 0.0, "noise": None, "law": "gaussian", "rng": 0,
    }  # fmt: skip
    yield "Study.create", partial(ew.Study.create, "farm"), {
        "problem": _problem(), "storage": "memory", **options, "max_rounds": None
    }  # fmt: skip
    yield "Study.create by name", ew.Study.create, {"name": "farm", "problem": _problem()}
    yield "Trial", ew.Trial, {
        "problem": _problem(), "baseline": _arms(_problem()), "candidate": 1 + _arms(_problem()),
        "candidates": None, "delta": 0.05, "margin": 0.0, "width": None, "max_pairs": 10, "rng": 0,
    }  # fmt: skip
    yield "Ticket", ew.Ticket, {"round": 1, "arms": np.zeros(4, int)}


def _methods() -> _Rows:
    learner = _learner()
    yield "Learner.tell", _on_learner("tell"), {"ticket": learner.ask(), "rewards": np.zeros(8)}
    yield "Learner.report", _on_learner("report"), {"max_rounds": None}
    yield "Learner.restore", ew.Learner.restore, {
        "problem": _problem(), "saved": learner.save(), "strategy": None, "stopping": None,
        "target": None,
    }  # fmt: skip
    yield "environment", lambda arms: _environment()(arms), {"arms": _arms(_problem())}
    opened = ew.Study.create("farm", _problem(), delta=1e-9, rng=0)
    opened.tell(opened.ask(), np.zeros(8))
    ticket = opened.ask()
    yield "Study.tell", _on_study("tell"), {"ticket": 2, "rewards": np.zeros(8)}
    yield "Study.correct", _on_study("correct"), {"ticket": 1, "rewards": np.ones(8)}
    for name in ("close", "cancel", "rewards"):
        yield f"Study.{name}", _on_study(name), {"ticket": ticket.key}
    yield "Study.ticket", _on_study("ticket"), {"key": "2"}
    yield "Study.extend", _on_study("extend"), {"rounds": 3, "delta": 0.1, "epsilon": 0.1}
    yield "Study.load", ew.Study.load, {
        "name": "farm", "storage": opened.storage, "strategy": None, "stopping": None
    }  # fmt: skip
    yield "Study.names", ew.Study.names, {"storage": opened.storage}
    yield "Study.add", _on_study("add", out=False), {
        "arms": [[0, 1, 0, 1]], "rewards": np.zeros((1, 8)), "source": "before",
        "accept_outliers": False,
    }  # fmt: skip
    yield "Study.copy", _on_study("copy"), {"name": "anew", "delta": 0.1, "rng": 0}
    yield "Study.rename", _on_study("rename"), {"name": "anew"}
    yield "Study.remodel", _on_study("remodel"), {"name": "anew", "levels": "channel", "rng": 0}


def _on_learner(method: str) -> Callable[..., Any]:
    """A method of a fresh learner, which must be as it was if the call is refused."""

    def call(**arguments: Any) -> Any:
        learner = _learner()
        learner.ask()
        before = str(learner.save())
        try:
            return getattr(learner, method)(**arguments)
        except ew.EdgewiseError:
            assert str(learner.save()) == before, "a refused call has changed the learner"
            raise

    return call


def _on_study(method: str, *, out: bool = True) -> Callable[..., Any]:
    """A method of a fresh study, a round out or not, which stays as it was if it is refused."""

    def call(**arguments: Any) -> Any:
        fresh = ew.Study.create("farm", _problem(), delta=1e-9, rng=0)
        fresh.tell(fresh.ask(), np.zeros(8))
        if out:
            fresh.ask()
        before = len(list(fresh.log()))
        try:
            return getattr(fresh, method)(**arguments)
        except ew.EdgewiseError:
            assert len(list(fresh.log())) == before, "a refused call has changed the study"
            raise

    return call


def _theory() -> _Rows:
    graph, law = _graph(), np.array([0.5, 0.5])
    instance = {"graph": graph, "arms": _EYE, "matrix": _MATRIX}
    features, contrasts, gaps = np.eye(3), np.array([[1.0, -1.0, 0.0]]), np.array([0.5])
    yield "theory.alpha", theory.alpha, {
        "graph": graph, "arms": _EYE, "rounds": 100.0, "delta": 0.05, "weights": None,
        "form": "leading",
    }  # fmt: skip
    yield "theory.burn_in", theory.burn_in, {"arms": _EYE, "delta": 0.05}
    yield "theory.characteristic", theory.characteristic, {
        "features": features, "theta": np.array([1.0, 0.5, 0.2]), "tolerance": 1e-3
    }  # fmt: skip
    yield "theory.constants", theory.constants, {"arms": _EYE}
    yield "theory.degree_excess", theory.degree_excess, {"graph": graph}
    yield "theory.lower_bound", theory.lower_bound, {
        **instance, "noise": 1.0, "delta": 0.05, "model": "symmetric", "designs": "unrestricted"
    }  # fmt: skip
    for name in ("variance", "paper_decomposition"):
        yield (
            f"theory.{name}",
            getattr(theory, name),
            {"graph": graph, "arms": _EYE, "weights": law},
        )
    yield "theory.rho_independent", theory.rho_independent, {
        "arms": _EYE, "matrix": _MATRIX, "model": "symmetric", "tolerance": 1e-2,
        "max_iterations": 5,
    }  # fmt: skip
    yield "theory.rho_realisable", theory.rho_realisable, {
        **instance, "model": "symmetric", "tolerance": 0.1, "max_iterations": 5, "method": "auto"
    }  # fmt: skip
    some = {"features": features, "contrasts": contrasts, "gaps": gaps}
    yield "theory.rho_star", theory.rho_star, {**some, "tolerance": 1e-2, "max_iterations": 9}
    design = np.full(3, 1 / 3)
    yield "theory.worst_ratio", theory.worst_ratio, {**some, "design": design}
    yield "theory.dual_bound", theory.dual_bound, {
        **some, "design": design, "multipliers": np.ones(1)
    }  # fmt: skip
    yield "theory.sample_complexity", theory.sample_complexity, {
        **instance, "noise": 1.0, "delta": 0.05, "alpha": 0.0
    }  # fmt: skip


def _rest(folder: Path) -> _Rows:
    runs = {"delta": 0.05, "epsilon": None, "target": None, "max_rounds": 3, "rng": 0}
    yield "simulation.replicate", simulation.replicate, {
        "problem": _problem(), "matrix": _MATRIX, "repetitions": 1, "strategy": "g-optimal",
        "stopping": None, **runs, "beta": None, "own": None, "levels": None, "round_levels": 0.0,
        "spread": 0.0, "noise": None, "law": "gaussian", "gate": None, "jobs": 1,
        "environment": None,
    }  # fmt: skip
    yield "simulation.compare", partial(simulation.compare, max_rounds=3), {
        "strategies": ["g-optimal"], "problem": _problem(), "matrix": _MATRIX, "repetitions": 1,
        "rng": 0,
    }  # fmt: skip
    yield "simulation.trace", simulation.trace, {
        "problem": _problem(), "environment": _environment(), "strategy": "g-optimal",
        "stopping": None, **runs,
    }  # fmt: skip
    yield "simulation.paper_instance", simulation.paper_instance, {"dimension": 2, "omega": 0.1}
    own: dict[str, dict[str, Any]] = {
        "Adaptive": {"growth": 0.1, "power": 4.0, "even": 1},
        "Contrast": {"growth": 0.1, "explore": 0.05},
        "GOptimal": {"tolerance": 1e-6, "even": 0.0},
        "Paper": {"tolerance": 1e-3},
        "Thompson": {"scale": 1.5, "first": 8, "phase": 8},
        "Safe": {"baseline": [0] * 4, "margin": 2.0, "phase": 5, "largest_loss": 1.0,
                 "worst_loss": 1.0, "strategy": strategies.Adaptive()},
        "Limited": {"strategy": strategies.Adaptive(), "changed": 1, "steps": None,
                    "within": None, "switching_cost": 0.0},
        "GrowingPhases": {"growth": 0.1, "shortest": 1},
    }  # fmt: skip
    for name, settings in own.items():
        yield f"strategies.{name}", getattr(strategies, name), settings
    yield "stopping.Union", stopping.Union, {"growth": 1.1}
    yield "stopping.Mixture", stopping.Mixture, {"decades": (-4, 4)}
    yield "targets.BestAllocation", targets.BestAllocation, {"share": 0.01}
    differences = np.array([0.1, 0.2, -0.1, 0.3])
    yield (
        "trial.pairs_needed",
        trial.pairs_needed,
        {"difference": 1.0, "deviation": 1.0, "level": 0.04},
    )
    yield "trial.t_quantile", trial.t_quantile, {"n": 5, "level": 0.04}
    for name in ("t", "sign"):
        yield (
            f"trial.{name}_evidence",
            getattr(trial, f"{name}_evidence"),
            {"differences": differences, "null": 0.0},
        )
        yield (
            f"trial.{name}_interval",
            getattr(trial, f"{name}_interval"),
            {"differences": differences, "delta": 0.05, "lower_share": 0.5},
        )
    yield from _plots()
    yield from _formats(folder)
    yield from _clusters(folder)


def _ring(number: int) -> Any:
    """A partition of a network of eight nodes."""
    return np.array([[4 * number, 4 * number + 1], [4 * number + 1, (4 * number + 4) % 8]])


def _clusters(folder: Path) -> _Rows:
    """On partitions, in this process; ``dask`` alone would look for a scheduler."""
    kept = folder / "parts"
    graph = cluster.PartitionedGraph.from_function(_ring, kept, n_partitions=2, n_nodes=8)
    search = {"method": "auto", "sweeps": 2, "bound": "fast", "start": None, "rng": 0}
    yield "cluster.allocate", cluster.allocate, {
        "graph": graph, "arms": _EYE, "matrix": _MATRIX, "beta": None, **search, "progress": None
    }  # fmt: skip
    yield "cluster.allocate_table", cluster.allocate_table, {
        "graph": graph, "tables": _MATRIX, **search, "progress": None
    }  # fmt: skip
    problem = ew.Problem(graph, _EYE)
    run = {"delta": 0.05, "epsilon": None, "strategy": "contrast", "stopping": None, "rng": 0}
    environment = cluster.SimulatedRewards(np.array([_MATRIX]), 1.0)
    yield "cluster.identify", cluster.identify, {
        "problem": problem, "environment": environment, **run, "max_rounds": 2,
        "checkpoint": None, "progress": False,
    }  # fmt: skip
    yield "cluster.PartitionedLearner", cluster.PartitionedLearner, {"problem": problem, **run}
    yield "cluster.SimulatedRewards", cluster.SimulatedRewards, {
        "tables": np.array([_MATRIX]), "noise": 1.0
    }  # fmt: skip
    yield "cluster.MeasuredRewards", cluster.MeasuredRewards, {"folder": str(folder)}
    made = cluster.PartitionedGraph
    yield "cluster.PartitionedGraph.from_function", made.from_function, {
        "function": _ring, "folder": folder / "again", "n_partitions": 2, "n_nodes": 8,
        "directed": False, "relabel": False,
    }  # fmt: skip
    yield "cluster.PartitionedGraph.open", made.open, {"folder": kept}


def _plots() -> _Rows:
    report = _report()
    yield "plots.mean_interval", plots.mean_interval, {"samples": [1.0, 2.0, 3.0], "level": 0.95}
    yield "plots.histogram_data", plots.histogram_data, {
        "rounds": [3, 4, 5], "certified": None, "lower_bound": None, "n_bins": None
    }  # fmt: skip
    yield "plots.curve_of", plots.curve_of, {
        "label": "x", "samples": {1.0: [1.0, 2.0], 2.0: [2.0, 3.0]}, "group": "", "level": 0.95
    }  # fmt: skip
    yield "plots.graph_data", plots.graph_data, {
        "graph": _graph(), "arms": _arms(_problem()), "arm_labels": None, "positions": None
    }  # fmt: skip
    yield "plots.node_positions", plots.node_positions, {"graph": _graph(), "positions": None}
    yield "plots.allocation_data", plots.allocation_data, {"report": report, "positions": None}
    yield "plots.estimate_data", plots.estimate_data, {"report": report, "of": "rewards", "kind": 0}
    yield "plots.design_data", plots.design_data, {
        "design": ew.g_optimal(_EYE), "arm_labels": None
    }  # fmt: skip


def _formats(folder: Path) -> _Rows:
    problem = _problem()
    (folder / "g.csv").write_text("source,target\na,b\nb,c\n")
    (folder / "a.csv").write_text("name,x,y\nlow,1,0\nhigh,0,1\n")
    (folder / "m.csv").write_text("1,0\n0,1\n")
    (folder / "b.csv").write_text("1,0\n")
    (folder / "j.csv").write_text("node,arm\na,low\nb,high\n")
    (folder / "k.csv").write_text("node,kind\na,big\nb,small\n")
    (folder / "r.csv").write_text("source,target,reward\n0,1,0.5\n")
    names = {"nodes": ["a", "b"], "arms": ["low", "high"]}
    yield "formats.read_graph", formats.read_graph, {"path": folder / "g.csv", "covariates": ()}
    yield "formats.read_arms", formats.read_arms, {"path": folder / "a.csv"}
    yield "formats.read_matrix", formats.read_matrix, {
        "path": folder / "m.csv", "kinds": (), "features": None
    }  # fmt: skip
    yield "formats.read_node_term", formats.read_node_term, {
        "path": folder / "b.csv", "kinds": (), "features": None
    }  # fmt: skip
    yield "formats.read_joint_arm", formats.read_joint_arm, {"path": folder / "j.csv", **names}
    yield "formats.read_candidates", formats.read_candidates, {"path": folder / "j.csv", **names}
    yield "formats.read_node_kinds", formats.read_node_kinds, {
        "path": folder / "k.csv", "nodes": ["a", "b"]
    }  # fmt: skip
    yield "formats.read_rewards", formats.read_rewards, {
        "path": folder / "r.csv", "problem": problem
    }  # fmt: skip
    yield "formats.parse_rewards", formats.parse_rewards, {
        "name": "x", "text": "source,target,reward\n0,1,0.5\n", "problem": problem
    }  # fmt: skip
    yield "formats.write_rows", formats.write_rows, {
        "path": folder / "out.csv", "columns": ("node", "arm"), "rows": [("a", 1)]
    }  # fmt: skip
    yield "formats.check_writable", formats.check_writable, {"path": folder / "new.csv"}
    yield "study.upgrade", study.upgrade, {"url": f"sqlite:///{folder}/none.db"}
