"""Optional dependencies: imported when they are needed, named when they are missing."""

from __future__ import annotations

import importlib
from typing import Any

from edgewise.errors import MissingExtra


def required(module: str, fact: str, extra: str) -> Any:
    """The module, or an error that says which extra brings it.

    >>> required("json", "a report needs json", "reports").__name__
    'json'
    >>> required("no_such_module", "flying needs wings", "wings")
    Traceback (most recent call last):
    edgewise.errors.MissingExtra: flying needs wings; install it with: pip install 'edgewise[wings]'
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtra(f"{fact}; install it with: pip install 'edgewise[{extra}]'") from error
