"""A text before the picture is computed once for all states: z and gradients are those of whole sequences."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from torch.nn.attention.bias import CausalBias

import recommit
from recommit.policy.backbones import transformer
from recommit.policy.backbones.random_init import BACKBONES, make_backbone
from recommit.policy.config import DecoderConfig, LoraConfig, PolicyConfig
from recommit.policy.reference import ReferencePolicy
from recommit.rollout.rollout import Actor
from recommit.rollout.variants import variant

TASK = recommit.Sokoban((5, 7), 1)
V2 = ("sliding-v2", "sokoban-v2")
DECODER = DecoderConfig(width=32, layers=1, heads=4, ffn=64)


@pytest.fixture(scope="module", params=["tiny", "tiny-qwen3-vl"])
def folder(request, tmp_path_factory):
    return make_backbone(tmp_path_factory.mktemp("family"), BACKBONES[request.param])


def z_and_gradients(folder, config, dtype=torch.float32, *, weights=None, recompute=False, compiled="none"):
    """Where ``weights`` are rounded to another dtype first, and shared or not as ``transformer.SHARED`` says."""
    policy = recommit.CommitPolicy.from_backbone(folder, config, dtype=weights or dtype).eval()
    policy.backbone.recompute, policy.backbone.compiled = recompute, compiled
    noise = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in policy.parameters():
            parameter.add_(0.1 * torch.randn(parameter.shape, generator=noise))
    if weights is not None:
        policy.to(dtype)
    states = TASK.generate(6, seed=1).states
    remaining = np.arange(1, 7) if config.show_budget else None
    z = policy.backbone.z(
        policy.vision.features(TASK, states, frozen=policy.vision_frozen),
        policy.prompts_cache.of_each(TASK, states.shape[1:], remaining),
    )
    (z.float() @ torch.randn(z.shape[-1], generator=noise)).sum().backward()
    grads = {name: p.grad.float() for name, p in policy.named_parameters() if p.grad is not None}
    return z.detach().float(), torch.cat([grads[name].flatten() for name in sorted(grads)])


def whole_sequences(folder, *arguments, **options):
    """The same without sharing."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(transformer, "SHARED", 10**9)
        return z_and_gradients(folder, *arguments, **options)


def apart(some, others):
    """Largest relative difference of z, and of gradients."""
    return [float((a - b).abs().max() / b.abs().max()) for a, b in zip(some, others, strict=True)]


@pytest.mark.parametrize("show_budget", [False, True], ids=["", "budget"])
@pytest.mark.parametrize(("lora", "recompute"), [(None, False), (LoraConfig(rank=2), True)], ids=["whole", "adapter"])
def test_packed_equals_whole_sequences(folder, lora, show_budget, recompute):
    config = PolicyConfig(lora=lora, prompts=V2, decoder=DECODER, show_budget=show_budget)
    packed, whole = (each(folder, config, recompute=recompute) for each in (z_and_gradients, whole_sequences))
    assert max(apart(packed, whole)) < 1e-5


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["float32", "bfloat16"])
def test_a_gpu_is_told_the_same_mask_by_its_shape(folder, dtype, monkeypatch):
    """To the bit, on a CPU, which makes a mask of it."""
    config = PolicyConfig(lora=None, prompts=V2, decoder=DECODER)
    masked, asked = z_and_gradients(folder, config, dtype), transformer.behind_text
    assert type(asked(2, 9, torch.device("cuda"))) is CausalBias
    monkeypatch.setattr(transformer, "behind_text", lambda own, text, _: asked(own, text, torch.device("cuda")))
    assert all(torch.equal(*each) for each in zip(masked, z_and_gradients(folder, config, dtype), strict=True))


def test_what_is_compiled_computes_the_same(folder, monkeypatch):
    """There and back, of six states in a pass of eight, by the mask that a GPU is told."""
    asked = transformer.behind_text
    monkeypatch.setattr(transformer, "behind_text", lambda own, text, _: asked(own, text, torch.device("cuda")))
    config = PolicyConfig(lora=LoraConfig(rank=2), prompts=V2, decoder=DECODER)
    wanted, before = z_and_gradients(folder, config), torch._dynamo.utils.counters["stats"]["unique_graphs"]
    assert max(apart(z_and_gradients(folder, config, compiled="aot_eager"), wanted)) < 1e-5
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == before + 2  # of the picture encoder and the layers
    torch.compiler.reset()


@pytest.mark.parametrize("lora", [None, LoraConfig(rank=2)], ids=["whole", "adapter"])
def test_in_bfloat16_it_differs_by_less_than_rounding(folder, lora):
    """Measured: z is the same to the bit, gradients differ by up to a hundredth of the largest; float32 is further
    away from both."""
    config = PolicyConfig(lora=lora, prompts=V2, decoder=DECODER)
    packed, whole = (each(folder, config, torch.bfloat16) for each in (z_and_gradients, whole_sequences))
    exact = whole_sequences(folder, config, weights=torch.bfloat16)
    for own, rounding in zip(apart(packed, exact), apart(whole, exact), strict=True):
        assert rounding > 1e-3
        assert own < 2 * rounding  # 1.3 times with kernels of AVX-512, 1.6 times with those of AVX2
    assert max(apart(packed, whole)) < 0.03


def test_a_state_that_saw_a_neighbour_would_be_noticed(folder, monkeypatch):
    """The comparison is not blind: without the mask, an own token sees those behind it."""
    init = transformer.SharedText.__init__

    def planted(self, *arguments):
        init(self, *arguments)
        self.mask = torch.ones_like(self.mask)

    monkeypatch.setattr(transformer.SharedText, "__init__", planted)
    config = PolicyConfig(lora=None, prompts=V2, decoder=DECODER)
    assert apart(z_and_gradients(folder, config), whole_sequences(folder, config))[0] > 1e-3


def propose(policy, states):
    return Actor(policy, TASK, variant("adaptive"), seed=5).propose(states, 3, np.arange(6, dtype=np.uint64))


PASSES = {
    "rollout": propose,
    "evaluation": lambda policy, states: policy.act(TASK, states),
    "graph": lambda policy, states: policy.plan(TASK, states, (1, 2, 4, 8)),
    "learning": lambda policy, states: policy(TASK, states, torch.zeros(6, 8, dtype=torch.long))[0].sum().backward(),
    "reference": lambda policy, states: ReferencePolicy(policy)(TASK, states, torch.zeros(6, 8, dtype=torch.long)),
}


@pytest.mark.parametrize("name", PASSES)
def test_every_pass_computes_the_text_once(folder, name):
    """Of six states, and whoever asks: keys of the text, and of what each state has of its own."""
    config = PolicyConfig(lora=LoraConfig(rank=2), prompts=V2, decoder=DECODER)
    policy, states = recommit.CommitPolicy.from_backbone(folder, config).eval(), TASK.generate(6, seed=1).states
    prompt = policy.prompts_cache.of(TASK, states.shape[1:])
    layers, keys = policy.backbone.base.language_model.layers, []
    for layer in layers:
        layer.self_attn.k_proj.base_layer.register_forward_hook(lambda *told: keys.append(told[-1].shape[:-1].numel()))
    PASSES[name](policy, states)
    text, whole = prompt.image_start, len(prompt.tokens)
    assert text > whole - text
    assert keys == [text + 6 * (whole - text)] * len(layers)
