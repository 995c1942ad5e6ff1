"""A study moved by file goes on as the one left behind would have."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.unit.study.conftest import Place
from tests.unit.study.farm import PROBLEM, endless, kinds, run, state_of

import edgewise as ew
from edgewise.errors import DamagedSnapshot, InvalidArgument, InvalidFile, StudyExists, Unverified
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
    assert lines[0] == {"edgewise_study": 2, "name": "farm", "written_by": ew.__version__}
    assert [line["kind"] for line in lines[1:4]] == ["created", "asked", "told"]
    assert lines[3]["event"]["values"]["values"] == study.rewards(1).tolist()
    lines[-1]["snapshot"]["format"] = 0  # of an edgewise that this one cannot read
    text = "\n".join(json.dumps(line) for line in lines)
    (tmp_path / "old.jsonl").write_text(text + "\n")
    assert state_of(ew.Study.from_export(tmp_path / "old.jsonl")) == state_of(study)
    lines[-1]["snapshot"] = {"format": 1, "state": {"learner": 7}}
    text = "\n".join(json.dumps(line) for line in lines)
    (tmp_path / "damaged.jsonl").write_text(text + "\n")
    with pytest.warns(DamagedSnapshot, match=r"line 24: the state cannot be used .*replayed"):
        moved = ew.Study.from_export(tmp_path / "damaged.jsonl")
    assert state_of(moved) == state_of(study)


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
        "line 4 does not follow the line before",
    ),
    "other format": (
        lambda lines: [lines[0].replace("2", "0"), *lines[1:]],
        "line 1 does not begin an export of format 2",
    ),
    "other value": (
        lambda lines: [*lines[:3], re.sub(r'"values":\[-?', '"values":[7', lines[3]), *lines[4:]],
        "line 4 does not follow the line before",
    ),
    "lines swapped": (
        lambda lines: [*lines[:4], lines[5], lines[4], *lines[6:]],
        "line 5 is event 5, where event 4 belongs",
    ),
    "believed": (  # the claim of a certificate that no measurement supports
        lambda lines: [*lines[:-1], lines[-1].replace('"stop":false', '"stop":true')],
        "line 24 says what does not follow from the log: learner/verdict/stop is True, not False",
    ),
    "nested": (lambda lines: [lines[0], "[" * 100_000], "line 2 is not JSON"),
    "endless number": (lambda lines: [lines[0], "9" * 5_000], "line 2 is not JSON"),
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


# -- without a chain, as before format 2 -----------------------------------------------------


def without_chain(text: str) -> list[dict[str, Any]]:
    """The lines of an export as format 1 had them."""
    lines = [json.loads(line) for line in text.splitlines()]
    lines[0] = {"edgewise_study": 1, "name": lines[0]["name"]}
    return [{key: one[key] for key in one if key not in ("chain", "round")} for one in lines]


def arm(line: dict[str, Any], value: object) -> None:
    line["event"]["arms"]["values"][0] = value


HOSTILE: dict[str, tuple[int, Callable[[dict[str, Any]], Any], str]] = {
    "arm 3 of 3": (2, lambda line: arm(line, 3), "arms has the entries 0 to 3"),
    "arm -1": (2, lambda line: arm(line, -1), "line 3 is not"),  # no unsigned number
    "arm 0.5": (2, lambda line: arm(line, 0.5), "line 3"),
    "one arm more": (2, lambda line: line["event"]["arms"].update(shape=[5]), "line 3 is not JSON"),
    "objects": (2, lambda line: line["event"]["arms"].update({"$array": "|O"}), "line 3 is not"),
    "no arms": (2, lambda line: line["event"].pop("arms"), "it has no field 'arms'"),
    "arms are text": (2, lambda line: line["event"].update(arms="x"), "arms is 'x'"),
    "another field": (2, lambda line: line["event"].update(colour=1), "the field 'colour'"),
    "a round of 2.5": (2, lambda line: line["event"].update(round=2.5), "round is 2.5"),
    "told too much": (
        3,
        lambda line: line["event"].update(
            values={"$array": "<f8", "shape": [11], "values": [0.0] * 11}
        ),
        "values has 11 rewards of 10",
    ),
    "told absurdly": (
        3,
        lambda line: line["event"].update(
            values={"$array": "<f8", "shape": [1], "values": [1e300]}
        ),
        "at most 1e",
    ),
    "told elsewhere": (
        3,
        lambda line: line["event"].update(
            arcs={"$array": "|u1", "shape": [1], "values": [10]},
            values={"$array": "<f8", "shape": [1], "values": [1.0]},
        ),
        "arcs has the entries 10 to 10",
    ),
    "another phase": (2, lambda line: line["event"].update(phase=5), "belongs to phase 5"),
    "no problem": (1, lambda line: line["event"].update(problem={}), "line 2 cannot be replayed"),
    "no options": (1, lambda line: line["event"].update(options={}), "line 2 cannot be replayed"),
    "no graph": (1, lambda line: line["event"]["problem"].update(graph=7), "line 2 cannot be"),
    "a seed of text": (1, lambda line: line["event"].update(seed="x"), "seed is 'x'"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_event_is_refused_before_it_reaches_a_kernel(case: str, tmp_path: Path) -> None:
    number, edit, fact = HOSTILE[case]
    study = eventful(MemoryStorage())
    study.export(tmp_path / "farm.jsonl")
    lines = without_chain((tmp_path / "farm.jsonl").read_text())
    edit(lines[number])
    (tmp_path / "bad.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.warns(Unverified), pytest.raises(InvalidFile, match=fact):
        ew.Study.from_export(tmp_path / "bad.jsonl")


def test_an_export_without_chain_is_replayed_and_said_to_be_one(tmp_path: Path) -> None:
    study = eventful(MemoryStorage())
    study.export(tmp_path / "farm.jsonl")
    lines = without_chain((tmp_path / "farm.jsonl").read_text())
    (tmp_path / "old.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.warns(Unverified, match="of format 1, without checksums"):
        moved = ew.Study.from_export(tmp_path / "old.jsonl")
    assert state_of(moved) == state_of(study)
    lines[-1]["snapshot"]["state"]["learner"]["verdict"]["stop"] = True
    (tmp_path / "old.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.warns(Unverified), pytest.raises(InvalidFile, match=r"line 24 .*verdict/stop"):
        ew.Study.from_export(tmp_path / "old.jsonl")


def with_other_totals(path: Path, factor: float) -> list[float]:
    """An export whose state was computed elsewhere; the totals it has."""
    eventful(MemoryStorage()).export(path)
    lines = without_chain(path.read_text())
    totals = lines[-1]["snapshot"]["state"]["totals"]
    totals["values"] = [None if one is None else one * factor for one in totals["values"]]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    found: list[float] = totals["values"]
    return found


@pytest.mark.filterwarnings("ignore::edgewise.errors.Unverified")
def test_numbers_may_differ_by_rounding_and_go_on_as_they_were(tmp_path: Path) -> None:
    totals = with_other_totals(tmp_path / "near.jsonl", 1 + 1e-12)
    moved = ew.Study.from_export(tmp_path / "near.jsonl")
    assert moved.history().totals[0] == totals[0]
    with_other_totals(tmp_path / "far.jsonl", 1 + 1e-6)
    with pytest.raises(InvalidFile, match=r"line 24 .* totals has other entries"):
        ew.Study.from_export(tmp_path / "far.jsonl")


def test_an_export_of_a_newer_edgewise_says_so(tmp_path: Path) -> None:
    head = {"edgewise_study": 9, "name": "farm", "written_by": "7.1"}
    (tmp_path / "new.jsonl").write_text(json.dumps(head) + "\n")
    with pytest.raises(
        InvalidFile, match=r"format 9, written by edgewise 7\.1; this is edgewise 0"
    ):
        ew.Study.from_export(tmp_path / "new.jsonl")


@pytest.mark.parametrize("name", ["", "  ", "x" * 256, "bell\a", "\u202eevil", "\ud800", 7, None])
def test_names_of_imported_studies_are_checked(name: Any, tmp_path: Path) -> None:
    eventful(MemoryStorage()).export(tmp_path / "farm.jsonl")
    first, rest = (tmp_path / "farm.jsonl").read_text().split("\n", 1)
    head = json.loads(first) | {"name": name}
    (tmp_path / "named.jsonl").write_text(json.dumps(head) + "\n" + rest)
    with pytest.raises(InvalidArgument, match="name is"):
        ew.Study.from_export(tmp_path / "named.jsonl")


def test_importing_tells_how_far_it_is(tmp_path: Path) -> None:
    study = eventful(MemoryStorage())
    study.export(tmp_path / "farm.jsonl")
    seen: list[int] = []
    ew.Study.from_export(tmp_path / "farm.jsonl", progress=seen.append)
    assert seen == list(range(1, len(list(study.log())) + 1))
