"""Updates of the depth head alone: many per step on one commitment graph, without new observations, on all ranks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from recommit.graph.build import PolicyGraph
from recommit.graph.episodes import softmax
from recommit.policy.depth_head import DepthHead
from recommit.policy.tensors import entropy
from recommit.train.engine.base import Diverged
from recommit.train.grpo.advantages import scaled_by_batch
from recommit.train.optim import lr_schedule

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

    from recommit.graph.policy_evaluation import PolicyEvaluation
    from recommit.policy.policy import CommitPolicy
    from recommit.runs.distributed import Team
    from recommit.train.engine.base import Engine
    from recommit.train.grpo.config import GrpoConfig


@dataclass(frozen=True)
class DepthHeadOptimizer:
    """Gradient ascent on the expected return in the depth head alone; all values are recomputed after every update.

    Every rank holds the head's inputs for the states that it observed, and a full copy of the head; logits and
    gradients are exchanged, so that the copies stay equal.
    """

    policy: CommitPolicy
    engine: Engine
    config: GrpoConfig
    step: int

    def __call__(self, evaluation: PolicyEvaluation) -> None:
        """Update the head, and write its new logits to the evaluation's graph."""
        graph, head = evaluation.graph, self._copy()
        assert isinstance(graph, PolicyGraph)
        rows = NodeShares(graph, evaluation.rows, next(head.parameters()).device)
        optim, phase = self.config.optim, self.config.phase_at(self.step)
        lr = phase.depth_head_lr or (optim.depth_head_lr or optim.decoder_lr) * lr_schedule(optim, self.step)
        optimizer = torch.optim.Adam(head.parameters(), lr=lr)
        for _ in range(phase.head_updates):
            objective = self._objective(evaluation, head(rows.inputs), rows)
            optimizer.zero_grad()
            (-objective).backward()
            _sum_gradients(list(head.parameters()), rows.team)
            optimizer.step()
        self.engine.assign(self.policy.depth_head.parameters(), [p.detach() for p in head.parameters()])
        with torch.no_grad():
            graph.logits[evaluation.rows] = rows.whole(head(rows.inputs))

    def _copy(self) -> DepthHead:
        """An unsharded float32 copy of the depth head."""
        policy, about = self.policy, self.policy.config
        with torch.device("meta"):
            head = DepthHead(policy.backbone.width, len(about.depths), about.head, about.plan_length)
        values = self.engine.full(policy.depth_head.parameters())
        names = [name for name, _ in head.named_parameters()]
        head.load_state_dict(dict(zip(names, values, strict=True)), assign=True)
        return head

    def _objective(self, evaluation: PolicyEvaluation, logits: Tensor, rows: NodeShares) -> Tensor:
        """This rank's part of the objective: return plus entropy, with the same relative weight as in the loss."""
        probs = softmax(rows.whole(logits))
        advantage, mass = evaluation.advantages(probs)
        share = mass / mass.sum()
        scaled = scaled_by_batch(advantage, mass[:, None] * probs) * share[:, None]
        returns = (logits.softmax(-1) * torch.from_numpy(scaled[rows.own]).to(logits)).sum()
        entropies = (torch.from_numpy(share[rows.own]).to(logits) * entropy(logits)).sum()
        terms = self.policy.config.plan_length + 1 if self.config.objective.loss_normalization == "surrogate" else 1
        return returns + self.config.objective.entropy_depth * entropies * terms


class NodeShares:
    """This rank's share of the nodes (those it observed), and the gathering of logits over ranks."""

    def __init__(self, graph: PolicyGraph, nodes: NDArray[np.int64], device: torch.device) -> None:
        read, inputs = graph.inputs()
        self.team, self.inputs = graph.team, torch.from_numpy(inputs).to(device)
        #: Indices into ``nodes``: this rank's, and those of all ranks in order.
        self.own = np.searchsorted(nodes, read)
        self._all = np.concatenate(self.team.gather(self.own))

    def whole(self, logits: Tensor) -> NDArray[np.float32]:
        """All-gather logits and order them by node."""
        parts = np.concatenate(self.team.gather(logits.detach().cpu().numpy()))
        result = np.empty_like(parts)
        result[self._all] = parts
        return result


def _sum_gradients(parameters: list[torch.nn.Parameter], team: Team) -> None:
    """Sum gradients over ranks in a fixed order, so that every rank gets the same bits; refuse non-finite ones.

    Needed since no norm is checked here, unlike in an engine's step, before the head is validated and saved.
    """
    own = torch.cat([p.grad.flatten() for p in parameters if p.grad is not None])
    total = torch.from_numpy(np.sum(team.gather(own.cpu().numpy()), axis=0, dtype=np.float64))
    if not total.isfinite().all():
        raise Diverged("a gradient of the depth head's own updates is not finite; lower its learning rate")
    for parameter, part in zip(parameters, total.split([p.numel() for p in parameters]), strict=True):
        parameter.grad = part.reshape(parameter.shape).to(parameter)
