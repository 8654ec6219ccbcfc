"""The configuration of a GRPO run. Comments give the paper's values, where it has one."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from recommit.policy.config import HeadConfig, check_depths
from recommit.prices import Prices
from recommit.puzzles import registry
from recommit.rollout.variants import variant
from recommit.storage.schema import check, parse, refuse
from recommit.train.config import EngineConfig, OptimConfig, RunConfig, ValidationConfig, plain, section

if TYPE_CHECKING:
    from pathlib import Path

#: A constant price, or its first and last value, interpolated linearly over the run. A price that is high from the
#: start can get stuck at shallow depths.
Price: TypeAlias = "float | tuple[float, float]"
#: Sections that ``by_task`` may override.
PER_TASK = ("advantage", "prices", "objective", "rollout", "validation")
#: Estimators that read a field of ``AdvantageConfig`` (others: all), and fields of a phase that only ``exact`` reads.
_SAMPLED = ("state", "episode", "branch")
_READ_BY = {
    **dict.fromkeys(("progress", "progress_per", "deadlock", "scale"), _SAMPLED),
    "follow": ("state", "branch"),
    **dict.fromkeys(("max_expansions", "depth_weighting"), ("exact",)),
}
_EXACT_PHASE = ("head_updates", "head_only", "depth_head_lr", "starts", "budgets")


@dataclass(frozen=True)
class AdvantageConfig:
    """Advantage estimation: rewards of commitments, and the groups they are compared in."""

    #: ``state``: commitments of one state, scored by their own actions (the paper's operational sentence). ``episode``:
    #: whole episodes from one start (the paper's return). ``branch``: commitments of one state, each continued by the
    #: policy to the end of the budget. ``exact``: every depth by its value on the commitment graph of greedy plans, and
    #: sampled plans by the states they lead to; the return is then 1 if solved, less the prices.
    estimator: Literal["state", "episode", "branch", "exact"] = "state"
    #: Group size in commitments or episodes (the paper: 4 for sliding, 8 for Sokoban); ``exact``: plans per state.
    group_size: int = 4
    #: Weight of the bounded progress term tanh(mean progress per action) beside the success term (the paper: 0.20).
    progress: float = 0.2
    #: Progress is summed per ``action`` (the paper), where an action into a dead state counts 0 and earlier gains are
    #: kept; or per ``commitment``, where one that ends in a dead state counts 0 as a whole.
    progress_per: Literal["action", "commitment"] = "commitment"
    #: On reaching a dead (unsolvable) state: no penalty (the paper), minus ``reward.PENALTY``, or no penalty but the
    #: end of the episode.
    deadlock: Literal["zero", "penalty", "terminate"] = "zero"
    #: Advantages are divided by their group's standard deviation (the paper), by the batch's root mean square (as
    #: ``exact`` always does), or not at all.
    scale: Literal["group", "batch", "none"] = "group"
    #: The candidate that an episode continues with; ``first`` is an unbiased sample of the policy.
    follow: Literal["first", "best", "random"] = "first"
    #: Nodes expanded per start and decision; values of others are estimated from distance and remaining decisions.
    max_expansions: int = 4
    #: Weights of the depths in a plan's advantage. ``chosen``, by the head's probabilities, can collapse: plans improve
    #: only at depths that the head already picks; ``uniform`` trains all depths.
    depth_weighting: Literal["chosen", "uniform"] = "chosen"

    def __post_init__(self) -> None:
        least = 1 if self.estimator == "exact" else 2  # a baseline needs two
        check("advantage", self, group_size=least, progress=0, max_expansions=1)
        for name, readers in _READ_BY.items():
            value = getattr(self, name)
            changed = value != type(self).__dataclass_fields__[name].default
            unread = f"no such field with advantage.estimator {self.estimator}, which does not read it"
            others = (
                f'{value}; --set "advantage={{estimator: {self.estimator}}}" leaves out what a recipe says of others'
            )
            refuse((changed and self.estimator not in readers, f"advantage.{name}", unread, others))


@dataclass(frozen=True)
class PriceConfig:
    """Prices of an executed action and of an observation, in solved episodes.

    With ``exact`` every episode pays; with sampled advantages only a success pays: groups that all fail would differ
    only in length, and teach depth 1.
    """

    action: Price = 0.0
    observation: Price = 0.0

    def __post_init__(self) -> None:
        for name in ("action", "observation"):
            if min(_ends(getattr(self, name))) < 0:
                raise ValueError(f"prices.{name}: expected at least 0, got {getattr(self, name)}")

    def at(self, progress: float) -> Prices:
        """The prices at ``progress`` in [0, 1] of the run."""
        ends = _ends(self.action), _ends(self.observation)
        return Prices(*(first + (last - first) * progress for first, last in ends))


def _ends(price: Price) -> tuple[float, float]:
    return price if isinstance(price, tuple) else (price, price)


@dataclass(frozen=True)
class ObjectiveConfig:
    """Clipped surrogate, KL to the warm start, entropies; see ``loss``. Defaults: the paper's for sliding."""

    #: PPO's epsilon: half width of the clipping range of a ratio (the paper: 0.05).
    clip: float = 0.05
    #: ``factor``: one ratio for the depth and each action; ``joint``: one ratio for the whole commitment.
    ratio: Literal["factor", "joint"] = "factor"
    #: Normalization by a commitment's number of terms. ``surrogate``: only the surrogate, by 9, the maximum for eight
    #: actions; KL is a sum, the action entropy a sum over 8. ``constant``: also KL and entropies, which puts them on
    #: the surrogate's scale. ``length``: all by the commitment's own number of terms, which makes the depth's gradient
    #: depend on the depth.
    loss_normalization: Literal["surrogate", "constant", "length"] = "surrogate"
    #: KL coefficient (TRL's ``beta``) of the exact KL to the warm start, over the depth and the executed actions (the
    #: paper: 0.05 for sliding, 0.20 for Sokoban). ``kl_depth`` includes the depth head: as it starts uniform, its KL is
    #: log |H| minus its entropy, so that the coefficient adds to the entropy's.
    kl: float = 0.05
    kl_depth: bool = True
    #: Coefficients of the exact entropy bonuses (the paper: 0.01 and 0.001).
    entropy_depth: float = 0.01
    entropy_actions: float = 0.001

    def __post_init__(self) -> None:
        check("objective", self, clip=0, kl=0)
        joint = self.ratio == "joint" and self.loss_normalization != "surrogate"
        one = "surrogate with objective.ratio joint, which is one term"
        refuse((joint, "objective.loss_normalization", one, self.loss_normalization))


