"""The time that is left of a reproduction: what the preset expects, at this machine's pace."""

from __future__ import annotations

from recommit.reproduce import preset
from recommit.reproduce.preset import entries
from recommit.reproduce.schedule import StageSchedule
from recommit.reproduce.stages import Task


def test_the_rest_is_expected_at_the_pace_of_what_is_over():
    schedule = StageSchedule([1.0, 26.0, 91.0])
    assert schedule.place() == "1 of 3, some 1:58 left"
    schedule.passed(10.0)  # one second says nothing of a machine's pace
    assert schedule.place() == "2 of 3, some 1:57 left"
    schedule.passed(44.0)
    assert schedule.place() == "3 of 3, some 3:02 left"  # 91 s at twice the time


def test_what_was_there_already_says_nothing():
    schedule = StageSchedule([20.0, 30.0, 10.0])
    schedule.passed(0.5)
    assert schedule.remaining() == 40.0
    schedule.passed(60.0)
    assert schedule.remaining() == 20.0


def test_without_expectations_there_is_no_time():
    assert StageSchedule([None, 1.0]).place() == "1 of 2"


def test_the_demo_expects_something_of_every_stage(tmp_path):
    (entry,) = entries(preset.load("demo"), tmp_path)
    stages = Task(entry, 2, None, True, int).stages()
    assert StageSchedule([stage.seconds for stage in stages]).remaining() == sum(entry.values["seconds"].values())
    assert {stage.what for stage in stages} == set(entry.values["seconds"])
