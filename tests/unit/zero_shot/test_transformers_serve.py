"""``transformers serve`` itself is started, and driven by the command line: nothing about its dialect is assumed."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest

torch = pytest.importorskip("torch", reason="the model behind the server needs the train extra")
pytest.importorskip("transformers", reason="the server is a part of it")

from tests.ports import free_port
from tests.waiting import HANG, until

import recommit
from recommit.storage import jsonl

pytestmark = pytest.mark.nightly
ROOT = Path(__file__).resolve().parents[3]
#: Where scripts/verify installs what the server needs beside transformers: the dependency group 'serve'.
SERVING = Path(os.environ.get("RECOMMIT_SERVING", ROOT / "build" / "verify" / "serve"))
NEEDED = ("fastapi", "uvicorn", "openai", "torchvision")


def missing():
    return [name for name in NEEDED if not (SERVING / name).is_dir() and importlib.util.find_spec(name) is None]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Its address, and the folder in which it knows the model ``tiny``."""
    from recommit.policy.backbones.random_init import make_backbone

    if missing():
        pytest.skip(f"transformers serve needs {', '.join(missing())}: pip install 'transformers[serving]' torchvision")
    folder = tmp_path_factory.mktemp("served")
    make_backbone(folder / "tiny", "tiny")
    port = free_port()
    environment = {**os.environ, "PYTHONPATH": str(SERVING), "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    words = [sys.executable, str(Path(__file__).with_name("serve.py")), "tiny", str(port)]
    with (folder / "said.txt").open("w") as said:
        process = subprocess.Popen(words, cwd=folder, env=environment, stdout=said, stderr=subprocess.STDOUT)
    try:
        wait(process, f"http://127.0.0.1:{port}/health", folder / "said.txt")
        yield f"http://127.0.0.1:{port}/v1", folder
    finally:
        process.kill()
        process.wait()


def wait(process, address, said):
    """Until it answers."""
    until(lambda: process.poll() is not None or answers(address))
    if process.poll() is not None:
        pytest.fail(f"the server ended with {process.returncode}:\n{said.read_text()[-3000:]}")


def answers(address):
    try:
        with urlopen(address, timeout=HANG) as reply:
            return json.load(reply) == {"status": "ok"}
    except (URLError, OSError):
        return False


def play(server, out, *more, model="tiny", cell=28):
    address, folder = server
    words = f"zero-shot --endpoint custom --base-url {address} --model {model} --size 2 3 --length 6 14 --workers 1"
    words += f" --budget 2 --instances 2 --cell {cell} --answer-tokens 48 --quiet --out {out}"
    command = [sys.executable, "-m", "recommit.cli", *words.split(), *more]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def failures(out):
    return [line for line in jsonl.read(out / "attempts.jsonl") if line["event"] == "failed"]


def test_it_is_played_with_pictures_and_the_papers_sampling(server, tmp_path, record_property):
    tokens = {}
    for cell in (28, 56):
        done = play(server, tmp_path / str(cell), cell=cell)
        assert done.returncode == 0, done.stderr
        decisions = jsonl.read(tmp_path / str(cell) / "decisions.jsonl")
        assert len(decisions) == 4
        assert {one["model"] for one in decisions} == {"tiny@main"}
        assert all(
            one["tokens_out"] == 48 if one["outcome"] == "cut_off" else one["tokens_out"] <= 48 for one in decisions
        )
        assert len({one["text"] for one in decisions}) > 1, "answers are drawn"
        (tokens[cell],) = {one["tokens_in"] for one in decisions}
        manifest = json.loads((tmp_path / str(cell) / "manifest.json").read_text())
        assert manifest["run"]["parameters"] == {"temperature": 0.7, "top_p": 0.9, "answer_tokens": 48}
    # One token per 28 pixels of either side: the pictures arrived, and at the size that they were drawn.
    rows, cols = recommit.Sliding(2, 3).shape
    assert tokens[56] - tokens[28] == 3 * rows * cols
    record_property("executed", 8)


def test_its_own_words_are_kept(server, tmp_path):
    assert play(server, tmp_path / "extra", "--extra", '{"min_p": 0.1}').returncode == 1
    assert {(one["kind"], one["said"]) for one in failures(tmp_path / "extra")} == {
        ("http_422", "Unexpected fields in the request: {'min_p'}")
    }
    assert play(server, tmp_path / "model", model="other").returncode == 1
    assert {(one["kind"], one["said"]) for one in failures(tmp_path / "model")} == {
        ("http_400", "Server is pinned to 'tiny'; requested 'other'.")
    }
