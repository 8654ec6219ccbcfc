"""Engines compute gradients and step the optimizer; the interface for trainers, and the checkpoint format.

    engine-00000.safetensors ...   of trained parameter i: {i}.weight, {i}.exp_avg, {i}.exp_avg_sq, {i}.step

Weights and moments are saved unsharded and in float32, whatever the engine: a run may resume with another number of
ranks or ZeRO stage. Files are of bounded size, so that no rank holds a full second copy of a large model.
"""

from __future__ import annotations

import math
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, TypeVar

import torch
from safetensors import safe_open
from safetensors.torch import save

from recommit.storage.files import Files, replace
from recommit.train.optim import BETAS, LARGEST_NORM

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from torch import Tensor, nn

    from recommit.policy.policy import CommitPolicy
    from recommit.runs.distributed import Team
    from recommit.train.config import EngineConfig, OptimConfig
    from recommit.train.optim import ParameterGroup

    State = dict[str, Tensor]

T = TypeVar("T")
#: Size from which a checkpoint file is closed and the next one begun.
FILE_BYTES = 1 << 30
#: DeepSpeed's reduce bucket in elements; its default is ten times the size of an adapter.
BUCKET = 50_000_000


class Diverged(RuntimeError):
    """Gradients are no longer finite; checkpoints are from before that."""


class Engine:
    """Plain PyTorch AdamW, with one all-reduce of the gradients before each step; also the interface of all engines.
    Every rank calls every method, in the same order.
    """

    #: True if every rank must run the same number of passes; otherwise an idle rank may wait.
    equal_passes = False
    #: Fused AdamW kernel; None for DeepSpeed, which gives its optimizer other tensors.
    fused: bool | None = True

    def __init__(self, groups: list[ParameterGroup], optim: OptimConfig, team: Team) -> None:
        self.groups, self.team = groups, team
        self.parameters = [p for group in groups for p in group.parameters]
        self.optimizer = torch.optim.AdamW(
            [{"params": group.parameters, "lr": group.lr} for group in groups],
            betas=BETAS,
            weight_decay=optim.weight_decay,
            fused=self.fused,
        )

    def run(self, work: Callable[[], T]) -> T:
        """Run ``work``. Every pass of the policy happens inside such a call; a training pass returns its loss first."""
        return work()

    def backward(self, loss: Tensor) -> None:
        """Accumulate a micro-batch's gradient."""
        loss.backward()

    def step(self, scale: float) -> float:
        """Step the optimizer with learning rates times ``scale``; returns the gradient norm before clipping.

        A non-finite gradient skips the step.
        """
        self._average()
        norm = float(torch.nn.utils.clip_grad_norm_(self.parameters, LARGEST_NORM))
        for group, own in zip(self.optimizer.param_groups, self.groups, strict=True):
            group["lr"] = own.lr * scale
        if math.isfinite(norm):
            self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return norm

    def _average(self) -> None:
        """Average gradients over ranks; None where no rank has one."""
        if self.team.world == 1:
            return
        grads = [torch.zeros_like(p) if p.grad is None else p.grad for p in self.parameters]
        some = grads[0].new_tensor([float(p.grad is not None) for p in self.parameters])
        flat = self.team.all_reduce(torch.cat([*(grad.flatten() for grad in grads), some]))
        *means, some = (flat / self.team.world).split([*map(torch.numel, grads), len(grads)])
        for parameter, mean, has in zip(self.parameters, means, some.tolist(), strict=True):
            parameter.grad = mean.view_as(parameter).to(parameter.dtype) if has else None

    def whole(self, policy: CommitPolicy) -> AbstractContextManager[None]:  # noqa: ARG002
        """A context in which the weights to be saved are unsharded on every rank."""
        return nullcontext()

    def full(self, parameters: Iterable[nn.Parameter]) -> list[Tensor]:
        """Unsharded float32 copies of trained weights, on every rank."""
        return [parameter.detach().float().clone() for parameter in parameters]

    @torch.no_grad()
    def assign(self, parameters: Iterable[nn.Parameter], values: Iterable[Tensor]) -> None:
        """Set trained weights, including the optimizer's master copy, to unsharded float32 ``values``, equal on all
        ranks."""
        for parameter, value in zip(parameters, values, strict=True):
            parameter.copy_(value)

    def save(self, folder: Path) -> None:
        """Write the state for ``load``, without frozen weights, into an existing folder; the main process writes."""
        states = ({"weight": p, **self.optimizer.state.get(p, {})} for p in self.parameters)
        save_states(folder, states, write=self.team.is_main_process)

    def load(self, folder: Path) -> None:
        """Restore the state of ``save``, written by any engine and number of ranks."""
        moments = {}
        states = load_states(folder, [p.shape for p in self.parameters])
        for i, (parameter, state) in enumerate(zip(self.parameters, states, strict=True)):
            self.assign([parameter], [state.pop("weight")])
            if state:
                moments[i] = state
        self.optimizer.load_state_dict({"state": moments, "param_groups": self.optimizer.state_dict()["param_groups"]})

    def close(self) -> None:
        """Release the policy, so that another engine may be constructed."""


