"""Options of ``recommit graph``. Light to import: the command line makes its flags of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from recommit.horizon.rule_registry import ON_PUZZLES

if TYPE_CHECKING:
    from recommit.graph.graph import CommitmentGraph
    from recommit.prices import Setting

#: Most observations of an episode.
MOST_BUDGET = 512
RULES = ("fixed-1", "fixed-2", "fixed-4", "fixed-8", "head", "head+memory", "sampled", "random", *ON_PUZZLES)


@dataclass(frozen=True)
class GraphBuildOptions:
    """Build the commitment graph of a policy from some start states.

    Args:
        run: A training run, the folder of a policy inside one, or the name of one that comes with the package (recommit
            policies).
        out: The folder of the graph: new, or one that holds a graph, which is replaced.
        every_state: Start from all states there are; for sliding boards of up to ten cells.
        starts: Instances to start from.
        levels: A level file to start from instead of the run's own data: its first levels, all of one size.
        length: Shortest and longest length of the instances (default: as in the data).
        size: Rows and columns of the instances (default: as in the data).
        ways: Also observe the states on the solver's ways from the starts: what recommit graph score --split needs.
        split: Which split of the run's data the instances are from. Choose thresholds on validation, measure on test.
        task: Which puzzle of a run that has several: sliding, or sliding-3x3 with its size.
        budget: Plan only the states that matter to episodes of at most this many observations; the graph can then be
            scored for these alone. 0 for every state that the plans lead to. Sokoban with several boxes needs one.
        limit: Most nodes; a graph that needs more is cut and cannot be scored.
        features: Keep what the depth head reads of an observation, so that other heads can be trained: recommit train
            head.
        samples: Number of plans sampled from the policy at every observation, which the rule agreement reads.
        device: cpu, cuda, or auto.
        threads: Threads of torch; 0: one for a small network on a CPU, as many as torch likes for others.
    """

    run: Path
    out: Path
    every_state: bool = False
    starts: int = 1024
    levels: Path | None = None
    length: tuple[int, ...] = ()
    size: tuple[int, ...] = ()
    ways: bool = False
    split: Literal["test", "validation", "train"] = "test"
    task: str = ""
    budget: int = 0
    limit: int = 4_000_000
    features: bool = False
    samples: int = 0
    device: str = "auto"
    threads: int = 0

    def __post_init__(self) -> None:
        if len(self.size) not in (0, 2):
            raise ValueError(f"size: expected two numbers, got {self.size}")
        if not 0 <= self.budget <= MOST_BUDGET:
            raise ValueError(f"budget: expected 0..{MOST_BUDGET}, got {self.budget}")
        for name in ("every_state", "length", "size"):
            if self.levels is not None and getattr(self, name):
                raise ValueError(f"levels: expected none beside --{name.replace('_', '-')}, got {self.levels}")
        if self.budget and self.ways:
            raise ValueError("ways: expected a graph of every state, for recommit graph score --split, got --budget")


@dataclass(frozen=True)
class GraphScoreOptions:
    """Score rules on a commitment graph, under several budgets and prices.

    Args:
        graph: A folder that recommit graph build wrote, or sliding-2x3, an example that comes with the package.
        out: A folder for scores.json and scores.md.
        choose_on: A graph of the same policy from other starts: thresholds and fixed depths are chosen there.
        rules: fixed-1 to fixed-8, head, confidence-product, confidence-least, confidence-entropy, disagreement,
            entropy-jump, repetition, reversal, consecutive, and agreement where the graph has samples; each also as
            NAME+memory. And sampled and random, depths sampled from the head or uniformly: by expectation.
        rule: A file of Python that defines `rule`: a function from plans to depths, or a recommit.horizon.Rule. It is
            scored without and with a memory. The file is run: see run-code.
        run_code: Yes, run the file.
        budget: Observations per episode, several for several tables (default: that of the graph, or those of
            the puzzle).
        price_action: What an action costs where observations have a price too; reaching the goal is worth 1. With 0
            there is no table over all prices of an observation.
        price_observation: What an observation costs. Every budget is scored without prices first, then at each of
            these.
        split: Also decompose the gap to optimal play into the loss of the plans and the loss of the depths, in both
            orders. The graph needs the solver's ways from its starts: recommit graph build --ways, or every state.
    """

    graph: Path
    out: Path | None = None
    choose_on: Path | None = None
    rules: tuple[str, ...] = RULES
    rule: Path | None = None
    run_code: bool = False
    budget: tuple[int, ...] = ()
    price_action: float = 0.01
    price_observation: tuple[float, ...] = ()
    split: bool = False


def settings(options: GraphScoreOptions, graph: CommitmentGraph) -> tuple[Setting, ...]:
    """Every budget, without prices first and then at each price of an observation."""
    from recommit.prices import Prices, Setting

    budgets = options.budget or ((graph.budget,) if graph.budget else graph.usual_budgets)
    if wrong := [k for k in budgets if not 1 <= k <= MOST_BUDGET]:
        raise ValueError(f"budget: expected numbers 1..{MOST_BUDGET}, got {wrong[0]}")
    prices = (Prices(), *(Prices(options.price_action, each) for each in options.price_observation))
    return tuple(Setting(k, each) for k in budgets for each in prices)
