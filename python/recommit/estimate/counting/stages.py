"""Shadows of the two stages: who learns, and what a pass that learns computes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from recommit.estimate.counting.passes import EvaluationStage
from recommit.estimate.counting.work import Shadow
from recommit.policy.config import MAX_ACTIONS
from recommit.policy.reference import Reference
from recommit.rollout.variants import variant
from recommit.train.config import SftConfig
from recommit.train.grpo import loss
from recommit.train.grpo.batch import GrpoBatch

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import nn

    from recommit.estimate.counting.passes import Passes, Stage
    from recommit.puzzles.puzzle import Puzzle
    from recommit.train.config import ModelConfig
    from recommit.train.grpo.config import GrpoConfig

    Work = Callable[[], Any]


def shadow_of(config: Stage, model: ModelConfig, task: Puzzle) -> Shadow:
    """Make the shadow of the policy that a stage trains, or plays with."""
    if isinstance(config, EvaluationStage):
        return EvaluationShadow(model, task, bf16=False)
    return (
        ImitationShadow(config, model, task)
        if isinstance(config, SftConfig)
        else ReinforcementShadow(config, model, task)
    )


class EvaluationShadow(Shadow):
    """See ``recommit.evaluate``."""

    def _choose(self) -> None:
        self.policy.requires_grad_(False).eval()

    def _propose(self, passes: Passes) -> Work:
        return self.proposed(passes, variant("adaptive"))


class ImitationShadow(Shadow):
    """See ``recommit.train.sft.trainer``."""

    def __init__(self, config: SftConfig, model: ModelConfig, task: Puzzle) -> None:
        self.config = config
        super().__init__(model, task, bf16=config.engine.bf16)

    def _choose(self) -> None:
        self.policy.train_only(self.task, depth_head=False)
        self.policy.train()

    def _learn(self, passes: Passes) -> Work:
        return lambda: self.imitated(passes.states, self.config.targets)


class ReinforcementShadow(Shadow):
    """See ``recommit.train.grpo.trainer``."""

    def __init__(self, config: GrpoConfig, model: ModelConfig, task: Puzzle) -> None:
        self.config, self.variant = config, variant(config.variant)
        self.reference: Reference | None = None
        super().__init__(model, task, bf16=config.engine.bf16)

    def _choose(self) -> None:
        with torch.device("meta"):
            if self.config.head is not None:
                self.policy.replace_head(self.config.head)
        if self.config.views:
            self.policy.replace_augmentations(self.config.views)
        self.policy.train_only(self.task, depth_head=self.variant.head)
        vision = {id(p) for p in self.policy.backbone.vision_parameters()}
        for parameter in self.policy.parameters():
            if (id(parameter) in vision and not self.config.optim.vision_lr) or not self.variant.rest:
                parameter.requires_grad_(False)
        if not self.variant.rest:
            self.policy.depth_head.requires_grad_(True)
        self.policy.eval()
        if self.config.objective.kl > 0:
            with torch.device("meta"):
                self.reference = Reference(self.policy)

    @property
    def modules(self) -> list[nn.Module]:
        """The policy, and what the frozen one beside it has of its own."""
        return [self.policy, *(self.reference.own if self.reference else ())]

    def _learn(self, passes: Passes) -> Work:
        batch, config = self._decisions(passes.states), self.config.objective
        with torch.no_grad():
            against = self._reference(passes)() if self.reference else None
        return lambda: loss.grpo_loss(self.policy, self.task, batch, config, 1.0, against, fresh=True)[0]

    def _decisions(self, many: int) -> GrpoBatch:
        """What is learned from, with nothing in it."""
        advantage, depths = self.config.advantage, len(self.policy.config.depths)
        plans = 1 if advantage.estimator == "episode" else advantage.group_size
        judged = plans if advantage.estimator != "exact" else 1 if self.variant.depth else depths
        if advantage.estimator == "exact" and self.policy.config.decoder.depth_conditioning != "none":
            plans *= judged  # those of each depth
        whole, part = np.zeros((many, judged), np.float32), np.zeros((many, plans, MAX_ACTIONS), np.float32)
        columns, actions = whole.astype(np.int64), part.astype(np.int64)
        weight, remaining = np.ones(many, np.float32), np.ones(many, np.int64)
        plan_depth = np.full((many, plans), self.policy.config.depths[-1], np.int64)
        return GrpoBatch(
            self.states(many), columns, whole, whole, whole, actions, plan_depth, part, part, part, remaining, weight
        )

    def _reference(self, passes: Passes) -> Work:
        assert self.reference is not None
        batch = self._decisions(passes.states)
        actions, depths = torch.from_numpy(batch.actions), torch.from_numpy(batch.plan_depth)
        return partial(self.reference.__call__, self.task, batch.states, actions, depths, batch.remaining)

    def _propose(self, passes: Passes) -> Work:
        return self.proposed(passes, self.variant)

    def _head(self, passes: Passes) -> Work:
        head = self.policy.depth_head
        inputs = torch.empty(passes.states, head.inputs, dtype=head.weight.dtype, device="meta")
        return lambda: head(inputs).sum()
