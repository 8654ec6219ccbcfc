"""Boards of two sizes learn in one pass of the language model: what they learn, and its gradients, are those of a pass
for each."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from safetensors.torch import load_file
from tests.unit.train.runs import lines, plan_of

from recommit.data import DataSpec, Difficulty, build
from recommit.policy.backbones import transformer
from recommit.policy.policy import CommitPolicy
from recommit.runs.directory import RunDirectory, best_policy, recipes_of
from recommit.runs.distributed import Team
from recommit.train.config import EngineConfig, SftConfig, parse
from recommit.train.grpo import trainer as grpo
from recommit.train.sft import trainer as sft

HEADS = {"lora": {"rank": 2, "dropout": 0.0}, "decoder": {"width": 32, "layers": 1, "heads": 2, "ffn": 64}}
SHORT = {"validation": {"instances": 0}, "run": {"threads": 1, "log_every": 1, "tensorboard": False}}
WARM = parse(
    SftConfig,
    {
        "model": {"backbone": "random:tiny", "policy": HEADS},
        "optim": {"steps": 3, "batch": 24, "micro_batch": 5},
        "mix": [1, 2],
        **SHORT,
    },
)
RL = plan_of(
    tasks=["sliding-2x3", "sliding-3x3"],
    advantage={"group_size": 2},
    rollout={"instances": 4},
    objective={"kl": 0.5},
    optim={"steps": 1, "batch": 12, "micro_batch": 4},
    **SHORT,
)


@pytest.fixture(scope="module")
def sizes(tmp_path_factory):
    """Data sets of 2x3 and of 3x3 boards."""
    folder = tmp_path_factory.mktemp("sizes")
    for size, length in (((2, 3), (4, 14)), ((3, 3), (4, 20))):
        build(DataSpec("sliding", size, (Difficulty(length),), count=40, ties="random"), folder / str(size[0]))
    return [folder / "2", folder / "3"]


@pytest.fixture(scope="module")
def warm(sizes, tmp_path_factory):
    out = tmp_path_factory.mktemp("warm") / "run"
    assert sft.train(WARM, sizes, out, quiet=True) == 0
    return out


def passes_of(train, *, alone=False):
    """The pictures of each pass of the language model, in a run with a pass for each size or not."""
    found, z_of = [], transformer.TransformersBackbone.z_of

    def noted(self, parts):
        found.append([len(features) for features, _ in parts])
        return z_of(self, parts)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(transformer.TransformersBackbone, "z_of", noted)
        if alone:
            patch.setattr(CommitPolicy, "together", lambda _self, tasks: [[i] for i in range(len(tasks))])
        assert train() == 0
    return found


def distance(one, other):
    """How far two runs are apart, in losses and in the weights that they learned."""
    losses = [[line["loss"] for line in lines(out)] for out in (one, other)]
    files = ("heads.safetensors", "adapter/adapter_model.safetensors")
    weights = [{k: v for f in files for k, v in load_file(best_policy(out) / f).items()} for out in (one, other)]
    between = max(float((weights[0][name] - value).abs().max()) for name, value in weights[1].items())
    return max(*(abs(a - b) for a, b in zip(*losses, strict=True)), between)


def test_imitation(sizes, warm, tmp_path):
    out = tmp_path / "alone"
    shared = passes_of(lambda: sft.train(WARM, sizes, tmp_path / "shared", quiet=True))
    assert max(map(len, shared)) == 2
    assert len(passes_of(lambda: sft.train(WARM, sizes, out, quiet=True), alone=True)) > len(shared)
    assert distance(tmp_path / "shared", out) < 1e-4
    assert distance(warm, out) < 1e-4


def test_a_compiled_pass(sizes, tmp_path):
    """It is filled up to a power of two besides."""
    plan = replace(WARM, optim=replace(WARM.optim, steps=1, micro_batch=0))
    for kind in ("none", "eager"):
        assert sft.train(replace(plan, engine=EngineConfig(compile=kind)), sizes, tmp_path / kind, quiet=True) == 0
    assert distance(tmp_path / "none", tmp_path / "eager") < 1e-4


def test_reinforcement(warm, tmp_path):
    """Gradients of a step with a reference, and old log probabilities as they are computed below float32."""
    policy = CommitPolicy.from_pretrained(best_policy(warm))
    run = grpo.GrpoTrainer(RL, recipes_of(warm), policy, RunDirectory(tmp_path / "run"), Team(), quiet=True)
    batches, found = [run.collect(puzzle, 0)[0] for puzzle in run.puzzles], []
    run.engine.step = lambda _scale: 1.0
    assert run.groups == [[0, 1]]
    for run.groups in ([[0, 1]], [[0], [1]]):
        policy.zero_grad()
        run._learn(batches)
        found.append(torch.cat([p.grad.flatten() for p in policy.parameters() if p.grad is not None]))
    assert found[0].abs().max() > 1e-3
    assert torch.allclose(*found, atol=1e-5)
    portions = [[np.arange(5)] * 2] * 2
    policy.backbone.model.to(torch.bfloat16)
    old = []
    for run.groups in ([[0, 1]], [[0], [1]]):
        old.append([each.action_old[:5] for each in run._recompute_old(batches, portions)])
    for one, other, before in zip(*old, batches, strict=True):
        assert np.allclose(one, other, atol=0.02)
        assert not np.array_equal(one, before.action_old[:5])
    run.close()


def test_a_last_token_behind_the_end_is_seen(sizes, warm, tmp_path, monkeypatch):
    """The planted defect: every sequence read where the longest ends."""
    init = transformer.SharedText.__init__
    monkeypatch.setattr(transformer.SharedText, "__init__", lambda self, *given: init(self, *given[:-1], None))
    assert sft.train(WARM, sizes, tmp_path / "run", quiet=True) == 0
    assert distance(warm, tmp_path / "run") > 1e-3
