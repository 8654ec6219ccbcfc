"""A run in bfloat16 is read as bfloat16 by whatever comes after it."""

from __future__ import annotations

from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")
from tests.unit.train.runs import plan_of

from recommit.evaluate import EvaluateOptions, evaluate
from recommit.policy import checkpoint
from recommit.policy.config import DecoderConfig, LoraConfig
from recommit.train.grpo import trainer as run
from recommit.train.sft import trainer as sft

AGENTS = ("adaptive", "fixed-2")
DECODER = DecoderConfig(width=32, layers=1, heads=2, ffn=64)


def dtypes(policy):
    """Of every tensor, by name; adapters and heads are kept apart from the backbone under them."""
    tensors = [*policy.named_parameters(), *policy.named_buffers()]
    return {name.replace(".base_layer", ""): tensor.dtype for name, tensor in tensors}


def expected(policy):
    """The backbone as it was saved; what is trained beside it, and angles, in float32."""
    ours = {
        name for name in dtypes(policy) if not name.startswith("backbone.") or "lora_" in name or "inv_freq" in name
    }
    return {name: torch.float32 if name in ours else torch.bfloat16 for name in dtypes(policy)}


@pytest.fixture(scope="module")
def warm(plan, data, tmp_path_factory):
    model = replace(
        plan.model, dtype="bfloat16", policy=replace(plan.model.policy, lora=LoraConfig(rank=2), decoder=DECODER)
    )
    short = replace(plan, model=model, optim=replace(plan.optim, steps=2))
    out = tmp_path_factory.mktemp("bfloat16") / "sft"
    assert sft.train(short, data, out, quiet=True) == 0
    return out


@pytest.fixture
def loaded(monkeypatch):
    """Every policy that somebody reads, as its dtypes and what they should be."""
    seen, load = [], checkpoint.load_policy

    def watched(*a, **k):
        policy = load(*a, **k)
        seen.append((dtypes(policy), expected(policy)))
        return policy

    monkeypatch.setattr("recommit.policy.policy.load_policy", watched)
    return seen


def test_from_a_warm_start_to_an_evaluation(warm, loaded, tmp_path):
    out = tmp_path / "grpo"
    assert run.train(plan_of(optim={"steps": 2}), warm, out, quiet=True) == 0
    rows = evaluate(EvaluateOptions(out, tmp_path / "eval", AGENTS, "3", instances=2, validation=2))
    assert [row["agent"] for row in rows] == list(AGENTS)
    assert len(loaded) == 2
    assert all(got == wanted and torch.bfloat16 in wanted.values() for got, wanted in loaded)
