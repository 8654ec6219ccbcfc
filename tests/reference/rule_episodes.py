"""An episode under a rule in plain Python: one state, one plan, one look at a time."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from tests.reference import horizon as slow
from tests.reference.graphs import edge

from recommit.horizon import Confidence, Consecutive, Disagreement, EntropyJump, FirstEvent, Repetition

if TYPE_CHECKING:
    from collections.abc import Callable

TWINS = {
    Confidence: slow.confidence,
    Disagreement: slow.disagreement,
    EntropyJump: slow.entropy_jump,
    Repetition: slow.repetition,
    FirstEvent: slow.first_event,
    Consecutive: slow.consecutive,
}


def play(
    task: Any,
    start: Any,
    budget: int,
    rule: Any,
    plan_of: Callable[[Any], tuple[list[int], list[list[float]]]],
    *,
    memory: bool = False,
    defect: str = "",
) -> list[tuple[int, int, bool]]:
    """Depth, executed actions and success of each look. ``plan_of`` a state are its actions, and the probabilities of
    all actions at each place.

    Defects: "tail", the last plan is compared from its beginning; "memory", returning anywhere counts as returning
    here; "twin", that of the rule's own twin."""
    here, rest, visits, looks = start, [], {}, []
    for _ in range(budget):
        actions, probabilities = plan_of(here)
        row = SimpleNamespace(
            actions=actions, probabilities=probabilities, entropies=None, samples=None, events=None, tail=rest
        )
        proposed = TWINS[type(rule)](row, rule, defect == "twin")
        depth = slow.rounded(max(proposed, 1), rule.depths, len(actions))
        if memory:
            order = slow.order(depth, rule.depths or range(1, len(actions) + 1))
            depth = slow.with_memory(visits, here.tobytes(), order, defect == "memory")
        here, executed, solved = edge(task, here, actions, depth)
        looks.append((depth, executed, solved))
        if solved:
            break
        rest = actions if defect == "tail" else actions[depth:]
    return looks
