"""GRPO in plain Python and float64, from the specification: rewards, advantages, the loss, values. Slow and obvious."""

from __future__ import annotations

import itertools
import math


def reward(solved, progress, executed, decisions, config, prices, lost=False):
    total = float(solved)
    total += config.progress * math.tanh(progress / executed if executed else 0.0)
    if solved:
        total -= prices.action * executed + prices.observation * decisions
    if lost and config.deadlock == "penalty":
        total -= config.penalty
    return total


def progress(distances, per):
    """Of one commitment: ``distances`` before it and after each of its actions, negative where nobody can solve it."""
    if per == "commitment":
        first, last = distances[0], distances[-1]
        return 0 if min(first, last) < 0 else first - last
    total = 0
    for before, after in itertools.pairwise(distances):
        total += 0 if before < 0 or after < 0 else before - after
    return total


def advantages(group, scale, eps=1e-6):
    mean = sum(group) / len(group)
    centred = [value - mean for value in group]
    deviation = math.sqrt(sum(c * c for c in centred) / len(group))
    if max(group) == min(group):
        return [0.0] * len(group)
    return [c / (deviation + eps) for c in centred] if scale == "group" else centred


def log_softmax(logits):
    top = max(logits)
    total = top + math.log(sum(math.exp(v - top) for v in logits))
    return [v - total for v in logits]


def entropy(logits):
    return -sum(math.exp(v) * v for v in log_softmax(logits))


def kl(logits, other):
    return sum(math.exp(a) * (a - b) for a, b in zip(log_softmax(logits), log_softmax(other), strict=True))


def clipped(ratio, advantage, clip):
    return min(ratio * advantage, min(max(ratio, 1 - clip), 1 + clip) * advantage)


def loss(depth_logits, action_logits, batch, config, divisor, reference=None):
    """``batch`` has the fields of ``GrpoBatch`` as nested lists."""
    surrogate = bonus = divergence = 0.0
    for s, logits in enumerate(depth_logits):
        depths, plans = len(batch["choices"][s]), len(batch["actions"][s])
        logs = log_softmax(logits)
        for d in range(depths):
            if config.ratio == "joint":
                surrogate += _joint(s, d, logs, action_logits, batch, config)
                continue
            terms = _terms(s, d, batch, config)
            if batch["depth_weight"][s][d] > 0:
                ratio = math.exp(logs[batch["choices"][s][d]] - batch["depth_old"][s][d])
                advantage = batch["depth_advantage"][s][d]
                surrogate += batch["depth_weight"][s][d] * clipped(ratio, advantage, config.clip) / terms
        for g in range(plans):
            scored = [j for j in range(8) if batch["action_weight"][s][g][j] > 0]
            terms = _terms(s, g, batch, config)
            for j in scored:
                every = action_logits[s][g][j]
                part = batch["weight"][s] / plans
                if config.loss_normalization != "surrogate":
                    part /= terms
                spread = entropy(every) if config.loss_normalization != "surrogate" else entropy(every) / 8
                bonus += config.entropy_actions * part * spread
                if reference is not None:
                    divergence += part * kl(every, reference[1][s][g][j])
                if config.ratio == "factor":
                    log = log_softmax(every)[batch["actions"][s][g][j]]
                    ratio = math.exp(log - batch["action_old"][s][g][j])
                    advantage = batch["action_advantage"][s][g][j]
                    surrogate += batch["action_weight"][s][g][j] * clipped(ratio, advantage, config.clip) / terms
        # The depth is the first term of every commitment that begins here.
        parts = [batch["weight"][s] / plans / _terms(s, g, batch, config) for g in range(plans)]
        whole = sum(parts) if config.loss_normalization != "surrogate" else batch["weight"][s]
        bonus += config.entropy_depth * whole * entropy(logits)
        if reference is not None and config.kl_depth:
            divergence += whole * kl(logits, reference[0][s])
    return (-surrogate - bonus + config.kl * divergence) / divisor


def _terms(s, g, batch, config):
    return 1 + sum(w > 0 for w in batch["action_weight"][s][g]) if config.loss_normalization == "length" else 9


def _joint(s, d, logs, action_logits, batch, config):
    if not batch["depth_weight"][s][d] > 0:
        return 0.0
    change = logs[batch["choices"][s][d]] - batch["depth_old"][s][d]
    for j in range(8):
        if batch["action_weight"][s][d][j] > 0:
            log = log_softmax(action_logits[s][d][j])[batch["actions"][s][d][j]]
            change += log - batch["action_old"][s][d][j]
    return batch["depth_weight"][s][d] * clipped(math.exp(change), batch["depth_advantage"][s][d], config.clip)
