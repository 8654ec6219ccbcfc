"""How often a run goes through its policy, from its recipe alone. All counts are those of one rank.

Where a count depends on play it is an upper bound, and says of what: episodes that end early look less often.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from recommit.policy.config import PASS
from recommit.rollout.variants import variant
from recommit.train.config import EngineConfig, SftConfig

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recommit.train.config import ValidationConfig
    from recommit.train.grpo.config import GrpoConfig, GrpoPhase

    #: What is estimated.
    Stage: TypeAlias = "SftConfig | GrpoConfig | EvaluationStage"

EARLY = "episodes that end early look less often"
MEET = "episodes that end early or meet look less often"
#: States that the search for the best depths may look at besides; see ``recommit.graph.oracle``.
CEILING = 1 << 18
#: Agents that do not walk among the states of greedy plans.
OFF_GRAPH = ("fixed-4-sampled", "solver", "random-actions", "zero-shot")
SEEN = "a state that was seen before is not encoded again"


@dataclass(frozen=True)
class Passes:
    """So many passes of so many states each."""

    #: ``learn``, ``reference``, ``propose`` (plans are drawn), ``plans`` (greedy ones), ``imitate``, ``pictures``,
    #: ``head``.
    kind: str
    states: int
    times: int
    #: Plans per state.
    plans: int = 1
    #: Why it may be fewer; empty: it is exactly so many.
    bound: str = ""

    @property
    def looks(self) -> int:
        """States that pass, of one rank."""
        return self.states * self.times


@dataclass(frozen=True)
class Schedule:
    """A run: its steps, the last of them where the depth head alone moves, and its validations."""

    step: tuple[Passes, ...]
    finish: tuple[Passes, ...]
    validation: tuple[Passes, ...]
    steps: int
    finish_steps: int
    validations: int
    #: What steps and finishing steps are called.
    names: tuple[str, str] = ("step", "finishing step")


def schedule(config: Stage, world: int, depths: int) -> Schedule:
    """Schedule a recipe on ``world`` ranks; ``depths`` is how many the depth head chooses from."""
    if isinstance(config, EvaluationStage):
        return evaluation(config, world)
    steps, every = config.optim.steps, config.validation.every
    validations = (steps // every + (steps % every > 0)) if config.validation.instances else 0
    if isinstance(config, SftConfig):
        step = imitation(config, world)
        watch = validation(config.validation, world, (config.validation.budget,) * depths)
        return Schedule(step, (), watch, steps, 0, validations)
    alone = [phase for phase in config.phases if phase.head_only]
    finish_steps = sum(phase.steps for phase in alone)
    finish = finishing(config, max(alone, key=lambda phase: phase.starts), world, depths) if alone else ()
    watch = validation(config.validation, world, _walks(config))
    step = reinforcement(config, world, depths)
    return Schedule(step, finish, watch, steps - finish_steps, finish_steps, validations)


def imitation(config: SftConfig, world: int) -> tuple[Passes, ...]:
    """A step of the warm start."""
    share = config.optim.batch // world
    return (*parts("pictures", share, PASS, bound=SEEN), *parts("learn", share, config.optim.micro_batch or share))


def reinforcement(config: GrpoConfig, world: int, depths: int) -> tuple[Passes, ...]:
    """A step of play and learning."""
    played, learned = play(config, config.rollout.instances, world, depths)
    share = config.optim.batch // world
    moves = -(-learned // config.optim.batch)
    bound = next((p.bound for p in played if p.bound), "")
    micro = config.optim.micro_batch or share
    learn = [replace(p, times=p.times * moves, bound=bound) for p in parts("learn", share, micro)]
    against = [replace(p, kind="reference") for p in learn] if config.objective.kl > 0 else []
    return (*_pictures(played), *played, *against, *learn)


def finishing(config: GrpoConfig, phase: GrpoPhase, world: int, depths: int) -> tuple[Passes, ...]:
    """A step of the depth head alone: the same play from more starts, then moves without a look."""
    played, _ = play(config, config.rollout.instances * config.shards(phase), world, depths)
    nodes = sum(p.looks for p in played if p.kind == "plans")
    return (*_pictures(played), *played, Passes("head", nodes, phase.head_updates, bound=MEET))


def play(config: GrpoConfig, starts: int, world: int, depths: int) -> tuple[list[Passes], int]:
    """Passes from so many starts of all ranks, and the states that all of them can learn from."""
    advantage, budget = config.advantage, config.rollout.budget
    bound = EARLY if budget > 1 else ""
    if advantage.estimator == "exact":
        return _explored(config, starts, world, depths)
    starts, every = starts // world, starts // world * world
    if advantage.estimator == "episode":
        turns = parts("propose", starts * advantage.group_size, PASS, times=budget, bound=bound)
        return turns, every * advantage.group_size * budget
    turns = parts("propose", starts, PASS, times=budget, plans=advantage.group_size, bound=bound)
    if advantage.estimator == "branch":
        for remaining in range(budget - 1, 0, -1):  # branches of all turns go on side by side, the latest end first
            turns += parts("propose", starts * advantage.group_size * remaining, PASS, bound=EARLY)
    return turns, every * budget


def _explored(config: GrpoConfig, starts: int, world: int, depths: int) -> tuple[list[Passes], int]:
    """Greedy plans of every state that is looked at, and plans drawn in those that are learned from; ranks divide
    both."""
    reached = 1 if variant(config.variant).depth else depths
    each = [
        min(starts * reached**turn, config.advantage.max_expansions * starts) for turn in range(config.rollout.budget)
    ]
    nodes = sum(each)
    learned = min(nodes, config.rollout.states or nodes)
    looks = [p for many in each for p in parts("plans", -(-many // world), PASS, bound=MEET)]
    looks += parts("propose", -(-learned // world), PASS, plans=config.advantage.group_size, bound=MEET)
    if moves := max((phase.head_updates for phase in config.phases if not phase.head_only), default=0):
        looks.append(Passes("head", -(-nodes // world), moves, bound=MEET))
    return looks, learned


def _pictures(played: list[Passes]) -> list[Passes]:
    """Each state that is played for the first time is encoded; learning finds it again."""
    first = "plans" if any(p.kind == "plans" for p in played) else "propose"
    return [Passes("pictures", p.states, p.times, bound=SEEN) for p in played if p.kind == first]


def validation(config: ValidationConfig, world: int, walks: tuple[int, ...]) -> tuple[Passes, ...]:
    """Imitation, and greedy episodes of so many decisions that share their states; ranks divide both."""
    if not config.instances:
        return ()
    looks = config.instances * (1 + sum(budget - 1 for budget in walks))
    imitated = parts("imitate", -(-config.instances // world), PASS)
    return (*imitated, *parts("plans", -(-looks // world), PASS, bound=MEET))


@dataclass(frozen=True)
class EvaluationStage:
    """What the preset of a family of runs asks of ``recommit evaluate``, for one seed."""

    instances: int
    validation: int
    #: Decisions of the loosest budget.
    budget: int
    #: Runs beside the adaptive one, the warm start included.
    others: int
    #: Different boards that there are; 0: nobody knows.
    boards: int = 0
    engine: EngineConfig = field(default_factory=EngineConfig)


def evaluation(config: EvaluationStage, world: int) -> Schedule:
    """The run whose ceilings are looked for, and each of the others."""
    from recommit.evaluate.agent_names import ACTION_SEEDS, AGENTS
    from recommit.rollout.shared import PIECE

    episodes = (config.instances + config.validation) * config.budget
    walks = CEILING + episodes * len(AGENTS.keys() - OFF_GRAPH)
    ceilings = parts("plans", -(-min(walks, config.boards or walks) // world), PIECE, bound=MEET)
    others = parts("plans", -(-episodes // world), PIECE, bound=MEET)
    others += parts("propose", -(-config.instances * ACTION_SEEDS * config.budget // world), PIECE, bound=EARLY)
    names = ("run whose ceilings are looked for", "run beside it")
    return Schedule((*_pictures(ceilings), *ceilings), (*_pictures(others), *others), (), 1, config.others, 0, names)


def _walks(config: GrpoConfig) -> tuple[int, ...]:
    """Decisions of the agents that a validation plays."""
    budget = config.validation.budget
    longest = max(budget, *config.validation.budgets, 1)
    return (longest, budget, budget) if variant(config.variant).head else (longest,)


def parts(kind: str, states: int, most: int, *, times: int = 1, plans: int = 1, bound: str = "") -> list[Passes]:
    """Passes of at most ``most`` states, the last of them with the rest."""
    whole, rest = divmod(states, most)
    return list(_parts(Passes(kind, most, whole * times, plans, bound), Passes(kind, rest, times, plans, bound)))


def _parts(*passes: Passes) -> Iterator[Passes]:
    return (p for p in passes if p.looks)
