"""How fast environments step, beside what this machine can do: ``python bench/simulation/envs.py``.

Rates are per second of CPU time, and by the wall clock, which on quiet cores is what a user gets; medians of several
rounds that measure the yardstick and ours one after the other. The yardstick is bench/peers/steps.cpp; without a C++
compiler the table has none. Each benchmark asserts that what it timed is right: the states of the first slots must be
those of a small second environment that plays the same actions. A second table has the default call at other numbers of
slots, on one thread and on all.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np

import recommit
from recommit.results.table import number

if TYPE_CHECKING:
    from collections.abc import Callable

BENCH = Path(__file__).resolve().parents[1]
SLOTS, ROUNDS, SECONDS, CHECKED = 4096, 7, 0.25, 24
#: Slots of the second table.
NUMBERS = (32, 128, 512, 2048, 8192, 32768)
#: The paths: flags of ``make_vec``.
WAYS: dict[str, dict[str, Any]] = {
    "no flags (fresh observations, with masks, all threads)": {},
    "one thread, fresh observations, with masks": {"threads": 1},
    "one thread, fresh observations, without masks": {"threads": 1, "action_mask": False},
    "one thread, zero-copy observations, with masks": {"threads": 1, "copy": False},
    "one thread, zero-copy observations, without masks": {"threads": 1, "copy": False, "action_mask": False},
    "SAME_STEP, as training loops want it": {"autoreset_mode": "SAME_STEP"},
    "SAME_STEP, one-hot observations": {"autoreset_mode": "SAME_STEP", "observation": "onehot"},
}
HEAD = "what | ours | asked | wall clock | ceiling | ratio | asked"
#: Cells of the first table, and whether what is asked for was met.
Line = tuple[list[str], bool]


def line(
    what: str, found: tuple[float, float, float | None], at_least: float | None, ratio_at_least: float | None = None
) -> Line:
    """Our rates by both clocks beside the least that is asked for, the yardstick's rate, and the least ratio to it."""
    ours, wall, yardstick = found
    ratio = yardstick and ours / yardstick
    met = ours >= (at_least or 0) and (ratio is None or ratio >= (ratio_at_least or 0))
    least = "-" if at_least is None else f">= {at_least:g}"
    beside = [number(wall), number(yardstick), number(ratio, 2), f"{ratio_at_least or '-'}"]
    return [what, f"{ours:.1f} M steps/s", least, *beside], met


def ceiling(folder: Path, name: str, *words: str) -> float | None:
    """The rate that a program of bench/peers says of itself, compiled for this machine; without a compiler none."""
    compiler = os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++")
    if compiler is None:
        return None
    if not (program := folder / name).exists():
        flags = ["-O3", "-march=native", "-std=c++20", "-o", str(program)]
        subprocess.run([compiler, *flags, str(BENCH / "peers" / f"{name}.cpp")], check=True)
    return float(subprocess.run([program, *words], capture_output=True, text=True, check=True).stdout)


def rates(work: Callable[[], object], items: int) -> tuple[float, float]:
    """Millions of items per second of this process's CPU time, and of the wall clock."""
    work()
    rounds, start, began = 0, time.process_time(), time.monotonic()
    while (spent := time.process_time() - start) < SECONDS:
        work()
        rounds += 1
    return rounds * items / spent / 1e6, rounds * items / (time.monotonic() - began) / 1e6


class Player:
    """A vector environment, a ring of random actions, and how often it was stepped."""

    def __init__(self, name: str, slots: int = SLOTS, **options: Any) -> None:
        self.make = partial(gymnasium.make_vec, name, max_steps=120)
        self.env: Any = self.make(num_envs=slots, **options)
        self.few: Any = self.make(num_envs=CHECKED, **{**options, "threads": 2})
        rng = np.random.default_rng(0)
        self.actions = [rng.integers(0, 4, slots, dtype=np.uint8) for _ in range(13)]  # few enough to stay cached
        self.env.reset(seed=7)
        self.steps = 0
        self.solved = 0

    def play(self) -> tuple[Any, ...]:
        """One step."""
        self.last: tuple[Any, ...] = self.env.step(self.actions[self.steps % len(self.actions)])
        self.steps += 1
        return self.last

    def check(self, last: tuple[Any, ...]) -> None:
        """The first slots are where a few slots alone, on two threads, come to."""
        self.few.reset(seed=7)
        ends = 0
        for step in range(self.steps):
            few = self.few.step(self.actions[step % len(self.actions)][:CHECKED])
            ends += int((few[2] | few[3]).sum())
        assert all(np.array_equal(one[:CHECKED], other) for one, other in zip(last[:4], few[:4], strict=True))
        if "action_mask" in few[4]:
            assert np.array_equal(last[4]["action_mask"][:CHECKED], few[4]["action_mask"])
        assert ends >= self.steps // 121 * CHECKED


