"""A TOML file whose faults can be told by line."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from edgewise.base.choice import instead
from edgewise.errors import InvalidArgument, InvalidFile, InvalidGraph, InvalidProblem
from edgewise.formats.files import FilePath, is_file, opened

EXAMPLE = Path(__file__).with_name("example.toml")
"""A commented file to start from."""

_KEY = r"""(?:"[^"]*"|'[^']*'|[A-Za-z0-9_-]+)"""


@dataclass(frozen=True, eq=False)
class Document:
    """What a TOML file says, and where."""

    file: Path
    text: str
    tree: Mapping[str, Any]
    files: Mapping[str, Path] | None = None
    """The files it may name, as where they are; None for any path seen from its folder."""

    @classmethod
    def read(cls, path: FilePath) -> Document:
        """The document in a file."""
        file = Path(path)
        if not is_file(file):
            fact = "this is a folder" if file.is_dir() else "there is no such file"
            raise InvalidFile(
                f"{file}: {fact}; pass a TOML file (edgewise study create --example prints one)"
            )
        with opened(file) as stream:
            return cls.of(file, stream.read())

    @classmethod
    def of(cls, file: Path, text: str, *, files: Mapping[str, Path] | None = None) -> Document:
        """The document in a text; ``file`` is what messages call it."""
        try:
            return cls(file, text, tomllib.loads(text), files)
        except (ValueError, RecursionError) as error:  # a number or a nesting without end, too
            raise InvalidFile(
                f"{file}: not TOML: {error}; text stands in quotation marks, lists in brackets: "
                "edgewise study create --example prints a file that works"
            ) from error

    def wrong(self, message: str, *keys: str) -> InvalidFile:
        """The error about a key (of a table), such as ``farm.toml, line 7: ...``."""
        line = self.line_of(*keys) if keys else None
        place = f"{self.file}" if line is None else f"{self.file}, line {line}"
        return InvalidFile(f"{place}: {message}")

    @contextmanager
    def blaming(self, *keys: str, within: str = "") -> Iterator[None]:
        """Tell by line what the library finds wrong.

        The error may name the argument it is about: a key of the file or of the table ``within``;
        else the value of ``keys`` is to blame.
        """
        try:
            yield
        except (InvalidArgument, InvalidGraph, InvalidProblem) as error:
            name = str(error.argument)
            found = (place for place in ((name,), (within, name)) if self._has(*place))
            raise self.wrong(str(error), *next(found, keys)) from error

    def path(self, value: str, *keys: str) -> Path:
        """The file that a key names; the error about one that is not there says which line does."""
        if self.files is not None:
            return self._sent(value, *keys)
        file = self.file.parent / value
        if not is_file(file):
            raise self.wrong(
                f"{keys[-1]} is {value!r}, and there is no file {file}; paths are seen from the "
                "folder of this file: correct it",
                *keys,
            )
        return file

    def _sent(self, value: str, *keys: str) -> Path:
        if self.files is None or value not in self.files:
            sent = ", ".join(map(repr, self.files or ())) or "none"
            raise self.wrong(
                f"{keys[-1]} is {value!r}, which was not sent along (files sent: {sent}); send it "
                "under that name, or write the table itself",
                *keys,
            )
        return self.files[value]

    def _has(self, *keys: str) -> bool:
        tree: Any = self.tree
        for key in keys:
            if not isinstance(tree, Mapping) or key not in tree:
                return False
            tree = tree[key]
        return True

    def line_of(self, *keys: str) -> int | None:
        """The line that gives a key of the file, or of a table in it; None if it is not found."""
        inside: tuple[str, ...] = ()
        for number, line in enumerate(self.text.splitlines(), start=1):
            header = re.match(r"\s*\[\s*([^\[\]]+?)\s*\]\s*(#|$)", line)
            inside = _parts(header[1]) if header else inside
            here = inside if header else _given(line, inside)
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
                where = f" in [{'.'.join(table)}]" if table else ""
                raise self.wrong(
                    f"there is no key {key!r}{where}; {instead(key, names)}", *table, key
                )


def is_number(value: Any) -> bool:
    """Whether a value is a number: in TOML, true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def shown(value: Any) -> str:
    """A value as a message shows it: not all of a long one."""
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _given(line: str, inside: tuple[str, ...]) -> tuple[str, ...]:
    """The tables and the key that a line gives."""
    key = re.match(rf"\s*({_KEY}(?:\s*\.\s*{_KEY})*)\s*=", line)
    return () if key is None else (*inside, *_parts(key[1]))


def _parts(name: str) -> tuple[str, ...]:
    """``a."b.c"`` names ``b.c`` in ``a``."""
    return tuple(part.strip("\"'") for part in re.findall(_KEY, name))
