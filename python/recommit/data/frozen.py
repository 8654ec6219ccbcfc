"""Frozen test sets: named by what is in them, made again from their recipe alone, on any machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recommit.data import errors, files, sampling
from recommit.data.recipe import Recipe, Variant
from recommit.puzzles.registry import TASKS

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: The paper tests on 64 instances per task, which gives +-12 points; ours has this many.
COUNT = 1024

#: What is tested unless somebody asks for something else: the variants of the paper as far as they are known.
VARIANTS = {
    "sliding": ((3, 3), tuple(Variant((length, length)) for length in (16, 18, 20, 22, 24))),
    "sokoban": ((7, 7), tuple(Variant((8, 32), boxes) for boxes in (1, 2, 3))),
}


@dataclass(frozen=True)
class Frozen:
    """Start states to evaluate on, all distinct up to symmetry and in nobody's training split."""

    recipe: Recipe
    ids: tuple[str, ...]
    states: NDArray[np.uint8]
    length: NDArray[np.int16]

    def __len__(self) -> int:
        return len(self.states)

    @property
    def name(self) -> str:
        """Task, size, number of instances, and the first 12 digits of the sha256 of ids, lengths and states."""
        plain = "\n".join(f"{i} {n}" for i, n in zip(self.ids, self.length.tolist(), strict=True)).encode()
        digest = files.sha256(plain + self.states.tobytes())
        size = "x".join(map(str, self.recipe.size))
        return f"{self.recipe.task}-{size}-{len(self)}-{digest[:12]}"


def freeze(
    task: str,
    count: int = COUNT,
    *,
    size: tuple[int, int] | None = None,
    variants: tuple[Variant, ...] | None = None,
    seed: int = 0,
    name: str | None = None,
    threads: int | None = None,
) -> Frozen:
    """The test set of a task: a function of the arguments. With ``name``, Damaged unless it comes out as that one."""
    if task not in TASKS:
        raise errors.WrongRecipe(f"task: expected one of {', '.join(TASKS)}, got {task!r}")
    common = TASKS[task].usual
    usual_size, usual = VARIANTS.get(task, (common.size, (Variant(common.length, min(1, TASKS[task].most_boxes)),)))
    recipe = Recipe(task, size or usual_size, variants or usual, count=0, test=count, seed=seed)
    if count < 1:
        raise errors.WrongRecipe(f"count: expected at least 1, got {count}")
    starts = sampling.starts(recipe, "test", 0, threads=threads)
    found = Frozen(recipe, tuple(recipe.ids(starts.variant, starts.number)), starts.states, starts.length)
    if name is not None and name != found.name:
        raise errors.Damaged(f"name: expected the test set {name}, got {found.name}: made by another version?")
    return found
