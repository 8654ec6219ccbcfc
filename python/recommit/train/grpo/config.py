"""What a GRPO run is made of. Every field says which value the paper has, where it has one."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from recommit.play.variants import variant
from recommit.policy.config import HeadConfig
from recommit.puzzles import registry
from recommit.train.config import EngineConfig, OptimConfig, RunConfig, ValidationConfig, _at_least, parse, plain

if TYPE_CHECKING:
    from collections.abc import Iterator

_CHOICES = {
    "group": ("state", "episode", "branch", "exact"),
    "reward": ("mean", "total", "rate", "potential", "solved", "spl"),
    "progress_per": ("action", "commitment"),
    "deadlock": ("zero", "penalty", "terminate"),
    "scale": ("group", "batch", "none"),
    "follow": ("first", "best", "random"),
    "plan_depths": ("chosen", "even"),
}

#: Sections that a puzzle may have values of its own in.
OWN = ("credit", "objective", "rollout", "validation")


@dataclass(frozen=True)
class CreditConfig:
    """How a commitment is judged."""

    #: ``state``: candidates of one state, judged by their own actions (the paper's operational sentence).
    #: ``episode``: whole episodes from one start (the paper's return).
    #: ``branch``: candidates of one state, each played to the end of the budget by the policy itself.
    #: ``exact``: the value of every depth by a dynamic program over the states that greedy plans reach, and of sampled
    #: plans by where they lead. It counts levels solved and the price of an action, no ``reward`` or ``progress``.
    group: Literal["state", "episode", "branch", "exact"] = "state"
    #: Candidates or episodes per group (the paper: 4 for sliding, 8 for Sokoban); plans per state for ``exact``.
    size: int = 4
    #: The bounded progress term, of D lowered distance in n actions: ``mean`` tanh(D / n) (the paper), ``total``
    #: tanh(D / 4), ``rate`` tanh(2 D / (n + 2)), ``potential`` D / 8, ``solved`` nothing; ``spl`` replaces the success term
    #: by d / max(d, n) and has no progress term.
    reward: Literal["mean", "total", "rate", "potential", "solved", "spl"] = "mean"
    #: Weight of the progress term (the paper: 0.20).
    progress: float = 0.2
    #: D is a sum over ``action``s, and one into a state that cannot be solved any more counts 0 (the paper): what was
    #: gained before it counts. Or over ``commitment``s: one that ends in such a state counts 0 as a whole.
    progress_per: Literal["action", "commitment"] = "commitment"
    #: Price of an executed action and of a decision. With ``scale: group`` and on failed episodes a price makes depth 1
    #: of everything (groups that all fail differ only in length): ``price_failed`` says whether failures pay.
    price_action: float = 0.0
    price_decision: float = 0.0
    price_failed: bool = False
    #: A state that cannot be solved any more: its loss of distance counts nothing (the paper), costs ``penalty``, or
    #: also ends the episode.
    deadlock: Literal["zero", "penalty", "terminate"] = "zero"
    penalty: float = 0.2
    #: Advantages are divided by the standard deviation of their group (the paper), of the batch, or by nothing; ``floor`` is
    #: added to the deviation, so that rewards that hardly differ are not blown up.
    scale: Literal["group", "batch", "none"] = "group"
    floor: float = 1e-6
    #: Which candidate an episode goes on with (``state`` and ``branch``); the first is a sample of the policy.
    follow: Literal["first", "best", "random"] = "first"
    #: ``exact``: states looked at per instance and decision; what lies beyond is valued by distance and decisions left.
    width: int = 4
    #: ``exact``: equal parts of the episodes have each of these numbers of decisions, or ``rollout.budget`` where that is
    #: less; all have that one if none is given. The policy is not told which.
    budgets: tuple[int, ...] = ()
    #: ``exact``: moves of the depth head alone per step, on the same plans; each values all depths anew, without a pass of
    #: the backbone.
    head_steps: int = 0
    #: The depth head moves alone only from this share of the run on: first plans get good under many depths.
    head_after: float = 0.0
    #: ``exact``: a plan's credit weighs depths as the head chooses them, or all alike. A plan gets better where it is used
    #: and is used where it is better, so that a head that leaves a depth early may never find out what it could be.
    plan_depths: Literal["chosen", "even"] = "chosen"
    #: Where the price of an action begins, on its way to ``price_action`` at the end; negative: it does not change. A price
    #: that is high from the start can get stuck at shallow depths.
    price_first: float = -1.0

    def __post_init__(self) -> None:
        _at_least(
            "credit",
            self,
            size=1,
            progress=0,
            floor=0,
            price_action=0,
            price_decision=0,
            penalty=0,
            width=1,
            head_steps=0,
        )
        for name, allowed in _CHOICES.items():
            if getattr(self, name) not in allowed:
                raise ValueError(f"credit.{name}: expected one of {', '.join(allowed)}, got {getattr(self, name)}")
        if self.reward == "spl" and self.group == "state":
            raise ValueError(
                "credit.reward: expected another than spl with credit.group state (one commitment), got spl"
            )
        if not 0 <= self.head_after <= 1:
            raise ValueError(f"credit.head_after: expected a share 0..1 of the run, got {self.head_after}")
        if self.group == "exact":
            self._check_exact()
        elif self.plan_depths != "chosen":
            raise ValueError(f"credit.plan_depths: expected chosen without credit.group exact, got {self.plan_depths}")
        elif self.size < 2:
            raise ValueError(f"credit.size: expected at least 2 to compare, got {self.size}")

    def _check_exact(self) -> None:
        """What it does not count must not seem to be asked for."""
        for name, only in (("price_decision", 0), ("price_failed", False), ("deadlock", "zero"), ("follow", "first")):
            if getattr(self, name) != only:
                raise ValueError(
                    f"credit.{name}: expected {only} with credit.group exact, which does not count it, got {getattr(self, name)}"
                )

    def at(self, step: int, steps: int) -> CreditConfig:
        """What holds in ``step`` = 0, 1, ... of ``steps``."""
        done = step / max(steps - 1, 1)
        first = self.price_action if self.price_first < 0 else self.price_first
        moves = self.head_steps if done >= self.head_after else 0
        return replace(self, price_action=first + (self.price_action - first) * done, head_steps=moves)


@dataclass(frozen=True)
class ObjectiveConfig:
    """Clipped ratios, a leash to the warm start, and entropy. The defaults are the paper's for sliding."""

    #: Half width of the trust region of a ratio (the paper: 0.05).
    clip: float = 0.05
    #: ``factor``: the depth and every action have a ratio of their own; ``joint``: one ratio of the whole commitment.
    ratio: Literal["factor", "joint"] = "factor"
    #: What a commitment's terms are divided by: ``constant`` 9, the most there can be, or its ``own`` number of them, which
    #: makes the gradient of the depth depend on the depth.
    length: Literal["constant", "own"] = "constant"
    #: Weight of the exact KL to the policy that the run started from, summed over the depth and the executed actions (the
    #: paper: 0.05 for sliding, 0.20 for Sokoban). ``kl_depth`` includes the depth head: its start is uniform, so that its
    #: KL is log |H| minus its entropy, and the weight adds to that of the entropy.
    kl: float = 0.05
    kl_depth: bool = True
    #: What is a mean over the terms of a commitment, as ``length`` counts them: ``all``, so that KL and entropies have the
    #: surrogate's scale, or the ``surrogate`` alone, KL being a sum and the actions' entropy an eighth of one.
    mean: Literal["all", "surrogate"] = "surrogate"
    #: Weights of the exact entropies (the paper: 0.01 and 0.001).
    entropy_depth: float = 0.01
    entropy_actions: float = 0.001
    #: How often the same commitments are learned from.
    epochs: int = 1

    def __post_init__(self) -> None:
        _at_least("objective", self, clip=0, kl=0, epochs=1)
        choices = {"ratio": ("factor", "joint"), "length": ("constant", "own"), "mean": ("all", "surrogate")}
        for name, allowed in choices.items():
            if getattr(self, name) not in allowed:
                raise ValueError(f"objective.{name}: expected {' or '.join(allowed)}, got {getattr(self, name)}")
        if self.ratio == "joint" and self.mean == "all":
            raise ValueError(
                "objective.mean: expected surrogate with objective.ratio joint, which is one term, got all"
            )


