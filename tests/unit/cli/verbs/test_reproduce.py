"""The whole pipeline on a board of six cells, in seconds; made once, and left alone the second time."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("pyarrow")

import yaml
from tests.unit.zero_shot.servers import Server, expert

import recommit
from recommit.cli import main
from recommit.data.spec import DataSpec
from recommit.policy.checkpoint import weights_of
from recommit.reproduce import preset
from recommit.runs.directory import best_policy
from recommit.train import config
from recommit.train.family import runs as families

PRESET = """
tasks:
  small:
    data: {task: sliding, size: [2, 3], difficulties: [{length: [4, 14]}],
           count: 60, validation: 8, test: 12, ties: random}
    recipe: laptop-sliding
    sft:
      - optim.steps=4
      - optim.batch=16
      - model.backbone=random:small
      - >-
        model.shape={width: 32, layers: 2, heads: 2, kv_heads: 2, ffn: 64,
        vision_width: 16, vision_heads: 1, vision_ffn: 32}
      - "model.policy.decoder={width: 32, layers: 1, heads: 2, ffn: 64}"
      - "validation={instances: 4, every: 4, budget: 3, length: [4, 14]}"
      - run.tensorboard=false
    grpo:
      - optim.steps=1
      - advantage.group_size=2
      - "rollout={instances: 4, budget: 3, states: 64, length: [4, 14]}"
      - "validation={instances: 4, every: 1, budget: 3, length: [4, 14]}"
      - run.tensorboard=false
    variants: [adaptive]
    seeds: [0, 1]
    ablations: [paper]
    evaluate: {instances: 4, validation: 2, budgets: ["2"], regret: true}
