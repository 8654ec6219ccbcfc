"""``recommit train head``: our conditioned head, or a head by another method, on the plans of a commitment graph."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from recommit.graph import files
from recommit.prices import Prices
from recommit.runs.process import configure_inference, preserved_torch_state
from recommit.storage.ownership import refuse_foreign
from recommit.train.baselines.critics import PpoConfig, PpoLearner, QConfig, QLearner
from recommit.train.baselines.groups import GroupConfig, GroupLearner
from recommit.train.baselines.stopping import HazardConfig, HazardLearner, VerifierConfig, VerifierLearner
from recommit.train.heads import conditioned, fitted
from recommit.train.heads.exact import ExactConfig, ExactLearner
from recommit.train.heads.fitting import Extent, Method, best_of
from recommit.train.heads.network import own_policy, policy_folder, save_policy
from recommit.train.heads.problem import HeadProblem

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recommit.graph.graph import CommitmentGraph
    from recommit.train.options import HeadOptions

_STOPS = ({"lr": 3e-3}, {"lr": 1e-2}, {"lr": 1e-2, "deliberation": 0.01})
_RATES = ({"lr": 1e-3}, {"lr": 3e-3}, {"lr": 1e-2})
#: By name; each has three tries.
METHODS = {
    each.name: each
    for each in (
        Method("exact", ExactConfig(), ExactLearner, _RATES),
        Method("paper", GroupConfig(kind="state", observations=5), GroupLearner, _RATES),
        Method("episode", GroupConfig(kind="episode"), GroupLearner, _RATES),
        Method("branch", GroupConfig(kind="branch", episodes=64), GroupLearner, _RATES),
        Method("ppo", PpoConfig(), PpoLearner, ({"lr": 3e-4}, {"lr": 1e-3}, {"lr": 3e-3})),
        Method("q", QConfig(), QLearner, ({"lr": 1e-3}, {"lr": 3e-3}, {"lr": 3e-3, "gamma": 0.97})),
        Method("hazard", HazardConfig(), HazardLearner, _STOPS),
        Method("verifier", VerifierConfig(), VerifierLearner, _RATES),
    )
}
#: Updates where nobody says how many, or how long.
UPDATES = 80


def problem_of(
    graph: CommitmentGraph, depths: Sequence[int], budgets: Sequence[int], prices: Prices, features: str
) -> HeadProblem:
    """What is to be learned on a graph: by the depths of its policy's head and the budgets of its puzzle if there are
    none."""
    budgets = tuple(budgets) or graph.usual_budgets
    return HeadProblem.of(graph, tuple(depths) or graph.head_depths, budgets, prices, features)


@preserved_torch_state()
def train_head(options: HeadOptions, tell: Callable[[str], None]) -> dict[str, Any]:
    """Train a head, and write it; the record of its best check."""
    configure_inference(options.threads)
    own = options.method == "conditioned"
    written = ("heads.safetensors", "config.json") if own else (fitted.WEIGHTS, fitted.ABOUT)
    refuse_foreign(options.out, written, "a head")
    extent = Extent(options.updates or (0 if options.cpu_seconds else UPDATES), options.cpu_seconds)
    graph = files.read(options.graph)
    if own:
        return _conditioned(options, graph, extent, tell)
    policy = None if options.policy is None else own_policy(options.policy, graph.source.get("policy", ""))
    method = METHODS[options.method]
    method = replace(method, config=replace(method.config, hidden=options.hidden))
    problem = problem_of(graph, options.depths, options.budget, options.prices, options.features or "z+confidence")
    head = best_of(*problem.split(options.held, options.seed), method, options.seed, extent, tell)
    fitted.write(head, options.out)
    if policy is not None:
        save_policy(policy, head, int(graph.source.get("augmentations", 1)), options.out / "policy")
    return head.record


def _conditioned(
    options: HeadOptions, graph: CommitmentGraph, extent: Extent, tell: Callable[[str], None]
) -> dict[str, Any]:
    from recommit.policy.policy import CommitPolicy

    assert options.policy is not None
    policy: CommitPolicy = CommitPolicy.from_pretrained(options.policy).eval()
    policy.replace_augmentations(int(graph.source.get("augmentations", 1)))
    depths = options.depths or policy.config.depths
    problem = problem_of(graph, depths, options.budget, Prices(), "confidence").within_reach()
    config = conditioned.ConditionedConfig(
        options.features or "conditioned",
        hidden=options.hidden,
        seed=options.seed,
        prices=options.prices if options.one_price else None,
    )
    learn, held = problem.split(options.held, options.seed)
    record = conditioned.fit(policy, graph.puzzle, learn, held, config, extent, tell)
    policy.replace_prices(options.prices)
    with policy_folder(options.out) as folder:
        policy.save_pretrained(folder)
    return record
