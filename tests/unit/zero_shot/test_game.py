"""One game against the puzzle's rules in plain Python, and what its decisions gave away against their definition;
and games by split, which are those of data sets of the same recipe."""

from __future__ import annotations

import random

import numpy as np
import pytest
from tests.refusals import refused

import recommit
from recommit.data import held_out
from recommit.data.spec import SPLITS
from recommit.prices import Prices
from recommit.puzzles.registry import TASKS
from recommit.zero_shot.game import Game, GameSpec, spl
from recommit.zero_shot.parser import ACTIONS

PUZZLES = {"sliding": recommit.Sliding(3), "sokoban": recommit.Sokoban(7, 2), "ice": recommit.Ice(8)}


#: Answers whose length, depth or letters are meant to hurt a reader.
HOSTILE = [None, {"up": 1}, ["up"] * 10**5, [["up"]], [None], [10**5000], "{" * 10**6, '{"h":' * 10**5, "\ud800"]


SPEC = GameSpec("sliding", (3,), length=(8, 12), count=16)


def start(task):
    return PUZZLES[task].generate(1, seed=7).states[0]


def game(task="sliding", budget=10, **how):
    return Game(PUZZLES[task], start(task), budget, **how)


@pytest.mark.parametrize("task", TASKS)
def test_optimal_play_solves_with_no_regret(task):
    played = game(task, prices=Prices(0.001, 0.01))
    length = played.distance
    while not played.over:
        played.commit(played.optimal())
    score = played.score()
    assert score.solved
    assert played.optimal() is None
    assert score.actions == length
    assert score.decisions == -(-length // 8)
    assert score.spl == 1.0
    assert score.regret == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("task", TASKS)
def test_a_game_is_what_single_actions_make_of_it(task):
    rng = random.Random(3)
    played, state = game(task, budget=12), start(task)[None]
    while not played.over:
        depth = rng.choice((1, 2, 4, 8))
        words = [rng.choice(ACTIONS) for _ in range(depth)]
        step = played.commit(words)
        moved = executed = 0
        for word in words:
            before, executed = state, executed + 1
            state = PUZZLES[task].step(state, np.array([ACTIONS.index(word)], np.uint8))
            moved += int((before != state).any())
            if PUZZLES[task].is_solved(state)[0]:
                break
        assert (step.executed, step.moved, step.depth) == (executed, moved, depth)
        assert np.array_equal(played.state, state[0])
    assert played.remaining == 0 or played.solved


def value(puzzle, state, remaining, price):
    """Worth of a state for optimal play, by its definition: every distance, every number of observations."""
    distance = int(puzzle.distance(state[None])[0])
    if distance == 0:
        return 1.0
    if remaining == 0:
        return 0.0
    looks = -(-distance // 8)
    fail = -remaining * (price.observation + price.action)
    reach = 1.0 - price.action * distance - price.observation * looks if 0 <= distance <= 8 * remaining else fail
    return max(reach, fail)


@pytest.mark.parametrize("price", [Prices(), Prices(0.002, 0.01), Prices(0.1, 0.3)])
@pytest.mark.parametrize("task", TASKS)
def test_regrets_sum_to_what_the_start_was_worth(task, price):
    rng = random.Random(5)
    played = game(task, budget=4, prices=price)
    first, puzzle = played.state, played.task
    while not played.over:
        played.commit([rng.choice(ACTIONS) for _ in range(rng.choice((1, 2, 4, 8)))] if rng.random() < 0.8 else "?")
    paid = sum(price.observation + price.action * step.executed for step in played.steps)
    remaining = value(puzzle, played.state, played.remaining, price)
    assert sum(played.regrets()) == pytest.approx(value(puzzle, first, 4, price) - (remaining - paid))
    assert (
        min(played.regrets()) >= -1e-12 or price.observation > 0
    )  # an observation wasted early may be cheaper than all that remain


def test_an_answer_that_is_none_spends_an_observation():
    played = game(budget=2)
    before = played.state
    step = played.commit("I would go left.")
    assert (step.outcome, step.depth, step.executed) == ("no_object", 0, 0)
    assert played.commit(["up"] * 3).outcome == "depth_outside"
    assert np.array_equal(played.state, before)
    assert played.over
    assert played.score().solved is False
    refused([(lambda: played.commit(["up"]), "expected a game that goes on, got one over after 2")])


def test_text_and_words_are_read_alike():
    text = '{"h": 2, "actions": ["up", "left"]}'
    for moves in ("blank", "tile"):
        played = game(moves=moves)
        assert played.read(text) == played.read(["up", "left"])
        assert played.words(played.read(text)) == ["up", "left"]
    assert game(moves="tile").read(text).actions == (1, 3)


def test_hostile_answers_change_nothing():
    for answer in HOSTILE:
        one = game()
        before = one.state.copy()
        assert (one.commit(answer).depth, one.remaining) == (0, 9)
        assert (one.state == before).all()


def test_observations_show_the_state():
    look = game(cell=28).observe()
    assert look.picture.shape == (84, 84, 3)
    assert look.png[:4] == b"\x89PNG"
    assert "picture" in look.system
    shown = game(view="text").observe()
    assert shown.picture is shown.png is None
    assert shown.text.startswith(game().rows + "\n\n")
    assert "picture" not in shown.system + shown.text


@pytest.mark.parametrize("task", TASKS)
def test_rows_are_the_state(task):
    played = game(task)
    assert np.array_equal(recommit.parse_levels(played.rows + "\n").states[0], played.state)


def test_solved_starts_are_over():
    played = Game(recommit.Sliding(2), np.array([[1, 2], [3, 0]], np.uint8), 3)
    assert (played.over, played.score().decisions, spl(0, 0, True)) == (True, 0, 0.0)


def test_the_test_games_are_those_of_evaluations():
    drawn = held_out.starts(SPEC.data, "test", 16, ())
    assert np.array_equal(SPEC.starts("test").states, drawn.states)
    assert SPEC.ids("test")[0] == f"sliding/3x3:8..12/0/{drawn.number[0]}"


def test_splits_share_no_start():
    seen = {split: {state.tobytes() for state in SPEC.starts(split).states} for split in SPLITS}
    assert not seen["train"] & seen["test"]
    assert not seen["validation"] & seen["test"]
    assert len(seen["test"]) == 16


def test_games_begin_where_their_instances_do():
    assert np.array_equal(SPEC.game("test", 3).state, SPEC.starts("test").states[3])
    assert SPEC.of_state([[1, 2], [0, 3]]).distance == 1


def test_what_makes_no_games_is_refused():
    rows = [
        (lambda: GameSpec(task="chess"), "task: expected one of sliding, sokoban, ice, got 'chess'"),
        (lambda: GameSpec(size=(3, 3, 3)), "size: expected one or two numbers, got 3"),
        (lambda: GameSpec(budget=65), "budget: expected 1..64, got 65"),
        (lambda: GameSpec(count=0), "count: expected at least 1, got 0"),
        (lambda: GameSpec(cell=3), "cell: expected 4..112, got 3"),
        (lambda: GameSpec(task="ice", moves="tile"), "moves: expected blank, or tile for sliding, got tile for ice"),
        (lambda: GameSpec(view="sound"), "view: expected one of image, text, got 'sound'"),
        (lambda: SPEC.starts("dev"), "split: expected one of train, validation, test, got 'dev'"),
        (lambda: SPEC.game("test", 16), "index: expected 0..15, got 16"),
        (lambda: SPEC.of_state([1, 2, 3]), "state: expected rows of cells, got 1"),
        *(
            (lambda s=s: SPEC.of_state(s), "state: expected ")
            for s in ([[300]], [[-1]], [[1.5]], [["a"]], [[2**70]], [[]])
        ),
    ]
    refused(rows, ValueError, IndexError)
