"""What edgewise raises. Every message states the fact, the rule and the remedy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Call:
    """A method that a message names as the remedy. A shell names its own command instead.

    >>> str(Call("extend", "rounds"))
    'extend(rounds=...)'
    """

    method: str
    option: str = ""
    value: str = "..."

    def __str__(self) -> str:
        return f"{self.method}({self.option}={self.value})" if self.option else f"{self.method}()"


class EdgewiseError(Exception):
    """Base of every error raised on purpose by edgewise.

    The message is the text of ``parts``, one after the other. ``argument`` names the setting that
    is wrong, where there is just one.
    """

    def __init__(self, *parts: str | Call, argument: str | None = None) -> None:
        super().__init__("".join(map(str, parts)))
        self.parts = parts
        self.argument = argument

    def phrased(self, name: Callable[[Call], str]) -> str:
        """The message, with every call named as ``name`` says.

        >>> EdgewiseError("ask ", Call("ask"), " first").phrased(lambda call: call.method.upper())
        'ask ASK first'
        """
        return "".join(name(part) if isinstance(part, Call) else part for part in self.parts)


class InvalidGraph(EdgewiseError, ValueError):
    """The edges do not describe a graph the method can work on."""


class InvalidProblem(EdgewiseError, ValueError):
    """Arms, noise or candidates do not make an identifiable problem."""


class InvalidArgument(EdgewiseError, ValueError):
    """A setting is outside its domain, or two settings contradict each other."""


class InvalidFile(EdgewiseError, ValueError):
    """A file does not hold what it should; the message names the file, the line and the remedy."""


class InvalidRewards(EdgewiseError, ValueError):
    """The rewards told do not fit the round they answer; nothing was recorded."""


class UnlikelyReward(InvalidRewards):
    """A reward can hardly be right; nothing was recorded until it is accepted."""


class NotFinite(EdgewiseError, ArithmeticError):
    """A number inside a computation is infinite or undefined: no verdict can rest on it."""


class UnknownTicket(EdgewiseError, ValueError):
    """The ticket is not the one waiting for an answer; nothing was recorded."""


class LearnerStopped(EdgewiseError, RuntimeError):
    """The learner has its answer and takes no further rounds."""


class StudyExists(EdgewiseError, ValueError):
    """The storage has a study of that name already; nothing was changed."""


class UnknownStudy(EdgewiseError, LookupError):
    """The storage has no study of that name."""

    def __init__(self, *parts: str | Call, name: str = "", names: Sequence[str] = ()) -> None:
        super().__init__(*parts)
        self.name = name
        self.names = tuple(names)
        """The studies that the storage has."""


class StorageError(EdgewiseError, OSError):
    """The storage cannot be used as it is; what was on record is unchanged."""


class StudyReplaced(StorageError):
    """The log is not the one that was being followed: put back, or of a study created anew."""


class MissingExtra(EdgewiseError, ImportError):
    """An optional dependency is not installed."""


class DamagedSnapshot(UserWarning):
    """The snapshot of a study was of no use; its log was read instead, and nothing is lost."""


class Unverified(UserWarning):
    """A file of an older edgewise carries no checksums: only what follows from it was checked."""


class SuspiciousReward(UserWarning):
    """A reward can hardly be right; it was recorded all the same."""


class WeakBound(UserWarning):
    """An allocation has a weaker upper bound than was asked for."""


class IsolatedNodes(UserWarning):
    """Some nodes have no edge: allowed, but no reward depends on their arm."""


class SlowReading(UserWarning):
    """A large file is read in a slow way, and a faster one could be installed."""
