"""Which instances are shown, and that what is packed is what was played."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.unit.report.conftest import puzzle

from recommit.report import episodes
from recommit.report.reading import Folder


def test_every_kind_is_shown():
    kinds = np.array([0] * 2 + [1] * 50 + [2] * 50)
    chosen = episodes.choose(kinds, 12)
    assert chosen == sorted(set(chosen))
    assert np.bincount(kinds[chosen]).tolist() == [2, 5, 5]
    assert episodes.choose(kinds, 200) == list(range(102))
    assert kinds[episodes.choose(kinds, 1)] == 0


@pytest.mark.parametrize("task", ["sliding", "sokoban"])
def test_packed_episodes_replay_to_the_same_distances(evaluations, task):
    folder = Folder(evaluations[task])
    packed = episodes.pack(folder, 10)
    assert len(packed["instances"]) == 10
    assert packed["of"] == 24
    assert packed["depths"] == [1, 2, 4, 8]
    assert packed["agents"][packed["other"]]["label"] == folder.best_fixed("loose")[0].label
    opened = packed["kinds"][packed["instances"][packed["open"]]["kind"]]
    assert "solves where" in opened or not any(each["kind"] == episodes.AHEAD for each in packed["instances"])
    game = puzzle(task)
    shape = packed["rows"], packed["cols"]
    for agent, played in zip(packed["agents"], packed["played"], strict=True):
        for instance, one in zip(packed["instances"], played, strict=True):
            state = np.frombuffer(bytes.fromhex(instance["state"]), np.uint8).reshape(1, *shape)
            actions = iter(one["a"])
            for k, many in enumerate(one["x"]):
                assert game.distance(state)[0] == one["d"][k]
                for _ in range(int(many)):
                    state = game.step(state, np.array([int(next(actions))], np.uint8))
            assert next(actions, None) is None
            assert game.distance(state)[0] == one["d"][-1]
            assert bool(game.is_solved(state)[0]) == one["solved"]
            assert ("p" in one) == (not agent["depth"]), "nobody asks the depth head of a fixed depth"
            assert len(one.get("p", "")) in (0, 8 * len(one["h"]))


def test_a_page_holds_no_more_than_it_may(evaluations):
    folder = Folder(evaluations["sliding"])
    packed = episodes.pack(folder, 24, room=12_000)
    assert 1 <= len(packed["instances"]) < 24
    assert len(json.dumps(packed, separators=(",", ":"))) <= 12_000
    assert len(episodes.pack(folder, 24, room=1)["instances"]) == 1
