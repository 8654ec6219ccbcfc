"""What the benchmarks under pytest share: CPU time, one thread, and answers that are asserted.

`pytest bench` times, `pytest bench --benchmark-disable` asks for the answers only, and `--plant` spoils each answer
before it is asserted: then every benchmark must fail.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pytest
from bench.answers import spoiled

if TYPE_CHECKING:
    from collections.abc import Callable

Answer = TypeVar("Answer")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--plant", action="store_true", help="spoil each answer, so that every benchmark must fail")


class Timed:
    """Times work and hands out its answer, for the benchmark to assert."""

    def __init__(self, benchmark: Any, plant: bool) -> None:
        self.benchmark, self.plant = benchmark, plant

    def __call__(self, work: Callable[[], Answer], items: int, *, yardstick: bool = False) -> Answer:
        """``items`` are made by each call; a yardstick is what the others of its group are compared with."""
        self.benchmark.extra_info.update(items=items, yardstick=yardstick)
        answer: Answer = self.benchmark(work)
        return spoiled(answer) if self.plant else answer


class Foreign:
    """A program of somebody else, which measures itself."""

    def __init__(self, benchmark: Any, plant: bool) -> None:
        self.benchmark, self.plant = benchmark, plant

    def __call__(self, rate: Callable[[], float | None], unit: float = 1.0) -> float:
        """Runs it once; it says its rate in so many items per second, and nothing where it could not be compiled."""
        said = self.benchmark.pedantic(rate, rounds=1)
        if said is None:
            pytest.skip("needs a C++ compiler")
        answer = unit * said
        self.benchmark.extra_info.update(rate=answer, yardstick=False)
        return -answer if self.plant else answer


@pytest.fixture
def timed(benchmark: Any, request: pytest.FixtureRequest) -> Timed:
    return Timed(benchmark, request.config.getoption("--plant"))


@pytest.fixture
def foreign(request: pytest.FixtureRequest) -> Foreign:
    if request.config.getoption("--benchmark-disable"):
        pytest.skip("a foreign program says a rate, and nothing else to assert")
    return Foreign(request.getfixturevalue("benchmark"), request.config.getoption("--plant"))


@pytest.fixture(scope="session")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for what is compiled or built once."""
    return tmp_path_factory.mktemp("bench")


@pytest.fixture(autouse=True)
def one_thread() -> None:
    try:
        import torch
    except ImportError:
        return
    torch.set_num_threads(1)
