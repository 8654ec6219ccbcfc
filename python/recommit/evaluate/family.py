"""Members of a family of runs, by the names of their folders, and the agents that their policies are played as.

adaptive-s0  fixed-4-s0  random-s0  depth-only-s0    runs of recommit train grpo, by variant and seed
world-model-s0  conditioned-s0                       heads trained on the plans of one of these
adaptive-k5-s0                                       the same with five decisions per training episode
single-4-init  single-4-s0                           one depth alone: the warm start, and its reinforcement with a copy
                                                     of it
zero-shot-NAME                                       a run of recommit zero-shot
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from recommit.evaluate import transcripts
from recommit.evaluate.agent_names import HEADS, AgentName
from recommit.evaluate.options import split_words
from recommit.results import table
from recommit.runs.checkpoints import verify
from recommit.runs.directory import best_policy, recipe_of, recipes_of
from recommit.storage import errors, verified
from recommit.storage.verified import DIGESTS

if TYPE_CHECKING:
    from collections.abc import Sequence

#: All depths that a policy can be clamped to, and those that a depth head chooses from.
EVERY = tuple(range(1, 9))
DEPTHS = (1, 2, 4, 8)
#: Adaptive with sampled depths; the paper does not state whether its own figures are of this agent.
SAMPLED = "sampled"
#: Thirds of a training run; each is shown by its last checkpoint.
STAGES = ("early", "middle", "late")
#: Separates a variant's name from the budget of its training episodes, where this differs from the recipe's.
BUDGET = "-k"


def member(family: Path, name: str, seed: int) -> Path:
    """Folder of a run: ``name`` is its variant, with its training budget if it has one, as in ``adaptive-k5``."""
    return family / f"{name}-s{seed}"


class StageCheckpoint(NamedTuple):
    """Checkpoint of a run: its step, and the folder of its policy."""

    step: int
    policy: Path


@dataclass(frozen=True)
class Members:
    """The runs of one seed, and the list of other seeds. Runs without a best policy do not count."""

    family: Path
    seed: int = 0
    #: Puzzle to play, if the runs were trained on several: by name and size, as in ``recipe_of``.
    played: str = ""

    def __post_init__(self) -> None:
        if self.run("adaptive") is None:
            raise ValueError(f"run: expected a family with {self.adaptive.name}, got {self.family}")

    @property
    def adaptive(self) -> Path:
        """Folder of the adaptive run, whose plans the controls and the oracle play."""
        return member(self.family, "adaptive", self.seed)

    @property
    def init(self) -> Path:
        """The adaptive run's copy of the warm start."""
        return self.adaptive / "init"

    def run(self, name: str, seed: int | None = None) -> Path | None:
        """Folder of a run by its name without the seed; None without a best policy."""
        folder = member(self.family, name, self.seed if seed is None else seed)
        return folder if (folder / "best.json").is_file() else None

    @cached_property
    def heads(self) -> dict[str, Path]:
        """Completely saved policies with heads trained on a run's plans, by their names in ``HEADS``."""
        folders = {name: member(self.family, name, self.seed) for name in HEADS}
        return {name: folder for name, folder in folders.items() if (folder / DIGESTS).is_file()}

    @cached_property
    def task(self) -> str:
        """Puzzle that is played."""
        return (recipe_of(self.adaptive, self.played) if self.played else recipes_of(self.adaptive)[0]).task

    @cached_property
    def seeds(self) -> list[int]:
        """Seeds of the adaptive runs."""
        matches = (re.fullmatch(r"adaptive-s(\d+)", folder.name) for folder in self.family.glob("adaptive-s*"))
        return sorted(int(m[1]) for m in matches if m and self.run("adaptive", int(m[1])))

    @cached_property
    def budgets(self) -> dict[int, str]:
        """Decisions per training episode of the adaptive runs -> suffixes of the runs' names."""
        matches = (
            re.fullmatch(rf"adaptive({BUDGET}(\d+))-s{self.seed}", folder.name)
            for folder in self.family.glob(f"adaptive{BUDGET}*")
        )
        named = {int(m[2]): m[1] for m in matches if m and self.run(f"adaptive{m[1]}")}
        return dict(sorted({**named, int(self.config["rollout"]["budget"]): ""}.items()))

    @cached_property
    def config(self) -> dict[str, Any]:
        """Configuration of the adaptive run."""
        return verified.values(self.adaptive, "config.json", {"optim": dict, "rollout": dict, "advantage": dict})

    @cached_property
    def stages(self) -> dict[str, StageCheckpoint | None]:
        """Last intact checkpoint in every third of the adaptive run; None where none was kept."""
        steps = int(self.config["optim"]["steps"])
        checkpoints: dict[str, StageCheckpoint | None] = dict.fromkeys(STAGES)
        for folder in sorted((self.adaptive / "checkpoints").glob("step-*")):
            try:
                step = verify(folder)
            except errors.Damaged:
                continue
            checkpoints[stage_of(step, steps)] = StageCheckpoint(step, folder / "policy")
        return checkpoints

    @cached_property
    def zero_shot(self) -> list[Path]:
        """Folders of finished zero-shot runs on the puzzle that is played."""
        found = [folder for folder in sorted(self.family.glob("zero-shot-*")) if (folder / "summary.json").is_file()]
        if not self.played:
            return found
        size = list(recipe_of(self.adaptive, self.played).size)
        return [folder for folder in found if transcripts.data(folder).get("size") == size]

    def trained(self, suffix: str = "", seed: int | None = None, *, sampled: bool = False) -> tuple[str, ...]:
        """Agents: every run trained by RL at a fixed depth, played at this depth; actions greedy, or ``sampled``."""
        how = "-sampled" if sampled else ""
        runs = ((depth, self.run(f"fixed-{depth}{suffix}", seed)) for depth in EVERY)
        return tuple(f"fixed-{depth}{how}@{folder}" for depth, folder in runs if folder)

    def at_stage(self, stage: str) -> tuple[str, ...]:
        """Agents: the adaptive run's checkpoint of a stage, clamped to every depth."""
        at = self.stages[stage]
        if at is None:
            return ()
        return tuple(clamped(EVERY, None if at.policy == best_policy(self.adaptive) else at.policy))

    def alone(self, depth: int, kind: str) -> tuple[str, ...]:
        """Agents: the policy trained at one depth alone, by imitation (``SFT``), or then also by RL (``RL``), clamped
        to every depth of the head."""
        folder = self.run(f"single-{depth}")
        if kind == "SFT":
            own = self.family / f"single-{depth}-init"  # a warm start on all puzzles is outside
            folder = own if (own / "best.json").is_file() else folder and folder / "init"
        return tuple(clamped(DEPTHS, folder)) if folder else ()

    def other(self, agent: str, name: str, seed: int | None = None) -> tuple[str, ...]:
        """An agent of another run; empty without that run. The adaptive run itself needs no folder in its name."""
        folder = self.run(name, seed)
        if folder is None:
            return ()
        return (agent if folder == self.adaptive else f"{agent}@{folder}",)


