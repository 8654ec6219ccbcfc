"""Other threads write into the arguments of a call while it runs.

What the answers are then, nobody promises; that the process lives and every call ends, the core does. Whether two
threads meet is chance, so this cannot fail by chance, but may miss a defect. `tests/cpp/test_changing_memory.cpp`
misses none: it changes the states of a call after each of its reads in turn. Here are the bindings, and what only they
read.
"""

from __future__ import annotations

import subprocess
import sys

import pytest
from tests.waiting import HANG

#: Two threads copy states, some of which are none, into what the calls read; both sides work without the GIL.
CODE = """
import threading
import numpy as np
import recommit

COUNT, ROUNDS = 8192, {rounds}
task = {{
    "sliding": recommit.Sliding(3), "wide": recommit.Sliding(3, 4),
    "sokoban": recommit.Sokoban(6, 2), "ice": recommit.Ice(6),
}}["{task}"]
pool = task.generate(64, seed=0).states
rng = np.random.default_rng(0)
fine = pool[rng.integers(0, len(pool), COUNT)]
odd = np.where(rng.random(fine.shape) < 0.02, rng.integers(0, 256, fine.shape), fine).astype(np.uint8)
states = fine.copy()
actions, plans = np.zeros(COUNT, np.uint8), np.zeros((COUNT, 8), np.uint8)
depths = np.full(COUNT, 8, np.int32)
few = states[:64]
writing = [
    *[(states, fine), (depths, 8), (plans, 3), (actions, 3)],
    *[(states, odd), (depths, 2**30), (states, fine), (plans, 255), (depths, 8), (actions, 255)],
    *[(states, fine[::-1].copy()), (depths, -7), (plans, 1), (actions, 1)],
]
calls = [
    lambda: task.step(states, actions),
    lambda: task.execute(states, plans, depths),
    lambda: task.execute(fine, plans, depths),
    lambda: task.is_solved(states),
    lambda: task.action_masks(states),
    lambda: task.core.make_bank(states),
    lambda: task.render(few, 8),
    lambda: task.distance(few),
    lambda: task.optimal_actions(few),
    lambda: task.solve(few),
]
stopped = threading.Event()


def write():
    while not stopped.is_set():
        for changed, values in writing:
            np.copyto(changed, values)


writers = [threading.Thread(target=write) for _ in range(2)]
for each in writers:
    each.start()
ended = 0
try:
    for _ in range(ROUNDS):
        for call in calls:
            try:
                call()
            except ValueError as error:
                assert "expected" in str(error), error
            ended += 1
finally:
    stopped.set()
    for each in writers:
        each.join()
print("ended", ended)
"""


ROUNDS = 8


@pytest.mark.parametrize("task", ["wide", "sokoban", "ice"])
def test_the_process_lives_and_every_call_ends(task):
    code = CODE.format(task=task, rounds=ROUNDS)
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True, timeout=HANG)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", f"ended {10 * ROUNDS}\n")
