"""The policy's own states among those of the data: labelled exactly where its commitments led, resumed bit for bit."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from tests.refusals import refused
from tests.unit.train.runs import interrupt_and_go_on, same

from recommit import rng
from recommit.data import loading
from recommit.policy.config import PLAN_LENGTH
from recommit.policy.policy import CommitPolicy
from recommit.runs.checkpoints import seal
from recommit.storage import errors
from recommit.train.sft import trainer as run
from recommit.train.sft.targets import Targets

STEPS, SHARE, BUDGET = 8, 0.5, 3


def own(plan):
    return replace(plan, targets=replace(plan.targets, dagger=SHARE, budget=BUDGET))


def test_a_share_of_each_step_is_where_the_commitments_of_the_policy_led(plan, data, tmp_path, monkeypatch):
    """Replayed here: every state is one of the data, or what the policy's sampled commitment made of the one before."""
    seen, acted = [], []
    make, act = run.targets.make, CommitPolicy.act
    monkeypatch.setattr(run.targets, "make", lambda *a, **k: seen.append((a[1].states, make(*a, **k))) or seen[-1][1])

    def noted(self, task, states, **options):
        acted.append((states, options, act(self, task, states, **options)))
        assert not self.training
        return acted[-1][2]

    monkeypatch.setattr(CommitPolicy, "act", noted)
    config = replace(own(plan), validation=replace(plan.validation, instances=0))
    assert run.train(config, data, tmp_path / "out", quiet=True) == 0
    monkeypatch.undo()
    task, places = run.opened(data)[0].spec.puzzle(), 8
    drawn = [made for _, made in seen if len(made) == 16]
    rows = [states for states, made in seen if len(made) == 16]
    assert len(drawn) == len(acted) == STEPS
    age, expected, continued, ended = np.zeros(places, int), rows[0].copy(), 0, 0
    for step, (states, options, (depths, plans)) in enumerate(acted):
        assert np.array_equal(drawn[step].states, expected)
        assert np.array_equal(drawn[step].distance, task.distance(expected))
        assert np.array_equal(states, expected[:places])
        assert options["remaining"].tolist() == (BUDGET - age).tolist()
        words = rng.streams(plan.run.seed, rng.Purpose.OWN_STATES, step * 16 + np.arange(places))
        assert np.array_equal(options["noise"][0], rng.uniforms(words, 4 + 4 * PLAN_LENGTH)[:, :4])
        expected = rows[min(step + 1, STEPS - 1)].copy()
        for i in range(places):
            here = states[i]
            for action in plans[i, : depths[i]]:
                here = here if task.is_solved(here) else task.step(here, int(action))
            age[i] += 1
            if task.is_solved(here) or age[i] == BUDGET:
                age[i], ended = 0, ended + 1
            else:
                expected[i], continued = here, continued + 1
    assert continued > 10
    assert ended > 10


def test_an_episode_that_cannot_be_solved_ends(levels):
    """Its place goes to the row of the data."""
    dataset = run.opened(levels)[0]
    task, rows = dataset.spec.puzzle(), next(loading.Mixture([dataset], 6))[0].rows.states
    dead = rows[0].copy()
    dead[dead >= 5] -= 5
    dead[dead == 6] = 2
    corner = np.argwhere(dead == 0)[0]
    dead[(dead == 3) | (dead == 4)] = 0
    dead[tuple(corner)] = 5
    walls = np.pad(dead, 1, constant_values=1) == 1
    stuck = [
        (r, c)
        for r, c in np.argwhere(dead == 0)
        if (walls[r, c + 1] or walls[r + 2, c + 1]) and (walls[r + 1, c] or walls[r + 1, c + 2])
    ]
    dead[stuck[0]] = 3
    assert task.distance(dead) == -1
    episodes = run.Episodes(dataset.spec, 2, 5)
    episodes.states[:], episodes.age[:] = np.stack([dead, rows[5]]), (1, 2)
    states, distance = episodes.among(rows, task.distance(rows))
    assert np.array_equal(states, np.concatenate([rows[:1], rows[5:6], rows[2:]]))
    assert np.array_equal(distance, task.distance(states))
    assert episodes.age.tolist() == [0, 2]


