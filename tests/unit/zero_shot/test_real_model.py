"""A real model behind a real server: pictures travel the whole way, and a run that is killed asks once."""

from __future__ import annotations

import hashlib
import json
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the model behind the server needs the train extra")
pytest.importorskip("transformers", reason="the model behind the server needs the train extra")
pytest.importorskip("PIL", reason="the server reads pictures")

from tests.unit.zero_shot.servers import journal_of
from tests.waiting import HANG, until

import recommit
from recommit.storage import jsonl

INSTANCES, BUDGET, CELL = 8, 3, 28


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    from tests.unit.zero_shot.model_server import Model

    from recommit.policy.backbones.make import make_backbone

    torch.set_num_threads(1)
    return Model(make_backbone(tmp_path_factory.mktemp("model"), "tiny"))


@pytest.fixture
def server(model):
    from tests.unit.zero_shot.model_server import ModelServer

    made = ModelServer(model)
    threading.Thread(target=made.serve_forever, args=(0.01,), daemon=True).start()
    yield made
    made.shutdown()
    made.server_close()


def start(server, out):
    words = (
        f"zero-shot --endpoint transformers-serve --base-url {server.url} --model tiny --size 2 3 --length 6 "
        "14 --workers 1"
    )
    words += f" --budget {BUDGET} --instances {INSTANCES} --cell {CELL} --quiet --out {out}"
    command = [sys.executable, "-m", "recommit.cli", *words.split()]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def kill_on_the_way(server, out, number):
    """While it waits for an answer, or, every other time, whatever it does after one: half of the kills let one more
    decision pass, and there are more instances than that, so that no run ends before it is killed."""
    goal = len(server.seen) + 1
    server.most = goal - number % 2
    process = start(server, out)
    until(lambda: len(server.seen) >= goal, process)
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL


@pytest.mark.nightly
@pytest.mark.parametrize("kills", [10])
def test_a_run_that_is_killed_asks_every_decision_once(server, tmp_path, kills):
    for number in range(kills):
        kill_on_the_way(server, tmp_path, number)
    server.most = None
    process = start(server, tmp_path)
    said, wrong = process.communicate(timeout=HANG)
    assert process.returncode == 0, wrong.decode()
    decisions = jsonl.read(tmp_path / "decisions.jsonl")
    assert len(journal_of(tmp_path)) == len(decisions)
    episodes = jsonl.read(tmp_path / "episodes.jsonl")
    assert len(episodes) == INSTANCES
    assert sum(one["decisions"] for one in episodes) == len(decisions)
    assert all(one["finished"] for one in episodes)
    assert 0 <= len(server.seen) - len(decisions) <= kills, "more than the one request under way was asked again"
    assert f"of {INSTANCES}" in said.decode()
    # What was drawn here is what arrived there, and what was said there is what was carried out here.
    task, gathered = recommit.Sliding(2, 3), {}
    for picture, text in server.seen:
        gathered.setdefault(picture, []).append(text)
    for one in decisions:
        drawn = task.render(np.array([one["state"]], np.uint8), cell=CELL)[0]
        assert one["text"] in gathered[hashlib.sha256(drawn.tobytes()).hexdigest()]
        assert one["outcome"] == "ok"
        assert one["actions"] == json.loads(one["text"])["actions"]


def test_the_model_sees_the_picture(model):
    """The planted defect would be a server, or a client, that drops it: other boards, same chances."""
    from recommit.puzzles.frames import encode_png
    from recommit.zero_shot import game, messages
    from recommit.zero_shot.endpoints import ENDPOINTS

    task = recommit.Sliding(2, 3)
    system, text = game.prompts("sliding")
    logits = []
    for picture in task.render(task.generate(2, seed=0, length=(6, 14)).states, cell=CELL):
        question = messages.Question(system.text, text.text, encode_png(picture))
        body = json.loads(messages.write(ENDPOINTS["transformers-serve"], "tiny", question, {}))
        asked, made, arrived = model.looked(body)
        assert np.array_equal(arrived, picture)
        logits.append(model.likely(asked, made, "")[0])
    assert not torch.equal(*logits)
