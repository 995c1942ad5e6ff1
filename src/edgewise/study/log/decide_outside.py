"""What adding rounds from outside does to a study: their events, or an error. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from edgewise.base.arrays import Array, Indices
from edgewise.base.wording import shown
from edgewise.core.gate.outliers import outliers
from edgewise.core.setting import Setting
from edgewise.errors import Call, InvalidArgument, LearnerStopped, UnlikelyReward
from edgewise.study.log.events import Added
from edgewise.study.log.fold import StudyState
from edgewise.study.log.outside import digest_of

_LONGEST = 255


def check_source(source: object) -> str:
    """Where rounds come from, in words that can be printed."""
    if (
        isinstance(source, str)
        and 0 < len(source.strip()) <= len(source) <= _LONGEST
        and source.isprintable()
    ):
        return source
    raise InvalidArgument(
        f"source is {shown(source)}; give a text of 1 to {_LONGEST} characters that can be "
        "printed; nothing was recorded",
        argument="source",
    )


def add(
    setting: Setting,
    state: StudyState,
    arms: Sequence[Indices],
    rewards: Sequence[Array],
    source: str,
    *,
    accept_outliers: bool = False,
) -> list[Added]:
    """Rounds that were deployed before the study, or outside of it; none if they are on record."""
    digest = digest_of(arms, rewards)
    if any((one.source, one.digest) == (source, digest) for one in state.outside):
        return []
    _refuse_out(state)
    _refuse_deciding(setting, state)
    if not accept_outliers:
        _refuse_outliers(setting, state, arms, rewards)
    first = state.learner.rounds + 1
    last = first + len(arms) - 1
    return [
        Added(
            round=first + place,
            attempt=1 if place else state.attempts + 1,
            first=first,
            last=last,
            source=source,
            digest=digest,
            arms=one,
            rewards=values,
        )
        for place, (one, values) in enumerate(zip(arms, rewards, strict=True))
    ]


def _refuse_out(state: StudyState) -> None:
    if state.pending is not None:
        raise LearnerStopped(
            f"round {state.pending.number} is out, and rounds are counted in order; nothing was "
            "recorded: ",
            Call("tell"),
            " it, ",
            Call("close"),
            " it or ",
            Call("cancel"),
            " it first",
        )


def _refuse_deciding(setting: Setting, state: StudyState) -> None:
    """A first phase that decides how edges are pooled is not cut short."""
    learner = state.learner
    if setting.problem.pooling == "auto" and learner.pooling is None and learner.phase_rounds:
        raise InvalidArgument(
            f"the first phase decides how edges are pooled, and after {learner.rounds} rounds it "
            "is not over; nothing was recorded: add rounds before the first round, or after it"
        )


def _refuse_outliers(
    setting: Setting, state: StudyState, arms: Sequence[Indices], rewards: Sequence[Array]
) -> None:
    """Raise if one of the rewards can hardly be right, by what the study has seen."""
    for place, (one, values) in enumerate(zip(arms, rewards, strict=True), start=1):
        found = outliers(setting.problem, state.learner.watch, one, values)
        if found:
            raise UnlikelyReward(
                f"round {place} of those to add: {found[0].in_words(setting.problem)}; nothing "
                "was recorded: correct the value, leave it out, or, if it is right, ",
                Call("add", "accept_outliers"),
            )
