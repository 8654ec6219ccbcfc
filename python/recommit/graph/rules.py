"""Rules by name, and a rule at work in a commitment graph.

fixed-1 .. fixed-8       always this depth
head                     the likeliest depth of the policy's own head
confidence-product       deep as the plan's probability is at least a threshold
confidence-least         ... as every action's probability is
confidence-entropy       ... as the entropies add up to no more than a threshold
disagreement             ... as no action is more doubtful than the first one times a threshold
entropy-jump             up to the largest rise of the mean entropy
repetition               as long as the plan repeats its first action
reversal                 up to the first action that takes back the one before it
consecutive              one action more than the plan has in common with the rest of the last one
agreement                deep as enough samples of the look begin like the plan; needs a graph with samples
sampled                  a depth drawn by the policy's own head at every look
random                   a depth drawn evenly from those of the head
NAME+memory              the same; in a state where the episode has been before, the next depth of the rule's order

Of infinitely many samples, the share whose first actions are those of the plan is their probability: agreement is then
confidence-product. Whoever asks rules on a graph without samples takes that.

Rules that draw are judged by expectation (``recommit.graph.regret.expect``): nothing is sampled.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from recommit.horizon import (
    Agreement,
    Confidence,
    Consecutive,
    Disagreement,
    EntropyJump,
    FirstEvent,
    Fixed,
    Plans,
    Repetition,
)
from recommit.horizon.rule import Rule, ThresholdRule

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Depths = NDArray[np.int32]
    Ints = NDArray[np.int64]

#: The action that takes back up, down, left, right.
OPPOSITE = (1, 0, 3, 2)
MEMORY = "+memory"
#: Rules that are one thing, and rules of one number, whose threshold somebody has to choose.
PLAIN: dict[str, Rule] = {
    "entropy-jump": EntropyJump(),
    "repetition": Repetition(),
    "reversal": FirstEvent(opposite=OPPOSITE),
    "consecutive": Consecutive(),
}
SWEPT: dict[str, ThresholdRule] = {
    **{f"confidence-{kind}": Confidence(0.5, kind=kind) for kind in ("product", "least", "entropy")},
    "disagreement": Disagreement(),
}
#: Of one number too, and a reader of samples, which not every graph has.
SAMPLED: dict[str, ThresholdRule] = {"agreement": Agreement(0.5)}
#: Rules that draw their depths; they have no memory.
DRAWN = ("sampled", "random")
NAMES = ("fixed-1", "fixed-2", "fixed-4", "fixed-8", "head", *SWEPT, *PLAIN)


@dataclass(frozen=True)
class NamedRule:
    """A rule with the name it has in tables; without a rule it is the policy's own head, or draws."""

    name: str
    rule: Rule | None
    memory: bool = False

    @property
    def swept(self) -> bool:
        """Has it a threshold to choose?"""
        return isinstance(self.rule, ThresholdRule)

    @property
    def reads(self) -> tuple[str, ...]:
        """What of a plan, beyond what is always at hand."""
        return () if self.rule is None else self.rule.reads

    @property
    def reads_last_plan(self) -> bool:
        """Does what it says of a plan depend on the plan before?"""
        return "previous" in self.reads

    @property
    def draws(self) -> bool:
        """Does chance choose its depths?"""
        return self.rule is None and self.name in DRAWN

    @property
    def reads_samples(self) -> bool:
        """Does it need other plans of the same look?"""
        return "samples" in self.reads

    def orders(self, plans: Plans) -> Depths:
        """[N, depths] which depth it takes at the first visit, the second, ...; one column without a memory."""
        assert self.rule is not None
        return self.rule.order(plans) if self.memory else self.rule.choose(plans)[:, None]

    def at(self, threshold: float) -> NamedRule:
        """With this threshold."""
        assert isinstance(self.rule, ThresholdRule)
        return replace(self, rule=replace(self.rule, threshold=threshold))


def named(name: str, depths: tuple[int, ...] | None = None) -> NamedRule:
    """The rule of a name, restricted to ``depths``."""
    base = name.removesuffix(MEMORY)
    memory = base != name
    if base == "head" or name in DRAWN:
        return NamedRule(name, None, memory)
    if match := re.fullmatch(r"fixed-([1-8])", base):
        return NamedRule(name, Fixed(int(match[1])), memory)
    every: dict[str, Rule] = {**PLAIN, **SWEPT, **SAMPLED}
    if base not in every:
        names = ", ".join((*NAMES[4:], *SAMPLED))
        plain = " or ".join(DRAWN)
        raise ValueError(
            f"rules: expected fixed-1 .. fixed-8, {names}, with or without {MEMORY}, or {plain} without it, got {name}"
        )
    return NamedRule(name, replace(every[base], depths=depths), memory)
