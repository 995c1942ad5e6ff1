"""A TOML file whose faults can be told by line."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from edgewise.errors import InvalidFile
from edgewise.formats.files import FilePath, opened


@dataclass(frozen=True, eq=False)
class Document:
    """What a TOML file says, and where."""

    file: Path
    text: str
    tree: Mapping[str, Any]

    @classmethod
    def read(cls, path: FilePath) -> Document:
        """The document in a file."""
        file = Path(path)
        if not file.is_file():
            fact = "this is a folder" if file.is_dir() else "there is no such file"
            raise InvalidFile(
                f"{file}: {fact}; pass a TOML file (edgewise study create --example prints one)"
            )
        with opened(file) as stream:
            text = stream.read()
        try:
            return cls(file, text, tomllib.loads(text))
        except tomllib.TOMLDecodeError as error:
            raise InvalidFile(
                f"{file}: not TOML: {error}; text stands in quotation marks, lists in brackets: "
                "edgewise study create --example prints a file that works"
            ) from error

    def wrong(self, message: str, *keys: str) -> InvalidFile:
        """The error about a key (of a table), such as ``farm.toml, line 7: ...``."""
        line = self.line_of(*keys) if keys else None
        place = f"{self.file}" if line is None else f"{self.file}, line {line}"
        return InvalidFile(f"{place}: {message}")

    def line_of(self, *keys: str) -> int | None:
        """The line that gives a key of the file, or of a table in it; None if it is not found."""
        inside: str = ""
        for number, line in enumerate(self.text.splitlines(), start=1):
            header = re.match(r"\s*\[\s*([^\[\]]+?)\s*\]\s*(#|$)", line)
            inside = _bare(header[1]) if header else inside
            here = (inside,) if header else _given(line, inside)
            if here == keys:
                return number
        return self.line_of(*keys[:-1]) if len(keys) > 1 else None

    def refuse_unknown_keys(self, known: Iterable[str], *table: str) -> None:
        """Raise at a key that means nothing here."""
        names = list(known)
        tree = self.tree
        for name in table:
            tree = tree[name]
        for key in tree:
            if key not in names:
                close = difflib.get_close_matches(key, names, n=1)
                guess = f"did you mean {close[0]!r}? " if close else ""
                where = f" in [{'.'.join(table)}]" if table else ""
                raise self.wrong(
                    f"there is no key {key!r}{where}; {guess}The keys are {', '.join(names)}",
                    *table,
                    key,
                )


def _given(line: str, inside: str) -> tuple[str, ...]:
    """The table and key that a line gives."""
    key = re.match(r"""\s*("[^"]*"|'[^']*'|[A-Za-z0-9_-]+)\s*=""", line)
    if key is None:
        return ()
    return (inside, _bare(key[1])) if inside else (_bare(key[1]),)


def _bare(key: str) -> str:
    return key.strip("\"'")
