"""Whole weights and moments of parameters that ZeRO has split over ranks. Every rank calls every method, in the same
order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
from torch.nn.functional import pad

from recommit.train.engine.state import shape

if TYPE_CHECKING:
    from torch import Tensor, nn

MOMENTS = ("exp_avg", "exp_avg_sq")


class Pieces:
    """The float32 side of a DeepSpeed engine at one stage of ZeRO; ``optimizer`` is the engine's."""

    def __init__(self, optimizer: Any, stage: int, rank: int) -> None:
        self.optimizer, self.stage, self.rank = optimizer, stage, rank

    def weight(self, parameter: nn.Parameter) -> Tensor:
        """A copy of all of a trained parameter, in float32."""
        if self.stage == 0:
            return parameter.detach().float().clone()
        whole: Tensor = safe_get_full_fp32_param(parameter)
        return whole.reshape(shape(parameter))

    @torch.no_grad()
    def set_weight(self, parameter: nn.Parameter, value: Tensor) -> None:
        """Change a trained parameter and its master, from which the next step would else bring the old value back."""
        if self.stage == 3:
            safe_set_local_fp32_param(parameter, self._own(parameter, value))
            with GatheredParameters([parameter], modifier_rank=0):
                parameter.copy_(value)
            return
        parameter.copy_(value)
        if self.stage:
            safe_set_full_fp32_param(parameter, value.to(parameter.device, torch.float32))

    def _own(self, parameter: nn.Parameter, value: Tensor) -> Tensor:
        """This rank's piece under stage 3, padded: DeepSpeed's setter of a whole value fails where ranks do not divide
        it.
        """
        size: int = parameter.ds_tensor.numel()
        flat = value.flatten().float()[size * self.rank : size * (self.rank + 1)]
        return pad(flat, (0, size - flat.numel()))

    def state(self, parameter: nn.Parameter) -> dict[str, Tensor]:
        """Weight, moments and number of steps; the weight alone before the first step."""
        weight = {"weight": self.weight(parameter)}
        step = self._step(parameter)
        if step is None:
            return weight
        self._link()
        return {**weight, **{name: self._moment(parameter, name) for name in MOMENTS}, "step": step.clone()}

    def set_state(self, parameter: nn.Parameter, state: dict[str, Tensor]) -> None:
        """Back to ``state``; the optimiser must have moments: see ``begin_moments``."""
        self.set_weight(parameter, state["weight"])
        for name in MOMENTS:
            if name in state:
                self._set_moment(parameter, name, state[name])

    def begin_moments(self, step: Tensor) -> None:
        """Make empty moments, as the first step would, that ``set_state`` can fill."""
        optimizer = self.optimizer if self.stage == 0 else self.optimizer.optimizer
        for piece in self._pieces():
            empty = {name: torch.zeros_like(piece) for name in MOMENTS}
            optimizer.state[piece] = {"step": step.clone(), **empty}
        self._link()

    def _link(self) -> None:
        """Let DeepSpeed look again where moments are: under stages 1 and 2 it looks once, after the first step of the
        first group, when the other groups have none."""
        if self.stage in (1, 2):
            self.optimizer._hp_optimizer_states_linked = False
            self.optimizer._lazy_init_hp_params_optimizer_state()

    def _pieces(self) -> list[Tensor]:
        """What the optimiser moves on this rank."""
        if self.stage == 0:
            return [p for group in self.optimizer.param_groups for p in group["params"]]
        name = "fp32_partitioned_groups_flat" if self.stage == 3 else "single_partition_of_fp32_groups"
        pieces: list[Tensor] = getattr(self.optimizer, name)
        return pieces

    def _step(self, parameter: nn.Parameter) -> Tensor | None:
        """All pieces of a rank take their steps together."""
        if self.stage == 0:
            step: Tensor | None = self.optimizer.state.get(parameter, {}).get("step")
            return step
        states = (self.optimizer.optimizer.state.get(piece, {}) for piece in self._pieces())
        return next((state["step"] for state in states if "step" in state), None)

    def _moment(self, parameter: nn.Parameter, name: str) -> Tensor:
        if self.stage == 0:
            moment: Tensor = self.optimizer.state[parameter][name]
            return moment
        whole: Tensor = safe_get_full_optimizer_state(parameter, name)
        return whole.reshape(shape(parameter))

    def _set_moment(self, parameter: nn.Parameter, name: str, value: Tensor) -> None:
        if self.stage == 0:
            self.optimizer.state[parameter][name].copy_(value)
        elif self.stage == 3:
            safe_set_local_optimizer_state(parameter, self._own(parameter, value), name)
        else:
            safe_set_full_optimizer_state(parameter, value.to(parameter.device, torch.float32), name)
