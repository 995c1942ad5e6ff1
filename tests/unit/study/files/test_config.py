"""TOML files that describe studies: what they can say, and how their faults are told."""

from pathlib import Path

import numpy as np
import pytest

from edgewise.errors import InvalidFile
from edgewise.formats import read_arms, read_candidates, read_graph
from edgewise.study.files.config import read_config

DATA = Path(__file__).parents[4] / "examples" / "data"
GOOD = """\
name = "yaw"
noise = 0.5
seed = 3

[graph]
edges = [["a", "b"], ["b", "c"]]

[arms]
low = [1.0, 0.0]
high = [0.0, 1.0]
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "farm.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_files_beside_the_toml_are_read_in_their_own_formats(tmp_path: Path) -> None:
    for name in ("wakes.csv", "yaw.csv", "service-road.csv"):
        (tmp_path / name).write_text((DATA / name).read_text())
    text = (
        'storage = "sqlite:///farm.db"\ngraph = "wakes.csv"\narms = "yaw.csv"\n'
        'candidates = "service-road.csv"\nnoise = "estimate"\n'
    )
    config = read_config(written(tmp_path, text))
    graph, arms = read_graph(DATA / "wakes.csv"), read_arms(DATA / "yaw.csv")
    mask = read_candidates(DATA / "service-road.csv", nodes=graph.labels, arms=arms.labels)
    assert config.name is None
    assert config.storage == f"sqlite:///{tmp_path}/farm.db"
    assert config.problem.noise == "estimate"
    assert config.problem.arm_labels == arms.labels
    assert config.problem.candidates is not None
    np.testing.assert_array_equal(config.problem.candidates, mask)
    np.testing.assert_array_equal(config.problem.graph.arcs, graph.arcs)
    assert config.problem.graph.kind_labels == graph.kind_labels


def test_edges_may_have_kinds_weights_and_one_direction(tmp_path: Path) -> None:
    edges = (
        'edges = [{source = "a", target = "b", kind = "near", weight = 2.0},'
        ' {source = "b", target = "a", kind = "deep", weight = 0.5}]\ndirected = true'
    )
    text = GOOD.replace('edges = [["a", "b"], ["b", "c"]]', edges)
    graph = read_config(written(tmp_path, text)).problem.graph
    assert graph.directed
    assert graph.n_arcs == 2
    assert graph.kind_labels == ("near", "deep")
    assert graph.weights is not None
    assert graph.weights.tolist() == [2.0, 0.5]


@pytest.mark.parametrize("url", ["sqlite:////data/farm.db", "postgresql://me@host/farm"])
def test_other_storages_are_left_as_they_are(url: str, tmp_path: Path) -> None:
    path = written(tmp_path, f'storage = "{url}"\n{GOOD}')
    assert read_config(path).storage == url


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("noise = 0.5", "noise = 0.5\ndetla = 0.1", "line 3: there is no key 'detla'; did you"),
        ("noise = 0.5\n", "", "there is no noise; add a number"),
        ("noise = 0.5", "noise = true", "line 2: noise is true; it must be a number"),
        ("noise = 0.5", "noise = -1", "line 2: noise is -1"),
        ("noise = 0.5", "noise = ", "farm.toml: not TOML: Invalid value (at line 2"),
        ("seed = 3", "seed = -3", "line 3: seed is -3"),
        ("seed = 3", "max_rounds = 2.5", "line 3: max_rounds is 2.5"),
        ("seed = 3", 'candidates = "no.csv"', "line 3: candidates is 'no.csv', and there is no"),
        ('edges = [["a", "b"], ["b", "c"]]', "edges = []", "line 6: the graph has no list of"),
        ('["b", "c"]', '["b"]', "line 6: edge 2 is ['b']; an edge is"),
        ('["b", "c"]', '["b", "b"]', "farm.toml, edge 2: the edge joins a node to itself"),
        ('["b", "c"]', '["b", "a"]', "farm.toml, edge 2: the edge repeats edge 1"),
        ("edges =", "egdes =", "line 6: there is no key 'egdes' in [graph]"),
        ("edges =", "directed = 1\nedges =", "line 6: directed is 1; write true"),
        ("high = [0.0, 1.0]", "high = [0.0]", "line 10: arm 'high' has 1 features"),
        ("high = [0.0, 1.0]", "delta = 0.1", "above the first [table]"),
        ("high = [0.0, 1.0]", "", "arms span 1 of 2 dimensions"),
        ("[arms]", "[candidates]\nz = ['low']\n[arms]", "line 9: no node is called 'z'"),
        ("[arms]", "[candidates]\na = ['mid']\n[arms]", "line 9: the arms of 'a' are ['mid']"),
    ],
)
def test_faults_are_told_by_line_with_a_remedy(
    old: str, new: str, message: str, tmp_path: Path
) -> None:
    assert old in GOOD
    path = written(tmp_path, GOOD.replace(old, new))
    with pytest.raises(InvalidFile) as raised:
        read_config(path)
    assert message in str(raised.value)
    assert str(path) in str(raised.value)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("delta = 2", "line 3: delta is 2"),
        ("epsilon = -1", "line 3: epsilon is -1"),
        ("max_rounds = 0", "line 3: max_rounds is 0"),
        ('stopping = "unoin"', "line 3: no stopping rule is called 'unoin'; did you mean 'union'?"),
        ('target = "all"', "line 3: no target is called 'all'"),
    ],
)
def test_faults_that_creating_finds_name_the_file_and_create_nothing(
    line: str, message: str, tmp_path: Path
) -> None:
    config = read_config(written(tmp_path, GOOD.replace("seed = 3", line)))
    with pytest.raises(InvalidFile, match=r"farm\.toml") as raised:
        config.create(name="yaw", storage=f"sqlite:///{tmp_path}/farm.db")
    assert message in str(raised.value)
    assert not (tmp_path / "farm.db").exists()


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidFile, match="no such file"):
        read_config(tmp_path / "no.toml")
