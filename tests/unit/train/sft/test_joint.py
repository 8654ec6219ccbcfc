"""A warm start from several data sets: one loss over all actions, both outputs learn, it goes on in the same bits."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")
from safetensors.torch import load_file
from tests.refusals import refused
from tests.unit.train.runs import interrupt_and_go_on, lines, same

import recommit
from recommit.data import DataSpec, Difficulty, build
from recommit.policy.policy import CommitPolicy
from recommit.runs.directory import RunDirectory, best_policy
from recommit.runs.distributed import Team
from recommit.train import validation
from recommit.train.sft import loss, targets
from recommit.train.sft import trainer as sft


@pytest.fixture(scope="module")
def joint(plan):
    """Micro-batches that do not divide what a batch has of a data set; the budget of each puzzle."""
    return replace(plan, optim=replace(plan.optim, micro_batch=3), validation=replace(plan.validation, budget=0))


@pytest.fixture(scope="module")
def straight(joint, data, levels, tmp_path_factory):
    out = tmp_path_factory.mktemp("runs") / "straight"
    assert sft.train(joint, [data, levels], out, quiet=True) == 0
    return out


def outputs(folder):
    weights = load_file(folder / "heads.safetensors")
    return [weights[f"decoder.outputs.{i}.weight"] for i in range(2)]


def test_both_outputs_learn(joint, data, straight, tmp_path):
    first = CommitPolicy.from_backbone(straight / "backbone", joint.model.policy, seed=0)
    begun = [output.weight for output in first.decoder.outputs]
    assert [bool(torch.equal(a, b)) for a, b in zip(begun, outputs(best_policy(straight)), strict=True)] == [
        False,
        False,
    ]
    assert sft.train(joint, data, tmp_path / "alone", quiet=True) == 0
    alone = outputs(best_policy(tmp_path / "alone"))
    assert [bool(torch.equal(a, b)) for a, b in zip(begun, alone, strict=True)] == [False, True]


def gradients(policy):
    return {name: p.grad.clone() for name, p in policy.named_parameters() if p.grad is not None}


def test_the_loss_is_one_mean_over_all_actions(joint, data, levels, tmp_path):
    """By hand: every state alone, with the weights that the first step finds."""
    datasets = sft.opened([data, levels])
    run = sft.SftTrainer(joint, datasets, RunDirectory(tmp_path / "run"), Team(), quiet=True)
    portions = next(sft.loading.Mixture(datasets, 16))
    batches = [
        targets.make(dataset.puzzle, portion.rows, run.config.targets, seed=0, first=0)
        for dataset, portion in zip(datasets, portions, strict=True)
    ]
    values = torch.stack(
        [
            loss.sft_loss(run.policy, dataset.puzzle, batch[i : i + 1], run.config.targets, 1.0)[0]
            for dataset, batch in zip(datasets, batches, strict=True)
            for i in range(8)
        ]
    )
    whole = sum(loss.total_weight(batch, run.config.targets) for batch in batches)
    (values.sum() / whole).backward()
    by_hand, added = gradients(run.policy), {}
    run.policy.zero_grad()
    run.engine.step = lambda _scale: added.update(gradients(run.policy)) or 1.0
    line, values = run._step(), values.detach()
    assert line["loss"] == pytest.approx(float(values.sum()) / whole, rel=1e-5)
    assert by_hand.keys() == added.keys()
    assert all(torch.allclose(added[name], value, atol=1e-6) for name, value in by_hand.items())
    own = values.view(2, 8).sum(1).tolist()
    assert [line["sets"][name][0] for name in ("sliding-2x3", "sokoban-6x6")] == pytest.approx(own, rel=1e-4)


def test_what_is_written_says_each_data_set(data, levels, straight):
    every = lines(straight)
    assert set(every[0]["sets"]) == {"sliding-2x3", "sokoban-6x6"}
    written = [json.loads(line) for line in (straight / "metrics.jsonl").read_text().splitlines()]
    checked = [line["validation"] for line in written if "validation" in line]
    sets = checked[-1]["sets"]
    assert checked[-1]["solved"]["4"] == pytest.approx(
        (sets["sliding-2x3"]["solved"]["4"] + sets["sokoban-6x6"]["solved"]["4"]) / 2, abs=1e-6
    )
    best = json.loads((straight / "best.json").read_text())
    assert best["score"] == list(max(validation.score(each) for each in checked))
    contents = [recommit.data.open(folder).manifest.content for folder in (data, levels)]
    assert [each["content_sha256"] for each in json.loads((straight / "config.json").read_text())["data"]] == contents


def test_interrupted_runs_end_in_the_same_bits(joint, data, levels, straight, tmp_path):
    train = lambda: sft.train(joint, [data, levels], tmp_path / "again", quiet=True)
    interrupt_and_go_on(sft.SftTrainer, train, 3)
    same(straight, tmp_path / "again", steps=8)


def test_a_puzzle_that_a_batch_lacks_gets_gradients_of_zero(joint, data, levels, tmp_path):
    """Seven of eight steps have no Sokoban level: its output decays and moves on as under any other optimizer."""
    rare = replace(joint, mix=(31, 1), optim=replace(joint.optim, batch=4, steps=2))
    run = sft.SftTrainer(rare, sft.opened([data, levels]), RunDirectory(tmp_path / "run"), Team(), quiet=True)
    shown = []
    run.engine.step = lambda _scale: shown.append(run.policy.decoder.outputs[1].weight.grad.abs().max().item()) or 1.0
    for _ in range(8):
        run._step()
        run.policy.zero_grad()
    assert sorted(value > 0 for value in shown) == [False] * 7 + [True]


def test_data_that_does_not_fit_is_refused(plan, data, levels, straight, tmp_path):
    """A test start of one set may be a training start of another whose splits differ. Sizes are mixed all the same."""
    rooms = DataSpec("sokoban", (6, 6), (Difficulty((2, 9), 1),), count=4, disjoint="layouts")
    build(rooms, tmp_path / "rooms")
    build(rooms.changed(size=(5, 6)), tmp_path / "smaller")

    def train(*sets, mix=(), init=None, **changes):
        config = replace(plan, mix=mix, targets=replace(plan.targets, **changes))
        return lambda: sft.train(config, sets, tmp_path / "run", init=init, quiet=True)

    refused(
        [
            (train(data, data), "data: expected each data set once, got "),
            (train(levels, tmp_path / "smaller", tmp_path / "rooms"), "sets of sokoban-6x6 with one disjoint"),
            (train(tmp_path / "rooms", init=straight), "sets of sokoban-6x6 with one disjoint"),
            (train(data, levels, dense=36), "targets.dense: expected at most 35, the other cells of sokoban-6x6"),
            (train(data, dagger=0.03), "targets.dagger: expected 0, or one at least of the "),
            (train(data, levels, mix=(31, 1), dagger=0.2), "targets.dagger: expected 0, or one at least of the "),
        ]
    )
    assert len(sft.opened([levels, tmp_path / "smaller"])) == 2


def test_the_best_policy_is_best_on_average():
    one = {"solved": {"1": 0.9, "4": 0.2}, "loss": 1.0, "actions": {"1": 3.0, "4": 5.0}}
    other = {"solved": {"1": 0.1, "4": 0.5}, "loss": 0.5, "actions": {"1": 4.0, "4": 6.0}}
    both = validation.mean_over_sets({"a": one, "b": other})
    assert validation.score(both) == pytest.approx((0.7, -0.75))
    assert both["solved"] == {"1": 0.5, "4": 0.35}
