"""Reinforcement from a warm start of two puzzles: of one of them, and of both with the gradients of both."""

from __future__ import annotations

import json
from dataclasses import fields, replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from tests.reference import grpo as slow
from tests.refusals import refused
from tests.unit.train.runs import FINISHED, TINY, interrupt_and_go_on, lines, moved, plan_of, same

from recommit.data.builder import build
from recommit.data.spec import DataSpec, Difficulty
from recommit.evaluate.evaluation import Evaluation
from recommit.evaluate.options import EvaluateOptions
from recommit.evaluate.store import EvaluationStore
from recommit.policy.policy import CommitPolicy
from recommit.policy.tensors import to_host
from recommit.runs.directory import RunDirectory, best_policy, recipe_of, recipes_of
from recommit.runs.distributed import Team
from recommit.train.config import SftConfig, parse
from recommit.train.grpo import loss as objective
from recommit.train.grpo import trainer as grpo
from recommit.train.sft import trainer as sft

BOTH = ("sliding", "sokoban")
#: The paper's table has values of both kinds.
OWN = {"sokoban": {"rollout.budget": 4, "advantage.group_size": 5, "objective.kl": 0.2}}
EXACT = {"advantage": {"estimator": "exact"}}


def outputs(weights):
    """Which puzzles' outputs are among some weights."""
    return {name.split(".")[2] for name in weights if name.startswith("decoder.outputs.")}


@pytest.fixture(scope="module")
def straight(both, tmp_path_factory):
    out = tmp_path_factory.mktemp("rl") / "straight"
    assert grpo.train(plan_of(tasks=BOTH, by_task=OWN), both, out, quiet=True) == 0
    return out


def test_one_of_them(both, tmp_path):
    plan = plan_of(tasks=["sokoban-6x6"], by_task=OWN, optim={"steps": 1})
    assert grpo.train(plan, both, tmp_path / "rl", quiet=True) == 0
    changed = moved(tmp_path / "rl" / "init", best_policy(tmp_path / "rl"))
    assert outputs(changed) == {"1"}
    assert recipe_of(tmp_path / "rl") == recipes_of(both)[1]
    assert grpo.train(plan, both, tmp_path / "rl", quiet=True) == 0, "it goes on from its own configuration"


def test_its_own_values():
    config = plan_of(by_task=OWN)
    assert config.of("sliding") is config
    sokoban = config.of("sokoban")
    assert (sokoban.rollout.budget, sokoban.advantage.group_size, sokoban.objective.kl) == (4, 5, 0.2)
    assert sokoban.rollout.instances == config.rollout.instances


def test_both_learn(straight):
    changed = moved(straight / "init", best_policy(straight))
    assert outputs(changed) == {"0", "1"}
    assert any(name.startswith("depth_head") for name in changed)
    line = lines(straight)[-1]
    own = line["sets"]
    assert set(own) == {"sliding-2x3", "sokoban-6x6"}
    assert line["solve_rate"] == pytest.approx(sum(each["solve_rate"] for each in own.values()) / 2, abs=1e-6)
    assert own["sliding-2x3"]["decisions"] <= 3
    assert {recipe.task for recipe in recipes_of(straight)} == set(BOTH)
    written = [json.loads(each) for each in (straight / "metrics.jsonl").read_text().splitlines()]
    checked = [each["validation"] for each in written if "validation" in each]
    value = [each["value"] for each in checked[-1]["sets"].values()]
    assert checked[-1]["value"] == pytest.approx(sum(value) / 2, abs=1e-5)


def test_interrupted_runs_end_in_the_same_bits(both, straight, tmp_path):
    plan = plan_of(tasks=BOTH, by_task=OWN)
    interrupt_and_go_on(grpo.GrpoTrainer, lambda: grpo.train(plan, both, tmp_path / "again", quiet=True), 1)
    same(straight, tmp_path / "again")


def trainer(config, both, policy, tmp_path):
    return grpo.GrpoTrainer(config, recipes_of(both), policy, RunDirectory(tmp_path / "run"), Team(), quiet=True)


def gradients(policy):
    return {name: p.grad.clone() for name, p in policy.named_parameters() if p.grad is not None}


@torch.no_grad()
def slopes(puzzle, policy, batch, against):
    """How the loss's formula, in plain Python, changes with the biases of both heads where ratios are 1: [2, 4]."""
    tensors = objective.TensorBatch.of(batch, torch.device("cpu"))
    now = policy(puzzle.task, batch.states, tensors.actions, tensors.plan_depth)
    old = to_host(*objective.old_log_probs(policy, puzzle.task, batch))
    batch = replace(batch, depth_old=old[0], action_old=old[1])
    lists = {f.name: getattr(batch, f.name).tolist() for f in fields(batch)}
    total, before = objective.total_weight(batch), [each.tolist() for each in against]
    found = torch.zeros(2, 4, dtype=torch.float64)
    for head, outcome in np.ndindex(2, 4):
        for by in (1e-4, -1e-4):
            moved = [logits.double() for logits in now]
            moved[head][..., outcome] += by
            value = slow.loss(*(m.tolist() for m in moved), lists, puzzle.config.objective, total, before)
            found[head, outcome] += value / (2 * by)
    return found


def test_a_move_is_the_mean_of_what_both_ask_for(both, tmp_path):
    """By hand: the loss of all states of a puzzle at once, for each of them, on the same weights. And as much as the
    formula in plain Python says, although the last of many micro-batches is smaller."""
    config = plan_of(tasks=BOTH, by_task=OWN, optim={"batch": 512, "micro_batch": 7})
    policy = CommitPolicy.from_pretrained(both)
    run = trainer(config, both, policy, tmp_path)
    added = []
    run.engine.step = lambda _scale: added.append(gradients(policy)) or 1.0
    batches = [run.collect(puzzle, 0)[0] for puzzle in run.puzzles]
    policy.zero_grad()
    run._learn(batches)
    assert len(added) == 1
    policy.zero_grad()
    for puzzle, batch in zip(run.puzzles, batches, strict=True):
        against, weight = run.reference_logits([grpo.Part(puzzle, batch)])[0], objective.total_weight(batch)
        loss, _ = objective.grpo_loss(policy, puzzle.task, batch, puzzle.config.objective, weight, against, fresh=True)
        (loss / 2).backward()
    by_hand = gradients(policy)
    assert by_hand.keys() == added[0].keys()
    assert max(value.abs().max() for value in by_hand.values()) > 1e-4
    assert all(torch.allclose(added[0][name], value, atol=1e-6) for name, value in by_hand.items())
    plain = [
        slopes(puzzle, policy, batch, run.reference_logits([grpo.Part(puzzle, batch)])[0])
        for puzzle, batch in zip(run.puzzles, batches, strict=True)
    ]
    assert torch.allclose(added[0]["depth_head.bias"].double(), (plain[0][0] + plain[1][0]) / 2, atol=1e-6)
    for index, (_, actions) in enumerate(plain):
        assert actions.abs().max() > 1e-4
        assert torch.allclose(added[0][f"decoder.outputs.{index}.bias"].double(), actions / 2, atol=1e-6)


def test_one_that_has_fewer_states_takes_as_many_moves(both, tmp_path):
    config = plan_of(tasks=BOTH, by_task={"sliding": {"rollout.instances": 1, "rollout.budget": 1}}, optim={"batch": 8})
    policy = CommitPolicy.from_pretrained(both)
    run = trainer(config, both, policy, tmp_path)
    sizes = {puzzle.name: len(run.collect(puzzle, 0)[0]) for puzzle in run.puzzles}
    assert sizes["sliding-2x3"] == 1
    assert sizes["sokoban-6x6"] > 8
    line = run._step()
    assert {name: each["loss"] == each["loss"] for name, each in line.items()} == dict.fromkeys(sizes, True)


def test_what_puzzles_cannot_share_is_refused(both, tmp_path):
    train = lambda **changes: (
        lambda: grpo.train(plan_of(**{"tasks": BOTH, **changes}), both, tmp_path / "rl", quiet=True)
    )
    short = {"sliding": {"rollout.budget": 1, "rollout.length": [10, 14]}}
    refused(
        [
            (train(tasks=()), "tasks: expected one or several of sliding-2x3, sokoban-6x6 of "),
            (train(tasks=["sliding", "ice"]), "tasks: expected some of sliding-2x3, sokoban-6x6 of "),
            (train(**FINISHED), "phases[1].head_updates: expected 0 with 2 puzzles"),
            (train(optim={"batch": 9}), "optim.batch: expected a multiple of 2 puzzles, got 9"),
            (
                train(by_task={"sokoban": {"validation.every": 3}}),
                "by_task.sokoban.validation.every: expected 2, as validation.every, with 2 puzzles",
            ),
            (train(**EXACT, by_task=short), "rollout.budget: expected states of sliding-2x3 to learn from in step 1"),
            (
                train(**EXACT, tasks=["sliding"], by_task=short),
                "rollout.budget: expected states of sliding-2x3 to learn",
            ),
        ]
    )


def test_sizes_of_one_puzzle_are_played_together(tmp_path):
    """Nobody need name the puzzle, since there is one; an evaluation needs the size."""
    folders = [tmp_path / "3", tmp_path / "4"]
    for cols, folder in zip((3, 4), folders, strict=True):
        build(DataSpec("sliding", (2, cols), (Difficulty((3, 12)),), 12), folder)
    warm = parse(SftConfig, {**TINY, "validation": {"instances": 0}})
    assert sft.train(warm, folders, tmp_path / "start", quiet=True) == 0
    run = plan_of(optim={"steps": 1}, validation={"instances": 0})
    assert grpo.train(run, tmp_path / "start", tmp_path / "rl", quiet=True) == 0
    assert set(lines(tmp_path / "rl")[-1]["sets"]) == {"sliding-2x3", "sliding-2x4"}
    assert recipe_of(tmp_path / "rl", "sliding-2x4").size == (2, 4)


def test_it_is_evaluated_by_puzzle(straight, tmp_path):
    for task, shape in (("sliding", (2, 3)), ("sokoban", (6, 6))):
        agents = ("adaptive", "fixed-4")
        asked = EvaluateOptions(straight, tmp_path / task, agents, "tight", task, instances=6, validation=4)
        with EvaluationStore(tmp_path / task) as store:
            evaluation = Evaluation(asked, store, quiet=True)
            rows = evaluation.run()
        assert evaluation.starts.shape[1:] == shape
        assert {row["task"] for row in rows} == {task}
        assert json.loads((tmp_path / task / "plan.json").read_text())["task"] == task
