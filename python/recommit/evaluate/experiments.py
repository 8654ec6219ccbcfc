"""Every table of the paper from one evaluation of a family of runs: "paper | ours | difference" where it has a number.

An evaluation of a family (``agents_of``) has the adaptive run's agents, and by ``NAME@RUN`` those of the warm start and of
the other variants. What was not run is said to be missing, never filled in.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recommit.evaluate import metrics, paper
from recommit.evaluate.tables import grid, number, percent

if TYPE_CHECKING:
    from collections.abc import Callable

#: Agents of the adaptive run itself.
OWN = (
    "adaptive", "sampled", "random", "shuffled", "mixture", *(f"fixed-{depth}" for depth in range(1, 9)),
    "oracle-dp", "oracle-delta", "oracle-rate", "solver",
)  # fmt: skip
#: Solved by fewer than this share, or too short for the median instance: a degenerate fixed depth (A36).
DEGENERATE = 0.10


def agents_of(family: Path, seed: int) -> tuple[Path, tuple[str, ...]]:
    """The adaptive run of a family, and the names of everybody there is; its own copy of the warm start plays too."""
    adaptive = family / f"adaptive-s{seed}"
    if not (adaptive / "best.json").is_file():
        raise ValueError(f"run: expected a family with {adaptive.name}, got {family}")
    others = [f"fixed-{depth}@{adaptive / 'init'}" for depth in range(1, 9)]
    for depth in range(1, 9):
        folder = family / f"fixed-{depth}-s{seed}"
        if (folder / "best.json").is_file():
            others += [f"fixed-{depth}@{folder}", f"fixed-{depth}-sampled@{folder}"]
    for variant, agent in (("random", "random"), ("depth-only", "adaptive")):
        folder = family / f"{variant}-s{seed}"
        if (folder / "best.json").is_file():
            others.append(f"{agent}@{folder}")
    return adaptive, (*OWN, *others)


@dataclass(frozen=True)
class Found:
    """An evaluation's figures, by role."""

    rows: list[dict[str, Any]]
    family: Path
    seed: int

    @property
    def init(self) -> Path:
        """The warm start."""
        return self.family / f"adaptive-s{self.seed}" / "init"

    @property
    def task(self) -> str:
        """Of all rows."""
        return str(self.rows[0]["task"])

    def row(self, agent: str, budget: str) -> dict[str, Any] | None:
        """One agent under one budget; None if it was not played."""
        return next((r for r in self.rows if r["agent"] == agent and r["budget"] == budget), None)

    def fixed(self, kind: str, budget: str) -> list[dict[str, Any]]:
        """Fixed depths of the warm start (``SFT``), of runs trained with them (``RL``), or of the adaptive run."""
        if kind == "SFT":
            return [
                r for r in self._at(budget) if r["agent"].startswith("fixed-") and r["agent"].endswith(f"@{self.init}")
            ]
        if kind == "RL":
            runs = [f"@{self.family / f'fixed-{depth}-s{self.seed}'}" for depth in range(1, 9)]
            return [r for r in self._at(budget) if r["agent"].startswith("fixed-") and r["agent"].endswith(tuple(runs))]
        return [r for r in self._at(budget) if r["agent"].startswith("fixed-") and "@" not in r["agent"]]

    def best_fixed(self, kind: str, budget: str, by: str) -> dict[str, Any] | None:
        """The fixed depth that solves most, on ``test`` or ``validation`` instances; ties to the smaller depth."""
        field = "solve_rate" if by == "test" else "validation_solve_rate"
        rows = self.fixed(kind, budget)
        return max(rows, key=lambda r: (r[field], -int(r["agent"][6])), default=None)

    def variant(self, agent: str, name: str, budget: str) -> dict[str, Any] | None:
        """Another run of the family."""
        return self.row(f"{agent}@{self.family / f'{name}-s{self.seed}'}", budget)

    def _at(self, budget: str) -> list[dict[str, Any]]:
        return [r for r in self.rows if r["budget"] == budget]


def short(row: dict[str, Any] | None) -> str:
    """An agent's name without its folder."""
    return "not run" if row is None else str(row["agent"]).partition("@")[0]


