"""What a reproduction is asked for."""

from __future__ import annotations

import math
from dataclasses import dataclass

from edgewise.base.choice import pick
from edgewise.errors import InvalidArgument
from edgewise.network.families import FAMILIES
from edgewise.reproduction.sweep.points import methods

HARD, EASY = 0.1, math.pi / 2
"""The paper's two angles."""


@dataclass(frozen=True)
class Settings:
    """Options of ``edgewise reproduce``; None means the default, which depends on ``quick``."""

    repetitions: int | None = None
    """Runs per point: 100, quick 16."""
    quick: bool = False
    """Fewer sizes and repetitions: the same shapes in under a minute."""
    delta: float = 0.05
    """Probability of error asked for; the paper does not state its own."""
    omegas: tuple[float, ...] = (HARD, EASY)
    methods: tuple[str, ...] | None = None
    """Default: all there are."""
    graphs: tuple[str, ...] = tuple(FAMILIES)
    seed: int = 0

    def __post_init__(self) -> None:
        self._require(self.runs >= 2, f"repetitions is {self.runs}", "an interval needs 2 or more")
        self._require(0 < self.delta < 1, f"delta is {self.delta}", "it lies between 0 and 1")
        self._require(self.seed >= 0, f"seed is {self.seed}", "seeds are not negative")
        for omega in self.omegas:
            inside = 0.0 < omega <= math.pi / 2 + 1e-12
            self._require(inside, f"omega is {omega}", "angles lie in (0, pi/2]")
        self._require_names("graph family", self.graphs, tuple(FAMILIES))
        self._require_names("method", self.chosen_methods, tuple(methods()))

    @property
    def runs(self) -> int:
        """Repetitions per point."""
        return (16 if self.quick else 100) if self.repetitions is None else self.repetitions

    @property
    def chosen_methods(self) -> tuple[str, ...]:
        """The methods to overlay."""
        return tuple(methods()) if self.methods is None else self.methods

    @staticmethod
    def _require(holds: bool, fact: str, rule: str) -> None:
        if not holds:
            raise InvalidArgument(f"{fact}; {rule}: change the option")

    @staticmethod
    def _require_names(what: str, given: tuple[str, ...], known: tuple[str, ...]) -> None:
        for name in given:
            pick(what, name, dict.fromkeys(known))
        if not given or len(set(given)) < len(given):
            raise InvalidArgument(
                f"{what}s asked for: {', '.join(given) or 'none'}; name one or more of "
                f"{', '.join(known)}, each once"
            )
