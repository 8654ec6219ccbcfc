"""A step asks the device for its results at its end; a rollout once per pass, since plans come back to be executed."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from tests.gpu.plans import reinforcement, warm_start
from tests.gpu.waits import Waits

torch = pytest.importorskip("torch")

import recommit
from recommit.graph.build import PolicyGraph
from recommit.policy.policy import CommitPolicy
from recommit.rollout.rollout import Actor
from recommit.rollout.variants import variant
from recommit.runs.directory import best_policy
from recommit.train.grpo import loss as objective
from recommit.train.grpo import trainer as run
from recommit.train.sft import loss
from recommit.train.sft import trainer as sft

#: The norm of the gradient, which says whether the weights may move, and the measures of all micro-batches together.
AT_THE_END = 2


def counted(monkeypatch, device, owner, name):
    """The waits of every later call of a method, in order."""
    whole, found = getattr(owner, name), []

    def counting(*arguments, **options):
        with Waits(device) as waits:
            result = whole(*arguments, **options)
        found.append(waits.places)
        return result

    monkeypatch.setattr(owner, name, counting)
    return found


def total(places: Counter[str]) -> int:
    return sum(places.values())


def warm_steps(monkeypatch, device, data, out, micro):
    found = counted(monkeypatch, device, sft.SftTrainer, "_step")
    assert sft.train(warm_start(device, steps=3, micro_batch=micro), data, out, quiet=True) == 0
    monkeypatch.undo()
    return found[1:]  # the first one computes positions and masks


@pytest.fixture
def begin(device, data, tmp_path):
    assert sft.train(warm_start(device, steps=2), data, tmp_path / "begin", quiet=True) == 0
    return tmp_path / "begin"


def learning(monkeypatch, device, begin, out, micro, group):
    found = [counted(monkeypatch, device, run.GrpoTrainer, name) for name in ("_learn", "_line")]
    updates = counted(monkeypatch, device, run.GrpoTrainer, "_backward")
    plan = reinforcement(device, group=group, steps=2, micro_batch=micro)
    assert run.train(plan, begin, out, quiet=True) == 0
    monkeypatch.undo()
    return found, updates


def test_a_warm_start_waits_at_the_end_of_a_step(monkeypatch, device, data, tmp_path):
    for places in warm_steps(monkeypatch, device, data, tmp_path / "run", 4):
        assert total(places) <= AT_THE_END, places


@pytest.mark.parametrize("group", ["state", "exact"])
def test_learning_waits_once_per_update_of_the_weights(monkeypatch, device, begin, tmp_path, group):
    """For the norm of the gradient; and once per step for what was measured."""
    (learned, lines), updates = learning(monkeypatch, device, begin, tmp_path / "run", 2, group)
    assert len(updates) > len(learned)
    assert not any(map(total, updates)), updates
    assert sum(map(total, learned)) == len(updates), learned
    assert list(map(total, lines)) == [1] * len(learned), lines


def passes(device, begin):
    """What two passes of a rollout and of a graph of looks wait for."""
    policy, task = CommitPolicy.from_pretrained(best_policy(begin)).eval().to(device), recommit.Sliding(2, 3)
    starts = task.generate(8, seed=3).states
    actor, reach = Actor(policy, task, variant("adaptive"), seed=0), PolicyGraph(policy, task, policy.config.depths)
    actor.propose(starts, 4, np.arange(8, dtype=np.uint64))  # positions and masks
    with Waits(device) as rollout:
        actor.propose(starts, 4, np.arange(8, dtype=np.uint64))
    with Waits(device) as graph:
        reach.expand(reach.nodes(starts))
    return rollout.places, graph.places


def test_a_pass_of_a_rollout_waits_once(device, begin):
    for places in passes(device, begin):
        assert total(places) == 1, places


def read_early(monkeypatch, module, name, how):
    """Plant a wait in every micro-batch."""
    whole = getattr(module, name)

    def reading(*arguments, **options):
        result = whole(*arguments, **options)
        how(result)
        return result

    monkeypatch.setattr(module, name, reading)


READS = {
    "item": lambda t: t.sum().item(),
    "cpu": lambda t: t.detach().cpu(),
    "nonzero": lambda t: t.nonzero(),
    "mask": lambda t: t[t > 0],
}


@pytest.mark.parametrize("how", READS)
def test_a_planted_wait_is_counted(monkeypatch, data, tmp_path, how):
    device = torch.device("cpu")
    read_early(monkeypatch, loss, "action_losses", READS[how])
    found = counted(monkeypatch, device, sft.SftTrainer, "_step")
    assert sft.train(warm_start(device, steps=2, micro_batch=4), data, tmp_path / "run", quiet=True) == 0
    assert total(found[1]) >= AT_THE_END + 4, found[1]


def test_a_planted_wait_of_an_update_is_counted(monkeypatch, data, tmp_path):
    device = torch.device("cpu")
    assert sft.train(warm_start(device, steps=2), data, tmp_path / "begin", quiet=True) == 0
    read_early(monkeypatch, objective, "_clipped", lambda found: bool(found[1]))
    _, updates = learning(monkeypatch, device, tmp_path / "begin", tmp_path / "run", 4, "state")
    assert all(total(places) >= 2 for places in updates), updates
