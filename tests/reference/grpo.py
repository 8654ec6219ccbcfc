"""GRPO in plain Python and float64, from the specification: rewards, advantages, the loss, values. Slow and obvious."""

from __future__ import annotations

import itertools
import math
from pathlib import Path


def reward(solved, progress, executed, decisions, config, prices, lost=False):
    total = float(solved)
    total += config.progress * math.tanh(progress / executed if executed else 0.0)
    if solved:
        total -= prices.action * executed + prices.observation * decisions
    if lost and config.deadlock == "penalty":
        total -= 0.2
    return total


def progress(distances, per):
    """Of one commitment: ``distances`` before it and after each of its actions, negative where it cannot be solved."""
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


def formula():
    """Of the loss, with the table of what its terms are divided by, as docs/decisions.md has them."""
    page = (Path(__file__).parents[2] / "docs" / "decisions.md").read_text(encoding="utf-8")
    return page.partition("### The loss")[2].partition("```text\n")[2].partition("```")[0]


def divisors(config, length):
    """Z, K and E by the page's table, which has plans of eight actions."""
    named = {"8": str(length), "9": str(length + 1)}
    name = config.loss_normalization + (", ratio: joint" if config.ratio == "joint" else "")
    rows = ([cell.strip() for cell in line.split("   ") if cell.strip()] for line in formula().splitlines())
    (found,) = [cells[1:] for cells in rows if cells[:1] == [name]]
    return [named.get(each, each) for each in found]


def loss(depth_logits, action_logits, batch, config, total, reference=None):
    """By that formula, of a ``GrpoBatch`` whose fields are nested lists; ``total`` is W."""
    length = len(action_logits[0][0])
    z, k, e = divisors(config, length)
    result = 0.0
    for s in range(len(depth_logits)):
        state = {name: column[s] for name, column in batch.items()}
        w, plans, old = state["weight"], len(state["actions"]), reference and (reference[0][s], reference[1][s])
        executed = [[j for j in range(length) if state["action_weight"][g][j] > 0] for g in range(plans)]
        for d, choice in enumerate(state["choices"]):
            change = log_softmax(depth_logits[s])[choice] - state["depth_old"][d]
            if config.ratio == "joint":
                change += sum(_change(action_logits[s], state, d, j) for j in executed[d])
            if state["depth_weight"][d] > 0:
                term = clipped(math.exp(change), state["depth_advantage"][d], config.clip)
                result -= _over(z, executed, d) * state["depth_weight"][d] * term
        for g in range(plans):
            for j in executed[g]:
                if config.ratio == "factor":
                    change = _change(action_logits[s], state, g, j)
                    term = clipped(math.exp(change), state["action_advantage"][g][j], config.clip)
                    result -= _over(z, executed, g) * state["action_weight"][g][j] * term
                own = action_logits[s][g][j]
                result -= config.entropy_actions * w * _over(e, executed, g) / plans * entropy(own)
                if old is not None:
                    result += config.kl * w * _over(k, executed, g) / plans * kl(own, old[1][g][j])
        mean = sum(_over(k, executed, g) for g in range(plans)) / plans
        result -= config.entropy_depth * w * mean * entropy(depth_logits[s])
        if old is not None and config.kl_depth:
            result += config.kl * w * mean * kl(depth_logits[s], old[0])
    return result / total


def _over(divisor, executed, g):
    """1 / Z, K or E; plan g counts only where they are its own length."""
    return 1 / (1 + len(executed[g])) if divisor == "1 + n" else 1 / int(divisor)


def _change(logits, state, g, j):
    """Of the log probability of an executed action."""
    return log_softmax(logits[g][j])[state["actions"][g][j]] - state["action_old"][g][j]
