"""Ranks as processes of their own, and what tests ask of the weights that they end with."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import torch
from safetensors.torch import load_file
from tests.ports import free_port
from tests.waiting import HANG

ROOT = Path(__file__).resolve().parents[2]
#: Seconds of a dozen runs and more, one after the other on a busy machine; gloo would wait longer.
LIMIT = 2 * HANG


def launch(module: str, arguments: list[str], world: int, log: Path, limit: float = LIMIT) -> list[tuple[int, str]]:
    """Start ``world`` ranks of ``python -m module arguments``; the exit status of each, and what it said (beside
    ``log``).

    Where one was killed, gloo itself would let the others wait for half an hour: for longer than ``limit``."""
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
            statuses = list(threads.map(lambda rank: rank.wait(timeout=limit), ranks))
        return [(status, path.read_text()) for status, path in zip(statuses, printed, strict=True)]
    finally:
        for rank in ranks:
            rank.kill()


def succeed(module: str, arguments: list[str], world: int, log: Path, limit: float = LIMIT) -> None:
    """``launch``, and every rank must end well."""
    said = launch(module, arguments, world, log, limit)
    assert [status for status, _ in said] == [0] * world, "\n".join(text[-2000:] for _, text in said)


def weights(run: Path, step: int) -> dict[str, torch.Tensor]:
    """Of a run's policy after a step."""
    policy = run / "checkpoints" / f"step-{step:08d}" / "policy"
    tensors: dict[str, torch.Tensor] = {}
    for file in sorted(policy.rglob("*.safetensors")):  # heads; the backbone, or its adapter
        tensors |= load_file(file)
    return tensors


def compared(name: str, tensor: torch.Tensor) -> torch.Tensor:
    """Without biases of keys: softmax does not depend on them, so Adam blows up the rounding of a zero gradient."""
    if name.endswith("qkv.bias"):
        q, _, v = tensor.chunk(3)
        return torch.cat([q, v])
    return torch.zeros(1) if name.endswith("k_proj.bias") else tensor


def apart(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> dict[str, float]:
    """The largest difference by weight, the worst first."""
    assert one.keys() == other.keys()
    differences = {k: (compared(k, one[k]) - compared(k, other[k])).abs().max().item() for k in one}
    return dict(sorted(differences.items(), key=lambda item: -item[1]))
