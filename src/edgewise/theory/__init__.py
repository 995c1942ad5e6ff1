"""Calculators for the paper's theorems: variance, convergence, sample complexity, lower bound.

Each states the setting in which it holds, and refuses any other: undirected, unweighted graphs
with one kind of edges, where every node may be given every arm.
"""

from edgewise.theory.complexity import LowerBound, lower_bound, sample_complexity
from edgewise.theory.convergence import Constants, alpha, burn_in, constants
from edgewise.theory.independent import rho_independent
from edgewise.theory.realisable import RealisableRho, rho_realisable
from edgewise.theory.rho import RhoStar, characteristic, dual_bound, rho_star, worst_ratio
from edgewise.theory.variance import Variance, degree_excess, paper_decomposition, variance

__all__ = [
    "Constants",
    "LowerBound",
    "RealisableRho",
    "RhoStar",
    "Variance",
    "alpha",
    "burn_in",
    "characteristic",
    "constants",
    "degree_excess",
    "dual_bound",
    "lower_bound",
    "paper_decomposition",
    "rho_independent",
    "rho_realisable",
    "rho_star",
    "sample_complexity",
    "variance",
    "worst_ratio",
]
