"""Several views of one look as one: z of every view [N, views, width] goes through the decoder side by side.

After every action the views' distributions are turned back to the picture as it is and averaged; what is chosen by the
mean goes on in every view, turned again. z of one view is [N, width], and nothing here changes it.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from recommit.policy.config import MAX_ACTIONS
from recommit.policy.pictures import symmetry

#: Numbers per action that ``disagreement`` gives of a plan.
DISAGREEMENTS = 2
#: Logarithms of mean probabilities that are nearer than this are equal: in a symmetric picture two actions are exactly
#: as good, and rounding must not choose between them.
TIE = 1e-5


class Views:
    """How many views a batch of z has, and what actions look like in each."""

    def __init__(self, z: Tensor) -> None:
        self.count = z.shape[1] if z.ndim == 3 else 0
        self._actions = symmetry.actions(self.count).to(z.device) if self.count else None

    def rows(self, z: Tensor) -> Tensor:
        """z as a row per view."""
        return z.flatten(0, 1) if self.count else z

    def repeated(self, values: Tensor | None) -> Tensor | None:
        """What is the same in all views, [N], as a row per view."""
        return values if values is None or not self.count else values.repeat_interleave(self.count, dim=0)

    def inward(self, actions: Tensor) -> Tensor:
        """Actions of the picture as it is, [N, ...], as every view has them: [N * views, ...]."""
        if self._actions is None:
            return actions
        return self._actions.T[actions].movedim(-1, 1).flatten(0, 1)

    def apart(self, logits: Tensor) -> Tensor:
        """Log probabilities of the picture's own actions by each view: of [N * views, ..., 4], [N, views, ..., 4]."""
        assert self._actions is not None
        logs = F.log_softmax(logits.float(), dim=-1).unflatten(0, (-1, self.count))
        shape = (1, self.count, *(1 for _ in logits.shape[1:-1]), logits.shape[-1])
        return logs.gather(-1, self._actions.view(shape).expand(logs.shape))

    def best(self, logits: Tensor) -> Tensor:
        """The action of the highest of what ``mean`` gave."""
        return logits.float().argmax(dim=-1) if self._actions is None else likeliest(logits)

    def mean(self, logits: Tensor) -> Tensor:
        """Logarithms of the mean probabilities [N, ..., 4]; of one view its logits themselves."""
        if self._actions is None:
            return logits
        return torch.logsumexp(self.apart(logits), dim=1) - math.log(self.count)


def likeliest(means: Tensor) -> Tensor:
    """The first of the likeliest actions, by logarithms of mean probabilities [..., 4]."""
    return (means >= means.amax(-1, keepdim=True) - TIE).int().argmax(-1)


def disagreement(apart: Tensor) -> Tensor:
    """How far views differ over plans, from their log probabilities [N, views, 8, 4]: by how much the mean is less sure
    than the views are (nats), and the share of views that would not have chosen the action. [N, 16]"""
    mean = torch.logsumexp(apart, dim=1) - math.log(apart.shape[1])
    lost = _entropy(mean) - _entropy(apart).mean(dim=1)
    chosen = likeliest(mean)[:, None]
    return torch.cat([lost, (apart.argmax(-1) != chosen).float().mean(dim=1)], dim=-1)


def plan_agreement(decoder: nn.Module, z: Tensor, index: int, scores: Tensor) -> Tensor:
    """``disagreement`` of the views of z over the greedy plans with these ``scores``; one view has nothing to differ
    from."""
    if z.ndim == 2:
        return z.new_zeros(len(z), DISAGREEMENTS * MAX_ACTIONS)
    return disagreement(decoder(z, likeliest(scores)[:, : MAX_ACTIONS - 1], index, apart=True))


def _entropy(logs: Tensor) -> Tensor:
    return -(logs.exp() * logs).sum(-1)
