"""Names of agents: what each does, whose policy it asks, and what it is called in tables and figures. Light to import.

``fixed-4@RUN`` always takes depth 4, with the plans of the policy of ``RUN``. The word before the ``@`` says what an
agent does (``base``), the folder behind it whose policy it asks (``run``; none: that of the evaluation).
``fixed-4+aug8`` observes every picture under eight symmetry augmentations, ``adaptive+aug8x1`` so too, but its world
model's distance under one. ``adaptive+rounds4`` applies the blocks of a network with rounds four times.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, NamedTuple

from recommit.horizon.rule_registry import MEMORY, ON_PUZZLES, named

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Agents that sample depths are played this often, and their figures are means.
SEEDS = 5
#: Those that sample actions leave the shared graph of plans: each of their decisions is a pass of its own.
ACTION_SEEDS = 2


class _Kind(NamedTuple):
    """What an agent is called and does."""

    words: str
    #: What it decides by: what a policy says of the picture; that and what it has done in this episode ("memory"); or
    #: what a simulator says, which no policy can ask.
    uses: str = "picture"
    #: How often it is played.
    seeds: int = 1
    #: Does it play differently under another budget, even if its policy is not budget-conditioned?
    by_budget: bool = False
    #: Does it ask a policy at all?
    asks_policy: bool = True


#: What a zero-shot model is called, with the folder of its run.
ZERO_SHOT = "zero-shot"
#: The best depths there are for a policy's plans.
ORACLE = "oracle-dp"
#: Agents by name; ``fixed-4`` stands for any of 1..16.
AGENTS = {
    "adaptive": _Kind("adaptive"),
    "adaptive-memory": _Kind("adaptive with memory", uses="memory"),
    "sampled": _Kind("adaptive, sampled depths", seeds=SEEDS),
    "fixed-4": _Kind("fixed depth 4"),
    "fixed-4-sampled": _Kind("fixed depth 4, sampled actions", seeds=ACTION_SEEDS),
    "random": _Kind("random depths", seeds=SEEDS),
    "shuffled": _Kind("shuffled depths", seeds=SEEDS, by_budget=True),
    "mixture": _Kind("best state-independent mixture", seeds=SEEDS, by_budget=True),
    ORACLE: _Kind("oracle depth", "simulator", by_budget=True),
    "oracle-delta": _Kind("greedy oracle, most progress", "simulator"),
    "oracle-rate": _Kind("greedy oracle, most progress per action", "simulator"),
    "solver": _Kind("optimal plans", "simulator", asks_policy=False),
    "random-actions": _Kind("random actions", seeds=SEEDS, asks_policy=False),
    ZERO_SHOT: _Kind("zero-shot", asks_policy=False),
}
#: Agents that know the exact distance, which no policy can ask.
PRIVILEGED = tuple(name for name, kind in AGENTS.items() if kind.uses == "simulator")
#: Depths that are drawn without reading the state: what an adaptive policy has to beat.
CONTROLS = ("random", "shuffled", "mixture")
#: Agents of an evaluation that names none.
USUAL = tuple(
    f"adaptive sampled fixed-1 fixed-2 fixed-4 fixed-8 random shuffled mixture {' '.join(PRIVILEGED)}".split()
)
#: Ends of a name: thinking rounds, and symmetry augmentations of every picture.
_ENDS = re.compile(r"(.*?)(?:\+rounds([1-9]\d?))?(?:\+aug([1248])(?:x([1248]))?)?")
_FIXED = re.compile(r"fixed-([1-9]|1[0-6])(-sampled)?")


@dataclass(frozen=True)
class AgentName:
    """An agent: what it does, and whose policy it asks."""

    base: str
    #: Empty for the policy of the evaluation itself.
    run: str = ""
    #: Symmetry augmentations of every picture; 0: as many as its policy has.
    augmentations: int = 0
    #: Those of the world model's distance; 0: as many as its policy has.
    distance: int = 0
    #: Thinking rounds of its network; 0: as many as it has.
    rounds: int = 0

    @classmethod
    def parse(cls, text: str) -> AgentName:
        """Read a name as it stands in files and commands."""
        base, _, run = text.partition("@")
        named, *ends = _ENDS.fullmatch(base).groups()  # type: ignore[union-attr]
        rounds, augmentations, distance = (int(each or 0) for each in ends)
        return cls(named, run, augmentations, distance, rounds)

    def __str__(self) -> str:
        return f"{self.short}@{self.run}" if self.run else self.short

    @property
    def short(self) -> str:
        """The name without the folder."""
        named = f"{self.base}+rounds{self.rounds}" if self.rounds else self.base
        distance = f"x{self.distance}" if self.distance else ""
        return f"{named}+aug{self.augmentations}{distance}" if self.augmentations else named

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
        """The name of its rule in ``recommit.horizon.rule_registry``; empty if it has none."""
        return self.base if self.base.removesuffix(MEMORY) in ON_PUZZLES else ""

    @property
    def swept(self) -> bool:
        """Does its rule have a threshold, which is chosen on validation instances?"""
        return bool(self.rule) and named(self.rule).swept

    @property
    def _kind(self) -> _Kind:
        if self.depth:
            return AGENTS["fixed-4-sampled" if self.samples_actions else "fixed-4"]
        if self.rule:
            remembers = self.rule.endswith(MEMORY) or self.rule == "consecutive"
            return _Kind(named(self.rule).words, "memory" if remembers else "picture")
        return AGENTS.get(self.base, _Kind(self.base))

    @property
    def by_budget(self) -> bool:
        """Does it play differently under another budget, even if its policy is not budget-conditioned?"""
        return self._kind.by_budget or self.swept

    @property
    def asks_policy(self) -> bool:
        """Does it ask a policy at all?"""
        return self._kind.asks_policy

    @property
    def asks_head(self) -> bool:
        """Does its choice of a depth need the policy's depth head?"""
        return self.base in ("adaptive", "adaptive-memory", "sampled")

    @property
    def uses(self) -> str:
        """What it decides by: picture, memory or simulator."""
        return self._kind.uses

    @property
    def seeds(self) -> int:
        """How often it is played."""
        return self._kind.seeds

    @property
    def does(self) -> str:
        """What it does, in words, whosever policy it asks."""
        if self.depth:
            return f"fixed depth {self.depth}" + ", sampled actions" * self.samples_actions
        return self._kind.words + " with memory" * self.rule.endswith(MEMORY)

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
    if base not in AGENTS and not AgentName(base).depth and not AgentName(base).rule:
        raise ValueError(
            f"agents: expected names of {', '.join(AGENTS)} (fixed-1 to fixed-16), or of rules: "
            f"{', '.join(ON_PUZZLES)} (any{MEMORY}), got {base}"
        )
    return base


