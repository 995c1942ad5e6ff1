r"""Soft sweeps: nodes hold laws over the arms, not arms, and cool; order spreads in few looks.

A visited node i, whose neighbours hold the laws :math:`q_j`, expects :math:`H_i[k] = u_i[k] +
\sum_j w_{ij} \sum_l q_j[l] W[l, k]` of arm k and moves *beyond* the law that fits it,

.. math:: q_i \leftarrow \omega\, p_i + (1 - \omega)\, q_i, \qquad p_i[k] \propto e^{H_i[k] / T},

the mean-field equations with successive over-relaxation (Young 1954). Drawn arms bring their noise
to every sweep, and domains then grow a little at a time; laws carry what they have. An entry of a
law is a byte, in units of 1 / 80: beyond 0 and 1 there is room for over-relaxation.
"""

from __future__ import annotations

import numpy as np

from edgewise.allocation.instance.links import Links
from edgewise.base.arrays import Array, Indices
from edgewise.base.compiled import compiled

UNIT = 80
"""Bytes count laws in units of 1 / 80: an entry may go from -1.58 to 1.58."""
_SURE = 40
"""Of 80 parts of a first law those on its own arm; the others are spread evenly."""
_PULL = 1.8
"""Omega: 1 is mean field, at 2 laws would swing for ever. Chosen on tables that no figure is of."""
_HOT, _COLD = 4.0, 0.4
"""First and last temperature in units of those of annealing: laws order at higher ones."""


def first_laws(arms: Indices, n_arms: int) -> Indices:
    """(n, K) bytes: half on the given arm (n,), half on all; random arms tell nodes apart.

    >>> first_laws(np.array([1]), 4).tolist()
    [[10, 50, 10, 10]]
    """
    laws = np.full((len(arms), n_arms), (UNIT - _SURE) // n_arms, np.int8)
    for k in range(n_arms):
        laws[arms == k, k] += _SURE
    return laws


def likeliest(laws: Indices) -> Indices:
    """(n,) the arm on which each law (n, K) puts most."""
    return np.asarray(laws.argmax(axis=1), np.uint8)


def temperatures(heat: float, sweeps: int) -> list[float]:
    """Of so many soft sweeps; ``heat`` is where most moves are accepted."""
    hot = max(heat, float(np.finfo(float).tiny))
    found: list[float] = (hot * np.linspace(_HOT, _COLD, sweeps)).tolist()
    return found


@compiled
def soften(
    links: Links,
    rows: Array,
    unary: Array,
    laws: Indices,
    own: Indices,
    start: int,
    first: int,
    last: int,
    temperature: float,
) -> None:
    """Visit the nodes first .. last - 1 of a range that begins at ``start``; changes ``own``.

    ``laws`` (n, K) are those of all nodes, ``own`` (range, K) those of the range by now, ``rows``
    (slots, K, K) what an edge brings by the other's arm and one's own.
    """
    n_slots, n_arms = rows.shape[0], rows.shape[2]
    sums, field = np.empty((n_slots, n_arms)), np.empty(n_arms)
    for i in range(first, last):
        _add_laws(links, laws, own, start, i, sums)
        if len(unary):
            field[:] = unary[i]
        else:
            field[:] = 0.0
        for s in range(n_slots):
            for l in range(n_arms):
                share = sums[s, l] / UNIT
                for k in range(n_arms):
                    field[k] += share * rows[s, l, k]
        _relax(field, temperature, own[i])


@compiled
def _add_laws(links: Links, laws: Indices, own: Indices, start: int, i: int, sums: Array) -> None:
    """The neighbours' laws by slot, (slots, K), in bytes; their range as in ``own``."""
    sums[:] = 0.0
    for p in range(links.starts[i], links.starts[i + 1]):
        j = links.neighbours[p]
        law = own[j - start] if start <= j < start + len(own) else laws[j]
        slot = links.slots[p] if len(links.slots) else 0
        weight = links.weights[p] if len(links.weights) else 1.0
        for k in range(sums.shape[1]):
            sums[slot, k] += weight * law[k]


@compiled
def _relax(field: Array, temperature: float, law: Indices) -> None:
    """Move a law (K,) beyond that of a field (K,), which is overwritten."""
    top, total = field.max(), 0.0
    for k in range(len(field)):
        field[k] = np.exp((field[k] - top) / temperature)
        total += field[k]
    for k in range(len(field)):
        wanted = _PULL * UNIT * field[k] / total + (1.0 - _PULL) * law[k]
        law[k] = np.int8(min(127.0, max(-127.0, np.rint(wanted))))
