"""Gymnasium environments, single and vectorised, and the wrapper that turns actions into commitments."""

from __future__ import annotations

try:
    import gymnasium
except ImportError as error:
    raise ImportError("recommit.envs needs Gymnasium: pip install 'recommit[envs]'") from error

from recommit import registration
from recommit.envs.commit import Commit
from recommit.envs.single import PuzzleEnv, SlidingEnv, SokobanEnv
from recommit.envs.vector import PuzzleVectorEnv, SlidingVectorEnv, SokobanVectorEnv

registration.register()
del gymnasium

__all__ = [
    "Commit",
    "PuzzleEnv",
    "PuzzleVectorEnv",
    "SlidingEnv",
    "SlidingVectorEnv",
    "SokobanEnv",
    "SokobanVectorEnv",
]