@pytest.mark.parametrize("together", [False, True])
def test_ranks_whose_weights_are_split_make_the_same_passes(data, together):
    """However many rows of a data set a rank has; what a rank has too few of is acted on and forgotten."""
    task, passes = run.opened(data)[0].spec.puzzle(), []

    def act(_task, states, *, noise, remaining):
        assert len(states) == len(noise[0]) == len(noise[1]) == len(remaining)
        passes.append(len(states))
        return SimpleNamespace(plans=np.zeros((len(states), 8), np.uint8), depths=np.ones(len(states), np.int32))

    policy = SimpleNamespace(
        config=SimpleNamespace(depths=(1, 2, 4, 8), plan_length=8), training=True, eval=int, train=bool, act=act
    )
    engine = SimpleNamespace(equal_passes=together, run=lambda work: work())
    for rows in (5, 2):
        states = task.generate(rows, seed=0, length=(6, 9)).states
        plans, optimal = np.zeros((rows, 8), np.int64), np.zeros((rows, 8, 4), np.bool_)
        batch = Targets(states, plans, optimal, task.distance(states), np.ones(rows, np.int64))
        episodes = run.Episodes(run.opened(data)[0].spec, 4, BUDGET)
        episodes.follow(policy, engine, batch, rng.streams(0, rng.Purpose.OWN_STATES, np.arange(6)))
        assert episodes.age.tolist() == [1] * min(rows, 4) + [0] * (4 - min(rows, 4))
    assert passes == ([4, 4] if together else [4, 2])


def test_interrupted_runs_end_in_the_same_bits(plan, data, levels, tmp_path):
    both = [data, levels]
    assert run.train(own(plan), both, tmp_path / "straight", quiet=True) == 0
    interrupt_and_go_on(run.SftTrainer, lambda: run.train(own(plan), both, tmp_path / "interrupted", quiet=True), 4)
    same(tmp_path / "straight", tmp_path / "interrupted", steps=8)


WRONG = [
    {"numpy": ["MT19937", [1] * 624, 625, 0, 0.0]},  # numpy would read beyond its numbers, with more die of it
    {"numpy": ["MT19937", [1] * 624, -1, 0, 0.0]},
    {"numpy": 1},
    {"python": [3, [2**70] * 625, None]},
    {"torch": "00"},
    {"episodes": []},
    {"age": [1] * 3},
    {"age": [1] * 7 + [-(2**40)]},
    {"age": [2**70] * 8},
    {"age": [BUDGET] + [0] * 7},
    {"states": "00"},
    {"states": "ff" * 48, "age": [1] * 8},
]


def test_a_checkpoint_of_a_stranger_has_streams_and_episodes_or_is_refused(plan, data, tmp_path):
    """Its checksum is right."""
    few = replace(plan.optim, steps=2, warmup=0)
    config = replace(own(plan), optim=few, validation=replace(plan.validation, instances=0))
    assert run.train(config, data, tmp_path / "run", quiet=True) == 0
    step = tmp_path / "run" / "checkpoints" / "step-00000002"
    whole = (step / "random-0.json").read_text()

    def go_on(wrong):
        saved = json.loads(whole)
        for name, value in wrong.items():
            (saved if name in saved else saved["episodes"][0])[name] = value
        (step / "random-0.json").write_text(json.dumps(saved))
        seal(step)
        return run.train(config, data, tmp_path / "run", quiet=True)

    words = "random-0.json: expected streams and episodes of this run, got others"
    refused([(partial(go_on, wrong), words) for wrong in WRONG], errors.Damaged)
