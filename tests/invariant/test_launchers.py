"""Two real ranks by torchrun and in a SLURM job; and a preset in one command, every run of it launched."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("deepspeed", reason="needs the deepspeed extra")
from tests.waiting import until

from recommit import CommitPolicy
from recommit.cli import main
from recommit.runs.distributed import free_port
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
tasks:
  sliding:
    data:
      {task: sliding, size: 3, difficulties: [{length: [2, 10]}],
       count: 40, validation: 8, test: 12, ties: first, seed: 42}
    recipe: RECIPE
    variants: [adaptive]
    seeds: [7]
    evaluate: {instances: 6, validation: 4, budgets: ["3", "2"]}
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    from recommit.data import DataSpec, Difficulty, build

    folder = tmp_path_factory.mktemp("launchers")
    build(DataSpec("sliding", (3, 3), (Difficulty((2, 10)),), count=40, validation=8, test=12), folder / "data")
    (folder / "plan.yaml").write_text(RECIPE)
    (folder / "preset.yaml").write_text(PRESET.replace("RECIPE", str(folder / "plan.yaml")))
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


@pytest.fixture(scope="module")
def start(place, environment):
    """A warm start that a SLURM job made."""
    words = ["sft", "--recipe", place / "plan.yaml", "--data", place / "data", "--out", place / "sft"]
    assert "srun 2" in shell(environment, *words)
    return place / "sft"


def ranks(run):
    """How many a run began with, from what each kept of its randomness."""
    newest = max((run / "checkpoints").glob("step-*"))
    return len(list(newest.glob("random-*.json")))


@pytest.mark.nightly
def test_a_slurm_job_trains_on_two_ranks(start):
    assert ranks(start) == 2
    CommitPolicy.from_pretrained(start)


@pytest.mark.nightly
def test_ctrl_c_reaches_the_ranks(place, start, environment):
    """Through torchrun, which would kill them; the same command goes on."""
    out = place / "stopped"
    words = ["train", "family", "--recipe", str(place / "plan.yaml"), "--init", str(start), "--out", str(out)]
    words += ["--variants", "fixed-2", "fixed-4", "--gpus", "2", "--device", "cpu"]
    command = [sys.executable, "-m", "recommit.cli", *words, "--set", "optim.steps=40"]
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


@pytest.fixture(scope="module")
def finished(place):
    """A preset in one command, every run on two ranks."""
    assert main(reproduce(place / "out", place / "preset.yaml", 2)) == 0
    return place / "out"


def reproduce(out, preset, gpus):
    words = ["reproduce", "--preset", str(preset), "--out", str(out)]
    return [*words, "--device", "cpu", "--gpus", str(gpus)]


def shown(task, words, world, capsys):
    """The report is there, and both runs are said to be finished on so many ranks."""
    folders = ["sft", "family/adaptive-s7"]
    assert [ranks(task / folder) for folder in folders] == [world, world]
    assert (task / "report.html").is_file()
    capsys.readouterr()
    assert main([*words, "--show", "--json"]) == 0
    runs = json.loads(capsys.readouterr().out)["runs"]
    assert [(run["run"], run["state"], run["ranks"]) for run in runs] == [
        (f"{task.name}/{folder}", "finished", world) for folder in folders
    ]


@pytest.mark.nightly
def test_a_preset_in_one_command(place, finished, capsys):
    """From nothing to the report."""
    shown(finished / "sliding", reproduce(finished, place / "preset.yaml", 2), 2, capsys)


@pytest.mark.nightly
def test_the_second_time_nothing_is_trained(place, finished):
    logs = [finished / "sliding" / "launch" / f"{name}.log" for name in ("sft", "adaptive-s7")]
    before = [log.read_bytes() for log in logs]
    assert main([*reproduce(finished, place / "preset.yaml", 2), "--quiet"]) == 0
    assert [log.read_bytes() for log in logs] == before


@pytest.mark.nightly
def test_a_preset_in_a_slurm_job(place, finished, environment):
    """What the launcher of one machine has finished is left alone."""
    words = ["reproduce", "--preset", place / "preset.yaml", "--out", finished, "--device", "cpu"]
    printed = shell(environment, *words, "--set", "variants=[adaptive]", "seeds=[8]").splitlines()
    assert printed[-1] == str(finished / "sliding" / "report.html")
    logs = {name: (finished / "sliding" / "launch" / f"{name}.log").read_text() for name in ("sft", "adaptive-s8")}
    assert ["srun 2" in text for text in logs.values()] == [False, True]
    assert ranks(finished / "sliding" / "family" / "adaptive-s8") == 2
