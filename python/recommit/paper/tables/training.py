"""What training does: depths that emerge, entropy, and other seeds and training budgets."""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, Any

from recommit.evaluate import metrics
from recommit.evaluate.text import beside, grid, hundred, less, notes, number, of, percent
from recommit.paper import printed as paper
from recommit.paper.family import DEPTHS, EVERY, STAGES, best, depth_of, stage_of
from recommit.storage import reading

if TYPE_CHECKING:
    from pathlib import Path

    from recommit.paper.family import FamilyResults, Members


def said(run: Path) -> list[dict[str, Any]]:
    """The steps of a run, as it wrote them down."""
    lines = reading.lines(run, "metrics.jsonl") if (run / "metrics.jsonl").exists() else []
    return [line for line in lines if "loss" in line]


def growing(members: Members) -> tuple[str, ...]:
    """Agents of ``emergence``."""
    return ("adaptive", *(agent for stage in STAGES for agent in members.at_stage(stage)))


def emergence(found: FamilyResults) -> str:
    """The adaptive run clamped to every depth in the course of its training, and which depths it took meanwhile."""
    members = found.members
    lines, missing = [], []
    for stage, printed in zip(STAGES, paper.EMERGENCE[found.task], strict=True):
        at = members.stages[stage]
        rows = found.of(members.at_stage(stage), "loose")
        top = best(rows, "test")
        cells = {depth_of(row): percent(row["solve_rate"]) for row in rows}
        step = "-" if at is None else str(at.step)
        missing += [stage] if at is None else []
        lines.append([stage, step, *(cells.get(depth, "-") for depth in EVERY),
                      *beside(printed, None if top is None else depth_of(top), 0)])  # fmt: skip
    head = ("solved %", "step", *(f"h={d}" for d in EVERY), "paper h*", "ours", "diff")
    return f"{grid(head, lines)}\n\n{_course(members)}{notes(_unkept(missing))}"


def _course(members: Members) -> str:
    """Depths that were taken while training, at the end of every third of it."""
    steps = int(members.config["optim"]["steps"])
    last = {stage_of(line["step"], steps): line for line in said(members.adaptive)}
    lines = []
    for stage in STAGES:
        line = last.get(stage, {})
        taken, deep = line.get("depths", {}), line.get("mean_depth", {})
        lines.append([stage, str(line.get("step", "-")), *(percent(taken.get(str(d))) for d in DEPTHS),
                      *(number(deep.get(bucket)) for bucket in metrics.BUCKETS)])  # fmt: skip
    head = ("taken while training, %", "step", *(f"h={d}" for d in DEPTHS), *(f"mean {b}" for b in metrics.BUCKETS))
    return grid(head, lines)


def _unkept(missing: list[str]) -> list[str]:
    if not missing:
        return []
    call = "recommit train family --recipe RECIPE --init WARM_START --variants adaptive --set run.keep=99"
    return [f"No checkpoint of the {' and '.join(missing)} third was kept: `{call} --out ANOTHER` keeps all."]


def entropy(found: FamilyResults) -> str:
    """Of both heads while training, in nats; and how much the state decides of the depth."""
    lines = []
    steps = said(found.members.adaptive)
    printed = {
        "entropy_depth": (None, paper.DEPTH_ENTROPY * log(4)),
        "entropy_actions": (paper.ACTION_ENTROPY[found.task], None),
    }
    for field in ("entropy_depth", "entropy_actions", "information"):
        values = [line[field] for line in steps if field in line]
        lowest, mean = (min(values), sum(values) / len(values)) if values else (None, None)
        low, typical = printed.get(field, (None, None))
        first, last = (f"{values[0]:.3f}", f"{values[-1]:.3f}") if values else ("-", "-")
        lines.append([field, first, last, *beside(low, lowest, 3), *beside(typical, mean, 3)])
    own = found.row("adaptive", "loose")
    for name, field in (("depth head, played", "depth_entropy"), ("depths of an episode", "trajectory_entropy")):
        lines.append([name, "-", "-", "-", "-", "-", *beside(None, of(own, field), 3)])
    head = ("in nats (log 4 = 1.386)", "first", "last", "paper lowest", "ours", "diff", "paper mean", "ours", "diff")
    return grid(head, lines)


def sown(members: Members) -> tuple[str, ...]:
    """Agents of ``seeds``."""
    found = ["adaptive"]
    for seed in members.seeds:
        found += [*members.other("adaptive", "adaptive", seed), *members.trained(seed=seed)]
    return tuple(dict.fromkeys(found))


