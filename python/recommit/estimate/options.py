"""Options of ``recommit estimate``: a recipe with changes, and a machine. Light to import."""

from __future__ import annotations

import re
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
    """Recipe, changes to it, and machine.

    Args:
        recipe: quick-sliding, laptop-sliding, laptop-sokoban, laptop-joint, laptop-ice, boxoban, qwen7b-sliding,
            qwen7b-sokoban, paper-sliding, paper-sokoban, paper-joint, or a YAML file.
        stage: The warm start, GRPO, or both.
        puzzles: Puzzles that one run trains jointly, such as sliding-3x3 sliding-4x4 sokoban-7x7 (default: those of the
            recipe in their usual sizes).
        set: Any value of the stage, for example --set engine.stage=3 model.backbone=random:7b.
        card: a100, h200, rtx4090 or cpu: sets memory and rate, each with its source.
        gpus: Number of ranks.
        memory: GiB of one rank; 0 for the card's.
        peak: Peak TFLOP/s of one rank; 0 for the card's.
    """

    recipe: str
    stage: Literal["sft", "grpo", "both"] = "both"
    puzzles: tuple[str, ...] = ()
    set: tuple[str, ...] = ()
    card: str = "a100"
    gpus: int = 1
    memory: float = 0.0
    peak: float = 0.0

    def __post_init__(self) -> None:
        _ = self.machine

    @property
    def machine(self) -> Machine:
        """The machine of the options."""
        return Machine(self.card, self.gpus, self.memory, self.peak)

    def estimates(self, progress: Callable[[str], None] = lambda _: None) -> list[Estimate]:
        """One estimate per stage; ``progress`` gets status messages."""
        from recommit.estimate.costs import estimate

        return [estimate(stage, self.model, self.boards, self.machine, progress) for stage in self.stages()]

    def stages(self) -> list[Stage]:
        """The configurations of the chosen stages."""
        from recommit.train.config import load, section
        from recommit.train.grpo.config import GrpoConfig

        names = [self.stage] if self.stage != "both" else [n for n in ("sft", "grpo") if section(self.recipe, n)]
        rest, found = [change for change in self.set if not change.strip().startswith("model.")], list["Stage"]()
        if "sft" in names:
            found.append(replace(load(self.recipe, rest), model=self.model))
        return [*found, *(load(self.recipe, rest, GrpoConfig, "grpo") for name in names if name == "grpo")]

    @property
    def model(self) -> ModelConfig:
        """Model of the warm start, also used for GRPO."""
        from recommit.train.config import load

        of_model = [change for change in self.set if change.strip().startswith("model.")]
        result: ModelConfig = load(self.recipe, of_model).model
        return replace(result, backbone=GIVEN) if given_place() else result

    @property
    def boards(self) -> list[Puzzle]:
        """The puzzles with their sizes."""
        from recommit.train.config import tasks

        if self.puzzles:
            return list(map(_board, self.puzzles))
        named = tuple(name for name in registry.TASKS if self.recipe.endswith(name))
        found = [registry.puzzle(name) for name in named or tasks(self.recipe) or self.model.policy.tasks]
        return [each.of(each.usual.size, 1) for each in found]


def _board(name: str) -> Puzzle:
    """Parse a puzzle's name with size."""
    if not (parts := re.fullmatch(r"([a-z]+)-(\d{1,3})x(\d{1,3})", name, re.ASCII)):
        raise ValueError(f"puzzles: expected names with sizes, such as sliding-3x3, got {name!r:.80}")
    return registry.puzzle(parts[1]).of((int(parts[2]), int(parts[3])), 1)
