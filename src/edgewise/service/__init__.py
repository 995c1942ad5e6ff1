"""Studies for a team and its machines: pages for people, a REST interface for programs.

>>> from edgewise.service import Access, create_app

A shell above :mod:`edgewise.study`: it holds no mathematics and no state that is not in the log.
Needs ``edgewise[serve]``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from edgewise.base.extras import required
from edgewise.service.security.access import Access as Access
from edgewise.service.security.access import read_access as read_access
from edgewise.service.security.limits import Limits as Limits

if TYPE_CHECKING:
    from edgewise.service.app import create_app as create_app


def __getattr__(name: str) -> Any:
    """The application is loaded when it is wanted: a server says where it is before that."""
    if name != "create_app":
        raise AttributeError(f"module 'edgewise.service' has no attribute {name!r}")
    required("fastapi", "edgewise serve needs FastAPI and uvicorn", "serve")
    from edgewise.service.app import create_app

    return create_app
