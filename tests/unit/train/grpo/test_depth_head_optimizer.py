"""Updates of the depth head alone: the return rises, plans stay."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from tests.unit.train.runs import FINISHED, actor, interrupt_and_go_on, moved, plan_of, same

from recommit.policy.policy import CommitPolicy
from recommit.runs.directory import best_policy
from recommit.train.grpo import rollout
from recommit.train.grpo import trainer as run


def test_the_head_alone_raises_the_return_and_moves_nothing_else(init):
    """Many moves on one graph: the evaluation's own value grows, and state by state rather than by the mean."""
    from recommit.graph import policy_evaluation
    from recommit.graph.build import PolicyGraph
    from recommit.graph.episodes import softmax
    from recommit.prices import Prices
    from recommit.runs.distributed import Team
    from recommit.train.engine.base import Engine
    from recommit.train.grpo.depth_head_optimizer import DepthHeadOptimizer
    from recommit.train.optim import parameter_groups

    phase = {"steps": 1, "head_updates": 60, "depth_head_lr": 0.02}
    plan = plan_of(
        advantage={"estimator": "exact", "max_expansions": 40},
        rollout={"budget": 4},
        phases=[phase],
        optim={"steps": 1},
    )
    given = actor(init)
    task, before = given.task, {k: v.clone() for k, v in given.policy.state_dict().items()}
    starts = task.generate(24, seed=9, length=(4, 12)).states

    reach = PolicyGraph(given.policy, task, (1, 2, 4, 8), keep_inputs=True)
    roots = rollout.explore(given, plan, reach, starts)
    evaluation = policy_evaluation.PolicyEvaluation(reach, roots, 4, Prices())
    first = evaluation.values(softmax(reach.logits)[evaluation.rows]).value[4][roots].mean()
    engine = Engine(parameter_groups(given.policy, plan.optim), plan.optim, Team())
    DepthHeadOptimizer(given.policy, engine, plan, 0)(evaluation)
    last = evaluation.values(softmax(reach.logits)[evaluation.rows]).value[4][roots].mean()
    assert last > first + 0.02
    after = given.policy.state_dict()
    assert {k for k in after if not torch.equal(after[k], before[k])} == {"depth_head.weight", "depth_head.bias"}
    nodes, inputs = reach.inputs()
    assert np.array_equal(nodes, np.flatnonzero(reach.planned))
    with torch.no_grad():
        assert torch.allclose(given.policy.depth_head(torch.from_numpy(inputs)), torch.from_numpy(reach.logits[nodes]))


def test_a_run_ends_with_the_head_alone_on_more_starts(init, tmp_path, monkeypatch):
    seen = []
    whole = rollout.starts
    monkeypatch.setattr(rollout, "starts", lambda *a: (seen.append(whole(*a)), seen[-1])[1])
    plan = plan_of(**FINISHED, validation={"every": 1})
    out = tmp_path / "run"
    assert run.train(plan, init, out, quiet=True) == 0
    assert [len(starts) for starts in seen] == [6, 6, 18, 18]
    assert len({start.tobytes() for starts in seen for start in starts}) > 40
    middle, last = (out / "checkpoints" / f"step-0000000{n}" / "policy" for n in (2, 4))
    changed = moved(middle, last)
    assert changed == {f"depth_head.{name}" for name in ("weight", "bias", "hidden.weight", "hidden.bias")}
    assert CommitPolicy.from_pretrained(last).config.head == plan.head
    assert CommitPolicy.from_pretrained(best_policy(init)).config.head.hidden == 0


def test_finished_runs_end_in_the_same_bits(init, tmp_path):
    assert run.train(plan_of(**FINISHED), init, tmp_path / "straight", quiet=True) == 0
    train = lambda: run.train(plan_of(**FINISHED), init, tmp_path / "run", quiet=True)
    interrupt_and_go_on(run.GrpoTrainer, train, 3)
    same(tmp_path / "straight", tmp_path / "run")
