"""The paper's tables of behaviour: depth by distance, efficiency, entropy, and the course of training."""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, Any

from recommit.evaluate import metrics, reported
from recommit.evaluate.family import DEPTHS, EVERY, SAMPLED, STAGES, best, depth_of, stage_of
from recommit.evaluate.tables.main_results import fixed
from recommit.evaluate.tables.table import Content, table
from recommit.evaluate.text import beside, hundred, less, of
from recommit.results.table import Grid, number, percent
from recommit.storage import verified

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from recommit.evaluate.family import FamilyResults, Members

    #: Adaptive and the best fixed depth, per cent.
    Pair = tuple[float | None, float | None]

#: The paper hatches buckets with fewer decisions.
FEW = 15


@table("state", "Depth by distance", lambda _: ("adaptive", SAMPLED, "shuffled"))
def state(results: FamilyResults) -> Content:
    """Mean depth and failures near, mid and far on solved episodes, beside the shuffled control; and mean progress.
    Adaptive as it is played, then sampled."""
    control, lines = results.row("shuffled", "loose"), []
    for agent, suffix in (("adaptive", ""), (SAMPLED, ", sampled")):
        for i, bucket in enumerate(metrics.BUCKETS):
            mine, other = (of(row, "by_distance_solved", bucket) for row in (results.row(agent, "loose"), control))
            cells = [bucket + suffix, number(of(mine, "count")).removesuffix(".0")]
            cells += beside(reported.DEPTH_BY_DISTANCE[results.task][i], of(mine, "mean_depth"))
            cells += [
                number(of(other, "mean_depth")),
                *beside(reported.FAILING[results.task][i], hundred(mine, "failure_rate")),
            ]
            lines.append([*cells, percent(of(other, "failure_rate")), _progress(mine), _progress(other)])
    head = "distance | decisions | paper depth | ours | diff | shuffled | paper failing % | ours | diff | shuffled"
    head += " | mean progress | shuffled"
    own = results.row("adaptive", "loose")
    few = [b for b in metrics.BUCKETS if (of(own, "by_distance_solved", b, "count") or 0) < FEW]
    return Content((Grid.of(head, lines),), (f"Fewer than {FEW} decisions: {', '.join(few)}.",) if few else ())


def _progress(bucket: dict[str, Any] | None) -> str:
    """Mean and standard deviation of the progress per decision, as text."""
    mean, spread = of(bucket, "mean_progress"), of(bucket, "progress_sd")
    return "-" if mean is None else f"{mean:+.1f} ± {spread:.1f}"


@table("difficulty", "By size, boxes and length", lambda members: (*fixed(members), SAMPLED))
def difficulty(results: FamilyResults) -> Content:
    """Solved and actions on the instances of each difficulty of the data. The paper has no such table."""
    lines = []
    for budget in ("tight", "loose"):
        rows = results.rivals(budget)
        for name in of(rows["adaptive"], "by_difficulty") or ():
            each = [of(row, "by_difficulty", name) for row in rows.values()]
            played = next(str(one["count"]) for one in each if one)
            cells = [
                f"{percent(of(one, 'solve_rate'))} at {number(of(one, 'actions_per_episode'))}" if one else "-"
                for one in each
            ]
            lines.append([f"{budget}: {name}", played, *cells])
    head = "solved % at actions | instances | adaptive | adaptive, sampled | RL best fixed | SFT best fixed"
    return Content((Grid.of(head, lines),))


@table("efficiency", "Efficiency", fixed)
def efficiency(results: FamilyResults) -> Content:
    """Wasted and backward decisions and progress per action, solved and unsolved, both budgets."""
    lines = []
    for budget in ("tight", "loose"):
        rows = {name: row for name, row in results.rivals(budget).items() if name != "adaptive, sampled"}
        for name in ("wasted", "backward", "progress per action"):
            for i, (who, row) in enumerate(rows.items()):
                cells = [f"{budget}: {who}: {name}"]
                for ended in ("solved", "unsolved"):
                    paper = reported.EFFICIENCY.get((results.task, budget, ended), {}).get(name, (None,) * 3)
                    cells += beside(paper[i], of(row, f"{name.replace(' ', '_')}_{ended}"), 2)
                lines.append(cells)
    return Content((Grid.of("per episode | paper, solved | ours | diff | paper, unsolved | ours | diff", lines),))


