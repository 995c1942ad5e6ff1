"""Events as bytes for a database, and as JSON for an export. Numbers survive both, bit for bit.

In between stands a *tree*: nested dicts and lists of strings, numbers and arrays.
"""

from __future__ import annotations

import json
import math
import struct
import zlib
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgewise import __version__
from edgewise.base.wording import shown
from edgewise.core.evidence import by_edge
from edgewise.core.setting import Setting
from edgewise.errors import InvalidArgument, StorageError
from edgewise.study.log.events import (
    Added,
    Asked,
    Cancelled,
    Closed,
    Corrected,
    Created,
    Event,
    Extended,
    Revision,
    Told,
    TrialBegan,
    TrialCorrected,
    TrialEnded,
    TrialRepeated,
    TrialTold,
)
from edgewise.study.log.fields import check_agreement, read_fields

Tree = dict[str, Any]

_KINDS: dict[str, type[Event]] = {
    "created": Created,
    "asked": Asked,
    "told": Told,
    "closed": Closed,
    "cancelled": Cancelled,
    "corrected": Corrected,
    "added": Added,
    "extended": Extended,
    "trial began": TrialBegan,
    "trial told": TrialTold,
    "trial repeated": TrialRepeated,
    "trial corrected": TrialCorrected,
    "trial ended": TrialEnded,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}

_ARRAY, _TUPLE, _NUMBER = "$array", "$tuple", "$number"
_TYPES = frozenset(
    np.dtype(kind).newbyteorder("<").str
    for kind in ("?", "b", "B", "h", "H", "i", "I", "q", "Q", "f", "d")
)
"""Of stored arrays: flags and numbers."""
_NUMBER_32 = struct.Struct("<I")
_HEAD = 2 * _NUMBER_32.size
"""A checksum of everything after it, then the length of the JSON header."""


# -- events and trees ------------------------------------------------------------------------


def kind_of(event: Event) -> str:
    """The name under which an event is stored."""
    return _NAMES[type(event)]


def to_tree(event: Event) -> Tree:
    """The fields of an event."""
    tree = {field.name: getattr(event, field.name) for field in fields(event)}
    if isinstance(event, Created) and event.past is None:  # as it was before there were any
        del tree["past"]
    if isinstance(event, Corrected) and event.revision is not None:
        revision = {field.name: getattr(event.revision, field.name) for field in fields(Revision)}
        tree["revision"] = revision | {
            "statistics": event.revision.statistics.to_tree(),
            "by_edge": by_edge.to_tree(event.revision.by_edge),
            "by_edge_closed": by_edge.to_tree(event.revision.by_edge_closed),
            "watch": None if event.revision.watch is None else event.revision.watch.to_tree(),
        }
    return tree


def from_tree(kind: str, tree: Tree, base: Setting) -> Event:
    """The inverse of :func:`to_tree`, checked; InvalidArgument if the tree is not such an event.

    ``base`` is the setting of the study.
    """
    event = _KINDS.get(kind)
    if event is None:
        raise InvalidArgument(
            f"edgewise {__version__} knows no event {shown(kind)}; a newer edgewise wrote it, or "
            "it was edited"
        )
    read = event(**read_fields(event, tree, base))
    check_agreement(read, base)
    return read


def created_from_tree(kind: str, tree: Tree) -> Created:
    """The first event of a log: there is no setting yet to check it against."""
    if kind != _NAMES[Created]:
        raise InvalidArgument(f"it is {shown(kind)}, and the creation of a study should come first")
    return Created(**read_fields(Created, tree, None))


# -- trees and bytes -------------------------------------------------------------------------


def pack(tree: Tree) -> bytes:
    """A tree as bytes: a JSON header, then the arrays as they lie in memory."""
    buffers: list[bytes] = []

    def store(array: NDArray[Any]) -> Tree:
        small = _narrowed(array)
        buffers.append(small.tobytes())
        return {_ARRAY: small.dtype.str, "shape": list(small.shape)}

    header = json.dumps(_plain(tree, store), separators=(",", ":")).encode()
    body = b"".join([_NUMBER_32.pack(len(header)), header, *buffers])
    return _NUMBER_32.pack(zlib.crc32(body)) + body


