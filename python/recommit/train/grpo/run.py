"""Reinforcement of both heads. Also ``deepspeed ... -m recommit.train.grpo`` with its flags."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from recommit.policy.checkpoint import weights_of
from recommit.policy.policy import CommitPolicy
from recommit.runs import ranks
from recommit.runs.directory import RunDirectory, recipes_of
from recommit.runs.peers import watched
from recommit.runs.process import settle, unsettled
from recommit.runs.progress import Interrupt
from recommit.train import initial_policy
from recommit.train.config import plain
from recommit.train.grpo import joint
from recommit.train.grpo.old_config import updated
from recommit.train.grpo.step import Grpo
from recommit.train.loop import Trainer
from recommit.train.sft.run import opened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recommit.runs.ranks import Team
    from recommit.train.grpo.config import GrpoConfig
    from recommit.train.grpo.joint import PuzzlePart


@unsettled()
def train(
    config: GrpoConfig,
    init: str | Path,
    out: str | Path,
    *,
    data: str | Path | Sequence[str | Path] | None = None,
    tasks: tuple[str, ...] = (),
    quiet: bool = False,
) -> int:
    """Run, or go on with, a reinforcement run; 0 when it is finished and 130 when it was interrupted.

    ``init`` is a run (its best policy is taken) or a saved policy; instances are made by the recipes of the data that
    it was trained on, or of ``data``. Where these are of several puzzles, ``config.tasks`` says which; other puzzles
    than ``tasks``, those of a recipe, are refused if there are any of these.
    """
    settle(config.run.threads, config.run.products, config.run.device)
    begun_before = (Path(out) / "config.json").is_file()  # it holds the recipes, whatever becomes of the other run
    every = [each.spec for each in opened(data)] if data else recipes_of(out if begun_before else init)
    parts = joint.parts(config, joint.chosen(every, config.tasks, data or init))
    initial_policy.refuse_others([part.spec.task for part in parts], tasks)
    team = ranks.join(config.run.device) if config.engine.kind == "deepspeed" else ranks.alone(config.run.device)
    with watched(team), RunDirectory(out, is_main_process=team.is_main_process) as folder, Interrupt() as interrupt:
        begin = initial_policy.warm_start(init, folder, team)
        content = [{"recipe": part.spec.to_dict()} for part in parts]
        begun = {"init": weights_of(begin), "data": content if content[1:] else content[0]}
        usual = plain(replace(type(config)(), credit=type(config.credit)()))
        folder.begin({"kind": "grpo", "ranks": team.world, **plain(config), **begun}, usual, updated)
        policy = CommitPolicy.from_pretrained(begin, device=team.device)
        initial_policy.note_puzzles(policy, [part.spec for part in parts], new=False)
        if config.head is not None:
            policy.replace_head(config.head, seed=config.run.seed)
        if config.views:
            policy.replace_views(config.views)
        with closing(_trainer(config, parts, policy, folder, team, quiet=quiet or not team.is_main_process)) as run:
            return run.run(interrupt)


def _trainer(
    config: GrpoConfig, parts: list[PuzzlePart], policy: CommitPolicy, folder: RunDirectory, team: Team, *, quiet: bool
) -> Trainer:
    """Make the trainer of one puzzle, or of several that share the policy and what moves it."""
    if len(parts) == 1:
        return Grpo(parts[0].config, policy, parts[0].spec, folder, team, quiet=quiet)
    shared = joint.learner(config, parts, policy, team)
    members = {
        part.name: Grpo(part.config, policy, part.spec, folder, team, quiet=quiet, learner=shared) for part in parts
    }
    return joint.Joint(config, members, folder, team, quiet=quiet)
