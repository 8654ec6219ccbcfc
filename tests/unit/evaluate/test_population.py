"""Values over whole populations: against every episode, played; and against a plain recursion over states and looks."""

from __future__ import annotations

import json
import re
from fractions import Fraction

import numpy as np
import pytest
from tests.reference import metrics as slow
from tests.reference import sliding as boards

pytest.importorskip("torch")

from tests.unit.graph.test_oracle import DEPTHS, Scripted

import recommit
from recommit.cli import main
from recommit.data.spec import DataSpec, Difficulty
from recommit.evaluate import metrics, population
from recommit.evaluate.agents import PolicyPlayer
from recommit.evaluate.population import Population

BUDGETS = {"loose": 9, "tight": 4}
FIGURES = ("solve_rate", "actions_per_episode", "decisions_per_episode", "actions_solved", "mean_depth")


@pytest.fixture(scope="module")
def whole():
    """All 2x3 boards but the solved one."""
    task = recommit.Sliding(2, 3)
    states, length = task.population()
    return Population(PolicyPlayer(Scripted(), task, states, max(BUDGETS.values())), length)


@pytest.mark.parametrize("shape", [(2, 2), (2, 3), (3, 2)])
def test_a_population_is_every_board(shape):
    table = boards.distances(*shape)
    states, length = recommit.Sliding(*shape).population()
    listed = [tuple(state.ravel().tolist()) for state in states]
    assert set(listed) == table.keys() - {boards.goal(*shape)}
    assert [table[board] for board in listed] == length.tolist() == sorted(length)


def test_the_population_of_3x3_has_the_layers_that_are_known():
    states, length = recommit.Sliding(3).population()
    assert len(states) == 181_439
    assert np.bincount(length)[1:].tolist() == recommit._core.sliding.layer_sizes(3, 3)[1:]


@pytest.mark.parametrize(
    "agent", ["adaptive", "fixed-1", "fixed-3", "fixed-8", "oracle-dp", "oracle-delta", "oracle-rate"]
)
def test_who_draws_nothing_has_the_figures_of_all_episodes(whole, agent):
    for row in whole.rows(agent, BUDGETS):
        k = BUDGETS[row["budget"]]
        rows = metrics.within(whole.player.rows(agent, k), k)
        played = metrics.episodes(rows, whole.length, k)
        figures = metrics.summarise(played, rows, k)
        assert row["solved"] == figures["solved"]
        assert [row[name] for name in FIGURES] == pytest.approx([figures[name] for name in FIGURES], rel=1e-12)
        assert row["depth_shares"] == pytest.approx(figures["depth_shares"])
        for line in row["lengths"]:
            own = played.where(played.length == line["length"])
            assert (line["starts"], line["solve_rate"]) == (len(own), pytest.approx(own.solved.mean()))
            assert line["actions"] == pytest.approx(own.actions.mean())
        assert row["solve_rate_by_lengths"] == pytest.approx(np.mean([line["solve_rate"] for line in row["lengths"]]))


def step(state, depth):
    task = recommit.Sliding(2, 3)
    grid = np.frombuffer(state, np.uint8).reshape(1, 2, 3)
    outcome = task.execute(grid, Scripted().plan(task, grid, (8,))[2][:, 0], np.array([depth], np.int32))
    return outcome.states[0].tobytes(), int(outcome.executed[0]), bool(outcome.solved[0])


def goal(state):
    return state == bytes([1, 2, 3, 4, 5, 0])


def chances_of(whole, agent, k):
    """By state and looks left, the probability of each depth."""
    if agent == "random":
        return lambda _state, _left: dict.fromkeys(DEPTHS, Fraction(1, len(DEPTHS)))
    if agent == "shuffled":
        rows = metrics.within(whole.player.rows("adaptive", k), k)
        share = {depth: Fraction(int((rows.depth == depth).sum()), len(rows)) for depth in DEPTHS}
        return lambda _state, _left: share

    def drawn(state, _left):
        grid = np.frombuffer(state, np.uint8).reshape(1, 2, 3)
        weights = np.exp(Scripted().plan(recommit.Sliding(2, 3), grid, (8,))[0][0].astype(np.float64))
        return dict(zip(DEPTHS, (weights / weights.sum()).tolist(), strict=True))

    return drawn


