"""Templates to responses. Everything a template shows is escaped unless it is Markup."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from edgewise import __version__
from edgewise.service.names import slug
from edgewise.service.pages.assets import STAMP
from edgewise.service.problems import Refusal
from edgewise.service.security.access import Role

_FOLDER = Path(__file__).with_name("templates")


def _when(seconds: float) -> str:
    """A time as people and browsers read it."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


_TEMPLATES = Environment(
    loader=FileSystemLoader(_FOLDER),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_TEMPLATES.filters |= {"when": _when, "iso": _iso, "slug": slug}
_TEMPLATES.globals |= {"version": __version__, "stamp": STAMP}


def render(request: Request, template: str, code: int = 200, /, **values: Any) -> HTMLResponse:
    """A page, or a part of one."""
    may_write = getattr(request.state, "role", Role.NOBODY) is Role.WRITER
    text = _TEMPLATES.get_template(template).render(may_write=may_write, **values)
    return HTMLResponse(text, code)


def refused(request: Request, refusal: Refusal) -> HTMLResponse:
    """A refusal as a page: whoever is not known may sign in there."""
    if refusal.status == 401:
        page = render(request, "signing.html", 401, wrong=False, onward=request.url.path)
    else:
        page = render(request, "refused.html", refusal.status, refusal=refusal)
    page.headers.update(refusal.headers)
    return page
