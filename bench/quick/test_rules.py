"""Plans per second through rules of commitment, beside a copy of their probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from bench.answers import copied, group
from tests.reference import horizon as slow

from recommit import horizon
from recommit.horizon import Plans

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.conftest import Timed

pytestmark = group("rules")
COUNT, HORIZON, SAMPLES = 1 << 17, 8, 8
#: Plans that each answer is compared with the slow twins on.
CHECKED = 64
CHEAP = {
    "fixed": (horizon.Fixed(4), slow.fixed),
    "product": (horizon.Confidence(0.5), slow.confidence),
    "product of four depths": (horizon.Confidence(0.5, depths=(1, 2, 4, 8)), slow.confidence),
    "least": (horizon.Confidence(0.5, "least"), slow.confidence),
    "entropy": (horizon.Confidence(1.0, "entropy"), slow.confidence),
    "jump": (horizon.EntropyJump(), slow.entropy_jump),
    "event": (horizon.FirstEvent(), slow.first_event),
    "reversal": (horizon.FirstEvent((1, 0, 3, 2)), slow.first_event),
    "repetition": (horizon.Repetition(), slow.repetition),
}
#: Rules that read more than one plan.
OTHERS = {
    "disagreement": (horizon.Disagreement(1.1, 2), slow.disagreement),
    "agreement": (horizon.Agreement(0.75), slow.agreement),
    "consecutive": (horizon.Consecutive(), slow.consecutive),
}


@pytest.fixture(scope="module")
def plans() -> Plans:
    rng = np.random.default_rng(0)
    shape = (COUNT, HORIZON)
    actions = rng.integers(0, 4, shape).astype(np.uint8)
    others = rng.integers(0, 4, (COUNT, SAMPLES, HORIZON)).astype(np.uint8)
    samples = np.where(rng.random(others.shape) < 0.9, actions[:, None], others)
    chances = np.sqrt(rng.random(shape, np.float32))
    tail = horizon.Tail(samples[:, 0], rng.integers(0, HORIZON, COUNT))
    return Plans(
        actions, chances, samples, tail, entropies=rng.random(shape, np.float32), events=rng.random(shape) < 0.1
    )


def expected(plans: Any, rule: horizon.Rule, twin: Callable[..., Any]) -> list[int]:
    first = lambda name: getattr(plans, name)[:CHECKED]
    tail = horizon.Tail(plans.previous.actions[:CHECKED], plans.previous.remaining[:CHECKED])
    actions, probabilities, samples = map(first, ("actions", "probabilities", "samples"))
    part = Plans(actions, probabilities, samples, tail, entropies=first("entropies"), events=first("events"))
    return [slow.rounded(twin(row, rule), rule.depths, HORIZON) for row in slow.rows(part)]


def test_copy_of_probabilities(timed: Timed, plans: Plans) -> None:
    copied(timed, plans.probabilities)


def test_checks_of_plans(timed: Timed, plans: Plans) -> None:
    """What a batch costs before any rule reads it."""
    most = timed(lambda: Plans(plans.actions, plans.probabilities, entropies=plans.entropies).actions.max(), COUNT)
    assert most == plans.actions.max()


@pytest.mark.parametrize("name", [*CHEAP, *OTHERS])
def test_depths(timed: Timed, plans: Plans, name: str) -> None:
    rule, twin = {**CHEAP, **OTHERS}[name]
    depths = timed(lambda: rule.choose(plans), COUNT)
    assert depths[:CHECKED].tolist() == expected(plans, rule, twin)


def test_sweep_of_fifty_thresholds(timed: Timed, plans: Plans) -> None:
    rule = horizon.Confidence(0.5)
    thresholds = rule.thresholds(plans, 50)
    depths = timed(lambda: rule.sweep(plans, thresholds), 50 * COUNT)
    for row, threshold in zip(depths, thresholds, strict=True):
        assert np.array_equal(row, horizon.Confidence(threshold).choose(plans))


def test_depths_with_a_memory(timed: Timed, plans: Plans) -> None:
    """4,096 episodes of eight looks, each of which sees one of four things."""
    keys = np.random.default_rng(1).integers(0, 4, (8, 4096))
    looks = [Plans(plans.actions[:4096], keys=row) for row in keys]
    rule = horizon.WithMemory(horizon.Fixed(8, depths=(1, 2, 4, 8)))

    def play() -> np.ndarray:
        rule.reset()
        return np.stack([rule.choose(look) for look in looks], axis=1)

    depths = timed(play, keys.size)
    for episode in range(CHECKED):
        visits: dict[int, int] = {}
        order = slow.order(8, (1, 2, 4, 8))
        assert depths[episode].tolist() == [slow.with_memory(visits, key, order) for key in keys[:, episode].tolist()]
