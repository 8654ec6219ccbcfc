"""All rules by name, the same in sweeps, graphs, evaluations and pages; and custom rules.

fixed-1, fixed-2, ...    always this depth
head                     the likeliest depth of the policy's own head
RULES                    rules that read plans and were never trained; thresholds are chosen on validation
sampled, random          a depth sampled from the policy's own head, or uniformly from the depths of the head
NAME+memory              the same; in a state where the episode has been before, the next depth of the rule's order

With infinitely many samples, the share whose first actions are those of the plan is their probability: agreement then
equals confidence-product. Rules that sample are scored in expectation (``recommit.graph.regret.expected_regret``).

A custom rule is a Python file that defines ``rule``: a function of plans, or an object (a ``Rule``, a
``ThresholdRule``, whose threshold is chosen like that of others, or either in ``WithMemory``). It is a program, and is
run only with the caller's consent:

    # sure.py: as long as the likeliest action is likelier than 0.9
    def rule(plans):
        return 1 + (plans.probabilities.max(-1)[:, 1:] > 0.9).cumprod(1).sum(1)
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit.horizon.actions import Consecutive, FirstEvent, Fixed, LowSpeed, Repetition
from recommit.horizon.combining import BackwardCoherence, TemporalEnsemble
from recommit.horizon.confidence import Agreement, Confidence, Disagreement, EntropyJump
from recommit.horizon.plans import Plans
from recommit.horizon.rule import Rule, ThresholdRule, WithMemory
from recommit.storage.python_file import definition

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from recommit.horizon.rule import Depths


#: The action that takes back up, down, left, right.
OPPOSITE = (1, 0, 3, 2)
MEMORY = "+memory"
#: Rules that sample their depths; they have no memory.
STOCHASTIC = ("sampled", "random")
#: Name that the file of a custom rule has to define.
DEFINED = "rule"


@dataclass(frozen=True)
class NamedRule:
    """A rule with its name in tables; ``rule`` is None for the policy's own head and for depths that are sampled."""

    name: str
    rule: Rule | None
    memory: bool = False
    #: Readable label.
    words: str = ""

    @property
    def swept(self) -> bool:
        """True if it has a threshold to choose."""
        return isinstance(self.rule, ThresholdRule)

    @property
    def reads(self) -> tuple[str, ...]:
        """Inputs that the rule needs beyond the actions of a plan."""
        return () if self.rule is None else self.rule.reads

    @property
    def stochastic(self) -> bool:
        """True if it samples its depths."""
        return self.rule is None and self.name in STOCHASTIC

    def orders(self, plans: Plans) -> Depths:
        """[N, depths] depths at the first, second, ... visit to a state; one column without a memory."""
        assert self.rule is not None
        return self.rule.order(plans) if self.memory else self.rule.choose(plans)[:, None]

    def at(self, threshold: float | None) -> NamedRule:
        """The rule with this threshold; unchanged for None."""
        if threshold is None:
            return self
        assert isinstance(self.rule, ThresholdRule)
        return replace(self, rule=replace(self.rule, threshold=threshold))


#: Rules that read plans and were never trained. A threshold of 0.5 stands for one that has to be chosen.
RULES = {
    each.name: each
    for each in (
        NamedRule("confidence-product", Confidence(0.5), words="plan-probability threshold"),
        NamedRule("confidence-least", Confidence(0.5, kind="least"), words="least-probability threshold"),
        NamedRule("confidence-entropy", Confidence(0.5, kind="entropy"), words="cumulative-entropy threshold"),
        NamedRule("disagreement", Disagreement(), words="relative-doubt threshold"),
        NamedRule("agreement", Agreement(0.5), words="sample-agreement threshold"),
        NamedRule("consecutive", Consecutive(), words="agreement with the last plan"),
        NamedRule("repetition", Repetition(), words="while the first action repeats"),
        NamedRule("low-speed", LowSpeed(0.5), words="up to the first slow point"),
        NamedRule("entropy-jump", EntropyJump(), words="up to the largest rise of entropy"),
        NamedRule("first-event", FirstEvent(), words="up to the first event"),
        NamedRule("temporal-ensemble", TemporalEnsemble(), words="mean of all plans for a tick"),
        NamedRule("backward-coherence", BackwardCoherence(1), words="the sample nearest to the last plan"),
        NamedRule("reversal", FirstEvent(opposite=OPPOSITE), words="up to the first reversed action"),
    )
}
#: Rules that need more than a policy's greedy plans of a puzzle: samples of an observation, events, vectors.
MORE = ("agreement", "first-event", "low-speed", "temporal-ensemble", "backward-coherence")
#: Rules for every puzzle's plans, and those that a graph is scored with.
ON_PUZZLES = tuple(name for name in RULES if name not in MORE)
NAMES = ("fixed-1", "fixed-2", "fixed-4", "fixed-8", "head", *ON_PUZZLES)
#: Rules for chunks of any policy's actions.
ON_CHUNKS = tuple(name for name in RULES if name != "reversal")


def named(name: str, depths: tuple[int, ...] | None = None) -> NamedRule:
    """Look up a rule by its name, restricted to ``depths``."""
    base = name.removesuffix(MEMORY)
    memory = base != name
    if base == "head" or name in STOCHASTIC:
        return NamedRule(name, None, memory)
    if match := re.fullmatch(r"fixed-([1-9]\d{0,2})", base):
        return NamedRule(name, Fixed(int(match[1])), memory)
    if base not in RULES:
        plain = " or ".join(STOCHASTIC)
        raise ValueError(
            f"rules: expected fixed-1 .. fixed-8, head, {', '.join(RULES)}, with or without {MEMORY}, or {plain} "
            f"without it, got {name}"
        )
    own = RULES[base]
    assert own.rule is not None
    return replace(own, name=name, rule=replace(own.rule, depths=depths), memory=memory)


@dataclass(frozen=True)
class FunctionRule(Rule):
    """A rule without a class: a function of plans."""

    function: Callable[[Plans], Any]

    def propose(self, plans: Plans) -> NDArray[np.integer]:
        """Depths that the function returns."""
        return np.asarray(self.function(plans))


def from_code(path: Path, *, trusted: bool) -> NamedRule:
    """Load ``rule`` from a Python file: a rule, one in ``WithMemory``, or a function of plans."""
    rule = definition("rule", path, DEFINED, trusted=trusted)
    name, memory = _free_name(path), isinstance(rule, WithMemory)
    rule = rule.rule if isinstance(rule, WithMemory) else rule
    if isinstance(rule, FunctionType):
        rule = FunctionRule(rule)
    if not isinstance(rule, Rule):
        got = f"the class {rule.__name__}, which was not called" if isinstance(rule, type) else type(rule).__name__
        raise ValueError(f"rule: expected {path} to define `{DEFINED}`, a recommit.horizon.Rule, got {got}")  # noqa: TRY004  (a wrong file)
    if isinstance(rule, ThresholdRule) and "previous" in rule.reads:
        raise ValueError(f"rule: expected a rule of one number in {path} to read the present plan alone, got {rule}")
    return NamedRule(name + MEMORY if memory else name, rule, memory)


def with_memory(entry: NamedRule) -> list[NamedRule]:
    """The rule, and the rule with a memory beside it."""
    return [entry] if entry.memory else [entry, replace(entry, name=entry.name + MEMORY, memory=True)]


def _free_name(path: Path) -> str:
    """Name of a file without its suffix; raises if another rule has it."""
    try:
        named(path.stem)
    except ValueError:
        return path.stem
    raise ValueError(f"rule: expected a file whose name no rule here has, got {path.name}")
