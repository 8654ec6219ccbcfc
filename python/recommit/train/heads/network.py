"""The network that heads on graphs train: one hidden layer, or none, from what a head reads to a number per depth; and
how it becomes the depth head of the policy whose plans the graph has.

Weights begin by counter-based draws, so that a seed names them on every machine; the last layer begins at zero, so that
all depths are alike at first.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
import torch.nn.functional as F

from recommit import rng
from recommit.policy.checkpoint import local_folder, weights_of
from recommit.policy.config import HeadConfig
from recommit.policy.policy import CommitPolicy
from recommit.storage import files
from recommit.storage.lock import Lock

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray
    from torch import Tensor

    from recommit.train.heads.fitted import FittedHead, Weights
    from recommit.train.heads.problem import HeadProblem


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

    def probs(self, nodes: NDArray[np.int64]) -> NDArray[np.float64]:
        """[nodes, depths] probabilities, where the outputs are logits."""
        with torch.no_grad():
            result: NDArray[np.float64] = self(nodes).double().softmax(-1).numpy()
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


class HeadLearner(ABC):
    """A method in the middle of its work: its network and the updates of it."""

    #: How the net's outputs become a depth, see ``FittedHead``; and how many there are beside one per depth.
    reading, more_outputs = "argmax", 0

    def __init__(self, problem: HeadProblem, config: Any, seed: int) -> None:
        self.problem, self.config, self.seed = problem, config, seed
        self.net = Net(problem, len(problem.depths) + self.more_outputs, config.hidden, seed)
        self.optimizer = torch.optim.Adam(self.net.parameters, lr=config.lr)

    @abstractmethod
    def update(self, number: int) -> None:
        """The update of this number, from 0 on."""

    def maximize(self, objective: Tensor) -> None:
        """One step of the optimizer, after which ``objective`` should be larger; it must be a number."""
        if not bool(objective.isfinite()):
            raise ValueError("lr: expected one under which the objective stays a number, got infinity or NaN")
        self.optimizer.zero_grad()
        (-objective).backward()
        torch.nn.utils.clip_grad_norm_(self.net.parameters, 10.0)
        self.optimizer.step()


def without_norm(head: FittedHead) -> Weights:
    """Weights for numbers as they are, which a policy's own head reads, instead of numbers of mean 0 and deviation
    1."""
    first, offset = ("first", "bias") if "first" in head.weights else ("last", "offset")
    scaled = head.weights[first].astype(np.float64) / head.deviation
    moved = head.weights[offset].astype(np.float64) - scaled @ head.mean
    return {**head.weights, first: scaled.astype(np.float32), offset: moved.astype(np.float32)}


def replace_head(policy: CommitPolicy, head: FittedHead) -> None:
    """Give a policy the fitted head; its plans stay what they are. It plays what the head says, but for rounding."""
    if head.reading != "argmax":
        raise ValueError(f"policy: expected a head that takes the largest of its numbers, got {head.method}")
    weights = without_norm(head)
    hidden = len(weights["first"]) if "first" in weights else 0
    policy.replace_head(HeadConfig(head.features, hidden, gelu="tanh"), depths=head.depths)
    if policy.depth_head.inputs != len(head.mean):
        raise ValueError(
            f"policy: expected the one whose plans the graph has, of {head.width} numbers of z, "
            f"got one of {policy.backbone.width}"
        )
    own = policy.depth_head
    layers = [(own, "last", "offset")] + ([] if own.hidden is None else [(own.hidden, "first", "bias")])
    with torch.no_grad():
        for layer, weight, bias in layers:
            layer.weight.copy_(torch.from_numpy(weights[weight]))
            layer.bias.copy_(torch.from_numpy(weights[bias]))


def own_policy(run: Path | str, weights: str) -> Path:
    """The folder of a run's policy. ``weights`` name the policy whose plans the graph has; an empty name fits all."""
    own = local_folder(run)
    if weights and weights_of(own) != weights:
        raise ValueError(f"policy: expected the one whose plans the graph has ({weights[:12]}), got {own}")
    return own


def save_policy(own: Path, head: FittedHead, augmentations: int, folder: Path) -> Path:
    """Write a policy with the fitted head, and so many augmentations of every picture."""
    policy: CommitPolicy = CommitPolicy.from_pretrained(own).eval()
    policy.replace_augmentations(augmentations)
    replace_head(policy, head)
    return policy.save_pretrained(folder)


@contextmanager
def policy_folder(out: Path) -> Iterator[Path]:
    """The folder of a policy, locked, without what an interrupted command left half written."""
    out.mkdir(parents=True, exist_ok=True)
    with Lock(out, work="train"):
        files.sweep_files(files.Files(), out)
        yield out
