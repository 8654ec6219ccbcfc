"""F11: each decision is answered once, whatever kills the run, and a kill costs what was under way."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from tests.crash.killer import SIGNALS, wanted
from tests.unit.zero_shot.called import zero_shot
from tests.unit.zero_shot.servers import Held, answer, journal_of, silence
from tests.waiting import HANG, until

PLAY_ONCE = Path(__file__).parent / "play_once.py"


def summary(out):
    return json.loads((out / "summary.json").read_text())[0]


def start(out, url, *, mode="plain", instances=12, workers=1, env=None):
    command = [sys.executable, str(PLAY_ONCE), mode, str(out), url, str(instances), str(workers)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)


def kill_on_the_way(server, held, out, kills, *, instances=12, workers=1, seed=0):
    """End a run again and again, some requests after its start: while it waits for the answer to one, or, every other
    time, whatever it does after the answer. It cannot end before, since the last answers are held back: Ctrl-C comes
    as often as it takes."""
    draw, most = random.Random(seed), instances * 4 // (kills + 1)
    for kill in range(kills):
        goal = len(server.seen) + draw.randint(1, most)
        held.at = goal + kill % 2
        process = start(out, server.url, instances=instances, workers=workers)
        until(lambda goal=goal: len(server.seen) >= goal, process)
        number = draw.choice(SIGNALS)
        until(lambda process=process, how=number: process.poll() is not None or process.send_signal(how))
        process.communicate()
        assert process.returncode in [-number for number in SIGNALS]
    held.at = None


def finish(server, out, *, mode="plain", instances=12, workers=1):
    process = start(out, server.url, mode=mode, instances=instances, workers=workers)
    _, said = process.communicate(timeout=HANG)
    assert process.returncode == 0, said.decode()
    return len(server.seen) - len(journal_of(out))


def test_each_decision_is_answered_once_across_kills(serve, tmp_path):
    server, killed, workers = serve(script=(held := Held())), 3, 3
    kill_on_the_way(server, held, tmp_path, killed, workers=workers)
    repeated = finish(server, tmp_path, workers=workers)
    assert len(journal_of(tmp_path)) == 48
    assert repeated <= killed * workers  # what was under way when it was killed
    undisturbed = tmp_path / "undisturbed"
    flags = {"size": (2, 3), "length": (4, 12), "budget": 4, "instances": 12, "workers": 1, "quiet": True}
    zero_shot("tiny", undisturbed, endpoint="custom", base_url=server.url, **flags)
    assert (undisturbed / "episodes.jsonl").read_bytes() == (tmp_path / "episodes.jsonl").read_bytes()
    # Some were written down and killed before they reached the server.
    assert 48 + repeated <= summary(tmp_path)["requests"] <= 48 + killed * workers


def test_a_journal_written_after_the_episode_is_caught(serve, tmp_path):
    """The planted defect: a kill in the middle of an episode costs more than the one request under way."""
    server = serve(script=(held := Held()))
    held.at = 4  # the last of the first episode
    process = start(tmp_path, server.url, mode="late")
    until(lambda: len(server.seen) == 4, process)
    process.kill()
    process.communicate()
    held.at = None
    assert finish(server, tmp_path, mode="late") == 4


@pytest.mark.nightly
@pytest.mark.parametrize("workers", [1, 4])
def test_two_hundred_kills(workers, serve, tmp_path, record_property):
    kills = wanted(200)
    server = serve(script=(held := Held()))
    kill_on_the_way(server, held, tmp_path, kills, instances=500, workers=workers, seed=workers)
    repeated = finish(server, tmp_path, instances=500, workers=workers)
    assert len(journal_of(tmp_path)) == 2000
    assert repeated <= kills * workers
    record_property("executed", kills)
    print(f"{kills} kills, {workers} workers: {len(server.seen)} requests for 2000 decisions, {repeated} repeated")


def test_ctrl_c_waits_for_the_answer_and_goes_on_later(serve, tmp_path):
    gathered = threading.Event()
    server = serve(script=lambda _, number: (number < 3 or gathered.wait(), answer())[1])
    process = start(tmp_path, server.url, mode="cli")
    until(lambda: len(server.seen) == 3, process)
    process.send_signal(signal.SIGINT)
    assert any(b"once more ends at once" in line for line in process.stderr)
    gathered.set()
    _, said = process.communicate(timeout=HANG)
    assert process.returncode == 130, said.decode()
    assert b"Traceback" not in said
    assert len(journal_of(tmp_path)) == len(server.seen) == 3
    assert summary(tmp_path)["unfinished"] > 0
    server.script = server.in_turn
    assert finish(server, tmp_path) == 0


def test_ctrl_c_twice_does_not_wait(serve, tmp_path):
    server = serve(answer(), silence)
    process = start(tmp_path, server.url, mode="cli")
    until(lambda: len(server.seen) == 2, process)
    process.send_signal(signal.SIGINT)
    assert any(b"once more ends at once" in line for line in process.stderr)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=HANG)
    assert process.returncode == 130, said.decode()
    assert len(journal_of(tmp_path)) == 1
