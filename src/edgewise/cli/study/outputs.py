"""What the commands of studies print: values, no output."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from edgewise.cli.terminal.shell import Output, as_csv, as_json, note
from edgewise.errors import InvalidFile
from edgewise.formats.channels import channel_columns

if TYPE_CHECKING:
    from edgewise.core.local.homogeneity import Homogeneity
    from edgewise.core.report import Estimated
    from edgewise.study import Past, Recommendation, Study, StudyStatus, StudyTicket

_WRITERS = {".csv": as_csv, ".json": as_json}


def check_out(path: Path | None) -> None:
    """Refuse a file that could not be written before the work, not after it."""
    if path is None:
        return
    if path.suffix.lower() not in _WRITERS:
        raise InvalidFile(
            f"{path}: the extension chooses the format; end the name in .csv or .json"
        )
    check_folder(path)


def check_folder(path: Path) -> None:
    """Refuse a file in a folder that does not exist."""
    if not path.absolute().parent.is_dir():
        raise InvalidFile(f"{path}: the folder {path.parent} does not exist; create it first")


def write_out(answer: Output, path: Path | None, what: str) -> None:
    """Write the answer to a file, if one is wanted, and say so."""
    if path is not None:
        path.write_text(_WRITERS[path.suffix.lower()](answer), encoding="utf-8", newline="")
        note(f"{what} in {path}")


def status_output(study: Study) -> Output:
    """Where the study stands, as last seen; the rows are the measurements its round lacks."""
    status = study.seen.status()
    facts = {
        **_facts(status),
        "noise": status.noise,
        "noise_measured": status.noise_estimate and status.noise_estimate.deviation,
        "lack_of_fit_p": status.lack_of_fit and status.lack_of_fit.p_value,
        "claim": str(status.claim),
        **homogeneity_output(status.homogeneity),
        **estimated_output(status.estimated),
        **past_facts(status.remodelled_from),
    }
    columns = channel_columns(study.problem) or ("measured",)
    lacking = [] if status.pending is None else status.pending.lacking()
    rows = [one if isinstance(one, tuple) and len(columns) == 2 else (one,) for one in lacking]
    return Output(facts, "lacking", columns, rows, shown=0, text=str(status))


def past_facts(past: Past | None) -> dict[str, Any]:
    """What a study modelled anew says about its first rounds; nothing about any other."""
    if past is None:
        return {}
    return {
        "remodelled_from": past.study,
        "rounds_seen_before": past.rounds,
        "remodelled": str(past),
    }


def _facts(status: StudyStatus) -> dict[str, Any]:
    left = status.forecast
    return {
        "study": status.name,
        "rounds": status.rounds,
        "max_rounds": status.max_rounds,
        "ending": status.ending.name.lower(),
        "pending": None if status.pending is None else status.pending.key,
        "missing": status.missing,
        "phase": status.phase,
        "target": status.target,
        "delta": status.delta,
        "epsilon": status.epsilon,
        "progress": status.progress,
        "leaders": [list(pair) for pair in status.leaders],
        "rival": None if status.rival is None else list(status.rival),
        "rounds_left": None if left is None else left.rounds,
        "rounds_left_low": None if left is None else left.low,
        "rounds_left_high": None if left is None else left.high,
    }


def ticket_output(ticket: StudyTicket) -> Output:
    """The configuration to deploy; every row names the round, so that answers can name it too."""
    rows = [(ticket.key, row["node"], row["arm"]) for row in ticket.table()]
    facts = {"study": ticket.study, "round": ticket.key}
    return Output(facts, "nodes", ("round", "node", "arm"), rows)


def recommendation_output(found: Recommendation) -> Output:
    """The best joint arm by what is known, and what is proved about it."""
    best = found.allocation
    facts = {
        "certified": found.certified,
        "value": None if best is None else best.value,
        "upper_bound": None if best is None else best.upper_bound,
        "guarantee": found.guarantee,
        **past_facts(found.remodelled_from),
    }
    rows = [(row["node"], row["arm"]) for row in found.table()]
    return Output(facts, "nodes", ("node", "arm"), rows, text=str(found))


def homogeneity_output(found: Homogeneity | None) -> dict[str, object]:
    """Whether edges differ, as numbers: p-values, and shares of the variation explained."""
    if found is None:
        return {}
    return {
        "edges_differ_p": None if found.score is None else found.score.p_value,
        "levels_p": None if found.levels_test is None else found.levels_test.p_value,
        "share_of_one_matrix": found.shared,
        "share_of_levels": found.levels,
        "share_of_edges": found.edges,
    }


def estimated_output(found: Estimated | None) -> dict[str, object]:
    """What is expected where the answer rests on the local model, as numbers."""
    if found is None:
        return {}
    low, high = found.interval
    return {
        "expected_gain": found.gain,
        "expected_gain_deviation": found.deviation,
        "expected_gain_low": low,
        "expected_gain_high": high,
        "expected_gain_over": found.baseline,
        "worth_of_rounds": found.worth_of_rounds,
        "fitted_noise": found.noise,
        "spread_of_edges": found.spread,
    }
