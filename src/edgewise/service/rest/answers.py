"""Answers in the format the client asked for."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, TypeAlias

from fastapi import Depends, Query, Request
from fastapi.responses import Response

from edgewise.formats.output import Output, as_csv, as_json


class Format(StrEnum):
    """How an answer is written."""

    JSON = "json"
    CSV = "csv"


def _format(
    request: Request,
    wanted: Annotated[
        Format | None, Query(alias="format", description="Instead of the header Accept.")
    ] = None,
) -> Format:
    if wanted is not None:
        return wanted
    accepted = request.headers.get("accept", "").partition(",")[0].partition(";")[0].strip()
    return Format.CSV if accepted == "text/csv" else Format.JSON


Wanted: TypeAlias = Annotated[Format, Depends(_format)]
"""A parameter of endpoints: JSON, or CSV if the client asks for it."""


def answer(output: Output, wanted: Format, status: int = 200) -> Response:
    """Facts and rows as JSON, or the rows alone as CSV."""
    if wanted is Format.CSV:
        return Response(as_csv(output), status, media_type="text/csv")
    return Response(as_json(output), status, media_type="application/json")


def documented(model: type, *, code: int = 200) -> dict[int | str, dict[str, Any]]:
    """What OpenAPI says about :func:`answer`."""
    return {code: {"model": model, "content": {"text/csv": {"schema": {"type": "string"}}}}}


async def _raw(request: Request) -> bytes:
    return await request.body()


Body: TypeAlias = Annotated[bytes, Depends(_raw)]
"""A parameter of endpoints: what was sent, as it came."""
