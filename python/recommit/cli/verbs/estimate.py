"""``recommit estimate``: the signature is the command line. Light to import."""

from __future__ import annotations

from json import dumps
from typing import Any, Literal

from recommit.cli.flags import usual
from recommit.cli.requests import WrongCall
from recommit.puzzles.registry import Task
from recommit.storage.terminal_text import tell


@usual(
    task="that of the recipe's preset",
    size="the usual one",
    variant="adaptive",
    set="nothing more",
    backbone="that of the recipe",
    zero="no DeepSpeed",
    deepspeed="no DeepSpeed",
)
def estimate(
    recipe: str,
    /,
    stage: Literal["sft", "grpo", "evaluate", "both"] = "both",
    task: Task | None = None,
    size: tuple[int, ...] | None = None,
    variant: str | None = None,
    set: tuple[str, ...] = (),
    backbone: str | None = None,
    zero: int | None = None,
    deepspeed: str | None = None,
    card: str = "a100",
    gpus: int = 1,
    memory: float = 0.0,
    peak: float = 0.0,
    share: float = 0.4,
    json: bool = False,
) -> int:
    """Say what a recipe will take, before anything is loaded: parameters, looks, operations, memory, disk, time.

    Args:
        recipe: laptop-sliding, laptop-sokoban, laptop-ice, paper-sliding, paper-sokoban, sound-sliding,
            sound-sokoban, or a YAML file.
        stage: The warm start, the reinforcement, both, or the evaluation of a family of runs.
        task: Which puzzle, where no preset of recommit reproduce says it for this recipe.
        size: Rows, or rows and columns; the outer wall counts.
        variant: adaptive, fixed-1 to fixed-8, random or depth-only.
        set: Any value of the stage, for example --set engine.checkpointing=true
        backbone: Another backbone: a local folder, a published name, or random: and a name (7b, ...).
        zero: Train with DeepSpeed, ZeRO stage 0, 1, 2 or 3.
        deepspeed: The same by a configuration file: zero1, zero2, zero3, these with -offload, or a JSON file of
            DeepSpeed.
        card: a100, h200, rtx4090 or cpu: memory and rate, each with its source.
        gpus: How many ranks.
        memory: GiB of one rank; 0 for the card's.
        peak: TFLOP/s of one rank at best; 0 for the card's.
        share: Share of that rate that a run is taken to reach.
        json: Print JSON.
    """
    from recommit.estimate import estimate as count
    from recommit.estimate import machine, recipes, report

    try:
        on = machine(card, gpus, memory=memory, peak=peak, share=share)
        request = recipes.ChangedRecipe(recipe, backbone, _flags(zero, deepspeed), variant, set)
        board = recipes.puzzle(recipe, task, size)
        stages = recipes.stages(recipe) if stage == "both" else (stage,)
        estimates = [count(request.stage(each, board), request.model, board, on) for each in stages]
    except ValueError as error:
        raise WrongCall(str(error)) from None
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
