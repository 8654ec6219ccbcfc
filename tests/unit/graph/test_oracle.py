"""The oracle depth against trying every sequence of depths, on a policy whose plans are often wrong."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from tests.reference import metrics as slow

pytest.importorskip("torch")

import recommit
from recommit.evaluate import metrics
from recommit.evaluate.agents import PolicyPlayer
from recommit.graph import oracle
from recommit.graph.build import PolicyGraph
from recommit.prices import Prices
from recommit.rollout import decision_rows

DEPTHS = (1, 2, 4)


class Scripted:
    """Plans that are right or wrong by a hash of the state."""

    config = SimpleNamespace(depths=DEPTHS, plan_length=8, budget_conditioned=False)
    plans_first = True
    asked = 0

    def plan(self, task, states, depths):
        """Of the action in the plan something between a quarter and one, by the hash; the rest is shared."""
        inputs, logits, plans = self._greedy(task, states, depths)
        flat = states.reshape(len(states), -1).astype(np.uint64)
        key = (flat * np.arange(5, 5 + flat.shape[1], dtype=np.uint64) ** np.uint64(7)).sum(axis=1)
        own = 0.28 + 0.09 * ((key[:, None] >> np.arange(8, dtype=np.uint64)) % np.uint64(9)).astype(np.float32)
        probabilities = np.repeat((1 - own[..., None]) / 3, 4, axis=-1)
        np.put_along_axis(probabilities, plans[:, 0, :, None].astype(np.int64), own[..., None], axis=-1)
        return inputs, logits, plans, probabilities[:, None].astype(np.float32)

    def _greedy(self, task, states, depths):
        type(self).asked += len(states)
        flat = states.reshape(len(states), -1).astype(np.uint64)
        key = (flat * np.arange(3, 3 + flat.shape[1], dtype=np.uint64) ** np.uint64(5)).sum(axis=1)
        plans = ((key[:, None] >> np.arange(0, 16, 2, dtype=np.uint64)) & np.uint64(3)).astype(np.uint8)
        here = states
        for i in range(8):
            right = task.optimal_actions(here)
            good = (key >> np.uint64(i)) % np.uint64(4) > 0
            plans[:, i] = np.where(good & right.any(axis=1), right.argmax(axis=1), plans[:, i])
            here = task.step(here, plans[:, i].copy())
        logits = np.stack([(key >> np.uint64(4 * i)) % np.uint64(7) for i in range(len(DEPTHS))], axis=1) / 3.0
        return logits.astype(np.float32), logits.astype(np.float32), np.repeat(plans[:, None], len(depths), axis=1)


@pytest.fixture(scope="module", params=["sliding", "sokoban"])
def player(request):
    task = recommit.Sliding(2, 3) if request.param == "sliding" else recommit.Sokoban(6, 1)
    starts = task.generate(25, seed=3, length=(3, 12)).states
    return PolicyPlayer(Scripted(), task, starts, 5)


def board(task):
    """One commitment, and whether a state is a goal, for the reference."""

    @cache
    def step(state, depth):
        grid = np.frombuffer(state, np.uint8).reshape(1, *task.shape)
        plan = Scripted().plan(task, grid, (8,))[2][:, 0]
        outcome = task.execute(grid, plan, np.array([depth], np.int32))
        return outcome.states[0].tobytes(), int(outcome.executed[0]), bool(outcome.solved[0])

    @cache
    def goal(state):
        return bool(task.is_solved(np.frombuffer(state, np.uint8).reshape(1, *task.shape))[0])

    return step, goal


#: Of an action and an observation: none, one of both, both with many ties, dear observations, and so dear that it is
#: best to give up.
PRICES = [("0", "0"), ("0.01", "0"), ("0", "0.05"), ("0.01", "0.02"), ("0.001", "0.2"), ("0.4", "0.3")]


@pytest.mark.parametrize("prices", PRICES)
def test_the_oracle_at_prices_equals_trying_everything(player, prices):
    """Also on a graph where nobody has planned before: the search stops no earlier than it may."""
    step, goal = board(player.task)
    exact, budget = tuple(map(Fraction, prices)), 4
    own = Prices(*map(float, prices))
    fresh = PolicyGraph(Scripted(), player.task, tuple(range(1, 9)))
    best = oracle.oracle(fresh, fresh.nodes(player.starts), budget, DEPTHS, own)
    assert best.missing == 0
    played = metrics.episodes(
        decision_rows.on_graph(fresh, player.starts, budget, best.choose(budget)), player.length, budget
    )
    for i, start in enumerate(player.starts):
        value, solved, actions, decisions = slow.best(step, start.tobytes(), budget, goal, DEPTHS, exact)
        assert best.value[budget, fresh.nodes(start[None])[0]] == pytest.approx(float(value), abs=1e-12)
        assert (bool(played.solved[i]), played.actions[i], played.decisions[i]) == (bool(solved), -actions, -decisions)


def test_a_search_that_minds_actions_alone_falls_short_of_the_oracle(monkeypatch):
    """Planted, as if observations had no price: it stops at the fewest actions, and misses the fewest observations."""
    task, prices, budget = recommit.Sliding(2, 3), Prices(0.0001, 0.2), 6
    starts = task.generate(50, seed=3, length=(3, 16)).states

    def values():
        """Of every start on a graph of its own, where no other start's search helps."""
        values = []
        for start in np.split(starts, len(starts)):
            fresh = PolicyGraph(Scripted(), task, tuple(range(1, 9)))
            node = fresh.nodes(start)
            values.append(oracle.oracle(fresh, node, budget, DEPTHS, prices).value[budget, node[0]])
        return np.array(values)

    def fewest_actions(graph, roots, budget, depths, level, _prices):
        cost = oracle.best_depths(graph, budget, depths).cost[budget, roots]
        return (cost < oracle.FAILED) & (cost // oracle.STEP - graph.distance[roots] <= level)

    exact = values()
    monkeypatch.setattr(oracle, "_done", fewest_actions)
    monkeypatch.setattr(oracle, "WIDER", 1)
    short = values()
    assert (short <= exact + 1e-12).all()
    assert (short < exact - 1e-6).any()


@pytest.mark.parametrize(
    ("task", "length", "budget"), [(recommit.Sokoban(7, 3), (4, 32), 4), (recommit.Sliding(3), (4, 31), 5)]
)
def test_the_oracle_plays_on_a_graph_of_its_own(task, length, budget):
    """Starts that cannot be solved in time are played to the end, by the shallowest commitments, in states that the
    program has not seen; nobody else has been there before."""
    starts = task.generate(16, seed=0, length=length).states
    alone = PolicyPlayer(Scripted(), task, starts, budget)
    played = metrics.episodes(alone.rows("oracle-dp", budget), alone.length, budget)
    assert 0 < played.solved.sum() < 16
    rows = alone.rows("oracle-dp", budget)
    lost = ~played.solved[rows.instance] & (rows.before < 0)
    assert (rows.depth[lost] == 1).all()
    after_others = PolicyPlayer(Scripted(), task, starts, budget)
    for agent in ("fixed-1", "random"):
        after_others.rows(agent, budget)
    again = after_others.rows("oracle-dp", budget)
    assert np.array_equal(metrics.episodes(again, alone.length, budget).solved, played.solved)


def test_an_oracle_that_was_cut_says_so(player, monkeypatch):
    fresh = PolicyPlayer(Scripted(), player.task, player.starts, 5)
    capped = oracle.oracle
    monkeypatch.setattr(oracle, "oracle", lambda *a: capped(*a, cap=8))
    with pytest.warns(UserWarning, match="oracle-dp: [1-9][0-9,]* states were left out"):
        fresh.rows("oracle-dp", 5)
