"""``recommit estimate``, by its words."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("torch")
pytest.importorskip("peft")

from recommit.cli import main
from recommit.estimate import EstimateOptions
from recommit.estimate.costs import operations

SMALL = ["--card", "cpu", "--set", "model.backbone=random:tiny"]
LITTLE = ["optim.batch=8", "validation.instances=0", "model.policy.decoder={width: 32, layers: 1, heads: 2, ffn: 64}"]


def said(capsys, *words):
    """What a plan says as JSON."""
    assert main(["estimate", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_both_stages_are_estimated_in_words(capsys):
    assert main(["estimate", "laptop-sliding", *SMALL, *LITTLE, "engine.kind=plain"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("sft, sliding 3x3, on 1 rank\n")
    assert "\n\ngrpo, sliding 3x3" in text
    assert "step of the depth head alone, 2 of them" in text
    assert "it fits" in text
    assert text.endswith("\n\nBy arithmetic; no run of it was measured on a GPU: docs/a100.md says how.\n")


def test_prompts_with_the_text_first_are_held_against_those_with_the_picture_first(capsys):
    words = ["paper-sliding", "--stage", "sft", *SMALL, *LITTLE, "engine.kind=plain"]
    before = [*words, "model.policy.prompts=[sliding-v1, sokoban-v1]"]
    (one,), (other,) = said(capsys, *words), said(capsys, *before)
    assert one["flops"] < other["flops"]
    assert main(["estimate", *words]) == 0
    assert f"with the picture before the text: {operations(other['phases'][0]['flops'])}" in capsys.readouterr().out
    assert main(["estimate", *before]) == 0
    assert "picture before the text" not in capsys.readouterr().out


def test_a_terminal_is_told_that_it_takes_a_while(capsys, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    said(capsys, "laptop-ice", "--stage", "sft", *SMALL, *LITTLE)
    assert main(["estimate", "laptop-ice", "--stage", "sft", *SMALL, *LITTLE]) == 0
    shown = capsys.readouterr().err
    assert shown.startswith("\r\x1b[Kcounting what laptop-ice computes")
    assert shown.endswith("\r\x1b[K"), "it is taken away again"


def test_flags_change_what_is_estimated(capsys):
    plain = ["engine.kind=plain"]
    (one,) = said(capsys, "paper-sokoban", "--stage", "grpo", *SMALL, *LITTLE, *plain)
    changes = [*SMALL, *LITTLE, *plain, "variant=depth-only"]
    (other,) = said(capsys, "paper-sokoban", "--stage", "grpo", "--size", "6", *changes)
    assert (one["task"], one["size"], other["size"]) == ("sokoban", [7, 7], [6, 6])
    assert sum(other["model"]["trained"].values()) < sum(one["model"]["trained"].values())


def test_a_time_needs_a_rate(capsys):
    words = ["laptop-ice", "--stage", "sft", *SMALL, *LITTLE]
    assert said(capsys, *words)[0]["seconds"] is None
    (timed,) = said(capsys, *words, "--peak", "1", "--share", "0.5")
    assert timed["seconds"] == pytest.approx(timed["flops"] / 0.5e12)
    assert timed["rate"]["source"] == "as said on the command line"


def test_a_recipe_for_several_puzzles_is_estimated_for_each(capsys):
    assert main(["estimate", "laptop-joint", "--stage", "sft", *SMALL, *LITTLE]) == 0
    text = capsys.readouterr().out
    assert [line.split(",")[1] for line in text.splitlines() if line.startswith("sft")] == [
        " sliding 3x3",
        " sokoban 8x8",
    ]
    assert "a warm start takes the mean of the times" in text
    (one,) = said(capsys, "laptop-joint", "--stage", "sft", "--task", "sokoban", *SMALL, *LITTLE)
    assert one["task"] == "sokoban"


def test_each_puzzle_of_a_recipe_has_its_own_values_and_boards():
    """Those of the preset whose warm start all puzzles share."""
    for name, budget in (("sliding", 5), ("sokoban", 6)):
        ((config, puzzle),) = EstimateOptions("paper-joint", "grpo", task=name).stages()
        assert (config.rollout.budget, config.optim.batch) == (budget, 128)
        assert puzzle.shape == {"sliding": (3, 3), "sokoban": (7, 7)}[name]
    every = EstimateOptions("paper-joint").stages()
    assert [puzzle.task for _, puzzle in every] == ["sliding", "sokoban"] * 2


def test_a_recipe_of_ones_own_is_estimated_for_the_puzzles_of_its_policy(tmp_path):
    own = tmp_path / "own.yaml"
    own.write_text("sft: {model: {backbone: Qwen/Qwen2.5-VL-7B-Instruct, dtype: bfloat16}}\n")
    assert [puzzle.task for _, puzzle in EstimateOptions(str(own)).stages()] == ["sliding", "sokoban"]
