"""The only clock of the inner rings: a safety stop for searches that the user gave a time limit."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field

from edgewise.errors import InvalidArgument


@dataclass(frozen=True, slots=True)
class Deadline:
    """So many seconds from now on; never when ``limit`` is None."""

    limit: float | None = None
    begin: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        if self.limit is not None and not self.limit > 0.0:
            raise InvalidArgument(
                f"time_limit is {self.limit}; it is a positive number of seconds, or None for no "
                "limit"
            )

    @property
    def seconds(self) -> float:
        """Spent so far."""
        return time.monotonic() - self.begin

    @property
    def remaining(self) -> float:
        """Seconds left, infinite without a limit; negative when passed."""
        return math.inf if self.limit is None else self.limit - self.seconds

    @property
    def passed(self) -> bool:
        """Whether to stop now."""
        return self.limit is not None and self.remaining <= 0.0
