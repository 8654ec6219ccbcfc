"""The ranks of a run, for any launcher. Launchers must end all ranks when one has failed: torchrun's and DeepSpeed's do
by default, srun with ``--kill-on-bad-exit=1``."""

from __future__ import annotations

import atexit
import faulthandler
import os
import sys
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import numpy as np
import torch

from recommit.policy.config import PASS

if TYPE_CHECKING:
    from numpy.typing import NDArray

T = TypeVar("T")
#: Seconds without a step after which ranks print their stacks; the backend's timeout ends ranks that hang (NCCL: 10
#: minutes, gloo: 30).
STALLED = 300.0
#: Launcher variables, and SLURM's names for them.
_SLURM = {"RANK": "SLURM_PROCID", "WORLD_SIZE": "SLURM_NTASKS", "LOCAL_RANK": "SLURM_LOCALID"}


@dataclass(frozen=True)
class Team:
    """This rank among ``world`` ranks. Every rank calls every method in the same order."""

    rank: int = 0
    world: int = 1
    device: torch.device = field(default_factory=lambda: torch.device("cpu"))

    @property
    def is_main_process(self) -> bool:
        return self.rank == 0

    def watch(self, seconds: float = STALLED) -> None:
        """Print the stacks of all threads unless called again in time; the rank that causes a hang is the one not
        waiting for others."""
        if self.world > 1:
            faulthandler.dump_traceback_later(seconds, repeat=True)

    def barrier(self) -> None:
        if self.world > 1:
            self.all_reduce_sum([0.0])

    def all_reduce_sum(self, values: list[float]) -> list[float]:
        """Sum each value over ranks."""
        return self._reduce(values, "SUM")

    def all_reduce_max(self, value: int) -> int:
        """Maximum over ranks."""
        return int(self._reduce([float(value)], "MAX")[0])

    def gather(self, value: T) -> list[T]:
        """The values of all ranks, in rank order: arrays or other picklable values."""
        if self.world == 1:
            return [value]
        import torch.distributed as dist

        every: list[Any] = [None] * self.world
        dist.all_gather_object(every, value)
        return every

    def from_main_process(self, word: bool) -> bool:
        return self.gather(word)[0]

    def _reduce(self, values: list[float], how: str) -> list[float]:
        if self.world == 1:
            return values
        import torch.distributed as dist

        tensor = torch.tensor(values, dtype=torch.float64, device=self.device)
        dist.all_reduce(tensor, op=getattr(dist.ReduceOp, how))
        return tensor.tolist()

    def all_reduce(self, tensor: torch.Tensor) -> torch.Tensor:
        """Sum a tensor over ranks, in place."""
        import torch.distributed as dist

        dist.all_reduce(tensor)
        return tensor


def join(device: str) -> Team:
    """Initialise the process group with DeepSpeed (started by deepspeed, torchrun, srun, or as a single process)."""
    announce(os.environ)
    warnings.filterwarnings("ignore", category=FutureWarning, module="torch.distributed")  # DeepSpeed's older names
    import deepspeed
    import deepspeed.comm
    import deepspeed.ops

    where = find_device(device)
    if where.type == "cpu":
        # Otherwise DeepSpeed compiles an unused shared-memory operation at the first start, which takes a minute, a
        # compiler and ninja.
        deepspeed.ops.__compatible_ops__["deepspeed_shm_comm"] = False
    else:
        torch.cuda.set_device(where)
    if not deepspeed.comm.is_initialized():
        deepspeed.init_distributed(dist_backend=_backend(where), verbose=False)
        atexit.register(_leave)
    return Team(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), where)


def meet(device: str) -> Team:
    """Initialise the process group without DeepSpeed; a single process needs none."""
    environment = dict(os.environ)
    announce(environment)
    if (world := int(environment["WORLD_SIZE"])) == 1:
        return Team(device=find_device(device))
    os.environ.update(environment)
    where = find_device(device)  # reads LOCAL_RANK, set above for SLURM
    import torch.distributed as dist

    if where.type == "cuda":
        torch.cuda.set_device(where)
    if not dist.is_initialized():
        dist.init_process_group(_backend(where))
        atexit.register(_leave)
    return Team(int(os.environ["RANK"]), world, where)


def _backend(device: torch.device) -> str:
    return "nccl" if device.type == "cuda" else "gloo"


def announce(environment: Any) -> None:
    """Set missing launcher variables; without RANK etc. DeepSpeed would look for MPI and fail."""
    if "RANK" not in environment and int(environment.get("SLURM_NTASKS", "1")) > 1:
        for name, own in _SLURM.items():
            environment[name] = environment[own]
        if "MASTER_ADDR" not in environment:
            raise ValueError(
                "MASTER_ADDR: expected the first host of the job, got none; in the batch script: "
                'export MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1) MASTER_PORT=29500'
            )
        environment.setdefault("MASTER_PORT", "29500")
    alone = {"RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "0"}
    for name, value in alone.items():  # port 0: chosen by the system
        environment.setdefault(name, value)


def arguments(words: list[str]) -> list[str]:
    """Drop ``--local_rank``, which DeepSpeed's launcher adds and also sets in the environment."""
    return [argument for argument in words if not argument.startswith("--local_rank=")]


def _leave() -> None:
    """Destroy the process group at exit, not between runs: DeepSpeed keeps its groups, and a second rendezvous at the
    same port may fail."""
    import torch.distributed as dist

    if dist.is_available() and dist.is_initialized():
        dist.destroy_process_group()


def end(status: int) -> NoReturn:
    """Exit immediately: on a normal exit, torch's threads abort the process about once in a hundred times."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def find_device(name: str) -> torch.device:
    """A device by name; ``cuda`` is the local rank's GPU, and ``auto`` too, or the CPU if there is none."""
    available = torch.cuda.is_available()
    if name == "auto":
        name = "cuda" if available else "cpu"
    try:
        device = torch.device(name)
    except RuntimeError:
        raise ValueError(f"device: expected cpu, cuda or auto, got {name}") from None
    if device.type == "cuda" and not available:
        raise ValueError(f"device: expected cpu or auto, since torch sees no GPU here, got {name}")
    if device.type == "cuda" and device.index is None:
        return torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
    return device


def split_batches(items: NDArray[np.int64], world: int, size: int = 0) -> list[NDArray[np.int64]]:
    """Batches of at most ``size`` items; without a size, at most ``PASS`` items, and enough batches for every rank."""
    size = size or min(PASS, -(-len(items) // world))
    return [items[begin : begin + size] for begin in range(0, len(items), max(size, 1))]


def rank_batches(batches: list[NDArray[np.int64]], team: Team, together: bool) -> list[NDArray[np.int64]]:
    """A rank's batches, padded with an empty one if ``together`` and others have one more."""
    mine = batches[team.rank :: team.world]
    idle = together and len(mine) * team.world < len(batches)
    return [*mine, batches[0][:0]] if idle else mine
