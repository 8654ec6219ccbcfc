"""A step of reinforcement at the shapes of Qwen2.5-VL-7B with random weights, on one GPU: decisions, updates, memory,
and how far ratios are from 1 while the weights stay what they are.

    python bench/gpu/grpo_7b.py --out OUT            # one H200: a few minutes
    python bench/gpu/grpo_7b.py --preset tiny --device cpu     # checks the script itself, without a GPU

Steps of the paper's recipes, first with the prompts whose text all states share, then with the published ones; and one
with exact values over the graph of looks.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from sft_7b import Clock, Figures, arguments, ask, build, fresh_memory, peak_gib, puzzles

from recommit.graph.build import PolicyGraph
from recommit.graph.policy_evaluation import PolicyEvaluation
from recommit.policy.reference import ReferencePolicy
from recommit.policy.tensors import to_host
from recommit.rollout.rollout import Actor
from recommit.rollout.variants import variant
from recommit.runs.distributed import Team
from recommit.train.config import OptimConfig, load
from recommit.train.engine.base import Engine
from recommit.train.grpo import advantages, rollout
from recommit.train.grpo import loss as objective
from recommit.train.grpo.config import GrpoConfig, GrpoPhase
from recommit.train.grpo.depth_head_optimizer import DepthHeadOptimizer
from recommit.train.optim import parameter_groups

if TYPE_CHECKING:
    from recommit.policy.policy import CommitPolicy
    from recommit.train.grpo.batch import GrpoBatch

#: Recipe, puzzle, prompts and what differs from the recipe; the first is the most worth.
EXACT = ("advantage={estimator: exact, group_size: 4}", "objective.kl=0.0")
RUNS = {
    "paper-sliding, shared text": ("paper-sliding", "sliding", "shared text", ()),
    "paper-sokoban, shared text": ("paper-sokoban", "sokoban", "shared text", ()),
    "paper-sokoban, picture first": ("paper-sokoban", "sokoban", "picture first", ()),
    "paper-sliding, picture first": ("paper-sliding", "sliding", "picture first", ()),
    "exact values, shared text": ("paper-sokoban", "sokoban", "shared text", EXACT),
}
#: Moves of the depth head per round of exact advantages.
HEAD_MOVES = 20


def played(policy: CommitPolicy, config: GrpoConfig, actor: Actor, engine: Engine, starts: Any, step: int) -> GrpoBatch:
    """What a step learns from, as ``recommit train grpo`` plays."""
    if config.advantage.estimator != "exact":
        sampled = rollout.sample(actor, config, starts, step, Team())
        return advantages.of_samples(actor, config, sampled, step, Team())[0]
    graph = PolicyGraph(policy, actor.task, policy.config.depths, run_pass=actor.run_pass, keep_inputs=True)
    roots = rollout.explore(actor, config, graph, starts)
    evaluation = PolicyEvaluation(graph, roots, config.rollout.budget, config.prices_at(step))
    phase = GrpoPhase(config.optim.steps, head_updates=HEAD_MOVES, depth_head_lr=1e-12)
    DepthHeadOptimizer(policy, engine, replace(config, phases=(phase,)), step)(evaluation)
    return advantages.of_graph(actor, config, evaluation, roots, step, Team())[0]


def parts_of(batch: GrpoBatch, size: int) -> Iterator[GrpoBatch]:
    """What each move of the weights learns from."""
    for begin in range(0, len(batch), size):
        yield batch.where(slice(begin, begin + size))


def update(
    policy: CommitPolicy,
    task: Any,
    batch: GrpoBatch,
    config: GrpoConfig,
    engine: Engine,
    clock: Clock,
    reference: ReferencePolicy,
) -> int:
    """One epoch, at learning rate 0; how many times the weights were moved."""
    for move, part in enumerate(parts_of(batch, config.optim.batch)):
        divisor = objective.total_weight(part)
        with clock.measured(clock.add):
            against = None
            if config.objective.kl > 0:
                actions, depths = (torch.from_numpy(each) for each in (part.actions, part.plan_depth))
                against = reference(task, part.states, actions, depths, part.remaining)
            loss, _ = objective.grpo_loss(policy, task, part, config.objective, divisor, against, fresh=move == 0)
            engine.backward(loss)
            engine.step(0.0)
    return move + 1


@torch.no_grad()
def ratio_noise(policy: CommitPolicy, task: Any, batch: GrpoBatch, config: GrpoConfig) -> dict[str, float]:
    """How far from 1 the ratios are of weights that did not move, and how many of them are clipped: where the old log
    probabilities are those of sampling, and where they come from the passes that learn, as a run has it."""
    plain = replace(config.objective, kl=0.0)
    measured: dict[str, list[Any]] = {"sampled": [], "learned": []}
    for part in parts_of(batch, config.optim.batch):
        depths, actions = to_host(*objective.old_log_probs(policy, task, part))
        for name, each in (("sampled", part), ("learned", replace(part, depth_old=depths, action_old=actions))):
            measures = objective.grpo_loss(policy, task, each, plain, 1.0)[1]
            measured[name].append(measures.double().cpu().numpy())
    found: dict[str, float] = {}
    for name, sums in measured.items():
        total = dict(zip(objective.MEASURES, objective.totals(sums).tolist(), strict=True))
        found[f"{name}_largest"] = total["max_ratio_deviation"]
        found[f"{name}_clipped"] = total["clipped"] / total["ratios"]
    return found


def measure(policy: CommitPolicy, reference: ReferencePolicy, name: str, options: argparse.Namespace) -> dict[str, Any]:
    """Rounds of playing and learning; the first one warms up."""
    recipe, puzzle, prompt, changes = RUNS[name]
    sizes = [f"rollout.instances={options.instances}", f"optim.batch={options.batch}"]
    sizes += [f"rollout.states={options.states}"] * (changes is EXACT)
    config: GrpoConfig = load(recipe, [*changes, *sizes], GrpoConfig, "grpo")
    task = puzzles(options.size)[puzzle]
    ask(policy, prompt)
    policy.train_only(task, depth_head=True)
    engine = Engine(parameter_groups(policy, OptimConfig()), OptimConfig(), Team())
    rounds = []
    fresh_memory(options.device)
    for number in range(options.rounds):
        starts = task.generate(options.instances, seed=number + 2, length=(8, 20)).states
        clock = Clock(options.device)
        actor = Actor(policy, task, variant("adaptive"), seed=0, run_pass=clock.pass_of_model)
        play = partial(played, policy, config, actor, engine, starts, number)
        policy.vision.forget()
        begin = time.perf_counter()
        with clock.drawing_apart(policy):
            batch = clock.run("rollout", play)
            moves = clock.run("update", lambda b=batch, c=clock: update(policy, task, b, config, engine, c, reference))
        outside = 1 - clock.in_model / (time.perf_counter() - begin)
        rounds.append((clock.median("rollout"), clock.median("update"), len(batch), moves, outside))
    rounds = sorted(rounds[1:] or rounds, key=lambda each: each[0] + each[1])
    rollout_s, update_s, decisions, moves, outside = rounds[len(rounds) // 2]
    return {
        "decisions": decisions,
        "rollout_s": rollout_s,
        "update_s": update_s,
        "moves": moves,
        "outside_model": outside,
        "decisions_per_s": decisions / rollout_s,
        "updates_per_s": moves / update_s,
        "peak_gib": peak_gib(options.device),
        **(ratio_noise(policy, task, batch, config) if changes is not EXACT else {}),
    }


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--runs", nargs="+", default=list(RUNS), choices=list(RUNS), metavar="RUN")
    parser.add_argument("--states", type=int, default=256, help="states that a step of exact advantages learns from")
    parser.add_argument("--instances", type=int, default=64, help="episodes side by side")
    parser.add_argument("--batch", type=int, default=64, help="states per move of the weights")
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    task = puzzles(options.size)["sokoban"]
    policy = build(options.preset, options.device)
    policy.train_only(task, depth_head=True)
    policy.eval().backbone.recompute = True  # as in the paper's recipes
    figures, reference = Figures("grpo", options), ReferencePolicy(policy)
    for name in options.runs:
        figures.add(name, measure(policy, reference, name, options))


if __name__ == "__main__":
    main()
