"""The gate at work: what it has kept of the rounds, and what it has found."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from edgewise.base.arrays import Array, Indices
from edgewise.base.scales import overflowed
from edgewise.core.evidence.by_edge import local_network
from edgewise.core.gate import size, structure
from edgewise.core.gate.contradiction import Contradiction, noted
from edgewise.core.gate.effects import Kept
from edgewise.core.gate.forms import DATA, Data, Form, forms_for, is_local
from edgewise.core.gate.local import Predicted, Predictions, log_p_value
from edgewise.core.gate.options import Gate
from edgewise.core.gate.places import place_of
from edgewise.core.gate.rows import Rows, Sight, is_small, sight_of
from edgewise.core.gate.size import Block
from edgewise.core.gate.solving import log_mean
from edgewise.core.gate.structure import Seen
from edgewise.core.gate.sums import Sums
from edgewise.core.local.normal_equations import Phase
from edgewise.core.model.problem import Problem

_WIDE = 1e6
"""Prior variance of parameters, in units of the mean square of the first round's numbers."""
_LOG10 = math.log(10.0)
_ROUNDING = 1e4 * float(np.finfo(float).eps)
"""Share of all squares (in units of the noise) that may be rounding, and proves nothing."""
_GROWTH = 2.0
"""Richer models are looked at whenever there are so many times the rounds of the last look."""


class Told(NamedTuple):
    """One round, as it is told."""

    number: int
    """Of the run."""
    phase: int
    arms: Indices
    """(n,)"""
    rewards: Array
    """(m,) NaN where missing."""
    by_edge: Phase | None
    """What the edges showed one by one, this round included; None where it is not kept."""
    before: Phase | None = None
    """The same as of the last phase that was over, where edges have parameters of their own."""
    over: bool = False
    """Whether the phase ends with this round."""
    pooling: str = "shared"
    """How edges are pooled, as said or decided; "auto" while that is open."""


@dataclass(frozen=True, eq=False)
class Watch:
    """What the gate knows after some rounds."""

    rounds: int
    """How many it has watched."""
    prior: float
    """Prior variance of the parameters; fixed after the first round."""
    sums: Sums
    starts: Mapping[str, tuple[Seen, ...]]
    """The moments from which forms bet, by the data they look at."""
    looked: int
    """After how many rounds richer models were last looked at."""
    block: Block
    blocks: int
    """Blocks that are over."""
    growth: Array
    """(lambda,) log of the bets on a larger noise, of the blocks that are over."""
    residual: tuple[float, int]
    """Squares and degrees of freedom of the blocks that are over."""
    spoken: tuple[Contradiction, ...] = ()
    predictions: Predictions | None = None
    """What the local model said of each phase beforehand; None if there is no such model."""

    @classmethod
    def nothing(cls, sight: Sight) -> Watch:
        """Before the first round."""
        sums, block = Sums.nothing(sight), Block.empty(0, sight.n_parameters)
        local = Predictions.nothing(sight.problem) if is_local(sight.problem) else None
        growth = np.zeros(len(size.TILTS))
        return cls(0, 1.0, sums, {}, 0, block, 0, growth, (0.0, 0), predictions=local)

    @property
    def measured_noise(self) -> float | None:
        """Deviation of the residuals inside blocks, in units of the noise; None before any."""
        squares, rank = self.residual
        return math.sqrt(squares / rank) if rank > 0 else None

    def to_tree(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "rounds": self.rounds,
            "prior": self.prior,
            "sums": self.sums.to_tree(),
            "starts": {
                name: [one.to_tree() for one in starts] for name, starts in self.starts.items()
            },
            "looked": self.looked,
            "block": self.block.to_tree(),
            "blocks": self.blocks,
            "growth": self.growth,
            "residual": list(self.residual),
            "spoken": [one.to_tree() for one in self.spoken],
            "predictions": None if self.predictions is None else self.predictions.to_tree(),
        }

    @classmethod
    def from_tree(cls, tree: Mapping[str, Any]) -> Watch:
        """The inverse of :meth:`to_tree`; lists instead of arrays are fine."""
        sums, local = Sums.from_tree(tree["sums"]), tree.get("predictions")
        squares, rank = tree["residual"]
        return cls(
            int(tree["rounds"]),
            float(tree["prior"]),
            sums,
            {name: tuple(map(Seen.from_tree, starts)) for name, starts in tree["starts"].items()},
            int(tree["looked"]),
            Block.from_tree(tree["block"], len(sums.moment)),
            int(tree["blocks"]),
            np.array(tree["growth"], float),
            (float(squares), int(rank)),
            tuple(map(Contradiction.from_tree, tree["spoken"])),
            None if local is None else Predictions.from_tree(local),
        )


