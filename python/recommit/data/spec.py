"""The spec of a data set: exactly the values that determine its bytes."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from recommit import checks
from recommit.puzzles import registry
from recommit.puzzles.registry import TASKS
from recommit.storage import errors, recipe_text, schema
from recommit.storage.recipe_text import brief, cut

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from recommit.puzzles.puzzle import Puzzle

SPLITS = ("train", "validation", "test")
#: Most files of a data set: their names are enumerated before any is opened.
MOST_SHARDS = 1 << 20
#: Most files of a split by ``reverse``, whose attempts have distinct numbers up to there (``puzzles.sokoban.ATTEMPT``).
MOST_REVERSE = 1 << 15
#: With ``disjoint: regions`` paths of two splits may meet this many actions before the goal, and no earlier.
GATE = 6


@dataclass(frozen=True)
class Difficulty:
    """One difficulty: instances by optimal length, and by boxes where there are boxes."""

    length: tuple[int, int]
    boxes: int = 0


@dataclass(frozen=True)
class DataSpec:
    """The specification of a data set; equal specs give equal bytes."""

    task: str
    """The puzzle."""
    size: tuple[int, int]
    """Rows and columns."""
    difficulties: tuple[Difficulty, ...]
    """Instances are spread evenly over these."""
    count: int
    """Instances to train on."""
    validation: int = 0
    """Instances to validate on."""
    test: int = 0
    """Instances to test on."""
    seed: int = 0
    """Other seeds give other instances, but of published levels the same."""
    ties: Literal["first", "random"] = "first"
    """Which of several optimal paths: the first in action order, or a random one."""
    perturbed: int = 0
    """States up to four random actions off the expert path, per instance."""
    disjoint: Literal["starts", "layouts", "regions"] = "starts"
    """What two splits never share up to symmetry: starts; layouts of walls and goals, where these stay; or regions
    (sliding): all states of shortest paths but those within six actions of the goal."""
    generator: str = ""
    """How instances are made: rooms, reverse or boxoban (Sokoban); uniform, walk or walk_nobacktrack (sliding). Or
    which published levels they are, in the published splits: unfiltered, medium or hard (Boxoban's)."""
    shard: int = 4096
    """Instances per file."""

    def __post_init__(self) -> None:
        if not self.generator and self.task in TASKS:
            object.__setattr__(self, "generator", TASKS[self.task].generators[0])
        try:
            _check(self)
        except (TypeError, ValueError) as error:
            raise errors.WrongDataSpec(cut(str(error), 500)) from None

    @property
    def published(self) -> bool:
        """True if the instances are published levels."""
        return self.generator in TASKS[self.task].level_sets

    @property
    def counts(self) -> dict[str, int]:
        """Instances per split."""
        return {"train": self.count, "validation": self.validation, "test": self.test}

    def shards(self, split: str) -> int:
        """Number of files of a split. A test set is always one file, so that its starts can be distinct."""
        return min(1, self.test) if split == "test" else -(-self.counts[split] // self.shard)

    def shard_instances(self, split: str, shard: int) -> int:
        """Number of instances in one file."""
        return self.test if split == "test" else min(self.shard, self.counts[split] - shard * self.shard)

    def puzzle(self, difficulty: Difficulty | None = None) -> Puzzle:
        """The puzzle that generates instances of ``difficulty`` (None, if only states matter)."""
        return TASKS[self.task].of(self.size, (difficulty.boxes if difficulty else 0) or 1)

    def of_length(self, length: tuple[int, ...]) -> DataSpec:
        """The spec with another window of lengths (shortest, longest); unchanged for an empty ``length``."""
        if not length:
            return self
        boxes = sorted({difficulty.boxes for difficulty in self.difficulties})
        return replace(self, difficulties=tuple(Difficulty((length[0], length[1]), b) for b in boxes))

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values, every field present."""
        return asdict(self)

    def to_json(self) -> str:
        """Canonical text: equal for equal specs."""
        return json.dumps(self.to_dict(), indent=2, sort_keys=True) + "\n"

    @property
    def difficulty_names(self) -> list[str]:
        """One word per difficulty, as in ids: size, boxes, generator if not the default, and range of lengths."""
        size = f"{self.size[0]}x{self.size[1]}"
        how = "" if self.generator == TASKS[self.task].generators[0] else f"-{self.generator}"
        return [
            f"{size}{f'-{v.boxes}' if v.boxes else ''}{how}:{v.length[0]}..{v.length[1]}" for v in self.difficulties
        ]

    def ids(self, difficulty: Iterable[int], number: Iterable[int]) -> list[str]:
        """Names of instances: task/difficulty/seed/number."""
        prefixes = [f"{self.task}/{name}/{self.seed}/" for name in self.difficulty_names]
        return [f"{prefixes[v]}{n}" for v, n in zip(difficulty, number, strict=True)]

    @property
    def hash(self) -> str:
        """sha256 of ``to_json``."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> DataSpec:
        """A validated spec from plain values; ``size`` may be one number."""
        if isinstance(values, dict) and isinstance(side := values.get("size"), int):
            values = {**values, "size": (side, side)}
        try:
            spec: DataSpec = schema.parse(cls, values)
        except errors.DataError:
            raise
        except ValueError as error:
            raise errors.WrongDataSpec(str(error)) from None
        return spec

    @classmethod
    def from_text(cls, text: str) -> DataSpec:
        """Parse YAML or JSON (a subset of YAML)."""
        try:
            return cls.from_dict(recipe_text.read(text))
        except ImportError:
            raise errors.need("pyyaml", "data") from None
        except errors.DataError:
            raise
        except ValueError as error:
            raise errors.WrongDataSpec(f"recipe: {error}") from None

    @classmethod
    def read(cls, path: Path) -> DataSpec:
        """Read a YAML or JSON file."""
        try:
            return cls.from_text(recipe_text.of_file(path))
        except FileNotFoundError:
            raise errors.WrongDataSpec(f"{path}: expected a recipe file, found none") from None
        except OSError as error:
            raise errors.WrongDataSpec(str(errors.from_os(error, path))) from None
        except ValueError as error:
            raise errors.WrongDataSpec(f"{path}: {error}") from None

    def changed(self, **values: Any) -> DataSpec:
        """The spec with some fields replaced."""
        return replace(self, **values)


def set_names(specs: Sequence[DataSpec]) -> list[str]:
    """Unique names for data sets: puzzle and size, numbered if several share them."""
    words = [f"{spec.task}-{spec.size[0]}x{spec.size[1]}" for spec in specs]
    return [f"{word}-{words[:i].count(word) + 1}" if words.count(word) > 1 else word for i, word in enumerate(words)]


#: Smallest and largest value of every number in a spec.
_BOUNDS = {
    "count": (0, 2**40),
    "validation": (0, 2**24),
    "test": (0, 2**24),
    "seed": (0, 2**63 - 1),
    "perturbed": (0, 255),
    "shard": (1, 2**20),
}


def _check(spec: DataSpec) -> None:
    kind = registry.puzzle(spec.task)
    checks.choice("ties", spec.ties, ("first", "random"))
    checks.choice("disjoint", spec.disjoint, kind.splits)
    checks.choice("generator", spec.generator, (*kind.generators, *kind.level_sets))
    for name, (low, high) in _BOUNDS.items():
        checks.integer(name, getattr(spec, name), low, high)
    if (files := sum(map(spec.shards, SPLITS))) > MOST_SHARDS:
        raise ValueError(f"shard: expected enough instances per file for {MOST_SHARDS} files, got {files} files")
    if spec.generator == "reverse" and max(map(spec.shards, SPLITS)) > MOST_REVERSE:
        raise ValueError(f"shard: expected at most {MOST_REVERSE} files of a split by reverse, got more")
    if len(spec.size) != 2:
        raise ValueError(f"size: expected rows and columns, got {len(spec.size)} numbers")
    for side in spec.size:
        checks.integer("size", side, *kind.sides)
    checks.integer("number of difficulties", len(spec.difficulties), 1, 64)
    for difficulty in spec.difficulties:
        checks.window(difficulty.length, 1, 30000)
        checks.integer("difficulties.boxes", difficulty.boxes, min(1, kind.most_boxes), kind.most_boxes)
    if len(set(spec.difficulties)) < len(spec.difficulties):  # equal ones would read the same stream
        got = [[*difficulty.length, difficulty.boxes] for difficulty in spec.difficulties]
        raise ValueError(f"difficulties: expected each once, got (shortest, longest, boxes) {brief(got)}")
    if spec.disjoint == "regions":
        shortest = min(difficulty.length[0] for difficulty in spec.difficulties)
        if shortest < GATE:
            raise ValueError(f"length: expected from {GATE} on with disjoint: regions, as paths meet, got {shortest}")
        if spec.perturbed:  # perturbed states may leave their path's region
            raise ValueError(f"perturbed: expected 0 with disjoint: regions, got {spec.perturbed}")
    boxes = sorted({difficulty.boxes for difficulty in spec.difficulties})
    if spec.published and (tuple(spec.size), boxes, spec.disjoint) != ((10, 10), [4], "starts"):
        raise ValueError(
            f"generator: expected size 10, 4 boxes and disjoint: starts for published levels, got size "
            f"{list(spec.size)}, boxes {boxes} and disjoint: {spec.disjoint}"
        )
