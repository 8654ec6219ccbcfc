"""A match in the terminal, by its keys; and what is packed of episodes."""

from __future__ import annotations

import json

import pytest
from tests.refusals import refused
from tests.unit.watch.scripted import ScriptedMatch

from recommit.cli.keys import parsed
from recommit.prices import Prices
from recommit.watch import match as match_of
from recommit.watch.match import Played
from recommit.watch.recorded import RecordedMatch, record, text
from recommit.watch.terminal import DEAD, MatchGame


def pressed(game: MatchGame, *keys: str) -> str:
    for key in keys:
        game.press(key)
    return game.screen()


def test_both_episodes_go_on_one_observation_at_a_time() -> None:
    game = MatchGame(ScriptedMatch())
    first = game.screen().split("\n")
    assert first[0].startswith("x<img")
    assert "observation 1: commits to 1             observation 1: commits to 4" in first
    assert "plan: [r] rrrrrrr                       plan: [rrrr] rrrr" in first
    assert "distance 2 to 1; 0 actions so far       distance 2 to 0; 0 actions so far" in first
    assert "regret: 0.020 lost                      regret: no depth is better" in first
    assert "best was h = 2 (too shallow)" in first
    assert "h = 1 #############     80%" in first
    second = pressed(game, "on")
    assert "observation 2: commits to 1             solved after 1 observations, 2 actions" in second
    ended = pressed(game, "on", "on", "on")
    assert "solved after 2 observations, 2 actions  solved after 1" in ended
    assert "regret in all: 0.020                    regret in all: 0.000" in ended
    assert pressed(game, "back", "back", "back", "back").split("\n") == first


def test_the_fixed_depth_is_chosen_with_a_digit() -> None:
    game = MatchGame(ScriptedMatch())
    assert "always 2" in pressed(game, "on", "2")
    assert "solved after 1 observations, 2 actions" in game.screen()
    assert pressed(game, "9", "0") == game.screen()


def test_moves_by_hand_and_the_policy_goes_on_with_what_is_left() -> None:
    game = MatchGame(match := ScriptedMatch())
    by_hand = pressed(game, "on", "up", "up")
    assert "by hand: 1 actions" in by_hand, "a wall stops, and is no action"
    assert "distance 2; 3 observations left" in by_hand
    assert "by hand: 2 actions" in pressed(game, "down")
    asked = len(match.asked)
    went_on = pressed(game, "go")
    assert match.asked[asked:] == [(3, 0)]
    assert "observation 2: commits to 1" in went_on
    assert "solved after 2 observations, 2 actions  solved" in pressed(game, "on", "on")


def test_a_deadlock_is_said_at_once() -> None:
    game = MatchGame(ScriptedMatch())
    screen = pressed(game, "down", "right", "up")
    assert "distance out of reach; 4 observations left" in screen
    assert DEAD in screen
    assert DEAD in pressed(game, "on"), "the policy observes it, and goes on in vain"
    assert "distance out of reach to out of reach" in game.screen()


def test_back_from_moves_by_hand_is_back_to_what_was_played() -> None:
    game = MatchGame(ScriptedMatch())
    start = game.screen()
    assert "by hand" in pressed(game, "down")
    assert pressed(game, "restart") == start


def test_what_is_solved_by_hand_is_solved() -> None:
    screen = pressed(game := MatchGame(ScriptedMatch()), "right", "right")
    assert "solved by hand" in screen
    assert pressed(game, "left") == screen
    assert "solved after 0 observations" in pressed(game, "go")


def test_without_observations_nobody_goes_on() -> None:
    game = MatchGame(ScriptedMatch(budget=1))
    assert "no observations are left of 1" in pressed(game, "on", "up", "go")


def test_after_the_last_level_the_match_goes_on() -> None:
    game = MatchGame(ScriptedMatch())
    assert "level 1" in pressed(game, "next")
    assert "this is the last level" in pressed(game, "next")
    assert "level 1" in game.screen()
    assert pressed(game, "quit")
    assert game.over


def test_keys_of_a_match() -> None:
    assert parsed(" 8bg\r") == (["on", "8", "back", "go", "on"], "")


def test_packed_episodes_are_the_same_again() -> None:
    match = ScriptedMatch()
    for depth in (0, 4):
        played = match.episode(match.level(0), 4, depth)
        assert Played.unpacked(json.loads(json.dumps(played.packed())), 4) == played
    whole = Played(tuple(match_of.Commitment(1, 1, (3,) * 8, (255,)) for _ in range(2)), (2, 1, 0), True)
    assert Played.unpacked(whole.packed(), 1) == whole, "regrets that nobody worked out"


def test_a_recording_plays_its_levels_and_no_other_state() -> None:
    match = ScriptedMatch()
    again = RecordedMatch(json.loads(text(record(match, [match.level(0)]))))
    assert again.about == match.about
    level = again.level(0)
    for depth in (0, 1, 8):
        assert again.episode(level, 4, depth) == match.episode(level, 4, depth)
    elsewhere = match_of.of_state("sokoban", level.task.step(level.state[None], [0])[0], "")
    refused(
        [
            (lambda: again.episode(level, 3, 0), "from their start alone; recommit play --agent"),
            (lambda: again.episode(elsewhere, 4, 0), "from their start alone"),
            (lambda: again.level(1), "levels 0 to 0"),
        ],
        ValueError,
        LookupError,
    )
    screen = pressed(MatchGame(again), "down", "go")
    assert "from their start alone" in screen
    assert "by hand: 1 actions" in screen


def test_prices_in_words() -> None:
    assert match_of.words(Prices()) == "solved or not"
    assert match_of.words(Prices(0.01, 0.5)) == "solved, less 0.01 per action and 0.5 per observation"
    assert match_of.cost(1.0, 3, 3) == "the solution lost, best was h = 3 (too deep)"


@pytest.mark.parametrize(
    ("typed", "words", "rest"),
    [
        ("\x1b[A\x1bOBdl", ["up", "down", "right", "right"], ""),
        ("nr\x1b[", ["next", "restart"], "\x1b["),
        ("\x1b[5zQ", ["quit"], ""),
        ("\x1b[1;5C\x1b[1;2An\x1b[1;", ["next"], "\x1b[1;"),
        ("\u00e9", [], ""),
    ],
)
def test_keys(typed: str, words: list[str], rest: str) -> None:
    assert parsed(typed) == (words, rest)
