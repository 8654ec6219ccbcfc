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
        ({"actions": [[0.5, 1.0]]}, "actions: expected shape [N, H, D], got [1, 2]"),
        ({"actions": np.zeros((2, 0), int)}, "actions: expected at least 1 action per plan, got 0"),
        ({"actions": np.full((2, 3, 4), np.nan)}, "actions: expected finite numbers, got nan at [0, 0, 0]"),
        ({"actions": np.ma.array(ACTIONS)}, "actions: expected an array without a mask, got MaskedArray"),
        ({"probabilities": HALF[:1]}, "probabilities: expected shape [2, 3] or [2, 3, A], got [1, 3]"),
        ({"probabilities": HALF * 3}, "probabilities: expected numbers in 0..1, got 1.5 at [0, 0]"),
        ({"probabilities": HALF * np.nan}, "in 0..1, got nan at [0, 0]"),
        ({"probabilities": np.full((2, 3, 4), 0.2)}, "sums of 1 over the last axis, got 0.8"),
        ({"probabilities": np.full((2, 3, 2), 0.5)}, "has 2 columns) in 0..1, got 2 at [0, 2]"),
        ({"samples": np.zeros((2, 3), int)}, "samples: expected shape [2, S, 3], got [2, 3]"),
        ({"samples": np.zeros((2, 0, 3), int)}, "samples: expected at least 1 per plan, got 0"),
        ({"samples": np.zeros((2, 5, 3))}, "samples: expected integers, got float64"),
        ({"previous": ACTIONS}, "previous: expected a Tail, as plans.tail(depths) makes one, got ndarray"),
        ({"previous": Tail(ACTIONS[:1], np.array([1]))}, "previous.actions: expected shape [2, T]"),
        ({"features": np.zeros((3, 2))}, "features: expected shape [2, ...], got [3, 2]"),
        ({"entropies": HALF * np.inf}, "entropies: expected finite numbers, got inf at [0, 0]"),
        ({"events": np.zeros((2, 3), int)}, "events: expected booleans, got int64"),
        ({"keys": np.zeros(2)}, "keys: expected integers, got float64"),
    ]
    refused([(lambda given=given: Plans(**{"actions": ACTIONS, **given}), words) for given, words in wrong])
    refused(
        [
            (lambda: Tail(ACTIONS, np.array([1, 4])), "remaining: expected counts in 0..3, got 4 at [1]"),
            (lambda: Plans(ACTIONS).tail(np.array([1, 4])), "depths: expected counts in 0..3, got 4 at [1]"),
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
        (Confidence(0.5, "least"), "Confidence(kind='least') needs Plans.probabilities [N, H]"),
        (Confidence(0.5, "entropy"), "Confidence(kind='entropy') needs Plans.entropies [N, H]"),
        (EntropyJump(), "EntropyJump needs Plans.entropies [N, H]"),
        (Disagreement(), "Disagreement needs Plans.samples, or probabilities [N, H], because"),
        (Agreement(0.5), "Agreement needs Plans.samples [N, S, H], because"),
        (Consecutive(), "Consecutive needs Plans.previous, "),
        (FirstEvent(), "FirstEvent needs Plans.events [N, H]"),
        (WithMemory(Fixed(2)), "WithMemory needs Plans.keys [N, ...], "),
        (Fixed(9), "depth: expected 1..3, the actions of a plan, got 9"),
        (Repetition(depths=(4, 8)), "depths: expected one of 1..3, the actions of a plan, got (4, 8)"),
        (Own([1, 0]), "propose: expected depths in 1..3, got 0 at [1]"),
        (Own([4, 1]), "propose: expected depths in 1..3, got 4 at [0]"),
        (Own([1]), "propose: expected shape [2], got [1]"),
        (Own([1.0, 2.0]), "propose: expected integers, got float64"),
    ]
    refused([(lambda rule=rule: rule.choose(PLAIN), words) for rule, words in lacks])
    assert Own([3, 1], depths=(1, 2)).choose(PLAIN).tolist() == [2, 1]
    one_probability = Plans(np.zeros((2, 3), int), HALF)
    certain = Plans(np.zeros((3, 4), int), np.ones((3, 4)))
    reversals = FirstEvent((1, 0))
    refused(
        [
            (lambda: Fixed(0), "depth: expected at least 1, got 0"),
            (lambda: Fixed(1, depths=(2, 1)), "depths: expected at least one, ascending, got (2, 1)"),
            (lambda: Confidence(float("nan")), "threshold: expected a number, got nan"),
            (lambda: Confidence(0.5, "most"), "kind: expected product, least or entropy, got most"),
            (lambda: EntropyJump(0), "least: expected at least 1, got 0"),
            (lambda: Agreement(0.5, -1.0), "tolerance: expected a number of at least 0, got -1.0"),
            (lambda: reversals.choose(Plans(np.array([[0, 2]]))), "(2 have an opposite) in 0..1, got 2 at [0, 1]"),
            (lambda: reversals.choose(Plans(np.zeros((1, 2, 3)))), "FirstEvent: `opposite` needs Plans.actions to be"),
            (
                lambda: EntropyJump().choose(one_probability),
                "the probability of one action does not say how",
            ),
            (lambda: Confidence(0.5).thresholds(cases.many("numbered", 0), 5), "with a finite score, got 0 with none"),
            (lambda: Disagreement(1.1).thresholds(certain, 5), "got 3 with none"),
            (lambda: Confidence(0.5).thresholds(certain, 0), "count: expected at least 1, got 0"),
        ]
    )


def test_memories_and_queues():
    rule, keyed = WithMemory(Fixed(2)), lambda n: Plans(np.zeros((n, 3), int), keys=np.arange(n))
    rule.choose(keyed(2))
    queue, full = Queue(Fixed(2), 2), Queue(Fixed(2), 2)
    full.fill(PLAIN)
    dropped = Queue(Fixed(2), 2)
    dropped.fill(PLAIN)
    dropped.drop()
    refused(
        [
            (lambda: rule.choose(keyed(1)), "episodes: expected their numbers, since there were 2 plans, got 1"),
            (lambda: rule.choose(keyed(1), np.array([0, 1])), "episodes: expected shape [1], got [2]"),
            (lambda: queue.fill(keyed(3)), "plans: expected 2, one per environment without actions, got 3"),
            (queue.pop, "rows: expected environments with actions in their queues, got 0 with none"),
            (lambda: queue.pop([2]), "rows: expected environments in 0..1, got 2"),
            (lambda: queue.pop([1, 1]), "rows: expected each environment once, got [1, 1]"),
            (lambda: queue.plans, "keep: expected a queue with keep=True"),
            (lambda: full.fill(PLAIN), "rows: expected empty queues, got 2 actions in that of 0"),
            (
                lambda: dropped.fill(Plans(np.zeros((2, 5), int))),
                "plans.actions: expected (3,) of each plan, as at first, got (5,)",
            ),
        ]
    )
