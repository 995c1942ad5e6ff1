"""Limits on the command line: around the strategy of a file, or of an option."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.cli.test_study import Desk

import edgewise as ew
from edgewise.cli.terminal.limits import limited
from edgewise.core.strategies import Adaptive, Limited, Safe, Strategy, Thompson
from edgewise.study.files.document import EXAMPLE as TEMPLATE

NONE: dict[str, float | None] = dict.fromkeys(
    ("changed", "steps", "within", "switching_cost", "largest_loss", "worst_loss")
)


@pytest.mark.parametrize(
    ("strategy", "given", "expected"),
    [
        ("adaptive", {}, "adaptive"),
        ("thompson", {"steps": 1}, Limited(Thompson(), steps=1)),
        (Limited(changed=3, steps=2), {"steps": 1}, Limited(changed=3, steps=1)),
        (
            Safe(largest_loss=1.0, worst_loss=2.0, strategy=Thompson()),
            {"within": 2, "largest_loss": 0.5},
            Safe(largest_loss=0.5, worst_loss=2.0, strategy=Limited(Thompson(), within=2)),
        ),
        (
            Adaptive(),
            {"switching_cost": 0.2, "largest_loss": 1.0, "worst_loss": 3.0},
            Safe(largest_loss=1.0, worst_loss=3.0, strategy=Limited(switching_cost=0.2)),
        ),
    ],
)
def test_limits_given_stand_around_the_strategy_and_replace_its_own(
    strategy: str | Strategy, given: dict[str, float], expected: str | Strategy
) -> None:
    found = limited(strategy, **{**NONE, **given})
    assert found == expected


def created(folder: Path, *options: str) -> tuple[Desk, int, str]:
    desk = Desk(folder)
    config = desk.file("farm.toml", TEMPLATE.read_text(encoding="utf-8"))
    result = desk.run("create", config, *options)
    return desk, result.exit_code, result.output


def test_a_study_created_with_limits_keeps_them(tmp_path: Path) -> None:
    desk, code, said = created(tmp_path, "--baseline", "ahead", "--changed", "1", "--steps", "1")
    assert code == 0, said
    study = ew.Study.load("yaw-2026", storage=f"sqlite:///{tmp_path / 'farm.db'}")
    assert study.problem.baseline is not None
    before = study.problem.baseline
    for _ in range(6):
        ticket = study.ask()
        assert (ticket.arms != before).sum() <= 1
        study.tell(ticket, [0.0] * 8)
        before = ticket.arms
    assert desk.run("status").exit_code == 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--changed", "1"), "or --baseline: the arm of every node today"),
        (("--baseline", "ahaed"), "--baseline: no arm is called 'ahaed'; did you mean 'ahead'?"),
        (("--baseline", "ahead", "--steps", "0"), "steps is 0, which leaves no joint arm but one"),
        (("--baseline", "ahead", "--switching-cost", "-1"), "switching_cost is -1.0"),
        (("--baseline", "ahead", "--worst-loss", "1"), "--worst-loss alone limits nothing"),
    ],
)
def test_limits_that_leave_nothing_create_nothing(
    options: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    _, code, output = created(tmp_path, *options)
    assert code == 2
    assert said in " ".join(output.split())
    assert not (tmp_path / "farm.db").exists()
