"""What of a preset waits for what, and what is left out because it is there."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

from recommit.reproduce import preset, training


def needs_of(entry):
    """Names of all pieces of a puzzle, and of those that each waits for, without their folders."""
    every = [*training.pieces(entry, {}, True), *training.evaluation_pieces(entry, True)]
    return {Path(piece.name).name: {Path(need).name for need in piece.needs} for piece in every}


@pytest.mark.parametrize(("puzzle", "plans"), [("sliding", "adaptive"), ("sokoban", "sft")])
def test_pieces_of_the_laptop_preset(tmp_path, puzzle, plans):
    """Heads wait for their plans alone; an evaluation for all of its seed, the first for everything."""
    entries = {entry.name: entry for entry in preset.entries(preset.load("laptop"), tmp_path)}
    entry = entries[puzzle]
    needs = needs_of(entry)
    assert needs["sft-s1"] == {"data"}
    assert needs["adaptive-s1"] == {"sft-s1"}
    assert needs["heads-s1"] == {f"{plans}-s1"}
    own = {"sft-s1", "heads-s1", *(f"{name}-s1" for name in ("adaptive", "fixed-4", "fixed-8", "random"))}
    assert needs["fresh-s1"] == own
    evaluations = {f"fresh-s{seed}" for seed in entry.seeds}
    assert needs["fresh-s0"] == set(needs) - evaluations
    assert {run.folder.name for run in entry.runs} | evaluations | {f"heads-s{s}" for s in entry.seeds} == set(needs)


def test_pieces_at_one_depth_alone_begin_with_their_own_warm_start(tmp_path):
    (entry,) = preset.entries(preset.load("demo", ["singles=[4]"]), tmp_path)
    needs = needs_of(entry)
    assert needs["single-4-s0"] == {"single-4-init"}
    assert needs["single-4-init"] == {"data"}


def test_one_seed_is_evaluated_later_with_every_core(tmp_path):
    (entry,) = preset.entries(preset.load("demo"), tmp_path)
    assert training.evaluation_pieces(entry, True) == []


def test_what_begins_with_something_unfinished_is_asked_again(tmp_path, monkeypatch):
    """A run that is there may have begun with other weights than those that its warm start will have."""
    (entry,) = preset.entries(preset.load("demo"), tmp_path)
    runs = type(entry.runs[0])
    monkeypatch.setattr(runs, "skipped", lambda _: True)
    assert training._finished(entry) == {str(run.folder) for run in entry.runs}
    monkeypatch.setattr(runs, "skipped", lambda run: run.name == "adaptive-s0")
    assert training._finished(entry) == set()
