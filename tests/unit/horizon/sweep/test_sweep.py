"""A sweep writes the same bytes however it came about, and says what was wrong with the programs it was given."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("gymnasium")
from gymnasium.wrappers import TimeLimit
from tests.refusals import refused
from tests.unit.horizon.sweep import toy
from tests.waiting import ended, until

from recommit.horizon.sweep import SweepOptions, programs, run, worker
from recommit.horizon.sweep import card as cards
from recommit.horizon.sweep.run import LOG
from recommit.storage import errors

TOY = Path(toy.__file__)


def options(out: Path, **given: Any) -> SweepOptions:
    usual = {"env": f"{TOY}:make", "policy": f"{TOY}:Policy", "episodes": 5, "validation": 4, "thresholds": 2}
    return SweepOptions(out=out, **{**usual, **given})


def swept(out: Path, **given: Any) -> dict[str, Any]:
    return run(options(out, **given), env=toy.make, policy=toy.Policy())


def test_a_level_is_solved_and_a_policy_swept_with_numpy_alone(tmp_path: Path) -> None:
    words = [sys.executable, TOY.with_name("alone.py"), tmp_path]
    shown = subprocess.run(words, check=False, capture_output=True, text=True)
    assert (shown.stdout, shown.stderr) == ("rRR 12.0 8.0\n", "")


@pytest.mark.parametrize("answers", [0, 1, 2, 9, 40])
def test_an_interrupted_sweep_goes_on_to_the_same_bytes(
    answers: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    swept(tmp_path / "whole")
    count, get = [0], worker.Seat.answer

    def stops(seat: worker.Seat, request: Any) -> Any:
        if count[0] == answers:
            raise KeyboardInterrupt
        count[0] += 1
        return get(seat, request)

    with monkeypatch.context() as patch:
        patch.setattr(worker.Seat, "answer", stops)
        with pytest.raises(KeyboardInterrupt):
            swept(tmp_path / "parts")
    log, kept = tmp_path / "parts" / LOG, answers if answers > 1 else 0  # a look alone claims no folder
    assert log.read_bytes().count(b"\n") == kept
    with log.open("ab") as file:  # what a crash of the machine leaves of a line
        file.write(b'{"key": "to')
    count[0] = 0
    monkeypatch.setattr(worker.Seat, "answer", lambda seat, request: [get(seat, request), count.append(1)][0])
    swept(tmp_path / "parts")
    whole = (tmp_path / "whole" / LOG).read_bytes().count(b"\n")
    again = (kept > 0) + (kept > 2)  # a look at the policy, and one batch: are they those of the log?
    assert len(count) - 1 == whole - kept + again, "what was played is not played again"
    assert (tmp_path / "parts" / "card.json").read_bytes() == (tmp_path / "whole" / "card.json").read_bytes()


def test_a_sweep_does_not_go_on_with_other_weights_or_another_environment(tmp_path: Path) -> None:
    """Neither changes the source of a class."""

    class Shifted(toy.Policy):
        def __init__(self, by: int) -> None:
            super().__init__()
            self.by = by

        def predict(self, observations: Any) -> Any:
            return super().predict(observations) + self.by

        def state_dict(self) -> dict[str, Any]:
            return {"by": np.array(self.by)}

    ticks = [9]
    make = lambda: TimeLimit(toy.make(), ticks[0])
    given = options(tmp_path / "out", thresholds=0)
    first = run(given, env=make, policy=Shifted(0))
    assert run(given, env=make, policy=Shifted(0)) == first
    with pytest.raises(ValueError, match=r"out: expected the policy .*, got others \(weights of the policy: \w+ then"):
        run(given, env=make, policy=Shifted(1))
    ticks[0] = 7
    with pytest.raises(ValueError, match=r"got others \(ticks: \[.*\] then, \[.*\] now\)"):
        run(given, env=make, policy=Shifted(0))


KILLED = """
import sys
from pathlib import Path
from recommit.horizon.sweep import SweepOptions, run
toy = sys.argv[1]
names = {"env": f"{toy}:make", "policy": f"{toy}:Policy"}
run(SweepOptions(out=Path("out"), episodes=6, validation=4, thresholds=2, batch=2, **names))
"""


def test_a_killed_sweep_goes_on_to_the_same_bytes_with_any_number_of_processes(tmp_path: Path) -> None:
    log = tmp_path / "out" / LOG
    with ended(subprocess.Popen([sys.executable, "-c", KILLED, str(TOY)], cwd=tmp_path)) as process:
        until(lambda: log.is_file() and log.read_bytes().count(b"\n") > 5, process)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert not (tmp_path / "out" / "card.json").exists()
    heard: list[tuple[int, int, str]] = []
    run(options(tmp_path / "out", episodes=6, batch=2, jobs=2), progress=lambda *each: heard.append(each))
    assert heard[-1][0] == heard[-1][1] > 0, "every episode counts once"
    alone = swept(tmp_path / "alone", episodes=6, batch=2)
    card = cards.read(tmp_path / "out" / "card.json")
    for made in (card, alone):  # objects are hashed by their source, and other packages may be imported beside them
        for name in ("digest", "env", "policy", "versions"):
            made.pop(name)
    assert card == alone


def test_another_sweep_is_refused_in_the_folder_and_a_changed_log_too(tmp_path: Path) -> None:
    refused([(lambda: swept(tmp_path, depths=(99,)), "depths: expected 1..6")])  # and claims no folder
    swept(tmp_path)
    log, own = tmp_path / LOG, tmp_path / "own"
    lines = log.read_bytes().splitlines(keepends=True)
    record = json.loads(lines[3])
    record["reply"]["outcomes"]["queries"][0] += 1
    own.mkdir()
    (own / "mine.txt").write_text("x")
    refused(
        [
            (lambda: swept(tmp_path, latency=1), "settings.latency was 0, is 1"),
            (lambda: swept(tmp_path, depths=(1, 2)), "depths was"),
            (lambda: swept(own), "got one with mine"),
        ],
        errors.WrongFolder,
    )
    log.write_bytes(b"".join([*lines[:3], json.dumps(record).encode() + b"\n", *lines[4:]]))
    refused([(lambda: swept(tmp_path), f"{LOG}: expected answers as they were written")], errors.Damaged)


PROGRAMS = {
    "divides": "class Policy:\n    def predict(self, observations):\n        return 1 / 0\n",
    "dies": "import os\nclass Policy:\n    def predict(self, observations):\n        os._exit(7)\n",
    "asks": "class Policy:\n    def predict(self, observations):\n        return input()\n",
}


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("divides", "divides.py, line 3: ZeroDivisionError"),
        ("dies", "ended with status 7; the same command goes on"),
        ("asks", "asks.py, line 3: EOFError"),  # it would read what the sweep asks it, and both would wait for ever
    ],
)
def test_what_a_program_does_is_a_sentence(program: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / f"{program}.py"
    path.write_text(PROGRAMS[program])
    refused([(lambda: run(options(tmp_path / "out", policy=f"{path}:Policy")), words)], errors.DataError)
    assert not (tmp_path / "out" / "sweep.json").exists(), "nothing was looked at"
    path.write_text(TOY.read_text("utf-8"))
    run(options(tmp_path / "out", policy=f"{path}:Policy", thresholds=0, depths=(2,)))


@pytest.mark.parametrize(
    ("given", "words", "wrong_call"),
    [
        ({"policy": "Policy"}, "builds.py, line 3: TypeError: object of type 'int' has no len()", False),
        ({"policy": "needs"}, "needs() missing 1 required positional argument: 'size'", True),
        ({"policy": "nobody"}, "which has no nobody", True),
        ({"env": "Pendulum-v9"}, "env: Environment version `v9` for environment `Pendulum` doesn't exist", True),
        ({"env_kwargs": '{"size": 1}'}, "make() got an unexpected keyword argument 'size'", True),
    ],
)
def test_programs_that_cannot_be_made(given: dict[str, str], words: str, wrong_call: bool, tmp_path: Path) -> None:
    """An error inside of a constructor is the program's, with its line."""
    program = tmp_path / "builds.py"
    lines = [
        "class Policy:",
        "    def __init__(self):",
        "        len(5)",
        "def needs(size):",
        "    pass",
        "number = int",
    ]
    program.write_text("\n".join(lines))
    if given.get("policy", ":").isidentifier():
        given = {"policy": f"{program}:{given['policy']}"}
    seat = worker.Seat(options(tmp_path, **given))
    reply = worker.answer(seat, {"ask": "look", "with": {"seed": 0}})
    assert words in reply["error"]
    assert reply["wrong_call"] == wrong_call


