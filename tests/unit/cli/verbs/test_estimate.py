"""``recommit estimate``, by its words."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("torch")
pytest.importorskip("peft")

from recommit.cli import main
from recommit.estimate import EstimateOptions

SMALL = ["--card", "cpu", "--set", "model.backbone=random:tiny"]
LITTLE = ["optim.batch=8", "validation.instances=0", "model.policy.decoder={width: 32, layers: 1, heads: 2, ffn: 64}"]


def said(capsys, *words):
    """What a plan says as JSON."""
    assert main(["estimate", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_both_stages_are_estimated_in_words(capsys):
    assert main(["estimate", "laptop-sliding", *SMALL, *LITTLE, "engine.kind=plain"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("sft, sliding-3x3, on 1 rank\n")
    assert "\n\ngrpo, sliding-3x3" in text
    assert "step of the depth head alone, 2 of them" in text
    assert "it fits" in text
    assert text.endswith("\n\nBy arithmetic; no run of it was measured on a GPU: docs/a100.md says how.\n")


def test_flags_change_what_is_estimated(capsys):
    plain = ["engine.kind=plain"]
    (one,) = said(capsys, "paper-sokoban", "--stage", "grpo", *SMALL, *LITTLE, *plain)
    changes = [*SMALL, *LITTLE, *plain, "variant=depth-only"]
    (other,) = said(capsys, "paper-sokoban", "--stage", "grpo", "--puzzles", "sokoban-6x6", *changes)
    assert (one["puzzles"], other["puzzles"]) == (["sokoban-8x8"], ["sokoban-6x6"])
    assert sum(other["trained"].values()) < sum(one["trained"].values())


def test_puzzles_of_one_run_are_estimated_together(capsys):
    (one,) = said(capsys, "laptop-joint", "--stage", "sft", *SMALL, *LITTLE)
    assert one["puzzles"] == ["sliding-3x3", "sokoban-8x8"]
    assert [states for _, states, _ in one["phases"][0]["passes"]["learn"]] == [4, 4]
    assert main(["estimate", "laptop-joint", "--puzzles", "sliding"]) == 2


def test_a_recipe_of_ones_own_is_estimated_for_the_puzzles_of_its_policy(tmp_path):
    own = tmp_path / "own.yaml"
    own.write_text("sft: {model: {backbone: Qwen/Qwen2.5-VL-7B-Instruct, dtype: bfloat16}}\n")
    assert [puzzle.task for puzzle in EstimateOptions(str(own)).boards] == ["sliding", "sokoban"]
