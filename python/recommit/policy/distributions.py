"""Exact quantities of small categorical distributions, in float32 whatever the logits are."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor


def log_probabilities(logits: Tensor) -> Tensor:
    """Normalised over the last axis."""
    return F.log_softmax(logits.float(), dim=-1)


def log_prob(logits: Tensor, choice: Tensor) -> Tensor:
    """Log probability of ``choice`` (indices, one axis fewer than ``logits``)."""
    return log_probabilities(logits).gather(-1, choice[..., None])[..., 0]


def entropy(logits: Tensor) -> Tensor:
    """In nats, by the sum over all outcomes."""
    logs = log_probabilities(logits)
    return -(logs.exp() * logs).sum(-1)


def kl(logits: Tensor, reference: Tensor) -> Tensor:
    """KL(logits || reference) in nats, by the sum over all outcomes."""
    logs = log_probabilities(logits)
    return (logs.exp() * (logs - log_probabilities(reference))).sum(-1)
