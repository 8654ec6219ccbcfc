"""Agents of an evaluation on a page: their labels and words, their roles in figures, which of them the result is about,
and where they lie in the plane of success and actions."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING

from recommit.evaluate.agent_names import CONTROLS, ORACLE, PRIVILEGED, AgentName, brief, readable, seed_of

if TYPE_CHECKING:
    from recommit.results.intervals import Interval


@dataclass(frozen=True)
class Agent(AgentName):
    """An agent and its role in the figures."""

    label: str = ""  #: as on the page: without folders
    role: str = ""  #: first, fixed, control, oracle, privileged or other
    words: str = ""  #: what it does, to be read: no two agents have the same

    @property
    def name(self) -> str:
        """As in the files."""
        return str(self)

    @property
    def brief(self) -> str:
        """What it does in a few letters, for figures."""
        return brief(AgentName.parse(self.label))

    @property
    def family(self) -> tuple[str, bool]:
        """The same for fixed depths that belong together: of one policy, or of runs that were trained for one depth
        each."""
        return self.run.replace(f"fixed-{self.depth}", "fixed-h"), self.samples_actions


def agents_of(names: list[str], seed: str = "") -> list[Agent]:
    """Labels name a policy by its folder, and by as many folders above it as tell it from another; ``seed`` is that of
    the evaluation's own policy."""
    agents = [AgentName.parse(name) for name in names]
    folders = [PurePath(agent.run).parts for agent in agents]
    labels = [replace(agent, run=_telling(parts, folders)) for agent, parts in zip(agents, folders, strict=True)]
    every = zip(agents, labels, _words(labels, seed), strict=True)
    return [
        Agent(**asdict(agent), label=str(label), role=_role(i, agent), words=words)
        for i, (agent, label, words) in enumerate(every)
    ]


def _words(agents: list[AgentName], seed: str) -> list[str]:
    """Words for every label. Of agents with the same words, those of another seed say which, else all their folder."""
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


def _role(place: int, agent: AgentName) -> str:
    if place == 0:
        return "first"
    if agent.base.startswith("fixed-"):
        return "fixed"
    if agent.base == ORACLE:
        return "oracle"
    return "control" if agent.base in CONTROLS else "privileged" if agent.base in PRIVILEGED else "other"


@dataclass(frozen=True)
class AgentPoint:
    """An agent under one budget as a point of the plane of success and actions."""

    agent: Agent
    solved: Interval  #: per cent
    actions: Interval
    #: Actions and per cent solved at every threshold of its rule.
    sweep: tuple[tuple[float, float], ...] = ()
