"""The convolutional backbone: what a row says depends on its own picture, all of it learns, and it is read as it was
written."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
from tests.refusals import refused

torch = pytest.importorskip("torch")

import recommit
from recommit.policy.backbones.backbone import load_backbone
from recommit.policy.backbones.conv import CONV, ConvShape
from recommit.policy.backbones.random_init import BACKBONES, make_backbone, resized
from recommit.policy.config import DecoderConfig, LoraConfig, PolicyConfig
from recommit.policy.policy import CommitPolicy

SMALL = ConvShape(width=8, blocks=2, z=16, reach=1)
PLAIN = PolicyConfig(lora=None, decoder=DecoderConfig(width=32, layers=1, heads=4, ffn=64))
TASKS = [recommit.Sliding(3), recommit.Sliding(2, 4), recommit.Sokoban((5, 7), 1), recommit.Sokoban(8, 2)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_backbone(tmp_path_factory.mktemp("conv") / "small", SMALL, seed=1)


@pytest.fixture
def policy(folder):
    return disturbed(folder)


def disturbed(folder):
    """Not as it begins: its second convolutions are not zero, and it looks somewhere."""
    made = CommitPolicy.from_backbone(folder, PLAIN)
    torch.manual_seed(2)
    with torch.no_grad():
        for parameter in made.backbone.parameters():
            parameter.add_(0.1 * torch.randn(parameter.shape))
    return made


def by_hand(policy, task, states, rounds=1):
    """Picture by picture, from pixels, with plain sums."""
    model, crop = policy.backbone.model, policy.vision.crops(task)
    rows = []
    for state in states:
        values, _ = task.patches(state[None], cell=28, crop=crop)
        grid = policy.vision.grid(task, state.shape)
        kinds = torch.from_numpy(values).reshape(-1, 4704) @ model.cell.weight.T + model.cell.bias
        begin = x = model.stem(kinds.T.reshape(1, -1, *grid))
        for number in range(rounds):
            if number:
                x = x / (x.square().mean(1, keepdim=True) + 1e-6).sqrt() + model.recall(begin)
            for block in model.blocks:
                inner = x.clamp(min=0)
                flat = inner[0].flatten(1)
                whole = block.pooled.weight @ torch.cat([flat.mean(1), flat.max(1).values])
                x = x + block.second((block.first(inner) + whole[None, :, None, None]).clamp(min=0))
        cells = x[0].clamp(min=0).flatten(1)
        shares = torch.exp(kinds @ model.score.weight[0])
        shares = (shares / shares.sum()).reshape(grid)
        around = []
        for down, right in ((r, c) for r in (1, 0, -1) for c in (1, 0, -1)):
            there = torch.zeros(8)
            for row, column in np.ndindex(*grid):
                if 0 <= row + down < grid[0] and 0 <= column + right < grid[1]:
                    there = there + shares[row, column] * cells.reshape(8, *grid)[:, row + down, column + right]
            around.append(there)
        rows.append(model.out(torch.cat([*around, cells.mean(1), cells.max(1).values])))
    return torch.stack(rows)


@pytest.mark.parametrize("task", TASKS, ids=str)
def test_z_is_what_its_layers_say_of_the_pixels(policy, task):
    states = task.generate(5, seed=3).states
    with torch.no_grad():
        z, expected = policy.encode(task, states), by_hand(policy, task, states)
    assert torch.allclose(z, expected, atol=1e-5)
    assert (z[0] - z[1]).abs().max() > 1e-3
    assert torch.allclose(policy.encode(task, states[2:3])[0], z[2], atol=1e-6), "whatever its neighbours are"


def test_every_weight_learns(policy):
    task = TASKS[2]
    states = task.generate(6, seed=1).states
    policy.encode(task, states).square().sum().backward()
    without = [name for name, each in policy.backbone.named_parameters() if each.grad is None or not each.grad.any()]
    assert without == []


def test_saved_and_loaded_is_the_same_policy(policy, tmp_path):
    task = TASKS[3]
    states = task.generate(4, seed=1).states
    loaded = CommitPolicy.from_pretrained(policy.save_pretrained(tmp_path / "policy"))
    assert torch.equal(loaded.encode(task, states), policy.encode(task, states))
    assert [each.tolist() for each in loaded.act(task, states)] == [each.tolist() for each in policy.act(task, states)]


def test_turned_pictures_are_the_pictures_of_turned_states(policy):
    """Eight copies of a board, of which the second is the mirrored board's own picture."""
    task = recommit.Sokoban(7, 1)
    states = task.generate(3, seed=1).states
    policy.replace_augmentations(8)
    copies = policy.encode(task, states)
    policy.replace_augmentations(1)
    mirrored = policy.encode(task, np.ascontiguousarray(states[:, :, ::-1]))
    assert copies.shape == (3, 8, SMALL.z)
    assert any(torch.allclose(copies[:, copy], mirrored, atol=1e-5) for copy in range(1, 8))


