from __future__ import annotations

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from recommit.policy.config import DecoderConfig, HeadConfig, PolicyConfig
from recommit.policy.distributions import entropy, kl, log_prob
from recommit.policy.heads import ActionDecoder, Block, DepthHead, confidence


def test_the_papers_sizes():
    assert sum(p.numel() for p in ActionDecoder(3584, 2, DecoderConfig()).parameters()) == 6_053_384
    assert sum(p.numel() for p in DepthHead(3584, 4, HeadConfig()).parameters()) == 14_340


@pytest.mark.parametrize("config", [HeadConfig(), HeadConfig("plan"), HeadConfig("z", 5), HeadConfig("plan", 5)])
def test_the_depth_head_starts_uniform_and_learns(config):
    head = DepthHead(16, 4, config)
    logits = head(torch.randn(3, 40 if config.reads == "plan" else 16))
    assert torch.equal(logits, torch.zeros(3, 4))
    assert entropy(logits)[0].item() == pytest.approx(math.log(4))
    log_prob(logits, torch.tensor([0, 1, 2])).sum().backward()
    assert head.weight.grad.abs().max() > 0


def test_confidence_is_told_of_the_likeliest_actions():
    even = torch.zeros(1, 8, 4)
    told = confidence(even)[0]
    assert told[:8].tolist() == pytest.approx([0.25] * 8)
    assert told[8:16].tolist() == pytest.approx([0.25**n for n in range(1, 9)], rel=1e-4)
    assert told[16:].tolist() == pytest.approx([math.log(4)] * 8)
    sure = even.clone()
    sure[0, 3, 2] = 200.0
    changed = confidence(sure)[0]
    assert changed[3] == 1
    assert changed[16 + 3] == 0
    assert (changed != told).nonzero().flatten().tolist() == [3, *range(11, 16), 19]


@pytest.mark.parametrize(("init", "deviation"), [("default", 1 / math.sqrt(3 * 3584)), ("normal:0.02", 0.02)])
def test_other_beginnings_of_the_depth_head(init, deviation):
    """A20: random, and not flat; torch's own is even within one over the root of its inputs."""
    torch.manual_seed(0)
    head = DepthHead(3584, 4, HeadConfig(init=init))
    assert head.weight.std().item() == pytest.approx(deviation, rel=0.02)
    assert (head.bias == 0).all() == (init != "default")
    assert entropy(head(torch.randn(200, 3584))).mean().item() < 0.98 * math.log(4)
    torch.manual_seed(0)
    assert torch.equal(DepthHead(3584, 4, HeadConfig(init=init)).weight, head.weight)


@pytest.fixture(params=["prefix", "cross"])
def decoder(request):
    torch.manual_seed(0)
    return ActionDecoder(24, 2, DecoderConfig(width=32, layers=2, heads=4, ffn=64, z=request.param)).eval()


def test_attention_to_one_vector_is_a_map_of_it():
    """A21: torch's attention with z as its only key, whatever asks; and the decoder does depend on z in every layer."""
    torch.manual_seed(0)
    attention = torch.nn.MultiheadAttention(32, 4, batch_first=True)
    z, asking = torch.randn(5, 32), torch.randn(5, 8, 32)
    values = attention.in_proj_weight[64:], attention.in_proj_bias[64:]
    block = Block(DecoderConfig(width=32, heads=4, ffn=64, z="cross"))
    with torch.no_grad():
        block.cross.weight.copy_(attention.out_proj.weight @ values[0])
        block.cross.bias.copy_(attention.out_proj.weight @ values[1] + attention.out_proj.bias)
    wanted, _ = attention(asking, z[:, None], z[:, None])
    assert (block.cross(z)[:, None] - wanted).abs().max() < 1e-5
    with torch.no_grad():
        block.proj.weight.zero_(), block.proj.bias.zero_(), block.down.weight.zero_(), block.down.bias.zero_()
    out, _ = block(asking, None, z)
    assert (out - asking - wanted).abs().max() < 1e-5


def test_a_decoder_with_z_beside_it_reads_z_and_learns_all_it_has():
    torch.manual_seed(0)
    decoder = ActionDecoder(24, 1, DecoderConfig(width=32, layers=2, heads=4, ffn=64, z="cross"))
    z, actions = torch.randn(3, 24), torch.randint(0, 4, (3, 7))
    logits = decoder(z, actions, 0)
    assert (logits - decoder(z.flip(0), actions, 0)).abs().max() > 1e-2
    logits.square().sum().backward()
    assert not [name for name, p in decoder.named_parameters() if p.grad is None or not p.grad.any()]
    assert decoder.positions.shape == (8, 32)


