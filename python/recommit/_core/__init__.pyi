"""The compiled core of recommit. One submodule per puzzle, with the same functions in both."""

import typing
from . import sliding as sliding
from . import sokoban as sokoban

class LevelError(ValueError):
    """A malformed level; `line` and `column` count from 1 (0: the text as a whole)."""

    column: int
    line: int