def test_a_file_is_run_once_unless_it_has_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that it loads is there once, however many copies of the environment there are."""
    program = tmp_path / "once.py"
    program.write_text(TOY.read_text("utf-8") + "\nimport sys\nsys.ran = [*getattr(sys, 'ran', []), 1]\n")
    monkeypatch.setattr(sys, "ran", [], raising=False)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setitem(sys.modules, "once", None)
    names = {"env": f"{program}:make", "policy": f"{program}:Policy", "batch": 4}
    player = worker.Seat(options(tmp_path, **names)).player
    player.slots.reset(range(4))
    assert len({type(each) for each in player.slots._envs}) == 1
    assert sys.ran == [1]
    program.write_text(program.read_text("utf-8") + "changed = True\n")
    assert programs.load("policy", f"{tmp_path}/../{tmp_path.name}/once.py:changed")
    assert programs.load("policy", f"{program}:changed")
    assert sys.ran == [1, 1]
    assert sys.path.count(str(tmp_path)) == 1


def test_an_environment_that_ignores_seeds_is_refused(tmp_path: Path) -> None:
    class Deaf(toy.Signal):
        count = 0

        def reset(self, *, seed: int | None = None, options: Any = None) -> Any:  # noqa: ARG002
            Deaf.count += 1
            return super().reset(seed=Deaf.count, options=options)

    with pytest.raises(ValueError, match="env: expected the same first observation from reset"):
        run(options(tmp_path), env=Deaf, policy=toy.Policy())
