"""Adapters of one input in fewer kernels: what PEFT's own layers make of it, and their gradients."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
peft = pytest.importorskip("peft")

from torch import nn

from recommit.policy.flop_counter import Watch, cost
from recommit.policy.lora import Adapters


@pytest.fixture
def layers():
    """Two adapted projections of different widths, with numbers in both factors."""
    torch.manual_seed(1)
    model = nn.ModuleDict({"q": nn.Linear(12, 8), "k": nn.Linear(12, 4, bias=False)})
    config = peft.LoraConfig(r=3, lora_alpha=6, target_modules=["q", "k"])
    model = peft.get_peft_model(model, config).base_model.model
    for layer in model.values():
        nn.init.normal_(layer.lora_B["default"].weight)
    return list(model.values())


def outputs_and_gradients(layers, project):
    x = torch.randn(2, 5, 12, generator=torch.Generator().manual_seed(2)).requires_grad_()
    made = project(x)
    sum((each * torch.arange(1.0, each.numel() + 1).view(each.shape)).sum() for each in made).backward()
    factors = [p for layer in layers for p in layer.parameters() if p.requires_grad]
    found = [*made, x.grad, *(p.grad for p in factors)]
    for parameter in factors:
        parameter.grad = None
    return [each.detach().clone() for each in found]


@pytest.mark.parametrize("count", [1, 2])
def test_linears_are_pefts_layers(layers, count):
    own = layers[:count]
    wanted = outputs_and_gradients(own, lambda x: [layer(x) for layer in own])
    found = outputs_and_gradients(own, lambda x: Adapters([own], x.dtype).linears(x, *own))
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(one, other)


def test_a_factor_of_another_layer_would_be_noticed(layers):
    first, second = layers
    wanted = first(torch.ones(1, 12))
    first.lora_A, second.lora_A = second.lora_A, first.lora_A
    assert not torch.allclose(Adapters([layers], torch.float32).linears(torch.ones(1, 12), first, second)[0], wanted)


def test_they_take_fewer_kernels(layers):
    x = torch.ones(1, 12)
    ours, theirs = (
        cost(lambda: Adapters([layers], x.dtype).linears(x, *layers), Watch()).kernels,
        cost(lambda: [layer(x) for layer in layers], Watch()).kernels,
    )
    assert ours < theirs
