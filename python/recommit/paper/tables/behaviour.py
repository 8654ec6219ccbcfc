"""What adaptive depth does: where it is deep, what it wastes, which depths it takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recommit.evaluate import metrics
from recommit.evaluate.text import beside, grid, hundred, notes, number, of, percent
from recommit.paper import printed as paper
from recommit.paper.family import DEPTHS
from recommit.paper.tables.results import DRAWN

if TYPE_CHECKING:
    from recommit.paper.family import FamilyResults

#: The paper hatches buckets with fewer decisions than these.
FEW = 15


def state_dependence(found: FamilyResults) -> str:
    """Mean depth and failures near, mid and far on solved episodes, beside the shuffled control; and mean progress. Adaptive
    as it is played, then drawn."""
    own = found.row("adaptive", "loose")
    lines = _by_distance(found, "adaptive", "") + _by_distance(found, DRAWN, ", drawn")
    head = ("distance", "decisions", "paper depth", "ours", "diff", "shuffled", "paper failing %", "ours", "diff",
            "shuffled", "mean progress", "shuffled")  # fmt: skip
    few = [b for b in metrics.BUCKETS if (of(own, "by_distance_solved", b, "count") or 0) < FEW]
    return grid(head, lines) + notes([f"Fewer than {FEW} decisions: {', '.join(few)}."] if few else [])


def _by_distance(found: FamilyResults, agent: str, suffix: str) -> list[list[str]]:
    own, control = found.row(agent, "loose"), found.row("shuffled", "loose")
    lines = []
    for i, bucket in enumerate(metrics.BUCKETS):
        mine = of(own, "by_distance_solved", bucket)
        other = of(control, "by_distance_solved", bucket)
        failing = None if of(mine, "failure_rate") is None else hundred(mine, "failure_rate")
        lines.append([bucket + suffix, number(of(mine, "count")).removesuffix(".0"),
                      *beside(paper.DEPTH_BY_DISTANCE[found.task][i], of(mine, "mean_depth")),
                      number(of(other, "mean_depth")), *beside(paper.FAILING[found.task][i], failing),
                      percent(of(other, "failure_rate")), _progress(mine), _progress(other)])  # fmt: skip
    return lines


def _progress(bucket: dict[str, Any] | None) -> str:
    """By how much a decision lowers the distance, and its standard deviation."""
    mean, spread = of(bucket, "mean_progress"), of(bucket, "progress_sd")
    return "-" if mean is None else f"{mean:+.1f} ± {spread:.1f}"


def efficiency(found: FamilyResults) -> str:
    """Wasted and backward decisions and progress per action, solved and unsolved, both budgets."""
    fields = {"wasted": "wasted", "backward": "backward", "progress per action": "progress_per_action"}
    lines = []
    for budget in ("tight", "loose"):
        rows = {
            "adaptive": found.row("adaptive", budget),
            "RL best fixed": found.best_fixed("RL", budget),
            "SFT best fixed": found.best_fixed("SFT", budget),
        }
        for name, field in fields.items():
            for i, (who, row) in enumerate(rows.items()):
                cells = [f"{budget}: {who}: {name}"]
                for ended in ("solved", "unsolved"):
                    printed = paper.EFFICIENCY.get((found.task, budget, ended), {}).get(name, (None, None, None))
                    cells += beside(printed[i], of(row, f"{field}_{ended}"), 2)
                lines.append(cells)
    head = ("per episode", "paper, solved", "ours", "diff", "paper, unsolved", "ours", "diff")
    return grid(head, lines)


def shares(found: FamilyResults) -> str:
    """How often adaptive takes each depth on solved episodes, as it is played and drawn."""
    lines = []
    for budget in ("tight", "loose"):
        for depth in DEPTHS:
            printed = paper.DEPTH_SHARES[found.task, budget].get(depth)
            ours = [_share(found.row(agent, budget), depth) for agent in ("adaptive", DRAWN)]
            lines.append([f"{budget}: h={depth}", *beside(printed, ours[0]), *beside(printed, ours[1])[1:]])
    return grid(("decisions on solved episodes", "paper %", "ours %", "diff", "drawn %", "diff"), lines)


def _share(row: dict[str, Any] | None, depth: int) -> float | None:
    taken = of(row, "depth_shares_solved")
    return None if taken is None else 100 * float(taken.get(str(depth), 0.0))
