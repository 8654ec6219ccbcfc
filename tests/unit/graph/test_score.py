"""Rules in graphs: the depths they choose, what they are worth, thresholds from elsewhere."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from tests.reference import horizon as slow_rules
from tests.unit.graph import cases
from tests.unit.graph.conftest import SETTINGS

from recommit.graph import score
from recommit.graph.episodes import play
from recommit.graph.score import GraphScorer, mean_gains
from recommit.horizon import Agreement, rule_registry


def episode(graph, start, budget, depth_of):
    """One episode in plain Python: solved, actions, observations, and the nodes with their depths."""
    node, actions, steps = int(start), 0, []
    for _ in range(budget):
        if graph.distance[node] == 0:
            break
        depth = depth_of(node, steps)
        actions += int(graph.executed[node, depth - 1])
        steps.append((node, depth))
        node = int(graph.landing[node, depth - 1])
    return bool(graph.distance[node] == 0), actions, len(steps)


def head_rule(graph):
    return lambda node, _steps: graph.head_depths[int(np.argmax(graph.logits[node]))]


def consecutive_rule(graph):
    def depth_of(node, steps):
        old, depth = steps[-1] if steps else (node, 8)
        tail, common = graph.plans[old][depth:].tolist(), 0
        while common < len(tail) and tail[common] == graph.plans[node][common]:
            common += 1
        return min(1 + common, 8) if tail else 1

    return depth_of


def test_rows_say_what_episodes_say(scorer):
    entries = [rule_registry.named(name) for name in rule_registry.NAMES]
    rows = score.score(scorer, entries)
    assert len(rows) == len(SETTINGS) * (len(entries) + sum(entry.swept for entry in entries))
    for row in rows:
        setting = next(each for each in SETTINGS if row.under(each))
        price = setting.prices
        assert row.value == pytest.approx(
            row.solved - price.action * row.actions - price.observation * row.observations
        )
        assert row.value <= scorer.oracle(setting).mean() + 1e-12
        assert row.value_low - 1e-12 <= row.value <= row.value_high + 1e-12
        missing = scorer.oracle(setting).mean() - row.value
        assert sum(row.causes.values()) == pytest.approx(1.0 if missing > 1e-9 else 0.0)
        fixed = scorer.fixed(setting, scorer.best_fixed(setting)).mean()
        room = scorer.oracle(setting).mean() - fixed
        assert row.gain is None or row.gain == pytest.approx((row.value - fixed) / room)


def test_thresholds_come_from_the_other_graph(graph, scorer):
    entry = rule_registry.named("confidence-product")
    other = GraphScorer(cases.some(graph.task, 7, wrong=2), SETTINGS)
    swept = other.sweep(entry)
    single, shared = {each: swept.best([each]) for each in SETTINGS}, swept.best(SETTINGS)
    rows = score.score(scorer, [entry], other)
    assert {row.threshold for row in rows if not row.shared} == set(single.values())
    assert {row.threshold for row in rows if row.shared} == {shared}
    every = other.thresholds(entry).tolist()
    for setting in SETTINGS:
        columns = [played(other, entry.at(value), setting) for value in every]
        best = max(columns, key=lambda each: (setting.prices.returns(*each), -each[1]))
        assert single[setting] == every[columns.index(best)]


def played(scorer, entry, setting):
    choose = scorer.rules.chooser(entry)
    columns = play(scorer.graph, scorer.graph.starts, setting.budget, choose).outcome()
    return [float(column.mean()) for column in columns]


@pytest.mark.parametrize("name", ["confidence-entropy", "confidence-least+memory", "disagreement+memory"])
def test_a_sweep_is_every_threshold_by_itself(scorer, name):
    entry = rule_registry.named(name, depths=(1, 2, 4, 8) if "least" in name else None)
    swept = scorer.sweep(entry, 7)
    assert len(swept.thresholds) > 2
    for i, threshold in enumerate(swept.thresholds.tolist()):
        for place, setting in enumerate(SETTINGS):
            columns = played(scorer, entry.at(threshold), setting)
            assert swept.ends[i, place].tolist() == pytest.approx(columns, abs=1e-12)


def agreement_rule(graph, threshold, *, defect=False):
    """By the twin of the rule; the defect counts places, not prefixes."""

    def depth_of(node, _steps):
        row = SimpleNamespace(actions=graph.plans[node].tolist(), samples=graph.samples[node].tolist())
        return slow_rules.agreement(row, Agreement(threshold), defect)

    return depth_of


def test_agreement_reads_the_samples_of_the_graph(graph, scorer):
    entry = rule_registry.named("agreement")
    assert len(scorer.thresholds(entry)) > 1
    for threshold in (0.4, 0.7):
        columns = play(scorer.graph, graph.starts, 4, scorer.rules.chooser(entry.at(threshold))).outcome()
        own = list(zip(*(column.tolist() for column in columns), strict=True))
        assert own == [episode(graph, start, 4, agreement_rule(graph, threshold)) for start in graph.starts]
        planted = [episode(graph, start, 4, agreement_rule(graph, threshold, defect=True)) for start in graph.starts]
        assert own != planted


def by_every_way(graph, node, budget, probs_of):
    """[solved, actions, observations] of an episode that draws, by going every way."""
    if not budget or graph.distance[node] == 0:
        return np.array([float(graph.distance[node] == 0), 0.0, 0.0])
    total = np.zeros(3)
    for depth, share in zip(graph.head_depths, probs_of(node), strict=True):
        executed = int(graph.executed[node, depth - 1])
        rest = by_every_way(graph, int(graph.landing[node, depth - 1]), budget - 1, probs_of)
        total += share * (rest + np.array([0.0, executed, 1.0]))
    return total


@pytest.mark.parametrize("name", rule_registry.STOCHASTIC)
def test_rules_that_draw_are_scored_by_expectation(graph, scorer, name):
    def probs_of(node):
        weights = [float(np.exp(float(logit))) if name == "sampled" else 1.0 for logit in graph.logits[node]]
        return [weight / sum(weights) for weight in weights]

    other = {"sampled": "random", "random": "sampled"}[name]
    rows, others = (score.score(scorer, [rule_registry.named(each)]) for each in (name, other))
    for row, planted in zip(rows, others, strict=True):
        expected = np.mean([by_every_way(graph, int(start), row.budget, probs_of) for start in graph.starts], axis=0)
        assert [row.solved, row.actions, row.observations] == pytest.approx(expected.tolist(), abs=1e-9)
        assert [planted.solved, planted.actions] != pytest.approx(expected[:2].tolist(), abs=1e-9)
        assert row.gain is None or row.gain <= 1
        assert sum(row.causes.values()) == pytest.approx(1.0)
    (mean,) = mean_gains(scorer, [rule_registry.named(name)], 2, 0.02)
    assert mean.gain < 1
