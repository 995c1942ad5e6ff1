"""The application: who may ask, what is answered, what is refused."""

from __future__ import annotations

from fastapi import FastAPI, Request
from fastapi.responses import Response
from starlette.middleware.gzip import GZipMiddleware

from edgewise import __version__
from edgewise.service import pages, problems, rest
from edgewise.service.desk import Desk
from edgewise.service.pages.rendering import refused
from edgewise.service.security.access import Access
from edgewise.service.security.guard import Guard, Hosts
from edgewise.service.security.limits import Limits
from edgewise.service.watch import Watch
from edgewise.study import Storage
from edgewise.study.storage.opening import open_storage

_ABOUT = """Studies of a network, for programs: ask for a configuration, deploy it, tell what was
measured. Repeating a request is harmless. Errors are problem+json: fact, rule and remedy."""


def create_app(
    storage: str | Storage,
    access: Access,
    *,
    hosts: Hosts | None = None,
    limits: Limits | None = None,
) -> FastAPI:
    """An ASGI application that serves the studies of a storage.

    Parameters
    ----------
    storage
        A URL as in :meth:`edgewise.Study.create`, or a storage.
    access
        The tokens for reading and writing; there is no way to serve without.
    hosts
        The names under which it may be spoken to; those of this machine's loopback by default.
    limits
        Sizes and rates.
    """
    chosen = limits or Limits()
    app = FastAPI(
        title="edgewise",
        version=__version__,
        description=_ABOUT,
        docs_url=None,  # both pages would fetch scripts from elsewhere
        redoc_url=None,
        openapi_url=None,
    )
    app.state.access = access
    app.state.desk = Desk(open_storage(storage, create=True))
    app.state.watch = Watch(app.state.desk, most=chosen.streams)
    problems.register(app, _respond)
    app.include_router(rest.router)
    app.include_router(pages.router)
    app.add_middleware(GZipMiddleware, minimum_size=1024)
    app.add_middleware(Guard, hosts=hosts or Hosts.of("127.0.0.1"), limits=chosen, respond=_respond)
    return app


def _respond(request: Request, refusal: problems.Refusal) -> Response:
    """A problem for programs, a page for people."""
    if request.url.path.startswith("/api/"):
        return problems.problem_response(refusal)
    return refused(request, refusal)
