"""One rank of several runs in turn: python -m tests.invariant.rank_jobs JOBS, a JSON list of what ``Job`` holds.

A process that imports torch and DeepSpeed once and then trains a dozen runs is quick, and shows that a second run in
the same process works. Whatever can be planted is a name of ``PATCHES``.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import torch
from safetensors.torch import load_file
from tests.ports import free_port
from tests.waiting import HANG

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
#: Seconds of dozens of runs, one after the other on a busy machine; gloo would wait longer.
LIMIT = 3 * HANG
RANK = int(os.environ.get("RANK", "0"))


@dataclass(frozen=True)
class Job:
    """A run: ``kind`` sft or grpo, ``source`` data sets (with : between) or a warm start, ``patch`` a planted event."""

    kind: str
    recipe: str
    source: str
    out: str
    changes: list[str] = field(default_factory=list)
    patch: str = ""
    quiet: bool = True


def run(jobs: list[Job], world: int, folder: Path) -> list[tuple[int, str]]:
    """Start ``world`` ranks and wait; exit status and everything printed of each."""
    listed = folder / f"jobs-{len(list(folder.glob('jobs-*.json')))}.json"
    listed.write_text(json.dumps([asdict(job) for job in jobs]), encoding="utf-8")
    return launch("tests.invariant.rank_jobs", [str(listed)], world, listed.with_suffix(""))


def launch(module: str, arguments: list[str], world: int, log: Path) -> list[tuple[int, str]]:
    """Start ``world`` ranks of ``python -m module arguments``; the exit status of each, and what it said (beside
    ``log``).

    Where one was killed, gloo itself would let the others wait for half an hour: for longer than ``LIMIT``."""
    port = free_port()
    place = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": str(world), "OMP_NUM_THREADS": "1"}
    printed = [log.parent / f"{log.name}-{port}-{rank}.txt" for rank in range(world)]
    ranks = []
    for rank, path in enumerate(printed):
        with path.open("w") as file:
            own = {**os.environ, **place, "RANK": str(rank), "LOCAL_RANK": str(rank)}
            command = [sys.executable, "-m", module, *arguments]
            ranks.append(subprocess.Popen(command, cwd=ROOT, env=own, stdout=file, stderr=subprocess.STDOUT))
    try:
        with ThreadPoolExecutor(world) as threads:
            statuses = list(threads.map(lambda rank: rank.wait(timeout=LIMIT), ranks))
        return [(status, path.read_text()) for status, path in zip(statuses, printed, strict=True)]
    finally:
        for rank in ranks:
            rank.kill()


def well(ranks: list[tuple[int, str]]) -> str:
    """What the first rank said, where every one ended well."""
    assert {status for status, _ in ranks} == {0}, "\n".join(text[-2000:] for _, text in ranks)
    return ranks[0][1]


def weights(run: Path) -> dict[str, torch.Tensor]:
    """Of a run's last policy, in float32: heads; the backbone, or its adapter."""
    policy, tensors = max((run / "checkpoints").glob("step-*")) / "policy", dict[str, torch.Tensor]()
    for file in sorted(policy.rglob("*.safetensors")):
        tensors |= {name: tensor.float() for name, tensor in load_file(file).items()}
    return tensors


def apart(one: Path, other: Path) -> float:
    """The largest difference of a weight of two runs."""
    first, second = weights(one), weights(other)
    assert {k: v.shape for k, v in first.items()} == {k: v.shape for k, v in second.items()}
    return max((_compared(k, first[k]) - _compared(k, second[k])).abs().max().item() for k in first)


def _compared(name: str, tensor: torch.Tensor) -> torch.Tensor:
    """Without biases of keys: softmax does not depend on them, so Adam blows up the rounding of a zero gradient."""
    if name.endswith("qkv.bias"):
        q, _, v = tensor.chunk(3)
        return torch.cat([q, v])
    return torch.zeros(1) if name.endswith("k_proj.bias") else tensor


def main(listed: str) -> int:
    for values in json.loads(Path(listed).read_text(encoding="utf-8")):
        job = Job(**values)
        print(f"{Path(job.out).name}: {train(job)}", flush=True)
    return 0


def train(job: Job) -> int:
    """In this process."""
    name, *numbers = job.patch.split(":")
    with PATCHES[name](*map(int, numbers)) as noted:
        status = _train(job)
    if noted is not None:
        (Path(job.out) / f"looks-{RANK}.json").write_text(json.dumps(noted))
    return status


def _train(job: Job) -> int:
    from recommit.train import config
    from recommit.train.grpo import config as grpo_config
    from recommit.train.grpo import trainer as grpo
    from recommit.train.sft import trainer as sft

    if job.kind == "sft":
        return sft.train(config.load(job.recipe, job.changes), job.source.split(":"), job.out, quiet=job.quiet)
    loaded = config.load(job.recipe, job.changes, grpo_config.GrpoConfig, "grpo")
    return grpo.train(loaded, job.source, job.out, quiet=job.quiet)


@contextmanager
def nothing() -> Iterator[None]:
    yield


