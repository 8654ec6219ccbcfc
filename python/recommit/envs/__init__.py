"""Gymnasium environments, single and vectorised, and the wrapper that turns actions into commitments."""

from __future__ import annotations

from typing import Any

from recommit.storage.errors import need

try:
    import gymnasium
except ImportError:
    raise need("Gymnasium", "envs") from None

from recommit import registration
from recommit.envs.base import EnvOptions, VectorOptions
from recommit.envs.commit import Commit, VectorCommit
from recommit.envs.puzzles import PuzzleEnv, PuzzleVectorEnv
from recommit.envs.snapshot import Branches, Ending, Executed, NotRestored, SnapshotEnv
from recommit.puzzles.registry import PUZZLES

registration.register()
del gymnasium

__all__ = [
    "Branches",
    "Commit",
    "Ending",
    "EnvOptions",
    "Executed",
    "NotRestored",
    "PuzzleEnv",
    "PuzzleVectorEnv",
    "SnapshotEnv",
    "VectorCommit",
    "VectorOptions",
]


def __getattr__(name: str) -> Any:
    """Environment classes per puzzle, such as ``SokobanEnv`` and ``SokobanVectorEnv``."""
    for kind in PUZZLES:
        for base, suffix in ((PuzzleEnv, "Env"), (PuzzleVectorEnv, "VectorEnv")):
            if name == f"{kind.__name__}{suffix}":
                env_class = type(name, (base,), {"kind": kind, "__module__": __name__, "__doc__": base.__doc__})
                return globals().setdefault(name, env_class)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
