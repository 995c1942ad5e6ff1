"""Pages for people: plain HTML from the server, a small script for what is live."""

from __future__ import annotations

from fastapi import APIRouter

from edgewise.service.pages import (
    acting,
    assets,
    charting,
    comparing,
    creating,
    looking,
    managing,
    signing,
)

router = APIRouter(include_in_schema=False)
for part in (signing, assets, looking, acting, managing, creating, comparing, charting):
    router.include_router(part.router)
