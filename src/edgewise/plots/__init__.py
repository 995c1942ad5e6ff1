"""Pictures of runs, in two steps: plot data as frozen values, then drawing.

>>> from edgewise.plots import histogram_data
>>> histogram_data([10, 12, 12, 15], n_bins=2).counts.tolist()
[3, 1]

The values need numpy only. Drawing needs matplotlib (``pip install 'edgewise[plot]'``), imported
when the first figure is made; no figure is registered with pyplot, so nothing has to be closed.
"""

from __future__ import annotations

from edgewise.plots.comparison import ComparisonData as ComparisonData
from edgewise.plots.comparison import comparison_data as comparison_data
from edgewise.plots.comparison import draw_comparison as draw_comparison
from edgewise.plots.comparison import figure_comparison as figure_comparison
from edgewise.plots.curves import Curve as Curve
from edgewise.plots.curves import CurvesData as CurvesData
from edgewise.plots.curves import curve_of as curve_of
from edgewise.plots.curves import mean_interval as mean_interval
from edgewise.plots.curves import rounds_against_dimension as rounds_against_dimension
from edgewise.plots.curves import rounds_against_edges as rounds_against_edges
from edgewise.plots.data import DesignData as DesignData
from edgewise.plots.data import GraphData as GraphData
from edgewise.plots.data import HeatMapData as HeatMapData
from edgewise.plots.data import HistogramData as HistogramData
from edgewise.plots.data import allocation_data as allocation_data
from edgewise.plots.data import design_data as design_data
from edgewise.plots.data import estimate_data as estimate_data
from edgewise.plots.data import graph_data as graph_data
from edgewise.plots.data import histogram_data as histogram_data
from edgewise.plots.draw import draw_curves as draw_curves
from edgewise.plots.draw import draw_design as draw_design
from edgewise.plots.draw import draw_error as draw_error
from edgewise.plots.draw import draw_estimate as draw_estimate
from edgewise.plots.draw import draw_histogram as draw_histogram
from edgewise.plots.draw import draw_progress as draw_progress
from edgewise.plots.draw_graph import draw_graph as draw_graph
from edgewise.plots.earnings import EarningsData as EarningsData
from edgewise.plots.earnings import draw_earnings as draw_earnings
from edgewise.plots.earnings import draw_won as draw_won
from edgewise.plots.earnings import earnings_data as earnings_data
from edgewise.plots.earnings import figure_earnings as figure_earnings
from edgewise.plots.farm import FarmData as FarmData
from edgewise.plots.farm import draw_farm as draw_farm
from edgewise.plots.farm import figure_farm as figure_farm
from edgewise.plots.figures import as_svg as as_svg
from edgewise.plots.figures import figure_allocation as figure_allocation
from edgewise.plots.figures import figure_convergence as figure_convergence
from edgewise.plots.figures import figure_curves as figure_curves
from edgewise.plots.figures import figure_design as figure_design
from edgewise.plots.figures import figure_estimate as figure_estimate
from edgewise.plots.figures import figure_graph as figure_graph
from edgewise.plots.figures import figure_histogram as figure_histogram
from edgewise.plots.figures import save as save
from edgewise.plots.layout import node_positions as node_positions
from edgewise.plots.radio import RadioData as RadioData
from edgewise.plots.radio import draw_radio as draw_radio
from edgewise.plots.radio import figure_radio as figure_radio
from edgewise.plots.residuals import ResidualData as ResidualData
from edgewise.plots.residuals import draw_residuals as draw_residuals
from edgewise.plots.residuals import figure_residuals as figure_residuals
from edgewise.plots.residuals import residual_data as residual_data
from edgewise.plots.shrinkage import ShrinkageData as ShrinkageData
from edgewise.plots.shrinkage import draw_shrinkage as draw_shrinkage
from edgewise.plots.shrinkage import figure_shrinkage as figure_shrinkage
from edgewise.plots.shrinkage import shrinkage_data as shrinkage_data
from edgewise.plots.trace import ConvergenceData as ConvergenceData
from edgewise.plots.trace import ConvergenceTrace as ConvergenceTrace
from edgewise.plots.trial import TrialData as TrialData
from edgewise.plots.trial import draw_trial as draw_trial
from edgewise.plots.trial import figure_trial as figure_trial
from edgewise.plots.trial import trial_data as trial_data
