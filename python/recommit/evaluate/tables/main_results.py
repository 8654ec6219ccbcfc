"""The paper's tables of solve rates and actions, "paper | ours | difference": fixed depths, ablations and the oracle
depth; and further heads and models, for which the paper's tables have no row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recommit.evaluate import reported, transcripts
from recommit.evaluate.agent_names import CONTROLS, ORACLE, PRIVILEGED, ZERO_SHOT, AgentName, readable
from recommit.evaluate.family import DEPTHS, EVERY, SAMPLED, best, clamped, depth_of
from recommit.evaluate.policy_plans import plans_digest
from recommit.evaluate.reported import Reported
from recommit.evaluate.tables.table import Content, table
from recommit.evaluate.text import beside, hundred, less, of, short
from recommit.results.table import Grid, figure, number, percent, undominated
from recommit.results.table import pareto as pareto_front
from recommit.runs.directory import best_policy

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from recommit.evaluate.family import FamilyResults, Members

#: Name of the run with the paper's recipe, in families whose adaptive run has another one.
PAPER = "paper"
#: Depth rules that know the distance.
ORACLES = PRIVILEGED[:3]
#: Runs on the way from the paper's recipe to ours -> the change from the row above.
CHANGES = {
    "paper": "the paper's recipe",
    "ablation-inputs": "features: confidence and z, with a hidden layer",
    "ablation-observations": "15 observations per training episode instead of 5",
    "ablation-objective": "objective: clip 0.2 for 0.05, no KL, less entropy",
    "ablation-episode": "advantage: solved episodes less actions, in groups of four",
    "ablation-exact": "advantage: exact values",
    "adaptive": "last phases: more updates of the head, at last alone",
}


def fixed(members: Members) -> tuple[str, ...]:
    """Agents: adaptive, and fixed depths of the warm start and of the runs that were trained with them."""
    return ("adaptive", SAMPLED, *clamped(EVERY, members.init), *members.trained())


def _compared(cell: Reported, row: dict[str, Any] | None) -> list[str]:
    """Solved and actions, each beside the paper's."""
    return [*beside(cell.solved, hundred(row)), *beside(cell.actions, of(row, "actions_per_episode"))]


@table("main", "Main table", fixed)
def main(results: FamilyResults) -> Content:
    """Solve rate and actions at both budgets; best fixed depths chosen on validation instances, on test instances, and
    among the depths of the head. Values and gain shares are columns if some row has them."""
    every = {"value, points": ("value", 1, 100.0), "gain share": ("gain", 2, 1.0)}
    further = {name: how for name, how in every.items() if any(row.get(how[0]) is not None for row in results.rows)}
    lines = []
    for budget in ("tight", "loose"):
        paper, best_of = reported.MAIN[results.task, budget], {kind: f"{kind} best fixed" for kind in ("RL", "SFT")}
        rows = [(name, paper[name.partition(",")[0]], row) for name, row in results.rivals(budget).items()]
        rows += [
            (f"{name}, chosen on the test set", Reported(), results.best_fixed(kind, budget, "test"))
            for kind, name in best_of.items()
        ]
        for kind, name in best_of.items():
            # If the paper's best depth overall is one of the head's depths, it is also the best of these.
            within = reported.WITHIN.get((results.task, budget, kind), Reported())
            cell = paper[name] if paper[name].depth in DEPTHS else within
            row = results.best_fixed(kind, budget, depths=DEPTHS)
            rows.append((f"{name} of h = {', '.join(map(str, DEPTHS))}", cell, row))
        lines += [
            [f"{budget}: {name}", short(row), *_compared(cell, row), *(figure(row, *how) for how in further.values())]
            for name, cell, row in rows
        ]
    note = "There are no gain shares: they need `oracle-dp`, which `--tables main oracle` plays too."
    if "gain share" in further:
        note = "Gain shares are of the fixed depths and the oracle of the same plans."
    head = ("row", "agent", "paper %", "ours %", "diff", "paper actions", "ours", "diff", *further)
    return Content((Grid.of(head, lines),), (note,))


def _every_depth(members: Members) -> tuple[str, ...]:
    kinds = (clamped(EVERY, members.init), members.trained(), clamped(EVERY, None))
    return ("adaptive", *(agent for kind in kinds for agent in kind))


@table("sweep", "Sweep of fixed depths", _every_depth)
def sweep(results: FamilyResults) -> Content:
    """All eight fixed depths of the warm start, of runs trained at them, and of the adaptive run. A paper figure."""
    lines = []
    for budget in ("tight", "loose"):
        for kind in ("SFT", "RL", "clamped"):
            cells = {
                depth_of(r): f"{percent(r['solve_rate'])} at {number(r['actions_per_episode'])}"
                for r in results.kind(kind, budget)
            }
            lines.append([f"{budget}: {kind}", *(cells.get(depth, "-") for depth in EVERY)])
    return Content((Grid.of(("solved % at actions", *(f"h={depth}" for depth in EVERY)), lines),))


