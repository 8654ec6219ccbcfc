"""Names of agents: behaviour, policy, and labels in tables and figures. Light to import.

``fixed-4@RUN`` always takes depth 4, with the plans of the policy of ``RUN``: before the ``@`` stands the behaviour
(``base``), behind it the folder of the policy (``run``; none: that of the evaluation).
``fixed-4+aug8`` observes every picture under eight symmetry augmentations; ``adaptive+aug8x1`` too, except for its
world model's distance. ``adaptive+rounds4`` applies the blocks of a network with rounds four times.
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

#: Seeds of agents that sample depths; their figures are means.
SEEDS = 5
#: Seeds of agents that sample actions: fewer, since each decision off the shared graph of plans is a forward pass.
ACTION_SEEDS = 2


class _Kind(NamedTuple):
    """Label and properties of a kind of agent."""

    words: str
    #: Inputs of its decisions: "picture", a policy's outputs; "memory", also its own past in the episode; "simulator",
    #: exact distances, which no policy observes.
    uses: str = "picture"
    #: Number of runs with different seeds.
    seeds: int = 1
    #: True if its decisions depend on the budget, even if its policy is not budget-conditioned.
    by_budget: bool = False
    #: False for agents without a policy.
    asks_policy: bool = True


#: Base of zero-shot models; the folder of the run follows.
ZERO_SHOT = "zero-shot"
#: The optimal depths for a policy's plans.
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
#: Agents that know the exact distance, which no policy observes.
PRIVILEGED = tuple(name for name, kind in AGENTS.items() if kind.uses == "simulator")
#: Controls that draw depths without reading the state; an adaptive policy has to beat them.
CONTROLS = ("random", "shuffled", "mixture")
#: Default agents of an evaluation.
USUAL = tuple(
    f"adaptive sampled fixed-1 fixed-2 fixed-4 fixed-8 random shuffled mixture {' '.join(PRIVILEGED)}".split()
)
#: Suffixes of a name: thinking rounds, and symmetry augmentations of every picture.
_ENDS = re.compile(r"(.*?)(?:\+rounds([1-9]\d?))?(?:\+aug([1248])(?:x([1248]))?)?")
_FIXED = re.compile(r"fixed-([1-9]|1[0-6])(-sampled)?")


@dataclass(frozen=True)
class AgentName:
    """Name of an agent, parsed: base (behaviour), policy, augmentations and rounds."""

    base: str
    #: Folder of the policy's run; empty for the policy of the evaluation itself.
    run: str = ""
    #: Symmetry augmentations of every picture; 0: the policy's own number.
    augmentations: int = 0
    #: Augmentations of the world model's distance; 0: the policy's own number.
    distance: int = 0
    #: Thinking rounds of the network; 0: its own number.
    rounds: int = 0

    @classmethod
    def parse(cls, text: str) -> AgentName:
        """Parse a name as written in files and commands."""
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
        """True if its actions are sampled from the policy."""
        return self.base.endswith("-sampled")

    @property
    def rule(self) -> str:
        """The name of its rule in ``recommit.horizon.rule_registry``; empty if it has none."""
        return self.base if self.base.removesuffix(MEMORY) in ON_PUZZLES else ""

    @property
    def swept(self) -> bool:
        """True if its rule has a threshold, which is chosen on validation instances."""
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
        """True if its decisions depend on the budget, even if its policy is not budget-conditioned."""
        return self._kind.by_budget or self.swept

    @property
    def asks_policy(self) -> bool:
        """True if it uses a policy."""
        return self._kind.asks_policy

    @property
    def asks_head(self) -> bool:
        """True if its depths come from the policy's depth head."""
        return self.base in ("adaptive", "adaptive-memory", "sampled")

    @property
    def uses(self) -> str:
        """Inputs of its decisions: picture, memory or simulator."""
        return self._kind.uses

    @property
    def seeds(self) -> int:
        """Number of runs with different seeds."""
        return self._kind.seeds

    @property
    def does(self) -> str:
        """Label of its behaviour, without that of its policy."""
        if self.depth:
            return f"fixed depth {self.depth}" + ", sampled actions" * self.samples_actions
        return self._kind.words + " with memory" * self.rule.endswith(MEMORY)

    @property
    def stem(self) -> str:
        """Prefix of the names of its decision files."""
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
    """Add a number of symmetry augmentations to the names of agents that use a policy and have none of their own."""
    read = map(AgentName.parse, names)
    return tuple(
        str(replace(n, augmentations=augmentations) if augmentations and n.asks_policy and not n.augmentations else n)
        for n in read
    )


#: Heads that were trained on the plans of a run, by the name of their folder: long and short labels.
HEADS = {
    "world-model": ("world model", "world model"),
    "conditioned": ("price- and budget-conditioned head", "conditioned head"),
}
#: Labels of plans, by the name of the run's folder.
_RUNS = {
    "adaptive": "another seed",
    "random": "RL with random depths",
    "depth-only": "depth head alone trained",
    "paper": "the paper's recipe",
    "init": "warm start",
    **dict.fromkeys(HEADS, "plans of the world model"),
}


def readable(agent: AgentName) -> str:
    """Label of an agent in tables: ``fixed-8@fixed-8-s0`` is "fixed depth 8 (own RL)"."""
    if agent.base == "adaptive" and run_kind(agent.run) in HEADS:
        return HEADS[run_kind(agent.run)][0] + _symmetries(agent)
    words = agent.does + _symmetries(agent)
    return f"{words} ({whose})" if (whose := _whose(agent)) else words


def brief(agent: AgentName) -> str:
    """Short label of an agent, for the legend or a mark of a figure."""
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
    """Seed at the end of a run's name; empty if there is none."""
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
