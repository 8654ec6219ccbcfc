"""One reproduction at a time in a folder; and what of a preset waits for what, or is left out because it is there."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

from recommit.reproduce import preset, stages
from recommit.reproduce.options import ReproduceOptions
from recommit.storage.errors import FolderBusy

PRESET = """
tasks:
  one: {data: {task: sliding, size: 2, difficulties: [{length: [1, 3]}], count: 2}, recipe: laptop-sliding,
        variants: [adaptive], seeds: [0]}
"""


class Reached(Exception):
    """As far as a test goes."""


def test_a_second_one_is_refused_before_it_touches_anything(tmp_path, monkeypatch):
    (tmp_path / "preset.yaml").write_text(PRESET)
    being_written = tmp_path / "out" / "one" / ".report.html.1-00000000.tmp"

    def reproduce():
        stages.reproduce(ReproduceOptions(tmp_path / "out", str(tmp_path / "preset.yaml")), quiet=True)

    def meanwhile(_task):
        monkeypatch.setattr(stages.Task, "data", pytest.fail)
        being_written.write_text("half a page")
        with pytest.raises(FolderBusy, match="out: another reproduction is running here"):
            reproduce()
        assert being_written.exists()
        raise Reached

    monkeypatch.setattr(stages.Task, "data", meanwhile)
    with pytest.raises(Reached):
        reproduce()
    assert not (tmp_path / "out" / ".lock").exists()


def test_a_switch_of_an_evaluation_stands_alone(tmp_path, monkeypatch):
    """On several ranks an evaluation is a command, and a command has no ``--regret True``."""
    monkeypatch.setattr(stages, "_whom", lambda *_: {"run": "family"})
    (tmp_path / "preset.yaml").write_text(PRESET.replace("seeds: [0]", "seeds: [0], evaluate: {VALUES}"))
    words = {}
    for values in ("regret: true, instances: 8", "regret: false, length: [1, 3]"):
        text = (tmp_path / "preset.yaml").read_text().replace("VALUES", values)
        (tmp_path / "this.yaml").write_text(text)
        (entry,) = preset.entries(preset.load(str(tmp_path / "this.yaml"), ()), tmp_path / "out")
        words[values] = stages.evaluation_job(entry, 0, next(iter(entry.data.values())), ()).words
    asked, plain = words.values()
    assert asked[-3:] == ("--regret", "--instances", "8")
    assert plain[-3:] == ("--length", "1", "3")
    assert "--regret" not in plain


def needs_of(entry):
    """Names of all pieces of a puzzle, and of those that each waits for, without their folders."""
    every = [*stages.pieces(entry, True), *stages.evaluation_pieces(entry, True)]
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


def test_what_begins_with_something_unfinished_is_asked_again(tmp_path, monkeypatch):
    """A run that is there may have begun with other weights than those that its warm start will have."""
    (entry,) = preset.entries(preset.load("demo"), tmp_path)
    runs = type(entry.runs[0])
    monkeypatch.setattr(runs, "skipped", lambda _: True)
    assert stages._finished(entry) == {str(run.folder) for run in entry.runs}
    monkeypatch.setattr(runs, "skipped", lambda run: run.name == "adaptive-s0")
    assert stages._finished(entry) == set()
