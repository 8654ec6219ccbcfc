"""DeepSpeed behind the calls of ``Engine``: ZeRO 1, 2 and 3, and plain data parallelism (stage 0), on GPUs or CPUs.

Every rank calls every method, in the same order.
"""

from __future__ import annotations

import math
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import deepspeed
import torch
from deepspeed.runtime.zero import GatheredParameters
from deepspeed.utils import (
    safe_get_full_fp32_param,
    safe_get_full_optimizer_state,
    safe_set_full_fp32_param,
    safe_set_full_optimizer_state,
    safe_set_local_fp32_param,
    safe_set_local_optimizer_state,
)
from torch import nn
from torch.nn.functional import pad

from recommit.train.engine.base import Diverged, Engine, deepspeed_settings, load_states, save_states, whole_shape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from torch import Tensor

    from recommit.policy.policy import CommitPolicy
    from recommit.runs.distributed import Team
    from recommit.train.config import EngineConfig, OptimConfig
    from recommit.train.optim import ParameterGroup

T = TypeVar("T")
MOMENTS = ("exp_avg", "exp_avg_sq")


class Root(nn.Module):
    """The module given to DeepSpeed: its forward runs any work on the policy inside."""

    def __init__(self, policy: CommitPolicy, stage: int) -> None:
        super().__init__()
        self.policy, self.stage = policy, stage

    def forward(self, work: Callable[[], T]) -> T:
        """Run ``work``, which calls the policy; a training pass returns its loss first."""
        result: Any = work()
        loss = result[0] if isinstance(result, tuple) else None
        if self.stage == 3 and isinstance(loss, torch.Tensor) and loss.requires_grad:
            result = (loss + self._zero(), *result[1:])
        return result

    def _zero(self) -> Tensor:
        """A zero that gives the output layers of all trained tasks a zero gradient. If a step's first pass gave a
        weight none, stage 3 would add those of later passes to the gradient of the previous step."""
        outputs = [output for output in self.policy.decoder.outputs if output.weight.requires_grad]
        nothing = self.policy.depth_head.weight.new_zeros(1, self.policy.config.decoder.width)
        return sum((output(nothing).sum() for output in outputs), start=nothing.sum()) * 0.0