def nothing_watched(problem: Problem, gate: Gate | None) -> Watch | None:
    """Before the first round; None where it would be large and nobody asked for it.

    Without a gate only outliers are watched for, and rewards of 0 and 1 have none.
    """
    if gate is None and problem.is_bernoulli:
        return None
    always = gate is not None and gate.always
    return Watch.nothing(sight_of(problem)) if always or is_small(problem) else None


def watch_round(
    problem: Problem, gate: Gate | None, watch: Watch | None, told: Told
) -> Watch | None:
    """With one more round; without a gate only what tells outliers is kept."""
    if watch is None:
        return None
    sight = sight_of(problem)
    rows, centred = sight.rows(told.arms, told.rewards), sight.has_round_levels
    if watch.block.phase != told.phase and len(watch.block.numbers):
        watch = replace(watch, **_closed(sight, gate, watch, watch.block, told))
    block = watch.block.with_round(rows, told.phase, told.number, centred=centred)
    over = _closed(sight, gate, watch, block, told) if block.is_full else {"block": block}
    return replace(
        watch,
        rounds=watch.rounds + 1,
        prior=_prior_after(watch, rows),
        sums=watch.sums.after(rows, watch.rounds + 1, centred=centred),
        predictions=watch.predictions and watch.predictions.with_round(told.arms, told.rewards),
        **over,
    )


def _prior_after(watch: Watch, rows: Rows) -> float:
    """Fixed by the first numbers, which no bet is on."""
    if watch.sums.count or not len(rows.numbers):
        return watch.prior
    return _WIDE * (1.0 + float(rows.numbers @ rows.numbers) / len(rows.numbers))


def watch_rounds(problem: Problem, gate: Gate | None, rounds: Iterable[Told]) -> Watch | None:
    """Of rounds from the first to the last: the same as watching them one by one."""
    watch, told = nothing_watched(problem, gate), None
    for told in rounds:
        watch = look(problem, gate, watch_round(problem, gate, watch, told), told)
    return watch if told is None else look(problem, gate, watch, told, now=True)


def look(
    problem: Problem, gate: Gate | None, watch: Watch | None, told: Told, *, now: bool = False
) -> Watch | None:
    """Ask the forms, if it is time to or ``now`` matters; what speaks is noted for good."""
    if watch is None or gate is None:
        return watch
    if watch.predictions is not None and told.pooling == "partial":
        return _look_locally(problem, gate, watch, watch.predictions, told)
    due = [name for name, data in DATA.items() if _is_time(watch, data, now)]
    if not due:
        return watch
    sight = sight_of(problem)
    later = replace(watch, looked=watch.rounds)
    kept = Kept(sight, watch.sums, told.by_edge)
    for name in due:
        later = _look_at(name, kept, gate, later, told)
    return later


def _look_locally(
    problem: Problem, gate: Gate, watch: Watch, local: Predictions, told: Told
) -> Watch:
    """At the end of a phase: what the local model had said of it, against what came."""
    if not told.over:
        return watch
    forms, spoken = forms_for(sight_of(problem), gate.forms, local=True), watch.spoken
    names = [form.name for form in forms]
    found, later = local.judged(problem, told.before)
    for name, evidence in later.evidence().items():
        if name in names and _speaks(evidence, bar_of(forms, gate)):
            spoken = noted(spoken, Contradiction(name, told.number, evidence / _LOG10))
    if found is not None and "outlier" in names:
        surprise, worst = log_p_value(found, later.phases)
        if _speaks(-surprise, bar_of(forms, gate)):
            spoken = noted(spoken, _outlier_of(problem, found, worst, surprise, told))
    return replace(watch, looked=watch.rounds, spoken=spoken, predictions=later)


