"""A text before the picture is computed once for all states: z and gradients are those of whole sequences."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

import recommit
from recommit.policy.backbones import transformer
from recommit.policy.backbones.random_init import BACKBONES, make_backbone
from recommit.policy.config import DecoderConfig, LoraConfig, PolicyConfig

TASK = recommit.Sokoban((5, 7), 1)
DECODER = DecoderConfig(width=32, layers=1, heads=4, ffn=64)


@pytest.fixture(scope="module", params=["tiny", "tiny-qwen3-vl", "tiny-internvl"])
def folder(request, tmp_path_factory):
    return make_backbone(tmp_path_factory.mktemp("family"), BACKBONES[request.param])


def z_and_gradients(folder, config, dtype, *, recompute=False):
    policy = recommit.CommitPolicy.from_backbone(folder, config, dtype=dtype).eval()
    policy.backbone.recompute = recompute
    noise = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in policy.parameters():
            parameter.add_(0.1 * torch.randn(parameter.shape, generator=noise))
    states, remaining = TASK.generate(6, seed=1).states, None
    if config.show_budget:
        remaining = (torch.arange(6) + 1).numpy()
    z = policy.backbone.z(
        policy.vision.features(TASK, states, frozen=policy.vision_frozen),
        policy.prompts_cache.of_each(TASK, states.shape[1:], remaining),
    )
    (z.float() @ torch.randn(z.shape[-1], generator=noise)).sum().backward()
    grads = {name: p.grad.float() for name, p in policy.named_parameters() if p.grad is not None}
    return z.detach().float(), grads


def compare(folder, monkeypatch, config, dtype=torch.float32, **options):
    """Largest relative difference of z, and of the gradients, from those of whole sequences."""
    packed, gradients = z_and_gradients(folder, config, dtype, **options)
    monkeypatch.setattr(transformer, "SHARED", 10**9)
    whole, expected = z_and_gradients(folder, config, dtype, **options)
    assert gradients.keys() == expected.keys()
    size = max(gradient.abs().max() for gradient in expected.values())
    worst = max((gradients[name] - expected[name]).abs().max() / size for name in expected)
    return float((packed - whole).abs().max() / whole.abs().max()), float(worst)


@pytest.mark.parametrize("show_budget", [False, True], ids=["", "budget"])
@pytest.mark.parametrize(("lora", "recompute"), [(None, False), (LoraConfig(rank=2), True)], ids=["whole", "adapter"])
def test_packed_equals_whole_sequences(folder, monkeypatch, lora, show_budget, recompute):
    config = PolicyConfig(lora=lora, prompts=("sliding-v2", "sokoban-v2"), decoder=DECODER, show_budget=show_budget)
    z, gradients = compare(folder, monkeypatch, config, recompute=recompute)
    assert z < 1e-5
    assert gradients < 1e-5


def test_in_bfloat16_it_differs_by_rounding(folder, monkeypatch):
    config = PolicyConfig(lora=None, prompts=("sliding-v2", "sokoban-v2"), decoder=DECODER)
    z, gradients = compare(folder, monkeypatch, config, torch.bfloat16)
    assert z < 0.05
    assert gradients < 0.05


def test_a_state_that_saw_a_neighbour_would_be_noticed(folder, monkeypatch):
    """The comparison is not blind: without the mask, an own token sees those behind it."""
    init = transformer.SharedText.__init__

    def planted(self, *arguments):
        init(self, *arguments)
        self.mask = torch.ones_like(self.mask)

    monkeypatch.setattr(transformer.SharedText, "__init__", planted)
    config = PolicyConfig(lora=None, prompts=("sliding-v2", "sokoban-v2"), decoder=DECODER)
    assert compare(folder, monkeypatch, config)[0] > 1e-3
