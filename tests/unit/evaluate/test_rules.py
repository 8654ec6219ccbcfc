"""Rules without training as agents: each against episodes in plain Python, and their thresholds against trying all."""

from __future__ import annotations

import numpy as np
import pytest
from tests.reference.rule_episodes import play

pytest.importorskip("torch")

from tests.unit.graph.test_oracle import DEPTHS, Scripted

import recommit
from recommit.evaluate import agents
from recommit.evaluate.agent_names import AgentName
from recommit.evaluate.agents import PolicyPlayer
from recommit.graph.rule_episodes import rule_on_growing
from recommit.horizon import rule_registry
from recommit.prices import Prices
from recommit.rollout import decision_rows

BUDGET = 7
TASKS = {"sliding": recommit.Sliding(2, 3), "sokoban": recommit.Sokoban(6, 1)}
NAMES = [name + memory for memory in ("", "+memory") for name in rule_registry.ON_PUZZLES]


def player_of(task, seed=3, count=25, **more):
    starts = task.generate(count, seed=seed, length=(3, 12)).states
    return PolicyPlayer(Scripted(), task, starts, BUDGET, **more)


@pytest.fixture(scope="module", params=list(TASKS))
def player(request):
    task = TASKS[request.param]
    return player_of(task, count=12, validation=player_of(task, seed=4, count=12))


def plan_of(task):
    def plan(state):
        _, _, plans, probabilities = Scripted().plan(task, state[None], (8,))
        return plans[0, 0].tolist(), probabilities[0, 0].astype(np.float64).tolist()

    return plan


def by_hand(player, entry, budget=BUDGET, **more):
    plan = plan_of(player.task)
    return [play(player.task, s, budget, entry.rule, plan, memory=entry.memory, **more) for s in player.starts]


def by_instance(rows, count):
    """Depth, executed, solved of each look, by instance."""
    every = [[] for _ in range(count)]
    for i in np.lexsort((rows.turn, rows.instance)):
        every[rows.instance[i]].append((int(rows.depth[i]), int(rows.executed[i]), bool(rows.solved[i])))
    return every


def entry_of(name, threshold=0.4):
    entry = rule_registry.named(name, DEPTHS)
    return entry.at(threshold if "entropy" not in name else 2.0) if entry.swept else entry


@pytest.mark.parametrize("name", NAMES)
def test_episodes_equal_plain_python(player, name):
    entry = entry_of(name)
    rows = decision_rows.on_graph(player.graph, player.starts, BUDGET, rule_on_growing(player.graph, entry))
    assert by_instance(rows, len(player.starts)) == by_hand(player, entry)


@pytest.mark.parametrize(
    ("name", "defect"),
    [*((n, "twin") for n in ("entropy-jump", "repetition", "reversal", "consecutive")), ("consecutive", "tail")]
    + [(n, "memory") for n in NAMES if n.endswith("+memory")],
)
def test_a_planted_defect_is_noticed(name, defect):
    differs = []
    for task in TASKS.values():
        player, entry = player_of(task), entry_of(name)
        rows = decision_rows.on_graph(player.graph, player.starts, BUDGET, rule_on_growing(player.graph, entry))
        differs.append(by_instance(rows, len(player.starts)) != by_hand(player, entry, defect=defect))
    assert any(differs)


def at(entry, value):
    """With a threshold; sums of entropies are in single precision there, and may be equal to it."""
    return entry.at(float(value) + 1e-5 * ("entropy" in entry.name))


def outcome(looks):
    return sum(solved for each in looks for *_, solved in each), -sum(n for each in looks for _, n, _ in each)


@pytest.mark.parametrize("name", ["confidence-product", "confidence-least+memory", "confidence-entropy"])
def test_the_threshold_is_the_best_on_validation_instances(player, name):
    entry, judge = rule_registry.named(name, DEPTHS), player.validation
    values = agents.candidates(judge, entry)
    for budget in (4, BUDGET):
        tried = [outcome(by_hand(judge, at(entry, v), budget)) for v in values]
        sweep = player.sweep(AgentName(name), budget)
        assert sweep["threshold"] == values[tried.index(max(tried))]
        on_test = [outcome(by_hand(player, at(entry, v), budget)) for v in values]
        assert [(p["solve_rate"], p["actions"]) for p in sweep["curve"]] == [
            (solved / len(player.starts), -actions / len(player.starts)) for solved, actions in on_test
        ]
        assert len(set(on_test)) > 3, "thresholds make a difference"


def test_with_prices_the_threshold_is_the_one_worth_most():
    task, prices = TASKS["sokoban"], Prices(0.0, 0.05)
    entry, judge = rule_registry.named("confidence-product", DEPTHS), player_of(task, seed=4, count=12)
    values = agents.candidates(judge, entry)
    tried = [by_hand(judge, entry.at(float(v))) for v in values]
    totals = [(*outcome(looks), sum(map(len, looks))) for looks in tried]
    worth = [prices.returns(solved, -actions, observations) for solved, actions, observations in totals]
    player = player_of(task, count=12, validation=judge, prices=prices)
    assert player.sweep(AgentName("confidence-product"), BUDGET)["threshold"] == values[int(np.argmax(worth))]
    most = max(outcome(looks) for looks in tried)
    assert outcome(tried[int(np.argmax(worth))]) != most, "prices make a difference"
