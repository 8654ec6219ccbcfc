"""The configuration of a GRPO run. Every field says which value the paper has, where it has one."""

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

#: A price for the whole run, or its first and its last value: it moves in a straight line from step to step. A price
#: that is high from the start can get stuck at shallow depths.
Price: TypeAlias = "float | tuple[float, float]"
#: Sections that a puzzle may have values of its own in.
PER_TASK = ("advantage", "prices", "objective", "rollout", "validation")
#: The fields of ``AdvantageConfig`` that not every estimator reads, and of a phase that ``exact`` alone does.
_SAMPLED = ("state", "episode", "branch")
_READ_BY = {
    **dict.fromkeys(("progress", "progress_per", "deadlock", "scale"), _SAMPLED),
    "follow": ("state", "branch"),
    **dict.fromkeys(("max_expansions", "depth_weighting"), ("exact",)),
}
_EXACT_PHASE = ("head_updates", "head_only", "depth_head_lr", "starts", "budgets")


@dataclass(frozen=True)
class AdvantageConfig:
    """Scores of commitments, and the groups within which they are compared."""

    #: ``state``: commitments of one state, by their own actions (the paper's operational sentence). ``episode``: whole
    #: episodes from one start (the paper's return). ``branch``: commitments of one state, each played to the end of the
    #: budget by the policy. ``exact``: every depth by its value on the commitment graph of greedy plans, and sampled
    #: plans by where they lead; the return is then episodes solved, less the prices.
    estimator: Literal["state", "episode", "branch", "exact"] = "state"
    #: Commitments or episodes per group (the paper: 4 for sliding, 8 for Sokoban); ``exact``: plans per state.
    group_size: int = 4
    #: Weight of the bounded progress term tanh(mean progress per action) beside the success term (the paper: 0.20).
    progress: float = 0.2
    #: Progress is a sum over ``action``s, and one into a state that cannot be solved any more counts 0 (the paper):
    #: what was gained before it counts. Or over ``commitment``s: one that ends in such a state counts 0 as a whole.
    progress_per: Literal["action", "commitment"] = "commitment"
    #: A state that cannot be solved any more: its loss of distance counts nothing (the paper), costs
    #: ``reward.PENALTY``, or counts nothing and ends the episode.
    deadlock: Literal["zero", "penalty", "terminate"] = "zero"
    #: Advantages are divided by the standard deviation of their group (the paper), by the root mean square over the
    #: batch (so does ``exact``), or by nothing.
    scale: Literal["group", "batch", "none"] = "group"
    #: Which candidate an episode goes on with; the first is a sample of the policy.
    follow: Literal["first", "best", "random"] = "first"
    #: Nodes expanded per start and decision; beyond them, distance and remaining decisions stand in for a value.
    max_expansions: int = 4
    #: The advantage of a plan weighs depths as the head chooses them, or uniformly. A plan gets better where it is used
    #: and is used where it is better, so that a head that leaves a depth early may never find out what it could be.
    depth_weighting: Literal["chosen", "uniform"] = "chosen"

    def __post_init__(self) -> None:
        least = 1 if self.estimator == "exact" else 2  # to compare
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

    With ``exact`` every episode pays; with sampled advantages what succeeded does: groups that all fail would differ
    only in length, and teach depth 1.
    """

    action: Price = 0.0
    observation: Price = 0.0

    def __post_init__(self) -> None:
        for name in ("action", "observation"):
            if min(_ends(getattr(self, name))) < 0:
                raise ValueError(f"prices.{name}: expected at least 0, got {getattr(self, name)}")

    def at(self, progress: float) -> Prices:
        """When this share of the run is over."""
        ends = _ends(self.action), _ends(self.observation)
        return Prices(*(first + (last - first) * progress for first, last in ends))


def _ends(price: Price) -> tuple[float, float]:
    return price if isinstance(price, tuple) else (price, price)


@dataclass(frozen=True)
class ObjectiveConfig:
    """Clipped ratios, a KL to the warm start, and entropies; see ``loss``. The defaults are the paper's for sliding."""

    #: Half width of the trust region of a ratio (the paper: 0.05).
    clip: float = 0.05
    #: ``factor``: the depth and every action have a ratio of their own; ``joint``: one ratio of the whole commitment.
    ratio: Literal["factor", "joint"] = "factor"
    #: What is divided by the number of a commitment's terms. ``surrogate``: the surrogate alone, by 9, the most there
    #: can be of eight actions; KL is a sum and the actions' entropy an eighth of one. ``constant``: KL and entropies,
    #: too, so that they have the surrogate's scale. ``length``: all of them, by the commitment's own number of terms,
    #: which makes the gradient of the depth depend on the depth.
    loss_normalization: Literal["surrogate", "constant", "length"] = "surrogate"
    #: Weight of the exact KL to the policy that the run started from, over the depth and the executed actions (the
    #: paper: 0.05 for sliding, 0.20 for Sokoban). ``kl_depth`` includes the depth head: its start is uniform, so that
    #: its KL is log |H| minus its entropy, and the weight adds to that of the entropy.
    kl: float = 0.05
    kl_depth: bool = True
    #: Weights of the exact entropies (the paper: 0.01 and 0.001).
    entropy_depth: float = 0.01
    entropy_actions: float = 0.001

    def __post_init__(self) -> None:
        check("objective", self, clip=0, kl=0)
        joint = self.ratio == "joint" and self.loss_normalization != "surrogate"
        one = "surrogate with objective.ratio joint, which is one term"
        refuse((joint, "objective.loss_normalization", one, self.loss_normalization))


