"""Two studies side by side."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import Response

from edgewise.service.listing import line_of
from edgewise.service.names import name_of
from edgewise.service.pages.rendering import render
from edgewise.service.security.identity import Studies, reads

router = APIRouter(dependencies=[Depends(reads)])


@router.get("/compare")
def compare(
    request: Request, desk: Studies, study: Annotated[list[str], Query(max_length=2)]
) -> Response:
    """Status and evidence of each."""
    names = [name_of(one) for one in study]
    columns = [(line_of(desk, name), desk.view(name).status) for name in names]
    labels = list(dict.fromkeys(label for _, status in columns for label, _ in status.rows()))
    rows = [
        (label, [dict(status.rows()).get(label, "") for _, status in columns]) for label in labels
    ]
    position = sum(map(desk.position, desk.names()))
    return render(request, "compare.html", columns=columns, rows=rows, position=position)
