"""Whole builds: every row against replay, the count formula and a plain breadth-first search; splits without leaks."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
from tests.reference.labels import Judge
from tests.refusals import refused
from tests.unit.storage.test_files import reseal

import recommit
import recommit.data
from recommit.cli import main
from recommit.data import assignment, held_out, manifest, rows, verification
from recommit.data.spec import DataSpec, Difficulty
from recommit.storage import errors

SOKOBAN = DataSpec(
    "sokoban",
    (7, 7),
    (Difficulty((3, 20), 1), Difficulty((8, 32), 2)),
    300,
    40,
    50,
    perturbed=3,
    shard=128,
    ties="random",
)
SLIDING = DataSpec("sliding", (2, 3), (Difficulty((4, 21)),), 200, 10, 6, perturbed=2, shard=64, ties="random")
REVERSE = SOKOBAN.changed(generator="reverse", count=60, validation=9, test=9, shard=32)
WALK = SLIDING.changed(generator="walk")
RECIPES = {"sokoban": SOKOBAN, "sliding": SLIDING, "reverse": REVERSE, "walk": WALK}


@pytest.fixture(scope="module", params=RECIPES.values(), ids=RECIPES.keys())
def data(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("set") / "set"
    recommit.data.build(request.param, folder)
    return recommit.data.open(folder, None)


def test_every_label_against_breadth_first_search(data):
    content = data.columns()
    judge = Judge(data.spec.task, content.states.shape[1:])
    some = content.instance % 40 == 7  # a search in plain Python takes its time on Sokoban levels
    for i in range(len(content)) if data.spec.task == "sliding" else np.flatnonzero(some):
        state = content.states[i]
        assert content.distance[i] == judge.distance(state)
        assert {a for a in range(4) if content.optimal[i] >> a & 1} == judge.optimal(state)


def test_counts(data):
    recipe = data.spec
    assert recommit.data.verify(data, labels=True) == len(data)
    for split, count in recipe.counts.items():
        part = recommit.data.open(data.folder, split)
        content = part.columns()
        starts = part.starts()
        assert len(starts) == count
        expected = sum(rows.sample_count(int(length)) for length in starts.length)
        assert len(rows.expand(content[content.kind == rows.EXPERT])) == expected
        assert (content.kind == rows.PERTURBED).sum() == count * recipe.perturbed
        assert sum(len(s) for _, s in part.expand()) == data.manifest.total("samples", split)
        per_difficulty = np.bincount(starts.difficulty, minlength=len(recipe.difficulties))
        assert per_difficulty.max() - per_difficulty.min() <= part.manifest.spec.shards(split)


def test_overlap_is_what_sets_say(data):
    def key(state):
        return int(assignment.keys(data.spec.task, state[None])[0])

    train, test = (recommit.data.open(data.folder, split).columns() for split in ("train", "test"))
    seen = {key(s) for s in train.states[train.kind == rows.EXPERT]}
    path = test[test.kind == rows.EXPERT]
    hit = np.array([key(s) in seen for s in path.states])
    assert data.manifest.overlap == {
        "test_starts": data.spec.test,
        "test_starts_on_training_paths": int((hit & (path.t == 0)).sum()),
        "test_states": len(path),
        "test_states_on_training_paths": int(hit.sum()),
        "distinct_training_states": len(seen),
    }


def on_shortest_paths(puzzle, states):
    """Keys of all boards on the shortest paths of ``states`` that are six or more actions from the goal."""
    keys = set()
    while len(states := states[puzzle.distance(states) >= 6]):
        keys |= set(assignment.keys(puzzle.task, states).tolist())
        row, action = np.nonzero(puzzle.optimal_actions(states))
        states = np.unique(puzzle.step(np.ascontiguousarray(states[row]), action.astype(np.uint8)), axis=0)
    return keys


@pytest.mark.parametrize("size", [(3, 3), (4, 4)])
def test_paths_of_two_regions_meet_near_the_goal_alone(size, tmp_path):
    plan = DataSpec("sliding", size, (Difficulty((7, 10)), Difficulty((14, 16))), 600, 12, 12, ties="random")
    spec = plan.changed(disjoint="regions")
    built, loose = (recommit.data.build(each, tmp_path / each.disjoint, workers=2) for each in (spec, plan))
    assert built.overlap["test_starts"] == 12
    assert built.overlap["test_starts_on_training_paths"] == 0
    assert loose.overlap["test_states_on_training_paths"] > built.overlap["test_states_on_training_paths"]
    assert recommit.data.verify(recommit.data.open(tmp_path / "regions")) > 600

    def shared(disjoint):
        splits = [recommit.data.open(tmp_path / disjoint, split).columns() for split in ("train", "validation", "test")]
        train, validation, test = (on_shortest_paths(spec.puzzle(), each.states[each.t == 0]) for each in splits)
        return [len(train & test), len(train & validation), len(validation & test)]

    assert shared("regions") == [0, 0, 0]
    assert shared("starts")[0] > 0


def room_of(state):
    """Walls and goals in the least of their eight images: written from the definition, cell by cell."""
    reached, todo = set(), list(zip(*np.where(state >= 5), strict=True))
    while todo:
        row, col = todo.pop()
        if (row, col) not in reached and state[row, col] != 1:
            reached.add((row, col))
            todo += [(row + 1, col), (row - 1, col), (row, col + 1), (row, col - 1)]
    top, remaining = np.min(list(reached), axis=0)  # wherever in the grid it lies
    room = np.ones(state.shape, int)
    for row, col in reached:
        room[row - top, col - remaining] = 2 if state[row, col] in (2, 4, 6) else 0
    height, width = np.max(list(reached), axis=0) - (top - 1, remaining - 1)
    room = room[:height, :width]
    images = [np.rot90(side, turn) for side in (room, room[::-1]) for turn in range(4)]
    return min((image.shape, image.tobytes()) for image in images)


def test_layouts_may_be_disjoint(tmp_path):
    plan = SOKOBAN.changed(difficulties=(Difficulty((4, 20), 1),), size=(6, 6), count=1500, perturbed=0, test=200)
    for how, shared in (("starts", True), ("layouts", False)):
        recommit.data.build(plan.changed(disjoint=how), tmp_path / how)
        train, test = (recommit.data.open(tmp_path / how, split).starts().states for split in ("train", "test"))
        assert bool(set(map(room_of, train)) & set(map(room_of, test))) is shared
        recommit.data.verify(recommit.data.open(tmp_path / how, "test"), labels=True)
    numbers = held_out.rooms(plan.changed(disjoint="layouts"), test).tolist()
    pairs = set(zip(numbers, map(room_of, test), strict=True))
    assert 20 < len(pairs) == len(set(numbers)) == len({room for _, room in pairs}) < len(test)
    assert held_out.rooms(plan, test) is None


PLANTED = {
    "distance": lambda c: c.distance.__setitem__(3, c.distance[3] + 1),
    "optimal": lambda c: c.optimal.__setitem__(3, 0),
    "count": lambda c: c.count.__setitem__(3, max(0, int(c.count[3]) - 1)),
    "actions": lambda c: c.actions.__setitem__((3, 0), (c.actions[3, 0] + 1) % 4),
    "last action": lambda c: c.actions.__setitem__((5, int(c.count[5]) - 1), (c.actions[5, c.count[5] - 1] + 1) % 4),
    "state": lambda c: c.states.__setitem__(4, c.states[5]),
}


def test_verification_sees_planted_errors(data):
    content = next(iter(data.shards()))
    check = lambda content, name: verification.check_rows(data.puzzle, content, name, labels=True)
    check(content, "clean")
    for name, plant in PLANTED.items():
        plant(other := content[np.arange(len(content))])
        refused([(lambda other=other, name=name: check(other, name), f"{name}: ")], errors.Damaged)


def test_figures_of_a_manifest_are_counted_again(data, tmp_path, capsys):
    """Its checksum is right, and a card would say what it says."""
    place = shutil.copytree(data.folder, tmp_path / "set")
    whole = (place / manifest.NAME).read_text()
    for name in ("instances", "samples", "dead", "overlap"):
        plain = json.loads(whole)
        figures = plain["overlap"] if name == "overlap" else plain["shards"][0]
        figures["test_states" if name == "overlap" else name] += 1
        reseal(place, plain)
        assert main(["data", "show", str(place), "--verify"]) == 1
        assert f"{name}: expected" in capsys.readouterr().err
