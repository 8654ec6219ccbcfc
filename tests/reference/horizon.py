"""The rules of commitment in plain Python, one plan at a time, from their formulas: lists, loops, places from 1.

A plan is a namespace of lists, as ``rows`` makes them. Each twin takes the rule for its numbers, and each has a planted
defect: the mistake that is easiest to make there.
"""

from __future__ import annotations

import math
from types import SimpleNamespace


def rows(plans):
    """One namespace of plain lists and numbers per plan."""
    names = ("actions", "probabilities", "samples", "entropies", "events", "keys")
    arrays = {name: getattr(plans, name) for name in names}
    result = []
    for i in range(len(plans)):
        row = SimpleNamespace(**{name: None if a is None else a[i].tolist() for name, a in arrays.items()})
        row.tail = None
        if plans.previous is not None:
            row.tail = plans.previous.actions[i].tolist()[: int(plans.previous.remaining[i])]
        result.append(row)
    return result


def rounded(depth, allowed, horizon):
    """The largest allowed depth that is not above, or the least."""
    allowed = [h for h in allowed or range(1, horizon + 1) if h <= horizon]
    below = [h for h in allowed if h <= depth]
    return below[-1] if below else allowed[0]


def same(one, other, tolerance):
    if isinstance(one, list):
        return all(abs(x - y) <= tolerance for x, y in zip(one, other, strict=True))
    return one == other


def own_probabilities(row):
    if isinstance(row.probabilities[0], list):
        return [chances[a] for chances, a in zip(row.probabilities, row.actions, strict=True)]
    return row.probabilities


def entropy(chances):
    total = 0.0
    for p in chances:
        if p > 0:
            total -= p * math.log(p)
    return total


def entropies(row):
    if row.entropies is not None:
        return row.entropies
    if row.probabilities is not None and isinstance(row.probabilities[0], list):
        return [entropy(chances) for chances in row.probabilities]
    by_place = list(zip(*row.samples, strict=True))
    if isinstance(row.actions[0], list):
        return [sum(normal(list(values)) for values in zip(*actions, strict=True)) for actions in by_place]
    return [entropy([actions.count(a) / len(actions) for a in set(actions)]) for actions in by_place]


def normal(values):
    """The entropy of the normal law with their variance."""
    mean = sum(values) / len(values)
    variance = sum((value - mean) ** 2 for value in values) / len(values)
    return 0.5 * math.log(2 * math.pi * math.e * max(variance, 1e-12))


def fixed(row, rule, defect=False):
    """Defect: the depth is a place from 0."""
    return min(rule.depth, len(row.actions)) - defect


def confidence_score(row, kind, h):
    if kind == "entropy":
        sums, total = [], 0.0
        for value in entropies(row)[:h]:
            total += value
            sums.append(total)
        return max(sums)
    first = own_probabilities(row)[:h]
    return min(first) if kind == "least" else math.prod(first)


def confidence(row, rule, defect=False):
    """Defect: a score that equals the threshold does not pass."""
    depth = 1
    for h in range(1, len(row.actions) + 1):
        score = confidence_score(row, rule.kind, h)
        over = rule.threshold - score if rule.kind == "entropy" else score - rule.threshold
        if over > 0 or (over == 0 and not defect):
            depth = h
    return depth


def entropy_jump(row, rule, defect=False):
    """Defect: the action after the rise belongs to the commitment."""
    values, horizon = entropies(row), len(row.actions)
    mean = [sum(values[:h]) / h for h in range(1, horizon + 1)]
    rises = {h: mean[h] - mean[h - 1] for h in range(1, horizon) if h >= rule.least}
    largest = max(rises.values(), default=0.0)
    if largest <= 1e-12:
        return horizon
    return min(h for h, rise in rises.items() if rise >= largest - 1e-12) + defect


def disagreements(row):
    if row.samples is None:
        return [1 - p for p in own_probabilities(row)]
    result = []
    for i, action in enumerate(row.actions):
        others = [sample[i] for sample in row.samples]
        if isinstance(action, list):
            apart = [sum(abs(x - y) for x, y in zip(other, action, strict=True)) for other in others]
        else:
            apart = [float(other != action) for other in others]
        result.append(sum(apart) / len(apart))
    return result


def disagreement(row, rule, defect=False):
    """Defect: what equals the limit is below it."""
    values = disagreements(row)
    least = min(rule.least, len(values))
    mean = sum(values[:least]) / least
    depth = least
    for value in values[least:]:
        if not (value < rule.threshold * mean or (defect and value == rule.threshold * mean)):
            break
        depth += 1
    return depth


def agreement(row, rule, defect=False):
    """Defect: places are counted one by one, not prefixes."""
    depth = 1
    for h in range(1, len(row.actions) + 1):
        begin = h - 1 if defect else 0
        alike = [
            all(
                same(one, other, rule.tolerance)
                for one, other in zip(sample[begin:h], row.actions[begin:h], strict=True)
            )
            for sample in row.samples
        ]
        if sum(alike) / len(alike) >= rule.threshold:
            depth = h
    return depth


def consecutive(row, rule, defect=False):
    """Defect: the rest of the last plan is as long as the plan."""
    if not row.tail:
        return min(rule.first, len(row.actions))
    common = 0
    while common < min(len(row.tail), len(row.actions)) and same(row.actions[common], row.tail[common], rule.tolerance):
        common += 1
    return min(common + (not defect), len(row.actions)) or 1


def repetition(row, rule, defect=False):
    """Defect: equal actions count wherever they are."""
    equal = [same(action, row.actions[0], rule.tolerance) for action in row.actions]
    return sum(equal) if defect or False not in equal else equal.index(False)


def low_speed(row, rule, defect=False):
    """Defect: the slow step is taken too."""
    steps = [
        max(abs(float(b) - float(a)) for a, b in zip(one, other, strict=True))
        for one, other in zip(row.actions, row.actions[1:], strict=False)
    ]
    for i in range(1, len(steps) - 1):
        lowest = steps[i] <= min(steps[i - 1], steps[i + 1])
        if lowest and steps[i] / max(*steps, 1e-300) < rule.threshold:
            return i + 1 + defect
    return len(row.actions)


def first_event(row, rule, defect=False):
    """Defect: the event does not belong to the commitment."""
    events = list(row.events or [False] * len(row.actions))
    if rule.opposite is not None:
        for i in range(1, len(row.actions)):
            events[i] = events[i] or rule.opposite[row.actions[i - 1]] == row.actions[i]
    if True not in events:
        return len(row.actions)
    quiet = events.index(True)
    return max(quiet + (not defect), 1)


def order(chosen, allowed):
    """The chosen one, shallower ones from the deepest, deeper ones from the shallowest."""
    return [chosen, *sorted((h for h in allowed if h < chosen), reverse=True), *(h for h in allowed if h > chosen)]


def with_memory(visits, key, depths, defect=False):
    """The depth of the next visit to ``key`` (an episode and an observation) by the order ``depths``; ``visits`` is
    changed.
    Defect: who returns to any place counts as returning to this one."""
    before = sum(visits.values()) if defect else visits.get(key, 0)
    visits[key] = visits.get(key, 0) + 1
    return depths[before % len(depths)]


def thresholds(scores, count):
    """Of ``scores``, those below or at which 0, 1 / (count - 1), ..., 1 of them lie."""
    scores = sorted(scores)
    levels = [i / (count - 1) for i in range(count)] if count > 1 else [0.5]
    return [next(s for i, s in enumerate(scores) if i + 1 >= level * len(scores) - 1e-9) for level in levels]
