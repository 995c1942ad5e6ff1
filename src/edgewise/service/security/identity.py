"""Whose request it is: a bearer token, or the cookie of a browser that showed one."""

from __future__ import annotations

import time
from typing import Annotated, TypeAlias

from fastapi import Depends, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from edgewise.service.desk import Desk
from edgewise.service.problems import Refusal
from edgewise.service.security.access import Access, Role

COOKIE = "edgewise_session"

_BEARER = HTTPBearer(auto_error=False, description="A token for reading or for writing.")
_Bearer: TypeAlias = Annotated[HTTPAuthorizationCredentials | None, Security(_BEARER)]
_SAFE = frozenset(("GET", "HEAD", "OPTIONS"))


def role_of(request: Request, bearer: HTTPAuthorizationCredentials | None = None) -> Role:
    """What a request may do; a token in a header is judged by itself, whatever the cookie says."""
    access: Access = request.app.state.access
    if bearer is not None:
        return access.role(bearer.credentials)
    role = access.role_of_session(request.cookies.get(COOKIE, ""), time.time())
    return role if request.method in _SAFE or _from_own_page(request) else Role.NOBODY


def _from_own_page(request: Request) -> bool:
    """Whether a browser vouches for the page that sent it; the guard has judged the Origin."""
    return "origin" in request.headers or request.headers.get("sec-fetch-site") == "same-origin"


def reads(request: Request, bearer: _Bearer = None) -> Role:
    """Refuse a request without a valid token."""
    role = role_of(request, bearer)
    if role is Role.NOBODY:
        raise Refusal(
            401,
            "a token is needed: send it in the header Authorization: Bearer TOKEN, or sign in",
            headers={"WWW-Authenticate": "Bearer"},
        )
    request.state.role = role
    return role


def writes(role: Annotated[Role, Depends(reads)]) -> Role:
    """Refuse a request whose token is for reading only."""
    if role is not Role.WRITER:
        raise Refusal(
            403, "this token is for reading; nothing was changed: use one that is for writing"
        )
    return role


def desk_of(request: Request) -> Desk:
    """The studies of the server."""
    desk: Desk = request.app.state.desk
    return desk


Studies: TypeAlias = Annotated[Desk, Depends(desk_of)]
"""A parameter of endpoints: the studies of the server."""
