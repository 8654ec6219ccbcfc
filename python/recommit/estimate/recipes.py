"""What an estimate takes from a recipe: its stages, whom they train, and the boards that the presets train it on."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from importlib.resources import files
from math import factorial
from typing import TYPE_CHECKING, Any

from recommit.estimate.counting.passes import EvaluationStage
from recommit.storage import recipe_text
from recommit.train import config as configuration
from recommit.train.config import SftConfig

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recommit.estimate.counting.passes import Stage
    from recommit.puzzles.puzzle import Puzzle
    from recommit.train.config import ModelConfig

STAGES = ("sft", "grpo")


@dataclass(frozen=True)
class ChangedRecipe:
    """A recipe and what is changed in it."""

    recipe: str
    backbone: str | None = None
    #: Values of all stages that train, by path.
    flags: dict[str, Any] = field(default_factory=dict)
    variant: str | None = None
    #: NAME=VALUE; those of the model are the warm start's, the others of every stage that is estimated.
    changes: tuple[str, ...] = ()

    @property
    def model(self) -> ModelConfig:
        """Model of the warm start, which reinforcement goes on with."""
        own = {} if self.backbone is None else {"model.backbone": self.backbone}
        of_model = [change for change in self.changes if _of_model(change)]
        result: ModelConfig = self._load("sft", SftConfig, own, of_model).model
        return result

    def stage(self, name: str, task: Puzzle) -> Stage:
        """The configuration of a stage."""
        from recommit.train.grpo.config import GrpoConfig

        if name == "evaluate":
            return evaluation(self.recipe, task)
        rest = [change for change in self.changes if not _of_model(change)]
        if name == "grpo":
            own = {} if self.variant is None else {"variant": self.variant}
            reinforced: GrpoConfig = self._load(name, GrpoConfig, {**self.flags, **own}, rest)
            return replace(reinforced, validation=reinforced.validation.of(task))
        imitated: SftConfig = self._load(name, SftConfig, self.flags, rest)
        return replace(imitated, model=self.model, validation=imitated.validation.of(task))

    def _load(self, name: str, kind: type[Any], flags: dict[str, Any], changes: list[str]) -> Any:
        settings = [f"{path}={json.dumps(value)}" for path, value in flags.items()]
        return configuration.load(self.recipe, [*settings, *changes], kind, name)


def _of_model(change: str) -> bool:
    return change.strip().startswith("model.")


def stages(recipe: str) -> tuple[str, ...]:
    """Those that a recipe has, in their order."""
    return tuple(stage for stage in STAGES if configuration.section(recipe, stage))


def puzzle(recipe: str, task: str | None = None, size: tuple[int, ...] | None = None) -> Puzzle:
    """The boards: as said, or as in the presets of ``recommit reproduce`` that train by this recipe."""
    from recommit.puzzles import registry

    boards = [_board(entry["data"]) for entry in _entries(recipe)]
    if task is None and len(set(boards)) != 1:
        tasks = ChangedRecipe(recipe).model.policy.tasks
        if len(tasks) != 1:
            raise ValueError(
                f"task: expected one of {', '.join(tasks)}, since no preset says it for {recipe}, got none"
            )
        task = tasks[0]
    name, usual = (task, dict(boards).get(task)) if task else boards[0]
    shape = size or usual or registry.puzzle(name).usual.size
    return registry.puzzle(name).of((shape[0], shape[-1]), 1)


def evaluation(recipe: str, task: Puzzle) -> EvaluationStage:
    """What the first preset that trains by this recipe asks of an evaluation, for one of its seeds."""
    entry = next(_entries(recipe), None)
    if entry is None:
        raise ValueError(f"stage: expected sft or grpo, since no preset evaluates runs of {recipe}, got evaluate")
    values = entry.get("evaluate", {})
    others = len({*entry["variants"], *entry.get("ablations", ())} - {"adaptive"}) + 1
    boards = factorial(task.shape[0] * task.shape[1]) // 2 if task.task == "sliding" else 0
    budget = max(task.usual.budgets.values())
    return EvaluationStage(values.get("instances", 1024), values.get("validation", 256), budget, others, boards)


def _entries(recipe: str) -> Iterator[dict[str, Any]]:
    """Find the presets that train by a recipe, and what they say of its puzzle."""
    folder = files("recommit") / "recipes" / "reproduce"
    for file in sorted(folder.iterdir(), key=lambda f: f.name):
        if file.name.endswith(".yaml"):
            entries = recipe_text.read(file.read_text(encoding="utf-8"))["tasks"].values()
            yield from (entry for entry in entries if entry["recipe"] == recipe)


def _board(data: dict[str, Any]) -> tuple[str, tuple[int, ...]]:
    size = data["size"]
    return data["task"], (size,) if isinstance(size, int) else tuple(size)
