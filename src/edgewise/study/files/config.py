"""A study described by a TOML file: the network, its arms, and the confidence wanted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from edgewise.base.arrays import Array, Indices, Mask
from edgewise.core.gate.options import Gate
from edgewise.core.model.problem import Problem
from edgewise.formats import ArmTable, read_arms, read_candidates, read_graph
from edgewise.formats.edge_list import graph_of
from edgewise.formats.files import FilePath
from edgewise.formats.table import Table
from edgewise.network.graph import Graph
from edgewise.study.files.baseline import read_baseline
from edgewise.study.files.document import Document, is_number, shown
from edgewise.study.files.model import read_covariates, read_model
from edgewise.study.files.strategies import read_strategy
from edgewise.study.storage.base import Storage
from edgewise.study.study import Study

_NUMBER, _TEXT, _TRUTH = (int, float), (str,), (bool,)

_KEYS: dict[str, tuple[tuple[type, ...], str]] = {
    "name": (_TEXT, 'text: name = "yaw-2026"'),
    "storage": (_TEXT, 'a URL: storage = "sqlite:///farm.db"'),
    "graph": ((str, dict), 'a file (graph = "graph.csv"), or a table [graph] with edges'),
    "arms": ((str, dict), 'a file (arms = "arms.csv"), or a table [arms] with a list per arm'),
    "candidates": ((str, dict), "a file, or a table [candidates] with a list of arms per node"),
    "baseline": (
        (str, int, list, dict),
        "what runs today: an arm for all nodes, a list in the order of the nodes, a table "
        '[baseline] with the arm of every node, or a file (baseline = "today.csv")',
    ),
    "noise": (
        (int, float, str, list, dict),
        'a number, or "estimate" if it is not known, or "bernoulli" for rewards of 0 and 1; where '
        "it differs, a list per measured number or kind, or a table [noise] by kind (by node, if "
        "nodes are measured)",
    ),
    "measured": (_TEXT, '"arc", "link", "node" or "total"'),
    "levels": ((bool, str), 'true, or "none", "channel", "round" or "both"'),
    "pooling": (_TEXT, '"shared", "partial", "none" or "auto"'),
    "own_term": (_TRUTH, "true or false"),
    "average": (_TRUTH, "true or false"),
    "node_kinds": (
        (str, list, dict),
        'a file with the columns node and kind (node_kinds = "nodes.csv"), a list in the order of '
        "the nodes, or a table [node_kinds] with the kind of every node",
    ),
    "covariates": ((list,), 'a list of columns of the graph: covariates = ["distance"]'),
    "node_term": (_TRUTH, "true or false"),
    "interaction": (_TRUTH, "true or false"),
    "project": (_TRUTH, "true or false"),
    "delta": (_NUMBER, "a number: delta = 0.05"),
    "epsilon": (_NUMBER, "a number: epsilon = 0.1"),
    "target": (_TEXT, '"pair" or "allocation"'),
    "strategy": (
        (str, dict),
        'the name of a strategy (strategy = "adaptive"), or a table [strategy] with its name and '
        "its settings",
    ),
    "stopping": (_TEXT, 'the name of a rule: stopping = "anytime"'),
    "gate": ((dict,), "a table [gate] with level = 0.01 and forms = [...], what to look for"),
    "trust_model": (_TRUTH, "true or false"),
    "robust": (_TRUTH, "true or false"),
    "max_rounds": ((int,), "a whole number: max_rounds = 100"),
    "seed": ((int,), "a whole number, not negative: seed = 1"),
}
"""What every key may hold, and how to write it."""

_OPTIONS = ("delta", "epsilon", "target", "stopping", "trust_model", "robust", "max_rounds")
_EDGE = 'an edge is ["a", "b"] or {source = "a", target = "b", kind = "near", weight = 0.5}'


@dataclass(frozen=True, eq=False)
class StudyConfig:
    """A study as a file describes it; nothing has been created yet."""

    document: Document
    name: str | None
    storage: str | None
    """The path of a SQLite file is seen from the folder of the TOML file."""
    problem: Problem
    options: Mapping[str, Any]
    """Arguments of :meth:`Study.create`."""

    def create(self, *, name: str, storage: str | Storage) -> Study:
        """Set up the study."""
        with self.document.blaming(within="strategy"):
            return Study.create(name, self.problem, storage=storage, **self.options)


def read_config(path: FilePath) -> StudyConfig:
    """What a TOML file describes; paths in it are seen from its own folder."""
    return config_of(Document.read(path))


def config_of(document: Document) -> StudyConfig:
    """What a document describes."""
    document.refuse_unknown_keys(_KEYS)
    tree = document.tree
    for key, value in tree.items():
        types, remedy = _KEYS[key]
        if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
            raise document.wrong(f"{key} is {shown(value)}; it must be {remedy}", key)
    for key in ("graph", "arms", "noise"):
        if key not in tree:
            raise document.wrong(f"there is no {key}; add {_KEYS[key][1]}")
    if tree.get("seed", 0) < 0:
        raise document.wrong(f"seed is {tree['seed']}; it must be {_KEYS['seed'][1]}", "seed")
    problem = _problem(document)
    options = {key: tree[key] for key in _OPTIONS if key in tree} | {"rng": tree.get("seed")}
    if "strategy" in tree:
        options["strategy"] = read_strategy(document, problem)
    if "gate" in tree:
        options["gate"] = _gate(document)
    return StudyConfig(document, tree.get("name"), _storage(document), problem, options)


def _gate(document: Document) -> Gate:
    tree = document.tree["gate"]
    document.refuse_unknown_keys([one.name for one in fields(Gate)], "gate")
    level, forms, always = (tree.get(one.name, one.default) for one in fields(Gate))
    fits = {
        "level": is_number(level),
        "forms": isinstance(forms, list | tuple) and all(isinstance(one, str) for one in forms),
        "always": isinstance(always, bool),
    }
    for key, fine in fits.items():
        if not fine:
            raise document.wrong(
                f'{key} is {shown(tree[key])}; write level = 0.01, forms = ["noise", ...], '
                "always = true",
                "gate",
                key,
            )
    with document.blaming("gate"):
        return Gate(level, forms, always)


def _storage(document: Document) -> str | None:
    url: str | None = document.tree.get("storage")
    scheme, slashes, path = (url or "").partition(":///")
    if url is None or scheme != "sqlite" or not slashes or Path(path).is_absolute():
        return url
    return f"sqlite:///{document.file.parent / path}"


def _problem(document: Document) -> Problem:
    with document.blaming():
        graph = _graph(document)
        arms = _arms(document)
        return Problem(
            graph,
            arms.arms,
            candidates=_candidates(document, graph, arms),
            arm_labels=arms.labels,
            feature_names=arms.features,
            baseline=_baseline(document, graph, arms),
            **read_model(document, graph),
        )


def _graph(document: Document) -> Graph:
    tree, covariates = document.tree["graph"], read_covariates(document)
    if isinstance(tree, str):
        return read_graph(document.path(tree, "graph"), covariates=covariates)
    document.refuse_unknown_keys(("edges", "directed"), "graph")
    edges, directed = tree.get("edges"), tree.get("directed", False)
    if not isinstance(directed, bool):
        raise document.wrong(
            f"directed is {shown(directed)}; write true (one direction of an edge is observed) "
            "or false (both are)",
            "graph",
            "directed",
        )
    if not isinstance(edges, list) or not edges:
        raise document.wrong(f"the graph has no list of edges; {_EDGE}", "graph", "edges")
    rows = [_edge(document, place, edge, covariates) for place, edge in enumerate(edges, start=1)]
    columns = {name: [row.get(name, "") for row in rows] for name in ("source", "target")}
    columns["directed"] = [str(directed)] * len(rows)
    for name in ("kind", "weight", *covariates):
        if any(name in row for row in rows):
            columns[name] = [row.get(name, "") for row in rows]
    table = Table(document.file, columns, range(1, len(rows) + 1), unit="edge")
    return graph_of(table, covariates)


def _edge(document: Document, place: int, edge: Any, covariates: list[str]) -> dict[str, Any]:
    """An edge with the column names of an edge list."""
    if isinstance(edge, list) and len(edge) == 2:
        edge = {"source": edge[0], "target": edge[1]}
    known = {"source", "target", "kind", "weight", *covariates}
    if not isinstance(edge, dict) or not {"source", "target"} <= set(edge) <= known:
        raise document.wrong(f"edge {place} is {shown(edge)}; {_EDGE}", "graph", "edges")
    return edge


def _arms(document: Document) -> ArmTable:
    tree = document.tree["arms"]
    if isinstance(tree, str):
        return read_arms(document.path(tree, "arms"))
    for name, features in tree.items():
        if not isinstance(features, list) or not features or not all(map(is_number, features)):
            raise document.wrong(
                f"arm {name!r} is {shown(features)}; an arm is a list of numbers, its features: "
                f"{name} = [1.0, 0.5] (settings of the study stand above the first [table])",
                "arms",
                name,
            )
        first = next(iter(tree))
        if len(features) != len(tree[first]):
            raise document.wrong(
                f"arm {name!r} has {len(features)} features, {first!r} has {len(tree[first])}; "
                "give all arms the same number",
                "arms",
                name,
            )
    if not tree:
        raise document.wrong("there are no arms; add a line per arm: low = [1.0, 0.0]", "arms")
    table: Array = np.array(list(tree.values()), float)
    return ArmTable(table, tuple(tree))


def _baseline(document: Document, graph: Graph, arms: ArmTable) -> Indices | None:
    if "baseline" not in document.tree:
        return None
    return np.array(read_baseline(document, graph, arms.labels, "baseline"))


def _candidates(document: Document, graph: Graph, arms: ArmTable) -> Mask | None:
    tree = document.tree.get("candidates")
    if tree is None:
        return None
    if isinstance(tree, str):
        path = document.path(tree, "candidates")
        return read_candidates(path, nodes=graph.labels, arms=arms.labels)
    nodes, names = ([str(label) for label in labels] for labels in (graph.labels, arms.labels))
    mask = np.ones((len(nodes), len(names)), np.bool_)
    for node, allowed in tree.items():
        if node not in nodes:
            raise document.wrong(
                f"no node is called {node!r}; the nodes are {_some(nodes)}", "candidates", node
            )
        texts = [str(name) for name in allowed] if isinstance(allowed, list) else []
        if not texts or not set(texts) <= set(names):
            raise document.wrong(
                f"the arms of {node!r} are {shown(allowed)}; write a list of some of {names}",
                "candidates",
                node,
            )
        mask[nodes.index(node)] = [name in texts for name in names]
    return mask


def _some(names: list[str]) -> str:
    return f"{', '.join(names[:8])}{', ...' * (len(names) > 8)}"
