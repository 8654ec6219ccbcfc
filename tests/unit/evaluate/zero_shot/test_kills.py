"""F11: each decision is answered once, whatever kills the run, and a kill costs what was under way."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.unit.evaluate.zero_shot.servers import GOOD, answer, journal_of, silence

from recommit.zero_shot_command import zero_shot

PLAY_ONCE = Path(__file__).parent / "play_once.py"


def summary(out):
    return json.loads((out / "summary.json").read_text())[0]


def start(out, url, *, mode="plain", instances=12, workers=1, env=None):
    command = [sys.executable, str(PLAY_ONCE), mode, str(out), url, str(instances), str(workers)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)


def kill_at_random(server, out, kills, *, mode="plain", instances=12, workers=1, seed=0):
    """Kill a run again and again, each time some requests after its start; how often it really was killed."""
    draw, killed = random.Random(seed), 0
    left = instances * 4 / (kills + 1)
    for _ in range(kills):
        process = start(out, server.url, mode=mode, instances=instances, workers=workers)
        goal = len(server.seen) + draw.randint(1, max(1, int(1.8 * left)))
        while len(server.seen) < goal and process.poll() is None:
            time.sleep(0.001)
        time.sleep(draw.random() * 0.02)
        process.kill()
        process.communicate()
        killed += process.returncode == -signal.SIGKILL
    return killed


def slowly(_, __):
    time.sleep(0.004)
    return answer(GOOD)


def finish(server, out, *, mode="plain", instances=12, workers=1):
    process = start(out, server.url, mode=mode, instances=instances, workers=workers)
    _, said = process.communicate(timeout=300)
    assert process.returncode == 0, said.decode()
    return len(server.seen) - len(journal_of(out))


@pytest.mark.parametrize("workers", [1, 3])
def test_each_decision_is_answered_once_across_kills(workers, serve, tmp_path):
    server = serve(script=slowly)
    killed = kill_at_random(server, tmp_path, 6 // workers + 1, workers=workers)
    repeated = finish(server, tmp_path, workers=workers)
    assert killed > 0
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
    server = serve(script=slowly)
    process = start(tmp_path, server.url, mode="late")
    while len(server.seen) < 4:
        time.sleep(0.001)
    process.kill()
    process.communicate()
    assert finish(server, tmp_path, mode="late") > 1


@pytest.mark.nightly
@pytest.mark.parametrize("workers", [1, 4])
def test_two_hundred_kills(workers, serve, tmp_path):
    kills = int(os.environ.get("RECOMMIT_ZERO_SHOT_KILLS", "200"))
    server = serve(script=slowly)
    killed = kill_at_random(server, tmp_path, kills, instances=500, workers=workers, seed=workers)
    repeated = finish(server, tmp_path, instances=500, workers=workers)
    assert killed > kills * 0.9
    assert len(journal_of(tmp_path)) == 2000
    assert repeated <= killed * workers
    print(f"{killed} kills, {workers} workers: {len(server.seen)} requests for 2000 decisions, {repeated} repeated")


def test_ctrl_c_waits_for_the_answer_and_goes_on_later(serve, tmp_path):
    server = serve(script=lambda *_: time.sleep(0.1) or answer())
    process = start(tmp_path, server.url, mode="cli")
    while len(server.seen) < 3:
        time.sleep(0.001)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said.decode()
    assert b"interrupted" in said
    assert b"Traceback" not in said
    assert len(journal_of(tmp_path)) == len(server.seen) >= 3
    assert summary(tmp_path)["unfinished"] > 0
    server.script = server.in_turn
    assert finish(server, tmp_path) == 0


def test_ctrl_c_twice_does_not_wait(serve, tmp_path):
    server = serve(answer(), silence)
    process = start(tmp_path, server.url, mode="cli")
    while len(server.seen) < 2:
        time.sleep(0.001)
    process.send_signal(signal.SIGINT)
    assert b"once more ends at once" in process.stderr.readline()
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said.decode()
    assert len(journal_of(tmp_path)) == 1
