"""Which parameters feed which measured number."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from edgewise.base.arrays import Array, Indices, frozen
from edgewise.errors import InvalidArgument


class Layout(NamedTuple):
    """Where everything stands in flat arrays, as compiled code reads it."""

    blocks: Indices
    """(C + 1,) first block of each channel."""
    block_starts: Indices
    """(B + 1,) first parameter of each block."""
    gram_starts: Indices
    """(C + 1,) first entry of each channel's (w, w) matrix."""
    kinds: Indices
    """(B,) kind of each block."""
    covariates: Array
    """(B, m)."""
    column_starts: Indices
    """(C + 1,) first of each channel's columns."""
    columns: Indices
    """Fixed effects that reach each channel, in order: the means of its kinds, then nuisances."""
    block_columns: Indices
    """(B,) where among its channel's columns the means of a block's kind begin."""


@dataclass(frozen=True, eq=False)
class Channels:
    r"""A network of channels; a channel is one number that is measured every round.

    .. math:: r_c = a_c + \sum_{e \in c} z_{ce}^\top \theta_e + \text{noise}, \qquad
              \theta_e = \sum_i f_{ei} b_{\kappa(e) i} + \delta_e

    A *block* is the parameters of one arc (or link), or of a node's own term; it belongs to
    exactly one channel. Parameters are stored block after block, channel after channel.

    >>> node = Channels(kinds=[0, 0, 1], dimensions=[4, 2], blocks=[0, 3])
    >>> node.n_channels, node.n_parameters, node.n_means
    (1, 10, 6)
    """

    kinds: Indices
    """(B,) kind of each block."""
    dimensions: Indices
    """(q,) how many parameters a block of each kind has."""
    blocks: Indices
    """(C + 1,) channel c has the blocks ``blocks[c] .. blocks[c + 1] - 1``."""
    covariates: Array | None = None
    """(B, m) known numbers f of each block; None: the number 1, that is a plain mean per kind."""

    def __post_init__(self) -> None:
        set_field = object.__setattr__
        for name in ("kinds", "dimensions", "blocks"):
            set_field(self, name, frozen(getattr(self, name), np.int64))
        f = np.ones((self.n_blocks, 1)) if self.covariates is None else self.covariates
        set_field(self, "covariates", frozen(f, float))
        self._check()

    def _check(self) -> None:
        blocks, f = self.blocks, self.numbers
        if len(blocks) < 2 or blocks[0] != 0 or blocks[-1] != self.n_blocks:
            raise InvalidArgument(
                f"channels begin at block {blocks[:1].tolist()} and end at {blocks[-1:].tolist()} "
                f"of {self.n_blocks}; begin at 0 and end at the number of blocks"
            )
        if (np.diff(blocks) < 0).any():
            raise InvalidArgument("the first blocks of the channels must not decrease; sort them")
        if self.n_blocks and not 0 <= self.kinds.min() <= self.kinds.max() < len(self.dimensions):
            raise InvalidArgument(
                f"blocks have kinds {self.kinds.min()} to {self.kinds.max()}, dimensions are given "
                f"for 0 to {len(self.dimensions) - 1}; give one for each kind"
            )
        if f.ndim != 2 or len(f) != self.n_blocks or not np.isfinite(f).all():
            raise InvalidArgument(
                f"covariates have shape {f.shape} for {self.n_blocks} blocks, or are not finite; "
                "give one row of finite numbers per block"
            )

    @classmethod
    def of_arcs(
        cls, kinds: ArrayLike, dimensions: ArrayLike, covariates: ArrayLike | None = None
    ) -> Channels:
        """Every block measured on its own: a channel per arc or link."""
        kinds = np.asarray(kinds)
        f = None if covariates is None else np.asarray(covariates, dtype=float)
        return cls(kinds, np.asarray(dimensions), np.arange(len(kinds) + 1), f)

    # -- sizes -------------------------------------------------------------------------------

    @property
    def numbers(self) -> Array:
        """(B, m) covariates, also when none were given."""
        assert self.covariates is not None
        return self.covariates

    @property
    def n_blocks(self) -> int:
        """B."""
        return len(self.kinds)

    @property
    def n_channels(self) -> int:
        """C."""
        return len(self.blocks) - 1

    @property
    def n_kinds(self) -> int:
        """How many kinds, q."""
        return len(self.dimensions)

    @property
    def n_covariates(self) -> int:
        """How many numbers are known of each block, m."""
        return int(self.numbers.shape[1])

    @cached_property
    def block_starts(self) -> Indices:
        """(B + 1,) first parameter of each block."""
        return _starts(self.dimensions[self.kinds])

    @cached_property
    def starts(self) -> Indices:
        """(C + 1,) first parameter of each channel."""
        return self.block_starts[self.blocks]

    @cached_property
    def gram_starts(self) -> Indices:
        """(C + 1,) first entry of each channel's matrix in a flat array of (w, w) matrices."""
        return _starts(np.diff(self.starts) ** 2)

    @property
    def n_parameters(self) -> int:
        """P: the parameters of all blocks."""
        return int(self.block_starts[-1])

    @cached_property
    def mean_starts(self) -> Indices:
        """(q + 1,) first mean b of each kind; within a kind: covariate, then parameter."""
        return _starts(self.dimensions * self.n_covariates)

    @property
    def n_means(self) -> int:
        """How many numbers b has."""
        return int(self.mean_starts[-1])

    # -- for compiled code -------------------------------------------------------------------

    def layout(self, n_nuisances: int = 0) -> Layout:
        """Flat addresses, with ``n_nuisances`` further fixed effects that reach every channel."""
        lists, firsts = [], np.zeros(self.n_blocks, np.int64)
        extra = self.n_means + np.arange(n_nuisances)
        n_columns = np.diff(self.mean_starts)
        owner = np.repeat(np.arange(self.n_channels), np.diff(self.blocks))
        present = np.zeros((self.n_channels, self.n_kinds), dtype=bool)
        present[owner, self.kinds] = True
        before = np.cumsum(present * n_columns, axis=1) - present * n_columns
        firsts = before[owner, self.kinds]
        of_kind = [np.arange(*self.mean_starts[k : k + 2]) for k in range(self.n_kinds)]
        for row in present:
            lists.extend([of_kind[k] for k in np.flatnonzero(row)])
            lists.append(extra)
        return Layout(
            self.blocks,
            self.block_starts,
            self.gram_starts,
            self.kinds,
            self.numbers,
            _starts(present @ n_columns + n_nuisances),
            np.concatenate(lists) if lists else np.zeros(0, np.int64),
            firsts,
        )


def _starts(sizes: Indices) -> Indices:
    """Where stretches of these sizes begin, and where the last ends."""
    return frozen(np.concatenate([[0], np.cumsum(sizes)]), np.int64)
