"""Models of true size with random weights, on whatever machine this is: read, shared, trained, resumed, evaluated.

``python -m tests.verify.true_shapes read|paper [--plant]``. Published checkpoints are stood in for by ones of
the same layout, sizes and dtype, which are made once in ``build/verify/shapes`` (16 GB each) and can be deleted at any
time.

read     7B: peak memory of a process that reads every weight, and of two that do so at once. Planted: a second copy.
paper    7B: the paper's recipe for sliding puzzles, its sizes as published and its numbers of states as small as they
         get: a supervised run that is interrupted and resumed, reinforcement from it, an episode. Planted, on a tiny
         model: a run in bfloat16 that is read as float32.
"""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.verify.harness import BUILD, ROOT, expect, main, run

GIB = 2**30
#: What a process may need besides the weights while it reads them.
ROOM = 2_000_000_000
#: What any of the steps may need in all.
LIMIT = 18 * GIB
SHAPES = BUILD / "shapes"

MAKE = """
import sys
from pathlib import Path
from recommit.policy.backbones.random_init import make_backbone
preset, folder = sys.argv[1], Path(sys.argv[2])
temporary = folder.with_name(f".{folder.name}.tmp")
make_backbone(temporary, preset, dtype="bfloat16", shard=50_000 if preset.startswith("tiny") else 0)
temporary.rename(folder)
"""

#: Reads every page of every weight, says so, and goes when it is told to; with a second copy of so many bytes if asked.
READ = """
import sys
import torch
from recommit.policy.backbones.backbone import load_backbone
backbone, copied, kept = load_backbone(sys.argv[1], dtype=torch.bfloat16), int(sys.argv[2]), []
total = 0.0
for parameter in backbone.model.parameters():
    total += float(parameter.detach().flatten()[::1024].float().abs().sum())
    if sum(k.nbytes for k in kept) < copied:
        kept.append(parameter.detach().clone())
print(total, flush=True)
sys.stdin.read()
"""

#: One look by a policy with new heads, or by a saved one; the dtypes of its backbone, and how long it took.
LOOK = """
import json, sys, time
import torch
import recommit
from recommit.policy.policy import CommitPolicy
if sys.argv[3] == "float32":
    from recommit.policy import checkpoint
    checkpoint.saved_dtype = lambda *_: torch.float32
begin = time.monotonic()
if sys.argv[1] == "new":
    policy = CommitPolicy.from_backbone(sys.argv[2], dtype=torch.bfloat16)
else:
    policy = CommitPolicy.from_pretrained(sys.argv[2])
task, loaded = recommit.Sliding(3), time.monotonic()
with torch.no_grad():
    z = policy.eval().encode(task, task.generate(1, seed=0).states)
dtypes = {str(p.dtype) for n, p in policy.backbone.model.named_parameters() if "lora_" not in n}
depths, actions = policy.act(task, task.generate(1, seed=0).states)
print(json.dumps({"finite": bool(z.isfinite().all()), "dtypes": sorted(dtypes), "tokens": policy.tokens(task, (3, 3)),
                  "parameters": sum(p.numel() for p in policy.backbone.model.parameters()),
                  "load": loaded - begin, "depth": int(depths[0])}))
"""


THREADS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1


@dataclass(frozen=True)
class Spent:
    """What a process took."""

    seconds: float
    cpu: float
    peak: int
    output: str

    def __str__(self) -> str:
        return f"{self.seconds:.0f} s ({self.cpu:.0f} of a core) {self.peak / GIB:.1f} GiB"


