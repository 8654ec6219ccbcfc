"""Presets: what a list of commands may say, and what follows from it."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import yaml

pytest.importorskip("torch")
pytest.importorskip("pyarrow")
from tests.refusals import refused

from recommit.cli import main
from recommit.estimate.machine import CARDS
from recommit.reproduce import preset
from recommit.reproduce.options import ReproduceOptions
from recommit.storage import recipe_text

OUT = Path("OUT")


def load(tmp_path, *lines):
    (tmp_path / "p.yaml").write_text(yaml.safe_dump(list(lines)))
    return preset.load(str(tmp_path / "p.yaml"), OUT)


@pytest.mark.parametrize("name", preset.names())
def test_what_is_shown_is_what_is_run(name, capsys):
    """Every command of a preset is one that the command line takes, and says the same there."""
    assert main(["reproduce", "--preset", name, "--show"]) == 0
    shown = capsys.readouterr().out.splitlines()
    lines = preset.load(name, OUT)
    assert name in re.split(r"[\s,]+", str(ReproduceOptions.__doc__))
    assert len(shown) == len(lines)
    for text, line in zip(shown, lines, strict=True):
        words = shlex.split(text)
        assert words == ["recommit", *line.verb.split(), *line.words]
        again = preset.line(shlex.join(word.removeprefix("OUT/") for word in words[1:]), OUT)
        assert again == line
    written = [line.out for line in lines]
    for number, line in enumerate(lines):
        for place in line.inputs:
            assert any(out == place or place in out.parents for out in written[:number]), f"{place} of {line}"


def test_alike_runs_are_estimated_together(tmp_path, capsys, monkeypatch):
    rl = "train grpo --recipe quick-sliding --init sft --variant {variant} --out {variant}"
    lines = [
        "data build --task sliding --size 2 3 --count 100 --out data",
        "train sft --recipe quick-sliding --set model.backbone=random:tiny --data data --out sft",
        {"for": {"variant": ["fixed-1", "fixed-2", "adaptive"]}, "do": [rl]},
    ]
    (tmp_path / "p.yaml").write_text(yaml.safe_dump(lines))
    monkeypatch.setitem(CARDS, "a100", CARDS["a100"]._replace(memory=1.1))  # the warm start takes 1.06
    assert main(["reproduce", "--preset", str(tmp_path / "p.yaml"), "--plan", "a100"]) == 0
    *lines, last = capsys.readouterr().out.splitlines()
    assert "; 3 of 4 DO NOT FIT 1.10 GiB: with --set engine.checkpointing=true " in last
    rows = [line.split("|") for line in lines if "| train" in line]
    assert ["DOES NOT FIT" in row[7] for row in rows] == [False, True, True]
    assert [(row[1].split(", ")[1:2], int(row[3])) for row in rows] == [([], 1), (["fixed"], 2), (["adaptive"], 1)]


@pytest.mark.parametrize("name", ["paper", "qwen7b"])
def test_runs_on_gpus_are_shown_with_their_launcher(name, capsys):
    assert main(["reproduce", "--preset", name, "--show", "--gpus", "8", "--out", "/o"]) == 0
    shown = capsys.readouterr().out.splitlines()
    runs = [text for text in shown if " recommit.train." in text or " recommit.cli evaluate " in text]
    assert all(text.startswith("torchrun --standalone --nproc-per-node 8 -m recommit.") for text in runs)
    rest = {" ".join(text.split()[:3]) for text in shown if text not in runs}
    assert {words.rsplit(" ", 1)[0] for words in rest} <= {"recommit data", "recommit report"}
    words = ["--launcher", "srun python -m", "--device", "cuda"]
    assert main(["reproduce", "--preset", name, "--show", "--gpus", "8", *words]) == 0
    for text in capsys.readouterr().out.splitlines():
        if " recommit.train." in text:
            assert text.startswith("srun python -m recommit.train.")
            assert text.endswith("--device cuda")


def test_values_of_a_list_are_put_into_its_commands():
    whole = [
        "a {x}",
        {"for": {"x": [1, 2], "y": "z"}, "do": ["b {x} {y} {{x}}", {"for": {"w": [3]}, "do": ["c {x}{w}"]}]},
    ]
    assert list(recipe_text.expanded(whole)) == ["a {x}", "b 1 z {1}", "c 13", "b 2 z {2}", "c 23"]


BUILD = "data build --task sliding --count 4 --out data"
SFT = "train sft --recipe laptop-sliding --data data --out sft"
RL = "train grpo --recipe laptop-sliding --init sft --out rl"
#: Commands that no preset may have, and what is said of each.
REFUSED = {
    # programs, hosts, keys, trackers, repositories
    f"{RL} --reward mine.py": "reward: expected no such flag",
    f"{RL} --set advantage.reward=mine.py": "advantage: expected fields of .*, got reward",
    f"{RL} --set 'by_task={{sliding: {{advantage.reward: mine.py}}}}'": "by_task.sliding: expected values of",
    f"{RL} --wandb mine": "wandb: expected no such flag",
    f"{SFT} --backbone me/backbone": "backbone: expected one that a recipe may name, got 'me/backbone'",
    f"{SFT} --backbone-class mine.py:Mine": "backbone_class: expected no such flag",
    f"{SFT} --set model.backbone=me/backbone": "model.backbone: expected random:NAME",
    f"{SFT} --set engine.settings.wandb.enabled=true": "engine: expected fields of .*, got settings",
    f"{RL} --launcher 'ssh evil'": "launcher: expected no such flag",
    "graph score graph --run-code --out scores": "run_code: expected no such flag",
    "zero-shot --model m --base-url http://evil --out zs": "expected a command of data build, ",
    "train all --recipe laptop-sliding --init sft --out family": "expected a command of data build, ",
    f"{BUILD} --engine ray": "engine: expected no such flag",
    # places
    f"{SFT.replace('data data', 'data /etc')}": "data: expected a path inside the folder of the preset, got '/etc'",
    f"{SFT.replace('out sft', 'out ../sft')}": "out: expected a path inside the folder of the preset, got '../sft'",
    f"{RL.replace('init sft', 'init=sft/../../x')}": "init: expected a path inside the folder",
    f"{SFT.replace('laptop-sliding', '../mine.yaml')}": "recipe: expected a path inside the folder",
    "evaluate rl --agents adaptive fixed-4@/etc --out eval": "agents: expected a path inside the folder",
    "report eval --figures /tmp/figures --out report.html": "figures: expected a path inside the folder",
    # what is no command
    "data build --task sliding --count 4": "out: expected it in",
    f"{BUILD} --color blue": "color: expected no such flag",
    f"{BUILD} --out other": "out: expected a flag, each once",
    f"{BUILD} --seed many": "seed: expected int, got 'many'",
    f"{BUILD} --ties some": "ties: expected first or random, got some",
    f"{BUILD} --validation 1 2": "validation: expected one value, got '1 2'",
    f"{SFT} --steps 0": "optim.steps: expected at least 1, got 0",
    f"{RL} --steps 3": "phases: expected optim.steps 3 in all, got 38; --set .phases=",
    "evaluate": "run: expected it in",
    "evaluate rl --show --out eval": "show: expected no such flag",
}


@pytest.mark.parametrize("line", REFUSED)
def test_what_no_preset_may_say(line, tmp_path):
    with pytest.raises(ValueError, match=f"^preset: .*{REFUSED[line]}"):
        load(tmp_path, line)


def test_what_is_no_list_of_commands(tmp_path):
    wholes = {
        "expected a list of commands, got {'tasks'": {"tasks": {}},
        "expected a command, or for: ": [{"for": {}, "run": []}],
        "expected a command, or for:": [3],
        "expected commands that write each to a place of its own, got two to": [BUILD, BUILD],
        "expected what writes": [SFT, BUILD],
    }
    for number, whole in enumerate(wholes.values()):
        (tmp_path / f"{number}.yaml").write_text(yaml.safe_dump(whole))
    files = enumerate(wholes)
    refused([(lambda n=n: preset.load(str(tmp_path / f"{n}.yaml"), OUT), f"preset: {words}") for n, words in files])


def test_commands_know_what_they_read(tmp_path):
    (tmp_path / "mine.yaml").write_text("sft: {optim: {steps: 1}}")
    (tmp_path / "p.yaml").write_text(yaml.safe_dump([BUILD, SFT.replace("laptop-sliding", "mine.yaml")]))
    build, sft = preset.load(str(tmp_path / "p.yaml"), tmp_path)
    assert (build.inputs, build.out) == ((), tmp_path / "data")
    assert sft.inputs == (tmp_path / "mine.yaml", tmp_path / "data")
    assert (sft.config.optim.steps, sft.options.data) == (1, (tmp_path / "data",))
    changed = preset.load(str(tmp_path / "p.yaml"), tmp_path, ["optim.steps=2"])
    assert (changed[0], changed[1].config.optim.steps) == (build, 2)
    told = preset.line("evaluate family --agents adaptive fixed-4@family/a --paper --out eval", OUT)
    assert told.inputs == (OUT / "family", OUT / "family/a")
    assert told.words == ("OUT/family", "--agents", "adaptive", "fixed-4@OUT/family/a", "--paper", "--out", "OUT/eval")
