"""What edgewise raises. Every message states the fact, the rule and the remedy."""

from __future__ import annotations


class EdgewiseError(Exception):
    """Base of every error raised on purpose by edgewise."""


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


class UnknownTicket(EdgewiseError, ValueError):
    """The ticket is not the one waiting for an answer; nothing was recorded."""


class LearnerStopped(EdgewiseError, RuntimeError):
    """The learner has its answer and takes no further rounds."""


class StudyExists(EdgewiseError, ValueError):
    """The storage has a study of that name already; nothing was changed."""


class UnknownStudy(EdgewiseError, LookupError):
    """The storage has no study of that name."""


class StorageError(EdgewiseError, OSError):
    """The storage cannot be used as it is; what was on record is unchanged."""


class MissingExtra(EdgewiseError, ImportError):
    """An optional dependency is not installed."""


class IsolatedNodes(UserWarning):
    """Some nodes have no edge: allowed, but no reward depends on their arm."""
