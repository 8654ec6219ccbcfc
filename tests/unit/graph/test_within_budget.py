"""Graphs of Sokoban with several boxes for so many observations: against plain Python, from the rules of the puzzle
alone, and against the graph of every state. A label that is wrong is noticed."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from tests.reference import sokoban as reference
from tests.refusals import refused
from tests.unit.graph.cases import plan_of

pytest.importorskip("torch")

import recommit
from recommit.graph import build, decomposition, score
from recommit.graph.episodes import by_state, play
from recommit.graph.graph import PLAN
from recommit.graph.regret import attribute
from recommit.graph.values import OptimalValues
from recommit.prices import Prices, Setting

BUDGET, PRICES = 4, Prices(0.013, 0.02)
#: Plans with a mistake in every third action; lengths of which some are beyond reach.
TASK, STARTS = recommit.Sokoban(7, 2), recommit.Sokoban(7, 2).generate(6, seed=3, length=(6, 44)).states


class Scripted:
    """What a graph asks of a policy, without a network."""

    config = SimpleNamespace(
        depths=(1, 2, 4, 8), plan_length=8, budget_conditioned=False, decoder=SimpleNamespace(depth_conditioning="none")
    )
    plans_first = True

    def plan(self, task, states, _depths):
        plans = np.array([plan_of(task, state, 3) for state in states], np.uint8)
        chances = (0.1 + 0.6 * np.eye(4, dtype=np.float32))[plans]
        return np.zeros((len(states), 0), np.float32), chances[:, 0], plans[:, None], chances[:, None]


class Mislabelled(recommit.Sokoban):
    """One state of the solver's way is called lost."""

    def distance(self, states, *args, **kwargs):
        result = super().distance(states, *args, **kwargs)
        return np.where((np.asarray(states) == self.wrong).all(axis=(1, 2)), np.int32(-1), result)


class Searched(recommit.Sokoban):
    """The solver gives up on a state two actions away."""

    def distance(self, states, *args, **kwargs):
        result = super().distance(states, *args, **kwargs)
        return np.where(result == 2, np.int32(recommit.UNKNOWN), result)


def built(task=TASK, **how):
    return build.build(Scripted(), task, STARTS, **how)


@pytest.fixture(scope="module")
def bounded():
    return built(budget=BUDGET)


@pytest.fixture(scope="module")
def closed():
    return built()


def depth_of(plan):
    return 1 + int(np.asarray(plan).astype(int).sum()) % PLAN


class Plain:
    """Values under the best depths and under ``depth_of``, state by state, with labels by enumeration."""

    def __init__(self, start):
        self.level = reference.Level(start)
        self.distance = reference.distances(self.level, self.level.states())
        cells = [(int(r), int(c)) for r, c in np.argwhere(np.isin(start, (3, 4)))]
        player = tuple(int(x) for x in np.argwhere(np.isin(start, (5, 6)))[0])
        self.start, self.best_values, self.plans = (player, frozenset(cells)), {}, {}

    def plan(self, state):
        if state not in self.plans:
            self.plans[state] = plan_of(TASK, self.level.draw([state])[0], 3)
        return self.plans[state]

    def commit(self, state, depth):
        executed, plan = 0, self.plan(state)
        while executed < depth and not self.level.solved(state):
            state = self.level.act(state, plan[executed])
            executed += 1
        return state, executed

    def lost(self, state, left):
        return self.distance.get(state, 10**9) > PLAN * left

    def best(self, state, left):
        if self.level.solved(state):
            return 1.0
        if self.lost(state, left):
            return -left * (PRICES.action + PRICES.observation)
        if (state, left) not in self.best_values:
            ways = [self.commit(state, depth) for depth in range(1, PLAN + 1)]
            self.best_values[state, left] = max(
                self.best(after, left - 1) - PRICES.action * n - PRICES.observation for after, n in ways
            )
        return self.best_values[state, left]

    def episode(self, left):
        """Solved, actions and observations."""
        state, actions, observations = self.start, 0, 0
        while left and not self.level.solved(state):
            if self.lost(state, left):
                return False, actions + left, observations + left
            state, executed = self.commit(state, depth_of(self.plan(state)))
            actions, observations, left = actions + executed, observations + 1, left - 1
        return self.level.solved(state), actions, observations


@pytest.fixture(scope="module")
def plain():
    return [Plain(start) for start in STARTS]


def rule(graph):
    return by_state(np.array([depth_of(plan) - 1 for plan in graph.plans]))


def check(graph, plain):
    """Best values, a rule's episodes and its regret are what plain Python says they are, at every budget."""
    for budget in range(1, BUDGET + 1):
        best = OptimalValues.of(graph, budget, PRICES)
        np.testing.assert_allclose(
            best.value[budget, graph.starts], [each.best(each.start, budget) for each in plain], atol=1e-12
        )
        played = attribute(best, graph.starts, rule(graph))
        ends = np.array([each.episode(budget) for each in plain], float).T
        np.testing.assert_array_equal(np.array(played.outcome(), float), ends)
        np.testing.assert_array_equal(np.array(play(graph, graph.starts, budget, rule(graph)).outcome(), float), ends)
        own = PRICES.returns(*ends)
        np.testing.assert_allclose(best.value[budget, graph.starts] - own, played.total(), atol=1e-12)
        assert played.regret.min(initial=0) >= -1e-12


def test_values_episodes_and_regret_are_those_of_plain_python(bounded, plain):
    check(bounded, plain)
    solved = OptimalValues.of(bounded, BUDGET).value[BUDGET, bounded.starts]
    assert 0 < solved.mean() < 1, "some starts can be solved, some not"


def test_a_wrong_label_does_not_pass(plain):
    task = Mislabelled(7, 2)
    task.wrong = next(
        start
        for start, each in zip(STARTS, plain, strict=True)
        if each.best(each.start, BUDGET) > 0  # a start that the best depths solve, and do not if it is lost
    )
    wrong = built(task, budget=BUDGET)
    with pytest.raises(AssertionError):
        check(wrong, plain)


def test_plans_are_where_they_can_matter_and_nowhere_else(bounded):
    first = dict.fromkeys(bounded.starts.tolist(), BUDGET)
    for node in (waiting := list(first)):
        if bounded.planned[node] and first[node]:
            for after in bounded.landing[node].tolist():
                if after not in first:
                    first[after] = first[node] - 1
                    waiting.append(after)
    for node, left in first.items():
        matters = 0 < bounded.distance[node] <= PLAN * left
        assert bounded.planned[node] == matters, (node, left)
    assert len(first) == len(bounded)


def test_what_it_cannot_say_is_refused(bounded):
    scorer = lambda graph, budget: score.GraphScorer(graph, (Setting(budget, PRICES),))
    unknown = np.where(bounded.distance == 2, recommit.UNKNOWN, bounded.distance)
    rows = [
        (lambda: built(Searched(7, 2), budget=BUDGET), "GiB; leave this level out:\n#######"),
        (lambda: replace(bounded, distance=unknown), "distance: expected numbers in -1.."),
        (lambda: scorer(bounded, 5), "got 5; build one with --budget 5"),
        (lambda: scorer(replace(bounded, budget=5), BUDGET), "expected one whose edges all lead to nodes"),
        (lambda: decomposition.rule_parts(scorer(bounded, BUDGET), [], []), "got one for 4 observations; build it"),
    ]
    refused(rows, ValueError)
