"""Numbers of states per kind of step and pass, from the recipe alone. All counts are per rank.

Rollout counts are upper bounds: early episode ends and revisited states need fewer observations.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from math import lcm
from typing import TYPE_CHECKING, TypeAlias

from recommit.data.loading import most_rows
from recommit.policy.config import PASS
from recommit.rollout.variants import variant
from recommit.storage.schema import refuse
from recommit.train.config import SftConfig

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recommit.train.grpo.config import GrpoConfig

    #: Configuration of an estimated stage.
    Stage: TypeAlias = "SftConfig | GrpoConfig"


@dataclass(frozen=True)
class Passes:
    """Passes over ``observations`` states, ``states`` per pass, with ``plans`` plans per state."""

    #: ``learn``, ``reference``, ``old`` (recomputed log probabilities), ``sample`` (sampled plans), ``plan`` (greedy
    #: plans), ``imitate`` (supervised loss, forward only), ``encode`` (pictures), ``head`` (depth head alone).
    kind: str
    observations: int
    states: int
    plans: int = 1
    #: Index of the puzzle.
    puzzle: int = 0
    #: Other puzzles in the same pass, as (index, states).
    beside: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Phase:
    """A kind of step: number of steps, and the passes of one."""

    name: str
    times: int
    passes: tuple[Passes, ...]

    def observations(self, kind: str) -> int:
        """Total states in passes of ``kind``."""
        return sum(p.observations for p in self.passes if p.kind == kind)


def schedule(
    stages: Sequence[Stage],
    tasks: Sequence[str],
    world: int,
    depths: int,
    dtype: str = "float32",
    groups: Sequence[Sequence[int]] = (),
) -> list[Phase]:
    """The phases of a run on ``world`` ranks, given the stage configuration and task of each puzzle. ``depths`` is the
    number of depths of the head; ``dtype`` that of the backbone: below float32 old log probabilities are recomputed,
    see ``train.grpo.trainer``; ``groups`` are puzzles that share passes."""
    found = dict[str, Phase]()
    rows, updates = _shared(stages, tasks, world, depths)
    for number, (own, share) in enumerate(zip(stages, rows, strict=True)):
        for phase in _alone(own, share, updates, world, depths, again=dtype != "float32"):
            passes = tuple(replace(p, puzzle=number) for p in phase.passes if p.observations)
            before = found.get(phase.name, replace(phase, passes=()))
            found[phase.name] = replace(before, passes=before.passes + passes)
    phases = [replace(phase, passes=_together(phase.passes, groups)) for phase in found.values()]
    return [phase for phase in phases if phase.times and phase.passes]


def _together(passes: tuple[Passes, ...], groups: Sequence[Sequence[int]]) -> tuple[Passes, ...]:
    """Merge training passes of puzzles that share them into those of the group's first puzzle."""
    first, kept = {number: group[0] for group in groups for number in group[1:]}, list[Passes]()
    for each in passes:
        if each.puzzle not in first or each.kind not in ("learn", "old", "reference"):
            kept.append(each)
            continue
        at = next(i for i, p in enumerate(kept) if (p.kind, p.puzzle) == (each.kind, first[each.puzzle]))
        kept[at] = replace(kept[at], beside=(*kept[at].beside, (each.puzzle, each.states)))
    return tuple(kept)


