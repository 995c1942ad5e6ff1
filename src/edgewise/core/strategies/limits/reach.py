"""What can follow what is deployed now: where nodes may go, how far, how many at once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

import numpy as np

from edgewise.allocation.improve.few_changes import with_few_changes
from edgewise.allocation.instance.objective import Objective
from edgewise.base.arrays import Indices, Mask, frozen
from edgewise.core.model.problem import Problem
from edgewise.core.state import LearnerState
from edgewise.core.strategies.worlds import best_of


@dataclass(frozen=True, eq=False)
class Reach:
    """The joint arms that limits allow in the next round.

    Nodes choose a destination, then go there, in as many rounds as the steps take: choosing only
    among the arms one step away would leave a node at any arm whose neighbours are worse.
    """

    deployed: Indices
    """(n,) what is deployed now."""
    candidates: Mask
    """(n, K)"""
    region: Mask
    """(n, K) where nodes may go: the candidates in the trust region, or nearest to it."""
    steps: int | None
    """How far a node may go in a round, in the arms' order; None for any distance."""
    changed: int | None
    """How many nodes may change; None for any number."""

    def best(self, world: Objective, switching_cost: float) -> Indices:
        """(n,) the way to the best joint arm of a world, less what switching costs.

        Of the ways that bring every node nearer to it, the one that earns most in this world.
        """
        moves = np.arange(self.region.shape[1]) != self.deployed[:, None]
        limited = replace(
            world,
            candidates=self.region,
            unary=world.unary_of_node - switching_cost * moves,
        )
        aim = best_of(limited)
        if self.changed is not None:
            aim = with_few_changes(limited, aim, self.deployed, self.changed, self._must_move)
        if self.steps is not None:
            aim = best_of(replace(world, candidates=self._on_the_way(aim)))
        return frozen(aim, np.int32)

    def follow(self, wanted: Indices, order: Indices) -> Indices:
        """(n,) the way to what is allowed nearest to ``wanted``; the first of ``order`` change."""
        aim = nearest(self.region, wanted)
        moving = order[(aim != self.deployed)[order]]
        if self.changed is not None:
            urgent = np.argsort(~self._must_move[moving], kind="stable")
            stays = moving[urgent][self.changed :]
            aim[stays] = self.deployed[stays]
        return frozen(self._towards(aim), np.int32)

    def back(self, baseline: Indices) -> Indices:
        """(n,) the way back to the baseline; the furthest change first."""
        home = self._towards(baseline)
        if self.changed is not None:
            moving = np.flatnonzero(home != self.deployed)
            furthest = np.argsort(-np.abs(self.deployed - baseline)[moving], kind="stable")
            stays = moving[furthest[self.changed :]]
            home[stays] = self.deployed[stays]
        return home

    def _towards(self, aim: Indices) -> Indices:
        """(n,) as near to ``aim`` (n,) as a round takes."""
        return nearest(self._on_the_way(aim), aim)

    def _on_the_way(self, aim: Indices) -> Mask:
        """(n, K) candidates nearer to ``aim`` (n,), in reach of a round; where nodes are there,
        their arm.
        """
        arms, here = np.arange(self.candidates.shape[1]), self.deployed[:, None]
        left = np.abs(arms - aim[:, None])
        nearer = (left < np.abs(here - aim[:, None])) & self.candidates
        if self.steps is not None:
            nearer &= np.abs(arms - here) <= self.steps
        stays = ~nearer.any(axis=1, keepdims=True) & (arms == here)
        found: Mask = nearer | stays
        return found

    @property
    def _must_move(self) -> Mask:
        """(n,) nodes that are where they may not stay."""
        stays: Mask = self.region[np.arange(len(self.deployed)), self.deployed]
        return ~stays


@runtime_checkable
class HasReach(Protocol):
    """A plan whose changes are limited."""

    def reach(self, problem: Problem, state: LearnerState) -> Reach:
        """What can follow what is deployed now."""


def nearest(allowed: Mask, arms: Indices) -> Indices:
    """(n,) for every node the allowed arm nearest to that of ``arms``, in the arms' order."""
    distance = np.abs(np.arange(allowed.shape[1]) - arms[:, None])
    found: Indices = np.where(allowed, distance, allowed.shape[1]).argmin(axis=1)
    return found.astype(np.int32)


def near(allowed: Mask, centre: Indices, within: int) -> Mask:
    """(n, K) the allowed arms within so many steps of ``centre`` (n,), else the nearest ones."""
    distance = np.abs(np.arange(allowed.shape[1]) - centre[:, None])
    closest = np.where(allowed, distance, allowed.shape[1]).min(axis=1, keepdims=True)
    found: Mask = allowed & (distance <= np.maximum(closest, within))
    return found
