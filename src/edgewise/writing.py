"""How files are written: beside their place, flushed, then renamed.

So a reader sees the old file or the new one, never a part; a full disk or a killed process leaves
the old one whole; and two writers of one path do not mix.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from pathlib import Path
from typing import BinaryIO, TextIO

from edgewise.errors import EdgewiseError, InvalidFile


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text as UTF-8, line ends as they are; what UTF-8 cannot say is replaced by "?"."""
    write_bytes(path, text.encode("utf-8", errors="replace"))


def write_bytes(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file."""
    with replacing(path) as stream:
        stream.write(content)


@contextmanager
def replacing_text(path: str | os.PathLike[str]) -> Iterator[TextIO]:
    """A text file to be written line by line, UTF-8; it appears when the block has ended."""
    with replacing(path) as stream:
        text = TextIOWrapper(stream, encoding="utf-8", errors="replace", newline="")
        yield text
        text.flush()
        text.detach()


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to be written; it appears under its name when the block has ended, or not at all."""
    file = Path(path)
    try:
        if file.exists() and not file.is_file() and not file.is_dir():
            with file.open("wb") as stream:  # a device or a pipe: nothing to rename
                yield stream
            return
        with _draft(file) as stream:
            yield stream
    except EdgewiseError:
        raise
    except OSError as error:
        raise InvalidFile(
            f"{file}: it cannot be written ({error.strerror}); nothing was changed: check the "
            "folder and the disk"
        ) from error


@contextmanager
def _draft(file: Path) -> Iterator[BinaryIO]:
    """A file beside another that takes its place; its name is nobody else's."""
    handle, name = tempfile.mkstemp(dir=file.absolute().parent, prefix=".edgewise-")
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        draft = Path(name)
        draft.chmod(_permissions(file))
        draft.replace(file)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise


def _permissions(file: Path) -> int:
    """Those of the file that is replaced, or else what the process gives to new files."""
    try:
        return stat.S_IMODE(file.stat().st_mode)
    except OSError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask
