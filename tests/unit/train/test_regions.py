"""With ``disjoint: regions`` nothing is learned in states of other splits, wherever a policy goes from its training
starts. Planted, everywhere: the mask is switched off."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from tests.reference import sliding
from tests.unit.train.runs import TINY, plan_of, warm_start

from recommit.data import DataSpec, Difficulty, build
from recommit.data.assignment import regions
from recommit.graph.build import build_graph
from recommit.graph.options import GraphBuildOptions
from recommit.graph.policy_evaluation import PolicyEvaluation
from recommit.policy.policy import CommitPolicy
from recommit.puzzles.sliding import Sliding
from recommit.runs.directory import best_policy, recipe_of
from recommit.train.config import SftConfig, parse
from recommit.train.grpo import trainer as grpo
from recommit.train.heads import conditioned, world_model
from recommit.train.options import HeadOptions
from recommit.train.sft import dagger
from recommit.train.sft import trainer as sft

SHAPE = (2, 4)


def of_other_splits(states):
    """How many of some states have a shortest path by a region that is for testing or validation: all paths are walked
    in plain Python, and the regions are known of the boards that they are named by."""
    table = sliding.distances(*SHAPE)
    gates = [board for board, distance in table.items() if distance == 6]
    bits = regions(Sliding(*SHAPE), np.array(gates, np.uint8).reshape(-1, *SHAPE))
    other = {gate for gate, bit in zip(gates, bits, strict=True) if bit & 0b11}
    boards = {tuple(state.ravel().tolist()) for state in states}
    return sum(bool(sliding.ways(board, *SHAPE, table, 6) & other) for board in boards)


@pytest.fixture(scope="module")
def wanderer(tmp_path_factory):
    """A policy that has learned next to nothing, beside its data."""
    folder = tmp_path_factory.mktemp("regions")
    build(DataSpec("sliding", SHAPE, (Difficulty((8, 14)),), 400, 8, 8, disjoint="regions"), folder / "data")
    return warm_start(folder / "data", folder / "run", steps=2)


def noted(patch, owner, name, states_of):
    """The states that ``states_of`` finds in the arguments and the result of every call of a function."""
    seen, whole = [], getattr(owner, name)

    def call(*arguments, **options):
        result = whole(*arguments, **options)
        seen.extend(states_of(arguments, result))
        return result

    patch.setattr(owner, name, call)
    return seen


def reinforced(run, out, **changes):
    """Two steps."""
    changes = {"optim": {"steps": 2}, "rollout": {"instances": 16, "budget": 4}, **changes}
    assert grpo.train(plan_of(**changes), run, out, quiet=True) == 0


def by_reinforcement(estimator):
    def learned(patch, run, out):
        seen = noted(patch, grpo.GrpoTrainer, "_learn", lambda given, _: [each.states for each in given[1]])
        reinforced(run, out, advantage={"group_size": 3, "estimator": estimator})
        return seen

    return learned


def by_the_head_alone(patch, run, out):
    of = lambda given, result: [given[0].graph.states[given[0].rows[result[1] > 0]]]
    seen = noted(patch, PolicyEvaluation, "advantages", of)
    phases = [{"steps": 2, "head_updates": 2, "head_only": True}]
    reinforced(run, out, advantage={"estimator": "exact"}, phases=phases)
    return seen


def by_dagger(patch, run, out):
    seen = noted(patch, sft.targets, "make", lambda _, batch: [batch.states])
    plan = parse(SftConfig, {**TINY, "targets": {"dagger": 0.5, "budget": 4}, "validation": {"instances": 0}})
    assert sft.train(plan, run.parent / "data", out, quiet=True) == 0
    return seen


def by_world_model(patch, run, _out):
    seen = noted(patch, world_model, "_labels", lambda given, _: [given[2]])
    patch.setattr(world_model, "evaluate", lambda *_: {})  # on validation states
    training = world_model.WorldModelTraining(steps=2, batch=64, starts=16)
    world_model.train(CommitPolicy.from_pretrained(best_policy(run)), recipe_of(run), training, lambda _line: None)
    return seen


def by_conditioned_head(patch, run, out):
    policy, training = CommitPolicy.from_pretrained(best_policy(run)), world_model.WorldModelTraining(1, 8, starts=8)
    world_model.train(policy, recipe_of(run), training, lambda _line: None)
    policy.save_pretrained(out / "policy")
    build_graph(GraphBuildOptions(run, out / "graph", starts=400, length=(8, 14), split="train"))
    of = lambda given, result: [given[0].graph.states[given[0].rows[result[0].any(axis=0)]]]
    seen = noted(patch, conditioned, "advantages", of)
    options = HeadOptions(out / "graph", out / "head", out / "policy", updates=1, budget=(8,))
    conditioned.train_head(options, lambda _line: None)
    return seen


@pytest.mark.parametrize(
    ("module", "learned"),
    [
        *((grpo, by_reinforcement(estimator)) for estimator in ("state", "episode", "branch", "exact")),
        (grpo, by_the_head_alone),
        (dagger, by_dagger),
        (world_model, by_world_model),
        (conditioned, by_conditioned_head),
    ],
)
def test_no_state_of_another_split_is_learned_in(module, learned, wanderer, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        states = np.concatenate(learned(patch, wanderer, tmp_path / "right"))
    assert len(states) > 20
    assert of_other_splits(states) == 0
    monkeypatch.setattr(module, "learnable", lambda _spec, states: np.ones(len(states), bool))
    assert of_other_splits(np.concatenate(learned(monkeypatch, wanderer, tmp_path / "planted"))) > 0
