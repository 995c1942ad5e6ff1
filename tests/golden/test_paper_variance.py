"""Exact variances behind Figure 2, as first computed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from edgewise.network.families import FAMILIES
from edgewise.reproduction.experiments.variance_data import QUICK_EDGES
from edgewise.reproduction.sweep.points import VariancePoint

GOLDEN = Path(__file__).with_name("paper_variance.json")


@pytest.mark.parametrize("graph", FAMILIES)
def test_the_exact_variances_of_figure_2_are_the_recorded_ones(graph: str) -> None:
    """A change needs a line in the changelog that says why."""
    point = VariancePoint(graph, QUICK_EDGES, 5, 100, 0)
    rows = point.run(seed=0, first=0, count=2)
    values = [[row["exact"], row["paper"]] for row in rows]
    assert_allclose(np.array(values, float), json.loads(GOLDEN.read_text())[graph], rtol=1e-5)
