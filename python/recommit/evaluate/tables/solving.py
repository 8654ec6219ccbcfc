"""The paper's tables of who solves how much: "paper | ours | difference"."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recommit.evaluate import reported
from recommit.evaluate.family import DEPTHS, EVERY, best, clamped, depth_of
from recommit.evaluate.tables.table import Content, Table
from recommit.evaluate.text import Grid, beside, hundred, less, number, of, percent, short, with_interval

if TYPE_CHECKING:
    from recommit.evaluate.family import FamilyResults, Members

#: Adaptive's depths and actions sampled: the paper does not say whether its figures are of this
#: one.
SAMPLED = "sampled"
#: The run by the paper's recipe, in families whose adaptive run has another.
PAPER = "paper"


def fixed(members: Members) -> tuple[str, ...]:
    """Agents: adaptive, and fixed depths of the warm start and of the runs that were trained with them."""
    return ("adaptive", SAMPLED, *clamped(EVERY, members.init), *members.trained())


def absent(members: Members, *names: str) -> list[str]:
    """Tell how to make those of the runs that are not there."""
    missing = [name for name in names if members.run(name) is None]
    if not missing:
        return []
    call = f"recommit train family --recipe RECIPE --init WARM_START --out FAMILY --seeds {members.seed}"
    return [f"No run for {', '.join(missing)}: `{call} --variants {' '.join(missing)}` makes it."]


def absent_depths(members: Members) -> list[str]:
    """Tell how to make the fixed depths that were not trained."""
    return absent(members, *(f"fixed-{depth}" for depth in EVERY))


class Main(Table):
    """Solve rate and actions at both budgets; best fixed depths chosen on validation and on test instances, and of
    those that the depth head has."""

    name, title = "main", "Main table"

    def agents(self) -> tuple[str, ...]:
        """Adaptive and all fixed depths."""
        return fixed(self.members)

    def missing(self) -> list[str]:
        """Fixed depths that were not trained."""
        return absent_depths(self.members)

    def render(self, results: FamilyResults) -> Content:
        """A block of rows per budget."""
        head = ("row", "agent", "paper %", "ours %", "diff", "paper actions", "ours", "diff", *_further(results))
        lines = [row for budget in ("tight", "loose") for row in _under(results, budget)]
        return Content((Grid.of(head, lines),), _without(results))


def _under(results: FamilyResults, budget: str) -> list[list[str]]:
    published, further = reported.MAIN[results.task, budget], _further(results)

    def solving(name: str, cell: reported.Reported, row: dict[str, Any] | None) -> list[str]:
        solved, actions = beside(cell.solved, hundred(row)), beside(cell.actions, of(row, "actions_per_episode"))
        return [name, short(row), *solved, *actions, *(_figure(row, *how) for how in further.values())]

    lines = [
        solving(f"{budget}: adaptive", published["adaptive"], results.row("adaptive", budget)),
        solving(f"{budget}: adaptive, sampled", published["adaptive"], results.row(SAMPLED, budget)),
    ]
    for kind in ("RL", "SFT"):
        name = f"{kind} best fixed"
        lines.append(solving(f"{budget}: {name}", published[name], results.best_fixed(kind, budget)))
    for kind in ("RL", "SFT"):
        name = f"{budget}: {kind} best fixed, chosen on the test set"
        lines.append(solving(name, reported.Reported(), results.best_fixed(kind, budget, "test")))
    for kind in ("RL", "SFT"):
        name = f"{budget}: {kind} best fixed of h = {', '.join(map(str, DEPTHS))}"
        row = results.best_fixed(kind, budget, depths=DEPTHS)
        lines.append(solving(name, _published_within(results.task, budget, kind), row))
    return lines


def _further(results: FamilyResults) -> dict[str, tuple[str, int]]:
    """Columns of ours that the paper does not have, where some row has the figure: its key and its digits by head."""
    every = {"value": ("value", 3), "gain share": ("gain", 2)}
    return {name: how for name, how in every.items() if any(row.get(how[0]) is not None for row in results.rows)}


def _figure(row: dict[str, Any] | None, key: str, digits: int) -> str:
    """A figure and its interval in one cell, a dash where the row has none."""
    figure, interval = with_interval(row, key, digits)
    return figure if figure == "-" else f"{figure} ({interval})"


def _without(results: FamilyResults) -> tuple[str, ...]:
    """Say where gain shares are missing."""
    if any(row.get("gain") is not None for row in results.rows):
        return ("Gain shares are of the fixed depths and the oracle of the same plans.",)
    return ("There are no gain shares: they need `oracle-dp`, which `--tables main oracle` plays too.",)


def _published_within(task: str, budget: str, kind: str) -> reported.Reported:
    """The paper's best fixed depth of those that the head has: where the best of all is one of them, that one."""
    cell = reported.MAIN[task, budget][f"{kind} best fixed"]
    return cell if cell.depth in DEPTHS else reported.WITHIN.get((task, budget, kind), reported.Reported())


