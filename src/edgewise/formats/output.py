"""An answer for programs and people: single facts and one table, written as JSON or CSV."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from edgewise.formats.table import csv_cell


@dataclass(frozen=True, eq=False)
class Output:
    """What a command found: single facts, and one table of rows."""

    facts: Mapping[str, Any]
    name: str
    """What the rows are, the key of the rows in JSON."""
    columns: tuple[str, ...]
    rows: Sequence[tuple[Any, ...]]
    shown: int = 40
    """Rows printed in the format for people; the other formats have all."""
    text: str | None = None
    """Words that replace the facts in the format for people."""


def as_json(answer: Output) -> str:
    """Facts and rows as one JSON object."""
    rows = [dict(zip(answer.columns, map(plain, row), strict=True)) for row in answer.rows]
    facts = {name: plain(value) for name, value in answer.facts.items()}
    return json.dumps({**facts, answer.name: rows}, indent=2, allow_nan=False) + "\n"


def as_csv(answer: Output) -> str:
    """The rows alone, with a header."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(csv_cell, answer.columns))
    writer.writerows((csv_cell(plain(value)) for value in row) for row in answer.rows)
    return text.getvalue()


def plain(value: Any) -> Any:
    """A value as JSON and CSV know it; infinity, which JSON does not know, as text."""
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if isinstance(value, str | int | float | list) or value is None else str(value)