@table(
    "ablation",
    "Ablation",
    lambda members: (
        *fixed(members),
        *members.other("random", "random"),
        *members.other("adaptive", "depth-only"),
        *(name for agent in ("adaptive", "shuffled") for name in members.other(agent, PAPER)),
    ),
)
def ablation(results: FamilyResults) -> Content:
    """Solve rate without one part of the method each, loose budget."""
    members = results.members
    ours = {
        "SFT best fixed": results.best_fixed("SFT", "loose"),
        "RL best fixed": results.best_fixed("RL", "loose"),
        "random": results.first(members.other("random", "random"), "loose"),
        "depth-only": results.first(members.other("adaptive", "depth-only"), "loose"),
        "adaptive": results.row("adaptive", "loose"),
        "adaptive, sampled": results.row(SAMPLED, "loose"),
    }
    if members.config["advantage"]["estimator"] != "state":  # "state" is the paper's own
        ours["adaptive, the paper's recipe"] = results.first(members.other("adaptive", PAPER), "loose")
    published = reported.ABLATION[results.task]
    lines = [[name, *beside(published[name.partition(",")[0]], hundred(row))] for name, row in ours.items()]
    return Content((Grid.of("row | paper % | ours % | diff", lines),))


def _changed(members: Members) -> dict[str, tuple[str, ...]]:
    """Agents of the cumulative ablation by change; empty if none of its runs exists."""
    if not any(name.startswith("ablation-") and members.run(name) for name in CHANGES):
        return {}
    return {name: members.other("adaptive", name) for name in CHANGES}


@table(
    "cumulative-ablation",
    "Cumulative ablation, from the paper's recipe to ours",
    lambda members: tuple(agent for agents in _changed(members).values() for agent in agents),
)
def cumulative_ablation(results: FamilyResults) -> Content:
    """A row per change that was run and per budget: the preset ``cumulative-ablation``."""
    lines = [
        (
            *(f"{budget}, K = {row['decisions']}", name, CHANGES[name]),
            *(percent(row["solve_rate"]), number(row["actions_per_episode"])),
        )
        for budget in results.budgets
        for name, agents in _changed(results.members).items()
        for row in results.of(agents, budget)
    ]
    return Content((Grid.of("budget | run | what changes | solved % | actions", lines),) if lines else ())


@table(
    "single",
    "Trained at one depth alone",
    lambda members: (
        "adaptive",
        *(a for kind in ("SFT", "RL") for depth in DEPTHS for a in members.alone(depth, kind)),
    ),
)
def single(results: FamilyResults) -> Content:
    """Policies trained at a single depth, played at every depth, loose budget; then the best of those played at the
    depth of their training."""
    lines, same = [], []
    for kind in ("SFT", "RL"):
        for depth in DEPTHS:
            rows = {depth_of(row): row for row in results.of(results.members.alone(depth, kind), "loose")}
            same += [rows[depth]] if depth in rows else []
            lines.append([f"{kind}, trained at h={depth}", *(number(hundred(rows.get(d))) for d in DEPTHS)])
    top, own = best(same, "test"), results.row("adaptive", "loose")
    published, leads = reported.SINGLE[results.task], reported.ABLATION[results.task]["adaptive"]
    as_trained = [
        ["best of those played as trained", *beside(published, hundred(top))],
        ["adaptive ahead of it", *beside(leads - published, less(hundred(own), hundred(top)))],
    ]
    played = Grid.of(("solved %", *(f"played at h={d}" for d in DEPTHS)), lines)
    return Content((played, Grid.of("row | paper % | ours % | diff", as_trained)))


@table("oracle", "Oracle", lambda members: (*fixed(members), *ORACLES))
def oracle(results: FamilyResults) -> Content:
    """Oracle depths for the adaptive run's plans, and the share of the gap to the oracle that adaptive closes."""
    lines = [
        [name, *_compared(reported.ORACLE[results.task] if name == ORACLE else Reported(), results.row(name, "loose"))]
        for name in ORACLES
    ]
    own, top = results.row("adaptive", "loose"), results.row(ORACLE, "loose")
    for kind, published in (("RL", reported.RECOVERED[results.task]), ("SFT", None)):
        share = recovered(own, results.best_fixed(kind, "loose"), top)
        paper, ours, diff = beside(published, share)
        lines.append([f"gap to {kind} best fixed closed", paper, "n/a" if share is None else ours, diff, "-", "-", "-"])
    shares = of(top, "depth_shares") or {}
    by_depth = ", ".join(f"h={d} {percent(shares.get(str(d), 0.0))}" for d in DEPTHS)
    note = f"Decisions of {ORACLE}, % (the paper: every depth at least 11): {by_depth}."
    return Content((Grid.of("row | paper % | ours % | diff | paper actions | ours | diff", lines),), (note,))


