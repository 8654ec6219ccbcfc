"""What plans, rules, memories and queues refuse: each message names the argument and both values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tests.refusals import refused
from tests.unit.horizon import cases

from recommit.horizon import (
    Agreement,
    Confidence,
    Consecutive,
    Disagreement,
    EntropyJump,
    FirstEvent,
    Fixed,
    Plans,
    Queue,
    Repetition,
    Rule,
    Tail,
    WithMemory,
)
from recommit.horizon.plans import joined

ACTIONS, HALF = np.array([[0, 1, 2], [3, 2, 1]]), np.full((2, 3), 0.5)
PLAIN = Plans(np.zeros((2, 3), int))


def test_plans():
    wrong = [
        ({"actions": [["up"]]}, "actions: expected integers or floats, got <U2"),
        ({"actions": np.zeros((2, 0), int)}, "actions: expected at least 1 action per plan, got 0"),
        ({"probabilities": HALF[:1]}, "probabilities: expected shape [2, 3] or [2, 3, A], got [1, 3]"),
        ({"probabilities": HALF * 3}, "probabilities: expected numbers in 0..1, got 1.5 at [0, 0]"),
        ({"probabilities": np.full((2, 3, 4), 0.2)}, "sums of 1 over the last axis, got 0.8"),
        ({"probabilities": np.full((2, 3, 2), 0.5)}, "has 2 columns) in 0..1, got 2 at [0, 2]"),
        ({"samples": np.zeros((2, 3), int)}, "samples: expected shape [2, S, 3], got [2, 3]"),
        ({"previous": ACTIONS}, "previous: expected a Tail, as plans.tail(depths) makes one, got ndarray"),
        ({"events": np.zeros((2, 3), int)}, "events: expected booleans, got int64"),
    ]
    refused([(lambda given=given: Plans(**{"actions": ACTIONS, **given}), words) for given, words in wrong])
    refused(
        [
            (lambda: Tail(ACTIONS, np.array([1, 4])), "remaining: expected counts in 0..3, got 4 at [1]"),
            (
                lambda: joined([Plans(ACTIONS, HALF), Plans(ACTIONS)]),
                "parts: expected probabilities in all 2 batches or in none, got 1",
            ),
        ]
    )


@dataclass(frozen=True)
class Own(Rule):
    """A rule whose proposal is wrong in some way."""

    proposal: object = None

    def propose(self, _plans):
        return self.proposal


def test_rules():
    lacks = [
        (Confidence(0.5), "Confidence(kind='product') needs Plans.probabilities [N, H] of the plan's actions, because"),
        (Confidence(0.5, "entropy"), "Confidence(kind='entropy') needs Plans.entropies [N, H]"),
        (Disagreement(), "Disagreement needs Plans.samples, or probabilities [N, H], because"),
        (Agreement(0.5), "Agreement needs Plans.samples [N, S, H], because"),
        (Consecutive(), "Consecutive needs Plans.previous, "),
        (WithMemory(Fixed(2)), "WithMemory needs Plans.keys [N, ...], "),
        (Fixed(9), "depth: expected 1..3, the actions of a plan, got 9"),
        (Repetition(depths=(4, 8)), "depths: expected one of 1..3, the actions of a plan, got (4, 8)"),
        (Own([1, 0]), "propose: expected depths in 1..3, got 0 at [1]"),
        (Own([1]), "propose: expected shape [2], got [1]"),
    ]
    refused([(lambda rule=rule: rule.choose(PLAIN), words) for rule, words in lacks])
    assert Own([3, 1], depths=(1, 2)).choose(PLAIN).tolist() == [2, 1]
    one_probability = Plans(np.zeros((2, 3), int), HALF)
    reversals = FirstEvent((1, 0))
    refused(
        [
            (lambda: Fixed(1, depths=(2, 1)), "depths: expected at least one, ascending, got (2, 1)"),
            (lambda: Confidence(0.5, "most"), "kind: expected product, least or entropy, got most"),
            (lambda: reversals.choose(Plans(np.array([[0, 2]]))), "(2 have an opposite) in 0..1, got 2 at [0, 1]"),
            (lambda: reversals.choose(Plans(np.zeros((1, 2, 3)))), "FirstEvent: `opposite` needs Plans.actions to be"),
            (
                lambda: EntropyJump().choose(one_probability),
                "the probability of one action does not say how",
            ),
            (lambda: Confidence(0.5).thresholds(cases.many("numbered", 0), 5), "with a finite score, got 0 with none"),
        ]
    )


def test_memories_and_queues():
    rule, keyed = WithMemory(Fixed(2)), lambda n: Plans(np.zeros((n, 3), int), keys=np.arange(n))
    rule.choose(keyed(2))
    queue, full = Queue(Fixed(2), 2), Queue(Fixed(2), 2)
    full.fill(PLAIN)
    through = Queue(Fixed(2), 2)
    through.fill(PLAIN)
    through.pop(), through.pop()
    refused(
        [
            (lambda: rule.choose(keyed(1)), "episodes: expected their numbers, since there were 2 plans, got 1"),
            (lambda: queue.fill(keyed(3)), "plans: expected 2, one per environment without actions, got 3"),
            (queue.pop, "rows: expected environments with actions in their queues, got 0 with none"),
            (lambda: queue.pop([1, 1]), "rows: expected each environment once, got [1, 1]"),
            (lambda: full.fill(PLAIN), "rows: expected empty queues, got 2 actions in that of 0"),
            (
                lambda: through.fill(Plans(np.zeros((2, 5), int))),
                "plans.actions: expected (3,) of each plan, as at first, got (5,)",
            ),
        ]
    )
