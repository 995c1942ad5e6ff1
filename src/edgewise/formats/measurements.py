"""Measurements of one round from a file or a stream: rewards by names of nodes."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from edgewise.base.border import border
from edgewise.errors import InvalidFile
from edgewise.formats.channels import channel_index, channel_names, channel_text
from edgewise.formats.edge_list import ends_of
from edgewise.formats.files import FilePath, opened, read_by_extension
from edgewise.formats.table import Table, csv_table, number, read_csv

if TYPE_CHECKING:
    from edgewise.core.model.problem import Problem

_JSON = (
    'write a list of objects such as {"source": "a", "target": "b", "reward": 0.5}, or an object '
    'with that list as "measurements" and the "round" they belong to'
)


class RoundRewards(NamedTuple):
    """What was measured, and when the file says so, in which round."""

    round: str | None
    """The round's key, such as ``"7"``; None where the file does not name it."""
    rewards: Mapping[Hashable, float]
    """By the labels of the arc's (or link's) nodes, or of the node, or ``"total"``; NaN where the
    measurement is missing."""


@border(error=InvalidFile)
def read_rewards(path: FilePath, problem: Problem) -> RoundRewards:
    """Measurements of a round, some or all of them.

    ``.csv``
        Columns source and target (or from and to, or u and v), and reward (or value); an empty
        reward is a missing one. A column round, the same on every line, says which round it is.
        Where nodes are measured, node instead of the two; where the total is, a line with reward.
    ``.json``
        A list of objects with these names, or an object with that list as ``measurements`` and,
        if wanted, ``round``; null is a missing reward.
    """
    readers = {".csv": read_csv, ".json": _from_json_file}
    return _rewards(read_by_extension(path, readers, "measurements"), problem)


@border(error=InvalidFile)
def parse_rewards(name: str, text: str, problem: Problem) -> RoundRewards:
    """The same from text, CSV or JSON as its first character shows; ``name`` is for messages."""
    file = Path(name)
    is_json = text.lstrip()[:1] in {"[", "{"}
    table = _from_json(file, text) if is_json else csv_table(file, io.StringIO(text, newline=""))
    return _rewards(table, problem)


@border(error=InvalidFile)
def rewards_of_tree(name: str, tree: Any, problem: Problem) -> RoundRewards:
    """The same from JSON that has been read."""
    return _rewards(_from_tree(Path(name), tree), problem)


def by_round(table: Table) -> dict[str, Table]:
    """The records of every round that a table names, in its order; "1" where it names none."""
    column = table.find("round")
    keys = ["1"] * len(table.places) if column is None else table.texts(column)
    records: dict[str, list[int]] = {}
    for record, key in enumerate(keys):
        records.setdefault(key, []).append(record)
    return {key: _part(table, some) for key, some in records.items()}


def _part(table: Table, records: list[int]) -> Table:
    columns = {name: [cells[k] for k in records] for name, cells in table.columns.items()}
    return Table(table.file, columns, [table.places[k] for k in records], table.unit)


def rewards_of(table: Table, problem: Problem) -> RoundRewards:
    """The rewards of one round that a table holds."""
    return _rewards(table, problem)


def _from_json_file(file: Path) -> Table:
    with opened(file) as stream:
        return _from_json(file, stream.read())


def _from_json(file: Path, text: str) -> Table:
    try:
        tree = json.loads(text)
    except json.JSONDecodeError as error:
        raise InvalidFile(
            f"{file}, line {error.lineno}: not JSON ({error.msg}); {_JSON}"
        ) from error
    except (ValueError, RecursionError) as error:  # a number or a nesting without end
        raise InvalidFile(f"{file}: not JSON that can be read ({error}); {_JSON}") from error
    return _from_tree(file, tree)


def _from_tree(file: Path, tree: Any) -> Table:
    alone = isinstance(tree, dict) and "reward" in tree  # the total of a round
    rows = [tree] if alone else tree.get("measurements") if isinstance(tree, dict) else tree
    if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
        raise InvalidFile(f"{file}: there is no list of measurements in it; {_JSON}")
    names = list(rows[0])
    for place, row in enumerate(rows, start=1):
        if set(row) != set(names):
            raise InvalidFile(
                f"{file}, measurement {place} has the names {', '.join(row)}, the first "
                f"{', '.join(names)}; give all the same"
            )
    columns = {name: ["" if row[name] is None else row[name] for row in rows] for name in names}
    if isinstance(tree, dict) and "round" in tree and "round" not in columns:
        columns["round"] = [tree["round"]] * len(rows)
    if any(isinstance(key, float) for key in columns.get("round", ())):
        raise InvalidFile(
            f"{file}: round is a number with a point, and 7.10 would be 7.1, the first attempt "
            'instead of the tenth; write it as text: "round": "7.10"'
        )
    return Table(file, columns, range(1, len(rows) + 1), unit="measurement")


