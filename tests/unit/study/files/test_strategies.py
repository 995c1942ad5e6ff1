"""Strategies in TOML files: their settings, and how faults are told."""

from __future__ import annotations

from pathlib import Path

import pytest

import edgewise as ew
from edgewise.core.strategies import (
    BUILT_IN,
    Adaptive,
    Contrast,
    GOptimal,
    Limited,
    Safe,
    Strategy,
    Thompson,
)
from edgewise.errors import InvalidFile
from edgewise.study.files.config import StudyConfig, read_config

NETWORK = """\
noise = 0.5
seed = 3

[graph]
edges = [["a", "b"], ["b", "c"]]

[arms]
low = [1.0, 0.0]
high = [0.0, 1.0]

"""
SAFE = """\
[strategy]
name = "safe"
baseline = "low"
largest_loss = 1.0
worst_loss = 0.5
"""
LIMITED = """\
[strategy]
name = "limited"
strategy = "thompson"
changed = 1
steps = 1
switching_cost = 0.5
"""


def config(folder: Path, text: str) -> StudyConfig:
    path = folder / "farm.toml"
    path.write_text(NETWORK + text, encoding="utf-8")
    return read_config(path)


def strategy(folder: Path, text: str) -> Strategy:
    found: Strategy = config(folder, text).options["strategy"]
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('[strategy]\nname = "adaptive"\n', Adaptive()),
        ('[strategy]\nname = "adaptive"\ngrowth = 1\npower = 2.5\n', Adaptive(1.0, 2.5)),
        ('[strategy]\nname = "adaptive"\neven = 1\n', Adaptive(even=1)),
        ('[strategy]\nname = "contrast"\nexplore = 0.2\n', Contrast(explore=0.2)),
        ('[strategy]\nname = "g-optimal"\neven = 0.1\n', GOptimal(even=0.1)),
        (LIMITED, Limited(Thompson(), changed=1, steps=1, switching_cost=0.5)),
        (
            LIMITED.replace('"thompson"', '{name = "thompson", phase = 3}'),
            Limited(Thompson(phase=3), changed=1, steps=1, switching_cost=0.5),
        ),
        (SAFE, Safe((0, 0, 0), largest_loss=1.0, worst_loss=0.5)),
        (
            SAFE + "margin = 3\nphase = 2\n",
            Safe((0, 0, 0), largest_loss=1.0, worst_loss=0.5, margin=3.0, phase=2),
        ),
        (
            SAFE + 'strategy = "adaptive"\n',
            Safe((0, 0, 0), largest_loss=1.0, worst_loss=0.5, strategy=Adaptive()),
        ),
        (
            SAFE + '[strategy.strategy]\nname = "g-optimal"\neven = 0.5\n',
            Safe((0, 0, 0), largest_loss=1.0, worst_loss=0.5, strategy=GOptimal(even=0.5)),
        ),
    ],
)
def test_a_table_gives_the_settings(text: str, expected: Strategy, tmp_path: Path) -> None:
    found = strategy(tmp_path, text)
    assert (type(found), repr(found)) == (type(expected), repr(expected))


@pytest.mark.parametrize("name", [name for name in BUILT_IN if name != "safe"])
def test_a_name_alone_gives_the_usual_settings(name: str, tmp_path: Path) -> None:
    path = tmp_path / "farm.toml"
    path.write_text(f'strategy = "{name}"\n{NETWORK}')
    assert repr(read_config(path).options["strategy"]) == repr(BUILT_IN[name]())


@pytest.mark.parametrize(
    "baseline",
    [
        '["low", "high", "low"]',
        "[0, 1, 0]",
        '{a = "low", b = "high", c = 0}',
        '"today.csv"',
    ],
)
def test_the_baseline_comes_in_many_forms(baseline: str, tmp_path: Path) -> None:
    (tmp_path / "today.csv").write_text("round,node,arm\n7,b,high\n7,c,low\n7,a,low\n")
    found = strategy(tmp_path, SAFE.replace('"low"', baseline))
    assert isinstance(found, Safe)
    assert found.baseline == (0, 1, 0)


FAULTS = [
    ('name = "safe"', 'name = "save"', "line 12: no strategy is called 'save'; did you mean 'saf"),
    ('name = "safe"\n', "", "line 11: [strategy] has no name"),
    ("worst_loss = 0.5\n", "", "line 11: strategy 'safe' needs worst_loss; write a table [strate"),
    ("worst_loss", "wurst_loss", "line 15: there is no key 'wurst_loss' in [strategy]; did you m"),
    ("= 0.5", "= 'half'", "line 15: worst_loss is 'half'; it must be a number"),
    ("= 0.5", "= true", "line 15: worst_loss is true; it must be a number"),
    ("= 0.5", "= -1.0", "line 11: largest_loss is 1.0, worst_loss -1.0"),
    ("= 0.5", "= 0.5\nphase = 2.0", "line 16: phase is 2.0; it must be a whole number"),
    ("= 0.5", "= 0.5\nphase = 0", "line 11: phase is 0; it must be at least 1"),
    ('"low"', '"lwo"', "line 13: baseline names no arm 'lwo'; did you mean 'low'?"),
    ('"low"', "2", "line 13: baseline names no arm 2"),
    ('"low"', '["low", "low"]', "line 13: baseline has 2 arms; there are 3 nodes"),
    ('"low"', '{a = "low", b = "low"}', "line 13: baseline has no arm for node 'c'; add it"),
    ('"low"', '{d = "low"}', "line 13: there is no key 'd' in [strategy.baseline]"),
    ('"low"', '"no.csv"', "line 13: baseline is 'no.csv', and there is no file"),
    ('"low"', '"short.csv"', "short.csv: node 'a' stands on 0 lines; give every node one line"),
    ("= 0.5", "= 0.5\n[strategy.strategy]\nname = 'adaptive'\ngrowht = 1", "line 18: there is"),
    ("= 0.5", "= 0.5\n[strategy.strategy]\nname = 'adaptive'\ngrowth = -1", "line 16: growth i"),
    ("= 0.5", "= 0.5\nstrategy = 'safe'", "line 16: strategy 'safe' needs largest_loss; write a"),
]


