"""``recommit train sft``: the signature is the command line. Light to import."""

from __future__ import annotations

import json as json_module
import sys
from pathlib import Path


def sft(
    recipe: str,
    data: Path,
    out: Path,
    set: tuple[str, ...] = (),
    steps: int | None = None,
    batch: int | None = None,
    lr: float | None = None,
    seed: int | None = None,
    threads: int | None = None,
    device: str | None = None,
    backbone: str | None = None,
    zero: int | None = None,
    single_commitment: int | None = None,
    show: bool = False,
    quiet: bool = False,
) -> int:
    """Train a policy by imitation, or go on with a run that was interrupted: the same command does both.

    Args:
        recipe: laptop-sliding, laptop-sokoban, qwen2.5-vl-7b, or a YAML file.
        data: A data set (see recommit data build).
        out: The folder of the run.
        set: Any value of the recipe, for example --set optim.lr=3e-4 model.shape.width=192
        steps: Steps of the optimiser.
        batch: States per step.
        lr: Learning rate of the backbone and, unless the recipe sets it apart, of the heads.
        seed: Other seeds, other runs.
        threads: Threads of torch; 0 for as many as it likes.
        device: cpu, cuda, or auto.
        backbone: A folder or hub repository, or random: and tiny, small, 3b or 7b.
        zero: Train with DeepSpeed, ZeRO stage 0, 1, 2 or 3, on the ranks that a launcher started.
        single_commitment: Imitate samples of this depth alone.
        show: Print the configuration and stop.
        quiet: Say nothing while training.
    """
    from recommit.calls import WrongCall
    from recommit.train import config as configuration

    flags = {
        "optim.steps": steps, "optim.batch": batch, "optim.lr": lr, "optim.head_lr": lr, "run.seed": seed,
        "run.threads": threads, "run.device": device, "model.backbone": backbone,
        "engine.stage": zero, "engine.kind": None if zero is None else "deepspeed",
        "targets.depths": None if single_commitment is None else [single_commitment],
    }  # fmt: skip
    changes = [f"{name}={json_module.dumps(value)}" for name, value in flags.items() if value is not None]
    try:
        plan = configuration.load(recipe, [*changes, *set])
    except ValueError as error:
        raise WrongCall(str(error)) from None
    if show:
        sys.stdout.write(json_module.dumps(configuration.plain(plan), indent=2) + "\n")
        return 0
    from recommit.train.sft import train

    return train(plan, data, out, quiet=quiet)
