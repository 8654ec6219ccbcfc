"""Threads, forks, leaks and ends: what must never crash or hang (M4, M5, M6, M8)."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
import threading

import gymnasium
import numpy as np
import pytest
from tests.growth import growth, leak, needs_proc
from tests.ticks import goes_on, holder
from tests.waiting import HANG

import recommit  # noqa: F401  (registers the environments)

SLOTS = 6000  # enough pieces for several threads


def worker(seed: int) -> bytes:
    """What a data loader's worker does: an environment of its own, several threads."""
    env = gymnasium.make_vec("recommit:recommit/Sokoban-v0", num_envs=SLOTS, size=6, boxes=1, bank_size=64, threads=2)
    env.reset(seed=seed)
    for action in range(4):
        observations, *_ = env.step(np.full(SLOTS, action))
    return bytes(np.packbits(observations & 1).tobytes())


@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_workers_of_every_kind(method: str) -> None:
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {method} on this platform")
    count = 8 if method == "fork" else 4
    expected = [worker(seed) for seed in range(count)]  # workers=0, and a pool that lives when processes start
    context = multiprocessing.get_context(method)
    with context.Pool(3, maxtasksperchild=1 if method == "fork" else None) as pool:
        assert pool.map_async(worker, range(count), chunksize=1).get(timeout=HANG) == expected
    assert [worker(seed) for seed in range(4)] == expected[:4]


def test_the_interpreter_runs_during_a_step() -> None:
    env = gymnasium.make_vec("recommit/Sliding-v0", num_envs=500_000, size=4, threads=1, action_mask=False, copy=False)
    env.reset(seed=0)
    actions = np.zeros(500_000, np.uint8)
    episodes = env._episodes

    def steps(size: int) -> None:
        for _ in range(size):
            episodes.step(actions, grids=False, masks=True)

    assert goes_on(steps, tries=14)  # the last would be 8,192 steps of half a million boards
    assert not goes_on(holder(), tries=3)


def test_two_threads_on_one_environment() -> None:
    env = gymnasium.make_vec("recommit/Sliding-v0", num_envs=SLOTS, size=3, threads=2)
    env.reset(seed=0)
    actions = np.zeros(SLOTS, np.uint8)
    refused, failures = [0], []

    def use() -> None:
        for _ in range(300):
            try:
                env.step(actions)
            except RuntimeError as error:
                refused[0] += "expected one caller at a time" in str(error)
            except BaseException as error:
                failures.append(error)
                raise

    threads = [threading.Thread(target=use) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert refused[0] < 1200
    env.step(actions)


STEP = "env.step(np.zeros(6000, np.uint8), grids=True, masks=True)"
EXITS = {
    "pool alive": f"env.reset([1] * 6000); {STEP}",
    "view outlives": "view = env.live(); del env, bank; assert view.sum() >= 0",
    "thread stepping": f"""
import threading
def use():
    while True: {STEP}
threading.Thread(target=use, daemon=True).start()""",
    "in an exit handler": f"import atexit; atexit.register(lambda: {STEP})",
}


#: One process imports everything, and its children end, each as a Python of its own does.
EXIT_OFTEN = """
import os, signal
import numpy as np, recommit
mode = recommit._core.Autoreset.NEXT_STEP
bank = recommit._core.sliding.make_bank(recommit.Sliding(3).generate(8, seed=0).states)
statuses = []
for number in range({exits}):
    child = os.fork()
    if child == 0:
        break
    statuses.append(os.waitpid(child, 0)[1])
else:
    print(statuses == [0] * {exits}, flush=True)
    os._exit(0)
signal.alarm({hang})  # a hang ends the child
env = recommit._core.sliding.make_episodes(bank, slots=6000, max_steps=9, autoreset=mode, threads=3)
"""


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="no fork on this platform")
@pytest.mark.parametrize("how", EXITS)
def test_exits_with_a_live_pool(how: str) -> None:
    code = EXIT_OFTEN.format(exits=5, hang=HANG) + EXITS[how]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr, done.returncode) == ("True\n", "", 0)


def create_step_destroy() -> None:
    env = gymnasium.make_vec(
        "recommit/Sokoban-v0", num_envs=20, size=6, boxes=1, bank_size=16, autoreset_mode="SAME_STEP"
    )
    env.reset(seed=0)
    env.step(np.zeros(20, np.uint8))
    env.close()


@needs_proc
@pytest.mark.parametrize("rounds", [2000, pytest.param(100_000, marks=pytest.mark.nightly)])
def test_nothing_leaks(rounds: int) -> None:
    assert growth(rounds // 2, create_step_destroy, warm=rounds // 2) < 2**20


@needs_proc
def test_a_leak_is_noticed() -> None:
    assert growth(40, leak(), warm=4) > 2**24
