"""What clients send: measurements, descriptions of studies, exports."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from edgewise.base.arrays import Indices
from edgewise.core.model.problem import Problem
from edgewise.errors import EdgewiseError, InvalidArgument, InvalidFile, UnknownTicket
from edgewise.formats import RoundRewards, parse_rewards, read_joint_arm
from edgewise.service.desk import Desk
from edgewise.study import Study
from edgewise.study.files.config import StudyConfig, config_of
from edgewise.study.files.document import Document

T = TypeVar("T")


def text_of(name: str, body: bytes) -> str:
    """The text that was sent."""
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidFile(
            f"{name}: byte {error.start} is not UTF-8 text; nothing was recorded: save it as UTF-8"
        ) from error


def measurements(name: str, body: bytes, problem: Problem) -> RoundRewards:
    """Measurements in CSV or JSON, as ``edgewise study tell`` reads them."""
    text = text_of(name, body)
    return _parsed(name, lambda: parse_rewards(name, text, problem))


def joint_arm(file: Path, problem: Problem) -> Indices:
    """A configuration in CSV: node, arm."""
    arms = problem.arm_labels or range(problem.n_arms)
    nodes = problem.graph.labels
    return _parsed(file.name, lambda: read_joint_arm(file, nodes=nodes, arms=arms))


def agreed_round(key: str, named: str | None) -> str:
    """The round that both the address and the file name."""
    if named is not None and named != key:
        raise UnknownTicket(
            f"the request is about round {key}, and its measurements say round {named}; nothing "
            "was recorded: check which round was measured"
        )
    return key


def create(desk: Desk, name: str | None, document: Document) -> Study:
    """Set up the study that a document describes."""
    if "storage" in document.tree:
        raise document.wrong("the server has its own storage; remove this key", "storage")
    found = _parsed(str(document.file), lambda: config_of(document))
    return found.create(name=_chosen(name, found), storage=desk.storage)


def _chosen(name: str | None, found: StudyConfig) -> str:
    chosen = name or found.name
    if chosen is None:
        raise InvalidArgument("the study has no name; add name = ...", argument="name")
    return chosen


def json_document(body: bytes) -> Document:
    """The keys of a TOML file as JSON; nothing on this machine is read."""
    text = text_of("request", body)
    tree = _parsed("request", lambda: json.loads(text))
    if not isinstance(tree, dict):
        raise InvalidFile('request: not an object; send {"name": ..., "graph": ..., "arms": ...}')
    return Document(Path("request"), "", tree, files={})


def toml_document(name: str, body: bytes, files: Mapping[str, Path]) -> Document:
    """A TOML file that may name those files, and no other."""
    text = text_of(name, body)
    return _parsed(name, lambda: Document.of(Path(name), text, files=files))


@contextmanager
def beside(files: Mapping[str, bytes]) -> Iterator[dict[str, Path]]:
    """Uploaded files in a folder that lasts as long as the block, by their names."""
    for name in files:
        if not re.fullmatch(r"\w[\w.-]{0,99}", name):
            raise InvalidFile(
                f"a file is called {name!r}; nothing was recorded: name files by letters, digits, "
                "'.', '-' and '_'"
            )
    with tempfile.TemporaryDirectory(prefix="edgewise-") as folder:
        placed = {name: Path(folder) / name for name in files}
        for name, content in files.items():
            placed[name].write_bytes(content)
        try:
            yield placed
        except InvalidFile as error:  # the sender knows nothing of our folder
            raise InvalidFile(str(error).replace(f"{folder}/", "")) from error


def import_study(desk: Desk, body: bytes, name: str | None) -> Study:
    """Add the study of an export."""
    with beside({"export.jsonl": body}) as files:
        return _parsed(
            "export",
            lambda: Study.from_export(files["export.jsonl"], storage=desk.storage, name=name),
        )


def _parsed(name: str, read: Callable[[], T]) -> T:
    """What a reader makes of foreign text; what it did not foresee is the text's fault too."""
    try:
        return read()
    except EdgewiseError:
        raise
    except (
        RecursionError,
        ValueError,
        TypeError,
        KeyError,
        OverflowError,
        AttributeError,
    ) as error:
        fact = "nested too deeply" if isinstance(error, RecursionError) else str(error)[:200]
        raise InvalidFile(f"{name}: it cannot be read ({fact}); nothing was recorded") from error


def as_keywords(body: Mapping[str, Any]) -> dict[str, Any]:
    """What was given of options that may be left out."""
    return {name: value for name, value in body.items() if value is not None}
