"""Names of agents: what each does, whose policy it asks, and what it is called in tables and figures. Light to import.

``fixed-4@RUN`` always takes depth 4, with the plans of the policy of ``RUN``. The word before the ``@`` says what an
agent does (``base``), the folder behind it whose policy it asks (``run``; none: that of the evaluation).
``fixed-4+views8`` observes every picture under eight symmetries.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Agents that sample depths are played this often, and their figures are means.
SEEDS = 5
#: Those that sample actions leave the shared graph of plans: each of their decisions is a pass of its own.
ACTION_SEEDS = 2
#: What a zero-shot model is called, with the folder of its run.
ZERO_SHOT = "zero-shot"
#: The best depths there are for a policy's plans.
ORACLE = "oracle-dp"
#: Agents that know the exact distance, which no policy can ask.
PRIVILEGED = (ORACLE, "oracle-delta", "oracle-rate", "solver")
#: What every agent is called; ``fixed-4`` stands for any of 1..8.
AGENTS = {
    "adaptive": "adaptive",
    "adaptive-memory": "adaptive with memory",
    "sampled": "adaptive, sampled depths",
    "fixed-4": "fixed depth 4",
    "fixed-4-sampled": "fixed depth 4, sampled actions",
    "random": "random depths",
    "shuffled": "shuffled depths",
    "mixture": "best state-independent mixture",
    ORACLE: "oracle depth",
    "oracle-delta": "greedy oracle, most progress",
    "oracle-rate": "greedy oracle, most progress per action",
    "solver": "optimal plans",
    "random-actions": "random actions",
    ZERO_SHOT: "zero-shot",
}
#: Who plays where nobody says more.
USUAL = tuple(
    f"adaptive sampled fixed-1 fixed-2 fixed-4 fixed-8 random shuffled mixture {' '.join(PRIVILEGED)}".split()
)
#: Rules that read the plan and were never trained (``recommit.graph.rules``); those of ``SWEPT`` have a threshold.
SWEPT = {
    "confidence-product": "plan-probability threshold",
    "confidence-least": "least-probability threshold",
    "confidence-entropy": "cumulative-entropy threshold",
    "disagreement": "relative-doubt threshold",
}
RULES = {
    **SWEPT,
    "entropy-jump": "up to the largest rise of entropy",
    "repetition": "while the first action repeats",
    "reversal": "up to the first reversed action",
    "consecutive": "agreement with the last plan",
}
#: Ending of a rule's name: where the episode has been before, the next depth of its order.
MEMORY = "+memory"
#: What an agent decides by: what a policy says of the picture; that and what it has done in this episode; or what a
#: simulator says, which no policy can ask.
USES = ("picture", "memory", "simulator")
#: Ending of a name: so many symmetries of every picture.
_VIEWS = re.compile(r"(.*)\+views([1248])")
_FIXED = re.compile(r"fixed-([1-8])(-sampled)?")


@dataclass(frozen=True)
class AgentName:
    """Who plays: what it does, and whose policy it asks."""

    base: str
    #: Empty for the policy of the evaluation itself.
    run: str = ""
    #: Symmetries of every picture; 0: as many as its policy has.
    views: int = 0

    @classmethod
    def parse(cls, text: str) -> AgentName:
        """Read a name as it stands in files and commands."""
        base, _, run = text.partition("@")
        augmented = _VIEWS.fullmatch(base)
        return cls(augmented[1], run, int(augmented[2])) if augmented else cls(base, run)

    def __str__(self) -> str:
        return f"{self.short}@{self.run}" if self.run else self.short

    @property
    def short(self) -> str:
        """The name without the folder."""
        return f"{self.base}+views{self.views}" if self.views else self.base

    @property
    def depth(self) -> int:
        """The depth that it always takes; 0 if it takes several."""
        match = _FIXED.fullmatch(self.base)
        return int(match[1]) if match else 0

    @property
    def samples_actions(self) -> bool:
        """Are its actions sampled from the policy?"""
        return self.base.endswith("-sampled")

    @property
    def rule(self) -> str:
        """The name of its rule in ``recommit.graph.rules``; empty if it has none."""
        return self.base if self.base.removesuffix(MEMORY) in RULES else ""

    @property
    def swept(self) -> bool:
        """Does its rule have a threshold, which is chosen on validation instances?"""
        return self.rule.removesuffix(MEMORY) in SWEPT

    @property
    def by_budget(self) -> bool:
        """Does it play differently under another budget, even if its policy is not budget-conditioned?"""
        return self.base in ("shuffled", "mixture", ORACLE) or self.swept

    @property
    def asks_policy(self) -> bool:
        """Does it ask a policy at all?"""
        return self.base not in (ZERO_SHOT, "solver", "random-actions")

    @property
    def uses(self) -> str:
        """What it decides by, of ``USES``."""
        if self.base in PRIVILEGED:
            return "simulator"
        remembers = self.base == "adaptive-memory" or self.base.endswith(MEMORY) or self.rule == "consecutive"
        return "memory" if remembers else "picture"

    @property
    def seeds(self) -> int:
        """How often it is played."""
        if self.samples_actions:
            return ACTION_SEEDS
        return SEEDS if self.base in ("sampled", "random", "shuffled", "mixture", "random-actions") else 1

    @property
    def stem(self) -> str:
        """How the names of the files of its decisions begin."""
        if not self.run:
            return self.short
        return f"{self.short}-of-{Path(self.run).name}-{hashlib.sha256(self.run.encode()).hexdigest()[:8]}"


def file_name(agent: AgentName, k: int, seed: int) -> str:
    """Name the file of an agent's decisions."""
    return f"{agent.stem}@{k}" + (f"-s{seed}" if agent.seeds > 1 else "")