def seeds(found: FamilyResults) -> str:
    """Adaptive and the best trained fixed depth, seed by seed beside the paper's of the same number, loose budget."""
    members, printed = found.members, paper.SEEDS[found.task]
    ours = {seed: _solved_by(found, seed) for seed in members.seeds}
    nobody = (None, None)
    every = dict.fromkeys((*printed, *ours))
    lines = [_pair(f"seed {seed}", printed.get(seed, nobody), ours.get(seed, nobody)) for seed in every]
    means = [(_mean([p[0] for p in rows]), _mean([p[1] for p in rows])) for rows in (printed.values(), ours.values())]
    lines.append(_pair("mean", *means))
    head = ("row", "paper adaptive %", "ours", "diff", "paper best fixed %", "ours", "diff", "paper ahead", "ours",
            "diff")  # fmt: skip
    remark = "Seeds of one number share nothing but the number: the paper's draws are its own."
    return grid(head, lines) + notes([*([remark] if printed.keys() & ours.keys() else []), *_unsown(members)])


def _solved_by(found: FamilyResults, seed: int) -> tuple[float | None, float | None]:
    """Adaptive and the best fixed depth of one of our seeds, per cent."""
    own = next(iter(found.of(found.members.other("adaptive", "adaptive", seed), "loose")), None)
    return hundred(own), hundred(best(found.of(found.members.trained(seed=seed), "loose")))


def _pair(name: str, printed: tuple[float | None, float | None], ours: tuple[float | None, float | None]) -> list[str]:
    return [name, *beside(printed[0], ours[0]), *beside(printed[1], ours[1]), *beside(less(*printed), less(*ours))]


def _mean(values: list[Any]) -> float | None:
    """None unless all are there."""
    return None if not values or None in values else sum(values) / len(values)


def _unsown(members: Members) -> list[str]:
    call = "recommit train family --recipe RECIPE --init WARM_START --out FAMILY"
    lines = []
    without = [seed for seed in members.seeds if not members.trained(seed=seed)]
    if without:
        made = f"--seeds {' '.join(map(str, without))} --variants fixed-1 fixed-2 fixed-4 fixed-8"
        lines.append(f"No run at a fixed depth for seed {', '.join(map(str, without))}: `{call} {made}` makes them.")
    if len(members.seeds) < 3:
        more = [seed for seed in range(3) if seed not in members.seeds]
        lines.append(f"No more seeds: `{call} --seeds {' '.join(map(str, more))}` makes them.")
    return lines


def budgeted(members: Members) -> tuple[str, ...]:
    """Agents of ``training_budgets``."""
    found = ["adaptive"]
    for suffix in members.budgets.values():
        found += [*members.other("adaptive", f"adaptive{suffix}"), *members.trained(suffix)]
    return tuple(dict.fromkeys(found))


def training_budgets(found: FamilyResults) -> str:
    """Adaptive and the best fixed depth of runs with other decisions per training episode; played at the loose budget."""
    members, printed = found.members, paper.TRAINING_BUDGETS[found.task]
    lines = []
    for k in sorted({*printed, *members.budgets}):
        solved, depth = printed.get(k, (None, None))
        suffix = members.budgets.get(k)
        mine, rows = (), ()  # type: tuple[str, ...], tuple[str, ...]
        if suffix is not None:
            mine, rows = members.other("adaptive", f"adaptive{suffix}"), members.trained(suffix)
        own, top = next(iter(found.of(mine, "loose")), None), best(found.of(rows, "loose"))
        taken = of(own, "depth_shares") or {}
        lines.append([str(k), *beside(solved, hundred(own)), *beside(None, hundred(top))[1:2],
                      *beside(depth, None if top is None else depth_of(top), 0),
                      *("-" if own is None else percent(taken.get(str(d), 0.0)) for d in DEPTHS)])  # fmt: skip
    head = ("K while training", "paper %", "ours %", "diff", "best fixed %", "paper h*", "ours", "diff",
            *(f"h={d} %" for d in DEPTHS))  # fmt: skip
    return grid(head, lines) + notes(_unbudgeted(members, [k for k in printed if k not in members.budgets]))


def _unbudgeted(members: Members, missing: list[int]) -> list[str]:
    if not missing:
        return []
    call = f"recommit train family --recipe RECIPE --init WARM_START --out FAMILY --seeds {members.seed}"
    made = f"{call} --variants adaptive fixed-1 fixed-2 fixed-4 fixed-8 --budgets {' '.join(map(str, missing))}"
    return [f"No run for K = {', '.join(map(str, missing))}: `{made}` makes them."]
