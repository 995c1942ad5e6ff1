"""Strategies in a TOML file: a name, or a table with the name and the settings.

The settings are the fields of the strategy's class: a setting added there can be written here.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import MISSING, Field, dataclass, fields
from typing import Any

from edgewise.base.choice import pick
from edgewise.core.model.problem import Problem
from edgewise.core.strategies import BUILT_IN, Strategy
from edgewise.study.files.baseline import read_baseline
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

    def _joint_arm(self, name: str, value: Any) -> list[int]:  # noqa: ARG002
        return read_baseline(self.document, self.problem.graph, self._labels(), *self.path, name)

    def _labels(self) -> Sequence[Hashable]:
        labels = self.problem.arm_labels
        return range(self.problem.n_arms) if labels is None else labels

    def _wrong(self, name: str, message: str) -> Exception:
        return self.document.wrong(message, *self.path, name)


_READERS: dict[str, Callable[[_StrategyReader, str, Any], Any]] = {
    "str": _StrategyReader._text,
    "float": _StrategyReader._number,
    "float | None": _StrategyReader._number,
    "int": _StrategyReader._whole,
    "int | None": _StrategyReader._whole,
    "Strategy": _StrategyReader._inner,
    "Sequence[int] | None": _StrategyReader._joint_arm,
}
"""How a setting is read, by the type its field declares."""


def _is_required(field: Field[Any]) -> bool:
    return field.default is MISSING and field.default_factory is MISSING
