"""What ``recommit estimate`` is asked for: a recipe, what is changed in it, and a machine. Light to import."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib.resources import files
from math import factorial
from typing import TYPE_CHECKING, Any, Literal

from recommit.estimate.machine import SHARE, Machine
from recommit.puzzles import registry
from recommit.puzzles.registry import Task

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recommit.estimate.costs import Estimate
    from recommit.estimate.schedule import EvaluationStage, Stage
    from recommit.puzzles.puzzle import Puzzle
    from recommit.train.config import ModelConfig


@dataclass(frozen=True)
class EstimateOptions:
    """Which recipe, what is changed in it, and on which machine.

    Args:
        recipe: laptop-sliding, laptop-sokoban, laptop-ice, paper-sliding, paper-sokoban, qwen7b-sliding,
            qwen7b-sokoban, or a YAML file.
        stage: The warm start, GRPO, both, or the evaluation of a family of runs.
        task: Which puzzle, where no preset of recommit reproduce says it for this recipe.
        size: Rows, or rows and columns (default: those of the preset, or the usual ones).
        set: Any value of the stage, for example --set engine.stage=3 model.backbone=random:7b; a backbone is a local
            folder, a published name, or random: and the name of a shape.
        card: a100, h200, rtx4090 or cpu: memory and rate, each with its source.
        gpus: How many ranks.
        memory: GiB of one rank; 0 for the card's.
        peak: TFLOP/s of one rank at best; 0 for the card's.
        share: Share of that rate that a run is taken to reach.
    """

    recipe: str
    stage: Literal["sft", "grpo", "evaluate", "both"] = "both"
    task: Task | None = None
    size: tuple[int, ...] = ()
    set: tuple[str, ...] = ()
    card: str = "a100"
    gpus: int = 1
    memory: float = 0.0
    peak: float = 0.0
    share: float = SHARE

    def __post_init__(self) -> None:
        _ = self.machine

    @property
    def machine(self) -> Machine:
        """Where it is to run."""
        return Machine(self.card, self.gpus, self.memory, self.peak, self.share)

    def estimates(self) -> list[Estimate]:
        """One of each stage."""
        from recommit.estimate.costs import estimate

        return [estimate(stage, self.model, self.puzzle, self.machine) for stage in self.stages()]

    def stages(self) -> list[Stage]:
        """The configurations of the stages that are asked for."""
        from recommit.train.config import section

        both = [name for name in ("sft", "grpo") if section(self.recipe, name)]
        return [self._stage(name) for name in (both if self.stage == "both" else [self.stage])]

    @property
    def model(self) -> ModelConfig:
        """Model of the warm start, which GRPO goes on with."""
        from recommit.train.config import load

        of_model = [change for change in self.set if change.strip().startswith("model.")]
        result: ModelConfig = load(self.recipe, of_model).model
        return result

    @property
    def puzzle(self) -> Puzzle:
        """The boards: as said, or as in the presets of ``recommit reproduce`` that train by this recipe."""
        boards = [_board(entry["data"]) for entry in _entries(self.recipe)]
        task = self.task
        if task is None and len(set(boards)) != 1:
            tasks = self.model.policy.tasks
            if len(tasks) != 1:
                raise ValueError(
                    f"task: expected one of {', '.join(tasks)}, since no preset says it for {self.recipe}, got none"
                )
            (task,) = tasks  # type: ignore[assignment]
        name, usual = (task, dict(boards).get(task)) if task else boards[0]
        shape = self.size or usual or registry.puzzle(name).usual.size
        return registry.puzzle(name).of((shape[0], shape[-1]), 1)

    def _stage(self, name: str) -> Stage:
        from recommit.train.config import SftConfig, load
        from recommit.train.grpo.config import GrpoConfig

        if name == "evaluate":
            return self._evaluation()
        rest = [change for change in self.set if not change.strip().startswith("model.")]
        if name == "grpo":
            grpo: GrpoConfig = load(self.recipe, rest, GrpoConfig, name)
            return replace(grpo, validation=grpo.validation.of(self.puzzle))
        sft: SftConfig = load(self.recipe, rest)
        return replace(sft, model=self.model, validation=sft.validation.of(self.puzzle))

    def _evaluation(self) -> EvaluationStage:
        """What the first preset that trains by this recipe asks of an evaluation, for one of its seeds."""
        from recommit.estimate.schedule import EvaluationStage

        entry, task = next(_entries(self.recipe), None), self.puzzle
        if entry is None:
            raise ValueError(
                f"stage: expected sft or grpo, since no preset evaluates runs of {self.recipe}, got evaluate"
            )
        values = entry.get("evaluate", {})
        others = len({*entry["variants"], *entry.get("ablations", ())} - {"adaptive"}) + 1
        boards = factorial(task.shape[0] * task.shape[1]) // 2 if task.task == "sliding" else 0
        budget = max(task.usual.budgets.values())
        return EvaluationStage(values.get("instances", 1024), values.get("validation", 256), budget, others, boards)


def _entries(recipe: str) -> Iterator[dict[str, Any]]:
    """Find the presets that train by a recipe, and what they say of its puzzle."""
    from recommit.storage import recipe_text

    folder = files("recommit") / "recipes" / "reproduce"
    for file in sorted(folder.iterdir(), key=lambda f: f.name):
        if file.name.endswith(".yaml"):
            entries = recipe_text.read(file.read_text(encoding="utf-8"))["tasks"].values()
            yield from (entry for entry in entries if entry["recipe"] == recipe)


def _board(data: dict[str, Any]) -> tuple[str, tuple[int, ...]]:
    size = data["size"]
    return data["task"], (size,) if isinstance(size, int) else tuple(size)
