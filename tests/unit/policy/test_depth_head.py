from __future__ import annotations

import math

import pytest

torch = pytest.importorskip("torch")

from recommit.policy.config import HeadConfig
from recommit.policy.depth_head import DepthHead, confidence
from recommit.policy.tensors import entropy, log_prob


def test_the_papers_size():
    assert sum(p.numel() for p in DepthHead(3584, 4, HeadConfig()).parameters()) == 14_340


@pytest.mark.parametrize(
    "config", [HeadConfig(features, hidden) for features in ("z", "z+confidence") for hidden in (0, 5)]
)
def test_the_depth_head_starts_uniform_and_learns(config):
    head = DepthHead(16, 4, config)
    logits = head(torch.randn(3, 40 if config.features == "z+confidence" else 16))
    assert torch.equal(logits, torch.zeros(3, 4))
    assert entropy(logits)[0].item() == pytest.approx(math.log(4))
    log_prob(logits, torch.tensor([0, 1, 2])).sum().backward()
    assert head.weight.grad.abs().max() > 0


def test_confidence_is_told_of_the_likeliest_actions():
    even = torch.zeros(1, 8, 4)
    told = confidence(even.log_softmax(-1))[0]
    assert told[:8].tolist() == pytest.approx([0.25] * 8)
    assert told[8:16].tolist() == pytest.approx([0.25**n for n in range(1, 9)], rel=1e-4)
    assert told[16:].tolist() == pytest.approx([math.log(4)] * 8)
    sure = even.clone()
    sure[0, 3, 2] = 200.0
    changed = confidence(sure.log_softmax(-1))[0]
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