class FixedDepths(Table):
    """All eight fixed depths, of the warm start, trained, and of the adaptive run clamped. The paper has a figure."""

    name, title = "sweep", "Sweep of fixed depths"

    def agents(self) -> tuple[str, ...]:
        """Every depth of the three, their actions greedy."""
        members = self.members
        kinds = (clamped(EVERY, members.init), members.trained(sampled=False), clamped(EVERY, None))
        return ("adaptive", *(agent for kind in kinds for agent in kind))

    def missing(self) -> list[str]:
        """Fixed depths that were not trained."""
        return absent_depths(self.members)

    def render(self, results: FamilyResults) -> Content:
        """A column per depth."""
        lines = []
        for budget in ("tight", "loose"):
            for kind in ("SFT", "RL", "clamped"):
                cells = {
                    depth_of(r): f"{percent(r['solve_rate'])} at {number(r['actions_per_episode'])}"
                    for r in results.kind(kind, budget)
                    if not short(r).endswith("-sampled")
                }
                lines.append([f"{budget}: {kind}", *(cells.get(depth, "-") for depth in EVERY)])
        return Content((Grid.of(("solved % at actions", *(f"h={depth}" for depth in EVERY)), lines),))


class OneDepth(Table):
    """Trained at one depth alone, played at every one, loose budget; the best that was played as it was trained."""

    name, title = "single", "Trained at one depth alone"

    def agents(self) -> tuple[str, ...]:
        """Every such run at every depth of the head."""
        members = self.members
        return ("adaptive", *(a for kind in ("SFT", "RL") for depth in DEPTHS for a in members.alone(depth, kind)))

    def missing(self) -> list[str]:
        """Warm starts at one depth, and their reinforcement."""
        lines, seed = [], self.members.seed
        for depth in DEPTHS:
            start = f"FAMILY/single-{depth}-init"
            if self.members.single(depth, "SFT") is None:
                call = f"recommit train sft --recipe RECIPE --data DATA --single-commitment {depth} --out {start}"
                lines.append(f"No run for SFT, h={depth}: `{call}` makes it.")
            if self.members.single(depth, "RL") is None:
                call = f"recommit train grpo --recipe RECIPE --init {start} --variant fixed-{depth} --seed {seed}"
                lines.append(f"No run for RL, h={depth}: `{call} --out FAMILY/single-{depth}-s{seed}` makes it.")
        return lines

    def render(self, results: FamilyResults) -> Content:
        """Trained by played depth, then the best of the diagonal."""
        lines, same = [], []
        for kind in ("SFT", "RL"):
            for depth in DEPTHS:
                rows = {depth_of(row): row for row in results.of(self.members.alone(depth, kind), "loose")}
                same += [rows[depth]] if depth in rows else []
                lines.append([f"{kind}, trained at h={depth}", *(number(hundred(rows.get(d))) for d in DEPTHS)])
        played = Grid.of(("solved %", *(f"played at h={d}" for d in DEPTHS)), lines)
        return Content((played, self._as_trained(results, same)))

    def _as_trained(self, results: FamilyResults, same: list[dict[str, Any]]) -> Grid:
        top, own = best(same, "test"), results.row("adaptive", "loose")
        published = reported.SINGLE[results.task]
        leads = reported.MAIN[results.task, "loose"]["adaptive"].solved
        assert leads is not None
        lines = [
            ["best of those played as trained", *beside(published, hundred(top))],
            ["adaptive ahead of it", *beside(leads - published, less(hundred(own), hundred(top)))],
        ]
        return Grid.of("row | paper % | ours % | diff", lines)
