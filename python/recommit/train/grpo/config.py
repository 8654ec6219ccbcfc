"""What a GRPO run is made of. Every field says which value the paper has, where it has one.

Credit and phases have files of their own: ``recommit.train.grpo.settings.credit`` and
``recommit.train.grpo.settings.phases``.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from recommit.policy.config import VIEWS, HeadConfig
from recommit.puzzles import registry
from recommit.rollout.variants import variant
from recommit.train.config import EngineConfig, OptimConfig, RunConfig, ValidationConfig
from recommit.train.grpo.settings.credit import Credit, ExactCredit, StateCredit, at_prices
from recommit.train.grpo.settings.phases import EXACT, GrpoPhase, begun, simplest, stretched, without_head
from recommit.train.parsing import check_choices, check_least, parse, parse_list, plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recommit.graph.prices import Prices

#: Sections that a puzzle may have values of its own in.
OWN = ("credit", "objective", "rollout", "validation")


@dataclass(frozen=True)
class ObjectiveConfig:
    """Clipped ratios, a KL to the warm start, and entropy. The defaults are the paper's for sliding."""

    #: Half width of the trust region of a ratio (the paper: 0.05).
    clip: float = 0.05
    #: ``factor``: the depth and every action have a ratio of their own; ``joint``: one ratio of the whole commitment.
    ratio: Literal["factor", "joint"] = "factor"
    #: What a commitment's terms are divided by: ``constant`` 9, the most there can be, or its ``own`` number of them,
    #: which makes the gradient of the depth depend on the depth.
    length: Literal["constant", "own"] = "constant"
    #: Weight of the exact KL to the policy that the run started from, summed over the depth and the executed actions
    #: (the paper: 0.05 for sliding, 0.20 for Sokoban). ``kl_depth`` includes the depth head: its start is uniform, so
    #: that its KL is log |H| minus its entropy, and the weight adds to that of the entropy.
    kl: float = 0.05
    kl_depth: bool = True
    #: What is a mean over the terms of a commitment, as ``length`` counts them: ``all``, so that KL and entropies have
    #: the surrogate's scale, or the ``surrogate`` alone, KL being a sum and the actions' entropy an eighth of one.
    mean: Literal["all", "surrogate"] = "surrogate"
    #: Weights of the exact entropies (the paper: 0.01 and 0.001).
    entropy_depth: float = 0.01
    entropy_actions: float = 0.001
    #: How often the same commitments are learned from.
    epochs: int = 1

    def __post_init__(self) -> None:
        check_least("objective", self, clip=0, kl=0, epochs=1)
        check_choices("objective", self)
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
    #: States that a step learns from at most, all ranks together; 0: all of them.
    states: int = 0

    def __post_init__(self) -> None:
        check_least("rollout", self, instances=1, budget=1, states=0)
        if len(self.length) not in (0, 2):
            raise ValueError(f"rollout.length: expected two numbers or none, got {self.length}")


@dataclass(frozen=True)
class GrpoValidationConfig(ValidationConfig):
    """How a reinforcement run is watched."""

    every: int = 20
    #: Numbers of decisions per episode that the best policy of a run is chosen by, beside ``budget``: it has the
    #: highest share solved less the prices of its actions and looks at the end of the run, on average over all of them.
    budgets: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if min(self.budgets, default=1) < 1:
            raise ValueError(f"validation.budgets: expected numbers from 1 on, got {self.budgets}")


