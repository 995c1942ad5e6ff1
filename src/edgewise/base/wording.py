"""How a value that was passed is quoted in a message: in one line, and never at length."""

from __future__ import annotations

_LONGEST = 80


def shown(value: object) -> str:
    """``repr`` in one line, cut off where it is long; of values that have none, their class.

    >>> shown("x" * 100)
    "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx..."
    >>> shown(10**5000)
    'a value of the class int'
    """
    try:
        line = " ".join(repr(value).split())
    except Exception:  # a repr may do anything: an integer of 5,000 digits raises ValueError
        return f"a value of the class {type(value).__name__}"
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 3]}..."
