"""Strategies in a TOML file: a name, or a table with the name and the settings.

The settings are the fields of the strategy's class: a setting added there can be written here.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import MISSING, Field, dataclass, fields
from pathlib import Path
from typing import Any

from edgewise.base.choice import instead, pick
from edgewise.core.model.problem import Problem
from edgewise.core.strategies import BUILT_IN, Strategy
from edgewise.formats import read_joint_arm
from edgewise.study.files.document import Document, is_number, shown

_KEY = "strategy"


def read_strategy(document: Document, problem: Problem) -> Strategy:
    """The strategy that the key, or the table, ``strategy`` of a file describes."""
    return _StrategyReader(document, problem, (_KEY,)).read(document.tree[_KEY])


@dataclass(frozen=True, eq=False)
class _StrategyReader:
    document: Document
    problem: Problem
    path: tuple[str, ...]
    """Where the strategy stands in the file."""

    def read(self, tree: Any) -> Strategy:
        settings = tree if isinstance(tree, dict) else {"name": tree}
        if "name" not in settings:
            raise self.document.wrong(
                f"[{'.'.join(self.path)}] has no name; add that of a strategy: name = 'safe'",
                *self.path,
            )
        with self.document.blaming(*self.path, "name"):
            kind = pick(_KEY, settings.get("name"), BUILT_IN)
        known = {field.name: field for field in fields(kind)}  # type: ignore[arg-type]
        if isinstance(tree, dict):
            self.document.refuse_unknown_keys(known, *self.path)
        for name, field in known.items():
            if name not in settings and _is_required(field):
                raise self.document.wrong(
                    f"strategy {settings['name']!r} needs {name}; write a table "
                    f"[{'.'.join(self.path)}] with the name and {name} = ...",
                    *self.path,
                )
        values = {name: self._value(known[name], value) for name, value in settings.items()}
        with self.document.blaming(*self.path):
            return kind(**values)

    def _value(self, field: Field[Any], value: Any) -> Any:
        return _READERS[str(field.type)](self, field.name, value)

    def _text(self, name: str, value: Any) -> Any:  # noqa: ARG002
        return value

    def _number(self, name: str, value: Any) -> float:
        if not is_number(value):
            raise self._wrong(name, f"{name} is {shown(value)}; it must be a number: {name} = 2.0")
        return float(value)

    def _whole(self, name: str, value: Any) -> int:
        if not isinstance(value, int) or isinstance(value, bool):
            raise self._wrong(name, f"{name} is {shown(value)}; it must be a whole number")
        return value

    def _inner(self, name: str, value: Any) -> Strategy:
        return _StrategyReader(self.document, self.problem, (*self.path, name)).read(value)

    def _joint_arm(self, name: str, value: Any) -> list[int]:
        """An arm for all nodes, a list in the order of the nodes, a table by node, or a file."""
        nodes = [str(label) for label in self.problem.graph.labels]
        if isinstance(value, str) and value.lower().endswith(".csv"):
            return self._from_file(name, value)
        if isinstance(value, dict):
            self.document.refuse_unknown_keys(nodes, *self.path, name)
            lacking = [node for node in nodes if node not in value]
            if lacking:
                raise self._wrong(name, f"{name} has no arm for node {lacking[0]!r}; add it")
            value = [value[node] for node in nodes]
        if not isinstance(value, list):
            value = [value] * len(nodes)
        if len(value) != len(nodes):
            raise self._wrong(
                name,
                f"{name} has {len(value)} arms; there are {len(nodes)} nodes: give each its arm, "
                "in their order, or all of them one",
            )
        return [self._arm(name, arm) for arm in value]

    def _arm(self, name: str, value: Any) -> int:
        """An arm by its label, or by its number."""
        names = [str(label) for label in self._labels()]
        if str(value) in names and not isinstance(value, bool):
            return names.index(str(value))
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(names):
            return value
        remedy = instead(value, names, "their numbers from 0, or a .csv file")
        raise self._wrong(name, f"{name}: no arm is called {value!r}; {remedy}")

    def _from_file(self, name: str, value: str) -> list[int]:
        file: Path = self.document.path(value, *self.path, name)
        labels = self.problem.graph.labels
        arms: list[int] = read_joint_arm(file, nodes=labels, arms=self._labels()).tolist()
        return arms

    def _labels(self) -> Sequence[Hashable]:
        labels = self.problem.arm_labels
        return range(self.problem.n_arms) if labels is None else labels

    def _wrong(self, name: str, message: str) -> Exception:
        return self.document.wrong(message, *self.path, name)


_READERS: dict[str, Callable[[_StrategyReader, str, Any], Any]] = {
    "str": _StrategyReader._text,
    "float": _StrategyReader._number,
    "int": _StrategyReader._whole,
    "Strategy": _StrategyReader._inner,
    "Sequence[int]": _StrategyReader._joint_arm,
}
"""How a setting is read, by the type its field declares."""


def _is_required(field: Field[Any]) -> bool:
    return field.default is MISSING and field.default_factory is MISSING
