"""A study moved by file goes on as the one left behind would have."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.study.conftest import Place
from tests.unit.study.farm import PROBLEM, endless, kinds, run, state_of

import edgewise as ew
from edgewise.errors import InvalidFile, StudyExists
from edgewise.study import MemoryStorage
from edgewise.study.log.codec import pack, to_tree


def eventful(place: Place, strategy: str = "adaptive") -> ew.Study:
    """A study to which everything has happened."""
    options = endless(strategy=strategy, max_rounds=99)
    study = run(ew.Study.create("farm", PROBLEM, storage=place, **options), 6)
    study.cancel(study.ask())
    ticket = study.ask()
    study.tell(ticket, {("a", "b"): 0.1 + 0.2})
    study.close(ticket)
    study.correct(study.ticket(3), {("a", "b"): None, ("c", "a"): 0.75})
    study.extend(rounds=4, epsilon=0.01)
    study.tell(study.ask(), {("a", "b"): 1.0})
    return study


def stripped(study: ew.Study) -> list[bytes]:
    """The log without times, bit for bit."""
    return [pack(to_tree(event)) for _, event in study.log()]


@pytest.mark.parametrize("strategy", ["adaptive", "g-optimal"])
def test_an_imported_study_goes_on_bit_for_bit(place: Place, strategy: str, tmp_path: Path) -> None:
    study = eventful(place, strategy)
    study.export(tmp_path / "farm.jsonl")
    moved = ew.Study.from_export(
        tmp_path / "farm.jsonl", storage=f"sqlite:///{tmp_path}/elsewhere.db"
    )
    assert state_of(moved) == state_of(study)
    assert stripped(moved) == stripped(study)
    assert list(moved.log())[3][0] == list(study.log())[3][0]  # the times are kept
    for one in (moved, study):
        one.close(one.ask())
        run(one, 3)
    assert state_of(moved) == state_of(study)


def test_the_export_is_plain_json_and_the_state_in_it_is_a_cache(tmp_path: Path) -> None:
    study = eventful(MemoryStorage())
    study.export(tmp_path / "farm.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "farm.jsonl").read_text().splitlines()]
    assert lines[0] == {"edgewise_study": 1, "name": "farm"}
    assert [line["kind"] for line in lines[1:4]] == ["created", "asked", "told"]
    assert lines[3]["event"]["values"]["values"] == study.rewards(1).tolist()
    lines[-1]["snapshot"]["format"] = 0  # of an edgewise that this one cannot read
    text = "\n".join(json.dumps(line) for line in lines)
    (tmp_path / "old.jsonl").write_text(text + "\n")
    assert state_of(ew.Study.from_export(tmp_path / "old.jsonl")) == state_of(study)


def test_an_import_may_have_another_name_but_not_a_taken_one(tmp_path: Path) -> None:
    study = eventful(MemoryStorage())
    study.export(tmp_path / "farm.jsonl")
    with pytest.raises(StudyExists):
        ew.Study.from_export(tmp_path / "farm.jsonl", storage=study.storage)
    copy = ew.Study.from_export(tmp_path / "farm.jsonl", storage=study.storage, name="copy")
    assert (copy.name, kinds(copy)) == ("copy", kinds(study))


DAMAGE: dict[str, tuple[Callable[[list[str]], list[str]], str]] = {
    "cut off": (lambda lines: lines[:-1], "line 24 is not an event"),
    "line lost": (lambda lines: lines[:5] + lines[6:], "line 6 is event 6, where event 5 belongs"),
    "line torn": (lambda lines: [*lines[:4], lines[4][:20]], "line 5 is not JSON"),
    "more lines": (lambda lines: [*lines, lines[3]], "line 24 should end the export"),
    "other file": (lambda _: ['{"x": 1}'], "line 1 does not begin an export"),
    "no object": (lambda _: ["[1]"], "line 1 is not JSON as"),
    "empty": (lambda _: [], "line 1 does not begin an export"),
    "other kind": (
        lambda lines: [*lines[:3], lines[3].replace('"told"', '"guessed"'), *lines[4:]],
        "line 4 is not an event",
    ),
    "other format": (
        lambda lines: [lines[0].replace("1", "2"), *lines[1:]],
        "line 1 does not begin an export of format 1",
    ),
}


@pytest.mark.parametrize("case", DAMAGE)
def test_a_damaged_export_is_refused_and_nothing_is_imported(case: str, tmp_path: Path) -> None:
    damage, fact = DAMAGE[case]
    study = eventful(MemoryStorage())
    study.export(tmp_path / "farm.jsonl")
    lines = (tmp_path / "farm.jsonl").read_text().splitlines()
    (tmp_path / "bad.jsonl").write_text("".join(line + "\n" for line in damage(lines)))
    storage = MemoryStorage()
    with pytest.raises(InvalidFile, match=fact) as caught:
        ew.Study.from_export(tmp_path / "bad.jsonl", storage=storage)
    assert "nothing was imported" in str(caught.value)
    assert storage.names() == []


def test_files_that_cannot_be_read_or_written(tmp_path: Path) -> None:
    with pytest.raises(InvalidFile, match="there is no such file"):
        ew.Study.from_export(tmp_path / "nothing.jsonl")
    study = eventful(MemoryStorage())
    with pytest.raises(InvalidFile, match="cannot be written"):
        study.export(tmp_path / "no" / "folder.jsonl")
