"""Scripts and styles: two small files of ours, and plotly's own bundle from its package."""

from __future__ import annotations

import gzip
import hashlib
from functools import cache
from importlib.resources import files
from pathlib import Path

from fastapi import APIRouter
from fastapi.responses import Response

from edgewise.service.problems import Refusal

router = APIRouter()

_FOLDER = Path(__file__).with_name("static")
_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_FOREVER = {"Cache-Control": "public, max-age=31536000, immutable"}
STAMP = hashlib.sha256(
    b"".join(path.read_bytes() for path in sorted(_FOLDER.iterdir()))
).hexdigest()[:12]
"""Part of every address of an asset: a browser keeps it until it changes."""


@cache
def _plotly() -> bytes:
    bundle = files("plotly").joinpath("package_data", "plotly.min.js").read_bytes()
    return gzip.compress(bundle, 6)


@router.get("/static/plotly.js")
def plotly() -> Response:
    """The bundle, compressed once."""
    headers = {**_FOREVER, "Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
    return Response(_plotly(), headers=headers, media_type="text/javascript")


@router.get("/static/{file}")
def asset(file: str) -> Response:
    """A file of ours."""
    known = {path.name: path for path in _FOLDER.iterdir()}
    if file not in known:
        raise Refusal(404, "there is no such file; start at /")
    path = known[file]
    return Response(path.read_bytes(), headers=_FOREVER, media_type=_TYPES[path.suffix])


@router.get("/healthz")
def health() -> Response:
    """Whether the server answers: for a supervisor, without a token and without news."""
    return Response("ok\n", media_type="text/plain")
