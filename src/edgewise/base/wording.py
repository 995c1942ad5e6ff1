"""How values are quoted and labels shown: in one line, never at length, and doing no harm."""

from __future__ import annotations

from collections.abc import Iterable
from unicodedata import category

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


def counted(number: int, what: str) -> str:
    """So many things, in words.

    >>> counted(1, "round"), counted(3, "measurement")
    ('1 round', '3 measurements')
    """
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


_STEERING = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Categories of characters that steer a terminal, turn text around, or cannot be shown."""


def harmless(text: object, *, keep: str = "") -> str:
    r"""A text as it can be shown anywhere: what would steer or hide is spelled out instead.

    Labels are stored as the user wrote them and made harmless where they are shown.

    >>> harmless("tower\x1b[2J"), harmless("a\u202eb"), harmless("\ud800"), harmless("Ärger 7")
    ('tower\\x1b[2J', 'a\\u202eb', '\\ud800', 'Ärger 7')
    """
    said = str(text)
    if said.isprintable():
        return said
    return "".join(
        one if one in keep or category(one) not in _STEERING else _spelled(one) for one in said
    )


def listed(headline: str, rows: Iterable[tuple[str, str]]) -> str:
    r"""A headline and facts by name, as text: a line each, whatever labels are among them.

    >>> print(listed("Certified", [("best pair", "(low\n, high)")]))
    Certified
      best pair      (low\n, high)
    """
    lines = [f"  {name:<14} {text}" for name, text in rows]
    return "\n".join(map(harmless, [headline, *lines]))


def _spelled(character: str) -> str:
    return character.encode("unicode_escape", errors="backslashreplace").decode("ascii")
