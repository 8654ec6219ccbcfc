"""The frozen reference policy of a KL penalty. With LoRA it is a second adapter on the same backbone."""

from __future__ import annotations

import copy
import warnings
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import torch

from recommit.policy.config import ADAPTER

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray
    from torch import Tensor, nn

    from recommit.policy.policy import CommitPolicy
    from recommit.puzzles.puzzle import Puzzle

REFERENCE = "reference"


class ReferencePolicy:
    """A snapshot of the policy at construction. Never trained, never with dropout.

    Construct it before an engine wraps the policy: its adapter is part of the policy's backbone. Not thread-safe: a
    pass of the reference switches the adapter of the shared backbone and back.
    """

    def __init__(self, policy: CommitPolicy) -> None:
        self.policy = policy
        self._copy: CommitPolicy | None = None
        if policy.config.lora is None:
            self._copy = copy.deepcopy(policy).requires_grad_(False).eval()
            return
        self._heads = (
            copy.deepcopy(policy.depth_head).requires_grad_(False).eval(),
            copy.deepcopy(policy.decoder).requires_grad_(False).eval(),
        )
        from peft.tuners.tuners_utils import BaseTunerLayer

        model: Any = policy.backbone.model
        before = [(parameter, parameter.requires_grad) for parameter in model.parameters()]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            model.add_adapter(REFERENCE, copy.deepcopy(model.peft_config[ADAPTER]))
        for parameter, learns in before:  # up to 0.20, PEFT makes the whole active adapter trainable again
            parameter.requires_grad_(learns)
        model.train(model.training)  # also sets the mode of the new adapter's dropout
        with torch.no_grad():
            parameters = dict(model.named_parameters())
            for name, parameter in parameters.items():
                if f".{REFERENCE}." in name:
                    parameter.copy_(parameters[name.replace(f".{REFERENCE}.", f".{ADAPTER}.")])
                    parameter.requires_grad_(False)
        self._layers = [module for module in model.modules() if isinstance(module, BaseTunerLayer)]

    @property
    def own(self) -> tuple[nn.Module, ...]:
        """Modules not shared with the policy: copied heads, or the whole copy."""
        return self._heads if self._copy is None else (self._copy,)

    @torch.no_grad()
    def __call__(
        self,
        task: Puzzle,
        states: NDArray[np.uint8],
        actions: Tensor,
        depths: Tensor | None = None,
        remaining: NDArray[np.integer] | None = None,
    ) -> tuple[Tensor, Tensor]:
        """As ``CommitPolicy.forward``."""
        if self._copy is not None:
            return self._copy(task, states, actions, depths, remaining=remaining)
        dtype = self.policy.depth_head.weight.dtype  # an engine may have changed it since
        heads = (self._heads[0].to(dtype), self._heads[1].to(dtype))
        with self._switched():
            return self.policy(task, states, actions, depths, heads, remaining)

    @contextmanager
    def encoded(self, parts: Sequence[tuple[Puzzle, NDArray[np.uint8], NDArray[np.integer]]]) -> Iterator[None]:
        """As ``CommitPolicy.encoded``."""
        policy, switched = self._copy or self.policy, nullcontext() if self._copy else self._switched()
        with torch.no_grad(), switched, policy.encoded(parts):
            yield

    @contextmanager
    def _switched(self) -> Iterator[None]:
        model: Any = self.policy.backbone.model
        training = model.training
        if training:
            model.eval()
        self._activate(REFERENCE)
        try:
            yield
        finally:
            self._activate(ADAPTER)
            if training:
                model.train()

    def _activate(self, adapter: str) -> None:
        """Switch the adapter. PEFT's own switch also sets ``requires_grad`` of every weight: 5 ms at 28 layers."""
        for layer in self._layers:
            layer._active_adapter = [adapter]