def _rewards(table: Table, problem: Problem) -> RoundRewards:
    names = _names(table, problem)
    column = table.find("reward", "value")
    if column is None:
        raise InvalidFile(
            f"{table.file}, {table.unit} 1: the columns are {', '.join(table.columns)}; one must "
            "be called reward (or value), the measured number: rename it"
        )
    positions, labels = _by_text(problem), channel_names(problem)
    found: dict[int, tuple[float, int]] = {}
    for record, name in enumerate(names):
        if name not in positions:
            raise InvalidFile(f"{table.at(record)}: {_unknown(problem, name)}")
        position, value = positions[name], _reward(table, column, record)
        before, place = found.get(position, (value, record))
        if before != value and not (math.isnan(before) and math.isnan(value)):
            raise InvalidFile(
                f"{table.at(record)}: {_shown(problem, position)} is {value:g} here and "
                f"{before:g} on {table.unit} {table.places[place]}; give every "
                f"{problem.measured} one value"
            )
        found[position] = value, place
    rewards = {labels[position]: value for position, (value, _) in found.items()}
    return RoundRewards(_round(table), rewards)


def _names(table: Table, problem: Problem) -> list[tuple[str, ...]]:
    """What each record is about, as the file has it."""
    if problem.measured == "total":
        return [()] * len(table.places)
    if problem.measured != "node":
        first, second = ends_of(table)
        return list(zip(table.texts(first), table.texts(second), strict=True))
    column = table.find("node")
    if column is None:
        raise InvalidFile(
            f"{table.file}, {table.unit} 1: the columns are {', '.join(table.columns)}; one "
            "number is measured per node, so one must be called node: name the nodes"
        )
    return [(name,) for name in table.texts(column)]


def _by_text(problem: Problem) -> dict[tuple[str, ...], int]:
    """Where each name belongs, by its text: files hold nothing but text."""
    labels = problem.graph.labels
    if len({str(label) for label in labels}) < len(labels):
        raise InvalidFile(
            "two nodes have the same name as text (such as 1 and '1'), so a file cannot tell them "
            "apart; tell the measurements from Python"
        )
    index = channel_index(problem)
    if problem.measured == "total":
        return {(): 0}
    if problem.measured == "node":
        return {(str(name),): position for name, position in index.items()}
    pairs = ((name, position) for name, position in index.items() if isinstance(name, tuple))
    return {(str(u), str(v)): position for (u, v), position in pairs}


def _shown(problem: Problem, position: int) -> str:
    return channel_text(problem, position).removeprefix("arc ")


def _reward(table: Table, column: str, record: int) -> float:
    cell: Any = table.columns[column][record]
    if isinstance(cell, str) and cell.strip() == "":
        return math.nan
    value = None if isinstance(cell, bool) else number(cell)
    if value is None or math.isinf(value):
        raise InvalidFile(
            f"{table.at(record)}, column {column!r}: {cell!r} is not a finite number; write one "
            "with a decimal point, such as 0.5, or leave it empty if there is no measurement"
        )
    return value


def _round(table: Table) -> str | None:
    column = table.find("round")
    if column is None:
        return None
    keys = table.texts(column)
    other = next((record for record, key in enumerate(keys) if key != keys[0]), None)
    if other is not None:
        raise InvalidFile(
            f"{table.at(other)}, column {column!r}: {keys[other]}, but {keys[0]} on {table.unit} "
            f"{table.places[0]}; a file holds one round: split it"
        )
    return keys[0]


def _unknown(problem: Problem, names: tuple[str, ...]) -> str:
    nodes = [str(label) for label in problem.graph.labels]
    stranger = next((name for name in names if name not in nodes), None)
    if stranger is not None:
        some = f"{', '.join(nodes[:8])}{', ...' * (len(nodes) > 8)}"
        return f"no node is called {stranger!r}; the nodes are {some}"
    if problem.measured == "link":
        return f"no link joins {names[0]} and {names[1]}; name the two nodes of an edge"
    return (
        f"no arc goes from {names[0]} to {names[1]}; name the two nodes of an edge, in the "
        "direction that was measured"
    )
