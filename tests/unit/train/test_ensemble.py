"""Distillation: one view is taught what the mean of eight says, on turned states and where its own plans lead."""

from __future__ import annotations

import signal
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")
import torch.nn.functional as F
from tests.unit.train import runs

import recommit
from recommit.policy.policy import CommitPolicy
from recommit.runs.directory import best_policy
from recommit.train import sft as run
from recommit.train import targets
from recommit.train.config import SftConfig, TargetConfig, parse
from recommit.train.ensemble import Ensemble, landed

TASK = recommit.Sokoban(6, 1)
STATES = TASK.generate(12, seed=8, length=(2, 9)).states
NUMBERS = np.arange(12, dtype=np.uint64)


@pytest.fixture(scope="module")
def teacher(levels, tmp_path_factory):
    return runs.warm_start(levels, tmp_path_factory.mktemp("teacher") / "run")


def plan_of(teacher, **more):
    values = {"kind": "ensemble", "teacher": str(teacher), "augment": True, **more}
    return parse(SftConfig, {**runs.TINY, "targets": values})


@pytest.fixture
def ensemble(teacher):
    return Ensemble(best_policy(teacher), plan_of(teacher).targets, device="cpu")


def ahead(states):
    return np.tile(np.arange(8, dtype=np.uint8) % 4, (len(states), 1))


def test_targets_are_the_mean_of_eight_views_and_ask_no_solver(teacher, ensemble, monkeypatch):
    def refuse(*_a, **_k):
        raise AssertionError("a teacher asked the solver")

    for name in ("solve", "optimal_actions", "distance"):
        monkeypatch.setattr(type(TASK), name, refuse)
    batch = ensemble.targets(TASK, STATES, ahead, seed=3, first=0)
    policy = CommitPolicy.from_pretrained(best_policy(teacher)).eval().requires_grad_(False)
    policy.replace_augmentations(8)
    _, _, plans, probs = policy.plan_with_probabilities(TASK, batch.states, (8,))
    assert np.array_equal(batch.actions, plans[:, 0])
    assert np.array_equal(batch.probs, probs[:, 0])
    assert batch.optimal.sum(-1).min() == batch.optimal.sum(-1).max() == 1
    for state, actions, until in zip(batch.states, batch.actions, batch.distance, strict=True):
        here, steps = state[None], 0
        while steps < 8 and not TASK.is_solved(here)[0]:
            here, steps = TASK.step(here, actions[steps : steps + 1].astype(np.uint8)), steps + 1
        assert until == steps


def test_states_are_turned_and_left_by_their_numbers_alone(ensemble):
    whole = ensemble.targets(TASK, STATES, ahead, seed=3, first=100)
    part = ensemble.targets(TASK, STATES[4:7], ahead, seed=3, first=104)
    assert np.array_equal(whole.states[4:7], part.states)
    assert not np.array_equal(ensemble.targets(TASK, STATES, ahead, seed=4, first=100).states, whole.states)


def test_some_states_are_left_for_where_plans_lead():
    plans = ahead(STATES)
    assert np.array_equal(landed(TASK, STATES, plans, 0.0, seed=1, number=NUMBERS), STATES)
    every = landed(TASK, STATES, plans, 1.0, seed=1, number=NUMBERS)
    some = landed(TASK, STATES, plans, 0.5, seed=1, number=NUMBERS)
    for begin, end, either in zip(STATES, every, some, strict=True):
        here, seen = begin[None], []
        for action in plans[0]:
            here = TASK.step(here, np.array([action]))
            seen.append(here[0].tobytes())
        assert end.tobytes() in (*seen, begin.tobytes())
        assert either.tobytes() in (begin.tobytes(), end.tobytes())
    assert not TASK.is_solved(every).any()
    stays = [np.array_equal(a, b) for a, b in zip(some, STATES, strict=True)]
    assert 0 < sum(stays) < 12


def test_the_loss_is_cross_entropy_and_micro_batches_add_up(teacher, ensemble):
    batch, config = ensemble.targets(TASK, STATES, ahead, seed=3, first=0), plan_of(teacher).targets
    learner = ensemble.learner(best_policy(teacher), device="cpu").eval()
    assert learner.config.augmentations == 1
    divisor = targets.total_weight(batch, config)
    whole, logits = targets.sft_loss(learner, TASK, batch, config, divisor)
    weight = targets.weights(batch.distance)
    slow = 0.0
    for i, probs in enumerate(batch.probs):
        for j in range(8):
            logs = F.log_softmax(logits[i, j].double(), dim=-1)
            slow -= weight[i, j] * sum(float(probs[j, a]) * logs[a].item() for a in range(4))
    assert whole.item() == pytest.approx(slow / weight.sum(), rel=1e-5)
    parts = [targets.sft_loss(learner, TASK, batch[p], config, divisor)[0] for p in (slice(5), slice(5, 12))]
    assert sum(parts).item() == pytest.approx(whole.item(), rel=1e-5)
    least = -(batch.probs * np.log(batch.probs)).sum(-1)
    assert whole.item() >= (weight * least).sum() / weight.sum(), "no less than the entropy of the mean itself"


def test_one_view_comes_nearer_to_eight(teacher, levels, ensemble, tmp_path):
    config = plan_of(teacher, reached=0.25)
    config = replace(config, optim=replace(config.optim, steps=24), run=replace(config.run, save_every=24))
    assert run.train(config, levels, tmp_path / "run", quiet=True) == 0
    batch = ensemble.targets(TASK, STATES, ahead, seed=3, first=0)

    def loss_of(folder):
        policy = CommitPolicy.from_pretrained(folder).eval()
        policy.replace_augmentations(1)
        with torch.no_grad():
            return float(targets.sft_loss(policy, TASK, batch, config.targets, 1.0)[0])

    last = tmp_path / "run" / "checkpoints" / "step-00000024" / "policy"
    assert loss_of(last) < loss_of(best_policy(teacher))
    assert CommitPolicy.from_pretrained(last).config.augmentations == 1


def test_interrupted_runs_end_in_the_same_bits(teacher, levels, tmp_path, monkeypatch):
    config = plan_of(teacher)
    assert run.train(config, levels, tmp_path / "straight", quiet=True) == 0
    step = run.SftTrainer._step

    def interrupted(self):
        measured = step(self)
        if self.state.step == 3:
            signal.raise_signal(signal.SIGINT)
        return measured

    monkeypatch.setattr(run.SftTrainer, "_step", interrupted)
    assert run.train(config, levels, tmp_path / "again", quiet=True) == 130
    monkeypatch.setattr(run.SftTrainer, "_step", step)
    assert run.train(config, levels, tmp_path / "again", quiet=True) == 0
    runs.same(tmp_path / "straight", tmp_path / "again", steps=8)


def test_what_cannot_be_is_refused(levels, tmp_path):
    with pytest.raises(ValueError, match=r"targets.teacher: expected a run with kind ensemble and none without, got"):
        TargetConfig(kind="ensemble")
    with pytest.raises(ValueError, match=r"got RUN with soft"):
        TargetConfig(teacher="RUN")
    with pytest.raises(ValueError, match=r"targets.views and targets.reached: .*, got 3 and 0.5"):
        TargetConfig(kind="ensemble", teacher="RUN", views=3)
    deep = runs.warm_start(levels, tmp_path / "deep", depth_conditioning="embedding")
    with pytest.raises(ValueError, match=r"targets.teacher: expected decoder.depth_conditioning none, got embedding"):
        Ensemble(best_policy(deep), plan_of(deep).targets, device="cpu")
