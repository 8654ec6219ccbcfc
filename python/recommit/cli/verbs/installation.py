"""``recommit doctor`` and ``recommit bench``: the installation, a check of the core, and its speed.

``bench`` measures CPU time on one thread; comparisons with other software are in the repository's folder ``bench``.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import platform
import time
from json import dumps
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

import recommit
from recommit.puzzles.registry import PUZZLES
from recommit.puzzles.sliding import Sliding
from recommit.puzzles.sokoban import Sokoban
from recommit.puzzles.solver import cores
from recommit.storage.errors import install
from recommit.storage.terminal_text import tell
from recommit.version import version_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from recommit.puzzles.puzzle import Puzzle

Result = TypeVar("Result")

#: extra -> the modules that it installs.
EXTRAS = {
    "envs": ("gymnasium",),
    "cli": ("tyro", "PIL"),
    "zero-shot": ("httpx2",),
    "data": ("pyarrow", "yaml"),
    "report": ("matplotlib",),
    "policy": ("torch", "transformers", "safetensors", "peft"),
    "train": ("tensorboard",),
    "deepspeed": ("deepspeed",),
    "wandb": ("wandb",),
    "trackio": ("trackio",),
    "ray": ("ray",),
    "sb3": ("stable_baselines3",),
    "torchrl": ("torchrl",),
    "metaworld": ("metaworld",),
    "openpi": ("openpi_client",),
    "trl": ("trl",),
}


def doctor(json: bool = False) -> int:
    """Say what is installed, what is missing and how to get it, and whether the core works.

    Args:
        json: Print JSON.
    """
    report = examine()
    tell(dumps(report, indent=2) if json else text(report))
    return 0 if report["works"] else 1


def examine() -> dict[str, Any]:
    """The installation: versions by extra and module (None where one is missing), and whether it works."""
    packages = importlib.metadata.packages_distributions()  # slow: reads a file of every package
    # Version of the package that provides a module; a local folder of that name, which is importable too, has none.
    version: Callable[[str], str | None] = lambda module: version_of(packages.get(module, [module])[0])
    versions = {extra: {each: version(each) for each in modules} for extra, modules in EXTRAS.items()}
    return {
        "recommit": recommit.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "platform": f"{platform.system()} {platform.machine()}",
        "cores": cores(),
        "core": str(recommit._core.__file__),
        "works": works(),
        "threads": threads(),
        "extras": {name: {"versions": each, "install": install(name)} for name, each in versions.items()},
    }


def text(report: dict[str, Any]) -> str:
    """The report as text."""
    lines = [
        f"recommit   {report['recommit']} ({report['core']})",
        f"python     {report['python']}, numpy {report['numpy']}, {report['platform']}, {report['cores']} cores",
        f"core       {'computes what it should' if report['works'] else 'WRONG: a known position was not solved'}",
        f"threads    {report['threads']}",
    ]
    for name, extra in report["extras"].items():
        versions = ", ".join(f"{module} {version or 'missing'}" for module, version in extra["versions"].items())
        lines.append(
            f"{name:<10} {versions}" + (f"  ->  {extra['install']}" if None in extra["versions"].values() else "")
        )
    return "\n".join(lines)


def works() -> bool:
    """Push a box onto its goal and slide a tile home: a minimal check that the core is linked and runs."""
    level = np.array([[[1, 1, 1, 1, 1], [1, 5, 3, 2, 1], [1, 1, 1, 1, 1]]], np.uint8)
    board = np.array([[[1, 2, 3], [4, 5, 6], [7, 0, 8]]], np.uint8)
    right = np.array([3], np.uint8)
    pushed, slid = Sokoban(5, 1).step(level, right), Sliding(3).step(board, right)
    return bool(Sokoban(5, 1).is_solved(pushed)[0] and Sliding(3).is_solved(slid)[0])


def threads() -> str:
    """A sentence on the number of threads."""
    if importlib.util.find_spec("torch") is None:
        return "all cores for puzzles; networks need " + install("train")
    from torch import get_num_threads

    from recommit.policy.threads import SMALL

    own = f"{get_num_threads()}, torch's own number, for larger ones"
    waiting = "whose threads would wait for each other on busy cores"
    return f"all cores for puzzles; on a CPU one for networks below {SMALL:,} parameters, {waiting}; {own}"


TASKS: tuple[Puzzle, ...] = (*(kind.of(kind.usual.size, 2) for kind in PUZZLES), Sliding(4), Sokoban(10, boxes=4))
FRAMES = 256


def bench(signature: bool = False, json: bool = False) -> None:
    """Time the core on this machine (one thread, CPU time), or print what it computes as one number per part.

    Args:
        signature: Print the numbers that every build on every machine must agree on.
        json: Print JSON.
    """
    if signature:
        from recommit.puzzles.signature import signature as compute

        numbers = {part: f"{number:016x}" for part, number in compute().items()}
        tell(dumps(numbers, indent=2) if json else "\n".join(f"{p:<8}{n}" for p, n in numbers.items()))
        return
    rows = [play(task) for task in TASKS]
    tell(dumps(rows, indent=2) if json else table(rows))


def play(task: Puzzle, boards: int = 2048, actions: int = 256, seed: int = 0) -> dict[str, Any]:
    """Benchmark a puzzle: generate boards, execute up to ``actions`` random actions on each, draw some. Rates are per
    CPU second of one thread, and count executed actions only, since a board stops at its goal."""
    task.generate(1, seed=seed + 1, threads=1)  # tables and sprites are made once, on first use
    instances, generating = _timed(lambda: task.generate(boards, seed=seed, threads=1))
    plan = np.random.default_rng(seed).integers(0, 4, (boards, actions), np.uint8)
    depths = np.full(boards, actions, np.int32)
    outcome, executing = _timed(lambda: task.execute(instances.states, plan, depths, threads=1))
    shown = instances.states[:FRAMES]
    frames = task.render(shown, cell=28, threads=1)
    _, drawing = _timed(lambda: task.render(shown, cell=28, out=frames, threads=1))
    executed = int(outcome.executed.sum())
    return {
        "task": task.task,
        "variant": task.size_name,
        "boards": boards,
        "actions": executed,
        "moved": int(outcome.moved.sum()),
        "solved": int(outcome.solved.sum()),
        "boards_per_second": boards / generating,
        "actions_per_second": executed / executing,
        "frames_per_second": len(frames) / drawing,
    }


def table(rows: list[dict[str, Any]]) -> str:
    """The rows as text."""
    lines = [f"{'puzzle':<16}{'boards/s':>12}{'actions/s':>14}{'frames/s':>12}{'moved':>8}{'solved':>9}"]
    lines += [
        f"{row['task'] + ' ' + row['variant']:<16}{row['boards_per_second']:>12,.0f}{row['actions_per_second']:>14,.0f}"
        f"{row['frames_per_second']:>12,.0f}{row['moved'] / max(row['actions'], 1):>8.0%}"
        f"{row['solved'] / row['boards']:>9.1%}"
        for row in rows
    ]
    return "\n".join(lines)


def _timed(work: Callable[[], Result]) -> tuple[Result, float]:
    """The result of ``work``, and its CPU seconds."""
    begin = time.process_time()
    result = work()
    return result, max(time.process_time() - begin, 1e-9)
