"""How a setting is stored: as plain values, from which the same setting can be made again.

Methods are stored with all their settings, not by name: a later edgewise may have others. Of a
method that is not part of edgewise only its ``repr`` is kept, to recognise it when it is passed
again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields, is_dataclass, replace
from typing import Any

from edgewise.base.wording import shown
from edgewise.core.gate.options import Gate
from edgewise.core.model.problem import Problem
from edgewise.core.setting import Setting
from edgewise.core.stopping import RULES, StoppingRule
from edgewise.core.strategies import BUILT_IN, Strategy
from edgewise.core.targets import TARGETS, Target
from edgewise.errors import InvalidArgument

_KINDS = (*BUILT_IN.values(), *map(type, RULES.values()), *map(type, TARGETS.values()))
_METHODS: dict[str, type] = {kind.__name__: kind for kind in _KINDS}

_FORMER_RULES = {"anytime": "rivalwise"}
"""What names of rules stood for when methods were stored by name, with their usual settings."""

_FORMER_SETTINGS: dict[str, dict[str, Any]] = {
    "Anytime": {"alike": 1.0},
    "Adaptive": {"doubt": 0.0},
}
"""What methods did before they had a setting for it."""


def to_tree(setting: Setting) -> dict[str, Any]:
    """The options of a setting; the problem and what the plan remembers are stored beside it."""
    return {
        "delta": setting.delta,
        "epsilon": setting.epsilon,
        "target": _method_tree(setting.target),
        "strategy": _method_tree(setting.strategy),
        "stopping": _method_tree(setting.rule),
        "gate": None if setting.gate is None else asdict(setting.gate),
        "robust": setting.robust,
    }


def from_tree(
    problem: Problem,
    tree: Mapping[str, Any],
    memory: Mapping[str, Any],
    *,
    strategy: Strategy | None = None,
    stopping: StoppingRule | None = None,
    target: Target | None = None,
) -> Setting:
    """The inverse of :func:`to_tree`; methods of the user's own must be passed again.

    ``memory`` is what the plan's own ``to_tree`` gave.
    """
    gate = tree.get("gate", {})  # there was none before
    setting = Setting.of(
        problem,
        delta=tree["delta"],
        epsilon=tree["epsilon"],
        strategy=_method("strategy", tree["strategy"], strategy),
        stopping=_method("stopping", tree["stopping"], stopping),
        target=_method("target", tree["target"], target),
        gate=None if gate is None else Gate(**gate),
        trust_model=gate is None,
        robust=tree.get("robust", False),
    )
    return replace(setting, plan=setting.plan.from_tree(memory))


def _method_tree(method: Any) -> dict[str, Any]:
    """A built-in method with its settings; of any other, how to recognise it."""
    if not _is_built_in(method):
        return {"own": repr(method)}
    settings = {field.name: getattr(method, field.name) for field in fields(method) if field.init}
    return {
        "method": type(method).__name__,
        "settings": {
            name: _method_tree(value) if is_dataclass(value) else value
            for name, value in settings.items()
        },
    }


def _is_built_in(method: Any) -> bool:
    """Whether edgewise brings the method, and every method inside it."""
    if type(method) not in _METHODS.values() or not is_dataclass(method):
        return False
    values = (getattr(method, field.name) for field in fields(method))
    return all(_is_built_in(value) for value in values if callable(value))


def _method(argument: str, tree: Mapping[str, Any] | str, given: Any) -> Any:
    if isinstance(tree, str):  # what was stored before targets had settings: a name
        return tree
    if "own" in tree:
        _check_same(argument, tree["own"], given)
        return given
    settings = {name: _value(argument, value) for name, value in tree["settings"].items()}
    name = _class_name(tree)
    _check_settings(argument, _METHODS[name], settings)
    method = _METHODS[name](**_FORMER_SETTINGS.get(name, {}) | settings)
    if given is not None:
        _check_same(argument, repr(method), given)
    return method


def _check_settings(argument: str, kind: type, settings: Mapping[str, Any]) -> None:
    """Raise unless every setting is of the sort that is usual: who stored it is not known."""
    for field in fields(kind):
        if field.name not in settings or (settings[field.name] is None and "None" in field.type):
            continue
        if not _is_like(settings[field.name], field.default):
            raise InvalidArgument(
                f"the stored {argument} has {field.name} = {shown(settings[field.name])}, and "
                f"{kind.__name__} needs something like {field.default!r}; it was damaged, or "
                "written by another version of edgewise",
                argument=argument,
            )


def _is_like(value: Any, usual: Any) -> bool:
    """Whether a value is of the same sort as another; of None and what is required, all are."""
    if isinstance(usual, bool | str):
        return type(value) is type(usual)
    if isinstance(usual, int):
        return isinstance(value, int) and not isinstance(value, bool)
    if isinstance(usual, float):
        return isinstance(value, int | float) and not isinstance(value, bool)
    if isinstance(usual, tuple):
        return isinstance(value, tuple) and all(_is_like(one, usual[0]) for one in value if usual)
    return True


def _class_name(tree: Mapping[str, Any]) -> str:
    """What the class of a stored method is called today."""
    name: str = tree["method"]
    return "Rivalwise" if name == "Anytime" and "mixture" in tree["settings"] else name


def _value(argument: str, stored: Any) -> Any:
    """A setting of a method: a number, a string, a tuple (a list in JSON), or another method."""
    if isinstance(stored, Mapping):
        return _method(argument, stored, None)
    return tuple(stored) if isinstance(stored, list) else stored


def _check_same(argument: str, stored: str, given: Any) -> None:
    if given is None or repr(given) != stored:
        raise InvalidArgument(
            f"it was made with {argument}={stored}, not with {given!r}; pass {argument}= as it was "
            "(or leave it out, if it is part of edgewise)"
        )


def from_names(saved: Mapping[str, Any], version: int) -> dict[str, Any]:
    """What a learner saved when methods were stored by name, as it is saved today."""
    return {
        "version": version,
        "problem": saved["problem"],
        "setting": {**saved, "stopping": _FORMER_RULES.get(saved["stopping"], saved["stopping"])},
        "plan": saved,
        "state": saved,
    }
