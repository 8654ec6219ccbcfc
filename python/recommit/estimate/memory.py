"""Bytes of one rank: weights, optimizer, reference, features, and what DeepSpeed sets aside."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recommit.train.engine.deepspeed_config import deepspeed_settings

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torch import Tensor

    from recommit.estimate.meta_model import Shadow
    from recommit.estimate.schedule import Stage

#: Not counted but allowed for: what a CUDA context, the workspaces of matrix products and gaps between tensors take.
ALLOWANCE = 1 << 30
#: Most bytes of features that a rank remembers; see ``recommit.policy.vision``.
FEATURES = 1 << 30
#: Bytes of a parameter's two moments and of its master copy in float32.
MOMENTS, MASTER = 8, 4


def size(tensors: Iterable[Tensor]) -> int:
    """Bytes; what is trained is float32, whatever it is multiplied as."""
    return sum(t.numel() * (MASTER if t.requires_grad else t.element_size()) for t in tensors)


class Split:
    """Who has which part of what, by engine and ZeRO stage."""

    def __init__(self, shadow: Shadow, stage: Stage, world: int, *, cuda: bool) -> None:
        self.shadow, self.trained, self.world, self.cuda = shadow, shadow.trained, world, cuda
        engine, optim = stage.engine, getattr(stage, "optim", None)
        self.deepspeed, self.offload = engine.kind == "deepspeed", engine.offload
        #: ZeRO's; 0 if nothing is split.
        self.stage = engine.stage if self.deepspeed else 0
        whole = deepspeed_settings(engine, optim, 1, world) if optim and self.deepspeed else {}
        self.zero: dict[str, Any] = whole.get("zero_optimization", {})
        #: Numbers that this rank updates.
        self.part = -(-sum(t.numel() for t in self.trained) // world)

    def resident(self, features: int) -> dict[str, int]:
        """What stays, by kind; ``features`` are bytes of pictures that were encoded once."""
        shadow, named = self.shadow, self.shadow.parts()
        own = [p for module in shadow.modules[1:] for p in module.parameters()]
        buffers = size(b for module in shadow.modules for b in module.buffers())
        sizes = {
            "weights": self._weights([*named["language"], *named["vision"]]) + buffers,
            "lora": self._weights(named["lora"]),
            "heads": self._weights([*named["decoder"], *named["depth head"]]),
            "optimizer": 0 if self.offload else self.optimizer(),
            "reference": self._weights(named["reference"]) + size(own),
            "features": min(FEATURES, features) * len(shadow.policies),
            "buckets": self._buckets(),
            "gathered": self._gathered(list(shadow.policy.parameters())),
            "allowance": ALLOWANCE if self.cuda else 0,
        }
        return {name: size for name, size in sizes.items() if size}

    def optimizer(self) -> int:
        """Moments and, behind ZeRO's own weights, masters; on the device or in the node's memory."""
        if self.stage:
            return self.part * (MOMENTS + MASTER)
        return 2 * size(self.trained) + 4 * len(self.trained) * (not self.deepspeed)

    def gradients(self) -> int:
        """While a step adds them up."""
        whole = size(self.trained)
        return whole if self.stage < 2 else -(-whole // self.world)

    def stepping(self) -> int:
        """While the optimizer steps: gradients, and behind ZeRO this rank's part of them in float32 with two of its
        size for what AdamW works out; one process steps in place."""
        if not self.stage:
            return size(self.trained) * (1 + self.deepspeed)
        rest = self.gradients() if self.stage == 3 else 0
        return rest + 3 * MASTER * self.part * (not self.offload)

    def _weights(self, tensors: Iterable[Tensor]) -> int:
        whole = size(tensors)
        return whole if self.stage < 3 else 0 if self.offload else -(-whole // self.world)

    def _buckets(self) -> int:
        """Where gradients are put together before they are sent."""
        if not self.stage or not self.trained:
            return 0
        twice = bool(self.zero.get("overlap_comm", False)) and self.stage < 3
        return int(self.zero["reduce_bucket_size"]) * MASTER * (1 + twice)

    def _gathered(self, tensors: list[Tensor]) -> int:
        """Weights of other ranks that stage 3 may have here at a time, at most."""
        if self.stage < 3:
            return 0
        most = self.zero.get("stage3_max_live_parameters", 1e9) + self.zero.get("stage3_prefetch_bucket_size", 5e7)
        return min(int(most) * max((t.element_size() for t in tensors), default=0), size(tensors))
