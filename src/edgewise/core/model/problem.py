"""The problem: a graph, the arms its nodes choose from, and how noisy the rewards are."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgewise.base.arrays import Array, Indices, frozen, stays_frozen
from edgewise.base.border import border
from edgewise.core.model.options import (
    Levels,
    Measured,
    Noise,
    PoolingChoice,
    check_bernoulli,
    checked_average,
    checked_baseline,
    checked_levels,
    checked_measured,
    checked_node_kinds,
    checked_noise,
    checked_own_term,
    checked_pooling,
)
from edgewise.core.model.sharing import Classes
from edgewise.errors import InvalidProblem
from edgewise.network.arms import NamedArms, Whitening, checked_arms, names_of, require_span, whiten
from edgewise.network.candidates import (
    Candidates,
    NamedMask,
    by_label,
    checked_candidates,
    group_candidates,
)
from edgewise.network.graph import Graph

_LARGEST_EQUATIONS = 2e8
"""Numbers in the normal equations of edges that have nothing in common: 1.6 GB."""
_MOST_IN_ONE = 2000
"""Parameters of edges that one number per round may be asked about."""


@stays_frozen
@border(error=InvalidProblem)
@dataclass(frozen=True, eq=False, repr=False)
class Problem:
    r"""Which arm should every node get?

    Deploying arms :math:`x^{(1)}, \dots, x^{(n)}` shows on every arc (i, j) of kind q the reward

    .. math:: r_{ij} = w_{ij} (x^{(i)\top} M_q x^{(j)} + x^{(i)\top} \beta_q) + \text{noise},

    with unknown matrices :math:`M_q` (and :math:`\beta_q` when ``node_term``), independent
    zero-mean noise of standard deviation (more generally sub-Gaussian parameter) ``noise``.

    Parameters
    ----------
    graph
        Who interacts with whom.
    arms
        (K, d) the configurations a node can be given, spanning :math:`R^d`.
    noise
        sigma, the noise parameter of one measured number; or ``"estimate"`` if it is not known: it
        is then bounded from repeated observations, at the price of a part of delta and of assuming
        Gaussian noise of one deviation. Or one number per channel, or per kind of arcs or links.
        ``"bernoulli"``: rewards are 0 or 1 (or between), and their means probabilities; the noise
        parameter is then 1/2.
    node_term
        Whether the reward has the term :math:`x^{(i)\top}\beta`.
    interaction
        False: the reward has only that term, :math:`r_{ij} = w_{ij} x^{(i)\top}\beta_q`, so what
        an arc brings depends on the arm of its first node alone (implies ``node_term``).
    candidates
        (n, K) boolean: the arms each node may be given; or ``{node: [arms]}`` by label, or a data
        frame with nodes as index and arms as columns. Default: all.
    project
        Accept arms that do not span :math:`R^d` and work in their span.
    arm_labels
        Names of the arms, for reports; by default the index, if the arms are a data frame.
    feature_names
        Names of the features; by default the columns, if the arms are a data frame.
    measured
        What one reward is: ``"arc"``, one per direction (m,); ``"link"``, both directions of an
        undirected edge together (E,); ``"node"``, what the incoming arcs of a node bring (n,);
        ``"total"``, one number per round.
    levels
        Unknown constants in the rewards: ``True`` or ``"channel"``, one per measured number;
        ``"round"``, one per round, common to all; ``"both"``. They are projected out.
    pooling
        ``"shared"``: one matrix for all edges of a kind. ``"none"``: one per edge.
        ``"partial"``: one per edge, shrunk towards its kind's as far as the data say; nothing is
        certified then, only estimated. ``"auto"``: partial if the first phase shows that edges
        differ, else shared.
    own_term
        ``measured="node"``: whether the node's own arm adds :math:`x_j^\top\beta`, by kind of
        node; by default it does.
    average
        ``measured="node"``: the mean of what incoming arcs bring, rather than the sum.
    node_kinds
        (n,) kinds of nodes, for the own term; by default there is one.
    baseline
        (n,) the arm of every node today, or one arm for all: what runs before the first round, what
        exploring is compared with, and what limits on changes start from. By default not known.

    Examples
    --------
    >>> Problem(Graph.circle(n_nodes=5), [[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]], noise=0.5)
    Problem(Graph(n_nodes=5, n_arcs=10), 3 arms in R^2, noise=0.5)
    """

    graph: Graph
    arms: NamedArms
    _: KW_ONLY
    noise: Noise = 1.0
    node_term: bool = False
    candidates: NamedMask | None = None
    project: bool = False
    arm_labels: Sequence[Hashable] | None = None
    measured: Measured = "arc"
    levels: bool | Levels = "none"
    pooling: PoolingChoice = "shared"
    own_term: bool | None = None
    average: bool = False
    node_kinds: Indices | None = None
    baseline: Indices | None = None
    interaction: bool = True
    feature_names: Sequence[str] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.graph, Graph):
            raise InvalidProblem(
                f"graph is a {type(self.graph).__name__}; build an edgewise.Graph first, "
                "e.g. Graph.from_edges(pairs) or Graph.from_networkx(graph)"
            )
        set_field = object.__setattr__
        self._name_arms()
        self._check_options()
        arms = range(self.n_arms) if self.arm_labels is None else self.arm_labels
        candidates = by_label(self.candidates, self.graph.labels, arms)
        mask = checked_candidates(candidates, self.graph.n_nodes, self.n_arms)
        set_field(self, "candidates", mask)
        set_field(self, "baseline", checked_baseline(self.baseline, self.candidate_sets))
        if self.whitening.rank == 0:
            raise InvalidProblem("every arm is zero, so no reward depends on M; add a non-zero arm")
        if not self.project:
            require_span(self.whitening.rank, self.dimension)
        if self.node_term and self.interaction:
            _require_lift(self.whitening.coordinates)

    def _name_arms(self) -> None:
        """Arms as numbers, with names for them and their features."""
        set_field, names = object.__setattr__, names_of(self.arms)
        set_field(self, "arms", frozen(checked_arms(self.arms), float))
        labels = names.arms if self.arm_labels is None else self.arm_labels
        if labels is not None:
            set_field(self, "arm_labels", _checked_arm_labels(labels, self.n_arms))
        features = names.features if self.feature_names is None else self.feature_names
        if features is not None:
            set_field(self, "feature_names", _checked_feature_names(features, self.dimension))

    def _check_options(self) -> None:
        set_field, graph = object.__setattr__, self.graph
        set_field(self, "measured", checked_measured(self.measured, graph))
        set_field(self, "levels", checked_levels(self.levels))
        set_field(self, "pooling", checked_pooling(self.pooling))
        set_field(self, "own_term", checked_own_term(self.own_term, self.measured))
        set_field(self, "average", checked_average(self.average, self.measured, graph))
        set_field(self, "node_kinds", checked_node_kinds(self.node_kinds, graph))
        set_field(self, "node_term", self.node_term or not self.interaction)
        self._check_pooling()
        noise = checked_noise(self.noise, graph.n_kinds, self.n_rewards, self.measured)
        set_field(self, "noise", noise)
        if self.is_bernoulli:
            check_bernoulli(graph, self.measured, self.level_names, self.pooling)

    def _check_pooling(self) -> None:
        n_parameters = self.graph.n_interactions * self.parameters_per_edge
        if self.pooling == "none" and self.n_rewards * n_parameters**2 > _LARGEST_EQUATIONS:
            raise InvalidProblem(
                f"pooling='none' gives {self.graph.n_interactions} edges a matrix each, about "
                f"{n_parameters} parameters without anything in common; their equations would take "
                f"{8e-9 * self.n_rewards * n_parameters**2:.0f} GB: pass pooling='partial'"
            )
        local = self.measured == "total" and self.pooling in ("partial", "auto")
        if local and n_parameters > _MOST_IN_ONE:
            raise InvalidProblem(
                f"pooling={self.pooling!r} with measured='total' asks one number per round for "
                f"about {n_parameters} parameters, at most {_MOST_IN_ONE}; measure more than the "
                "total, or pass pooling='shared'"
            )

    @property
    def n_rewards(self) -> int:
        """How many numbers are measured every round."""
        graph = self.graph
        sizes = {
            "arc": graph.n_arcs,
            "link": graph.n_interactions,
            "node": graph.n_nodes,
            "total": 1,
        }
        return sizes[self.measured]

    @property
    def parameters_per_edge(self) -> int:
        """How many numbers an edge's matrix and node term are, at most."""
        return self.dimension * (self.dimension * self.interaction + self.node_term)

    @property
    def level_names(self) -> Levels:
        """Which levels there are, by name."""
        return checked_levels(self.levels)

    @property
    def has_channel_levels(self) -> bool:
        """Whether every measured number has an unknown constant of its own."""
        return self.levels in ("channel", "both")

    @property
    def is_bernoulli(self) -> bool:
        """Whether rewards are 0 or 1, and their means probabilities."""
        return self.noise == "bernoulli"

    @property
    def is_plain(self) -> bool:
        """The paper's model: a reward per arc, no levels, one matrix per kind, one noise."""
        return (
            self.measured == "arc"
            and self.levels == "none"
            and self.pooling == "shared"
            and self.graph.covariates is None
            and self.interaction
            and not isinstance(self.noise, tuple)
        )

    @property
    def n_arms(self) -> int:
        """K."""
        return len(self.arms)

    @property
    def dimension(self) -> int:
        """d, the length of an arm."""
        return int(self.arms.shape[1])

    @property
    def stated_noise(self) -> float:
        """Sigma as a number; an error if it is to be estimated.

        Where channels differ it is 1: their rewards are counted in units of their own noise. What
        lies between 0 and 1 is sub-Gaussian with 1/2 (Hoeffding).
        """
        if self.is_bernoulli:
            return 0.5
        if isinstance(self.noise, str):
            raise InvalidProblem(
                "the problem says noise='estimate', and a number is needed here; state the noise, "
                "e.g. dataclasses.replace(problem, noise=1.0)"
            )
        return 1.0 if isinstance(self.noise, tuple) else float(self.noise)

    @cached_property
    def whitening(self) -> Whitening:
        """Coordinates of the arms in which nothing is badly scaled."""
        return whiten(self.arms)

    @property
    def has_paper_setting(self) -> bool:
        """One kind, both directions, weights >= 0, every arm at every node: theorems apply."""
        return self.is_plain and self.graph.is_uniform and self.candidates is None

    @cached_property
    def candidate_sets(self) -> Candidates:
        """The distinct candidate sets (C, K), and which one each node has (n,)."""
        return group_candidates(self.candidates, self.graph.n_nodes, self.n_arms)

    @cached_property
    def kind_of_node(self) -> Indices:
        """(n,) kind of each node, also when there is one."""
        nodes = np.zeros(self.graph.n_nodes) if self.node_kinds is None else self.node_kinds
        return frozen(nodes, np.int64)

    @cached_property
    def classes(self) -> Classes:
        """Which edges have the same matrix; for a plain problem those of the same kind."""
        return Classes.of(self.graph, alone=self.pooling == "none", average=self.average)

    @cached_property
    def showable(self) -> NDArray[np.bool_]:
        """(q, K, K): can some edge of kind q can show arm k at its first node, l at its last."""
        graph, (sets, set_of) = self.classes.graph, self.candidate_sets
        result = np.zeros((graph.n_kinds, self.n_arms, self.n_arms), np.bool_)
        if len(sets) == 1:
            result[:] = sets[0][:, None] & sets[0][None, :]
            return frozen(result, np.bool_)
        kinds = graph.kind_of_edge
        ends = set_of[graph.edges].astype(np.int64)
        keys = np.unique((kinds * len(sets) + ends[:, 0]) * len(sets) + ends[:, 1])
        for key in keys.tolist():
            rest, second = divmod(key, len(sets))
            kind, first = divmod(rest, len(sets))
            result[kind] |= sets[first][:, None] & sets[second][None, :]
        if not graph.directed:
            result |= result.transpose(0, 2, 1)
        return frozen(result, np.bool_)

    @cached_property
    def fingerprint(self) -> str:
        """A digest of everything that defines the problem, to recognise it when restoring."""
        digest = hashlib.sha256()
        graph = self.graph
        parts: list[Any] = [*graph.content, self.arms, self.candidates]
        for part in parts:
            digest.update(repr(None if part is None else part.shape).encode())
            digest.update(b"" if part is None else part.tobytes())
        flags = (graph.n_nodes, graph.directed, self.noise, self.node_term, self.project)
        digest.update(repr(flags).encode())
        if not self.is_plain:  # what plain problems do not have leaves their digest as it was
            options = (self.measured, self.levels, self.pooling, self.own_term, self.average)
            digest.update(repr(options if self.interaction else (*options, False)).encode())
            for part in (graph.covariates, self.node_kinds):
                digest.update(b"" if part is None else part.tobytes())
        if self.baseline is not None:
            digest.update(self.baseline.tobytes())
        return digest.hexdigest()

    def __repr__(self) -> str:
        extra = ", node_term=True" if self.node_term and self.interaction else ""
        extra += "" if self.interaction else ", interaction=False"
        extra += ", with candidates" if self.candidates is not None else ""
        usual = {"measured": "arc", "levels": "none", "pooling": "shared"}
        for name, value in usual.items():
            if getattr(self, name) != value:
                extra += f", {name}={getattr(self, name)!r}"
        noise = f"{self.noise:g}" if isinstance(self.noise, float) else f"{self.noise}"
        return (
            f"Problem({self.graph!r}, {self.n_arms} arms in R^{self.dimension}, "
            f"noise={noise}{extra})"
        )