@pytest.mark.parametrize(("old", "new", "message"), FAULTS)
def test_faults_are_told_by_line(old: str, new: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "short.csv").write_text("node,arm\nb,high\nc,low\n")
    assert old in SAFE
    with pytest.raises(InvalidFile) as raised:
        config(tmp_path, SAFE.replace(old, new, 1))
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (SAFE + "[candidates]\na = ['high']\n", "line 13: 1 node(s) may not have their baseline"),
        (SAFE + "strategy = 'paper'\n", "starts from A_0 = I"),
    ],
)
def test_faults_that_creating_finds_are_told_too(text: str, message: str, tmp_path: Path) -> None:
    found = config(tmp_path, text)
    with pytest.raises(InvalidFile, match=r"farm\.toml") as raised:
        found.create(name="yaw", storage=f"sqlite:///{tmp_path}/farm.db")
    assert message in str(raised.value)
    assert not (tmp_path / "farm.db").exists()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("steps = 1", "steps = 0", "line 12: steps is 0, which leaves no joint arm but one"),
        ("steps = 1", "steps = 1.5", "line 16: steps is 1.5; it must be a whole number"),
        ("= 0.5", "= -0.5", "line 12: switching_cost is -0.5"),
        ("changed", "changes", "line 15: there is no key 'changes' in [strategy]; did you mean"),
    ],
)
def test_faults_of_limits_are_told_by_line(
    old: str, new: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(InvalidFile) as raised:
        limited_config(tmp_path, LIMITED.replace(old, new, 1))
    assert message in str(raised.value)


def limited_config(folder: Path, text: str, baseline: str = '"high"') -> StudyConfig:
    path = folder / "farm.toml"
    path.write_text(f"baseline = {baseline}\n{NETWORK}{text}", encoding="utf-8")
    return read_config(path)


def test_a_stored_limited_study_goes_on_from_what_is_deployed(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/farm.db"
    made = limited_config(tmp_path, LIMITED).create(name="tilt", storage=url)
    learner = ew.Learner(
        made.problem, strategy=Limited(Thompson(), changed=1, steps=1, switching_cost=0.5), rng=3
    )
    before = [1, 1, 1]
    for _ in range(12):
        study = ew.Study.load("tilt", storage=url)
        ticket, mine = study.ask(), learner.ask()
        assert ticket.arms.tolist() == mine.arms.tolist()
        assert sum(a != b for a, b in zip(ticket.arms.tolist(), before, strict=True)) <= 1
        rewards = [0.25 * ticket.round + 0.5 * k for k in range(4)]
        study.tell(ticket, rewards)
        learner.tell(mine, rewards)
        before = ticket.arms.tolist()
    study.export(tmp_path / "tilt.jsonl")
    moved = ew.Study.from_export(tmp_path / "tilt.jsonl")
    assert moved.problem.baseline is not None
    assert moved.problem.baseline.tolist() == [1, 1, 1]
    assert moved.ask().arms.tolist() == study.ask().arms.tolist()


def test_limits_without_a_baseline_say_which_key_is_missing(tmp_path: Path) -> None:
    found = config(tmp_path, LIMITED)
    with pytest.raises(InvalidFile, match="limits start from what is deployed now"):
        found.create(name="tilt", storage=f"sqlite:///{tmp_path}/farm.db")


@pytest.mark.parametrize(
    ("baseline", "message"),
    [
        ('"hihg"', "line 1: baseline names no arm 'hihg'; did you mean 'high'?"),
        ("[0, 1]", "line 1: baseline has 2 arms; there are 3 nodes"),
        ("true", "line 1: baseline is true; it must be what runs today"),
    ],
)
def test_a_wrong_baseline_is_told_by_line(baseline: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidFile) as raised:
        limited_config(tmp_path, LIMITED, baseline)
    assert message in str(raised.value)


def test_a_stored_safe_study_goes_on_as_it_was_created(tmp_path: Path) -> None:
    inner = '[strategy.strategy]\nname = "adaptive"\ngrowth = 0.5\n'
    url = f"sqlite:///{tmp_path}/farm.db"
    made = config(tmp_path, SAFE + inner).create(name="yaw", storage=url)
    expected = Safe((0, 0, 0), largest_loss=1.0, worst_loss=0.5, strategy=Adaptive(growth=0.5))
    learner = ew.Learner(made.problem, strategy=expected, rng=3)
    for _ in range(12):
        study = ew.Study.load("yaw", storage=url)
        assert repr(study._session.cursor.setting.strategy) == repr(expected)
        ticket, mine = study.ask(), learner.ask()
        assert ticket.arms.tolist() == mine.arms.tolist()
        rewards = [0.25 * ticket.round + 0.5 * k for k in range(4)]
        study.tell(ticket, rewards)
        learner.tell(mine, rewards)
    study.export(tmp_path / "yaw.jsonl")
    moved = ew.Study.from_export(tmp_path / "yaw.jsonl")
    assert moved.ask().arms.tolist() == study.ask().arms.tolist()
