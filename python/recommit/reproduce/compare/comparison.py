"""The comparison of a puzzle: graphs, every rule on every source of plans, rows with intervals, and the split."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from recommit.evaluate.evaluation import decisions_of
from recommit.graph.prices import Prices, Setting
from recommit.reproduce.compare import instances, played, sources, split, table
from recommit.reproduce.compare.redraws import Redraws

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from recommit.graph.graph import CommitmentGraph
    from recommit.graph.optimal_plans import FourValues
    from recommit.reproduce.compare.instances import GraphStarts, StartSet
    from recommit.reproduce.preset import PresetEntry

#: Prices of a look, in actions; 0 is without any price, of actions too.
LOOKS = (0.0, 0.5, 1.0, 2.0, 4.0)
#: At which of them harder instances are played, and what is missing is split.
HARDER_LOOKS = (0.0, 1.0)


def settings_of(entry: PresetEntry, looks: tuple[float, ...] = LOOKS) -> tuple[Setting, ...]:
    """Every budget at every price."""
    action, task = sources.action_price(entry), entry.data.task
    budgets = entry.values.get("evaluate", {}).get("budgets", ("loose", "tight"))
    return tuple(
        Setting(decisions_of(str(budget), task), Prices(action, look * action) if look else Prices())
        for budget in budgets
        for look in looks
    )


@dataclass(frozen=True)
class Comparison:
    """All of one puzzle; ``say`` is called with what is being done."""

    entry: PresetEntry
    folder: Path
    #: Whose runs are compared; all for none.
    seeds: tuple[int, ...]
    test: int
    validation: int
    harder: int
    device: str
    say: Callable[[str], None]
    #: Called with the states that were looked at, and all so far, while a graph is built.
    progress: Callable[[int, int], None] | None = None

    def run(self) -> dict[str, Any]:
        """Everything as plain values; runs that are not finished, or not of these seeds, are named and left out."""
        every = sources.every_source(self.entry)
        there = [each for each in sources.finished(self.entry, every) if not self.seeds or each.seed in self.seeds]
        if not any(each.name == sources.OURS for each in there):
            raise ValueError(f"runs: expected a finished {sources.OURS} run in {self.entry.family}, got none")
        starts = instances.of_entry(self.entry, self.test, self.validation, self.harder)
        sets = {each.name: each for one in starts for each in one.sets}
        runs = [self._source(source, starts, sets) for source in there]
        return {
            "puzzle": self.entry.name,
            "title": f"{self.entry.data.task} {sets[instances.TEST].label}",
            "missing": [each.label for each in every if each not in there],
            "price_action": sources.action_price(self.entry),
            "instances": {name: {"label": one.label, "starts": len(one.states)} for name, one in sets.items()},
            "settings": [_plain(each) for each in settings_of(self.entry)],
            "rows": {
                name: [row.to_dict() for row in table.rows([run.columns[name] for run in runs], Redraws(one.rooms))]
                for name, one in sets.items()
                if name != instances.VALIDATION
            },
            "split": [row.to_dict() for row in _split(runs, sets)],
        }

    def _source(self, source: sources.PlanSource, starts: list[GraphStarts], sets: dict[str, StartSet]) -> _PlayedRun:
        graphs = {}
        for size in starts:
            self.say(f"{self.entry.name}: graph of {source.label}{size.suffix}")
            graph = sources.graph_of(source, size, self.folder / self.entry.name / "graphs", self.device, self.progress)
            graphs.update(dict.fromkeys((each.name for each in size.sets), graph))
        self.say(f"{self.entry.name}: rules on plans of {source.label}")
        settings, few = settings_of(self.entry), settings_of(self.entry, HARDER_LOOKS)
        chosen = played.choices(_judge(graphs, sets[instances.VALIDATION], settings))
        run = _PlayedRun(source, {}, {})
        for name, one in sets.items():
            if name == instances.VALIDATION:
                continue
            own = chosen if name == instances.TEST else [each for each in chosen if each.setting in few]
            judge = _judge(graphs, one, settings if name == instances.TEST else few)
            columns = played.episodes(judge, judge.bench, own)
            ceilings = played.ceilings(judge)
            run.columns[name] = table.PlayedSource(source.name, source.seed, tuple(own), tuple(columns), ceilings)
            slice_batch = [each for each in own if each.setting in few and each.chosen != played.SHARED]
            run.values[name] = dict(
                zip(slice_batch, split.four_values(graphs[name], one, slice_batch, few), strict=True)
            )
        return run


@dataclass(frozen=True)
class _PlayedRun:
    """What was played on one run's plans, by set of instances."""

    source: sources.PlanSource
    columns: dict[str, table.PlayedSource]
    values: dict[str, dict[played.RuleChoice, FourValues]]


def _judge(graphs: dict[str, CommitmentGraph], starts: StartSet, settings: tuple[Setting, ...]) -> Any:
    return sources.judge_of(graphs[starts.name], starts, settings)


def _plain(setting: Setting) -> dict[str, Any]:
    prices = setting.prices
    return {"budget": setting.budget, "price_action": prices.action, "price_observation": prices.observation}


def _split(runs: list[_PlayedRun], sets: dict[str, StartSet]) -> list[split.SplitRule]:
    result = []
    for name, one in sets.items():
        redraws = Redraws(one.rooms[: one.both_plans])
        for source in sources.SOURCES:
            own = [run for run in runs if run.source.name == source and name in run.values]
            columns = zip(*(run.values[name].items() for run in own), strict=True)
            seeds = [run.source.seed for run in own]
            for column in columns:
                four = [values for _, values in column]
                result.append(split.row(name, source, column[0][0], seeds, four, redraws))
    return result
