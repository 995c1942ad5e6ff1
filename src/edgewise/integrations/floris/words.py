"""What a run on a farm means, in plain words."""

from __future__ import annotations

from edgewise.core.report import Report
from edgewise.integrations.floris.comparison import ModelFit, YawComparison

_SMALL = 1e-3
"""Below this p-value the cells contradict the model."""


def explain(report: Report, comparison: YawComparison) -> str:
    """What exploring cost, how far the model is from FLORIS, and what is certified."""
    exploration = comparison.exploration
    cost = (
        f"While exploring, {exploration.rounds} rounds, the farm gave {exploration.mean:.1%} of "
        f"its power at zero yaw on average and {exploration.lowest:.1%} at the lowest."
    )
    return "\n".join([cost, *_model(report, comparison.fit), _certificate(report)])


def _model(report: Report, fit: ModelFit) -> list[str]:
    lines = [
        f"In {fit.settings} fresh settings the fitted model explains {fit.per_turbine:.1%} of the "
        f"variation of a turbine's power and {fit.farm:.1%} of the farm's."
    ]
    spread, stated = report.noise_estimate, report.problem.stated_noise
    if spread is not None and spread.low > stated:
        lines.append(
            f"Rewards of the same pair of angles spread by {spread.deviation:.3g} MW, more than "
            f"the noise of {stated:g} MW: they also depend on turbines that are not on the edge. "
            "The model averages over those, and a certificate would need the larger number stated."
        )
    if report.lack_of_fit is not None:
        p_value = report.lack_of_fit.p_value
        verdict = "contradict" if p_value < _SMALL else "do not contradict"
        lines.append(f"Lack of fit: p = {p_value:.2g}; the averages {verdict} the polynomials.")
    return lines


def _certificate(report: Report) -> str:
    status = "is certified" if report.certified else "is not certified"
    return (
        f"The answer {status}. A certificate speaks about the model only: rewards of edges, "
        "averaged over what the other turbines do, polynomials of the angles, independent noise "
        "of the stated size. It says nothing about how far the model is from the farm: for that "
        "there is the table, computed by FLORIS."
    )
