"""What every rule is worth on every source of plans, seeds taken together, and how far from our head."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit.reproduce.compare.played import FIXED, HEAD, MEMORY, OWN, RuleChoice
from recommit.reproduce.compare.sources import OURS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from recommit.graph.prices import Setting
    from recommit.reproduce.compare.redraws import Redraws
    from recommit.stats import Interval

    Floats = NDArray[np.float64]
    Ends = tuple[float, float, float]


@dataclass(frozen=True, eq=False)
class PlayedSource:
    """All rules on the plans of one run, on one set of instances; choices stand in the same order for every run."""

    source: str
    seed: int
    choices: tuple[RuleChoice, ...]
    columns: tuple[Floats, ...]  #: [3, starts] solved, actions and looks of each choice
    ceilings: dict[Setting, Floats]

    def of(self, rule: str, chosen: str, setting: Setting) -> Floats:
        """[3, starts] of one rule."""
        wanted = (rule, chosen, setting)
        place = next(i for i, each in enumerate(self.choices) if (each.rule, each.chosen, each.setting) == wanted)
        return self.columns[place]


@dataclass(frozen=True)
class ComparedRule:
    """A rule on a source of plans under one setting: means over seeds and instances. Differences to our head, of the
    same seeds and with a memory if the rule has one, are (mean, low, high)."""

    source: str
    rule: str
    chosen: str
    budget: int
    price_action: float
    price_observation: float
    seeds: tuple[int, ...]
    #: By seed; None for a rule without.
    parameters: tuple[float, ...] | None
    validation: float
    solved: float
    actions: float
    looks: float
    value: float
    by_seed: tuple[float, ...]  #: values
    ahead: Ends  #: in value; below zero, the head is ahead
    ahead_solved: Ends
    ahead_actions: Ends
    #: Of the way from the best constant of these plans to their ceiling; None where there is none.
    gain: Ends | None
    ceiling: float

    @property
    def memory(self) -> bool:
        """Has it one?"""
        return self.rule.endswith(MEMORY)

    @property
    def trained(self) -> bool:
        """Is it a policy's own head?"""
        return self.rule.removesuffix(MEMORY) == HEAD

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def rows(played: Sequence[PlayedSource], redraws: Redraws) -> list[ComparedRule]:
    """The whole table of a set of instances."""
    ours = {each.seed: each for each in played if each.source == OURS}
    by_source: dict[str, list[PlayedSource]] = {}
    for each in played:
        if each.seed in ours:
            by_source.setdefault(each.source, []).append(each)
    return [
        row
        for runs in by_source.values()
        for setting in runs[0].ceilings
        for row in _rows(runs, [ours[run.seed] for run in runs], setting, redraws)
    ]


def _rows(runs: list[PlayedSource], ours: list[PlayedSource], setting: Setting, redraws: Redraws) -> list[ComparedRule]:
    places = [i for i, choice in enumerate(runs[0].choices) if choice.setting == setting]
    own = np.stack([np.mean([run.columns[i] for run in runs], axis=0) for i in places])
    head = {end: np.mean([run.of(HEAD + end, "", setting) for run in ours], axis=0) for end in ("", MEMORY)}
    apart = own - np.stack([head[MEMORY if runs[0].choices[i].memory else ""] for i in places])
    value = setting.prices.returns(*own.transpose(1, 0, 2))
    constant = setting.prices.returns(*np.mean([run.of(FIXED, OWN, setting) for run in runs], axis=0))
    ceiling = np.mean([run.ceilings[setting] for run in runs], axis=0)
    gains = redraws.shares(value - constant, np.broadcast_to(ceiling - constant, value.shape))
    ahead = redraws.means(setting.prices.returns(*apart.transpose(1, 0, 2)))
    solved, actions = (redraws.means(apart[:, column]) for column in (0, 1))
    result = []
    for k, i in enumerate(places):
        choice, means = runs[0].choices[i], own[k].mean(axis=1).tolist()
        numbers = [run.choices[i].parameter for run in runs]
        result.append(
            ComparedRule(
                source=runs[0].source,
                rule=choice.rule,
                chosen=choice.chosen,
                budget=setting.budget,
                price_action=setting.prices.action,
                price_observation=setting.prices.observation,
                seeds=tuple(run.seed for run in runs),
                parameters=tuple(each for each in numbers if each is not None) or None,
                validation=float(np.mean([run.choices[i].validation for run in runs])),
                solved=means[0],
                actions=means[1],
                looks=means[2],
                value=float(value[k].mean()),
                by_seed=tuple(float(setting.prices.returns(*run.columns[i]).mean()) for run in runs),
                ahead=_ends(ahead[k]),
                ahead_solved=_ends(solved[k]),
                ahead_actions=_ends(actions[k]),
                gain=_ends(gains[k]) if gains[k] is not None else None,
                ceiling=float(ceiling.mean()),
            )
        )
    return result


def _ends(interval: Interval | None) -> Ends:
    assert interval is not None
    return interval.mean, interval.low, interval.high
