"""What every reader does first: find the file, choose the format, open it, blame it precisely."""

from __future__ import annotations

import codecs
import math
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, TextIO, TypeVar

import numpy as np
from numpy.typing import NDArray

from edgewise.errors import InvalidArgument, InvalidFile

T = TypeVar("T")
FilePath = str | PathLike[str]


def read_by_extension(path: FilePath, readers: Mapping[str, Callable[[Path], T]], what: str) -> T:
    """Call the reader that belongs to the file's extension."""
    file = Path(path)
    known = ", ".join(readers)
    if not is_file(file):
        fact = "this is a folder" if is_file(file, folder=True) else "there is no such file"
        raise InvalidFile(f"{file}: {fact}; pass the path of {what} ({known})")
    reader = readers.get(file.suffix.lower())
    if reader is None:
        raise InvalidFile(
            f"{file}: the extension {file.suffix!r} is not that of {what}; the format is chosen "
            f"by the extension: convert or rename the file to one of {known}"
        )
    if file.stat().st_size == 0:
        raise InvalidFile(f"{file}: the file is empty; it must hold {what}")
    return reader(file)


def is_file(path: Path, *, folder: bool = False) -> bool:
    """Whether there is a file (or folder) of that name; a name too long is that of none."""
    try:
        return path.is_dir() if folder else path.is_file()
    except (OSError, ValueError):
        return False


@contextmanager
def blaming(path: FilePath) -> Iterator[None]:
    """What is wrong with values from a file is said with the file's name."""
    try:
        yield
    except InvalidArgument as error:
        raise InvalidFile(f"{path}: {error}") from error


@contextmanager
def opened(file: Path) -> Iterator[Any]:
    """The lines of a text file; a byte order mark, as spreadsheets write it, is skipped."""
    try:
        with file.open(encoding="utf-8-sig", newline="") as stream:
            yield stream
    except UnicodeDecodeError as error:
        raise InvalidFile(
            f"{file}: byte {error.start} is not UTF-8 text; save the file as UTF-8"
        ) from error
    except OSError as error:
        raise InvalidFile(
            f"{file}: it cannot be read ({error.strerror}); check its permissions"
        ) from error


def piped_text(stream: TextIO) -> str:
    """All of a standard input as text: UTF-8, or what its byte order mark says it is."""
    content = stream.buffer.read() if hasattr(stream, "buffer") else stream.read().encode()
    wide = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        return content.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidFile(
            f"stdin: byte {error.start} is not {'UTF-16' if wide else 'UTF-8'} text; convert it, "
            "e.g. with iconv -t UTF-8"
        ) from error


def load_array(file: Path, what: str) -> NDArray[Any]:
    """The array in a ``.npy`` file, refusing pickled objects."""
    try:
        with file.open("rb") as stream:
            _require_whole(stream)
            array = np.lib.format.read_array(stream, allow_pickle=False)
    except Exception as error:  # of a damaged file numpy raises anything
        raise InvalidFile(
            f"{file}: it cannot be read as a NumPy array ({error}); write {what} with "
            "numpy.save(file, array), as numbers"
        ) from error
    return np.asarray(array)


def _require_whole(stream: BinaryIO) -> None:
    """Raise ValueError if an array announces more than the file holds: numpy would allocate it."""
    version = np.lib.format.read_magic(stream)
    first = version == (1, 0)
    header = np.lib.format.read_array_header_1_0 if first else np.lib.format.read_array_header_2_0
    shape, _, kind = header(stream)
    size, held = math.prod(shape) * kind.itemsize, os.fstat(stream.fileno()).st_size
    if size > held:
        raise ValueError(f"it announces {size} bytes and holds {held}")
    stream.seek(0)


def load_numbers(file: Path, what: str) -> NDArray[np.float64]:
    """The array in a ``.npy`` file, as finite floating-point numbers."""
    array = load_array(file, what)
    if not (np.issubdtype(array.dtype, np.number) or array.dtype == np.bool_):
        raise InvalidFile(
            f"{file}: the array holds {array.dtype}, not numbers; save {what} as numbers"
        )
    if np.iscomplexobj(array):
        raise InvalidFile(f"{file}: the array is complex; save {what} as real numbers")
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        place = ", ".join(map(str, bad[0].tolist()))
        raise InvalidFile(
            f"{file}: entry [{place}] is {array[tuple(bad[0])]}; every number must be finite: "
            "remove or repair it"
        )
    return array.astype(np.float64)
