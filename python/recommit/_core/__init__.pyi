"""The compiled core of recommit. One submodule per puzzle, with the same functions in each."""

import collections.abc
import numpy
import numpy.typing
import typing
from . import ice as ice
from . import sliding as sliding
from . import sokoban as sokoban

class LevelError(ValueError):
    """A malformed level; `line` and `column` count from 1 (0: the text as a whole)."""

    column: int
    line: int

class EpisodeOver(RuntimeError):
    """An episode that is over was stepped without a reset."""

class Autoreset:
    """
    When a finished episode gives way to the next one.

    Members:

      NEXT_STEP

      SAME_STEP

      DISABLED
    """

    DISABLED: typing.ClassVar[Autoreset]
    NEXT_STEP: typing.ClassVar[Autoreset]
    SAME_STEP: typing.ClassVar[Autoreset]
    __members__: typing.ClassVar[dict[str, Autoreset]]
    @typing.overload
    def __eq__(self, other: Autoreset) -> bool: ...
    @typing.overload
    def __eq__(self, other: typing.Any) -> bool: ...
    def __getstate__(self) -> int: ...
    def __hash__(self) -> int: ...
    def __index__(self) -> int: ...
    def __init__(self, value: typing.SupportsIndex) -> None: ...
    def __int__(self) -> int: ...
    @typing.overload
    def __ne__(self, other: Autoreset) -> bool: ...
    @typing.overload
    def __ne__(self, other: typing.Any) -> bool: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, state: typing.SupportsIndex) -> None: ...
    def __str__(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def value(self) -> int: ...

class LevelBank:
    """Start states that episodes draw from; immutable."""
    def __len__(self) -> int: ...
    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def walled(self) -> bool:
        """are the outermost cells of every level walls?"""

class Episodes:
    """Running episodes of one puzzle; one caller at a time."""
    def __len__(self) -> int: ...
    def describe(self) -> tuple[numpy.typing.NDArray[numpy.bool_], numpy.typing.NDArray[numpy.bool_]]:
        """(masks, solved) of the states as they are"""
    def draw_from(self, bank: LevelBank) -> None:
        """later episodes draw from this bank"""
    def finals(
        self,
    ) -> tuple[numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.uint8], numpy.typing.NDArray[numpy.bool_]]:
        """(slots, states, masks) of the episodes that ended in the last step, SAME_STEP only"""
    def grids(self) -> numpy.typing.NDArray[numpy.uint8]:
        """a copy of the states"""
    def live(self) -> numpy.typing.NDArray[numpy.uint8]:
        """the states themselves, read-only"""
    def place(self, levels: numpy.typing.NDArray[numpy.uint8], mask: numpy.typing.NDArray[numpy.bool_]) -> None:
        """starts the chosen slots from these states, in order"""
    def reset(
        self,
        seeds: collections.abc.Sequence[typing.SupportsIndex | None],
        mask: numpy.typing.NDArray[numpy.bool_] | None = None,
    ) -> None:
        """episode 0 of each given seed; the next episode where it is None"""
    def restore(
        self,
        states: numpy.typing.NDArray[numpy.uint8],
        seeds: collections.abc.Sequence[typing.SupportsIndex],
        episodes: collections.abc.Sequence[typing.SupportsIndex],
        steps: collections.abc.Sequence[typing.SupportsIndex],
        over: collections.abc.Sequence[typing.SupportsIndex],
    ) -> None:
        """goes on from what `save` gave"""
    def save(self) -> tuple[numpy.typing.NDArray[numpy.uint8], list[int], list[int], list[int], list[int]]:
        """(states, seeds, episodes, steps, over): all that the future depends on"""
    def step(
        self, actions: numpy.typing.NDArray[numpy.integer[typing.Any]], *, grids: bool, masks: bool
    ) -> tuple[
        numpy.typing.NDArray[numpy.uint8] | None,
        numpy.typing.NDArray[numpy.float32],
        numpy.typing.NDArray[numpy.bool_],
        numpy.typing.NDArray[numpy.bool_],
        numpy.typing.NDArray[numpy.bool_] | None,
    ]:
        """(grids or None, rewards, terminated, truncated, masks or None)"""
    def step_one(
        self, action: typing.SupportsIndex
    ) -> tuple[numpy.typing.NDArray[numpy.uint8], float, bool, bool, numpy.typing.NDArray[numpy.bool_]]:
        """(grid, reward, terminated, truncated, mask) of the only slot"""

def cache_folder() -> str:
    """where tables and imported levels are kept; empty if there is no place for them"""

def format_levels(
    task: str,
    cells: numpy.typing.NDArray[numpy.uint8],
    shapes: numpy.typing.NDArray[numpy.integer[typing.Any]],
    titles: collections.abc.Sequence[str],
    format: str,
) -> str:
    """the text that parse_levels turns into exactly these levels"""

def parse_levels(text: bytes) -> tuple[typing.Any, ...]:
    """task, cells of all levels back to back, shapes[N, 2] and titles of a text; LevelError where it is malformed"""

def recognise(state: numpy.typing.NDArray[numpy.uint8]) -> typing.Any:
    """the task whose state this is, as far as its cells can tell; None where they cannot"""

MAX_TEXT_BYTES: int = 67108864
