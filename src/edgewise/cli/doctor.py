"""``edgewise doctor``: is this installation in order, and what can it do?"""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Annotated

import typer

import edgewise as ew
from edgewise.cli.terminal.options import OutputFormat
from edgewise.cli.terminal.shell import WRONG_INPUT, Command, Format, Output, emit
from edgewise.errors import EdgewiseError

_NEEDED = ("numpy", "scipy", "numba", "threadpoolctl")
_FOR_DEVELOPERS = {"all", "bench", "dist", "docs", "test", "unit"}
"""Extras that bring other extras or tools, not abilities."""
_REQUIREMENT = re.compile(r"(?P<name>[\w.-]+).*extra\s*==\s*['\"](?P<extra>[\w-]+)['\"]")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(cls=Command)(doctor)


def doctor(
    storage: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Also try to open this storage of studies."),
    ] = None,
    output: OutputFormat = Format.TABLE,
) -> None:
    r"""Print versions, extras found, cache folder and threads, and a verdict.

    Examples:
      $ edgewise doctor
      $ edgewise doctor --format json

    Exit code 0: everything asked about works. 2: something does not, the verdict names it.
    """
    cache, opened = _cache_folder(), _storage(storage)
    faults = [part.fault for part in (cache, opened) if part.fault]
    extras = list(_extras())
    facts = {
        "edgewise": ew.__version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        **{name: metadata.version(name) for name in _NEEDED},
        "cores": os.cpu_count() or 1,
        "blas_threads": _blas_threads(),
        "kernel_cache": cache.text,
        "storage": opened.text,
        "verdict": "; ".join(faults) or _abilities(extras),
    }
    emit(Output(facts, "extras", ("extra", "found", "packages"), extras), output)
    raise typer.Exit(WRONG_INPUT if faults else 0)


@dataclass(frozen=True)
class _Part:
    """Something looked at, and what is wrong with it."""

    text: str
    fault: str = ""


def _extras() -> Iterator[tuple[str, bool, str]]:
    """Every extra, whether it is usable, and its packages with their versions."""
    packages: dict[str, list[str]] = {}
    for line in metadata.requires("edgewise") or ():
        match = _REQUIREMENT.match(line)
        if match and match["name"] != "edgewise" and match["extra"] not in _FOR_DEVELOPERS:
            packages.setdefault(match["extra"], []).append(match["name"])
    for extra, names in sorted(packages.items()):
        versions = {name: _version(name) for name in names}
        shown = ", ".join(f"{name} {version or 'missing'}" for name, version in versions.items())
        yield extra, all(versions.values()), shown


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def _abilities(extras: list[tuple[str, bool, str]]) -> str:
    missing = [extra for extra, found, _ in extras if not found]
    if not missing:
        return "ready, with all extras"
    names = ", ".join(missing)
    return f"ready; not installed: {names} (pip install 'edgewise[{missing[0]}]' adds the first)"


def _blas_threads() -> int:
    """Threads of the linear algebra outside edgewise, which uses one on small matrices."""
    import numpy as np  # noqa: F401
    from threadpoolctl import threadpool_info

    return max((pool["num_threads"] for pool in threadpool_info()), default=1)


def _cache_folder() -> _Part:
    """Where compiled kernels are kept: beside the sources unless NUMBA_CACHE_DIR says otherwise."""
    sources = Path(ew.__file__).parent
    named = os.environ.get("NUMBA_CACHE_DIR")
    folder = Path(named) if named else sources
    if os.access(folder if folder.exists() else folder.parent, os.W_OK):
        return _Part(f"{folder} ({sum(1 for _ in folder.rglob('*.nbi'))} kernels compiled)")
    fallback = Path.home() / ".cache"
    if os.access(fallback if fallback.exists() else Path.home(), os.W_OK):
        return _Part(f"{folder} is read-only; numba uses {fallback}")
    return _Part(
        f"{folder} is read-only",
        f"compiled kernels cannot be kept in {folder}: every process compiles them again; set "
        "NUMBA_CACHE_DIR to a folder that can be written",
    )


def _storage(url: str | None) -> _Part:
    if url is None:
        return _Part("not asked about (--storage URL)")
    from edgewise.study.storage.opening import open_storage

    try:
        names = open_storage(url, create=False).names()
    except EdgewiseError as error:
        return _Part("cannot be opened", f"storage: {error}")
    return _Part(f"reachable, {len(names)} {'study' if len(names) == 1 else 'studies'}")