@table("depths", "Shares of the depths", lambda _: ("adaptive", SAMPLED))
def depths(results: FamilyResults) -> Content:
    """Shares of the depths that adaptive takes on solved episodes, greedy and sampled."""
    lines = []
    for budget in ("tight", "loose"):
        taken = [of(results.row(agent, budget), "depth_shares_solved") for agent in ("adaptive", SAMPLED)]
        for depth in DEPTHS:
            published = reported.DEPTH_SHARES[results.task, budget].get(depth)
            ours = [None if each is None else 100 * float(each.get(str(depth), 0.0)) for each in taken]
            lines.append([f"{budget}: h={depth}", *beside(published, ours[0]), *beside(published, ours[1])[1:]])
    head = "decisions on solved episodes | paper % | ours % | diff | sampled % | diff"
    return Content((Grid.of(head, lines),))


def steps_of(run: Path) -> list[dict[str, Any]]:
    """Logged training steps of a run; empty without ``metrics.jsonl``."""
    lines = verified.lines(run, "metrics.jsonl") if (run / "metrics.jsonl").exists() else []
    return [line for line in lines if "loss" in line]


@table(
    "emergence",
    "Depths in the course of training",
    lambda members: ("adaptive", *(agent for stage in STAGES for agent in members.at_stage(stage))),
)
def emergence(results: FamilyResults) -> Content:
    """The adaptive run at the last checkpoint of each third of training, clamped to every depth; and the depths that
    its training episodes took there."""
    solved, taken, members = [], [], results.members
    steps = int(members.config["optim"]["steps"])
    last = {stage_of(line["step"], steps): line for line in steps_of(members.adaptive)}
    for stage, published in zip(STAGES, reported.EMERGENCE[results.task], strict=True):
        at, rows = members.stages[stage], results.of(members.at_stage(stage), "loose")
        top, cells = best(rows, "test"), {depth_of(row): percent(row["solve_rate"]) for row in rows}
        deepest = beside(published, None if top is None else depth_of(top), 0)
        step = "-" if at is None else str(at.step)
        solved.append([stage, step, *(cells.get(depth, "-") for depth in EVERY), *deepest])
        line = last.get(stage, {})
        shares, deep = line.get("depths", {}), line.get("mean_depth", {})
        means = (number(deep.get(bucket)) for bucket in metrics.BUCKETS)
        taken.append([stage, str(line.get("step", "-")), *(percent(shares.get(str(d))) for d in DEPTHS), *means])
    head = ("solved %", "step", *(f"h={d}" for d in EVERY), "paper h*", "ours", "diff")
    course = ("taken while training, %", "step", *(f"h={d}" for d in DEPTHS), *(f"mean {b}" for b in metrics.BUCKETS))
    return Content((Grid.of(head, solved), Grid.of(course, taken)))


@table("entropy", "Entropy", lambda _: ("adaptive",))
def entropy(results: FamilyResults) -> Content:
    """Entropy of both heads while training, in nats, and the mutual information of depth and state; then the depth
    head's as it is played. Lowest and mean values stand beside the paper's."""
    published = {
        "entropy_depth": (None, reported.DEPTH_ENTROPY * log(4)),
        "entropy_actions": (reported.ACTION_ENTROPY[results.task], None),
        "mutual_information": (None, None),
    }
    steps, lines = steps_of(results.members.adaptive), []
    for field, (low, typical) in published.items():
        values = [line[field] for line in steps if field in line]
        lowest, mean = (min(values), sum(values) / len(values)) if values else (None, None)
        ends = (f"{values[0]:.3f}", f"{values[-1]:.3f}") if values else ("-", "-")
        lines.append([field, *ends, *beside(low, lowest, 3), *beside(typical, mean, 3)])
    own = results.row("adaptive", "loose")
    for name, field in (("depth head, played", "depth_entropy"), ("depths of an episode", "trajectory_entropy")):
        lines.append([name, "-", "-", "-", "-", "-", *beside(None, of(own, field), 3)])
    head = "in nats (log 4 = 1.386) | first | last | paper lowest | ours | diff | paper mean | ours | diff"
    return Content((Grid.of(head, lines),))


