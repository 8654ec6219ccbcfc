"""Policy evaluation in plain Python, from its description in ``recommit.graph.policy_evaluation``: slow, node by node,
one budget after the other, also where states were not planned in."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np


def values(graph, roots, probs, budget, prices, budgets=()):
    """By node and decisions left; see ``recommit.graph.policy_evaluation.GraphValues``."""
    distance = [int(d) for d in graph.distance]
    nodes, depths = range(len(graph)), range(graph.landing.shape[1])
    looked = [node for node in nodes if graph.planned[node]]
    cost = {node: [_price(prices, int(graph.executed[node, column])) for column in depths] for node in looked}
    wasted = sum(sum(probs[node, c] * cost[node][c] for c in depths) for node in looked) / max(len(looked), 1)
    worth, q_values = [[float(graph.goal[node]) for node in nodes]], [{}]
    for remaining in range(1, budget + 1):
        before = worth[-1]
        q = {node: [before[graph.landing[node, c]] - cost[node][c] for c in depths] for node in looked}
        own = {node: sum(probs[node, c] * q[node][c] for c in depths) for node in looked}
        rest = {
            node: _beyond(distance, own, distance[node], remaining, -wasted * remaining)
            for node in nodes
            if node not in own and not graph.goal[node]
        }
        worth.append([1.0 if graph.goal[node] else own[node] if node in own else rest[node] for node in nodes])
        q_values.append(q)
    visits = np.zeros((budget + 1, len(graph)))
    for each in [min(k, budget) for k in budgets] or [budget]:
        visits += _visits(graph, roots, probs, budget, each) / max(len(budgets), 1)
    advantage, mass = np.zeros((len(graph), len(depths))), visits.sum(axis=0)
    for node in looked:
        for remaining in range(1, budget + 1):
            q = np.array(q_values[remaining][node])
            advantage[node] += visits[remaining, node] * (q - q @ probs[node]) / max(mass[node], 1e-12)
    settled = sum(
        visits[remaining, node]
        for remaining in range(budget + 1)
        for node in nodes
        if graph.planned[node] or distance[node] < 0 or distance[node] > 8 * remaining
    )
    visits_of_plans = visits * graph.planned
    share = settled / visits.sum()
    return SimpleNamespace(value=np.array(worth), visits=visits_of_plans, advantage=advantage, exact_fraction=share)


def _price(prices, actions):
    """One look, and every action by itself."""
    return prices.observation + sum(prices.action for _ in range(actions))


def _visits(graph, roots, probs, budget, remaining):
    """Of episodes that begin with ``remaining`` decisions left."""
    visits = np.zeros((budget + 1, len(graph)))
    for root in roots:
        visits[remaining, root] += not graph.goal[root]
    for k in range(remaining, 1, -1):
        for node in range(len(graph)):
            for column in range(graph.landing.shape[1]) if graph.planned[node] else ():
                landing = graph.landing[node, column]
                visits[k - 1, landing] += visits[k, node] * probs[node, column] * (not graph.goal[landing])
    return visits


def _beyond(distance, own, here, remaining, lost):
    """Without an observation: the mean of those at its distance, or between the next nearer and farther ones."""
    if here < 0 or here > 8 * remaining:
        return lost
    at = {}
    for node, value in own.items():
        if distance[node] > 0:
            at.setdefault(distance[node], []).append(value)
    means = {d: sum(values) / len(values) for d, values in at.items()}
    if not means:
        return lost
    below, above = [d for d in means if d <= here], [d for d in means if d >= here]
    if not below or not above:
        return means[min(means)] if not below else means[max(means)]
    low, high = max(below), min(above)
    part = 0.0 if low == high else (here - low) / (high - low)
    return means[low] + part * (means[high] - means[low])
