"""The initial policy of a run."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from recommit.data.spec import set_names
from recommit.policy import pretrained
from recommit.policy.backbones.backbone import GIVEN, LISTED, find_backbone, given_class, given_place, refuse_ungiven
from recommit.policy.backbones.random_init import FROM_NOTHING, make_backbone, resized
from recommit.policy.checkpoint import inside, local_folder, weights_of
from recommit.policy.policy import CommitPolicy
from recommit.runs.checkpoints import Checkpoints
from recommit.runs.directory import of_tasks, recipes_of
from recommit.storage import verified
from recommit.storage.files import Files, refuse_links
from recommit.storage.terminal_text import say
from recommit.train import config as recipe_config
from recommit.train.engine.base import numel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recommit.data.spec import DataSpec
    from recommit.runs.directory import RunDirectory
    from recommit.runs.distributed import Team
    from recommit.train.config import ModelConfig


def place_of(config: ModelConfig, folder: RunDirectory, team: Team, given: str | Path | None) -> tuple[Path, str]:
    """Local folder of the configured backbone, downloaded if missing, and its commit. A resumed run keeps its commit,
    even after a newer upload. Random weights are created in the run by ``new_policy``."""
    begun = folder.read("config.json") or {}
    team.barrier()  # read before the main process writes that file
    before, goes_on = begun.get("model", {}).get("backbone"), folder.checkpoints.any()
    lacking = not given and (config.backbone == GIVEN or (before == GIVEN and goes_on))
    name = begun.get("backbone_class", "") if goes_on and given_class() is None else ""
    refuse_ungiven("the place of the backbone" if lacking else "", name)
    if config.backbone.startswith(FROM_NOTHING):
        return folder.folder / "backbone", ""
    if config.backbone != GIVEN:
        return find_backbone(config.backbone, begun.get("commit", "") if before == config.backbone else "")
    assert given
    return find_backbone(given)


def new_policy(
    config: ModelConfig, folder: Path, seed: int, team: Team, found: tuple[Path, str] | None = None
) -> CommitPolicy:
    """New heads on the configured backbone; ``found`` is its place and commit. The main process creates a random
    backbone once, in ``folder``."""
    place, revision = found or (folder / "backbone", "")
    if config.backbone.startswith(FROM_NOTHING):
        wanted = resized(config.backbone.removeprefix("random:"), config.shape)
        if team.is_main_process and not place.is_dir():
            temporary = place.with_name(f".{place.name}.tmp")
            make_backbone(temporary, wanted, seed=seed, dtype=config.dtype)
            verified.seal(Files(), temporary, [path.name for path in temporary.iterdir() if path.is_file()])
            temporary.rename(place)
        team.barrier()
    dtype = getattr(torch, config.dtype)
    policy = CommitPolicy.from_backbone(place, config.policy, seed=seed, dtype=dtype, device=team.device)
    if config.backbone in LISTED:
        policy.source, policy.revision = config.backbone, revision
    return policy


def warm_start(init: str | Path, folder: RunDirectory, team: Team) -> Path:
    """Copy the initial policy into the run, so that it can resume without the other run; returns the copy's folder."""
    own = folder.folder / "init"
    if team.is_main_process and (not own.is_dir() or not (folder.checkpoints.any() or same_files(own, init))):
        temporary = folder.folder / ".init.tmp"
        shutil.rmtree(temporary, ignore_errors=True)
        source = local_folder(init)
        if (sealed := verified.digests(pretrained.find(init))) and "best.json" not in sealed:
            say(f"{init}: its training has not ended; this run starts from its best policy so far, {source}")
        refuse_links(source)
        shutil.copytree(source, temporary)
        _copy_backbone(source, folder.folder)
        shutil.rmtree(own, ignore_errors=True)  # left by a start that trained nothing
        temporary.rename(own)
    team.barrier()
    return own


def _copy_backbone(policy: Path, run: Path) -> None:
    """Also copy an adapter's random backbone from its run, so that this run does not need the other one."""
    theirs = next((place for place in inside(policy) if place.is_dir()), None)
    if theirs is None or (policy / "backbone").is_dir() or given_place():
        return
    temporary, own = run / ".backbone.tmp", run / "backbone"
    for place in (temporary, own):
        shutil.rmtree(place, ignore_errors=True)
    refuse_links(theirs)
    shutil.copytree(theirs, temporary)
    temporary.rename(own)


def note_puzzles(policy: CommitPolicy, specs: Sequence[DataSpec]) -> None:
    """Record in the policy the puzzles and sizes that it is trained on."""
    policy.note_trained(*(f"{spec.task}-{spec.size[0]}x{spec.size[1]}" for spec in specs))


def same_files(own: Path, init: str | Path) -> bool:
    """True if ``own`` is a copy of the policy ``init``, or ``init`` no longer exists."""
    return not pretrained.find(init).is_dir() or weights_of(own) == weights_of(local_folder(init))


def described(policy: CommitPolicy, team: Team) -> str:
    """Number and place of a policy's trained parameters, in a sentence."""
    trained = [parameter for parameter in policy.parameters() if parameter.requires_grad]
    whole = sum(numel(parameter) for parameter in policy.parameters())
    lora = [n for n, p in policy.backbone.model.named_parameters() if p.requires_grad and "lora_" in n]
    adapter = f", {len(lora)} of them LoRA matrices matching {policy.backbone.lora_targets}" if lora else ""
    return (
        f"training {sum(map(numel, trained)):,} of {whole:,} parameters ({len(trained)} tensors{adapter}), "
        f"{team.world} x {team.device}, {torch.get_num_threads()} threads"
    )


def recipes(init: str | Path, out: Path) -> list[DataSpec]:
    """The recipes of a run's data: the run's own once it has a checkpoint or if ``init`` is gone; otherwise those of
    the warm start ``init``."""
    gone = (out / "config.json").is_file() and not pretrained.find(init).is_dir()
    return recipes_of(out if gone or Checkpoints(out / "checkpoints").any() else init)


def refuse_others(specs: Sequence[DataSpec], puzzles: Sequence[str]) -> None:
    """Refuse data of puzzles that the recipe was not made for, as its budgets would not fit."""
    if puzzles and (others := [spec.task for spec in specs if spec.task not in puzzles]):
        fits = ", ".join(name for name in recipe_config.recipes() if others[0] in recipe_config.tasks(name))
        raise ValueError(f"recipe: expected one for {others[0]} ({fits}), got one for {', '.join(puzzles)}")


def chosen(specs: list[DataSpec], tasks: tuple[str, ...], source: Any) -> list[DataSpec]:
    """The specs selected by ``tasks``; without any, all sizes of the only puzzle."""
    choices = ", ".join(set_names(specs))
    for task in tasks:
        if not of_tasks(specs, (task,)):
            raise ValueError(f"tasks: expected some of {choices} of {source}, got {task}")
    if not tasks and len({spec.task for spec in specs}) > 1:
        raise ValueError(f"tasks: expected one or several of {choices} of {source}, got none")
    return of_tasks(specs, tasks) if tasks else specs