def recovered(own: dict[str, Any] | None, base: dict[str, Any] | None, top: dict[str, Any] | None) -> float | None:
    """(adaptive - fixed) / (oracle - fixed) in per cent; None unless the oracle is higher."""
    if own is None or base is None or top is None or top["solve_rate"] <= base["solve_rate"]:
        return None
    return float(100 * (own["solve_rate"] - base["solve_rate"]) / (top["solve_rate"] - base["solve_rate"]))


def _on_front(members: Members) -> tuple[str, ...]:
    return (
        *fixed(members),
        *members.trained(sampled=True),
        "sampled",
        "adaptive-memory",
        *CONTROLS,
        *clamped(EVERY, None),
        "solver",
    )


@table("pareto", "Pareto", _on_front)
def pareto(results: FamilyResults) -> Content:
    """A remark per budget: the Pareto front, and the fixed depths that cannot be dominated."""
    notes = []
    for budget in ("tight", "loose"):
        own = results.row("adaptive", budget)
        if own is None:
            continue
        # Leave out other seeds, checkpoints and models, which were played for other tables.
        rows = [r for r in results.of(_on_front(results.members), budget) if r["agent"] != "solver"]
        points = {r["agent"]: (r["solve_rate"], r["actions_per_episode"]) for r in rows}
        never = undominated(own["decisions"], own["actions_per_episode"], EVERY)
        names = ", ".join(AgentName.parse(name).base for name in pareto_front(points))
        spared = ", ".join(f"h={depth}" for depth in never) or "none"
        notes.append(f"{budget}: front {names}; never to be dominated: {spared}")
    return Content((), tuple(notes))


def _models(members: Members) -> dict[str, str]:
    """Zero-shot agents of the family -> names of their models."""
    return {f"{ZERO_SHOT}@{folder}": transcripts.about(folder)["model"] for folder in members.zero_shot}


@table("zero-shot", "Zero-shot models", lambda members: ("adaptive", *_models(members)))
def zero_shot(results: FamilyResults) -> Content:
    """Zero-shot models on the same instances, beside adaptive; loose budget. A model that was shown pictures of two
    sizes has a row for each; the paper does not state its sizes."""
    rows = results.of(tuple(_models(results.members)), "loose")
    published = {name: cells[results.task] for name, cells in reported.ZERO_SHOT.items()}
    published["adaptive"] = reported.MAIN[results.task, "loose"]["adaptive"]
    lines = []
    for name in dict.fromkeys((*reported.ZERO_SHOT, *(row["model"] for row in rows), "adaptive")):
        own = [results.row("adaptive", "loose")] if name == "adaptive" else [r for r in rows if r["model"] == name]
        cell = published.get(name, Reported())
        for row in own or [None]:
            # The paper reports no actions where nothing is solved; neither do we.
            actions = of(row, "actions_per_episode") if of(row, "solve_rate") else None
            pixels = str((row or {}).get("cell", "-"))
            lines.append([name, pixels, *beside(cell.solved, hundred(row)), *beside(cell.actions, actions)])
    return Content((Grid.of("model | cell px | paper % | ours % | diff | paper actions | ours | diff", lines),))


def _with_heads(members: Members) -> Sequence[str]:
    """Agents: every head, and the entropy threshold, oracle and fixed depths of its plans."""
    if not members.heads:
        return ()
    # If its plans equal those of the adaptive run, that run's own fixed depths and oracle serve.
    one, other = (plans_digest(folder) for folder in (members.heads["world-model"], best_policy(members.adaptive)))
    folder: Path | None = None if one == other else members.heads["world-model"]
    others = (f"{name}@{folder}" if folder else name for name in ("confidence-entropy", ORACLE))
    return (
        *(f"adaptive@{head}" for head in reversed(members.heads.values())),
        *("adaptive", *others, *clamped(EVERY, folder)),
    )


@table("heads", "Heads with a world model", _with_heads)
def heads(results: FamilyResults) -> Content:
    """Heads conditioned on a world model, prices or budget, the run's own head, and other rules on the same plans; none
    is in the paper. Of the fixed depths, only the best on validation per budget."""
    lines = []
    for budget in results.budgets:
        rows = results.of(_with_heads(results.members), budget)
        fixed_depth = best([row for row in rows if depth_of(row)])
        for row in rows:
            if row is fixed_depth or not depth_of(row):
                agent = readable(AgentName.parse(row["agent"]))
                spent = number(row["actions_per_episode"]), f"{row['decisions_per_episode']:.2f}"
                cells = [agent, number(hundred(row)), *spent, figure(row, "gain", 2)]
                lines.append([f"{budget}, K = {row['decisions']}", *cells])
    head = "budget | depth by | solved % | actions | observations | gain share (95 %)"
    return Content((Grid.of(head, lines),) if lines else ())