@dataclass(frozen=True)
class RolloutConfig:
    """The episodes that a step learns from."""

    #: Start states per step, all ranks together.
    instances: int = 64
    #: Decisions per episode while training (the paper: 5 for sliding, 6 for Sokoban).
    budget: int = 5
    #: Shortest and longest length of the instances; empty: as in the data of the warm start.
    length: tuple[int, ...] = ()
    #: Mirror and turn every start, where the puzzle's rules do not mind.
    augment: bool = False
    #: How actions are chosen in rollouts; ``greedy`` leaves the action decoder without a comparison to learn from.
    actions: Literal["sampled", "greedy"] = "sampled"
    #: States that a step learns from at most, all ranks together; 0: all of them.
    states: int = 0

    def __post_init__(self) -> None:
        _at_least("rollout", self, instances=1, budget=1, states=0)
        if len(self.length) not in (0, 2):
            raise ValueError(f"rollout.length: expected two numbers or none, got {self.length}")
        if self.actions not in ("sampled", "greedy"):
            raise ValueError(f"rollout.actions: expected sampled or greedy, got {self.actions}")


@dataclass(frozen=True)
class FinishConfig:
    """The last steps of a run with a depth head: plans stay as they are, and it alone moves, on many more starts."""

    #: Of ``optim.steps``, rounded to whole steps.
    share: float = 0.0
    #: Start states per step, in multiples of ``rollout.instances``.
    times: int = 16
    #: Moves per step, each after all depths were valued anew, and their learning rate.
    moves: int = 60
    lr: float = 3e-3
    #: ``credit.budgets`` and ``credit.price_action`` of these steps; none and a negative price: as before them. The best policy
    #: of a run has the highest share solved less the price of its actions, with all of these budgets and that of its
    #: validation, on average.
    budgets: tuple[int, ...] = ()
    price: float = -1.0

    def __post_init__(self) -> None:
        _at_least("finish", self, times=1, moves=1, lr=0)
        if not 0 <= self.share <= 1:
            raise ValueError(f"finish.share: expected a share 0..1 of the steps, got {self.share}")


