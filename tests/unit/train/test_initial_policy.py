"""A run of each family: a supervised step, then a step of reinforcement, adapters learning and the rest frozen."""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch")
from safetensors.torch import load_file
from tests.refusals import refused
from tests.unit.train import runs
from tests.unit.train.runs import plan_of

import recommit
from recommit.policy import policy as policy_module
from recommit.policy.backbones.backbone import GIVEN, load_backbone
from recommit.policy.backbones.random_init import make_backbone
from recommit.policy.checkpoint import weights_of
from recommit.policy.config import DecoderConfig, LoraConfig, PolicyConfig
from recommit.runs.directory import best_policy
from recommit.runs.distributed import Team
from recommit.storage.errors import NeedsFlag, WrongFolder
from recommit.train import initial_policy
from recommit.train.config import ModelConfig, SftConfig, parse
from recommit.train.grpo import trainer as run
from recommit.train.grpo.config import GrpoConfig
from recommit.train.sft import trainer as sft

LISTED = "Qwen/Qwen2.5-VL-7B-Instruct"
FAMILIES = ("tiny", "tiny-qwen3-vl")
POLICY = PolicyConfig(lora=LoraConfig(rank=2), decoder=DecoderConfig(width=32, layers=1, heads=2, ffn=64))


@contextmanager
def watched(trainer):
    """The parameters before the first step, and, once the run is over, after the last."""
    before, after, step = {}, {}, trainer._step

    def seen(self):
        if not before:
            before.update({name: p.detach().clone() for name, p in self.policy.named_parameters()})
        after.update(self.policy.named_parameters())
        return step(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trainer, "_step", seen)
        yield before, after


def moved(before, after):
    assert before.keys() == after.keys()
    return {name for name in before if not torch.equal(before[name], after[name])}


@pytest.fixture(scope="module", params=FAMILIES)
def warm(request, plan, data, tmp_path_factory):
    """A run of two supervised steps, and what it moved."""
    short = replace(
        plan,
        model=ModelConfig(f"random:{request.param}", policy=POLICY),
        optim=replace(plan.optim, steps=2, batch=4, micro_batch=2),
        validation=replace(plan.validation, instances=2, every=2, budget=2),
    )
    out = tmp_path_factory.mktemp("families") / "sft"
    with watched(sft.SftTrainer) as seen:
        assert sft.train(short, data, out, quiet=True) == 0
    return out, moved(*seen)


def test_a_supervised_step_moves_adapters_and_decoder_and_no_other_bit(warm):
    _, names = warm
    assert any("lora_B" in name for name in names)
    assert any(name.startswith("decoder.") for name in names)
    assert all("lora_" in name or name.startswith("decoder.") for name in names)
    assert not any("visual" in name or "vision_tower" in name or "projector" in name for name in names)


def test_a_step_of_reinforcement_runs_and_moves_both_heads_and_no_frozen_bit(warm, tmp_path):
    init = warm[0]
    plan = plan_of(
        rollout={"instances": 2, "budget": 2},
        optim={"steps": 1, "batch": 4},
        validation={"instances": 2, "every": 1, "budget": 2},
    )
    with watched(run.GrpoTrainer) as seen:
        assert run.train(plan, init, tmp_path / "grpo", quiet=True) == 0
    names = moved(*seen)
    assert "depth_head.weight" in names
    assert any("lora_B.default" in name for name in names)
    assert all("lora_" in name or name.startswith(("decoder.", "depth_head.")) for name in names)
    assert not any(".reference." in name for name in names)
    recommit.CommitPolicy.from_pretrained(tmp_path / "grpo")


def test_a_random_backbone_is_made_once(tmp_path):
    config = ModelConfig("random:tiny", {"layers": 1}, policy=POLICY)
    initial_policy.new_policy(config, tmp_path, 3, Team())
    made = load_file(tmp_path / "backbone" / "model.safetensors")
    initial_policy.new_policy(config, tmp_path, 4, Team())
    again = load_file(tmp_path / "backbone" / "model.safetensors")
    assert all(torch.equal(made[name], again[name]) for name in made)
    assert len(load_backbone(tmp_path / "backbone").base.language_model.layers) == 1


