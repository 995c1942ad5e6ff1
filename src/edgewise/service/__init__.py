"""Studies for a team and its machines: pages for people, a REST interface for programs.

>>> from edgewise.service import Access, create_app

A shell above :mod:`edgewise.study`: it holds no mathematics and no state that is not in the log.
Needs ``edgewise[serve]``.
"""

from __future__ import annotations

from edgewise.errors import MissingExtra

try:
    import fastapi as fastapi
except ImportError as error:
    raise MissingExtra(
        "edgewise serve needs FastAPI and uvicorn; install them with: pip install 'edgewise[serve]'"
    ) from error

from edgewise.service.access import Access as Access
from edgewise.service.access import read_access as read_access
from edgewise.service.app import create_app as create_app
from edgewise.service.limits import Limits as Limits
