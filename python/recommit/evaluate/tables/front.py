"""The paper's tables of what is possible: the ceiling of a choice of depths, the front, and models that were not
trained."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recommit.evaluate import metrics, transcripts
from recommit.evaluate import reported as paper
from recommit.evaluate.agent_names import ZERO_SHOT, AgentName
from recommit.evaluate.family import DEPTHS, EVERY, clamped
from recommit.evaluate.tables.solving import fixed
from recommit.evaluate.tables.table import Content, Table
from recommit.evaluate.text import Grid, beside, hundred, of, percent

if TYPE_CHECKING:
    from recommit.evaluate.family import FamilyResults

#: Those that ignore the state, and those that know the distance.
CONTROLS, KNOWING = ("random", "shuffled", "mixture"), ("oracle-dp", "oracle-delta", "oracle-rate")


class Oracle(Table):
    """The ceiling of the adaptive run's action head, and how much of the way to it is gone."""

    name, title = "oracle", "Oracle"

    def agents(self) -> tuple[str, ...]:
        """All fixed depths, and whoever knows the distance."""
        return (*fixed(self.members), *KNOWING)

    def render(self, results: FamilyResults) -> Content:
        """A row per oracle, then how much of the gap is closed."""
        lines = []
        for name in KNOWING:
            row = results.row(name, "loose")
            cell = paper.ORACLE[results.task] if name == "oracle-dp" else paper.Printed()
            actions = of(row, "actions_per_episode")
            lines.append([name, *beside(cell.solved, hundred(row)), *beside(cell.actions, actions)])
        own, top = results.row("adaptive", "loose"), results.row("oracle-dp", "loose")
        for kind, printed in (("RL", paper.RECOVERED[results.task]), ("SFT", None)):
            share = recovered(own, results.best_fixed(kind, "loose"), top)
            cells = beside(printed, share)
            cells[1] = "n/a" if share is None else cells[1]
            lines.append([f"gap to {kind} best fixed closed", *cells, "-", "-", "-"])
        head = ("row", "paper %", "ours %", "diff", "paper actions", "ours", "diff")
        return Content((Grid.of(head, lines),), (_depths(of(top, "depth_shares") or {}),))


def _depths(shares: dict[str, float]) -> str:
    by_depth = ", ".join(f"h={d} {percent(shares.get(str(d), 0.0))}" for d in DEPTHS)
    return f"Decisions of oracle-dp, % (the paper: every depth at least 11): {by_depth}."


def recovered(own: dict[str, Any] | None, base: dict[str, Any] | None, top: dict[str, Any] | None) -> float | None:
    """(adaptive - fixed) / (ceiling - fixed) in per cent; None unless the ceiling is higher."""
    if own is None or base is None or top is None or top["solve_rate"] <= base["solve_rate"]:
        return None
    return float(100 * (own["solve_rate"] - base["solve_rate"]) / (top["solve_rate"] - base["solve_rate"]))


class Front(Table):
    """Who is on the front, and what arithmetic forbids."""

    name, title = "pareto", "Pareto"

    def agents(self) -> tuple[str, ...]:
        """Everybody who may be on it, and the solver."""
        own = ("sampled", "adaptive-memory", *CONTROLS, *clamped(EVERY, None), "solver")
        return (*fixed(self.members), *own)

    def render(self, results: FamilyResults) -> Content:
        """A remark per budget."""
        return Content((), tuple(line for budget in ("tight", "loose") for line in self._under(results, budget)))

    def _under(self, results: FamilyResults, budget: str) -> list[str]:
        # Not other seeds, checkpoints or models that other tables have brought along.
        rows = [r for r in results.of(self.agents(), budget) if r["agent"] != "solver"]
        points = [metrics.ParetoPoint(r["agent"], r["solve_rate"], r["actions_per_episode"]) for r in rows]
        own = results.row("adaptive", budget)
        if own is None:
            return []
        never = metrics.undominated(own["decisions"], own["actions_per_episode"], EVERY)
        most = 8.0 * own["decisions"]
        whole, alone = (
            100 * metrics.hypervolume(each, most)
            for each in (points, [p for p in points if _base(p).startswith("fixed")])
        )
        names = ", ".join(_base(point) for point in metrics.front(points))
        spared = ", ".join(f"h={depth}" for depth in never) or "none"
        volumes = f"hypervolume to {most:.0f} actions {whole:.1f}, of fixed depths alone {alone:.1f}"
        return [f"{budget}: front {names}; {volumes}; never to be dominated: {spared}"]


def _base(point: metrics.ParetoPoint) -> str:
    return AgentName.parse(point.name).base


class ZeroShotModels(Table):
    """Models that were not trained, on the same instances, beside adaptive; loose budget."""

    name, title = "zero-shot", "Zero-shot models"

    def agents(self) -> tuple[str, ...]:
        """Adaptive, and every model that a run of the family asked."""
        return ("adaptive", *self._models())

    def _models(self) -> dict[str, str]:
        """Agents, and the model behind each."""
        return {f"{ZERO_SHOT}@{folder}": transcripts.model(folder) for folder in self.members.zero_shot}

    def missing(self) -> list[str]:
        """Models of the paper that nobody has asked."""
        if set(self._models().values()) == paper.ZERO_SHOT.keys():
            return []
        call = "recommit zero-shot --model MODEL --data DATA --instances N --out FAMILY/zero-shot-NAME"
        return [f"No run for those without a figure of ours: `{call}` makes one, as many instances as here."]

    def render(self, results: FamilyResults) -> Content:
        """A row per model."""
        rows = {r["model"]: r for r in results.of(tuple(self._models()), "loose")}
        lines = []
        for name in dict.fromkeys((*paper.ZERO_SHOT, *rows)):
            printed = paper.ZERO_SHOT.get(name, {}).get(results.task, paper.Printed())
            lines.append(_model(name, printed, rows.get(name)))
        own = paper.MAIN[results.task, "loose"]["adaptive"]
        lines.append(_model("adaptive", own, results.row("adaptive", "loose")))
        return Content((Grid.of(("model", "paper %", "ours %", "diff", "paper actions", "ours", "diff"), lines),))


def _model(name: str, printed: paper.Printed, row: dict[str, Any] | None) -> list[str]:
    """The paper prints no actions where nothing is solved; neither do we."""
    actions = of(row, "actions_per_episode") if of(row, "solve_rate") else None
    return [name, *beside(printed.solved, hundred(row)), *beside(printed.actions, actions)]
