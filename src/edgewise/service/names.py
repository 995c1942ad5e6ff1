"""Names of studies in addresses."""

from __future__ import annotations

from typing import Annotated, TypeAlias
from urllib.parse import quote, unquote

from fastapi import Depends, Path


def slug(name: str) -> str:
    """A study's name as one part of a path, whatever is in it.

    >>> slug("yaw-2026"), slug("a/b ~"), name_of(slug("a/b ~"))
    ('yaw-2026', 'a~2Fb~20~7E', 'a/b ~')
    """
    return quote(name, safe="").replace("~", "%7E").replace("%", "~")


def name_of(text: str) -> str:
    """The inverse of :func:`slug`."""
    return unquote(text.replace("~", "%"))


def _named(
    study: Annotated[
        str, Path(description="The study: its id in the list, which is its name as a rule.")
    ],
) -> str:
    return name_of(study)


StudyName: TypeAlias = Annotated[str, Depends(_named)]
"""A parameter of endpoints: the name that the path's part ``{study}`` stands for."""
