r"""What the gate would not have noticed yet.

A form that has been silent may have had too little to speak of. Add an effect of size s (in units
of the noise) to the rewards as they are: the bet from start :math:`n_1` with spread tau grows by
:math:`\tfrac12 s^2\kappa` on average, kappa being what the best of the model leaves of the effect
in the :math:`L = T - n_1` rounds since, less what the richer model pays for it. With n numbers a
round, p parameters and :math:`1 - R^2` the share of a constant that the rows do not explain,

.. math:: T^2 \kappa_\text{drift} = nL\Big(\frac{L^2 - 1}{12}
              + (1 - R^2)\,\bar t^2\Big) - \frac{256}{\tau^2}, \qquad
          \kappa_\text{level} = nL - p - n\Big(\frac{T}{1 + \tau^2 T}
              - \frac{n_1}{1 + \tau^2 n_1}\Big) ,

for a drift by s over all T rounds (whose mean since the start is :math:`\bar t`) and levels of
deviation s. It is noticed about every second time
once a bet reaches its bar, so the size to name is the least s at which one does.
"""

from __future__ import annotations

import math

import numpy as np

from edgewise.base.arrays import Array
from edgewise.base.wording import counted
from edgewise.core.gate.effects import Kept
from edgewise.core.gate.forms import DATA, forms_for
from edgewise.core.gate.options import Gate
from edgewise.core.gate.rows import sight_of
from edgewise.core.gate.structure import explained_by, log_bets, seen
from edgewise.core.gate.sums import SPREADS, TIME
from edgewise.core.gate.watch import Watch, bar_of
from edgewise.core.model.problem import Problem


def unnoticed(problem: Problem, gate: Gate, watch: Watch) -> dict[str, float]:
    """Of drift and levels, the size that is noticed every second time; infinite if none is."""
    sight, data = sight_of(problem), DATA["numbers"]
    forms = forms_for(sight, gate.forms)
    hidden = ("drift",) if sight.has_round_levels else ()  # of all alike: a level of each round
    asked = [form for form in forms if form.name in _GROWTH and form.name not in hidden]
    if not asked or not watch.sums.count:
        return {}
    starts = watch.starts.get("numbers", ())
    began = np.array([n for n in data.starts if n < watch.rounds][: len(starts)])
    if not len(began):
        return {form.name: math.inf for form in asked}
    now = seen(asked, data, Kept(sight, watch.sums, None), watch.prior)
    assert now is not None
    price = bar_of(forms, gate, watch.sums.squares) + math.log(len(data.starts) * len(SPREADS))
    logs = log_bets(now, starts[: len(began)], known=sight.knows_noise)
    return {
        form.name: _least(price - logs[form.name], _GROWTH[form.name](watch, began))
        for form in asked
    }


def unnoticed_in_words(problem: Problem, gate: Gate, watch: Watch) -> str:
    """One sentence on what may be there and would not have been noticed; empty if nothing."""
    found, rounds = unnoticed(problem, gate, watch), counted(watch.rounds, "round")
    parts = [
        f"{what} by less than about {found[name]:.2g} deviations of the noise"
        if math.isfinite(found[name])
        else what
        for name, what in _WHAT.items()
        if name in found
    ]
    forms = [form.name for form in forms_for(sight_of(problem), gate.forms)]
    if "edge" in forms and watch.rounds <= DATA["edges"].starts[0]:
        parts.append("edges with matrices of their own")
    if not parts:
        return ""
    return f"After {rounds} the gate would hardly have noticed {', or '.join(parts)}."


def _least(missing: Array, growth: Array) -> float:
    """The least s with s^2 growth/2 = missing, over starts and spreads (S, tau)."""
    able = growth > 0.0
    squares = 2.0 * np.maximum(missing[able], 0.0) / growth[able]
    return float(np.sqrt(squares.min(initial=math.inf)))


def _of_drift(watch: Watch, began: Array) -> Array:
    """(S, tau) kappa."""
    sums, rounds = watch.sums, watch.rounds
    constant = explained_by(sums.gram, sums.number_features.sum(axis=0)) / sums.count
    since, middle = (rounds - began)[:, None], (rounds + began + 1)[:, None] / 2.0
    spread = (since**2 - 1.0) / 12.0 + max(1.0 - constant, 0.0) * middle**2
    left = sums.count / rounds * since * spread
    return np.asarray((left - (TIME / SPREADS) ** 2) / rounds**2)


def _of_levels(watch: Watch, began: Array) -> Array:
    """(S, tau) kappa."""
    rounds, then, p = watch.rounds, began[:, None], len(watch.sums.moment)
    n = watch.sums.count / rounds
    paid = rounds / (1.0 + SPREADS**2 * rounds) - then / (1.0 + SPREADS**2 * then)
    return np.asarray(n * (rounds - then) - p - n * paid)


_GROWTH = {"drift": _of_drift, "level": _of_levels}
_WHAT = {"drift": "a drift over them", "level": "levels that differ"}
