"""What ``recommit estimate`` is asked for: a recipe, what is changed in it, and a machine. Light to import."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from recommit.estimate.machine import Machine
from recommit.policy.backbones.backbone import GIVEN, given_place
from recommit.puzzles import registry

if TYPE_CHECKING:
    from collections.abc import Callable

    from recommit.estimate.costs import Estimate
    from recommit.estimate.schedule import Stage
    from recommit.puzzles.puzzle import Puzzle
    from recommit.train.config import ModelConfig


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
