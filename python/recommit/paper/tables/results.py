"""The paper's tables of who solves how much, from one evaluation of a family: "paper | ours | difference"."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recommit.evaluate import metrics
from recommit.evaluate.text import beside, grid, hundred, less, notes, number, of, percent, short
from recommit.paper import printed as paper
from recommit.paper.family import DEPTHS, EVERY, best, clamped, depth_of

if TYPE_CHECKING:
    from recommit.paper.family import FamilyResults, Members

#: Those that ignore the state, and those that know the distance.
CONTROLS, KNOWING = ("random", "shuffled", "mixture"), ("oracle-dp", "oracle-delta", "oracle-rate")
ZERO_SHOT = "zero-shot"
#: Adaptive's depths and actions drawn by their probabilities: the paper does not say whether its figures are of this one.
DRAWN = "sampled"
#: The run by the paper's recipe, in families whose adaptive run has another.
PAPER = "paper"


def fixed(members: Members) -> tuple[str, ...]:
    """Agents: adaptive, and fixed depths of the warm start and of the runs that were trained with them."""
    return ("adaptive", DRAWN, *clamped(EVERY, members.init), *members.trained())


def wanted(members: Members, *names: str) -> list[str]:
    """How to make the runs that are not there."""
    missing = [name for name in names if members.run(name) is None]
    if not missing:
        return []
    call = f"recommit train family --recipe RECIPE --init WARM_START --out FAMILY --seeds {members.seed}"
    return [f"No run for {', '.join(missing)}: `{call} --variants {' '.join(missing)}` makes it."]


def unfixed(members: Members) -> list[str]:
    """How to make the fixed depths that were not trained."""
    return wanted(members, *(f"fixed-{depth}" for depth in EVERY))


def main_table(found: FamilyResults) -> str:
    """Solve rate and actions at both budgets; best fixed depths chosen on validation and on test instances, and of those
    that the depth head has."""
    lines = []
    for budget in ("tight", "loose"):
        printed = paper.MAIN[found.task, budget]
        lines.append(_solving(f"{budget}: adaptive", printed["adaptive"], found.row("adaptive", budget)))
        lines.append(_solving(f"{budget}: adaptive, drawn", printed["adaptive"], found.row(DRAWN, budget)))
        for kind in ("RL", "SFT"):
            name = f"{kind} best fixed"
            lines.append(_solving(f"{budget}: {name}", printed[name], found.best_fixed(kind, budget)))
        for kind in ("RL", "SFT"):
            name = f"{budget}: {kind} best fixed, chosen on the test set"
            lines.append(_solving(name, paper.Printed(), found.best_fixed(kind, budget, "test")))
        for kind in ("RL", "SFT"):
            name = f"{budget}: {kind} best fixed of h = {', '.join(map(str, DEPTHS))}"
            row = found.best_fixed(kind, budget, depths=DEPTHS)
            lines.append(_solving(name, _printed_within(found.task, budget, kind), row))
    head = ("row", "agent", "paper %", "ours %", "diff", "paper actions", "ours", "diff")
    return grid(head, lines) + notes(unfixed(found.members))


def _solving(name: str, cell: paper.Printed, row: dict[str, Any] | None) -> list[str]:
    """Who it is, what is solved, and with how many actions."""
    solved, actions = beside(cell.solved, hundred(row)), beside(cell.actions, of(row, "actions_per_episode"))
    return [name, short(row), *solved, *actions]


def _printed_within(task: str, budget: str, kind: str) -> paper.Printed:
    """The paper's best fixed depth of those that the head has: where the best of all is one of them, that one."""
    cell = paper.MAIN[task, budget][f"{kind} best fixed"]
    return cell if cell.depth in DEPTHS else paper.WITHIN.get((task, budget, kind), paper.Printed())


def sweeping(members: Members) -> tuple[str, ...]:
    """Agents of ``sweep``."""
    kinds = (clamped(EVERY, members.init), members.trained(drawn=False), clamped(EVERY, None))
    return ("adaptive", *(agent for kind in kinds for agent in kind))


