r"""Normal equations of what was measured, where cells do not suffice.

Rewards per node, link or round, levels, covariates: all are linear in one vector of parameters,

.. math:: r_c = a_c + z_c^\top\theta + \text{noise}, \qquad
          A = \sum \tilde z \tilde z^\top, \quad b = \sum \tilde z \tilde r ,

with levels projected out inside a phase (the tilde). A contrast in the range of A has an unbiased
estimate whose variance is known before the phase's rewards: all that the rules ask for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgewise.base.arrays import Array, Indices
from edgewise.core.evidence.observed import observed_directions
from edgewise.core.local.channels import Channels
from edgewise.core.local.normal_equations import Phase, normal_equations
from edgewise.core.model.cells import Cells
from edgewise.core.model.options import Levels


@dataclass(frozen=True, eq=False)
class Equations:
    """What phases say about the parameters; stacked (J, ...) where signatures say ByPhase."""

    gram: Array
    """(p, p) A, in units of the channels' noise."""
    moment: Array
    """(p,) b."""
    squares: Array
    """() sum of squared rewards, levels projected out."""
    freedom: Array
    """() rewards minus levels projected out."""
    information: Array
    """(q, P) observations as if every arc were measured: what rounds are laid out by."""

    def __len__(self) -> int:
        """How many phases are stacked."""
        return len(self.gram)

    def __getitem__(self, key: Any) -> Equations:
        """Some of the phases, or one."""
        return Equations(*(array[key] for array in self._arrays))

    @property
    def _arrays(self) -> tuple[NDArray[Any], ...]:
        return self.gram, self.moment, self.squares, self.freedom, self.information

    def with_another(self, last: Equations | Gathering) -> Equations:
        """The stacked phases with one more."""
        other = last.equations
        return Equations(
            *(
                np.concatenate([mine, its[None]])
                for mine, its in zip(self._arrays, other._arrays, strict=True)
            )
        )

    def followed_by_all(self, last: Equations | Gathering) -> Equations:
        """Sum of the stacked phases and the last: levels stay projected out phase by phase."""
        whole = self.with_another(last)
        return Equations(*(array.sum(axis=0) for array in whole._arrays))

    @property
    def equations(self) -> Equations:
        """Itself."""
        return self

    def normal(self, cells: Cells, kind: int) -> list[tuple[Array, Array]]:  # noqa: ARG002
        """A and b of every phase: the same for all kinds."""
        return list(zip(self.gram, self.moment, strict=True))

    def grams(self, cells: Cells) -> Array:
        """(q, p, p) A, the same for all kinds."""
        return np.broadcast_to(self.gram, (len(cells.features), *self.gram.shape))

    def residual(self) -> tuple[Array, NDArray[np.int64]]:
        """Squared residuals and their degrees of freedom, of every stacked phase."""
        squares, freedom = np.zeros(len(self)), np.zeros(len(self), np.int64)
        for j, (A, b) in enumerate(zip(self.gram, self.moment, strict=True)):
            values, basis = observed_directions(A)
            inside = basis.T @ b
            squares[j] = max(float(self.squares[j] - (inside**2 / values).sum()), 0.0)
            freedom[j] = max(int(self.freedom[j]) - len(values), 0)
        return np.where(freedom > 0, squares, 0.0), freedom

    def to_tree(self) -> dict[str, NDArray[Any]]:
        """As plain arrays."""
        return {field.name: getattr(self, field.name).copy() for field in fields(self)}

    @classmethod
    def from_tree(cls, tree: Mapping[str, Any]) -> Equations:
        """The inverse of :meth:`to_tree`."""
        return cls(*(np.array(tree[field.name], float) for field in fields(cls)))


@dataclass(frozen=True, eq=False)
class MeasuredRound:
    """One round, as what multiplies the parameters and what was measured."""

    rows: Array
    """(C, p)"""
    numbers: Array
    """(C,) NaN where missing."""
    information: Array
    """(q, P)"""

    def __len__(self) -> int:
        return 1


