"""How much one client may ask for."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

_CLIENTS = 10_000
"""So many addresses are remembered."""


@dataclass(frozen=True)
class Limits:
    """What a server puts up with."""

    body: int = 32 * 2**20
    """Bytes of a request: a million measurements."""
    rate: float = 200.0
    """Requests per second and address, in the long run."""
    burst: float = 1000.0
    """Requests at once, after a silence."""
    streams: int = 256
    """Live updates at a time."""


class Buckets:
    """A bucket of requests per client: it fills at ``rate``, holds ``burst``, and may be empty."""

    def __init__(
        self, rate: float, burst: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._rate, self._burst, self._clock = rate, burst, clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, client: str) -> float:
        """Take one; 0 if there was one, else the seconds until there is."""
        now = self._clock()
        left, seen = self._left.pop(client, (self._burst, now))
        left = min(self._burst, left + (now - seen) * self._rate)
        allowed = left >= 1.0
        self._left[client] = (left - 1.0 if allowed else left, now)
        if len(self._left) > _CLIENTS:
            self._left.popitem(last=False)
        return 0.0 if allowed else (1.0 - left) / self._rate