def validation_name(agent: AgentName, k: int, seed: int) -> str:
    """Name the file of a fixed depth's decisions on validation instances."""
    return f"{file_name(agent, k, seed)}-validation"


def check(base: str) -> str:
    """Return the name itself, or raise an error that lists the names."""
    if base not in AGENTS and not _FIXED.fullmatch(base) and not AgentName(base).rule:
        raise ValueError(
            f"agents: expected names of {', '.join(AGENTS)} (fixed-1 to fixed-8), or of rules: {', '.join(RULES)} "
            f"(any{MEMORY}), got {base}"
        )
    return base


def with_views(names: Iterable[str], views: int) -> tuple[str, ...]:
    """Names of agents that observe so many symmetries, where they ask a policy and say nothing else."""
    read = map(AgentName.parse, names)
    return tuple(str(replace(n, views=views) if views and n.asks_policy and not n.views else n) for n in read)


#: Heads that were trained on the plans of a run, by the name of their folder; what they are called, long and short.
HEADS = {
    "world-model": ("world model", "world model"),
    "conditioned": ("price- and budget-conditioned head", "conditioned head"),
}
#: Whose plans, by the name of the run's folder, as ``recommit train family`` gives it.
_RUNS = {
    "adaptive": "another seed",
    "random": "RL with random depths",
    "depth-only": "depth head alone trained",
    "paper": "the paper's recipe",
    "init": "warm start",
    **dict.fromkeys(HEADS, "plans of the world model"),
}


def readable(agent: AgentName) -> str:
    """What an agent is called in tables: ``fixed-8@fixed-8-s0`` is "fixed depth 8 (RL)"."""
    if agent.base == "adaptive" and run_kind(agent.run) in HEADS:
        return HEADS[run_kind(agent.run)][0] + _symmetries(agent)
    words = _base_words(agent) + _symmetries(agent)
    return f"{words} ({whose})" if (whose := _whose(agent)) else words


def brief(agent: AgentName) -> str:
    """The same in a few words, for a place beside a mark in a figure."""
    if agent.base == "adaptive" and run_kind(agent.run) in HEADS:
        return HEADS[run_kind(agent.run)][1]
    words = _base_words(agent).replace("fixed depth", "fixed") + _symmetries(agent)
    own = run_kind(agent.run) == "adaptive" and seed_of(agent.run)
    whose = f"seed {own}" if own else _whose(agent).removeprefix("plans of ")
    return f"{words} ({whose})" if whose else words


def run_kind(run: str) -> str:
    """The name of a run's folder without its seed."""
    return re.sub(r"-s\d+$", "", PurePath(run).name)


def seed_of(run: str) -> str:
    """At the end of a run's name; empty if there is none."""
    match = re.search(r"-s([0-9]+)$", PurePath(run).name)
    return match[1] if match else ""


def _base_words(agent: AgentName) -> str:
    if agent.rule:
        return RULES[agent.rule.removesuffix(MEMORY)] + " with memory" * agent.rule.endswith(MEMORY)
    if agent.depth:
        return f"fixed depth {agent.depth}" + ", sampled actions" * agent.samples_actions
    return AGENTS.get(agent.base, agent.base)


def _symmetries(agent: AgentName) -> str:
    return f", {agent.views} symmetries" if agent.views > 1 else ", no symmetries" if agent.views else ""


def _whose(agent: AgentName) -> str:
    kind = run_kind(agent.run)
    if fixed := re.fullmatch(r"fixed-([1-8])", kind):
        return "RL" if int(fixed[1]) == agent.depth else f"RL at depth {fixed[1]}"
    return _RUNS.get(kind, f"plans of {agent.run}" if agent.run else "")
