"""Frozen test sets: named by what is in them, made again from their spec alone, on any machine."""

from __future__ import annotations

import warnings
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit.data.spec import DataSpec, Difficulty
from recommit.data.starts import sampling
from recommit.puzzles.registry import TASKS
from recommit.storage import errors, files

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: The paper tests on 64 instances per task, which gives +-12 points; ours has this many.
COUNT = 1024

#: What is tested unless somebody asks for something else: the difficulties of the paper as far as they are known.
DIFFICULTIES = {
    "sliding": ((3, 3), tuple(Difficulty((length, length)) for length in (16, 18, 20, 22, 24))),
    "sokoban": ((7, 7), tuple(Difficulty((8, 32), boxes) for boxes in (1, 2, 3))),
}


@dataclass(frozen=True)
class Stratum:
    """One difficulty of a frozen set: its even share of the instances, and how many of them are its own."""

    difficulty: Difficulty
    share: int
    count: int

    def to_dict(self) -> dict[str, Any]:
        """Plain values, by the names that manifests have."""
        return {"variant": asdict(self.difficulty), "share": self.share, "count": self.count}


@dataclass(frozen=True)
class Frozen:
    """Start states to evaluate on, all distinct up to symmetry and in nobody's training split."""

    spec: DataSpec
    ids: tuple[str, ...]
    states: NDArray[np.uint8]
    length: NDArray[np.int16]
    strata: tuple[Stratum, ...] = ()

    def __len__(self) -> int:
        return len(self.states)

    @property
    def name(self) -> str:
        """Task, size, number of instances, and the first 12 digits of the sha256 of ids, lengths and states."""
        plain = "\n".join(f"{i} {n}" for i, n in zip(self.ids, self.length.tolist(), strict=True)).encode()
        digest = files.sha256(plain + self.states.tobytes())
        size = "x".join(map(str, self.spec.size))
        return f"{self.spec.task}-{size}-{len(self)}-{digest[:12]}"

    @property
    def manifest(self) -> dict[str, Any]:
        """What the set is, as plain values: its name, its spec, and every difficulty's share beside what it has."""
        strata = [stratum.to_dict() for stratum in self.strata]
        return {"name": self.name, "recipe": self.spec.to_dict(), "instances": len(self), "strata": strata}


def freeze(
    task: str,
    count: int = COUNT,
    *,
    size: tuple[int, int] | None = None,
    difficulties: tuple[Difficulty, ...] | None = None,
    seed: int = 0,
    name: str | None = None,
    threads: int | None = None,
) -> Frozen:
    """The test set of a task: a function of the arguments. With ``name``, Damaged unless it comes out as that one.

    Every difficulty has an even share. A difficulty that has fewer starts in the test split gives all of them, the
    others fill up, and a warning says so; ``manifest`` of the result says how many each has.
    """
    if task not in TASKS:
        raise errors.WrongDataSpec(f"task: expected one of {', '.join(TASKS)}, got {task!r}")
    if count < 1:
        raise errors.WrongDataSpec(f"count: expected at least 1, got {count}")
    size = size or usual_size(task)
    spec = DataSpec(task, size, difficulties or usual_difficulties(task, size), count=0, test=count, seed=seed)
    result = _stratified(spec, threads)
    if name is not None and name != result.name:
        raise errors.Damaged(f"name: expected the test set {name}, got {result.name}: made by another version?")
    return result


def usual_size(task: str) -> tuple[int, int]:
    """The size of the instances that are tested unless somebody asks for others."""
    return DIFFICULTIES[task][0] if task in DIFFICULTIES else TASKS[task].usual.size


def usual_difficulties(task: str, size: tuple[int, int]) -> tuple[Difficulty, ...]:
    """What is tested on this size: lengths as far out, among all there are, as those of the usual size."""
    common = TASKS[task].usual
    usual = DIFFICULTIES.get(task, ((), (Difficulty(common.length, min(1, TASKS[task].most_boxes)),)))[1]
    here, there = TASKS[task].of(size, 1).farthest, TASKS[task].of(usual_size(task), 1).farthest
    if here is None or there is None or here >= there:
        return usual
    scaled = ((max(1, round(n * here / there)) for n in difficulty.length) for difficulty in usual)
    return tuple(dict.fromkeys(Difficulty((low, high)) for low, high in scaled))


def _stratified(spec: DataSpec, threads: int | None) -> Frozen:
    """As many instances as the spec asks for, as evenly spread over its difficulties as they have them."""
    most = np.full(len(spec.difficulties), spec.test)
    while True:
        which = _turns(spec.test, most)
        starts = sampling.dealt(spec, "test", 0, which, threads=threads, fewer=True)
        counts = np.bincount(starts.difficulty, minlength=len(most))
        short = counts < np.bincount(which, minlength=len(most))
        if not short.any():
            break
        most[short] = counts[short]
    even = np.bincount(_turns(spec.test, np.full(len(most), spec.test)), minlength=len(most))
    strata = tuple(map(Stratum, spec.difficulties, even.tolist(), counts.tolist()))
    _report(spec, strata)
    return Frozen(spec, tuple(spec.ids(starts.difficulty, starts.number)), starts.states, starts.length, strata)


def _turns(count: int, most: NDArray[np.int_]) -> NDArray[np.intp]:
    """The difficulty of each instance: all take turns, each up to ``most`` times."""
    rounds = np.arange(min(count, int(most.max())))[:, None]
    result: NDArray[np.intp] = np.nonzero(most > rounds)[1][:count]
    return result


def _report(spec: DataSpec, strata: tuple[Stratum, ...]) -> None:
    """Say which difficulties had too few, and refuse a set with nothing in it."""
    total = sum(stratum.count for stratum in strata)
    if not total:
        names = ", ".join(spec.difficulty_names)
        raise errors.NotEnough(f"count: expected {spec.test} {spec.task} starts in the test split of {names}, got none")
    every = zip(spec.difficulty_names, strata, strict=True)
    if short := [f"{name} {s.count} of {s.share}" for name, s in every if s.count < s.share]:
        text = f"freeze: {total} of {spec.test} instances; these have fewer than an even share: {', '.join(short)}"
        warnings.warn(text, stacklevel=4)
