"""The processes of one run, whichever launcher started them. Launchers end all ranks when one has ended: torchrun and
DeepSpeed's do by themselves, srun by ``--kill-on-bad-exit=1``."""

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
#: Seconds in which ranks that share steps take one; a backend's own limit ends those that never do (NCCL's is 10
#: minutes, gloo's 30).
STALLED = 300.0
#: Variables of a launcher, and SLURM's names for them.
_SLURM = {"RANK": "SLURM_PROCID", "WORLD_SIZE": "SLURM_NTASKS", "LOCAL_RANK": "SLURM_LOCALID"}


@dataclass(frozen=True)
class Team:
    """This process among ``world``. Every rank calls every method in the same order."""

    rank: int = 0
    world: int = 1
    device: torch.device = field(default_factory=lambda: torch.device("cpu"))

    @property
    def is_main_process(self) -> bool:
        return self.rank == 0

    def watch(self, seconds: float = STALLED) -> None:
        """Print where every thread of this rank is if this is not called again in time: a rank that hangs is one that
        waits for no other."""
        if self.world > 1:
            faulthandler.dump_traceback_later(seconds, repeat=True)

    def barrier(self) -> None:
        if self.world > 1:
            self.all_reduce_sum([0.0])

    def all_reduce_sum(self, values: list[float]) -> list[float]:
        """Each value summed over ranks."""
        return self._reduce(values, "SUM")

    def all_reduce_max(self, value: int) -> int:
        """The largest of the values of all ranks."""
        return int(self._reduce([float(value)], "MAX")[0])

    def gather(self, value: T) -> list[T]:
        """The value of every rank, by rank: arrays, or other plain values."""
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
        """The tensor summed over ranks, in its place."""
        import torch.distributed as dist

        dist.all_reduce(tensor)
        return tensor


def join(device: str) -> Team:
    """The ranks that a launcher (deepspeed, torchrun, srun) started; alone if there was none."""
    announce(os.environ)
    warnings.filterwarnings("ignore", category=FutureWarning, module="torch.distributed")  # DeepSpeed's older names
    import deepspeed
    import deepspeed.comm
    import deepspeed.ops

    where = find_device(device)
    if where.type == "cpu":
        # Otherwise a shared-memory operation is compiled at the first start: a minute, a compiler and ninja, for
        # nothing.
        deepspeed.ops.__compatible_ops__["deepspeed_shm_comm"] = False
    else:
        torch.cuda.set_device(where)
    if not deepspeed.comm.is_initialized():
        deepspeed.init_distributed(dist_backend=_backend(where), verbose=False)
        atexit.register(_leave)
    return Team(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), where)


def meet(device: str) -> Team:
    """The ranks that a launcher started, without DeepSpeed. Alone if there was none."""
    environment = dict(os.environ)
    announce(environment)
    if (world := int(environment["WORLD_SIZE"])) == 1:
        return Team(device=find_device(device))
    os.environ.update(environment)
    where = find_device(device)  # by LOCAL_RANK, which SLURM has by another name
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
    """Set the variables that a launcher left unset; without RANK and its like DeepSpeed would look for MPI and fail."""
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
    for name, value in alone.items():  # the system finds a port
        environment.setdefault(name, value)


def arguments(words: list[str]) -> list[str]:
    """The words without DeepSpeed's own ``--local_rank``, which its launcher also sets in the environment."""
    return [argument for argument in words if not argument.startswith("--local_rank=")]


def _leave() -> None:
    """End the process group at exit, and not between two runs: DeepSpeed keeps its groups, and a second meeting at the
    same port may fail."""
    import torch.distributed as dist

    if dist.is_available() and dist.is_initialized():
        dist.destroy_process_group()


def end(status: int) -> NoReturn:
    """End a rank's process at once: at a usual exit, torch's threads abort it about once in a hundred times."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def find_device(name: str) -> torch.device:
    """A device of this machine by name; ``auto`` is the GPU of this process if there is one, and so is ``cuda``."""
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
    """Batches of at most ``size`` items; without a size, of one forward pass at most, and enough for every rank."""
    size = size or min(PASS, -(-len(items) // world))
    return [items[begin : begin + size] for begin in range(0, len(items), max(size, 1))]


def rank_batches(batches: list[NDArray[np.int64]], team: Team, together: bool) -> list[NDArray[np.int64]]:
    """A rank's batches. If all ranks need equally many, it has an empty one where others have one more."""
    mine = batches[team.rank :: team.world]
    idle = together and len(mine) * team.world < len(batches)
    return [*mine, batches[0][:0]] if idle else mine
