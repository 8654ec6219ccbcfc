"""The whole preset of the paper, in small: one command on two ranks, killed three times, ends as if nobody had touched
it.
"""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("deepspeed", reason="needs the deepspeed extra")
from tests.waiting import until

from recommit import CommitPolicy
from recommit.cli import main
from recommit.evaluate.tables.paper_tables import TABLES
from recommit.runs.directory import best_policy

pytestmark = pytest.mark.nightly
#: Sizes and steps; LoRA, bfloat16, the joint warm start and everything else are the preset's. It has ZeRO-3, as
#: Sokoban's two runs.
SMALL = (
    "sft.model.backbone=random:tiny",
    "sft.model.policy.decoder={width: 32, layers: 1, heads: 2, ffn: 64}",
    "sft.optim={steps: 3, batch: 8, warmup: 1, lr: 1e-3, decoder_lr: 1e-3}",
    "sft.validation={instances: 4, every: 3, budget: 3}",
    "sft.run={save_every: 1, log_every: 1, threads: 1, tensorboard: false}",
    "grpo.optim={steps: 3, batch: 8, warmup: 0, lr: 1e-4, decoder_lr: 1e-3, vision_lr: 0.0}",
    "grpo.advantage.group_size=2",
    "grpo.rollout.instances=4",
    "grpo.validation={instances: 4, every: 1, budget: 3}",
    "grpo.run={save_every: 1, log_every: 1, threads: 1, tensorboard: false, keep: 9}",
    "data.difficulties=[{length: [2, 10]}]",
    "data.count=60",
    "data.validation=8",
    "data.test=12",
    "variants=[adaptive, fixed-4]",
    "sliding.ablations=[fixed-1, fixed-2, fixed-3, fixed-5, fixed-6, fixed-7, fixed-8, random, depth-only]",
    "training_budgets.variants=[adaptive, fixed-4]",
    "sokoban.data.difficulties=[{length: [2, 10], boxes: 1}]",
    "sft.engine.stage=3",
    "sokoban.grpo.engine.stage=3",
    "sokoban.seeds=[42]",
    "sokoban.ablations=[]",
    "sokoban.singles=[]",
    "sokoban.training_budgets={}",
    "evaluate.instances=8",
    "evaluate.validation=4",
)
#: The same without what no kill comes near.
FEW = (
    *(change for change in SMALL if not change.startswith(("sliding.", "training_budgets."))),
    *("sliding.seeds=[42]", "sliding.ablations=[]", "sliding.singles=[]", "sliding.training_budgets={}"),
)
#: When a kill comes: with the nth file of this kind; n is drawn from a range.
MOMENTS = (
    ("joint/sft/checkpoints/*step-*/*", 5, 12),
    ("sliding/family/*/checkpoints/step-*", 2, 6),
    ("sliding/eval-s42/decisions/*", 90, 140),
)


def command(out: Path, preset: str = "paper", changes: tuple[str, ...] = SMALL) -> list[str]:
    words = ["reproduce", "--preset", preset, "--out", str(out), "--gpus", "2", "--device", "cpu"]
    return [sys.executable, "-m", "recommit.cli", *words, "--set", *changes]


def whole(out: Path, *preset: Any) -> None:
    done = subprocess.run(command(out, *preset), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]


def killed(out: Path, pattern: str, count: int) -> None:
    """The command until there are so many such files, and no longer."""
    process = subprocess.Popen(command(out), start_new_session=True, stderr=subprocess.PIPE)
    until(lambda: process.poll() is not None or sum(1 for _ in out.glob(pattern)) >= count)
    early = process.poll()
    if early is None:
        os.killpg(process.pid, signal.SIGKILL)
    _, said = process.communicate()
    assert early is None, said.decode()[-4000:]


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    """What is there after three kills."""
    folder, probs = tmp_path_factory.mktemp("paper") / "killed", random.Random(18)
    for pattern, low, high in MOMENTS:
        killed(folder, pattern, probs.randint(low, high))
    whole(folder)
    return folder


def shown(out: Path, capsys) -> list[dict[str, str]]:
    """Every run of the preset, and its state."""
    words = command(out)[3:]
    capsys.readouterr()
    assert main([*words, "--show", "--json"]) == 0
    return json.loads(capsys.readouterr().out)["runs"]


def missing(tables: str) -> list[str]:
    """What tables say was not run, but for models of others and for heads and changes that are not the paper's."""
    sections = re.split(r"^## ", tables, flags=re.MULTILINE)[1:]
    own = [text for text in sections if not text.startswith(("Zero-shot", "Heads that go by", "From the paper"))]
    every = [line for text in own for line in text.splitlines()]
    return [line for line in every if line.startswith("* No ") or "| no run" in line]


