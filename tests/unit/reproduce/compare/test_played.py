"""Rules on graphs of policies without a network: choices, episodes, ceilings and rows against plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from tests.reference import compare as slow
from tests.unit.graph import cases
from tests.unit.graph.test_score import episode

from recommit.graph import judge as judging
from recommit.graph.judge import Judge
from recommit.graph.prices import Prices, Setting
from recommit.reproduce.compare import played, table
from recommit.reproduce.compare.redraws import Redraws

SETTINGS = tuple(Setting(budget, prices) for budget in (2, 4) for prices in (Prices(), Prices(0.02, 0.01)))
NAMES = ("head", "fixed", "confidence-least", "repetition", "head+memory", "fixed+memory")


@pytest.fixture(scope="module")
def graphs():
    """Validation and test instances of two policies, the better one first."""
    return [[cases.some("sliding", count, wrong) for count in (9, 14)] for wrong in (4, 2)]


@pytest.fixture(scope="module")
def sources(graphs):
    return [source(name, 0, *pair) for name, pair in zip(("adaptive", "init"), graphs, strict=True)]


def source(name, seed, validation, test):
    chosen = played.choices(Judge(validation, SETTINGS), NAMES)
    judge = Judge(test, SETTINGS)
    columns = played.episodes(judge, judge.bench, chosen)
    return table.PlayedSource(name, seed, tuple(chosen), tuple(columns), played.ceilings(judge))


def fixed(graph, depth, budget):
    """[3, starts] in plain Python."""
    return np.array([episode(graph, start, budget, lambda _node, _steps: depth) for start in graph.starts], float).T


def test_constants_are_chosen_as_plain_python_chooses_them(graphs, sources):
    validation, test = graphs[0]
    for choice, columns in zip(sources[0].choices, sources[0].columns, strict=True):
        if choice.rule != "fixed":
            continue
        scope = [each for each in SETTINGS if each.prices == choice.setting.prices]
        scope = scope if choice.chosen == played.SHARED else [choice.setting]

        def worth(depth, scope=scope):
            means = [fixed(validation, depth, each.budget).mean(axis=1) for each in scope]
            values = [each.prices.returns(*mean) for each, mean in zip(scope, means, strict=True)]
            return round(sum(values) / len(scope), 9), -sum(mean[1] for mean in means)

        best = max(range(1, 9), key=worth)
        assert choice.parameter == best
        assert np.array_equal(columns, fixed(test, best, choice.setting.budget))


def test_every_setting_has_every_rule(sources):
    counts = dict.fromkeys(NAMES, 0)
    for choice in sources[0].choices:
        counts[choice.rule] += 1
    assert counts == {name: len(SETTINGS) * (2 if "fixed" in name or "confidence" in name else 1) for name in NAMES}


def test_ceilings_are_those_of_a_judge(graphs, sources):
    judge = judging.Judge(graphs[0][1], SETTINGS)
    for setting in SETTINGS:
        np.testing.assert_allclose(sources[0].ceilings[setting], judge.oracle(setting), atol=1e-12)


def test_rows_say_how_far_from_our_head(sources):
    rooms = np.arange(14) // 2
    rows = table.rows(sources, Redraws(rooms, rounds=50))
    assert len(rows) == 2 * len(sources[0].choices)
    drawn = Redraws(rooms, rounds=50)._drawn.astype(int).tolist()
    for row in rows:
        setting = next(
            each for each in SETTINGS if each.budget == row.budget and each.prices.observation == row.price_observation
        )
        own, ours = (each for name in (row.source, "adaptive") for each in sources if each.source == name)
        columns = own.of(row.rule, row.chosen, setting)
        head = ours.of("head+memory" if row.memory else "head", "", setting)
        apart = setting.prices.returns(*columns) - setting.prices.returns(*head)
        assert row.ahead == pytest.approx(slow.interval(apart.tolist(), rooms.tolist(), drawn), abs=1e-12)
        assert row.value == pytest.approx(setting.prices.returns(row.solved, row.actions, row.looks))
        assert row.value <= row.ceiling + 1e-12
        if row.source == "adaptive" and row.trained:
            assert row.ahead == (0.0, 0.0, 0.0)
        if row.rule == "fixed" and row.chosen == played.OWN:
            assert row.gain is None or row.gain[0] == pytest.approx(0.0, abs=1e-12)


def test_a_rule_with_a_memory_beside_a_head_without_is_noticed(sources):
    """The planted defect: our head without its memory."""
    rows = table.rows(sources, Redraws(np.arange(14)))
    plain = {
        (row.budget, row.price_observation): row.value
        for row in rows
        if row.rule == "head" and row.source == "adaptive"
    }
    wrong = [
        row
        for row in rows
        if row.rule == "fixed+memory"
        and row.ahead[0] != pytest.approx(row.value - plain[row.budget, row.price_observation], abs=1e-12)
    ]
    assert wrong


def test_seeds_without_our_head_are_left_out(graphs, sources):
    rows = table.rows([*sources, source("init", 1, *graphs[1])], Redraws(np.arange(14)))
    assert {row.seeds for row in rows} == {(0,)}
