"""What ``recommit estimate`` is asked for: a recipe, what is changed in it, and a machine, with its memory and the rate
of matrix products at best. Light to import."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

from recommit.policy.backbones.backbone import GIVEN, given_place
from recommit.puzzles import registry

if TYPE_CHECKING:
    from collections.abc import Callable

    from recommit.estimate.costs import Estimate
    from recommit.estimate.schedule import Stage
    from recommit.puzzles.puzzle import Puzzle
    from recommit.train.config import ModelConfig


GIB = 2**30
#: Of the best rate, what a step is taken to reach: assumed, and not measured for these recipes.
SHARE = 0.4


class Rate(NamedTuple):
    """FLOPs per second of a rank at best (0: unknown, and no time is estimated), and where that is from."""

    peak: float
    source: str


class Card(NamedTuple):
    """One accelerator: GiB that programs get, and FLOPs per second, dense, by data type (0: unknown)."""

    title: str
    memory: float
    bfloat16: float
    float32: float
    source: str


CARDS = {
    "a100": Card("A100 80 GB", 79.2, 312e12, 19.5e12, "the vendor's sheet, dense"),
    "h200": Card("H200 141 GB", 139.8, 790e12, 67e12, "bfloat16 measured on one card, float32 the vendor's sheet"),
    "rtx4090": Card("RTX 4090 24 GB", 23.5, 165e12, 82.6e12, "the vendor's sheet, dense, sums in float32"),
    "cpu": Card("processor", 16.0, 0.0, 0.0, "unknown; say --peak"),
}


@dataclass(frozen=True)
class Machine:
    """Cards by name; ``memory`` (GiB of a rank) and ``peak`` (TFLOP/s at best), where not 0, replace the card's."""

    card: str = "a100"
    gpus: int = 1
    memory: float = 0.0
    peak: float = 0.0

    def __post_init__(self) -> None:
        if self.card not in CARDS:
            raise ValueError(f"card: expected one of {', '.join(CARDS)}, got {self.card}")
        if self.gpus < 1 or min(self.memory, self.peak) < 0:
            got = f"{self.gpus}, {self.memory} and {self.peak}"
            raise ValueError(f"gpus: expected at least 1, memory and peak at least 0, got {got}")

    def rate(self, dtype: str) -> Rate:
        """Of products of weights of a type."""
        if self.peak:
            return Rate(self.peak * 1e12, "as said on the command line")
        card = CARDS[self.card]
        return Rate(card.bfloat16 if dtype == "bfloat16" else card.float32, f"{card.title}, {card.source}")

    @property
    def limit(self) -> int:
        """Bytes per rank."""
        return int((self.memory or CARDS[self.card].memory) * GIB)


@dataclass(frozen=True)
class EstimateOptions:
    """Which recipe, what is changed in it, and on which machine.

    Args:
        recipe: quick-sliding, laptop-sliding, laptop-sokoban, laptop-joint, laptop-ice, boxoban, qwen7b-sliding,
            qwen7b-sokoban, paper-sliding, paper-sokoban, paper-joint, or a YAML file.
        stage: The warm start, GRPO, or both.
        size: Rows, or rows and columns (default: the usual ones of each puzzle of the recipe).
        set: Any value of the stage, for example --set engine.stage=3 model.backbone=random:7b.
        card: a100, h200, rtx4090 or cpu: memory and rate, each with its source.
        gpus: How many ranks.
        memory: GiB of one rank; 0 for the card's.
        peak: TFLOP/s of one rank at best; 0 for the card's.
    """

    recipe: str
    stage: Literal["sft", "grpo", "both"] = "both"
    size: tuple[int, ...] = ()
    set: tuple[str, ...] = ()
    card: str = "a100"
    gpus: int = 1
    memory: float = 0.0
    peak: float = 0.0

    def __post_init__(self) -> None:
        _ = self.machine

    @property
    def machine(self) -> Machine:
        """Where it is to run."""
        return Machine(self.card, self.gpus, self.memory, self.peak)

    def estimates(self, progress: Callable[[str], None] = lambda _: None) -> list[Estimate]:
        """One of each stage and puzzle; ``progress`` is told what is counted."""
        from recommit.estimate.costs import estimate

        return [estimate(stage, self.model, puzzle, self.machine, progress) for stage, puzzle in self.stages()]

    def stages(self) -> list[tuple[Stage, Puzzle]]:
        """The configurations of the stages that are asked for, each as if it were of one puzzle alone."""
        from recommit.train.config import section

        names = [self.stage] if self.stage != "both" else [n for n in ("sft", "grpo") if section(self.recipe, n)]
        return [(self._stage(name, puzzle), puzzle) for name in names for puzzle in self.puzzles]

    @property
    def model(self) -> ModelConfig:
        """Model of the warm start, which GRPO goes on with."""
        from recommit.train.config import load

        of_model = [change for change in self.set if change.strip().startswith("model.")]
        result: ModelConfig = load(self.recipe, of_model).model
        return replace(result, backbone=GIVEN) if given_place() else result

    @property
    def puzzles(self) -> list[Puzzle]:
        """The boards."""
        from recommit.train.config import tasks

        named = tuple(name for name in registry.TASKS if self.recipe.endswith(name))
        found = [registry.puzzle(name) for name in named or tasks(self.recipe) or self.model.policy.tasks]
        shapes = [self.size or each.usual.size for each in found]
        return [each.of((size[0], size[-1]), 1) for each, size in zip(found, shapes, strict=True)]

    def _stage(self, name: str, puzzle: Puzzle) -> Stage:
        from recommit.train.config import SftConfig, load
        from recommit.train.grpo.config import GrpoConfig

        rest = [change for change in self.set if not change.strip().startswith("model.")]
        if name == "grpo":
            grpo: GrpoConfig = load(self.recipe, rest, GrpoConfig, name).of(puzzle.task)
            return replace(grpo, validation=grpo.validation.of(puzzle))
        sft: SftConfig = load(self.recipe, rest)
        return replace(sft, model=self.model, validation=sft.validation.of(puzzle))
