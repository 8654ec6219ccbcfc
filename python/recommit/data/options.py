"""Options of ``recommit data``. Light to import: the command line builds its flags from it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from recommit.data.spec import DataSpec
from recommit.puzzles.registry import TASKS, Task
from recommit.storage.errors import WrongDataSpec

#: Default optimal lengths and boxes: those of the examples in the docs.
LENGTHS = {"sliding": (8, 24), "sokoban": (8, 32)}
BOXES = 2
#: Fields of ``DataSpec`` with a flag of the same name; unset flags keep the recipe's value.
_FIELDS = ("task", "count", "validation", "test", "seed", "ties", "disjoint", "generator")


@dataclass(frozen=True, kw_only=True)
class BuildOptions:
    """The data set: a recipe that flags change, or flags alone.

    Args:
        out: Folder of the data set.
        recipe: A YAML or JSON recipe, which other flags override (default: none, only the flags).
        task: The puzzle.
        size: Rows and columns, or one number for both (default: 8; of sliding 3).
        boxes: Boxes per level; several numbers make a difficulty each (default: 2 of sokoban).
        length: Shortest and longest optimal length of an instance, or one number for both (default: 8 to 24 of sliding,
            8 to 32 of sokoban, 3 to 8 of ice); several pairs make a difficulty each.
        count: Instances to train on.
        validation: Instances to validate on (default: 0).
        test: Instances to test on (default: 0).
        seed: Other seeds give other instances, but of published levels the same (default: 0).
        ties: Which of several optimal paths: the first in action order, or a random one (default: first).
        disjoint: What two splits never share up to symmetry: starts; layouts of walls and goals, where these stay; or
            regions (sliding): all states of shortest paths but those within six actions of the goal (default: starts).
        generator: How instances are made: rooms, reverse or boxoban (Sokoban); uniform, walk or walk_nobacktrack
            (sliding) (default: the first of these). Or which published levels they are, see recommit data import:
            unfiltered, medium or hard.
        workers: Processes (with Ray and no cluster: cores).
        engine: Local processes, or a Ray cluster that shares the folder.
    """

    out: Path
    recipe: Path | None = None
    task: Task | None = None
    size: tuple[int, ...] = ()
    boxes: tuple[int, ...] = ()
    length: tuple[int, ...] = ()
    count: int | None = None
    validation: int | None = None
    test: int | None = None
    seed: int | None = None
    ties: Literal["first", "random"] | None = None
    disjoint: Literal["starts", "layouts", "regions"] | None = None
    generator: str | None = None
    workers: int = 1
    engine: Literal["local", "ray"] = "local"

    def __post_init__(self) -> None:
        if len(self.length) > 1 and len(self.length) % 2:
            many = len(self.length)
            raise WrongDataSpec(f"length: expected one length, or shortest and longest, got {many} numbers")

    def spec(self) -> DataSpec:
        """The spec from recipe and flags."""
        plain = DataSpec.read(self.recipe).to_dict() if self.recipe else {}
        plain.update({name: getattr(self, name) for name in _FIELDS if getattr(self, name) is not None})
        plain.update({"size": list(self.size)} if self.size else {})
        if self.length or self.boxes or not self.recipe:
            plain["difficulties"] = self._difficulties(plain)
        if missing := [name for name in ("task", "count") if name not in plain]:
            raise WrongDataSpec(f"expected --recipe or --{' --'.join(missing)}, got neither")
        size = plain.get("size") or list(TASKS[plain["task"]].usual.size)
        plain["size"] = [*size, *size] if len(size) == 1 else list(size)
        return DataSpec.from_dict(plain)

    def _difficulties(self, plain: dict[str, Any]) -> list[dict[str, Any]]:
        """Every window of lengths with every number of boxes; without a flag those of the recipe, or the puzzle's
        defaults."""
        kind, before = TASKS.get(plain.get("task", "")), plain.get("difficulties", [{}])
        if kind is None:
            return []
        usual = LENGTHS.get(kind.task, kind.usual.length)
        said = list(zip(self.length[::2], self.length[1::2] or self.length, strict=True))
        windows = said or dict.fromkeys(tuple(each.get("length", usual)) for each in before)
        many = self.boxes or dict.fromkeys(each.get("boxes", min(BOXES, kind.most_boxes)) for each in before)
        return [{"length": list(window), "boxes": number} for number in many for window in windows]


@dataclass(frozen=True, kw_only=True)
class ImportOptions:
    """Published levels that are imported.

    Args:
        what: Boxoban: 10x10 cells, 4 boxes, in the splits unfiltered, medium and hard.
        folder: A copy of github.com/google-deepmind/boxoban-levels.
    """

    what: Literal["boxoban"]
    folder: Path


@dataclass(frozen=True, kw_only=True)
class ShowOptions:
    """The statistics of a data set, or its check.

    Args:
        folder: The data set.
        split: train, validation, test or all.
        verify: Check it instead: files against the manifest, rows against the rules of the puzzle.
        labels: With --verify: also solve every state again.
    """

    folder: Path
    split: str = "all"
    verify: bool = False
    labels: bool = False

    def __post_init__(self) -> None:
        if self.labels and not self.verify:
            raise WrongDataSpec("labels: expected --verify beside it, got none")
