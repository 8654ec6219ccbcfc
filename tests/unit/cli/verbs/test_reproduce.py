"""The whole pipeline on a board of six cells, in seconds; made once, and left alone the second time."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("pyarrow")

from tests.unit.reproduce.in_process import Called, by

from recommit.cli import main
from recommit.reproduce import launch, run

PRESET = """
- data build --task TASK --size SIZE --length 4 14 --count 60 --validation 8 --test 12 --ties random --out small/data
- >-
  train sft --recipe laptop-TASK --backbone conv:small --data small/data --set optim.steps=4 optim.batch=16
  "model.shape={width: 32, blocks: 1}" "model.policy.decoder={width: 32, layers: 1, heads: 2, ffn: 64}"
  "validation={instances: 4, every: 4, budget: 3, length: [4, 14]}" run.tensorboard=false --out small/sft
- for: &small
    seed: [0, 1]
    variant: adaptive
    set: >-
      advantage.group_size=2 "rollout={instances: 4, budget: 3, length: [4, 14]}" optim.steps=1
      "validation={instances: 4, every: 1, budget: 3, length: [4, 14]}" run.tensorboard=false "phases=[]"
  do: &run
    - >-
      train grpo --recipe laptop-TASK --variant {variant} --init small/sft --seed {seed} --set {set}
      --out small/family/{variant}-s{seed}
- for: {<<: *small, seed: 0, variant: OTHER}
  do: *run
- for: {seed: [0, 1]}
  do:
    - >-
      evaluate small/family --paper --seed {seed} --instances 4 --validation 2 --budgets 2
      --out small/eval-s{seed}
- report small/eval-s0 --seeds small/eval-s1 --out small/report.html
- report small/eval-s0 --seeds small/eval-s1 --out small/results.md
"""


@pytest.fixture(autouse=True)
def in_process(monkeypatch):
    monkeypatch.setattr(launch, "program", list)
    monkeypatch.setattr(run, "subprocess", by(Called))


def times(folder):
    return {p.relative_to(folder).as_posix(): p.stat().st_mtime_ns for p in folder.rglob("*.safetensors")}


def call(folder, task="sliding", size="2 3", other="paper"):
    text = PRESET.replace("TASK", task).replace("SIZE", size).replace("OTHER", other)
    (folder / "small.yaml").write_text(text)
    return ["reproduce", "--preset", str(folder / "small.yaml"), "--out", str(folder / "out"), "--jobs", "2"]


def test_everything_is_made_once(tmp_path):
    words = call(tmp_path)
    assert main(words) == 0
    small = tmp_path / "out" / "small"
    made = times(tmp_path / "out")
    assert {path.name for path in (small / "family").iterdir()} == {"adaptive-s0", "adaptive-s1", "paper-s0"}
    config = json.loads((small / "family" / "paper-s0" / "config.json").read_text())
    assert (config["variant"], config["head"], config["advantage"]["estimator"]) == ("adaptive", None, "state")
    table = (small / "results.md").read_text()
    assert "# 2 seeds together" in table
    assert "adaptive (the paper's recipe)" in table
    assert "All seeds" in (small / "report.html").read_text()
    logs = {path: path.read_bytes() for path in (tmp_path / "out" / "launch").glob("*.log")}
    assert main([*words, "--quiet"]) == 0
    assert times(tmp_path / "out") == made
    assert {path: path.read_bytes() for path in logs} == logs, "nothing has begun"
    text = (tmp_path / "small.yaml").read_text()
    (tmp_path / "small.yaml").write_text(text.replace("optim.steps=4", "optim.steps=5"))
    assert main([*words, "--quiet"]) == 1, "the warm start is another one's"
    assert times(tmp_path / "out") == made


@pytest.mark.nightly
def test_a_puzzle_that_the_paper_does_not_have(tmp_path):
    """Its agents are those of the others; its tables are ours alone."""
    words = call(tmp_path, "ice", "6", "random")
    text = (tmp_path / "small.yaml").read_text().replace("4 14", "3 8").replace("4, 14", "3, 8")
    (tmp_path / "small.yaml").write_text(text.replace(" --backbone conv:small", "").replace("blocks: 1", "layers: 1"))
    assert main([*words, "--quiet"]) == 0
    out = tmp_path / "out" / "small"
    assert (out / "eval-s0" / "tables.md").read_text().startswith("ice, ")
    assert (out / "report.html").is_file()
