"""The table from the paper to the code names things that exist."""

from __future__ import annotations

import importlib
import re
from functools import reduce
from pathlib import Path
from typing import Any

import pytest

_ROOT = Path(__file__).parents[2]
_TABLE = (_ROOT / "docs" / "traceability.md").read_text(encoding="utf-8")


def _resolve(path: str) -> Any:
    parts = path.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            module = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        return reduce(getattr, parts[cut:], module)
    raise AssertionError(f"{path} does not exist")


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`(edgewise\.[\w.]+)`", _TABLE))))
def test_functions_exist(name: str) -> None:
    assert callable(_resolve(name))


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`(tests/[\w./]+)`", _TABLE))))
def test_tests_exist(path: str) -> None:
    source = (_ROOT / path).read_text(encoding="utf-8")
    assert "def test_" in source


def test_a_wrong_name_is_noticed() -> None:
    with pytest.raises(AttributeError):
        _resolve("edgewise.core.stopping.paper.PaperRuel")