def process(words: list[object], *, stop_at: str = "", status: int = 0) -> Spent:
    """Run a command that must end with ``status``; sent Ctrl-C when it has said ``stop_at``."""
    begin = time.monotonic()
    environment = {**os.environ, "OMP_NUM_THREADS": str(THREADS)}
    with tempfile.TemporaryFile("w+") as said:
        child = subprocess.Popen(
            [str(word) for word in words],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert child.stderr is not None
        errors = []
        for line in child.stderr:
            errors.append(line)
            if stop_at and stop_at in line:
                child.send_signal(signal.SIGINT)
        _, ended, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(ended)
        said.seek(0)
        output = said.read()
    expect(
        child.returncode == status,
        f"exit status {child.returncode}, not {status}, of: "
        f"{' '.join(map(str, words))}\n{output}{''.join(errors)[-3000:]}",
    )
    cpu = usage.ru_utime + usage.ru_stime
    return Spent(time.monotonic() - begin, cpu, usage.ru_maxrss * 1024, output)


class Waiting:
    """A Python program that has said one line and waits until it may go."""

    def __init__(self, program: str, *arguments: object) -> None:
        words = [sys.executable, "-c", program, *map(str, arguments)]
        self.child = subprocess.Popen(words, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.child.stdout is not None
        self.line = self.child.stdout.readline()

    def memory(self, file: str, field: str) -> int:
        """Bytes that the kernel says in a file of the process."""
        lines = Path(f"/proc/{self.child.pid}/{file}").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{field}:"))

    def end(self) -> None:
        """Let it go."""
        self.child.communicate("")


def backbone(preset: str) -> Path:
    """The folder of a preset, made if it is not there."""
    folder = SHAPES / preset
    if not folder.is_dir():
        SHAPES.mkdir(parents=True, exist_ok=True)
        spent = process([sys.executable, "-c", MAKE, preset, folder])
        sys.stderr.write(f"{preset}: made in {spent}\n")
        expect(spent.peak < 6 * GIB, f"making {preset} took {spent.peak / GIB:.1f} GiB")
    return folder


def weights(folder: Path) -> int:
    """Bytes of a checkpoint without the language model's head, which no policy reads."""
    from safetensors import safe_open

    total = 0
    for path in folder.glob("*.safetensors"):
        with safe_open(path, "pt") as file:
            named = [name for name in file.keys() if not name.endswith("lm_head.weight")]  # noqa: SIM118
            total += sum(2 * math.prod(file.get_slice(name).get_shape()) for name in named)
    return total


def read(plant: bool) -> tuple[int, str]:
    """One process, then a second beside it: pages of the same file are there once."""
    folder = backbone("7b")
    whole, copied = weights(folder), int(1.2 * ROOM) if plant else 0
    readers = [Waiting(READ, folder, 0)]
    try:
        readers.append(Waiting(READ, folder, copied))
        expect(all(math.isfinite(float(reader.line or "nan")) for reader in readers), "a weight could not be read")
        peaks = [reader.memory("status", "VmHWM") for reader in readers]
        shares = [reader.memory("smaps_rollup", "Pss") for reader in readers]
        own = [reader.memory("smaps_rollup", "Private_Dirty") for reader in readers]
    finally:
        for reader in readers:
            reader.end()
    for peak in peaks:
        expect(peak < whole + ROOM, f"a peak of {peak / GIB:.2f} GiB for weights of {whole / GIB:.2f}")
    both = sum(shares)
    expect(both < whole + ROOM, f"two processes hold {both / GIB:.2f} GiB for weights of {whole / GIB:.2f}")
    return 2, (
        f"processes that read {whole / GIB:.2f} GiB: peaks {_gib(peaks)}, shares {_gib(shares)}, of their own "
        f"{_gib(own)}"
    )


def paper(plant: bool) -> tuple[int, str]:
    """Every stage by the command line, in processes of their own."""
    with tempfile.TemporaryDirectory(dir=BUILD) as folder:
        return _paper(backbone("tiny" if plant else "7b"), Path(folder), plant)


def _paper(weights_folder: Path, folder: Path, plant: bool) -> tuple[int, str]:
    data, warm, rl = folder / "data", folder / "sft", folder / "grpo"
    lengths = ["--length", 8, 24, "--count", 64, "--validation", 8, "--test", 8]
    run([*RECOMMIT, "data", "build", "--task", "sliding", "--size", 3, *lengths, "--seed", 0, "--out", data])
    few = ["optim.batch=1", "optim.micro_batch=1", "run.log_every=1", f"run.threads={THREADS}", "run.tensorboard=false"]
    few += [f"validation.{name}=1" for name in ("instances", "budget", "samples")]
    recipe = ["--recipe", "paper-sliding", "--device", "cpu"]
    sft = [*RECOMMIT, "train", "sft", *recipe, "--backbone", weights_folder, "--data", data, "--out", warm]
    sft += ["--set", *few, "optim.steps=2", "validation.depths=[8]"]
    grpo = [*RECOMMIT, "train", "grpo", *recipe, "--init", warm, "--out", rl]
    grpo += ["--set", *few, "optim.steps=1", "rollout.instances=1", "rollout.budget=1"]
    play = [*RECOMMIT, "evaluate", rl, "--out", folder / "eval", "--device", "cpu", "--threads", THREADS]
    play += ["--agents", "adaptive", "--instances", 1, "--validation", 1, "--budgets", 1, "--json", "--quiet"]
    spent = {
        "step and save": process(sft, stop_at="training ", status=130),
        "resume and step": process(sft),
        "reinforce": process(grpo),
        "episode": process(play),
        "look": process([sys.executable, "-c", LOOK, "saved", rl, "float32" if plant else ""]),
    }
    steps = [json.loads(line) for line in (warm / "metrics.jsonl").read_text().splitlines()]
    steps = [line for line in steps if "loss" in line]
    expect([line["step"] for line in steps] == [1, 2], f"the supervised run logged {[line['step'] for line in steps]}")
    steps.append(json.loads((rl / "metrics.jsonl").read_text().splitlines()[0]))
    learned = [math.isfinite(step["loss"]) and step["gradient_norm"] > 0 for step in steps]
    expect(all(learned), f"a step learned nothing: {steps}")
    summary = json.loads((folder / "eval" / "summary.json").read_text())
    expect(summary[0]["decisions_per_episode"] == 1, f"no decision was made: {summary[0]}")
    _check_look(json.loads(spent["look"].output.splitlines()[-1]))
    moved = _moved(warm, rl)
    expect(moved >= {"adapter", "depth_head", "decoder"}, f"reinforcement moved only {moved}")
    most = max(one.peak for one in spent.values())
    expect(most < LIMIT, f"a peak of {most / GIB:.1f} GiB")
    return len(spent), "stages: " + ", ".join(f"{name} {one}" for name, one in spent.items())


def _moved(warm: Path, rl: Path) -> set[str]:
    """Parts that differ between two runs' policies."""
    from safetensors.torch import load_file

    from recommit.policy.checkpoint import local_folder

    moved = set()
    for file in ("heads.safetensors", "adapter/adapter_model.safetensors"):
        one, other = (load_file(local_folder(path) / file) for path in (warm, rl))
        changed = {name for name in one if not one[name].equal(other[name])}
        moved |= {"adapter" if file.startswith("adapter") else name.partition(".")[0] for name in changed}
    return moved


def _check_look(look: dict[str, Any]) -> None:
    expect(look["finite"], f"what a policy sees is no number: {look}")
    expect(look["dtypes"] == ["torch.bfloat16"], f"a bfloat16 policy was read as {look['dtypes']}")
    expect(look["depth"] in (1, 2, 4, 8), f"no depth was chosen: {look}")


def _gib(values: list[int]) -> str:
    return " and ".join(f"{value / GIB:.2f}" for value in values) + " GiB"


RECOMMIT = (sys.executable, "-m", "recommit.cli")

if __name__ == "__main__":
    main(read, paper)
