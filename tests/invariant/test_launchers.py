"""Two real ranks by torchrun and in a SLURM job; and a preset in one command, every run of it launched: nightly by two
real ranks, else with a call in the launcher's place.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("deepspeed", reason="needs the deepspeed extra")
from tests.ports import free_port
from tests.unit.reproduce.in_process import Called, by
from tests.waiting import until

from recommit import CommitPolicy
from recommit.cli import main
from recommit.reproduce import launch, run
from recommit.train.config import folder as recipes_folder

JOB = Path(str(recipes_folder() / "launch" / "slurm.sbatch"))
BIN = Path(sys.executable).parent
#: ``srun``: as many local ranks as ``--ntasks`` or the job says, told who they are as SLURM does.
SRUN = """#!/bin/sh
tasks=$SLURM_NTASKS
while :; do
  case "$1" in
    --ntasks) tasks=$2; shift 2 ;;
    --*=*) shift ;;
    --*) shift 2 ;;
    *) break ;;
  esac
done
echo "srun $tasks"
rank=0 ranks=
while [ "$rank" -lt "$tasks" ]; do
  SLURM_PROCID=$rank SLURM_LOCALID=$rank SLURM_NTASKS=$tasks "$@" &
  ranks="$ranks $!" rank=$((rank + 1))
done
status=0
for one in $ranks; do wait "$one" || status=$?; done
exit "$status"
"""
#: The one host of a SLURM job.
SCONTROL = "#!/bin/sh\necho 127.0.0.1\n"
RECIPE = """
sft:
  model: {backbone: "random:tiny", policy: {decoder: {width: 32, layers: 1, heads: 2, ffn: 64}}}
  optim: {steps: 2, batch: 8, warmup: 0}
  validation: {instances: 4, every: 2, budget: 3}
  engine: {kind: deepspeed, stage: 2}
  run: &run {save_every: 1, log_every: 1, threads: 1, tensorboard: false, device: cpu}
grpo:
  advantage: {group_size: 2}
  rollout: {instances: 4, budget: 3}
  optim: {steps: 2, batch: 8, warmup: 0}
  validation: {instances: 4, every: 2, budget: 3}
  engine: {kind: deepspeed, stage: 2}
  run: *run
"""
PRESET = """
- >-
  data build --task sliding --size 3 --length 2 10 --count 40 --validation 8 --test 12 --seed 42 --out sliding/data
- train sft --recipe plan.yaml --data sliding/data --out sliding/sft
- train grpo --recipe plan.yaml --init sliding/sft --seed 7 --out sliding/family/adaptive-s7
- >-
  evaluate sliding/family --paper --seed 7 --instances 6 --validation 4 --budgets 3 2 --out sliding/eval-s7
- report sliding/eval-s7 --out sliding/report.html
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    from recommit.data import DataSpec, Difficulty, build

    folder = tmp_path_factory.mktemp("launchers")
    build(DataSpec("sliding", (3, 3), (Difficulty((2, 10)),), count=40, validation=8, test=12), folder / "data")
    (folder / "plan.yaml").write_text(RECIPE)
    (folder / "preset.yaml").write_text(PRESET)
    return folder


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """Of a SLURM job of one machine and two ranks."""
    folder = tmp_path_factory.mktemp("bin")
    for name, text in (("srun", SRUN), ("scontrol", SCONTROL)):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    job = {"SLURM_NTASKS": "2", "SLURM_JOB_NODELIST": "here", "MASTER_PORT": str(free_port()), "OMP_NUM_THREADS": "1"}
    return {**os.environ, "PATH": f"{folder}:{BIN}:{os.environ['PATH']}", **job}


def shell(environment, *words):
    """What the job prints."""
    command = ["bash", str(JOB), *map(str, words)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-3000:]
    return done.stdout


def ranks(folder):
    """How many a run began with, from what each kept of its randomness."""
    newest = max((folder / "checkpoints").glob("step-*"))
    return len(list(newest.glob("random-*.json")))