def interleaved(
    ours: Callable[[], tuple[float, float]], yardstick: Callable[[], float | None]
) -> tuple[float, float, float | None]:
    """Medians of ours by both clocks, and of the yardstick."""
    cpu, wall, theirs = list[float](), list[float](), list[float | None]()
    for _ in range(ROUNDS):
        for clock, rate in zip((cpu, wall), ours(), strict=True):
            clock.append(rate)
        theirs.append(yardstick())
    found = [rate for rate in theirs if rate is not None]
    return statistics.median(cpu), statistics.median(wall), statistics.median(found) if found else None


def environments(folder: Path) -> list[Line]:
    """As ``gymnasium.make_vec`` makes them without any flag, then one thread, with and without what costs time."""
    lines = []
    for name, what, options, at_least, ratio, game in (
        ("recommit/Sokoban-v0", "Sokoban 10x10, 4 boxes", {"size": 10, "boxes": 4}, 60.0, 0.6, "sokoban"),
        ("recommit/Sliding-v0", "Sliding 4x4", {"size": 4}, 150.0, None, "sliding"),
    ):
        for how, flags in WAYS.items():
            player = Player(name, **flags, **options)
            play = partial(rates, player.play, SLOTS)
            found = interleaved(play, partial(ceiling, folder, "steps", game, str(SLOTS)))
            player.check(player.last)
            least_ratio = ratio if flags.get("copy", True) else ratio and 0.8
            asked = (None, None) if "SAME_STEP" in how else (None if "with masks" in how else at_least, least_ratio)
            lines.append(line(f"{what}: {how}", found, *asked))
    return lines


def pure_step() -> Line:
    """``task.step`` on uint8[4096, 10, 10]."""
    task = recommit.Sokoban(10, 4)
    states = task.generate(SLOTS, seed=0).states
    actions = np.random.default_rng(0).integers(0, 4, SLOTS, dtype=np.uint8)
    found = interleaved(partial(rates, lambda: task.step(states, actions, threads=1), SLOTS), lambda: None)
    after = task.step(states, actions, threads=1)
    moved = (after != states).any((1, 2))
    assert (moved == task.action_masks(states)[np.arange(SLOTS), actions]).all()
    assert ((after == 1) == (states == 1)).all()
    assert (np.isin(after, (3, 4)).sum((1, 2)) == 4).all()
    return line("pure step, uint8[4096, 10, 10]", found, 30.0)


def import_time() -> Line:
    """CPU seconds of ``import recommit`` in a fresh interpreter."""
    code = "import time; t = time.process_time(); import recommit; print(time.process_time() - t)"
    command = [sys.executable, "-c", code]
    times = [float(subprocess.run(command, capture_output=True, text=True, check=True).stdout) for _ in range(ROUNDS)]
    took = statistics.median(times)
    return ["import recommit", f"{took:.3f} s", "< 0.3", "-", "-", "-", "-"], took < 0.3


def markdown(head: str, rule: str, rows: list[list[str]]) -> str:
    """A table."""
    return "\n".join([f"| {head} |", rule, *(f"| {' | '.join(row)} |" for row in rows)])


def by_slots() -> str:
    """The default call by the wall clock: where several threads begin to help. As Markdown."""
    rows = []
    for slots in NUMBERS:
        found = []
        for flags in ({"threads": 1}, {}):
            player = Player("recommit/Sokoban-v0", slots, **flags, size=10, boxes=4)
            found.append(statistics.median(rates(player.play, slots)[1] for _ in range(ROUNDS)))
            player.check(player.last)
        rows.append([f"{slots:,}", *map(number, found)])
    return markdown("Sokoban 10x10, slots | one thread, M steps/s | all threads", "|---:|---:|---:|", rows)


def main() -> int:
    """Measure, print, and say by the exit status whether every target was met."""
    with tempfile.TemporaryDirectory() as folder:
        lines = [*environments(Path(folder)), pure_step(), import_time()]
    print(f"{markdown(HEAD, '|---|---|---|---|---|---|---|', [cells for cells, _ in lines])}\n\n{by_slots()}")
    return int(not all(met for _, met in lines))


if __name__ == "__main__":
    sys.exit(main())
