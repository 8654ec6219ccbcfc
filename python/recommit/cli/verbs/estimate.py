"""``recommit estimate``: Light to import."""

from __future__ import annotations

from dataclasses import dataclass
from json import dumps
from typing import Any, Literal

from recommit.puzzles.registry import Task
from recommit.storage.terminal_text import tell


@dataclass(frozen=True)
class EstimateOptions:
    """Which recipe, what is changed in it, and on what.

    Args:
        recipe: laptop-sliding, laptop-sokoban, laptop-ice, paper-sliding, paper-sokoban, qwen7b-sliding,
            qwen7b-sokoban, or a YAML file.
        stage: The warm start, GRPO, both, or the evaluation of a family of runs.
        task: Which puzzle, where no preset of recommit reproduce says it for this recipe.
        size: Rows, or rows and columns (default: the usual one).
        variant: adaptive, fixed-1 to fixed-8, random or depth-only (default: adaptive).
        set: Any value of the stage, for example --set engine.checkpointing=true
        backbone: Another backbone: a local folder, a published name, or random: and a name such as 7b (default: that of
            the recipe).
        zero: Train with DeepSpeed, ZeRO stage 0, 1, 2 or 3 (default: no DeepSpeed).
        deepspeed: The same by a configuration file: zero1, zero2, zero3, these with -offload, or a JSON file of
            DeepSpeed.
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
    variant: str | None = None
    set: tuple[str, ...] = ()
    backbone: str | None = None
    zero: int | None = None
    deepspeed: str | None = None
    card: str = "a100"
    gpus: int = 1
    memory: float = 0.0
    peak: float = 0.0
    share: float = 0.4


def estimate(options: EstimateOptions, json: bool = False) -> int:
    """Say what a recipe will take, before anything is loaded: parameters, observations, FLOPs, memory, disk, time.

    Args:
        json: Print JSON.
    """
    from recommit.estimate import estimate as count
    from recommit.estimate import machine, recipes, report

    recipe, changes = options.recipe, _flags(options.zero, options.deepspeed)
    on = machine(options.card, options.gpus, memory=options.memory, peak=options.peak, share=options.share)
    request = recipes.ChangedRecipe(recipe, options.backbone, changes, options.variant, options.set)
    board = recipes.puzzle(recipe, options.task, options.size or None)
    stages = recipes.stages(recipe) if options.stage == "both" else (options.stage,)
    estimates = [count(request.stage(each, board), request.model, board, on) for each in stages]
    if json:
        tell(dumps([each.to_json() for each in estimates], indent=2))
    else:
        tell("\n".join(report.text(each) for each in estimates), end="")
    return 0


def _flags(zero: int | None, deepspeed: str | None) -> dict[str, Any]:
    """What the flags about DeepSpeed change."""
    from recommit.train.engine.deepspeed_config import changes

    if zero is not None and deepspeed is not None:
        raise ValueError(
            f"deepspeed: expected one of --zero and --deepspeed, got --zero {zero} --deepspeed {deepspeed}"
        )
    if deepspeed is not None:
        return changes(deepspeed)
    return {} if zero is None else {"engine.kind": "deepspeed", "engine.stage": zero}