"""

#: What is taught beside, in a second or two.
HEADS = "heads: {world_model: {steps: 2, starts: 16}, conditioned: {starts: 8, length: [4, 14], updates: 2}}"


def times(folder):
    return {p.relative_to(folder).as_posix(): p.stat().st_mtime_ns for p in folder.rglob("*.safetensors")}


def test_everything_is_made_once(tmp_path, capsys):
    (tmp_path / "small.yaml").write_text(PRESET)
    call = ["reproduce", "--preset", str(tmp_path / "small.yaml"), "--out", str(tmp_path / "out"), "--jobs", "1"]
    assert main(call) == 0
    small = tmp_path / "out" / "small"
    report = small / "report.html"
    assert str(report) in capsys.readouterr().out
    made = times(tmp_path / "out")
    assert {path.name for path in (small / "family").iterdir()} == {"adaptive-s0", "adaptive-s1", "paper-s0"}
    config = json.loads((small / "family" / "paper-s0" / "config.json").read_text())
    assert (config["variant"], config["head"], config["advantage"]["estimator"]) == ("adaptive", None, "state")
    table = (small / "results.md").read_text()
    assert "# 2 seeds together" in table
    assert "adaptive (the paper's recipe)" in table
    assert "All seeds" in report.read_text()
    assert list((small / "eval-s0" / "decisions").glob("adaptive*-regret.parquet"))
    assert main([*call, "--quiet"]) == 0
    assert times(tmp_path / "out") == made


@pytest.fixture
def server():
    """A model behind an endpoint, untrained, that knows the board."""
    server = Server(script=expert(recommit.Sliding(2, 3)))
    yield server
    server.close()


def test_heads_and_a_model_behind_an_endpoint_play_beside_the_others(tmp_path, capsys, monkeypatch, server):
    """Stages of their own: what is there is not made again, and what is made of something else is refused."""
    asked = f"model: tiny, endpoint: custom, base_url: {server.url}, any_model: true"
    models = f"{{{asked}}}, {{{asked}, cell: 28}}"
    taught = PRESET.replace("ablations: [paper]", f"{HEADS}\n    zero_shot: [{models}]").replace("[0, 1]", "[0]")
    taught = taught.replace('["2"]', "[loose]").replace(", regret: true", "")
    (tmp_path / "taught.yaml").write_text(taught)
    monkeypatch.setenv("RECOMMIT_API_KEY", "sk-own-1234567890")
    place = server.url.removeprefix("http://").removesuffix("/v1")
    call = ["reproduce", "--preset", str(tmp_path / "taught.yaml"), "--out", str(tmp_path / "out"), "--jobs", "1"]
    call += ["--to", place]
    assert main(call) == 0
    assert all("authorization" not in request.headers for request in server.seen), "nobody has said that it gets a key"
    small, said = tmp_path / "out" / "small", capsys.readouterr()
    assert said.out.splitlines()[-1] == str(small / "report.html")
    by_agent = {row["agent"]: row for row in json.loads((small / "eval-s0" / "summary.json").read_text())}
    heads = [f"adaptive@{small}/family/{name}-s0" for name in ("world-model", "conditioned")]
    assert [by_agent[head]["uses"] for head in heads] == ["picture", "picture"]
    for key in ("gain_fixed", "gain_oracle"):
        ends = {by_agent[agent][key].partition("@")[1:] for agent in ("adaptive", *heads)}
        assert ends == {("", "")}, "the same plans have the same ends, and nobody looks again for them"
    tables = (small / "eval-s0" / "tables.md").read_text()
    for text in (tables.partition("## Heads with a world model")[2], said.err, (small / "report.html").read_text()):
        assert "price- and budget-conditioned head" in text
    row = next(iter(json.loads((small / "family" / "zero-shot-tiny" / "summary.json").read_text())))
    assert (row["budget"], row["instances"]) == ("loose", 4)
    printed = [line.split("|")[2:5] for line in tables.splitlines() if "| tiny " in line]
    rate = f"{100 * row['solve_rate']:.1f}"
    sizes = [["56", "-", rate], ["28", "-", rate]]
    assert [[cell.strip() for cell in cells] for cells in printed] == sizes, "a row for each size of the pictures"
    (own,) = [line for line in tables.partition("## Zero-shot")[2].splitlines() if line.startswith("| adaptive ")]
    assert own.split("|")[2].strip() == "28"
    made = times(tmp_path / "out")
    (small / "launch" / "conditioned-s0.json").unlink()  # as if it had been killed before its last word
    assert main([*call, "--quiet"]) == 0
    again = times(tmp_path / "out")
    changed = {name for name in made if made[name] != again[name]}
    assert {name.split("/")[2] for name in changed} == {"conditioned-s0"}
    capsys.readouterr()
    assert main([*call, "--show"]) == 0
    shown = capsys.readouterr().out
    assert "1 reinforcement runs, 1 warm starts, 1 with heads" in shown
    assert f"recommit train head {small}/graph-s0 --policy {small}/family/world-model-s0 --out " in shown
    for change, sentence in (
        (
            ("steps: 2, starts: 16", "steps: 3, starts: 16"),
            "world-model-s0: the folder belongs to another run",
        ),
        (("{model: tiny,", "{name: tiny,"), "tasks.small.zero_shot: expected keys of model, "),
    ):
        (tmp_path / "taught.yaml").write_text(taught.replace(*change))
        assert main([*call, "--quiet"]) == 2
        assert sentence in capsys.readouterr().err


@pytest.mark.nightly
def test_a_warm_start_for_every_seed(tmp_path, capsys):
    """Seeds differ from the first weights on; their runs stand in one table."""
    each = PRESET.replace("seeds: [0, 1]", "seeds: [0, 1]\n    warm_starts: each").replace("ablations: [paper]", "")
    (tmp_path / "each.yaml").write_text(each)
    call = [
        "reproduce",
        "--preset",
        str(tmp_path / "each.yaml"),
        "--out",
        str(tmp_path / "out"),
        "--quiet",
        "--jobs",
        "2",  # so that the seeds do not wait for each other
    ]
    assert main(call) == 0
    out = tmp_path / "out" / "small"
    assert not (out / "sft").exists()
    seeds = [json.loads((out / f"sft-s{seed}" / "config.json").read_text())["run"]["seed"] for seed in (0, 1)]
    assert seeds == [0, 1]
    begun = {json.loads(p.read_text())["init"] for p in (out / "family").glob("adaptive-s*/config.json")}
    assert len(begun) == 2
    assert "# 2 seeds together" in (out / "results.md").read_text()
    made = times(tmp_path / "out")
    assert main(call) == 0
    assert times(tmp_path / "out") == made
    (tmp_path / "each.yaml").write_text(each.replace("warm_starts: each", "warm_starts: all"))
    capsys.readouterr()
    assert main(call) == 2
    assert "warm_starts: expected one or each, got 'all'" in capsys.readouterr().err


def both(folder):
    """The words that reproduce two puzzles from one warm start."""
    whole = yaml.safe_load(PRESET)
    (small,) = whole["tasks"].values()
    small |= {"variants": ["adaptive"], "seeds": [0], "ablations": [], "singles": [4]}
    whole["joint"] = {"recipe": small["recipe"], "sft": [c for c in small.pop("sft") if not c.startswith("validation")]}
    whole["joint"]["sft"] += ["validation={instances: 4, every: 4, budget: 3}"]
    boxes = {"task": "sokoban", "size": 6, "difficulties": [{"length": [2, 10], "boxes": 1}]}
    grpo = [change.replace("[4, 14]", "[2, 10]") for change in small["grpo"]]
    whole["tasks"]["boxes"] = {**small, "data": {**small["data"], **boxes}, "grpo": grpo}
    (folder / "both.yaml").write_text(yaml.safe_dump(whole))
    return ["reproduce", "--preset", str(folder / "both.yaml"), "--out", str(folder / "out")]


def test_one_warm_start_of_both_puzzles_is_planned(tmp_path, capsys):
    """Every run of either puzzle begins with it, and those at one depth alone with one of that depth."""
    assert main([*both(tmp_path), "--show", "--json"]) == 0
    out, runs = tmp_path / "out", json.loads(capsys.readouterr().out)["runs"]
    commands = {run["run"]: run["command"] for run in runs}
    for name in ("sft", "single-4-init"):
        assert f"--data {out}/boxes/data {out}/small/data --out " in commands.pop(f"joint/{name}")
    for task in ("small", "boxes"):
        for name, init in (("adaptive-s0", "sft"), ("single-4-s0", "single-4-init")):
            assert f"--init {out}/joint/{init} " in commands.pop(f"{task}/family/{name}")
    assert commands == {}


@pytest.mark.nightly
def test_one_warm_start_of_both_puzzles(tmp_path):
    """It is made once, and tables know the runs."""
    call = [*both(tmp_path), "--jobs", "1", "--quiet"]
    assert main(call) == 0
    out = tmp_path / "out"
    assert {path.name for path in (out / "joint").iterdir()} == {"sft", "single-4-init"}
    for puzzle, task in (("small", "sliding"), ("boxes", "sokoban")):
        family = out / puzzle / "family"
        assert {path.name for path in family.iterdir()} == {"adaptive-s0", "single-4-s0"}
        begun = json.loads((family / "adaptive-s0" / "config.json").read_text())
        assert begun["data"]["recipe"]["task"] == task
        assert begun["init"] == weights_of(best_policy(out / "joint" / "sft"))
        tables = (out / puzzle / "eval-s0" / "tables.md").read_text()
        assert "No run for SFT, h=4" not in tables
        assert "No run for SFT, h=8" in tables
    made = times(out)
    assert main(call) == 0
    assert times(out) == made


@pytest.mark.nightly
def test_a_puzzle_that_the_paper_does_not_have(tmp_path, capsys):
    """Its agents are those of the others; its tables are ours alone."""
    caves = PRESET.replace("task: sliding, size: [2, 3]", "task: ice, size: 6").replace("laptop-sliding", "laptop-ice")
    (tmp_path / "caves.yaml").write_text(caves.replace("seeds: [0, 1]", "seeds: [0]").replace("ablations: [paper]", ""))
    out = tmp_path / "out" / "small"
    call = ["reproduce", "--preset", str(tmp_path / "caves.yaml"), "--out", str(tmp_path / "out"), "--quiet"]
    assert main([*call, "--jobs", "1"]) == 0
    assert (out / "eval-s0" / "tables.md").read_text().startswith("ice, ")
    assert (out / "report.html").is_file()
    capsys.readouterr()
    assert main(["evaluate", str(out / "family"), "--paper", "--out", str(tmp_path / "refused")]) == 2
    assert "paper: expected runs of sliding or sokoban, which the paper has, got ice" in capsys.readouterr().err
    assert not (tmp_path / "refused").exists()


def test_presets(capsys):
    for name in preset.names():
        assert main(["reproduce", "--preset", name, "--show"]) == 0
        for task in preset.load(name)["tasks"].values():
            DataSpec.from_dict(task["data"])
            config.load(task["recipe"], task.get("sft", []))
            names = (*task["variants"], *task.get("ablations", ()))
            plans = families.family_configs(task["recipe"], names, tuple(task.get("grpo", [])), {})
            assert set(plans) == set(names)
    assert "recipe: laptop-sliding" in capsys.readouterr().out
