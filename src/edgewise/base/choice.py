"""Choosing by name: one helper, one wording, with the nearest valid name suggested."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from difflib import get_close_matches
from typing import TypeVar

from edgewise.errors import InvalidArgument

_T = TypeVar("_T")


def pick(
    what: str,
    choice: object,
    options: Mapping[str, _T],
    *,
    own: str = "",
    argument: str | None = None,
) -> _T:
    """What ``options`` has under the name ``choice``, or InvalidArgument.

    ``what`` says in words what is chosen, ``own`` what may be passed instead of a name,
    ``argument`` what the user's setting is called.

    >>> pick("stopping rule", "unoin", {"union": 1, "mixture": 2})
    Traceback (most recent call last):
    edgewise.errors.InvalidArgument: no stopping rule is called 'unoin'; did you mean 'union'? ...
    """
    if isinstance(choice, str) and choice in options:
        return options[choice]
    raise InvalidArgument(
        f"no {what} is called {choice!r}; {instead(choice, options, own)}", argument=argument
    )


def instead(choice: object, names: Collection[str], own: str = "") -> str:
    """What to write instead of a name that is none: the nearest, and all there are."""
    near = get_close_matches(choice, names, n=1) if isinstance(choice, str) else []
    guess = f"did you mean {near[0]!r}? " if near else ""
    listed = ", ".join(map(repr, sorted(names)))
    return f"{guess}choose one of {listed}{f', or pass {own}' if own else ''}"
