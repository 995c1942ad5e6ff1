"""Several strategies on the same simulated runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from edgewise.base.border import border
from edgewise.base.extras import required
from edgewise.base.randomness import Rng, draw_seed, generator
from edgewise.base.wording import shown
from edgewise.core.model.problem import Problem
from edgewise.core.strategies import Strategy, sampling_strategy
from edgewise.errors import InvalidArgument
from edgewise.simulation.replicate import Replications, replicate

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Comparison:
    """What each strategy needed, run by run. ``edgewise.plots.figure_comparison`` draws it."""

    names: tuple[str, ...]
    runs: tuple[Replications, ...]
    """One per name; the i-th repetition of each has the same seed."""

    def __getitem__(self, name: str) -> Replications:
        if name not in self.names:
            raise InvalidArgument(f"no {name!r} here; there are {', '.join(self.names)}")
        return self.runs[self.names.index(name)]

    def __str__(self) -> str:
        width = max(map(len, self.names))
        return "\n".join(
            f"{name:<{width}}  {runs.mean_rounds:10.4g} rounds, "
            f"{int(runs.certified.sum())} of {len(runs.rounds)} certified"
            + ("" if runs.judged is None else f", {runs.errors} wrong")
            for name, runs in zip(self.names, self.runs, strict=True)
        )

    def to_frame(self) -> pd.DataFrame:
        """One row per strategy and repetition."""
        pd = required("pandas", "a frame needs pandas", "pandas")
        frames = [
            pd.DataFrame(
                {
                    "strategy": name,
                    "repetition": np.arange(len(runs.rounds)),
                    "rounds": runs.rounds,
                    "certified": runs.certified,
                    "correct": runs.judged,
                }
            )
            for name, runs in zip(self.names, self.runs, strict=True)
        ]
        return pd.concat(frames, ignore_index=True)


@border
def compare(
    strategies: Sequence[str | Strategy],
    problem: Problem,
    matrix: ArrayLike | None = None,
    *,
    repetitions: int,
    rng: Rng = None,
    **options: Any,
) -> Comparison:
    """Run every strategy on the same seeds.

    ``options`` are those of :func:`~edgewise.simulation.replicate`. Strategies of one name are
    told apart by a number behind it.

    >>> import edgewise as ew
    >>> arms, matrix = ew.simulation.paper_instance(dimension=2, omega=1.0)
    >>> problem = ew.Problem(ew.Graph.circle(n_edges=40), arms)
    >>> found = compare(["adaptive", "g-optimal"], problem, matrix, repetitions=5, rng=0)
    >>> found.names
    ('adaptive', 'g-optimal')
    """
    given: Any = strategies
    if not isinstance(given, Sequence) or isinstance(given, str) or not given:
        raise InvalidArgument(
            f"strategies is {shown(strategies)}; it must be a list of at least one strategy",
            argument="strategies",
        )
    chosen = [sampling_strategy(strategy) for strategy in strategies]
    seed = draw_seed(generator(rng))
    runs = tuple(
        replicate(
            problem,
            matrix,
            repetitions=repetitions,
            strategy=strategy,
            rng=np.random.default_rng(seed),
            **options,
        )
        for strategy in chosen
    )
    return Comparison(_told_apart([strategy.name for strategy in chosen]), runs)


def _told_apart(names: list[str]) -> tuple[str, ...]:
    """Names with a number behind those that occur more than once."""
    return tuple(
        name if names.count(name) == 1 else f"{name} {names[: i + 1].count(name)}"
        for i, name in enumerate(names)
    )
