"""Every rule on one policy's plans: parameters chosen on validation instances, episodes on the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recommit.graph import rules
from recommit.graph.episodes import play
from recommit.graph.judge import STEPS
from recommit.graph.values import optimal_values

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from recommit.graph.at_work import RuleBench
    from recommit.graph.episodes import Chooser
    from recommit.graph.judge import Judge
    from recommit.graph.prices import Setting

    Floats = NDArray[np.float64]

HEAD, FIXED, MEMORY = "head", "fixed", rules.MEMORY
#: The policy's own head, constants, and every rule without training; each also with a memory.
RULES = tuple(name + end for end in ("", MEMORY) for name in (HEAD, FIXED, *rules.SWEPT, *rules.PLAIN))
#: How the parameter of a rule was chosen on validation: it has none; under each budget; once for all budgets.
NONE, OWN, SHARED = "", "own", "shared"


@dataclass(frozen=True)
class RuleChoice:
    """A rule with the parameter that validation chose for it under one setting."""

    rule: str
    chosen: str
    setting: Setting
    parameter: float | None
    #: What it is worth on validation instances.
    validation: float

    @property
    def memory(self) -> bool:
        """Has it one?"""
        return self.rule.endswith(MEMORY)


def choices(validation: Judge, names: Sequence[str] = RULES) -> list[RuleChoice]:
    """Every rule under every setting; rules of one number twice. A constant is a rule of one number, its depth."""
    result = []
    for name in names:
        every = parameters(validation.bench, name)
        swept = validation.sweep_of(every, choosers(validation.bench, name, every))
        for i, setting in enumerate(validation.settings):
            alike = [each for each in validation.settings if each.prices == setting.prices]
            for chosen, scope in ((OWN, [setting]), (SHARED, alike)) if len(every) > 1 else ((NONE, [setting]),):
                best = swept.best(scope)
                value = float(swept.value[np.flatnonzero(every == best)[0], i])
                result.append(RuleChoice(name, chosen, setting, best if chosen else None, value))
    return result


def parameters(bench: RuleBench, name: str) -> Floats:
    """What a rule's number is chosen from; a single one for a rule without."""
    base = name.removesuffix(MEMORY)
    if base == FIXED:
        return np.arange(1.0, 9.0)
    if base in rules.SWEPT:
        return np.unique(rules.SWEPT[base].thresholds(bench.plans, STEPS))
    return np.zeros(1)


def choosers(bench: RuleBench, name: str, every: Floats) -> Iterable[Chooser]:
    """The rule at work with each of its parameters."""
    base = name.removesuffix(MEMORY)
    if base == FIXED:
        return (bench.chooser(rules.named(name.replace(FIXED, f"fixed-{int(depth)}"))) for depth in every)
    if base in rules.SWEPT:
        return bench.choosers(rules.named(name), every)
    return (bench.chooser(rules.named(name)),)


def episodes(judge: Judge, bench: RuleBench, chosen: Sequence[RuleChoice]) -> list[Floats]:
    """[3, starts] solved, actions and looks under each choice; the plans are read from ``bench``, whose nodes are those
    of the judge."""
    played: dict[tuple[str, float, int], Floats] = {}
    for name in dict.fromkeys(each.rule for each in chosen):
        own = [each for each in chosen if each.rule == name]
        every = np.unique([_number(each) for each in own])
        for parameter, choose in zip(every.tolist(), choosers(bench, name, every), strict=True):
            for budget in {each.setting.budget for each in own if _number(each) == parameter}:
                columns = play(judge.graph, judge.graph.starts, budget, choose).outcome()
                played[name, parameter, budget] = np.stack([column.astype(np.float64) for column in columns])
    return [played[each.rule, _number(each), each.setting.budget] for each in chosen]


def _number(choice: RuleChoice) -> float:
    return 0.0 if choice.parameter is None else choice.parameter


def ceilings(judge: Judge) -> dict[Setting, Floats]:
    """[starts] what the best depth in every state is worth under every setting, all prices at once."""
    prices = list(dict.fromkeys(each.prices for each in judge.settings))
    most = max(each.budget for each in judge.settings)
    values = optimal_values(judge.graph, most, prices)[:, judge.graph.starts]
    return {each: values[each.budget, :, prices.index(each.prices)] for each in judge.settings}
