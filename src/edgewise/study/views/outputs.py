"""What the shells print of a study, for programs and people: values, no output."""

from __future__ import annotations

from typing import Any

from edgewise.core.earnings import Earnings
from edgewise.core.gate.contradiction import Contradiction
from edgewise.core.local.homogeneity import Homogeneity
from edgewise.core.model.problem import Problem
from edgewise.core.outlook import Explanation, Prediction
from edgewise.core.report import Estimated, Report
from edgewise.formats.channels import channel_columns
from edgewise.formats.output import Output
from edgewise.study.log.past import Past
from edgewise.study.views.details import Details, facts_of
from edgewise.study.views.status import Recommendation, StudyStatus
from edgewise.study.views.ticket import StudyTicket
from edgewise.trial.comparison import Comparison
from edgewise.trial.planning import PairsNeeded
from edgewise.trial.report import TrialReport
from edgewise.trial.ticket import TrialTicket


def status_output(status: StudyStatus, problem: Problem, details: Details | None = None) -> Output:
    """Where a study stands; the rows are the measurements its round lacks.

    ``details`` are the tables of the report page, for those who read everything.
    """
    facts = {
        **contradiction_facts(status.contradictions, problem),
        **({"withdrawn": list(status.withdrawn)} if status.withdrawn else {}),
        **_facts(status),
        "noise": status.noise,
        "noise_measured": status.noise_estimate and status.noise_estimate.deviation,
        "lack_of_fit_p": status.lack_of_fit and status.lack_of_fit.p_value,
        "claim": str(status.claim),
        **homogeneity_output(status.homogeneity),
        **estimated_output(status.estimated),
        **past_facts(status.remodelled_from),
        **({"added": status.added} if status.added else {}),
        **trial_facts(status.trial),
        "confirmation": str(status.confirmation),
        "trial_round": None if status.trial_ticket is None else status.trial_ticket.key,
        **({} if details is None else facts_of(details)),
    }
    columns = channel_columns(problem) or ("measured",)
    lacking = [] if status.pending is None else status.pending.lacking()
    rows = [one if isinstance(one, tuple) and len(columns) == 2 else (one,) for one in lacking]
    return Output(facts, "lacking", columns, rows, shown=0, text=str(status))


def contradiction_facts(found: tuple[Contradiction, ...], problem: Problem) -> dict[str, Any]:
    """What the data say against the model; nothing if they do not."""
    if not found:
        return {}
    return {
        "contradictions": [
            {
                "form": one.form,
                "round": one.round,
                "where": one.where(problem),
                "value": one.value,
                "expected": one.expected,
                "log10_evidence": one.odds,
                "remedy": one.remedy,
                "text": one.in_words(problem),
            }
            for one in found
        ]
    }


def past_facts(past: Past | None) -> dict[str, Any]:
    """What a study modelled anew says about its first rounds; nothing about any other."""
    if past is None:
        return {}
    return {
        "remodelled_from": past.study,
        "rounds_seen_before": past.rounds,
        "remodelled": str(past),
    }


def earnings_facts(found: Earnings | None) -> dict[str, Any]:
    """What exploring has earned; nothing where the problem does not say what runs today."""
    if found is None:
        return {}
    return {
        "earned_per_round": found.per_round,
        "baseline_reward": found.baseline,
        "recommended_reward": found.recommended,
        "won_against_baseline": found.won,
        "lost_against_recommendation": found.lost,
        "expected_cost_of_stopping": found.shortfall,
        "expected_gain_of_10_rounds": found.next_rounds,
        "good_enough": found.is_good_enough,
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
        **earnings_facts(status.earnings),
    }


def ticket_output(ticket: StudyTicket | TrialTicket) -> Output:
    """The configuration to deploy; every row names the round, so that answers can name it too."""
    rows = [(ticket.key, row["node"], row["arm"]) for row in ticket.table()]
    whose = {"trial": ticket.trial} if isinstance(ticket, TrialTicket) else {"study": ticket.study}
    facts = {**whose, "round": ticket.key}
    return Output(facts, "nodes", ("round", "node", "arm"), rows)