@dataclass(frozen=True)
class GrpoConfig:
    """Reinforcement of both heads, from a warm start."""

    variant: str = "adaptive"
    #: Another depth head than the warm start's, which supervision has not touched.
    head: HeadConfig | None = None
    #: Views of every picture, in play and in learning (see ``views`` of the policy): as many times the arithmetic of a
    #: look. 0: as many as the warm start has.
    views: int = 0
    credit: Credit = field(default_factory=StateCredit)
    objective: ObjectiveConfig = field(default_factory=ObjectiveConfig)
    rollout: RolloutConfig = field(default_factory=RolloutConfig)
    #: Steps that differ, in their order; none: all are alike. A recipe need not say ``optim.steps`` besides. Where it
    #: does, phases are stretched to so many; a run of a depth that no head chooses leaves out what is the head's.
    phases: tuple[GrpoPhase, ...] = ()
    #: ``steps`` of rollout and update; ``batch`` states per move of the weights, several of which make a step.
    optim: OptimConfig = field(
        default_factory=lambda: OptimConfig(steps=100, batch=256, lr=3e-5, vision_lr=0.0, head_lr=1e-4, depth_lr=5e-4)
    )
    validation: GrpoValidationConfig = field(default_factory=GrpoValidationConfig)
    #: Which puzzles of a warm start that has several, by name, with or without size; several are reinforced together.
    tasks: tuple[str, ...] = ()
    #: Values that are others for one puzzle, by its name: {sokoban: {rollout.budget: 6}}.
    by_task: dict[str, dict[str, Any]] = field(default_factory=dict)
    engine: EngineConfig = field(default_factory=EngineConfig)
    run: RunConfig = field(default_factory=RunConfig)

    @classmethod
    def completed(cls, values: dict[str, Any]) -> dict[str, Any]:
        """The values of a recipe, with phases and ``optim.steps`` that agree."""
        phases = parse_list(GrpoPhase, values.get("phases", ()), "phases")
        if not phases:
            return values
        optim = values.get("optim", {})
        if not isinstance(optim, dict) or not isinstance(optim.get("steps", 0), int):
            return values  # which are refused when they are read
        steps = optim.get("steps") or sum(phase.steps for phase in phases)
        own = phases if variant(values.get("variant", cls.variant)).head else without_head(phases)
        return {**values, "phases": simplest(stretched(own, steps)), "optim": {**optim, "steps": steps}}

    def __post_init__(self) -> None:
        for task in self.by_task:
            registry.puzzle(task)
            self.of(task)
        if self.views not in (0, *VIEWS):
            raise ValueError(f"views: expected 0 or one of {', '.join(map(str, VIEWS))}, got {self.views}")
        if isinstance(self.credit, ExactCredit):
            self._check_exact()
        self._check_phases()
        if self.optim.ema:
            raise ValueError(f"optim.ema: expected 0, since heads move alone in reinforcement, got {self.optim.ema}")
        if not variant(self.variant).head and self.objective.ratio == "joint":
            raise ValueError(
                f"objective.ratio: expected factor with variant {self.variant}, whose depth is not chosen, got joint"
            )

    def _check_exact(self) -> None:
        for name, paired in (("ratio", "joint"), ("length", "own")):
            if getattr(self.objective, name) == paired:
                raise ValueError(
                    f"objective.{name}: expected another with credit.group exact, which judges depths and plans apart, "
                    f"got {paired}"
                )

    def _check_phases(self) -> None:
        if self.phases and (total := sum(phase.steps for phase in self.phases)) != self.optim.steps:
            raise ValueError(f"phases: expected optim.steps {self.optim.steps} in all, got {total}")
        for i, phase in enumerate(self.phases):
            for name in EXACT if not isinstance(self.credit, ExactCredit) else ():
                if value := getattr(phase, name):
                    raise ValueError(
                        f"phases[{i}].{name}: expected no such field with credit.group {self.credit.group}, which "
                        "does not "
                        f"read it (exact does), got {value}"
                    )
            if phase.starts % self.rollout.instances:
                raise ValueError(
                    f"phases[{i}].starts: expected a multiple of rollout.instances {self.rollout.instances}, "
                    f"got {phase.starts}"
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

    def phase_at(self, step: int) -> GrpoPhase:
        """The phase of ``step`` = 0, 1, ..."""
        return begun(self.phases, step + 1)[-1] if self.phases else GrpoPhase(self.optim.steps)

    def credit_at(self, step: int) -> Credit:
        """The credit of ``step`` = 0, 1, ...: at one price each, and with the budgets of its phase."""
        phase, credit = self.phase_at(step), self.credit
        if isinstance(credit, ExactCredit) and phase.budgets:
            credit = replace(credit, budgets=phase.budgets)
        return at_prices(credit, phase.prices(credit.prices_at(step / max(self.optim.steps - 1, 1))))

    @property
    def last_prices(self) -> Prices:
        """What an action and a look cost in the last step; so much they cost in validations, too."""
        return self.credit_at(self.optim.steps - 1).prices

    def shards_before(self, step: int) -> int:
        """How many shards of ``rollout.instances`` starts the steps before this one have."""
        return sum(phase.steps * self.shards(phase) for phase in begun(self.phases or (self.phase_at(0),), step))

    def shards(self, phase: GrpoPhase) -> int:
        """How many shards of ``rollout.instances`` starts a step of a phase has."""
        return phase.starts // self.rollout.instances or 1

    @property
    def starts(self) -> int:
        """Start states of the whole run."""
        return self.shards_before(self.optim.steps) * self.rollout.instances


def _dotted(values: dict[str, Any], outer: str = "") -> Iterator[tuple[str, Any]]:
    """Each value by its path, whether it was said by path or by sections within sections."""
    for name, value in values.items():
        if isinstance(value, dict):
            yield from _dotted(value, f"{outer}{name}.")
        else:
            yield f"{outer}{name}", value
