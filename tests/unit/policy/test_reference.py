"""The reference is what the policy was, to the bit, whatever happens to the policy."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

import recommit
from recommit.policy.config import DecoderConfig, LoraConfig, PolicyConfig
from recommit.policy.reference import ReferencePolicy

DECODER = DecoderConfig(width=32, layers=1, heads=4, ffn=64)
TASK = recommit.Sliding(3)
STATES = TASK.generate(5, seed=0).states
ACTIONS = torch.zeros(5, 7, dtype=torch.long)


@torch.no_grad()
def answers(policy):
    """Without gradients: torch attends by other kernels then, and another rounding."""
    return policy(TASK, STATES, ACTIONS)


@pytest.mark.parametrize("lora", [None, LoraConfig(rank=4)], ids=["whole", "adapter"])
def test_it_stays_while_the_policy_moves(lora, tiny, tmp_path):
    policy = recommit.CommitPolicy.from_backbone(tiny, PolicyConfig(lora=lora, decoder=DECODER), seed=1)
    trained = [p for p in policy.parameters() if p.requires_grad]
    with torch.no_grad():
        for parameter in trained:
            parameter.add_(0.05 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(3)))
    before = answers(policy.eval())
    reference = ReferencePolicy(policy)
    assert [p for p in policy.parameters() if p.requires_grad] == trained
    kept = reference(TASK, STATES, ACTIONS)
    # Copies lie elsewhere in memory, and some matrix kernels round by alignment.
    assert all((a - b).abs().max() < 1e-5 for a, b in zip(kept, before, strict=True))
    assert all(torch.equal(a, b) for a, b in zip(answers(policy), before, strict=True))
    optimizer = torch.optim.SGD(trained, lr=0.5)
    policy.train()
    for _ in range(2):
        reference(TASK, STATES, ACTIONS)
        assert policy.training
        depths, actions = policy(TASK, STATES, ACTIONS)
        (depths[:, 0].sum() + actions.log_softmax(-1)[..., 1].sum()).backward()
        optimizer.step()
        optimizer.zero_grad()
    assert [p for p in policy.parameters() if p.requires_grad] == trained
    assert not torch.equal(answers(policy.eval())[1], before[1])
    assert all(torch.equal(a, b) for a, b in zip(reference(TASK, STATES, ACTIONS), kept, strict=True))
    policy.save_pretrained(tmp_path)
    again = recommit.CommitPolicy.from_pretrained(tmp_path, backbone=tiny).eval()
    assert (answers(again)[1] - answers(policy)[1]).abs().max() < 1e-5


def test_what_was_frozen_before_stays_frozen(tiny, monkeypatch):
    """Up to its version 0.20, PEFT lets the whole active adapter learn again when another one is added."""
    policy = recommit.CommitPolicy.from_backbone(tiny, PolicyConfig(lora=LoraConfig(rank=4), decoder=DECODER), seed=1)
    policy.requires_grad_(False)
    policy.depth_head.requires_grad_(True)
    model = policy.backbone.model
    add = type(model).add_adapter

    def as_before(self, *arguments):
        add(self, *arguments)
        for name, parameter in self.named_parameters():
            parameter.requires_grad_("lora_" in name)

    monkeypatch.setattr(type(model), "add_adapter", as_before)
    ReferencePolicy(policy)
    learns = {name for name, p in policy.named_parameters() if p.requires_grad}
    assert learns == {"depth_head.weight", "depth_head.bias"}


def test_it_follows_an_engine_to_another_type(tiny):
    """Engines that compute in bfloat16 convert the policy after the reference was made."""
    config = PolicyConfig(lora=LoraConfig(rank=4), decoder=DECODER)
    policy = recommit.CommitPolicy.from_backbone(tiny, config, seed=1).eval()
    reference = ReferencePolicy(policy)
    before = reference(TASK, STATES, ACTIONS)[1]
    policy.to(torch.bfloat16)
    after = reference(TASK, STATES, ACTIONS)[1]
    assert after.dtype == torch.bfloat16
    assert (after.float() - before).abs().max() < 0.1
