"""Gymnasium environments, single and vectorised, and the wrapper that turns actions into commitments."""

from __future__ import annotations

from typing import Any

from recommit.storage.errors import need

try:
    import gymnasium
except ImportError:
    raise need("Gymnasium", "envs") from None

from recommit import registration
from recommit.envs.commit import Commit, Repeat, VectorCommit
from recommit.envs.kinds import GridEnv, GridVectorEnv, SlidingEnv, SlidingVectorEnv, SokobanEnv, SokobanVectorEnv
from recommit.envs.options import EnvOptions, VectorOptions
from recommit.envs.single import PuzzleEnv
from recommit.envs.vector import PuzzleVectorEnv
from recommit.puzzles.registry import PUZZLES

registration.register()
del gymnasium

__all__ = [
    "Commit",
    "EnvOptions",
    "GridEnv",
    "GridVectorEnv",
    "PuzzleEnv",
    "PuzzleVectorEnv",
    "Repeat",
    "SlidingEnv",
    "SlidingVectorEnv",
    "SokobanEnv",
    "SokobanVectorEnv",
    "VectorCommit",
    "VectorOptions",
]


def __getattr__(name: str) -> Any:
    """``IceEnv`` and ``IceVectorEnv``, and the like of every puzzle that has no class of its own."""
    for kind in PUZZLES:
        for base, suffix in ((GridEnv, "Env"), (GridVectorEnv, "VectorEnv")):
            if name == f"{kind.__name__}{suffix}":
                env_class = type(name, (base,), {"kind": kind, "__module__": __name__, "__doc__": base.__doc__})
                return globals().setdefault(name, env_class)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
