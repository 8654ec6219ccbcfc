"""Names of agents, read here and nowhere else: ``fixed-4@RUN`` always takes depth 4, and asks the policy of ``RUN``.

The word before the ``@`` says what an agent does (``base``), the folder behind it whose policy it asks (``run``; none:
that of the evaluation). ``fixed-4+views8`` looks at eight views of every picture. Light to import.
"""

from __future__ import annotations

import hashlib
import re
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Agents that draw are played this often, and their figures are means.
SEEDS = 5
#: Those that draw actions leave the shared graph of plans: every decision of theirs is a look of its own.
ACTION_SEEDS = 2
#: What a zero-shot model is called, with the folder of its run.
ZERO_SHOT = "zero-shot"
#: What every agent does; fixed-4 stands for any of 1..8.
AGENTS = {
    "adaptive": "the depth head's likeliest depth",
    "adaptive-memory": "adaptive with a memory: in a state where it has been before, the next likeliest depth",
    "sampled": "a depth drawn by the depth head",
    "fixed-4": "always this depth",
    "fixed-4-sampled": "always this depth, actions drawn from the policy",
    "random": "a depth drawn evenly",
    "shuffled": "a depth drawn as often as adaptive takes it, whatever the state",
    "mixture": "the best draw whatever the state with no more actions than adaptive, chosen on validation instances",
    "oracle-dp": "the best depth for every state and number of decisions left: the ceiling for this action head",
    "oracle-delta": "the depth that lowers the distance most",
    "oracle-rate": "the depth that lowers the distance most per action",
    "solver": "optimal plans, eight actions at a time",
    "random-actions": "random actions at random depths",
    ZERO_SHOT: "zero-shot@FOLDER: what a model said in a run of recommit zero-shot on the same instances",
}

#: Who plays where nobody says more.
USUAL = (
    "adaptive",
    "sampled",
    "fixed-1",
    "fixed-2",
    "fixed-4",
    "fixed-8",
    "random",
    "shuffled",
    "mixture",
    "oracle-dp",
    "oracle-delta",
    "oracle-rate",
    "solver",
)
#: Rules that read the plan and were never trained (``recommit.graph.rules``); those of ``SWEPT`` have a threshold.
SWEPT = {
    "confidence-product": "deep as the probability of the plan so far is at least a threshold",
    "confidence-least": "deep as the probability of every action so far is at least a threshold",
    "confidence-entropy": "deep as the entropies of the actions so far add up to no more than a threshold",
    "disagreement": "deep as no action so far is more doubtful than the first one times a threshold",
}
RULES = {
    **SWEPT,
    "entropy-jump": "up to the largest rise of the mean entropy of the plan's actions",
    "repetition": "as long as the plan repeats its first action",
    "reversal": "up to the first action that takes back the one before it",
    "consecutive": "one action more than the plan has in common with the rest of the last one",
}
#: Endings of a rule's name: one threshold for all budgets; where it has been before, the next depth of its order.
SHARED, MEMORY = "-shared", "+memory"
#: What an agent sees and remembers; none of them asks a simulator or a solver, but for those that are no policies.
USES = ("picture", "memory", "simulator")
#: Ending of a name: so many views of every picture.
_VIEWS = re.compile(r"(.*)\+views([1248])")
#: What older versions called some of them: evaluations of theirs are read.
OLD_NAMES = {"wary": "adaptive-memory", "walker": "random-actions"}
_FIXED = re.compile(r"fixed-([1-8])(-sampled)?")


@dataclass(frozen=True)
class AgentName:
    """Who plays: what it does, and whose policy it asks."""

    base: str
    #: Empty for the policy of the evaluation itself.
    run: str = ""
    #: Views of every picture; 0: as many as its policy has.
    views: int = 0

    @classmethod
    def parse(cls, text: str) -> AgentName:
        """Read a name as it stands in files and commands, also one of an older version."""
        base, _, run = text.partition("@")
        seen = _VIEWS.fullmatch(base)
        base, views = (seen[1], int(seen[2])) if seen else (base, 0)
        return cls(OLD_NAMES.get(base, base), run, views)

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
    def draws_actions(self) -> bool:
        """Are its actions drawn from the policy?"""
        return self.base.endswith("-sampled")

    @property
    def rule(self) -> str:
        """The name of its rule in ``recommit.graph.rules``; empty if it has none."""
        plain = self.base.removesuffix(MEMORY)
        name = plain.removesuffix(SHARED)
        names = RULES if name == plain else SWEPT
        return name + self.base[len(plain) :] if name in names else ""

    @property
    def of_rule(self) -> AgentName:
        """The same rule with a threshold of its own for each budget."""
        return replace(self, base=self.rule)

    @property
    def swept(self) -> bool:
        """Does its rule have a threshold, which is chosen on validation instances?"""
        return self.rule.removesuffix(MEMORY) in SWEPT

    @property
    def shared(self) -> bool:
        """Has it one threshold for all budgets?"""
        return self.swept and SHARED in self.base

    @property
    def by_budget(self) -> bool:
        """Does it play differently under another budget?"""
        return self.base in ("shuffled", "mixture", "oracle-dp") or (self.swept and not self.shared)

    @property
    def asks_policy(self) -> bool:
        """Does it look through a policy's eyes at all?"""
        return self.base not in (ZERO_SHOT, "solver", "random-actions")

    @property
    def uses(self) -> str:
        """What it decides by: ``picture``, what a policy says of it; ``memory``, also what it has done before in this
        episode; ``simulator``, what the state or the solver says, which no policy can ask."""
        if self.base in ("oracle-dp", "oracle-delta", "oracle-rate", "solver"):
            return "simulator"
        remembers = self.base == "adaptive-memory" or self.base.endswith(MEMORY) or self.rule == "consecutive"
        return "memory" if remembers else "picture"

    @property
    def seeds(self) -> int:
        """How often it is played."""
        if self.draws_actions:
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


def file_names(name: str) -> list[str]:
    """A file of decisions by its name of today, then by that of an older version, if it had another."""
    older = [old + name.removeprefix(base) for old, base in OLD_NAMES.items() if re.match(rf"{base}(-of-|@)", name)]
    return [name, *older]


def check(base: str) -> str:
    """Return the name itself, or raise an error that lists the names."""
    if base not in AGENTS and not _FIXED.fullmatch(base) and not AgentName(base).rule:
        raise ValueError(
            f"agents: expected names of {', '.join(AGENTS)} (fixed-1 to fixed-8), or of rules: {', '.join(RULES)} "
            f"(confidence-...{SHARED}; any{MEMORY}), got {base}"
        )
    return base


def with_views(names: Iterable[str], views: int) -> tuple[str, ...]:
    """Names of agents that look at so many views, where they ask a policy and say nothing else."""
    read = [AgentName.parse(name) for name in names]
    if not views:
        return tuple(map(str, read))
    return tuple(str(replace(name, views=views) if name.asks_policy and not name.views else name) for name in read)


def renamed(names: Iterable[str]) -> tuple[str, ...]:
    """Turn names that older versions had into those of today, with a notice."""
    result = []
    for name in names:
        agent = AgentName.parse(name)
        if not name.startswith(agent.base):
            warnings.warn(
                f"agents: {name} is called {agent} now; a later version refuses it", FutureWarning, stacklevel=3
            )
            name = str(agent)
        result.append(name)
    return tuple(result)
