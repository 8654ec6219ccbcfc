"""The passes of a run, done by a shadow of its policy: the code that trains and plays, with nothing computed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from recommit.data.labels import label
from recommit.estimate.counting import shadow
from recommit.policy.config import MAX_ACTIONS
from recommit.policy.counting import Cost, Watch, cost
from recommit.policy.reference import REFERENCE
from recommit.rollout.sampling import Actor
from recommit.train import targets
from recommit.train.config import TargetConfig

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray
    from torch import nn

    from recommit.estimate.counting.passes import Passes
    from recommit.policy.policy import CommitPolicy
    from recommit.puzzles.puzzle import Puzzle
    from recommit.rollout.variants import Variant
    from recommit.train.config import ModelConfig

    Work = Callable[[], Any]


@dataclass(frozen=True)
class LearningCost:
    """A pass that learns, taken apart."""

    forward: int
    backward: int
    #: Computed a second time on the way back, if activations are not kept.
    again: int
    #: Most bytes at once, gradients included: activations kept, and computed again.
    peak_stored: int
    peak_recomputed: int


class Shadow(ABC):
    """One run's policy, ready to be counted inside ``shadow.kernels``. A subclass says who learns, and how."""

    def __init__(self, model: ModelConfig, task: Puzzle, *, bf16: bool) -> None:
        self.task = task
        self.policy = shadow.policy(model)
        self._choose()
        if bf16:
            for module in self.modules:
                module.to(torch.bfloat16)

    @abstractmethod
    def _choose(self) -> None:
        """Freeze what does not learn, as the trainer does."""

    def _learn(self, passes: Passes) -> Work:
        """A pass that learns; the loss."""
        raise TypeError(f"learn: expected a policy that is trained, got {passes}")

    @property
    def modules(self) -> list[nn.Module]:
        """Everything that has weights."""
        return [self.policy]

    @cached_property
    def watch(self) -> Watch:
        """It saw everything that is there before a pass."""
        return Watch(t for module in self.modules for t in (*module.parameters(), *module.buffers()))

    @cached_property
    def _state(self) -> NDArray[np.uint8]:
        return self.task.generate(1, seed=0).states

    def states(self, many: int) -> NDArray[np.uint8]:
        """One state, often."""
        return np.repeat(self._state, many, axis=0)

    @property
    def keeps_features(self) -> bool:
        """Is a picture encoded once and remembered?"""
        return self.policy.vision_frozen and not self.policy.vision.cell_local

    @cached_property
    def feature_bytes(self) -> int:
        """Bytes of one state's pictures, encoded."""
        features = self.policy.vision.features(self.task, self._state, frozen=True)
        return int(features.numel() * features.element_size()) * self._views

    @cached_property
    def tokens(self) -> tuple[int, int]:
        """Tokens of a picture, and of the text around it."""
        rows, cols = self.policy.vision.grid(self.task, self.task.shape)
        return rows * cols, self.policy.tokens(self.task, self.task.shape) - rows * cols

    @property
    def trained(self) -> list[nn.Parameter]:
        """Parameters that learn."""
        return [p for p in self.policy.parameters() if p.requires_grad]

    def parts(self) -> dict[str, list[nn.Parameter]]:
        """The policy's parameters: of the language model, of the picture encoder, of adapters, of the heads."""
        vision = {id(p) for p in self.policy.backbone.vision_parameters()}
        parts: dict[str, list[nn.Parameter]] = {"language": [], "vision": [], "lora": [], "reference": []}
        for name, parameter in self.policy.backbone.model.named_parameters():
            adapter = "reference" if f".{REFERENCE}." in name else "lora" if ".lora_" in name else ""
            parts[adapter or ("vision" if id(parameter) in vision else "language")].append(parameter)
        parts["decoder"] = list(self.policy.decoder.parameters())
        parts["depth head"] = list(self.policy.depth_head.parameters())
        return parts

    def policies(self) -> Iterator[CommitPolicy]:
        """The policy, and a reference that is a whole one."""
        yield self.policy
        yield from (module for module in self.modules[1:] if hasattr(module, "vision"))

    def cost(self, passes: Passes) -> Cost:
        """Count one of these passes, which do not learn from pictures."""
        if passes.kind == "pictures" and not self.keeps_features:
            return Cost(0, 0)
        self._remember()
        work = getattr(self, f"_{passes.kind}")(passes)
        if passes.kind != "head":
            with torch.no_grad():
                return cost(work, self.watch)
        try:
            return cost(lambda: work().backward(), self.watch)
        finally:
            self.policy.zero_grad(set_to_none=True)

    def _remember(self) -> None:
        """The one state's features, so that passes are counted without its picture."""
        if self.keeps_features:
            for policy in self.policies():
                for copy in range(self._views):
                    policy.vision.features(self.task, self._state, frozen=True, copy=copy)

    @property
    def _views(self) -> int:
        return self.policy.vision.augmentations(self.task, self.task.shape)

    def learning(self, passes: Passes) -> LearningCost:
        """A pass that learns; where it is one of several in a step, the gradients of others are there already."""
        self._remember()
        work = self._learn(passes)
        ahead = cost(work, self.watch).flops
        stored, recomputed = (self._learned(work, recompute=r, several=passes.times > 1) for r in (False, True))
        again = recomputed.flops - stored.flops
        return LearningCost(ahead, stored.flops - ahead, again, stored.peak, recomputed.peak)

    def _learned(self, work: Work, *, recompute: bool, several: bool) -> Cost:
        self.policy.backbone.recompute = recompute
        before = self.watch.now
        try:
            first = cost(lambda: work().backward(), self.watch)
            gradients = self.watch.now - before
            later = cost(lambda: work().backward(), self.watch) if several else Cost(0, 0)
        finally:
            self.policy.zero_grad(set_to_none=True)
            self.policy.backbone.recompute = False
        return Cost(first.flops, max(first.peak, gradients + later.peak))

    def imitated(self, many: int, config: TargetConfig) -> Any:
        """The supervised loss of so many states."""
        batch = targets.make(self.task, label(self.task, self.states(many)), config, seed=0, first=0)
        return targets.sft_loss(self.policy, self.task, batch, config, 1.0)[0]

    def _imitate(self, passes: Passes) -> Work:
        return lambda: self.imitated(passes.states, TargetConfig())

    def _plans(self, passes: Passes) -> Work:
        remaining = np.ones(passes.states, np.int64)

        def work() -> Any:
            z, index = (
                self.policy.look(self.task, self.states(passes.states), remaining),
                self.policy.task_index(self.task),
            )
            plans, scores = self.policy.decoder.plans(z, index)
            cells = self.policy.vision.kinds(self.task, self.states(passes.states))
            return plans, self.policy.depth_head(self.policy.read(z, index, scores, cells=cells, remaining=remaining))

        return work

    def proposed(self, passes: Passes, kind: Variant) -> Work:
        """Plans are drawn, by a head that chooses or for depths that are fixed."""
        shape = passes.states, passes.plans
        actor = Actor(self.policy, self.task, kind, seed=0)
        uniform = torch.empty((*shape, len(self.policy.config.depths) + 4 * MAX_ACTIONS), device="meta")
        forced = None if kind.head else np.full(shape, max(kind.depth, 1))
        remaining = np.ones(passes.states, np.int64)
        return partial(actor._pass, self.states(passes.states), uniform, forced, remaining)

    def _pictures(self, passes: Passes) -> Work:
        encode, states = self.policy.vision._encode, self.states(passes.states)
        return lambda: [encode(self.task, states, view) for view in range(self._views)]
