"""The net that every method trains: one hidden layer, or none, from what a head reads to a number per depth.

Weights begin by counter-based draws, so that a seed names them on every machine; the last layer begins at zero, as our
head does, so that all depths are alike at first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
import torch.nn.functional as F

from recommit import rng

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray
    from torch import Tensor

    from recommit.train.baselines.fitted import Weights
    from recommit.train.baselines.problem import HeadProblem


class Net:
    """Weights that learn: ``first`` and ``bias`` of the hidden layer, ``last`` and ``offset`` of what it gives."""

    def __init__(self, problem: HeadProblem, outputs: int, hidden: int, seed: int) -> None:
        inputs = problem.inputs.shape[1]
        generator = np.random.Generator(np.random.Philox(key=rng.derived_seed(seed, rng.Purpose.WEIGHTS, 0)))
        bound = inputs**-0.5
        first = generator.uniform(-bound, bound, (hidden, inputs)).astype(np.float32)
        self.weights = {"last": torch.zeros(outputs, hidden or inputs), "offset": torch.zeros(outputs)}
        if hidden:
            self.weights |= {"first": torch.from_numpy(first), "bias": torch.zeros(hidden)}
        for weight in self.weights.values():
            weight.requires_grad_(True)
        self.parameters = list(self.weights.values())
        self._inputs = torch.from_numpy(problem.inputs)

    def __call__(self, nodes: NDArray[np.int64]) -> Tensor:
        """[nodes, outputs] at nodes of the graph."""
        read = self._inputs[torch.from_numpy(nodes)]
        if "first" in self.weights:
            read = F.gelu(F.linear(read, self.weights["first"], self.weights["bias"]), approximate="tanh")
        return F.linear(read, self.weights["last"], self.weights["offset"])

    def numbers(self, nodes: NDArray[np.int64]) -> NDArray[np.float64]:
        """The same without a gradient."""
        with torch.no_grad():
            result: NDArray[np.float64] = self(nodes).numpy().astype(np.float64)
        return result

    def load(self, weights: Weights) -> None:
        """Take over stored weights of the same shapes."""
        for name, weight in self.weights.items():
            if name not in weights or weights[name].shape != tuple(weight.shape):
                raise ValueError(f"weights: expected {name} {tuple(weight.shape)}, got another net's")
            weight.data.copy_(torch.from_numpy(weights[name]))

    def stored(self) -> Weights:
        """A copy of the weights."""
        return {name: weight.detach().numpy().copy() for name, weight in self.weights.items()}


def climb(net: Net, optimizer: torch.optim.Optimizer, gain: Tensor) -> None:
    """One step up ``gain``, which must be a number."""
    if not bool(gain.isfinite()):
        raise ValueError("lr: expected one under which the gain stays a number, got infinity or NaN; try a lower one")
    optimizer.zero_grad()
    (-gain).backward()
    torch.nn.utils.clip_grad_norm_(net.parameters, 10.0)
    optimizer.step()


def chances(net: Net) -> Callable[[NDArray[np.int64]], NDArray[np.float64]]:
    """Probabilities [nodes, depths] of a net whose outputs are logits."""

    def choose(nodes: NDArray[np.int64]) -> NDArray[np.float64]:
        with torch.no_grad():
            result: NDArray[np.float64] = net(nodes).double().softmax(-1).numpy()
        return result

    return choose
