"""Ctrl-C, the line of progress, curves."""

from __future__ import annotations

import os
import signal
import sys
import types

import pytest
from tests.refusals import refused

from recommit.runs.progress import Curves, Interrupt, Progress, refuse_missing


def test_the_first_ctrl_c_asks_and_the_second_ends():
    before = signal.getsignal(signal.SIGINT)
    with Interrupt() as interrupt:
        assert not interrupt.number
        signal.raise_signal(signal.SIGINT)
        assert interrupt.number == signal.SIGINT
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


def test_progress_says_where_it_is(capsys):
    progress = Progress(10, 0, pause=0.0)
    progress.show(5, 1234.5, 0.25)
    progress.say("a line")
    Progress(10, 0, quiet=True).say("nothing")
    said = capsys.readouterr().err
    assert "step 5/10  loss 0.2500" in said
    assert "states/s" in said
    assert "nothing" not in said


@pytest.mark.skipif(os.name == "nt", reason="names are text there")
def test_a_folder_whose_name_is_no_text_has_curves(tmp_path):
    Curves(tmp_path / os.fsdecode(b"\xff"), tensorboard=False, projects={}, whole={}, step=0).close()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_curves_are_written(tmp_path):
    pytest.importorskip("tensorboard")
    curves = Curves(tmp_path, tensorboard=True, projects={}, whole={}, step=0)
    curves.add(1, {"loss": 1.0, "solved": {"1": 0.5}, "accuracy": [0.1, 0.2], "text": "no number"})
    curves.close()
    assert list((tmp_path / "tensorboard").iterdir())


class Tracker:
    """A stand-in for a run of wandb or trackio."""

    def __init__(self, **options):
        self.options, self.logged, self.ended = options, [], 0

    def log(self, values, step):
        self.logged.append((step, values))

    def finish(self):
        self.ended += 1


@pytest.mark.parametrize(("package", "key"), [("wandb", "id"), ("trackio", "name")])
def test_runs_of_one_name_are_several_runs_of_a_tracker(tmp_path, monkeypatch, package, key):
    """And a run that goes on is the same one. W&B knows it by its id, trackio by its name."""
    made, fake = [], types.ModuleType(package)
    fake.init = lambda **options: made.append(Tracker(**options)) or made[-1]
    monkeypatch.setitem(sys.modules, package, fake)
    given = {"tensorboard": False, "projects": {package: "mine"}, "whole": {"seed": 3}, "step": 0}
    for puzzle in ("sliding", "sokoban", "sliding"):
        curves = Curves(tmp_path / puzzle / "family" / "adaptive-s42", **given)
        curves.add(7, {"loss": 0.5, "solved": {"4": 0.25}}, "grpo")
        curves.close()
    Curves(None, **given)  # of another rank than the first
    first, other, again = (run.options for run in made)
    assert first == again
    assert first[key] != other[key]
    assert "sokoban/family/adaptive-s42" in other["name"]
    assert (other["project"], other["group"]) == ("mine", f"{tmp_path.name}/sokoban/family"[-14:])
    assert (other["config"], other["resume"]) == ({"seed": 3}, "allow")
    assert (made[1].logged, made[1].ended) == ([(7, {"grpo/loss": 0.5, "grpo/solved/4": 0.25})], 1)


@pytest.mark.parametrize("package", ["wandb", "trackio"])
def test_a_tracker_must_be_there(monkeypatch, package):
    refuse_missing({package: ""})
    says = f"{package}: expected the package {package} (pip install {package}, or with the rest of recommit "
    for stand_in in (None, types.ModuleType(package)):  # none, and a folder of W&B's runs, which has no init
        monkeypatch.setitem(sys.modules, package, stand_in)
        refused([(lambda: refuse_missing({package: "mine"}), says)])


def test_a_run_of_few_long_steps_is_not_silent(capsys):
    progress = Progress(4, 1, pause=0.0)
    progress.between(2)
    progress.say("finished")
    progress.between(4)  # the last step is always logged
    Progress(4, 1, pause=0.0, quiet=True).between(2)
    Progress(4, 1, pause=1e9).between(2)
    assert capsys.readouterr().err == "step 2/4  0:00 left\nfinished\n"
