"""Agents on a graph: each episode is what its agent says, on a policy whose plans are often wrong."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

from tests.unit.graph.test_oracle import DEPTHS, Scripted

import recommit
from recommit.evaluate import agents, metrics
from recommit.evaluate.agents import PolicyPlayer
from recommit.graph.episodes import play, sampled


@pytest.fixture(scope="module", params=["sliding", "sokoban"])
def player(request):
    task = recommit.Sliding(2, 3) if request.param == "sliding" else recommit.Sokoban(6, 1)
    return PolicyPlayer(Scripted(), task, task.generate(25, seed=3, length=(3, 12)).states, 5)


def test_each_state_is_planned_at_once(player):
    fresh = PolicyPlayer(Scripted(), player.task, player.starts, 5)
    before = Scripted.asked
    for agent in ("adaptive", "fixed-1", "fixed-3", "fixed-8", "random", "shuffled", "oracle-delta"):
        fresh.rows(agent, 5)
    assert Scripted.asked - before == fresh.graph.planned.sum()


def test_the_solver_is_optimal_and_random_actions_are_not(player):
    rows = player.rows("solver", 5)
    played = metrics.episodes(rows, player.length, 5)
    assert played.solved.all()
    assert (played.actions == player.length).all()
    assert not player.rows("random-actions", 5).solved.all()


@pytest.mark.parametrize("agent", ["adaptive", "adaptive-memory"])
def test_a_memory_takes_the_next_likeliest_depth_where_it_has_been(player, agent):
    """Episode by episode, by hand; who has no memory does the same again."""
    longer = PolicyPlayer(Scripted(), player.task, player.starts, 14)
    rows, same_again = longer.rows(agent, 14), 0
    for episode, start in enumerate(player.starts):
        depths, been, state = [], {}, start[None]
        while len(depths) < 14 and not player.task.is_solved(state)[0]:
            logits, _, plans, _ = Scripted().plan(player.task, state, (8,))
            ranked = sorted(range(len(DEPTHS)), key=lambda c, row=logits[0]: (-row[c], c))
            tried = been.setdefault(state.tobytes(), [])
            depths.append(DEPTHS[ranked[len(tried) % len(DEPTHS) if agent == "adaptive-memory" else 0]])
            same_again += depths[-1] in tried[len(tried) // len(DEPTHS) * len(DEPTHS) :]
            tried.append(depths[-1])
            state = player.task.execute(state, plans[:, 0], np.array(depths[-1:], np.int32)).states
        assert rows.depth[rows.instance == episode].tolist() == depths
    assert (same_again > 0) == (agent == "adaptive")


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
