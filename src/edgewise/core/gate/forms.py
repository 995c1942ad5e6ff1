"""The ways in which the model may be wrong, as data: what each means, and what to do about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from edgewise.base.arrays import Indices
from edgewise.core.gate.edges import see_edges
from edgewise.core.gate.effects import Best, Effect, Kept, Reduced, see_numbers
from edgewise.core.gate.rows import MOST_PARAMETERS, Sight
from edgewise.core.model.problem import Problem


@dataclass(frozen=True)
class Data:
    """Which numbers a form looks at, and how the model itself sees them."""

    see: Callable[[Kept, Indices], tuple[Best, Reduced] | None]
    """As the model does, and as it does with each of some effects; None if they are not kept."""
    starts: tuple[int, ...]
    """n_1: rounds after which bets begin, each with the same share."""
    often: bool
    """Whether to look at them also between starts and answers."""


@dataclass(frozen=True)
class Form:
    """A way in which the model may be wrong."""

    name: str
    says: str
    """What it means if it speaks."""
    remedy: str
    applies: Callable[[Sight], bool]
    effect: Effect | None
    """What the richer model adds; None for what is not a richer model."""
    data: str = "numbers"
    """See :data:`DATA`."""


DATA = {
    "numbers": Data(see_numbers, (1, 4, 16), often=True),
    "edges": Data(see_edges, (4, 32), often=False),
}
"""All numbers on their own; and summed by edge, which takes longer to look at: fewer looks."""
_ALIKE = ("shared", "auto")
"""Poolings under which edges of a kind may have the same matrix."""
_OUTSIDE = "confirm the answer by measuring it"
FORMS: dict[str, Form] = {
    form.name: form
    for form in (
        Form(
            "level",
            "rewards have levels of their own, whatever the arms",
            f"pass levels=True, or {_OUTSIDE}",
            lambda sight: sight.problem.levels == "none" and sight.n_numbers > 1,
            Effect.LEVEL,
        ),
        Form(
            "round",
            "all rewards of a round move together (time of day, weather)",
            f"pass levels='round', or {_OUTSIDE}",
            lambda sight: not sight.has_round_levels and sight.n_numbers > sight.n_shared,
            Effect.ROUND,
        ),
        Form(
            "drift",
            "rewards drift over time",
            f"use rounds from the time that matters, levels='round' if all drift alike, or "
            f"{_OUTSIDE}",
            lambda _: True,
            Effect.DRIFT,
        ),
        Form(
            "edge",
            "edges of a kind have matrices of their own",
            f"pass pooling='partial', kinds or covariates, or {_OUTSIDE}",
            lambda sight: sight.problem.pooling in _ALIKE and not sight.has_round_levels,
            Effect.EDGE,
            "edges",
        ),
        Form(
            "cell",
            "pairs of arms pay otherwise than any matrix of their features says",
            f"add features to the arms, such as squares, or {_OUTSIDE}",
            lambda sight: sight.shows_cells,
            Effect.CELL,
        ),
        Form(
            "direction",
            "the two directions of an edge have different matrices",
            "measure links, or make the graph directed with a kind per direction",
            lambda sight: sight.has_directions,
            Effect.DIRECTION,
        ),
        Form(
            "noise",
            "the noise is larger than stated",
            "state a larger noise, or pass noise='estimate'",
            lambda sight: sight.knows_noise,
            Effect.NOISE,
        ),
        Form(
            "calibration",
            "later rewards lie outside the local model's intervals more often than they should",
            f"use kinds or covariates, state a larger noise, or {_OUTSIDE}",
            lambda _: False,
            None,
        ),
        Form(
            "outlier",
            "a reward is far from all others of its kind",
            "correct the value, or withdraw it",
            lambda _: True,
            None,
        ),
    )
}
"""By name, in the order in which they are told."""


LOCAL = ("round", "drift", "noise", "calibration", "outlier")
"""Forms of the local model: see :mod:`edgewise.core.gate.local`."""


def is_local(problem: Problem) -> bool:
    """Whether edges may have parameters of their own: then the model is another one."""
    return problem.pooling in ("partial", "auto")


@lru_cache(maxsize=32)
def forms_for(sight: Sight, names: tuple[str, ...], *, local: bool = False) -> tuple[Form, ...]:
    """The forms of these names that can say something about a problem.

    ``local`` where edges have parameters of their own, as said or decided.
    """
    if local:
        known = sight.knows_noise
        return tuple(FORMS[name] for name in names if name in LOCAL and (known or name != "noise"))
    large = sight.n_parameters > MOST_PARAMETERS
    chosen = (FORMS[name] for name in names)
    applying = (form for form in chosen if form.applies(sight))
    return tuple(form for form in applying if not large or form.effect is None)
