"""The ceiling against trying every sequence of depths, on a policy whose plans are often wrong."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from tests.reference import metrics as slow

pytest.importorskip("torch")

import recommit
from recommit.evaluate import agent_names, agents, metrics
from recommit.evaluate.agents import PolicyPlayer
from recommit.graph import oracle
from recommit.graph.build import PolicyGraph
from recommit.graph.episodes import always, head, play, sampled
from recommit.graph.prices import Prices
from recommit.rollout import episodes

DEPTHS = (1, 2, 4)


class Scripted:
    """Plans that are right or wrong by a hash of the state."""

    config = SimpleNamespace(depths=DEPTHS, budget_conditioned=False)
    plans_first = True
    asked = 0

    def plan_with_probabilities(self, task, states, depths):
        """Of the action in the plan something between a quarter and one, by the hash; the rest is shared."""
        inputs, logits, plans = self.plan(task, states, depths)
        flat = states.reshape(len(states), -1).astype(np.uint64)
        key = (flat * np.arange(5, 5 + flat.shape[1], dtype=np.uint64) ** np.uint64(7)).sum(axis=1)
        own = 0.28 + 0.09 * ((key[:, None] >> np.arange(8, dtype=np.uint64)) % np.uint64(9)).astype(np.float32)
        probabilities = np.repeat((1 - own[..., None]) / 3, 4, axis=-1)
        np.put_along_axis(probabilities, plans[:, 0, :, None].astype(np.int64), own[..., None], axis=-1)
        return inputs, logits, plans, probabilities[:, None].astype(np.float32)

    def plan(self, task, states, depths):
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


#: Of an action and a look: one of both, both with many ties, dear looks, and so dear that to give up is best.
PRICES = [("0.01", "0"), ("0", "0.05"), ("0.01", "0.02"), ("0.001", "0.2"), ("0.4", "0.3")]


@pytest.mark.parametrize("prices", PRICES)
def test_the_ceiling_at_prices_equals_trying_everything(player, prices):
    """Also on a graph where nobody has looked before: the search stops no earlier than it may."""
    step, goal = board(player.task)
    exact, budget = tuple(map(Fraction, prices)), 4
    own = Prices(*map(float, prices))
    fresh = PolicyGraph(Scripted(), player.task, tuple(range(1, 9)))
    best = oracle.oracle(fresh, fresh.nodes(player.starts), budget, DEPTHS, own)
    assert best.missing == 0
    played = metrics.episodes(
        episodes.on_graph(fresh, player.starts, budget, best.choose(budget)), player.length, budget
    )
    for i, start in enumerate(player.starts):
        value, solved, actions, decisions = slow.best_at(step, start.tobytes(), budget, goal, DEPTHS, exact)
        assert best.value[budget, fresh.nodes(start[None])[0]] == pytest.approx(float(value), abs=1e-12)
        assert (bool(played.solved[i]), played.actions[i], played.decisions[i]) == (bool(solved), -actions, -decisions)
    without = oracle.oracle(fresh, fresh.nodes(player.starts), budget, DEPTHS)
    roots = fresh.nodes(player.starts)
    tied = best.ties[budget, roots[player.length > 0]]
    assert tied.min() >= 1
    assert tied.sum() < without.ties[budget, roots[player.length > 0]].sum(), "prices leave fewer ties"


def test_a_search_that_minds_actions_alone_falls_short_of_the_ceiling(monkeypatch):
    """The rule from before looks had a price, planted: it stops at the fewest actions, and misses the fewest looks."""
    task, prices, budget = recommit.Sliding(2, 3), Prices(0.0001, 0.2), 6
    starts = task.generate(100, seed=3, length=(3, 16)).states

    def ceiling():
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

    exact = ceiling()
    monkeypatch.setattr(oracle, "_done", fewest_actions)
    monkeypatch.setattr(oracle, "WIDER", 1)
    short = ceiling()
    assert (short <= exact + 1e-12).all()
    assert (short < exact - 1e-6).any()


def test_the_ceiling_equals_trying_everything(player):
    step, goal = board(player.task)
    for budget in (1, 3, 4):
        found = oracle.oracle(player.graph, player.graph.nodes(player.starts), budget, DEPTHS)
        assert found.missing == 0
        rows = episodes.on_graph(player.graph, player.starts, budget, found.choose(budget))
        played = metrics.episodes(rows, player.length, budget)
        for i, start in enumerate(player.starts):
            solved, actions, decisions = slow.best(step, start.tobytes(), budget, goal, DEPTHS)
            assert bool(played.solved[i]) == bool(solved)
            if solved:
                assert (played.actions[i], played.decisions[i]) == (-actions, -decisions)


def test_nobody_beats_the_ceiling(player):
    budget = 5
    solved = player.rows("oracle-dp", budget).solved.sum()
    for agent in ("adaptive", "fixed-1", "fixed-2", "fixed-4", "random", "shuffled", "oracle-delta", "oracle-rate"):
        assert player.rows(agent, budget).solved.sum() <= solved
    assert solved > player.rows("adaptive", budget).solved.sum()


def test_a_cap_is_reported(player):
    fresh = PolicyGraph(Scripted(), player.task, tuple(range(1, 9)))
    assert oracle.oracle(fresh, fresh.nodes(player.starts), 5, DEPTHS, cap=8).missing > 0


def test_each_state_is_looked_at_once(player):
    fresh = PolicyPlayer(Scripted(), player.task, player.starts, 5)
    before = Scripted.asked
    for agent in ("adaptive", "fixed-1", "fixed-3", "fixed-8", "random", "shuffled", "oracle-delta"):
        fresh.rows(agent, 5)
    assert Scripted.asked - before == fresh.graph.planned.sum()


def test_the_first_decisions_do_not_depend_on_the_budget(player):
    whole = episodes.on_graph(player.graph, player.starts, 5, head(player.graph))
    short = episodes.on_graph(player.graph, player.starts, 3, head(player.graph))
    cut = metrics.within(whole, 3)
    assert all((getattr(cut, n) == getattr(short, n)).all() for n in ("instance", "turn", "depth", "after", "solved"))


def test_rows_replay_and_fixed_depths_are_fixed(player):
    for depth in (1, 3, 8):
        rows = episodes.on_graph(player.graph, player.starts, 4, always(player.graph, depth))
        assert set(rows.depth) == {depth}
        assert (rows.executed <= depth).all()
        assert (rows.executed[~rows.solved] == depth).all()
        assert (rows.before[rows.turn == 0] == player.length[rows.instance[rows.turn == 0]]).all()
        assert ((rows.after == 0) == rows.solved).all()


def test_rows_hold_plans_and_probabilities(player):
    rows = player.rows("adaptive", 5)
    grids = player.graph.states[player.graph.nodes(player.starts[rows.instance[rows.turn == 0]])]
    plans = player.policy.plan(player.task, grids, (8,))[2][:, 0]
    held = rows.actions[rows.turn == 0]
    assert ((held[:, None] >> np.arange(0, 16, 2, dtype=np.uint16)) & 3 == plans).all()
    probs = (rows.depth_probs[:, None] >> (8 * (np.array(DEPTHS, np.uint64) - 1)).astype(np.uint64)) & np.uint64(255)
    assert np.abs(probs.sum(axis=1).astype(int) - 255).max() <= 2
    assert (np.array(DEPTHS)[probs.argmax(axis=1)] == rows.depth).mean() > 0.9, "but for ties by rounding"


def test_the_solver_is_optimal_and_random_actions_are_not(player):
    rows = player.rows("solver", 5)
    played = metrics.episodes(rows, player.length, 5)
    assert played.solved.all()
    assert (played.actions == player.length).all()
    assert not player.rows("random-actions", 5).solved.all()


def test_shuffled_draws_as_adaptive_does(player):
    marginal = player.marginal(5)
    rows = player.rows("adaptive", 5)
    assert marginal.tolist() == pytest.approx([(rows.depth == d).mean() for d in DEPTHS])


@pytest.mark.parametrize("agent", ["adaptive", "adaptive-memory"])
def test_a_memory_takes_the_next_likeliest_depth_where_it_has_been(player, agent):
    """Episode by episode, by hand; who has no memory does the same again."""
    longer = PolicyPlayer(Scripted(), player.task, player.starts, 14)
    rows, same_again = longer.rows(agent, 14), 0
    for episode, start in enumerate(player.starts):
        depths, been, state = [], {}, start[None]
        while len(depths) < 14 and not player.task.is_solved(state)[0]:
            logits, _, plans = Scripted().plan(player.task, state, (8,))
            ranked = sorted(range(len(DEPTHS)), key=lambda c, row=logits[0]: (-row[c], c))
            tried = been.setdefault(state.tobytes(), [])
            depths.append(DEPTHS[ranked[len(tried) % len(DEPTHS) if agent == "adaptive-memory" else 0]])
            same_again += depths[-1] in tried[len(tried) // len(DEPTHS) * len(DEPTHS) :]
            tried.append(depths[-1])
            state = player.task.execute(state, plans[:, 0], np.array(depths[-1:], np.int32)).states
        assert rows.depth[rows.instance == episode].tolist() == depths
    assert (same_again > 0) == (agent == "adaptive")


def test_mixtures_need_no_more_actions_than_adaptive(player):
    probs = player.mixture(5)
    assert probs.sum() == pytest.approx(1)
    assert len(agents.simplex(3, 4)) == 15


def test_wrong_agents_are_refused(player):
    with pytest.raises(ValueError, match=r"agents: expected names of adaptive.*, got clever"):
        agent_names.check("clever")
    with pytest.raises(ValueError, match=r"agent: expected 25 depths of 1\.\.8"):
        episodes.of_callable(lambda s, _t: (np.full(len(s), 9), np.zeros((len(s), 8))), player.task, player.starts, 2)


@pytest.mark.parametrize("budget", [2, 5])
def test_the_best_mixture_is_the_best_of_all(player, budget):
    """Giving up early changes nothing: every mixture played to its end."""
    rows = player.rows("adaptive", budget)
    limit = rows.executed[rows.turn < budget].sum()
    scores = {}
    for probs in agents.simplex(len(DEPTHS), 10):
        played = play(player.graph, player.graph.nodes(player.starts), budget, sampled(player.graph, probs, 0))
        if played.actions.sum() <= limit:
            scores[tuple(probs)] = (int(played.solved.sum()), -int(played.actions.sum()))
    assert len(scores) < len(agents.simplex(len(DEPTHS), 10)), "some are too expensive"
    assert scores[tuple(player.mixture(budget))] == max(scores.values())


def test_without_a_cheap_mixture_the_shallowest_stands_in(player, monkeypatch):
    monkeypatch.setattr(agents.on_graph, "scores", lambda _g, _s, _b, choices, _l: [(-1, 0)] * len(choices))
    monkeypatch.setattr(player, "_mixtures", {})
    assert player.mixture(5).tolist() == [1.0, *[0.0] * (len(DEPTHS) - 1)]


@pytest.mark.parametrize(
    ("task", "length", "budget"), [(recommit.Sokoban(7, 3), (4, 32), 4), (recommit.Sliding(3), (4, 31), 5)]
)
def test_the_ceiling_plays_on_a_graph_of_its_own(task, length, budget):
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


def test_a_ceiling_that_is_none_says_so(player, monkeypatch):
    fresh = PolicyPlayer(Scripted(), player.task, player.starts, 5)
    capped = oracle.oracle
    monkeypatch.setattr(oracle, "oracle", lambda *a: capped(*a, cap=8))
    with pytest.warns(UserWarning, match="oracle-dp: [1-9][0-9,]* states were left out"):
        fresh.rows("oracle-dp", 5)
