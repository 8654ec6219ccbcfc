"""Bytes of one rank that stay: weights, optimiser, reference, features, and what DeepSpeed sets aside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from recommit.train.engine.deepspeed_config import settings

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torch import Tensor

    from recommit.estimate.counting.passes import Stage
    from recommit.estimate.counting.work import Shadow

#: What a CUDA context, the workspaces of matrix products and gaps between tensors take. Not counted: an allowance.
ALLOWANCE = 1 << 30
#: What a process with torch and transformers takes of the node's memory before it has any weights: an allowance, too.
PROCESS = 1 << 30
#: Most bytes of features that a rank remembers; see ``recommit.policy.vision``.
FEATURES = 1 << 30
#: Bytes of a parameter's two moments and of its master copy in float32.
MOMENTS, MASTER = 8, 4


def size(tensors: Iterable[Tensor]) -> int:
    """Bytes."""
    return sum(t.numel() * t.element_size() for t in tensors)


@dataclass(frozen=True)
class Split:
    """Who has which part of what, by engine and stage."""

    world: int
    stage: int
    offload: bool
    deepspeed: bool
    zero: dict[str, Any]

    @classmethod
    def of(cls, config: Stage, world: int) -> Split:
        """From a recipe."""
        engine, optim = config.engine, getattr(config, "optim", None)
        whole = settings(engine, optim, 1, world) if optim and engine.kind == "deepspeed" else {}
        return cls(
            world,
            engine.stage if engine.kind == "deepspeed" else 0,
            engine.offload,
            engine.kind == "deepspeed",
            whole.get("zero_optimization", {}),
        )

    def optimiser(self, trained: list[Tensor]) -> int:
        """Moments and, behind ZeRO's own weights, masters; on the device or in the node's memory."""
        if self.stage:
            return self._part(trained) * (MOMENTS + MASTER)
        return 2 * size(trained) + 4 * len(trained) * (not self.deepspeed)

    def gradients(self, trained: list[Tensor]) -> int:
        """While a step adds them up."""
        whole = size(trained)
        return whole if self.stage < 2 else -(-whole // self.world)

    def stepping(self, trained: list[Tensor]) -> int:
        """While the weights move: gradients, and behind ZeRO this rank's part of them in float32 with two of its size
        for what AdamW works out; one process moves its weights in place."""
        if not self.deepspeed:
            return size(trained)
        if not self.stage:
            return 2 * size(trained)
        rest = self.gradients(trained) if self.stage == 3 else 0
        return rest + 3 * MASTER * self._part(trained) * (not self.offload)

    def _part(self, trained: list[Tensor]) -> int:
        """Numbers that this rank moves."""
        return -(-sum(t.numel() for t in trained) // self.world)

    def weights(self, tensors: Iterable[Tensor]) -> int:
        """Bytes of the backbone and the heads on one rank."""
        whole = size(tensors)
        return whole if self.stage < 3 else 0 if self.offload else -(-whole // self.world)

    def buckets(self, trained: list[Tensor]) -> int:
        """Where gradients are put together before they are sent."""
        if not self.stage or not trained:
            return 0
        element = trained[0].element_size()
        twice = bool(self.zero.get("overlap_comm", False)) and self.stage < 3
        return int(self.zero.get("reduce_bucket_size", 5e8)) * element * (1 + twice)

    def gathered(self, tensors: list[Tensor]) -> int:
        """Weights of other ranks that stage 3 may have here at a time, at most."""
        if self.stage < 3:
            return 0
        most = self.zero.get("stage3_max_live_parameters", 1e9) + self.zero.get("stage3_prefetch_bucket_size", 5e7)
        element = max((t.element_size() for t in tensors), default=0)
        return min(int(most) * element, size(tensors))


def resident(shadow: Shadow, split: Split, cuda: bool, states: int) -> dict[str, int]:
    """By kind; ``states`` is how many different ones the rank meets at most."""
    policy, trained = shadow.policy, shadow.trained
    everything = list(policy.parameters())
    named = dict(shadow.parts())
    own = [p for module in shadow.modules[1:] for p in module.parameters()]
    second = named.pop("reference", [])
    buffers = size(b for module in shadow.modules for b in module.buffers())
    heads = [*named["decoder"], *named["depth head"]]
    sizes = {
        "weights": split.weights([*named["language"], *named["vision"]]) + buffers,
        "lora": split.weights(named["lora"]),
        "heads": split.weights(heads),
        "optimiser": 0 if split.offload else split.optimiser(trained),
        "reference": split.weights(second) + size(own),
        "features": features(shadow, states),
        "buckets": split.buckets(trained),
        "gathered": split.gathered(everything),
        "allowance": ALLOWANCE if cuda else 0,
    }
    return {name: size for name, size in sizes.items() if size}


def features(shadow: Shadow, states: int) -> int:
    """Bytes of pictures that were encoded once; a whole second policy remembers its own."""
    if not shadow.keeps_features:
        return 0
    return min(FEATURES, states * shadow.feature_bytes) * len(list(shadow.policies()))
