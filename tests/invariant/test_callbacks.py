"""What a caller's ``progress`` may do in the middle of a long call, and what a fork in the middle of one leaves."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from tests.waiting import HANG

import recommit
from recommit import _core


def hall() -> np.ndarray:
    """A level of five boxes whose table takes long enough to be looked at."""
    grid = np.ones((9, 9), np.uint8)
    grid[1:8, 1:8] = 0
    grid.flat[[20, 21, 22, 29, 30]] = 2
    grid.flat[[40, 41, 42, 49, 50]] = 3
    grid[1, 1] = 5
    return grid[None]


@pytest.fixture(autouse=True)
def forgotten():
    _core.sokoban.table_cache(clear=True)


def raising(calls: list[int]):
    def progress(done: int) -> None:
        calls.append(done)
        raise RuntimeError(f"call {len(calls)}")

    return progress


@pytest.mark.parametrize("threads", [1, 2])
def test_the_first_error_ends_the_call_and_is_the_one_that_is_raised(threads):
    states = np.repeat(recommit.Sokoban(8, 2).generate(8, seed=0).states, 4096, axis=0)
    raised = []
    for attempt in range(5000):
        if raised and attempt >= 50:
            break
        calls: list[int] = []
        try:
            recommit.Sokoban(8, 2).distance(states, threads=threads, progress=raising(calls))
        except RuntimeError as error:
            raised.append(str(error))
        # On a busy machine the other thread may do everything before this one asks for the first time.
        assert len(calls) <= 1
    assert set(raised) == {"call 1"}
    assert len(raised) == 50 or threads > 1


def test_an_error_after_the_last_piece_is_raised_too():
    """The only piece is under way when ``progress`` is asked for the second time: nothing is left that could stop."""
    state = recommit.Sokoban(6, 1).generate(1, seed=0).states
    for threads in (1, 4):
        with pytest.raises(RuntimeError, match=r"call 1$"):
            recommit.Sokoban(6, 1).distance(state, threads=threads, progress=raising([]))


@pytest.mark.parametrize(
    "asked",
    [
        lambda: recommit.Sokoban(9, 5).distance(hall()),
        lambda: recommit.Sliding(2, 4).solve(recommit.Sliding(2, 4).legend()[0]),
        lambda: recommit.Sokoban(6, 1).generate(1),
    ],
    ids=["same", "other", "generate"],
)
def test_a_solver_inside_progress_is_refused(asked):
    """It would wait for tables that its own caller is making."""
    with pytest.raises(ValueError, match="progress: expected a callback that asks for no generating or solving"):
        recommit.Sokoban(9, 5).distance(hall(), progress=lambda _done: asked())
    assert recommit.Sokoban(9, 5).distance(hall()).tolist() == [-1], "and what comes afterwards works"


def test_what_needs_no_solver_is_allowed_inside_progress():
    seen = []

    def progress(_done: int) -> None:
        seen.append(recommit.Sokoban(9, 5).render(hall(), 8).shape)
        seen.append(_core.sokoban.table_cache()["levels"])

    recommit.Sokoban(9, 5).distance(hall(), progress=progress)
    assert seen[0] == (1, 72, 72, 3)


def said(code: str) -> str:
    """What a process of its own prints; one that waits for itself is ended."""
    call = [sys.executable, "-W", "ignore", "-c", textwrap.dedent(code)]
    done = subprocess.run(call, check=False, capture_output=True, text=True, timeout=HANG)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_looking_at_the_cache_while_others_wait_for_a_table():
    """One thread makes the table, others wait for it and have a callback: their lock must not be held while they ask
    for the interpreter, which the thread that looks has."""
    code = """
        import threading
        import recommit
        from recommit import _core
        from tests.invariant.test_callbacks import hall
        answers = []
        ask = lambda: answers.append(recommit.Sokoban(9, 5).distance(hall(), progress=lambda _done: None).tolist())
        asking = [threading.Thread(target=ask) for _ in range(3)]
        for each in asking:
            each.start()
        while any(each.is_alive() for each in asking):
            _core.sokoban.table_cache()
        print(answers)
    """
    assert said(code) == "[[-1], [-1], [-1]]\n"


@pytest.mark.parametrize(
    "call",
    [
        "Sliding(3).distance(board, **how).tolist()",
        "Sokoban(9, 5).distance(hall(), **how).tolist()",
    ],
    ids=["table", "level"],
)
def test_progress_may_wait_for_a_thread_that_needs_the_same_table(call, tmp_path):
    """The other thread makes a second one, and its answer is the same; else both would wait for ever."""
    code = f"""
        import os, threading
        import numpy as np
        import recommit
        from tests.invariant.test_callbacks import hall
        os.environ["RECOMMIT_CACHE"] = {str(tmp_path)!r}
        board = np.arange(9, dtype=np.uint8)[::-1].reshape(1, 3, 3).copy()
        answers, others = [], []
        def ask(**how):
            answers.append(recommit.{call})
        def progress(*_done):
            if not others:
                others.append(threading.Thread(target=ask))
                others[0].start()
                others[0].join()
        ask(progress=progress)
        print(len(others), len(answers), answers[0] == answers[1])
    """
    assert said(code) == "1 2 True\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork there")
def test_a_child_forked_in_the_middle_of_a_build_can_build():
    """In a process of its own: the parent's other thread is making tables when the child begins."""
    code = """
        import os, signal, sys, threading
        import numpy as np
        import recommit
        from tests.invariant.test_callbacks import hall
        board = np.arange(9, dtype=np.uint8).reshape(1, 3, 3)
        for task, states in ((recommit.Sokoban(9, 5), hall()), (recommit.Sliding(3, 3), board)):
            begun = threading.Event()
            options = {"progress": lambda _done: begun.set()}
            work = threading.Thread(target=task.distance, args=(states,), kwargs=options)
            work.start()
            begun.wait()
            child = os.fork()
            if child == 0:
                signal.alarm(120)
                task.distance(states)
                task.render(states, 8)
                os._exit(7)
            work.join()
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    """
    said(code)