def sweep(found: FamilyResults) -> str:
    """All eight fixed depths, of the warm start, trained, and of the adaptive run clamped. The paper has a figure."""
    lines = []
    for budget in ("tight", "loose"):
        for kind in ("SFT", "RL", "clamped"):
            cells = {
                depth_of(r): f"{percent(r['solve_rate'])} at {number(r['actions_per_episode'])}"
                for r in found.kind(kind, budget)
                if not short(r).endswith("-sampled")
            }
            lines.append([f"{budget}: {kind}", *(cells.get(depth, "-") for depth in EVERY)])
    head = ("solved % at actions", *(f"h={depth}" for depth in EVERY))
    return grid(head, lines) + notes(unfixed(found.members))


def reduced(members: Members) -> tuple[str, ...]:
    """Agents of ``ablation``."""
    paper_like = [a for agent in ("adaptive", "shuffled") for a in members.other(agent, PAPER)]
    return (*fixed(members), *members.other("random", "random"), *members.other("adaptive", "depth-only"), *paper_like)


def ablation(found: FamilyResults) -> str:
    """What is left without a part, loose budget."""
    members = found.members
    ours = {
        "SFT best fixed": found.best_fixed("SFT", "loose"),
        "RL best fixed": found.best_fixed("RL", "loose"),
        "random": next(iter(found.of(members.other("random", "random"), "loose")), None),
        "depth-only": next(iter(found.of(members.other("adaptive", "depth-only"), "loose")), None),
        "adaptive": found.row("adaptive", "loose"),
        "adaptive, drawn": found.row(DRAWN, "loose"),
    }
    more = () if members.like_paper else (PAPER,)
    if more:
        own = found.of(members.other("adaptive", PAPER), "loose")
        ours["adaptive, the paper's recipe"] = next(iter(own), None)
    printed = paper.ABLATION[found.task]
    lines = [[name, *beside(printed[name.partition(",")[0]], hundred(row))] for name, row in ours.items()]
    missing = [*unfixed(members), *wanted(members, "random", "depth-only", *more)]
    return grid(("row", "paper %", "ours %", "diff"), lines) + notes(missing)


def lonely(members: Members) -> tuple[str, ...]:
    """Agents of ``single``."""
    return ("adaptive", *(a for kind in ("SFT", "RL") for depth in DEPTHS for a in members.alone(depth, kind)))


def single(found: FamilyResults) -> str:
    """Trained at one depth alone, played at every one, loose budget; the best that was played as it was trained."""
    lines, same = [], []
    for kind in ("SFT", "RL"):
        for depth in DEPTHS:
            rows = {depth_of(row): row for row in found.of(found.members.alone(depth, kind), "loose")}
            same += [rows[depth]] if depth in rows else []
            lines.append([f"{kind}, trained at h={depth}", *(_or_dash(hundred(rows.get(d))) for d in DEPTHS)])
    top, own = best(same, "test"), found.row("adaptive", "loose")
    printed = paper.SINGLE[found.task]
    leads = paper.MAIN[found.task, "loose"]["adaptive"].solved
    assert leads is not None
    compared = [
        ["best of those played as trained", *beside(printed, hundred(top))],
        ["adaptive ahead of it", *beside(leads - printed, less(hundred(own), hundred(top)))],
    ]
    text = grid(("solved %", *(f"played at h={d}" for d in DEPTHS)), lines)
    return f"{text}\n\n{grid(('row', 'paper %', 'ours %', 'diff'), compared)}{notes(_unlonely(found.members))}"


def _unlonely(members: Members) -> list[str]:
    """How to make the runs of ``single`` that are not there."""
    lines = []
    for depth in DEPTHS:
        start = f"FAMILY/single-{depth}-init"
        if members.single(depth, "SFT") is None:
            call = f"recommit train sft --recipe RECIPE --data DATA --single-commitment {depth} --out {start}"
            lines.append(f"No run for SFT, h={depth}: `{call}` makes it.")
        if members.single(depth, "RL") is None:
            out = f"FAMILY/single-{depth}-s{members.seed}"
            call = f"recommit train grpo --recipe RECIPE --init {start} --variant fixed-{depth} --seed {members.seed}"
            lines.append(f"No run for RL, h={depth}: `{call} --out {out}` makes it.")
    return lines