@dataclass(frozen=True)
class GrpoConfig:
    """Reinforcement of both heads, from a warm start."""

    variant: str = "adaptive"
    #: Another depth head than the warm start's, which supervision has not touched.
    head: HeadConfig | None = None
    credit: CreditConfig = field(default_factory=CreditConfig)
    objective: ObjectiveConfig = field(default_factory=ObjectiveConfig)
    rollout: RolloutConfig = field(default_factory=RolloutConfig)
    finish: FinishConfig = field(default_factory=FinishConfig)
    #: ``steps`` of rollout and update; ``batch`` states per move of the weights, several of which make a step.
    optim: OptimConfig = field(
        default_factory=lambda: OptimConfig(steps=100, batch=256, lr=3e-5, vision_lr=0.0, head_lr=1e-4, depth_lr=5e-4)
    )
    validation: ValidationConfig = field(default_factory=lambda: ValidationConfig(every=20))
    #: Which puzzles of a warm start that has several, by name, with or without size; several are reinforced together.
    tasks: tuple[str, ...] = ()
    #: Values that are others for one puzzle, by its name: {sokoban: {rollout.budget: 6}}.
    by_task: dict[str, dict[str, Any]] = field(default_factory=dict)
    engine: EngineConfig = field(default_factory=EngineConfig)
    run: RunConfig = field(default_factory=RunConfig)

    def __post_init__(self) -> None:
        for task in self.by_task:
            registry.puzzle(task)
            self.of(task)
        chosen = variant(self.variant)
        if self.credit.group == "exact":
            for name, paired in (("ratio", "joint"), ("length", "own")):
                if getattr(self.objective, name) == paired:
                    raise ValueError(
                        f"objective.{name}: expected another with credit.group exact, which judges depths and plans apart, "
                        f"got {paired}"
                    )
        alone = self.finish.budgets if self.finish.share > 0 else ()
        for name, budgets in (("credit", self.credit.budgets), ("finish", alone)):
            if budgets and (self.credit.group != "exact" or min(budgets) < 1):
                raise ValueError(
                    f"{name}.budgets: expected numbers from 1 on with credit.group exact, got {budgets} with {self.credit.group}"
                )
        for name, value in (("credit.head_steps", self.credit.head_steps), ("finish.share", self.finish.share)):
            if value and self.credit.group != "exact":
                raise ValueError(f"{name}: expected 0 without credit.group exact, got {value} with {self.credit.group}")
        if not chosen.head and self.rollout.actions == "greedy":
            raise ValueError(
                f"rollout.actions: expected sampled with variant {self.variant}, which learns from actions alone, got greedy"
            )
        if not chosen.head and self.objective.ratio == "joint":
            raise ValueError(
                f"objective.ratio: expected factor with variant {self.variant}, whose depth is not chosen, got joint"
            )

    def of(self, task: str) -> GrpoConfig:
        """With the values of one puzzle."""
        values = {**plain(self), "by_task": {}}
        for path, value in _dotted(self.by_task.get(task, {})):
            section, _, name = path.partition(".")
            if section not in OWN or name not in values[section]:
                raise ValueError(f"by_task.{task}: expected values of {', '.join(OWN)}, got {path}")
            values[section][name] = value
        own: GrpoConfig = parse(GrpoConfig, values) if task in self.by_task else self
        return own

    def credit_at(self, step: int) -> CreditConfig:
        """What holds in ``step`` = 0, 1, ..."""
        now = self.credit.at(step, self.optim.steps)
        if not self.finishing(step):
            return now
        price = self.finish.price if self.finish.price >= 0 else now.price_action
        budgets = self.finish.budgets or now.budgets
        return replace(now, head_steps=self.finish.moves, price_action=price, budgets=budgets)

    @property
    def last_price(self) -> float:
        """What an action costs in the last step; so much it costs in validations, too."""
        return self.credit_at(self.optim.steps - 1).price_action

    def finishing(self, step: int) -> bool:
        """Does the depth head alone move in this step?"""
        return variant(self.variant).head and step >= self.joint_steps

    @property
    def starts(self) -> int:
        """Start states of the whole run."""
        alone = self.optim.steps - self.joint_steps
        return (self.optim.steps + alone * (self.finish.times - 1)) * self.rollout.instances

    @property
    def joint_steps(self) -> int:
        """Steps before the depth head moves alone."""
        return self.optim.steps - int(self.finish.share * self.optim.steps + 0.5)


def _dotted(values: dict[str, Any], outer: str = "") -> Iterator[tuple[str, Any]]:
    """Each value by its path, whether it was said by path or by sections within sections."""
    for name, value in values.items():
        if isinstance(value, dict):
            yield from _dotted(value, f"{outer}{name}.")
        else:
            yield f"{outer}{name}", value