def _outlier_of(
    problem: Problem, found: Predicted, worst: int, surprise: float, told: Told
) -> Contradiction:
    channel = int(found.channels[worst])
    per_channel = problem.n_rewards // local_network(problem).channels.n_channels
    expected = float(found.expected[worst])
    return Contradiction(
        "outlier",
        told.number,
        -surprise / _LOG10,
        position=channel * per_channel,
        at=told.number - int(found.rounds.max()) + int(found.rounds[worst]),
        value=expected + float(found.errors[worst]),
        expected=expected,
    )


def _is_time(watch: Watch, data: Data, now: bool) -> bool:
    """Whether to look at some data: at starts, when an answer is at hand, and now and then."""
    if watch.rounds == watch.looked:
        return False
    grown = data.often and watch.rounds >= max(_GROWTH * watch.looked, data.starts[1])
    return now or grown or watch.rounds in data.starts


def _look_at(name: str, kept: Kept, gate: Gate, watch: Watch, told: Told) -> Watch:
    """Ask the forms that look at some of the data; while the model is open, none speaks."""
    data, forms, sight = DATA[name], forms_for(kept.sight, gate.forms), kept.sight
    own = [form for form in forms if form.effect is not None and form.data == name]
    seen = structure.seen(own, data, kept, watch.prior) if own else None
    if seen is None:
        return watch
    starts, spoken = watch.starts.get(name, ()), watch.spoken
    bar = bar_of(forms, gate, kept.sums.squares)
    for form, evidence in _evidence(seen, starts, data, watch, sight).items():
        if _speaks(evidence, bar) and told.pooling != "auto":
            place = place_of(form, kept, watch)
            spoken = noted(spoken, Contradiction(form, told.number, evidence / _LOG10, **place))
    if watch.rounds in data.starts:
        starts = (*starts, seen)
    return replace(watch, spoken=spoken, starts={**watch.starts, name: starts})


def _evidence(
    now: Seen, starts: tuple[Seen, ...], data: Data, watch: Watch, sight: Sight
) -> dict[str, float]:
    """Log E of every form; of the noise, half from each formula."""
    found = structure.log_e_values(now, starts, data, known=sight.knows_noise)
    if "noise" in found:
        found["noise"] = log_mean([found["noise"], size.log_e_value(watch.growth)])
    return found


def _speaks(evidence: float, bar: float) -> bool:
    """Whether log E is enough; what could not be computed is an error, never silence."""
    if math.isnan(evidence) or evidence == math.inf:
        raise overflowed("what the gate computes of the rewards")
    return evidence >= bar


def bar_of(forms: tuple[Form, ...], gate: Gate, squares: float = 0.0) -> float:
    """Log of the evidence at which one of the forms speaks, if it is made of sums of squares."""
    return math.log(max(len(forms), 1) / gate.level) + _ROUNDING * squares


def _closed(
    sight: Sight, gate: Gate | None, watch: Watch, block: Block, told: Told
) -> dict[str, Any]:
    """What changes as a block is over: its residuals count, and its largest is asked about."""
    found, (squares, rank) = block.residuals(), watch.residual
    if math.isnan(found.squares):
        raise overflowed("what the gate computes of the rewards")
    return {
        "block": block.emptied(),
        "blocks": watch.blocks + 1,
        "growth": watch.growth + size.log_growth(found),
        "residual": (squares + found.squares, rank + found.rank),
        "spoken": _with_outlier(sight, gate, watch, block, found, told),
    }


def _with_outlier(
    sight: Sight, gate: Gate | None, watch: Watch, block: Block, found: size.Residuals, told: Told
) -> tuple[Contradiction, ...]:
    """What has spoken, and the largest residual of a block if it can hardly be chance."""
    if gate is None or told.pooling in ("partial", "auto"):  # the local model asks in its own way
        return watch.spoken
    forms = forms_for(sight, gate.forms)
    rows, blocks = len(block.numbers), watch.blocks + 1
    surprise = size.log_p_value(found, rows, blocks, known=sight.knows_noise)
    if -surprise < bar_of(forms, gate) or all(form.name != "outlier" for form in forms):
        return watch.spoken
    position = int(block.positions[found.position])
    unit = float(sight.scale[position])
    outlier = Contradiction(
        "outlier",
        told.number,
        -surprise / _LOG10,
        position=position,
        at=int(block.rounds[found.position]),
        value=float(block.numbers[found.position]) * unit,
        expected=found.fitted * unit,
    )
    return noted(watch.spoken, outlier)