def _of_seeds(members: Members) -> tuple[str, ...]:
    each = ((*members.other("adaptive", "adaptive", s), *members.trained(seed=s)) for s in members.seeds)
    return tuple(dict.fromkeys(("adaptive", *(agent for agents in each for agent in agents))))


@table("seeds", "Seeds", _of_seeds)
def seeds(results: FamilyResults) -> Content:
    """Adaptive and the best trained fixed depth at the loose budget, per seed, beside the paper's seed of the same
    number; and the means."""
    members, published = results.members, reported.SEEDS[results.task]
    ours: dict[int, Pair] = {}
    for seed in members.seeds:
        own = results.first(members.other("adaptive", "adaptive", seed), "loose")
        ours[seed] = hundred(own), hundred(best(results.of(members.trained(seed=seed), "loose")))
    every: dict[str, tuple[Pair, Pair]] = {
        f"seed {seed}": (published.get(seed, (None, None)), ours.get(seed, (None, None)))
        for seed in dict.fromkeys((*published, *ours))
    }
    every["mean"] = _means(published.values()), _means(ours.values())
    lines = [
        [name, *beside(paper[0], own[0]), *beside(paper[1], own[1]), *beside(less(*paper), less(*own))]
        for name, (paper, own) in every.items()
    ]
    head = "row | paper adaptive % | ours | diff | paper best fixed % | ours | diff | paper ahead | ours | diff"
    remark = "Seeds of one number share nothing but the number: the paper's samples are its own."
    return Content((Grid.of(head, lines),), (remark,) if published.keys() & ours.keys() else ())


def _means(pairs: Iterable[Pair]) -> Pair:
    """Mean of each column; None if a value is missing."""
    columns = list(zip(*pairs, strict=True)) or [(), ()]
    one, other = (None if not each or None in each else sum(each) / len(each) for each in columns)
    return one, other


def _of_budgets(members: Members) -> tuple[str, ...]:
    each = ((*members.other("adaptive", f"adaptive{s}"), *members.trained(s)) for s in members.budgets.values())
    return tuple(dict.fromkeys(("adaptive", *(agent for agents in each for agent in agents))))


@table("budgets", "Training budgets", _of_budgets)
def budgets(results: FamilyResults) -> Content:
    """Adaptive and the best fixed depth of runs with other decisions per training episode, played at the loose
    budget: a row per training budget."""
    members, paper, lines = results.members, reported.TRAINING_BUDGETS[results.task], []
    for budget in sorted({*paper, *members.budgets}):
        (solved, depth), own, top = paper.get(budget, (None, None)), None, None
        if budget in members.budgets:
            suffix = members.budgets[budget]
            own = results.first(members.other("adaptive", f"adaptive{suffix}"), "loose")
            top = best(results.of(members.trained(suffix), "loose"))
        taken = of(own, "depth_shares") or {}
        shares = ("-" if own is None else percent(taken.get(str(d), 0.0)) for d in DEPTHS)
        deepest = beside(depth, None if top is None else depth_of(top), 0)
        lines.append([str(budget), *beside(solved, hundred(own)), number(hundred(top)), *deepest, *shares])
    head = ("K while training", "paper %", "ours %", "diff", "best fixed %", "paper h*", "ours", "diff")
    return Content((Grid.of((*head, *(f"h={d} %" for d in DEPTHS)), lines),))