@contextmanager
def at_step(step: dict[str, int], event: Any) -> Iterator[None]:
    """``event()`` before the step that either kind of run is said to have it."""

    def stepping(take: Any) -> Any:
        def taken(self: Any) -> Any:
            if self.state.step == step[self.kind]:
                event()
            return take(self)

        return taken

    from recommit.train.grpo.trainer import GrpoTrainer
    from recommit.train.sft.trainer import SftTrainer

    with ExitStack() as stack:
        for cls in (SftTrainer, GrpoTrainer):
            stack.enter_context(mock.patch.object(cls, "_step", stepping(cls._step)))
        yield


@contextmanager
def interrupted() -> Iterator[None]:
    """Ctrl-C on one rank only, which the others hear of."""
    with at_step({"sft": 3, "grpo": 1}, lambda: RANK or signal.raise_signal(signal.SIGINT)):
        yield


@contextmanager
def killed_at(rank: int, moment: int) -> Iterator[None]:
    """kill -9 of a rank when the ranks meet for the ``moment``-th time: within steps, validations and every stage of
    saving.
    """
    from recommit.runs.distributed import Team

    meet, times = Team._reduce, iter(range(moment))

    def meeting(*arguments: Any) -> Any:
        if rank == RANK and next(times, None) is None:
            os.kill(os.getpid(), signal.SIGKILL)
        return meet(*arguments)

    with mock.patch.object(Team, "_reduce", meeting):
        yield


@contextmanager
def unequal() -> Iterator[None]:
    """Ranks with different numbers of rows."""
    from recommit.train.sft import trainer as sft

    make = sft.targets.make

    def fewer(*arguments: Any, **options: Any) -> Any:
        batch = make(*arguments, **options)
        return batch[: 3 if RANK else len(batch)]

    with mock.patch.object(sft.targets, "make", fewer):
        yield


@contextmanager
def unseeded() -> Iterator[None]:
    """Planted: rows in an order that no seed decides."""
    import secrets

    from recommit.train.sft import trainer as sft

    make = sft.targets.make

    def shuffled(*arguments: Any, **options: Any) -> Any:
        batch = make(*arguments, **options)
        order = sorted(range(len(batch)), key=lambda _: secrets.randbits(64))
        return batch[order]

    with mock.patch.object(sft.targets, "make", shuffled):
        yield


@contextmanager
def no_states() -> Iterator[None]:
    """A rank with nothing to play."""
    from recommit.train.grpo import rollout

    own = rollout._own
    with mock.patch.object(rollout, "_own", lambda starts, team: own(starts, team)[: 0 if RANK else None]):
        yield


@contextmanager
def same_rows() -> Iterator[None]:
    """Planted: the second rank reads what the first one reads."""
    from recommit.data import loading

    mixed = loading.Mixture
    with mock.patch.object(loading, "Mixture", lambda *a, rank, **k: mixed(*a, rank=0 * rank, **k)):
        yield


@contextmanager
def weighty_nothing() -> Iterator[None]:
    """Planted: a state that only goes along, since a rank has no other, counts."""
    from recommit.train.sft import trainer as sft

    with mock.patch.object(sft.targets, "nothing", lambda batch: batch[:1]):
        yield


@contextmanager
def heads_not_gathered() -> Iterator[None]:
    """Planted: a stage 3 that gathers trained weights alone."""
    import deepspeed

    from recommit.train.engine.deepspeed import ZeroEngine

    @contextmanager
    def whole(self: Any, policy: Any) -> Iterator[None]:
        del policy
        with deepspeed.zero.GatheredParameters(self.parameters, modifier_rank=None):
            yield

    with mock.patch.object(ZeroEngine, "whole", whole):
        yield


@contextmanager
def looks() -> Iterator[list[list[str]]]:
    """Graph by graph, the states that this process looks at."""
    from recommit.graph.build import PolicyGraph

    graphs: list[list[str]] = []
    begin, plan = PolicyGraph.__init__, PolicyGraph._plan

    def begun(self: Any, *arguments: Any, **options: Any) -> None:
        begin(self, *arguments, **options)
        self.noted = []
        graphs.append(self.noted)

    def planned(self: Any, piece: Any, others: Any) -> Any:
        self.noted.extend(self.states[i].tobytes().hex() for i in piece)
        return plan(self, piece, others)

    with mock.patch.object(PolicyGraph, "__init__", begun), mock.patch.object(PolicyGraph, "_plan", planned):
        yield graphs


@contextmanager
def masters() -> Iterator[None]:
    """Planted: the moved head is not written where DeepSpeed steps from."""

    @torch.no_grad()
    def forgetful(_: Any, parameter: Any, value: Any) -> None:
        parameter.copy_(value)

    with mock.patch("recommit.train.engine.deepspeed.ZeroEngine._set_weight", forgetful):
        yield


@contextmanager
def ranks() -> Iterator[None]:
    """Planted: every rank moves the head by what it has seen itself."""
    with mock.patch("recommit.train.grpo.depth_head_optimizer._sum_gradients"):
        yield


PATCHES: dict[str, Any] = {
    "": nothing,
    "looks": looks,
    "masters": masters,
    "ranks": ranks,
    "interrupted": interrupted,
    "killed at": killed_at,
    "unequal": unequal,
    "unseeded": unseeded,
    "no states": no_states,
    "same rows": same_rows,
    "weighty nothing": weighty_nothing,
    "heads not gathered": heads_not_gathered,
}

if __name__ == "__main__":
    from recommit.runs import distributed

    distributed.end(main(sys.argv[1]))