class ZeroEngine(Engine):
    """DeepSpeed behind the calls of ``Engine``. ``parts`` is the number of micro-batches per step on every rank."""

    fused = None

    def __init__(
        self,
        policy: CommitPolicy,
        groups: list[ParameterGroup],
        optim: OptimConfig,
        config: EngineConfig,
        team: Team,
        parts: int,
    ) -> None:
        super().__init__(groups, optim, team)
        self._linear = torch.nn.functional.linear
        self.parts, self.stage, self.equal_passes = parts, config.stage, config.stage == 3
        with quietly():
            self.engine, *_ = deepspeed.initialize(
                model=Root(policy, config.stage),
                optimizer=self.optimizer,
                config=deepspeed_settings(config, optim, parts, team.world),
            )
        #: DeepSpeed's optimizer, which wraps that of ``Engine``.
        self.zero: Any = self.engine.optimizer

    def run(self, work: Callable[[], T]) -> T:
        """See ``Engine``."""
        return self.engine(work)

    def backward(self, loss: Tensor) -> None:
        """See ``Engine``; DeepSpeed counts the micro-batches of a step itself."""
        self.engine.backward(loss * self.parts)  # it divides by the number of parts, but the loss already is a share
        if not self.engine.is_gradient_accumulation_boundary():
            self.engine.step()

    def step(self, scale: float) -> float:
        """See ``Engine``; here a non-finite gradient raises ``Diverged``, since the weights are already updated."""
        for group, own in zip(self.engine.optimizer.param_groups, self.groups, strict=True):
            group["lr"] = own.lr * scale
        norm = self._norm() if self.stage == 0 else None
        self.engine.step()
        total = float(self.engine.get_global_grad_norm() if norm is None else norm)
        if not math.isfinite(total):
            raise Diverged("a gradient is not finite; lower optim.lr, the last checkpoint is from before that")
        return total

    def _norm(self) -> float:
        """The gradient norm, which DeepSpeed does not report without ZeRO."""
        grads = [p.grad for p in self.parameters if p.grad is not None]
        return float(torch.nn.utils.get_total_norm(grads))

    def full(self, parameters: Iterable[nn.Parameter]) -> list[Tensor]:
        """See ``Engine``."""
        return [self._weight(parameter) for parameter in parameters]

    def assign(self, parameters: Iterable[nn.Parameter], values: Iterable[Tensor]) -> None:
        """See ``Engine``."""
        for parameter, value in zip(parameters, values, strict=True):
            self._set_weight(parameter, value)

    def save(self, folder: Path) -> None:
        """See ``Engine``; frozen weights are not written."""
        states = (self._state(parameter) for parameter in self.parameters)
        save_states(folder, states, write=self.team.is_main_process)

    def load(self, folder: Path) -> None:
        """See ``Engine``; saved by any engine, stage and number of ranks."""
        shapes = [whole_shape(parameter) for parameter in self.parameters]
        begun = False
        for parameter, state in zip(self.parameters, load_states(folder, shapes), strict=True):
            if "step" in state and not begun:
                self._begin_moments(state["step"])
                begun = True
            self._set_state(parameter, state)

    @contextmanager
    def whole(self, policy: CommitPolicy) -> Iterator[None]:
        """See ``Engine``: under stage 3 the weights to be saved are gathered within the context."""
        if self.stage < 3:
            yield
            return
        parts = [part for part in (policy.depth_head, policy.decoder, policy.world_model) if part is not None]
        heads = [parameter for part in parts for parameter in part.parameters()]  # frozen ones are saved, too
        saved = list(policy.parameters()) if policy.config.lora is None else [*self.parameters, *heads]
        with GatheredParameters(list(dict.fromkeys(saved)), modifier_rank=None):
            yield

    def close(self) -> None:
        """See ``Engine``; also undo stage 3's patch of ``linear``, which rounds gradients differently."""
        self.engine.destroy()
        torch.nn.functional.linear = self._linear

    def _weight(self, parameter: nn.Parameter) -> Tensor:
        """An unsharded float32 copy of a trained parameter."""
        if self.stage == 0:
            return parameter.detach().float().clone()
        whole: Tensor = safe_get_full_fp32_param(parameter)
        return whole.reshape(whole_shape(parameter))

    @torch.no_grad()
    def _set_weight(self, parameter: nn.Parameter, value: Tensor) -> None:
        """Set a trained parameter, and its master copy, else the next step would restore the old value."""
        if self.stage == 3:
            safe_set_local_fp32_param(parameter, self._own(parameter, value))
            with GatheredParameters([parameter], modifier_rank=0):
                parameter.copy_(value)
            return
        parameter.copy_(value)
        if self.stage:
            safe_set_full_fp32_param(parameter, value.to(parameter.device, torch.float32))

    def _own(self, parameter: nn.Parameter, value: Tensor) -> Tensor:
        """This rank's padded shard under stage 3: DeepSpeed's setter of full values fails if the number of ranks does
        not divide the size.
        """
        size: int = parameter.ds_tensor.numel()
        flat = value.flatten().float()[size * self.team.rank : size * (self.team.rank + 1)]
        return pad(flat, (0, size - flat.numel()))

    def _state(self, parameter: nn.Parameter) -> dict[str, Tensor]:
        """Weight, moments and step count; only the weight before the first step."""
        weight = {"weight": self._weight(parameter)}
        step = self._step(parameter)
        if step is None:
            return weight
        self._link()
        return {**weight, **{name: self._moment(parameter, name) for name in MOMENTS}, "step": step.clone()}

    def _set_state(self, parameter: nn.Parameter, state: dict[str, Tensor]) -> None:
        """Restore ``_state``; the optimizer must have moments: see ``_begin_moments``."""
        self._set_weight(parameter, state["weight"])
        for name in MOMENTS:
            if name in state:
                self._set_moment(parameter, name, state[name])

    def _begin_moments(self, step: Tensor) -> None:
        """Create zero moments, as the first step would, for ``_set_state`` to fill."""
        optimizer = self.zero if self.stage == 0 else self.zero.optimizer
        for piece in self._pieces():
            empty = {name: torch.zeros_like(piece) for name in MOMENTS}
            optimizer.state[piece] = {"step": step.clone(), **empty}
        self._link()

    def _link(self) -> None:
        """Make DeepSpeed link parameters to moments again: under stages 1 and 2 it does so once, after the first step
        of the first group, when the other groups have no moments yet."""
        if self.stage in (1, 2):
            self.zero._hp_optimizer_states_linked = False
            self.zero._lazy_init_hp_params_optimizer_state()

    def _pieces(self) -> list[Tensor]:
        """The tensors that the optimizer updates on this rank."""
        if self.stage == 0:
            return [p for group in self.zero.param_groups for p in group["params"]]
        name = "fp32_partitioned_groups_flat" if self.stage == 3 else "single_partition_of_fp32_groups"
        return getattr(self.zero, name)

    def _step(self, parameter: nn.Parameter) -> Tensor | None:
        """The step count, None before the first step; common to all shards of a rank."""
        if self.stage == 0:
            return self.zero.state.get(parameter, {}).get("step")
        states = (self.zero.optimizer.state.get(piece, {}) for piece in self._pieces())
        return next((state["step"] for state in states if "step" in state), None)

    def _moment(self, parameter: nn.Parameter, name: str) -> Tensor:
        if self.stage == 0:
            return self.zero.state[parameter][name]
        whole: Tensor = safe_get_full_optimizer_state(parameter, name)
        return whole.reshape(whole_shape(parameter))

    def _set_moment(self, parameter: nn.Parameter, name: str, value: Tensor) -> None:
        if self.stage == 0:
            self.zero.state[parameter][name].copy_(value)
        elif self.stage == 3:
            safe_set_local_optimizer_state(parameter, self._own(parameter, value), name)
        else:
            safe_set_full_optimizer_state(parameter, value.to(parameter.device, torch.float32), name)


@contextmanager
def quietly() -> Iterator[None]:
    """Log only DeepSpeed's errors; it would otherwise print its whole configuration."""
    import logging

    logger = logging.getLogger("DeepSpeed")
    was = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(was)
