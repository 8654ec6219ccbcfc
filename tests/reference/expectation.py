"""Episodes with drawn depths in plain Python: every sequence of depths with its chance, one commitment at a time.

A graph is a namespace as in ``tests.reference.regret``; ``chance`` is a list of chances per node.
"""

from __future__ import annotations

from tests.reference import regret as slow


def episodes(graph, node, remaining, probs, weight=1.0):
    """(chance, [(left, node, column)], end, looks left) of every way that an episode can go."""
    if not remaining or slow.ends(graph, node):
        yield weight, [], node, remaining
        return
    for column, share in enumerate(probs[node]):
        if share:
            landing = graph.edges[node][column][0]
            for total, steps, end, rest in episodes(graph, landing, remaining - 1, probs, weight * share):
                yield total, [(remaining, node, column), *steps], end, rest


def expected(graph, start, budget, probs, action, look, defect=""):
    """Solved, actions, looks, regret and regret by cause. Defects: "likeliest", nothing is drawn; "even", all ways
    count the same; "path", a round is whatever the episode has seen."""
    if defect == "likeliest":
        probs = [
            [float(column == max(range(len(row)), key=row.__getitem__)) for column in range(len(row))] for row in probs
        ]
    ways = list(episodes(graph, start, budget, probs))
    solved = actions = looks = lost = 0.0
    causes: dict[str, float] = {}
    for weight, steps, end, rest in ways:
        share = 1 / len(ways) if defect == "even" else weight
        solved += share * graph.goal[end]
        stuck = 0 if graph.goal[end] else rest
        actions += share * (sum(graph.edges[node][column][1] for _, node, column in steps) + stuck * graph.depths[0])
        looks += share * (len(steps) + stuck)
        been = []
        for remaining, node, column in steps:
            been = [*been, node] if defect == "path" else [node]
            each = slow.best(graph, node, remaining, action, look) - slow.q_values(
                graph, node, remaining, column, action, look
            )
            why = slow.cause(graph, node, remaining, column, been, action, look)
            lost += share * each
            if why:
                causes[why] = causes.get(why, 0.0) + share * each
    return solved, actions, looks, lost, causes
