"""Exponential averages of the weights that learn: steadier than the weights of any one step."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torch import Tensor

    from recommit.train.engine.state import State


class Average:
    """Beside each parameter its average, which keeps ``decay`` of itself at every step.

    Less in the first steps, (1 + step) / (10 + step), so that weights from nothing are soon forgotten.
    """

    def __init__(self, parameters: Sequence[Tensor], decay: float) -> None:
        self.parameters, self.decay, self.steps = list(parameters), decay, 0
        self.values = [parameter.detach().clone() for parameter in parameters]

    @torch.no_grad()
    def follow(self) -> None:
        """Move a little towards the weights."""
        self.steps += 1
        keep = min(self.decay, (1 + self.steps) / (10 + self.steps))
        torch._foreach_lerp_(self.values, self.parameters, 1 - keep)

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """The policy has the averages meanwhile."""
        self._exchange()
        try:
            yield
        finally:
            self._exchange()

    def states(self) -> list[State]:
        """What a checkpoint holds of each parameter."""
        return [{"average": value, "averaged": torch.tensor(float(self.steps))} for value in self.values]

    def take_up(self, number: int, state: State) -> None:
        """Back to ``states`` of a parameter, which leave the rest of what a checkpoint holds."""
        self.values[number].copy_(state.pop("average"))
        self.steps = int(state.pop("averaged"))

    @torch.no_grad()
    def _exchange(self) -> None:
        for parameter, value in zip(self.parameters, self.values, strict=True):
            now = parameter.clone()
            parameter.copy_(value)
            value.copy_(now)
