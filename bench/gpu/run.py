"""Start-up, checkpoints and resumption of ``recommit train sft`` from a folder of weights, random ones of the shapes of
Qwen2.5-VL-7B: on one rank, and on two where there are two GPUs.

    python bench/gpu/run.py --out OUT
    python bench/gpu/run.py --preset tiny --device cpu     # checks the script itself: two ranks by gloo

torchrun starts each run, which is interrupted after some steps and goes on by the same command. Times of steps are its
own log's, where every second step has a checkpoint before it.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import torch
from sft_7b import Figures, arguments, backbone_of

from recommit.policy.backbones.random_init import BACKBONES, make_tokenizer
from recommit.reproduce.launch import program
from recommit.reproduce.options import ReproduceOptions
from recommit.runs.progress import TETHER

DATA = "data build --task sliding --size 3 --length 8 20 --count 512 --seed 0 --out"
TRAIN = "train sft --recipe paper-sliding --set engine.kind=plain run.log_every=1 run.save_every=2 optim.batch=16"
#: A rank has one; in a dry run a processor is that of both.
GPUS = ("one GPU", "two GPUs")
#: Of the recipe's 4,000, after which a run is interrupted.
STEPS = 5


def logged(run: Path) -> list[dict[str, Any]]:
    """What a run says of its pace, by step."""
    path = run / "timing.jsonl"
    return [json.loads(line) for line in path.read_text().split("\n")[:-1]] if path.is_file() else []


def begun(command: list[str], environment: dict[str, str], run: Path, steps: int) -> float:
    """Seconds from the start of a command to its first step; it is interrupted, as by Ctrl-C, after some."""
    before, began, seconds = len(logged(run)), time.monotonic(), []
    with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, bufsize=0) as process:
        for wanted in (1, steps):
            while len(logged(run)) - before < wanted:
                assert process.poll() is None, f"ended with {process.returncode} before step {wanted}"
                time.sleep(0.02)
            seconds.append(time.monotonic() - began)
        assert process.stdin
        process.stdin.write(b"x")
        process.wait()  # before its stdin is closed, which would end it at once
    return seconds[0]


def measure(ranks: int, folder: Path, device: str) -> dict[str, float]:
    """A run on some ranks that begins and goes on."""
    fleet, run = ReproduceOptions(gpus=ranks, device=device).fleet(), folder / f"{ranks}"
    places = {"backbone": folder / "backbone", "data": folder / "data", "out": run, "device": device}
    words = [*TRAIN.split(), *(word for name, place in places.items() for word in (f"--{name}", str(place)))]
    slot = fleet.slots[0]
    command, environment = program(fleet.command(slot, words)), fleet.environment(slot, os.environ) | {TETHER: "1"}
    start = begun(command, environment, run, STEPS)
    pace = {line["step"]: line["wall_s"] for line in logged(run)}
    last, resume = len(pace), begun(command, environment, run, 1)
    after = [line["step"] for line in logged(run)]
    assert after[: last + 1] == [*range(1, last + 2)], f"expected to go on with step {last + 1}, got {after}"
    saved, step = (statistics.median(s for n, s in pace.items() if n > 1 and n % 2 == odd) for odd in (1, 0))
    return {"start_s": start, "step_s": step, "checkpoint_s": saved - step, "resume_s": resume, "after": last}


def main() -> None:
    options = arguments(__doc__).parse_args()
    figures = Figures("run", options)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        backbone = backbone_of(BACKBONES[options.preset], options.device)
        backbone.tokenizer = make_tokenizer()
        backbone.save(folder / "backbone")
        del backbone
        torch.cuda.empty_cache()
        subprocess.run([sys.executable, "-m", "recommit.cli", *DATA.split(), str(folder / "data")], check=True)
        for ranks, gpus in enumerate(GPUS, start=1):
            if options.device == "cpu" or torch.cuda.device_count() >= ranks:
                figures.add(gpus, measure(ranks, folder, options.device))
            else:
                print(f"{gpus}: skipped, there are fewer", flush=True)


if __name__ == "__main__":
    main()
