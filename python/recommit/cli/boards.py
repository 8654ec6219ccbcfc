"""Board options of ``recommit levels``, ``solve`` and ``play``: levels from a file, or generated."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recommit.cli.flags import WrongCall
from recommit.puzzles.levels import read_levels
from recommit.puzzles.registry import TASKS, Task

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typing_extensions import Self

    from recommit.puzzles.levels import Levels
    from recommit.puzzles.puzzle import Puzzle
    from recommit.watch.match import Level


#: Format of ``PolicyConfig.trained``.
_TRAINED = re.compile(rf"({'|'.join(TASKS)})-(\d{{1,2}})x(\d{{1,2}})")
#: Default number of boxes of a Sokoban level.
BOXES = 2


@dataclass(frozen=True, kw_only=True)
class BoardOptions:
    """Which boards are generated.

    Args:
        task: The puzzle (default: sokoban).
        size: Rows, or rows and columns, with the outer wall (default: 8; of sliding 3).
        boxes: Boxes of a Sokoban level (default: 2).
        length: Optimal length of every board, or the shortest and longest (default: any).
        seed: Random seed; board i depends on the seed, its index and these flags alone.
    """

    task: Task | None = None
    size: tuple[int, ...] = ()
    boxes: int | None = None
    length: tuple[int, ...] = ()
    seed: int = 0

    def __post_init__(self) -> None:
        if len(self.size) > 2:
            raise ValueError(f"size: expected rows, or rows and columns, got {len(self.size)} numbers")
        if len(self.length) > 2:
            raise ValueError(f"length: expected one length, or shortest and longest, got {len(self.length)} numbers")
        most = TASKS[self.name].most_boxes
        if self.boxes is not None and not 1 <= self.boxes <= most:
            raise ValueError(f"boxes: expected {f'1..{most}' if most else f'none for {self.name}'}, got {self.boxes}")

    def refuse_beside(self, file: Path | None, *more: str) -> None:
        """Refuse generator flags beside a level file."""
        given = {each.name: value for each in fields(self) if (value := getattr(self, each.name)) != each.default}
        for name in ("task", "size", "boxes", "length", *more) if file else ():
            if name in given:
                raise ValueError(f"{name}: expected none with a level file, which has its own, got {given[name]}")

    @property
    def name(self) -> str:
        return self.task or "sokoban"

    def puzzle(self) -> Puzzle:
        """The puzzle with the given or its default size."""
        kind = TASKS[self.name]
        try:
            return kind.of((self.size[0], self.size[-1]) if self.size else kind.usual.size, self.boxes or BOXES)
        except ValueError as error:  # there are no flags rows and columns
            raise WrongCall(re.sub(r"^(rows|columns):", "size:", str(error))) from None

    def drawn(self) -> dict[str, Any]:
        length = self.length[0] if len(self.length) == 1 else self.length or None
        return {"seed": self.seed, "length": length}


@dataclass(frozen=True, kw_only=True)
class LevelOptions(BoardOptions):
    """One level: of a file, or generated.

    Args:
        file: A level file of any of the known formats (default: levels are generated).
        index: Which level, counted from 0.
    """

    file: Path | None = None
    index: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.refuse_beside(self.file)

    def of_policy(self, agent: str, trained: Sequence[str]) -> Self:
        """Fill unset options for a policy: a puzzle and size that it was ``trained`` on (sliding-3x3), and boxes and
        lengths of its run's data."""
        from recommit.data.spec import DataSpec
        from recommit.runs.directory import recipes_of

        matches = [match for match in map(_TRAINED.fullmatch, trained) if match and self.task in (None, match[1])]
        if self.file is not None or not matches:
            return self
        known = [(match[1], (int(match[2]), int(match[3]))) for match in matches]
        task, size = known[0]
        if self.size:
            size = (self.size[0], self.size[-1])
            task = next((name for name, other in known if other == size), task)
        specs = list[DataSpec]()
        with suppress(ValueError):  # only runs have specs
            specs = recipes_of(agent)
        kinds = [kind for spec in specs if (spec.task, spec.size) == (task, size) for kind in spec.difficulties]
        counts = [kind.boxes for kind in kinds]
        boxes = self.boxes or (BOXES if BOXES in counts else next(iter(counts), 0))
        lengths = [end for kind in kinds if kind.boxes == boxes for end in kind.length]
        length = self.length or ((min(lengths), max(lengths)) if lengths else ())
        own: dict[str, Any] = {"task": task, "size": size, "boxes": boxes or None, "length": length}
        return replace(self, **own)

    def level(self, index: int) -> Level:
        """Level number ``index`` of the file or generator."""
        from recommit.watch.match import of_state

        if index < 0:
            raise WrongCall(f"index: expected at least 0, got {index}")
        if self.file is None:
            (state,) = self.puzzle().generate(1, start=index, **self.drawn()).states
            return of_state(self.name, state, f"{self.name}, seed {self.seed}, number {index}")
        levels = read_levels(self.file)
        return of_state(levels.task, one(levels, index)[0], levels.titles[index] or f"level {index}")


def one(levels: Levels, index: int) -> Levels:
    """``Levels`` with only level ``index``."""
    if not 0 <= index < len(levels):
        raise WrongCall(f"index: expected 0..{len(levels) - 1}, got {index}")
    return levels[index : index + 1]


def check_place(out: Path) -> None:
    """Refuse an output path that cannot be written, before any work."""
    if not out.name or out.is_dir():
        raise WrongCall(f"{out}: expected a file, got a folder")
    if not out.absolute().parent.is_dir():
        raise WrongCall(f"{out}: there is no folder {out.parent}")