def unpack(data: bytes) -> Tree:
    """The inverse of :func:`pack`; StorageError if a bit has changed."""
    body = memoryview(data)[_NUMBER_32.size :]
    if len(data) < _HEAD or _NUMBER_32.unpack_from(data)[0] != zlib.crc32(body):
        raise StorageError(
            "an entry of the storage is damaged (its checksum is wrong); restore the storage from "
            "a backup or an export"
        )
    position = _HEAD + _NUMBER_32.unpack_from(body)[0]

    def fetch(stored: Mapping[str, Any]) -> NDArray[Any]:
        nonlocal position
        dtype, shape = _stored_type(stored), tuple(stored["shape"])
        count = math.prod(shape)
        array = np.frombuffer(data, dtype, count, position).reshape(shape)
        position += count * dtype.itemsize
        return array

    try:
        return _tree(json.loads(data[_HEAD:position]), fetch)
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise StorageError(
            f"an entry of the storage is not as edgewise writes it ({error}); restore the storage "
            "from a backup or an export"
        ) from error


def pack_line(tree: Tree) -> str:
    """A tree as one line of JSON that anything can read: NaN is null, arrays are lists."""

    def store(array: NDArray[Any]) -> Tree:
        values = _narrowed(array).ravel().tolist()
        if array.dtype.kind == "f":
            values = [None if math.isnan(value) else value for value in values]
        return {_ARRAY: _narrowed(array).dtype.str, "shape": list(array.shape), "values": values}

    return json.dumps(_plain(tree, store), separators=(",", ":"), allow_nan=False)


def unpack_line(line: str) -> Tree:
    """The inverse of :func:`pack_line`; ValueError if it is not one."""

    def fetch(stored: Mapping[str, Any]) -> NDArray[Any]:
        kind, values = _stored_type(stored), stored["values"]
        if kind.kind == "f":
            values = [math.nan if value is None else value for value in values]
        elif not all(isinstance(value, int) for value in values):
            raise ValueError(f"numbers that are not of the type {kind}")
        return np.array(values, kind).reshape(stored["shape"])

    try:
        return _tree(json.loads(line), fetch)
    except (KeyError, TypeError, OverflowError, RecursionError) as error:
        raise ValueError(f"{type(error).__name__}: {error}") from error


def _stored_type(stored: Mapping[str, Any]) -> np.dtype[Any]:
    if stored[_ARRAY] not in _TYPES:
        raise ValueError(f"an array of the type {shown(stored[_ARRAY])}")
    kind: np.dtype[Any] = np.dtype(stored[_ARRAY])
    return kind


def _tree(value: Any, fetch: Callable[[Mapping[str, Any]], NDArray[Any]]) -> Tree:
    tree = _rich(value, fetch)
    if not isinstance(tree, dict):
        raise ValueError("not an object")
    return tree


def _narrowed(array: NDArray[Any]) -> NDArray[Any]:
    """Little-endian; integers in the smallest type that holds them."""
    if array.dtype.kind in "iu" and array.size:
        kind = np.promote_types(np.min_scalar_type(array.min()), np.min_scalar_type(array.max()))
        array = array.astype(kind)
    return np.ascontiguousarray(array.astype(array.dtype.newbyteorder("<"), copy=False))


def _plain(value: Any, store: Callable[[NDArray[Any]], Tree]) -> Any:
    """What JSON can say; arrays are handed to ``store``."""
    if isinstance(value, np.ndarray):
        return store(value)
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return {_NUMBER: str(value)}
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Mapping):
        return {key: _plain(item, store) for key, item in value.items()}
    if isinstance(value, tuple):
        return {_TUPLE: [_plain(item, store) for item in value]}
    if isinstance(value, list):
        return [_plain(item, store) for item in value]
    raise InvalidArgument(
        f"{value!r} is a {type(value).__name__}, which cannot be stored; labels and options of a "
        "study must be strings, numbers, or tuples of them"
    )


def _rich(value: Any, fetch: Callable[[Mapping[str, Any]], NDArray[Any]]) -> Any:
    """The inverse of :func:`_plain`."""
    if isinstance(value, list):
        return [_rich(item, fetch) for item in value]
    if not isinstance(value, dict):
        return value
    if _ARRAY in value:
        return fetch(value)
    if _TUPLE in value:
        return tuple(_rich(item, fetch) for item in value[_TUPLE])
    if _NUMBER in value:
        return float(value[_NUMBER])
    return {key: _rich(item, fetch) for key, item in value.items()}
