"""A match in the terminal, by its keys; and what is packed of episodes."""

from __future__ import annotations

import json

import pytest
from tests.refusals import refused
from tests.unit.watch.scripted import ScriptedMatch

from recommit.prices import Prices
from recommit.watch import match as match_of
from recommit.watch.match import Played
from recommit.watch.recorded import RecordedMatch, record, text
from recommit.watch.terminal import MatchGame, parsed


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
    assert "regret: 0.020 lost                      regret: none" in first
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


def test_after_the_last_level_the_match_goes_on() -> None:
    game = MatchGame(ScriptedMatch())
    assert "level 1" in pressed(game, "next")
    assert "this is the last level" in pressed(game, "next")
    assert "level 1" in game.screen()
    assert pressed(game, "quit")
    assert game.over


def test_packed_episodes_are_the_same_again() -> None:
    match = ScriptedMatch()
    for depth in (0, 4):
        played = match.episode(match.level(0), depth)
        assert Played.unpacked(json.loads(json.dumps(played.packed())), 4) == played
    whole = Played(tuple(match_of.Commitment(1, 1, (3,) * 8, (255,)) for _ in range(2)), (2, 1, 0), True)
    assert Played.unpacked(whole.packed(), 1) == whole, "regrets that nobody worked out"


def test_a_recording_plays_its_levels_and_no_other_state() -> None:
    match = ScriptedMatch()
    again = RecordedMatch(json.loads(text(record(match, [match.level(0)]))))
    assert again.about == match.about
    level = again.level(0)
    for depth in (0, 1, 8):
        assert again.episode(level, depth) == match.episode(level, depth)
    refused([(lambda: again.level(1), "levels 0 to 0")], LookupError)


def test_prices_in_words() -> None:
    assert match_of.words(Prices()) == "solved or not"
    assert match_of.words(Prices(0.01, 0.5)) == "solved, less 0.01 per action and 0.5 per observation"
    assert match_of.cost(1.0, 3, 3) == "the solution lost, best was h = 3 (too deep)"


@pytest.mark.parametrize(
    ("typed", "words", "rest"),
    [
        ("\x1b[C\x1bOD 8b\r", ["on", "back", "on", "8", "back", "on"], ""),
        ("nr\x1b[", ["next", "restart"], "\x1b["),
        ("\x1b[5zQ", ["quit"], ""),
        ("\x1b[1;5C\x1b[1;2An\x1b[1;", ["next"], "\x1b[1;"),
        ("\u00e9", [], ""),
    ],
)
def test_keys(typed: str, words: list[str], rest: str) -> None:
    assert parsed(typed) == (words, rest)
