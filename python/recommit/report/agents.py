"""Agents of an evaluation on a page: their labels and words, and their role in figures."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import PurePath

from recommit.evaluate.agent_names import ORACLE, PRIVILEGED, AgentName, brief, readable, seed_of

#: Depths drawn without reading the state: what an adaptive policy has to beat.
CONTROLS = ("random", "shuffled", "mixture")


@dataclass(frozen=True)
class Agent:
    """An agent and its role in the figures."""

    name: str  #: as in the files
    label: str  #: as on the page: without folders
    role: str  #: first, fixed, control, oracle, privileged or other
    words: str  #: what it does, to be read: no two agents have the same

    @property
    def base(self) -> str:
        """What it does, without whose policy it asks."""
        return AgentName.parse(self.name).base

    @property
    def run(self) -> str:
        """The run whose policy it asks; empty for that of the evaluation."""
        return AgentName.parse(self.name).run

    @property
    def brief(self) -> str:
        """What it does in a few letters, for figures."""
        return brief(AgentName.parse(self.label))

    @property
    def family(self) -> tuple[str, bool]:
        """The same for fixed depths that belong together: of one policy, or of runs that were trained for one depth
        each."""
        return self.run.replace(f"fixed-{self.depth}", "fixed-h"), self.samples_actions

    @property
    def samples_actions(self) -> bool:
        """Are its actions sampled from the policy?"""
        return AgentName.parse(self.name).samples_actions

    @property
    def depth(self) -> int:
        """The depth of an agent of fixed depth; else 0."""
        return AgentName.parse(self.name).depth


def agents_of(names: list[str], seed: str = "") -> list[Agent]:
    """Labels name a policy by its folder, and by as many folders above it as tell it from another; ``seed`` is that of
    the evaluation's own policy."""
    agents = [AgentName.parse(name) for name in names]
    folders = [PurePath(agent.run).parts for agent in agents]
    labels = [str(replace(agent, run=_telling(parts, folders))) for agent, parts in zip(agents, folders, strict=True)]
    return [
        Agent(name, label, _role(i, agent.base), words)
        for i, (name, label, agent, words) in enumerate(zip(names, labels, agents, _words(labels, seed), strict=True))
    ]


def _words(labels: list[str], seed: str) -> list[str]:
    """Words for every label. Of agents with the same words, those of another seed say which, else all their folder."""
    agents = [AgentName.parse(label) for label in labels]
    plain = [readable(agent) for agent in agents]
    by_seed = [
        f"{words}, seed {own}" if (own := seed_of(agent.run)) not in ("", seed) and plain.count(words) > 1 else words
        for words, agent in zip(plain, agents, strict=True)
    ]
    return [
        f"{words} ({agent.run})" if agent.run and by_seed.count(words) > 1 else words
        for words, agent in zip(by_seed, agents, strict=True)
    ]


def _telling(parts: tuple[str, ...], folders: list[tuple[str, ...]]) -> str:
    """As many folders at the end of a path as tell it from the others."""
    for many in range(1, len(parts) + 1):
        if all(other == parts or other[-many:] != parts[-many:] for other in folders):
            return "/".join(parts[-many:])
    return ""


def _role(place: int, base: str) -> str:
    if place == 0:
        return "first"
    if base.startswith("fixed-"):
        return "fixed"
    if base == ORACLE:
        return "oracle"
    return "control" if base in CONTROLS else "privileged" if base in PRIVILEGED else "other"
