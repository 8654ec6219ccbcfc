"""One process of plain PyTorch, and which engine a run has."""

from __future__ import annotations

import math
from contextlib import nullcontext
from typing import TYPE_CHECKING, TypeVar

import torch

from recommit.policy.checkpoint import fingerprint_of
from recommit.train.engine.base import BETAS, groups, load_states, save_states

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from contextlib import AbstractContextManager
    from pathlib import Path

    from torch import Tensor, nn

    from recommit.policy.policy import CommitPolicy
    from recommit.runs.ranks import Team
    from recommit.train.config import EngineConfig, OptimConfig
    from recommit.train.engine.base import Engine, Group

T = TypeVar("T")


class TorchEngine:
    """AdamW in one process; see ``Engine``."""

    together = False

    def __init__(self, groups: list[Group], config: OptimConfig, team: Team) -> None:
        self.config, self.team, self.groups = config, team, groups
        self.optimizer = torch.optim.AdamW(
            [{"params": group.parameters, "lr": group.lr} for group in groups],
            betas=BETAS,
            weight_decay=config.weight_decay,
            fused=True,
        )
        self.parameters = [p for group in groups for p in group.parameters]

    def run(self, work: Callable[[], T]) -> T:
        """See ``Engine``."""
        return work()

    def backward(self, loss: Tensor) -> None:
        """See ``Engine``."""
        loss.backward()

    def step(self, scale: float) -> float:
        """See ``Engine``."""
        limit = self.config.clip or math.inf
        norm = float(torch.nn.utils.clip_grad_norm_(self.parameters, limit))
        for group, own in zip(self.optimizer.param_groups, self.groups, strict=True):
            group["lr"] = own.lr * scale
        if math.isfinite(norm):
            self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return norm

    def whole(self, policy: CommitPolicy) -> AbstractContextManager[None]:  # noqa: ARG002
        """See ``Engine``."""
        return nullcontext()

    def full(self, parameters: Iterable[nn.Parameter]) -> list[Tensor]:
        """See ``Engine``."""
        return [parameter.detach().float().clone() for parameter in parameters]

    @torch.no_grad()
    def assign(self, parameters: Iterable[nn.Parameter], values: Iterable[Tensor]) -> None:
        """See ``Engine``."""
        for parameter, value in zip(parameters, values, strict=True):
            parameter.copy_(value)

    def save(self, folder: Path) -> None:
        """See ``Engine``."""
        save_states(folder, ({"weight": p, **self.optimizer.state.get(p, {})} for p in self.parameters))

    def load(self, folder: Path) -> None:
        """See ``Engine``."""
        moments = {}
        states = load_states(folder, [p.shape for p in self.parameters])
        for i, (parameter, state) in enumerate(zip(self.parameters, states, strict=True)):
            self.assign([parameter], [state.pop("weight")])
            if state:
                moments[i] = state
        self.optimizer.load_state_dict({"state": moments, "param_groups": self.optimizer.state_dict()["param_groups"]})

    def close(self) -> None:
        """See ``Engine``."""


def make_engine(policy: CommitPolicy, optim: OptimConfig, config: EngineConfig, team: Team, parts: int) -> Engine:
    """The engine of a configuration; ``parts`` micro-batches make an optimizer step."""
    parameters = groups(policy, optim)
    if config.kind == "plain":
        return TorchEngine(parameters, optim, team)
    from recommit.train.engine.deepspeed import ZeroEngine

    fingerprint_of(policy)  # while the frozen weights are whole
    return ZeroEngine(policy, parameters, optim, config, team, parts)
