"""The environments by name: what each puzzle takes to be made; ``options`` are ``EnvOptions`` or ``VectorOptions``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from recommit.envs import starts
from recommit.envs.single import PuzzleEnv
from recommit.envs.vector import PuzzleVectorEnv
from recommit.puzzles.sokoban import Sokoban

if TYPE_CHECKING:
    from recommit.puzzles.puzzle import Puzzle


class SlidingEnv(PuzzleEnv):
    """``recommit/Sliding-v0``: boards of ``rows`` by ``cols`` (3x3; ``size`` sets both), or those of ``levels``."""

    def __init__(
        self,
        rows: int | None = None,
        cols: int | None = None,
        *,
        size: int | None = None,
        levels: starts.Source | None = None,
        **options: Any,
    ) -> None:
        super().__init__(*starts.sliding(rows, cols, size, levels), **options)


class SokobanEnv(PuzzleEnv):
    """``recommit/Sokoban-v0``: generated levels of ``size`` with ``boxes``, or ``levels`` from a file or an array."""

    def __init__(
        self,
        size: int | tuple[int, int] | None = None,
        boxes: int | None = None,
        *,
        levels: starts.Source | None = None,
        **options: Any,
    ) -> None:
        super().__init__(*starts.grids(Sokoban, size, levels, boxes=boxes), **options)


class GridEnv(PuzzleEnv):
    """Any further puzzle, ``kind``: generated levels of ``size``, or ``levels`` from a file or an array."""

    kind: ClassVar[type[Puzzle]]

    def __init__(
        self,
        size: int | tuple[int, int] | None = None,
        *,
        levels: starts.Source | None = None,
        **options: Any,
    ) -> None:
        super().__init__(*starts.grids(self.kind, size, levels), **options)


class SlidingVectorEnv(PuzzleVectorEnv):
    """``recommit/Sliding-v0``, ``num_envs`` of them; arguments as in ``SlidingEnv``."""

    def __init__(
        self,
        num_envs: int = 1,
        rows: int | None = None,
        cols: int | None = None,
        *,
        size: int | None = None,
        levels: starts.Source | None = None,
        **options: Any,
    ) -> None:
        super().__init__(num_envs, *starts.sliding(rows, cols, size, levels), **options)


class SokobanVectorEnv(PuzzleVectorEnv):
    """``recommit/Sokoban-v0``, ``num_envs`` of them; arguments as in ``SokobanEnv``."""

    def __init__(
        self,
        num_envs: int = 1,
        size: int | tuple[int, int] | None = None,
        boxes: int | None = None,
        *,
        levels: starts.Source | None = None,
        **options: Any,
    ) -> None:
        super().__init__(num_envs, *starts.grids(Sokoban, size, levels, boxes=boxes), **options)


class GridVectorEnv(PuzzleVectorEnv):
    """Any further puzzle, ``num_envs`` of them; arguments as in ``GridEnv``."""

    kind: ClassVar[type[Puzzle]]

    def __init__(
        self,
        num_envs: int = 1,
        size: int | tuple[int, int] | None = None,
        *,
        levels: starts.Source | None = None,
        **options: Any,
    ) -> None:
        super().__init__(num_envs, *starts.grids(self.kind, size, levels), **options)