def _shared(stages: Sequence[Stage], tasks: Sequence[str], world: int, depths: int) -> tuple[list[int], int]:
    """States of each puzzle per optimizer step and rank (as by ``loading.even_weights``, assuming equal mixing of sets
    of one puzzle), and optimizer steps per round. Refuses numbers of ranks that training refuses."""
    config, batch = stages[0], stages[0].optim.batch
    if isinstance(config, SftConfig):
        refuse((batch % world, "optim.batch", f"a multiple of {world} ranks", batch))
        sets = Counter(tasks)
        return most_rows(batch // world, config.mix or [lcm(*sets.values()) // sets[task] for task in tasks]), 1
    for sizes in ((batch, own.rollout.instances) for own in stages):  # type: ignore[union-attr]
        many = any(size % world for size in sizes)
        refuse((many, "optim.batch and rollout.instances", f"multiples of {world} ranks", sizes))
    refuse((batch % len(stages), "optim.batch", f"a multiple of {len(stages)} puzzles", batch))
    rows = batch // len(stages)
    learned = [_rollouts(own, own.rollout.instances, world, depths)[1] for own in stages]  # type: ignore[arg-type, union-attr]
    return [-(-rows // world)] * len(stages), -(-max(learned) // rows)


def _alone(config: Stage, share: int, updates: int, world: int, depths: int, *, again: bool) -> list[Phase]:
    """The phases of a single puzzle."""
    steps, watch = config.optim.steps, config.validation
    if isinstance(config, SftConfig):
        phases = [Phase("step", steps, _imitation(config, share))]
        walks = (watch.budget,) * depths
    else:
        finishing = [phase for phase in config.phases if phase.head_only]
        alone = sum(phase.steps for phase in finishing)
        phases = [Phase("step", steps - alone, _update(config, share, updates, world, depths, again=again))]
        if finishing:  # the same rollouts from more starts, then updates without observations
            largest = max(finishing, key=lambda phase: phase.starts)
            starts = config.rollout.instances * config.shards(largest)
            rollouts, _ = _rollouts(config, starts, world, depths)
            nodes = sum(p.observations for p in rollouts if p.kind == "plan")
            passes = (
                *_encoded(config, rollouts, starts // world),
                *(each for each in rollouts if each.kind != "head"),
                Passes("head", nodes * largest.head_updates, nodes),
            )
            phases.append(Phase("step of the depth head alone", alone, passes))
        longest = max(watch.budget, *config.validation.budgets, 1)
        walks = (longest, watch.budget, watch.budget) if variant(config.variant).head else (longest,)
    # Imitation, and greedy episodes of these budgets, which share states; both are divided among ranks.
    walked = watch.instances * (1 + sum(budget - 1 for budget in walks))
    validated = (passes_of("imitate", -(-watch.instances // world)), passes_of("plan", -(-walked // world)))
    return [*phases, Phase("validation", -(-steps // watch.every) if watch.instances else 0, validated)]


def passes_of(kind: str, states: int, most: int = PASS, *, times: int = 1, plans: int = 1) -> Passes:
    """Passes of at most ``most`` states that cover ``states`` states, repeated ``times``."""
    return Passes(kind, states * times, min(states, most), plans)


def _imitation(config: SftConfig, share: int) -> tuple[Passes, ...]:
    own = max(round(config.targets.dagger * share), 1) if config.targets.dagger else 0
    learn = passes_of("learn", share, config.optim.micro_batch or share)
    return passes_of("encode", share), learn, passes_of("sample", own)


def _update(
    config: GrpoConfig, share: int, updates: int, world: int, depths: int, *, again: bool
) -> tuple[Passes, ...]:
    """The passes of one GRPO step."""
    rollouts, _ = _rollouts(config, config.rollout.instances, world, depths)
    learn = passes_of("learn", share, config.optim.micro_batch or share, times=updates)
    against = replace(learn, kind="reference", observations=learn.observations * (config.objective.kl > 0))
    old = replace(learn, kind="old", observations=share * (updates - 1) * again)
    return (*_encoded(config, rollouts, config.rollout.instances // world), *rollouts, old, against, learn)


def _rollouts(config: GrpoConfig, starts: int, world: int, depths: int) -> tuple[list[Passes], int]:
    """Passes of rollouts from ``starts`` starts of all ranks, and the number of training states over all ranks."""
    advantage, budget = config.advantage, config.rollout.budget
    if advantage.estimator == "exact":
        return _expanded(config, starts, world, depths)
    size, starts = advantage.group_size, starts // world
    if advantage.estimator == "episode":
        return [passes_of("sample", starts * size, times=budget)], starts * world * size * budget
    passes = [passes_of("sample", starts, times=budget, plans=size)]
    if advantage.estimator == "branch":  # branches of all turns run in parallel; the latest end first
        passes += [passes_of("sample", starts * size * remaining) for remaining in range(budget - 1, 0, -1)]
    return passes, starts * world * budget


def _expanded(config: GrpoConfig, starts: int, world: int, depths: int) -> tuple[list[Passes], int]:
    """Greedy plans for all expanded nodes of the commitment graph, and sampled plans in the training nodes; both are
    divided among ranks."""
    advantage, reached = config.advantage, 1 if variant(config.variant).depth else depths
    each = [min(starts * reached**turn, advantage.max_expansions * starts) for turn in range(config.rollout.budget)]
    nodes = sum(each)
    learned = min(nodes, config.rollout.states or nodes)
    passes = [passes_of("plan", -(-many // world)) for many in each]
    passes.append(passes_of("sample", -(-learned // world), plans=advantage.group_size))
    updates = max((phase.head_updates for phase in config.phases if not phase.head_only), default=0)
    passes.append(Passes("head", -(-nodes // world) * updates, -(-nodes // world)))
    return passes, learned


def _encoded(config: GrpoConfig, rollouts: list[Passes], starts: int) -> list[Passes]:
    """States are encoded when first observed; training reads them from the cache. Episodes of a group share their
    start."""
    if config.advantage.estimator == "episode":
        later, size = config.rollout.budget - 1, config.advantage.group_size
        return [passes_of("encode", starts), passes_of("encode", starts * size, times=later)]
    kind = "plan" if any(p.kind == "plan" for p in rollouts) else "sample"
    return [replace(p, kind="encode", plans=1) for p in rollouts if p.kind == kind]