def test_weights_are_drawn_without_seeding_gpus(tmp_path, monkeypatch):
    seeded = []
    monkeypatch.setattr(torch.cuda, "manual_seed_all", seeded.append)
    for name in (SMALL, "tiny"):
        made = make_backbone(tmp_path / str(name == SMALL), name, seed=3)
        CommitPolicy.from_backbone(made, PLAIN, seed=4).replace_head(PLAIN.head, seed=5)
    assert seeded == []
    torch.manual_seed(6)  # planted
    assert seeded == [6]


#: Of the config.json of a folder that lies.
LIES = [
    ({"width": 1 << 20}, "width: expected 1..1024, got 1048576"),
    ({"reach": 2}, "of shape (16, 216)"),
    ({"width": 1024, "blocks": 128}, "blocks.10.first.bias"),
    ({"blocks": "2"}, "blocks"),
]


def test_what_it_is_not_is_refused(folder, tmp_path):
    made = lambda **changes: CommitPolicy.from_backbone(folder, replace(PLAIN, **changes))
    told, states = made(show_budget=True), TASKS[0].generate(2, seed=1).states
    rows = [
        (lambda: made(lora=LoraConfig()), "policy.lora: expected null for a backbone that has nothing to adapt"),
        (lambda: made(cell=56), "cell: expected 0 or 28, as wide as a conv backbone reads cells, got 56"),
        (lambda: told.encode(TASKS[0], states, np.array([1, 2])), "show_budget: expected false for a conv backbone"),
        (lambda: resized("conv:huge", {}), "conv:base, got conv:huge"),
        (lambda: resized("conv:small", {"layers": 3}), "model.shape: "),
    ]
    about = json.loads((folder / "config.json").read_text())
    for number, (changes, words) in enumerate(LIES):
        lying = shutil.copytree(folder, tmp_path / str(number))
        (lying / "config.json").write_text(json.dumps(about | changes))
        rows.append((lambda lying=lying: load_backbone(lying), words))
    refused(rows)


def test_a_network_thinks_in_rounds_and_imitation_reads_some_pictures_early(tmp_path):
    policy = disturbed(make_backbone(tmp_path / "thinks", replace(SMALL, rounds=3), seed=1))
    task, backbone = TASKS[2], policy.backbone
    states = task.generate(8, seed=3).states
    each = [by_hand(policy, task, states, rounds) for rounds in (1, 2, 3)]
    for backbone.rounds in (1, 3):
        assert torch.allclose(policy.encode(task, states), each[backbone.rounds - 1], atol=1e-5)
    backbone.early = True
    assert torch.allclose(policy.eval().encode(task, states), each[2], atol=1e-5), "not when it plays"
    early = torch.stack([each[min(row % 6, 2)][row] for row in range(8)])
    z = policy.train().encode(task, states)
    assert torch.allclose(z, early, atol=1e-5)
    z.sum().backward()
    assert backbone.model.recall.weight.grad.abs().max() > 0


def test_sizes_by_name():
    assert resized("conv:small", {}) == CONV["small"] == ConvShape(32, 8, 128, 3)
    assert resized("small", {}) == BACKBONES["small"]
    assert resized("conv:base", {"blocks": 3}).blocks == 3
