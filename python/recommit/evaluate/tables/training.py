"""What training does: depths that emerge, entropy, and other seeds and training budgets."""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, Any

from recommit.evaluate import metrics, reported
from recommit.evaluate.family import DEPTHS, EVERY, STAGES, best, depth_of, stage_of
from recommit.evaluate.tables.table import Content, Table
from recommit.evaluate.text import Grid, beside, hundred, less, number, of, percent
from recommit.storage import verified

if TYPE_CHECKING:
    from pathlib import Path

    from recommit.evaluate.family import FamilyResults

_FAMILY = "recommit train family --recipe RECIPE --init WARM_START"


def steps_of(run: Path) -> list[dict[str, Any]]:
    """The steps of a run, as it wrote them down."""
    lines = verified.lines(run, "metrics.jsonl") if (run / "metrics.jsonl").exists() else []
    return [line for line in lines if "loss" in line]


class Emergence(Table):
    """The adaptive run clamped to every depth in the course of its training, and which depths it took meanwhile."""

    name, title = "emergence", "Depths in the course of training"

    def agents(self) -> tuple[str, ...]:
        """Its last checkpoint of every third, at every depth."""
        return ("adaptive", *(agent for stage in STAGES for agent in self.members.at_stage(stage)))

    def missing(self) -> list[str]:
        """Thirds without a checkpoint."""
        without = [stage for stage in STAGES if self.members.stages[stage] is None]
        if not without:
            return []
        call = f"{_FAMILY} --variants adaptive --set run.keep=99 --out ANOTHER"
        return [f"No checkpoint of the {' and '.join(without)} third was kept: `{call}` keeps all."]

    def render(self, results: FamilyResults) -> Content:
        """A row per third: what each depth solves, and what was taken while training."""
        head = ("solved %", "step", *(f"h={d}" for d in EVERY), "paper h*", "ours", "diff")
        pairs = zip(STAGES, reported.EMERGENCE[results.task], strict=True)
        solved = Grid.of(head, [self._solved(results, stage, published) for stage, published in pairs])
        return Content((solved, self._course()))

    def _solved(self, results: FamilyResults, stage: str, published: int) -> list[str]:
        at = self.members.stages[stage]
        rows = results.of(self.members.at_stage(stage), "loose")
        top = best(rows, "test")
        cells = {depth_of(row): percent(row["solve_rate"]) for row in rows}
        deepest = beside(published, None if top is None else depth_of(top), 0)
        return [stage, "-" if at is None else str(at.step), *(cells.get(depth, "-") for depth in EVERY), *deepest]

    def _course(self) -> Grid:
        """Depths that were taken while training, at the end of every third of it."""
        steps = int(self.members.config["optim"]["steps"])
        last = {stage_of(line["step"], steps): line for line in steps_of(self.members.adaptive)}
        lines = []
        for stage in STAGES:
            line = last.get(stage, {})
            taken, deep = line.get("depths", {}), line.get("mean_depth", {})
            shares, means = (percent(taken.get(str(d))) for d in DEPTHS), (number(deep.get(b)) for b in metrics.BUCKETS)
            lines.append([stage, str(line.get("step", "-")), *shares, *means])
        head = ("taken while training, %", "step", *(f"h={d}" for d in DEPTHS), *(f"mean {b}" for b in metrics.BUCKETS))
        return Grid.of(head, lines)


class Entropy(Table):
    """Entropy of both heads while training, in nats; and how much the state decides of the depth."""

    name, title = "entropy", "Entropy"

    def agents(self) -> tuple[str, ...]:
        """Adaptive alone."""
        return ("adaptive",)

    def render(self, results: FamilyResults) -> Content:
        """A row per head, while training and as it is played."""
        published = {
            "entropy_depth": (None, reported.DEPTH_ENTROPY * log(4)),
            "entropy_actions": (reported.ACTION_ENTROPY[results.task], None),
        }
        steps = steps_of(self.members.adaptive)
        fields = ("entropy_depth", "entropy_actions", "mutual_information")
        lines = [_course_of(field, steps, *published.get(field, (None, None))) for field in fields]
        own = results.row("adaptive", "loose")
        for name, field in (("depth head, played", "depth_entropy"), ("depths of an episode", "trajectory_entropy")):
            lines.append([name, "-", "-", "-", "-", "-", *beside(None, of(own, field), 3)])
        head = "in nats (log 4 = 1.386) | first | last | paper lowest | ours | diff | paper mean | ours | diff"
        return Content((Grid.of(head, lines),))


def _course_of(field: str, steps: list[dict[str, Any]], low: float | None, typical: float | None) -> list[str]:
    """First, last, lowest and mean value of a field, the last two beside the paper's."""
    values = [line[field] for line in steps if field in line]
    lowest, mean = (min(values), sum(values) / len(values)) if values else (None, None)
    first, last = (f"{values[0]:.3f}", f"{values[-1]:.3f}") if values else ("-", "-")
    return [field, first, last, *beside(low, lowest, 3), *beside(typical, mean, 3)]


