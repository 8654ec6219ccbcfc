"""Engines compute gradients and step the optimizer: what a trainer needs of one, and what a checkpoint
holds of it.

    engine-00000.safetensors ...   of trained parameter i: {i}.weight, {i}.exp_avg, {i}.exp_avg_sq, {i}.step

Weights and moments are whole and in float32, also of engines that split or round them: a run goes on with another
number of ranks, and with another stage of ZeRO. Files are of bounded size, so that no rank holds all of a large model
twice.
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
#: Bytes at which a file of a checkpoint is closed.
FILE_BYTES = 1 << 30
#: Numbers of a gradient that DeepSpeed reduces together; its own default is ten times what an adapter has.
BUCKET = 50_000_000


class Diverged(RuntimeError):
    """Gradients stopped being finite; the checkpoints are from before that."""


class Engine:
    """AdamW of plain PyTorch, whose ranks add up their gradients in one piece before each step; and what a trainer
    needs of any engine. Every rank calls every method, in the same order.
    """

    #: Must every rank go through the policy equally often? Otherwise one that has nothing to do may wait.
    equal_passes = False
    #: AdamW as one kernel; DeepSpeed gives its optimizer other tensors.
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
        """Run ``work``, which goes through the policy: every pass through it happens inside such a call, and one that
        learns returns its loss first."""
        return work()

    def backward(self, loss: Tensor) -> None:
        """Add a micro-batch's gradient."""
        loss.backward()

    def step(self, scale: float) -> float:
        """Step the optimizer with learning rates times ``scale``; the norm of the gradient before clipping.

        A gradient that is not finite changes nothing.
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
        """Give every rank the mean gradient of all; none where no rank has one."""
        if self.team.world == 1:
            return
        grads = [torch.zeros_like(p) if p.grad is None else p.grad for p in self.parameters]
        some = grads[0].new_tensor([float(p.grad is not None) for p in self.parameters])
        flat = self.team.all_reduce(torch.cat([*(grad.flatten() for grad in grads), some]))
        *means, some = (flat / self.team.world).split([*map(torch.numel, grads), len(grads)])
        for parameter, mean, has in zip(self.parameters, means, some.tolist(), strict=True):
            parameter.grad = mean.view_as(parameter).to(parameter.dtype) if has else None

    def whole(self, policy: CommitPolicy) -> AbstractContextManager[None]:  # noqa: ARG002
        """A context in which every rank sees all of the weights that are saved."""
        return nullcontext()

    def full(self, parameters: Iterable[nn.Parameter]) -> list[Tensor]:
        """Copies of trained weights as the optimizer has them: whole, in float32, on every rank."""
        return [parameter.detach().float().clone() for parameter in parameters]

    @torch.no_grad()
    def assign(self, parameters: Iterable[nn.Parameter], values: Iterable[Tensor]) -> None:
        """Give trained weights whole float32 ``values``, the same on every rank; the optimizer goes on from them."""
        for parameter, value in zip(parameters, values, strict=True):
            parameter.copy_(value)

    def save(self, folder: Path) -> None:
        """Write what ``load`` needs into an existing folder, frozen weights aside; the main process does."""
        states = ({"weight": p, **self.optimizer.state.get(p, {})} for p in self.parameters)
        save_states(folder, states, write=self.team.is_main_process)

    def load(self, folder: Path) -> None:
        """Go on exactly where ``save`` was called, by any engine and number of ranks."""
        moments = {}
        states = load_states(folder, [p.shape for p in self.parameters])
        for i, (parameter, state) in enumerate(zip(self.parameters, states, strict=True)):
            self.assign([parameter], [state.pop("weight")])
            if state:
                moments[i] = state
        self.optimizer.load_state_dict({"state": moments, "param_groups": self.optimizer.state_dict()["param_groups"]})

    def close(self) -> None:
        """Let go of the policy: another engine may come."""


def save_states(folder: Path, states: Iterable[State], *, write: bool = True, limit: int = FILE_BYTES) -> None:
    """Write the state of every parameter in turn. Ranks that do not ``write`` go through ``states`` all the same, which
    may gather each of them from all ranks."""
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
    """Shape of all of a parameter, also while ZeRO has split it."""
    return getattr(parameter, "ds_shape", parameter.shape)


def numel(parameter: Tensor) -> int:
    """Size of all of a parameter, also while ZeRO has split it."""
    return int(getattr(parameter, "ds_numel", parameter.numel()))


def deepspeed_settings(config: EngineConfig, optim: OptimConfig, parts: int, world: int) -> dict[str, Any]:
    """DeepSpeed's configuration of a run, of which ``parts`` micro-batches make a step. Nothing in it casts what is
    trained: AdamW's steps are smaller than what bfloat16 can tell apart."""
    if config.stage == 0 and config.offload:
        raise ValueError("engine.offload: expected stage 1, 2 or 3, got 0 (there is nothing to offload)")
    zero: dict[str, Any] = {"stage": config.stage, "reduce_bucket_size": BUCKET}
    if config.stage == 3:
        # Small weights would stay whole between passes, until a checkpoint is read: DeepSpeed's trace of fetches then
        # fails.
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
