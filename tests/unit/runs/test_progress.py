"""Ctrl-C, the line of progress, curves."""

from __future__ import annotations

import signal
import sys
import types

import pytest

from recommit.runs.progress import Curves, Interrupt, Progress, named


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
    progress.show(5, 1234.5, 9999.0, 0.25)
    progress.say("a line")
    Progress(10, 0, quiet=True).say("nothing")
    said = capsys.readouterr().err
    assert "step 5/10  loss 0.2500" in said
    assert "states/s" in said
    assert "nothing" not in said


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_curves_are_written(tmp_path):
    pytest.importorskip("tensorboard")
    curves = Curves(tmp_path, tensorboard=True, wandb=None, whole={}, step=0)
    curves.add(1, {"loss": 1.0, "solved": {"1": 0.5}, "accuracy": [0.1, 0.2], "text": "no number"})
    curves.close()
    assert list((tmp_path / "tensorboard").iterdir())


def test_runs_of_one_name_are_several_runs_of_wandb(tmp_path, monkeypatch):
    """And a run that goes on is the same one."""
    made = []
    fake = types.ModuleType("wandb")
    fake.init = lambda **options: made.append((options["id"], options["name"]))
    monkeypatch.setitem(sys.modules, "wandb", fake)
    folders = [tmp_path / puzzle / "adaptive-s42" for puzzle in ("sliding", "sokoban", "sliding")]
    for folder in folders:
        Curves(folder, tensorboard=False, wandb="project", whole={}, step=0)
    assert made[0] == made[2] != made[1]
    assert made[1][1].endswith("sokoban/adaptive-s42")
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(ValueError, match=r"run\.wandb: expected the package wandb \(pip install wandb\)"):
        Curves(tmp_path, tensorboard=False, wandb="project", whole={}, step=0)


def test_a_run_of_few_long_steps_is_not_silent(capsys):
    progress = Progress(4, 1, pause=0.0)
    with named("adaptive-s0"):
        progress.between(2)
        progress.say("finished")
    progress.between(4)  # the last step is always logged
    Progress(4, 1, pause=0.0, quiet=True).between(2)
    Progress(4, 1, pause=1e9).between(2)
    assert capsys.readouterr().err == "adaptive-s0: step 2/4  0:00 left\nadaptive-s0: finished\n"
