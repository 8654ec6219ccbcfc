from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from recommit.policy.action_decoder import ActionDecoder, Block
from recommit.policy.config import DecoderConfig


def test_the_papers_sizes():
    assert sum(p.numel() for p in ActionDecoder(3584, 2, DecoderConfig()).parameters()) == 6_053_384


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