def recommendation_output(found: Recommendation) -> Output:
    """The best joint arm by what is known, and what is proved about it."""
    best = found.allocation
    facts = {
        **contradiction_facts(found.contradictions, found.problem),
        "certified": found.certified,
        "value": None if best is None else best.value,
        "upper_bound": None if best is None else best.upper_bound,
        "guarantee": found.guarantee,
        "confirmation": str(found.confirmation),
        **past_facts(found.remodelled_from),
    }
    rows = [(row["node"], row["arm"]) for row in found.table()]
    return Output(facts, "nodes", ("node", "arm"), rows, text=str(found))


def trial_output(found: TrialReport) -> Output:
    """Where a trial stands; the rows are its comparisons."""
    columns = ("comparison", "pairs", "difference", "low", "high", "order_matters")
    rows = [
        (_difference(one), one.pairs, one.difference, *one.interval, one.order_matters)
        for one in found.comparisons
    ]
    facts = {**trial_facts(found), "delta": found.delta, "warnings": " ".join(found.warnings)}
    return Output(facts, "comparisons", columns, rows, shown=0, text=str(found))


def prediction_output(found: Prediction) -> Output:
    """What a joint arm is expected to bring."""
    low, high = found.interval
    facts = {"value": found.value, "deviation": found.deviation, "low": low, "high": high}
    return Output(facts, "prediction", (), (), text=f"Expected {found}.")


def explanation_output(found: Explanation) -> Output:
    """What another arm at a node would change, and which links decide."""
    links = [[str(one.neighbour), str(one.arm), one.advantage] for one in found.links]
    facts = {"node": found.node, "arm": found.arm, "links": links, "own_term": found.own}
    columns = ("arm", "change", "low", "high")
    return Output(facts, "alternatives", columns, found.alternatives, 0, str(found))


def plan_output(found: PairsNeeded) -> Output:
    """How many pairs a trial may be expected to take."""
    text = f"Expect {found}."
    return Output(vars(found), "pairs", (), (), text=text)


def _difference(found: Comparison) -> str:
    return f"{found.first} minus {found.second}"


def trial_facts(found: TrialReport | None) -> dict[str, Any]:
    """What a trial found, as numbers; nothing if there was none."""
    if found is None:
        return {}
    low, high = found.interval
    return {
        "trial": found.ending.name.lower(),
        "trial_pairs": found.pairs,
        "trial_max_pairs": found.max_pairs,
        "trial_difference": found.difference,
        "trial_low": low,
        "trial_high": high,
        "trial_winner": found.winner,
    }


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


def report_output(name: str, found: Report, past: Past | None) -> Output:
    """The answer so far; the rows are the configurations compared."""
    best, regret, fit = found.allocation, found.regret, found.lack_of_fit
    facts = {
        **contradiction_facts(found.contradictions, found.problem),
        "study": name,
        "rounds": found.rounds,
        "ending": found.ending.name.lower(),
        "certified": found.certified,
        "delta": found.delta,
        "epsilon": found.epsilon,
        "target": found.target,
        "strategy": found.strategy,
        "stopping": found.stopping,
        "guarantee": found.guarantee,
        "upper_bound": None if best is None else best.upper_bound,
        "regret": None if regret is None else regret.bound,
        "regret_estimation": None if regret is None else regret.estimation,
        "regret_optimisation": None if regret is None else regret.optimisation,
        "noise_measured": found.noise_estimate and found.noise_estimate.deviation,
        "lack_of_fit_p": fit and fit.p_value,
        "claim": str(found.claim),
        "confirmation": str(found.confirmation),
        "measured": found.measured,
        **homogeneity_output(found.homogeneity),
        **estimated_output(found.estimated),
        **earnings_facts(found.earnings),
        **past_facts(past),
    }
    rows = [] if best is None else [("recommended", best.value)]
    rows += [(row.name, row.value) for row in found.baselines]
    return Output(facts, "configurations", ("configuration", "value"), rows, text=str(found))
