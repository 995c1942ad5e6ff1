"""The border of a public function: its arguments are what its signature says, or it is not entered.

``@border`` reads the annotations of a function (or of a class's ``__init__``) once and checks every
argument that is passed: counts, numbers, flags, names, arrays of numbers, graphs, problems. What
only the function can know (ranges, shapes, what fits together) it checks itself.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from functools import partial, wraps
from os import PathLike
from typing import Any, TypeAlias, TypeVar, cast, overload

import numpy as np

from edgewise.base import checks
from edgewise.base.wording import shown
from edgewise.errors import EdgewiseError, InvalidArgument

_F = TypeVar("_F", bound=Callable[..., Any])
_Error = type[EdgewiseError]
Check: TypeAlias = Callable[[str, Any], Any]
"""Name and value of an argument; the value as the function gets it."""


@overload
def border(function: _F) -> _F: ...
@overload
def border(*, error: _Error) -> Callable[[_F], _F]: ...
def border(function: _F | None = None, *, error: _Error = InvalidArgument) -> Any:
    """Check the arguments of a function, a method or a class before anything else happens.

    >>> @border
    ... def double(number: float, *, times: int = 1) -> float:
    ...     return number * 2**times
    >>> double(1.5)
    3.0
    >>> double(1.5, times="many")
    Traceback (most recent call last):
    edgewise.errors.InvalidArgument: times is 'many'; it must be a whole number
    """
    if function is None:
        return partial(_bordered, error=error)
    return _bordered(function, error=error)


def _bordered(function: _F, *, error: _Error) -> _F:
    if isinstance(function, type):
        kind: Any = function
        kind.__init__ = _checked(kind.__init__, error)
        return function
    return _checked(function, error)


def _checked(function: _F, error: _Error) -> _F:
    parameters = inspect.signature(function).parameters.values()
    checks_by_name = {
        one.name: _check_named(one.name, str(one.annotation), error)
        for one in parameters
        if one.kind is not one.VAR_KEYWORD and one.kind is not one.VAR_POSITIONAL
    }
    wanted = {name: check for name, check in checks_by_name.items() if check is not None}
    placed = [
        (one.name, wanted.get(one.name, _anything))
        for one in parameters
        if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)
    ]

    # Not by Signature.bind: it takes ten times as long, and its errors do not name the function.
    @wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        first = [check(name, value) for (name, check), value in zip(placed, args, strict=False)]
        for name, value in kwargs.items():
            if name in wanted:
                kwargs[name] = wanted[name](name, value)
        return function(*first, *args[len(first) :], **kwargs)

    return cast(_F, checked)


def _anything(name: str, value: Any) -> Any:  # noqa: ARG001
    return value


def _check_named(name: str, annotation: str, error: _Error) -> Check | None:
    """What arguments of that name must be everywhere; else what their type says."""
    if name not in _MEANINGS:
        return _check_of(annotation, error)
    meaning = partial(_MEANINGS[name], error=error)
    return partial(_or_none, meaning) if "None" in _alternatives(annotation) else meaning


def _or_none(check: Check, name: str, value: Any) -> Any:
    return None if value is None else check(name, value)


# -- from annotations to checks --------------------------------------------------------------


def _check_of(annotation: str, error: _Error) -> Check | None:
    """The check that an annotation asks for; None if anything goes."""
    options = [_option(one, error) for one in _alternatives(annotation)]
    if None in options:
        return None
    known = [one for one in options if one is not None]
    return known[0] if len(known) == 1 else partial(_any_of, known)


def _alternatives(annotation: str) -> list[str]:
    """``"int | None"`` as its two parts; brackets are left alone."""
    parts, depth = [""], 0
    for one in annotation:
        depth += (one in "[(") - (one in "])")
        if one == "|" and not depth:
            parts.append("")
        else:
            parts[-1] += one
    return [part.strip() for part in parts]


def _option(name: str, error: _Error) -> Check | None:
    head, _, inside = name.partition("[")
    if name in _SIMPLE:
        return partial(_SIMPLE[name], error=error)
    if name in _REMEDIES:
        return partial(_made_by_edgewise, kind=name, error=error)
    if head == "Literal":
        names = tuple(ast.literal_eval(f"({inside[:-1]},)"))
        return partial(checks.one_of, names=names, error=error)
    if head == "Sequence" or (head == "tuple" and name.endswith("...]")):
        each = _option(inside.rstrip("]").split(",")[0].strip(), error)
        return partial(_sequence, each=each, error=error)
    return partial(_GENERIC[head], error=error) if head in _GENERIC else None


def _any_of(options: Sequence[Check], name: str, value: Any) -> Any:
    """What one of the checks makes of it; if none takes it, the first says why."""
    refused: list[EdgewiseError] = []
    for check in options:
        try:
            return check(name, value)
        except EdgewiseError as error:
            refused.append(error)
    raise refused[0]


def _none(name: str, value: Any, *, error: _Error) -> None:
    if value is not None:
        raise error(f"{name} is {shown(value)}; it must be None", argument=name)


def _real(name: str, value: Any, *, error: _Error) -> Any:
    """A number, infinity included: whether that makes sense is for the function to say."""
    found = value.item() if isinstance(value, np.generic) else value
    if isinstance(found, float) and found in (np.inf, -np.inf):
        return found
    number = checks.number(name, value, error=error)
    return found if isinstance(found, int | float) else number


def _whole(name: str, value: Any, *, error: _Error) -> int:
    found = checks.whole(name, value, error=error)  # the bound is of interest near it only
    return checks.whole(name, found, most=2**63 - 1, error=error)


def _share(name: str, value: Any, *, error: _Error) -> float:
    found = checks.number(name, value, error=error)
    if not 0.0 < found < 1.0:
        raise error(f"{name} is {shown(value)}; it must lie between 0 and 1", argument=name)
    return found


def _delta(name: str, value: Any, *, error: _Error) -> float:  # noqa: ARG001
    return checks.probability(name, value, "the probability of a wrong answer")


def _jobs(name: str, value: Any, *, error: _Error) -> int:
    found = checks.whole(name, value, error=error)
    if found == 0 or abs(found) > 2**15:
        raise error(
            f"{name} is {shown(value)}; give how many processes to use, or -1 for one per "
            "processor",
            argument=name,
        )
    return found


def _path(name: str, value: Any, *, error: _Error) -> Any:
    if not isinstance(value, str | PathLike) or "\0" in str(value):
        raise error(f"{name} is {shown(value)}; it must be the path of a file", argument=name)
    return value


def _function(name: str, value: Any, *, error: _Error) -> Any:
    if not callable(value):
        raise error(f"{name} is {shown(value)}; it must be a function", argument=name)
    return value


def _name(name: str, value: Any, *, error: _Error) -> Any:
    """What can be a label."""
    try:
        hash(value)
    except TypeError:
        raise error(
            f"{name} has the entry {shown(value)}, which cannot be a label (it is not hashable); "
            "use texts, numbers or tuples",
            argument=name,
        ) from None
    return value


def _mapping(name: str, value: Any, *, error: _Error) -> Any:
    if not isinstance(value, Mapping):
        raise error(f"{name} is {shown(value)}; it must be a table of values by key", argument=name)
    return value


def _iterable(name: str, value: Any, *, error: _Error) -> Any:
    """A list, or something that yields its entries, once."""
    if not isinstance(value, Iterable) or isinstance(value, str | bytes | Mapping):
        raise error(f"{name} is {shown(value)}; it must be a list", argument=name)
    return value


def _sequence(name: str, value: Any, *, each: Check | None, error: _Error) -> Any:
    is_list = isinstance(value, Sized) and isinstance(value, Iterable)
    if not is_list or isinstance(value, str | bytes | Mapping | set | frozenset):
        raise error(f"{name} is {shown(value)}; it must be a list", argument=name)
    if isinstance(value, np.ndarray) and value.ndim != 1:
        raise error(f"{name} has shape {value.shape}; it must be a list, (k,)", argument=name)
    if each is not None:
        for one in value:
            each(name, one)
    return value


def _array(name: str, value: Any, *, error: _Error) -> Any:
    """The same, as an array."""
    return np.asarray(_numbers(name, value, error=error))


def _numbers(name: str, value: Any, *, error: _Error) -> Any:
    """Something that can be an array of numbers; which, the function says with more knowledge."""
    strange = (str, bytes, type, Mapping, set, frozenset, Iterator)
    if value is None or hasattr(value, "toarray") or callable(value) or isinstance(value, strange):
        raise error(f"{name} is {shown(value)}; it must be an array of numbers", argument=name)
    if isinstance(value, list | tuple):
        try:
            np.asarray(value)
        except ValueError as wrong:  # rows of unequal length
            raise error(
                f"{name} cannot be read as numbers ({wrong}); give rows of the same length, as "
                "(E,), (K, d) or what its description says",
                argument=name,
            ) from wrong
    return value


def _numbers_or_names(name: str, value: Any, *, error: _Error) -> Any:
    """An array, or what it says by name."""
    return value if isinstance(value, Mapping) else _numbers(name, value, error=error)


def _made_by_edgewise(name: str, value: Any, *, kind: str, error: _Error) -> Any:
    """A value of a class of that name; classes of rings further out are known by name only."""
    if not any(one.__name__ == kind for one in type(value).__mro__):
        article = "an" if type(value).__name__[0] in "aeiouAEIOU" else "a"
        raise error(f"{name} is {article} {type(value).__name__}; {_REMEDIES[kind]}", argument=name)
    return value


_SIMPLE: dict[str, Callable[..., Any]] = {
    "None": _none,
    "int": _whole,
    "float": _real,
    "bool": checks.flag,
    "str": checks.text,
    "Path": _path,
    "FilePath": _path,
    "Hashable": _name,
    "ArrayLike": _numbers,
    "Array": _array,
    "Indices": _array,
    "Mask": _array,
    "NamedArms": _numbers,
    "NamedMask": _numbers_or_names,
    "Deploy": _function,
}
_GENERIC: dict[str, Callable[..., Any]] = {
    "Callable": _function,
    "Iterable": _iterable,
    "Mapping": _mapping,
}
_REMEDIES = {
    "Graph": "build an edgewise.Graph first, e.g. Graph.from_edges(pairs)",
    "Problem": "build an edgewise.Problem first, of a graph and its arms",
    "Report": "pass what identify(), learner.report() or study.report() returned",
    "Design": "pass what g_optimal() returned",
    "Learner": "pass an edgewise.Learner",
    "Gate": "pass an edgewise.Gate",
    "Mixture": "pass an edgewise.stopping.Mixture",
    "Settings": "pass edgewise.reproduction.Settings",
    "Replications": "pass what replicate() returned",
    "Comparison": "pass what compare() returned",
    "Truth": "pass a matrix, or edgewise.targets.Truth",
}
"""Classes, and where users get one."""
_AT_LEAST_ONE = partial(checks.whole, least=1, most=2**53)
_MEANINGS: dict[str, Callable[..., Any]] = {
    "delta": _delta,
    "jobs": _jobs,
    "level": _share,
    "lower_share": _share,
    "max_iterations": _AT_LEAST_ONE,
    "n_bins": partial(checks.whole, least=1, most=10**6),
    "repetitions": partial(checks.whole, least=1, most=10**9),
    "tolerance": partial(checks.number, above=0.0),
}
"""What arguments of these names must be, beyond their type."""
