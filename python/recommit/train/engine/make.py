"""The engine that a configuration asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recommit.policy.checkpoint import fingerprint_of
from recommit.train.engine.base import groups
from recommit.train.engine.torch import TorchEngine

if TYPE_CHECKING:
    from recommit.policy.policy import CommitPolicy
    from recommit.runs.ranks import Team
    from recommit.train.config import EngineConfig, OptimConfig
    from recommit.train.engine.base import Engine


def make_engine(policy: CommitPolicy, optim: OptimConfig, config: EngineConfig, team: Team, parts: int) -> Engine:
    """Make it; ``parts`` micro-batches make a step."""
    parameters = groups(policy, optim)
    if config.kind == "plain":
        return TorchEngine(parameters, optim, team)
    if optim.ema:
        raise ValueError(f"optim.ema: expected 0 with engine.kind {config.kind}, got {optim.ema}")
    from recommit.train.engine.deepspeed import ZeroEngine

    fingerprint_of(policy)  # while the frozen weights are whole
    return ZeroEngine(policy, parameters, optim, config, team, parts)
