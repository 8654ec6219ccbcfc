"""What an evaluation is asked for: who plays what, and how it is counted."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any

from recommit.evaluate import agent_names, metrics
from recommit.evaluate.agent_names import ZERO_SHOT, AgentName
from recommit.graph.prices import Prices

#: What only newer specs name.
OPTIONS = (
    "edges",
    "stop_on_deadlock",
    "whole_commitments",
    "task",
    "price_action",
    "price_observation",
    "regret",
    "split",
    "fresh",
)


def split_words(split: str = "test", fresh: int = 0) -> str:
    """Say which instances figures are of."""
    return f"the fresh test split of seed {fresh}" if fresh else f"the data's {split} split"


@dataclass(frozen=True)
class EvaluationSpec:
    """What is asked for."""

    run: str
    #: Names of ``agent_names.AGENTS``; ``NAME@RUN`` is played by another run's policy.
    agents: tuple[str, ...]
    budgets: tuple[str, ...] = ("loose", "tight")
    instances: int = 1024
    validation: int = 256
    #: Shortest and longest length; empty: as in the data of the run.
    length: tuple[int, ...] = ()
    seed: int = 0
    #: What is near, mid and far; see ``metrics.EDGES``.
    edges: str = metrics.EDGES[0]
    #: End an episode at the first look at a state that nobody can solve: for analysis, since no policy knows it.
    stop_on_deadlock: bool = False
    #: Execute every commitment to its end; the goal counts only there.
    whole_commitments: bool = False
    #: Which puzzle of a run that has several, with or without its size.
    task: str = ""
    #: What an action and a look cost, in solved episodes: the value beside the share solved, and what the ceiling is
    #: the highest of.
    price_action: float = 0.0
    price_observation: float = 0.0
    #: Keep what every commitment cost against the best depth there. It may be asked for later.
    regret: bool = False
    #: Which instances are played: ``test``, or ``validation`` for whatever is chosen by them.
    split: str = "test"
    #: The seed of a fresh test split, which a results folder has once; 0: the data's own test split.
    fresh: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "agents", agent_names.renamed(self.agents))
        for agent in self.names:
            if agent_names.check(agent.base) == ZERO_SHOT and not agent.run:
                raise ValueError("agents: expected the folder of a run, zero-shot@FOLDER, got zero-shot")
        if not self.agents:
            raise ValueError("agents: expected at least one, got none")
        for name in ("instances", "validation"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}: expected at least 1, got {getattr(self, name)}")
        for name in ("price_action", "price_observation", "regret"):
            if not 0 <= getattr(self, name) < math.inf:
                raise ValueError(f"{name}: expected a finite number from 0 on, got {getattr(self, name)}")
        if self.split not in ("test", "validation") or self.fresh < 0 or (self.fresh and self.split != "test"):
            raise ValueError(
                f"split: expected test or validation, and fresh from 1 on with test alone, got {self.split} and "
                f"{self.fresh}"
            )
        if len(self.length) not in (0, 2):
            raise ValueError(f"length: expected two numbers or none, got {self.length}")
        if self.edges not in metrics.EDGES:
            raise ValueError(f"edges: expected one of {', '.join(metrics.EDGES)}, got {self.edges}")
        if self.whole_commitments and any(agent.base == ZERO_SHOT for agent in self.names):
            raise ValueError(
                "whole_commitments: expected no zero-shot agents, whose episodes have been played to the goal"
            )

    @property
    def names(self) -> tuple[AgentName, ...]:
        """The agents' names, read."""
        return tuple(AgentName.parse(name) for name in self.agents)

    @property
    def played(self) -> str:
        """Say which instances the figures are of."""
        return split_words(self.split, self.fresh)

    @property
    def prices(self) -> Prices | None:
        """None where nothing has a price: then there are no values besides."""
        prices = Prices(self.price_action, self.price_observation)
        return None if prices == Prices() else prices

    def to_dict(self) -> dict[str, Any]:
        """Plain values; of the options that older specs do not name, those that are not the usual ones."""
        options = [f for f in fields(EvaluationSpec) if f.name in OPTIONS]
        usual = {f.name for f in options if getattr(self, f.name) == f.default}
        return {f.name: getattr(self, f.name) for f in fields(EvaluationSpec) if f.name not in usual}
