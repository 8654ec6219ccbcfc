"""Child processes that answer."""

from __future__ import annotations

import queue
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from recommit.storage import children
from recommit.storage.children import Children
from recommit.storage.errors import WorkerDied

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = """
import os
from recommit.storage.children import serve

def begin(about):
    def answer(request):
        print("noise")
        os.write(1, b"more noise")
        if request["x"] < 0:
            os._exit(7)
        return {"sum": request["x"] + about["plus"], "by": os.getpid(), "said": os.environ["SAID"]}
    return answer

def main():
    serve(begin)
"""


@pytest.fixture
def adders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    (tmp_path / "adders.py").write_text(PROGRAM)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    doing = lambda request: f"added to {request['x']}"
    with Children("adders", 2, {"plus": 10}, doing, settings={"SAID": "yes"}) as made:
        yield made


def test_each_request_is_answered_once_whatever_is_printed(adders: Children) -> None:
    replies = dict(adders.ask([{"x": x} for x in range(20)]))
    assert [replies[x]["sum"] for x in range(20)] == list(range(10, 30))
    again = dict(adders.ask([{"x": x} for x in range(5)]))
    assert {reply["by"] for reply in again.values()} <= {reply["by"] for reply in replies.values()}
    assert {reply["said"] for reply in again.values()} == {"yes"}


def test_a_child_that_dies_is_named_with_what_it_did(adders: Children) -> None:
    with pytest.raises(WorkerDied, match="a process that added to -1 ended with status 7; the same command goes on"):
        list(adders.ask([{"x": -1}, {"x": 1}]))


def test_nobody_is_left_behind(adders: Children) -> None:
    with adders:
        list(adders.ask([{"x": 1}]))
    assert [child.poll() for child in adders._children] == [-9]


def test_an_answer_that_breaks_off_is_an_end() -> None:
    """The child was killed in the middle of a line."""
    half = "import sys; sys.stdin.readline(); sys.stdout.write('{\"outcomes\"'); sys.stdout.close()"
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    todo, done = queue.SimpleQueue[Any](), queue.SimpleQueue[Any]()
    todo.put((3, {"ask": "look"}))
    with subprocess.Popen([sys.executable, "-c", half], **pipes) as child:
        children._hand_over(child, todo, done)
    assert done.get_nowait() == (3, 0)
