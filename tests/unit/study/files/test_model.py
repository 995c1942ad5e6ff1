"""How rewards are modelled, as TOML files and the files beside them say it."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from edgewise.errors import InvalidFile
from edgewise.study.files.config import read_config

GOOD = """\
name = "yaw"
noise = 0.5
measured = "node"
# here

[graph]
edges = [["a", "b"], ["b", "c"], ["c", "a"]]

[arms]
low = [1.0, 0.0]
high = [0.0, 1.0]
"""
EDGES = 'edges = [["a", "b"], ["b", "c"], ["c", "a"]]'
KINDS = EDGES.replace('["a", "b"]', '{source = "a", target = "b", kind = "far"}').replace(
    '["b", "c"], ["c", "a"]',
    '{source = "b", target = "c", kind = "near"}, {source = "c", target = "a", kind = "far"}',
)
FAR = EDGES.replace(
    '["a", "b"]', '{source = "a", target = "b", distance = 1.0, angle = 2}'
).replace(
    '["b", "c"], ["c", "a"]',
    '{source = "b", target = "c", distance = 2.5, angle = 0},'
    ' {source = "c", target = "a", distance = 4.0, angle = 7}',
)


def written(folder: Path, text: str) -> Path:
    path = folder / "farm.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("line", "name", "value"),
    [
        ("", "measured", "node"),
        ("levels = true", "levels", "channel"),
        ('levels = "both"', "levels", "both"),
        ('pooling = "none"', "pooling", "none"),
        ("own_term = false", "own_term", False),
        ("interaction = false", "interaction", False),
        ('node_kinds = ["big", "small", "big"]', "node_kinds", [0, 1, 0]),
        ('node_kinds = {c = "big", a = "small", b = "big"}', "node_kinds", [0, 1, 1]),
        ('node_kinds = "nodes.csv"', "node_kinds", [0, 0, 1]),
    ],
)
def test_options_of_the_model(line: str, name: str, value: Any, tmp_path: Path) -> None:
    (tmp_path / "nodes.csv").write_text("kind,node\nsmall,b\nbig,c\nsmall,a\n")
    problem = read_config(written(tmp_path, GOOD.replace("# here", line))).problem
    found = getattr(problem, name)
    assert (found.tolist() if isinstance(found, np.ndarray) else found) == value


@pytest.mark.parametrize(
    ("measured", "noise", "graph", "values"),
    [
        ("node", "noise = [0.1, 0.2, 0.3]", EDGES, (0.1, 0.2, 0.3)),
        ("node", "noise = {c = 0.3, a = 0.1, b = 2}", EDGES, (0.1, 2.0, 0.3)),
        ("link", "noise = {near = 0.3, far = 1}", KINDS, (1.0, 0.3)),
        ("arc", "noise = [0.5, 0.25]", KINDS, (0.5, 0.25)),
    ],
)
def test_noise_that_differs(
    measured: str, noise: str, graph: str, values: tuple[float, ...], tmp_path: Path
) -> None:
    text = GOOD.replace("noise = 0.5", noise).replace('"node"', f'"{measured}"')
    assert read_config(written(tmp_path, text.replace(EDGES, graph))).problem.noise == values


def test_covariates_of_edges_in_the_file_and_beside_it(tmp_path: Path) -> None:
    text = GOOD.replace("# here", 'covariates = ["distance", "angle"]')
    inside = read_config(written(tmp_path, text.replace(EDGES, FAR))).problem.graph
    (tmp_path / "wakes.csv").write_text(
        "u,v,angle,note,distance\na,b,2,x,1.0\nb,c,0,y,2.5\nc,a,7,z,4.0\n"
    )
    beside = text.replace(f"[graph]\n{EDGES}\n", "").replace("# ", "")
    beside = beside.replace("noise = 0.5", 'noise = 0.5\ngraph = "wakes.csv"')
    outside = read_config(written(tmp_path, beside)).problem.graph
    for graph in (inside, outside):
        assert graph.covariate_names == ("distance", "angle")
        assert graph.covariates is not None
        assert graph.covariates.tolist() == [[1.0, 2.0], [2.5, 0.0], [4.0, 7.0]]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"node"', '"nodes"', "line 3: measured is 'nodes'; did you mean 'node'?"),
        ('"node"', "1", "line 3: measured is 1; it must be"),
        ("# here", 'levels = "chanel"', "line 4: levels is 'chanel'"),
        ("# here", "levels = 2", "line 4: levels is 2; it must be true, or"),
        ("# here", 'pooling = "all"', "line 4: pooling is 'all'"),
        ("# here", "pooling = true", "line 4: pooling is true; it must be"),
        ('"node"\n# here', '"arc"\nown_term = true', "line 4: own_term=True with measured='arc'"),
        ('"node"\n# here', '"total"\naverage = true', "line 4: average=True with measured='total'"),
        ("# here", "own_term = 1", "line 4: own_term is 1; it must be true or false"),
        ("# here", 'node_kinds = ["big"]', "line 4: node_kinds has 1 entries for 3 nodes"),
        ("# here", 'node_kinds = {a = "big"}', "line 4: node_kinds has no kind for node 'b'"),
        ("[arms]", "[node_kinds]\nx = 1\n[arms]", "line 10: there is no key 'x' in [node_kinds]"),
        ("# here", 'node_kinds = "no.csv"', "line 4: node_kinds is 'no.csv', and there is no file"),
        ("# here", 'node_kinds = "bad.csv"', "bad.csv: node 'c' stands on 0 lines; give every"),
        ("# here", 'node_kinds = "arms.csv"', "one must be called 'kind': name the columns node"),
        ("noise = 0.5", "noise = [0.5]", "line 2: noise is of shape (1,); it must be one number"),
        ("noise = 0.5", "noise = [0.5, -1, 2]", "line 2: noise[1] is -1.0"),
        ("noise = 0.5", "noise = {a = 1, b = 2}", "line 2: noise has no number for node 'c'"),
        ("noise = 0.5", 'noise = {a = "x", b = 1, c = 1}', "line 2: the noise of node 'a' is 'x'"),
        ("# here", 'covariates = "distance"', "line 4: covariates is 'distance'; it must be"),
        ("# here", "covariates = [1]", "line 4: covariates is [1]; it must be a list of different"),
        ("# here", 'covariates = ["distance"]', "farm.toml: no column is called 'distance'"),
    ],
)
def test_faults_are_told_by_line(old: str, new: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_text("node,kind\na,big\nb,big\n")
    (tmp_path / "arms.csv").write_text("node,arm\na,low\nb,low\nc,low\n")
    assert old in GOOD
    with pytest.raises(InvalidFile) as raised:
        read_config(written(tmp_path, GOOD.replace(old, new)))
    assert message in str(raised.value)


def test_a_link_of_a_directed_graph_is_told_by_line(tmp_path: Path) -> None:
    text = GOOD.replace('"node"', '"link"').replace(EDGES, f"directed = true\n{EDGES}")
    with pytest.raises(InvalidFile, match="line 3: a directed graph has no links"):
        read_config(written(tmp_path, text))


def test_a_gap_among_covariates_is_told_by_edge(tmp_path: Path) -> None:
    text = GOOD.replace("# here", 'covariates = ["distance"]').replace(
        '["a", "b"]', '{source = "a", target = "b", distance = 3}'
    )
    with pytest.raises(InvalidFile, match=r"edge 2, column 'distance': an empty cell is not"):
        read_config(written(tmp_path, text))
