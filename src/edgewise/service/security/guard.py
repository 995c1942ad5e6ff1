"""What every request passes before anything looks at it: Host, Origin, rate and size.

And what every response carries: the Content-Security-Policy and its kin.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from edgewise.service.problems import Refusal, Responder, mistake
from edgewise.service.security.access import LOOPBACK
from edgewise.service.security.limits import Buckets, Limits

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self' 'unsafe-inline'",  # plotly sets style attributes
        "img-src 'self' data: blob:",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    # not no-referrer: browsers would then hide the origin of our own forms as well
    "Referrer-Policy": "same-origin",
}


@dataclass(frozen=True)
class Hosts:
    """The names under which a server may be spoken to: others are someone else's DNS record."""

    names: frozenset[str]

    @classmethod
    def of(cls, address: str, further: Iterable[str] = ()) -> Hosts:
        """Of a server that listens at an address; loopback names belong to this machine."""
        return cls(frozenset(name.casefold() for name in (*LOOPBACK, address, *further)))

    def know(self, host: str | None) -> bool:
        """Whether a Host header names this server."""
        return _hostname(f"//{host}") in self.names if host else False


def _hostname(address: str) -> str | None:
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None


def is_own_origin(origin: str, host: str) -> bool:
    """Whether an Origin header names the host the request was sent to.

    >>> is_own_origin("http://127.0.0.1:8000", "127.0.0.1:8000")
    True
    >>> is_own_origin("https://farm.example", "farm.example:443"), is_own_origin("null", "a")
    (True, False)
    """
    scheme, _, place = origin.partition("://")
    default = {"http": ":80", "https": ":443"}.get(scheme)
    return default is not None and place.removesuffix(default) == host.removesuffix(default)


class Guard:
    """The outermost layer."""

    def __init__(self, app: ASGIApp, hosts: Hosts, limits: Limits, respond: Responder) -> None:
        self._app, self._hosts, self._limits, self._respond = app, hosts, limits, respond
        self._buckets = Buckets(limits.rate, limits.burst)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        guarded = _with_headers(send)
        try:
            self._check(scope)
            await self._app(scope, _limited(receive, self._limits.body), guarded)
        except Refusal as refusal:
            await self._respond(Request(scope), refusal)(scope, receive, guarded)
        except ClientDisconnect:  # there is nobody to answer
            return
        except Exception as error:  # nothing of it leaves this process but that it happened
            await self._respond(Request(scope), mistake(scope, error))(scope, receive, guarded)

    def _check(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        host, origin = headers.get("host"), headers.get("origin")
        if not self._hosts.know(host):
            raise Refusal(
                421,
                "this server is not called that; use the address it printed, or start it with "
                "--allow-host NAME",
            )
        if origin is not None and not is_own_origin(origin, str(host)):
            raise Refusal(
                403,
                "the request comes from a page of another site; nothing was changed: open the "
                "study on this server",
            )
        wait = self._buckets.take((scope.get("client") or ("",))[0])
        if wait:
            raise Refusal(
                429,
                f"more than {self._limits.rate:g} requests a second come from this address; "
                "nothing was changed: repeat more slowly",
                headers={"Retry-After": str(math.ceil(wait))},
            )
        length = headers.get("content-length", "0")
        if length.isdecimal() and int(length) > self._limits.body:
            raise _too_large(self._limits.body)


def _too_large(limit: int) -> Refusal:
    return Refusal(
        413,
        f"the request has more than {limit} bytes; nothing was changed: send the measurements of "
        "one round at a time, or raise --max-upload",
    )


def _limited(receive: Receive, limit: int) -> Receive:
    """Count what arrives: a length that was not announced is limited too."""
    arrived = 0

    async def counted() -> Message:
        nonlocal arrived
        message = await receive()
        arrived += len(message.get("body", b""))
        if arrived > limit:
            raise _too_large(limit)
        return message

    return counted


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
            headers.setdefault("Cache-Control", "no-store")
        await send(message)

    return sending
