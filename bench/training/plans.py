"""Plans against real steps on this machine: operations, and bytes by the allocator and by the kernel.

    python -m bench.training.plans                       # tiny, small and half a billion parameters, one process
    python -m bench.training.plans --shapes tiny --zero 0 1 2 3

Every row is a process of its own. Bytes are those of tensors (torch's profiler) and, for the large shape, the growth of
resident memory since before the policy was made.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

#: Half a billion parameters, as those of Qwen2.5-0.5B under a small picture encoder.
HALF = {
    "width": 896,
    "layers": 24,
    "heads": 14,
    "kv_heads": 2,
    "ffn": 4864,
    "vocabulary": 151936,
    "vision_width": 320,
    "vision_layers": 8,
    "vision_heads": 4,
    "vision_ffn": 1280,
}
#: Name -> the model, states per step.
SHAPES: dict[str, tuple[dict[str, Any], int]] = {
    "tiny": ({"backbone": "random:tiny", "policy": {"lora": {"rank": 8}}}, 16),
    "small": ({"backbone": "random:small", "policy": {"lora": None, "prompts": ["bare-v1", "bare-v1"]}}, 64),
    "half": ({"backbone": "random:tiny", "shape": HALF, "policy": {"prompts": ["bare-v1", "bare-v1"]}}, 8),
}
QUIET = {"validation": {"instances": 0}, "run": {"threads": 1, "tensorboard": False, "device": "cpu"}}


def recipes(shape: str, engine: dict[str, Any]) -> tuple[Any, Any, Any]:
    """A warm start, a reinforcement, and the model of both."""
    from recommit.train.config import SftConfig, parse
    from recommit.train.grpo.config import GrpoConfig

    model, batch = SHAPES[shape]
    optim = {"steps": 2, "batch": batch}
    sft = parse(SftConfig, {"model": model, "optim": optim, "engine": engine, **QUIET})
    play = {"rollout": {"instances": batch, "budget": 1}, "optim": {**optim, "vision_lr": 0.0}}
    return sft, parse(GrpoConfig, {**play, "engine": engine, **QUIET}), sft.model


def one(shape: str, stage: str, engine: dict[str, Any]) -> dict[str, Any]:
    """One row."""
    from measured_step import measured

    import recommit.data
    from recommit.data import DataSpec, Difficulty, build
    from recommit.estimate import Machine, estimate
    from recommit.runs import distributed
    from recommit.runs.directory import RunDirectory
    from recommit.train import initial_policy
    from recommit.train.grpo.trainer import GrpoTrainer
    from recommit.train.sft.trainer import SftTrainer

    sft, grpo, model = recipes(shape, engine)
    config = sft if stage == "sft" else grpo
    with tempfile.TemporaryDirectory() as place:
        build(DataSpec("sliding", (3, 3), (Difficulty((8, 14)),), count=200, ties="random"), Path(place) / "data")
        dataset = recommit.data.open(Path(place) / "data", "train")
        team = distributed.join("cpu") if config.engine.kind == "deepspeed" else distributed.alone("cpu")
        estimated = estimate(config, model, recommit.Sliding(3), Machine("cpu", team.world))
        with RunDirectory(Path(place) / "run", is_main_process=team.is_main_process) as run:
            before = resident()

            def make() -> Any:
                if stage == "sft":
                    return SftTrainer(config, dataset, run, team, quiet=True)
                policy = initial_policy.new_policy(model, run.folder, 0, team)
                return GrpoTrainer(config, [dataset.spec], policy, run, team, quiet=True)

            real = measured(make)
            grown = highest() - before
    flops, peak = real.apart(estimated)
    return {
        "shape": shape,
        "stage": stage,
        "engine": engine,
        "parameters": sum(estimated.model.parameters.values()),
        "planned_flops": estimated.phases[0].flops,
        "flops": real.flops,
        "flops_ratio": round(flops, 4),
        "planned_bytes": estimated.memory.peak,
        "bytes": real.peak,
        "bytes_ratio": round(peak, 4),
        "resident_growth": grown,
        "seconds": round(real.seconds, 2),
    }


def resident() -> int:
    """Bytes of this process that are in memory now; the highest mark is set back to it."""
    Path("/proc/self/clear_refs").write_text("5")
    return _status("VmRSS")


def highest() -> int:
    """The highest mark since."""
    return _status("VmHWM")


def _status(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith(f"{name}:"))) * 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shapes", nargs="+", default=list(SHAPES), choices=list(SHAPES))
    parser.add_argument("--stages", nargs="+", default=["sft", "grpo"], choices=["sft", "grpo"])
    parser.add_argument(
        "--zero", nargs="+", default=[], help="ZeRO stages instead of one plain process; 2b for bfloat16"
    )
    parser.add_argument("--checkpointing", action="store_true")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(one(**json.loads(options.one))))
        return
    engines = [
        {
            "kind": "deepspeed",
            "stage": int(z),
            "settings": {
                "zero_optimization": {"reduce_bucket_size": 1_000_000, "stage3_prefetch_bucket_size": 100_000}
            },
        }
        for z in options.zero
    ] or [{}]
    print(
        f"{'shape':<7}{'stage':<6}{'engine':<22}{'operations, ratio':>28}{'bytes, ratio':>28}{'resident':>12}{'s':>8}"
    )
    for shape in options.shapes:
        for stage in options.stages:
            for engine in engines:
                row(shape, stage, engine | {"checkpointing": options.checkpointing})


def row(shape: str, stage: str, engine: dict[str, Any]) -> None:
    """Measured in a process of its own, and printed."""
    case = json.dumps({"shape": shape, "stage": stage, "engine": engine})
    alone = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "0", "RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0"}
    call = [sys.executable, "-m", "bench.training.plans", "--one", case]
    process = subprocess.run(call, capture_output=True, text=True, check=False, env={**os.environ, **alone})
    assert not process.returncode, process.stderr[-3000:]
    figures = json.loads(process.stdout.splitlines()[-1])
    kind = f"ZeRO {engine['stage']}" if engine.get("kind") else "plain"
    kind += " again" * engine["checkpointing"]
    print(
        f"{shape:<7}{stage:<6}{kind:<22}{figures['flops'] / 1e9:>18,.2f} G {figures['flops_ratio']:>7.3f}"
        f"{figures['bytes'] / 2**20:>16,.1f} MiB "
        f"{figures['bytes_ratio']:>7.3f}{figures['resident_growth'] / 2**20:>12,.0f}"
        f"{figures['seconds']:>8.1f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
