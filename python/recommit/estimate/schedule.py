"""How often a run goes through its policy, from its recipe alone. All counts are those of one rank.

Where a count depends on play it is an upper bound: episodes that end early, and states that were met before, need fewer
observations.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from recommit.policy.config import PASS
from recommit.rollout.variants import variant
from recommit.train.config import SftConfig

if TYPE_CHECKING:
    from recommit.train.grpo.config import GrpoConfig

    #: What is estimated.
    Stage: TypeAlias = "SftConfig | GrpoConfig"


@dataclass(frozen=True)
class Passes:
    """``times`` passes of ``states`` states each, with ``plans`` plans per state; an upper bound if ``at_most``."""

    #: ``learn``, ``reference``, ``old`` (log probabilities again), ``sample`` (plans are sampled), ``plan`` (greedy
    #: ones), ``imitate`` (the supervised loss alone), ``encode`` (pictures), ``head`` (the depth head alone learns).
    kind: str
    states: int
    times: int
    plans: int = 1
    at_most: bool = False

    @property
    def observations(self) -> int:
        """States that pass, of one rank."""
        return self.states * self.times


@dataclass(frozen=True)
class Phase:
    """A kind of step: how many there are, and the passes of one."""

    name: str
    times: int
    passes: tuple[Passes, ...]

    def observations(self, kind: str) -> int:
        """States in the passes of a kind."""
        return sum(p.observations for p in self.passes if p.kind == kind)


def schedule(config: Stage, world: int, depths: int, dtype: str = "float32") -> list[Phase]:
    """The phases of a stage on ``world`` ranks; ``depths`` is how many the depth head chooses from, ``dtype`` that of
    the backbone: below float32 old log probabilities are computed again, see ``train.grpo.trainer``."""
    steps, watch = config.optim.steps, config.validation
    if isinstance(config, SftConfig):
        phases = [Phase("step", steps, _imitation(config, world))]
        walks = (watch.budget,) * depths
    else:
        finishing = [phase for phase in config.phases if phase.head_only]
        alone = sum(phase.steps for phase in finishing)
        phases = [Phase("step", steps - alone, _update(config, world, depths, again=dtype != "float32"))]
        if finishing:  # the same rollouts from more starts, then updates without an observation
            largest = max(finishing, key=lambda phase: phase.starts)
            starts = config.rollout.instances * config.shards(largest)
            rollouts, _ = _rollouts(config, starts, world, depths)
            nodes = sum(p.observations for p in rollouts if p.kind == "plan")
            passes = (
                *_encoded(config, rollouts, starts // world),
                *rollouts,
                Passes("head", nodes, largest.head_updates, at_most=True),
            )
            phases.append(Phase("step of the depth head alone", alone, passes))
        longest = max(watch.budget, *config.validation.budgets, 1)
        walks = (longest, watch.budget, watch.budget) if variant(config.variant).head else (longest,)
    if watch.instances:
        # Imitation, and greedy episodes of so many decisions that share their states; ranks divide both.
        walked = watch.instances * (1 + sum(budget - 1 for budget in walks))
        imitated = parts("imitate", -(-watch.instances // world), PASS)
        planned = parts("plan", -(-walked // world), PASS, at_most=True)
        phases.append(Phase("validation", -(-steps // watch.every), (*imitated, *planned)))
    return [phase for phase in phases if phase.times and phase.passes]


def _imitation(config: SftConfig, world: int) -> tuple[Passes, ...]:
    share = config.optim.batch // world
    learn = parts("learn", share, config.optim.micro_batch or share)
    own = parts("sample", max(round(config.targets.dagger * share), 1), PASS) if config.targets.dagger else []
    return (*parts("encode", share, PASS, at_most=True), *learn, *own)


def _update(config: GrpoConfig, world: int, depths: int, *, again: bool) -> tuple[Passes, ...]:
    """A step of rollouts and learning."""
    rollouts, learned = _rollouts(config, config.rollout.instances, world, depths)
    share = config.optim.batch // world
    updates, at_most = -(-learned // config.optim.batch), any(p.at_most for p in rollouts)
    once = parts("learn", share, config.optim.micro_batch or share)
    learn = [replace(p, times=p.times * updates, at_most=at_most) for p in once]
    against = [replace(p, kind="reference") for p in learn] if config.objective.kl > 0 else []
    later = [replace(p, kind="old", times=p.times // updates * (updates - 1)) for p in learn] if again else []
    encoded = _encoded(config, rollouts, config.rollout.instances // world)
    return (*encoded, *rollouts, *(p for p in later if p.times), *against, *learn)


def _rollouts(config: GrpoConfig, starts: int, world: int, depths: int) -> tuple[list[Passes], int]:
    """Passes from this many starts of all ranks, and the states that all of them can learn from."""
    advantage, budget = config.advantage, config.rollout.budget
    if advantage.estimator == "exact":
        return _expanded(config, starts, world, depths)
    size, at_most, starts = advantage.group_size, budget > 1, starts // world
    if advantage.estimator == "episode":
        passes = parts("sample", starts * size, PASS, times=budget, at_most=at_most)
        return passes, starts * world * size * budget
    passes = parts("sample", starts, PASS, times=budget, plans=size, at_most=at_most)
    if advantage.estimator == "branch":
        for remaining in range(budget - 1, 0, -1):  # branches of all turns go on side by side, the latest end first
            passes += parts("sample", starts * size * remaining, PASS, at_most=True)
    return passes, starts * world * budget


def _expanded(config: GrpoConfig, starts: int, world: int, depths: int) -> tuple[list[Passes], int]:
    """Greedy plans of every node of the commitment graph, and plans sampled in those that are learned from; ranks
    divide both."""
    advantage, reached = config.advantage, 1 if variant(config.variant).depth else depths
    each = [min(starts * reached**turn, advantage.max_expansions * starts) for turn in range(config.rollout.budget)]
    nodes = sum(each)
    learned = min(nodes, config.rollout.states or nodes)
    passes = [p for many in each for p in parts("plan", -(-many // world), PASS, at_most=True)]
    passes += parts("sample", -(-learned // world), PASS, plans=advantage.group_size, at_most=True)
    if updates := max((phase.head_updates for phase in config.phases if not phase.head_only), default=0):
        passes.append(Passes("head", -(-nodes // world), updates, at_most=True))
    return passes, learned


def _encoded(config: GrpoConfig, rollouts: list[Passes], starts: int) -> list[Passes]:
    """Each state that is observed for the first time is encoded; learning finds it again. Copies of an episode begin
    alike."""
    if config.advantage.estimator == "episode":
        later, size = config.rollout.budget - 1, config.advantage.group_size
        first = parts("encode", starts, PASS, at_most=True)
        return [*first, *parts("encode", starts * size, PASS, times=later, at_most=True)]
    kind = "plan" if any(p.kind == "plan" for p in rollouts) else "sample"
    return [Passes("encode", p.states, p.times, at_most=True) for p in rollouts if p.kind == kind]


def parts(kind: str, states: int, most: int, *, times: int = 1, plans: int = 1, at_most: bool = False) -> list[Passes]:
    """Passes of at most ``most`` states, the last of them with the rest."""
    whole, rest = divmod(states, most)
    both = Passes(kind, most, whole * times, plans, at_most), Passes(kind, rest, times, plans, at_most)
    return [p for p in both if p.observations]