def _checked_arm_labels(labels: Sequence[Hashable], n_arms: int) -> tuple[Hashable, ...]:
    names = tuple(labels)
    if len(names) != n_arms or len(set(names)) != n_arms:
        raise InvalidProblem(
            f"{len(names)} arm labels ({len(set(names))} distinct) for {n_arms} arms; "
            "give one distinct label each"
        )
    return names


def _checked_feature_names(names: Sequence[str], dimension: int) -> tuple[str, ...]:
    found = tuple(map(str, names))
    if isinstance(names, str) or len(found) != dimension or len(set(found)) != dimension:
        raise InvalidProblem(
            f"feature_names has {len(found)} names for {dimension} features; give one distinct "
            "name each",
            argument="feature_names",
        )
    return found


def _require_lift(coordinates: Array) -> None:
    """Raise unless the arms with a constant 1 appended still have full rank."""
    lifted = np.column_stack([coordinates, np.ones(len(coordinates))])
    rank = int(np.linalg.matrix_rank(lifted))
    if rank < lifted.shape[1]:
        raise InvalidProblem(
            f"with a node term the arms (x, 1) span {rank} of {lifted.shape[1]} dimensions: some "
            "combination of the features is the same for all arms, so beta cannot be told from M; "
            "that constant feature already acts as a node term: pass node_term=False, or add an "
            "arm off the common hyperplane"
        )
