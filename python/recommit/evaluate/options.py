"""Options of an evaluation. Light to import: the command line makes its flags of them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from recommit.evaluate import agent_names
from recommit.evaluate.agent_names import USUAL, ZERO_SHOT, AgentName

if TYPE_CHECKING:
    from recommit.prices import Prices

#: Fields that do not belong to the plan of an evaluation, which is fixed for its folder.
_NOT_PLANNED = ("out", "augmentations", "threads", "device", "paper", "tables")

Edges = Literal["fixed", "thirds", "terciles"]
Split = Literal["test", "validation"]


def split_words(split: str = "test", fresh: int = 0) -> str:
    """Name of the split that figures are of, in words."""
    return f"the fresh test split of seed {fresh}" if fresh else f"the data's {split} split"


@dataclass(frozen=True)
class EvaluateOptions:
    """Play agents on the same test instances and compare the first with the others.

    Args:
        run: A training run, whose data decide what is played, or the name of a policy that comes with the package
            (recommit policies).
        out: The folder for rows and figures. The same command resumes an interrupted evaluation; to add agents, name
            the earlier ones too, since figures are of the agents that are named.
        agents: adaptive, sampled, fixed-1 to fixed-16 (also fixed-4-sampled), random, shuffled, mixture, oracle-dp,
            oracle-delta, oracle-rate, adaptive-memory, solver, random-actions; rules without training:
            confidence-product, confidence-least, confidence-entropy, disagreement, entropy-jump, repetition, reversal,
            consecutive; RULE+memory has a memory. NAME@RUN is played by the policy of another run, zero-shot@FOLDER
            replays a model's answers in a run of recommit zero-shot --data on the same instances.
        budgets: loose, tight, or numbers of observations.
        task: Which puzzle of a run that has several: sliding, or sliding-3x3 with its size.
        instances: Test instances.
        validation: Validation instances, on which thresholds and the best fixed depth are chosen.
        length: Shortest and longest length of the instances, or one number for both (default: as in the data).
        edges: Limits of near, mid and far: up to 8, up to 16 and more actions from the goal; thirds of the way from the
            start; or terciles, as many decisions of solved episodes in each.
        stop_on_deadlock: End episodes at the first observation of a state that cannot be solved. For analysis: no
            policy knows it.
        whole_commitments: Execute every commitment to its end; the goal counts only there.
        price_action: What an executed action costs, as a share of a solved episode. With a price, every table has the
            value, solved less what actions and observations cost, and oracle-dp maximises it. A head that is
            conditioned on prices is given these.
        price_observation: What an observation costs, however deep its commitment.
        augmentations: Test-time symmetry: number of views of every picture, turned and mirrored; 0 for the policy's
            own number. One agent alone: NAME+aug8. Not for sliding, whose goal does not turn.
        split: Split of the instances. Use validation if you choose anything by the figures; thresholds and the best
            fixed depth are then chosen on further validation instances.
        fresh: Play unread test instances of this seed, apart from the data's own test split. The
            folder that OUT lies in has one such split, and judges each run by it once.
        seed: With paper, the seed of the family. It does not change the seeds of agents that sample, which are 0, 1 and
            so on, or the test set, which is fixed by the data.
        threads: Threads of torch; 0: one for a small network on a CPU, as many as torch likes for others.
        device: cpu, cuda, or auto. Under torchrun all processes share the work.
        paper: RUN is a folder of runs, VARIANT-sSEED each; play the agents of all of them and, for a puzzle of the
            paper, write every table of the paper, beside the paper's numbers.
        tables: With paper, only these tables, and only their agents: main, sweep, ablation, single, state, difficulty,
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
    edges: Edges = "fixed"
    stop_on_deadlock: bool = False
    whole_commitments: bool = False
    price_action: float = 0.0
    price_observation: float = 0.0
    augmentations: Literal[0, 1, 2, 4, 8] = 0
    split: Split = "test"
    fresh: int = 0
    seed: int = 0
    threads: int = 0
    device: str = "auto"
    paper: bool = False
    tables: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        words = {name: getattr(self, name) for name in ("agents", "budgets")}  # from Python also one value, or ints
        lists = {name: (value,) if isinstance(value, str | int) else value for name, value in words.items()}
        agents, budgets = (tuple(map(str, value)) for value in lists.values())
        if not 0 <= len(self.length) <= 2:
            raise ValueError(f"length: expected one length, or shortest and longest, got {len(self.length)} numbers")
        known = {
            "run": Path(self.run),
            "out": Path(self.out),
            "agents": agent_names.with_augmentations(agents, self.augmentations),
            "budgets": budgets,
            "length": tuple(self.length) * 2 if len(self.length) == 1 else tuple(self.length),
            "paper": self.paper or bool(self.tables),
        }
        for name, value in known.items():
            object.__setattr__(self, name, value)
        self._check()

    def _check(self) -> None:
        if not self.agents:
            raise ValueError("agents: expected at least one, got none")
        for agent in self.names:
            if agent_names.check(agent.base) == ZERO_SHOT and not agent.run:
                raise ValueError("agents: expected the folder of a run, zero-shot@FOLDER, got zero-shot")
            if agent.base == ZERO_SHOT and self.whole_commitments:
                raise ValueError(f"whole_commitments: expected no episodes that were played to the goal, got {agent}")
        if min(self.instances, self.validation) < 1 or self.fresh < 0:
            raise ValueError(
                "instances, validation: expected at least 1, and fresh at least 0, got "
                f"{self.instances}, {self.validation}, {self.fresh}"
            )
        for name, value, known in (("split", self.split, Split), ("edges", self.edges, Edges)):
            if value not in get_args(known):
                raise ValueError(f"{name}: expected one of {', '.join(get_args(known))}, got {value}")
        if self.fresh and self.split != "test":
            raise ValueError(f"split: expected test beside --fresh, got {self.split}")
        _ = self.prices  # checks them

    @property
    def names(self) -> tuple[AgentName, ...]:
        """Parsed names of the agents."""
        return tuple(AgentName.parse(name) for name in self.agents)

    @property
    def prices(self) -> Prices | None:
        """Prices of actions and observations; None if both are 0: then no values are reported."""
        from recommit.prices import Prices

        prices = Prices(self.price_action, self.price_observation)
        return None if prices == Prices() else prices

    def plan(self) -> dict[str, Any]:
        """Options that decide the figures, as plain values; fixed for the folder."""
        values = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in _NOT_PLANNED}
        return {**values, "run": str(self.run)}
