"""For all tests: Ctrl-C is a terminal's, seeds are the same, what hangs ends, no hub is asked, GPUs are looked for."""

from __future__ import annotations

import gc
import itertools
import os
import random
import signal
import sys
from typing import TYPE_CHECKING

import pytest
from tests.waiting import HANG

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType


# Workers of pytest have a core each: one thread of torch waits for no other, here and in processes that tests start.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
# Whatever is opened with `datasets`, a folder of this machine too, is counted at Hugging Face unless this is set.
os.environ.setdefault("HF_HUB_OFFLINE", "1")


def pytest_configure() -> None:
    # A shell starts background jobs with SIGINT ignored, and children inherit that: tests of Ctrl-C would hang.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    _same_examples()


def _same_examples() -> None:
    """Hypothesis tries the same examples each time; --hypothesis-profile=default tries new ones."""
    try:
        from hypothesis import settings
    except ImportError:
        return
    settings.register_profile("same", derandomize=True, deadline=None)  # a deadline is a clock
    settings.load_profile("same")


@pytest.fixture(autouse=True)
def _same_seeds(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment that is reset without a seed has the same ones in every run of a test, each another."""
    try:
        from gymnasium.utils import seeding
    except ImportError:
        return
    draw, seeds = seeding.np_random, itertools.count(1_000_003)
    monkeypatch.setattr(seeding, "np_random", lambda seed=None: draw(next(seeds) if seed is None else seed))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """End a quick test that waits for ever, whatever it waits for: one that hangs would hang the whole suite.

    And torch draws the same in it every time, whatever ran before in the same process.
    """
    if torch := sys.modules.get("torch"):
        torch.default_generator.manual_seed(1)
    if item.get_closest_marker("nightly") or not hasattr(signal, "SIGALRM"):
        return (yield)
    before = signal.signal(signal.SIGALRM, _hangs)
    signal.alarm(2 * HANG)
    try:
        return (yield)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _hangs(_number: int, _frame: FrameType | None) -> None:
    raise TimeoutError(f"nothing came within {2 * HANG} seconds")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--random-order", type=int, metavar="SEED", help="shuffle files, and tests in each file")


def _shuffle(items: list[pytest.Item], seed: int) -> None:
    """Files and tests within them, in an order that is the same in every worker."""
    shuffler = random.Random(seed)
    files = {item.path: shuffler.random() for item in items}
    places = {item.nodeid: (files[item.path], shuffler.random()) for item in items}
    items.sort(key=lambda item: places[item.nodeid])


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if (seed := config.getoption("--random-order")) is not None:
        _shuffle(items, seed)
    wanted = [item for item in items if item.get_closest_marker("gpu")]
    if wanted and not _has_gpu():
        for item in wanted:
            item.add_marker(pytest.mark.skip(reason="no CUDA device"))


def pytest_collection_finish() -> None:
    # Thousands of tests and what they import stay to the end: no search for garbage need look at them again.
    gc.collect()
    gc.freeze()


def _has_gpu() -> bool:
    try:
        import torch
    except ImportError:
        return False
    return torch.cuda.is_available()
