"""One border for arguments: what users pass is checked here, before anything else is done.

Every check takes the argument's name and value and returns the value as the code behind it wants
it, or raises an :class:`~edgewise.errors.EdgewiseError` that names the argument. Names of methods
are chosen by :mod:`edgewise.base.choice`, generators made by :mod:`edgewise.base.randomness`,
arrays read by :mod:`edgewise.base.arrays`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from numbers import Integral, Real
from typing import Any, TypeVar

import numpy as np

from edgewise.base.choice import instead
from edgewise.base.wording import shown
from edgewise.errors import EdgewiseError, InvalidArgument

_T = TypeVar("_T")
_Error = type[EdgewiseError]


def whole(
    name: str,
    value: object,
    *,
    least: int | None = None,
    most: int | None = None,
    error: _Error = InvalidArgument,
) -> int:
    """A whole number between ``least`` and ``most``; 1e6 and numpy's integers are some.

    >>> whole("rounds", 1e3, least=1), whole("rounds", np.int8(3))
    (1000, 3)
    >>> whole("rounds", 2.5, least=1)
    Traceback (most recent call last):
    edgewise.errors.InvalidArgument: rounds is 2.5; it must be a whole number of at least 1
    """
    found = _scalar(value)
    if not _is_whole(found) or not _is_between(found, least, most):
        rule = f"it must be a whole number{_range(least, most)}"
        raise error(f"{name} is {shown(value)}; {rule}", argument=name)
    return int(found)


def number(
    name: str,
    value: object,
    *,
    least: float | None = None,
    most: float | None = None,
    above: float | None = None,
    unit: str = "",
    error: _Error = InvalidArgument,
) -> float:
    """A finite number; ``above`` is a bound that it may not reach, ``unit`` says what it is.

    >>> number("speed", 1, least=0.0)
    1.0
    >>> number("speed", True)
    Traceback (most recent call last):
    edgewise.errors.InvalidArgument: speed is True; it must be a finite number
    """
    found = _scalar(value)
    too_low = above is not None and _is_real(found) and found <= above
    if not _is_finite(found) or too_low or not _is_between(found, least, most):
        limits = f" above {above:g}" if above is not None else ""
        rule = f"it is {unit} and must be" if unit else "it must be"
        rule += f" a finite number{limits}{_range(least, most)}"
        raise error(f"{name} is {shown(value)}; {rule}", argument=name)
    return float(found)


def probability(name: str, value: object, meaning: str, *, example: float = 0.05) -> float:
    """A number strictly between 0 and 1; ``meaning`` says of what it is the probability."""
    found = _scalar(value)
    if not _is_finite(found) or not 0.0 < float(found) < 1.0:
        raise InvalidArgument(
            f"{name} is {shown(value)}; it is {meaning} and must lie strictly between 0 and 1, "
            f"e.g. {example:g}",
            argument=name,
        )
    return float(found)


def flag(name: str, value: object, *, error: _Error = InvalidArgument) -> bool:
    """True or False, and nothing that merely counts as such."""
    if not isinstance(value, bool | np.bool_):
        raise error(f"{name} is {shown(value)}; it must be True or False", argument=name)
    return bool(value)


def text(name: str, value: object, *, error: _Error = InvalidArgument) -> str:
    """A string."""
    if not isinstance(value, str):
        raise error(f"{name} is {shown(value)}; it must be a text", argument=name)
    return value


def function(name: str, value: object, role: str) -> Callable[..., Any]:
    """Something that can be called; ``role`` says how it will be."""
    if not callable(value):
        raise InvalidArgument(
            f"{name} is {shown(value)}; it must be a function: {role}", argument=name
        )
    return value


def table(name: str, value: object, *, error: _Error = InvalidArgument) -> Mapping[str, Any]:
    """A mapping with names as keys."""
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise error(f"{name} is {shown(value)}; it must be a table of named values", argument=name)
    return value


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Name the stored value that cannot be read: nothing is known of what comes from outside."""
    try:
        yield
    except EdgewiseError:
        raise
    except Exception as error:
        raise InvalidArgument(
            f"the stored {name} cannot be read ({type(error).__name__}: {error}); it was damaged, "
            "or written by another version of edgewise",
            argument=name,
        ) from error


def one_of(
    name: str, value: object, names: Collection[str], *, error: _Error = InvalidArgument
) -> str:
    """One of some names; the nearest is suggested."""
    if not isinstance(value, str) or value not in names:
        raise error(f"{name} is {shown(value)}; {instead(value, names)}", argument=name)
    return value


def instance(
    name: str, value: object, kind: type[_T], remedy: str, *, error: _Error = InvalidArgument
) -> _T:
    """A value of that class: a graph, a problem; ``remedy`` says how to get one."""
    if not isinstance(value, kind):
        article = "an" if type(value).__name__[0] in "aeiouAEIOU" else "a"
        raise error(f"{name} is {article} {type(value).__name__}; {remedy}", argument=name)
    return value


def _scalar(value: object) -> Any:
    """What an array without axes holds; all else as it is."""
    return value.item() if isinstance(value, np.ndarray) and value.ndim == 0 else value


def _is_real(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def _is_whole(value: Any) -> bool:
    if not _is_real(value):
        return False
    return isinstance(value, Integral) or (_is_finite(value) and value == math.floor(value))


def _is_finite(value: Any) -> bool:
    """Whether it is a number that a float can hold."""
    try:
        return _is_real(value) and math.isfinite(float(value))
    except OverflowError:  # an integer beyond 1e308
        return False


def _is_between(value: Any, least: float | None, most: float | None) -> bool:
    return (least is None or value >= least) and (most is None or value <= most)


def _range(least: float | None, most: float | None) -> str:
    def said(bound: float) -> str:
        return str(bound) if isinstance(bound, int) else f"{bound:g}"

    if least is not None and most is not None:
        return f" between {said(least)} and {said(most)}"
    if least is not None:
        return f" of at least {said(least)}"
    return f" of at most {said(most)}" if most is not None else ""
