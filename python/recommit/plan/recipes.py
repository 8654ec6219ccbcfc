"""What a plan takes from a recipe: its stages, whom they train, and the boards that the presets train it on."""

from __future__ import annotations

import json
from importlib.resources import files
from math import factorial
from typing import TYPE_CHECKING, Any

from recommit.plan.passes import Evaluation
from recommit.train import config as configuration
from recommit.train.config import ModelConfig, SftConfig

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recommit.puzzles.puzzle import Puzzle
    from recommit.train.grpo_config import GrpoConfig

STAGES = ("sft", "grpo")


def stages(recipe: str) -> tuple[str, ...]:
    """Those that a recipe has, in their order."""
    return tuple(stage for stage in STAGES if configuration.section(recipe, stage))


def stage(recipe: str, name: str, flags: dict[str, Any], changes: tuple[str, ...]) -> SftConfig | GrpoConfig:
    """The configuration of a stage; ``flags`` are values by path, ``changes`` are NAME=VALUE, both over the recipe."""
    from recommit.train.grpo_config import GrpoConfig

    said = [f"{path}={json.dumps(value)}" for path, value in flags.items()]
    result: SftConfig | GrpoConfig = configuration.load(
        recipe, [*said, *changes], SftConfig if name == "sft" else GrpoConfig, name
    )
    return result


def evaluation(recipe: str, task: Puzzle) -> Evaluation:
    """What the first preset that trains by this recipe asks of an evaluation, for one of its seeds."""
    entry = next(iter(_entries(recipe)), None)
    if entry is None:
        raise ValueError(f"stage: expected sft or grpo, since no preset evaluates runs of {recipe}, got evaluate")
    asked = entry.get("evaluate", {})
    others = len({*entry["variants"], *entry.get("ablations", ())} - {"adaptive"}) + 1
    rows, cols = task.shape
    boards = factorial(rows * cols) // 2 if task.task == "sliding" else 0
    return Evaluation(
        asked.get("instances", 1024), asked.get("validation", 256), max(task.usual.budgets.values()), others, boards
    )


def model(recipe: str, backbone: str | None) -> ModelConfig:
    """The model of a recipe's warm start, which reinforcement goes on with."""
    flags = {} if backbone is None else {"model.backbone": backbone}
    start = stage(recipe, "sft", flags, ())
    assert isinstance(start, SftConfig)
    return start.model


def puzzle(recipe: str, task: str | None, size: tuple[int, ...] | None) -> Puzzle:
    """The boards: as said, or as in the presets of ``recommit reproduce`` that train by this recipe."""
    from recommit.puzzles import registry

    known = [_board(entry["data"]) for entry in _entries(recipe)]
    if task is None and len(set(known)) != 1:
        tasks = model(recipe, None).policy.tasks
        if len(tasks) != 1:
            raise ValueError(
                f"task: expected one of {', '.join(tasks)}, since no preset says it for {recipe}, got none"
            )
        task = tasks[0]
    name, usual = (task, dict(known).get(task)) if task else known[0]
    shape = size or usual or registry.puzzle(name).usual.size
    return registry.puzzle(name).of((shape[0], shape[-1]), 1)


def _entries(recipe: str) -> Iterator[dict[str, Any]]:
    """Of the presets that train by a recipe."""
    import yaml

    folder = files("recommit") / "recipes" / "reproduce"
    for file in sorted(folder.iterdir(), key=lambda f: f.name):
        if file.name.endswith(".yaml"):
            entries = yaml.safe_load(file.read_text(encoding="utf-8"))["tasks"].values()
            yield from (entry for entry in entries if entry["recipe"] == recipe)


def _board(data: dict[str, Any]) -> tuple[str, tuple[int, ...]]:
    size = data["size"]
    return data["task"], (size,) if isinstance(size, int) else tuple(size)