def _or_dash(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"


def knowing(members: Members) -> tuple[str, ...]:
    """Agents of ``oracle``."""
    return (*fixed(members), *KNOWING)


def oracle(found: FamilyResults) -> str:
    """The ceiling of the adaptive run's action head, and how much of the way to it is gone."""
    lines = []
    for name in KNOWING:
        row = found.row(name, "loose")
        cell = paper.ORACLE[found.task] if name == "oracle-dp" else paper.Printed()
        lines.append([name, *beside(cell.solved, hundred(row)), *beside(cell.actions, of(row, "actions_per_episode"))])
    own, top = found.row("adaptive", "loose"), found.row("oracle-dp", "loose")
    for kind, printed in (("RL", paper.RECOVERED[found.task]), ("SFT", None)):
        share = recovered(own, found.best_fixed(kind, "loose"), top)
        cells = beside(printed, share)
        cells[1] = "n/a" if share is None else cells[1]
        lines.append([f"gap to {kind} best fixed closed", *cells, "-", "-", "-"])
    shares = of(top, "depth_shares") or {}
    said = ", ".join(f"h={d} {percent(shares.get(str(d), 0.0))}" for d in DEPTHS)
    text = grid(("row", "paper %", "ours %", "diff", "paper actions", "ours", "diff"), lines)
    return text + notes([f"Decisions of oracle-dp, % (the paper: every depth at least 11): {said}."])


def recovered(own: dict[str, Any] | None, base: dict[str, Any] | None, top: dict[str, Any] | None) -> float | None:
    """(adaptive - fixed) / (ceiling - fixed) in per cent; None unless the ceiling is higher."""
    if own is None or base is None or top is None or top["solve_rate"] <= base["solve_rate"]:
        return None
    return float(100 * (own["solve_rate"] - base["solve_rate"]) / (top["solve_rate"] - base["solve_rate"]))


def asked(members: Members) -> tuple[str, ...]:
    """Agents of ``zero_shot``."""
    return ("adaptive", *(f"{ZERO_SHOT}@{folder}" for folder in members.zero_shot))


def zero_shot(found: FamilyResults) -> str:
    """Models that were not trained, on the same instances, beside adaptive; loose budget."""
    rows = {r["model"]: r for r in found.of(asked(found.members)[1:], "loose")}
    nothing = paper.Printed()
    lines = []
    for name in dict.fromkeys((*paper.ZERO_SHOT, *rows)):
        lines.append(_model(name, paper.ZERO_SHOT.get(name, {}).get(found.task, nothing), rows.get(name)))
    lines.append(_model("adaptive", paper.MAIN[found.task, "loose"]["adaptive"], found.row("adaptive", "loose")))
    text = grid(("model", "paper %", "ours %", "diff", "paper actions", "ours", "diff"), lines)
    call = "recommit zero-shot --model MODEL --data DATA --instances N --out FAMILY/zero-shot-NAME"
    missing = ["No run for those without a figure of ours: `" + call + "` makes one, as many instances as here."]
    return text + notes(missing if rows.keys() != paper.ZERO_SHOT.keys() else [])


def _model(name: str, printed: paper.Printed, row: dict[str, Any] | None) -> list[str]:
    """The paper prints no actions where nothing is solved; neither do we."""
    actions = of(row, "actions_per_episode") if of(row, "solve_rate") else None
    return [name, *beside(printed.solved, hundred(row)), *beside(printed.actions, actions)]


def frontier(members: Members) -> tuple[str, ...]:
    """Agents of ``fronts``."""
    return (*fixed(members), "sampled", "wary", *CONTROLS, *clamped(EVERY, None), "solver")


def fronts(found: FamilyResults) -> str:
    """Who is on the front, and what arithmetic forbids."""
    text = []
    for budget in ("tight", "loose"):
        # Not other seeds, checkpoints or models that other tables have brought along.
        rows = [r for r in found.of(frontier(found.members), budget) if r["agent"] != "solver"]
        points = [metrics.ParetoPoint(r["agent"], r["solve_rate"], r["actions_per_episode"]) for r in rows]
        own = found.row("adaptive", budget)
        if own is None:
            continue
        never = metrics.undominated(own["decisions"], own["actions_per_episode"], EVERY)
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
