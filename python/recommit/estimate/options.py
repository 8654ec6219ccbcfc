"""What ``recommit estimate`` is asked for: a recipe, what is changed in it, and a machine. Light to import."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from importlib.resources import files
from math import factorial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from recommit.estimate.machine import SHARE, Machine
from recommit.policy.backbones.backbone import GIVEN, given_place
from recommit.puzzles import registry
from recommit.puzzles.registry import Task
from recommit.storage import recipe_text

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
        recipe: quick-sliding, laptop-sliding, laptop-sokoban, laptop-joint, laptop-ice, boxoban, qwen7b-sliding,
            qwen7b-sokoban, paper-sliding, paper-sokoban, paper-joint, or a YAML file.
        stage: The warm start, GRPO, both, or the evaluation of a family of runs.
        task: Which puzzle (default: that of the preset of recommit reproduce that trains by this recipe, or each one
            that the recipe is for).
        size: Rows, or rows and columns (default: those of the preset, or the usual ones).
        set: Any value of the stage, for example --set engine.stage=3 model.backbone=random:7b.
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

        return [estimate(stage, self.model, puzzle, self.machine) for stage, puzzle in self.stages()]

    def picture_first(self) -> EstimateOptions | None:
        """The same with prompts that have the picture before the text; None where no prompt has the text first."""
        prompts = self.model.policy.prompts
        first = [name.replace("-v2", "-v1") for name in prompts]
        if first == list(prompts):
            return None
        return replace(self, set=(*self.set, f"model.policy.prompts=[{', '.join(first)}]"))

    def stages(self) -> list[tuple[Stage, Puzzle]]:
        """The configurations of the stages that are asked for, each as if it were of one puzzle alone."""
        from recommit.train.config import section

        both = [name for name in ("sft", "grpo") if section(self.recipe, name)]
        names, puzzles = both if self.stage == "both" else [self.stage], self.puzzles
        return [(self._stage(name, puzzle), puzzle) for name in names for puzzle in puzzles]

    @property
    def model(self) -> ModelConfig:
        """Model of the warm start, which GRPO goes on with."""
        from recommit.train.config import load

        of_model = [change for change in self.set if change.strip().startswith("model.")]
        result: ModelConfig = load(self.recipe, of_model).model
        return replace(result, backbone=GIVEN) if given_place() else result

    @property
    def puzzles(self) -> list[Puzzle]:
        """The boards: as said, or as in the presets of ``recommit reproduce`` that train by this recipe."""
        from recommit.train.config import tasks

        boards = dict[str, tuple[int, ...]]()
        for every in _presets():
            for task, size in _boards(every, self.recipe):  # of several sizes the first
                boards.setdefault(task, size)
        names = (self.task,) if self.task else tuple(boards) or tasks(self.recipe) or self.model.policy.tasks
        shapes = [self.size or boards.get(name) or registry.puzzle(name).usual.size for name in names]
        pairs = zip(names, shapes, strict=True)
        return [registry.puzzle(name).of((shape[0], shape[-1]), 1) for name, shape in pairs]

    def _stage(self, name: str, puzzle: Puzzle) -> Stage:
        from recommit.train.config import SftConfig, load
        from recommit.train.grpo.config import GrpoConfig

        if name == "evaluate":
            return self._evaluation(puzzle)
        rest = [change for change in self.set if not change.strip().startswith("model.")]
        if name == "grpo":
            grpo: GrpoConfig = load(self.recipe, rest, GrpoConfig, name).of(puzzle.task)
            return replace(grpo, validation=grpo.validation.of(puzzle))
        sft: SftConfig = load(self.recipe, rest)
        return replace(sft, model=self.model, validation=sft.validation.of(puzzle))

    def _evaluation(self, task: Puzzle) -> EvaluationStage:
        """What the first preset that trains by this recipe asks of an evaluation, for one of its seeds."""
        from recommit.estimate.schedule import EvaluationStage

        for every in _presets():
            trained = [each for each in every if each[""][:2] == ["train", "grpo"] and each["recipe"] == [self.recipe]]
            families = {str(Path(each["out"][0]).parent) for each in trained}
            asked = next((each for each in every if each[""][0] == "evaluate" and each[""][-1] in families), None)
            if asked is not None:
                break
        else:
            raise ValueError(
                f"stage: expected sft or grpo, since no preset evaluates runs of {self.recipe}, got evaluate"
            )
        played = [
            each for each in every if each[""][:2] == ["train", "grpo"] and each["out"][0].startswith(asked[""][-1])
        ]
        others = len({each["variant"][0] for each in played} - {"adaptive"}) + 1
        boards = factorial(task.shape[0] * task.shape[1]) // 2 if task.task == "sliding" else 0
        budget = max(task.budgets(task.shape).values())
        instances, validation = int(asked["instances"][0]), int(asked["validation"][0])
        return EvaluationStage(instances, validation, budget, others, boards)


def _presets() -> Iterator[list[dict[str, list[str]]]]:
    """The commands of each preset, as their flags; the words in front of them by an empty name."""
    for file in sorted((files("recommit") / "recipes" / "reproduce").iterdir(), key=lambda f: f.name):
        if file.name.endswith(".yaml"):
            every = []
            for line in recipe_text.expanded(recipe_text.read(file.read_text(encoding="utf-8"))):
                flags: dict[str, list[str]] = {"": []}
                for word in shlex.split(line):
                    if word.startswith("--"):
                        flags[word[2:]] = []
                    else:
                        flags[next(reversed(flags))].append(word)
                every.append(flags)
            yield every


def _boards(every: list[dict[str, list[str]]], recipe: str) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Puzzles and sizes of the data that a recipe is trained on."""
    data = {each["out"][0]: each for each in every if each[""] == ["data", "build"]}
    starts = {each["out"][0]: each["data"] for each in every if each[""] == ["train", "sft"]}
    for each in every:
        if each.get("recipe") == [recipe]:
            for name in each.get("data") or starts.get(each.get("init", [""])[0], []):
                yield data[name]["task"][0], tuple(map(int, data[name]["size"]))