def beside(printed: float | None, ours: float | None) -> list[str]:
    """paper, ours, difference."""
    gap = "-" if printed is None or ours is None else f"{ours - printed:+.1f}"
    return ["-" if printed is None else f"{printed:.1f}", "-" if ours is None else f"{ours:.1f}", gap]


def of(row: dict[str, Any] | None, *path: str) -> Any:
    """A figure, None of a row that is not there."""
    for key in path:
        row = None if row is None else row[key]
    return row


def hundred(row: dict[str, Any] | None, field: str = "solve_rate") -> float | None:
    """Per cent."""
    return None if row is None else 100 * row[field]


def main_table(found: Found) -> str:
    """Solve rate and actions at both budgets; best fixed depths chosen on validation and on test instances."""
    lines = []
    for budget in ("tight", "loose"):
        printed = paper.MAIN.get((found.task, budget), {})
        chosen = {
            "adaptive": found.row("adaptive", budget),
            **{f"{k} best fixed": found.best_fixed(k, budget, "validation") for k in ("RL", "SFT")},
        }
        for name, row in chosen.items():
            cell = printed.get(name, paper.Printed())
            lines.append([f"{budget}: {name}", short(row), *beside(cell.solved, hundred(row)),
                          *beside(cell.actions, of(row, "actions_per_episode"))])  # fmt: skip
        for kind in ("RL", "SFT"):
            row = found.best_fixed(kind, budget, "test")
            lines.append([f"{budget}: {kind} best fixed, chosen on the test set", short(row), *beside(None, hundred(row)),
                          *beside(None, of(row, "actions_per_episode"))])  # fmt: skip
    return grid(("row", "agent", "paper %", "ours %", "diff", "paper actions", "ours", "diff"), lines)


def sweep(found: Found) -> str:
    """All eight fixed depths, of the warm start, trained, and of the adaptive run clamped."""
    lines = []
    for budget in ("tight", "loose"):
        for kind in ("SFT", "RL", "clamped"):
            rows = [r for r in found.fixed(kind, budget) if not r["agent"].partition("@")[0].endswith("-sampled")]
            cells = {
                int(r["agent"][6]): f"{percent(r['solve_rate'])} at {number(r['actions_per_episode'])}" for r in rows
            }
            lines.append([f"{budget}: {kind}", *(cells.get(depth, "-") for depth in range(1, 9))])
    return grid(("solved % at actions", *(f"h={depth}" for depth in range(1, 9))), lines)


def ablation(found: Found) -> str:
    """What is left without a part, loose budget."""
    ours = {
        "SFT best fixed": found.best_fixed("SFT", "loose", "validation"),
        "RL best fixed": found.best_fixed("RL", "loose", "validation"),
        "random": found.variant("random", "random", "loose"),
        "depth-only": found.variant("adaptive", "depth-only", "loose"),
        "adaptive": found.row("adaptive", "loose"),
    }
    printed = paper.ABLATION.get(found.task, {})
    return grid(
        ("row", "paper %", "ours %", "diff"), [[n, *beside(printed.get(n), hundred(r))] for n, r in ours.items()]
    )


def state_dependence(found: Found) -> str:
    """Mean depth and failures near, mid and far on solved episodes, beside the shuffled control."""
    printed = paper.DEPTH_BY_DISTANCE.get(found.task, (None, None, None))
    own, control = found.row("adaptive", "loose"), found.row("shuffled", "loose")
    lines = []
    for i, bucket in enumerate(metrics.BUCKETS):
        mine = of(own, "by_distance_solved", bucket)
        other = of(control, "by_distance_solved", bucket)
        lines.append([bucket, *beside(printed[i], of(mine, "mean_depth")),
                      number(of(other, "mean_depth")), percent(of(mine, "failure_rate")),
                      percent(of(other, "failure_rate"))])  # fmt: skip
    head = ("distance", "paper depth", "ours", "diff", "shuffled", "failing %", "shuffled failing %")
    return grid(head, lines)