@dataclass(frozen=True, eq=False)
class Gathering:
    """The present phase: grows round by round, in memory that does not."""

    levels: Levels
    noise: Array
    """(C,) relative noise of the channels."""
    phase: Phase
    information: Array
    """(q, P)"""

    @classmethod
    def nothing(cls, levels: Levels, noise: Array, n_parameters: int, shape: Any) -> Gathering:
        """Before the first round."""
        phase = Phase.empty(_channels(len(noise), n_parameters), keep_rounds=_by_round(levels))
        return cls(levels, noise, phase, np.zeros(shape))

    @property
    def none_closed(self) -> Equations:
        """The empty stack of phases that are over; of a phase that nobody has checked, too."""
        p = len(self.phase.feature_means) // len(self.noise)
        shapes = ((p, p), (p,), (), (), self.information.shape)
        return Equations(*(np.zeros((0, *shape)) for shape in shapes))

    def followed_by(self, rounds: MeasuredRound) -> Stack:
        """After one more round."""
        phase = self.phase.add(rounds.rows.reshape(1, -1), rounds.numbers[None])
        return Stack(
            Gathering(self.levels, self.noise, phase, self.information + rounds.information)
        )

    @cached_property
    def equations(self) -> Equations:
        """What the phase says, levels projected out."""
        found = normal_equations(self.phase, self.levels, noise=self.noise)
        n_channels, p = len(self.noise), len(found.moment) // len(self.noise)
        cross = found.cross.reshape(n_channels, p, -1).sum(axis=0)
        return Equations(
            found.gram.reshape(n_channels, p, p).sum(axis=0) - cross @ cross.T,
            found.moment.reshape(n_channels, p).sum(axis=0) - cross @ found.nuisance_moment,
            np.array(found.squares.sum() - (found.nuisance_moment**2).sum()),
            np.array(found.freedoms.sum() - found.n_nuisances),
            self.information,
        )

    def grams(self, cells: Cells) -> Array:
        """(q, p, p) A, the same for all kinds."""
        return self.equations.grams(cells)

    def to_tree(self) -> dict[str, Any]:
        """As plain values."""
        phase = self.phase
        return {
            "levels": self.levels,
            "noise": self.noise.copy(),
            "information": self.information.copy(),
            "counts": phase.counts.copy(),
            "feature_means": phase.feature_means.copy(),
            "reward_means": phase.reward_means.copy(),
            "gram": phase.gram.copy(),
            "moment": phase.moment.copy(),
            "squares": phase.squares.copy(),
            "rounds": None if phase.rounds is None else [part.copy() for part in phase.rounds],
        }

    @classmethod
    def from_tree(cls, tree: Mapping[str, Any]) -> Gathering:
        """The inverse of :meth:`to_tree`."""
        names = ("counts", "feature_means", "reward_means", "gram", "moment", "squares")
        arrays = [np.array(tree[name], float) for name in names]
        n_channels, p = len(arrays[0]), len(arrays[1]) // len(arrays[0])
        kept = tree["rounds"]
        if kept is not None:
            widths = (n_channels * p, n_channels)
            kept = tuple(
                np.array(part, float).reshape(-1, width)
                for part, width in zip(kept, widths, strict=True)
            )
        stored = dict(zip(names, arrays, strict=True))
        phase = Phase(channels=_channels(n_channels, p), rounds=kept, **stored)
        noise, information = (np.array(tree[name], float) for name in ("noise", "information"))
        return cls(tree["levels"], noise, phase, information)


@dataclass(frozen=True, eq=False)
class Stack:
    """The present phase after one round, where code expects the sums after each of several."""

    present: Gathering | Equations

    def __len__(self) -> int:
        return 1

    def __getitem__(self, key: Any) -> Any:
        """The phase itself, or the same again if several rounds are asked for."""
        return self.present if isinstance(key, int | np.integer) else self


def _by_round(levels: Levels) -> bool:
    return levels in ("round", "both")


def _channels(n_channels: int, n_parameters: int) -> Channels:
    """Every channel is fed by the same parameters: one block each."""
    kinds: Indices = np.zeros(n_channels, np.int64)
    return Channels(kinds, np.array([n_parameters]), np.arange(n_channels + 1))
