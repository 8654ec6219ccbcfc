"""What learns in a reinforcement run: chosen weights of a policy behind an engine, and the policy that they stay close
to.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from recommit.policy.reference import Reference
from recommit.rollout.variants import variant
from recommit.runs import process
from recommit.train import initial_policy
from recommit.train.engine.make import make_engine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recommit.policy.policy import CommitPolicy
    from recommit.puzzles.puzzle import Puzzle
    from recommit.runs.ranks import Team
    from recommit.train.engine.base import Engine
    from recommit.train.grpo.config import GrpoConfig


@dataclass(frozen=True)
class Learner:
    """One for all puzzles of a run."""

    engine: Engine
    #: None without KL.
    reference: Reference | None


def prepared(config: GrpoConfig, policy: CommitPolicy, tasks: Sequence[Puzzle], team: Team, parts: int) -> Learner:
    """Put a policy behind an engine, which none has yet; ``parts`` micro-batches make a step."""
    process.seed_everything(config.run.seed)
    _choose(policy, tasks, config)
    initial_policy.keep_features(policy, config.run)
    policy.backbone.recompute = config.engine.checkpointing
    policy.eval()  # no dropout: what is compared must differ by its weights alone
    close = any(config.of(task.task).objective.kl > 0 for task in tasks)
    reference = Reference(policy) if close else None
    return Learner(make_engine(policy, config.optim, config.engine, team, parts), reference)


def _choose(policy: CommitPolicy, tasks: Sequence[Puzzle], config: GrpoConfig) -> None:
    """Freeze what does not learn."""
    chosen = variant(config.variant)
    policy.train_only(*tasks, depth_head=chosen.head)
    vision = {id(p) for p in policy.backbone.vision_parameters()}
    for parameter in policy.parameters():
        if (id(parameter) in vision and not config.optim.vision_lr) or not chosen.rest:
            parameter.requires_grad_(False)
    if not chosen.rest:
        policy.depth_head.requires_grad_(True)
