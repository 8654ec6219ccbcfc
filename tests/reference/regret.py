"""Values, regrets and their causes in plain Python, by trying every sequence of depths; no program is shared between
looks.

A graph is a namespace: ``depths``; ``edges``, a list of (landing, executed) per node with a plan, one per depth, None
elsewhere; ``goal`` and ``distance`` by node. A rule is a function of looks left and node to a column.
"""

from __future__ import annotations

import itertools


def ends(graph, node):
    return graph.goal[node] or graph.edges[node] is None


def play(graph, node, remaining, choose, action, look):
    """(value, solved, [(left, node, column)]) of one episode; ``choose(left, node)`` is a column."""
    value, decisions = 0.0, []
    while remaining and not ends(graph, node):
        column = choose(remaining, node)
        decisions.append((remaining, node, column))
        node, executed = graph.edges[node][column]
        value -= action * executed + look
        remaining -= 1
    if graph.goal[node]:
        return value + 1.0, True, decisions
    return value - remaining * (action * graph.depths[0] + look), False, decisions


def every_way(graph, node, remaining, action, look):
    """``play`` of every sequence of columns."""
    for columns in itertools.product(range(len(graph.depths)), repeat=remaining):
        yield play(graph, node, remaining, lambda now, _node, columns=columns: columns[remaining - now], action, look)


def best(graph, node, remaining, action, look, defect=False):
    """The largest value of any sequence. Defect: one more look."""
    return max(value for value, _, _ in every_way(graph, node, remaining + defect, action, look))


def hope(graph, node, remaining):
    return any(solved for _, solved, _ in every_way(graph, node, remaining, 0.0, 0.0))


def q_values(graph, node, remaining, column, action, look):
    landing, executed = graph.edges[node][column]
    return best(graph, landing, remaining - 1, action, look) - action * executed - look


def regret(graph, node, remaining, rule, action, look, defect=False):
    """Defect: what follows is valued under the rule, not under the best depths."""
    column = rule(remaining, node)
    if defect:
        landing, executed = graph.edges[node][column]
        onward = play(graph, landing, remaining - 1, rule, action, look)[0] - action * executed - look
    else:
        onward = q_values(graph, node, remaining, column, action, look)
    return best(graph, node, remaining, action, look) - onward


def causes(graph, start, remaining, rule, action, look, defect=False):
    """[(left, node, regret, cause)] of one episode. Defect: only the state itself is a round, not those before it."""
    result, been = [], []
    for now, node, column in play(graph, start, remaining, rule, action, look)[2]:
        been = [node] if defect else [*been, node]
        loss = regret(graph, node, now, rule, action, look)
        result.append((now, node, loss, cause(graph, node, now, column, been, action, look)))
    return result


def cause(graph, node, remaining, column, been, action, look):
    each = [q_values(graph, node, remaining, c, action, look) for c in range(len(graph.depths))]
    maximisers = [graph.depths[c] for c, value in enumerate(each) if value >= max(each) - 1e-12]
    depth, landing = graph.depths[column], graph.edges[node][column][0]
    if depth in maximisers:
        return None
    if not hope(graph, node, remaining):
        return "last observation"
    if graph.distance[node] >= 0 > graph.distance[landing]:
        return "lost level"
    if landing in been:
        return "loop"
    nearest = min(maximisers, key=lambda h: (abs(h - depth), h))
    return "too deep" if depth > nearest else "too shallow"


def optimal(distance, remaining, depths, action, look, farthest):
    """The value of a place on a line whose end 0 is the goal and whose other end is ``farthest``: every sequence of
    steps is tried. A place below zero has no way out."""
    if distance == 0:
        return 1.0
    if remaining == 0:
        return 0.0
    values = []
    for depth in depths:
        for landing, executed in walks(distance, depth, farthest):
            values.append(optimal(landing, remaining - 1, depths, action, look, farthest) - action * executed - look)
    return max(values)


def walks(distance, depth, farthest):
    """{(where, executed)} of all sequences of ``depth`` steps; a step against the end stays, and the goal ends it."""
    result = {(distance, 0)}
    for _ in range(depth):
        moved = set()
        for place, executed in result:
            steps = (
                [(place, executed)]
                if place == 0
                else [(place if place < 0 else min(max(place + step, 0), farthest), executed + 1) for step in (-1, 1)]
            )
            moved |= set(steps)
        result = moved
    return result


def drawn_episodes(graph, node, remaining, probs, weight=1.0):
    """(chance, [(left, node, column)], end, looks left) of every way that an episode can go."""
    if not remaining or ends(graph, node):
        yield weight, [], node, remaining
        return
    for column, share in enumerate(probs[node]):
        if share:
            landing = graph.edges[node][column][0]
            for total, steps, end, rest in drawn_episodes(graph, landing, remaining - 1, probs, weight * share):
                yield total, [(remaining, node, column), *steps], end, rest


def expected(graph, start, budget, probs, action, look, defect=""):
    """Solved, actions, looks, regret and regret by cause. Defects: "likeliest", nothing is drawn; "even", all ways
    count the same; "path", a round is whatever the episode has seen."""
    if defect == "likeliest":
        probs = [
            [float(column == max(range(len(row)), key=row.__getitem__)) for column in range(len(row))] for row in probs
        ]
    ways = list(drawn_episodes(graph, start, budget, probs))
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
            each = best(graph, node, remaining, action, look) - q_values(graph, node, remaining, column, action, look)
            why = cause(graph, node, remaining, column, been, action, look)
            lost += share * each
            if why:
                causes[why] = causes.get(why, 0.0) + share * each
    return solved, actions, looks, lost, causes
