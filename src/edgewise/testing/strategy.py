"""What a strategy must keep to, so that the stopping rules' proofs cover it."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import ClassVar

import numpy as np

from edgewise.core.evidence.statistics import count_joint_arm
from edgewise.core.learner import Learner, initial_state, tell_round
from edgewise.core.setting import Setting
from edgewise.core.state import LearnerState
from edgewise.core.strategies import Strategy
from edgewise.core.strategies.plan import upcoming
from edgewise.testing.cases import INSTANCES, Case, OnCases, after_round, setting_of

_SEED = 5
_NEVER = 1e-250
"""A delta at which no rule stops within a test."""


class StrategyContract(OnCases):
    """Subclass it as ``class TestMine(StrategyContract)`` and return yours from ``strategy``.

    Where a strategy does not work on every sort of problem, set ``cases`` to some of
    :data:`~edgewise.testing.cases.INSTANCES`.
    """

    cases: ClassVar[Mapping[str, Case]] = INSTANCES
    rounds: ClassVar[int] = 25
    """How long the runs are."""
    patience: ClassVar[int] = 300
    """Rounds within which two phases end although nothing is measured."""
    learning: ClassVar[int] = 200
    """Rounds within which everything can be estimated."""

    def strategy(self) -> Strategy:
        """Override: the strategy, made anew."""
        raise NotImplementedError("return the strategy to be tested")

    def _start(self, case: Case) -> tuple[Setting, LearnerState]:
        setting = setting_of(case, strategy=self.strategy(), delta=_NEVER)
        return setting, initial_state(setting, _SEED)

    def _states(self, case: Case) -> tuple[Setting, list[LearnerState]]:
        """The states of a run, each before a round."""
        setting, state = self._start(case)
        states = [state]
        for _ in range(self.rounds):
            states.append(after_round(setting, states[-1], case))
        return setting, states

    def test_it_has_a_name(self) -> None:
        """Reports and errors use it."""
        name = self.strategy().name
        assert isinstance(name, str)
        assert name

    def test_every_node_gets_an_arm_it_may_have(self, case: Case) -> None:
        """(n,) whole numbers among the candidates."""
        problem = case.problem
        setting, states = self._states(case)
        masks, groups = problem.candidate_sets
        for state in states:
            arms = setting.plan.joint_arm(problem, state)
            assert arms.shape == (problem.graph.n_nodes,)
            assert np.issubdtype(arms.dtype, np.integer)
            assert masks[groups, arms].all()

    def test_joint_arms_follow_from_the_state_alone(self, case: Case) -> None:
        """Asked twice, by another plan, in another order: the same joint arm."""
        setting, states = self._states(case)
        arms = [setting.plan.joint_arm(case.problem, state) for state in states]
        plan = self.strategy()(case.problem)
        for state, expected in reversed(list(zip(states, arms, strict=True))):
            assert np.array_equal(plan.joint_arm(case.problem, state), expected)
            stored = LearnerState.from_tree(deepcopy(state.to_tree()))
            assert np.array_equal(plan.joint_arm(case.problem, stored), expected)

    def test_inside_a_phase_rewards_do_not_matter(self, case: Case) -> None:
        """Two runs part with their rewards when a phase begins, and deploy the same until it ends.

        That is what makes evidence valid: the deviation of a phase's estimate is known before its
        rewards are.
        """
        setting, state = self._start(case)
        twin = state
        for _ in range(self.rounds):
            arms = setting.plan.joint_arm(case.problem, state)
            assert np.array_equal(setting.plan.joint_arm(case.problem, twin), arms)
            told = case.rewards(state, arms)
            state = tell_round(setting, state, arms, told)
            twin = tell_round(setting, twin, arms, -told)
            assert twin.phase_rounds == state.phase_rounds
            if state.phase_rounds == 0:
                twin = state

    def test_a_restored_learner_goes_on_bit_for_bit(self, case: Case) -> None:
        """Saved after any round; the strategy is recognised by its ``repr``."""
        learner = Learner(
            case.problem, strategy=self.strategy(), target="pair", delta=_NEVER, rng=1
        )
        measured = case.environment(3)
        for _ in range(self.rounds):
            saved = deepcopy(learner.save())
            again = Learner.restore(case.problem, saved, strategy=self.strategy())
            ticket, same = learner.ask(), again.ask()
            assert np.array_equal(ticket.arms, same.arms)
            rewards = measured(ticket.arms)
            learner.tell(ticket, rewards)
            again.tell(same, rewards)
            assert again.verdict == learner.verdict
            assert np.array_equal(again.ask().arms, learner.ask().arms)

    def test_upcoming_rounds_are_those_that_are_asked_for(self, case: Case) -> None:
        """Simulations see the observations and the information of the joint arms themselves."""
        problem = case.problem
        setting, states = self._states(case)
        cells = setting.plan.cells
        for state in states[:: max(1, len(states) // 5)]:
            observations, information, _ = upcoming(setting.plan, problem, state, 3)
            assert 1 <= len(observations) == len(information) <= 3
            phase = len(state.closed)
            for seen, known in zip(observations, information, strict=True):
                assert len(state.closed) == phase
                arms = setting.plan.joint_arm(problem, state)
                counts, weights = count_joint_arm(problem.graph, cells, arms)
                assert np.array_equal(seen, counts)
                assert np.allclose(known, weights, rtol=1e-12)
                state = after_round(setting, state, case)

    def test_missing_rewards_do_not_stall_a_phase(self, case: Case) -> None:
        """If nothing can be measured, phases end all the same; an endless one has none to end."""
        setting, state = self._start(case)
        nothing = np.full(case.problem.graph.n_arcs, np.nan)
        for _ in range(self.patience):
            arms = setting.plan.joint_arm(case.problem, state)
            state = tell_round(setting, state, arms, nothing)
        assert setting.plan.phasing.is_endless or len(state.closed) >= 2

    def test_everything_can_be_estimated_in_the_end(self, case: Case) -> None:
        """Every direction that matters is shown."""
        setting, state = self._start(case)
        while not state.verdict.pairs and state.rounds < self.learning:
            state = after_round(setting, state, case)
        assert state.verdict.pairs

    def test_a_run_can_be_reported(self, case: Case) -> None:
        """After a few rounds and after many."""
        learner = Learner(case.problem, strategy=self.strategy(), rng=1)
        measured = case.environment(3)
        assert "not every direction" in str(learner.report())
        for _ in range(self.rounds):
            if not learner.verdict.stop:
                learner.tell(learner.ask(), measured(learner.ask().arms))
        assert learner.report().strategy == self.strategy().name
        assert learner.report().assumes in str(learner.report()) or not learner.verdict.pairs