def with_augmentations(names: Iterable[str], augmentations: int) -> tuple[str, ...]:
    """Names of agents with this number of symmetry augmentations, where they ask a policy and name no other."""
    read = map(AgentName.parse, names)
    return tuple(
        str(replace(n, augmentations=augmentations) if augmentations and n.asks_policy and not n.augmentations else n)
        for n in read
    )


#: Heads that were trained on the plans of a run, by the name of their folder; what they are called, long and short.
HEADS = {
    "world-model": ("world model", "world model"),
    "conditioned": ("price- and budget-conditioned head", "conditioned head"),
}
#: Whose plans, by the name of the run's folder.
_RUNS = {
    "adaptive": "another seed",
    "random": "RL with random depths",
    "depth-only": "depth head alone trained",
    "paper": "the paper's recipe",
    "init": "warm start",
    **dict.fromkeys(HEADS, "plans of the world model"),
}


def readable(agent: AgentName) -> str:
    """What an agent is called in tables: ``fixed-8@fixed-8-s0`` is "fixed depth 8 (own RL)"."""
    if agent.base == "adaptive" and run_kind(agent.run) in HEADS:
        return HEADS[run_kind(agent.run)][0] + _symmetries(agent)
    words = agent.does + _symmetries(agent)
    return f"{words} ({whose})" if (whose := _whose(agent)) else words


def brief(agent: AgentName) -> str:
    """The same in a few words, for a place beside a mark in a figure."""
    if agent.base == "adaptive" and run_kind(agent.run) in HEADS:
        return HEADS[run_kind(agent.run)][1]
    words = agent.does.replace("fixed depth", "fixed") + _symmetries(agent)
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


def _symmetries(agent: AgentName) -> str:
    of_policy = {0: "", 1: ", no augmentation"}.get(agent.augmentations, f", {agent.augmentations} augmentations")
    rounds = f", {agent.rounds} rounds" * bool(agent.rounds)
    return rounds + of_policy + f", distance over {agent.distance}" * bool(agent.distance)


def _whose(agent: AgentName) -> str:
    kind = run_kind(agent.run)
    if fixed := _FIXED.fullmatch(kind):
        return "own RL" if int(fixed[1]) == agent.depth else f"RL at depth {fixed[1]}"
    return _RUNS.get(kind, f"plans of {agent.run}" if agent.run else "same plans" if agent.depth else "")
