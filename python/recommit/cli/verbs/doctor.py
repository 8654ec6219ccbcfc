"""``recommit doctor``: what is installed, what is missing and how to get it, and whether the core works."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import os
import platform
from dataclasses import asdict, dataclass
from json import dumps
from typing import TYPE_CHECKING, Any

import numpy as np

import recommit
from recommit.storage.terminal_text import tell

if TYPE_CHECKING:
    from collections.abc import Mapping

#: extra -> the modules that it installs.
EXTRAS = {
    "envs": ("gymnasium",),
    "cli": ("tyro", "PIL"),
    "zero-shot": ("urllib3",),
    "data": ("pyarrow", "yaml"),
    "report": ("matplotlib",),
    "policy": ("torch", "transformers", "safetensors", "peft"),
    "train": ("tensorboard",),
    "deepspeed": ("deepspeed",),
    "ray": ("ray",),
    "openenv": ("openenv",),
    "trl": ("trl",),
    "verifiers": ("verifiers",),
    "inspect": ("inspect_ai",),
}


@dataclass(frozen=True)
class Extra:
    """An optional part: the versions of its modules (None where one is missing), and the command that installs it."""

    versions: dict[str, str | None]
    install: str

    @property
    def complete(self) -> bool:
        """Is everything there?"""
        return None not in self.versions.values()


@dataclass(frozen=True)
class Installation:
    """What ``recommit doctor`` prints."""

    recommit: str
    python: str
    numpy: str
    platform: str
    cores: int
    core: str
    works: bool
    extras: dict[str, Extra]
    #: What can be trained here, and what keeps the rest from it.
    training: str = ""

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)

    def __str__(self) -> str:
        lines = [
            f"recommit   {self.recommit} ({self.core})",
            f"python     {self.python}, numpy {self.numpy}, {self.platform}, {self.cores} cores",
            f"core       {'computes what it should' if self.works else 'WRONG: a known position was not solved'}",
        ]
        if self.training:
            lines.append(f"training   {self.training}")
        for name, extra in self.extras.items():
            versions = ", ".join(f"{module} {version or 'missing'}" for module, version in extra.versions.items())
            lines.append(f"{name:<10} {versions}" + ("" if extra.complete else f"  ->  {extra.install}"))
        return "\n".join(lines)


def doctor(json: bool = False) -> int:
    """Say what is installed, what is missing and how to get it, and whether the core works.

    Args:
        json: Print JSON.
    """
    report = examine()
    tell(dumps(report.to_json(), indent=2) if json else report)
    return 0 if report.works else 1


def examine() -> Installation:
    """Look at this installation."""
    packages = importlib.metadata.packages_distributions()  # which reads a file of every package
    extras = {
        name: Extra({module: _version(module, packages) for module in modules}, f"pip install 'recommit[{name}]'")
        for name, modules in EXTRAS.items()
    }
    return Installation(
        recommit=recommit.__version__,
        python=platform.python_version(),
        numpy=np.__version__,
        platform=f"{platform.system()} {platform.machine()}",
        cores=os.cpu_count() or 1,
        core=str(recommit._core.__file__),
        works=works(),
        extras=extras,
        training=training(extras),
    )


def training(extras: dict[str, Extra]) -> str:
    """What this machine can train; the GPU is asked only if torch is installed."""
    missing = [name for name in ("policy", "data", "cli") if not extras[name].complete]
    if missing:
        return f"nothing yet: needs {extras['train'].install}"
    torch = importlib.import_module("torch")
    gpus = int(torch.cuda.device_count())
    memory = min((torch.cuda.get_device_properties(i).total_memory for i in range(gpus)), default=0)
    if not gpus:
        return "laptop recipes on the CPU; no GPU is seen, which the paper's recipes need (recommit estimate)"
    spread = "" if gpus == 1 or extras["deepspeed"].complete else f"; for all of them {extras['deepspeed'].install}"
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
    if importlib.util.find_spec(module) is None:
        return None
    return importlib.metadata.version(packages.get(module, [module])[0])