@pytest.mark.parametrize("agent", ["random", "shuffled", "sampled"])
def test_who_draws_depths_has_the_mean_of_all_draws(whole, agent):
    budgets = {"one": 3, "more": 5}
    for row in whole.rows(agent, budgets):
        k, memory = budgets[row["budget"]], {}
        chances = chances_of(whole, agent, k)
        plays = [slow.expected(step, chances, start.tobytes(), k, goal, memory) for start in whole.player.starts]
        solved, actions, on_solved, decisions = (float(sum(column)) for column in zip(*plays, strict=True))
        count = len(plays)
        assert [row[name] for name in FIGURES[:4]] == pytest.approx(
            [solved / count, actions / count, decisions / count, on_solved / solved], rel=1e-12
        )


def test_a_planted_defect_is_noticed(whole, monkeypatch):
    """Commitments that are charged in full although the goal ended them."""
    right = whole.rows("fixed-4", BUDGETS)[0]["actions_per_episode"]
    charged = np.broadcast_to(np.array(whole.player.graph.depths), whole.player.graph.executed.shape)
    monkeypatch.setattr(whole.player.graph, "executed", charged)
    assert whole.rows("fixed-4", BUDGETS)[0]["actions_per_episode"] > right + 0.1


def test_some_lengths_look_only_where_they_lead():
    recipe = DataSpec("sliding", (2, 3), (Difficulty((3, 5)), Difficulty((5, 7))), 1)
    states, length = population.starts(recipe, "data", ())
    assert np.bincount(length).tolist() == [0, 0, 0, 5, 6, 7, 10, 12]
    assert len(population.starts(recipe, "all", ())[0]) == 359
    assert set(population.starts(recipe, "all", (20, 40))[1].tolist()) == {20, 21}
    some = Population(PolicyPlayer(Scripted(), recommit.Sliding(2, 3), states, 9), length)
    for agent in ("fixed-1", "fixed-8", "random"):  # what the first does not come by, the next ones look at
        alone = Population(PolicyPlayer(Scripted(), recommit.Sliding(2, 3), states, 9), length)
        assert some.rows(agent, BUDGETS) == alone.rows(agent, BUDGETS)
        assert int(alone.player.graph.planned.sum()) < 359


def test_the_command_plays_a_population(run, tmp_path, capsys):
    call = ["evaluate", str(run), "--population", "all", "--out", str(tmp_path / "out"), "--quiet"]
    assert main(call) == 0
    shown = capsys.readouterr().out
    assert "sliding 2x3, loose budget: K = 15, all 359 starts of length 1 to 21, exact" in shown
    assert ".." not in shown
    rows = json.loads((tmp_path / "out" / "population.json").read_text())
    assert {row["agent"] for row in rows} >= {"adaptive", "fixed-8", "random", "oracle-dp"}
    assert (tmp_path / "out" / "population.md").read_text() == shown
    assert main([*call, "--agents", f"fixed-2@{run}", "--budgets", "3", "--json"]) == 0
    (other,) = json.loads(capsys.readouterr().out)
    assert other["starts"] == 359


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (
            ["--agents", "adaptive-memory"],
            "agents: expected fixed-1 to fixed-8 or adaptive, .* for a population, got adaptive-memory",
        ),
        (["--agents", "fixed-4-sampled"], "got fixed-4-sampled: it has a memory, samples actions"),
        (["--length", "40", "50"], r"length: expected some that sliding 2x3:[0-9.]+ has, got \[40, 50\]"),
        (["--budgets", "0"], "budgets: expected loose, tight or 1..64, got 0"),
    ],
)
def test_what_has_no_exact_value_is_refused(run, tmp_path, capsys, more, said):
    assert main(["evaluate", str(run), "--population", "all", "--out", str(tmp_path / "out"), *more]) == 2
    assert re.search(said, capsys.readouterr().err)


def test_a_puzzle_with_too_many_states_is_refused():
    for task in (recommit.Sokoban(6, 1), recommit.Sliding(4), recommit.Ice(6)):
        with pytest.raises(ValueError, match=r"population: expected (a puzzle whose states|boards of up to 10 cells)"):
            task.population()
