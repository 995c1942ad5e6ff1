"""The skeletons of CONTRIBUTING.md run, can be reported, and keep their contracts.

Every section has three blocks: the part, a run with it, and its contract suite. The suites are put
into this module, where pytest finds them.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from edgewise.errors import InvalidArgument

_PAGE = Path(__file__).parents[2] / "CONTRIBUTING.md"
_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def _sections() -> tuple[str, dict[str, tuple[str, str, str]]]:
    """The block that all runs use, and the three blocks of every section by its title."""
    text = _PAGE.read_text(encoding="utf-8").split("\n## Parts of your own\n")[1]
    head, *rest = text.split("\n### ")
    (shared,) = _BLOCK.findall(head)
    blocks = {section.splitlines()[0]: tuple(_BLOCK.findall(section)) for section in rest}
    assert all(len(three) == 3 for three in blocks.values())
    return shared, blocks


def _execute(block: str, names: dict[str, Any]) -> None:
    exec(compile(block, str(_PAGE), "exec", dont_inherit=True), names)


_SHARED, _BLOCKS = _sections()
_PARTS: dict[str, dict[str, Any]] = {title: {"__name__": __name__} for title in _BLOCKS}
for _title, (_part, _, _suite) in _BLOCKS.items():
    _execute(_part, _PARTS[_title])
    _execute(_suite, _PARTS[_title])
    _suites = {name: kind for name, kind in _PARTS[_title].items() if name.startswith("Test")}
    assert len(_suites) == 1
    globals().update(_suites)


def test_there_is_a_skeleton_of_every_part() -> None:
    parts = ["A strategy", "A stopping rule", "A target", "An allocator", "A storage"]
    assert list(_BLOCKS) == parts


@pytest.mark.parametrize(
    ("title", "words"),
    [
        ("A strategy", "Certified after .* (uniform strategy, mixture rule"),
        ("A stopping rule", "Certified after 20 rounds (g-optimal strategy, once rule"),
        ("A target", "With probability at least 0.95, (1, 1) is better than (0, 0) on an edge"),
        ("An allocator", "method='random-draws'"),
        ("A storage", "Certified after .* (adaptive strategy, anytime rule"),
    ],
)
def test_a_run_with_the_skeleton_ends_and_is_printed(
    title: str,
    words: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    names = dict(_PARTS[title])
    _execute(_SHARED, names)
    _execute(_BLOCKS[title][1], names)
    expected = ".*".join(re.escape(part) for part in words.split(".*"))
    assert re.search(expected, capsys.readouterr().out)


def test_the_target_refuses_what_its_proof_does_not_cover() -> None:
    names = dict(_PARTS["A target"])
    _execute(_SHARED, names)
    target = names["BetterThan"](today=(0, 0))
    with pytest.raises(InvalidArgument, match="A_0 = I"):
        names["ew"].Learner(names["problem"], strategy="paper", target=target)


def test_the_storage_survives_a_torn_line(tmp_path: Path) -> None:
    """As after a loss of power: what was written before is there, and writing goes on."""
    names = _PARTS["A storage"]
    storage = names["JsonLines"](tmp_path / "studies.jsonl")
    entry = names["Entry"](1, 0, "created", 0.0, b"data")
    with storage.creating("farm") as journal:
        journal.append(entry)
    with storage.path.open("ab") as file:
        file.write(b'["farm", [[2, 1, "as')
    with storage.writing("farm") as journal:
        assert list(journal.read(0)) == [entry]
        journal.append(names["Entry"](2, 1, "asked", 0.0, b""))
    with storage.reading("farm") as journal:
        assert journal.length == 2
