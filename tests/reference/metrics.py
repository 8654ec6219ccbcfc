"""Episode metrics in plain Python, one episode at a time, from the definitions of the method."""

from __future__ import annotations

import math


def episode(decisions, length, budget):
    """``decisions``: (depth, executed, before, after, solved) in order; what one episode of at most ``budget`` amounts
    to.
    """
    found = {"length": length, "solved": length == 0, "actions": 0, "decisions": 0, "end": length}
    found |= {"progress": 0, "wasted": 0, "backward": 0}
    for depth, executed, before, after, solved in decisions[:budget]:
        assert not found["solved"], "an episode ends at the goal"
        assert 0 <= executed <= depth
        gained = 0 if before < 0 or after < 0 else before - after
        found["decisions"] += 1
        found["actions"] += executed
        found["progress"] += gained
        found["wasted"] += gained == 0
        found["backward"] += gained < 0
        found["solved"] |= solved
        found["end"] = after
    return found


def spl(one):
    return one["length"] / max(one["actions"], one["length"]) if one["solved"] and one["length"] else 0.0


def wilson(successes, trials, z=1.959963984540054):
    """The roots of (p - share)^2 = z^2 p (1 - p) / n."""
    share = successes / trials
    a, b, c = 1 + z * z / trials, -2 * share - z * z / trials, share * share
    root = math.sqrt(b * b - 4 * a * c)
    return (-b - root) / (2 * a), (-b + root) / (2 * a)


def best(step, state, remaining, goal, depths, prices):
    """(value, solved, -actions, -decisions) of the best choice at ``prices`` (of an action, of a look), fractions: ties
    are exact."""
    if goal(state):
        return (1, 1, 0, 0)
    if remaining == 0:
        return (0, 0, 0, 0)
    options = []
    for depth in depths:
        after, executed, solved = step(state, depth)
        rest = (1, 1, 0, 0) if solved else best(step, after, remaining - 1, goal, depths, prices)
        value = rest[0] - executed * prices[0] - prices[1]
        options.append((value, rest[1], rest[2] - executed, rest[3] - 1))
    return max(options)


def sides(decisions, edges):
    """near, mid or far for each decision (distance, distance of its start), by one of the three ways to tell them."""
    known = [here for here, _ in decisions if here >= 0]

    def exceeded(here, start, part):
        if edges == "thirds":
            return here > start * part / 3
        if edges == "terciles":
            least = min((n for n in known if 3 * sum(m <= n for m in known) >= part * len(known)), default=0)
            return here > least
        return here > 8 * part

    return [
        "far" if here < 0 else ("near", "mid", "far")[sum(exceeded(here, start, part) for part in (1, 2))]
        for here, start in decisions
    ]


def constant(rows):
    """The fixed depth of most validation instances solved, the shallower of equals; ``rows`` by depth."""
    best = None
    for depth in sorted(rows):
        if best is None or rows[depth] > rows[best]:
            best = depth
    return best


def share(rule, fixed, ceiling):
    """From how many of the instances each solved, over seeds; None where nothing is to be taken."""
    way = sum(ceiling) - sum(fixed)
    return (sum(rule) - sum(fixed)) / way if way > 0 else None


def over_prices(outcomes, ceilings, action, ratios, *, defect=False):
    """Mean gain share over prices: ``outcomes`` by rule are (solved, actions, looks) of every start; the first rules
    are constants, the last is judged. ``ceilings`` by ratio are values by start. Defect: prices are weighted by
    themselves, as in a mean over prices that are not in logarithms."""
    *constants, own = outcomes
    shares = []
    for ratio, ceiling in zip(ratios, ceilings, strict=True):
        worth = [[s - action * a - action * ratio * n for s, a, n in each] for each in (*constants, own)]
        *fixed, rule = worth
        most = max(fixed, key=sum)
        way = sum(ceiling) - sum(most)
        if way > 1e-9 * len(rule):
            shares.append(((sum(rule) - sum(most)) / way, ratio if defect else 1.0))
    return sum(share * weight for share, weight in shares) / sum(weight for _, weight in shares)
