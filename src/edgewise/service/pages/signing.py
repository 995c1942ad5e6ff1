"""Signing in with a token, and out."""

from __future__ import annotations

import time
from typing import Annotated

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse, Response

from edgewise.service.pages.rendering import render
from edgewise.service.security.access import SESSION_SECONDS, Access, Role
from edgewise.service.security.identity import COOKIE

router = APIRouter()


@router.get("/sign-in")
def form(request: Request) -> Response:
    """Where to paste a token; the printed link carries it behind #, which is never sent."""
    return render(request, "signing.html", wrong=False, onward="/")


@router.post("/sign-in")
def sign_in(
    request: Request,
    token: Annotated[str, Form(max_length=1000)] = "",
    onward: Annotated[str, Form(max_length=2000)] = "/",
) -> Response:
    """Exchange a token for a cookie that scripts cannot read."""
    access: Access = request.app.state.access
    role = access.role(token.strip())
    inside = onward if onward.startswith("/") and not onward.startswith(("//", "/\\")) else "/"
    if role is Role.NOBODY:
        return render(request, "signing.html", 401, wrong=True, onward=inside)
    response = RedirectResponse(inside, 303)
    response.set_cookie(
        COOKIE,
        access.session(role, time.time()),
        max_age=SESSION_SECONDS,
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )
    return response


@router.post("/sign-out")
def sign_out() -> Response:
    """Forget the cookie."""
    response = RedirectResponse("/sign-in", 303)
    response.delete_cookie(COOKIE)
    return response
