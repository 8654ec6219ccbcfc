"""DeepSpeed behind the calls of ``Engine``: ZeRO 1, 2 and 3, and plain data parallelism (stage 0), on GPUs or CPUs."""

from __future__ import annotations

import math
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, TypeVar

import torch
from torch import nn

from recommit.train.engine import state as engine_state
from recommit.train.engine.deepspeed_file import check_places, merged

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from torch import Tensor

    from recommit.policy.policy import CommitPolicy
    from recommit.runs.ranks import Team
    from recommit.train.config import EngineConfig, OptimConfig
    from recommit.train.engine.base import Group

T = TypeVar("T")


class Root(nn.Module):
    """What DeepSpeed takes for the model: its forward runs whatever a step wants from the policy inside."""

    def __init__(self, policy: CommitPolicy) -> None:
        super().__init__()
        self.policy = policy

    def forward(self, work: Callable[[], T]) -> T:
        """Run ``work``, which goes through the policy."""
        return work()


def settings(config: EngineConfig, optim: OptimConfig, parts: int, world: int) -> dict[str, Any]:
    """The DeepSpeed configuration of a run; combinations that are known to go wrong are refused."""
    check_places(config.settings)
    if config.stage == 0 and config.bf16:
        raise ValueError(
            "engine.stage: expected 1, 2 or 3 with engine.bf16, got 0 (its bf16 optimiser takes a wrong first step; "
            "stage 1 costs the same on one rank)"
        )
    if config.stage == 0 and config.offload:
        raise ValueError("engine.offload: expected stage 1, 2 or 3, got 0 (there is nothing to offload)")
    zero: dict[str, Any] = {"stage": config.stage}
    if config.stage == 3:
        # Small weights would stay whole between passes, until a checkpoint is read: DeepSpeed's trace of fetches then
        # fails.
        zero["stage3_param_persistence_threshold"] = 0
    if config.offload:
        zero["offload_optimizer"] = {"device": "cpu"}
        if config.stage == 3:
            zero["offload_param"] = {"device": "cpu"}
    share = optim.batch // world
    own = {
        "train_micro_batch_size_per_gpu": max(1, share // parts),
        "gradient_accumulation_steps": parts,
        "gradient_clipping": optim.clip,
        "bf16": {"enabled": config.bf16},
        "zero_optimization": zero,
        "zero_force_ds_cpu_optimizer": False,
        "zero_allow_untested_optimizer": True,
        "steps_per_print": 10**9,
        "wall_clock_breakdown": False,
    }
    return merged(own, config.settings)


class ZeroEngine:
    """See ``Engine``. ``parts`` is how many micro-batches make a step, on every rank."""

    def __init__(
        self,
        policy: CommitPolicy,
        groups: list[Group],
        optim: OptimConfig,
        config: EngineConfig,
        team: Team,
        parts: int,
    ) -> None:
        import deepspeed

        from recommit.train.engine.deepspeed_state import Pieces

        self._linear = torch.nn.functional.linear
        self.groups, self.parts, self.stage, self.team = groups, parts, config.stage, team
        self.together = config.stage == 3
        self.trained = [p for group in groups for p in group.parameters]
        optimizer = torch.optim.AdamW(
            [{"params": group.parameters, "lr": group.lr} for group in groups],
            betas=optim.betas,
            weight_decay=optim.weight_decay,
        )
        with quietly():
            self.engine, *_ = deepspeed.initialize(
                model=Root(policy), optimizer=optimizer, config=settings(config, optim, parts, team.world)
            )
        self.pieces = Pieces(self.engine.optimizer, config.stage, team.rank)

    def run(self, work: Callable[[], T]) -> T:
        """See ``Engine``."""
        result: T = self.engine(work)
        return result

    def backward(self, loss: Tensor, *, last: bool) -> None:
        """See ``Engine``."""
        del last  # DeepSpeed counts for itself
        self.engine.backward(loss * self.parts)  # it divides by the number of parts; the loss already is a share
        if not self.engine.is_gradient_accumulation_boundary():
            self.engine.step()

    def step(self, scale: float) -> float:
        """See ``Engine``; here a gradient that is not finite ends the run, since the weights have moved already."""
        for group, own in zip(self.engine.optimizer.param_groups, self.groups, strict=True):
            group["lr"] = own.lr * scale
        norm = self._norm() if self.stage == 0 else None
        self.engine.step()
        total = float(self.engine.get_global_grad_norm() if norm is None else norm)
        if not math.isfinite(total):
            raise FloatingPointError("the gradient is not finite; the last checkpoint is from before that")
        return total

    def _norm(self) -> float:
        """Without ZeRO DeepSpeed does not tell."""
        grads = [p.grad for p in self.trained if p.grad is not None]
        return float(torch.nn.utils.get_total_norm(grads))

    def full(self, parameters: Iterable[nn.Parameter]) -> list[Tensor]:
        """See ``Engine``."""
        return [self.pieces.weight(parameter) for parameter in parameters]

    def assign(self, parameters: Iterable[nn.Parameter], values: Iterable[Tensor]) -> None:
        """See ``Engine``."""
        for parameter, value in zip(parameters, values, strict=True):
            self.pieces.set_weight(parameter, value)

    def save(self, folder: Path) -> None:
        """See ``Engine``; frozen weights are not written."""
        states = (self.pieces.state(parameter) for parameter in self.trained)
        engine_state.save(folder, states, write=self.team.is_main_process)

    def load(self, folder: Path) -> None:
        """See ``Engine``; whatever number of ranks, stage or engine it was that saved."""
        shapes = [engine_state.shape(parameter) for parameter in self.trained]
        begun = False
        for parameter, state in zip(self.trained, engine_state.load(folder, shapes), strict=True):
            if "step" in state and not begun:
                self.pieces.begin_moments(state["step"])
                begun = True
            self.pieces.set_state(parameter, state)

    @contextmanager
    def whole(self, policy: CommitPolicy) -> Iterator[None]:
        """See ``Engine``: under stage 3 the weights that are saved are gathered meanwhile."""
        if self.stage < 3:
            yield
            return
        import deepspeed

        heads = [*policy.depth_head.parameters(), *policy.decoder.parameters()]  # frozen parts of them are saved, too
        saved = list(policy.parameters()) if policy.config.lora is None else [*self.trained, *heads]
        with deepspeed.zero.GatheredParameters(list(dict.fromkeys(saved)), modifier_rank=None):
            yield

    def judged(self) -> AbstractContextManager[None]:
        """See ``Engine``: they are those that learn."""
        return nullcontext()

    def close(self) -> None:
        """See ``Engine``; stage 3 leaves a ``linear`` of its own behind, whose gradients are rounded otherwise."""
        self.engine.destroy()
        torch.nn.functional.linear = self._linear


@contextmanager
def quietly() -> Iterator[None]:
    """Errors of DeepSpeed's logger only; it otherwise prints its whole configuration."""
    import logging

    logger = logging.getLogger("DeepSpeed")
    was = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(was)