def clamped(depths: Sequence[int], folder: Path | None) -> list[str]:
    """Agents: the policy in ``folder`` at fixed depths; None: the adaptive run's own."""
    return [f"fixed-{depth}" + (f"@{folder}" if folder else "") for depth in depths]


def stage_of(step: int, steps: int) -> str:
    """The third of a run that a step belongs to."""
    return STAGES[min(3 * (step - 1) // max(steps, 1), 2)] if step > 0 else STAGES[0]


@dataclass(frozen=True)
class FamilyResults:
    """An evaluation's figures, by agent and budget."""

    rows: list[dict[str, Any]]
    members: Members

    @property
    def task(self) -> str:
        """Puzzle of all rows."""
        return str(self.rows[0]["task"])

    @property
    def budgets(self) -> list[str]:
        """Names of the budgets, in order."""
        return list(dict.fromkeys(row["budget"] for row in self.rows))

    @property
    def split(self) -> str:
        """Split of all rows, in words."""
        return str(self.rows[0].get("split", split_words()))

    def row(self, agent: str, budget: str) -> dict[str, Any] | None:
        """One agent under one budget; None if it was not played."""
        return self._by_agent.get((agent, budget))

    @cached_property
    def _by_agent(self) -> dict[tuple[str, str], dict[str, Any]]:
        return {(row["agent"], row["budget"]): row for row in reversed(self.rows)}

    def of(self, agents: Sequence[str], budget: str) -> list[dict[str, Any]]:
        """Rows of those agents that were played."""
        return [row for agent in agents if (row := self.row(agent, budget)) is not None]

    def first(self, agents: Sequence[str], budget: str) -> dict[str, Any] | None:
        """Row of the first agent that was played; None if none was."""
        return next(iter(self.of(agents, budget)), None)

    def kind(self, kind: str, budget: str) -> list[dict[str, Any]]:
        """Rows of fixed depths of the warm start (``SFT``), of runs trained at them (``RL``), or of the adaptive run;
        all with greedy actions, like the agents they are compared with."""
        if kind == "RL":
            return self.of(self.members.trained(), budget)
        return self.of(clamped(EVERY, self.members.init if kind == "SFT" else None), budget)

    def rivals(self, budget: str) -> dict[str, dict[str, Any] | None]:
        """Adaptive, its depths sampled, and the best fixed depths of both kinds, by the names of their rows."""
        return {
            "adaptive": self.row("adaptive", budget),
            "adaptive, sampled": self.row(SAMPLED, budget),
            **{f"{kind} best fixed": self.best_fixed(kind, budget) for kind in ("RL", "SFT")},
        }

    def best_fixed(
        self, kind: str, budget: str, by: str = "validation", depths: Sequence[int] = EVERY
    ) -> dict[str, Any] | None:
        """Row of the one of ``depths`` that solves most, on ``test`` or ``validation`` instances; ties go to the
        smaller depth."""
        return best([row for row in self.kind(kind, budget) if depth_of(row) in depths], by)


def best(rows: list[dict[str, Any]], by: str = "validation") -> dict[str, Any] | None:
    """Row of the fixed depth that solves most, on ``test`` or ``validation`` instances; ties go to the smaller
    depth."""
    field, by_depth = "solve_rate" if by == "test" else "validation_solve_rate", {depth_of(row): row for row in rows}
    chosen = table.best({depth: row[field] for depth, row in by_depth.items()})
    return None if chosen is None else by_depth[chosen]


def depth_of(row: dict[str, Any]) -> int:
    """Depth of a fixed depth's row, 0 for other agents."""
    return AgentName.parse(row["agent"]).depth
