"""The problem: a graph, the arms its nodes choose from, and how noisy the rewards are."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from edgewise.base.arrays import Array, Mask, frozen
from edgewise.errors import InvalidProblem
from edgewise.network.arms import Whitening, checked_arms, require_span, whiten
from edgewise.network.candidates import Candidates, checked_candidates, group_candidates
from edgewise.network.graph import Graph


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
        sigma, the noise parameter of one arc's reward; or ``"estimate"`` if it is not known: it is
        then bounded from repeated observations, at the price of a part of delta and of assuming
        Gaussian noise of one deviation.
    node_term
        Whether the reward has the term :math:`x^{(i)\top}\beta`.
    candidates
        (n, K) boolean: the arms each node may be given. Default: all.
    project
        Accept arms that do not span :math:`R^d` and work in their span.
    arm_labels
        Names of the arms, for reports.

    Examples
    --------
    >>> Problem(Graph.circle(n_nodes=5), [[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]], noise=0.5)
    Problem(Graph(n_nodes=5, n_arcs=10), 3 arms in R^2, noise=0.5)
    """

    graph: Graph
    arms: Array
    _: KW_ONLY
    noise: float | Literal["estimate"] = 1.0
    node_term: bool = False
    candidates: Mask | None = None
    project: bool = False
    arm_labels: Sequence[Hashable] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.graph, Graph):
            raise InvalidProblem(
                f"graph is a {type(self.graph).__name__}; build an edgewise.Graph first, "
                "e.g. Graph.from_edges(pairs) or Graph.from_networkx(graph)"
            )
        set_field = object.__setattr__
        set_field(self, "arms", frozen(checked_arms(self.arms), float))
        set_field(self, "noise", _checked_noise(self.noise))
        mask = checked_candidates(self.candidates, self.graph.n_nodes, self.n_arms)
        set_field(self, "candidates", mask)
        if self.arm_labels is not None:
            set_field(self, "arm_labels", _checked_arm_labels(self.arm_labels, self.n_arms))
        if self.whitening.rank == 0:
            raise InvalidProblem("every arm is zero, so no reward depends on M; add a non-zero arm")
        if not self.project:
            require_span(self.whitening.rank, self.dimension)
        if self.node_term:
            _require_lift(self.whitening.coordinates)

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
        """Sigma as a number; an error if it is to be estimated."""
        if isinstance(self.noise, str):
            raise InvalidProblem(
                "the problem says noise='estimate', and a number is needed here; state the noise, "
                "e.g. dataclasses.replace(problem, noise=1.0)"
            )
        return self.noise

    @cached_property
    def whitening(self) -> Whitening:
        """Coordinates of the arms in which nothing is badly scaled."""
        return whiten(self.arms)

    @property
    def has_paper_setting(self) -> bool:
        """One kind, both directions, weights >= 0, every arm at every node: theorems apply."""
        return self.graph.is_uniform and self.candidates is None

    @cached_property
    def candidate_sets(self) -> Candidates:
        """The distinct candidate sets (C, K), and which one each node has (n,)."""
        return group_candidates(self.candidates, self.graph.n_nodes, self.n_arms)

    @cached_property
    def showable(self) -> NDArray[np.bool_]:
        """(q, K, K): can some edge of kind q can show arm k at its first node, l at its last."""
        sets, set_of = self.candidate_sets
        result = np.zeros((self.graph.n_kinds, self.n_arms, self.n_arms), np.bool_)
        if len(sets) == 1:
            result[:] = sets[0][:, None] & sets[0][None, :]
            return result
        kinds = self.graph.kind_of_edge
        ends = set_of[self.graph.edges].astype(np.int64)
        keys = np.unique((kinds * len(sets) + ends[:, 0]) * len(sets) + ends[:, 1])
        for key in keys.tolist():
            rest, second = divmod(key, len(sets))
            kind, first = divmod(rest, len(sets))
            result[kind] |= sets[first][:, None] & sets[second][None, :]
        if not self.graph.directed:
            result |= result.transpose(0, 2, 1)
        return result

    @cached_property
    def fingerprint(self) -> str:
        """A digest of everything that defines the problem, to recognise it when restoring."""
        digest = hashlib.sha256()
        graph = self.graph
        parts: list[Any] = [graph.edges, graph.kinds, graph.weights, self.arms, self.candidates]
        for part in parts:
            digest.update(repr(None if part is None else part.shape).encode())
            digest.update(b"" if part is None else part.tobytes())
        flags = (graph.n_nodes, graph.directed, self.noise, self.node_term, self.project)
        digest.update(repr(flags).encode())
        return digest.hexdigest()

    def __repr__(self) -> str:
        extra = ", node_term=True" if self.node_term else ""
        extra += ", with candidates" if self.candidates is not None else ""
        return (
            f"Problem({self.graph!r}, {self.n_arms} arms in R^{self.dimension}, "
            f"noise={self.noise if isinstance(self.noise, str) else f'{self.noise:g}'}{extra})"
        )


def _checked_noise(noise: float | str) -> float | Literal["estimate"]:
    if noise == "estimate":
        return "estimate"
    if isinstance(noise, bool) or not isinstance(noise, int | float | np.number):
        raise InvalidProblem(
            f"noise is {noise!r}; it must be a number, the noise's deviation, or 'estimate'",
            argument="noise",
        )
    if not (np.isfinite(noise) and noise > 0):
        raise InvalidProblem(
            f"noise is {noise}; it must be a finite number above 0, an upper bound on the "
            "standard deviation of one reward",
            argument="noise",
        )
    return float(noise)


def _checked_arm_labels(labels: Sequence[Hashable], n_arms: int) -> tuple[Hashable, ...]:
    names = tuple(labels)
    if len(names) != n_arms or len(set(names)) != n_arms:
        raise InvalidProblem(
            f"{len(names)} arm labels ({len(set(names))} distinct) for {n_arms} arms; "
            "give one distinct label each"
        )
    return names


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
