from __future__ import annotations

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from recommit.policy.config import DecoderConfig, HeadConfig, PolicyConfig
from recommit.policy.distributions import entropy, kl, log_prob
from recommit.policy.heads import ActionDecoder, DepthHead, confidence


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


@pytest.fixture
def decoder():
    torch.manual_seed(0)
    return ActionDecoder(24, 2, DecoderConfig(width=32, layers=2, heads=4, ffn=64)).eval()


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
        (lambda: DecoderConfig(width=30, heads=4), r"decoder.width: expected a multiple of heads \(4\), got 30"),
    ],
)
def test_configurations_check_themselves(make, message):
    with pytest.raises(ValueError, match=message):
        make()
