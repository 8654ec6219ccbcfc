"""Graphs of late plans and slips against plain Python, in which every way of the slips is followed by itself; episodes
action by action have the same expectation. A delay off by one and slips on unmarked cells are noticed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.reference.delays import World
from tests.reference.simulate import TWINS
from tests.unit.graph import cases

import recommit
from recommit.graph import delays, files, values
from recommit.graph.episodes import softmax
from recommit.graph.graph import PLAN
from recommit.graph.policy_evaluation import DelayedEvaluation, PolicyEvaluation
from recommit.graph.score import GraphScorer
from recommit.prices import Prices
from recommit.puzzles.slip import Slip, diagonals
from recommit.rollout import delayed

BUDGET, PRICES = 3, Prices(0.013, 0.02)
CASES = [(0, 0.2), (1, 0.0), (1, 0.2), (3, 0.35), (5, 1.0)]


def every_sokoban():
    """All states of one small level."""
    task = cases.TASKS["sokoban"]
    states = [task.generate(1, seed=3, length=(5, 9)).states[0]]
    seen = {states[0].tobytes()}
    for state in states:  # grows
        for after in task.step(np.repeat(state[None], 4, axis=0), np.arange(4, dtype=np.uint8)):
            if not task.is_solved(state[None])[0] and after.tobytes() not in seen:
                seen.add(after.tobytes())
                states.append(after)
    return cases.graph("sokoban", states)


@pytest.fixture(scope="module")
def graphs():
    return {"sliding": cases.graph("sliding", cases.TASKS["sliding"].population()[0], 6), "sokoban": every_sokoban()}


def starts(graph):
    return graph.states[np.flatnonzero(graph.planned & (graph.distance > 0) & (graph.distance < 12))[::23][:6]]


def slip_of(graph, probability):
    return Slip(diagonals(graph.states.shape[1:]), probability)


def world(graph, slip, delay, defect=""):
    plans = {state.tobytes(): plan.tolist() for state, plan in zip(graph.states, graph.plans, strict=True)}
    twin = TWINS[graph.task](*graph.states.shape[1:])
    marks = set(np.flatnonzero(slip.marks).tolist())
    prices = PRICES.action, PRICES.observation
    moving = {"sliding": (0,), "sokoban": (5, 6)}[graph.task]
    return World(twin, moving, marks, slip.probability, delay, plans.__getitem__, *prices, defect)


def first_nodes(graph):
    """States and queues of the starts."""
    queues = np.zeros((len(graph), 0), int) if graph.pending is None else graph.pending
    return [(graph.states[i].tobytes(), queues[i].tolist()) for i in graph.starts]


def depth_of(delay, state, queue, remaining):
    return delay + 1 + (sum(state[::2]) + 3 * sum(queue) + remaining) % (PLAN - delay)


@pytest.mark.parametrize(("delay", "probability"), CASES)
@pytest.mark.parametrize("task", ["sliding", "sokoban"])
def test_values_are_those_of_every_way_followed_by_itself(graphs, task, delay, probability):
    plans, slip = graphs[task], slip_of(graphs[task], probability)
    graph = delays.delayed(plans, starts(plans), delay=delay, slip=slip)
    assert graph.closed
    assert (graph.chances is not None) == (0 < probability < 1)
    slow, nodes = world(plans, slip, delay), first_nodes(graph)
    best = values.optimal_values(graph, BUDGET, PRICES)[BUDGET, graph.starts]
    np.testing.assert_allclose(best, [slow.best(*node, BUDGET) for node in nodes], atol=1e-12)
    own = values.policy_values(graph, BUDGET, rule(graph), PRICES)[BUDGET, graph.starts]
    played = slow.of_rule(lambda *node: depth_of(delay, *node))
    np.testing.assert_allclose(own, [played(*node, BUDGET) for node in nodes], atol=1e-12)
    bounded = delays.delayed(plans, starts(plans), delay=delay, slip=slip, budget=BUDGET)
    assert bounded.closed
    assert len(bounded) <= len(graph)
    few = values.optimal_values(bounded, BUDGET, PRICES)[BUDGET, bounded.starts]
    np.testing.assert_allclose(few, best, atol=1e-12)


def rule(graph):
    """[K, N] columns of ``depth_of``."""
    queues = np.zeros((len(graph), 0), int) if graph.pending is None else graph.pending
    each = list(zip([state.tobytes() for state in graph.states], queues.tolist(), strict=True))
    depths = [[depth_of(graph.delay, *node, k) for node in each] for k in range(1, BUDGET + 1)]
    return np.array(depths) - graph.delay - 1


@pytest.mark.parametrize("defect", ["a delay off by one", "slips everywhere"])
@pytest.mark.parametrize("task", ["sliding", "sokoban"])
def test_a_planted_defect_is_noticed(graphs, task, defect):
    plans, slip = graphs[task], slip_of(graphs[task], 0.2)
    graph = delays.delayed(plans, starts(plans), delay=2, slip=slip)
    slow = world(plans, slip, 2, defect)
    best = values.optimal_values(graph, BUDGET, PRICES)[BUDGET, graph.starts]
    with pytest.raises(AssertionError):
        np.testing.assert_allclose(best, [slow.best(*node, BUDGET) for node in first_nodes(graph)], atol=1e-12)


@pytest.mark.parametrize(("delay", "probability"), [(0, 0.3), (2, 0.3), (2, 0.0)])
@pytest.mark.parametrize("task", ["sliding", "sokoban"])
def test_episodes_action_by_action_have_the_same_expectation(graphs, task, delay, probability):
    """Every sequence of slips is played, and weighs as much as it is likely."""
    plans, slip, depths = graphs[task], slip_of(graphs[task], probability), delay + 3
    graph = delays.delayed(plans, starts(plans), delay=delay, slip=slip)
    *_, table = values.outcomes(graph, BUDGET, np.full(len(graph), depths - delay - 1))
    longest = BUDGET * (depths - delay) + delay
    fails = (np.arange(1 << longest)[:, None] >> np.arange(longest) & 1).astype(bool)
    weights = np.where(fails, probability, 1 - probability).prod(axis=1)

    def planner(states, queues, _remaining):
        assert {len(queue) for queue in queues} <= {0, delay}
        return plans.plans[plans.nodes(states)], np.full(len(states), depths)

    for start, node in zip(starts(plans)[:3], graph.starts[:3], strict=True):
        ends = delayed.play(
            plans.puzzle, np.repeat(start[None], len(fails), axis=0), BUDGET, planner, delay=delay, slip=slip,
            luck=lambda who, number: np.where(fails[who, number], 0.0, 0.99),
        )  # fmt: skip
        mean = [float(weights @ each) for each in (ends.solved, ends.actions, ends.observations)]
        assert mean == pytest.approx(table[node].tolist(), abs=1e-9)


def test_without_delay_and_slips_it_is_the_graph_of_the_policy(graphs):
    for plans in graphs.values():
        graph = delays.delayed(plans, plans.states[plans.planned], slip=slip_of(plans, 0.0))
        place = plans.nodes(graph.states)
        on = graph.planned
        assert graph.plain
        assert np.array_equal(place[graph.landing[on]], plans.landing[place[on]])
        assert np.array_equal(graph.executed[on], plans.executed[place[on]])


def test_expected_visits_go_where_commitments_may_end(graphs):
    plans = graphs["sokoban"]
    graph = delays.delayed(plans, starts(plans), delay=1, slip=slip_of(plans, 0.2))
    *_, table = values.outcomes(graph, BUDGET, rule(graph))
    observations = sum(mass.sum() for *_, mass in values.commitments(graph, graph.starts, BUDGET, rule(graph)))
    assert observations == pytest.approx(table[graph.starts, values.OBSERVATIONS].sum(), abs=1e-9)


def test_what_heads_learn_from_is_the_same_in_both_ways(graphs):
    """Without delay and slips, by the backup as by the evaluation that training uses everywhere else."""
    graph = delays.delayed(graphs["sokoban"], starts(graphs["sokoban"]))
    probs = np.random.default_rng(1).dirichlet(np.ones(PLAN), len(graph.rows))
    every = [kind(graph, graph.starts, BUDGET, PRICES, (2, 3)) for kind in (PolicyEvaluation, DelayedEvaluation)]
    for name in ("value", "visits"):
        one, other = (getattr(each, name)(probs) for each in every)
        np.testing.assert_allclose(one, other, atol=1e-12)
    for one, other in zip(*(each.advantages(probs) for each in every), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)


@pytest.mark.parametrize("budget", [0, BUDGET])
def test_gradients_of_heads_are_differences_of_values(graphs, budget):
    plans = graphs["sliding"]
    graph = delays.delayed(plans, starts(plans), delay=2, slip=slip_of(plans, 0.2), budget=budget)
    evaluation = DelayedEvaluation(graph, graph.starts, BUDGET, PRICES)
    logits = np.random.default_rng(2).normal(size=(len(graph.rows), len(graph.depths)))

    def value(logits):
        return evaluation.value(softmax(logits))[BUDGET, graph.starts].sum()

    probs = softmax(logits)
    advantage, visits = evaluation.advantages(probs)
    gradient = advantage * visits[:, None] * probs
    for row, column in zip(np.argsort(-visits)[:12:3].tolist(), (0, 1, 3, 5), strict=True):
        step = np.zeros_like(logits)
        step[row, column] = 1e-4
        slope = (value(logits + step) - value(logits - step)) / 2e-4
        assert gradient[row, column] == pytest.approx(slope, abs=1e-7)


def test_marks_ahead_are_those_of_the_way_without_slips(graphs):
    plans, slip = graphs["sokoban"], slip_of(graphs["sokoban"], 0.2)
    graph = delays.delayed(plans, starts(plans), delay=2, slip=slip)
    sequences, ahead = delays.sequences(graph, np.arange(len(graph))), delays.marks_ahead(graph, slip)
    slow = world(plans, slip, 2)
    for node in graph.rows[::7]:
        state, marked = graph.states[node].tobytes(), []
        for action in sequences[node]:
            place = next(i for i, code in enumerate(state) if code in slow.moving)
            marked.append(place in slow.marks and not slow.solved(state))
            state = state if slow.solved(state) else next(after for _, after in slow.outcomes(state, action))
        assert ahead[node].tolist() == marked


def test_too_large_graphs_and_missing_states_are_refused(graphs):
    plans = graphs["sliding"]
    with pytest.raises(ValueError, match=r"limit: expected at most 100 nodes, got \d+ and more to come"):
        delays.delayed(plans, starts(plans), delay=3, limit=100)
    with pytest.raises(ValueError, match=r"delay: expected 0\.\.7, .* got 8"):
        delays.delayed(plans, starts(plans), delay=8)
    few = cases.some("sokoban", 3)
    with pytest.raises(ValueError, match="graph: expected one of every state that comes up, got one without"):
        delays.delayed(few, few.states[few.starts], slip=slip_of(few, 0.2))
    with pytest.raises(ValueError, match="plans: expected a graph of every state, got one for 3 observations"):
        delays.delayed(replace(plans, budget=3), starts(plans))


def test_what_follows_walks_refuses_slips(graphs, tmp_path):
    plans = graphs["sokoban"]
    graph = delays.delayed(plans, starts(plans), slip=slip_of(plans, 0.2))
    asked = (
        lambda: GraphScorer(graph, ()),
        lambda: values.shortest_costs(graph, PRICES),
        lambda: files.write(graph, tmp_path / "graph"),
        lambda: graph.part(graph.planned, graph.starts),
    )
    for ask in asked:
        with pytest.raises(ValueError, match="graph: expected one without delays and slips"):
            ask()


def test_marks_are_seen():
    task = recommit.Sokoban(6, 1)
    states = task.generate(2, seed=1).states
    slip = Slip(diagonals((6, 6)), 0.1)
    plain, marked = task.render(states, 20), slip.picture(task, states, 20)
    changed = (plain != marked).any(axis=-1).reshape(2, 6, 20, 6, 20).any(axis=(2, 4))
    assert np.array_equal(changed, np.broadcast_to(slip.marks, (2, 6, 6)))
    with pytest.raises(ValueError, match=r"marks: expected the shape of the states, \(6, 6\), got \(5, 5\)"):
        Slip(diagonals((5, 5)), 0.1).marked(task, states)
    with pytest.raises(ValueError, match=r"probability: expected at most 1, got 1\.5"):
        Slip(slip.marks, 1.5)