@dataclass(frozen=True)
class RolloutConfig:
    """The episodes that a step learns from."""

    #: Start states per step, all ranks together.
    instances: int = 64
    #: Decisions per episode while training (the paper: 5 for sliding, 6 for Sokoban).
    budget: int = 5
    #: Shortest and longest length of the instances; none: as in the data of the warm start.
    length: tuple[int, int] | None = None
    #: Mirror and turn every start, where the puzzle's rules do not mind.
    augment: bool = False
    #: Of ``exact``: states that a step learns from at most, all ranks together; 0: all of them. Others do not read it.
    states: int = 0

    def __post_init__(self) -> None:
        check("rollout", self, instances=1, budget=1, states=0)


@dataclass(frozen=True)
class GrpoPhase:
    """Steps that are alike. A field that a phase does not name is as in the rest of the recipe."""

    steps: int
    #: Updates of the depth head alone in every step, on the commitment graph of its plans. Each values all depths anew,
    #: without an observation.
    head_updates: int = 0
    #: Plans stay as they are: the step is over after the head's updates. The default is both.
    head_only: bool = False
    #: Learning rate of these updates; 0: ``optim.depth_head_lr``, by the run's schedule.
    depth_head_lr: float = 0.0
    #: Start states per step, all ranks together, a multiple of ``rollout.instances``; 0: as many as those.
    starts: int = 0
    #: Equal parts of the episodes have each of these numbers of decisions, or ``rollout.budget`` where that is less;
    #: all have that one if none is named. The policy does not see which.
    budgets: tuple[int, ...] = ()
    #: Instead of ``prices.action``.
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

    #: Numbers of decisions per episode that the best policy of a run is chosen by, beside ``budget``: it has the
    #: highest share solved less the prices of its actions and observations at the end of the run, on average over all.
    budgets: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse((min(self.budgets, default=1) < 1, "validation.budgets", "numbers from 1 on", self.budgets))


#: Much smaller steps than a warm start's.
OPTIM = OptimConfig(steps=100, batch=256, lr=3e-5, decoder_lr=1e-4, depth_head_lr=5e-4)


@dataclass(frozen=True)
class GrpoConfig:
    """GRPO on both heads, from a warm start."""

    variant: str = "adaptive"
    #: Another depth head than the warm start's, which supervision has not touched.
    head: HeadConfig | None = None
    #: Depths that a new head chooses from, none deeper than the warm start's plans; none: those of the warm start.
    depths: tuple[int, ...] = ()
    advantage: AdvantageConfig = field(default_factory=AdvantageConfig)
    prices: PriceConfig = field(default_factory=PriceConfig)
    objective: ObjectiveConfig = field(default_factory=ObjectiveConfig)
    rollout: RolloutConfig = field(default_factory=RolloutConfig)
    #: Steps that differ, in their order, ``optim.steps`` in all; none: all are alike.
    phases: tuple[GrpoPhase, ...] = ()
    #: ``steps`` of rollout and update; ``batch`` states per optimizer step, several of which make a step.
    optim: OptimConfig = field(default_factory=lambda: OPTIM)
    validation: GrpoValidationConfig = field(default_factory=lambda: GrpoValidationConfig(every=20))
    #: Which puzzles of a warm start that has several, by name, with or without size; several are trained jointly.
    tasks: tuple[str, ...] = ()
    #: Values that are others for one puzzle, by its name: {sokoban: {rollout.budget: 6}}.
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
        """With the values of one puzzle."""
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
    """A recipe's values of a variant, or of a run that it names, beside its stage ``grpo``, by path."""
    name = name or str(section(recipe, "grpo").get("variant", GrpoConfig.variant))
    own = {"variant": name, **section(recipe, "family", name)}
    return {**(section(recipe, "family", "fixed") if variant(own["variant"]).depth else {}), **own}