def touched(out: Path) -> set[Path]:
    """What was begun more than once."""
    logs = [log for log in out.glob("*/launch/*.log") if len(re.findall(r"^\$ ", log.read_text(), re.MULTILINE)) > 1]
    return {log.relative_to(out).with_suffix("") for log in logs}


def differing(one: Path, other: Path) -> list[str]:
    """Of two runs: the logs and weights that are not the same to the byte. (Configurations name the folder of their
    base.)
    """
    names = ["metrics.jsonl", "best.json"]
    names += [p.relative_to(one).as_posix() for p in one.glob("checkpoints/*/policy/**/*.safetensors")]
    return [name for name in names if (one / name).read_bytes() != (other / name).read_bytes()]


def test_every_run_is_finished_and_every_table_there(out, capsys):
    runs = shown(out, capsys)
    assert len(runs) == 28 + 2  # one warm start of both puzzles
    assert {run["state"] for run in runs} == {"finished"}
    tables = (out / "sliding" / "eval-s42" / "tables.md").read_text()
    assert tables.count("\n## ") == len(TABLES)
    assert missing(tables) == []
    for seed in (5, 15):
        assert "## Main table" in (out / "sliding" / f"eval-s{seed}" / "tables.md").read_text()
    assert "# 3 seeds together" in (out / "sliding" / "results.md").read_text()
    assert "## Main table" in (out / "sokoban" / "eval-s42" / "tables.md").read_text()
    assert all((out / task / "report.html").is_file() for task in ("sliding", "sokoban"))


def test_what_was_killed_is_what_it_would_have_been(out, tmp_path):
    """Runs that a kill came near, against runs that were left alone; tables, against an evaluation that was."""
    whole(tmp_path / "alone", "paper", FEW)
    again = touched(out)
    assert {path.name for path in again} >= {"sft", "eval-s42"}
    assert len(again) >= 3
    for path in [p for p in again if not p.name.startswith("eval-")]:
        place = Path("joint/sft" if path.name == "sft" else f"{path.parts[0]}/family/{path.name}")
        assert differing(tmp_path / "alone" / place, out / place) == [], place
    family = out / "sliding" / "family"
    evaluated = ["evaluate", str(family), "--paper", "--seed", "42", "--instances", "8", "--validation", "4"]
    assert main([*evaluated, "--device", "cpu", "--out", str(tmp_path / "fresh"), "--quiet"]) == 0
    for name in ("tables.md", "summary.json", "comparisons.json"):
        assert (tmp_path / "fresh" / name).read_bytes() == (out / "sliding" / "eval-s42" / name).read_bytes(), name


def test_every_policy_loads_everywhere(out, tmp_path, capsys):
    for run in shown(out, capsys):
        CommitPolicy.from_pretrained(out / run["run"])
    plain = ["engine={kind: plain}", "optim.steps=1", "run.device=cpu"]
    for name in (
        "joint/sft",
        "sliding/family/adaptive-s42",
        "joint/single-4-init",
        "sokoban/family/fixed-4-s42",
    ):
        task, place = name.partition("/")[0].replace("joint", "sliding"), tmp_path / name.replace("/", "-")
        recipe = out / task / "launch" / "adaptive-s42.yaml"
        words = ["--recipe", str(recipe), "--init", str(out / name), "--task", task, "--out", str(place), "--quiet"]
        assert main(["train", "grpo", *words, "--set", *plain]) == 0
        assert best_policy(place).is_dir()
    words = ["--agents", "adaptive", "fixed-8", "--instances", "4", "--validation", "2", "--budgets", "2"]
    assert (
        main(
            [
                "evaluate",
                str(out / "joint" / "sft"),
                "--task",
                "sokoban",
                *words,
                "--out",
                str(tmp_path / "played"),
                "--quiet",
            ]
        )
        == 0
    )


def test_this_harness_sees(out, tmp_path):
    """A table without its run, a policy of which one byte is another."""
    assert missing("\n## Sweep\n\n* No run for fixed-3: ...\n\n## Zero-shot models\n\n* No run for those\n") == [
        "* No run for fixed-3: ..."
    ]
    one, other = out / "joint" / "sft", tmp_path / "other"
    subprocess.run(["cp", "-r", str(one), str(other)], check=True)
    assert differing(one, other) == []
    heads = best_policy(other) / "heads.safetensors"
    content = bytearray(heads.read_bytes())
    content[-1] ^= 1
    heads.write_bytes(content)
    assert differing(one, other) == [heads.relative_to(other).as_posix()]
