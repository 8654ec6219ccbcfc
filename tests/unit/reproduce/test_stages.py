"""One reproduction at a time in a folder."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from recommit.reproduce import evaluations, preset, stages
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
        stages.reproduce(str(tmp_path / "preset.yaml"), tmp_path / "out", verbs={}, quiet=True)

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
    monkeypatch.setattr(evaluations, "_whom", lambda *_: [])
    (tmp_path / "preset.yaml").write_text(PRESET.replace("seeds: [0]", "seeds: [0], evaluate: {VALUES}"))
    words = {}
    for values in ("regret: true, instances: 8", "regret: false, length: [1, 3]"):
        text = (tmp_path / "preset.yaml").read_text().replace("VALUES", values)
        (tmp_path / "this.yaml").write_text(text)
        (entry,) = preset.entries(preset.load(str(tmp_path / "this.yaml"), ()), tmp_path / "out")
        words[values] = evaluations.job(entry, 0, ()).words
    asked, plain = words.values()
    assert asked[-3:] == ("--regret", "--instances", "8")
    assert plain[-3:] == ("--length", "1", "3")
    assert "--regret" not in plain