def test_greedy_plans_agree_with_teacher_forcing(decoder):
    z = torch.randn(6, 24)
    plans, logits = decoder.plans(z, 1)
    assert plans.shape == (6, 8)
    forced = decoder(z, plans[:, :7], 1)
    assert (forced - logits).abs().max() < 1e-5
    assert torch.equal(forced.argmax(-1), plans)


def test_logits_never_see_the_future(decoder):
    z, actions = torch.randn(1, 24), torch.zeros(1, 7, dtype=torch.long)
    changed = actions.clone()
    changed[0, 4] = 3
    before, after = decoder(z, actions, 0)[0], decoder(z, changed, 0)[0]
    assert torch.equal(before[:5], after[:5])
    assert (before[5:] - after[5:]).abs().max() > 1e-4


def test_tasks_have_their_own_output(decoder):
    z, actions = torch.randn(2, 24), torch.zeros(2, 7, dtype=torch.long)
    assert (decoder(z, actions, 0) - decoder(z, actions, 1)).abs().max() > 1e-4


def test_sampling_follows_the_distribution(decoder):
    z = torch.randn(1, 24).expand(6_000, -1)
    noise = torch.rand(6_000, 8, 4, generator=torch.Generator().manual_seed(1)).clamp(1e-9, 1 - 1e-7)
    plans, logits = decoder.plans(z, 0, noise=noise)
    share = torch.bincount(plans[:, 0], minlength=4) / 6_000
    assert (share - logits[0, 0].softmax(-1)).abs().max() < 0.025
    again, _ = decoder.plans(z[:7], 0, noise=noise[:7])
    assert torch.equal(again, plans[:7])


def test_depth_conditioning_starts_as_none_and_asks_for_depths():
    torch.manual_seed(0)
    decoder = ActionDecoder(24, 1, DecoderConfig(width=32, heads=4, ffn=64, depth_conditioning="embedding"))
    z, actions = torch.randn(2, 24), torch.zeros(2, 7, dtype=torch.long)
    one, eight = (decoder(z, actions, 0, torch.tensor([d, d])) for d in (1, 8))
    assert torch.equal(one, eight)
    with pytest.raises(ValueError, match="depths: expected one per state"):
        decoder(z, actions, 0)


def test_exact_quantities_against_numpy():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(50, 4)), rng.normal(size=(50, 4))
    p, q = (np.exp(x) / np.exp(x).sum(1, keepdims=True) for x in (a, b))
    ta, tb = torch.tensor(a), torch.tensor(b)
    assert np.allclose(entropy(ta), -(p * np.log(p)).sum(1), atol=1e-6)
    assert np.allclose(kl(ta, tb), (p * np.log(p / q)).sum(1), atol=1e-6)
    assert (kl(ta, ta) == 0).all()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PolicyConfig(depths=(4, 2)), "depths: expected ascending numbers"),
        (lambda: PolicyConfig(depths=(0, 1)), r"depths: expected numbers 1..8, got \(0, 1\)"),
        (lambda: PolicyConfig(cell=-1), "cell: expected 0 or a number of pixels, got -1"),
        (lambda: DecoderConfig(z="suffix"), "decoder.z: expected prefix or cross, got suffix"),
        (lambda: HeadConfig(init="normal"), "head.init: expected zero, default or normal:STD .*, got normal"),
        (lambda: HeadConfig(init="normal:-1"), "head.init: expected zero, default or normal:STD .*, got normal:-1"),
        (lambda: HeadConfig(init="normal:x"), "head.init: expected zero, default or normal:STD .*, got normal:x"),
        (lambda: HeadConfig(init="uniform"), "head.init: expected zero, default or normal:STD .*, got uniform"),
        (lambda: DecoderConfig(width=30, heads=4), r"decoder.width: expected a multiple of heads \(4\), got 30"),
    ],
)
def test_configurations_check_themselves(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(("name", "value"), [("width", 1 << 17), ("layers", 10_000_000), ("ffn", 0)])
def test_a_strangers_sizes_are_refused_before_anything_is_made(name, value):
    with pytest.raises(ValueError, match=rf"decoder\.{name}: expected 1\.\.\d+, got {value}"):
        DecoderConfig(**{name: value})