def efficiency(found: Found) -> str:
    """Wasted and backward decisions and progress per action, solved and unsolved, loose budget."""
    fields = {"wasted": "wasted", "backward": "backward", "progress per action": "progress_per_action"}
    rows = {"adaptive": found.row("adaptive", "loose"), "RL best fixed": found.best_fixed("RL", "loose", "validation")}
    lines = []
    for name, field in fields.items():
        printed = paper.EFFICIENCY.get(found.task, {}).get(name, (None, None))
        for i, (who, row) in enumerate(rows.items()):
            solved, unsolved = (of(row, f"{field}_{kind}") for kind in ("solved", "unsolved"))
            cells = ["-" if v is None else f"{v:.2f}" for v in (printed[i], solved, unsolved)]
            lines.append([f"{who}: {name}", *cells])
    return grid(("row", "paper, solved", "ours, solved", "ours, unsolved"), lines)


def oracle(found: Found) -> str:
    """The ceiling of the adaptive run's action head, and how much of the way to it is gone."""
    printed = paper.ORACLE.get(found.task, paper.Printed())
    lines = []
    for name in ("oracle-dp", "oracle-delta", "oracle-rate"):
        row = found.row(name, "loose")
        cell = printed if name == "oracle-dp" else paper.Printed()
        lines.append([name, *beside(cell.solved, hundred(row)), *beside(cell.actions, of(row, "actions_per_episode"))])
    own, top = found.row("adaptive", "loose"), found.row("oracle-dp", "loose")
    for kind in ("RL", "SFT"):
        base = found.best_fixed(kind, "loose", "validation")
        lines.append([f"gap to {kind} best fixed recovered", "-", recovered(own, base, top), "-", "-", "-", "-"])
    return grid(("row", "paper %", "ours %", "diff", "paper actions", "ours", "diff"), lines)


def recovered(own: dict[str, Any] | None, base: dict[str, Any] | None, top: dict[str, Any] | None) -> str:
    """(adaptive - fixed) / (ceiling - fixed) in per cent."""
    if own is None or base is None or top is None or top["solve_rate"] <= base["solve_rate"]:
        return "n/a"
    return f"{100 * (own['solve_rate'] - base['solve_rate']) / (top['solve_rate'] - base['solve_rate']):.0f}"


def entropy(found: Found) -> str:
    """Of both heads while training: first, lowest and last step, in nats."""
    path = found.family / f"adaptive-s{found.seed}" / "metrics.jsonl"
    said = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.is_file() else []
    lines = []
    for field in ("entropy_depth", "entropy_actions", "information"):
        values = [line[field] for line in said if field in line]
        cells = [f"{v:.3f}" for v in (values[0], min(values), values[-1])] if values else ["-"] * 3
        lines.append([field, *cells])
    return grid(("in nats (log 4 = 1.386)", "first", "lowest", "last"), lines)


def fronts(found: Found) -> str:
    """Who is on the front, and what arithmetic forbids."""
    text = []
    for budget in ("tight", "loose"):
        rows = [r for r in found.rows if r["budget"] == budget and not r["agent"].startswith(("oracle", "solver"))]
        points = [metrics.Point(r["agent"], r["solve_rate"], r["actions_per_episode"]) for r in rows]
        own = found.row("adaptive", budget)
        if own is None:
            continue
        never = metrics.undominated(own["decisions"], own["actions_per_episode"], tuple(range(1, 9)))
        most = 8.0 * own["decisions"]
        volume = {
            name: metrics.hypervolume([p for p in points if keep(p.name)], most)
            for name, keep in (("all", lambda _n: True), ("fixed only", lambda n: n.startswith("fixed")))
        }
        text.append(
            f"* {budget}: front {', '.join(short({'agent': p.name}) for p in metrics.front(points))}; hypervolume to {most:.0f} "
            f"actions {100 * volume['all']:.1f}, of fixed depths alone {100 * volume['fixed only']:.1f}; never to be dominated: "
            f"{', '.join(f'h={d}' for d in never) or 'none'}"
        )
    return "\n".join(text)


TABLES: dict[str, Callable[[Found], str]] = {
    "Main table": main_table,
    "Sweep of fixed depths": sweep,
    "Ablation": ablation,
    "Depth by distance": state_dependence,
    "Efficiency": efficiency,
    "Oracle": oracle,
    "Entropy": entropy,
    "Pareto": fronts,
}


def write(found: Found) -> str:
    """All tables, as Markdown."""
    parts = [f"# {found.task.capitalize()}: the paper's tables\n"]
    parts += [f"## {name}\n\n{make(found)}\n" for name, make in TABLES.items()]
    return "\n".join(parts)
