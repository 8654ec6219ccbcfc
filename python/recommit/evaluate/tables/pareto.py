"""What is possible: the oracle depth, the Pareto front, heads beside RL, and models that were not trained."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recommit.evaluate import metrics, reported, transcripts
from recommit.evaluate.agent_names import ORACLE, ZERO_SHOT, AgentName, readable
from recommit.evaluate.family import DEPTHS, EVERY, best, clamped
from recommit.evaluate.regret import plans_digest
from recommit.evaluate.tables.solving import fixed
from recommit.evaluate.tables.table import Content, Table
from recommit.evaluate.text import Grid, beside, hundred, number, of, percent, with_interval
from recommit.runs.directory import best_policy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recommit.evaluate.family import FamilyResults

#: Those that ignore the state, and choices of depth that know the distance.
CONTROLS, PRIVILEGED = ("random", "shuffled", "mixture"), (ORACLE, "oracle-delta", "oracle-rate")


class Oracle(Table):
    """The oracle depth for the adaptive run's plans, and how much of the gap to it is closed."""

    name, title = "oracle", "Oracle"

    def agents(self) -> tuple[str, ...]:
        """All fixed depths, and whoever knows the distance."""
        return (*fixed(self.members), *PRIVILEGED)

    def render(self, results: FamilyResults) -> Content:
        """A row per oracle, then how much of the gap is closed."""
        lines = []
        for name in PRIVILEGED:
            row = results.row(name, "loose")
            cell = reported.ORACLE[results.task] if name == ORACLE else reported.Reported()
            actions = of(row, "actions_per_episode")
            lines.append([name, *beside(cell.solved, hundred(row)), *beside(cell.actions, actions)])
        own, top = results.row("adaptive", "loose"), results.row(ORACLE, "loose")
        for kind, published in (("RL", reported.RECOVERED[results.task]), ("SFT", None)):
            share = recovered(own, results.best_fixed(kind, "loose"), top)
            cells = beside(published, share)
            cells[1] = "n/a" if share is None else cells[1]
            lines.append([f"gap to {kind} best fixed closed", *cells, "-", "-", "-"])
        head = "row | paper % | ours % | diff | paper actions | ours | diff"
        return Content((Grid.of(head, lines),), (_depths(of(top, "depth_shares") or {}),))


def _depths(shares: dict[str, float]) -> str:
    by_depth = ", ".join(f"h={d} {percent(shares.get(str(d), 0.0))}" for d in DEPTHS)
    return f"Decisions of {ORACLE}, % (the paper: every depth at least 11): {by_depth}."


def recovered(own: dict[str, Any] | None, base: dict[str, Any] | None, top: dict[str, Any] | None) -> float | None:
    """(adaptive - fixed) / (oracle - fixed) in per cent; None unless the oracle is higher."""
    if own is None or base is None or top is None or top["solve_rate"] <= base["solve_rate"]:
        return None
    return float(100 * (own["solve_rate"] - base["solve_rate"]) / (top["solve_rate"] - base["solve_rate"]))


class Pareto(Table):
    """Who is on the Pareto front, and which fixed depths cannot be dominated."""

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
        names = ", ".join(_base(point) for point in metrics.pareto_front(points))
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
        if set(self._models().values()) == reported.ZERO_SHOT.keys():
            return []
        call = "recommit zero-shot --model MODEL --data DATA --instances N --out FAMILY/zero-shot-NAME"
        return [f"No run for those without a figure of ours: `{call}` makes one, as many instances as here."]

    def render(self, results: FamilyResults) -> Content:
        """A row per model."""
        rows = {r["model"]: r for r in results.of(tuple(self._models()), "loose")}
        lines = []
        for name in dict.fromkeys((*reported.ZERO_SHOT, *rows)):
            published = reported.ZERO_SHOT.get(name, {}).get(results.task, reported.Reported())
            lines.append(_model(name, published, rows.get(name)))
        own = reported.MAIN[results.task, "loose"]["adaptive"]
        lines.append(_model("adaptive", own, results.row("adaptive", "loose")))
        return Content((Grid.of("model | paper % | ours % | diff | paper actions | ours | diff", lines),))


def _model(name: str, published: reported.Reported, row: dict[str, Any] | None) -> list[str]:
    """The paper reports no actions where nothing is solved; neither do we."""
    actions = of(row, "actions_per_episode") if of(row, "solve_rate") else None
    return [name, *beside(published.solved, hundred(row)), *beside(published.actions, actions)]


class Heads(Table):
    """Heads that are conditioned on a world model, prices or budget, the run's own head, and other rules on the same
    plans; none is the paper's."""

    name, title = "heads", "Heads with a world model"

    def agents(self) -> Sequence[str]:
        """Every such head; fixed depths, thresholds and oracle of its plans."""
        heads = self.members.heads
        if not heads:
            return ()
        folder = None if self._of_adaptive() else heads["world-model"]
        others = (f"{name}@{folder}" if folder else name for name in ("confidence-entropy", ORACLE))
        return (*self._heads(), "adaptive", *others, *clamped(EVERY, folder))

    def _heads(self) -> tuple[str, ...]:
        return tuple(f"adaptive@{folder}" for folder in reversed(self.members.heads.values()))

    def _of_adaptive(self) -> bool:
        """Are their plans those of the adaptive run? Then fixed depths and oracle are there already."""
        one, other = (
            plans_digest(folder) for folder in (self.members.heads["world-model"], best_policy(self.members.adaptive))
        )
        return one == other

    def missing(self) -> list[str]:
        """How to train them."""
        if self.members.heads:
            return []
        return ["No run: `recommit train world-model RUN --out FAMILY/world-model-s0` trains one."]

    def render(self, results: FamilyResults) -> Content:
        """Per budget a row for each, of the fixed depths for the best on validation."""
        lines = [line for budget in results.budgets for line in self._under(results, budget)]
        head = "budget | depth by | solved % | actions | observations | gain share | 95 %"
        return Content((Grid.of(head, lines),) if lines else ())

    def _under(self, results: FamilyResults, budget: str) -> list[list[str]]:
        rows = results.of(self.agents(), budget)
        fixed_depth = best([row for row in rows if AgentName.parse(row["agent"]).depth])
        shown = [row for row in rows if row is fixed_depth or not AgentName.parse(row["agent"]).depth]
        return [
            [f"{budget}, K = {row['decisions']}", readable(AgentName.parse(row["agent"])), *_cells(row)]
            for row in shown
        ]


def _cells(row: dict[str, Any]) -> list[str]:
    spent = number(row["actions_per_episode"]), f"{row['decisions_per_episode']:.2f}"
    return [number(hundred(row)), *spent, *with_interval(row, "gain", 2)]
