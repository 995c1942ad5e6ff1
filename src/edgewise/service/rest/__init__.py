"""The REST interface, /api/v1: every verb of a study, for programs."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Depends, Request

from edgewise.service.rest import (
    changing,
    live,
    looking,
    managing,
    planning,
    rounds,
    studies,
    trials,
)
from edgewise.service.rest.schemas import PROBLEMS
from edgewise.service.security.identity import reads

router = APIRouter(prefix="/api/v1", dependencies=[Depends(reads)], responses=PROBLEMS)
for part in (studies, rounds, trials, changing, managing, looking, planning, live):
    router.include_router(part.router)


@router.get("/openapi.json", include_in_schema=False)
def description(request: Request) -> dict[str, Any]:
    """What this interface is, for programs that write clients."""
    found: dict[str, Any] = request.app.openapi()
    return found
