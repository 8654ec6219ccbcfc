"""What adaptive depth does: where it is deep, what it wastes, which depths it takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recommit.evaluate import metrics, reported
from recommit.evaluate.family import DEPTHS
from recommit.evaluate.tables.solving import SAMPLED, fixed
from recommit.evaluate.tables.table import Content, Table
from recommit.evaluate.text import Grid, beside, hundred, number, of, percent

if TYPE_CHECKING:
    from recommit.evaluate.family import FamilyResults

#: The paper hatches buckets with fewer decisions than these.
FEW = 15


class StateDependence(Table):
    """Mean depth and failures near, mid and far on solved episodes, beside the shuffled control; and mean progress.
    Adaptive as it is played, then sampled."""

    name, title = "state", "Depth by distance"

    def agents(self) -> tuple[str, ...]:
        """Adaptive both ways, and the control."""
        return ("adaptive", SAMPLED, "shuffled")

    def render(self, results: FamilyResults) -> Content:
        """A row per bucket of distances."""
        lines = _by_distance(results, "adaptive", "") + _by_distance(results, SAMPLED, ", sampled")
        head = "distance | decisions | paper depth | ours | diff | shuffled | paper failing % | ours | diff | shuffled"
        head += " | mean progress | shuffled"
        own = results.row("adaptive", "loose")
        few = [b for b in metrics.BUCKETS if (of(own, "by_distance_solved", b, "count") or 0) < FEW]
        return Content((Grid.of(head, lines),), (f"Fewer than {FEW} decisions: {', '.join(few)}.",) if few else ())


def _by_distance(results: FamilyResults, agent: str, suffix: str) -> list[list[str]]:
    own, control = results.row(agent, "loose"), results.row("shuffled", "loose")
    lines = []
    for i, bucket in enumerate(metrics.BUCKETS):
        mine = of(own, "by_distance_solved", bucket)
        other = of(control, "by_distance_solved", bucket)
        failing = None if of(mine, "failure_rate") is None else hundred(mine, "failure_rate")
        lines.append(
            [
                bucket + suffix,
                number(of(mine, "count")).removesuffix(".0"),
                *beside(reported.DEPTH_BY_DISTANCE[results.task][i], of(mine, "mean_depth")),
                number(of(other, "mean_depth")),
                *beside(reported.FAILING[results.task][i], failing),
                percent(of(other, "failure_rate")),
                _progress_words(mine),
                _progress_words(other),
            ]
        )
    return lines


def _progress_words(bucket: dict[str, Any] | None) -> str:
    """By how much a decision lowers the distance, and its standard deviation."""
    mean, spread = of(bucket, "mean_progress"), of(bucket, "progress_sd")
    return "-" if mean is None else f"{mean:+.1f} ± {spread:.1f}"


class Efficiency(Table):
    """Wasted and backward decisions and progress per action, solved and unsolved, both budgets."""

    name, title = "efficiency", "Efficiency"

    def agents(self) -> tuple[str, ...]:
        """Adaptive and all fixed depths."""
        return fixed(self.members)

    def render(self, results: FamilyResults) -> Content:
        """A row per budget, figure and agent."""
        lines = [line for budget in ("tight", "loose") for line in _efficiency(results, budget)]
        head = "per episode | paper, solved | ours | diff | paper, unsolved | ours | diff"
        return Content((Grid.of(head, lines),))


def _efficiency(results: FamilyResults, budget: str) -> list[list[str]]:
    rows = {
        "adaptive": results.row("adaptive", budget),
        "RL best fixed": results.best_fixed("RL", budget),
        "SFT best fixed": results.best_fixed("SFT", budget),
    }
    fields = {"wasted": "wasted", "backward": "backward", "progress per action": "progress_per_action"}
    lines = []
    for name, field in fields.items():
        for i, (who, row) in enumerate(rows.items()):
            cells = [f"{budget}: {who}: {name}"]
            for ended in ("solved", "unsolved"):
                published = reported.EFFICIENCY.get((results.task, budget, ended), {}).get(name, (None, None, None))
                cells += beside(published[i], of(row, f"{field}_{ended}"), 2)
            lines.append(cells)
    return lines


class DepthShares(Table):
    """How often adaptive takes each depth on solved episodes, as it is played and sampled."""

    name, title = "depths", "Shares of the depths"

    def agents(self) -> tuple[str, ...]:
        """Adaptive both ways."""
        return ("adaptive", SAMPLED)

    def render(self, results: FamilyResults) -> Content:
        """A row per budget and depth."""
        lines = []
        for budget in ("tight", "loose"):
            for depth in DEPTHS:
                published = reported.DEPTH_SHARES[results.task, budget].get(depth)
                ours = [_share(results.row(agent, budget), depth) for agent in ("adaptive", SAMPLED)]
                lines.append([f"{budget}: h={depth}", *beside(published, ours[0]), *beside(published, ours[1])[1:]])
        head = "decisions on solved episodes | paper % | ours % | diff | sampled % | diff"
        return Content((Grid.of(head, lines),))


def _share(row: dict[str, Any] | None, depth: int) -> float | None:
    taken = of(row, "depth_shares_solved")
    return None if taken is None else 100 * float(taken.get(str(depth), 0.0))