@dataclass(frozen=True)
class RolloutConfig:
    """The rollouts of a training step."""

    #: Start states per step, all ranks together.
    instances: int = 64
    #: Decisions per episode while training (the paper: 5 for sliding, 6 for Sokoban).
    budget: int = 5
    #: Shortest and longest length of the instances; none: as in the data of the warm start.
    length: tuple[int, int] | None = None
    #: Apply a random symmetry to every start, where the puzzle allows it.
    augment: bool = False
    #: ``exact`` only: most training states per step, all ranks together; 0: all.
    states: int = 0

    def __post_init__(self) -> None:
        check("rollout", self, instances=1, budget=1, states=0)


@dataclass(frozen=True)
class GrpoPhase:
    """A phase of a run with constant settings. Unnamed fields are as in the rest of the recipe."""

    steps: int
    #: Updates of the depth head alone in every step, on the commitment graph of its plans. Each evaluates all depths
    #: again, without new observations.
    head_updates: int = 0
    #: Freeze the plans: the step ends after the head's updates. Default: train both.
    head_only: bool = False
    #: Learning rate of the head updates; 0: ``optim.depth_head_lr``, by the run's schedule.
    depth_head_lr: float = 0.0
    #: Start states per step, all ranks together, a multiple of ``rollout.instances``; 0: ``rollout.instances``.
    starts: int = 0
    #: Budgets that are spread evenly over the episodes, each capped at ``rollout.budget``; empty: ``rollout.budget``
    #: for all. The policy does not observe its budget.
    budgets: tuple[int, ...] = ()
    #: Overrides ``prices.action``.
    price_action: float | None = None

    def __post_init__(self) -> None:
        check("phases", self, steps=1, head_updates=0, depth_head_lr=0, starts=0)
        alone, rate = self.head_only and not self.head_updates, self.depth_head_lr
        refuse(
            (alone, "phases.head_updates", "at least 1 with phases.head_only", 0),
            (rate and not self.head_updates, "phases.depth_head_lr", "0 without phases.head_updates", rate),
            (min(self.budgets, default=1) < 1, "phases.budgets", "numbers from 1 on", self.budgets),
            ((self.price_action or 0) < 0, "phases.price_action", "at least 0", self.price_action),
        )