def save_states(folder: Path, states: Iterable[State], *, write: bool = True, limit: int = FILE_BYTES) -> None:
    """Write the state of every parameter in turn. Ranks that do not ``write`` iterate ``states`` as well, since each
    may be a collective gather."""
    waiting: State = {}
    number = 0
    for i, state in enumerate(states):
        if not write:
            continue
        waiting |= {f"{i}.{name}": tensor.detach().contiguous() for name, tensor in state.items()}
        if sum(t.numel() * t.element_size() for t in waiting.values()) >= limit:
            replace(Files(), _file(folder, number), save(waiting))
            waiting, number = {}, number + 1
    if waiting:
        replace(Files(), _file(folder, number), save(waiting))


def load_states(folder: Path, shapes: Sequence[torch.Size]) -> Iterator[State]:
    """The state of every parameter in turn, on the CPU; parameters of other ``shapes`` are refused."""
    files = [safe_open(path, framework="pt") for path in sorted(folder.glob("engine*.safetensors"))]
    where = {name: file for file in files for name in file.keys()}  # noqa: SIM118 - not a mapping
    if extra := [name for name in where if int(name.partition(".")[0]) >= len(shapes)]:
        raise ValueError(f"{folder}: expected the state of {len(shapes)} weights, got {extra[0]} besides")
    for i, shape in enumerate(shapes):
        name = f"{i}.weight"
        got = tuple(where[name].get_slice(name).get_shape()) if name in where else None
        if got != tuple(shape):
            raise ValueError(f"{folder}: expected weight {i} of shape {tuple(shape)}, got {got}")
    for i in range(len(shapes)):
        names = [name for name in where if name.partition(".")[0] == str(i)]
        yield {name.partition(".")[2]: where[name].get_tensor(name) for name in names}


def _file(folder: Path, number: int) -> Path:
    return folder / f"engine-{number:05d}.safetensors"


def whole_shape(parameter: Tensor) -> torch.Size:
    """Unsharded shape of a parameter, also under ZeRO-3."""
    return getattr(parameter, "ds_shape", parameter.shape)


def numel(parameter: Tensor) -> int:
    """Unsharded size of a parameter, also under ZeRO-3."""
    return int(getattr(parameter, "ds_numel", parameter.numel()))


def deepspeed_settings(config: EngineConfig, optim: OptimConfig, parts: int, world: int) -> dict[str, Any]:
    """DeepSpeed's configuration, with ``parts`` micro-batches per step. Trained weights stay float32: AdamW's steps are
    below bfloat16's resolution."""
    if config.stage == 0 and config.offload:
        raise ValueError("engine.offload: expected stage 1, 2 or 3, got 0 (there is nothing to offload)")
    zero: dict[str, Any] = {"stage": config.stage, "reduce_bucket_size": BUCKET}
    if config.stage == 3:
        # Shard small weights too: those that persist make DeepSpeed's fetch trace fail once a checkpoint is loaded.
        zero["stage3_param_persistence_threshold"] = 0
    if config.offload:
        zero["offload_optimizer"] = {"device": "cpu"}
        if config.stage == 3:
            zero["offload_param"] = {"device": "cpu"}
    return {
        "train_micro_batch_size_per_gpu": max(1, optim.batch // world // parts),
        "gradient_accumulation_steps": parts,
        "gradient_clipping": LARGEST_NORM,
        "zero_optimization": zero,
        "zero_force_ds_cpu_optimizer": False,
        "zero_allow_untested_optimizer": True,
        "steps_per_print": 10**9,
        "wall_clock_breakdown": False,
    }
