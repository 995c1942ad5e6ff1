"""Who may read and who may write: tokens, and the cookie a browser gets for one."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

from edgewise.errors import InvalidArgument, InvalidFile

WRITE_TOKEN, READ_TOKEN = "EDGEWISE_TOKEN", "EDGEWISE_READ_TOKEN"
"""Environment variables that hold tokens."""
LOOPBACK = ("localhost", "127.0.0.1", "::1")
"""Addresses that only this machine can reach."""
SESSION_SECONDS = 12 * 3600
"""A browser is asked for the token again after so long."""
_SHORTEST = 16


class Role(IntEnum):
    """What a request may do."""

    NOBODY = 0
    READER = 1
    WRITER = 2


@dataclass(frozen=True, repr=False)
class Access:
    """The tokens of a server. They are never printed: not even by ``repr``."""

    write: tuple[str, ...] = ()
    read: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.write and not self.read:
            raise InvalidArgument(f"there is no token; set {WRITE_TOKEN}, or name a file of tokens")
        if any(len(token) < _SHORTEST for token in (*self.write, *self.read)):
            raise InvalidArgument(
                f"a token is shorter than {_SHORTEST} characters and could be guessed; make one "
                "with: python -c 'import secrets; print(secrets.token_urlsafe(32))'"
            )

    @classmethod
    def fresh(cls) -> Access:
        """A new token for writing, known to nobody yet."""
        return cls(write=(secrets.token_urlsafe(32),))

    def role(self, token: str) -> Role:
        """What the bearer of a token may do; every token is compared, in constant time."""
        writer = sum(_same(token, known) for known in self.write)
        reader = sum(_same(token, known) for known in self.read)
        return Role.WRITER if writer else Role.READER if reader else Role.NOBODY

    def session(self, role: Role, now: float) -> str:
        """The cookie of a browser that showed a token: its role, its end, and a seal."""
        claim = f"{role:d}.{int(now) + SESSION_SECONDS}"
        return f"{claim}.{self._seal(claim)}"

    def role_of_session(self, cookie: str, now: float) -> Role:
        """What the bearer of a cookie may do. Changing any token ends all sessions."""
        claim, _, seal = cookie.rpartition(".")
        if not _same(seal, self._seal(claim)):
            return Role.NOBODY
        role, ends = claim.split(".")
        return Role(int(role)) if now < int(ends) else Role.NOBODY

    def _seal(self, claim: str) -> str:
        tokens = "\n".join(("edgewise session", *self.write, "", *self.read))
        key = hashlib.sha256(tokens.encode()).digest()
        return hmac.new(key, claim.encode(), hashlib.sha256).hexdigest()


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode(), other.encode())


def read_access(file: Path | None, environment: Mapping[str, str]) -> Access | None:
    """The tokens of a file and of environment variables; None if neither names one."""
    write = [environment[WRITE_TOKEN]] if environment.get(WRITE_TOKEN) else []
    read = [environment[READ_TOKEN]] if environment.get(READ_TOKEN) else []
    if file is not None:
        from edgewise.formats.files import opened  # loads numpy, which a link need not wait for

        with opened(file) as stream:
            for number, line in enumerate(stream, start=1):
                _read_line(f"{file}, line {number}", line.partition("#")[0].split(), write, read)
    return Access(tuple(write), tuple(read)) if write or read else None


def _read_line(place: str, words: list[str], write: list[str], read: list[str]) -> None:
    if not words:
        return
    kinds = {"write": write, "read": read}
    if len(words) != 2 or words[0] not in kinds:  # the line itself may hold a token: not shown
        raise InvalidFile(f"{place}: not a token; write 'read TOKEN' or 'write TOKEN'")
    kinds[words[0]].append(words[1])
