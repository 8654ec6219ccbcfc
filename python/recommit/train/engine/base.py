"""Who computes gradients and moves weights: what a loop needs of an engine, and which weights move how fast."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from contextlib import AbstractContextManager
    from pathlib import Path

    from torch import Tensor, nn

    from recommit.policy.policy import CommitPolicy
    from recommit.runs.ranks import Team
    from recommit.train.config import OptimConfig

T = TypeVar("T")


class Engine(Protocol):
    """What a training loop needs. Every rank calls every method, in the same order."""

    team: Team
    #: Must every rank go through the policy equally often? Otherwise one that has nothing to look at may wait.
    together: bool

    def run(self, work: Callable[[], T]) -> T:
        """Run ``work``, which goes through the policy; every pass through it happens inside such a call."""

    def backward(self, loss: Tensor, *, last: bool) -> None:
        """Add a micro-batch's gradient; ``last`` says that ``step`` comes next."""

    def step(self, scale: float) -> float:
        """Move the weights with learning rates times ``scale``; the norm of the gradient before clipping.

        A gradient that is not finite moves nothing.
        """

    def whole(self, policy: CommitPolicy) -> AbstractContextManager[None]:
        """A context in which every rank sees all of the weights that are saved."""

    def judged(self) -> AbstractContextManager[None]:
        """A context in which the policy has the weights that are validated and saved."""

    def full(self, parameters: Iterable[nn.Parameter]) -> list[Tensor]:
        """Copies of trained weights as the optimiser has them: whole, in float32, on every rank."""

    def assign(self, parameters: Iterable[nn.Parameter], values: Iterable[Tensor]) -> None:
        """Give trained weights whole float32 ``values``, the same on every rank; the optimiser goes on from them."""

    def save(self, folder: Path) -> None:
        """Write what ``load`` needs into an existing folder; the lead does."""

    def load(self, folder: Path) -> None:
        """Take up exactly where ``save`` was called, by whatever engine and number of ranks."""

    def close(self) -> None:
        """Let go of the policy: another engine may come."""


@dataclass(frozen=True)
class Group:
    """Parameters that share a learning rate."""

    name: str
    lr: float
    parameters: list[nn.Parameter]


def groups(policy: CommitPolicy, config: OptimConfig) -> list[Group]:
    """The trainable parameters: of the language model (or its adapter), of the picture encoder, of the action
    decoder, and of the depth head."""
    vision = [p for p in policy.backbone.vision_parameters() if p.requires_grad]
    seen = {id(p) for p in vision}
    backbone = [p for p in policy.backbone.model.parameters() if p.requires_grad and id(p) not in seen]
    heads = [p for p in policy.decoder.parameters() if p.requires_grad]
    depth = [p for p in policy.depth_head.parameters() if p.requires_grad]
    every = [
        Group("backbone", config.lr, backbone),
        Group("vision", config.vision_lr, vision),
        Group("heads", config.head_lr, heads),
        Group("depth", config.depth_lr or config.head_lr, depth),
    ]
    return [group for group in every if group.parameters]


def schedule(config: OptimConfig, step: int) -> float:
    """What the learning rates are multiplied with in step ``step`` = 0, 1, ..."""
    warm = min(1.0, (step + 1) / config.warmup) if config.warmup else 1.0
    remaining = max(0.0, 1.0 - step / config.steps)
    if config.schedule == "linear":
        return warm * remaining
    if config.schedule == "cosine":
        return warm * 0.5 * (1.0 + math.cos(math.pi * (1.0 - remaining)))
    return warm