class Seeds(Table):
    """Adaptive and the best trained fixed depth, seed by seed beside the paper's of the same number, loose budget."""

    name, title = "seeds", "Seeds"

    def agents(self) -> tuple[str, ...]:
        """Adaptive and the trained fixed depths of every seed."""
        names = ["adaptive"]
        for seed in self.members.seeds:
            names += [*self.members.other("adaptive", "adaptive", seed), *self.members.trained(seed=seed)]
        return tuple(dict.fromkeys(names))

    def missing(self) -> list[str]:
        """Fixed depths of seeds that have none, and more seeds."""
        lines, seeds, call = [], self.members.seeds, f"{_FAMILY} --out FAMILY"
        if without := [seed for seed in seeds if not self.members.trained(seed=seed)]:
            flags = f"--seeds {' '.join(map(str, without))} --variants fixed-1 fixed-2 fixed-4 fixed-8"
            lines.append(
                f"No run at a fixed depth for seed {', '.join(map(str, without))}: `{call} {flags}` makes them."
            )
        if len(seeds) < 3:
            more = " ".join(str(seed) for seed in range(3) if seed not in seeds)
            lines.append(f"No more seeds: `{call} --seeds {more}` makes them.")
        return lines

    def render(self, results: FamilyResults) -> Content:
        """A row per seed, and the means."""
        published = reported.SEEDS[results.task]
        ours = {seed: self._solved(results, seed) for seed in self.members.seeds}
        nobody = (None, None)
        every = dict.fromkeys((*published, *ours))
        lines = [_pair(f"seed {seed}", published.get(seed, nobody), ours.get(seed, nobody)) for seed in every]
        means = [
            (_mean([p[0] for p in rows]), _mean([p[1] for p in rows])) for rows in (published.values(), ours.values())
        ]
        lines.append(_pair("mean", *means))
        head = "row | paper adaptive % | ours | diff | paper best fixed % | ours | diff | paper ahead | ours | diff"
        remark = "Seeds of one number share nothing but the number: the paper's samples are its own."
        return Content((Grid.of(head, lines),), (remark,) if published.keys() & ours.keys() else ())

    def _solved(self, results: FamilyResults, seed: int) -> tuple[float | None, float | None]:
        """Adaptive and the best fixed depth of one of our seeds, per cent."""
        own = results.first(self.members.other("adaptive", "adaptive", seed), "loose")
        return hundred(own), hundred(best(results.of(self.members.trained(seed=seed), "loose")))


def _pair(
    name: str, published: tuple[float | None, float | None], ours: tuple[float | None, float | None]
) -> list[str]:
    return [
        name,
        *beside(published[0], ours[0]),
        *beside(published[1], ours[1]),
        *beside(less(*published), less(*ours)),
    ]


def _mean(values: list[Any]) -> float | None:
    """None unless all are there."""
    return None if not values or None in values else sum(values) / len(values)


class TrainingBudgets(Table):
    """Adaptive and the best fixed depth of runs with other decisions per training episode; played at the loose
    budget."""

    name, title = "budgets", "Training budgets"

    def agents(self) -> tuple[str, ...]:
        """Adaptive and the trained fixed depths of every training budget."""
        names = ["adaptive"]
        for suffix in self.members.budgets.values():
            names += [*self.members.other("adaptive", f"adaptive{suffix}"), *self.members.trained(suffix)]
        return tuple(dict.fromkeys(names))

    def missing(self) -> list[str]:
        """The paper's training budgets that no run has."""
        budgets = reported.TRAINING_BUDGETS[self.members.task]
        without = [k for k in budgets if k not in self.members.budgets]
        if not without:
            return []
        call = f"{_FAMILY} --out FAMILY --seeds {self.members.seed} --variants adaptive fixed-1 fixed-2 fixed-4 fixed-8"
        flags = f"--budgets {' '.join(map(str, without))}"
        return [f"No run for K = {', '.join(map(str, without))}: `{call} {flags}` makes them."]

    def render(self, results: FamilyResults) -> Content:
        """A row per training budget."""
        head = ("K while training", "paper %", "ours %", "diff", "best fixed %", "paper h*", "ours", "diff")
        every = sorted({*reported.TRAINING_BUDGETS[results.task], *self.members.budgets})
        shares = (f"h={d} %" for d in DEPTHS)
        return Content((Grid.of((*head, *shares), [self._trained(results, k) for k in every]),))

    def _trained(self, results: FamilyResults, budget: int) -> list[str]:
        solved, depth = reported.TRAINING_BUDGETS[results.task].get(budget, (None, None))
        suffix = self.members.budgets.get(budget)
        own, top = None, None
        if suffix is not None:
            own = results.first(self.members.other("adaptive", f"adaptive{suffix}"), "loose")
            top = best(results.of(self.members.trained(suffix), "loose"))
        taken = of(own, "depth_shares") or {}
        shares = ("-" if own is None else percent(taken.get(str(d), 0.0)) for d in DEPTHS)
        deepest = beside(depth, None if top is None else depth_of(top), 0)
        return [str(budget), *beside(solved, hundred(own)), *beside(None, hundred(top))[1:2], *deepest, *shares]
