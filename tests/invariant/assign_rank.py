"""One rank that takes whole weights out of engines and puts others in: python -m tests.invariant.assign_rank."""

from __future__ import annotations

from types import SimpleNamespace

import torch
from torch import nn
from torch.nn.functional import linear

from recommit.runs import distributed
from recommit.train.config import EngineConfig, OptimConfig
from recommit.train.engine.deepspeed import ZeroEngine
from recommit.train.optim import ParameterGroup

SETTINGS = [
    {"stage": 0},
    *({"stage": stage} for stage in (1, 2, 3)),
    {"stage": 2, "offload": True},
    {"stage": 3, "offload": True},
]


def check(settings: dict[str, object], team: distributed.Team) -> None:
    """What is put in comes out, is what the model reads, and is what the next step goes on from."""
    torch.manual_seed(0)
    model = nn.ModuleList([nn.Linear(7, 5), nn.Linear(5, 3)])  # 15 weights do not divide into two evenly
    groups = [ParameterGroup(str(i), 0.1, list(part.parameters())) for i, part in enumerate(model)]
    config = EngineConfig(kind="deepspeed", **settings)
    engine = ZeroEngine(model, groups, OptimConfig(batch=12, weight_decay=0.0), config, team, 1)
    inputs = torch.ones(4, 7)

    def step() -> None:
        engine.backward(engine.run(lambda: model[1](model[0](inputs).tanh()).float().square().mean()))
        engine.step(1.0)

    step()
    head = list(model[1].parameters())
    values = [torch.arange(v.numel()).reshape(v.shape) * 0.01 + 0.123456789 for v in engine.full(head)]
    engine.assign(head, values)
    assert all(torch.equal(a, b) for a, b in zip(engine.full(head), values, strict=True)), settings
    seen = engine.run(lambda: model[1](torch.ones(1, 5))).detach()
    assert torch.equal(seen, linear(torch.ones(1, 5), *values)), settings
    step()
    moved = [(a - b).abs().max().item() for a, b in zip(engine.full(head), values, strict=True)]
    engine.close()
    assert all(0.02 < far < 0.11 for far in moved), (
        f"{settings}: Adam goes at most its rate from what was put in, {moved}"
    )


def check_whole(team: distributed.Team) -> None:
    """With an adapter, whatever of a policy is saved beside the backbone is whole meanwhile, the frozen world model
    too."""
    model = nn.ModuleDict({name: nn.Linear(7, 5) for name in ("depth_head", "decoder", "world_model")})
    for name in ("decoder", "world_model"):
        model[name].requires_grad_(False)
    groups = [ParameterGroup("head", 0.1, list(model["depth_head"].parameters()))]
    config = EngineConfig(kind="deepspeed", stage=3)
    engine = ZeroEngine(model, groups, OptimConfig(batch=12), config, team, 1)
    policy = SimpleNamespace(**model, config=SimpleNamespace(lora=True))
    with engine.whole(policy):
        shapes = {name: tuple(weight.shape) for name, weight in model.named_parameters() if name.endswith("weight")}
    engine.close()
    assert shapes == dict.fromkeys(shapes, (5, 7)), shapes


if __name__ == "__main__":
    team = distributed.join("cpu")
    check_whole(team)
    for settings in SETTINGS:
        check(settings, team)
    distributed.end(0)