def test_wrong_models_are_refused(tmp_path):
    def new(name="tiny", **shape):
        return lambda: initial_policy.new_policy(ModelConfig(f"random:{name}", shape), tmp_path, 0, Team())

    refused(
        [
            (new("nothing"), "backbone: expected one of tiny, "),
            (new(nothing=1), "model.shape: "),
            (new(layers=10**6), "model.shape.layers: expected 1..1024, got 1000000"),
            (new(width=2**40), "model.shape.width: expected 1..1048576, got"),
            (new(width=33), "model.shape.width: expected a multiple of the 2 heads, got 33"),
            (new(heads=0), "model.shape.heads: expected 1..1048576, got 0"),
            (new(layers=1.5), "model.shape.layers: expected int, got 1.5"),
            (new(window=7), "model.shape.window: expected a multiple of 28 pixels of qwen2"),
            (new(family="evil"), "model.shape.family: expected qwen2_5_vl or qwen3_vl, "),
        ]
    )


def test_a_warm_start_goes_on_from_another_and_from_nothing_else(levels, tmp_path):
    first = runs.warm_start(levels, tmp_path / "first")
    plan = parse(SftConfig, {**runs.TINY, "optim": {"steps": 1, "batch": 4, "lr": 0.0, "decoder_lr": 0.0}})
    assert sft.train(plan, levels, tmp_path / "second", init=first, quiet=True) == 0
    one, other = (runs.weights(best_policy(tmp_path / name)) for name in ("first", "second"))
    assert all(torch.equal(one[name], other[name]) for name in one if "visual" not in name)
    config = json.loads((tmp_path / "second" / "config.json").read_text())
    assert config["init"] == weights_of(best_policy(first))
    with pytest.raises(ValueError, match="init"):  # the same folder, from nothing
        sft.train(plan, levels, tmp_path / "second", quiet=True)


@pytest.mark.parametrize("planted", ["link", "device", "pipe"])
def test_a_policy_from_a_stranger_brings_nothing_but_its_files(planted, tmp_path):
    policy, secret = tmp_path / "policy", tmp_path / "secret"
    policy.mkdir()
    secret.mkdir()
    (secret / "key").write_text("mine")
    (policy / "config.json").write_text("{}")
    if planted == "pipe":
        os.mkfifo(policy / "notes")
    else:
        (policy / "notes").symlink_to({"link": secret / "key", "device": "/dev/zero"}[planted])
    with pytest.raises(WrongFolder, match=r"expected (files, got a link|a file, got something else)"):
        initial_policy.warm_start(policy, SimpleNamespace(folder=tmp_path, trained=False), Team())
    assert not (tmp_path / "init").exists()


def test_a_run_keeps_the_commit_of_its_backbone(plan, data, tmp_path, monkeypatch):
    """Whatever has been uploaded since."""
    newest, source = ["a" * 40], make_backbone(tmp_path / "backbone", "tiny")

    def found(path, revision=""):
        if path != LISTED:
            return Path(path), ""
        folder = tmp_path / (revision or newest[0])
        if not folder.exists():
            folder.symlink_to(source)
        return folder, folder.name

    for module in (initial_policy, policy_module):
        monkeypatch.setattr(module, "find_backbone", found)
    model = replace(plan.model, backbone=LISTED, shape={}, policy=POLICY)
    short = replace(plan, model=model, optim=replace(plan.optim, steps=2))
    for _ in range(2):
        assert sft.train(short, data, tmp_path / "run", quiet=True) == 0
        assert json.loads((tmp_path / "run" / "config.json").read_text())["commit"] == "a" * 40
        newest[0] = "b" * 40
    saved = json.loads((best_policy(tmp_path / "run") / "config.json").read_text())
    assert (saved["backbone"]["source"], saved["backbone"]["revision"]) == (LISTED, "a" * 40)


def test_a_given_backbone_is_given_again_and_the_record_has_no_place(plan, data, tmp_path):
    given = make_backbone(tmp_path / "given", "tiny")
    model = replace(plan.model, backbone=GIVEN, shape={}, policy=POLICY)
    short = replace(plan, model=model, optim=replace(plan.optim, steps=1))
    with pytest.raises(NeedsFlag, match="backbone: expected the place"):
        sft.train(short, data, tmp_path / "run", quiet=True)
    assert sft.train(short, data, tmp_path / "run", backbone=given, quiet=True) == 0
    texts = [path.read_text() for path in (tmp_path / "run").rglob("*") if path.suffix in (".json", ".jsonl")]
    assert not [text for text in texts if str(given) in text]
    with pytest.raises(NeedsFlag, match="backbone: expected the place"):
        run.train(GrpoConfig(), tmp_path / "run", tmp_path / "rl", quiet=True)


def test_a_recipe_of_another_puzzle_is_refused() -> None:
    specs = [SimpleNamespace(task="sliding"), SimpleNamespace(task="sokoban")]
    initial_policy.refuse_others(specs, ())
    words = "recipe: expected one for sokoban (boxoban, laptop-joint, "
    refused([(lambda: initial_policy.refuse_others(specs, ("sliding", "ice")), words)])
