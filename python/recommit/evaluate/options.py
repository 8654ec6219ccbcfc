"""What an evaluation is asked for: who plays what, and how it is counted. Light to import: the command line makes its
flags of it."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from recommit.evaluate import agent_names
from recommit.evaluate.agent_names import USUAL, ZERO_SHOT, AgentName

if TYPE_CHECKING:
    from recommit.prices import Prices

#: Fields that say how and where an evaluation runs. All others are its plan, which a folder keeps to.
_NOT_PLANNED = ("out", "augmentations", "threads", "device", "anyway", "paper", "tables")


def split_words(split: str = "test", fresh: int = 0) -> str:
    """Say which instances figures are of."""
    return f"the fresh test split of seed {fresh}" if fresh else f"the data's {split} split"


@dataclass(frozen=True)
class EvaluateOptions:
    """Play agents on the same test instances and compare the first with the others.

    Args:
        run: A training run; its data say what to play. Or the name of a policy that comes with the package (recommit
            policies).
        out: The folder for rows and figures; the same command goes on where it was interrupted, and other agents may be
            added: name the earlier ones too, since figures are of those that are named.
        agents: adaptive, sampled, fixed-1 to fixed-16 (also fixed-4-sampled), random, shuffled, mixture, oracle-dp,
            oracle-delta, oracle-rate, adaptive-memory, solver, random-actions; rules without training:
            confidence-product, confidence-least, confidence-entropy, disagreement, entropy-jump, repetition, reversal,
            consecutive; RULE+memory has a memory. NAME@RUN is played by the policy of another run, zero-shot@FOLDER is
            what a model said in a run of recommit zero-shot --data on the same instances.
        budgets: loose, tight, or numbers of observations.
        task: Which puzzle of a run that has several: sliding, or sliding-3x3 with its size.
        instances: Test instances.
        validation: Instances that choices are made on.
        length: Shortest and longest length of the instances, or one number for both (default: as in the data).
        edges: What is near, mid and far: up to 8, up to 16 and more actions from the goal; thirds of the way from the
            start; or terciles, as many decisions of solved episodes in each.
        stop_on_deadlock: End episodes at the first observation of a state that cannot be solved. For analysis: no
            policy knows it.
        whole_commitments: Execute every commitment to its end; the goal counts only there.
        price_action: What an executed action costs, as a share of a solved episode. With a price, every table has the
            value, solved less what actions and observations cost, and oracle-dp maximises it. A head that is
            conditioned on prices is given these.
        price_observation: What an observation costs, however deep its commitment.
        regret: Also keep the regret of every commitment against the best depth there, for the report. It needs
            further states, and may be asked for later in the same folder.
        augmentations: Test-time symmetry: observe every picture turned and mirrored in so many ways; 0 for as
            many as the policy has. One agent alone: NAME+aug8. Not for sliding, whose goal does not turn.
        split: Which instances are played: whatever is chosen by figures wants those of validation. Choices within the
            evaluation are then made on further ones.
        fresh: Play test instances of this seed that nobody has looked at, apart from the data's own test split. The
            folder that OUT lies in has one such split, and judges each run by it once.
        again: Draw another fresh split, or judge by it again, and note it in plan.json.
        seed: With paper, which seed of the family. Agents that sample are played with seeds 0, 1 and so on, whatever
            this says, and the test set is fixed by the data.
        threads: Threads of torch; 0 for as many as it likes.
        device: cpu, cuda, or auto. Under torchrun all processes share the work.
        anyway: Let policies play puzzles and sizes that they were not trained on.
        paper: RUN is a folder of runs, VARIANT-sSEED each; play everybody in it and, of a puzzle that the
            paper has, write every table of the paper, beside the paper's numbers.
        tables: With paper, only these, and only whom they need: main, sweep, ablation, single, state, difficulty,
            emergence, efficiency, depths, entropy, seeds, budgets, oracle, pareto, heads, cumulative-ablation,
            zero-shot.
    """

    run: Path
    out: Path
    agents: tuple[str, ...] = USUAL
    budgets: tuple[str, ...] = ("loose", "tight")
    task: str = ""
    instances: int = 1024
    validation: int = 256
    length: tuple[int, ...] = ()
    edges: Literal["fixed", "thirds", "terciles"] = "fixed"
    stop_on_deadlock: bool = False
    whole_commitments: bool = False
    price_action: float = 0.0
    price_observation: float = 0.0
    regret: bool = False
    augmentations: Literal[0, 1, 2, 4, 8] = 0
    split: Literal["test", "validation"] = "test"
    fresh: int = 0
    again: bool = False
    seed: int = 0
    threads: int = 1
    device: str = "auto"
    anyway: bool = False
    paper: bool = False
    tables: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        def put(name: str, value: Any) -> None:
            object.__setattr__(self, name, value)

        for name in ("run", "out"):
            put(name, Path(getattr(self, name)))
        for name in ("agents", "budgets"):  # from Python also one alone, and numbers
            value = getattr(self, name)
            put(name, tuple(map(str, (value,) if isinstance(value, str | int) else value)))
        put("agents", agent_names.with_augmentations(self.agents, self.augmentations))
        if len(self.length) > 2:
            raise ValueError(f"length: expected one length, or shortest and longest, got {len(self.length)} numbers")
        put("length", tuple(self.length) * 2 if len(self.length) == 1 else tuple(self.length))
        put("paper", self.paper or bool(self.tables))
        self._check()

    def _check(self) -> None:
        if not self.agents:
            raise ValueError("agents: expected at least one, got none")
        for agent in self.names:
            if agent_names.check(agent.base) == ZERO_SHOT and not agent.run:
                raise ValueError("agents: expected the folder of a run, zero-shot@FOLDER, got zero-shot")
            if agent.base == ZERO_SHOT and self.whole_commitments:
                raise ValueError(f"whole_commitments: expected no episodes that were played to the goal, got {agent}")
        for name in ("instances", "validation"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}: expected at least 1, got {getattr(self, name)}")
        for name in ("price_action", "price_observation"):
            if not 0 <= getattr(self, name) < math.inf:
                raise ValueError(f"{name}: expected a finite number from 0 on, got {getattr(self, name)}")
        if self.split not in ("test", "validation") or self.fresh < 0 or (self.fresh and self.split != "test"):
            raise ValueError(
                f"split: expected test or validation, and fresh from 1 on with test alone, got {self.split} and "
                f"{self.fresh}"
            )
        if self.edges not in ("fixed", "thirds", "terciles"):
            raise ValueError(f"edges: expected fixed, thirds or terciles, got {self.edges}")

    @property
    def names(self) -> tuple[AgentName, ...]:
        """The agents' names, read."""
        return tuple(AgentName.parse(name) for name in self.agents)

    @property
    def instance_words(self) -> str:
        """Say which instances the figures are of."""
        return split_words(self.split, self.fresh)

    @property
    def prices(self) -> Prices | None:
        """None where nothing has a price: then there are no values besides."""
        from recommit.prices import Prices

        prices = Prices(self.price_action, self.price_observation)
        return None if prices == Prices() else prices

    def plan(self) -> dict[str, Any]:
        """What decides the figures, as plain values: what a folder was begun with is what it goes on with."""
        values = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in _NOT_PLANNED}
        return {**values, "run": str(self.run)}