@pytest.mark.nightly
def test_ctrl_c_reaches_the_ranks(place, finished, environment):
    """Through torchrun, which would kill them; the same command goes on."""
    out = place / "stopped"
    shutil.copytree(finished / "sliding" / "sft", out / "sft")
    shutil.copy(place / "plan.yaml", out)
    begin = "- train grpo --recipe plan.yaml --init sft --set optim.steps=40"
    (place / "two.yaml").write_text("\n".join(f"{begin} --variant fixed-{d} --out fixed-{d}-s0" for d in (2, 4)))
    words = ["reproduce", "--preset", str(place / "two.yaml"), "--out", str(out), "--gpus", "2", "--device", "cpu"]
    command = [sys.executable, "-m", "recommit.cli", *words]
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE)
    until((out / "fixed-2-s0" / "checkpoints" / "step-00000003").is_dir, process)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    assert process.returncode == 130, said.decode()
    assert "interrupted after step" in (out / "launch" / "fixed-2-s0.log").read_text()
    assert not (out / "fixed-4-s0").exists()
    last = {line["step"] for line in map(json.loads, (out / "fixed-2-s0" / "metrics.jsonl").read_text().splitlines())}
    subprocess.run(command, env=environment, check=True, capture_output=True)
    assert f"going on after step {max(last)}" in (out / "launch" / "fixed-2-s0.log").read_text()


class Silent(Called):
    """Planted: a launcher that starts no rank, and says that all is well."""

    def __init__(self, *_, **__):
        self.returncode = 0


@pytest.fixture
def calls(place, monkeypatch):
    """The words of a preset on one rank, with a launcher that is a call."""
    monkeypatch.setattr(launch, "program", list)
    monkeypatch.setattr(run, "subprocess", by(Called))
    return reproduce(place / "called", place / "preset.yaml", 1, engine="plain")


def test_every_run_of_a_preset_is_launched(place, calls):
    """Its warm start, its reinforcement and its evaluation; the report is this process's own."""
    assert main(calls) == 0
    logs = {path.stem: path.read_text().splitlines()[0] for path in (place / "called" / "launch").glob("*.log")}
    modules = {
        "sft": "recommit.train.sft",
        "family.adaptive-s7": "recommit.train.grpo",
        "eval-s7": "recommit.cli evaluate",
    }
    for name, module in modules.items():
        assert logs.pop(f"sliding.{name}").startswith(f"$ torchrun --standalone --nproc-per-node 1 -m {module} ")
    assert all(line.startswith("$ recommit ") for line in logs.values())
    assert len(logs) == 2
    made(place / "called" / "sliding", 1)


@pytest.mark.usefixtures("calls")
def test_a_preset_whose_launcher_starts_nothing_is_not_made(place, monkeypatch):
    monkeypatch.setattr(run, "subprocess", by(Silent))
    assert main(reproduce(place / "silent", place / "preset.yaml", 1, engine="plain")) == 1
    assert not (place / "silent" / "sliding" / "report.html").exists()


@pytest.fixture(scope="module")
def finished(place):
    """A preset in one command, every run on two ranks."""
    assert main(reproduce(place / "out", place / "preset.yaml", 2)) == 0
    return place / "out"


def reproduce(out, preset, gpus, engine="deepspeed"):
    out.mkdir(exist_ok=True)
    (out / "launch").mkdir(exist_ok=True)
    (out / "plan.yaml").write_text(RECIPE.replace("{kind: deepspeed, stage: 2}", f"{{kind: {engine}}}"))
    words = ["reproduce", "--preset", str(preset), "--out", str(out)]
    return [*words, "--device", "cpu", "--gpus", str(gpus)]


def made(task, world):
    """The report is there, and both runs were made by ``world`` ranks."""
    assert [ranks(task / folder) for folder in ("sft", "family/adaptive-s7")] == [world, world]
    assert (task / "report.html").is_file()


@pytest.mark.nightly
def test_a_preset_in_one_command(place, finished):
    """From nothing to the report; the second time nothing begins."""
    made(finished / "sliding", 2)
    logs = {path: path.read_bytes() for path in (finished / "launch").glob("*.log")}
    assert main([*reproduce(finished, place / "preset.yaml", 2), "--quiet"]) == 0
    assert {path: path.read_bytes() for path in logs} == logs


@pytest.mark.nightly
def test_a_preset_in_a_slurm_job(place, environment):
    """Every run of it on two ranks."""
    words = reproduce(place / "slurm", place / "preset.yaml", 2)[1:-2]
    shell(environment, "reproduce", *words)
    logs = [path.read_text() for path in (place / "slurm" / "launch").glob("*.log")]
    assert sum("srun 2" in text for text in logs) == 3
    made(place / "slurm" / "sliding", 2)
    CommitPolicy.from_pretrained(place / "slurm" / "sliding" / "sft")
