"""``recommit train``: the signatures are the command line. Light to import."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recommit.cli.flags import usual
from recommit.cli.requests import WrongCall, span
from recommit.storage.terminal_text import tell
from recommit.train.family.launch import Launcher

if TYPE_CHECKING:
    from recommit.train.family.launch import Fleet


@usual(
    steps="that of the recipe",
    batch="that of the recipe",
    lr="that of the recipe",
    seed="that of the recipe",
    threads="that of the recipe",
    device="that of the recipe",
    backbone="that of the recipe",
    zero="no DeepSpeed",
    deepspeed="no DeepSpeed",
    vision_cache="none",
    single_commitment="all of the recipe",
    set="nothing more",
)
def sft(
    recipe: str,
    data: tuple[Path, ...],
    out: Path,
    init: Path | None = None,
    set: tuple[str, ...] = (),
    steps: int | None = None,
    batch: int | None = None,
    lr: float | None = None,
    seed: int | None = None,
    threads: int | None = None,
    device: str | None = None,
    backbone: str | None = None,
    zero: int | None = None,
    deepspeed: str | None = None,
    vision_cache: Path | None = None,
    single_commitment: int | None = None,
    anyway: bool = False,
    show: bool = False,
    quiet: bool = False,
) -> int:
    """Train a policy by imitation, or go on with a run that was interrupted: the same command does both.

    Args:
        recipe: quick-sliding, laptop-sliding, laptop-sokoban, laptop-joint, laptop-ice, paper-sliding, paper-sokoban,
            paper-joint, or a YAML file.
        data: A data set (see recommit data build), or several, also of different puzzles: batches mix them.
        out: The folder of the run.
        init: A run to go on from (its best policy), or a saved policy, instead of new weights; model of the recipe does
            not count.
        set: Any value of the recipe, for example --set optim.lr=3e-4 model.shape.width=192
        steps: Steps of the optimiser.
        batch: States per step.
        lr: Learning rate of the backbone and, unless the recipe sets it apart, of the heads.
        seed: Other seeds, other runs.
        threads: Threads of torch; 0 for as many as it likes.
        device: cpu, cuda, or auto.
        backbone: A folder or hub repository (Qwen2.5-VL, Qwen3-VL, InternVL3), or random: and a name (tiny, small, 7b,
            ...).
        zero: Train with DeepSpeed, ZeRO stage 0, 1, 2 or 3, on the ranks that a launcher started.
        deepspeed: The same by a configuration file: zero1, zero2, zero3, these with -offload, or a JSON file of
            DeepSpeed.
        vision_cache: A folder that keeps the features of a frozen picture encoder for other runs.
        single_commitment: Imitate samples of this depth alone.
        anyway: Train on data of puzzles that the recipe was not made for.
        show: Print the configuration and stop.
        quiet: Say nothing while training.
    """
    from recommit.train.config import SftConfig

    flags = {
        "optim.steps": steps,
        "optim.batch": batch,
        "optim.lr": lr,
        "optim.head_lr": lr,
        "run.seed": seed,
        "run.threads": threads,
        "run.device": device,
        "model.backbone": backbone,
        "run.vision_cache": _absolute(vision_cache),
        **_engine(zero, deepspeed),
        "targets.depths": None if single_commitment is None else [single_commitment],
    }
    config = _stage(recipe, _flags(flags), set, SftConfig, "sft")
    if show:
        return _shown(config)
    from recommit.train.config import tasks
    from recommit.train.sft.run import train

    try:
        return train(config, data, out, init=init, tasks=() if anyway else tasks(recipe), quiet=quiet)
    except ValueError as error:
        raise WrongCall(str(error)) from None


@usual(
    variant="adaptive",
    task="that of the warm start, which has one",
    data="the recipes of the warm start",
    set="nothing more",
    steps="that of the recipe",
    budget="that of the recipe",
    length="that of the recipe",
    seed="that of the recipe",
    threads="that of the recipe",
    device="that of the recipe",
    zero="no DeepSpeed",
    deepspeed="no DeepSpeed",
    vision_cache="none",
)
def grpo(
    recipe: str,
    init: Path,
    out: Path,
    variant: str | None = None,
    task: tuple[str, ...] = (),
    data: tuple[Path, ...] = (),
    set: tuple[str, ...] = (),
    steps: int | None = None,
    budget: int | None = None,
    length: tuple[int, ...] | None = None,
    seed: int | None = None,
    threads: int | None = None,
    device: str | None = None,
    zero: int | None = None,
    deepspeed: str | None = None,
    vision_cache: Path | None = None,
    anyway: bool = False,
    show: bool = False,
    quiet: bool = False,
) -> int:
    """Improve a warm start by reinforcement of both heads, or go on with such a run: the same command does both.

    Args:
        recipe: quick-sliding, laptop-sliding, laptop-sokoban, laptop-ice, paper-sliding, paper-sokoban, or a YAML file.
        init: A run to start from (its best policy), or a saved policy (then with --data).
        out: The folder of the run.
        variant: adaptive, fixed-1 to fixed-8, random or depth-only.
        task: Which puzzle of a warm start that has several (sliding, or sliding-3x3 with its size); several are
            reinforced together.
        data: Data sets whose recipes make the instances, if not those of the warm start.
        set: Any value of the recipe, for example --set credit.group=episode objective.kl=0.01; credit.price_action and
            credit.price_observation are what an action and a look cost, in solved episodes.
        steps: Rounds of playing and learning.
        budget: Decisions per training episode.
        length: Shortest and longest length of the instances, or one number for both.
        seed: Other seeds, other runs.
        threads: Threads of torch; 0 for as many as it likes.
        device: cpu, cuda, or auto.
        zero: Train with DeepSpeed, ZeRO stage 0, 1, 2 or 3, on the ranks that a launcher started.
        deepspeed: The same by a configuration file: zero1, zero2, zero3, these with -offload, or a JSON file of
            DeepSpeed.
        vision_cache: A folder that keeps the features of a frozen picture encoder for other runs.
        anyway: Train on data of puzzles that the recipe was not made for.
        show: Print the configuration and stop.
        quiet: Say nothing while training.
    """
    from recommit.train.grpo import config as grpo_config

    flags = {
        "variant": variant,
        "tasks": list(task) or None,
        "optim.steps": steps,
        "rollout.budget": budget,
        "rollout.length": list(span(length)) or None,
        "run.seed": seed,
        "run.threads": threads,
        "run.device": device,
        "run.vision_cache": _absolute(vision_cache),
        **_engine(zero, deepspeed),
    }
    config = _stage(recipe, _flags(flags), set, grpo_config.GrpoConfig, "grpo")
    if show:
        return _shown(config)
    from recommit.train.config import tasks
    from recommit.train.grpo.run import train

    try:
        wanted = () if anyway else tasks(recipe)
        return train(config, init, out, data=data or None, tasks=wanted, quiet=quiet)
    except ValueError as error:
        raise WrongCall(str(error)) from None


@usual(
    budgets="that of the recipe",
    task="that of the warm start, which has one",
    set="nothing more",
    steps="that of the recipe",
    threads="that of the recipe",
    gpus="runs in this machine's processes",
    gpus_per_run="all of them",
    hostfile="this machine alone",
    device="that of the recipe",
)
def family(
    recipe: str,
    init: Path,
    out: Path,
    variants: tuple[str, ...] = ("adaptive", "fixed-1", "fixed-2", "fixed-4", "fixed-8", "random", "depth-only"),
    seeds: tuple[int, ...] = (0,),
    budgets: tuple[int, ...] = (),
    task: tuple[str, ...] = (),
    set: tuple[str, ...] = (),
    steps: int | None = None,
    threads: int | None = None,
    jobs: int = 1,
    gpus: int | None = None,
    gpus_per_run: int | None = None,
    hostfile: Path | None = None,
    launcher: Launcher = "deepspeed",
    device: str | None = None,
    quiet: bool = False,
) -> int:
    """Train variants of reinforcement from one warm start, each with every seed; finished ones are skipped.

    Args:
        recipe: A recipe with a stage grpo; its stage family says what kinds of variants change, and names other runs.
        init: A run to start from (its best policy).
        out: The folder of the family; runs are called VARIANT-sSEED, with budgets VARIANT-kBUDGET-sSEED.
        variants: adaptive, fixed-1 to fixed-8, random, depth-only, and runs that the recipe names (paper).
        seeds: Seeds of the runs.
        budgets: Decisions per training episode, each a run of its own; that of the recipe if not said.
        task: Which puzzle of a warm start that has several; several are reinforced together.
        set: Any value of the stage grpo, for all variants.
        steps: Rounds of playing and learning.
        threads: Threads of torch; 0 for as many as it likes.
        jobs: Runs at a time, in processes of this machine.
        gpus: Launch every run as processes of its own, a rank for each of so many GPUs (of every machine).
        gpus_per_run: So many for each run, several of which then go on side by side; all of them if not said.
        hostfile: Machines that this one reaches by pdsh and ssh, as DeepSpeed's launcher reads them.
        launcher: deepspeed, torchrun, or srun in a SLURM job.
        device: cpu, cuda, or auto.
        quiet: Say nothing while training.
    """
    from recommit.train.family.family import BUDGET, member, train

    if jobs < 1:
        raise WrongCall(f"jobs: expected at least 1, got {jobs}")
    fleet = fleet_of(gpus, gpus_per_run, hostfile, launcher, device)
    flags = {"tasks": list(task) or None, "optim.steps": steps, "run.threads": threads, "run.device": device}
    configs = {} if budgets else _family(recipe, variants, set, flags)
    for budget in budgets:
        of_budget = _family(recipe, variants, set, {**flags, "rollout.budget": budget})
        configs |= {f"{name}{BUDGET}{budget}": config for name, config in of_budget.items()}
    _refuse_foreign(out, {member(out, name, seed).name for name in configs for seed in seeds})
    try:
        return train(configs, init, out, seeds, jobs=jobs, quiet=quiet, fleet=fleet)
    except ValueError as error:
        raise WrongCall(str(error)) from None


def _refuse_foreign(out: Path, names: set[str]) -> None:
    """A family may lie beside its data and its warm start, and nowhere among somebody's files. The folder of a run that
    died at once has nothing but one of its ``names``."""
    from recommit.storage.ownership import refuse_foreign

    entries = list(out.iterdir()) if out.is_dir() else []
    ours = [each.name for each in entries if any((each / mark).exists() for mark in ("config.json", "manifest.json"))]
    refuse_foreign(out, (*ours, *names, "launch"), "a family of runs")


def fleet_of(
    gpus: int | None,
    per_run: int | None,
    hostfile: Path | None,
    launcher: Launcher,
    device: str | None,
    *,
    elsewhere: bool = False,
) -> Fleet | None:
    """What launched runs may use, by the flags; None without ``--gpus``. ``elsewhere``: nothing is launched here."""
    if gpus is None:
        if per_run is not None or hostfile is not None:
            flag = "--hostfile" if per_run is None else "--gpus-per-run"
            raise WrongCall(f"gpus: expected a number with {flag}, got none")
        return None
    from recommit.train.family import launch

    try:
        return launch.fleet(gpus, per_run, hostfile=hostfile, launcher=launcher, device=device, elsewhere=elsewhere)
    except ValueError as error:
        raise WrongCall(str(error)) from None


def _family(recipe: str, variants: tuple[str, ...], set: tuple[str, ...], flags: dict[str, Any]) -> dict[str, Any]:
    from recommit.train.family import configs

    try:
        return configs.family(recipe, variants, set, flags)
    except ValueError as error:
        raise WrongCall(str(error)) from None


def _stage(recipe: str, flags: dict[str, Any], set: tuple[str, ...], cls: type[Any], stage: str) -> Any:
    from recommit.train import config

    try:
        return config.changed(recipe, flags, set, cls, stage)
    except ValueError as error:
        raise WrongCall(str(error)) from None


def _flags(flags: dict[str, Any]) -> dict[str, Any]:
    """Those that are on the command line."""
    return {name: value for name, value in flags.items() if value is not None}


def _engine(zero: int | None, deepspeed: str | None) -> dict[str, Any]:
    """What the flags about DeepSpeed change."""
    from recommit.train.engine.deepspeed_file import changes

    if zero is not None and deepspeed is not None:
        raise WrongCall(f"deepspeed: expected one of --zero and --deepspeed, got --zero {zero} --deepspeed {deepspeed}")
    if deepspeed is None:
        return {} if zero is None else {"engine.kind": "deepspeed", "engine.stage": zero}
    try:
        return changes(deepspeed)
    except ValueError as error:
        raise WrongCall(str(error)) from None


def _absolute(folder: Path | None) -> str | None:
    return None if folder is None else str(folder.absolute())


def _shown(config: Any) -> int:
    from recommit.train.config import plain

    tell(json_module.dumps(plain(config), indent=2))
    return 0
