"""The environments by name: what each puzzle takes to be made."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, TypedDict

from recommit.envs import starts
from recommit.envs.single import PuzzleEnv
from recommit.envs.vector import PuzzleVectorEnv
from recommit.puzzles.sokoban import Sokoban

if TYPE_CHECKING:
    from gymnasium.vector import AutoresetMode
    from typing_extensions import Unpack

    from recommit.envs.starts import Length
    from recommit.puzzles.puzzle import Puzzle


class Options(TypedDict, total=False):
    """What the environments of all puzzles take beside their sizes."""

    #: ``"grid"`` (cell codes, default) or ``"rgb"``.
    observation: str
    #: Pixels per cell of ``"rgb"`` observations and of ``render()``; default 28.
    cell: int
    #: ``"light"`` (default) or ``"dark"``.
    theme: str
    #: Leave the constant outer wall out of the pictures.
    crop: bool
    #: Actions after which an episode is truncated; default 200.
    max_steps: int
    #: Levels in the generated bank (default 1024), and the seed that they come from.
    bank_size: int
    bank_seed: int
    #: Exact optimal length of every generated start, or (shortest, longest); default None, as the generator draws.
    length: Length | None
    #: ``"sparse"`` (default), ``"progress"`` or ``"distance"``; see ``Rewards``.
    reward: str
    #: The learner's discount, for the two shaped rewards; default 1.
    discount: float
    #: Adds ``distance`` to ``info``: the exact number of actions to the goal, -1 where there is no way.
    info_distance: bool
    #: None (default), ``"rgb_array"``, ``"ansi"``, or ``"human"`` (one environment only).
    render_mode: str | None


class VectorOptions(Options, total=False):
    """What vector environments take beside that."""

    #: NEXT_STEP (default), SAME_STEP or DISABLED.
    autoreset_mode: AutoresetMode | str
    #: False: observations are a read-only window on the live states, valid until the next call.
    copy: bool
    #: False leaves ``action_mask`` out of ``info``.
    action_mask: bool
    #: At most this many threads; None for all cores. Results do not depend on it.
    threads: int | None


class SlidingEnv(PuzzleEnv):
    """``recommit/Sliding-v0``: boards of ``rows`` by ``cols`` (3x3; ``size`` sets both), or those of ``levels``."""

    def __init__(
        self,
        rows: int | None = None,
        cols: int | None = None,
        *,
        size: int | None = None,
        levels: starts.Source | None = None,
        **options: Unpack[Options],
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
        **options: Unpack[Options],
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
        **options: Unpack[Options],
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
        **options: Unpack[VectorOptions],
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
        **options: Unpack[VectorOptions],
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
        **options: Unpack[VectorOptions],
    ) -> None:
        super().__init__(num_envs, *starts.grids(self.kind, size, levels), **options)
