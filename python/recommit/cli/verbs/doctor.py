"""``recommit doctor``: what is installed, what is missing and how to get it, and whether the core works."""

from __future__ import annotations

import importlib
import importlib.metadata
import platform
from json import dumps
from typing import TYPE_CHECKING, Any

import numpy as np

import recommit
from recommit.puzzles.solver import cores
from recommit.storage.errors import install
from recommit.storage.terminal_text import tell

if TYPE_CHECKING:
    from collections.abc import Mapping

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
    """What this installation has: versions by extra and module (None where one is missing), and whether it works."""
    packages = importlib.metadata.packages_distributions()  # which reads a file of every package
    versions = {extra: {each: _version(each, packages) for each in modules} for extra, modules in EXTRAS.items()}
    return {
        "recommit": recommit.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "platform": f"{platform.system()} {platform.machine()}",
        "cores": cores(),
        "core": str(recommit._core.__file__),
        "works": works(),
        "extras": {name: {"versions": each, "install": install(name)} for name, each in versions.items()},
        "training": training({name for name, each in versions.items() if None not in each.values()}),
    }


def text(report: dict[str, Any]) -> str:
    """The same in lines."""
    lines = [
        f"recommit   {report['recommit']} ({report['core']})",
        f"python     {report['python']}, numpy {report['numpy']}, {report['platform']}, {report['cores']} cores",
        f"core       {'computes what it should' if report['works'] else 'WRONG: a known position was not solved'}",
        f"training   {report['training']}",
    ]
    for name, extra in report["extras"].items():
        versions = ", ".join(f"{module} {version or 'missing'}" for module, version in extra["versions"].items())
        lines.append(
            f"{name:<10} {versions}" + (f"  ->  {extra['install']}" if None in extra["versions"].values() else "")
        )
    return "\n".join(lines)


def training(complete: set[str]) -> str:
    """What this machine can train with these extras; the GPU is asked only if torch is installed."""
    if not complete >= {"policy", "data", "cli"}:
        return f"nothing yet: needs {install('train')}"
    torch = importlib.import_module("torch")
    gpus = int(torch.cuda.device_count())
    memory = min((torch.cuda.get_device_properties(i).total_memory for i in range(gpus)), default=0)
    if not gpus:
        return "laptop recipes on the CPU; no GPU is seen, which the paper's recipes need (recommit estimate)"
    spread = "" if gpus == 1 or "deepspeed" in complete else f"; for all of them {install('deepspeed')}"
    asked = f"recommit estimate paper-sliding --memory {memory >> 30} --gpus {gpus}"
    return f"laptop recipes; {gpus} GPU of {memory >> 30} GiB, of which {asked} says what fits{spread}"


def works() -> bool:
    """Push a box onto its goal and slide a tile home: the shortest test that every part is linked and runs."""
    level = np.array([[[1, 1, 1, 1, 1], [1, 5, 3, 2, 1], [1, 1, 1, 1, 1]]], np.uint8)
    board = np.array([[[1, 2, 3], [4, 5, 6], [7, 0, 8]]], np.uint8)
    right = np.array([3], np.uint8)
    pushed, slid = recommit.Sokoban(5, 1).step(level, right), recommit.Sliding(3).step(board, right)
    return bool(recommit.Sokoban(5, 1).is_solved(pushed)[0] and recommit.Sliding(3).is_solved(slid)[0])


def _version(module: str, packages: Mapping[str, list[str]]) -> str | None:
    """Of the package that brings a module: a folder of its name, which Python would import too, has none."""
    try:
        return importlib.metadata.version(packages.get(module, [module])[0])
    except importlib.metadata.PackageNotFoundError:
        return None