@dataclass(frozen=True)
class GrpoValidationConfig(ValidationConfig):
    """Validation of a GRPO run."""

    #: Further budgets, beside ``budget``, for selecting the best policy: the highest solve rate minus prices (those at
    #: the end of the run) of actions and observations, averaged over all budgets.
    budgets: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse((min(self.budgets, default=1) < 1, "validation.budgets", "numbers from 1 on", self.budgets))


#: Much smaller learning rates than a warm start's.
OPTIM = OptimConfig(steps=100, batch=256, lr=3e-5, decoder_lr=1e-4, depth_head_lr=5e-4)


@dataclass(frozen=True)
class GrpoConfig:
    """GRPO on both heads, from a warm start."""

    variant: str = "adaptive"
    #: A new depth head in place of the warm start's; SFT does not train the depth head.
    head: HeadConfig | None = None
    #: Depths of a new head, none deeper than the warm start's plans; empty: those of the warm start.
    depths: tuple[int, ...] = ()
    advantage: AdvantageConfig = field(default_factory=AdvantageConfig)
    prices: PriceConfig = field(default_factory=PriceConfig)
    objective: ObjectiveConfig = field(default_factory=ObjectiveConfig)
    rollout: RolloutConfig = field(default_factory=RolloutConfig)
    #: Phases in order, ``optim.steps`` in total; empty: a single phase.
    phases: tuple[GrpoPhase, ...] = ()
    #: ``steps`` of rollout and update; ``batch`` states per optimizer step, of which a step takes several.
    optim: OptimConfig = field(default_factory=lambda: OPTIM)
    validation: GrpoValidationConfig = field(default_factory=lambda: GrpoValidationConfig(every=20))
    #: Puzzles of a warm start with several, by name, with or without size; several are trained jointly.
    tasks: tuple[str, ...] = ()
    #: Overrides per puzzle: {sokoban: {rollout.budget: 6}}.
    by_task: dict[str, dict[str, Any]] = field(default_factory=dict)
    engine: EngineConfig = field(default_factory=EngineConfig)
    run: RunConfig = field(default_factory=RunConfig)

    def __post_init__(self) -> None:
        check_depths(self.depths)
        for task in (*self.by_task, *(name.partition("-")[0] for name in self.tasks)):
            registry.puzzle(task)
        for task in self.by_task:
            self.of(task)
        own, exact, plans = variant(self.variant), self.advantage.estimator == "exact", self.advantage.group_size
        joint, by_length = self.objective.ratio == "joint", self.objective.loss_normalization == "length"
        learning = own.rest and not (self.phases and all(phase.head_only for phase in self.phases))
        apart, variants = "advantage.estimator exact, which scores depths and plans apart", f"variant {own.name}"
        normal = "objective.loss_normalization"
        refuse(
            (exact and joint, "objective.ratio", f"factor with {apart}", "joint"),
            (exact and by_length, normal, f"surrogate or constant with {apart}", "length"),
            (exact and learning and plans < 2, "advantage.group_size", f"at least 2 with {apart}", plans),
            (by_length and not own.rest, normal, f"surrogate or constant with {variants}", "length"),
            (joint and not own.head, "objective.ratio", f"factor with {variants}", "joint"),
        )
        for i, phase in enumerate(self.phases):
            self._check_phase(f"phases[{i}]", phase)
        total, steps = sum(phase.steps for phase in self.phases), self.optim.steps
        alike = f'{total}; --set "phases=[]" makes all steps alike'
        refuse((total not in (0, steps), "phases", f"optim.steps {steps} in all", alike))

    def _check_phase(self, name: str, phase: GrpoPhase) -> None:
        estimator, updates, objective = self.advantage.estimator, phase.head_updates, self.objective
        unread = f"no such field with advantage.estimator {estimator}, which does not read it (exact does)"
        for own in _EXACT_PHASE if estimator != "exact" else ():
            value = getattr(phase, own)
            refuse((value, f"{name}.{own}", unread, f'{value}; --set "phases=[]" leaves it out'))
        chosen, left = f"0 with variant {self.variant}, whose depth is not chosen", f'{updates}; --set "phases=[]"'
        without = f"0 (or objective.kl_depth=false) with {name}.head_updates, which know no KL of the depth head"
        shard = self.rollout.instances
        refuse(
            (updates and not variant(self.variant).head, f"{name}.head_updates", chosen, left),
            (updates and objective.kl_depth and objective.kl > 0, "objective.kl", without, objective.kl),
            (phase.starts % shard, f"{name}.starts", f"a multiple of rollout.instances {shard}", phase.starts),
        )

    def of(self, task: str) -> GrpoConfig:
        """The configuration with the overrides of one puzzle."""
        if task not in self.by_task:
            return self
        values = {**plain(self), "by_task": {}}
        for path, value in self.by_task[task].items():
            section, _, name = path.partition(".")
            if section not in PER_TASK or name not in values[section]:
                expected = ", ".join(f"{each}.NAME" for each in PER_TASK)
                raise ValueError(f"by_task.{task}: expected values of {expected}, got {path}")
            values[section][name] = value
        return parse(GrpoConfig, values)

    @property
    def introduction(self) -> str:
        """Estimator, instances and KL of a puzzle, in a sentence."""
        kl = f"KL {self.objective.kl} to the warm start" if self.objective.kl > 0 else "no KL"
        return (
            f"{self.advantage.estimator} advantages, {self.rollout.instances} instances of {self.rollout.budget} "
            f"decisions per step, {kl}"
        )

    def phase_at(self, step: int) -> GrpoPhase:
        """The phase of ``step`` = 0, 1, ..."""
        for phase in self.phases:
            if step < phase.steps:
                return phase
            step -= phase.steps
        return GrpoPhase(self.optim.steps)

    def prices_at(self, step: int) -> Prices:
        """The prices of ``step`` = 0, 1, ..."""
        prices, own = self.prices.at(step / max(self.optim.steps - 1, 1)), self.phase_at(step).price_action
        return prices if own is None else replace(prices, action=own)

    @property
    def last_prices(self) -> Prices:
        """Prices of the last step, and of every validation."""
        return self.prices_at(self.optim.steps - 1)

    def shards_before(self, step: int) -> int:
        """Shards of ``rollout.instances`` starts in all steps before this one."""
        return sum(self.shards(self.phase_at(earlier)) for earlier in range(step))

    def shards(self, phase: GrpoPhase) -> int:
        """Shards of ``rollout.instances`` starts in a step of a phase."""
        return phase.starts // self.rollout.instances or 1

    @property
    def starts(self) -> int:
        """Start states of the whole run."""
        return self.shards_before(self.optim.steps) * self.rollout.instances


def of_variant(recipe: str | Path, name: str = "") -> dict[str, Any]:
    """Overrides of the recipe's stage ``grpo`` for a variant or a named run, from its section ``family``, by path."""
    name = name or str(section(recipe, "grpo").get("variant", GrpoConfig.variant))
    own = {"variant": name, **section(recipe, "family", name)}
    return {**(section(recipe, "family", "fixed") if variant(own["variant"]).depth else {}), **own}
